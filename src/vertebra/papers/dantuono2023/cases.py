"""The three motions of section 4, and the ways in which its text can be read.

Axes: ours (x, y, z) are the paper's (y, z, x). Its gravity, -z, is our -y; cables 1 to 4 run at +y, -z, -y, +z of the
paper, so cable 2 is at the bottom and cable 4 on top.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

import vertebra as vb
from vertebra.errors import InputError
from vertebra.papers.dantuono2023.literal import MIN_CONTACT_FORCE
from vertebra.report.document import number
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.dynamics.allocation import Allocation

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


SHORT = {"pan": "pan", "tilt": "tilt", "3d": "3D"}
"""Names of the motions in tables."""
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


# Cable tensions of a motion, link by link as the paper has them or one per cable.

Method = Literal["per_link", "shared"]
METHODS: dict[Method, str] = {
    "per_link": "the paper's: least sum of tensions link by link, so that a cable's tension differs from link to link",
    "shared": "one tension per cable from base to tip, nearest to the needed joint moments",
}


@dataclass(frozen=True, eq=False)
class Run:
    """Tensions of one motion by one method."""

    case: Case
    method: Method
    reading: Reading
    motion: Motion
    allocation: Allocation

    @property
    def base(self) -> Floats:
        """(N, 4) tensions at the base, N, with the cables named as the reading has it."""
        return self.reading.named(np.asarray(self.allocation.base_tensions))

    @property
    def peaks(self) -> Floats:
        """(4,) highest tension of each cable at the base, N."""
        return np.asarray(self.base.max(axis=0))

    @property
    def feasible(self) -> float:
        """Share of instants at which all joints balance."""
        return float(np.mean(self.allocation.feasible))

    @property
    def out_of_balance(self) -> Floats:
        """(N,) largest moment of any joint that the tensions leave out of balance, N*m."""
        return np.asarray(np.abs(self.allocation.residual).max(axis=1))

    @property
    def worst(self) -> tuple[float, int, float]:
        """Moment most out of balance, N*m; its joint, counted from 1; when, s."""
        residual = np.abs(self.allocation.residual)
        row, joint = np.unravel_index(int(residual.argmax()), residual.shape)
        return float(residual[row, joint]), int(joint) + 1, float(self.motion.time[row])

    @property
    def least_contact(self) -> float:
        """Least normal force of any contact point, N; below 0 the links would come apart there."""
        contacts = self.allocation.contacts
        return float(contacts.normal.min()) if contacts is not None else 0.0

    def __repr__(self) -> str:
        peaks = ", ".join(f"{peak:.2f}" for peak in self.peaks)
        return f"Run({self.case.name}, {self.method}, {self.reading.name}: peaks at the base {peaks} N)"


def run(
    case: Case, method: Method, reading: Reading = STATED, time: Floats | None = None, robot: Robot | None = None
) -> Run:
    """Allocate tensions along one motion."""
    body = robot or snake()
    moves = motion(case, times() if time is None else time)
    found = vb.allocate_tensions(
        body, moves.q, moves.qd, moves.qdd, reading.gravity(body), method=method, check=False
    )  # fmt: skip
    return Run(case, method, reading, moves, found)


# What the paper does not state, and what stands in for it here.


def assumed() -> Iterator[tuple[str, str, str]]:
    """What is not stated, what we use, and where that comes from."""
    section = snake().to_mapping()["sections"][0]
    joint, link, cables = section["joint"], section["link"], section["cables"]
    recess = cables["holes"]["recess"]
    height, angle = link["length"] - 2 * recess, math.acos(1.0 - recess / joint["radius"])
    yield "radius of curvature R", f"{number(joint['radius'] * 1e3)} mm", "assumed"
    yield "contact angle", f"{number(round(math.degrees(angle), 3))} deg", "assumed"
    yield "height H, between hole planes", f"{number(round(height * 1e3, 3))} mm", "assumed"
    yield "holes, from the axis", f"{number(cables['radius'] * 1e3)} mm", "assumed"
    yield "contact points, off the middle", f"{number(joint['contact_offset'] * 1e3)} mm", "assumed"
    yield "mass of a link", f"{number(link['mass'] * 1e3)} g", "assumed"
    yield "inertia of a link", "tube, radii 25 and 15 mm", "assumed"
    yield "static friction", number(joint["friction"]), "assumed"
    yield "pretension, (31)", f"{number(cables['pretension'])} N", "assumed"
    yield "least contact force, (34)", f"{number(MIN_CONTACT_FORCE)} N", "assumed"
    yield "most tension", f"{number(cables['max_tension'])} N", "ours; the paper has none"
    yield "gravity", f"{number(float(np.linalg.norm(snake().gravity)))} m/s^2", "assumed"
    yield "which joints pan", "odd ones", "inferred from Fig. 2's order"
    yield "cables 1 to 4", "+y, -z, -y, +z", "inferred: 2 is at the bottom"
    yield "which way is up in tilt", "negative angles", f"inferred: up in the last {LAST_SECONDS:g} s"
    yield "duration", f"{DURATION:.2f} s, one period", f"assumed; {DURATION / 2 + LAST_SECONDS:.2f} s or more fit"
