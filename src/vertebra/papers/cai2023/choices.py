"""One case: four shapes under equal tensions, two of them with tendon 1 slacker."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.mechanics.kinematics import Pose
from vertebra.papers.cai2023.cases import (
    CASES,
    DOWN,
    LEVELS,
    PRESET,
    S_BEND,
    SHAPES,
    SPATIAL_BEND,
    Case,
    Curve,
    curve_of,
    gains,
    snake,
)
from vertebra.papers.cai2023.published import GAINS
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
from vertebra.papers.paper import Verdict
from vertebra.report.document import fixed

if TYPE_CHECKING:
    from vertebra.locked.payload import Payload

NO_PAYLOAD = (
    "The paper prints no payload. Its errors are printed in N and in % of the largest payload of the shape, so that"
    " their quotient implies a range for that one; the others are only drawn."
)

_S, _SPATIAL = (round(math.degrees(bend), 9) for bend in (S_BEND, SPATIAL_BEND))
FORMS: dict[str, dict[str, Any]] = {
    "straight": {"form": "straight"},
    "vertical S": {"form": "S", "bend_deg": _S, "azimuth_deg": -90.0},
    "horizontal S": {"form": "S", "bend_deg": _S, "azimuth_deg": 0.0},
    "non-planar": {"form": "spiral", "bend_deg": _SPATIAL, "from_deg": -90.0, "to_deg": 90.0},
}
"""The shapes of `cases.shape_of`, as the Payload tab has them."""


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
    placed = Pose(robot, curve.shape.coordinates).frames
    last = placed[-1]
    tip = last[:3, :3] @ robot.tip_point + last[:3, 3]
    return Outcome(
        f"{case.shape}: {SHAPES[case.shape]}",
        tuple(_lines(curve, row)),
        placed[None],
        robot.gravity,
        found.tensions[None],
        marks=tuple(_weakest(found)),
        load=(tip, found.force * np.array(DOWN)),
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
    same = fixed(most) == fixed(quoted)
    return Line(
        "most gained by 5 N less in tendon 1 (%)", fixed(quoted), fixed(most, 3), f"{most - quoted:+.3f}",
        Verdict.REPRODUCED if same else Verdict.DEPENDS,
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
