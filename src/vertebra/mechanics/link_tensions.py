"""The tensions of every link on its own, for a whole trajectory in one call."""

from __future__ import annotations

import math

from vertebra.mechanics.cables import mirror_segment
from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.link_programme import (
    ALONG,
    ARM,
    FA,
    FN,
    FT,
    LEAST,
    MA,
    MN,
    MOST,
    MT,
    fill_plain,
    solve_programme,
)
from vertebra.mechanics.link_relaxation import relax_link
from vertebra.mechanics.polyhedron import FOUND, WHICH
from vertebra.mechanics.vectors import dot, mixed, read


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
