"""The load at which a joint of a locked chain of balls gives way: all joints, the weakest, many directions.

A load F acts at the point `at` of a link: the force F d and the moment F `couple`, world axes.
"""

from __future__ import annotations

import math

from vertebra.mechanics.ball_chain import between, lay_out, origin_of, point_at, sum_supply
from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.contact import HOLDS, SEPARATION, SOCKET, contact_state, load_limit, slip_polynomials, vanish
from vertebra.mechanics.crossing import next_fall, value
from vertebra.mechanics.socket_rim import inside_rim, rim_limit
from vertebra.mechanics.vectors import added, cross_product, dot, moved, read, scaled, write

SAMPLES = 512
"""Loads at which a robot with sockets is tried again beyond the first that it does not hold."""

FORCE, ROW, REENTRY = range(3)
REPORT_WIDTH = 3
"""What `judge` reports: least limit, row of the weakest joint, least load beyond that holds again."""


@kernel
def joint_limits(joints, supply, frames, guided, link, at, d, couple, limits, modes):
    """Load at which each joint gives way, N, and how. Joints in the guide hold any load."""
    for j in range(joints.shape[0]):
        limits[j], modes[j] = math.inf, HOLDS
        if j >= guided:
            limits[j], modes[j] = _limit(joints, supply, frames, link, at, d, couple, j, math.inf)


@kernel
def least_limit(joints, supply, frames, guided, link, at, d, couple):
    """The least of `joint_limits`, its row and mode; -1 for the row when every joint holds."""
    least, row, mode = math.inf, -1, HOLDS
    for j in range(guided, joints.shape[0]):
        limit, _ = _limit(joints, supply, frames, link, at, d, couple, j, least)
        if limit < least:
            # Once more without the cap, so that the answer is that of `joint_limits` to the last bit. Where the limit
            # only just touches, the two may disagree.
            limit, how = _limit(joints, supply, frames, link, at, d, couple, j, math.inf)
            if limit < least:
                least, row, mode = limit, j, how
    if least == 0.0:
        row, mode = _lacks_most(joints, supply, frames, guided, link, at, d, couple)
    return least, row, mode


@inner
def _lacks_most(joints, supply, frames, guided, link, at, d, couple):
    """Of the joints that give way without load, the one that lacks most friction, and its mode."""
    most, row, mode = -1.0, -1, HOLDS
    for j in range(guided, joints.shape[0]):
        limit, how = _limit(joints, supply, frames, link, at, d, couple, j, 0.0)
        if limit == 0.0:
            use = math.inf
            if how != SEPARATION:
                state = contact_state(read(supply, j, 0), read(supply, j, 3), joints[j].radius)
                use = max(*_uses(joints[j].friction, joints[j].ring_radius, state[0], state[1], state[2]))
            if use > most:
                most, row, mode = use, j, how
    return row, mode


@kernel
def least_limits(joints, supply, frames, guided, link, at, directions, couple, first, last, force, row, mode):
    """`least_limit` in directions first..last (rows)."""
    for k in range(first, last):
        d = read(directions, k, 0)
        force[k], row[k], mode[k] = least_limit(joints, supply, frames, guided, link, at, d, couple)


@kernel
def map_limits(
    joints, links, cables, segments, origin, gravity, loads, bends, azimuths, share, tensions, guided,
    load_links, points, directions, couple, first, last,
    q, frames, twists, pulls, rest, supply, force, row, mode,
):  # fmt: skip
    """`least_limit` of every shape (rows of bends), load link and direction first..last; force, row, mode (S, L, D)."""
    for s in range(bends.shape[0]):
        tables = (joints, links, cables, segments, origin, gravity, loads)
        lay_out(*tables, bends[s], azimuths[s], share[s], q, frames, twists, pulls, rest)
        sum_supply(pulls, rest, tensions[s], supply)
        for i in range(load_links.shape[0]):
            link = load_links[i]
            at = point_at(frames, link, points[i, 0], points[i, 1], points[i, 2])
            place = (guided, link, at, directions, couple, first, last)
            least_limits(joints, supply, frames, *place, force[s, i], row[s, i], mode[s, i])


@inner
def reentry(joints, supply, frames, guided, link, at, d, couple, start):
    """Least load beyond `start`, at which some joint gives way, that all joints hold again; infinite without one."""
    n = joints.shape[0]
    for j in range(guided, n):
        if joints[j].socket < math.inf:
            return _sampled_reentry(joints, supply, frames, guided, link, at, d, couple, start)
    load, settled, j = start * (1.0 + 1e-9) + 1e-300, guided, guided
    while True:
        f0, m0, dj, m1 = _loaded(supply, frames, link, at, d, couple, j)
        after = _holds_from(f0, m0, dj, m1, joints[j].friction, joints[j].radius, joints[j].ring_radius, load)
        if after == math.inf:
            return math.inf
        if after > load:
            load, settled = after * (1.0 + 1e-12), j
        j = j + 1 if j + 1 < n else guided
        if j == settled:
            return load


@inner
def _sampled_reentry(joints, supply, frames, guided, link, at, d, couple, start):
    """`reentry` with sockets: the first of many loads that all joints hold, narrowed down to where that begins."""
    n, scale = joints.shape[0], start
    for j in range(guided, n):
        f0 = read(supply, j, 0)
        scale = max(scale, math.sqrt(dot(f0, f0)))
    slips = start * (1.0 + 1e-9)
    for i in range(1, SAMPLES):
        load = slips + scale * i / (SAMPLES - i)
        if _all_hold(joints, supply, frames, guided, link, at, d, couple, load):
            for _ in range(60):
                middle = 0.5 * (slips + load)
                if _all_hold(joints, supply, frames, guided, link, at, d, couple, middle):
                    load = middle
                else:
                    slips = middle
            return load
    return math.inf


@inner
def _all_hold(joints, supply, frames, guided, link, at, d, couple, load):
    for j in range(guided, joints.shape[0]):
        f0, m0, dj, m1 = _loaded(supply, frames, link, at, d, couple, j)
        mu, radius, ring_radius = joints[j].friction, joints[j].radius, joints[j].ring_radius
        if _holds_from(f0, m0, dj, m1, mu, radius, ring_radius, load) > load:
            return False
        if joints[j].socket < math.inf:
            rim = math.cos(joints[j].socket)
            if inside_rim(f0, m0, dj, m1, radius, _axis(frames, j), rim, load, 1.0) < 0.0:
                return False
    return True


@kernel
def judge(joints, supply, frames, guided, link, at, d, couple, limits, modes, forces, states, report):
    """Limits of all joints, the contact states at the least of them (without load when there is none), and a report."""
    joint_limits(joints, supply, frames, guided, link, at, d, couple, limits, modes)
    force, row = math.inf, -1
    for j in range(guided, joints.shape[0]):
        if limits[j] < force:
            force, row = limits[j], j
    contact_states(joints, supply, frames, link, at, d, couple, force if force < math.inf else 0.0, forces, states)
    if force == 0.0:
        row, _ = _lacks_most(joints, supply, frames, guided, link, at, d, couple)
    report[FORCE], report[ROW], report[REENTRY] = force, row, math.inf
    if row >= 0 and modes[row] != SEPARATION:
        report[REENTRY] = reentry(joints, supply, frames, guided, link, at, d, couple, force)


@inner
def contact_states(joints, supply, frames, link, at, d, couple, load, forces, states):
    """Force and moment (n, 6) that each contact supplies under a load; F_N, F_f, M_t, normal (n, 6), and the used parts
    of friction and torsional friction, infinite where nothing presses (n, 2)."""
    for j in range(joints.shape[0]):
        f0, m0, dj, m1 = _loaded(supply, frames, link, at, d, couple, j)
        f, m = moved(f0, -load, dj), moved(m0, -load, m1)
        normal_force, friction, torsion, normal = contact_state(f, m, joints[j].radius)
        write(forces, j, 0, f)
        write(forces, j, 3, m)
        write(states, j, 0, (normal_force, friction, torsion))
        write(states, j, 3, normal)
        states[j, 6], states[j, 7] = _uses(joints[j].friction, joints[j].ring_radius, normal_force, friction, torsion)


@inner
def _uses(mu, ring_radius, normal_force, friction, torsion):
    """Used parts of friction and of torsional friction."""
    most = mu * normal_force
    return _part(friction, most), _part(abs(torsion), ring_radius * most)


@inner
def _part(used, most):
    if most > 0.0:
        return used / most
    return math.inf if used > 0.0 else 0.0


@inner
def _limit(joints, supply, frames, link, at, d, couple, j, cap):
    f0, m0, dj, m1 = _loaded(supply, frames, link, at, d, couple, j)
    radius = joints[j].radius
    limit, mode = load_limit(f0, m0, dj, m1, joints[j].friction, radius, joints[j].ring_radius, cap)
    if joints[j].socket < math.inf and limit > 0.0:
        most = min(limit, cap)
        if mode == SEPARATION:
            most *= 1.0 - 1e-9  # where there is still a contact
        if dot(dj, dj) == 0.0:
            most = 0.0  # the load does not reach this joint
        rim = rim_limit(f0, m0, dj, m1, radius, _axis(frames, j), math.cos(joints[j].socket), most)
        if rim < limit:
            return rim, SOCKET
    return limit, mode


@inner
def _loaded(supply, frames, link, at, d, couple, j):
    """f0, m0, d and m1 of a joint: links beyond the loaded one do not feel the load."""
    f0, m0 = read(supply, j, 0), read(supply, j, 3)
    if j >= link:
        return f0, m0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    return f0, m0, d, added(cross_product(between(origin_of(frames, j), at), d), couple)


@inner
def _holds_from(f0, m0, d, m1, mu, radius, ring_radius, load):
    """Least load from `load` on at which none of the three slip polynomials is positive."""
    m0, m1 = scaled(1.0 / radius, m0), scaled(1.0 / radius, m1)
    reach = dot(f0, d)
    if 0.0 < reach <= load and vanish(f0, m0, d, m1, reach):
        return math.inf  # the links have parted
    fp, mp = moved(f0, -reach, d), moved(m0, -reach, m1)
    sliding, plus, minus = slip_polynomials(fp, mp, d, m1, mu, ring_radius / radius)
    plus, minus = (plus[0], plus[1], plus[2], 0.0, 0.0), (minus[0], minus[1], minus[2], 0.0, 0.0)
    x, moving = load - reach, True
    while moving and x < math.inf:
        moving = False
        for c in (sliding, plus, minus):
            if x < math.inf and value(c, x) > 0.0:
                x = next_fall(c, x)
                x += 1e-12 * abs(x)
                moving = True
                load = x + reach
    return load


@inner
def _axis(frames, j):
    """Axis of the socket of joint row j: that of the link it belongs to."""
    return (frames[j + 1, 0, 2], frames[j + 1, 1, 2], frames[j + 1, 2, 2])
