"""Derivatives of an answer by every number of its problem, from the factors of one solve (theory 10).

At an equilibrium R(q, p) = 0, an output y(q, p) has the derivative y_p - lambda . R_p with H^T lambda = y_q: one pass
through the factors of H for lambda, then one walk along the chain for all p together. lambda . R is the power of
all forces as the joints turn at the rates lambda, and the derivative of that power by a number of a joint, a link or a
cable needs no more than rigid bodies that turn: no second derivative is coded anywhere.

Outputs are linear in tip position and rotation, angles, cable lengths and tensions (`Seed`). Derivatives are written in
tables of the robot's own columns.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import added, combined, cross_product, dot, mixed, moved, read, scaled, write
from vertebra.mechanics.kernels.cables import across_mirror
from vertebra.mechanics.kernels.friction import LAST_ANGLE, MOST_GRIP, STRAIGHTEST, friction_at, grip_of_angle
from vertebra.mechanics.kernels.joints import (
    Vector,
    arc_centroid_derivatives,
    bend_rod,
    mirror_law,
    rod_direction,
)
from vertebra.mechanics.kernels.newton import inspect_pose, is_conservative
from vertebra.mechanics.kernels.spatial import in_world, rod_half, rod_half_change, row_of
from vertebra.mechanics.kernels.sweep import last_of_joint
from vertebra.mechanics.layout import (
    BLOCK_FRAME,
    BLOCK_ORIGIN,
    BLOCK_SHIFT,
    BLOCK_SPIN,
    GRIP_ARM,
    GRIP_IN,
    GRIP_OUT,
    GRIP_RATIO,
    GRIP_SLIP,
    HISTORY_DRAWN,
    HISTORY_SLIP,
    LAW_CURVE,
    LAW_LEVEL,
    LAW_PRESLIDING,
    LAW_SLOPE,
    LAW_SQUARE,
    SPAN_FIRST,
    STATE_AXIS,
    STATE_CENTRE,
    STATE_COS_HALF,
    STATE_HOLD,
    STATE_LINE,
    STATE_PIVOT,
    STATE_PLACE,
    STATE_SHARE,
    STATE_SHIFT,
    STATE_SIN_HALF,
    STATE_STOP,
    STATE_TIED,
    STATE_TIED_LOW,
    TURNING_AHEAD,
    TURNING_GAP,
    TURNING_LINK,
    TURNING_SHIFT,
    TURNING_SWEEP,
    TURNING_TURN,
    TURNING_TURN1,
    WEIGHT_IN,
    WEIGHT_OUT,
    WEIGHT_STRAIGHT,
    WIDE_CABLE_COLUMN,
    WIDE_L,
    WIDE_R,
    WIDE_U,
    WIDE_U_LOW,
    WIDE_V,
)
from vertebra.robot.tables import BACKBONE, FLEXURE, PIN, ROLLING, Floats, Table

NOTHING = (0.0, 0.0, 0.0)


class Seed(NamedTuple):
    """What is differentiated: the sum of these weights times what they stand for."""

    force: Vector
    """Of the tip's position."""
    moment: Vector
    """Of its rotation, as a vector in world axes."""
    angles: Floats
    """(freedoms,)"""
    lengths: Floats
    """(cables,) of whole cables."""
    tensions: Floats
    """(cables,) at the base."""
    slip: Floats
    """(cables, n) of the slip direction in each hole; no entries unless friction is remembered."""
    drawn: Floats
    """(cables, n) of the slip since the straight robot; likewise."""


class Gradient(NamedTuple):
    """Derivatives of an output by each number that a problem of statics is made of, in tables of the same columns as
    those of the robot; that by the direction of a joint's axis in the column `azimuth`.

    What belongs to friction, or to cables of given length, is empty where there is none.
    """

    joints: Table
    """(n,)"""
    links: Table
    """(n + 1,), each with the masses that it carries."""
    cables: Table
    segments: Table
    """(cables, n)"""
    gravity: Floats
    """(3,)"""
    loads: Table
    """In the order of the problem's table."""
    tip_point: Floats
    """(3,)"""
    origin: Floats
    """(3,)"""
    tensions: Floats
    """(cables,), at the base."""
    rest: Floats
    """(cables,) lengths without tension."""
    rate: Floats
    """(cables,) tension per stretch."""
    laws: Floats
    """(cables, LAW_WIDTH) of the friction laws."""
    curves: Floats
    """(curves, knots, 2)"""
    history: Floats
    """(HISTORY_PLANES, cables, n) of the slip before this pose."""


class Moving(NamedTuple):
    """A link that moves: axes and origin in the world, how fast it turns and how fast its origin goes."""

    x: Vector
    y: Vector
    z: Vector
    origin: Vector
    spin: Vector
    speed: Vector
    z_rate: Vector
    sweep: Vector
    """Rate of z x origin: a turn about the link's axis takes p to p + z x p - z x origin."""
    swing: float
    """How the output changes as the tip turns with it."""


@inner
def moving_link(x, y, z, origin, spin, speed, tip, seed):
    z_rate = cross_product(spin, z)
    sweep = added(cross_product(z_rate, origin), cross_product(z, speed))
    swing = dot(seed.force, cross_product(z, moved(tip, -1.0, origin))) + dot(seed.moment, z)
    return Moving(x, y, z, origin, spin, speed, z_rate, sweep, swing)


@inner
def velocity_of(link, place):
    """Of a point of a link (world)."""
    return added(link.speed, cross_product(link.spin, moved(place, -1.0, link.origin)))


# lambda.


@inner
def output_slopes(joints, cables, segments, friction, spatial, by_length, seed, tip, q, state, wide, right):
    """y_q, into `right` (freedoms,). With a cable's length, l'; with its tension, what the sweep knows of that."""
    c = cables.shape[0]
    for row in range(state.shape[0]):
        a = read(state, row, STATE_AXIS)
        go = cross_product(a, moved(tip, -1.0, read(state, row, STATE_CENTRE)))
        if spatial is not None:
            go = added(go, read(state, row, STATE_SHIFT))
        right[row] = dot(seed.force, go) + dot(seed.moment, a) + seed.angles[row]
    for k in range(c):
        weight = seed.lengths[k]
        if weight != 0.0:
            for j in range(cables[k].last_link):
                first = row_of(joints, j, spatial)
                for i in range(joints[j].freedoms):
                    right[first + i] += weight * draw_of(joints, segments, spatial, q, state, k, j, i)
        if by_length and seed.tensions[k] != 0.0:
            column = stretch_column(friction, c, k)
            for row in range(state.shape[0]):
                right[row] += seed.tensions[k] * wide[WIDE_V, row, column]
    if friction is not None and seed.drawn.shape[0] > 0:
        for k in range(c):
            weight = 0.0
            for j in range(cables[k].last_link):
                # Disc j sees all segments from j on.
                weight += seed.drawn[k, j] + slip_weight(friction, seed, k, j) / friction.laws[k, LAW_PRESLIDING]
                first = row_of(joints, j, spatial)
                for i in range(joints[j].freedoms):
                    right[first + i] += weight * draw_of(joints, segments, spatial, q, state, k, j, i)


@inner
def stretch_column(friction, c, k):
    """Where the sweep has the tension of a cable of given length per turn of the joints."""
    return WIDE_CABLE_COLUMN + c - 1 - k + (0 if friction is None else c)


@inner
def is_taut(friction, c, k, tension, wide):
    """Whether the sweep lets a cable of given length resist: one that is just taut does."""
    taut, column = tension > 0.0, stretch_column(friction, c, k)
    for row in range(wide.shape[1]):
        taut = taut or wide[WIDE_V, row, column] != 0.0
    return taut


@inner
def slip_weight(friction, seed, k, j):
    """Weight of the slip direction where the cable sticks; where it slips, that is constant."""
    return seed.slip[k, j] if abs(friction.grip[GRIP_SLIP, k, j]) < 1.0 else 0.0


@inner
def draw_of(joints, segments, spatial, q, state, k, j, i):
    """l' of a segment with freedom i of its joint, m/rad."""
    if spatial is not None and joints[j].freedoms > 1:
        return spatial.spans[k, j, SPAN_FIRST + i]
    row = row_of(joints, j, spatial)
    sin_half, cos_half = state[row, STATE_SIN_HALF], state[row, STATE_COS_HALF]
    s, s1, s2 = mirror_law(joints[j].kind, joints[j].size, q[row], sin_half, cos_half)
    segment = segments[k, j]
    return across_mirror(1.0, s + segment.recess, s1, s2, segment.offset, sin_half, cos_half)[1]


@inner
def solve_narrow(state, spatial, right, lam):
    """H lam = right by the factors of the narrow sweep, whose H is symmetric. `right` receives pivot times lam: at a
    rigid stop, where the pivot is endless, what presses against it."""
    carried = NOTHING
    for j in range(state.shape[0] - 1, -1, -1):
        kappa = right[j] + dot(read(state, j, STATE_AXIS), carried)
        if spatial is not None:
            kappa -= tied_beyond(state, j, STATE_TIED, right)
        right[j] = kappa
        carried = moved(carried, -kappa, scaled(state[j, STATE_SHARE], read(state, j, STATE_LINE)))
    carried = NOTHING
    for j in range(state.shape[0]):
        rest = right[j] - dot(read(state, j, STATE_LINE), carried)
        if spatial is not None:
            rest -= tied_before(state, j, lam)
        right[j], lam[j] = rest, rest * state[j, STATE_SHARE]
        carried = moved(carried, lam[j], read(state, j, STATE_AXIS))


@inner
def solve_wide(state, spatial, wide, right, carried, lam):
    """`solve_narrow` of H^T by the factors of the wide sweep. `carried`: (2, columns) scratch."""
    d = wide.shape[2]
    for i in range(d):
        carried[0, i] = carried[1, i] = 0.0
    for j in range(state.shape[0] - 1, -1, -1):
        kappa = right[j]
        for i in range(d):
            kappa += wide[WIDE_U_LOW, j, i] * carried[0, i]
        if spatial is not None:
            kappa -= tied_beyond(state, j, STATE_TIED_LOW, right)
        right[j] = kappa
        share = kappa / state[j, STATE_PIVOT]
        for i in range(d):
            carried[0, i] -= wide[WIDE_L, j, i] * share
    for j in range(state.shape[0]):
        rest = right[j]
        for i in range(d):
            rest -= wide[WIDE_R, j, i] * carried[1, i]
        if spatial is not None:
            rest -= tied_before(state, j, lam)
        right[j], lam[j] = rest, rest / state[j, STATE_PIVOT]
        for i in range(d):
            carried[1, i] += wide[WIDE_U, j, i] * lam[j]


@inner
def tied_beyond(state, row, column, right):
    """What the later freedoms of its joint take from the right side of a row."""
    total, place = 0.0, int(state[row, STATE_PLACE])
    for i in range(row + 1, last_of_joint(state, row) + 1):
        total += state[i, column + place] / state[i, STATE_PIVOT] * right[i]
    return total


@inner
def tied_before(state, row, lam):
    """The same of the earlier freedoms, which are known."""
    total, place = 0.0, int(state[row, STATE_PLACE])
    for k in range(place):
        total += state[row, STATE_TIED + k] * lam[row - place + k]
    return total


# Cables: weights of lengths, of gaps and of the friction in each hole, in y - lambda . R.


@inner
def weigh_cables(
    joints, cables, segments, rest, rate, friction, spatial, tensions, seed, q, state, wide, lam, weights, by
):
    """Write `weights` (planes, cables, n), and all derivatives that no place along the chain is needed for."""
    by_length = rest.shape[0] > 0
    for k in range(cables.shape[0]):
        last = cables[k].last_link
        whole = seed.lengths[k]
        if friction is not None or by_length:
            turned, ratios = 0.0, 0.0
            for j in range(last):
                ratio = 1.0 if friction is None else friction.grip[GRIP_RATIO, k, j]
                turned += ratio * rate_of(joints, segments, friction, spatial, q, state, lam, k, j)
                ratios += ratio
            left, mean = seed.tensions[k] - turned, ratios / last
            if by_length:
                # T = rate (l - rest) / mean where taut.
                stiff = rate[k] / mean if is_taut(friction, cables.shape[0], k, tensions[k], wide) else 0.0
                whole += stiff * left
                by.rest[k] = -stiff * left
                by.rate[k] = tensions[k] / rate[k] * left
            else:
                by.tensions[k] = left
            if friction is not None:
                per_ratio = -tensions[k] * left / (mean * last) if by_length else 0.0
                weigh_friction(
                    joints, cables[k], segments, friction, spatial, tensions[k], per_ratio, seed, q, state, lam, k,
                    weights, by,
                )  # fmt: skip
        else:
            by.tensions[k] = seed.tensions[k]  # the rest is added where the segments are
        by.cables[k].inside = whole


@inner
def clear_sums(friction, by):
    """Of what is added to along the chain; all else is written once."""
    for j in range(by.joints.shape[0]):
        by.joints[j].limit = 0.0
    for k in range(by.cables.shape[0]):
        row = by.cables[k]
        row.x = row.y = row.linear_density = 0.0
        if friction is not None:
            for i in range(by.laws.shape[1]):
                by.laws[k, i] = 0.0
    if friction is not None:
        for i in range(by.curves.shape[0]):
            for knot in range(by.curves.shape[1]):
                by.curves[i, knot, 0] = by.curves[i, knot, 1] = 0.0


@inner
def rate_of(joints, segments, friction, spatial, q, state, lam, k, j):
    """Power of the tension of a segment as the joints turn at the rates lam, W/N: how fast it lengthens, unless
    torques are balanced at the discs."""
    first, speed = row_of(joints, j, spatial), 0.0
    for i in range(joints[j].freedoms):
        if friction is not None:
            speed += friction.grip[GRIP_ARM, k, first + i] * lam[first + i]
        else:
            speed += draw_of(joints, segments, spatial, q, state, k, j, i) * lam[first + i]
    return speed


@inner
def weigh_friction(joints, cable, segments, friction, spatial, tension, per_ratio, seed, q, state, lam, k, weights, by):
    """From the end of cable k to its base: what log F of each hole weighs beyond it, hence what s, u and the law weigh.

    log F_j = sum over i <= j of log(1 + s_i u_before_i) - log(1 - s_i u_i) (theory 4.1).
    """
    grip, laws, history = friction.grip, friction.laws, friction.history
    beyond, per = 0.0, 1.0 / laws[k, LAW_PRESLIDING]
    remembered = seed.drawn.shape[0] > 0
    for j in range(cable.last_link):
        weights[WEIGHT_OUT, k, j] = weights[WEIGHT_IN, k, j] = 0.0
    for j in range(cable.last_link - 1, -1, -1):
        speed = rate_of(joints, segments, friction, spatial, q, state, lam, k, j)
        beyond += (per_ratio - tension * speed) * grip[GRIP_RATIO, k, j]
        s, before, u = grip[GRIP_SLIP, k, j], 0.0, grip_before(joints, friction, spatial, q, state, k, j, True)
        if j > 0:
            before = grip_before(joints, friction, spatial, q, state, k, j - 1, False)
            weights[WEIGHT_IN, k, j - 1] += beyond * s / (1.0 + s * before)
        weights[WEIGHT_OUT, k, j] += beyond * s / (1.0 - s * u)
        by_slip = by_drawn = 0.0
        if -1.0 < s < 1.0:
            by_slip = beyond * (before / (1.0 + s * before) + u / (1.0 - s * u))
            if remembered:
                by_slip += seed.slip[k, j]
        if remembered:
            by_drawn = seed.drawn[k, j]
        by.history[HISTORY_SLIP, k, j], by.history[HISTORY_DRAWN, k, j] = by_slip, -by_slip * per
        by.laws[k, LAW_PRESLIDING] -= by_slip * (s - history[HISTORY_SLIP, k, j]) * per
        # For now: what D_j itself weighs.
        weights[WEIGHT_STRAIGHT, k, j] = -(by_slip * per + by_drawn)
    for j in range(cable.last_link):
        if j > 0:
            weights[WEIGHT_STRAIGHT, k, j] += weights[WEIGHT_STRAIGHT, k, j - 1]
        if spatial is None or joints[j].freedoms == 1:
            row, weight = row_of(joints, j, spatial), weights[WEIGHT_OUT, k, j] + weights[WEIGHT_IN, k, j]
            theta, sine = abs(0.5 * q[row]), abs(state[row, STATE_SIN_HALF])
            differentiate_law(laws, friction.curves, k, theta, sine, weight, by)


@inner
def grip_before(joints, friction, spatial, q, state, k, j, leaving):
    """u of cable k where it leaves the link before joint j, or where it enters the one beyond."""
    if spatial is not None and joints[j].freedoms > 1:
        return friction.grip[GRIP_OUT, k, j] if leaving else friction.grip[GRIP_IN, k, j]
    row = row_of(joints, j, spatial)
    mu, _ = friction_at(friction.laws, friction.curves, k, abs(0.5 * q[row]))
    return min(mu * abs(state[row, STATE_SIN_HALF]), MOST_GRIP)


@inner
def differentiate_law(laws, curves, k, theta, sine, weight, by):
    """What u = mu(theta) sin(theta) adds to the derivatives by the law of cable k, where u weighs this much."""
    mu, _ = friction_at(laws, curves, k, theta)
    per_mu, which = weight * sine, int(laws[k, LAW_CURVE])
    if mu * sine >= MOST_GRIP:
        return
    if which < 0:
        # A law that is zero grows from there; one that would be below zero is cut off.
        if (laws[k, LAW_SQUARE] * theta + laws[k, LAW_SLOPE]) * theta + laws[k, LAW_LEVEL] >= 0.0:
            by.laws[k, LAW_SQUARE] += per_mu * theta * theta
            by.laws[k, LAW_SLOPE] += per_mu * theta
            by.laws[k, LAW_LEVEL] += per_mu
        return
    if mu <= 0.0:
        return
    step = LAST_ANGLE / (curves.shape[1] - 1)
    i = min(int(theta / step), curves.shape[1] - 2)
    t = theta / step - i
    by.curves[which, i, 0] += per_mu * (1.0 + t * t * (2.0 * t - 3.0))
    by.curves[which, i + 1, 0] += per_mu * t * t * (3.0 - 2.0 * t)
    by.curves[which, i, 1] += per_mu * step * t * (1.0 + t * (t - 2.0))
    by.curves[which, i + 1, 1] += per_mu * step * t * t * (t - 1.0)


# The walk along the chain.


@inner
def walk_along(
    joints, links, cables, segments, gravity, loads, heavy_gaps, friction, spatial, tensions, tip, origin, seed, q,
    state, lam, weights, turning, by,
):  # fmt: skip
    """From base to tip: all that is local to a joint, a link or a segment; what acts on each link into `turning`."""
    g = (gravity[0], gravity[1], gravity[2])
    pulled = NOTHING
    upcoming = 0
    start = (origin[0], origin[1], origin[2])
    link = moving_link((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), start, NOTHING, NOTHING, tip, seed)
    while upcoming < loads.shape[0] and loads[upcoming].link == 0:
        upcoming += 1
    for j in range(joints.shape[0]):
        if heavy_gaps:
            for i in range(9):
                turning[j, TURNING_GAP + i] = 0.0
        if spatial is not None and joints[j].freedoms > 1:
            link, gap = pass_spatial(
                joints, links, cables, segments, friction, spatial, tensions, g, seed, tip, j, q, lam, link, weights,
                turning, by,
            )  # fmt: skip
        else:
            link, gap = pass_mirror(
                joints, links, cables, segments, friction, spatial, tensions, g, seed, tip, j, q, state, lam, link,
                weights, turning, by,
            )  # fmt: skip
        pulled = added(pulled, gap)
        body = links[j + 1]
        com, mass = body.center_of_mass, body.mass
        place = moved(link.origin, 1.0, combined(com[0], link.x, com[1], link.y, com[2], link.z))
        force, flow = scaled(mass, g), velocity_of(link, place)
        write(turning, j, TURNING_LINK, force)
        write(turning, j, TURNING_LINK + 3, cross_product(place, force))
        write(turning, j, TURNING_LINK + 6, cross_product(flow, force))
        pulled = moved(pulled, mass, flow)
        by.links[j + 1].mass = dot(g, flow)
        moving = by.links[j + 1].center_of_mass
        moving[0], moving[1], moving[2] = carried_by(link, force)
        for k in range(cables.shape[0]):
            if cables[k].last_link == j + 1:
                cable = cables[k]
                place = moved(link.origin, 1.0, combined(cable.x, link.x, cable.y, link.y, cable.end, link.z))
                force, flow = scaled(cable.lock_mass, g), velocity_of(link, place)
                lump(turning, j, TURNING_LINK, place, flow, force)
                pulled = moved(pulled, cable.lock_mass, flow)
                across, along, ahead = carried_by(link, force)
                by.cables[k].lock_mass = dot(g, flow)
                by.cables[k].x += across
                by.cables[k].y += along
                by.cables[k].end = ahead
        while upcoming < loads.shape[0] and loads[upcoming].link == j + 1:
            load = loads[upcoming]
            at, f, m = load.point, load.force, load.moment
            place = moved(link.origin, 1.0, combined(at[0], link.x, at[1], link.y, at[2], link.z))
            force, flow = (f[0], f[1], f[2]), velocity_of(link, place)
            lump(turning, j, TURNING_LINK, place, flow, force)
            moment = (m[0], m[1], m[2])
            write(turning, j, TURNING_LINK + 3, added(read(turning, j, TURNING_LINK + 3), moment))
            twisted = cross_product(link.spin, moment)
            write(turning, j, TURNING_LINK + 6, added(read(turning, j, TURNING_LINK + 6), twisted))
            row = by.loads[upcoming]
            by_force, by_moment, by_point = row.force, row.moment, row.point
            for i in range(3):
                by_force[i], by_moment[i] = flow[i], link.spin[i]
            by_point[0], by_point[1], by_point[2] = carried_by(link, force)
            upcoming += 1
    for i in range(3):
        by.gravity[i] = pulled[i]
        by.origin[i] = seed.force[i]
    at_tip = by.tip_point
    at_tip[0], at_tip[1], at_tip[2] = dot(seed.force, link.x), dot(seed.force, link.y), dot(seed.force, link.z)


@inner
def carried_by(link, force):
    """force . d/dt of each axis of a link that turns."""
    turned = cross_product(force, link.spin)
    return dot(turned, link.x), dot(turned, link.y), dot(turned, link.z)


@inner
def lump(turning, j, column, place, flow, force):
    """Add a force at a moving place: itself, its moment about the world's origin, and the rate of that."""
    write(turning, j, column, added(read(turning, j, column), force))
    write(turning, j, column + 3, added(read(turning, j, column + 3), cross_product(place, force)))
    write(turning, j, column + 6, added(read(turning, j, column + 6), cross_product(flow, force)))


@inner
def weight_of(friction, weights, plane, k, j):
    """What friction makes of the weight of a segment."""
    if friction is None:
        return 0.0
    return weights[plane, k, j]


@inner
def length_weight(friction, weights, by, k, j):
    """Weight of the length of a segment: that of the whole cable, and what slips past the holes before it."""
    return by.cables[k].inside - weight_of(friction, weights, WEIGHT_STRAIGHT, k, j)


@inner
def tension_in(friction, tensions, k, j):
    if friction is None:
        return tensions[k]
    return tensions[k] * friction.grip[GRIP_RATIO, k, j]


@inner
def pass_mirror(
    joints, links, cables, segments, friction, spatial, tensions, g, seed, tip, j, q, state, lam, link, weights,
    turning, by,
):  # fmt: skip
    """Across a joint with one freedom (theory 2.1): the link beyond it, and the momentum of what is in the gap.

    Where torques are balanced at the discs, all beyond the joint and in its gap turns as one about the centre of the
    disc before it (`balance_at_discs`).
    """
    joint, row, reach = joints[j], row_of(joints, j, spatial), links[j].reach
    at_discs = False if friction is None else friction.at_discs
    per_reach = 1.0 if j == 0 else 0.5  # of the way from the centre of the disc to its face
    angle, rate, ax, ay = q[row], lam[row], joint.axis_x, joint.axis_y
    sin_half, cos_half = state[row, STATE_SIN_HALF], state[row, STATE_COS_HALF]
    per, per1, _ = mirror_law(joint.kind, 1.0, angle, sin_half, cos_half)  # s is linear in the size
    s, s1 = joint.size * per, joint.size * per1
    x, y, z, origin, spin, speed, z_rate, sweep, swing = link
    a, b = mixed(ax, x, ay, y), mixed(ay, x, -ax, y)
    a_rate, b_rate = cross_product(spin, a), cross_product(spin, b)
    crossing, arm = moved(origin, reach + s, z), per_reach * reach + s
    # `within`: rate of the gap's own motion; how z goes on where what it carries turns about the disc.
    within, z_beyond, z_reach = rate, z_rate, z_rate
    crossing_rate = moved(speed, reach + s, z_rate)
    if at_discs:
        within, z_beyond, z_reach = 0.0, moved(z_rate, rate, b), moved(z_rate, per_reach * rate, b)
        crossing_rate = moved(crossing_rate, arm * rate, b)
    crossing_rate = moved(crossing_rate, s1 * within, z)
    sin_q, versine = 2.0 * sin_half * cos_half, 2.0 * sin_half * sin_half
    change = mixed(-versine, b, -sin_q, z)
    new_z, new_spin = combined(1.0, z, sin_q, b, -versine, z), moved(spin, rate, a)
    new_z_rate = cross_product(new_spin, new_z)
    new_origin = moved(crossing, s, new_z)
    new_speed = combined(1.0, crossing_rate, s, new_z_rate, s1 * within, new_z)
    new_x, new_y = moved(x, ay, change), moved(y, -ax, change)
    beyond = moving_link(new_x, new_y, new_z, new_origin, new_spin, new_speed, tip, seed)

    both, both_rate = added(z, new_z), added(z_beyond, new_z_rate)
    write(turning, j, TURNING_AHEAD, z_reach)
    write(turning, j, TURNING_SHIFT, mixed(per1 * within, both, per, both_rate))
    # All beyond turns with the azimuth about the axis of the link before, and back about that of the link beyond.
    write(turning, j, TURNING_TURN, moved(z, -1.0, new_z))
    write(turning, j, TURNING_TURN1, moved(z_rate, -1.0, new_z_rate))
    write(turning, j, TURNING_SWEEP, moved(beyond.sweep, -1.0, sweep))
    by_azimuth = swing - beyond.swing
    by_size, by_reach = per * dot(seed.force, both), dot(seed.force, z)

    tangent = mixed(cos_half, b, -sin_half, z)
    tangent_rate = cross_product(moved(spin, rate - 0.5 * within, a), tangent)
    along, along_rate = dot(g, tangent), dot(g, tangent_rate)
    ahead_rate, reach_rate, turned = dot(g, z_beyond), dot(g, z_reach), dot(g, a_rate)
    # A cable in the gap is at P + u t + y a (theory 4.6): it falls at a speed that is linear in where its hole is.
    falling = dot(g, crossing_rate) + s1 * sin_half * within * along
    per_offset = cos_half * along_rate - 0.5 * sin_half * within * along
    per_height = sin_half * along_rate + 0.5 * cos_half * within * along
    pulled, pull, weigh, straight = NOTHING, 0.0, 0.0, 0.0
    for k in range(cables.shape[0]):
        cable = cables[k]
        if j >= cable.last_link:
            continue
        e, height = segments[k, j].offset, s + segments[k, j].recess
        force, weight = tension_in(friction, tensions, k, j), length_weight(friction, weights, by, k, j)
        gap, density = weight_of(friction, weights, WEIGHT_STRAIGHT, k, j), cable.linear_density
        length, length1, _ = across_mirror(1.0, height, s1, 0.0, e, sin_half, cos_half)
        aside = cable.x * ax + cable.y * ay
        fall = falling + per_offset * e + per_height * height + aside * turned
        by.cables[k].linear_density += length * fall
        by_offset = by_recess = 0.0
        if density > 0.0:
            u, u1 = e * cos_half + height * sin_half, s1 * sin_half + 0.25 * length
            mass = density * length
            weight += density * fall
            by_offset, by_recess = mass * per_offset, mass * per_height
            by_size += mass * (per1 * within * (dot(g, z) + sin_half * along) + per * ahead_rate) + per * by_recess
            by_reach += mass * reach_rate
            by.cables[k].x += mass * ax * turned
            by.cables[k].y += mass * ay * turned
            swung = arm - u * sin_half if at_discs else u1 * cos_half - 0.5 * u * sin_half
            by_azimuth += mass * swung * rate * dot(g, a)
            by_azimuth += mass * ((u * cos_half - e) * turned - aside * dot(g, b_rate))
            flow = moved(combined(1.0, crossing_rate, u1 * within, tangent, u, tangent_rate), aside, a_rate)
            lump(turning, j, TURNING_GAP, combined(1.0, crossing, u, tangent, aside, a), flow, scaled(mass, g))
            pulled = moved(pulled, mass, flow)
        by.segments[k, j].offset = by_offset - 2.0 * sin_half * weight + force * cos_half * rate
        by.segments[k, j].recess = by_recess + 2.0 * (cos_half * weight + gap) + force * sin_half * rate
        by_given(friction, by, k, length1 * rate)
        pull, weigh, straight = pull + force, weigh + weight, straight + gap
    by_size += 2.0 * per * cos_half * weigh - within * pull * (2.0 * per1 * cos_half - per * sin_half)
    if at_discs:
        by_reach -= rate * pull * per_reach * sin_half
    by_size += straight * (0.0 if joint.kind == ROLLING else 1.0 if joint.kind == FLEXURE else 2.0)

    if joint.kind == FLEXURE:
        f, f1, _ = arc_centroid_derivatives(0.5 * angle, sin_half, cos_half)
        u, u1, mass = joint.size * f, 0.5 * joint.size * f1, joint.mass
        flow = combined(1.0, crossing_rate, u1 * within, tangent, u, tangent_rate)
        by.joints[j].mass = dot(g, flow)
        moving = combined(per1 * within, z, per, z_beyond, 0.5 * f1 * within, tangent)
        by_size += mass * dot(g, moved(moving, f, tangent_rate))
        by_reach += mass * reach_rate
        swung = arm - u * sin_half if at_discs else u1 * cos_half - 0.5 * u * sin_half
        by_azimuth += mass * dot(g, mixed(swung * rate, a, u * cos_half, a_rate))
        if mass > 0.0:
            lump(turning, j, TURNING_GAP, moved(crossing, u, tangent), flow, scaled(mass, g))
            pulled = moved(pulled, mass, flow)
    row_of_joint = by.joints[j]
    row_of_joint.size, row_of_joint.azimuth, by.links[j].reach = by_size, by_azimuth, by_reach
    row_of_joint.stiffness = -angle * rate
    return beyond, pulled


@inner
def by_given(friction, by, k, speed):
    """What a segment adds to the derivative by a given tension; with friction, or given lengths, `weigh_cables` did."""
    if friction is None and by.rest.shape[0] == 0:
        by.tensions[k] -= speed


@inner
def pass_spatial(
    joints, links, cables, segments, friction, spatial, tensions, g, seed, tip, j, q, lam, link, weights, turning, by
):
    """`pass_mirror` for a joint with several freedoms, where all is told by the two ends of a straight cable."""
    joint, blocks, reach = joints[j], spatial.blocks, links[j].reach
    x, y, z, origin, spin, speed, z_rate, _, _ = link
    new_x = in_world(read(blocks, j, BLOCK_FRAME), x, y, z)
    new_y = in_world(read(blocks, j, BLOCK_FRAME + 3), x, y, z)
    new_z = in_world(read(blocks, j, BLOCK_FRAME + 6), x, y, z)
    way = in_world(read(blocks, j, BLOCK_ORIGIN), x, y, z)
    new_spin, new_speed = spin, added(speed, cross_product(spin, way))
    by_stiffness = 0.0
    for i in range(joint.freedoms):
        rate = lam[joint.first + i]
        new_spin = moved(new_spin, rate, in_world(read(blocks, j, BLOCK_SPIN + 3 * i), x, y, z))
        new_speed = moved(new_speed, rate, in_world(read(blocks, j, BLOCK_SHIFT + 3 * i), x, y, z))
        if i < 2:
            by_stiffness -= q[joint.first + i] * rate
        else:
            by.joints[j].torsion = -q[joint.first + i] * rate
    by.joints[j].stiffness = by_stiffness
    beyond = moving_link(new_x, new_y, new_z, added(origin, way), new_spin, new_speed, tip, seed)
    shift, shift_rate = z, z_rate
    rod = bend_rod(joint, reach, q)
    if joint.kind == BACKBONE:
        per, per_rate = rod.height[0] / joint.size, 0.0
        for i in range(2):
            per_rate += 2.0 * rod.height[1] * dot(rod.w, rod_direction(i)) * lam[joint.first + i] / joint.size
        shift = scaled(per, added(z, new_z))
        shift_rate = mixed(per_rate, added(z, new_z), per, added(z_rate, beyond.z_rate))
    write(turning, j, TURNING_AHEAD, z_rate)
    write(turning, j, TURNING_SHIFT, shift_rate)

    # Sums over the cables of what a shift of their far ends, and the rate of that shift, weigh.
    pulled, still, moving, straight = NOTHING, NOTHING, NOTHING, 0.0
    for k in range(cables.shape[0]):
        cable = cables[k]
        if j >= cable.last_link:
            continue
        near = added(origin, combined(cable.x, x, cable.y, y, segments[k, j].exit, z))
        far = added(beyond.origin, combined(cable.x, new_x, cable.y, new_y, segments[k, j].entry, new_z))
        line, near_flow, far_flow = moved(far, -1.0, near), velocity_of(link, near), velocity_of(beyond, far)
        length = math.sqrt(dot(line, line))
        if joint.kind == BACKBONE and dot(line, added(z, new_z)) < 0.0:
            length = -length
        share = 1.0 / length if length != 0.0 else 0.0
        u, apart = scaled(share, line), moved(far_flow, -1.0, near_flow)
        speeding = dot(u, apart)
        u_rate = scaled(share, moved(apart, -speeding, u))
        force, weight = tension_in(friction, tensions, k, j), length_weight(friction, weights, by, k, j)
        half = NOTHING
        if length > 0.0:
            flow = mixed(0.5, near_flow, 0.5, far_flow)
            fall, mass = dot(g, flow), cable.linear_density * length
            weight += cable.linear_density * fall
            by.cables[k].linear_density += length * fall
            if mass > 0.0:
                lump(turning, j, TURNING_GAP, mixed(0.5, near, 0.5, far), flow, scaled(mass, g))
                pulled, half = moved(pulled, mass, flow), scaled(0.5 * mass, g)
        place = mixed(weight, u, -force, u_rate)
        if friction is not None:
            bent = differentiate_grip(friction, k, u, x, y, z, weights[WEIGHT_OUT, k, j], by)
            bent = added(bent, differentiate_grip(friction, k, u, new_x, new_y, new_z, weights[WEIGHT_IN, k, j], by))
            place = moved(place, share, moved(bent, -dot(u, bent), u))
        far_pull, near_pull = moved(half, -force, u), moved(half, force, u)
        far_x, far_y, far_z = carried_by(beyond, far_pull)
        near_x, near_y, near_z = carried_by(link, near_pull)
        gap = weight_of(friction, weights, WEIGHT_STRAIGHT, k, j)
        by.cables[k].x += dot(place, moved(new_x, -1.0, x)) + far_x + near_x
        by.cables[k].y += dot(place, moved(new_y, -1.0, y)) + far_y + near_y
        by.segments[k, j].entry = dot(place, new_z) + far_z + gap
        by.segments[k, j].exit = near_z - dot(place, z) - gap
        by_given(friction, by, k, speeding)
        still, moving, straight = added(still, place), added(moving, far_pull), straight + gap
    by_size = dot(added(seed.force, still), shift) + dot(moving, shift_rate) + straight
    by_reach = dot(added(seed.force, still), z) + dot(moving, z_rate) + straight

    if joint.kind == BACKBONE:
        # The rod: half of its mass is seen from either link alike, at c and c' (`rod_half`).
        c, c1 = rod_half(rod, joint.size, reach)
        near_rate, far_rate = NOTHING, NOTHING
        for i in range(2):
            near_i, far_i = rod_half_change(rod, joint.size, i)
            near_rate, far_rate = (
                moved(near_rate, lam[joint.first + i], near_i),
                moved(far_rate, lam[joint.first + i], far_i),
            )
        arm, far_arm = in_world(c, x, y, z), in_world(c1, new_x, new_y, new_z)
        arm_rate, far_arm_rate = in_world(near_rate, x, y, z), in_world(far_rate, new_x, new_y, new_z)
        near, far = added(origin, arm), added(beyond.origin, far_arm)
        near_flow, far_flow = added(velocity_of(link, near), arm_rate), added(velocity_of(beyond, far), far_arm_rate)
        flow = mixed(0.5, near_flow, 0.5, far_flow)
        by.joints[j].mass = dot(g, flow)
        mass = joint.mass
        # Both arms are linear in the size, but for the reach.
        arm = moved(arm, -reach, z)
        own = added(cross_product(spin, arm), arm_rate)
        own = added(own, added(cross_product(new_spin, far_arm), far_arm_rate))
        by_size += mass * dot(g, mixed(0.5 / joint.size, own, 0.5, shift_rate))
        by_reach += mass * dot(g, z_rate)
        if mass > 0.0:
            lump(turning, j, TURNING_GAP, mixed(0.5, near, 0.5, far), flow, scaled(mass, g))
            pulled = moved(pulled, mass, flow)
    by.joints[j].size, by.links[j].reach = by_size, by_reach
    return beyond, pulled


@inner
def differentiate_grip(friction, k, u, x, y, z, weight, by):
    """What a change of the direction u of a cable weighs where it meets a channel along z, through the friction there;
    and the derivatives by the law."""
    v = (dot(u, x), dot(u, y), dot(u, z))
    _, slope, _ = grip_of_angle(friction.laws, friction.curves, k, v)
    sine = math.sqrt(v[0] * v[0] + v[1] * v[1])
    if sine >= STRAIGHTEST:
        differentiate_law(friction.laws, friction.curves, k, math.atan2(sine, v[2]), sine, weight, by)
    return mixed(weight * slope * v[0], x, weight * slope * v[1], y)


@inner
def gather_beyond(joints, heavy_gaps, turning, by):
    """From tip to base: what the shift or turn of all beyond a joint does to the forces there."""
    force = moment = change = NOTHING
    for j in range(joints.shape[0] - 1, -1, -1):
        force = added(force, read(turning, j, TURNING_LINK))
        moment = added(moment, read(turning, j, TURNING_LINK + 3))
        change = added(change, read(turning, j, TURNING_LINK + 6))
        by.joints[j].size += dot(force, read(turning, j, TURNING_SHIFT))
        by.links[j].reach += dot(force, read(turning, j, TURNING_AHEAD))
        if joints[j].kind <= PIN:
            turned = dot(read(turning, j, TURNING_TURN1), moment) + dot(read(turning, j, TURNING_TURN), change)
            by.joints[j].azimuth += turned + dot(read(turning, j, TURNING_SWEEP), force)
        if heavy_gaps:
            force = added(force, read(turning, j, TURNING_GAP))
            moment = added(moment, read(turning, j, TURNING_GAP + 3))
            change = added(change, read(turning, j, TURNING_GAP + 6))


# Rigid stops: lambda stands still there, and what presses is the derivative by the limit.


@inner
def find_rates(joints, cables, segments, friction, spatial, by_length, narrow, seed, tip, q, state, wide, memory,
               right, lam, by):  # fmt: skip
    """lambda, and the derivatives by the limits of joints that rest on their stops.

    The stop of a backbone is a stiff spring to the sweep: a second solve, without what presses on it by the first,
    leaves nothing of its give.
    """
    for _ in range(2):
        output_slopes(joints, cables, segments, friction, spatial, by_length, seed, tip, q, state, wide, right)
        held = spatial is not None and press_bends(joints, q, state, right, lam, by, False)
        if narrow:
            solve_narrow(state, spatial, right, lam)
        else:
            solve_wide(state, spatial, wide, right, memory, lam)
        if not held:
            break
        press_bends(joints, q, state, right, lam, by, True)
    for j in range(joints.shape[0]):
        if joints[j].stops == 1 and joints[j].kind != BACKBONE:
            for row in range(joints[j].first, joints[j].first + joints[j].freedoms):
                if state[row, STATE_STOP] != 0.0:
                    by.joints[j].limit += math.copysign(1.0, q[row]) * right[row]


@inner
def press_bends(joints, q, state, right, lam, by, found):
    """Of backbones on their stops: take what presses from the right side, or add what was found since. Returns whether
    there are any."""
    held = False
    for j in range(joints.shape[0]):
        first, second = joints[j].first, joints[j].first + 1
        if joints[j].stops == 0 or joints[j].kind != BACKBONE:
            continue
        if state[first, STATE_STOP] == 0.0 and state[second, STATE_STOP] == 0.0:
            continue
        bend = math.sqrt(q[first] * q[first] + q[second] * q[second])
        x, y = q[first] / bend, q[second] / bend
        held = True
        if found:
            by.joints[j].limit += state[first, STATE_HOLD] * (x * lam[first] + y * lam[second])
        else:
            right[first] -= by.joints[j].limit * x
            right[second] -= by.joints[j].limit * y
    return held


@kernel
def differentiate_poses(
    joints, links, cables, segments, gravity, loads, tensions, rest, rate, friction, first, last, given, q, state,
    load_at, wide, memory, report, spatial, origin, tip, seed_tip, seed_angles, seed_lengths, seed_tensions, seed_slip,
    seed_drawn, lam, right, weights, turning, by_joints, by_links, by_cables, by_segments, by_gravity, by_loads, by_tip,
    by_origin, by_tensions, by_rest, by_rate, by_laws, by_curves, by_history,
):  # fmt: skip
    """Derivatives of outputs at the equilibria in rows first .. last - 1 of q and `tensions`, into tables (`Gradient`).

    Each pose has the same number of outputs m: rows i m .. (i + 1) m - 1 of the seeds and of all tables belong to pose
    i. With `given`, the rates are those in `lam`, and no solve is made: derivatives of seeds - lambda . R at any pose.
    `tip`: of each pose in the world, m. `right`: (freedoms,), `weights`: (WEIGHT_PLANES, cables, n), `turning`: (n,
    TURNING_WIDTH), scratch. What belongs to friction, remembered slip or given lengths has no entries where there is
    none. Tables come with zeros, or from an earlier call for the same joints and cables. `state` and `wide` are left
    with the stiffness of the last pose.
    """
    heavy_gaps, heavy_cables, by_length = False, False, rest.shape[0] > 0
    for k in range(cables.shape[0]):
        heavy_cables = heavy_cables or cables[k].linear_density > 0.0
    for j in range(joints.shape[0]):
        heavy_gaps = heavy_gaps or joints[j].mass > 0.0
    heavy_gaps = heavy_gaps or heavy_cables
    narrow = friction is None and is_conservative(gravity, loads, heavy_cables) and not by_length
    outputs = lam.shape[0] // q.shape[0]
    for pose in range(first, last):
        inspect_pose(
            joints, links, cables, segments, gravity, loads, tensions[pose], rest, rate, friction, True, q[pose], state,
            load_at, wide, memory, report, spatial,
        )  # fmt: skip
        at = (tip[pose, 0], tip[pose, 1], tip[pose, 2])
        for i in range(pose * outputs, (pose + 1) * outputs):
            force = (seed_tip[i, 0], seed_tip[i, 1], seed_tip[i, 2])
            moment = (seed_tip[i, 3], seed_tip[i, 4], seed_tip[i, 5])
            seed = Seed(force, moment, seed_angles[i], seed_lengths[i], seed_tensions[i], seed_slip[i], seed_drawn[i])
            by = Gradient(
                by_joints[i], by_links[i], by_cables[i], by_segments[i], by_gravity[i], by_loads[i], by_tip[i],
                by_origin[i], by_tensions[i], by_rest[i], by_rate[i], by_laws[i], by_curves[i], by_history[i],
            )  # fmt: skip
            clear_sums(friction, by)
            if not given:
                find_rates(
                    joints, cables, segments, friction, spatial, by_length, narrow, seed, at, q[pose], state, wide,
                    memory, right, lam[i], by,
                )  # fmt: skip
            weigh_cables(
                joints, cables, segments, rest, rate, friction, spatial, tensions[pose], seed, q[pose], state, wide,
                lam[i], weights, by,
            )  # fmt: skip
            walk_along(
                joints, links, cables, segments, gravity, loads, heavy_gaps, friction, spatial, tensions[pose], at,
                origin, seed, q[pose], state, lam[i], weights, turning, by,
            )  # fmt: skip
            gather_beyond(joints, heavy_gaps, turning, by)
