"""The last digits of the best tensions: linear programmes on the exact limits, within a trust region."""

from __future__ import annotations

import numpy as np

from vertebra.payload.pushes import Pushes
from vertebra.robot.tables import Floats

STEPS = 80
FIRST_REGION = 0.1
"""Part of the range of the tensions."""
LAST_REGION = 1e-10
CLOSE = 1.5
"""Directions and joints within this multiple of the least limit take part."""


def polished(pushes: Pushes, start: Floats, low: Floats, high: Floats) -> tuple[Floats, float]:
    """Tensions near `start` with a larger least limit over all joints and directions, and that limit, N."""
    tensions, load = start, float(pushes.least(start).min())
    region = FIRST_REGION
    width = high - low
    rows: tuple[Floats, Floats] | None = None
    for _ in range(STEPS):
        if region < LAST_REGION or not 0.0 < load < np.inf:
            break
        if rows is None:
            rows = _active(pushes, tensions, load)
        least, most = np.maximum(low - tensions, -region * width), np.minimum(high - tensions, region * width)
        step, promise = _step(*rows, least, most)
        if promise <= load * (1.0 + 1e-13):
            break
        trial = np.clip(tensions + step, low, high)
        reached = float(pushes.least(trial).min())
        gained = (reached - load) / (promise - load)
        if reached > load:
            tensions, load, rows = trial, reached, None
        if gained < 0.25:
            region *= 0.25
        elif gained > 0.75:
            region = min(2.0 * region, 1.0)
    return tensions, load


def _active(pushes: Pushes, tensions: Floats, load: float) -> tuple[Floats, Floats]:
    """Limits (rows,) that are close to the least, and their slopes (rows, cables)."""
    limits, slopes = [], []
    for k in np.flatnonzero(pushes.least(tensions) <= CLOSE * load):
        each, modes = pushes.limits(tensions, int(k))
        near = each <= CLOSE * CLOSE * load
        limits.append(each[near])
        slopes.append(pushes.slopes(tensions, int(k), each, modes)[near])
    return np.concatenate(limits), np.concatenate(slopes)


def _step(limits: Floats, slopes: Floats, least: Floats, most: Floats) -> tuple[Floats, float]:
    """Change of tensions within bounds that raises the least of limits + slopes step most, and what it promises."""
    from scipy.optimize import linprog

    cables = len(least)
    answer = linprog(
        np.append(np.zeros(cables), -1.0),
        A_ub=np.column_stack([-slopes, np.ones(len(limits))]),
        b_ub=limits,
        bounds=[*zip(least, most, strict=True), (None, None)],
        method="highs",
    )
    if answer.status != 0:
        return np.zeros(cables), -np.inf
    return answer.x[:-1], float(answer.x[-1])
