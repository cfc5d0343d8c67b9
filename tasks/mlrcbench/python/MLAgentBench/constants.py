"""The suite's baselines, by task and phase, under the names that tasks import."""

import json
import os

_HERE = os.path.dirname(os.path.abspath(__file__))

with open(os.path.join(_HERE, "bases.json"), encoding="utf-8") as f:
    _BASES = json.load(f)

ALL_BASE_PERFORMANCE = {task: base["performance"] for task, base in _BASES.items()}
ALL_BASE_RUNTIME = {task: base["seconds"] for task, base in _BASES.items()}
MLR_BENCH_DIR = os.environ.get("MLR_BENCH_DIR", os.path.dirname(_HERE))
