"""One training step of a small neural network, written plainly. Make it fast."""

import math


def matmul(a, b):
    """Return the matrix product a·b."""
    product = []
    for i in range(len(a)):
        row = []
        for j in range(len(b[0])):
            total = 0.0
            for k in range(len(b)):
                total += a[i][k] * b[k][j]
            row.append(total)
        product.append(row)
    return product


def transpose(a):
    """Return the matrix a with rows and columns exchanged."""
    columns = []
    for j in range(len(a[0])):
        column = []
        for i in range(len(a)):
            column.append(a[i][j])
        columns.append(column)
    return columns


def activate(sums, bias):
    """Return tanh(sums + bias), the bias being added to every row."""
    active = []
    for i in range(len(sums)):
        row = []
        for j in range(len(bias)):
            row.append(math.tanh(sums[i][j] + bias[j]))
        active.append(row)
    return active


def slope(sums, bias):
    """Return the derivative of tanh at sums + bias."""
    slopes = []
    for i in range(len(sums)):
        row = []
        for j in range(len(bias)):
            row.append(1 - math.tanh(sums[i][j] + bias[j]) ** 2)
        slopes.append(row)
    return slopes


def softmax(scores, bias):
    """Return the probabilities of the classes, for every row."""
    probabilities = []
    for i in range(len(scores)):
        row = []
        for j in range(len(bias)):
            total = 0.0
            for k in range(len(bias)):
                total += math.exp(scores[i][k] + bias[k] - scores[i][j] - bias[j])
            row.append(1 / total)
        probabilities.append(row)
    return probabilities


def update(weights, velocity, gradient, rate, momentum, decay):
    """Return (weights, velocity) after a step of gradient descent with momentum."""
    new_weights, new_velocity = [], []
    for i in range(len(weights)):
        weight_row, velocity_row = [], []
        for j in range(len(weights[i])):
            v = momentum * velocity[i][j] - rate * (gradient[i][j] + decay * weights[i][j])
            velocity_row.append(v)
            weight_row.append(weights[i][j] + v)
        new_weights.append(weight_row)
        new_velocity.append(velocity_row)
    return new_weights, new_velocity


def step(model, images, labels, rate, momentum, decay):
    """Take one step of gradient descent on a batch; return (model, loss).

    model    {"w1": inputs × hidden, "b1": 1 × hidden, "w2": hidden × classes,
             "b2": 1 × classes, "v_w1": ..., "v_b1": ..., "v_w2": ..., "v_b2": ...}:
             weights, biases and their velocities, lists of rows of floats
    images   batch × inputs, floats from 0 to 1: thin strokes on blank paper
    labels   batch, the right class of each image
    loss     the mean cross-entropy of the batch before the step
    """
    batch = len(images)

    # Forward: images -> sums -> hidden -> scores -> probabilities.
    sums = matmul(images, model["w1"])
    hidden = activate(sums, model["b1"][0])
    scores = matmul(hidden, model["w2"])
    probabilities = softmax(scores, model["b2"][0])

    loss = 0.0
    for i in range(batch):
        loss -= math.log(probabilities[i][labels[i]]) / batch

    # Backward: how the loss changes with the scores, then with the sums.
    errors = []
    for i in range(batch):
        row = []
        for j in range(len(probabilities[i])):
            row.append((probabilities[i][j] - (1 if j == labels[i] else 0)) / batch)
        errors.append(row)
    back = matmul(errors, transpose(model["w2"]))
    slopes = slope(sums, model["b1"][0])
    for i in range(batch):
        for j in range(len(back[i])):
            back[i][j] = back[i][j] * slopes[i][j]

    ones = [[1.0] * batch]
    gradients = {
        "w1": matmul(transpose(images), back),
        "b1": matmul(ones, back),
        "w2": matmul(transpose(hidden), errors),
        "b2": matmul(ones, errors),
    }

    new = {}
    for name in gradients:
        new[name], new["v_" + name] = update(
            model[name], model["v_" + name], gradients[name], rate, momentum, decay)
    return new, loss
