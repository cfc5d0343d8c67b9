"""Starter code: train a classifier on the digits and write the submission.

    python3 train.py                                  # softmax regression
    python3 train.py --model knn --k 3
    python3 train.py --model mlp --hidden 32 --lr 0.1 --epochs 20

Needs only Python's standard library. A quarter of the training rows is kept
aside; accuracy on it is printed as val_accuracy while the model learns.
"""

import argparse
import csv
import heapq
import math
import random
import sys
from collections import Counter
from operator import mul
from pathlib import Path

DIGITS = 10


def read(path):
    """Return (ids, images, labels); labels is empty for the test set. Pixels become 0..1."""
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    pixels = [name for name in rows[0] if name.startswith("p")]
    images = [[int(row[p]) / 16 for p in pixels] for row in rows]
    labels = [int(row["label"]) for row in rows if "label" in row]
    return [row["id"] for row in rows], images, labels


def dot(a, b):
    return sum(map(mul, a, b))


def softmax(scores):
    top = max(scores)
    exps = [math.exp(s - top) for s in scores]
    total = sum(exps)
    return [e / total for e in exps]


class KNN:
    """k nearest neighbours in pixel space; there is nothing to train."""

    def __init__(self, args):
        self.k, self.weights = args.k, args.weights

    def fit(self, images, labels):
        self.known = list(zip(images, labels))
        yield None

    def predict(self, image):
        distances = [(math.dist(image, known), label) for known, label in self.known]
        votes = Counter()
        for distance, label in heapq.nsmallest(self.k, distances):
            votes[label] += 1 / (distance + 1e-9) if self.weights == "distance" else 1
        return votes.most_common(1)[0][0]


class Softmax:
    """Softmax regression, trained by stochastic gradient descent."""

    def __init__(self, args):
        self.lr, self.decay, self.epochs = args.lr, args.decay, args.epochs
        self.random = random.Random(args.seed)

    def fit(self, images, labels):
        """Yield the mean loss after every epoch."""
        self.start(len(images[0]))
        order = list(range(len(images)))
        for _ in range(self.epochs):
            self.random.shuffle(order)
            yield sum(self.learn(images[i], labels[i]) for i in order) / len(order)

    def start(self, inputs):
        self.layer = [[0.0] * (inputs + 1) for _ in range(DIGITS)]  # the last column is the bias

    def learn(self, image, label):
        return self.descend(self.layer, image + [1.0], label)[0]

    def descend(self, layer, x, label):
        """Take one gradient step on an output layer; return the loss and the errors."""
        probabilities = softmax([dot(w, x) for w in layer])
        errors = [p - (digit == label) for digit, p in enumerate(probabilities)]
        self.update(layer, errors, x)
        return -math.log(max(probabilities[label], 1e-12)), errors

    def update(self, layer, errors, x):
        keep = 1 - self.lr * self.decay
        for unit, error in enumerate(errors):
            rate = self.lr * error
            layer[unit] = [keep * w - rate * v for w, v in zip(layer[unit], x)]

    def scores(self, image):
        x = image + [1.0]
        return [dot(w, x) for w in self.layer]

    def predict(self, image):
        scores = self.scores(image)
        return scores.index(max(scores))


class MLP(Softmax):
    """One hidden layer of tanh units below the softmax."""

    def __init__(self, args):
        super().__init__(args)
        self.hidden = args.hidden

    def start(self, inputs):
        def layer(units, fan_in):
            scale = 1 / math.sqrt(fan_in)
            return [[self.random.gauss(0, scale) for _ in range(fan_in + 1)] for _ in range(units)]

        self.below, self.layer = layer(self.hidden, inputs), layer(DIGITS, self.hidden)

    def activate(self, x):
        return [math.tanh(dot(w, x)) for w in self.below]

    def learn(self, image, label):
        x = image + [1.0]
        h = self.activate(x)
        above = self.layer[:]
        loss, errors = self.descend(self.layer, h + [1.0], label)
        back = [dot(errors, column) for column in zip(*above)]
        self.update(self.below, [b * (1 - v * v) for b, v in zip(back, h)], x)
        return loss

    def scores(self, image):
        return super().scores(self.activate(image + [1.0]))


MODELS = {"softmax": Softmax, "knn": KNN, "mlp": MLP}


def accuracy(model, images, labels):
    return sum(model.predict(x) == y for x, y in zip(images, labels)) / len(labels)


def bar(done, total, text):
    """Redraw one line on a terminal; elsewhere print nothing."""
    if sys.stdout.isatty():
        full = round(24 * done / total)
        print(f"\r\033[K{text} {'█' * full}{'░' * (24 - full)} {done}/{total}", end="", flush=True)


def train(model, learn, check):
    """Fit the model and report on the way; return the validation accuracy."""
    score = 0.0
    for epoch, loss in enumerate(model.fit(*learn), 1):
        score = accuracy(model, *check)
        if loss is not None:
            print(f"epoch {epoch:3d}/{model.epochs}  loss {loss:.4f}  val_accuracy {score:.4f}", flush=True)
    return score


def submit(model, ids, images, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["id", "label"])
        for n, (row, image) in enumerate(zip(ids, images), 1):
            out.writerow([row, model.predict(image)])
            if n % 25 == 0 or n == len(ids):
                bar(n, len(ids), "predicting")
    if sys.stdout.isatty():
        print()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0],
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="softmax", help="what to train")
    parser.add_argument("--lr", type=float, default=0.01, help="learning rate (softmax, mlp)")
    parser.add_argument("--decay", type=float, default=0.0001, help="weight decay (softmax, mlp)")
    parser.add_argument("--hidden", type=int, default=24, help="hidden units (mlp)")
    parser.add_argument("--k", type=int, default=5, help="number of neighbours (knn)")
    parser.add_argument("--weights", choices=["uniform", "distance"], default="uniform",
                        help="how neighbours vote (knn)")
    parser.add_argument("--epochs", type=int, default=5, help="passes over the data (softmax, mlp)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the initial weights and the order")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of train.csv and test.csv")
    parser.add_argument("--out", type=Path, default=Path("submission/submission.csv"), help="where to write")
    return parser.parse_args()


def main():
    args = arguments()
    sys.stdout.reconfigure(errors="replace")  # a terminal without block characters shows "?"
    _, images, labels = read(args.data / "train.csv")
    ids, unknown, _ = read(args.data / "test.csv")
    cut = len(images) * 3 // 4  # the file is already in random order
    print(f"{args.model}: {cut} images to learn from, {len(images) - cut} to validate, {len(unknown)} to label")

    model = MODELS[args.model](args)
    score = train(model, (images[:cut], labels[:cut]), (images[cut:], labels[cut:]))
    submit(model, ids, unknown, args.out)
    print(f"wrote {args.out}")
    print(f"val_accuracy {score:.4f}")


if __name__ == "__main__":
    main()
