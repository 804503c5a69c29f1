"""Tensions of each link on its own: the cables that cross a joint against what its contacts can carry, and, where there
is no answer, why (theory 6.8 and 6.9).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vertebra.mechanics.compiled import inlined, inner, kernel
from vertebra.mechanics.kernels.algebra import dot, mixed, read
from vertebra.mechanics.kernels.cables import mirror_segment
from vertebra.mechanics.kernels.programmes import FOUND, UNDECIDED, ActiveSet, Polyhedron, least_cost
from vertebra.mechanics.kernels.spatial import in_world, row_of, turn_joints
from vertebra.mechanics.layout import (
    ACTIVE_WHICH,
    BLOCK_FRAME,
    CONTACT_LEAST_FORCE,
    CONTACT_MU,
    CONTACT_OFFSET,
    CONTACT_TRUE_CONE,
    CROSSING_ALONG,
    CROSSING_ARM,
    CROSSING_LEAST,
    CROSSING_MOST,
    FORCE_AXIAL,
    FORCE_NORMAL,
    FORCE_TANGENTIAL,
    FORCE_USE,
    GIVE_ACROSS,
    GIVE_AXIAL,
    GIVE_CONTACT,
    GIVE_MAX_TENSION,
    GIVE_PRETENSION,
    GIVE_TORQUE,
    GIVE_WIDTH,
    PLAIN_AXIAL,
    PLAIN_CONTACT,
    PLAIN_ROWS,
    PLAIN_TORQUE,
    RELAXED_ROWS,
    SPAN_FIRST,
    WRENCH_FA,
    WRENCH_FN,
    WRENCH_FT,
    WRENCH_MA,
    WRENCH_MN,
    WRENCH_MT,
)
from vertebra.robot.tables import Floats

CUTS = 80
"""Most tangent planes of one cone."""
CONE_KEPT = 5e-12
"""The friction limits of the cone hold to this fraction of the problem's size."""
CONE_NEAR = 1e-10
"""Planes that miss the cone by no more than this fraction are good enough; the sum of tensions is as exact."""
LARGE = 1e-4
"""Bounds that exceed all forces by more than the inverse of this do not count toward the size of a problem."""
NO_ARM = 1e-10
"""Arms below this part of the distance of the cables from the joint's centre are round-off, and so are coefficients."""


class CrossedJoint(NamedTuple):
    """What a joint asks of the cables that cross it: torques and the wrench of the motion, its contacts, the cables."""

    torques: Floats
    """Of its freedoms, left to the cables."""
    wrench: Floats
    contact: Floats
    crossing: Floats
    cables: int
    """How many cross: columns of `crossing` that are filled."""


class Programme(NamedTuple):
    """Least cost.x for low <= x <= high and low <= G x <= high; the limits of the rows come after those of x."""

    G: Floats
    low: Floats
    high: Floats
    cost: Floats


@inner
def solve_programme(joint, n, rows, size, x, programme, factors):
    """Least cost of a programme of n variables, `count` of them tensions, the others what gives way.

    The true cone is kept by as many tangent planes as it takes. Returns FOUND, EMPTY or UNDECIDED.
    """
    G, low, high, cost = programme
    _, wrench, contact, crossing, count = joint
    active = factors.active
    mu, cuts, again = contact[CONTACT_MU], 0, True
    while True:
        status = least_cost(Polyhedron(n, rows + cuts, G, low, high), cost, size, x, factors)
        if status == UNDECIDED and again:
            # From another start, round-off leads elsewhere.
            active[ACTIVE_WHICH, active.shape[1] - 1], again = 0, False
            continue
        if status != FOUND or contact[CONTACT_OFFSET] == 0.0 or contact[CONTACT_TRUE_CONE] == 0.0:
            return status
        first, second = normal_forces(joint, x)
        limit_1, limit_2, extra = mu * first, mu * second, 0.0
        if n > count:
            limit_1, limit_2 = limit_1 + x[count + GIVE_ACROSS], limit_2 + x[count + GIVE_ACROSS + 1]
            extra = x[count + GIVE_AXIAL]
        short, g1, g2, constant = cone_cut(joint, limit_1, limit_2, extra)
        if short <= 0.0 or short <= CONE_KEPT * size * max(g1, g2):
            return FOUND
        if cuts == CUTS:
            return UNDECIDED
        row = rows + cuts
        clear_row(n, row, G, low, high)
        add_normal_forces(contact, crossing, count, row, 0.5 * mu * (g1 + g2), 0.5 * mu * (g1 - g2), G)
        if n > count:
            G[row, count + GIVE_ACROSS], G[row, count + GIVE_ACROSS + 1], G[row, count + GIVE_AXIAL] = g1, g2, 1.0
        tilt = wrench[WRENCH_MT] / contact[CONTACT_OFFSET]
        low[n + row] = constant - 0.5 * mu * (g1 * (wrench[WRENCH_FN] + tilt) + g2 * (wrench[WRENCH_FN] - tilt))
        scale_row(n, row, 1.0, G, low, high)
        cuts += 1
        if short <= CONE_NEAR * size * max(g1, g2):
            # Better planes would be too nearly parallel to tell apart: all of them move in by what is missing.
            missing = low[n + row]
            for k in range(n):
                missing -= G[row, k] * x[k]
            for i in range(rows, rows + cuts):
                low[n + i] += max(missing, 0.0)


@inner
def fill_plain(joint, programme):
    """The programme in which nothing gives way, with the box cone; returns how many rows, and the size of the numbers.

    Both contact constraints of a point are one row: the stronger counts.
    """
    torques, wrench, contact, crossing, count = joint
    G, low, high, cost = programme
    freedoms = torques.shape[0]
    size, rows = 0.0, PLAIN_ROWS if contact[CONTACT_OFFSET] > 0.0 else freedoms
    for row in range(rows):
        clear_row(count, row, G, low, high)
    for k in range(count):
        low[k], high[k], cost[k] = crossing[CROSSING_LEAST, k], crossing[CROSSING_MOST, k], 1.0
        for m in range(freedoms):
            G[PLAIN_TORQUE + m, k] = crossing[CROSSING_ARM + m, k]
        size = max(size, low[k], LARGE * high[k])
    for m in range(freedoms):
        low[count + m] = high[count + m] = torques[m]
    if contact[CONTACT_OFFSET] > 0.0:
        tilt, least = wrench[WRENCH_MT] / contact[CONTACT_OFFSET], contact[CONTACT_LEAST_FORCE]
        across = tangential_forces(wrench, contact)
        for point in range(2):
            sign, row = 0.5 - point, PLAIN_CONTACT + point
            add_normal_forces(contact, crossing, count, row, 0.5, sign, G)
            needed = max(least, abs(across[0] if point == 0 else across[1]) / contact[CONTACT_MU])
            low[count + row] = needed - 0.5 * wrench[WRENCH_FN] - sign * tilt
        add_normal_forces(contact, crossing, count, PLAIN_AXIAL, 1.0, 0.0, G)
        low[count + PLAIN_AXIAL] = abs(wrench[WRENCH_FA]) / contact[CONTACT_MU] - wrench[WRENCH_FN]
    for row in range(rows):
        scale_row(count, row, farthest_cable(crossing, freedoms, count) if row < freedoms else 1.0, G, low, high)
        size = max(size, abs(low[count + row]))
    return rows, size


@inner
def clear_row(n, row, G, low, high):
    """An empty row without limits."""
    for k in range(n):
        G[row, k] = 0.0
    low[n + row], high[n + row] = -math.inf, math.inf


@inner
def add_normal_forces(contact, crossing, count, row, total, difference, G):
    """Add total (N_1 + N_2) + difference (N_1 - N_2), as far as the tensions make them, to a row."""
    for k in range(count):
        G[row, k] += total + difference * crossing[CROSSING_ALONG, k] / contact[CONTACT_OFFSET]


@inner
def farthest_cable(crossing, freedoms, count):
    """Largest distance of a cable from the joint's centre, along its axis or across, m."""
    farthest = 0.0
    for k in range(count):
        farthest = max(farthest, abs(crossing[CROSSING_ALONG, k]))
        for m in range(freedoms):
            farthest = max(farthest, abs(crossing[CROSSING_ARM + m, k]))
    return farthest


@inner
def scale_row(n, row, unit, G, low, high):
    """Unit length, limits with it; coefficients that are round-off of a `unit` go."""
    square = 0.0
    for k in range(n):
        square += G[row, k] * G[row, k]
    length = math.sqrt(square)
    kept = length > NO_ARM * unit
    factor = 1.0 / length if kept else 1.0 / unit if unit > 0.0 else 1.0
    for k in range(n):
        G[row, k] *= factor if kept else 0.0
    low[n + row] *= factor
    high[n + row] *= factor


@inner
def tangential_forces(wrench, contact):
    """S_1t, S_2t, N."""
    turn = wrench[WRENCH_MN] / contact[CONTACT_OFFSET]
    return 0.5 * (wrench[WRENCH_FT] - turn), 0.5 * (wrench[WRENCH_FT] + turn)


@inner
def normal_forces(joint, x):
    """N_1, N_2, N."""
    _, wrench, contact, crossing, count = joint
    total, turn = wrench[WRENCH_FN], wrench[WRENCH_MT]
    for k in range(count):
        total += x[k]
        turn += crossing[CROSSING_ALONG, k] * x[k]
    tilt = turn / contact[CONTACT_OFFSET]
    return 0.5 * (total + tilt), 0.5 * (total - tilt)


@inner
def cone_cut(joint, limit_1, limit_2, extra):
    """Tangent plane of the true cone at friction limits mu N_i: by how much the axial force is missed, N, and g_1, g_2,
    h of the half space g_1 mu N_1 + g_2 mu N_2 >= h that contains the cone but not this point.

    `extra`: friction along the axis beyond the cone's, N.
    """
    wrench = joint.wrench
    s1, s2 = tangential_forces(wrench, joint.contact)
    s1, s2 = abs(s1), abs(s2)
    along_1 = math.sqrt(max(limit_1 * limit_1 - s1 * s1, 0.0))
    along_2 = math.sqrt(max(limit_2 * limit_2 - s2 * s2, 0.0))
    short = abs(wrench[WRENCH_FA]) - extra - along_1 - along_2
    g1, h1 = cone_tangent(limit_1, s1, short)
    g2, h2 = cone_tangent(limit_2, s2, short)
    return short, g1, g2, abs(wrench[WRENCH_FA]) + h1 + h2


@inner
def cone_tangent(limit, across, short):
    """g, h of g A - h >= sqrt(A^2 - S^2), touching at A = `limit`, or so near beyond S that it cuts off `limit`."""
    if across == 0.0:
        return 1.0, 0.0
    # At A = S the slope is infinite. Touching at S (1 + r^2) / (1 - r^2), the plane lies S r above the root there.
    r = min(0.5, 0.25 * short / across)
    at = max(limit, across * (1.0 + r * r) / (1.0 - r * r))
    root = math.sqrt((at - across) * (at + across))
    return at / root, across * across / root


# Why a link's tension programme has no answer: which constraint must give way, and by how much (theory 6.9).
#
# The programme of `fill_plain` with a variable, in N, for every kind of constraint, by which it gives way. One
# kind at a time may give way, as little as possible; where none alone is enough, all may, with the least sum.

NO_GIVE = 5e-11
"""Giving way by less than this part of the problem's size is round-off, and the problem has an answer."""


@inner
def relax_link(joint, size, x, amounts, programme, factors):
    """Write `amounts` (8,), N and N*m, by which constraints must give way, and the nearest tensions, x.

    The tensions are those for which everything that gives way, except their bounds, adds up to the least; a torque is
    divided by the length of all arms together, so that it is in N. Of several freedoms the largest torque counts.
    """
    high, cost, active, count = programme.high, programme.cost, factors.active, joint.cables
    none = NO_GIVE * size
    rows, lever = fill_relaxed(joint, programme)
    n, contacts = count + GIVE_WIDTH, joint.contact[CONTACT_OFFSET] > 0.0
    for kind in range(GIVE_WIDTH):
        amounts[kind] = 0.0
    # One kind after another; all of them; all but the bounds of the tensions.
    everything, within = GIVE_WIDTH, GIVE_WIDTH + 1
    attempt = 0
    while attempt <= within:
        if contacts or not GIVE_CONTACT <= attempt < GIVE_TORQUE:
            for k in range(n):
                cost[k] = 0.0
            for kind in range(GIVE_WIDTH):
                allowed = attempt in (kind, everything) or (attempt == within and kind >= GIVE_CONTACT)
                cost[count + kind], high[count + kind] = (1.0, math.inf) if allowed else (0.0, 0.0)
            active[ACTIVE_WHICH, active.shape[1] - 1] = 0
            status = solve_programme(joint, n, rows, size, x, programme, factors)
            if attempt <= everything and status == FOUND:
                for kind in range(GIVE_WIDTH):
                    give = x[count + kind] if x[count + kind] > none else 0.0
                    amounts[kind] = give * lever if kind == GIVE_TORQUE else give
                answered = attempt < everything and x[count + attempt] <= none
                attempt = within if answered else everything
        attempt += 1


@inner
def fill_relaxed(joint, programme):
    """Rows and bounds; returns how many rows, and the length in m that turns the torque's give-way into N*m."""
    G, low, high, _ = programme
    torques, wrench, contact, crossing, count = joint
    n, freedoms = count + GIVE_WIDTH, torques.shape[0]
    square = 0.0
    for k in range(count):
        low[k], high[k] = 0.0, math.inf
        for m in range(freedoms):
            square += crossing[CROSSING_ARM + m, k] ** 2
    for kind in range(GIVE_WIDTH):
        low[count + kind] = 0.0
    # Where no cable has an arm, the distance of the cables stands in for it; where there is none either, nothing does.
    farthest = farthest_cable(crossing, freedoms, count)
    lever = math.sqrt(square)
    if lever <= NO_ARM * farthest:
        lever = farthest if farthest > 0.0 else 1.0
    for row in range(RELAXED_ROWS + 2 * count):
        clear_row(n, row, G, low, high)
    rows = 0
    for m in range(freedoms):
        for k in range(count):
            G[rows, k] = G[rows + 1, k] = crossing[CROSSING_ARM + m, k] / lever
        G[rows, count + GIVE_TORQUE], G[rows + 1, count + GIVE_TORQUE] = 1.0, -1.0
        low[n + rows], high[n + rows + 1] = torques[m] / lever, torques[m] / lever
        rows += 2
    for k in range(count):
        G[rows, k], G[rows, count + GIVE_MAX_TENSION], high[n + rows] = 1.0, -1.0, crossing[CROSSING_MOST, k]
        G[rows + 1, k], G[rows + 1, count + GIVE_PRETENSION], low[n + rows + 1] = 1.0, 1.0, crossing[CROSSING_LEAST, k]
        rows += 2
    if contact[CONTACT_OFFSET] > 0.0:
        mu, tilt = contact[CONTACT_MU], wrench[WRENCH_MT] / contact[CONTACT_OFFSET]
        across = tangential_forces(wrench, contact)
        for point in range(2):
            sign = 0.5 - point
            fixed = 0.5 * wrench[WRENCH_FN] + sign * tilt
            add_normal_forces(contact, crossing, count, rows, 0.5, sign, G)
            G[rows, count + GIVE_CONTACT + point], low[n + rows] = 1.0, contact[CONTACT_LEAST_FORCE] - fixed
            add_normal_forces(contact, crossing, count, rows + 1, 0.5 * mu, sign * mu, G)
            G[rows + 1, count + GIVE_ACROSS + point] = 1.0
            low[n + rows + 1] = abs(across[0] if point == 0 else across[1]) - mu * fixed
            rows += 2
        add_normal_forces(contact, crossing, count, rows, mu, 0.0, G)
        G[rows, count + GIVE_AXIAL], low[n + rows] = 1.0, abs(wrench[WRENCH_FA]) - mu * wrench[WRENCH_FN]
        if contact[CONTACT_TRUE_CONE] > 0.0:
            # Whatever friction a point is granted beyond its cone can act along the axis too.
            G[rows, count + GIVE_ACROSS] = G[rows, count + GIVE_ACROSS + 1] = 1.0
        rows += 1
    for row in range(rows):
        scale_row(n, row, 1.0, G, low, high)
    return rows, lever


# What given tensions do at every joint: torque left out of balance, forces at the two contact points (theory 6.8).


@kernel
def weigh_joints(
    joints, cables, contacts, low, high, arms, torques, wrenches, tensions, crossing, x, residual, scale, forces
):  # fmt: skip
    """Write `residual` (N, rows) N*m, needed less supplied; `scale` (N,) N*m, of the torques at the joints; `forces`.

    Only the sum of the two axial forces follows from the motion; `axial_share` says how the points share it.
    """
    for i in range(arms.shape[0]):
        scale[i] = 0.0
        for j in range(joints.shape[0]):
            contact, first, beyond = contacts[j], joints[j].first, joints[j].first + joints[j].freedoms
            for row in range(first, beyond):
                balance, sizes = torques[i, row], abs(torques[i, row])
                for k in range(cables.shape[0]):
                    balance -= arms[i, k, row] * tensions[i, k, j]
                    sizes += abs(arms[i, k, row]) * tensions[i, k, j]
                residual[i, row] = balance
                scale[i] = max(scale[i], sizes)
            for point in range(2):
                for plane in range(4):
                    forces[plane, i, j, point] = 0.0
            if contact[CONTACT_OFFSET] == 0.0:
                continue
            gather_crossing(joints, cables, low, high, arms[i], j, crossing)
            count = 0
            for k in range(cables.shape[0]):
                if j < cables[k].last_link:
                    x[count] = tensions[i, k, j]
                    count += 1
            joint = CrossedJoint(torques[i, first:beyond], wrenches[i, j], contact, crossing, count)
            contact_forces(joint, x, forces[:, i, j])


@inner
def contact_forces(joint, x, forces):
    """Forces at the two points of one joint under the tensions x."""
    wrench, contact = joint.wrench, joint.contact
    normal, across, total = normal_forces(joint, x), tangential_forces(wrench, contact), wrench[WRENCH_FA]
    mu, true_cone = contact[CONTACT_MU], contact[CONTACT_TRUE_CONE] > 0.0
    share = axial_share(abs(total), mu * normal[0], mu * normal[1], abs(across[0]), abs(across[1]), true_cone)
    for point in range(2):
        axial = total * (share if point == 0 else 1.0 - share)
        friction = max(abs(across[point]), abs(axial))
        if true_cone:
            friction = math.sqrt(across[point] ** 2 + axial * axial)
        forces[FORCE_NORMAL, point], forces[FORCE_TANGENTIAL, point] = normal[point], across[point]
        forces[FORCE_AXIAL, point] = axial
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
    room_1 = axial_room(limit_1 + beyond, across_1, true_cone)
    room_2 = axial_room(limit_2 + beyond, across_2, true_cone)
    if room_1 + room_2 < force:
        for _ in range(60):
            middle = 0.5 * (beyond + most)
            room_1 = axial_room(limit_1 + middle, across_1, true_cone)
            room_2 = axial_room(limit_2 + middle, across_2, true_cone)
            if room_1 + room_2 < force:
                beyond = middle
            else:
                most = middle
    return room_1 / (room_1 + room_2) if room_1 + room_2 > 0.0 else 0.5


@inlined
def axial_room(limit, across, true_cone):
    """Friction left along the axis, N."""
    return math.sqrt(max((limit - across) * (limit + across), 0.0)) if true_cone else limit


# The tensions of every link on its own, for a whole trajectory in one call.


@kernel
def turn_wrenches(joints, links, cables, segments, q, tau, spatial, wrenches, torques, arms):
    """Turn world wrenches (N, n, 6) into the (n, t, a) of their joints, in place, with the torque that is left to the
    cables, tau and what springs take, about a; those of joints with several freedoms stay as they are. Write those
    torques (N, rows) of all freedoms, and the cables' lever arms (N, cables, rows) in m, zero beyond their ends."""
    for i in range(q.shape[0]):
        x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
        if spatial is not None:
            turn_joints(joints, links, cables, segments, q[i], spatial)
        for j in range(joints.shape[0]):
            row = row_of(joints, j, spatial)
            if spatial is not None and joints[j].freedoms > 1:
                for m in range(joints[j].freedoms):
                    stiffness = joints[j].stiffness if m < 2 else joints[j].torsion
                    torques[i, row + m] = tau[i, row + m] + stiffness * q[i, row + m]
                    for k in range(cables.shape[0]):
                        crosses = j < cables[k].last_link
                        arms[i, k, row + m] = -spatial.spans[k, j, SPAN_FIRST + m] if crosses else 0.0
                x, y, z = (
                    in_world(read(spatial.blocks, j, BLOCK_FRAME), x, y, z),
                    in_world(read(spatial.blocks, j, BLOCK_FRAME + 3), x, y, z),
                    in_world(read(spatial.blocks, j, BLOCK_FRAME + 6), x, y, z),
                )
                continue
            joint, angle = joints[j], q[i, row]
            c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
            a, b = mixed(joint.axis_x, x, joint.axis_y, y), mixed(joint.axis_y, x, -joint.axis_x, y)
            normal, tangent = mixed(c, z, s, b), mixed(c, b, -s, z)
            # The next link's axes: b and z turn by half the angle beyond the bisector.
            b, z = mixed(c, tangent, -s, normal), mixed(c, normal, s, tangent)
            x, y = mixed(joint.axis_x, a, joint.axis_y, b), mixed(joint.axis_y, a, -joint.axis_x, b)
            wrench = wrenches[i, j]
            force, moment = read(wrenches[i], j, 0), read(wrenches[i], j, 3)
            wrench[WRENCH_FN], wrench[WRENCH_FT] = dot(normal, force), dot(tangent, force)
            wrench[WRENCH_FA] = dot(a, force)
            wrench[WRENCH_MN], wrench[WRENCH_MT] = dot(normal, moment), dot(tangent, moment)
            torques[i, row] = wrench[WRENCH_MA] = tau[i, row] + joint.stiffness * angle
            for k in range(cables.shape[0]):
                arms[i, k, row] = -mirror_segment(joint, segments[k, j], angle)[1] if j < cables[k].last_link else 0.0


@kernel
def allocate_links(
    joints, cables, contacts, low, high, arms, torques, wrenches, lists, crossing, x, programme, factors, tensions,
    amounts,
):  # fmt: skip
    """Tensions (N, cables, n) of all links, and how far constraints must give way, `amounts` (N, n, 8).

    `programme`, `factors`: plain tuples with the fields of `Programme` and `ActiveSet`; `lists`: (n, 2, ...) active
    constraints of each joint, with which the next step begins.
    """
    programme, factors = Programme(*programme), ActiveSet(*factors)
    last = factors.active.shape[1] - 1
    for j in range(joints.shape[0]):
        lists[j, ACTIVE_WHICH, last] = 0
    for i in range(arms.shape[0]):
        for j in range(joints.shape[0]):
            count = gather_crossing(joints, cables, low, high, arms[i], j, crossing)
            own_torques = torques[i, joints[j].first : joints[j].first + joints[j].freedoms]
            joint = CrossedJoint(own_torques, wrenches[i, j], contacts[j], crossing, count)
            own = ActiveSet(factors.basis, factors.upper, lists[j], factors.mark, factors.work)
            rows, size = fill_plain(joint, programme)
            status = solve_programme(joint, count, rows, size, x, programme, own)
            if status != FOUND:
                lists[j, ACTIVE_WHICH, last] = 0
                relax_link(joint, size, x, amounts[i, j], programme, factors)
            scatter_tensions(cables, low, high, j, x, tensions[i])


@inner
def gather_crossing(joints, cables, low, high, arms, j, crossing):
    """Columns of `crossing` for joint j; returns how many cables cross it."""
    count = 0
    for k in range(cables.shape[0]):
        if j < cables[k].last_link:
            for m in range(joints[j].freedoms):
                crossing[CROSSING_ARM + m, count] = arms[k, joints[j].first + m]
            crossing[CROSSING_ALONG, count] = cables[k].x * joints[j].axis_x + cables[k].y * joints[j].axis_y
            crossing[CROSSING_LEAST, count], crossing[CROSSING_MOST, count] = low[k], high[k]
            count += 1
    return count


@inner
def scatter_tensions(cables, low, high, j, x, tensions):
    """Column j of (cables, n) from the tensions of the cables that cross, without round-off beyond the bounds."""
    count = 0
    for k in range(cables.shape[0]):
        tensions[k, j] = 0.0
        if j < cables[k].last_link:
            tensions[k, j] = min(max(x[count], low[k]), high[k])
            count += 1
