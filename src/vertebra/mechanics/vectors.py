"""Vectors as tuples of three numbers, which compiled code keeps in registers."""

from __future__ import annotations

from vertebra.mechanics.compiled import inner


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
    """Three numbers that stand side by side in a row."""
    return (table[row, column], table[row, column + 1], table[row, column + 2])


@inner
def write(table, row, column, u):
    table[row, column], table[row, column + 1], table[row, column + 2] = u[0], u[1], u[2]
