"""Equations of motion of sampled angles, rates and accelerations by central differences, and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vertebra.dynamics.inverse import needed
from vertebra.dynamics.motion_derivatives import by_angles, by_rates
from vertebra.dynamics.problem import Moving, States
from vertebra.mechanics.composite import mass_matrices
from vertebra.mechanics.kinematics import measure
from vertebra.robot.tables import Floats


@dataclass(frozen=True, eq=False)
class MotionEquations:
    """M qdd + bias + k q + sum_k T_k l_k' = 0 at the N - 2 samples that have neighbours."""

    moving: Moving
    dt: float
    """Time step, s."""

    def motion(self, q: Floats) -> States:
        """Of (N, n) angles in rad, at the samples between the ends."""
        before, at, after = q[:-2], np.ascontiguousarray(q[1:-1]), q[2:]
        return States(False, at, (after - before) / (2.0 * self.dt), (after - 2.0 * at + before) / self.dt**2)

    def unbalanced(self, motion: States, tensions: Floats) -> Floats:
        """(N, n) moments that the equations leave, N*m, of N states under tensions (N, cables)."""
        arms, _ = cable_arms(self.moving, motion.q)
        left: Floats = self._free(motion) + np.einsum("ijk,ik->ij", arms, tensions)
        return left

    def _free(self, motion: States) -> Floats:
        """The same without cables."""
        free: Floats = needed(self.moving, motion, False)[0] + self.moving.robot.joints["stiffness"] * motion.q
        return free

    def accelerations(self, q: Floats, qd: Floats, tensions: Floats) -> Floats:
        """(N, n) rad/s^2 with which the equations hold at angles and rates (N, n)."""
        still = States(False, q, qd, np.zeros_like(q))
        left = self.unbalanced(still, tensions)
        return np.asarray(-np.linalg.solve(self._masses(q), left[:, :, None])[:, :, 0], dtype=np.float64)

    def _masses(self, q: Floats) -> Floats:
        count, n = q.shape
        M = np.empty((count, n, n))
        mass_matrices(*self.moving.system, q, np.zeros(n), self.moving.scratch(), M)
        return M

    def derivatives(self, q: Floats, tensions: Floats) -> tuple[Any, Any, Floats]:
        """Sparse matrices of the derivatives in all angles, ((N-2) n, N n), and all tensions, ((N-2) n, (N-2) c), and
        the moments without cables (N-2, n): the equations are linear in the tensions."""
        from scipy.sparse import block_diag, bsr_matrix

        motion = self.motion(q)
        m, n = motion.q.shape
        arms, curves = cable_arms(self.moving, motion.q)
        own = np.arange(n)
        stiff = by_angles(self.moving, motion, order=2)
        stiff[:, own, own] += self.moving.robot.joints["stiffness"] + np.einsum("ijk,ik->ij", curves, tensions)
        inertia, losses = self._masses(motion.q) / self.dt**2, by_rates(self.moving, motion) / (2.0 * self.dt)
        blocks = np.stack([inertia - losses, stiff - 2.0 * inertia, inertia + losses], axis=1).reshape(3 * m, n, n)
        columns = (np.arange(m)[:, None] + np.arange(3)).reshape(-1)
        in_angles = bsr_matrix((blocks, columns, 3 * np.arange(m + 1)), shape=(m * n, (m + 2) * n))
        in_tensions = block_diag(list(arms), format="csc")
        return in_angles.tocsc(), in_tensions, self._free(motion)


def cable_arms(moving: Moving, q: Floats) -> tuple[Floats, Floats]:
    """(N, n, cables) each: derivative of every cable's length in every angle, m/rad, and the second derivative."""
    segments = [measure(moving.robot, row) for row in q]
    return np.array([one.first.T for one in segments]), np.array([one.second.T for one in segments])
