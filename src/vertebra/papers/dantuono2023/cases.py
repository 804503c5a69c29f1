"""The three motions of section 4, and the ways in which its text can be read.

Axes: ours (x, y, z) are the paper's (y, z, x). Its gravity, -z, is our -y; cables 1 to 4 run at +y, -z, -y, +z of the
paper, so cable 2 is at the bottom and cable 4 on top.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

import vertebra as vb
from vertebra.errors import InputError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

PRESET = "dantuono2023"
AMPLITUDE = math.pi / 18
"""rad, of every joint that moves."""
FREQUENCY = 0.5
"""rad/s: theta = pi/18 sin(t/2)."""
TIME_STEP = 5e-3
"""s"""
DURATION = 4.0 * math.pi
"""s, one period; assumed, since the text gives none."""
LAST_SECONDS = 3.0
"""The text speaks of the last seconds of the tilt motion, when the robot bends towards the ceiling."""
BOTTOM, TOP, SIDES = 1, 3, (0, 2)
"""Rows of the cables."""


@dataclass(frozen=True)
class Case:
    """One motion."""

    name: str
    joints: tuple[int, ...]
    """Those that move, counted from 1."""

    @property
    def moving(self) -> Floats:
        """(6,) 1 for joints that move, else 0."""
        return np.array([float(joint in self.joints) for joint in range(1, 7)])


CASES = {case.name: case for case in (Case("pan", (1, 3, 5)), Case("tilt", (2, 4, 6)), Case("3d", tuple(range(1, 7))))}


@dataclass(frozen=True)
class Motion:
    """Samples of one motion."""

    time: Floats
    """(N,) s"""
    q: Floats
    """(N, 6) rad"""
    qd: Floats
    """(N, 6) rad/s"""
    qdd: Floats
    """(N, 6) rad/s^2"""


@cache
def snake() -> Robot:
    """The preset."""
    return vb.load(PRESET)


def case_named(name: str) -> Case:
    """pan, tilt or 3d."""
    found = CASES.get(name.lower())
    if found is None:
        raise InputError("case", f"must be {', '.join(CASES)}, not {name!r}")
    return found


def times() -> Floats:
    """(N,) s, one period in steps of 5 ms."""
    return np.arange(0.0, DURATION, TIME_STEP)


def motion(case: Case, time: Floats, frequency: float = FREQUENCY) -> Motion:
    """The motion of a case at given times (N,) s; `frequency` in rad/s."""
    phase = frequency * np.asarray(time, dtype=np.float64)[:, None]
    size = AMPLITUDE * case.moving
    return Motion(
        np.asarray(time, dtype=np.float64),
        np.sin(phase) * size,
        frequency * np.cos(phase) * size,
        -(frequency**2) * np.sin(phase) * size,
    )


# How the text is read ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """Which way the weight pulls, and which of the cables at bottom and top is called cable 2."""

    name: str
    text: str
    weight: float = 1.0
    """Times gravity."""
    swapped: bool = False
    """Cables 2 and 4 change names."""

    def gravity(self, robot: Robot) -> Floats:
        """(3,) m/s^2"""
        return np.asarray(self.weight * robot.gravity)

    def named(self, tensions: Floats) -> Floats:
        """Tensions with the cables in the order of this reading, along axis 1."""
        return tensions[:, [0, 3, 2, 1]] if self.swapped else tensions


STATED = Reading("stated", "gravity along -z of the paper, cable 2 at the bottom")
REVERSED = Reading("weight reversed", "gravity along +z, as if its sign were applied twice in (5)", weight=-1.0)
SWAPPED = Reading("cable 2 on top", "cables 2 and 4 change places; gravity as stated", swapped=True)
READINGS = {reading.name: reading for reading in (STATED, REVERSED, SWAPPED)}
