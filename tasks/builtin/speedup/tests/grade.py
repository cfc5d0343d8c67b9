"""Time step.py against the starter code and check that both compute the same.

First both train on a few small workloads of odd shapes, whose results must
agree. Then they train, in turn, on workloads of the announced size, drawn from
a new secret seed each round, so that nothing can be known or kept from before;
there, too, the results must agree. Submitted code runs in processes of its own
(inner.py, runner.py) that never hold an answer, and are timed from outside.
What a process costs that does everything but the steps is subtracted.

seconds is the median over the rounds of the submission's time divided by the
starter's: seconds on a machine where the starter takes exactly one.
"""

import argparse
import json
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)  # isolated mode leaves the script's own folder out

import inner
import rules
import verdict
import workload
from verdict import Refused

OUTPUT = "step.py"
RELATIVE, ABSOLUTE = 1e-6, 1e-9  # how far results may be apart
SMALLEST = 0.005  # of the starter's time: the least that a clock read outside can tell
ODD_SHAPES = [
    {"inputs": 1, "hidden": 1, "classes": 2, "batch": 1, "steps": 3},
    {"inputs": 7, "hidden": 5, "classes": 3, "batch": 4, "steps": 2},
    {"inputs": 40, "hidden": 9, "classes": 11, "batch": 17, "steps": 4},
]


def text_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return f.read()


class Bench:
    """Runs the starter and the submission on workloads."""

    def __init__(self, submission, timeout):
        self.place = inner.connect()
        self.timeout = timeout
        self.sources = {"starter": text_of("starter.py"), "submission": submission}
        self.files = {name: text_of(name) for name in ("runner.py", "workload.py")}

    def run(self, who, work, *arguments):
        return self.place.run(argv=["python3", "-I", "-S", "runner.py", *arguments],
                              files=dict(self.files, **{"step.py": self.sources[who]}),
                              stdin=work, timeout_s=self.timeout)

    def idle(self, work):
        """Return the seconds of a run without steps."""
        return self.trusted(self.run("starter", work, "idle"))[0]

    def starter(self, work):
        """Return the starter's (seconds, result)."""
        return self.trusted(self.run("starter", work))

    def submission(self, work):
        """Return the submission's (seconds, result as plain JSON values)."""
        answer = self.run("submission", work)
        if answer["error"]:
            raise Refused(f"{OUTPUT} did not finish: {answer['error']}")
        if answer["exit_code"] != 0 or not answer["stdout"]:
            last = (answer["stderr"].strip().splitlines() or ["it printed no error"])[-1]
            raise Refused(f"{OUTPUT} ended without a result (exit status {answer['exit_code']}): {last[:200]}")
        try:
            return answer["seconds"], json.loads(answer["stdout"], parse_int=float)
        except (ValueError, RecursionError):
            raise Refused(f"{OUTPUT} left a result that is not JSON") from None

    @staticmethod
    def trusted(answer):
        if answer["error"] or answer["exit_code"] != 0:
            raise RuntimeError(f"the starter code could not be run: {answer['error'] or answer['stderr'][-500:]}")
        return answer["seconds"], json.loads(answer["stdout"])


def compare(expected, got, where):
    """Refuse a result that is not the expected one: same shape, numbers within tolerance."""
    if isinstance(expected, dict):
        if not isinstance(got, dict) or expected.keys() != got.keys():
            raise Refused(f"{where} is {brief(got)}, expected the parts {', '.join(expected)}")
        for name in expected:
            compare(expected[name], got[name], name if where == "the result" else f"{where}.{name}")
    elif isinstance(expected, list):
        if not isinstance(got, list) or len(expected) != len(got):
            raise Refused(f"{where} is {brief(got)}, expected a list of {len(expected)}")
        for i, (e, g) in enumerate(zip(expected, got)):
            compare(e, g, f"{where}[{i}]")
    elif type(got) is not float:
        raise Refused(f"{where} is {brief(got)}, expected a number")
    elif not math.isfinite(got):
        raise Refused(f"{where} is {got}, expected {expected:.9g}")
    elif not math.isclose(expected, got, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
        raise Refused(f"{where} is {got:.9g}, expected {expected:.9g} (within {RELATIVE:g} of it)")


def brief(value):
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object with " + (", ".join(map(str, list(value)[:8])) or "no parts")
    return repr(value)[:40]


def fresh(sizes):
    """Return a workload that nobody has seen, as JSON."""
    return json.dumps(workload.make(os.urandom(16), **sizes), separators=(",", ":"))


def measure(bench, rounds, steps):
    """Return the starter's and the submission's seconds, a list of pairs."""
    pairs = []
    for n in range(rounds):
        work = fresh(dict(workload.SIZES, steps=steps))
        overhead = bench.idle(work)
        if n % 2:
            after, got = bench.submission(work)
            before, expected = bench.starter(work)
        else:
            before, expected = bench.starter(work)
            after, got = bench.submission(work)
        compare(expected, got, "the result")
        before = max(before - overhead, 1e-6)
        pairs.append((before, max(after - overhead, SMALLEST * before)))
    return pairs


def grade(options):
    source = verdict.decode(verdict.read_output(OUTPUT), OUTPUT)
    if not source.strip():
        raise Refused(f"{OUTPUT} is empty: expected the function step")
    rules.check(source, OUTPUT)
    bench = Bench(source, options.timeout)
    for sizes in ODD_SHAPES:
        work = fresh(sizes)
        compare(bench.starter(work)[1], bench.submission(work)[1], "the result")
    pairs = measure(bench, options.rounds, options.steps)
    ratio = statistics.median(after / before for before, after in pairs)
    return {
        "seconds": round(ratio, 4),
        "speedup": round(1 / ratio, 2),
        "starter_measured_seconds": round(statistics.median(before for before, _ in pairs), 4),
        "submission_measured_seconds": round(statistics.median(after for _, after in pairs), 4),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7, help="timed rounds")
    parser.add_argument("--steps", type=int, default=workload.SIZES["steps"], help="training steps in a round")
    parser.add_argument("--timeout", type=float, default=60, help="seconds that one process may take")
    arguments = parser.parse_args()
    verdict.run(lambda: grade(arguments))
