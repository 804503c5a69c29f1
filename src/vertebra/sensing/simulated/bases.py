"""How the base of a simulated robot stands in the world of its sensors, whose z is up."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.robot.arguments import numbers
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing import so3

_ROUNDING = 1e-6


def base_rotation(robot: Robot, base: ArrayLike | None) -> Floats:
    """(3, 3) base axes to world axes: as given, or the one that makes the robot's own gravity point down."""
    if base is None:
        return _from_gravity(robot.gravity)
    rotation = numbers("base", base, "a rotation matrix")
    good = rotation.shape == (3, 3) and np.abs(rotation @ rotation.T - np.eye(3)).max() < _ROUNDING
    if not (good and np.linalg.det(rotation) > 0):
        raise InputError("base", "must be a rotation matrix (3, 3) from base axes to world axes with z up")
    return rotation


def tilted_base(tilt: float) -> Floats:
    """(3, 3) a base tipped by `tilt` rad from upright, so that its z leans toward the world's x."""
    return so3.exp(np.array([0.0, tilt, 0.0]))


def _from_gravity(gravity: Floats) -> Floats:
    strength = np.linalg.norm(gravity)
    if strength == 0:
        return np.eye(3)
    up = -gravity / strength
    axis = np.cross(up, [0.0, 0.0, 1.0])
    sin = np.linalg.norm(axis)
    if sin < _ROUNDING:
        return np.diag([1.0, np.sign(up[2]), np.sign(up[2])])
    return so3.exp(axis / sin * np.arctan2(sin, up[2]))
