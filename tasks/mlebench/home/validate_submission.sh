#!/bin/sh
# Asks the validation server whether a file is a valid submission. The answer
# says valid, or what is wrong; it never holds a score.
url="${VALIDATION_URL:-http://localhost:5000/validate}"
file="$1"

if [ -z "$file" ]; then
    echo "usage: $0 FILE" >&2
    exit 2
fi
if [ ! -f "$file" ]; then
    echo "$file: no such file" >&2
    exit 2
fi
if command -v curl >/dev/null 2>&1; then
    curl -sS -X POST -F "file=@$file" "$url"
    exit
fi
exec python3 - "$file" "$url" <<'END'
import sys
import urllib.error
import urllib.request

path, url = sys.argv[1:]
mark = "a-submission-of-mle-bench"
head = (
    f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="submission.csv"\r\n'
    "Content-Type: text/csv\r\n\r\n"
)
with open(path, "rb") as f:
    body = head.encode() + f.read() + f"\r\n--{mark}--\r\n".encode()
request = urllib.request.Request(url, body, {"Content-Type": f"multipart/form-data; boundary={mark}"})
try:
    print(urllib.request.urlopen(request).read().decode())
except urllib.error.HTTPError as e:
    print(e.read().decode())
END
