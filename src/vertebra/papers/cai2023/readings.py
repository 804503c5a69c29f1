"""What else the text could mean, and what would follow: why the cases are read as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import vertebra as vb
from vertebra.locked.ball_shape import BallShape
from vertebra.papers.cai2023.cases import DIFFERENCE, DOWN, LEVELS, payload_of, shape_of, snake, tensions_at
from vertebra.papers.cai2023.claims import gains
from vertebra.papers.cai2023.curve import Curve
from vertebra.papers.cai2023.published import GAINS, error_rows
from vertebra.robot.tables import Floats

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
    """All that were weighed."""
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

    All forces on a link may change sign together: the contact then sits on the other side of the ball, and friction
    does not mind. The paper's own method with eq 6 as printed gives the same; a test checks that.
    """
    robot = snake()
    return vb.payload(
        robot, shape.bends, shape.azimuths, tensions, -np.array(DOWN), gravity=-robot.gravity
    ).force  # fmt: skip
