"""How a grader of Proctor's reports: one JSON object on the descriptor PROCTOR_VERDICT_FD.

Either {"score": number, "numbers": {name: number}, "flags": [text]}, or
{"error": text, "kind": status, "remedy": text} with a verdict's status:
no_submission, invalid_submission, data_missing, grader_unavailable or grader_failed.
"""

import json
import math
import os
import sys
import traceback


class NoScore(Exception):
    """There is no score; says why, and what may be done about it."""

    def __init__(self, kind, reason, remedy=""):
        super().__init__(reason)
        self.kind, self.remedy = kind, remedy


def no_submission(reason):
    return NoScore("no_submission", reason)


def invalid(reason):
    return NoScore("invalid_submission", reason)


def failed(reason):
    return NoScore("grader_failed", reason)


def missing_module(name, needed_by):
    return NoScore(
        "grader_unavailable",
        f"{needed_by} needs the Python module {name}, which {sys.executable or 'python3'} does not have",
        f"install {name} for the python3 that is first on your PATH (or activate the environment that has it), "
        "then grade the run again")


def run(grade):
    """Report what grade() returns, (score, numbers, flags), or why it has no score; end the program."""
    descriptor = int(os.environ.pop("PROCTOR_VERDICT_FD"))
    os.set_inheritable(descriptor, False)
    try:
        score, numbers, flags = grade()
        message = {"score": number(score, "the score"), "flags": flags,
                   "numbers": {name: number(x, name) for name, x in numbers.items() if x is not None}}
    except NoScore as why:
        message = {"error": str(why), "kind": why.kind, "remedy": why.remedy}
    except Exception as err:
        traceback.print_exc()
        message = {"error": describe(err), "kind": "grader_failed"}
    text = json.dumps(message, allow_nan=False)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(text + "\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads that a benchmark's code left must not keep the grader


def number_of(value, what="the score"):
    """Return a benchmark's number as a float, which may be no finite one."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise failed(f"{what} is {value!r:.60}, expected a number") from None


def number(value, what):
    value = number_of(value, what)
    if not math.isfinite(value):
        raise failed(f"{what} is {value}, which is no finite number")
    return value


def describe(err):
    """Return an exception as one line."""
    text = " ".join(str(err).split())
    return f"{type(err).__name__}: {text[:200]}" if text else type(err).__name__
