"""Other ways to write the functions of starter.py, one choice each, for tune.py.

A function called matmul_map here is the variant "map" of matmul there.
"""

import math
from operator import mul


def matmul_hoisted(a, b):
    """Return the matrix product a·b, looking up each row of a once."""
    columns = range(len(b[0]))
    inner = range(len(b))
    product = []
    for row in a:
        line = []
        for j in columns:
            total = 0.0
            for k in inner:
                total += row[k] * b[k][j]
            line.append(total)
        product.append(line)
    return product


def matmul_generator(a, b):
    """Return the matrix product a·b, pairing each row with each column."""
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def matmul_map(a, b):
    """Return the matrix product a·b, leaving the innermost loop to map."""
    columns = list(zip(*b))
    return [[sum(map(mul, row, column)) for column in columns] for row in a]


def transpose_comprehension(a):
    """Return the matrix a with rows and columns exchanged."""
    return [[row[j] for row in a] for j in range(len(a[0]))]


def transpose_zip(a):
    """Return the matrix a with rows and columns exchanged."""
    return list(map(list, zip(*a)))


def activate_comprehension(sums, bias):
    """Return tanh(sums + bias), the bias being added to every row."""
    tanh = math.tanh
    return [[tanh(s + b) for s, b in zip(row, bias)] for row in sums]


def slope_comprehension(sums, bias):
    """Return the derivative of tanh at sums + bias."""
    tanh = math.tanh
    return [[1 - tanh(s + b) ** 2 for s, b in zip(row, bias)] for row in sums]


def softmax_shifted(scores, bias):
    """Return the probabilities of the classes, one exponential per class."""
    probabilities = []
    for row in scores:
        sums = [s + b for s, b in zip(row, bias)]
        top = max(sums)
        powers = [math.exp(s - top) for s in sums]
        total = sum(powers)
        probabilities.append([p / total for p in powers])
    return probabilities


def update_comprehension(weights, velocity, gradient, rate, momentum, decay):
    """Return (weights, velocity) after a step of gradient descent with momentum."""
    new_velocity = [[momentum * v - rate * (g + decay * w) for v, g, w in zip(*rows)]
                    for rows in zip(velocity, gradient, weights)]
    new_weights = [[w + v for w, v in zip(*rows)] for rows in zip(weights, new_velocity)]
    return new_weights, new_velocity
