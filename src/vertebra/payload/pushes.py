"""One locked chain under many pushes: limits of all joints, and how they change with the tensions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vertebra.mechanics.ball_limits import joint_limits, least_limits
from vertebra.mechanics.contact import SLIDING, TORSION
from vertebra.payload.locked_chain import LockedChain, Push
from vertebra.robot.tables import Floats

STEP = 1e-6
"""Part of the tensions by which they are changed where no formula gives the slope."""


@dataclass(frozen=True, eq=False)
class Pushes:
    """Loads of several directions at one point of a locked chain."""

    chain: LockedChain
    at: Push
    """Where the load acts; its direction does not matter."""
    directions: Floats
    """(D, 3) unit vectors."""

    def towards(self, directions: Floats) -> Pushes:
        """The same with other directions."""
        return Pushes(self.chain, self.at, np.ascontiguousarray(directions))

    def least(self, tensions: Floats) -> Floats:
        """(D,) load at which the first joint gives way, N."""
        count = len(self.directions)
        force, row, mode = np.empty(count), np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        joints, supply, frames, guided, link, at, _, couple = self._question(tensions, self.at)
        least_limits(joints, supply, frames, guided, link, at, self.directions, couple, 0, count, force, row, mode)
        return force

    def limits(self, tensions: Floats, k: int) -> tuple[Floats, NDArray[np.int64]]:
        """(n,) load at which each joint gives way in direction k, N, and how."""
        n = len(self.chain.robot.joints)
        limits, modes = np.empty(n), np.empty(n, dtype=np.int64)
        joint_limits(*self._question(tensions, self._push(k)), limits, modes)
        return limits, modes

    def slopes(self, tensions: Floats, k: int, limits: Floats, modes: NDArray[np.int64]) -> Floats:
        """(n, cables) change of `limits` in direction k per newton of each cable; zero for unlimited joints."""
        slopes = np.zeros((len(limits), len(tensions)))
        finite = np.isfinite(limits)
        direct = finite & ((modes == SLIDING) | (modes == TORSION))
        if direct.any():
            slopes[direct] = self._polynomial_slopes(tensions, k, limits, modes, direct)
        others = finite & ~direct
        if others.any():
            slopes[others] = self._difference_slopes(tensions, k, limits)[others]
        return slopes

    def load_arms(self, k: int) -> Floats:
        """(n, 6) force and moment on each joint per newton of load in direction k; zero beyond the loaded link."""
        push = self._push(k)
        centres = self.chain.frames[:-1, :3, 3]
        moment = np.cross(np.array(push.at) - centres, push.direction) + push.couple
        arms = np.concatenate([np.broadcast_to(push.direction, moment.shape), moment], axis=1)
        arms[push.link :] = 0.0
        return arms

    def _polynomial_slopes(
        self, tensions: Floats, k: int, limits: Floats, modes: NDArray[np.int64], rows: NDArray[np.bool_]
    ) -> Floats:
        """Where the slip polynomial p(T, F) is zero, dF/dT = -(dp/dT) / (dp/dF)."""
        joints, arms = self.chain.robot.joints[rows], self.load_arms(k)[rows]
        supply = self.chain.supply(tensions)[rows] - limits[rows, None] * arms
        radius, mu = joints["radius"][:, None], joints["friction"][:, None]
        f, m = supply[:, :3], supply[:, 3:] / radius
        A, B, C = ((u * v).sum(axis=1, keepdims=True) for u, v in ((f, f), (m, m), (f, m)))
        w = mu * mu
        kappa = mu * joints["ring_radius"][:, None] / radius
        side = (1.0 - kappa * kappa) * np.sign(C)
        sliding = modes[rows, None] == SLIDING
        by_f = np.where(
            sliding, 2.0 * (B * f - C * m - w * C * m) - 4.0 * w / (1.0 + w) * A * f, side * m - 2.0 * kappa * f
        )
        by_m = np.where(sliding, 2.0 * (A * m - C * f - w * C * f), 2.0 * kappa * m + side * f)
        gradient = np.concatenate([by_f, by_m / radius], axis=1)
        by_tension = np.einsum("jx,jkx->jk", gradient, self.chain.pulls[rows])
        by_load = -(gradient * arms).sum(axis=1)
        # At a crossing the polynomial rises with the load; where it only just does, the slope is as good as endless.
        by_load = np.maximum(by_load, 1e-12 * np.abs(by_tension).max(axis=1) + 1e-300)
        slopes: Floats = -by_tension / by_load[:, None]
        return slopes

    def _difference_slopes(self, tensions: Floats, k: int, limits: Floats) -> Floats:
        step = STEP * max(float(tensions.max(initial=0.0)), 1.0)
        columns = []
        for cable in range(len(tensions)):
            moved = tensions.copy()
            moved[cable] += step
            changed, _ = self.limits(moved, k)
            columns.append(np.where(np.isfinite(changed) & np.isfinite(limits), changed - limits, 0.0) / step)
        return np.column_stack(columns)

    def _push(self, k: int) -> Push:
        x, y, z = self.directions[k].tolist()
        return self.at._replace(direction=(x, y, z))

    def _question(self, tensions: Floats, push: Push) -> tuple[object, ...]:
        return self.chain.question(self.chain.supply(tensions), push)
