import json
import logging
from pathlib import Path

import pandas as pd
import py7zr  # noqa: F401
import yaml  # noqa: F401
from tqdm.auto import tqdm  # noqa: F401


def get_logger(name):
    logging.basicConfig(level=logging.INFO)
    return logging.getLogger(name)


def read_csv(*args, **kwargs):
    try:
        return pd.read_csv(*args, **{"float_precision": "round_trip", **kwargs})
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


def load_answers(path: Path):
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    return read_csv(path)
