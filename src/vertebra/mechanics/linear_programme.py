"""Linear programmes on a polyhedron: the point of least cost, and of all such points the one nearest to zero."""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, merged
from vertebra.mechanics.polyhedron import (
    BEFORE,
    FOUND,
    PINNED,
    POINT,
    STALLED,
    STEP,
    WHICH,
    nearest,
    rebuild,
    solve_upper,
)

REACH = 10.0
"""How far downhill a step looks, in sizes of the problem: far enough for one step to do, most often."""
KEPT = 1e-12
"""Constraints are kept to this part of the size of the problem."""
PRICED = 1e-11
"""Prices of constraints below this part of the cost are none."""
STEPS = 200
IDLE = 8
"""Steps without gain after which the point is taken for an optimum."""


@merged
def least_cost(n, rows, G, low, high, cost, size, x, basis, upper, active, mark, work):
    """Write x with the least cost.x, and among those the least |x|; FOUND, EMPTY or STALLED (see `polyhedron`).

    `size`: of the numbers in x. `active` lists constraints to start with. x <- nearest(x - step cost) ends, after
    finitely many steps and exactly, in an optimum; from zero with a long step it is the optimum nearest to zero. The
    prices of its constraints tell which of them every optimum keeps, so the nearest point to zero on these is that one,
    whatever the step was.
    """
    point, before, price, tolerance = work[POINT], work[BEFORE], work[STEP], KEPT * size
    steepest = 1e-300
    for k in range(n):
        steepest = max(steepest, abs(cost[k]))
        x[k] = 0.0
    step = REACH * size / steepest
    rebuild(n, rows, G, low, high, basis, upper, active, mark, work)
    reached, idle, least = False, 0, 0.0
    for turn in range(STEPS):
        for k in range(n):
            before[k] = x[k]
            point[k] = 0.0 if reached else x[k] - step * cost[k]
        status = nearest(n, rows, G, low, high, tolerance, x, basis, upper, active, mark, work)
        if reached or (turn == 0 and status != FOUND):
            break
        reached = all_paid(n, cost, PRICED * steepest, basis, upper, active, mark, price) or idle == IDLE
        value = dot_product(n, cost, x)
        if reached:
            least = value
            for m in range(active[WHICH, active.shape[1] - 1]):
                if price[m] > PRICED * steepest:
                    mark[active[WHICH, m]] = PINNED
        else:
            # Between constraints that are all but parallel, steps go on below what the constraints are kept to.
            idle = idle + 1 if turn > 0 and value > least - KEPT * size * steepest else 0
            least = min(value, least) if turn > 0 else value
            if turn > 0:
                stretch(n, rows, G, low, high, x, before, tolerance)
        status = STALLED
    if reached:
        if status != FOUND or dot_product(n, cost, x) > least + 2.0 * PRICED * size * steepest:
            # Round-off has left the face of the optimum without a point, or tilted it; the optimum itself is one.
            for k in range(n):
                x[k] = before[k]
        status = FOUND
    return status


@inner
def dot_product(n, a, b):
    total = 0.0
    for k in range(n):
        total += a[k] * b[k]
    return total


@inner
def all_paid(n, cost, least, basis, upper, active, mark, price):
    """Whether the active constraints balance the cost, none with a negative price: then x is an optimum."""
    count, rest = active[WHICH, active.shape[1] - 1], 0.0
    for i in range(n):
        part = 0.0
        for k in range(n):
            part += basis[i, k] * cost[k]
        if i < count:
            price[i] = part
        else:
            rest += part * part
    solve_upper(count, upper, price)
    paid = rest <= least * least
    for m in range(count):
        if price[m] < -least and mark[active[WHICH, m]] != PINNED:
            paid = False
    return paid


@inner
def stretch(n, rows, G, low, high, x, before, tolerance):
    """Go on from `before` through x until a constraint stops it: down a face that is all but level, steps are short."""
    most, moved = math.inf, 0.0
    for k in range(n):
        moved = max(moved, abs(x[k] - before[k]))
    for i in range(n + rows):
        value, rate = x[i] if i < n else 0.0, x[i] - before[i] if i < n else 0.0
        if i >= n:
            for k in range(n):
                value += G[i - n, k] * x[k]
                rate += G[i - n, k] * (x[k] - before[k])
        # Constraints along the way change by round-off only.
        if abs(rate) > max(1e-9 * moved, 1e-2 * tolerance):
            limit = high[i] if rate > 0.0 else low[i]
            most = min(most, max((limit - value) / rate, 0.0))
    if most < math.inf:
        for k in range(n):
            x[k] += most * (x[k] - before[k])
