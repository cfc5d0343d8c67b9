"""Call a task's own eval.py on what was handed in.

    python3 proctor_eval.py '["submission.csv"]'

The argument lists the outputs. get_score is given a folder in which they lie
in place of the benchmark's own, beside everything else of its env/ unchanged;
it is called from inside env/, where data that eval.py looks for lie.
"""

import importlib.util
import json
import math
import os
import pickle
import random
import sys
import tempfile

import proctor_verdict as verdict

BENCHMARK = os.path.realpath(os.environ["PROCTOR_BENCHMARK"])
SUBMISSION = os.path.realpath(os.environ["PROCTOR_SUBMISSION"])
SCRIPTS, ENV = os.path.join(BENCHMARK, "scripts"), os.path.join(BENCHMARK, "env")

# What goes wrong in a grader when it reads something that it did not expect.
# Their subclasses include pandas' errors of parsing and of empty files. Others,
# such as AttributeError, come of libraries at another version.
MISREAD = (ArithmeticError, AssertionError, EOFError, LookupError, ValueError, pickle.UnpicklingError)
# What graders that fetch their answers end with where there is no network.
OFFLINE = {"ConnectionError", "gaierror", "URLError", "MaxRetryError", "NameResolutionError",
           "OfflineModeIsEnabled", "LocalEntryNotFoundError"}


def assemble(outputs):
    """Return a folder with the outputs in place of those of env/."""
    if outputs == ["."]:
        return SUBMISSION
    folder = tempfile.mkdtemp(prefix="graded-")
    for source, names in ((SUBMISSION, outputs), (ENV, os.listdir(ENV))):
        for name in names:
            place = os.path.join(folder, name)
            if os.path.lexists(place) or not os.path.lexists(os.path.join(source, name)):
                continue
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.symlink(os.path.join(source, name), place)
    return folder


def load():
    """Return eval.py as a module. Proctor's own files are out of its sight."""
    sys.path[:] = [p for p in sys.path if p not in (os.path.dirname(os.path.abspath(__file__)),
                                                    os.environ.get("PROCTOR_COMMON"))]
    os.chdir(ENV)
    spec = importlib.util.spec_from_file_location("eval", os.path.join(SCRIPTS, "eval.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["eval"] = module
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as err:
        raise absent(err) from err
    except OSError as err:
        raise unread(err) from err
    except SystemExit as err:
        raise verdict.failed(f"eval.py ended while it was loaded (status {err.code})") from err
    return module


def grade(outputs):
    folder = assemble(outputs)
    random.seed(0)  # a score that has chance in it is at least the same each time
    module = load()
    if not callable(getattr(module, "get_score", None)):
        raise verdict.failed("eval.py has no get_score: the suite is at a version that is not known here")
    try:
        score = module.get_score(folder)
    except ModuleNotFoundError as err:
        raise absent(err) from err
    except OSError as err:
        raise unread(err) from err
    except MISREAD as err:
        if offline(err):
            raise fetches(err) from err
        raise verdict.invalid(f"eval.py cannot score it: {verdict.describe(err)}") from err
    except SystemExit as err:
        raise verdict.failed(f"eval.py ended without a score (status {err.code})") from err
    except Exception as err:
        if offline(err):
            raise fetches(err) from err
        raise
    score = verdict.number_of(score)
    if not math.isfinite(score):
        raise verdict.invalid(f"eval.py's score is {score}: the submission has values that are no numbers, "
                              "or not as many as the test set")
    return score, {}, []


def absent(err):
    """Explain a module that is not there."""
    name = (err.name or str(err)).split(".")[0]
    if any(os.path.exists(os.path.join(d, name + end)) for d in (ENV, SCRIPTS) for end in (".py", "")):
        return verdict.failed(f"eval.py cannot import {name}, which the task has: {verdict.describe(err)}")
    return verdict.missing_module(name, "eval.py")


def unread(err):
    """Explain a file that cannot be read: the benchmark's, the submission's, or another's."""
    if offline(err):
        return fetches(err)
    path = err.filename if isinstance(err.filename, str) else ""
    real = os.path.realpath(path) if path else ""
    if real.startswith(BENCHMARK + os.sep) and not os.path.exists(real):
        return verdict.NoScore("data_missing", f"eval.py looks for {os.path.relpath(real, BENCHMARK)}, which the checkout does not have",
                               "prepare the task's data as the suite's README says, then grade the run again")
    if path:
        return verdict.invalid(f"eval.py cannot read {os.path.basename(path)}: {err.strerror or verdict.describe(err)}")
    return verdict.failed(verdict.describe(err))


def offline(err):
    """Report whether an error comes of there being no network."""
    while err is not None:
        if type(err).__name__ in OFFLINE:
            return True
        err = err.__cause__ or err.__context__
    return False


def fetches(err):
    return verdict.NoScore(
        "grader_unavailable", f"eval.py wants to download something, and graders have no network: {verdict.describe(err)}",
        "run the suite's own eval.py on the submission and enter what it says: proctor grade RUN --score X --by NAME")


if __name__ == "__main__":
    verdict.run(lambda: grade(json.loads(sys.argv[1])))
