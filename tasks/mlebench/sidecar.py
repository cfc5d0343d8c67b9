"""Runs one competition's grade.py over one submission, for Proctor.

The job is JSON in PROCTOR_MLEBENCH_JOB; the directories are named by
PROCTOR_MLEBENCH (the package mlebench), PROCTOR_ANSWERS, PROCTOR_SAMPLE and
PROCTOR_SUBMISSION. The answer is one JSON object on PROCTOR_VERDICT_FD with
"by", the programs that were used, and one of

    {"score": 0.81}        or, for a validation, {"valid": true}
    {"invalid": "why"}     the submission is at fault
    {"failed": "why"}      the grader or the answers are at fault
    {"module": "name"}     a Python module is not installed
"""

import importlib
import importlib.machinery
import importlib.util
import json
import math
import os
import platform
import sys
import traceback
import types


class Unusable(Exception):
    """The submission cannot be read at all."""


def stand_in(name, **attributes):
    """Lets a module be imported that graders only happen to import."""
    try:
        importlib.import_module(name)
    except ImportError:
        module = types.ModuleType(name)
        vars(module).update(attributes)
        sys.modules[name] = module


def root_of(metric):
    """Stands in for what scikit-learn has had since 1.4."""

    def rooted(y_true, y_pred, **kwargs):
        return metric(y_true, y_pred, squared=False, **kwargs)

    return rooted


def load_package(name, directory):
    """Makes a directory a package, though the one above may not be readable."""
    start = os.path.join(directory, "__init__.py")
    if os.path.exists(start):
        spec = importlib.util.spec_from_file_location(name, start, submodule_search_locations=[directory])
    else:
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [directory]
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if spec.loader is not None:
        spec.loader.exec_module(module)


def prepare_imports():
    load_package("mlebench", os.environ["PROCTOR_MLEBENCH"])
    # mlebench.utils imports these for downloading and unpacking.
    stand_in("py7zr")
    stand_in("yaml")
    stand_in("tqdm", tqdm=lambda x=None, *a, **k: x)
    stand_in("tqdm.auto", tqdm=lambda x=None, *a, **k: x)
    from sklearn import metrics

    for new, old in (
        ("root_mean_squared_error", "mean_squared_error"),
        ("root_mean_squared_log_error", "mean_squared_log_error"),
    ):
        if not hasattr(metrics, new):
            setattr(metrics, new, root_of(getattr(metrics, old)))


def used():
    names = {"pandas": "pandas", "sklearn": "scikit-learn"}
    versions = [f"{names[m]} {sys.modules[m].__version__}" for m in names if m in sys.modules]
    return ", ".join([f"Python {platform.python_version()}"] + versions)


def one_line(error):
    text = " ".join(str(error).split())
    kind = type(error).__name__
    return text if kind == "InvalidSubmissionError" else f"{kind}: {text}" if text else kind


def read_submission(read_csv, directory, name):
    try:
        return read_csv(os.path.join(os.environ[directory], name))
    except Exception as e:
        raise Unusable(f"it cannot be read as CSV: {one_line(e)}") from e


def sample_passes(job, grade, read_csv, answers):
    """Tells whose fault an error is: the grader takes the sample submission
    unless the grader or the answers are broken."""
    if "PROCTOR_SAMPLE" not in os.environ:
        return True
    try:
        grade(read_submission(read_csv, "PROCTOR_SAMPLE", job["sample"]), answers())
    except Exception:
        traceback.print_exc()
        return False
    return True


def run(job):
    prepare_imports()
    from pathlib import Path

    from mlebench.grade_helpers import InvalidSubmissionError
    from mlebench.utils import load_answers, read_csv

    module, function = job["grade_fn"].split(":")
    grade = getattr(importlib.import_module(module), function)

    def answers():
        return load_answers(Path(os.environ["PROCTOR_ANSWERS"]) / job["answers"])

    truth = answers()
    try:
        score = grade(read_submission(read_csv, "PROCTOR_SUBMISSION", job["submission"]), truth)
    except ModuleNotFoundError:
        raise
    except Unusable as e:
        return {"invalid": str(e)}
    except InvalidSubmissionError as e:
        return {"invalid": one_line(e)}
    except Exception as e:
        traceback.print_exc()
        if sample_passes(job, grade, read_csv, answers):
            return {"invalid": one_line(e)}
        return {"failed": f"grade.py fails on the sample submission too: {one_line(e)}"}
    if score is None:
        return {"failed": "grade.py returned no score"}
    score = float(round(score, 5))
    if not math.isfinite(score):
        return {"invalid": f"its score is {score}: the metric is undefined for it"}
    return {"valid": True} if job["validate"] else {"score": score}


def main():
    try:
        answer = run(json.loads(os.environ["PROCTOR_MLEBENCH_JOB"]))
    except ModuleNotFoundError as e:
        answer = {"module": e.name or str(e)}
    except Exception as e:
        traceback.print_exc()
        answer = {"failed": one_line(e)}
    answer["by"] = used()
    with os.fdopen(int(os.environ["PROCTOR_VERDICT_FD"]), "w") as verdict:
        json.dump(answer, verdict)


main()
