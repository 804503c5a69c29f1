"""Vectors, rotations and small dense systems for kernels."""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.simd import fused

_SMALL_SQUARE = 0.06
"""Below it the closed forms of a rotation's coefficients lose digits, and the series keep all of them."""


@inner
def dot(u, v):
    return fused(u[2], v[2], fused(u[1], v[1], u[0] * v[0]))


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
    return (fused(a, v[0], u[0]), fused(a, v[1], u[1]), fused(a, v[2], u[2]))


@inner
def mixed(a, u, b, v):
    """a u + b v."""
    return (fused(b, v[0], a * u[0]), fused(b, v[1], a * u[1]), fused(b, v[2], a * u[2]))


@inner
def combined(a, u, b, v, c, w):
    """a u + b v + c w."""
    return (
        fused(c, w[0], fused(b, v[0], a * u[0])),
        fused(c, w[1], fused(b, v[1], a * u[1])),
        fused(c, w[2], fused(b, v[2], a * u[2])),
    )


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


@kernel
def rotation_coefficients(y):
    """Of a rotation by phi, y = phi^2: cos(phi), A = sin(phi)/phi, B = (1-cos(phi))/phi^2, D = (phi-sin(phi))/phi^3."""
    if y < _SMALL_SQUARE:
        a = 1 - y / 6 * (1 - y / 20 * (1 - y / 42 * (1 - y / 72 * (1 - y / 110 * (1 - y / 156)))))
        b = 0.5 * (1 - y / 12 * (1 - y / 30 * (1 - y / 56 * (1 - y / 90 * (1 - y / 132 * (1 - y / 182))))))
        d = (1 - y / 20 * (1 - y / 42 * (1 - y / 72 * (1 - y / 110 * (1 - y / 156 * (1 - y / 210)))))) / 6
        return 1 - y * b, a, b, d
    phi = math.sqrt(y)
    sin_phi, cos_phi, sin_half = math.sin(phi), math.cos(phi), math.sin(0.5 * phi)
    return cos_phi, sin_phi / phi, 2.0 * sin_half * sin_half / y, (phi - sin_phi) / (phi * y)


@kernel
def rotation_coefficient_derivatives(y, c, a, b):
    """dA/dy, d2A/dy2, dB/dy, d2B/dy2 of `rotation_coefficients` (dcos/dy = -A/2)."""
    if y < _SMALL_SQUARE:
        a1 = -1 / 6 * (1 - y / 10 * (1 - y / 28 * (1 - y / 54 * (1 - y / 88 * (1 - y / 130)))))
        a2 = 1 / 60 * (1 - y / 14 * (1 - y / 36 * (1 - y / 66 * (1 - y / 104 * (1 - y / 150)))))
        b1 = -1 / 24 * (1 - y / 15 * (1 - y * 3 / 112 * (1 - y * 2 / 135 * (1 - y * 5 / 528 * (1 - y * 3 / 455)))))
        b2 = 1 / 360 * (1 - y * 3 / 56 * (1 - y / 45 * (1 - y * 5 / 396 * (1 - y * 3 / 364))))
        return a1, a2, b1, b2
    a1 = 0.5 * (c - a) / y
    b1 = (0.5 * a - b) / y
    a2 = (-0.25 * a - 1.5 * a1) / y
    b2 = (0.5 * a1 - 2.0 * b1) / y
    return a1, a2, b1, b2


@inner
def spin_coefficient_derivatives(y, b, d, b1):
    """dD/dy and d2D/dy2 of `rotation_coefficients`; `b1` is dB/dy."""
    if y < _SMALL_SQUARE:
        d1 = -1 / 120 * (1 - y / 21 * (1 - y / 48 * (1 - y * 2 / 165 * (1 - y * 5 / 624 * (1 - y / 175)))))
        d2 = 1 / 2520 * (1 - y / 24 * (1 - y / 55 * (1 - y * 5 / 468 * (1 - y / 140))))
        return d1, d2
    d1 = 0.5 * (b - 3.0 * d) / y
    return d1, 0.5 * (b1 - 5.0 * d1) / y


@inner
def turned_by(c, a, b, w, v):
    """exp(w) v from the coefficients of the rotation."""
    return combined(c, v, a, cross_product(w, v), b * dot(w, v), w)


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
