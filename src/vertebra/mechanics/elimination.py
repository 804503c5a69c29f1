"""Small dense systems inside kernels: Gaussian elimination with row exchanges, in place."""

from __future__ import annotations

from vertebra.mechanics.compiled import kernel


@kernel
def factor(matrix, order):
    """Replace a square matrix by its factors; `order` receives the row exchanges. Returns whether it is regular."""
    n = matrix.shape[0]
    for i in range(n):
        best = i
        for row in range(i + 1, n):
            if abs(matrix[row, i]) > abs(matrix[best, i]):
                best = row
        order[i] = best
        if not abs(matrix[best, i]) > 0.0:
            return False
        if best != i:
            for column in range(n):
                matrix[i, column], matrix[best, column] = matrix[best, column], matrix[i, column]
        share = 1.0 / matrix[i, i]
        for row in range(i + 1, n):
            part = matrix[row, i] * share
            matrix[row, i] = part
            if part != 0.0:
                for column in range(i + 1, n):
                    matrix[row, column] -= part * matrix[i, column]
    return True


@kernel
def solve_factored(matrix, order, x):
    """Replace the right side `x` by the solution."""
    n = matrix.shape[0]
    for i in range(n):
        best = order[i]
        x[i], x[best] = x[best], x[i]
    for i in range(n):
        for row in range(i + 1, n):
            x[row] -= matrix[row, i] * x[i]
    for i in range(n - 1, -1, -1):
        for column in range(i + 1, n):
            x[i] -= matrix[i, column] * x[column]
        x[i] /= matrix[i, i]
