"""The shapes and tensions of sections III-B and III-C, and our payload for each beside what is printed.

Axes: ours (x, y, z) are the paper's (y, z, x). Its load and gravity, -z, are our -y; its bending direction angle theta
is our azimuth + 90 deg, so that theta = 0 bends down. All angles of the shapes are assumed: they are only drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import vertebra as vb
from vertebra.locked.ball_shape import BallShape
from vertebra.mechanics.kinematics import Pose
from vertebra.papers.cai2023.published import GAINS, ErrorRow, error_rows
from vertebra.papers.case import (
    DRAWN,
    Axis,
    Choice,
    Curves,
    Line,
    Mark,
    Opens,
    Outcome,
    Report,
    Source,
    own_line,
    range_line,
)
from vertebra.papers.paper import Verdict, rounds_to, unless_explained
from vertebra.report.document import fixed, number
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
"""N, by which the tension of tendon 1 is lower in Table II."""
S_BEND, SPATIAL_BEND = math.radians(2.85), math.radians(8.0)
"""rad per joint."""
SHAPES = {
    "straight": "no bend",
    "vertical S": "2.85 deg per joint, 10 joints down, then 9 up",
    "horizontal S": "2.85 deg per joint, 10 joints to one side, then 9 to the other",
    "non-planar": "8 deg per joint, theta from 0 to 180 deg",
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
    """One of `SHAPES` for the preset or a robot like it; `share`: how much of the bends.

    `up_first`: the vertical S mirrored, which the text does not rule out.
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


# Payload of one shape against tension.


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve of Fig. 6 or 7 as we compute it, and the table row that goes with it."""

    case: Case
    shape: BallShape
    payloads: tuple[Payload, ...]
    """Seven, level by level."""
    weightless: tuple[Payload, ...]
    """The same without gravity."""
    printed: ErrorRow

    @property
    def forces(self) -> Floats:
        """(7,) N."""
        return np.array([payload.force for payload in self.payloads])

    @property
    def largest(self) -> Payload:
        """That of the highest tensions."""
        return self.payloads[-1]

    @property
    def miss(self) -> float:
        """How far our largest payload is outside what the table implies, N; 0 inside, negative below."""
        return self.printed.implied.miss(self.largest.force)

    @property
    def inside(self) -> bool:
        """Whether the table allows our largest payload."""
        return self.miss == 0.0

    @property
    def line(self) -> tuple[float, float]:
        """Slope (N per N of tension) and intercept (N) of the straight line that fits best."""
        slope, intercept = np.polyfit(LEVELS, self.forces, 1)
        return float(slope), float(intercept)

    @property
    def off_line(self) -> float:
        """Largest distance from that line, N."""
        return float(np.abs(self.forces - np.polyval(self.line, LEVELS)).max())

    @property
    def off_proportion(self) -> float:
        """Largest relative difference of payload over tension between levels, without gravity; equal tensions only.

        With unequal ones the tensions themselves are not in proportion.
        """
        ratio = np.array([payload.force for payload in self.weightless]) / np.array(LEVELS)
        return float(ratio.max() / ratio.min() - 1.0)

    def __repr__(self) -> str:
        return f"Curve({self.case.name}: {self.largest.force:.3f} N, table implies {self.printed.implied.text} N)"


def curve_of(case: Case) -> Curve:
    """All payloads of one case, with weight and without."""
    shape, still = shape_of(case.shape), np.zeros(3)
    return Curve(
        case,
        shape,
        tuple(payload_of(shape, tensions) for tensions in case.tensions),
        tuple(payload_of(shape, tensions, still) for tensions in case.tensions),
        error_rows()[case.table, case.shape],
    )


def gains(equal: Curve, less: Curve) -> list[float]:
    """How much larger the payload is when T1 is 5 N lower, %, level by level."""
    return [100.0 * (b / a - 1.0) for a, b in zip(equal.forces.tolist(), less.forces.tolist(), strict=True)]


# What the text does not state, and what stands in for it here.


def assumed() -> Iterator[tuple[str, str, str]]:
    """What is not stated, what we use, and where that comes from."""
    section = snake().to_mapping()["sections"][0]
    joint, link = section["joint"], section["link"]
    yield "ball radius r_o", f"{number(joint['radius'] * 1e3)} mm", "assumed: half the outer diameter"
    yield "ring radius r_c", f"{number(joint['ring_radius'] * 1e3)} mm", "assumed"
    yield "channel d", f"{number(link['channel'] * 1e3)} mm", "assumed"
    yield "mass of a link", f"{number(link['mass'] * 1e3)} g", "assumed"
    yield "gravity", f"{number(float(np.linalg.norm(snake().gravity)))} m/s^2", "assumed"
    yield "clamped links", f"the first of 20, {section['joints']} joints", "assumed"
    for name, text in SHAPES.items():
        if name != "straight":
            yield name, text, "assumed"
    yield "which way the vertical S starts", "down", "inferred from the gain"
    yield "T1 of Table II", "0 to 30 N", "inferred from the gain"
    yield "largest payload of a shape", "predicted, at 35 N", "assumed; may be measured"
    yield "measured payloads", "-", "only drawn, not used"


# One case, for the studio: four shapes under equal tensions, two of them with tendon 1 slacker.

NO_PAYLOAD = (
    "The paper prints no payload. Its errors are printed in N and in % of the largest payload of the shape, so"
    " their ratio gives a range for that one; the others are only drawn."
)

_S, _SPATIAL = (round(math.degrees(bend), 9) for bend in (S_BEND, SPATIAL_BEND))
FORMS: dict[str, dict[str, Any]] = {
    "straight": {"form": "straight"},
    "vertical S": {"form": "S", "bend_deg": _S, "azimuth_deg": -90.0},
    "horizontal S": {"form": "S", "bend_deg": _S, "azimuth_deg": 0.0},
    "non-planar": {"form": "spiral", "bend_deg": _SPATIAL, "from_deg": -90.0, "to_deg": 90.0},
}
"""The shapes of `shape_of` as settings of the Payload tab."""


@cache
def _cases() -> dict[str, Case]:
    return {case.name: case for case in CASES}


def axes() -> tuple[Axis, ...]:
    """Shape with its kind of tensions, and their level."""
    levels = tuple(f"{level} N" for level in LEVELS)
    return Axis("Case", tuple(_cases()), CASES[0].name), Axis("Tendons 2 and 3", levels, levels[-1])


def _read(choice: Choice) -> tuple[Case, int]:
    return _cases()[choice[0]], LEVELS.index(int(choice[1].split()[0]))


def source(choice: Choice) -> Source:
    """The preset."""
    return Source(PRESET)


def outcome(choice: Choice, report: Report) -> Outcome:
    """The whole curve of the case, and the robot at the chosen level."""
    case, row = _read(choice)
    curve = curve_of(case)
    found = curve.payloads[row]
    robot = snake()
    pose = Pose(robot, curve.shape.coordinates)
    return Outcome(
        f"{case.shape}: {SHAPES[case.shape]}",
        tuple(_lines(curve, row)),
        pose.frames[None],
        robot.gravity,
        found.tensions[None],
        marks=tuple(_weakest(found)),
        load=(pose.tip, found.force * np.array(DOWN)),
        curves=_curves(curve),
        notes=(NO_PAYLOAD,),
    )


def _weakest(found: Payload) -> Iterator[Mark]:
    if found.joint:
        yield Mark(f"joint {found.joint}: {found.mode}", found.contact.centers[found.joint - 1], "weakest")


def _curves(curve: Curve) -> Curves:
    implied = curve.printed.implied
    top = LEVELS[-1]
    return Curves(
        np.array(LEVELS, np.float64),
        (
            ("ours", curve.forces),
            ("ours, links without weight", np.array([payload.force for payload in curve.weightless])),
            (f"implied at {top} N, least", np.full(len(LEVELS), implied.low)),
            (f"implied at {top} N, most", np.full(len(LEVELS), implied.high)),
        ),
    )


def _lines(curve: Curve, row: int) -> Iterator[Line]:
    printed, found = curve.printed, curve.payloads[row]
    yield range_line(f"payload at {LEVELS[-1]} N (N)", printed.implied.text, curve.largest.force, 3, curve.miss)
    if row != len(LEVELS) - 1:
        yield own_line(f"payload at {LEVELS[row]} N (N)", fixed(found.force, 3), DRAWN)
    yield own_line("gives way first", f"joint {found.joint}, {found.mode}")
    if curve.case.shape in GAINS:
        yield _gain_line(curve)
    for what, newtons, percent in (
        ("mean", printed.mean, printed.mean_percent),
        ("largest", printed.largest, printed.largest_percent),
    ):
        text = f"{fixed(newtons)} N, {fixed(percent)} %"
        yield own_line(f"{what} error of the paper", "needs measured payloads", text)


def _gain_line(curve: Curve) -> Line:
    shape = curve.case.shape
    other = curve_of(next(case for case in CASES if case.shape == shape and case.table != curve.case.table))
    equal, less = (curve, other) if curve.case.table == 1 else (other, curve)
    quoted, most = GAINS[shape], max(gains(equal, less))
    return Line(
        "most gained by 5 N less in tendon 1 (%)", fixed(quoted), fixed(most, 3), f"{most - quoted:+.3f}",
        unless_explained(rounds_to(most, quoted), Verdict.DEPENDS),
    )  # fmt: skip


def opens(choice: Choice) -> Opens:
    """In the Payload tab."""
    case, row = _read(choice)
    settings = FORMS[case.shape] | {"tensions": case.tensions[row].tolist(), "toward": "-y", "mount": "as in the file"}
    return Opens("payload", settings)


def words(choice: Choice) -> frozenset[str]:
    """Shape, and whether tensions are equal; gains take both kinds."""
    case, _ = _read(choice)
    return frozenset({case.shape, "equal" if case.table == 1 else "less", f"Table {case.table}"})
