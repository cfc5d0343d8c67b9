"""Training batches of the kind that step.py is timed on, drawn anew for every seed."""

import random

SIZES = {"inputs": 196, "hidden": 24, "classes": 10, "batch": 32, "steps": 60}
LEVELS = 16  # grey levels of a pixel


def make(seed, inputs, hidden, classes, batch, steps):
    """Return a workload: a fresh model, the batches to train it on, and the settings.

    Pixels are whole numbers from 0 to LEVELS here, and floats from 0 to 1 by
    the time step() sees them.
    """
    rng = random.Random(seed)
    strokes = [[rng.random() < 0.08 for _ in range(inputs)] for _ in range(classes)]

    def image(label):
        return [rng.randint(1, LEVELS) if ink != (rng.random() < 0.03) else 0 for ink in strokes[label]]

    labels = [[rng.randrange(classes) for _ in range(batch)] for _ in range(steps)]
    return {
        "model": model(rng, inputs, hidden, classes),
        "batches": [{"pixels": [image(label) for label in row], "labels": row} for row in labels],
        "settings": {"rate": 0.1, "momentum": 0.9, "decay": 0.0005},
    }


def model(rng, inputs, hidden, classes):
    """Return random weights and biases, with velocities of zero."""
    shapes = {"w1": (inputs, hidden), "b1": (1, hidden), "w2": (hidden, classes), "b2": (1, classes)}
    parts = {}
    for name, (rows, columns) in shapes.items():
        scale = rows ** -0.5
        parts[name] = [[round(rng.gauss(0, scale), 6) for _ in range(columns)] for _ in range(rows)]
        parts["v_" + name] = [[0.0] * columns for _ in range(rows)]
    return parts


def images(batch):
    """Return a batch's pixels as step() gets them."""
    return [[p / LEVELS for p in row] for row in batch["pixels"]]


def train(step, workload):
    """Run step over all batches; return (model, losses)."""
    state, losses = workload["model"], []
    settings = [workload["settings"][name] for name in ("rate", "momentum", "decay")]
    for batch in workload["batches"]:
        state, loss = step(state, images(batch), batch["labels"], *settings)
        losses.append(loss)
    return state, losses
