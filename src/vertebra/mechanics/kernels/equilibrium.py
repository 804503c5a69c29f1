"""Forces on a chain of mirror joints at a pose: energy, torques and stiffness in two passes (theory 3.1 and 4.6).

`place_chain` walks from base to tip and writes what depends on a joint and its place; `balance_chain` walks back and
sums what each joint carries. Both work on `state`, whose columns are named in `mechanics.layout`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vertebra.mechanics.compiled import inlined, inner
from vertebra.mechanics.kernels.algebra import added, combined, cross_product, dot, mixed, moved, read, spread, write
from vertebra.mechanics.kernels.cables import across_mirror
from vertebra.mechanics.kernels.joints import BentJoint, Vector, arc_centroid_derivatives, mirror_law
from vertebra.mechanics.kernels.spatial import in_world, pair_row, row_of
from vertebra.mechanics.kernels.sweep import NO_MEMORY, NONE, absorb_joint, tied_row
from vertebra.mechanics.layout import (
    BLOCK_AXES,
    BLOCK_FRAME,
    BLOCK_ORIGIN,
    BLOCK_PULL,
    BLOCK_SHIFT,
    BLOCK_SHIFT2,
    BLOCK_SPIN,
    BLOCK_SPIN2,
    FILLING_CURVE,
    FILLING_DRIFT,
    FILLING_MASS,
    FILLING_PLACE,
    FILLING_SLOPE,
    SPAN_FIRST,
    SPAN_LENGTH,
    SPAN_SECOND,
    SPAN_WIDTH,
    STATE_AXIS,
    STATE_CENTRE,
    STATE_COS_HALF,
    STATE_DRIFT,
    STATE_DRIFT_FIRST,
    STATE_DRIFT_SLOPE,
    STATE_FIRST,
    STATE_GAP,
    STATE_GAP_CURVE,
    STATE_GAP_FIRST,
    STATE_GAP_SLOPE,
    STATE_HEAVY,
    STATE_LOWER,
    STATE_MASS,
    STATE_OWN,
    STATE_PLACE,
    STATE_SHIFT,
    STATE_SIN_HALF,
    STATE_SIZE,
    STATE_SWING,
    STATE_TAU,
    STATE_TENSION,
    STATE_TENSION_LEVER,
    STATE_TENSION_OFFSET,
    STATE_TENSION_RECESS,
    STATE_TIE,
    STATE_TIE_LOW,
    STATE_UPPER,
)
from vertebra.mechanics.simd import like
from vertebra.robot.tables import FLEXURE, Floats, Table


class Statics(NamedTuple):
    """A robot under gravity and loads, and how its equilibrium is sought."""

    joints: Table
    links: Table
    cables: Table
    segments: Table
    gravity: Floats
    loads: Table
    rest: Floats
    """Unstretched lengths of elastic cables, m; empty where tensions are given."""
    rate: Floats
    """EA/L0 of elastic cables, N/m."""
    heavy_gaps: bool
    heavy_cables: bool
    conservative: bool
    """Whether there is an energy: no friction, no dead moments, no heavy cables."""
    narrow: bool
    """Whether the narrow sweep is enough."""
    stops: bool
    """Whether joints may rest on their limits."""


class Beyond(NamedTuple):
    """Sums over all that hangs beyond a joint."""

    mass: float
    first: Vector
    """First moment of the masses, kg*m."""
    force: Vector
    """Of the loads, N."""
    row_x: Vector
    """x F of the loads, N*m; then the same with y and z."""
    row_y: Vector
    row_z: Vector
    moment: Vector
    """Of the loads, N*m."""


class StaticsWork(NamedTuple):
    """What the kernels of statics write, beside the pose itself."""

    state: Floats
    load_at: Floats
    wide: Floats
    memory: Floats
    report: Floats


@inner
def gather_tensions(joints, cables, segments, tensions, state):
    """Sums over the cables that cross each joint; the cable law needs no more than these."""
    for j in range(joints.shape[0]):
        row = joints[j].first
        total = recess = offset = lever = 0.0
        for k in range(cables.shape[0]):
            if j < cables[k].last_link:
                tension, segment = tensions[k], segments[k, j]
                total += tension
                recess += tension * segment.recess
                offset += tension * segment.offset
                lever += tension * abs(segment.offset)
        state[row, STATE_TENSION], state[row, STATE_TENSION_RECESS] = total, recess
        state[row, STATE_TENSION_OFFSET], state[row, STATE_TENSION_LEVER] = offset, lever


@inner
def gather_spans(joints, cables, tensions, state, spatial):
    """`gather_tensions` for joints with several freedoms: sums of tension times length and its derivatives."""
    for j in range(joints.shape[0]):
        if joints[j].freedoms > 1:
            for column in range(SPAN_WIDTH):
                spatial.blocks[j, BLOCK_PULL + column] = 0.0
            lever = 0.0
            for k in range(cables.shape[0]):
                if j < cables[k].last_link:
                    lever += tensions[k] * (abs(cables[k].x) + abs(cables[k].y))
                    for column in range(SPAN_WIDTH):
                        spatial.blocks[j, BLOCK_PULL + column] += tensions[k] * spatial.spans[k, j, column]
            for row in range(joints[j].first, joints[j].first + joints[j].freedoms):
                state[row, STATE_TENSION_LEVER] = lever
                for m in range(2):
                    state[row, STATE_TIE + m] = state[row, STATE_TIE_LOW + m] = 0.0


@inner
def gather_weights(joints, links, cables, state):
    """Mass and first moment fixed to each link; returns whether gaps have mass, and whether cables have mass."""
    heavy_gaps = heavy_cables = False
    for j in range(joints.shape[0]):
        link, row = links[j + 1], joints[j].first
        com, mass = link.center_of_mass, link.mass
        state[row, STATE_MASS] = mass
        write(state, row, STATE_FIRST, (mass * com[0], mass * com[1], mass * com[2]))
        heavy_gaps = heavy_gaps or joints[j].mass > 0.0
    for k in range(cables.shape[0]):
        cable = cables[k]
        row, lock = joints[cable.last_link - 1].first, cable.lock_mass
        state[row, STATE_MASS] += lock
        first = (lock * cable.x, lock * cable.y, lock * cable.end)
        write(state, row, STATE_FIRST, added(read(state, row, STATE_FIRST), first))
        heavy_cables = heavy_cables or cable.linear_density > 0.0
    return heavy_gaps or heavy_cables, heavy_cables


@inlined
def place_chain(problem, spatial, q, work):
    """From base to tip: axes, centres, the joint's own torque and stiffness, places of masses and loads.

    Returns the energy of the cables (without their part inside links) and of the elastic joints, J, and the axes and
    the origin of the last link.
    """
    joints, links, gravity, loads = problem.joints, problem.links, problem.gravity, problem.loads
    state, load_at = work.state, work.load_at
    g = (gravity[0], gravity[1], gravity[2])
    x, y = like(state, (1.0, 0.0, 0.0)), like(state, (0.0, 1.0, 0.0))
    z, origin = like(state, (0.0, 0.0, 1.0)), like(state, (0.0, 0.0, 0.0))
    cable_energy = elastic_energy = like(state, 0.0)
    upcoming = 0
    while upcoming < loads.shape[0] and loads[upcoming].link == 0:
        upcoming += 1
    for j in range(joints.shape[0]):
        joint, row = joints[j], row_of(joints, j, spatial)
        if spatial is not None and joint.freedoms > 1:
            if problem.heavy_gaps:
                weigh_filling(joint, spatial.fillings, j, g, x, y, z, origin, state)
            pulled, stored, x, y, z, origin = place_spatial(joint, spatial.blocks, q, j, x, y, z, origin, state)
            cable_energy, elastic_energy = cable_energy + pulled, elastic_energy + stored
            first = read(state, row, STATE_FIRST)
            lump = combined(first[0], x, first[1], y, first[2], z)
            write(state, row, STATE_HEAVY, moved(lump, state[row, STATE_MASS], origin))
            upcoming = place_loads(loads, upcoming, j, x, y, z, origin, load_at)
            continue
        if spatial is not None:
            state[row, STATE_PLACE] = 0.0
            write(state, row, STATE_SHIFT, (0.0, 0.0, 0.0))
        angle = q[row]
        sin_half, cos_half = math.sin(0.5 * angle), math.cos(0.5 * angle)
        s, s1, s2 = mirror_law(joint.kind, joint.size, angle, sin_half, cos_half)
        a = mixed(joint.axis_x, x, joint.axis_y, y)
        b = mixed(joint.axis_y, x, -joint.axis_x, y)
        crossing = moved(origin, links[j].reach + s, z)
        normal = mixed(cos_half, z, sin_half, b)
        tangent = mixed(cos_half, b, -sin_half, z)
        lam, lam1 = 2.0 * s1 * cos_half, 2.0 * s2 * cos_half - s1 * sin_half
        state[row, STATE_SIN_HALF], state[row, STATE_COS_HALF] = sin_half, cos_half
        write(state, row, STATE_AXIS, a)
        write(state, row, STATE_CENTRE, moved(crossing, lam, tangent))
        # a x C' with C' = s' z + lam' t - (lam/2) n, and a x z = b, a x t = -n, a x n = t.
        write(state, row, STATE_SWING, combined(s1, b, -lam1, normal, -0.5 * lam, tangent))

        total, recess = state[row, STATE_TENSION], state[row, STATE_TENSION_RECESS]
        offset = state[row, STATE_TENSION_OFFSET]
        k = joint.stiffness
        pulled, tau, own = across_mirror(total, s * total + recess, s1, s2, offset, sin_half, cos_half)
        cable_energy += pulled
        elastic_energy += 0.5 * k * angle * angle
        state[row, STATE_TAU], state[row, STATE_OWN] = tau + k * angle, own + k
        if problem.heavy_gaps:
            bend = BentJoint(angle, sin_half, cos_half, s, s1, s2, crossing, a, z, tangent, normal)
            weigh_gap(joints, problem.cables, problem.segments, g, j, row, bend, state)

        # Changes of b and z, added to the axes, keep a straight joint exactly straight (as in `place_mirror`).
        sin_q, versine = 2.0 * sin_half * cos_half, 2.0 * sin_half * sin_half
        change_b = mixed(-versine, b, -sin_q, z)
        z = combined(1.0, z, sin_q, b, -versine, z)
        x, y = moved(x, joint.axis_y, change_b), moved(y, -joint.axis_x, change_b)
        origin = moved(crossing, s, z)
        first = read(state, row, STATE_FIRST)
        lump = combined(first[0], x, first[1], y, first[2], z)
        write(state, row, STATE_HEAVY, moved(lump, state[row, STATE_MASS], origin))
        upcoming = place_loads(loads, upcoming, j, x, y, z, origin, load_at)
    return cable_energy, elastic_energy, (x, y, z, origin)


@inner
def place_loads(loads, upcoming, j, x, y, z, origin, load_at):
    """Places of the loads on the link beyond joint j, from number `upcoming` on; returns that of the next link."""
    while upcoming < loads.shape[0] and loads[upcoming].link == j + 1:
        at = loads[upcoming].point
        arm = combined(at[0], x, at[1], y, at[2], z)
        write(load_at, upcoming, 0, added(origin, arm))
        upcoming += 1
    return upcoming


@inner
def place_spatial(joint, blocks, q, j, x, y, z, origin, state):
    """`place_chain` for a joint with several freedoms, from what `turn_joints` and `gather_spans` left.

    Returns the energy of the cables and of the springs in J, then axes and origin of the link beyond.
    """
    stored = 0.0
    write(blocks, j, BLOCK_AXES, x)
    write(blocks, j, BLOCK_AXES + 3, y)
    write(blocks, j, BLOCK_AXES + 6, z)
    beyond = added(origin, in_world(read(blocks, j, BLOCK_ORIGIN), x, y, z))
    for k in range(joint.freedoms):
        row = joint.first + k
        stiffness = joint.stiffness if k < 2 else joint.torsion
        stored += 0.5 * stiffness * q[row] * q[row]
        state[row, STATE_TAU] = blocks[j, BLOCK_PULL + SPAN_FIRST + k] + stiffness * q[row]
        state[row, STATE_OWN] = blocks[j, BLOCK_PULL + SPAN_SECOND + pair_row(k, k)] + stiffness
        write(state, row, STATE_AXIS, in_world(read(blocks, j, BLOCK_SPIN + 3 * k), x, y, z))
        write(state, row, STATE_SHIFT, in_world(read(blocks, j, BLOCK_SHIFT + 3 * k), x, y, z))
        write(state, row, STATE_CENTRE, beyond)
        state[row, STATE_PLACE] = k
    u, v, w = read(blocks, j, BLOCK_FRAME), read(blocks, j, BLOCK_FRAME + 3), read(blocks, j, BLOCK_FRAME + 6)
    return (
        blocks[j, BLOCK_PULL + SPAN_LENGTH], stored, in_world(u, x, y, z), in_world(v, x, y, z), in_world(w, x, y, z),
        beyond,
    )  # fmt: skip


@inner
def weigh_filling(joint, fillings, j, g, x, y, z, origin, state):
    """`weigh_gap` for a joint with several freedoms, from what `fill_gaps` left; begins its ties.

    dtau_k / dq_i = -g . sum (m p_ik + m_i p_k): the change of mass counts in the stiffness, as in `weigh_gap`.
    """
    down = in_axes(g, x, y, z)
    mass, first = 0.0, (0.0, 0.0, 0.0)
    for m in range(fillings.shape[1]):
        heft = fillings[j, m, FILLING_MASS]
        if heft > 0.0:
            mass, first = mass + heft, moved(first, heft, read(fillings[j], m, FILLING_PLACE))
    row = joint.first
    state[row, STATE_GAP] = mass
    write(state, row, STATE_GAP_FIRST, moved(in_world(first, x, y, z), mass, origin))
    for k in range(joint.freedoms):
        slope = drift_first = (0.0, 0.0, 0.0)
        drift = curve = drift_slope = 0.0
        for m in range(fillings.shape[1]):
            heft = fillings[j, m, FILLING_MASS]
            if heft > 0.0:
                change, change_k = fillings[j, m, FILLING_DRIFT + k], read(fillings[j], m, FILLING_SLOPE + 3 * k)
                slope, drift = moved(slope, heft, change_k), drift + change
                drift_first = moved(drift_first, change, read(fillings[j], m, FILLING_PLACE))
                drift_slope += change * dot(down, change_k)
                for i in range(k, joint.freedoms):
                    bent = heft * dot(down, read(fillings[j], m, FILLING_CURVE + 3 * pair_row(i, k)))
                    if i == k:
                        curve += bent
                    else:
                        change_i = read(fillings[j], m, FILLING_SLOPE + 3 * i)
                        other = fillings[j, m, FILLING_DRIFT + i]
                        state[row + i, STATE_TIE + k] -= bent + other * dot(down, change_k)
                        state[row + i, STATE_TIE_LOW + k] -= bent + change * dot(down, change_i)
        state[row + k, STATE_DRIFT], state[row + k, STATE_GAP_CURVE] = drift, curve
        state[row + k, STATE_DRIFT_SLOPE] = drift_slope
        write(state, row + k, STATE_GAP_SLOPE, in_world(slope, x, y, z))
        write(state, row + k, STATE_DRIFT_FIRST, moved(in_world(drift_first, x, y, z), drift, origin))


@inner
def in_axes(u, x, y, z):
    """A vector of the world in the axes x, y, z."""
    return dot(u, x), dot(u, y), dot(u, z)


@inner
def weigh_gap(joints, cables, segments, g, j, row, bend, state):
    """Masses inside joint j: rods at the centroid of their arc, cables at the middle of their segment.

    Each sits at p = P + u t + y a with its own u(q), so p' = s' z + u' t - (u/2) n and
    p'' = s'' z + (u'' - u/4) t - u' n: it follows its own joint by less than the distal link does (theory 4.6).
    """
    angle, sin_half, cos_half, s, s1, s2, crossing, a, z, tangent, normal = bend
    # Sums over the masses: of m, m u, m u', m (u'' - u/4), m y; then the same with the change of mass instead of m.
    mass = along = along1 = along2 = aside = 0.0
    drift = drift_along = drift_along1 = drift_aside = 0.0
    if joints[j].kind == FLEXURE and joints[j].mass > 0.0:
        mass = joints[j].mass
        f, f1, f2 = arc_centroid_derivatives(0.5 * angle, sin_half, cos_half)
        u, u1, u2 = joints[j].size * f, 0.5 * joints[j].size * f1, 0.25 * joints[j].size * f2
        along, along1, along2 = mass * u, mass * u1, mass * (u2 - 0.25 * u)
    for k in range(cables.shape[0]):
        cable = cables[k]
        if cable.linear_density == 0.0 or j >= cable.last_link:
            continue
        e, level = segments[k, j].offset, s + segments[k, j].recess
        length, length1, _ = across_mirror(1.0, level, s1, s2, e, sin_half, cos_half)
        u = e * cos_half + level * sin_half
        u1 = s1 * sin_half + 0.25 * length
        u2 = s2 * sin_half + s1 * cos_half - 0.25 * u
        y = cable.x * joints[j].axis_x + cable.y * joints[j].axis_y
        heavy, heavier = cable.linear_density * length, cable.linear_density * length1
        mass, aside = mass + heavy, aside + heavy * y
        along, along1, along2 = along + heavy * u, along1 + heavy * u1, along2 + heavy * (u2 - 0.25 * u)
        drift, drift_aside = drift + heavier, drift_aside + heavier * y
        drift_along, drift_along1 = drift_along + heavier * u, drift_along1 + heavier * u1
    state[row, STATE_GAP], state[row, STATE_DRIFT] = mass, drift
    state[row, STATE_GAP_CURVE] = dot(g, combined(mass * s2, z, along2, tangent, -along1, normal))
    state[row, STATE_DRIFT_SLOPE] = dot(g, combined(drift * s1, z, drift_along1, tangent, -0.5 * drift_along, normal))
    write(state, row, STATE_GAP_FIRST, combined(mass, crossing, along, tangent, aside, a))
    write(state, row, STATE_GAP_SLOPE, combined(mass * s1, z, along1, tangent, -0.5 * along, normal))
    write(state, row, STATE_DRIFT_FIRST, combined(drift, crossing, drift_along, tangent, drift_aside, a))


@inlined
def balance_chain(problem, spatial, q, work):
    """From tip to base: what each joint carries completes its torque tau and its stiffness.

    Where the narrow sweep is enough, it runs in the same pass: one waits for memory while the other waits for a
    division. Returns the energy of weights and forces in J, the largest |tau| and the scale of the torques it is made
    of in N*m, and the joint nearest the tip whose pivot is not positive, or NONE.
    """
    joints, gravity, loads = problem.joints, problem.gravity, problem.loads
    state, load_at = work.state, work.load_at
    g = (gravity[0], gravity[1], gravity[2])
    pull = math.sqrt(dot(g, g))
    mass, first = like(state, 0.0), like(state, (0.0, 0.0, 0.0))
    # Sums over the loads beyond the joint: F, p F^T by rows, moments.
    force = moment = (0.0, 0.0, 0.0)
    row_x = row_y = row_z = like(state, (0.0, 0.0, 0.0))
    energy = residual = scale = like(state, 0.0)
    last = loads.shape[0] - 1
    loaded = False
    memory, weak = like(state, NO_MEMORY), like(state, NONE)
    for j in range(joints.shape[0] - 1, -1, -1):
        row = row_of(joints, j, spatial)
        mass += state[row, STATE_MASS]
        first = added(first, read(state, row, STATE_HEAVY))
        while last >= 0 and loads[last].link == j + 1:
            f, m, at = loads[last].force, loads[last].moment, read(load_at, last, 0)
            F = (f[0], f[1], f[2])
            force, moment = added(force, F), added(moment, (m[0], m[1], m[2]))
            row_x, row_y, row_z = moved(row_x, at[0], F), moved(row_y, at[1], F), moved(row_z, at[2], F)
            energy -= dot(F, at)
            loaded = True
            last -= 1

        if spatial is not None and joints[j].freedoms > 1:
            beyond = Beyond(mass, first, force, row_x, row_y, row_z, moment)
            memory, weak, worst, largest = balance_spatial(
                problem, spatial.blocks, beyond, q, j, pull, state, memory, weak
            )
            residual, scale = max(residual, worst), max(scale, largest)
            if problem.heavy_gaps:
                mass += state[row, STATE_GAP]
                first = added(first, read(state, row, STATE_GAP_FIRST))
            continue
        a, centre, swing = read(state, row, STATE_AXIS), read(state, row, STATE_CENTRE), read(state, row, STATE_SWING)
        d = moved(first, -mass, centre)
        # b = -(a x d) x g, and the own stiffness a . b + (a x C') . F.
        b = mixed(-dot(g, a), d, dot(d, g), a)
        tau = state[row, STATE_TAU] - dot(a, cross_product(d, g))
        own = state[row, STATE_OWN] + mass * dot(swing, g)
        size = state[row, STATE_TENSION_LEVER] + abs(joints[j].stiffness * q[row]) + pull * spread(d)
        if loaded:
            arm_x = moved(row_x, -centre[0], force)
            arm_y = moved(row_y, -centre[1], force)
            arm_z = moved(row_z, -centre[2], force)
            lever = (arm_y[2] - arm_z[1], arm_z[0] - arm_x[2], arm_x[1] - arm_y[0])
            tau -= dot(a, added(lever, moment))
            own += dot(swing, force)
            b = moved(b, -1.0, (dot(arm_x, a), dot(arm_y, a), dot(arm_z, a)))
            b = moved(b, arm_x[0] + arm_y[1] + arm_z[2], a)
            size += spread(arm_x) + spread(arm_y) + spread(arm_z) + spread(moment)
        own += dot(a, b)
        upper = lower = b
        if loaded:
            lower = moved(b, -1.0, cross_product(a, moment))
        if problem.heavy_gaps:
            slope = read(state, row, STATE_GAP_SLOPE)
            tau -= dot(g, slope)
            size += pull * spread(slope)
            own -= state[row, STATE_GAP_CURVE] + state[row, STATE_DRIFT_SLOPE]
            turned = cross_product(slope, g)
            lower = moved(lower, -1.0, turned)
            upper = moved(moved(upper, -1.0, turned), -1.0, cross_product(read(state, row, STATE_DRIFT_FIRST), g))
            mass += state[row, STATE_GAP]
            first = added(first, read(state, row, STATE_GAP_FIRST))
        state[row, STATE_TAU], state[row, STATE_OWN], state[row, STATE_SIZE] = tau, own, size
        write(state, row, STATE_UPPER, upper)
        write(state, row, STATE_LOWER, lower)
        residual, scale = max(residual, abs(tau)), max(scale, size)
        if problem.narrow:
            memory, weak = absorb_joint(state, row, a, upper, tau, own, memory, weak)
    return energy - dot(g, first), residual, scale, weak


@inner
def balance_spatial(problem, blocks, beyond, q, j, pull, state, memory, weak):
    """`balance_chain` at a joint with several freedoms, from the last to the first (theory 9).

    With F the force and L the moment about o of all beyond: tau_k = -om_k . L - o_k . F, b_k = -sum p_k x F, and the
    freedoms of the joint are coupled by om_k . b_i - D_ik . L - (o_ik - om_k x o_i) . F beside their cables.
    Returns what the sweep carries, the joint that gives way, the largest |tau| and the scale of the torques.
    """
    joint, gravity = problem.joints[j], problem.gravity
    g = (gravity[0], gravity[1], gravity[2])
    centre = read(state, joint.first, STATE_CENTRE)
    d = moved(beyond.first, -beyond.mass, centre)
    arm_x = moved(beyond.row_x, -centre[0], beyond.force)
    arm_y = moved(beyond.row_y, -centre[1], beyond.force)
    arm_z = moved(beyond.row_z, -centre[2], beyond.force)
    force = moved(beyond.force, beyond.mass, g)
    lever = added(cross_product(d, g), (arm_y[2] - arm_z[1], arm_z[0] - arm_x[2], arm_x[1] - arm_y[0]))
    twisting = added(lever, beyond.moment)
    x, y, z = read(blocks, j, BLOCK_AXES), read(blocks, j, BLOCK_AXES + 3), read(blocks, j, BLOCK_AXES + 6)
    near_force, near_twisting = in_axes(force, x, y, z), in_axes(twisting, x, y, z)
    loaded = pull * spread(d) + spread(arm_x) + spread(arm_y) + spread(arm_z) + spread(beyond.moment)
    residual = scale = 0.0
    for k in range(joint.freedoms - 1, -1, -1):
        row = joint.first + k
        a, shift = read(state, row, STATE_AXIS), read(state, row, STATE_SHIFT)
        b = mixed(-dot(g, a), d, dot(d, g), a)
        b = moved(b, -1.0, (dot(arm_x, a), dot(arm_y, a), dot(arm_z, a)))
        b = moved(b, arm_x[0] + arm_y[1] + arm_z[2], a)
        b = moved(b, -1.0, cross_product(shift, force))
        tau = state[row, STATE_TAU] - dot(a, twisting) - dot(shift, force)
        spin = read(blocks, j, BLOCK_SPIN + 3 * k)
        for i in range(k, joint.freedoms):
            pair = pair_row(i, k)
            swung = cross_product(spin, read(blocks, j, BLOCK_SHIFT + 3 * i))
            carried = dot(moved(read(blocks, j, BLOCK_SHIFT2 + 3 * pair), -1.0, swung), near_force)
            carried += dot(read(blocks, j, BLOCK_SPIN2 + 3 * pair), near_twisting)
            if i == k:
                own = state[row, STATE_OWN] - carried + dot(a, b)
            else:
                tie = blocks[j, BLOCK_PULL + SPAN_SECOND + pair] - carried
                state[joint.first + i, STATE_TIE + k] += tie
                state[joint.first + i, STATE_TIE_LOW + k] += tie
        stiffness = joint.stiffness if k < 2 else joint.torsion
        size = state[row, STATE_TENSION_LEVER] + abs(stiffness * q[row]) + loaded + spread(shift) * spread(force)
        lower = moved(b, -1.0, cross_product(a, beyond.moment))
        if problem.heavy_gaps:
            slope = read(state, row, STATE_GAP_SLOPE)
            tau -= dot(g, slope)
            size += pull * spread(slope)
            own -= state[row, STATE_GAP_CURVE] + state[row, STATE_DRIFT_SLOPE]
            turned = cross_product(slope, g)
            lower = moved(lower, -1.0, turned)
            b = moved(moved(b, -1.0, turned), -1.0, cross_product(read(state, row, STATE_DRIFT_FIRST), g))
            press = dot(a, cross_product(centre, g)) - dot(shift, g)
            for i in range(row + 1, joint.first + joint.freedoms):
                # What b of a later freedom says of the gap holds for the joints before this one alone.
                hangs = dot(a, cross_product(read(state, i, STATE_GAP_SLOPE), g))
                drawn = dot(a, cross_product(read(state, i, STATE_DRIFT_FIRST), g)) - press * state[i, STATE_DRIFT]
                state[i, STATE_TIE + k] += hangs + drawn
                state[i, STATE_TIE_LOW + k] += hangs
        state[row, STATE_TAU], state[row, STATE_OWN], state[row, STATE_SIZE] = tau, own, size
        write(state, row, STATE_UPPER, b)
        write(state, row, STATE_LOWER, lower)
        residual, scale = max(residual, abs(tau)), max(scale, size)
        if problem.narrow:
            b, tau, own = tied_row(state, row, a, b, tau, own)
            memory, weak = absorb_joint(state, row, a, b, tau, own, memory, weak)
    return memory, weak, residual, scale
