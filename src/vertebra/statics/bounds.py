"""Bounds on cable tensions, and the smallest of many equally good answers within them."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

Smallest = Literal["norm", "sum"]

RANK = 1e-10
"""Combinations of tensions whose effect is below this part of the largest have none."""


def tension_bounds(robot: Robot, lower: ArrayLike | None, upper: ArrayLike | None) -> tuple[Floats, Floats]:
    """Least and most tension of each cable, N: as given (one or one a cable), else pretension and max_tension."""
    low = _bound("lower", robot, lower, "pretension")
    high = _bound("upper", robot, upper, "max_tension")
    if (low < 0.0).any():
        raise InputError("lower", "must be 0 N or more: a cable can only pull")
    if not np.isfinite(low).all():
        raise InputError("lower", "must be finite, in N")
    if (high < low).any():
        cable = int(np.argmax(high < low))
        raise InputError("upper", f"cable {cable + 1}: {high[cable]:g} N is below its lower bound {low[cable]:g} N")
    return low, high


def _bound(name: str, robot: Robot, given: ArrayLike | None, field: str) -> Floats:
    if given is None:
        return np.array(robot.cables[field])
    try:
        array = np.array(np.broadcast_to(np.array(given, dtype=np.float64), (len(robot.cables),)))
    except (TypeError, ValueError):
        raise InputError(name, f"must be one number in N, or {len(robot.cables)}, one a cable") from None
    if np.isnan(array).any():
        raise InputError(name, "must be numbers in N")
    return array


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
