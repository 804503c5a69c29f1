"""The robot, and the motions, poses and bases at which methods are compared.

Axes: the paper's. z runs along the robot, which stands upright; theta_x bends a module about x, theta_y about y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vertebra as vb
from vertebra.papers.lapusan2022.published import MODULES
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing import so3

if TYPE_CHECKING:
    from vertebra.sensing.simulated.motion import Motion

PRESET = "lapusan2022"


@dataclass(frozen=True)
class Method:
    """One way from orientations to the shape."""

    name: str
    text: str
    estimator: Literal["paper", "pairwise", "chain"]
    """What `ShapeEstimator` calls it."""
    twist: float | None = 0.0
    """Of the joints, rad; none: what the robot file says by default."""


METHODS = {
    one.name: one
    for one in (
        Method("paper", "equations 3 to 6 as printed", "paper"),
        Method(
            "pairwise", "the same with (3) in the frame of the platform before, and (6) in the order of (4)", "pairwise"
        ),
        Method(
            "chain", "all orientations at once, each by its precision; joints do not twist, as the paper says", "chain"
        ),
        Method(
            "chain, soft",
            "the same by default: joints may twist by 0.3 deg, which those simulated do not",
            "chain",
            None,
        ),
    )
}
DURATION = 16.0
"""s of every motion; assumed."""
PERIODS = (13.0, 16.0)
"""s, of uniform bends about x and about y; an S comes and goes three times as fast and peaks with them. Assumed."""
POSES, SEED = 240, 2022
AZIMUTHS = 8
"""Directions into which tilted bases lean, in turn from pose to pose."""


@cache
def python_robot(modules: int = MODULES, order: str = "yx") -> Robot:
    """The preset, with another number of modules or another order of the universal joints' axes."""
    description: dict[str, Any] = vb.load(PRESET).to_mapping()
    section = description["sections"][0]
    section["joints"], section["joint"]["order"] = modules, order
    description.pop("sensors")  # one on each link is the default; noise is given where it is needed
    return vb.load(description)


@dataclass(frozen=True)
class Bends:
    """How far modules bend: all alike, and in an S, the first half one way and the second half the other.

    Deg per module of a robot of 4; sizes that give the printed ranges of x, y, alpha and beta. No error was looked at.
    """

    uniform: tuple[float, float]
    """About x and about y."""
    s: tuple[float, float]

    def angles(self, waves: Floats, modules: int = MODULES) -> Floats:
        """(N, 2 modules) rad, (theta_y, theta_x) a module; `waves` (N, 4) of -1 to 1: uniform x, y, then S x, y.

        More modules bend less each, so that the whole turns as far.
        """
        turn = np.ones(modules)
        halves = np.where(np.arange(modules) < modules / 2, 1.0, -1.0)
        out = np.empty((len(waves), modules, 2))
        for column, axis in enumerate((1, 0)):  # (4) is Ry Rx: theta_y first
            uniform, s = self.uniform[axis] * waves[:, axis], self.s[axis] * waves[:, 2 + axis]
            out[:, :, column] = np.outer(uniform, turn) + np.outer(s, halves)
        return np.radians(out.reshape(len(waves), -1)) * MODULES / modules


BENDS = {
    "hil": Bends((2.90, 13.93), (11.0, -0.34)),
    "tracker": Bends((3.45, 3.42), (2.00, 5.97)),
}


def motion(test: str) -> Motion:
    """The motion of a test: bends that come and go as sines, each with a period of its own."""
    from vertebra.sensing.simulated.motion import Motion

    uniform = BENDS[test].angles(np.array([[1.0, 1.0, 0.0, 0.0]]))[0]
    s = BENDS[test].angles(np.array([[0.0, 0.0, 1.0, 1.0]]))[0]
    slow = 2.0 * math.pi / np.tile(PERIODS[::-1], MODULES)
    sizes, frequencies = np.column_stack([uniform, -s]), np.column_stack([slow, 3.0 * slow])
    return Motion(np.zeros(2 * MODULES), sizes, frequencies, np.zeros_like(sizes))


def poses(test: str = "hil", count: int = POSES, modules: int = MODULES) -> Floats:
    """(count, 2 modules) rad, drawn evenly within the bends of a test; always the same."""
    waves = np.random.default_rng(SEED).uniform(-1.0, 1.0, (count, 4))
    return BENDS[test].angles(waves, modules)


# Bases ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Base:
    """How the base stands in the world."""

    name: str
    yaw: float = 0.0
    """deg, about the vertical."""
    tilt: float = 0.0
    """deg, off the vertical, into `AZIMUTHS` directions in turn."""

    def rotations(self, count: int) -> Floats:
        """(count, 3, 3) base to world, one a pose."""
        azimuth = 2.0 * math.pi * (np.arange(count) % AZIMUTHS) / AZIMUTHS
        tipped = so3.exp(np.array([0.0, math.radians(self.tilt), 0.0]))
        lean = so3.about_z(azimuth) @ tipped @ so3.about_z(-azimuth)
        return np.asarray(so3.about_z(np.full(count, math.radians(self.yaw))) @ lean)


BASES = (
    Base("level"),
    Base("yawed 30 deg", yaw=30.0),
    Base("tilted 30 deg", tilt=30.0),
    Base("tilted 60 deg", tilt=60.0),
    Base("horizontal", tilt=90.0),
)
