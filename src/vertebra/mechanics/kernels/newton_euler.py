"""What a motion needs, by Newton-Euler recursion, and the mass matrix (theory 6.1 and 6.2): the bodies that move,
forces from the tip back to the base, and all that lies beyond a joint as one composite body.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import added, combined, cross_product, dot, mixed, moved, read, scaled, write
from vertebra.mechanics.kernels.cables import across_mirror
from vertebra.mechanics.kernels.joints import BentJoint, Vector, arc_centroid_derivatives, mirror_law
from vertebra.mechanics.kernels.spatial import fill_gaps, in_world, pair_row, row_of, turn_joints
from vertebra.mechanics.layout import (
    BLOCK_FRAME,
    BLOCK_ORIGIN,
    BLOCK_SHIFT,
    BLOCK_SHIFT2,
    BLOCK_SPIN,
    BLOCK_SPIN2,
    BODY_CENTRE,
    BODY_INERTIA,
    BODY_MASS,
    FILLING_CURVE,
    FILLING_DRIFT,
    FILLING_MASS,
    FILLING_PLACE,
    FILLING_SLOPE,
    MOTION_AXIS,
    MOTION_CENTRE,
    MOTION_COS_HALF,
    MOTION_FORCE,
    MOTION_HEIGHT,
    MOTION_HEIGHT1,
    MOTION_HEIGHT2,
    MOTION_INERTIA,
    MOTION_MASS,
    MOTION_MASS_CENTRE,
    MOTION_NORMAL,
    MOTION_SHIFT,
    MOTION_SIN_HALF,
    MOTION_TORQUE,
    MOTION_WRENCH,
    PARTICLE_MASS,
    PARTICLE_PLACE,
    PARTICLE_PUSH,
    PARTICLE_SLOPE,
    PARTICLE_SLOPE2,
)
from vertebra.robot.tables import FLEXURE, Floats, Table


class MovingChain(NamedTuple):
    """A robot with mass and inertia, under gravity and loads."""

    joints: Table
    links: Table
    cables: Table
    segments: Table
    gravity: Floats
    loads: Table
    bodies: Floats
    heavy_gaps: bool


class MotionWork(NamedTuple):
    """What the passes along the chain write."""

    motion: Floats
    particles: Floats
    load_at: Floats


class LinkMotion(NamedTuple):
    """How a link moves: velocity `speed` and acceleration `lift` of its origin, `spin` and `turn` the angular ones."""

    origin: Vector
    spin: Vector
    turn: Vector
    speed: Vector
    lift: Vector


@inner
def gather_bodies(links, cables, bodies):
    """Write `bodies`: each link with the locks on it."""
    for i in range(bodies.shape[0]):
        link = links[i + 1]
        at, own = link.center_of_mass, link.mass
        mass, first = own, (own * at[0], own * at[1], own * at[2])
        for k in range(cables.shape[0]):
            if cables[k].last_link == i + 1:
                lock = cables[k].lock_mass
                mass, first = mass + lock, moved(first, lock, (cables[k].x, cables[k].y, cables[k].end))
        centre = scaled(1.0 / mass, first)
        bodies[i, BODY_MASS] = mass
        write(bodies, i, BODY_CENTRE, centre)
        write(bodies, i, BODY_INERTIA, (link.inertia[0], link.inertia[1], link.inertia[2]))
        write(bodies, i, BODY_INERTIA + 3, (link.products[0], link.products[1], link.products[2]))
        add_point_inertia(bodies, i, own, moved((at[0], at[1], at[2]), -1.0, centre))
        for k in range(cables.shape[0]):
            if cables[k].last_link == i + 1:
                hole = (cables[k].x, cables[k].y, cables[k].end)
                add_point_inertia(bodies, i, cables[k].lock_mass, moved(hole, -1.0, centre))


@inner
def add_point_inertia(bodies, i, mass, r):
    """Inertia of a point mass at `r` from the centre."""
    square = dot(r, r)
    for axis in range(3):
        bodies[i, BODY_INERTIA + axis] += mass * (square - r[axis] * r[axis])
    bodies[i, BODY_INERTIA + 3] -= mass * r[0] * r[1]
    bodies[i, BODY_INERTIA + 4] -= mass * r[0] * r[2]
    bodies[i, BODY_INERTIA + 5] -= mass * r[1] * r[2]


@inner
def move_particles(chain, j, before, bend, rate, rise, g, particles):
    """Write the particles in the gap of joint j. `before`: how the link before it moves.

    Each sits at p = P + u t + y a with its own u(q) (theory 4.6), so p' = s' z + u' t - (u/2) n and
    p'' = s'' z + (u'' - u/4) t - u' n. The mass of a cable segment follows its length; that change of mass is left out
    of the forces, as in statics. Returns kinetic energy and potential in J, and the power in W of mass drawn into
    the gap.
    """
    joints, cables, segments = chain.joints, chain.cables, chain.segments
    origin, spin, turn, speed, lift = before
    angle, sin_half, cos_half, s, s1, s2, crossing, a, z, tangent, normal = bend
    kinetic = potential = drawn = 0.0
    count = cables.shape[0] + 1
    for k in range(count):
        row = j * count + k
        mass = heavier = y = u = u1 = u2 = 0.0
        if k < cables.shape[0]:
            cable = cables[k]
            if cable.linear_density > 0.0 and j < cable.last_link:
                e, level = segments[k, j].offset, s + segments[k, j].recess
                length, length1, _ = across_mirror(1.0, level, s1, s2, e, sin_half, cos_half)
                if length > 0.0:  # where faces have passed through each other there is no cable
                    mass, heavier = cable.linear_density * length, cable.linear_density * length1
                u = e * cos_half + level * sin_half
                u1, u2 = s1 * sin_half + 0.25 * length, s2 * sin_half + s1 * cos_half - 0.25 * u
                y = cable.x * joints[j].axis_x + cable.y * joints[j].axis_y
        elif joints[j].kind == FLEXURE and joints[j].mass > 0.0:
            mass = joints[j].mass
            f, f1, f2 = arc_centroid_derivatives(0.5 * angle, sin_half, cos_half)
            u, u1, u2 = joints[j].size * f, 0.5 * joints[j].size * f1, 0.25 * joints[j].size * f2
        place = added(crossing, mixed(u, tangent, y, a))
        slope = combined(s1, z, u1, tangent, -0.5 * u, normal)
        curve = combined(s2, z, u2 - 0.25 * u, tangent, -u1, normal)
        arm = moved(place, -1.0, origin)
        swept = cross_product(spin, arm)
        velocity = combined(1.0, speed, 1.0, swept, rate, slope)
        push = added(lift, added(cross_product(turn, arm), cross_product(spin, swept)))
        push = combined(1.0, push, 2.0 * rate, cross_product(spin, slope), rise, slope)
        push = scaled(mass, moved(push, rate * rate, curve))
        write(particles, row, PARTICLE_PLACE, place)
        write(particles, row, PARTICLE_SLOPE, slope)
        write(particles, row, PARTICLE_PUSH, push)
        particles[row, PARTICLE_MASS] = mass
        square, height = 0.5 * dot(velocity, velocity), dot(g, place)
        kinetic, potential = kinetic + mass * square, potential - mass * height
        drawn += heavier * rate * (square - height)
    return kinetic, potential, drawn


@inner
def turn_chain(chain, spatial, q):
    """What joints with several freedoms need to know of a pose, before `outward_pass`."""
    if spatial is not None:
        turn_joints(chain.joints, chain.links, chain.cables, chain.segments, q, spatial)
        if chain.heavy_gaps:
            fill_gaps(chain.joints, chain.links, chain.cables, chain.segments, q, spatial)


@inner
def half_angle(q):
    return math.sin(0.5 * q), math.cos(0.5 * q)


# Newton-Euler recursion of a chain of mirror joints (theory 6.1): what a motion needs, in two passes.
#
# `outward_pass` walks from base to tip and writes how every body moves, `inward_pass` walks back and sums what must
# push it. Gravity is an acceleration of the base, -g. Both work on `motion`, a row per joint.


@inner
def world_inertia(bodies, i, x, y, z):
    """Inertia of body i in world axes: xx, yy, zz, xy, xz, yz."""
    xx, yy, zz = bodies[i, BODY_INERTIA], bodies[i, BODY_INERTIA + 1], bodies[i, BODY_INERTIA + 2]
    xy, xz, yz = bodies[i, BODY_INERTIA + 3], bodies[i, BODY_INERTIA + 4], bodies[i, BODY_INERTIA + 5]
    if xx == yy and xy == 0.0 and xz == 0.0 and yz == 0.0:
        # A body of revolution, as most links are, takes a quarter of the work.
        w = scaled(zz - xx, z)
        return (
            xx + w[0] * z[0], xx + w[1] * z[1], xx + w[2] * z[2], w[0] * z[1], w[0] * z[2], w[1] * z[2],
        )  # fmt: skip
    px, py, pz = combined(xx, x, xy, y, xz, z), combined(xy, x, yy, y, yz, z), combined(xz, x, yz, y, zz, z)
    return (
        px[0] * x[0] + py[0] * y[0] + pz[0] * z[0],
        px[1] * x[1] + py[1] * y[1] + pz[1] * z[1],
        px[2] * x[2] + py[2] * y[2] + pz[2] * z[2],
        px[0] * x[1] + py[0] * y[1] + pz[0] * z[1],
        px[0] * x[2] + py[0] * y[2] + pz[0] * z[2],
        px[1] * x[2] + py[1] * y[2] + pz[1] * z[2],
    )


@inner
def times_inertia(m, v):
    """A symmetric matrix xx, yy, zz, xy, xz, yz times a vector."""
    return (
        m[0] * v[0] + m[3] * v[1] + m[4] * v[2],
        m[3] * v[0] + m[1] * v[1] + m[5] * v[2],
        m[4] * v[0] + m[5] * v[1] + m[2] * v[2],
    )


@inner
def outward_pass(chain, spatial, q, qd, qdd, work):
    """From base to tip: places, velocities and accelerations, and what must act on each body.

    Returns kinetic energy and potential of gravity in J, power of the loads and of mass drawn into gaps in W.
    """
    joints, links, gravity, loads, bodies = chain.joints, chain.links, chain.gravity, chain.loads, chain.bodies
    motion, load_at = work.motion, work.load_at
    g = (gravity[0], gravity[1], gravity[2])
    x, y, z, origin = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    spin = turn = speed = (0.0, 0.0, 0.0)
    lift = (-g[0], -g[1], -g[2])
    kinetic = potential = load_power = drawn_power = 0.0
    upcoming = 0
    while upcoming < loads.shape[0] and loads[upcoming].link == 0:
        upcoming += 1
    for j in range(joints.shape[0]):
        joint, row = joints[j], row_of(joints, j, spatial)
        if spatial is not None and joint.freedoms > 1:
            before = LinkMotion(origin, spin, turn, speed, lift)
            if chain.heavy_gaps:
                more = move_filling(joint, spatial.fillings, j, before, x, y, z, qd, qdd, g, work.particles)
                kinetic, potential, drawn_power = kinetic + more[0], potential + more[1], drawn_power + more[2]
            beyond = move_spatial(joint, spatial.blocks, j, before, x, y, z, qd, qdd, motion)
            origin, spin, turn, speed, lift = beyond
            x, y, z = (
                in_world(read(spatial.blocks, j, BLOCK_FRAME), x, y, z),
                in_world(read(spatial.blocks, j, BLOCK_FRAME + 3), x, y, z),
                in_world(read(spatial.blocks, j, BLOCK_FRAME + 6), x, y, z),
            )
            more_kinetic, more_potential = move_body(bodies, j, row, x, y, z, beyond, g, motion)
            kinetic, potential = kinetic + more_kinetic, potential + more_potential
            upcoming, load_power = move_loads(loads, upcoming, j, x, y, z, beyond, load_at, load_power)
            continue
        rate, rise = qd[row], qdd[row]
        sin_half, cos_half = half_angle(q[row])
        s, s1, s2 = mirror_law(joint.kind, joint.size, q[row], sin_half, cos_half)
        motion[row, MOTION_SIN_HALF], motion[row, MOTION_COS_HALF] = sin_half, cos_half
        motion[row, MOTION_HEIGHT], motion[row, MOTION_HEIGHT1], motion[row, MOTION_HEIGHT2] = s, s1, s2
        a = mixed(joint.axis_x, x, joint.axis_y, y)
        b = mixed(joint.axis_y, x, -joint.axis_x, y)
        normal, tangent = mixed(cos_half, z, sin_half, b), mixed(cos_half, b, -sin_half, z)
        lam, lam1 = 2.0 * s1 * cos_half, 2.0 * s2 * cos_half - s1 * sin_half
        to_centre = mixed(links[j].reach + s, z, lam, tangent)
        # a x C' as in `place_chain`.
        swing = combined(s1, b, -lam1, normal, -0.5 * lam, tangent)
        if chain.heavy_gaps:
            crossing = moved(origin, links[j].reach + s, z)
            before = LinkMotion(origin, spin, turn, speed, lift)
            bend = BentJoint(q[row], sin_half, cos_half, s, s1, s2, crossing, a, z, tangent, normal)
            more = move_particles(chain, j, before, bend, rate, rise, g, work.particles)
            kinetic, potential, drawn_power = kinetic + more[0], potential + more[1], drawn_power + more[2]
        swept = cross_product(spin, to_centre)
        speed = added(speed, swept)
        # Both links have this velocity at C, but not this acceleration: the contact point migrates.
        lift = combined(1.0, lift, 1.0, cross_product(turn, to_centre), 1.0, cross_product(spin, swept))
        lift = moved(lift, -rate * rate, swing)
        turn = combined(1.0, turn, rise, a, rate, cross_product(spin, a))
        spin = moved(spin, rate, a)
        write(motion, row, MOTION_AXIS, a)
        write(motion, row, MOTION_CENTRE, added(origin, to_centre))
        write(motion, row, MOTION_NORMAL, normal)

        # Changes of b and z keep a straight joint exactly straight.
        sin_q, versine = 2.0 * sin_half * cos_half, 2.0 * sin_half * sin_half
        change_b = mixed(-versine, b, -sin_q, z)
        old_z = z
        z = combined(1.0, z, sin_q, b, -versine, z)
        x, y = moved(x, joint.axis_y, change_b), moved(y, -joint.axis_x, change_b)
        arm = mixed(s, z, -lam, tangent)
        origin = combined(1.0, origin, links[j].reach + s, old_z, s, z)
        swept = cross_product(spin, arm)
        speed = added(speed, swept)
        lift = combined(1.0, lift, 1.0, cross_product(turn, arm), 1.0, cross_product(spin, swept))

        if spatial is not None:
            write(motion, row, MOTION_SHIFT, (0.0, 0.0, 0.0))
        beyond = LinkMotion(origin, spin, turn, speed, lift)
        more_kinetic, more_potential = move_body(bodies, j, row, x, y, z, beyond, g, motion)
        kinetic, potential = kinetic + more_kinetic, potential + more_potential
        upcoming, load_power = move_loads(loads, upcoming, j, x, y, z, beyond, load_at, load_power)
    return kinetic, potential, load_power, drawn_power


@inner
def move_body(bodies, j, row, x, y, z, link, g, motion):
    """What must act on the link beyond joint j, and its mass and inertia; returns kinetic energy and potential, J."""
    origin, spin, turn, speed, lift = link
    mass, centre = bodies[j, BODY_MASS], read(bodies, j, BODY_CENTRE)
    arm = combined(centre[0], x, centre[1], y, centre[2], z)
    swept = cross_product(spin, arm)
    force = combined(1.0, lift, 1.0, cross_product(turn, arm), 1.0, cross_product(spin, swept))
    inertia = world_inertia(bodies, j, x, y, z)
    momentum = times_inertia(inertia, spin)
    torque = added(times_inertia(inertia, turn), cross_product(spin, momentum))
    place, velocity = added(origin, arm), added(speed, swept)
    write(motion, row, MOTION_MASS_CENTRE, place)
    write(motion, row, MOTION_FORCE, scaled(mass, force))
    write(motion, row, MOTION_TORQUE, torque)
    motion[row, MOTION_MASS] = mass
    write(motion, row, MOTION_INERTIA, (inertia[0], inertia[1], inertia[2]))
    write(motion, row, MOTION_INERTIA + 3, (inertia[3], inertia[4], inertia[5]))
    return 0.5 * (mass * dot(velocity, velocity) + dot(momentum, spin)), -mass * dot(g, place)


@inner
def move_loads(loads, upcoming, j, x, y, z, link, load_at, power):
    """Places of the loads on the link beyond joint j, from number `upcoming` on; returns that of the next link, and
    `power` in W with theirs."""
    while upcoming < loads.shape[0] and loads[upcoming].link == j + 1:
        at, f, m = loads[upcoming].point, loads[upcoming].force, loads[upcoming].moment
        arm = combined(at[0], x, at[1], y, at[2], z)
        write(load_at, upcoming, 0, added(link.origin, arm))
        velocity = added(link.speed, cross_product(link.spin, arm))
        power += f[0] * velocity[0] + f[1] * velocity[1] + f[2] * velocity[2]
        power += m[0] * link.spin[0] + m[1] * link.spin[1] + m[2] * link.spin[2]
        upcoming += 1
    return upcoming, power


@inner
def move_spatial(joint, blocks, j, before, x, y, z, qd, qdd, motion):
    """`outward_pass` across a joint with several freedoms (theory 9); returns how the link beyond it moves.

    Seen from the link before, the one beyond turns at om = sum qd_k om_k and its origin moves at sum qd_k o_k; what
    changes these along the motion is sum qd_i qd_k of D_ik and o_ik.
    """
    origin, spin, turn, speed, lift = before
    f = joint.first
    relative = away = rising = leaving = (0.0, 0.0, 0.0)
    for k in range(joint.freedoms):
        om, shift = read(blocks, j, BLOCK_SPIN + 3 * k), read(blocks, j, BLOCK_SHIFT + 3 * k)
        relative, away = moved(relative, qd[f + k], om), moved(away, qd[f + k], shift)
        rising, leaving = moved(rising, qdd[f + k], om), moved(leaving, qdd[f + k], shift)
        for i in range(k, joint.freedoms):
            pair, both = 3 * pair_row(i, k), qd[f + i] * qd[f + k] * (1.0 if i == k else 2.0)
            rising = moved(rising, both, read(blocks, j, BLOCK_SPIN2 + pair))
            leaving = moved(leaving, both, read(blocks, j, BLOCK_SHIFT2 + pair))
            if i != k:
                # D_ki = D_ik + om_k x om_i, of which the line above took D_ik twice.
                crossed = cross_product(om, read(blocks, j, BLOCK_SPIN + 3 * i))
                rising = moved(rising, 0.5 * both, crossed)
        write(motion, f + k, MOTION_AXIS, in_world(om, x, y, z))
        write(motion, f + k, MOTION_SHIFT, in_world(shift, x, y, z))
    relative, away = in_world(relative, x, y, z), in_world(away, x, y, z)
    rising, leaving = in_world(rising, x, y, z), in_world(leaving, x, y, z)
    arm = in_world(read(blocks, j, BLOCK_ORIGIN), x, y, z)
    swept = cross_product(spin, arm)
    lift = combined(1.0, lift, 1.0, cross_product(turn, arm), 1.0, cross_product(spin, swept))
    lift = combined(1.0, lift, 2.0, cross_product(spin, away), 1.0, leaving)
    turn = combined(1.0, turn, 1.0, rising, 1.0, cross_product(spin, relative))
    origin = added(origin, arm)
    for k in range(joint.freedoms):
        write(motion, f + k, MOTION_CENTRE, origin)
    bisector = added(z, in_world(read(blocks, j, BLOCK_FRAME + 6), x, y, z))
    write(motion, f, MOTION_NORMAL, scaled(1.0 / math.sqrt(dot(bisector, bisector)), bisector))
    return LinkMotion(origin, added(spin, relative), turn, combined(1.0, speed, 1.0, swept, 1.0, away), lift)


@inner
def move_filling(joint, fillings, j, before, x, y, z, qd, qdd, g, particles):
    """`move_particles` for a joint with several freedoms, from what `fill_gaps` left."""
    origin, spin, turn, speed, lift = before
    kinetic = potential = drawn = 0.0
    f, count = joint.first, fillings.shape[1]
    for m in range(count):
        row, mass, heavier = j * count + m, fillings[j, m, FILLING_MASS], 0.0
        particles[row, PARTICLE_MASS] = mass
        if mass == 0.0:
            for column in range(particles.shape[1]):
                particles[row, column] = 0.0
            continue
        arm = in_world(read(fillings[j], m, FILLING_PLACE), x, y, z)
        along = pushed = (0.0, 0.0, 0.0)
        for k in range(joint.freedoms):
            slope = read(fillings[j], m, FILLING_SLOPE + 3 * k)
            along, pushed = moved(along, qd[f + k], slope), moved(pushed, qdd[f + k], slope)
            heavier += fillings[j, m, FILLING_DRIFT + k] * qd[f + k]
            for i in range(k, joint.freedoms):
                both = qd[f + i] * qd[f + k] * (1.0 if i == k else 2.0)
                pushed = moved(pushed, both, read(fillings[j], m, FILLING_CURVE + 3 * pair_row(i, k)))
            write(particles, row, slope_column(k), in_world(slope, x, y, z))
        along, pushed = in_world(along, x, y, z), in_world(pushed, x, y, z)
        swept = cross_product(spin, arm)
        velocity = combined(1.0, speed, 1.0, swept, 1.0, along)
        push = combined(1.0, lift, 1.0, cross_product(turn, arm), 1.0, cross_product(spin, swept))
        push = combined(1.0, push, 2.0, cross_product(spin, along), 1.0, pushed)
        place = added(origin, arm)
        write(particles, row, PARTICLE_PLACE, place)
        write(particles, row, PARTICLE_PUSH, scaled(mass, push))
        square, height = 0.5 * dot(velocity, velocity), dot(g, place)
        kinetic, potential = kinetic + mass * square, potential - mass * height
        drawn += heavier * (square - height)
    return kinetic, potential, drawn


@inner
def slope_column(k):
    """Where a particle keeps the derivative of its place in freedom k of its joint."""
    return PARTICLE_SLOPE if k == 0 else PARTICLE_SLOPE2 + 3 * (k - 1)


@inner
def inward_pass(joints, loads, heavy_gaps, spatial, work, tau):
    """From tip to base: `tau`, the torque about its axis that each joint must give, and the outboard wrench about C.

    Takes no `MovingChain`: handing over tables that it does not read took a tenth of the time of inverse dynamics.
    """
    motion, particles, load_at = work
    force = moment = point = (0.0, 0.0, 0.0)
    last = loads.shape[0] - 1
    in_gap = particles.shape[0] // joints.shape[0]
    for j in range(joints.shape[0] - 1, -1, -1):
        first = row_of(joints, j, spatial)
        a, centre = read(motion, first, MOTION_AXIS), read(motion, first, MOTION_CENTRE)
        push = read(motion, first, MOTION_FORCE)
        moment = added(moment, cross_product(moved(point, -1.0, centre), force))
        point, force = centre, added(force, push)
        arm = moved(read(motion, first, MOTION_MASS_CENTRE), -1.0, centre)
        moment = combined(1.0, moment, 1.0, read(motion, first, MOTION_TORQUE), 1.0, cross_product(arm, push))
        while last >= 0 and loads[last].link == j + 1:
            f, m = loads[last].force, loads[last].moment
            pull, arm = (f[0], f[1], f[2]), moved(read(load_at, last, 0), -1.0, centre)
            force = moved(force, -1.0, pull)
            moment = combined(1.0, moment, -1.0, (m[0], m[1], m[2]), -1.0, cross_product(arm, pull))
            last -= 1
        needed = dot(a, moment)
        if spatial is not None:
            needed += dot(read(motion, first, MOTION_SHIFT), force)
            for k in range(1, joints[j].freedoms):
                tau[first + k] = dot(read(motion, first + k, MOTION_AXIS), moment)
                tau[first + k] += dot(read(motion, first + k, MOTION_SHIFT), force)
        write(motion, first, MOTION_WRENCH, force)
        write(motion, first, MOTION_WRENCH + 3, moment)
        if heavy_gaps:
            for row in range(j * in_gap, (j + 1) * in_gap):
                push = read(particles, row, PARTICLE_PUSH)
                needed += dot(read(particles, row, PARTICLE_SLOPE), push)
                if spatial is not None:
                    for k in range(1, joints[j].freedoms):
                        tau[first + k] += dot(read(particles, row, slope_column(k)), push)
                force = added(force, push)
                moment = added(moment, cross_product(moved(read(particles, row, PARTICLE_PLACE), -1.0, centre), push))
        tau[first] = needed


@kernel
def inverse_motion(
    joints, links, cables, segments, gravity, loads, bodies, heavy_gaps, q, qd, qdd, motion, particles, load_at,
    spatial, tau, wrenches,
):  # fmt: skip
    """`tau` (N, n) of N states, and `wrenches` (N, n, 6) unless it is empty."""
    chain = MovingChain(joints, links, cables, segments, gravity, loads, bodies, heavy_gaps)
    work = MotionWork(motion, particles, load_at)
    gather_bodies(links, cables, bodies)
    for i in range(q.shape[0]):
        turn_chain(chain, spatial, q[i])
        outward_pass(chain, spatial, q[i], qd[i], qdd[i], work)
        inward_pass(joints, loads, heavy_gaps, spatial, work, tau[i])
        if wrenches.shape[0] > 0:
            for j in range(joints.shape[0]):
                for column in range(6):
                    wrenches[i, j, column] = motion[row_of(joints, j, spatial), MOTION_WRENCH + column]


# The mass matrix of a chain of mirror joints from composite bodies: all that lies beyond a joint as one (theory 6.2).

NOTHING_BEYOND = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inner
def inertia_about(inertia, mass, first, d):
    """Inertia about a point from which the old one lies at `d`; `first` is the first moment about the old point."""
    along, square = 2.0 * dot(first, d), dot(d, d)
    return (
        inertia[0] + along - 2.0 * first[0] * d[0] + mass * (square - d[0] * d[0]),
        inertia[1] + along - 2.0 * first[1] * d[1] + mass * (square - d[1] * d[1]),
        inertia[2] + along - 2.0 * first[2] * d[2] + mass * (square - d[2] * d[2]),
        inertia[3] - first[0] * d[1] - first[1] * d[0] - mass * d[0] * d[1],
        inertia[4] - first[0] * d[2] - first[2] * d[0] - mass * d[0] * d[2],
        inertia[5] - first[1] * d[2] - first[2] * d[1] - mass * d[1] * d[2],
    )


@inner
def read_inertia(motion, j):
    """Of the link beyond joint j: xx, yy, zz, xy, xz, yz."""
    i = MOTION_INERTIA
    return (motion[j, i], motion[j, i + 1], motion[j, i + 2], motion[j, i + 3], motion[j, i + 4], motion[j, i + 5])


@inner
def added_inertia(m, k):
    return (m[0] + k[0], m[1] + k[1], m[2] + k[2], m[3] + k[3], m[4] + k[4], m[5] + k[5])


@inner
def fill_mass_matrix(joints, heavy_gaps, spatial, work, M):
    """Write M (rows, rows) in kg*m^2 at the pose that `work` belongs to."""
    motion, particles = work.motion, work.particles
    n = joints.shape[0]
    in_gap = particles.shape[0] // n
    mass, first, inertia, point = 0.0, (0.0, 0.0, 0.0), NOTHING_BEYOND, (0.0, 0.0, 0.0)
    for j in range(n - 1, -1, -1):
        top = row_of(joints, j, spatial)
        centre, bulk = read(motion, top, MOTION_CENTRE), motion[top, MOTION_MASS]
        d = moved(point, -1.0, centre)
        inertia, first, point = inertia_about(inertia, mass, first, d), moved(first, mass, d), centre
        arm = moved(read(motion, top, MOTION_MASS_CENTRE), -1.0, centre)
        inertia = added_inertia(inertia, inertia_about(read_inertia(motion, top), bulk, (0.0, 0.0, 0.0), arm))
        mass, first = mass + bulk, moved(first, bulk, arm)
        for row in range(top, top + (1 if spatial is None else joints[j].freedoms)):
            # Momentum of all beyond joint j while this freedom alone turns at unit rate.
            a = read(motion, row, MOTION_AXIS)
            linear, angular = cross_product(a, first), times_inertia(inertia, a)
            if spatial is not None:
                shift = read(motion, row, MOTION_SHIFT)
                linear, angular = moved(linear, mass, shift), added(angular, cross_product(first, shift))
                for i in range(top, row):
                    M[i, row] = dot(read(motion, i, MOTION_AXIS), angular) + dot(read(motion, i, MOTION_SHIFT), linear)
            M[row, row] = dot(a, angular)
            if spatial is not None:
                M[row, row] += dot(read(motion, row, MOTION_SHIFT), linear)
            if heavy_gaps:
                for each in range(j * in_gap, (j + 1) * in_gap):
                    heft, slope = particles[each, PARTICLE_MASS], read(particles, each, slope_column(row - top))
                    arm = moved(read(particles, each, PARTICLE_PLACE), -1.0, centre)
                    M[row, row] += heft * dot(slope, slope)
                    for i in range(top, row):
                        M[i, row] += heft * dot(slope, read(particles, each, slope_column(i - top)))
                    linear = moved(linear, heft, slope)
                    angular = moved(angular, heft, cross_product(arm, slope))
            for i in range(top, row):
                M[row, i] = M[i, row]
            for i in range(top):
                lever = moved(centre, -1.0, read(motion, i, MOTION_CENTRE))
                felt = dot(read(motion, i, MOTION_AXIS), added(angular, cross_product(lever, linear)))
                if spatial is not None:
                    felt += dot(read(motion, i, MOTION_SHIFT), linear)
                M[i, row] = M[row, i] = felt
        if heavy_gaps:
            for each in range(j * in_gap, (j + 1) * in_gap):
                heft = particles[each, PARTICLE_MASS]
                arm = moved(read(particles, each, PARTICLE_PLACE), -1.0, centre)
                inertia = added_inertia(inertia, inertia_about(NOTHING_BEYOND, heft, (0.0, 0.0, 0.0), arm))
                mass, first = mass + heft, moved(first, heft, arm)


@kernel
def mass_matrices(
    joints, links, cables, segments, gravity, loads, bodies, heavy_gaps, q, still, motion, particles, load_at, spatial,
    M,
):  # fmt: skip
    """M (N, rows, rows) of N poses; `still`: zeros (rows,)."""
    chain = MovingChain(joints, links, cables, segments, gravity, loads, bodies, heavy_gaps)
    work = MotionWork(motion, particles, load_at)
    gather_bodies(links, cables, bodies)
    for i in range(q.shape[0]):
        turn_chain(chain, spatial, q[i])
        outward_pass(chain, spatial, q[i], still, still, work)
        fill_mass_matrix(joints, heavy_gaps, spatial, work, M[i])
