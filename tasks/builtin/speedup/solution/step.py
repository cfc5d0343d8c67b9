"""One training step of a small neural network, reorganised for speed.

Most pixels are blank, so the two products with the images, which are nearly
all of the work, go through the inked pixels only: compress() picks the rows
that matter and zip() turns them into columns, both in C. Short sums are
written out, long ones are sum(map(mul, ...)); gradient and update of a row
happen together, and what the forward pass computed is not computed again.
"""

from itertools import compress
from math import exp, log, tanh
from operator import add, mul


def product(row, matrix_columns):
    return [sum(map(mul, row, column)) for column in matrix_columns]


def combine(factors, rows):
    """Return the sum of the rows, each times its factor; there is at least one."""
    n = len(factors)
    if n == 1:
        (a,), (p,) = factors, rows
        return [a * x for x in p]
    if n == 2:
        (a, b), (p, q) = factors, rows
        return [a * x + b * y for x, y in zip(p, q)]
    if n == 3:
        (a, b, c), (p, q, r) = factors, rows
        return [a * x + b * y + c * z for x, y, z in zip(p, q, r)]
    if n == 4:
        (a, b, c, d), (p, q, r, s) = factors, rows
        return [a * x + b * y + c * z + d * u for x, y, z, u in zip(p, q, r, s)]
    if n == 5:
        (a, b, c, d, e), (p, q, r, s, t) = factors, rows
        return [a * x + b * y + c * z + d * u + e * v for x, y, z, u, v in zip(p, q, r, s, t)]
    if n == 6:
        (a, b, c, d, e, f), (p, q, r, s, t, o) = factors, rows
        return [a * x + b * y + c * z + d * u + e * v + f * w for x, y, z, u, v, w in zip(p, q, r, s, t, o)]
    if n <= 12:
        half = n // 2
        return list(map(add, combine(factors[:half], rows[:half]), combine(factors[half:], rows[half:])))
    return product(factors, zip(*rows))


def move(weights, velocity, gradient, rate, momentum, shrink):
    """Return a row of weights and its velocity after the step."""
    velocity = [momentum * v - rate * g - shrink * w for v, g, w in zip(velocity, gradient, weights)]
    return list(map(add, weights, velocity)), velocity


def step(model, images, labels, rate, momentum, decay):
    """Take one step of gradient descent on a batch; return (model, loss)."""
    batch, shrink = len(images), rate * decay
    w1, w2 = model["w1"], model["w2"]
    (b1,), (b2,) = model["b1"], model["b2"]

    hidden = []
    for image in images:
        inked = list(filter(None, image))
        sums = combine(inked, list(compress(w1, image))) if inked else [0.0] * len(b1)
        hidden.append(list(map(tanh, map(add, sums, b1))))

    loss, errors, back = 0.0, [], []
    w2_columns = list(zip(*w2))
    for active, label in zip(hidden, labels):
        scores = list(map(add, product(active, w2_columns), b2))
        top = max(scores)
        powers = [exp(s - top) for s in scores]
        total = sum(powers)
        loss += log(total) + top - scores[label]
        scale = 1 / (total * batch)
        error = [p * scale for p in powers]
        error[label] -= 1 / batch
        errors.append(error)
        back.append([b * (1 - h * h) for b, h in zip(product(error, w2), active)])

    new = {"w1": [], "v_w1": [], "w2": [], "v_w2": []}
    still = [0.0] * len(b1)
    for column, weights, velocity in zip(zip(*images), w1, model["v_w1"]):
        inked = list(filter(None, column))
        gradient = combine(inked, list(compress(back, column))) if inked else still
        weights, velocity = move(weights, velocity, gradient, rate, momentum, shrink)
        new["w1"].append(weights)
        new["v_w1"].append(velocity)
    error_columns = list(zip(*errors))
    for column, weights, velocity in zip(zip(*hidden), w2, model["v_w2"]):
        weights, velocity = move(weights, velocity, product(column, error_columns), rate, momentum, shrink)
        new["w2"].append(weights)
        new["v_w2"].append(velocity)
    for name, columns in (("b1", zip(*back)), ("b2", error_columns)):
        weights, velocity = move(model[name][0], model["v_" + name][0], map(sum, columns), rate, momentum, shrink)
        new[name], new["v_" + name] = [weights], [velocity]
    return new, loss / batch
