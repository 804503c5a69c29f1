"""Tensions that come closest to given joint torques, for a whole trajectory: one per cable, or one per cable and gap
(theory 6.7).

Torques out of balance, r = m - A T, are variables beside the tensions: r in units of the longest arm, T scaled by
LIGHT, so that the nearest point to zero of {A T + r = m, bounds} all but ignores T. Steps from the last T remove the
effect of LIGHT. Then the torques of these best tensions are kept while the tensions become the smallest.
"""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.link_tensions import LARGE
from vertebra.mechanics.kernels.programmes import FOUND, KEPT, ActiveSet, Polyhedron, nearest_point, rebuild_factors
from vertebra.mechanics.layout import ACTIVE_WHICH, WORK_POINT

LIGHT = 1e-4
"""Weight of a tension beside a torque out of balance."""
MOST_BALANCE_STEPS = 60
SMALLEST_MOVE = 1e-13
"""Steps shorter than this fraction of the problem's size end the search."""
SMALLEST_ARM = 1e-12
"""Arms shorter than this fraction of the longest are round-off."""


@kernel
def balance_joints(
    last_links, low, high, arms, joint_of, torques, along, grips, lists, x, best, weights, G, lower, upper, factors,
    tensions,
):  # fmt: skip
    """Write the tensions (N, cables, n) with the least squared torques out of balance, and of those the least squares.

    `torques` (N, rows) N*m of all freedoms, `joint_of` (rows,) the joint of each. With `along`, neighbouring segments
    of a cable may differ by a factor between exp(-grip) and exp(grip), `grips` (N, cables, n) in the link after each
    joint; without, a cable has one tension. `lists`: active constraints of the search and of the smallest tensions,
    with which the next step begins.
    """
    basis, triangle, mark, work = factors
    point, last = work[WORK_POINT], lists.shape[2] - 1
    lists[0, ACTIVE_WHICH, last] = lists[1, ACTIVE_WHICH, last] = 0
    for i in range(arms.shape[0]):
        unit = size = 0.0
        for k in range(arms.shape[1]):
            size = max(size, low[k], LARGE * high[k])
            for j in range(arms.shape[2]):
                unit = max(unit, abs(arms[i, k, j]))
        unit = unit if unit > 0.0 else 1.0  # no cable turns a joint: nothing is measured by it
        for j in range(arms.shape[2]):
            size = max(size, abs(torques[i, j]) / unit)
        for k in range(x.shape[0]):
            x[k] = 0.0
        search, weight, turn = 0, LIGHT, 0
        while True:
            if turn == 0 or search == 1:
                count, n, rows = fill_balance_programme(
                    last_links, low, high, arms[i], joint_of, torques[i], along, grips[i], unit, weight, best, weights,
                    G, lower, upper,
                )  # fmt: skip
                polyhedron = Polyhedron(n, rows, G, lower, upper)
                active_set = ActiveSet(basis, triangle, lists[search], mark, work)
                rebuild_factors(polyhedron, active_set)
                for k in range(n):
                    point[k] = 0.0
            status = nearest_point(polyhedron, KEPT * weight * size, x, active_set)
            if search == 1:
                break
            moved = 0.0
            for k in range(count):
                moved = max(moved, abs(x[k] - point[k]))
                point[k] = x[k]
            turn += 1
            if status != FOUND or turn == MOST_BALANCE_STEPS or moved <= SMALLEST_MOVE * weight * size:
                for k in range(count):
                    best[k] = min(max(x[k], lower[k]), upper[k]) / weights[k]
                search, weight = 1, 1.0
        if status == FOUND:
            for k in range(count):
                best[k] = min(max(x[k], lower[k]), upper[k]) / weights[k]
        first = 0
        for k in range(arms.shape[1]):
            for j in range(tensions.shape[2]):
                tensions[i, k, j] = best[first + j if along else k] if j < last_links[k] else 0.0
            first += last_links[k]


@inner
def fill_balance_programme(
    last_links, low, high, arms, joint_of, torques, along, grips, unit, weight, best, weights, G, lower, upper
):
    """Constraints of the search, or (weight 1) with the torques of `best` to be kept.

    Returns how many tensions, variables and rows there are.
    """
    cables, freedoms = arms.shape
    light = weight < 1.0
    count = 0
    for k in range(cables):
        # A cable counts once, however many gaps it has a tension in.
        gaps = last_links[k] if along else 1
        for _ in range(gaps):
            weights[count] = weight / math.sqrt(gaps)
            lower[count], upper[count] = weights[count] * low[k], weights[count] * high[k]
            count += 1
    n = count + freedoms if light else count
    for k in range(count, n):
        lower[k], upper[k] = -math.inf, math.inf
    rows = freedoms
    for j in range(freedoms):
        for k in range(n):
            G[j, k] = 0.0
        first, value, square = 0, 0.0, 0.0
        for k in range(cables):
            arm = arms[k, j] / unit
            if abs(arm) > SMALLEST_ARM:
                variable = first + joint_of[j] if along else k
                G[j, variable] = arm / weights[variable]
                value += arm * best[variable]
                square += G[j, variable] ** 2
            first += last_links[k]
        if light:
            G[j, count + j], value, square = 1.0, torques[j] / unit, square + 1.0
        length = math.sqrt(square) if square > 0.0 else 1.0
        for k in range(n):
            G[j, k] /= length
        lower[n + j] = upper[n + j] = value / length
    if along:
        first = 0
        for k in range(cables):
            for j in range(last_links[k] - 1):
                fall = math.exp(-grips[k, j])
                length = math.sqrt(1.0 + fall * fall)
                for back in range(2):
                    for m in range(n):
                        G[rows, m] = 0.0
                    G[rows, first + j + back], G[rows, first + j + 1 - back] = 1.0 / length, -fall / length
                    lower[n + rows], upper[n + rows] = 0.0, math.inf
                    rows += 1
            first += last_links[k]
    return count, n, rows
