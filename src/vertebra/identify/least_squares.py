"""Gauss-Newton for few unknowns, with the covariance that its last step knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vertebra.errors import InputError
from vertebra.robot.tables import Floats

STEPS, HALVINGS = 60, 40
SETTLED = 1e-13
"""A step that changes the predictions by less than this part of the readings is round-off."""
RANK = 1e-9
"""Columns closer to each other than this, after scaling to unit length, cannot be told apart."""

Model = Callable[[Floats], tuple[Floats, Floats]]
"""From unknowns (p,) to predictions (n,), which may be infinite, and slopes (n, p)."""


class LeastSquares(NamedTuple):
    """The unknowns with the least sum of squares."""

    values: Floats
    """(p,)"""
    residuals: Floats
    """(n,) measured minus predicted."""
    shape: Floats
    """(p, p) covariance of the unknowns for readings of unit variance: inverse of the normal matrix."""

    @property
    def squares(self) -> float:
        """Sum of squared residuals."""
        return float(self.residuals @ self.residuals)


def least_squares(model: Model, measured: Floats, start: Floats) -> LeastSquares:
    """Fit by Gauss-Newton steps, halved while they do not help; raises `InputError` where unknowns are inseparable."""
    values = start.astype(np.float64)
    predicted, slopes = model(values)
    for _ in range(STEPS):
        residuals = measured - predicted
        scale = np.linalg.norm(slopes, axis=0)
        step = _solve(slopes / scale, residuals) / scale
        size, before = 1.0, float(residuals @ residuals)
        for _ in range(HALVINGS):
            trial = values + size * step
            predicted, slopes = model(trial)
            misfit = measured - predicted
            # At the optimum the sum of squares only jitters by round-off; that is no reason to halve.
            if np.isfinite(misfit).all() and misfit @ misfit <= before * (1 + 1e-12) + _round_off(measured):
                break
            size *= 0.5
        values = trial
        if np.linalg.norm(scale * size * step) <= SETTLED * np.linalg.norm(measured):
            return LeastSquares(values, measured - predicted, _inverse(slopes))
    raise InputError("rig", "the fit does not settle; the readings do not follow the law of the rig, check them")


def _round_off(measured: Floats) -> float:
    return len(measured) * float((8 * np.finfo(float).eps * np.abs(measured).max()) ** 2)


def _solve(columns: Floats, target: Floats) -> Floats:
    left, sizes, right = np.linalg.svd(columns, full_matrices=False)
    if not np.isfinite(sizes).all() or sizes[-1] <= RANK * sizes[0]:
        raise InputError("rig", "the readings cannot tell the unknowns apart; vary the angles, the loads or both")
    solution: Floats = right.T @ ((left.T @ target) / sizes)
    return solution


def _inverse(slopes: Floats) -> Floats:
    scale = np.linalg.norm(slopes, axis=0)
    triangle = np.linalg.inv(np.linalg.qr(slopes / scale, mode="r"))
    shape: Floats = (triangle @ triangle.T) / np.outer(scale, scale)
    return shape
