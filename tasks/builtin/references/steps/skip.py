"""The starter's matmul, changed in one respect: blank pixels cost nothing."""


def matmul(a, b):
    """Return the matrix product a·b, adding up rows of b and leaving out factors of zero."""
    product = []
    for row in a:
        line = [0.0] * len(b[0])
        for factor, other in zip(row, b):
            if factor:
                line = [total + factor * value for total, value in zip(line, other)]
        product.append(line)
    return product
