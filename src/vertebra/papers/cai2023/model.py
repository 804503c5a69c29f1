"""Our payloads for all cases, other readings of the text, and how far assumed numbers move the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import vertebra as vb
from vertebra.locked.ball_shape import BallShape
from vertebra.papers.cai2023.cases import (
    CASES,
    DIFFERENCE,
    DOWN,
    LEVELS,
    SHAPES,
    Curve,
    curve_of,
    gains,
    payload_of,
    shape_of,
    snake,
    tensions_at,
)
from vertebra.papers.cai2023.published import GAINS, error_rows
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.locked.best import BestTensions

UP_FIRST = "S up first"
HIGHER = "T1 to 35 N"
RAISED = "T2, T3 raised"
PRINTED_SIGN = "eq 6 as printed"
READINGS = {
    UP_FIRST: "the vertical S bends up first, then down",
    HIGHER: "Table II goes to T1 = 35 N, T2 = T3 = 40 N",
    RAISED: "the gain is that of raising T2 and T3 by 5 N, from 5, 5, 5 N",
    PRINTED_SIGN: "tendons pull links the way that eq 6 points",
}


@dataclass(frozen=True)
class Reading:
    """One number of the paper under another reading of its text."""

    reading: str
    shape: str
    what: str
    unit: str
    printed: str
    """A number, or the range that follows from printed ones."""
    ours: float
    """As the case is read here."""
    otherwise: float
    """Under this reading."""


def readings(curves: Sequence[Curve]) -> Iterator[Reading]:
    """All that were considered."""
    found = {(curve.case.table, curve.case.shape): curve for curve in curves}
    printed = error_rows()
    low, high = float(LEVELS[0]), float(LEVELS[-1])

    def gain(shape: str) -> float:
        return max(gains(found[1, shape], found[2, shape]))

    up = shape_of("vertical S", up_first=True)
    held, less = (payload_of(up, tensions_at(low, part)).force for part in (0.0, DIFFERENCE))
    implied = printed[1, "vertical S"].implied.text
    ours = found[1, "vertical S"].largest.force
    yield Reading(
        UP_FIRST, "vertical S", "largest, equal", "N", implied, ours, payload_of(up, tensions_at(high)).force
    )  # fmt: skip
    quoted = f"{GAINS['vertical S']:.2f}"
    yield Reading(UP_FIRST, "vertical S", "gain", "%", quoted, gain("vertical S"), 100.0 * (less / held - 1.0))
    for shape in GAINS:
        more = payload_of(shape_of(shape), tensions_at(high + DIFFERENCE, DIFFERENCE)).force
        implied = printed[2, shape].implied.text
        yield Reading(HIGHER, shape, "largest, T1 less", "N", implied, found[2, shape].largest.force, more)
    for shape, number in GAINS.items():
        raised = payload_of(shape_of(shape), tensions_at(low + DIFFERENCE, DIFFERENCE)).force
        more = 100.0 * (raised / found[1, shape].payloads[0].force - 1.0)
        yield Reading(RAISED, shape, "gain", "%", f"{number:.2f}", gain(shape), more)
    for shape, number in GAINS.items():
        held, less = (pushed(shape_of(shape), tensions_at(high, part)) for part in (0.0, DIFFERENCE))
        at_high = gains(found[1, shape], found[2, shape])[-1]
        what = f"gain at {high:g} N"
        yield Reading(PRINTED_SIGN, shape, what, "%", f"<= {number:.2f}", at_high, 100.0 * (less / held - 1.0))


def pushed(shape: BallShape, tensions: Floats) -> float:
    """Payload with tendons that push as hard as they should pull, N: the same as with load and gravity reversed.

    All forces on a link may change sign together: the contact then sits on the other side of the ball, which makes no
    difference to friction. The paper's own method with eq 6 as printed gives the same; a test checks that.
    """
    robot = snake()
    return vb.payload(
        robot, shape.bends, shape.azimuths, tensions, -np.array(DOWN), gravity=-robot.gravity
    ).force  # fmt: skip


# How far our largest payloads depend on what the text does not state.

MORE = 0.05
"""Each number is made larger by this share."""


@dataclass(frozen=True)
class Sensitivity:
    """One assumed number."""

    what: str
    value: str
    change: tuple[float, ...]
    """Change of the largest payload of each case, N, when the number is 5 % larger."""


def sensitivities() -> Iterator[Sensitivity]:
    """Every assumed number in turn; bends of the shapes last."""
    before = _largest(snake())
    for what, value, robot, share in _larger_robots():
        after = _largest(robot, share)
        yield Sensitivity(what, value, tuple(b - a for a, b in zip(before, after, strict=True)))


def gain_ranges() -> dict[str, tuple[float, float]]:
    """Smallest and largest gain by shape, %, when one of the assumed numbers is 5 % larger."""
    low, found = float(LEVELS[0]), {}
    for name in GAINS:
        tried = []
        for _, _, robot, share in _larger_robots():
            bent = shape_of(name, robot, share)
            held, less = (payload_of(bent, tensions_at(low, part), robot=robot).force for part in (0.0, DIFFERENCE))
            tried.append(100.0 * (less / held - 1.0))
        found[name] = min(tried), max(tried)
    return found


def _largest(robot: Robot, share: float = 1.0) -> list[float]:
    """Payload of each case at its highest tensions, N."""
    return [payload_of(shape_of(case.shape, robot, share), case.tensions[-1], robot=robot).force for case in CASES]


def _larger_robots() -> Iterator[tuple[str, str, Robot, float]]:
    """What is assumed, its value, the robot with 5 % more of it, and the share of bends."""
    for what, part, field, unit in (
        ("ball radius", "joint", "radius", "mm"),
        ("ring radius", "joint", "ring_radius", "mm"),
        ("channel", "link", "channel", "mm"),
        ("mass of a link", "link", "mass", "g"),
    ):
        mapping = snake().to_mapping()
        numbers = mapping["sections"][0][part]
        value = f"{numbers[field] * 1e3:g} {unit}"
        numbers[field] *= 1.0 + MORE
        yield what, value, vb.load(mapping), 1.0
    yield "bends", "2.85 and 8 deg", snake(), 1.0 + MORE


# Everything that is compared.


@dataclass(frozen=True, eq=False)
class Results:
    """Our payloads and everything else that was worked out."""

    curves: tuple[Curve, ...]
    """In the order of the tables' rows."""
    best: dict[str, BestTensions]
    """By shape: the tensions up to 35 N that carry the largest payload."""
    readings: tuple[Reading, ...]
    sensitivities: tuple[Sensitivity, ...]
    gain_ranges: dict[str, tuple[float, float]]
    """See `gain_ranges`."""

    @property
    def inside(self) -> int:
        """Curves whose largest payload is in the range that the tables imply."""
        return sum(curve.inside for curve in self.curves)

    def curve(self, table: int, shape: str) -> Curve:
        """The one for a row of a table."""
        return next(curve for curve in self.curves if (curve.case.table, curve.case.shape) == (table, shape))


def results() -> Results:
    """Work out everything."""
    curves, robot = tuple(curve_of(case) for case in CASES), snake()
    best = {name: vb.best_tensions(robot, shape_of(name), DOWN, (0.0, float(LEVELS[-1]))) for name in SHAPES}
    return Results(curves, best, tuple(readings(curves)), tuple(sensitivities()), gain_ranges())
