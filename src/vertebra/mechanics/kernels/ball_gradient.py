"""How the load at which a joint of a locked chain gives way changes with every number of the problem (theory 5.5).

The limit F is a root of G(f, m, ...) with f = f0 - F d and m = m0 - F m1, so dF/dp = -G_p / G_F. One pass backwards
from the tip to the joint takes what is known about its f0 and m0 to tables, tensions, loads and shape: a small change
of a place is a virtual velocity, and what the limit loses or gains by it is a force there. Summed over the links
beyond a joint, these are a wrench that a turn of the joint works against.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import added, combined, cross_product, dot, mixed, moved, scaled
from vertebra.mechanics.kernels.ball import PushedChain, from_to, origin_of, point_at, socket_axis, supply_under_load
from vertebra.mechanics.kernels.contact import SEPARATION, SLIDING, SOCKET, TORSION, contact_state, used_friction
from vertebra.mechanics.kernels.joints import Vector
from vertebra.mechanics.layout import GRADIENT_COUPLE, GRADIENT_DIRECTION, GRADIENT_GRAVITY, GRADIENT_POINT

SMOOTH, TWO_MODES, TOUCHES = range(3)
"""Whether a limit has a derivative: yes; that of one of two modes which are reached at once; no."""

DOUBLE_ROOT = 1e-6
"""Slope of G at a root, with forces and lengths of size 1, below which it touches zero rather than crosses it."""
SAME_LOAD = 1e-9
"""Friction that is used up to this fraction is used up."""


class LimitSlopes(NamedTuple):
    """Derivatives of the limit of one joint by what its contact knows."""

    centre: Vector
    """Of the ball, m."""
    force: Vector
    """By f0, N per N."""
    moment: Vector
    """By m0, N per N*m."""
    friction: float
    radius: float
    ring_radius: float
    axis: Vector
    """By the axis of the socket."""
    socket: float


@kernel
def differentiate_limit(
    joints, links, cables, segments, gravity, loads, masses, azimuths, share, tensions, supply, frames,
    link, at, d, couple, row, limit, mode, socket,
    by_bends, by_azimuths, by_tensions, by_vectors, by_joints, by_links, by_cables, by_segments, by_loads, by_masses,
):  # fmt: skip
    """Write the derivatives of the limit of a joint (its row) into tables like those of the problem, given as zeros;
    returns SMOOTH, TWO_MODES or TOUCHES, which leaves the tables alone.

    `masses` (loads,) kg, beside the forces of `loads`; `links` are without them. The tensions' part through `share` is
    the caller's: d ln(share) has the derivative tensions times `by_tensions`.
    """
    chain = PushedChain(joints, supply, frames, 0, link, at, d, couple)
    slopes, status = _limit_slopes(chain, row, limit, mode, socket)
    if status == TOUCHES:
        return status
    contact = by_joints[row]
    contact.friction, contact.radius, contact.ring_radius = slopes.friction, slopes.radius, slopes.ring_radius
    contact.socket = slopes.socket
    g = (gravity[0], gravity[1], gravity[2])
    load_row = loads.shape[0] - 1
    # The wrench on what has been passed, about the origin of the link; and on the holes by which cables leave the link
    # before it, which is not passed yet.
    force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(joints.shape[0], row, -1):
        here, before = origin_of(frames, i), origin_of(frames, i - 1)
        left_force, left_moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        com = links[i].center_of_mass
        place = point_at(frames, i, com[0], com[1], com[2])
        by_mass, pull = _weigh(slopes, g, links[i].mass, place, by_vectors)
        by_links[i].mass += by_mass
        _add_local(by_links[i].center_of_mass, frames, i, pull)
        force, moment = _add_pull(force, moment, here, place, pull)
        for k in range(cables.shape[0]):
            cable = cables[k]
            if i > cable.last_link:
                continue
            entry = point_at(frames, i, cable.x, cable.y, segments[k, i - 1].entry)
            leaving = point_at(frames, i - 1, cable.x, cable.y, segments[k, i - 1].exit)
            run = from_to(leaving, entry)
            length = math.sqrt(dot(run, run))
            along = scaled(1.0 / length if length > 0.0 else 0.0, run)
            hung = 0.5 * cable.linear_density
            by_length, by_entry = _weigh(slopes, g, hung * length, entry, by_vectors)
            by_leaving = (0.0, 0.0, 0.0)
            if i - 1 > row:
                by_half, by_leaving = _weigh(slopes, g, hung * length, leaving, by_vectors)
                by_length += by_half
            by_cables[k].linear_density += 0.5 * length * by_length
            by_run = scaled(hung * by_length, along)
            if i - 1 == row:
                tension, effect = tensions[k] * share[k, row], _effect(slopes, entry)
                by_tension = dot(along, effect)
                by_tensions[k] += share[k, row] * by_tension
                by_entry = moved(by_entry, tension, cross_product(along, slopes.moment))
                if length > 0.0:
                    by_run = moved(by_run, tension / length, moved(effect, -by_tension, along))
            by_entry, by_leaving = added(by_entry, by_run), moved(by_leaving, -1.0, by_run)
            by_segments[k, i - 1].entry += _add_hole(by_cables[k], frames, i, by_entry)
            by_segments[k, i - 1].exit += _add_hole(by_cables[k], frames, i - 1, by_leaving)
            force, moment = _add_pull(force, moment, here, entry, by_entry)
            left_force, left_moment = _add_pull(left_force, left_moment, before, leaving, by_leaving)
            if i == cable.last_link:
                end = point_at(frames, i, cable.x, cable.y, cable.end)
                by_mass, pull = _weigh(slopes, g, cable.lock_mass, end, by_vectors)
                by_cables[k].lock_mass += by_mass
                by_cables[k].end += _add_hole(by_cables[k], frames, i, pull)
                force, moment = _add_pull(force, moment, here, end, pull)
        while load_row >= 0 and loads[load_row].link >= i:
            load, changed = loads[load_row], by_loads[load_row]
            place = point_at(frames, i, load.point[0], load.point[1], load.point[2])
            by_masses[load_row], pull = _weigh(slopes, g, masses[load_row], place, by_vectors)
            own = (load.force[0], load.force[1], load.force[2])
            pull = added(pull, cross_product(slopes.moment, own))
            effect = _effect(slopes, place)
            for axis in range(3):
                changed.force[axis], changed.moment[axis] = -effect[axis], -slopes.moment[axis]
            _add_local(changed.point, frames, i, pull)
            force, moment = _add_pull(force, moment, here, place, pull)
            load_row -= 1
        if i == link:
            pull = scaled(limit, cross_product(slopes.moment, d))
            _add_local(by_vectors[GRADIENT_POINT], frames, i, pull)
            _add(by_vectors[GRADIENT_DIRECTION], scaled(-limit, _effect(slopes, at)))
            _add(by_vectors[GRADIENT_COUPLE], scaled(-limit, slopes.moment))
            force, moment = _add_pull(force, moment, here, at, pull)
        if i == row + 1:
            moment = added(moment, cross_product(_axis(frames, i, 2), slopes.axis))
        by_joints[i - 1].size += dot(_axis(frames, i, 2), force)
        by_links[i - 1].reach += dot(_axis(frames, i - 1, 2), force)
        # The ball's centre is the origin of the link before: in a chain of balls `reach` is 0.
        moment = added(moment, cross_product(from_to(before, here), force))
        _turn(frames, i, azimuths, moment, by_bends, by_azimuths)
        force, moment = added(force, left_force), added(moment, left_moment)
    # The force of the ball's centre itself makes the sum zero, since a shift of the whole robot changes nothing. What
    # is left is a couple, the same about all joints before.
    for i in range(row, 0, -1):
        _turn(frames, i, azimuths, moment, by_bends, by_azimuths)
    return status


@inner
def _turn(frames, i, azimuths, moment, by_bends, by_azimuths):
    """Joint row i - 1: a bend turns about (-sin, cos, 0); an azimuth takes the bend along, which is z - R z."""
    sin, cos = math.sin(azimuths[i - 1]), math.cos(azimuths[i - 1])
    axis = mixed(-sin, _axis(frames, i - 1, 0), cos, _axis(frames, i - 1, 1))
    by_bends[i - 1] += dot(axis, moment)
    by_azimuths[i - 1] += dot(from_to(_axis(frames, i, 2), _axis(frames, i - 1, 2)), moment)


@inner
def _effect(slopes, at):
    """Change of the limit per newton that cables supply at a place, along each axis; weights and loads take it."""
    return added(slopes.force, cross_product(slopes.moment, from_to(slopes.centre, at)))


@inner
def _weigh(slopes, g, mass, at, by_vectors):
    """Of a mass: the derivatives by it and by its place."""
    effect = _effect(slopes, at)
    _add(by_vectors[GRADIENT_GRAVITY], scaled(-mass, effect))
    return -dot(g, effect), scaled(mass, cross_product(slopes.moment, g))


@inner
def _add_pull(force, moment, centre, at, pull):
    return added(force, pull), added(moment, cross_product(from_to(centre, at), pull))


@inner
def _add_hole(by_cable, frames, link, pull):
    """Add to the derivatives by x and y of a cable's holes; returns that by z."""
    by_cable.x += dot(_axis(frames, link, 0), pull)
    by_cable.y += dot(_axis(frames, link, 1), pull)
    return dot(_axis(frames, link, 2), pull)


@inner
def _add_local(out, frames, link, pull):
    """Add in the frame of a link."""
    for column in range(3):
        out[column] += dot(_axis(frames, link, column), pull)


@inner
def _add(out, u):
    out[0] += u[0]
    out[1] += u[1]
    out[2] += u[2]


@inner
def _axis(frames, link, column):
    return (frames[link, 0, column], frames[link, 1, column], frames[link, 2, column])


# At the contact. Lengths are in units of the ball's radius, forces in units of what is carried at the limit.


@inner
def _limit_slopes(chain, row, limit, mode, socket):
    """Derivatives of a finite limit above 0, and whether it has any."""
    joint = chain.joints[row]
    radius, axis, centre = joint.radius, socket_axis(chain.frames, row), origin_of(chain.frames, row)
    ring, none = joint.ring_radius / radius, (0.0, 0.0, 0.0)
    f0, m0, d, m1 = supply_under_load(chain, row)
    if mode == SEPARATION:
        # As long as the contact force stays along the load: F = f0 . d.
        return LimitSlopes(centre, d, none, 0.0, 0.0, 0.0, none, 0.0), SMOOTH
    m0, m1 = scaled(1.0 / radius, m0), scaled(1.0 / radius, m1)
    f, m = moved(f0, -limit, d), moved(m0, -limit, m1)
    size = _size(f, m)
    f, m = scaled(1.0 / size, f), scaled(1.0 / size, m)
    normal_force, friction, torsion, normal = contact_state(f, m, 1.0)
    by_mu, by_ring, by_axis, by_socket = 0.0, 0.0, none, 0.0
    if mode == SLIDING:
        by_f, by_m, by_mu = _sliding_slopes(f, m, joint.friction)
    elif mode == TORSION:
        by_f, by_m, by_k = _torsion_slopes(f, m, joint.friction * ring)
        by_mu, by_ring = by_k * ring, by_k * joint.friction
    else:
        by_f, by_m = _rim_slopes(normal_force, torsion, normal, axis)
        by_axis, by_socket = normal, math.sin(socket)
    rise = dot(by_f, d) + dot(by_m, m1)
    start, push = _size(f0, m0), _size(d, m1)
    if not abs(rise) * (start + limit * push) > DOUBLE_ROOT * start * push * _size(by_f, by_m):
        return LimitSlopes(centre, none, none, 0.0, 0.0, 0.0, none, 0.0), TOUCHES
    uses = used_friction(joint.friction, ring, normal_force, friction, torsion)
    spare = dot(normal, axis) - math.cos(socket) if socket < math.inf else 1.0
    slides, twists, rims = uses[0] > 1.0 - SAME_LOAD, uses[1] > 1.0 - SAME_LOAD, spare < SAME_LOAD
    two = (mode != SLIDING and slides) or (mode != TORSION and twists) or (mode != SOCKET and rims)
    share = 1.0 / rise
    by_radius = -(dot(by_m, m) + by_ring * ring) / radius
    slopes = LimitSlopes(
        centre, scaled(share, by_f), scaled(share / radius, by_m), share * size * by_mu, share * size * by_radius,
        share * size * by_ring / radius, scaled(share * size, by_axis), share * size * by_socket,
    )  # fmt: skip
    return slopes, TWO_MODES if two else SMOOTH


@inner
def _size(f, m):
    return math.sqrt(dot(f, f)) + math.sqrt(dot(m, m))


@inner
def _sliding_slopes(f, m, mu):
    """Of |f x m|^2 - mu^2 (f.m)^2 - mu^2/(1 + mu^2) |f|^4, by f, m and mu (theory 5.4)."""
    v, A, C, w = cross_product(f, m), dot(f, f), dot(f, m), mu * mu
    by_f = combined(2.0, cross_product(m, v), -2.0 * w * C, m, -4.0 * w / (1.0 + w) * A, f)
    by_m = mixed(2.0, cross_product(v, f), -2.0 * w * C, f)
    return by_f, by_m, -2.0 * mu * (C * C + A * A / ((1.0 + w) * (1.0 + w)))


@inner
def _torsion_slopes(f, m, k):
    """Of k |m|^2 + (1 - k^2) |f.m| - k |f|^2, by f, m and k: of the two polynomials the one that is zero."""
    side = 1.0 if dot(f, m) > 0.0 else -1.0
    h = side * (1.0 - k * k)
    by_f, by_m = mixed(h, m, -2.0 * k, f), mixed(2.0 * k, m, h, f)
    return by_f, by_m, dot(m, m) - 2.0 * k * side * dot(f, m) - dot(f, f)


@inner
def _rim_slopes(normal_force, torsion, normal, axis):
    """Of n . axis by f and m, where n is that of m = n x f + M_t n (theory 5.3).

    A change of n stays across n, and in that plane n x is a turn by 90 degrees: (M_t + F_N n x) lam = axis across n.
    """
    across = moved(axis, -dot(axis, normal), normal)
    square = torsion * torsion + normal_force * normal_force
    by_m = mixed(torsion / square, across, -normal_force / square, cross_product(normal, across))
    return cross_product(normal, by_m), by_m
