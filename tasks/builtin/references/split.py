"""Cut the public data into what the agent sees and what the grader keeps.

Writes, below tasks/builtin:

    digits/environment/data/{train,test}.csv      digits/tests/answers.csv
    diabetes/environment/data/{train,test}.csv    diabetes/tests/answers.csv

The cut is fixed: the same seeds give the same bytes with every Python 3 and
every scikit-learn, because only the order of the rows is drawn, by
random.Random, and the values are printed in full. Rows are numbered after
the shuffle, so that an id says nothing about a row's place in the public file.

    python3 split.py            # needs scikit-learn, only for the data it ships
"""

import csv
import random
from pathlib import Path

from sklearn.datasets import load_diabetes, load_digits

BUILTIN = Path(__file__).resolve().parent.parent
DIABETES_COLUMNS = ["age", "sex", "bmi", "bp", "tc", "ldl", "hdl", "tch", "ltg", "glu"]


def write(path, header, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)


def cut(strata, share, rng):
    """Draw `share` of every stratum for the test set; return (train, test), shuffled."""
    train, test = [], []
    for stratum in strata:
        rows = list(stratum)
        rng.shuffle(rows)
        size = round(len(rows) * share)
        test += rows[:size]
        train += rows[size:]
    rng.shuffle(train)
    rng.shuffle(test)
    return train, test


def publish(task, columns, target, rows, values, train, test):
    root = BUILTIN / task
    write(root / "environment/data/train.csv", ["id", *columns, target],
          [[i + 1, *rows[r], values[r]] for i, r in enumerate(train)])
    ids = range(len(train) + 1, len(train) + len(test) + 1)
    write(root / "environment/data/test.csv", ["id", *columns],
          [[i, *rows[r]] for i, r in zip(ids, test)])
    write(root / "tests/answers.csv", ["id", target],
          [[i, values[r]] for i, r in zip(ids, test)])
    print(f"{task}: {len(train)} rows to learn from, {len(test)} held out")


def digits():
    data = load_digits()
    rows = [[int(v) for v in row] for row in data.data]
    labels = [int(v) for v in data.target]
    strata = [[i for i, label in enumerate(labels) if label == digit] for digit in range(10)]
    train, test = cut(strata, 1 / 2, random.Random(1998))
    columns = [f"p{y}{x}" for y in range(8) for x in range(8)]
    publish("digits", columns, "label", rows, labels, train, test)


def diabetes():
    data = load_diabetes(scaled=False)
    rows = [[f"{v:.10g}" for v in row] for row in data.data]
    target = [int(v) for v in data.target]
    order = sorted(range(len(target)), key=lambda i: (target[i], i))
    strata = [order[i:i + 34] for i in range(0, len(order), 34)]  # thirteen bands of progression
    train, test = cut(strata, 1 / 2, random.Random(2004))
    publish("diabetes", DIABETES_COLUMNS, "progression", rows, target, train, test)


if __name__ == "__main__":
    digits()
    diabetes()
