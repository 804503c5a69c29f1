"""How the joint moments of a motion change with its angles and rates: differences of inverse dynamics.

Accelerations enter through the mass matrix, which needs no differences.
"""

from __future__ import annotations

import numpy as np

from vertebra.dynamics.inverse import needed
from vertebra.dynamics.problem import Moving, States
from vertebra.robot.tables import Floats

REACH = 0.04
"""rad; how far the differences in an angle reach to either side."""
# Weights of the central differences of order 2 and 8, nearest pair first, for steps of one.
ORDERS = {2: (1 / 2,), 8: (4 / 5, -1 / 5, 4 / 105, -1 / 280)}


def by_angles(moving: Moving, motion: States, order: int = 8) -> Floats:
    """(N, n, n) d tau_i / d q_j in N*m/rad of N states, rates and accelerations held.

    Of order 8 with steps of 0.01 rad: truncation and round-off are both near 1e-13 of the moments at usual angles.
    """
    count, n = motion.q.shape
    weights = ORDERS[order]
    slopes = np.zeros((count, n, n))
    # Steps of order 2 are where truncation and round-off are equal; joint laws end at a half turn.
    reach = REACH if order > 2 else 1e-5
    step = np.minimum(reach, 0.2 * (np.pi - np.abs(motion.q))) / len(weights)
    for j in range(n):
        for pair, weight in enumerate(weights, start=1):
            for sign in (1.0, -1.0):
                q = motion.q.copy()
                q[:, j] += sign * pair * step[:, j]
                tau = needed(moving, States(False, q, motion.qd, motion.qdd), False)[0]
                slopes[:, :, j] += sign * weight * tau
        slopes[:, :, j] /= step[:, j, None]
    return slopes


def by_rates(moving: Moving, motion: States) -> Floats:
    """(N, n, n) d tau_i / d qd_j in N*m*s/rad of N states.

    Exact up to round-off: moments are of second degree in the rates, so that central differences of any step are.
    """
    count, n = motion.q.shape
    slopes = np.zeros((count, n, n))
    step = np.maximum(np.abs(motion.qd).max(axis=1), 1e-3)
    still = np.zeros_like(motion.qdd)
    for j in range(n):
        for sign in (1.0, -1.0):
            qd = motion.qd.copy()
            qd[:, j] += sign * step
            slopes[:, :, j] += sign * needed(moving, States(False, motion.q, qd, still), False)[0]
    slopes /= 2.0 * step[:, None, None]
    return slopes
