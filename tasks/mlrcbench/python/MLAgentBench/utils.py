"""save_evals, with which every task's main.py reports a result.

The record is output/idea_evals.json, in the suite's own form. The methods of
the best dev result so far are kept in output/best, to be tested after the run.
"""

import ast
import inspect
import json
import math
import os
import shutil
import textwrap

from MLAgentBench.constants import ALL_BASE_PERFORMANCE, ALL_BASE_RUNTIME

RECORD = os.path.join("output", "idea_evals.json")
BEST = os.path.join("output", "best")


def save_evals(task_name, method_name, method_class, base_class, score, phase, runtime, **_):
    """Record a result, print it, and keep the methods if it is the best of the dev phase."""
    os.makedirs("output", exist_ok=True)
    score = float(score)
    finite = math.isfinite(score)
    evals = read()
    earlier = [e["performance"] for e in evals["implementations"]
               if e.get("phase") == phase and isinstance(e.get("performance"), (int, float))]
    code, base_code = source(method_class), source(base_class)
    lines, base_lines = complexity(code), complexity(base_code)
    base_score = ALL_BASE_PERFORMANCE.get(task_name, {}).get(phase)
    evals["implementations"].append({
        "task_name": task_name,
        "method_name": method_name,
        "phase": phase,
        "performance": score if finite else None,
        "improvement_perc": percent(score, base_score) if finite else None,
        "step": int(os.environ.get("CURR_STEP", len(evals["implementations"]))),
        "relative_runtime": percent(runtime, ALL_BASE_RUNTIME.get(task_name, {}).get(phase)),
        "relative_complexity": percent(lines, base_lines),
        "runtime": runtime,
        "method_complexity": lines,
        "base_complexity": base_lines,
        "code": code,
    })
    if phase == "dev" and finite and score > max(earlier, default=-math.inf):
        keep()
    write(evals)
    print(f"{phase}_performance={score!r}", flush=True)


def read():
    try:
        with open(RECORD, encoding="utf-8") as f:
            evals = json.load(f)
        if isinstance(evals["implementations"], list):
            evals["implementations"] = [e for e in evals["implementations"] if isinstance(e, dict)]
            return evals
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return {"idea": None, "implementations": []}


def write(evals):
    with open(RECORD + ".new", "w", encoding="utf-8") as f:
        json.dump(evals, f, indent=2)
    os.replace(RECORD + ".new", RECORD)


def keep():
    """Keep a copy of methods/ as it is now."""
    if not os.path.isdir("methods"):
        return
    shutil.rmtree(BEST + ".new", ignore_errors=True)
    shutil.copytree("methods", os.path.join(BEST + ".new", "methods"),
                    ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(BEST, ignore_errors=True)
    os.replace(BEST + ".new", BEST)


def source(method):
    """Return a method's code: of a class, or of the directory that some tasks take for one."""
    try:
        if isinstance(method, (str, os.PathLike)) and os.path.isdir(method):
            texts = []
            for name in sorted(os.listdir(method)):
                if name.endswith(".py"):
                    with open(os.path.join(method, name), encoding="utf-8") as f:
                        texts.append(f.read())
            return "\n".join(texts)
        return inspect.getsource(method)
    except (OSError, TypeError, ValueError):
        return ""


def complexity(code):
    """Return the number of statements."""
    try:
        return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(textwrap.dedent(code)))) or None
    except (SyntaxError, ValueError, RecursionError):
        return None


def percent(value, base):
    """Return by how many percent of the base's magnitude a value is above it."""
    if value is None or not base:
        return None
    return 100 * (value - base) / abs(base)
