"""The three motions of section 4, the ways in which its text can be read, and our cable tensions.

Axes: ours (x, y, z) are the paper's (y, z, x). Its gravity, -z, is our -y; cables 1 to 4 run at +y, -z, -y, +z of the
paper, so cable 2 is at the bottom and cable 4 on top.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

import vertebra as vb
from vertebra.errors import InputError
from vertebra.mechanics.kinematics import Pose
from vertebra.papers.case import (
    DRAWN,
    NO_DIFFERENCE,
    Axis,
    Choice,
    Curves,
    Line,
    Opens,
    Outcome,
    Report,
    Source,
    own_line,
)
from vertebra.papers.dantuono2023.literal import MIN_CONTACT_FORCE
from vertebra.papers.paper import Verdict, unless_explained
from vertebra.report.document import fixed, number
from vertebra.report.panels import spread
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
    "per_link": "the paper's: least sum of tensions link by link, so a cable's tension differs from link to link",
    "shared": "one tension per cable from base to tip, nearest to the needed joint torques",
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
        """(N,) largest torque of any joint that the tensions leave out of balance, N*m."""
        return np.asarray(np.abs(self.allocation.residual).max(axis=1))

    @property
    def worst(self) -> tuple[float, int, float]:
        """Torque most out of balance, N*m; its joint, counted from 1; when, s."""
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


# Statements of the text that are judged by the tensions of one or two motions.

RISE = 43.0
"""%; the text says "almost"."""
SAME = 1e-6
"""N; tensions closer than this are called equal."""
Bases = Mapping[str, Floats]
"""(N, 4) tensions at the base by case, N."""
Judgement = tuple[bool | None, str, dict[str, float]]
"""Whether it is so (None where numbers that the paper does not print decide), what was found, and the numbers."""


def peaks_text(base: Floats) -> str:
    """Such as ``14.8, 5.0, 14.8, 67.6 N``."""
    return ", ".join(fixed(float(value), 1) for value in base.max(axis=0)) + " N"


def bottom_highest(case: str) -> Callable[[Bases], Judgement]:
    """Whether T2 is the highest tension at every instant of a case."""

    def judge(bases: Bases) -> Judgement:
        base = bases[case]
        others = base[:, [k for k in range(4) if k != BOTTOM]].max(axis=1)
        least = float((base[:, BOTTOM] - others).min())
        always = "at all times" if least > -SAME else f"but at times {fixed(-least, 1)} N below another"
        highest = int(base.max(axis=0).argmax()) + 1
        found = f"Peaks of T1 to T4: {peaks_text(base)}; the highest is T{highest}."
        if highest == BOTTOM + 1:
            found = found[:-1] + f", {always}."
        return (
            least > -SAME and highest == BOTTOM + 1,
            found,
            {f"peak_T{k + 1}_N": float(base[:, k].max()) for k in range(4)} | {"T2_less_highest_N": least},
        )

    return judge


def rise_of_bottom(bases: Bases) -> Judgement:
    """Peak of T2 in 3D over that in tilt."""
    tilt, both = (float(bases[name][:, BOTTOM].max()) for name in ("tilt", "3d"))
    rise = 100.0 * (both / tilt - 1.0)
    found = f"Peak of T2: {fixed(tilt)} N in tilt, {fixed(both)} N in 3D, {rise:+.2f} %."
    # A rise that is there but hangs on assumed dimensions proves nothing; none at all does.
    return None if rise > 1.0 else False, found, {"tilt_N": tilt, "3d_N": both, "rise_percent": rise}


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


# One case, for the studio: three motions, by both ways to share out tensions, in three readings.

METHOD_NAMES: dict[str, Method] = {"link by link": "per_link", "one tension per cable": "shared"}
NO_TENSION = (
    "The paper prints no tension and no dimension of its robot: it draws tensions and says what to see in them. Ours"
    " are those of an assumed robot; where that matters, it is said."
)
MOST_ROWS = 400
"""Frames to play: some 30 per second."""


def axes() -> tuple[Axis, ...]:
    """Motion, method and reading."""
    return (
        Axis("Motion", tuple(CASES), "pan"),
        Axis("Tensions", tuple(METHOD_NAMES), "link by link", (("one a cable", "one tension per cable"),)),
        Axis("Text read", tuple(READINGS), STATED.name),
    )


def source(choice: Choice) -> Source:
    """The preset; with gravity the other way where the text is read so."""
    reading = READINGS[choice[2]]
    mapping = snake().to_mapping()
    mapping["gravity"] = reading.gravity(snake()).tolist()
    return Source(PRESET, mapping, "weight-reversed")


def opens(choice: Choice) -> Opens:
    """In the Motion tab."""
    settings = {
        "source": "sway",
        "pattern": choice[0],
        "amplitude_deg": float(np.degrees(AMPLITUDE)),
        "period": 2.0 * np.pi / FREQUENCY,
        "method": METHOD_NAMES[choice[1]],
    }
    note = "The Motion tab numbers cables as the paper states them." if READINGS[choice[2]].swapped else ""
    return Opens("motion", settings, note)


def outcome(choice: Choice, report: Report) -> Outcome:
    """Tensions along the motion."""
    case, method, reading = case_named(choice[0]), METHOD_NAMES[choice[1]], READINGS[choice[2]]
    found = run(case, method, reading)
    report(0.5)
    rows = spread(len(found.motion.time), MOST_ROWS)
    robot = snake()
    tensions = np.asarray(found.allocation.tensions)[rows]
    if tensions.ndim == 2:
        tensions = np.repeat(tensions[:, :, None], len(robot.joints), axis=2)
    return Outcome(
        f"{SHORT[case.name]}, {METHODS[method]}",
        tuple(_lines(found)),
        np.array([Pose(robot, q).frames for q in found.motion.q[rows]]),
        reading.gravity(robot),
        tensions,
        times=found.motion.time[rows],
        curves=Curves(
            found.motion.time, tuple((f"T{k + 1} (N)", found.base[:, k]) for k in range(found.base.shape[1]))
        ),
        notes=(NO_TENSION, f"Read here: {reading.text}."),
    )


def _lines(found: Run) -> Iterator[Line]:
    for k, peak in enumerate(found.peaks.tolist(), 1):
        yield own_line(f"peak of T{k} at the base (N)", fixed(peak, 2), DRAWN)
    if found.case.name != "3d":
        holds, _, _ = bottom_highest(found.case.name)({found.case.name: found.base})
        highest = int(found.base.max(axis=0).argmax()) + 1
        verdict = unless_explained(bool(holds), Verdict.CONTRADICTS)
        yield Line("highest at all times", f"T{BOTTOM + 1}", f"T{highest}", NO_DIFFERENCE, verdict)
    if found.case.name != "pan":
        yield _rise_line(found)
    torque, joint, time = found.worst
    yield own_line("most out of balance (N m)", f"{torque:.2g}, joint {joint}, {fixed(time, 2)} s")
    yield own_line("least contact force (N)", fixed(found.least_contact, 2))


def _rise_line(found: Run) -> Line:
    other = run(CASES["3d" if found.case.name == "tilt" else "tilt"], found.method, found.reading)
    holds, _, numbers = rise_of_bottom({one.case.name: one.base for one in (found, other)})
    rise = numbers["rise_percent"]
    verdict = Verdict.DEPENDS if holds is None else Verdict.CONTRADICTS
    return Line("T2 rises, tilt to 3D (%)", f"almost {RISE:g}", fixed(rise, 2), f"{rise - RISE:+.2f}", verdict)


def words(choice: Choice) -> frozenset[str]:
    """Of the motion; the rise is from tilt to 3D."""
    return frozenset({choice[0], "any"} | ({"rise"} if choice[0] != "pan" else set()))
