"""Directions spread evenly over the sphere."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.robot.arguments import numbers, positive_count, vector
from vertebra.robot.tables import Floats

GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))
"""rad; turning by it from point to point never lines points up."""

UNIT = 1e-15
"""How far from 1 the square of a unit vector may be; such a vector is taken as it is."""


def sphere_grid(count: int) -> Floats:
    """Unit vectors (count, 3), each for the same share of the sphere: a spiral from +z to -z."""
    i = np.arange(positive_count("count", count))
    z = 1.0 - (2.0 * i + 1.0) / len(i)
    ring, angle = np.sqrt(1.0 - z * z), GOLDEN_ANGLE * i
    grid: Floats = np.column_stack([ring * np.cos(angle), ring * np.sin(angle), z])
    return grid


def unit_vector(name: str, value: ArrayLike) -> Floats:
    """The direction of three numbers, of which not all are zero."""
    array = vector(name, value, "any unit")
    x, y, z = array.tolist()
    if abs(x * x + y * y + z * z - 1.0) <= UNIT:
        return array
    size = max(abs(x), abs(y), abs(z))
    if size == 0.0:
        raise InputError(name, "must not be zero: only the direction counts, such as (0, 0, -1)")
    x, y, z = x / size, y / size, z / size
    length = math.sqrt(x * x + y * y + z * z)
    return np.array([x / length, y / length, z / length])


def unit_vectors(name: str, given: int | ArrayLike) -> Floats:
    """Directions (D, 3) as given, or so many from `sphere_grid`."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return _normalised(name, sphere_grid(positive_count(name, int(given))))
    array = np.atleast_2d(numbers(name, given, "any unit"))
    if array.ndim != 2 or array.shape[1] != 3 or len(array) == 0:
        raise InputError(name, f"must be a count, or directions of shape (D, 3), not {array.shape}")
    return _normalised(name, array)


def _normalised(name: str, array: Floats) -> Floats:
    size = np.abs(array).max(axis=1, keepdims=True)
    if (size == 0.0).any():
        raise InputError(name, f"row {int(np.argmin(size))} is zero: only the direction counts, such as (0, 0, -1)")
    # The same steps as for one direction, for the same bits.
    x, y, z = array.T
    is_unit = np.abs(x * x + y * y + z * z - 1.0) <= UNIT
    x, y, z = (array / size).T
    unit: Floats = np.stack([x, y, z], axis=1) / np.sqrt(x * x + y * y + z * z)[:, None]
    return np.where(is_unit[:, None], array, unit)
