"""One link's tension programme written out in all its unknowns, for general solvers.

Unknowns: the tensions, then N_1, N_2, S_1t, S_2t, S_1a, S_2a at the contact points C + b a and C - b a. The six balance
equations are summed vector by vector in the basis (n, t, a), never by the reduced formulas.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

KINDS = (
    "max_tension", "pretension", "contact_force_1", "contact_force_2", "friction_1", "friction_2", "friction_axial",
    "moment",
)  # fmt: skip


@dataclass
class Link:
    """wrench: force and moment about C along n, t, a; offset 0 for a joint without contact points."""

    wrench: np.ndarray
    arms: np.ndarray
    along: np.ndarray
    low: np.ndarray
    high: np.ndarray
    offset: float = 0.0
    mu: float = 0.3
    least: float = 1.0
    relaxed: dict = field(default_factory=dict)
    """By how much each kind of constraint gives way."""

    def give(self, kind):
        return self.relaxed.get(kind, 0.0)

    def balance(self):
        """(6, unknowns) wrench of each unknown on the distal link about C."""
        normal, tangent, axis = np.eye(3)
        holes = zip(self.arms, self.along, strict=True)
        columns = [line_force(-normal, arm * tangent + y * axis) for arm, y in holes]
        if self.offset:
            points = self.offset * axis, -self.offset * axis
            columns += [line_force(direction, at) for direction in (normal, tangent, axis) for at in points]
            return np.array(columns).T
        # Without contact points the joint's parts carry all but the moment about the axis.
        return np.array(columns).T.reshape(6, -1)[5:]

    def bounds(self):
        low = np.maximum(self.low - self.give("pretension"), 0.0)
        tensions = list(zip(low, self.high + self.give("max_tension"), strict=True))
        if not self.offset:
            return tensions
        normals = [(self.least - self.give(f"contact_force_{i}"), None) for i in (1, 2)]
        return tensions + normals + [(None, None)] * 4

    def friction_rows(self):
        """Box friction: mu N_i >= |S_it| and mu N_i >= |S_ia|.

        Where constraints give way a normal force may be below zero, and the axial friction of both points counts
        together, as nothing says how they share it.
        """
        c = len(self.arms)
        if not self.offset:
            return np.empty((0, c)), np.empty(0)
        rows, limits = [], []

        def bound(parts, points, give):
            for sign in (1.0, -1.0):
                row = np.zeros(c + 6)
                row[[c + part for part in parts]], row[[c + point for point in points]] = sign, -self.mu
                rows.append(row)
                limits.append(give)

        for point in range(2):
            bound([2 + point], [point], self.give(f"friction_{point + 1}"))
            if not self.relaxed:
                bound([4 + point], [point], 0.0)
        if self.relaxed:
            bound([4, 5], [0, 1], self.give("friction_axial"))
        return np.array(rows), np.array(limits)

    def solve(self, cost=None):
        """`linprog`'s answer for the least sum of tensions, or for another cost of the unknowns."""
        balance, target = self.balance(), self.wrench if self.offset else self.wrench[5:]
        rows, limits = self.friction_rows()
        c, unknowns = len(self.arms), balance.shape[1]
        if cost is None:
            cost = np.concatenate([np.ones(c), np.zeros(unknowns - c)])
        # The moment row in N, by the arms' length, so that the solver's tolerance means the same in all rows.
        unit = np.ones(len(target))
        length = np.linalg.norm(self.arms)
        unit[-1] = length if length > 0.0 else 1.0
        if self.offset:
            unit[3] = unit[4] = self.offset
        A, b = balance / unit[:, None], target / unit
        slack = self.give("moment") / unit[-1]
        upper_rows, upper_limits = [rows], [limits]
        if slack:
            upper_rows += [A[-1:], -A[-1:]]
            upper_limits += [[b[-1] + slack], [slack - b[-1]]]
            A, b = A[:-1], b[:-1]
        G, h = np.vstack(upper_rows), np.concatenate(upper_limits)
        return linprog(
            cost,
            A_ub=G if len(G) else None,
            b_ub=h if len(h) else None,
            A_eq=A if len(A) else None,
            b_eq=b if len(b) else None,
            bounds=self.bounds(),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )


def line_force(force, at):
    return np.concatenate([force, np.cross(at, force)])


def least_sum_in_true_cone(link):
    """Least sum of tensions with (S_it, S_ia) in the cone of mu N_i, by interior points; None if infeasible."""
    import clarabel
    from scipy.sparse import csc_matrix, vstack

    c, balance = len(link.arms), link.balance()
    unit = np.array([1.0, 1.0, 1.0, link.offset, link.offset, max(np.linalg.norm(link.arms), 1e-9)])
    equations, targets = balance / unit[:, None], link.wrench / unit
    sides, limits = [], []
    for k, (low, high) in enumerate(link.bounds()):
        row = np.eye(c + 6)[k]
        for value, sign in ((low, -1.0), (high, 1.0)):
            if value is not None:
                sides.append(sign * row)
                limits.append(sign * value)
    cones = np.zeros((6, c + 6))
    for point in range(2):
        cones[3 * point, c + point] = -link.mu
        cones[3 * point + 1, c + 2 + point] = cones[3 * point + 2, c + 4 + point] = -1.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    settings.max_iter = 500
    cost = np.concatenate([np.ones(c), np.zeros(6)])
    answer = clarabel.DefaultSolver(
        csc_matrix((c + 6, c + 6)), cost,
        vstack([csc_matrix(equations), csc_matrix(np.array(sides)), csc_matrix(cones)], format="csc"),
        np.concatenate([targets, limits, np.zeros(6)]),
        [clarabel.ZeroConeT(6), clarabel.NonnegativeConeT(len(sides)), clarabel.SecondOrderConeT(3),
         clarabel.SecondOrderConeT(3)],
        settings,
    ).solve()  # fmt: skip
    return answer.obj_val if str(answer.status) in ("Solved", "AlmostSolved") else None
