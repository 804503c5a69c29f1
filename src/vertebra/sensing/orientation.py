"""Orientations and noise that a caller passes, checked: rotation matrices, quaternions, Euler angles."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.mechanics.kernels.sensor_intake import ANGLES, MATRIX, QUATERNION
from vertebra.robot.arguments import numbers
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

ROUNDING = 1e-3
"""How far a matrix may be from a rotation: what a sensor's few digits leave."""
LEAST_NOISE = np.radians(1e-4)
"""rad."""

_FORMS = {(3,): ANGLES, (4,): QUATERNION, (3, 3): MATRIX}


def read_orientation(value: ArrayLike) -> tuple[int, Floats]:
    """Form and numbers of one orientation: roll, pitch, yaw in rad (3,), w, x, y, z (4,) or a rotation (3, 3)."""
    array = numbers("orientation", value, "rad, or of a quaternion or a rotation matrix")
    form = _FORMS.get(array.shape)
    if form is None:
        raise InputError(
            "orientation",
            "must be roll, pitch, yaw (3,), a quaternion w, x, y, z (4,) or a rotation matrix (3, 3), "
            f"not an array of shape {array.shape}",
        )
    if form == MATRIX:
        array = read_rotations("orientation", array[None])[0]
    if form == QUATERNION and not 0.5 < np.linalg.norm(array) < 2.0:
        raise InputError("orientation", f"a quaternion has length 1, not {np.linalg.norm(array):.3g}")
    return form, np.ascontiguousarray(array.ravel())


def read_rotations(name: str, values: ArrayLike) -> Floats:
    """(k, 3, 3) rotation matrices, made exactly orthonormal."""
    array = numbers(name, values, "rotation matrices")
    if array.ndim != 3 or array.shape[1:] != (3, 3):
        raise InputError(name, f"must be rotation matrices (k, 3, 3), not an array of shape {array.shape}")
    left, sizes, right = np.linalg.svd(array)
    wrong = np.flatnonzero((np.abs(sizes - 1.0).max(axis=1) > ROUNDING) | (np.linalg.det(array) < 0.0))
    if wrong.size:
        raise InputError(name, f"matrix {wrong[0]} is no rotation: its columns must be right-handed unit vectors")
    exact = np.abs(sizes - 1.0).max(axis=1) < 1e-12
    return np.where(exact[:, None, None], array, left @ right)


def known_base(base: ArrayLike | None) -> Floats | None:
    """(3, 3) the base's orientation in the world, when it is given."""
    return None if base is None else read_rotations("base", numbers("base", base, "a rotation matrix")[None])[0]


def sensor_noise(robot: Robot, noise: ArrayLike | None) -> Floats:
    """(sensors, 3) standard deviations about the world's axes, rad: the robot's, one for all, or one a sensor."""
    values = robot.sensor_noise if noise is None else numbers("noise", noise, "rad")
    count = len(robot.sensor_links)
    if values.shape not in ((3,), (count, 3)):
        raise InputError("noise", f"must have shape (3,) or ({count}, 3), one row a sensor, not {values.shape}")
    if not (values >= LEAST_NOISE).all():
        raise InputError("noise", f"must be standard deviations of at least {LEAST_NOISE:.2g} rad")
    return np.ascontiguousarray(np.broadcast_to(values, (count, 3)))


def twist_sigma(robot: Robot, twist: float | None) -> float:
    """Standard deviation of a joint's twist, rad; 0 for stiff."""
    if twist is None:
        return robot.sensor_twist
    value = numbers("twist", twist, "rad")
    if value.shape != () or not 0.0 <= value <= np.pi / 2:
        raise InputError("twist", f"must be one angle from 0 (stiff) to {np.pi / 2:.4g} rad, not {twist!r}")
    return float(value)
