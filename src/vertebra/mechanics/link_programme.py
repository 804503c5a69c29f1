"""One link's tension programme (theory 6): the cables that cross a joint against what its contacts can carry.

With the basis (n, t, a) of a joint, contact points at C +- b a and a required wrench (Fn, Ft, Fa, Mn, Mt, Ma) about C,

    N_1, N_2 = (Fn + sum T +- (Mt + sum y T) / b) / 2,   S_1t, S_2t = (Ft -+ Mn / b) / 2,   sum arm T = Ma

so only the tensions are unknown: N_i >= least force, mu N_i >= |S_it|, and along the axis |Fa| <= mu (N_1 + N_2) for
the box, |Fa| <= sum sqrt(mu^2 N_i^2 - S_it^2) for the true cone. The cone is concave in N: tangent planes cut it out.

A relaxed programme (`link_relaxation`) has variables behind the tensions, one a kind of constraint, by which it gives
way.
"""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel, merged
from vertebra.mechanics.linear_programme import least_cost
from vertebra.mechanics.polyhedron import FOUND, STALLED, WHICH

# Columns of a local wrench, N and N*m about C.
FN, FT, FA, MN, MT, MA = range(6)
# Rows of `crossing`, one column a cable that crosses the joint: moment arm and place along the axis, m; bounds, N.
ARM, ALONG, LEAST, MOST = range(4)
# What `contact` holds: half distance of the contact points, m (0 without any); mu; least force, N; 1 for the true cone.
OFFSET, MU, LEAST_FORCE, TRUE_CONE = range(4)
# Kinds of constraints, in the order in which they are asked to give way. CONTACT and ACROSS stand for both points.
MAX_TENSION, PRETENSION, CONTACT, ACROSS, AXIAL, MOMENT = 0, 1, 2, 4, 6, 7
KINDS = 8

MOMENT_ROW, CONTACT_ROW, AXIAL_ROW, PLAIN_ROWS = 0, 1, 3, 4
"""Rows of the programme that nothing gives way in; CONTACT_ROW stands for two."""
CUTS = 80
"""Most tangent planes of one cone."""
CONE_KEPT = 5e-12
"""The friction limits of the cone are kept to this part of the size of the problem."""
CONE_NEAR = 1e-10
"""Planes that miss the cone by no more than this part are good enough; the sum of tensions is as exact."""
LARGE = 1e-4
"""Bounds above all forces by more than the inverse of this do not count for the size of a problem."""
NO_ARM = 1e-12
"""m; smaller arms are round-off."""


@kernel
def solve_programme(wrench, contact, crossing, count, n, rows, size, x, programme, factors):
    """Least cost of a programme of n variables, `count` of them tensions, the others what gives way.

    The true cone is kept by as many tangent planes as it takes. Returns the code of `polyhedron`.
    """
    G, low, high, cost = programme
    basis, upper, active, mark, work = factors
    mu, cuts, again = contact[MU], 0, True
    while True:
        status = least_cost(n, rows + cuts, G, low, high, cost, size, x, basis, upper, active, mark, work)
        if status == STALLED and again:
            # From another start round-off takes another way.
            active[WHICH, active.shape[1] - 1], again = 0, False
            continue
        if status != FOUND or contact[OFFSET] == 0.0 or contact[TRUE_CONE] == 0.0:
            return status
        first, second = normal_forces(wrench, contact, crossing, count, x)
        limit_1, limit_2, extra = mu * first, mu * second, 0.0
        if n > count:
            limit_1, limit_2 = limit_1 + x[count + ACROSS], limit_2 + x[count + ACROSS + 1]
            extra = x[count + AXIAL]
        short, g1, g2, constant = cone_cut(wrench, contact, limit_1, limit_2, extra)
        if short <= 0.0 or short <= CONE_KEPT * size * max(g1, g2):
            return FOUND
        if cuts == CUTS:
            return STALLED
        row = rows + cuts
        clear(n, row, G, low, high)
        add_force(contact, crossing, count, row, 0.5 * mu * (g1 + g2), 0.5 * mu * (g1 - g2), G)
        if n > count:
            G[row, count + ACROSS], G[row, count + ACROSS + 1], G[row, count + AXIAL] = g1, g2, 1.0
        tilt = wrench[MT] / contact[OFFSET]
        low[n + row] = constant - 0.5 * mu * (g1 * (wrench[FN] + tilt) + g2 * (wrench[FN] - tilt))
        scale_row(n, row, G, low, high)
        cuts += 1
        if short <= CONE_NEAR * size * max(g1, g2):
            # Better planes would be too nearly parallel to tell apart: all of them move in by what is missing.
            missing = low[n + row]
            for k in range(n):
                missing -= G[row, k] * x[k]
            for i in range(rows, rows + cuts):
                low[n + i] += max(missing, 0.0)


@merged
def fill_plain(wrench, contact, crossing, count, programme):
    """The programme that nothing gives way in, with the box cone; returns how many rows, and the size of the numbers.

    Both contact constraints of a point are one row: the stronger counts.
    """
    G, low, high, cost = programme
    size, rows = 1e-3, PLAIN_ROWS if contact[OFFSET] > 0.0 else 1
    for row in range(rows):
        clear(count, row, G, low, high)
    for k in range(count):
        low[k], high[k], cost[k] = crossing[LEAST, k], crossing[MOST, k], 1.0
        G[MOMENT_ROW, k] = crossing[ARM, k]
        size = max(size, low[k], LARGE * high[k])
    low[count] = high[count] = wrench[MA]
    if contact[OFFSET] > 0.0:
        tilt, least = wrench[MT] / contact[OFFSET], contact[LEAST_FORCE]
        across = tangential_forces(wrench, contact)
        for point in range(2):
            sign, row = 0.5 - point, CONTACT_ROW + point
            add_force(contact, crossing, count, row, 0.5, sign, G)
            needed = max(least, abs(across[0] if point == 0 else across[1]) / contact[MU])
            low[count + row] = needed - 0.5 * wrench[FN] - sign * tilt
        add_force(contact, crossing, count, AXIAL_ROW, 1.0, 0.0, G)
        low[count + AXIAL_ROW] = abs(wrench[FA]) / contact[MU] - wrench[FN]
    for row in range(rows):
        scale_row(count, row, G, low, high)
        size = max(size, abs(low[count + row]))
    return rows, size


@kernel
def clear(n, row, G, low, high):
    """An empty row without limits."""
    for k in range(n):
        G[row, k] = 0.0
    low[n + row], high[n + row] = -math.inf, math.inf


@kernel
def add_force(contact, crossing, count, row, total, difference, G):
    """Add total (N_1 + N_2) + difference (N_1 - N_2), as far as the tensions make them, to a row."""
    for k in range(count):
        G[row, k] += total + difference * crossing[ALONG, k] / contact[OFFSET]


@kernel
def scale_row(n, row, G, low, high):
    """Unit length, limits with it; coefficients that are round-off go."""
    square = 0.0
    for k in range(n):
        square += G[row, k] * G[row, k]
    factor = 1.0 / math.sqrt(square) if square > NO_ARM * NO_ARM else 0.0
    for k in range(n):
        G[row, k] *= factor
    if factor > 0.0:
        low[n + row] *= factor
        high[n + row] *= factor


@kernel
def tangential_forces(wrench, contact):
    """S_1t, S_2t, N."""
    turn = wrench[MN] / contact[OFFSET]
    return 0.5 * (wrench[FT] - turn), 0.5 * (wrench[FT] + turn)


@inner
def normal_forces(wrench, contact, crossing, count, x):
    """N_1, N_2, N."""
    total, turn = wrench[FN], wrench[MT]
    for k in range(count):
        total += x[k]
        turn += crossing[ALONG, k] * x[k]
    tilt = turn / contact[OFFSET]
    return 0.5 * (total + tilt), 0.5 * (total - tilt)


@merged
def cone_cut(wrench, contact, limit_1, limit_2, extra):
    """Tangent plane of the true cone at friction limits mu N_i: by how much the axial force is missed, N, and g_1, g_2,
    h of the half space g_1 mu N_1 + g_2 mu N_2 >= h that holds the cone but not this point.

    `extra`: friction along the axis beyond the cone's, N.
    """
    s1, s2 = tangential_forces(wrench, contact)
    s1, s2 = abs(s1), abs(s2)
    along_1 = math.sqrt(max(limit_1 * limit_1 - s1 * s1, 0.0))
    along_2 = math.sqrt(max(limit_2 * limit_2 - s2 * s2, 0.0))
    short = abs(wrench[FA]) - extra - along_1 - along_2
    g1, h1 = tangent(limit_1, s1, short)
    g2, h2 = tangent(limit_2, s2, short)
    return short, g1, g2, abs(wrench[FA]) + h1 + h2


@inner
def tangent(limit, across, short):
    """g, h of g A - h >= sqrt(A^2 - S^2), touching at A = `limit`, or so near beyond S that it cuts off `limit`."""
    if across == 0.0:
        return 1.0, 0.0
    # At A = S the slope is infinite. Touching at S (1 + r^2) / (1 - r^2), the plane lies S r above the root there.
    r = min(0.5, 0.25 * short / across)
    at = max(limit, across * (1.0 + r * r) / (1.0 - r * r))
    root = math.sqrt((at - across) * (at + across))
    return at / root, across * across / root
