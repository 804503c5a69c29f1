"""The shapes and tensions of sections III-B and III-C, and our payload of each.

Axes: ours (x, y, z) are the paper's (y, z, x). Its load and gravity, -z, are our -y; its bending direction angle theta
is our azimuth + 90 deg, so that theta = 0 bends down. All angles of the shapes are assumed: they are only drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import vertebra as vb
from vertebra.locked.ball_shape import BallShape
from vertebra.papers.cai2023.published import error_rows
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.locked.payload import Payload

PRESET = "cai2023"
DOWN = (0.0, -1.0, 0.0)
"""Direction of the load."""
LEVELS = tuple(range(5, 40, 5))
"""N, tension of tendons 2 and 3, and of tendon 1 where all are equal."""
DIFFERENCE = 5.0
"""N, by which tendon 1 is less in Table II."""
S_BEND, SPATIAL_BEND = math.radians(2.85), math.radians(8.0)
SHAPES = {
    "straight": "no bend",
    "vertical S": "2.85 deg a joint, 10 joints down, then 9 up",
    "horizontal S": "2.85 deg a joint, 10 joints to one side, then 9 to the other",
    "non-planar": "8 deg a joint, theta from 0 to 180 deg",
}
"""What each shape of the paper is here."""


@dataclass(frozen=True)
class Case:
    """One curve of Fig. 6 or 7: a shape under seven levels of tension."""

    table: int
    """1 with equal tensions, 2 with T1 less than the others."""
    shape: str

    @property
    def name(self) -> str:
        """Such as ``straight, T1 5 N less``."""
        return f"{self.shape}, {'equal' if self.table == 1 else 'T1 5 N less'}"

    @property
    def tensions(self) -> Floats:
        """(7, 3) N, level by level."""
        return np.array([tensions_at(level, 0.0 if self.table == 1 else DIFFERENCE) for level in LEVELS])


CASES = tuple(Case(table, shape) for table, shape in error_rows())
"""Rows of Table I, then of Table II."""


def tensions_at(level: float, less: float = 0.0) -> Floats:
    """(3,) N: T1 = `level` - `less`, T2 = T3 = `level`."""
    return np.array([level - less, level, level])


@cache
def snake() -> Robot:
    """The preset."""
    return vb.load(PRESET)


def shape_of(name: str, robot: Robot | None = None, share: float = 1.0, up_first: bool = False) -> BallShape:
    """One of `SHAPES` for the preset or a robot like it; `share`: of the bends.

    `up_first`: the vertical S the other way round, which the text does not rule out.
    """
    robot = robot or snake()
    down = -math.pi / 2
    if name == "straight":
        return BallShape.straight(robot)
    if name == "vertical S":
        return BallShape.s_curve(robot, share * S_BEND, -down if up_first else down)
    if name == "horizontal S":
        return BallShape.s_curve(robot, share * S_BEND, 0.0)
    return BallShape.spiral(robot, share * SPATIAL_BEND, down, down + math.pi)


def payload_of(
    shape: BallShape, tensions: Floats, gravity: Floats | None = None, robot: Robot | None = None
) -> Payload:
    """Under a load that hangs from the tip."""
    return vb.payload(robot or snake(), shape.bends, shape.azimuths, tensions, DOWN, gravity=gravity)
