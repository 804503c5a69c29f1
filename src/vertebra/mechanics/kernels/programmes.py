"""Small programmes on a polyhedron (theory 6.10): its nearest point, by the dual active-set method of Goldfarb and
Idnani for the unit metric, and its point of least cost.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.layout import (
    ACTIVE_SIDE,
    ACTIVE_WHICH,
    WORK_BEFORE,
    WORK_D,
    WORK_POINT,
    WORK_STEP,
    WORK_TARGET,
    WORK_U,
    WORK_Z,
)
from vertebra.robot.tables import Floats

FOUND, EMPTY, UNDECIDED = range(3)
"""What `nearest_point` returns: the answer; no point keeps all constraints; round-off prevented an answer."""

# Marks of constraints. A pinned one is an equation: it stays, whatever the sign of its multiplier.
FREE, ACTIVE, PINNED = range(3)

DEPENDENT = 1e-20
"""Squared length that a unit normal must have beyond the active ones."""
STARTING = 1e-12
"""The same for constraints to start with: they are ours to choose, so the nearly dependent ones are left out."""
SMALLEST_STEP = 1e-13


class Polyhedron(NamedTuple):
    """All x with low <= x <= high for the first n limits, and low <= G x <= high for the `rows` others."""

    n: int
    rows: int
    G: Floats
    low: Floats
    high: Floats


class ActiveSet(NamedTuple):
    """Active constraints with their factors: N = basis^T R, `basis` orthogonal, R triangular, its columns in `upper`.

    Steps of the search take its parts one by one: handing over all of it cost a twentieth of their time.
    """

    basis: Floats
    upper: Floats
    active: NDArray[np.int64]
    mark: NDArray[np.int64]
    """FREE, ACTIVE or PINNED, of every constraint."""
    work: Floats


@kernel
def nearest_point(polyhedron, tolerance, x, factors):
    """Write into `x` the point of the polyhedron nearest to work[WORK_POINT]; returns FOUND, EMPTY or UNDECIDED.

    Starts from the active constraints that the last call, or `rebuild_factors`, left. Constraints are kept to
    `tolerance`, active ones to round-off. work[WORK_U] holds the multipliers of the active ones.
    """
    n, rows, G, low, high = polyhedron
    basis, upper, active, mark, work = factors
    last = active.shape[1] - 1
    nearest_on_active(n, low, high, tolerance, x, basis, upper, active, mark, work)
    status = UNDECIDED
    z, step, u = work[WORK_Z], work[WORK_STEP], work[WORK_U]
    for _ in range(100 + 20 * (n + rows)):
        which, side, gap = most_violated(polyhedron, tolerance, mark, x)
        if which < 0:
            status = FOUND
            break
        multiplier, leaving = 0.0, 0
        while leaving >= 0:
            independent = resolve_normal(n, G, which, side, basis, upper, active, work)
            length, leaving = gap / independent if independent > DEPENDENT else math.inf, -1
            for i in range(active[ACTIVE_WHICH, last]):
                if step[i] > SMALLEST_STEP and mark[active[ACTIVE_WHICH, i]] != PINNED and u[i] < length * step[i]:
                    length, leaving = u[i] / step[i], i
            if length == math.inf:
                return EMPTY
            for i in range(active[ACTIVE_WHICH, last]):
                u[i] -= length * step[i]
            multiplier += length
            if independent > DEPENDENT:
                gap -= length * independent
                for k in range(n):
                    x[k] += length * z[k]
            if leaving >= 0:
                drop_constraint(n, leaving, basis, upper, active, mark, u)
        u[active[ACTIVE_WHICH, last]] = multiplier
        add_constraint(n, which, side, low, high, basis, upper, active, mark, work)
    # Once more from the point itself, without the round-off of the steps.
    nearest_on_active(n, low, high, tolerance, x, basis, upper, active, mark, work)
    return status


@inner
def most_violated(polyhedron, tolerance, mark, x):
    """Number, side and distance of the constraint that x breaks most; -1 where it breaks none."""
    n, rows, G, low, high = polyhedron
    which, side, gap = -1, 1, tolerance
    for i in range(n + rows):
        if mark[i] == FREE:
            if i < n:
                value = x[i]
            else:
                value = 0.0
                for k in range(n):
                    value += G[i - n, k] * x[k]
            if low[i] - value > gap:
                which, side, gap = i, 1, low[i] - value
            if value - high[i] > gap:
                which, side, gap = i, -1, value - high[i]
    return which, side, gap


@inner
def resolve_normal(n, G, which, side, basis, upper, active, work):
    """Parts of a constraint's normal: WORK_D in the basis, WORK_Z beyond the active ones, WORK_STEP in terms of these.

    Returns |z|^2.
    """
    d, z, step, count = work[WORK_D], work[WORK_Z], work[WORK_STEP], active[ACTIVE_WHICH, active.shape[1] - 1]
    independent = 0.0
    for k in range(n):
        z[k] = 0.0
    for i in range(n):
        if which < n:
            d[i] = side * basis[i, which]
        else:
            total = 0.0
            for k in range(n):
                total += basis[i, k] * G[which - n, k]
            d[i] = side * total
        if i < count:
            step[i] = d[i]
        else:
            independent += d[i] * d[i]
            for k in range(n):
                z[k] += d[i] * basis[i, k]
    solve_upper(count, upper, step)
    return independent


@inner
def solve_upper(count, upper, values):
    """values <- R^-1 values."""
    for i in range(count - 1, -1, -1):
        values[i] /= upper[i, i]
        for k in range(i):
            values[k] -= upper[i, k] * values[i]


@inner
def add_constraint(n, which, side, low, high, basis, upper, active, mark, work):
    """Make the resolved constraint active: one reflection turns the basis so that its next vector takes all of z."""
    d, z, last = work[WORK_D], work[WORK_Z], active.shape[1] - 1
    count = active[ACTIVE_WHICH, last]
    square = 0.0
    for i in range(count, n):
        square += d[i] * d[i]
    length = math.sqrt(square)
    pivot = -length if d[count] > 0.0 else length
    factor = 1.0 / (length * (length + abs(d[count])))
    for i in range(count):
        upper[count, i] = d[i]
    upper[count, count] = pivot
    for k in range(n):
        z[k] = factor * (z[k] - pivot * basis[count, k])
    d[count] -= pivot
    for i in range(count, n):
        for k in range(n):
            basis[i, k] -= d[i] * z[k]
    active[ACTIVE_WHICH, count], active[ACTIVE_SIDE, count], active[ACTIVE_WHICH, last] = which, side, count + 1
    mark[which] = PINNED if low[which] == high[which] else ACTIVE


@inner
def drop_constraint(n, leaving, basis, upper, active, mark, u):
    """Take one active constraint out; rotations make R triangular again."""
    last = active.shape[1] - 1
    count = active[ACTIVE_WHICH, last] - 1
    mark[active[ACTIVE_WHICH, leaving]] = FREE
    active[ACTIVE_WHICH, last] = count
    for m in range(leaving, count):
        active[ACTIVE_WHICH, m], active[ACTIVE_SIDE, m] = active[ACTIVE_WHICH, m + 1], active[ACTIVE_SIDE, m + 1]
        u[m] = u[m + 1]
        for i in range(m + 2):
            upper[m, i] = upper[m + 1, i]
    for m in range(leaving, count):
        a, b = upper[m, m], upper[m, m + 1]
        length = math.sqrt(a * a + b * b)
        c, s = a / length, b / length
        for i in range(m, count):
            a, b = upper[i, m], upper[i, m + 1]
            upper[i, m], upper[i, m + 1] = c * a + s * b, c * b - s * a
        for k in range(n):
            a, b = basis[m, k], basis[m + 1, k]
            basis[m, k], basis[m + 1, k] = c * a + s * b, c * b - s * a


@kernel
def rebuild_factors(polyhedron, factors):
    """Factors of the listed constraints, as far as they exist, are limited on their side, and independent.

    A list of none is a start from nothing.
    """
    n, rows, G, low, high = polyhedron
    basis, upper, active, mark, work = factors
    last = active.shape[1] - 1
    for i in range(n):
        for k in range(n):
            basis[i, k] = 1.0 if i == k else 0.0
    for i in range(n + rows):
        mark[i] = FREE
    listed = active[ACTIVE_WHICH, last]
    active[ACTIVE_WHICH, last] = 0
    for m in range(listed):
        which, side = active[ACTIVE_WHICH, m], active[ACTIVE_SIDE, m]
        if which < n + rows and active[ACTIVE_WHICH, last] < n:
            limit = low[which] if side > 0 else high[which]
            if abs(limit) < math.inf and resolve_normal(n, G, which, side, basis, upper, active, work) > STARTING:
                add_constraint(n, which, side, low, high, basis, upper, active, mark, work)


@inner
def nearest_on_active(n, low, high, tolerance, x, basis, upper, active, mark, work):
    """Nearest point on the active constraints alone, and their multipliers; negative ones are dropped."""
    point, d, target, u = work[WORK_POINT], work[WORK_D], work[WORK_TARGET], work[WORK_U]
    last, leaving = active.shape[1] - 1, 0
    while leaving >= 0:
        for k in range(n):
            x[k] = point[k]
        for m in range(active[ACTIVE_WHICH, last]):
            which = active[ACTIVE_WHICH, m]
            value = low[which] if active[ACTIVE_SIDE, m] > 0 else -high[which]
            for i in range(m):
                value -= upper[m, i] * target[i]
            target[m] = value / upper[m, m]
            along = 0.0
            for k in range(n):
                along += basis[m, k] * point[k]
            d[m] = target[m] - along
            for k in range(n):
                x[k] += d[m] * basis[m, k]
            u[m] = d[m]
        solve_upper(active[ACTIVE_WHICH, last], upper, u)
        worst, leaving = -tolerance, -1
        for m in range(active[ACTIVE_WHICH, last]):
            if mark[active[ACTIVE_WHICH, m]] != PINNED and u[m] < worst:
                worst, leaving = u[m], m
        if leaving >= 0:
            drop_constraint(n, leaving, basis, upper, active, mark, u)
    for m in range(active[ACTIVE_WHICH, last]):
        which = active[ACTIVE_WHICH, m]
        if mark[which] != PINNED:
            u[m] = max(u[m], 0.0)
        if which < n:
            x[which] = low[which] if active[ACTIVE_SIDE, m] > 0 else high[which]


# Linear programmes on a polyhedron: the point of least cost, and of all such points the one nearest to zero (theory
# 6.10).

DOWNHILL_REACH = 10.0
"""How far downhill a step goes, in sizes of the problem: one step is usually enough."""
KEPT = 1e-12
"""Constraints hold to this fraction of the problem's size."""
PRICED = 1e-11
"""Prices of constraints below this fraction of the cost count as zero."""
MOST_COST_STEPS = 200
IDLE = 8
"""Steps without gain after which the point is taken for an optimum."""


@kernel
def least_cost(polyhedron, cost, size, x, factors):
    """Write x with the least cost.x, and among those the least |x|; FOUND, EMPTY or UNDECIDED.

    `size`: of the numbers in x. `active` lists constraints to start with. x <- nearest(x - step cost) ends, after
    finitely many steps and exactly, in an optimum; from zero with a long step it is the optimum nearest to zero. The
    prices of its constraints tell which of them every optimum keeps, so the nearest point to zero on these is that one,
    whatever the step was.
    """
    n = polyhedron.n
    basis, upper, active, mark, work = factors
    point, before, price, tolerance = work[WORK_POINT], work[WORK_BEFORE], work[WORK_STEP], KEPT * size
    steepest = 1e-300
    for k in range(n):
        steepest = max(steepest, abs(cost[k]))
        x[k] = 0.0
    step = DOWNHILL_REACH * size / steepest
    rebuild_factors(polyhedron, factors)
    reached, idle, least = False, 0, 0.0
    for turn in range(MOST_COST_STEPS):
        for k in range(n):
            before[k] = x[k]
            point[k] = 0.0 if reached else x[k] - step * cost[k]
        status = nearest_point(polyhedron, tolerance, x, factors)
        if reached or (turn == 0 and status != FOUND):
            break
        reached = prices_balance_cost(n, cost, PRICED * steepest, basis, upper, active, mark, price) or idle == IDLE
        value = dot_of(n, cost, x)
        if reached:
            least = value
            for m in range(active[ACTIVE_WHICH, active.shape[1] - 1]):
                if price[m] > PRICED * steepest:
                    mark[active[ACTIVE_WHICH, m]] = PINNED
        else:
            # Between constraints that are all but parallel, steps continue below the accuracy of the constraints.
            idle = idle + 1 if turn > 0 and value > least - KEPT * size * steepest else 0
            least = min(value, least) if turn > 0 else value
            if turn > 0:
                extend_step(polyhedron, x, before, tolerance)
        status = UNDECIDED
    if reached:
        if status != FOUND or dot_of(n, cost, x) > least + 2.0 * PRICED * size * steepest:
            # Round-off has left the face of the optimum without a point, or tilted it; the optimum itself is one.
            for k in range(n):
                x[k] = before[k]
        status = FOUND
    return status


@inner
def dot_of(n, a, b):
    total = 0.0
    for k in range(n):
        total += a[k] * b[k]
    return total


@inner
def prices_balance_cost(n, cost, least, basis, upper, active, mark, price):
    """Whether the active constraints balance the cost, none with a negative price: then x is an optimum."""
    count, rest = active[ACTIVE_WHICH, active.shape[1] - 1], 0.0
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
        if price[m] < -least and mark[active[ACTIVE_WHICH, m]] != PINNED:
            paid = False
    return paid


@inner
def extend_step(polyhedron, x, before, tolerance):
    """Go on from `before` through x until a constraint stops it: down a face that is all but level, steps are short."""
    n, rows, G, low, high = polyhedron
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
