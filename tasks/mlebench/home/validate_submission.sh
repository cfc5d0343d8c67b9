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
import http.client
import os
import sys
import urllib.parse

path, url = sys.argv[1:]
mark = "a-submission-of-mle-bench"
name = os.path.basename(path).replace('"', "_")
head = (
    f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    "Content-Type: text/csv\r\n\r\n"
).encode()
tail = f"\r\n--{mark}--\r\n".encode()


def body(f):
    yield head
    while block := f.read(1 << 20):
        yield block
    yield tail


at = urllib.parse.urlsplit(url)
with open(path, "rb") as f:
    size = len(head) + os.fstat(f.fileno()).st_size + len(tail)
    server = http.client.HTTPConnection(at.hostname, at.port)
    server.request(
        "POST",
        at.path,
        body(f),
        {"Content-Type": f"multipart/form-data; boundary={mark}", "Content-Length": str(size)},
    )
    print(server.getresponse().read().decode())
END
