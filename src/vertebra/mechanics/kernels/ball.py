"""A chain of ball joints locked by friction (theory 5): what every contact must supply, and the load at which the
weakest joint gives way, in one direction or many.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import added, cross_product, dot, moved, read, scaled, write
from vertebra.mechanics.kernels.contact import (
    HOLDS,
    SEPARATION,
    SOCKET,
    Socket,
    contact_state,
    holds_from,
    inside_rim,
    load_limit,
    rim_limit,
    used_friction,
)
from vertebra.mechanics.kernels.joints import Vector, walk_chain, world
from vertebra.mechanics.layout import (
    BALL_NORMAL,
    BALL_NORMAL_FORCE,
    BALL_TORSION_USE,
    BALL_USE,
    SUPPLY_FORCE,
    SUPPLY_MOMENT,
    SUPPLY_WIDTH,
    WEAKEST_LOAD,
    WEAKEST_REENTRY,
    WEAKEST_ROW,
)
from vertebra.robot.tables import Floats, Table


@kernel
def lay_out_locked_chain(
    joints, links, cables, segments, origin, gravity, loads, bends, azimuths, share, q, frames, twists, pulls, rest
):
    """Write the coordinates q, frames, twists, `pulls` and `rest`. `share` (cables, n): tension left at each joint.

    Returns DONE, or the row of the first joint beyond half a turn.
    """
    for j in range(joints.shape[0]):
        q[2 * j], q[2 * j + 1] = bends[j] * math.cos(azimuths[j]), bends[j] * math.sin(azimuths[j])
    status = walk_chain(joints, links, origin, q, frames, twists)
    if status >= 0:
        return status
    g = (gravity[0], gravity[1], gravity[2])
    force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    row = loads.shape[0] - 1
    for j in range(joints.shape[0] - 1, -1, -1):
        link = j + 1
        here, centre = origin_of(frames, link), origin_of(frames, j)
        # From the moment about this link's own ball to the moment about the ball that carries it.
        moment = added(moment, cross_product(from_to(centre, here), force))
        com = links[link].center_of_mass
        force, moment = _add_weight(
            force, moment, centre, point_at(frames, link, com[0], com[1], com[2]), links[link].mass, g
        )
        for k in range(cables.shape[0]):
            cable, last = cables[k], cables[k].last_link
            if link > last:
                for column in range(SUPPLY_WIDTH):
                    pulls[j, k, column] = 0.0
                continue
            entry = point_at(frames, link, cable.x, cable.y, segments[k, j].entry)
            leaving = point_at(frames, j, cable.x, cable.y, segments[k, j].exit)
            run = from_to(leaving, entry)
            length = math.sqrt(dot(run, run))
            # Holes that touch leave the cable without a direction.
            pull = scaled(share[k, j] / length if length > 0.0 else 0.0, run)
            write(pulls[j], k, SUPPLY_FORCE, pull)
            write(pulls[j], k, SUPPLY_MOMENT, cross_product(from_to(centre, entry), pull))
            # A cable in a gap hangs half on either side of it; the lock at its end on the last link.
            force, moment = _add_weight(force, moment, centre, entry, 0.5 * cable.linear_density * length, g)
            if link == last:
                end = point_at(frames, link, cable.x, cable.y, cable.end)
                force, moment = _add_weight(force, moment, centre, end, cable.lock_mass, g)
            else:
                leaving = point_at(frames, link, cable.x, cable.y, segments[k, link].exit)
                run = from_to(leaving, point_at(frames, link + 1, cable.x, cable.y, segments[k, link].entry))
                hung = 0.5 * cable.linear_density * math.sqrt(dot(run, run))
                force, moment = _add_weight(force, moment, centre, leaving, hung, g)
        while row >= 0 and loads[row].link >= link:
            load = loads[row]
            at = point_at(frames, link, load.point[0], load.point[1], load.point[2])
            pull = (load.force[0], load.force[1], load.force[2])
            force = added(force, pull)
            moment = added(moment, cross_product(from_to(centre, at), pull))
            moment = added(moment, (load.moment[0], load.moment[1], load.moment[2]))
            row -= 1
        write(rest, j, SUPPLY_FORCE, scaled(-1.0, force))
        write(rest, j, SUPPLY_MOMENT, scaled(-1.0, moment))
    return status


@kernel
def sum_supply(pulls, rest, tensions, supply):
    """What each contact supplies without the load."""
    for j in range(rest.shape[0]):
        for column in range(SUPPLY_WIDTH):
            total = rest[j, column]
            for k in range(tensions.shape[0]):
                total += tensions[k] * pulls[j, k, column]
            supply[j, column] = total


@kernel
def point_of_link(frames, link, point):
    """World coordinates of a point of a link, m."""
    return point_at(frames, link, point[0], point[1], point[2])


@inner
def _add_weight(force, moment, centre, at, mass, g):
    weight = scaled(mass, g)
    return added(force, weight), added(moment, cross_product(from_to(centre, at), weight))


@inner
def point_at(frames, link, x, y, z):
    return (
        world(frames, link, 0, x, y, z),
        world(frames, link, 1, x, y, z),
        world(frames, link, 2, x, y, z),
    )


@inner
def origin_of(frames, link):
    """Origin of a link: the centre of the ball that carries the next link."""
    return (frames[link, 0, 3], frames[link, 1, 3], frames[link, 2, 3])


@inner
def from_to(u, v):
    """From u to v."""
    return (v[0] - u[0], v[1] - u[1], v[2] - u[2])


# The load at which a joint of a locked chain gives way (theory 5.5): all joints, the weakest, many directions.
#
# A load F acts at the point `at` of a link: the force F d and the moment F `couple`, world axes.

REENTRY_SAMPLES = 512
"""Loads at which a robot with sockets is tried again beyond the first that it cannot carry."""


class PushedChain(NamedTuple):
    """A locked chain under a load."""

    joints: Table
    supply: Floats
    """What each contact supplies without the load."""
    frames: Floats
    guided: int
    """Joints that sit in a rigid guide."""
    link: int
    """The loaded link."""
    at: Vector
    """Where the load acts, world, m."""
    d: Vector
    """Its direction, world axes."""
    couple: Vector
    """Its moment, N*m per N, world axes."""


@kernel
def joint_limits(joints, supply, frames, guided, link, at, d, couple, limits, modes):
    """Load at which each joint gives way, N, and how. Joints in the guide carry any load."""
    chain = PushedChain(joints, supply, frames, guided, link, at, d, couple)
    for j in range(joints.shape[0]):
        limits[j], modes[j] = math.inf, HOLDS
        if j >= guided:
            limits[j], modes[j] = _joint_limit(chain, j, math.inf)


@kernel
def least_limit(joints, supply, frames, guided, link, at, d, couple):
    """The least of `joint_limits`, its row and mode; -1 for the row when no joint gives way."""
    chain = PushedChain(joints, supply, frames, guided, link, at, d, couple)
    least, row, mode = math.inf, -1, HOLDS
    for j in range(guided, joints.shape[0]):
        limit, _ = _joint_limit(chain, j, least)
        if limit < least:
            # Once more without the cap, so that the answer is that of `joint_limits` to the last bit. Where a
            # polynomial only just touches zero, the two may disagree.
            limit, how = _joint_limit(chain, j, math.inf)
            if limit < least:
                least, row, mode = limit, j, how
    if least == 0.0:
        row, mode = _lacks_most(chain)
    return least, row, mode


@inner
def _lacks_most(chain):
    """Of the joints that give way without load, the one that lacks most friction, and its mode."""
    joints, supply = chain.joints, chain.supply
    most, row, mode = -1.0, -1, HOLDS
    for j in range(chain.guided, joints.shape[0]):
        limit, how = _joint_limit(chain, j, 0.0)
        if limit == 0.0:
            use = math.inf
            if how != SEPARATION:
                state = contact_state(read(supply, j, SUPPLY_FORCE), read(supply, j, SUPPLY_MOMENT), joints[j].radius)
                use = max(*used_friction(joints[j].friction, joints[j].ring_radius, state[0], state[1], state[2]))
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
        lay_out_locked_chain(*tables, bends[s], azimuths[s], share[s], q, frames, twists, pulls, rest)
        sum_supply(pulls, rest, tensions[s], supply)
        for i in range(load_links.shape[0]):
            link = load_links[i]
            at = point_at(frames, link, points[i, 0], points[i, 1], points[i, 2])
            place = (guided, link, at, directions, couple, first, last)
            least_limits(joints, supply, frames, *place, force[s, i], row[s, i], mode[s, i])


@inner
def reentry(chain, start):
    """Least load beyond `start`, at which some joint gives way, that all joints carry again; infinite without one."""
    joints, guided = chain.joints, chain.guided
    n = joints.shape[0]
    for j in range(guided, n):
        if joints[j].socket < math.inf:
            return _sampled_reentry(chain, start)
    load, settled, j = start * (1.0 + 1e-9) + 1e-300, guided, guided
    while True:
        f0, m0, dj, m1 = supply_under_load(chain, j)
        after = holds_from(f0, m0, dj, m1, joints[j].friction, joints[j].radius, joints[j].ring_radius, load)
        if after == math.inf:
            return math.inf
        if after > load:
            load, settled = after * (1.0 + 1e-12), j
        j = j + 1 if j + 1 < n else guided
        if j == settled:
            return load


@inner
def _sampled_reentry(chain, start):
    """`reentry` with sockets: the first of many loads that all joints carry, narrowed down to where that begins."""
    scale = start
    for j in range(chain.guided, chain.joints.shape[0]):
        f0 = read(chain.supply, j, SUPPLY_FORCE)
        scale = max(scale, math.sqrt(dot(f0, f0)))
    slips = start * (1.0 + 1e-9)
    for i in range(1, REENTRY_SAMPLES):
        load = slips + scale * i / (REENTRY_SAMPLES - i)
        if _all_hold(chain, load):
            for _ in range(60):
                middle = 0.5 * (slips + load)
                if _all_hold(chain, middle):
                    load = middle
                else:
                    slips = middle
            return load
    return math.inf


@inner
def _all_hold(chain, load):
    joints = chain.joints
    for j in range(chain.guided, joints.shape[0]):
        f0, m0, dj, m1 = supply_under_load(chain, j)
        mu, radius, ring_radius = joints[j].friction, joints[j].radius, joints[j].ring_radius
        if holds_from(f0, m0, dj, m1, mu, radius, ring_radius, load) > load:
            return False
        if joints[j].socket < math.inf:
            rim = math.cos(joints[j].socket)
            if inside_rim(Socket(f0, m0, dj, m1, radius, socket_axis(chain.frames, j), rim, load), 1.0) < 0.0:
                return False
    return True


@kernel
def find_payload(joints, supply, frames, guided, link, at, d, couple, limits, modes, forces, balls, weakest):
    """Limits of all joints, the contact states at the least of them (without load when there is none), and the
    weakest joint."""
    joint_limits(joints, supply, frames, guided, link, at, d, couple, limits, modes)
    force, row = math.inf, -1
    for j in range(guided, joints.shape[0]):
        if limits[j] < force:
            force, row = limits[j], j
    chain = PushedChain(joints, supply, frames, guided, link, at, d, couple)
    contact_states(chain, force if force < math.inf else 0.0, forces, balls)
    if force == 0.0:
        row, _ = _lacks_most(chain)
    weakest[WEAKEST_LOAD], weakest[WEAKEST_ROW], weakest[WEAKEST_REENTRY] = force, row, math.inf
    if row >= 0 and modes[row] != SEPARATION:
        weakest[WEAKEST_REENTRY] = reentry(chain, force)


@inner
def contact_states(chain, load, forces, balls):
    """Force and moment (n, 6) that each contact supplies under a load, and the rest of `balls` (n, 8)."""
    joints = chain.joints
    for j in range(joints.shape[0]):
        f0, m0, dj, m1 = supply_under_load(chain, j)
        f, m = moved(f0, -load, dj), moved(m0, -load, m1)
        normal_force, friction, torsion, normal = contact_state(f, m, joints[j].radius)
        write(forces, j, SUPPLY_FORCE, f)
        write(forces, j, SUPPLY_MOMENT, m)
        write(balls, j, BALL_NORMAL_FORCE, (normal_force, friction, torsion))
        write(balls, j, BALL_NORMAL, normal)
        balls[j, BALL_USE], balls[j, BALL_TORSION_USE] = used_friction(
            joints[j].friction, joints[j].ring_radius, normal_force, friction, torsion
        )


@inner
def _joint_limit(chain, j, cap):
    joints = chain.joints
    f0, m0, dj, m1 = supply_under_load(chain, j)
    radius = joints[j].radius
    limit, mode = load_limit(f0, m0, dj, m1, joints[j].friction, radius, joints[j].ring_radius, cap)
    if joints[j].socket < math.inf and limit > 0.0:
        most = min(limit, cap)
        if mode == SEPARATION:
            most *= 1.0 - 1e-9  # where there is still a contact
        if j >= chain.link:
            most = 0.0  # the load does not reach this joint
        rim = rim_limit(f0, m0, dj, m1, radius, socket_axis(chain.frames, j), math.cos(joints[j].socket), most)
        if rim < limit:
            return rim, SOCKET
    return limit, mode


@inner
def supply_under_load(chain, j):
    """f0, m0, d and m1 of a joint (theory 5.2): links beyond the loaded one do not feel the load."""
    f0, m0, d = read(chain.supply, j, SUPPLY_FORCE), read(chain.supply, j, SUPPLY_MOMENT), chain.d
    if j >= chain.link:
        return f0, m0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    return f0, m0, d, added(cross_product(from_to(origin_of(chain.frames, j), chain.at), d), chain.couple)


@inner
def socket_axis(frames, j):
    """Axis of the socket of joint row j: that of the link it belongs to."""
    return (frames[j + 1, 0, 2], frames[j + 1, 1, 2], frames[j + 1, 2, 2])
