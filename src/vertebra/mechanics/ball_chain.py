"""A chain of ball joints held by friction: what every contact must supply.

Tables, one row a joint: `pulls` (n, cables, 6) force and moment of each cable per newton at the base of the cable,
`rest` (n, 6) those of weights and dead loads, `supply` (n, 6) the sum; moments about the centre of the ball (theory 5).
"""

from __future__ import annotations

import math

from vertebra.mechanics.chain import walk_chain, world
from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.vectors import added, cross_product, dot, scaled, write


@kernel
def lay_out(
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
        moment = added(moment, cross_product(between(centre, here), force))
        com = links[link].center_of_mass
        force, moment = _add(force, moment, centre, point_at(frames, link, com[0], com[1], com[2]), links[link].mass, g)
        for k in range(cables.shape[0]):
            cable, last = cables[k], cables[k].last_link
            if link > last:
                for column in range(6):
                    pulls[j, k, column] = 0.0
                continue
            entry = point_at(frames, link, cable.x, cable.y, segments[k, j].entry)
            leaving = point_at(frames, j, cable.x, cable.y, segments[k, j].exit)
            run = between(leaving, entry)
            length = math.sqrt(dot(run, run))
            # Holes that touch leave the cable without a direction.
            pull = scaled(share[k, j] / length if length > 0.0 else 0.0, run)
            write(pulls[j], k, 0, pull)
            write(pulls[j], k, 3, cross_product(between(centre, entry), pull))
            # A cable in a gap hangs half on either side of it; the lock at its end on the last link.
            force, moment = _add(force, moment, centre, entry, 0.5 * cable.linear_density * length, g)
            if link == last:
                end = point_at(frames, link, cable.x, cable.y, cable.end)
                force, moment = _add(force, moment, centre, end, cable.lock_mass, g)
            else:
                leaving = point_at(frames, link, cable.x, cable.y, segments[k, link].exit)
                run = between(leaving, point_at(frames, link + 1, cable.x, cable.y, segments[k, link].entry))
                hung = 0.5 * cable.linear_density * math.sqrt(dot(run, run))
                force, moment = _add(force, moment, centre, leaving, hung, g)
        while row >= 0 and loads[row].link >= link:
            load = loads[row]
            at = point_at(frames, link, load.point[0], load.point[1], load.point[2])
            pull = (load.force[0], load.force[1], load.force[2])
            force = added(force, pull)
            moment = added(moment, cross_product(between(centre, at), pull))
            moment = added(moment, (load.moment[0], load.moment[1], load.moment[2]))
            row -= 1
        write(rest, j, 0, scaled(-1.0, force))
        write(rest, j, 3, scaled(-1.0, moment))
    return status


@kernel
def sum_supply(pulls, rest, tensions, supply):
    """What each contact supplies without the load."""
    for j in range(rest.shape[0]):
        for column in range(6):
            total = rest[j, column]
            for k in range(tensions.shape[0]):
                total += tensions[k] * pulls[j, k, column]
            supply[j, column] = total


@kernel
def point_of_link(frames, link, point):
    """World coordinates of a point of a link, m."""
    return point_at(frames, link, point[0], point[1], point[2])


@inner
def _add(force, moment, centre, at, mass, g):
    weight = scaled(mass, g)
    return added(force, weight), added(moment, cross_product(between(centre, at), weight))


@inner
def point_at(frames, link, x, y, z):
    return (world(frames, link, 0, x, y, z), world(frames, link, 1, x, y, z), world(frames, link, 2, x, y, z))


@inner
def origin_of(frames, link):
    """Origin of a link: the centre of the ball that carries the next link."""
    return (frames[link, 0, 3], frames[link, 1, 3], frames[link, 2, 3])


@inner
def between(u, v):
    """From u to v."""
    return (v[0] - u[0], v[1] - u[1], v[2] - u[2])
