"""Vectors, rotations and small dense systems for kernels."""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.joints import rotation_coefficients


@inner
def dot(u, v):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@inner
def cross_product(u, v):
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


@inner
def scaled(a, u):
    return (a * u[0], a * u[1], a * u[2])


@inner
def added(u, v):
    return (u[0] + v[0], u[1] + v[1], u[2] + v[2])


@inner
def moved(u, a, v):
    """u + a v."""
    return (u[0] + a * v[0], u[1] + a * v[1], u[2] + a * v[2])


@inner
def mixed(a, u, b, v):
    """a u + b v."""
    return (a * u[0] + b * v[0], a * u[1] + b * v[1], a * u[2] + b * v[2])


@inner
def combined(a, u, b, v, c, w):
    """a u + b v + c w."""
    return (a * u[0] + b * v[0] + c * w[0], a * u[1] + b * v[1] + c * w[1], a * u[2] + b * v[2] + c * w[2])


@inner
def spread(u):
    """Sum of the sizes of the components: at least the length of u, without a root."""
    return abs(u[0]) + abs(u[1]) + abs(u[2])


@inner
def read(table, row, column):
    """Three numbers side by side in a row."""
    return (table[row, column], table[row, column + 1], table[row, column + 2])


@inner
def write(table, row, column, u):
    table[row, column], table[row, column + 1], table[row, column + 2] = u[0], u[1], u[2]


# Rotations: matrices from angles and quaternions (theory 7.1), the exponential, tilt and heading apart (7.3).


@inner
def write_euler(roll, pitch, yaw, out):
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    sr, cr, sp, cp = math.sin(roll), math.cos(roll), math.sin(pitch), math.cos(pitch)
    sy, cy = math.sin(yaw), math.cos(yaw)
    out[0, 0], out[0, 1], out[0, 2] = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
    out[1, 0], out[1, 1], out[1, 2] = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
    out[2, 0], out[2, 1], out[2, 2] = -sp, cp * sr, cp * cr


@inner
def write_quaternion(w, x, y, z, out):
    """Of any length but 0."""
    s = 2.0 / (w * w + x * x + y * y + z * z)
    out[0, 0], out[0, 1], out[0, 2] = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
    out[1, 0], out[1, 1], out[1, 2] = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
    out[2, 0], out[2, 1], out[2, 2] = s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)


@inner
def turn_in_place(v, rotation):
    """exp(v) R: turn the columns of a matrix by a rotation vector."""
    x, y, z = v
    c, a, b, _ = rotation_coefficients(x * x + y * y + z * z)
    for column in range(3):
        p, q, r = rotation[0, column], rotation[1, column], rotation[2, column]
        along = b * (x * p + y * q + z * r)
        rotation[0, column] = c * p + a * (y * r - z * q) + along * x
        rotation[1, column] = c * q + a * (z * p - x * r) + along * y
        rotation[2, column] = c * r + a * (x * q - y * p) + along * z


@inner
def tilt_and_heading(estimated, measured):
    """How a measured orientation differs: E = measured estimated^T = Rz(heading) exp(tilt), tilt = (x, y, 0), rad.

    Split like this, the tilt is what gravity says and stays the same whatever a magnet does to the heading.
    """
    x = y = z = same = turned = 0.0
    for k in range(3):
        x += estimated[0, k] * measured[2, k]
        y += estimated[1, k] * measured[2, k]
        z += estimated[2, k] * measured[2, k]
        same += estimated[0, k] * measured[0, k] + estimated[1, k] * measured[1, k]
        turned += estimated[0, k] * measured[1, k] - estimated[1, k] * measured[0, k]
    square = x * x + y * y
    if square < 1e-8 and z > 0.0:
        scale = 1.0 + square / 6.0
    elif square > 0.0:
        sine = math.sqrt(square)
        scale = math.atan2(sine, z) / sine
    else:
        return math.pi, 0.0, 0.0  # upside down: any direction will do
    return scale * y, -scale * x, math.atan2(turned, same)


# Small dense systems inside kernels: Gaussian elimination with row exchanges, in place.


@kernel
def factor_dense(matrix, order):
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
def solve_dense(matrix, order, x):
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
