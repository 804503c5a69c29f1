"""The tensions of every link on its own (theory 6): the cables that cross a joint against what its contacts can carry,
and why there is no answer where there is none.
"""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inlined, inner, kernel, merged
from vertebra.mechanics.kernels.algebra import dot, mixed, read
from vertebra.mechanics.kernels.cables import mirror_segment
from vertebra.mechanics.kernels.programmes import FOUND, STALLED, WHICH, least_cost

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


# Why a link's tension programme has no answer: by how much which constraint must give way.
#
# The programme of `link_programme` with a variable, in N, for every kind of constraint, by which it gives way. One
# kind at a time may give way, as little as possible; where none alone is enough, all may, with the least sum.

RELAXED_ROWS = 7
"""Rows of a relaxed programme beside two a cable: moment from either side, contact and across twice, axial."""
NOTHING = 1e-9
"""N; giving way by less than this is round-off, and the problem has an answer."""


@merged
def relax_link(wrench, contact, crossing, count, size, x, amounts, programme, factors):
    """Write `amounts` (KINDS,), N and N*m, by which constraints must give way, and the nearest tensions, x.

    The tensions are those for which all that gives way but their bounds adds up to the least; a moment counts by the
    length of all arms together, so that it is in N.
    """
    _, _, high, cost = programme
    active = factors[2]
    rows, lever = fill_relaxed(wrench, contact, crossing, count, programme)
    n, contacts = count + KINDS, contact[OFFSET] > 0.0
    for kind in range(KINDS):
        amounts[kind] = 0.0
    # One kind after another; all of them; all but the bounds of the tensions.
    everything, within = KINDS, KINDS + 1
    attempt = 0
    while attempt <= within:
        if contacts or not CONTACT <= attempt < MOMENT:
            for k in range(n):
                cost[k] = 0.0
            for kind in range(KINDS):
                allowed = attempt in (kind, everything) or (attempt == within and kind >= CONTACT)
                cost[count + kind], high[count + kind] = (1.0, math.inf) if allowed else (0.0, 0.0)
            active[WHICH, active.shape[1] - 1] = 0
            status = solve_programme(wrench, contact, crossing, count, n, rows, size, x, programme, factors)
            if attempt <= everything and status == FOUND:
                for kind in range(KINDS):
                    give = x[count + kind] if x[count + kind] > NOTHING else 0.0
                    amounts[kind] = give * lever if kind == MOMENT else give
                answered = attempt < everything and x[count + attempt] <= NOTHING
                attempt = within if answered else everything
        attempt += 1


@merged
def fill_relaxed(wrench, contact, crossing, count, programme):
    """Rows and bounds; returns how many rows, and the length in m that turns the moment's give-way into N*m."""
    G, low, high, _ = programme
    n = count + KINDS
    square = 0.0
    for k in range(count):
        low[k], high[k] = 0.0, math.inf
        square += crossing[ARM, k] ** 2
    for kind in range(KINDS):
        low[count + kind] = 0.0
    lever = math.sqrt(square) if square > NO_ARM * NO_ARM else 1.0
    for row in range(RELAXED_ROWS + 2 * count):
        clear(n, row, G, low, high)
    for k in range(count):
        G[0, k] = G[1, k] = crossing[ARM, k] / lever
    G[0, count + MOMENT], G[1, count + MOMENT] = 1.0, -1.0
    low[n], high[n + 1] = wrench[MA] / lever, wrench[MA] / lever
    rows = 2
    for k in range(count):
        G[rows, k], G[rows, count + MAX_TENSION], high[n + rows] = 1.0, -1.0, crossing[MOST, k]
        G[rows + 1, k], G[rows + 1, count + PRETENSION], low[n + rows + 1] = 1.0, 1.0, crossing[LEAST, k]
        rows += 2
    if contact[OFFSET] > 0.0:
        mu, tilt = contact[MU], wrench[MT] / contact[OFFSET]
        across = tangential_forces(wrench, contact)
        for point in range(2):
            sign = 0.5 - point
            fixed = 0.5 * wrench[FN] + sign * tilt
            add_force(contact, crossing, count, rows, 0.5, sign, G)
            G[rows, count + CONTACT + point], low[n + rows] = 1.0, contact[LEAST_FORCE] - fixed
            add_force(contact, crossing, count, rows + 1, 0.5 * mu, sign * mu, G)
            G[rows + 1, count + ACROSS + point] = 1.0
            low[n + rows + 1] = abs(across[0] if point == 0 else across[1]) - mu * fixed
            rows += 2
        add_force(contact, crossing, count, rows, mu, 0.0, G)
        G[rows, count + AXIAL], low[n + rows] = 1.0, abs(wrench[FA]) - mu * wrench[FN]
        if contact[TRUE_CONE] > 0.0:
            # Whatever friction a point is granted beyond its cone can act along the axis too.
            G[rows, count + ACROSS] = G[rows, count + ACROSS + 1] = 1.0
        rows += 1
    for row in range(rows):
        scale_row(n, row, G, low, high)
    return rows, lever


# What given tensions do at every joint: moment left out of balance, forces at the two contact points (theory 6).

# Planes of `forces`, (N, n, 2) each, at the two contact points, N: along the bisector normal, along t, along the axis;
# then how much of the friction there is used.
FORCE_NORMAL, FORCE_TANGENTIAL, FORCE_AXIAL, FORCE_USE = range(4)


@kernel
def weigh_joints(joints, cables, contacts, low, high, arms, wrenches, tensions, crossing, x, residual, scale, forces):
    """Write `residual` (N, n) N*m, needed less supplied; `scale` (N,) N*m, of the moments at the joints; `forces`.

    Only the sum of the two axial forces follows from the motion; `axial_share` says how the points share it.
    """
    for i in range(arms.shape[0]):
        scale[i] = 0.0
        for j in range(joints.shape[0]):
            wrench, contact = wrenches[i, j], contacts[j]
            balance, sizes = wrench[MA], abs(wrench[MA])
            for k in range(cables.shape[0]):
                balance -= arms[i, k, j] * tensions[i, k, j]
                sizes += abs(arms[i, k, j]) * tensions[i, k, j]
            residual[i, j] = balance
            scale[i] = max(scale[i], sizes)
            for point in range(2):
                for plane in range(4):
                    forces[plane, i, j, point] = 0.0
            if contact[OFFSET] == 0.0:
                continue
            count = gather(joints, cables, low, high, arms[i], j, crossing)
            count = 0
            for k in range(cables.shape[0]):
                if j < cables[k].last_link:
                    x[count] = tensions[i, k, j]
                    count += 1
            press(wrench, contact, normal_forces(wrench, contact, crossing, count, x), forces[:, i, j])


@inner
def press(wrench, contact, normal, forces):
    """Forces at the two points of one joint."""
    across, mu, true_cone = tangential_forces(wrench, contact), contact[MU], contact[TRUE_CONE] > 0.0
    share = axial_share(abs(wrench[FA]), mu * normal[0], mu * normal[1], abs(across[0]), abs(across[1]), true_cone)
    for point in range(2):
        axial = wrench[FA] * (share if point == 0 else 1.0 - share)
        friction = max(abs(across[point]), abs(axial))
        if true_cone:
            friction = math.sqrt(across[point] ** 2 + axial * axial)
        forces[FORCE_NORMAL, point], forces[FORCE_TANGENTIAL, point], forces[FORCE_AXIAL, point] = (
            normal[point],
            across[point],
            axial,
        )
        if friction > 0.0:
            limit = mu * normal[point]
            forces[FORCE_USE, point] = friction / limit if limit > 0.0 else math.inf


@inner
def axial_share(force, limit_1, limit_2, across_1, across_2, true_cone):
    """Part of the axial force that point 1 takes: in proportion to the friction left along the axis at either point.

    Where that is not enough, both limits are exceeded by the same force.
    """
    limit_1, limit_2 = max(limit_1, 0.0), max(limit_2, 0.0)
    beyond = max(across_1 - limit_1, across_2 - limit_2, 0.0) if true_cone else 0.0
    most = beyond + 0.5 * force
    room_1, room_2 = room(limit_1 + beyond, across_1, true_cone), room(limit_2 + beyond, across_2, true_cone)
    if room_1 + room_2 < force:
        for _ in range(60):
            middle = 0.5 * (beyond + most)
            room_1, room_2 = room(limit_1 + middle, across_1, true_cone), room(limit_2 + middle, across_2, true_cone)
            if room_1 + room_2 < force:
                beyond = middle
            else:
                most = middle
    return room_1 / (room_1 + room_2) if room_1 + room_2 > 0.0 else 0.5


@inlined
def room(limit, across, true_cone):
    """Friction left along the axis, N."""
    return math.sqrt(max((limit - across) * (limit + across), 0.0)) if true_cone else limit


# The tensions of every link on its own, for a whole trajectory in one call.


@kernel
def turn_wrenches(joints, cables, segments, q, tau, wrenches, arms):
    """Turn world wrenches (N, n, 6) into the (n, t, a) of their joints, in place, with the moment that is left to the
    cables, tau + k q, about a; and write the cables' moment arms (N, cables, n) in m, zero beyond their ends."""
    for i in range(q.shape[0]):
        x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
        for j in range(joints.shape[0]):
            joint, angle = joints[j], q[i, j]
            c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
            a, b = mixed(joint.axis_x, x, joint.axis_y, y), mixed(joint.axis_y, x, -joint.axis_x, y)
            normal, tangent = mixed(c, z, s, b), mixed(c, b, -s, z)
            # The next link's axes: b and z turn by half the angle beyond the bisector.
            b, z = mixed(c, tangent, -s, normal), mixed(c, normal, s, tangent)
            x, y = mixed(joint.axis_x, a, joint.axis_y, b), mixed(joint.axis_y, a, -joint.axis_x, b)
            wrench = wrenches[i, j]
            force, moment = read(wrenches[i], j, 0), read(wrenches[i], j, 3)
            wrench[FN], wrench[FT], wrench[FA] = dot(normal, force), dot(tangent, force), dot(a, force)
            wrench[MN], wrench[MT] = dot(normal, moment), dot(tangent, moment)
            wrench[MA] = tau[i, j] + joint.stiffness * angle
            for k in range(cables.shape[0]):
                arms[i, k, j] = -mirror_segment(joint, segments[k, j], angle)[1] if j < cables[k].last_link else 0.0


@kernel
def allocate_links(
    joints, cables, contacts, low, high, arms, wrenches, lists, crossing, x, programme, factors, tensions, amounts
):  # fmt: skip
    """Tensions (N, cables, n) of all links, and by how much which constraints must give way, `amounts` (N, n, KINDS).

    `lists`: (n, 2, ...) active constraints of each joint, with which the next step begins.
    """
    basis, upper, active, mark, work = factors
    last = active.shape[1] - 1
    for j in range(joints.shape[0]):
        lists[j, WHICH, last] = 0
    for i in range(arms.shape[0]):
        for j in range(joints.shape[0]):
            wrench, contact = wrenches[i, j], contacts[j]
            count = gather(joints, cables, low, high, arms[i], j, crossing)
            own = basis, upper, lists[j], mark, work
            rows, size = fill_plain(wrench, contact, crossing, count, programme)
            status = solve_programme(wrench, contact, crossing, count, count, rows, size, x, programme, own)
            if status != FOUND:
                lists[j, WHICH, last] = 0
                relax_link(wrench, contact, crossing, count, size, x, amounts[i, j], programme, factors)
            scatter(cables, low, high, j, x, tensions[i])


@inner
def gather(joints, cables, low, high, arms, j, crossing):
    """Columns of `crossing` for joint j; returns how many cables cross it."""
    count = 0
    for k in range(cables.shape[0]):
        if j < cables[k].last_link:
            crossing[ARM, count] = arms[k, j]
            crossing[ALONG, count] = cables[k].x * joints[j].axis_x + cables[k].y * joints[j].axis_y
            crossing[LEAST, count], crossing[MOST, count] = low[k], high[k]
            count += 1
    return count


@inner
def scatter(cables, low, high, j, x, tensions):
    """Column j of (cables, n) from the tensions of the cables that cross, without round-off beyond the bounds."""
    count = 0
    for k in range(cables.shape[0]):
        tensions[k, j] = 0.0
        if j < cables[k].last_link:
            tensions[k, j] = min(max(x[count], low[k]), high[k])
            count += 1
