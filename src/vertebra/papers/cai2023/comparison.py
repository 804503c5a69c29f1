"""Our payloads of all shapes and tensions beside what the paper's tables imply, and its claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import vertebra as vb
from vertebra.papers.cai2023.cases import CASES, DOWN, LEVELS, SHAPES, Case, payload_of, shape_of, snake
from vertebra.papers.cai2023.claims import Claim, claims_of
from vertebra.papers.cai2023.curve import Curve
from vertebra.papers.cai2023.published import error_rows
from vertebra.papers.cai2023.readings import Reading, readings
from vertebra.papers.cai2023.sensitivity import Sensitivity, sensitivities

if TYPE_CHECKING:
    from vertebra.locked.best import BestTensions


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything that is shown."""

    curves: tuple[Curve, ...]
    """In the order of the tables' rows."""
    best: dict[str, BestTensions]
    """By shape: the tensions up to 35 N that hold most."""
    claims: tuple[Claim, ...]
    readings: tuple[Reading, ...]
    sensitivities: tuple[Sensitivity, ...]

    def curve(self, table: int, shape: str) -> Curve:
        """That of one row of one table."""
        return next(curve for curve in self.curves if (curve.case.table, curve.case.shape) == (table, shape))

    def __repr__(self) -> str:
        inside = sum(curve.inside for curve in self.curves)
        return f"Comparison({len(self.curves)} curves, {inside} of them in the range that the tables imply)"


def compare() -> Comparison:
    """Work out everything."""
    printed = error_rows()
    curves = tuple(curve_of(case) for case in CASES)
    robot = snake()
    best = {name: vb.best_tensions(robot, shape_of(name), DOWN, (0.0, float(LEVELS[-1]))) for name in SHAPES}
    return Comparison(curves, best, tuple(claims_of(curves, printed)), tuple(readings(curves)), tuple(sensitivities()))


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
