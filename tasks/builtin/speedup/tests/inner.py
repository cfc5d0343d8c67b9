"""Running a program somewhere that is not the grader's process, timed from outside.

Proctor offers a sandbox for that: the descriptor PROCTOR_INNER_FD is a stream
socket that takes one JSON request a line and gives one JSON answer a line.
Without it (under Harbor) the program runs in a temporary folder of its own.

    request  {"argv": [...], "files": {name: text}, "stdin": text, "timeout_s": n}
    answer   {"exit_code": n, "seconds": n, "stdout": text, "stderr": text, "error": text}

seconds covers the whole process. error is set, and says why, when the program
did not run to its own end.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time


class Sandbox:
    """Proctor's inner sandbox: a fresh one, without network, for every run."""

    def __init__(self, descriptor):
        self.stream = socket.socket(fileno=descriptor).makefile("rw", encoding="utf-8", newline="\n")

    def run(self, **request):
        self.stream.write(json.dumps(request) + "\n")
        self.stream.flush()
        line = self.stream.readline()
        if not line:
            raise ConnectionError("the inner sandbox closed its socket without an answer")
        return json.loads(line)


class Subprocess:
    """A plain process in a temporary folder."""

    def run(self, argv, files, stdin, timeout_s):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                    f.write(text)
            start = time.perf_counter()
            process = subprocess.Popen([sys.executable if argv[0] == "python3" else argv[0], *argv[1:]],
                                       cwd=folder, env={"PATH": os.defpath}, start_new_session=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            stdout, stderr, error = b"", b"", ""
            try:
                stdout, stderr = process.communicate(stdin.encode(), timeout_s)
            except subprocess.TimeoutExpired:
                error = f"timed out after {timeout_s:g} s"
            seconds = time.perf_counter() - start
            try:
                os.killpg(process.pid, signal.SIGKILL)  # also what it may have left behind
            except ProcessLookupError:
                pass
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()
            process.wait()
        return {"exit_code": process.returncode, "seconds": seconds, "error": error,
                "stdout": stdout.decode(errors="replace"), "stderr": stderr.decode(errors="replace")}


def connect():
    descriptor = os.environ.get("PROCTOR_INNER_FD")
    return Sandbox(int(descriptor)) if descriptor else Subprocess()
