"""Programme 37 of one link: its balances and constraints (31) to (36) on 16 unknowns, and the least sum of tensions.

Unknowns in order: f_c at both contact points (3 each), f_S at both (3 each), all in f3; then a tension a cable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vertebra.robot.tables import Floats

CONTACT_UNKNOWNS = 12


class Programme(NamedTuple):
    """Minimise `cost` u with A u = b, G u <= 0 and low <= u <= high."""

    cost: Floats
    """(u,)"""
    A: Floats
    """(6, u) forces, then moments about p_C, in frame n."""
    b: Floats
    """(6,) N, N*m."""
    G: Floats
    """(8, u) the friction box, (35) and (36)."""
    low: Floats
    """(u,) N"""
    high: Floats
    """(u,) N"""

    @property
    def fixed(self) -> int:
        """Unknowns that (32) and (33) set to zero."""
        return int((self.low == self.high).sum())

    @property
    def free(self) -> int:
        """Dimension of what the balances leave of the others."""
        left = self.A[:, self.low != self.high]
        return int(left.shape[1] - np.linalg.matrix_rank(left))


class Forces(NamedTuple):
    """What solves it, N."""

    tensions: Floats
    """(c,)"""
    normal: Floats
    """(2,)"""
    friction: Floats
    """(2, 2) y and z of f3 at each contact point."""


def programme(
    balance: Floats,
    e_1: Floats,
    holes: Floats,
    places: Floats,
    turn: Floats,
    mu: float,
    pretension: Floats,
    upper: float,
    min_contact_force: float,
) -> Programme:
    """The programme of one link, in frame n.

    `balance` (6,) right-hand sides; `e_1` (c, 3) directions of cables; `holes` (c, 3) and `places` (2, 3) where cables
    and contacts act, from p_C, m; `turn` (3, 3) from f3 to frame n.
    """
    count = CONTACT_UNKNOWNS + len(e_1)
    A = np.zeros((6, count))
    for column, place in zip((0, 3, 6, 9), (*places, *places), strict=True):
        A[:3, column : column + 3] = turn
        A[3:, column : column + 3] = np.cross(place, turn.T).T
    A[:3, CONTACT_UNKNOWNS:] = e_1.T
    A[3:, CONTACT_UNKNOWNS:] = np.cross(holes, e_1).T
    low, high = np.full(count, -np.inf), np.full(count, np.inf)
    for i in (0, 1):
        low[3 * i] = min_contact_force  # 34
        low[[3 * i + 1, 3 * i + 2]] = high[[3 * i + 1, 3 * i + 2]] = 0.0  # 32
        low[6 + 3 * i] = high[6 + 3 * i] = 0.0  # 33
    low[CONTACT_UNKNOWNS:], high[CONTACT_UNKNOWNS:] = pretension, upper  # 31
    G = np.zeros((8, count))
    for row, (i, axis, sign) in enumerate((i, axis, sign) for i in (0, 1) for axis in (1, 2) for sign in (1.0, -1.0)):
        G[row, 6 + 3 * i + axis], G[row, 3 * i] = sign, -mu  # 35, 36
    cost = np.zeros(count)
    cost[CONTACT_UNKNOWNS:] = 1.0
    return Programme(cost, A, balance, G, low, high)


def solve(problem: Programme) -> Forces | None:
    """A solution by scipy's linear programming; None when there is none. Its tensions need not be the only ones."""
    from scipy.optimize import linprog

    # Moments in N*m are small numbers; over the largest arm they are as large as the forces.
    scale = np.ones(6)
    scale[3:] = 1.0 / np.abs(problem.A[3:]).max()
    found = linprog(
        problem.cost, problem.G, np.zeros(len(problem.G)), scale[:, None] * problem.A, scale * problem.b,
        np.stack([problem.low, problem.high], axis=1), method="highs",
    )  # fmt: skip
    if found.status != 0:
        return None
    u = found.x
    return Forces(u[CONTACT_UNKNOWNS:], u[[0, 3]], np.array([u[7:9], u[10:12]]))
