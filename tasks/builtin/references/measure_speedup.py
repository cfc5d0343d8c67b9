"""Grade named implementations of speedup's step with the task's own grader.

    python3 measure_speedup.py      # on an otherwise idle machine; takes about four minutes

Each is graded with 15 rounds; the medians become the references in task.toml.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

BUILTIN = Path(__file__).resolve().parent.parent
TASK = BUILTIN / "speedup"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TASK / "environment"))

import tune

STARTER = (TASK / "environment/starter.py").read_text(encoding="utf-8")
VARIANTS = (TASK / "environment/variants.py").read_text(encoding="utf-8")
SKIP = (BUILTIN / "references/steps/skip.py").read_text(encoding="utf-8")


def variant(**chosen):
    return tune.assemble(STARTER, VARIANTS, chosen)


STEPS = {
    "starter code": STARTER,
    "variants.py: matmul generator": variant(matmul="generator"),
    "variants.py: matmul map": variant(matmul="map"),
    "variants.py: every function exchanged": variant(
        matmul="map", transpose="zip", activate="comprehension", slope="comprehension",
        softmax="shifted", update="comprehension"),
    "starter code, matmul leaves out zeros (references/steps/skip.py)":
        STARTER.replace(tune.functions(STARTER)["matmul"], tune.functions(SKIP)["matmul"]),
    "reorganised, every pixel (references/steps/dense.py)":
        (BUILTIN / "references/steps/dense.py").read_text(encoding="utf-8"),
    "reorganised, inked pixels only (solution/step.py)": (TASK / "solution/step.py").read_text(encoding="utf-8"),
}


def grade(step):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "step.py").write_text(step, encoding="utf-8")
        done = subprocess.run([sys.executable, "-I", "-S", "grade.py", "--rounds", "15"], cwd=TASK / "tests",
                              env=dict(os.environ, PROCTOR_SUBMISSION=folder, PROCTOR_LOGS=folder),
                              capture_output=True, text=True, check=True)
    return json.loads(done.stderr)


if __name__ == "__main__":
    print(f"Python {platform.python_version()} on {platform.machine()}")
    for name, step in STEPS.items():
        result = grade(step)
        print(f"  {result['seconds']:.4f} s  ({result['speedup']:5.2f}x)  {name}", flush=True)
