"""One tension a cable, or one a cable and gap, with the least moments out of balance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vertebra.mechanics.joint_balance import balance_joints
from vertebra.mechanics.polyhedron import WORK_ROWS
from vertebra.robot.tables import Floats


def balanced_tensions(
    last_links: NDArray[np.int64],
    low: Floats,
    high: Floats,
    arms: Floats,
    moments: Floats,
    grips: Floats | None = None,
) -> Floats:
    """Tensions (N, cables, n) in N, zero beyond the cables' ends, for `moments` (N, n) in N*m by `arms` in m.

    With `grips` (N, cables, n), neighbouring segments of a cable may differ by factors up to exp(grip of the link
    between them). Of equally good tensions those of the least sum of squares, each cable by its mean.
    """
    count, cables, n = arms.shape
    along = grips is not None
    unknown = int(last_links.sum()) if along else cables
    variables, rows = unknown + n, n + (2 * unknown if along else 0)
    tensions = np.empty((count, cables, n))
    limits, vectors = np.empty((2, variables + rows)), np.zeros((3, variables))
    factors = (
        np.empty((variables, variables)),
        np.empty((variables, variables)),
        np.empty(variables + rows, np.int64),
        np.empty((WORK_ROWS, variables + 1)),
    )
    balance_joints(
        last_links, low, high, arms, moments, along, np.zeros((count, cables, n)) if grips is None else grips,
        np.empty((2, 2, variables + 1), np.int64), vectors[0], vectors[1], vectors[2], np.empty((rows, variables)),
        limits[0], limits[1], factors, tensions,
    )  # fmt: skip
    return tensions
