"""The search for the nearest feasible trajectory: sequential quadratic programming.

Each step solves a programme with the exact objective and linearised equations, and is shortened until the sum of the
objective and the weighted moments out of balance falls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from vertebra.dynamics.motion_equations import MotionEquations
from vertebra.robot.tables import Floats

TIE = 1e-8
"""rad^2; full tension of a cable counts as much as a deviation of 0.1 mrad of a joint."""
BALANCED = 1e-9
"""Of the moment scale: the equations hold."""
SETTLED = 1e-6
"""rad; steps below this change nothing of interest."""
SAME = 1e-9
"""Of the objective: a change that is none."""
MOST_STEPS = 100
MOST_CAUTION = 1e4
MOST_RESTORED = 6
FARTHEST = 3.1
"""rad; steps stay within the half turn at which joint laws end."""
LONGEST, SHORTEST = 0.7, 1e-4
"""rad of a step; least fraction of one."""


class Wish(NamedTuple):
    """What is asked for, fixed during the search."""

    equations: MotionEquations
    q: Floats
    low: Floats
    high: Floats
    unit: float
    """The highest tension, N."""
    scale: float
    """Of the moments, N*m."""
    weight: Any
    """Sparse: the objective is e W e for the deviation e of the angles."""

    def objective(self, q: Floats, tensions: Floats) -> float:
        e = (q - self.q).reshape(-1)
        return float(e @ (self.weight @ e) + TIE * ((tensions / self.unit) ** 2).sum())

    def unbalanced(self, q: Floats, tensions: Floats) -> Floats:
        """(N-2, n) as parts of the moment scale."""
        return self.equations.unbalanced(self.equations.motion(q), tensions) / self.scale


def search(wish: Wish) -> tuple[Floats, Floats, bool]:
    """Angles (N, n), tensions (N-2, cables) and whether they are the answer."""
    q, tensions = wish.q.copy(), np.tile(0.5 * (wish.low + wish.high), (len(wish.q) - 2, 1))
    penalty, caution, before, left, settled = 0.0, 0.0, np.inf, wish.unbalanced(q, tensions), False
    for _ in range(MOST_STEPS):
        found = _programme(wish, q, tensions, caution)
        if found is None:
            break
        step, pulls, prices = found
        longest = float(np.abs(step).max())
        # What the equations cost far from the answer says little about what they cost near it.
        penalty = max(0.5 * penalty, 1.5 * float(np.abs(prices).max(initial=0.0)))
        taken = _shortened(wish, q, tensions, left, step, pulls, penalty)
        if taken is None:
            caution = max(4.0 * caution, 1.0)
            if caution > MOST_CAUTION:
                break
            continue
        start = wish.objective(q, tensions)
        q, tensions, left = taken
        # The curvature of the equations is not in the programmes: where it is large, steps overshoot or do not get
        # shorter, and caution, which pulls each answer towards where it started, makes up for it.
        caution = max(2.0 * caution, 0.5) if longest > 0.7 * before else 0.3 * caution
        before = longest
        stays = abs(wish.objective(q, tensions) - start) <= SAME * start
        settled = longest <= SETTLED or (stays and float(np.abs(left).max()) <= BALANCED)
        if settled:
            break
    q, left = _restored(wish, q, tensions)
    return q, tensions, settled and float(np.abs(left).max()) <= BALANCED


def _shortened(
    wish: Wish, q: Floats, tensions: Floats, left: Floats, step: Floats, pulls: Floats, penalty: float
) -> tuple[Floats, Floats, Floats] | None:
    """Angles, tensions and moments out of balance after as much of the step as lowers the merit."""
    longest = float(np.abs(step).max())
    fraction = min(1.0, LONGEST / longest) if longest else 1.0
    start, worst = wish.objective(q, tensions) + penalty * float(np.abs(left).sum()), float(np.abs(left).max())
    correct: Callable[[Floats], Floats] | None = None
    while fraction > SHORTEST:
        angles, rest = q + fraction * step, left
        mixed = np.clip(tensions + fraction * (pulls - tensions), wish.low, wish.high)
        for corrected in (False, True):
            if corrected:
                # The equations bend away from the step: go back to them, at least to second order.
                correct = correct or _corrector(wish, q, tensions)
                angles = angles + correct(rest - (1.0 - fraction) * left)
            if np.abs(angles).max() >= FARTHEST:
                break
            rest = wish.unbalanced(angles, mixed)
            merit = wish.objective(angles, mixed) + penalty * float(np.abs(rest).sum())
            # Near the answer merits differ by round-off, and steps are safe.
            safe = longest < 10.0 * SETTLED and float(np.abs(rest).max()) <= max(worst, BALANCED)
            if merit < start or safe:
                return angles, mixed, rest
        fraction *= 0.5
    return None


def _corrector(wish: Wish, q: Floats, tensions: Floats) -> Callable[[Floats], Floats]:
    """From moments out of balance (parts of the scale) to the smallest change of the angles that takes them away."""
    from scipy.sparse import bmat
    from scipy.sparse.linalg import splu

    slopes = wish.equations.derivatives(q, tensions)[0] / wish.scale
    both = splu(bmat([[wish.weight, slopes.T], [slopes, None]], format="csc"))

    def change(left: Floats) -> Floats:
        found = both.solve(np.concatenate([np.zeros(q.size), -left.reshape(-1)]))
        return np.asarray(found[: q.size].reshape(q.shape), dtype=np.float64)

    return change


def _restored(wish: Wish, q: Floats, tensions: Floats) -> tuple[Floats, Floats]:
    """The last digits of the equations, which the programmes leave: the nearest angles at which they hold with these
    tensions, and what is left."""
    left = wish.unbalanced(q, tensions)
    for _ in range(MOST_RESTORED):
        if np.abs(left).max() <= 0.01 * BALANCED:
            break
        step = _corrector(wish, q, tensions)(left)
        if not np.abs(q + step).max() < FARTHEST:
            break
        better = wish.unbalanced(q + step, tensions)
        if not np.abs(better).max() < 0.5 * np.abs(left).max():
            break
        q, left = q + step, better
    return q, left


def _programme(wish: Wish, q: Floats, tensions: Floats, caution: float) -> tuple[Floats, Floats, Floats] | None:
    """Step of the angles (N, n), new tensions (N-2, cables) and what a part of the moment scale costs, ((N-2) n,)."""
    import clarabel
    from scipy.sparse import block_diag, eye, hstack, triu, vstack

    in_angles, in_tensions, free = wish.equations.derivatives(q, tensions)
    rows, pulls = in_tensions.shape
    unit, scale = wish.unit, wish.scale
    equations = hstack([in_angles / scale, in_tensions * (unit / scale)])
    select = hstack([0.0 * eye(pulls, q.size), eye(pulls)], format="csr")
    low, high = (np.tile(bound / unit, len(free)) for bound in (wish.low, wish.high))
    fixed, open_ = low == high, low < high
    matrix = vstack([equations, select[fixed], select[open_], -select[open_]], format="csc")
    right = np.concatenate([-free.reshape(-1) / scale, low[fixed], high[open_], -low[open_]])
    cones = [clarabel.ZeroConeT(rows + int(fixed.sum())), clarabel.NonnegativeConeT(2 * int(open_.sum()))]
    objective = 2.0 * block_diag([(1.0 + caution) * wish.weight, TIE * (1.0 + caution) * eye(pulls)], format="csc")
    pull = tensions.reshape(-1) / unit
    slope = np.concatenate([2.0 * (wish.weight @ (q - wish.q).reshape(-1)), -2.0 * TIE * caution * pull])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(triu(objective, format="csc"), slope, matrix, right, cones, settings)
    solution = solver.solve()
    if solution.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        return None
    x, prices = np.array(solution.x), np.array(solution.z)[:rows]
    found = np.clip(unit * x[q.size :].reshape(tensions.shape), wish.low, wish.high)
    return x[: q.size].reshape(q.shape), found, prices
