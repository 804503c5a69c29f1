"""Tensions within bounds that come closest to a goal, and the smallest of many equally good ones."""

from __future__ import annotations

from typing import Literal

import numpy as np

from vertebra.robot.tables import Floats

Smallest = Literal["norm", "sum"]

RANK = 1e-10
"""Combinations of tensions whose effect is below this part of the largest have none."""


def least_squares(A: Floats, b: Floats, low: Floats, high: Floats, minimise: Smallest) -> Floats:
    """T within the bounds with the least |A T - b|, and among those the one of least norm or least sum."""
    from scipy.optimize import lsq_linear

    loose = high > low
    if not loose.all():
        # Cables held at one tension leave a smaller problem.
        answer = low.copy()
        if loose.any():
            remaining = b - A @ np.where(loose, 0.0, low)
            answer[loose] = least_squares(A[:, loose], remaining, low[loose], high[loose], minimise)
        return answer
    size = float(np.abs(A).max(initial=0.0))
    if size == 0.0:
        return low.copy()
    left, values, vectors = np.linalg.svd(A / size)
    rank = int((values > RANK * values[0]).sum())
    free = vectors[rank:].T
    # Full rank by a slight pull towards zero where the moments do not care.
    rows = np.vstack([values[:rank, None] * vectors[:rank], 1e-7 * free.T])
    target = np.concatenate([left[:, :rank].T @ b / size, np.zeros(free.shape[1])])
    best: Floats = lsq_linear(rows, target, bounds=(low, high), method="bvls", tol=1e-15, max_iter=100 * len(low)).x
    best = np.clip(best, low, high)
    if free.shape[1] > 0:
        other = (_least_norm if minimise == "norm" else _least_sum)(best, free, low, high)
        # Where bounds leave hardly any choice, round-off can spoil the search among equals.
        if np.abs(A @ (other - best)).max() <= 1e-9 * size * float(best.max()):
            best = other
    round_off = 1e-12 * float(best.max())
    return np.where(best - low <= round_off, low, np.where(high - best <= round_off, high, best))


def _least_norm(point: Floats, free: Floats, low: Floats, high: Floats) -> Floats:
    """Least norm of point + free y within the bounds: a least-distance problem, as non-negative least squares."""
    from scipy.optimize import nnls

    fixed = point - free @ (free.T @ point)
    bounded = np.isfinite(high)
    G = np.vstack([free, -free[bounded]])
    h = np.concatenate([low - fixed, fixed[bounded] - high[bounded]])
    if (h <= 0.0).all():
        return fixed
    scale = float(np.abs(h).max())
    E = np.vstack([G.T, h / scale])
    target = np.zeros(len(E))
    target[-1] = 1.0
    u, _ = nnls(E, target)
    r = E @ u - target
    y = -scale * r[:-1] / r[-1] if r[-1] != 0.0 else free.T @ point
    return np.clip(fixed + free @ y, low, high)


def _least_sum(point: Floats, free: Floats, low: Floats, high: Floats) -> Floats:
    from scipy.optimize import linprog

    rows, limits = [-free], [point - low]
    bounded = np.isfinite(high)
    rows.append(free[bounded])
    limits.append((high - point)[bounded])
    answer = linprog(
        free.sum(axis=0), A_ub=np.vstack(rows), b_ub=np.concatenate(limits), bounds=(None, None), method="highs"
    )
    # The starting point itself is feasible, so only round-off can leave the programme without an answer.
    shift: Floats = free @ answer.x if answer.status == 0 else np.zeros(len(point))
    return np.clip(point + shift, low, high)
