"""The mu with the least sum of squares: a scan of the whole range, then Brent's root of the slope in its best cell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vertebra.errors import CellProblem, InputError, MeasurementError
from vertebra.identify.slip_data import Rows
from vertebra.identify.slip_model import NUDGE, Scan, SlipModel
from vertebra.robot.tables import Floats

STEEP = 1e30
"""Stands for the slope of the sum of squares where a predicted force is infinite."""


class Points(NamedTuple):
    """What is fitted: loads at which a link slipped."""

    cell: Rows
    """(m,) the setting of each."""
    force: Floats
    """(m,) N."""
    size: Floats
    """(m,) their standard deviations in units of a common one."""
    offset: bool
    """Whether an error common to all forces is fitted too."""

    def shift(self, forces: Floats) -> float:
        """N: the error common to all forces that fits best, with predicted `forces` of the settings."""
        weight = self.size**-2
        return float(weight @ (self.force - forces[self.cell]) / weight.sum()) if self.offset else 0.0

    def misfits(self, forces: Floats) -> Floats:
        """(m,) measured minus predicted, over their sizes."""
        values: Floats = (self.force - forces[self.cell] - self.shift(forces)) / self.size
        return values

    def squares(self, forces: Floats) -> float:
        """Sum of squared misfits; infinite where a force is."""
        if not np.isfinite(forces).all():
            return np.inf
        misfits = self.misfits(forces)
        return float(misfits @ misfits)


def best_mu(model: SlipModel, scan: Scan, points: Points) -> float:
    """Least squares in mu; raises `MeasurementError` where the minimum lies at the end of the range.

    Every force grows with mu, so the sum of squares falls below the least mu that a single test gives and rises above
    the largest: the minimum lies between them. In between it is looked for at every point of the scan, and found by
    the sign of its slope, which also works where a test goes over from sliding to torsion and the slope jumps.
    """
    from scipy.optimize import brentq

    def slope(mu: float) -> float:
        forces = model.forces(mu)
        if not np.isfinite(forces).all():
            return STEEP
        with np.errstate(invalid="ignore"):
            growth = model.slopes(mu)[points.cell]
        value = -float(points.misfits(forces) @ (growth / points.size))
        return value if np.isfinite(value) else STEEP

    if (scan.forces == scan.forces[0]).all():
        raise InputError("slips", "the forces do not depend on mu: every test ends by something else than friction")
    squares = [points.squares(forces) for forces in scan.forces]
    at = int(np.argmin(squares))
    low = float(scan.mu[at - 1]) if at else 1e-3 * float(scan.mu[0])
    high = float(scan.mu[at + 1]) if at + 1 < len(scan.mu) else model.largest - 2 * NUDGE
    if slope(high) <= 0.0:
        _refuse(model, f"is larger than any mu up to {model.largest:.4g} explains, where mu times the ring's radius "
                "reaches the ball's; check the unit, where the load acts, and the tensions")  # fmt: skip
    if slope(low) >= 0.0:
        _refuse(model, "does not grow with the tension, as friction would make it; check the columns")
    return float(brentq(slope, low, high, xtol=1e-14, rtol=1e-14))


def mu_of_force(model: SlipModel, scan: Scan, setting: int, force: float) -> float:
    """The mu that gives exactly this force at one setting; infinite where no mu does."""
    from scipy.optimize import brentq

    above = np.flatnonzero(scan.forces[:, setting] > force)
    if not len(above):
        return np.inf
    at = int(above[0])

    def excess(mu: float) -> float:
        return min(float(model.forces(mu)[setting]), STEEP) - force

    low = float(scan.mu[at - 1]) if at else 1e-6 * float(scan.mu[0])
    if excess(low) >= 0.0:
        return low
    return float(brentq(excess, low, float(scan.mu[at]), xtol=1e-13, rtol=1e-13))


def _refuse(model: SlipModel, message: str) -> None:
    raise MeasurementError([CellProblem(0, 0, "slip_force_N", message)], model.data.source)
