"""How a grader reads what was handed in, and how it reports.

Proctor and Harbor run tests/test.sh in the same way; these variables tell the
grader where things are, with Harbor's places as defaults:

    PROCTOR_SUBMISSION  the folder that holds the outputs           /workspace
    PROCTOR_LOGS        where reward.json or error.json is written  /logs/verifier
    PROCTOR_VERDICT_FD  a descriptor that takes the result instead of a file

The result is one flat JSON object of numbers, or {"error": ..., "kind": ...}
when there is nothing to score. Under Harbor, which knows rewards only, that
case writes no reward and ends with status 1. A grader that fails ends with a
traceback.
"""

import json
import os
import stat
import sys

MAX_BYTES = 10 * 1000 * 1000


class Refused(Exception):
    """The submission cannot be scored, for a reason its author can mend."""

    kind = "invalid_submission"


class NothingSubmitted(Refused):
    kind = "no_submission"


def read_output(name):
    """Return the bytes of a declared output; links are not followed."""
    root = os.environ.get("PROCTOR_SUBMISSION", "/workspace")
    *folders, last = name.split("/")
    try:
        here = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        raise NothingSubmitted(f"{name} is missing: there is no folder {root!r}") from None
    try:
        for folder in folders:
            above, here = here, enter(here, folder, name)
            os.close(above)
        return read_file(here, last, name)
    except OSError as err:
        raise Refused(f"{name} cannot be read: {err.strerror}") from None
    finally:
        os.close(here)


def enter(parent, folder, name):
    info = look(parent, folder, name)
    if not stat.S_ISDIR(info.st_mode):
        raise Refused(f"{name} cannot be read: {folder!r} is {kind_of(info)}, expected a folder")
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)


def read_file(parent, last, name):
    info = look(parent, last, name)
    if not stat.S_ISREG(info.st_mode):
        raise Refused(f"{name} is {kind_of(info)}, expected a regular file")
    # Not blocking, in case a pipe has taken the file's place since the look.
    with os.fdopen(os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent), "rb") as f:
        data = f.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Refused(f"{name} is larger than {MAX_BYTES // 1000000} MB")
    return data


def look(parent, entry, name):
    try:
        return os.stat(entry, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        raise NothingSubmitted(f"{name} is missing: nothing was handed in") from None


def kind_of(info):
    for test, text in ((stat.S_ISLNK, "a symbolic link"), (stat.S_ISDIR, "a folder"),
                       (stat.S_ISFIFO, "a named pipe"), (stat.S_ISREG, "a file")):
        if test(info.st_mode):
            return text
    return "a special file"


def decode(data, name):
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        raise Refused(f"{name} is not UTF-8 text: byte {err.start} cannot be read") from None


def run(grade):
    """Report what grade() returns, a dict of numbers, or why it refused; end the program."""
    try:
        result = grade()
        status = 0
    except Refused as refusal:
        result = {"error": str(refusal), "kind": refusal.kind}
        status = 0 if "PROCTOR_VERDICT_FD" in os.environ or "PROCTOR_LOGS" in os.environ else 1
    text = json.dumps(result, allow_nan=False)
    print(text, file=sys.stderr)

    descriptor = os.environ.get("PROCTOR_VERDICT_FD")
    if descriptor:
        with os.fdopen(int(descriptor), "w", encoding="utf-8") as f:
            f.write(text + "\n")
    else:
        logs = os.environ.get("PROCTOR_LOGS", "/logs/verifier")
        os.makedirs(logs, exist_ok=True)
        with open(os.path.join(logs, "error.json" if "error" in result else "reward.json"), "w", encoding="utf-8") as f:
            f.write(text + "\n")
    sys.exit(status)
