"""Where to look from, so that up is up and the bend is seen from its side."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vertebra.robot.tables import Floats

LOWEST, HIGHEST = math.radians(18.0), math.radians(50.0)
ASIDE = math.radians(20.0)
"""Turned off the square view by this much, so that depth shows."""


@dataclass(frozen=True)
class View:
    """A camera."""

    axis: int
    """The world axis that stands upright in the picture: 0, 1 or 2."""
    sign: int
    """+1 when that axis points up, -1 when it points down."""
    eye: tuple[float, float, float]
    """Unit vector from the robot to the eye."""

    @property
    def up(self) -> tuple[float, float, float]:
        """Unit vector that points up in the picture."""
        x, y, z = (float(self.sign) if i == self.axis else 0.0 for i in range(3))
        return x, y, z

    @property
    def right(self) -> Floats:
        """(3,) unit vector that points to the right in the picture."""
        across = np.cross(self.up, self.eye)
        return np.asarray(across / np.linalg.norm(across))


def best_view(backbone: Floats, gravity: Floats) -> View:
    """Look across the plane in which the robot bends most, from above; level with it, the base is on the left.

    `backbone` (m, 3): points from base to tip. Up is against gravity when that is nearly a world axis, z otherwise.
    """
    axis, sign = _upright(gravity)
    up = sign * np.eye(3)[axis]
    normal = _bend_normal(backbone, up)
    rise = float(normal @ up)
    across = _level(normal, up)
    if abs(rise) < 0.3:
        from_base = backbone[-1] - backbone[0]
        if from_base @ np.cross(up, across) < -1e-9 * np.linalg.norm(from_base):
            across = -across
    elif rise < 0:
        across, rise = -across, -rise
    elevation = min(max(math.asin(min(rise, 1.0)), LOWEST), HIGHEST)
    side = np.cross(up, across)
    level = math.cos(ASIDE) * across + math.sin(ASIDE) * side
    x, y, z = math.cos(elevation) * level + math.sin(elevation) * up
    return View(axis, sign, (float(x), float(y), float(z)))


def _upright(gravity: Floats) -> tuple[int, int]:
    size = float(np.linalg.norm(gravity))
    axis = int(np.argmax(np.abs(gravity)))
    if size == 0 or abs(gravity[axis]) < 0.9 * size:
        return 2, 1
    return axis, -int(np.sign(gravity[axis]))


def _bend_normal(backbone: Floats, up: Floats) -> Floats:
    """Unit normal of the plane that fits the backbone; for a straight robot, a level direction across it."""
    _, sizes, directions = np.linalg.svd(backbone - backbone.mean(axis=0), full_matrices=False)
    if len(sizes) == 3 and sizes[1] > 1e-3 * sizes[0]:
        return np.asarray(directions[2])
    return _level(np.cross(up, backbone[-1] - backbone[0]), up)


def _level(vector: Floats, up: Floats) -> Floats:
    """The horizontal part of a vector, of length one; a fixed choice when there is none."""
    flat = vector - (vector @ up) * up
    size = float(np.linalg.norm(flat))
    if size < 1e-6 * max(float(np.linalg.norm(vector)), 1e-30) or size == 0:
        flat = np.roll(up, 2)  # for z up: the robot is seen from -y, with x to the right
        flat, size = -np.abs(flat), 1.0
    return flat / size
