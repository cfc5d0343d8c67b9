"""Starter code: predict how the disease progresses and write the submission.

    python3 train.py                                  # k nearest neighbours
    python3 train.py --model ridge --penalty 10
    python3 train.py --model boost --rounds 100 --depth 2 --rate 0.05

Needs only Python's standard library. The model is judged by five-fold
cross-validation on the training rows, printed as val_rmse, then fitted to all
of them for the submission.
"""

import argparse
import csv
import heapq
import math
import random
import sys
from itertools import combinations
from operator import mul
from pathlib import Path
from statistics import fmean, pstdev

FOLDS = 5
TARGET = "progression"


def read(path):
    """Return (ids, patients, targets); targets is empty for the test set."""
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    columns = [name for name in rows[0] if name not in ("id", TARGET)]
    patients = [[float(row[c]) for c in columns] for row in rows]
    return [row["id"] for row in rows], patients, [float(row[TARGET]) for row in rows if TARGET in row]


def dot(a, b):
    return sum(map(mul, a, b))


class Scaler:
    """Bring every feature to mean 0 and deviation 1, as seen in the training rows."""

    def __init__(self, rows):
        self.shape = [(fmean(column), pstdev(column) or 1.0) for column in zip(*rows)]

    def __call__(self, row):
        return [(v - mean) / deviation for v, (mean, deviation) in zip(row, self.shape)]


class KNN:
    """The mean of the k nearest patients."""

    def __init__(self, args):
        self.k, self.weights = args.k, args.weights

    def fit(self, rows, targets):
        self.scale = Scaler(rows)
        self.known = [(self.scale(row), t) for row, t in zip(rows, targets)]

    def predict(self, row):
        point = self.scale(row)
        near = heapq.nsmallest(self.k, ((math.dist(point, known), t) for known, t in self.known))
        weights = [1 / (d + 1e-9) if self.weights == "distance" else 1.0 for d, _ in near]
        return dot(weights, [t for _, t in near]) / sum(weights)


class Ridge:
    """Linear regression that shrinks its weights, on the features and, if asked, their products."""

    def __init__(self, args):
        self.penalty, self.products = args.penalty, args.products

    def expand(self, row):
        row = self.scale(row)
        if self.products in ("squares", "all"):
            row = row + [v * v for v in row]
        if self.products == "all":
            half = len(row) // 2
            row = row + [a * b for a, b in combinations(row[:half], 2)]
        return row

    def fit(self, rows, targets):
        self.scale = Scaler(rows)
        expanded = [self.expand(row) for row in rows]
        self.rescale = Scaler(expanded)
        columns = list(zip(*map(self.rescale, expanded)))
        self.mean = fmean(targets)
        centred = [t - self.mean for t in targets]
        gram = [[dot(a, b) for b in columns] for a in columns]
        for i, line in enumerate(gram):
            line[i] += self.penalty
        self.weights = solve(gram, [dot(column, centred) for column in columns])

    def predict(self, row):
        return self.mean + dot(self.weights, self.rescale(self.expand(row)))


def solve(matrix, right):
    """Solve matrix·x = right by Gaussian elimination, for a positive definite matrix."""
    lines = [line + [r] for line, r in zip(matrix, right)]
    for i, pivot in enumerate(lines):
        for j in range(i + 1, len(lines)):
            factor = lines[j][i] / pivot[i]
            lines[j] = [a - factor * b for a, b in zip(lines[j], pivot)]
    x = [0.0] * len(lines)
    for i in reversed(range(len(lines))):
        x[i] = (lines[i][-1] - dot(lines[i][:-1], x)) / lines[i][i]
    return x


class Boost:
    """Gradient boosting: each small tree corrects what the trees before it left over."""

    def __init__(self, args):
        self.rounds, self.depth, self.rate, self.leaf = args.rounds, args.depth, args.rate, args.leaf

    def fit(self, rows, targets):
        self.mean = fmean(targets)
        left = [t - self.mean for t in targets]
        orders = [sorted(range(len(rows)), key=lambda i: rows[i][f]) for f in range(len(rows[0]))]
        self.trees = []
        for _ in range(self.rounds):
            tree = self.grow(rows, left, orders, self.depth)
            self.trees.append(tree)
            left = [r - self.rate * descend(tree, row) for r, row in zip(left, rows)]

    def grow(self, rows, left, orders, depth):
        """Return a leaf (a number) or (feature, threshold, lower, upper).

        Each of orders lists the node's rows, sorted by one feature.
        """
        members = orders[0]
        total = sum(left[i] for i in members)
        split = self.split(rows, left, orders, total) if depth > 0 else None
        if split is None:
            return total / len(members)
        feature, threshold = split
        lower = [[i for i in order if rows[i][feature] <= threshold] for order in orders]
        upper = [[i for i in order if rows[i][feature] > threshold] for order in orders]
        return (feature, threshold, self.grow(rows, left, lower, depth - 1),
                self.grow(rows, left, upper, depth - 1))

    def split(self, rows, left, orders, total):
        """Return the (feature, threshold) that lowers the squared error most, or None."""
        best, found = 1e-9 + total * total / len(orders[0]), None
        for feature, order in enumerate(orders):
            below = 0.0
            for n, i in enumerate(order[:-self.leaf], 1):
                below += left[i]
                here, after = rows[i][feature], rows[order[n]][feature]
                if n < self.leaf or here == after:
                    continue
                gain = below * below / n + (total - below) ** 2 / (len(order) - n)
                if gain > best:
                    best, found = gain, (feature, (here + after) / 2)
        return found

    def predict(self, row):
        return self.mean + self.rate * sum(descend(tree, row) for tree in self.trees)


def descend(tree, row):
    while isinstance(tree, tuple):
        feature, threshold, lower, upper = tree
        tree = lower if row[feature] <= threshold else upper
    return tree


MODELS = {"knn": KNN, "ridge": Ridge, "boost": Boost}


def validate(args, rows, targets):
    """Return the RMSE of predicting every row by models that have not seen it."""
    errors, order, total = [], list(range(len(rows))), args.repeats * FOLDS
    shuffle = random.Random(args.seed).shuffle
    for done in range(total):
        if done % FOLDS == 0:
            shuffle(order)
        held = set(order[done % FOLDS::FOLDS])
        model = MODELS[args.model](args)
        model.fit([row for i, row in enumerate(rows) if i not in held],
                  [t for i, t in enumerate(targets) if i not in held])
        errors += [(model.predict(rows[i]) - targets[i]) ** 2 for i in sorted(held)]
        report(done + 1, total, math.sqrt(fmean(errors)))
    return math.sqrt(fmean(errors))


def report(done, total, rmse):
    """Print a line per round of folds; on a terminal, also redraw a bar per fold."""
    if sys.stdout.isatty():
        full = 24 * done // total
        print(f"\r\033[Kfold {done:3d}/{total} {'█' * full}{'░' * (24 - full)}", end="", flush=True)
    if done % FOLDS == 0:
        start = "\r\033[K" if sys.stdout.isatty() else ""
        print(f"{start}round {done // FOLDS:2d}/{total // FOLDS}  val_rmse {rmse:.4f}", flush=True)


def submit(model, ids, rows, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["id", TARGET])
        out.writerows([i, f"{model.predict(row):.4f}"] for i, row in zip(ids, rows))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0],
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="knn", help="what to fit")
    parser.add_argument("--k", type=int, default=5, help="number of neighbours (knn)")
    parser.add_argument("--weights", choices=["uniform", "distance"], default="uniform",
                        help="how neighbours count (knn)")
    parser.add_argument("--penalty", type=float, default=1.0, help="how strongly weights shrink (ridge)")
    parser.add_argument("--products", choices=["none", "squares", "all"], default="none",
                        help="products of features to add (ridge)")
    parser.add_argument("--rounds", type=int, default=50, help="number of trees (boost)")
    parser.add_argument("--depth", type=int, default=2, help="depth of a tree (boost)")
    parser.add_argument("--rate", type=float, default=0.1, help="how much each tree counts (boost)")
    parser.add_argument("--leaf", type=int, default=5, help="fewest patients in a leaf (boost)")
    parser.add_argument("--repeats", type=int, default=2,
                        help="rounds of cross-validation: more cost more and say more")
    parser.add_argument("--seed", type=int, default=0, help="seed of the folds")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of train.csv and test.csv")
    parser.add_argument("--out", type=Path, default=Path("submission/submission.csv"), help="where to write")
    return parser.parse_args()


def main():
    args = arguments()
    sys.stdout.reconfigure(errors="replace")  # a terminal without block characters shows "?"
    _, rows, targets = read(args.data / "train.csv")
    ids, unknown, _ = read(args.data / "test.csv")
    print(f"{args.model}: {len(rows)} patients to learn from, {len(unknown)} to predict")

    rmse = validate(args, rows, targets)
    model = MODELS[args.model](args)
    model.fit(rows, targets)
    submit(model, ids, unknown, args.out)
    print(f"wrote {args.out}")
    print(f"val_rmse {rmse:.4f}")


if __name__ == "__main__":
    main()
