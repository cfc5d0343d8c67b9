"""Time the submission's train.py against the starter's, and check that both compute the same.

    python3 proctor_vectorization.py ROUNDS

Each is run in an inner sandbox by proctor_measure.py, in turn (A B B A), on
inputs and weights drawn from new secret seeds each round, so that nothing can
be known or kept from before. Times are taken from outside the processes; what a
process costs that does everything but the convolutions is subtracted. The
time that train.py writes down is not looked at.
"""

import array
import ast
import base64
import json
import math
import os
import socket
import sys

import proctor_verdict as verdict

FORWARDS = 2  # in one process, each on data of its own
BATCH = [32, 64, 64, 3]  # as the starter's
LAYER = [3, 8, 3, 2, 2, "relu"]
RELATIVE, ABSOLUTE = 1e-5, 1e-5  # how far results may be apart
SMALLEST = 0.005  # of the starter's time: the least that a clock read outside can tell
TIMEOUT = 900
MOST = 1 << 20  # bytes of a train.py


def read(path, missing):
    try:
        with open(path, "rb") as f:
            data = f.read(MOST + 1)
    except OSError as err:
        raise missing(f"train.py cannot be read: {err.strerror}") from None
    if len(data) > MOST:
        raise verdict.invalid(f"train.py is larger than {MOST} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise verdict.invalid("train.py is not UTF-8 text") from None


def check(source):
    """Refuse a train.py that is no Python, or that uses more than the task allows."""
    if not source.strip():
        raise verdict.invalid("train.py is empty")
    try:
        tree = ast.parse(source, "train.py")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as err:
        line = getattr(err, "lineno", None)
        raise verdict.invalid(f"train.py is not Python{f' (line {line})' if line else ''}: {verdict.describe(err)}") from None
    allowed = {"numpy"} | set(getattr(sys, "stdlib_module_names", ()))
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "."]
        for name in names:
            if len(allowed) > 1 and name.split(".")[0] not in allowed:
                raise verdict.invalid(f"train.py imports {name} (line {node.lineno}); the task allows numpy and the standard library")


class Place:
    """Runs programs in Proctor's inner sandbox: one JSON request a line, one answer a line."""

    def __init__(self, measure):
        descriptor = os.environ.get("PROCTOR_INNER_FD")
        if descriptor is None:
            raise verdict.failed("there is no inner sandbox to run train.py in")
        self.stream = socket.socket(fileno=int(descriptor)).makefile("rw", encoding="utf-8", newline="\n")
        self.measure = measure

    def run(self, source, **request):
        self.stream.write(json.dumps({
            "argv": ["python3", "proctor_measure.py"], "timeout_s": TIMEOUT,
            "files": {"proctor_measure.py": self.measure, "train.py": source},
            "stdin": json.dumps(dict(request, batch=BATCH, layer=LAYER))}) + "\n")
        self.stream.flush()
        line = self.stream.readline()
        if not line:
            raise verdict.failed("the inner sandbox closed without an answer")
        return json.loads(line)


def trusted(answer):
    """Return (seconds, results) of the starter."""
    if answer["error"] or answer["exit_code"] != 0:
        if "No module named 'numpy'" in answer["stderr"]:
            raise verdict.missing_module("numpy", "train.py")
        last = (answer["stderr"].strip().splitlines() or ["it printed no error"])[-1]
        raise verdict.failed(f"the suite's own train.py could not be run: {answer['error'] or last[:200]}")
    return answer["seconds"], results(answer)


def submitted(answer):
    """Return (seconds, results) of the submission."""
    if answer["error"]:
        raise verdict.invalid(f"train.py did not finish: {answer['error']}")
    if answer["exit_code"] != 0:
        last = (answer["stderr"].strip().splitlines() or ["it printed no error"])[-1]
        raise verdict.invalid(f"train.py could not be used (exit status {answer['exit_code']}): {last[:200]}")
    try:
        return answer["seconds"], results(answer)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise verdict.invalid("train.py ended without handing its results over") from None


def results(answer):
    """Return a list of (shape, doubles)."""
    decoded = []
    for result in json.loads(answer["stdout"]):
        values = array.array("d")
        values.frombytes(base64.b64decode(result["data"], validate=True))
        decoded.append((list(result["shape"]), values))
    return decoded


def compare(expected, got):
    if len(expected) != len(got):
        raise verdict.invalid(f"train.py gave {len(got)} results, expected {len(expected)}")
    for (shape, values), (their_shape, theirs) in zip(expected, got):
        if shape != their_shape or len(values) != len(theirs):
            raise verdict.invalid(f"forward returns an array of shape {their_shape}, expected {shape}")
        if values == theirs:
            continue
        for i, (x, y) in enumerate(zip(values, theirs)):
            if not math.isclose(x, y, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
                raise verdict.invalid(f"forward computes something else than the original: {y:.6g} at place {i}, expected {x:.6g}")


def grade(rounds):
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "proctor_measure.py"), encoding="utf-8") as f:
        place = Place(f.read())
    starter = read(os.path.join(os.environ["PROCTOR_BENCHMARK"], "env", "train.py"), verdict.failed)
    submission = read(os.path.join(os.environ["PROCTOR_SUBMISSION"], "train.py"), verdict.no_submission)
    check(submission)

    idles, befores, afters = [], [], []
    for _ in range(rounds):
        seeds = [int.from_bytes(os.urandom(4), "little") for _ in range(FORWARDS)]
        early, expected = trusted(place.run(starter, seeds=seeds))
        for _ in range(2):
            late, got = submitted(place.run(submission, seeds=seeds))
            compare(expected, got)
            afters.append(late)
        befores += [early, trusted(place.run(starter, seeds=seeds))[0]]
        idles.append(trusted(place.run(starter, seeds=seeds, idle=len(expected[0][1])))[0])
    # Whatever else the machine does only adds to a time, so the least of
    # several is nearest to what the code itself takes.
    overhead = min(idles)
    original = max(min(befores) - overhead, 1e-6)
    seconds = max(min(afters) - overhead, SMALLEST * original)
    return seconds / FORWARDS, {
        "starter_seconds": original / FORWARDS,
        "speedup": original / seconds,
        "overhead_seconds": overhead,
    }, restless(befores)


def restless(times):
    """Return a flag if the starter's own times are too far apart to be trusted."""
    if max(times) < 2 * min(times):
        return []
    return [f"the machine was busy: the starter itself took from {min(times) / FORWARDS:.3g} to {max(times) / FORWARDS:.3g} s"]


if __name__ == "__main__":
    verdict.run(lambda: grade(int(sys.argv[1])))
