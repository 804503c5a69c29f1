"""The acceleration nearest to a wanted one that cables within their bounds can give."""

from __future__ import annotations

import numpy as np

from vertebra.dynamics.joint_needs import JointNeeds
from vertebra.dynamics.problem import Moving, States
from vertebra.dynamics.shared_tensions import balanced_tensions
from vertebra.mechanics.composite import mass_matrices
from vertebra.robot.tables import Floats


def nearest_accelerations(moving: Moving, motion: States, needs: JointNeeds, low: Floats, high: Floats) -> Floats:
    """qdd' (N, n) in rad/s^2 with the least (qdd' - qdd) . M (qdd' - qdd), of each state on its own.

    By that measure, says Gauss, a body moves as near as it can to how it would move without constraints. A moment e out
    of balance changes the acceleration by M^-1 e, so this is least squares in L^-1 e with M = L L^T.
    """
    count, n = motion.q.shape
    M = np.empty((count, n, n))
    mass_matrices(*moving.system, motion.q, np.zeros(n), moving.scratch(), M)
    L = np.linalg.cholesky(M)
    arms = np.linalg.solve(L, needs.arms.transpose(0, 2, 1)).transpose(0, 2, 1)
    moments = np.linalg.solve(L, needs.moments[:, :, None])[:, :, 0]
    everywhere = np.full(len(low), n, np.int64)
    pulls = balanced_tensions(everywhere, low, high, np.ascontiguousarray(arms), np.ascontiguousarray(moments))[:, :, 0]
    missing = needs.moments - np.einsum("ikj,ik->ij", needs.arms, pulls)
    qdd: Floats = motion.qdd - np.linalg.solve(M, missing[:, :, None])[:, :, 0]
    return qdd
