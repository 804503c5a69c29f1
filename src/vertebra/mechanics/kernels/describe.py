"""What a pose looks like: frames, cable lengths, forces in the joints, tip compliance, and where the mass is."""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import added, cross_product, moved, read, write
from vertebra.mechanics.kernels.cables import across_mirror, mirror_segment
from vertebra.mechanics.kernels.equilibrium import gather_weights
from vertebra.mechanics.kernels.friction import commit_slip
from vertebra.mechanics.kernels.joints import arc_centroid, mirror_law, place_base, place_mirror, walk_chain, world
from vertebra.mechanics.kernels.newton import PENDING, SETTLED, all_in_range, copy_pose, find_shape, is_conservative
from vertebra.mechanics.kernels.spatial import row_of
from vertebra.mechanics.kernels.sweep import NONE, tip_response
from vertebra.mechanics.layout import (
    BEND_DISC,
    GRIP_ARM,
    GRIP_RATIO,
    REPORT_ENERGY,
    REPORT_LOCKED,
    REPORT_WEAK,
    SPAN_FIRST,
    SPAN_LENGTH,
    STATE_AXIS,
    STATE_CENTRE,
    STATE_GAP,
    STATE_MASS,
    STATE_SHIFT,
    STATE_TENSION,
)
from vertebra.robot.tables import FLEXURE


@inner
def place_links(joints, links, origin, spatial, q, frames, twists):
    """`walk_chain`, of which mirror joints alone need less, and compile in less time."""
    if spatial is not None:
        walk_chain(joints, links, origin, q, frames, twists)
    else:
        place_base(origin, frames)
        for j in range(joints.shape[0]):
            place_mirror(joints[j], links[j].reach, q[j], j, frames, twists)


@inner
def locate_tip(frames, tip, at_tip):
    """The tip in the world, m."""
    for row in range(3):
        at_tip[row] = world(frames, frames.shape[0] - 1, row, tip[0], tip[1], tip[2])


@inner
def measure_cables(joints, cables, segments, spatial, q, lengths):
    """Whole length of each cable, m; those of `spatial` are of the same pose."""
    for k in range(cables.shape[0]):
        lengths[k] = cables[k].inside
    for j in range(joints.shape[0]):
        angle = q[row_of(joints, j, spatial)]
        if spatial is not None and joints[j].freedoms > 1:
            for k in range(cables.shape[0]):
                if j < cables[k].last_link:
                    lengths[k] += spatial.spans[k, j, SPAN_LENGTH]
            continue
        sin_half, cos_half = math.sin(0.5 * angle), math.cos(0.5 * angle)
        s, s1, s2 = mirror_law(joints[j].kind, joints[j].size, angle, sin_half, cos_half)
        for k in range(cables.shape[0]):
            if j < cables[k].last_link:
                e, height = segments[k, j].offset, s + segments[k, j].recess
                lengths[k] += across_mirror(1.0, height, s1, s2, e, sin_half, cos_half)[0]


@kernel
def describe_shape(
    joints, links, cables, segments, gravity, loads, origin, tip, by_length, friction, tensions, q, state, wide, memory,
    report, spatial, frames, twists, at_tip, along, lengths, forces, normal_forces, compliance,
):  # fmt: skip
    """Write the contents of `Shape`, from a pose and what `find_shape` or `inspect_pose` left in `state` and `report`.

    Frames (n+1, 4, 4); tip (3,); tensions along the cables (c, n) and their lengths (c,); joint forces (n, 3) and
    their part along the common normal (n,); compliance (6, 6), infinite where the pose is not stable. Completes the
    energy by the cables inside the links.
    """
    heavy_gaps = describe_tip(
        joints, links, cables, segments, gravity, loads, origin, tip, by_length, friction, tensions, q, state, wide,
        memory, report, spatial, frames, twists, at_tip, lengths, compliance,
    )  # fmt: skip
    for k in range(cables.shape[0]):
        for j in range(joints.shape[0]):
            along[k, j] = 0.0
            if j < cables[k].last_link:
                along[k, j] = tensions[k] * tension_ratio(friction, k, j)
    joint_forces(
        joints, cables, segments, along, gravity, loads, heavy_gaps, spatial, q, state, frames, forces, normal_forces
    )


@inner
def describe_tip(
    joints, links, cables, segments, gravity, loads, origin, tip, by_length, friction, tensions, q, state, wide, memory,
    report, spatial, frames, twists, at_tip, lengths, compliance,
):  # fmt: skip
    """`describe_shape` without the forces in the joints; returns whether gaps have mass."""
    place_links(joints, links, origin, spatial, q, frames, twists)
    locate_tip(frames, tip, at_tip)
    measure_cables(joints, cables, segments, spatial, q, lengths)
    if not by_length:
        for k in range(cables.shape[0]):
            report[REPORT_ENERGY] += tensions[k] * cables[k].inside
    heavy_gaps, heavy_cables = gather_weights(joints, links, cables, state)
    if report[REPORT_WEAK] == NONE:
        narrow = friction is None and is_conservative(gravity, loads, heavy_cables) and not by_length
        push_columns(state, friction, spatial, at_tip, twists)
        tip_response(state, spatial, wide, at_tip, narrow, twists, memory, compliance)
    else:
        for row in range(6):
            for column in range(6):
                compliance[row, column] = math.inf
    return heavy_gaps


@inner
def tension_ratio(friction, k, j):
    """Tension of cable k across joint j over that at its base."""
    if friction is None:
        return 1.0
    return friction.grip[GRIP_RATIO, k, j]


@inner
def tension_arm(joints, segments, friction, spatial, q, k, j, i):
    """Torque on freedom i of joint j per tension at the base of cable k, m; the cable crosses the joint."""
    row = row_of(joints, j, spatial) + i
    if friction is not None:
        return friction.grip[GRIP_RATIO, k, j] * friction.grip[GRIP_ARM, k, row]
    if spatial is not None and joints[j].freedoms > 1:
        return spatial.spans[k, j, SPAN_FIRST + i]
    return mirror_segment(joints[j], segments[k, j], q[row])[1]


@inner
def push_columns(state, friction, spatial, tip, columns):
    """Write the torques on each joint (n, 6) per force and moment on a point of the last link: the transposed Jacobian,
    or, where torques are balanced at the discs, the same about their centres."""
    point = (tip[0], tip[1], tip[2])
    for j in range(state.shape[0]):
        a = read(state, j, STATE_AXIS)
        about = read(state, j, STATE_CENTRE)
        if friction is not None and friction.at_discs:
            about = read(friction.bends, j, BEND_DISC)
        velocity = cross_product(a, moved(point, -1.0, about))
        if spatial is not None:
            velocity = added(velocity, read(state, j, STATE_SHIFT))
        write(columns, j, 0, velocity)
        write(columns, j, 3, a)


@inner
def joint_forces(
    joints, cables, segments, along, gravity, loads, heavy_gaps, spatial, q, state, frames, forces, normal_forces
):
    """Force that each joint passes to its distal link: the pressure of the cables less all that hangs beyond.

    All cables cross a mirror joint along the bisector normal n (theory 2.3). Mass in a gap counts half to either side.
    """
    mass, fx, fy, fz = 0.0, 0.0, 0.0, 0.0
    last = loads.shape[0] - 1
    for j in range(joints.shape[0] - 1, -1, -1):
        first = row_of(joints, j, spatial)
        mass += state[first, STATE_MASS]
        while last >= 0 and loads[last].link == j + 1:
            f = loads[last].force
            fx, fy, fz = fx + f[0], fy + f[1], fz + f[2]
            last -= 1
        gap = state[first, STATE_GAP] if heavy_gaps else 0.0
        mass += 0.5 * gap
        pressed, double_cos = state[first, STATE_TENSION], 2.0 * math.cos(0.5 * q[first])
        if spatial is not None and joints[j].freedoms > 1:
            double_cos = 0.0
            for row in range(3):
                double_cos += (frames[j, row, 2] + frames[j + 1, row, 2]) * (frames[j, row, 2] + frames[j + 1, row, 2])
            double_cos = math.sqrt(double_cos)
        normal_forces[j] = 0.0
        for row in range(3):
            normal = (frames[j, row, 2] + frames[j + 1, row, 2]) / double_cos
            hung = mass * gravity[row] + (fx if row == 0 else fy if row == 1 else fz)
            forces[j, row] = pressed * normal - hung
            if spatial is not None and joints[j].freedoms > 1:
                forces[j, row] = pull_across(cables, segments, along, spatial, frames, j, row) - hung
            normal_forces[j] += forces[j, row] * normal
        mass += 0.5 * gap


@inner
def pull_across(cables, segments, along, spatial, frames, j, row):
    """One component of the force with which the cables press the links of a joint with several freedoms together, N."""
    total = 0.0
    for k in range(cables.shape[0]):
        if j < cables[k].last_link and spatial.spans[k, j, SPAN_LENGTH] > 0.0:
            before = world(frames, j, row, cables[k].x, cables[k].y, segments[k, j].exit)
            after = world(frames, j + 1, row, cables[k].x, cables[k].y, segments[k, j].entry)
            total += along[k, j] * (after - before) / spatial.spans[k, j, SPAN_LENGTH]
    return total


@kernel
def find_shapes(
    joints, links, cables, segments, gravity, loads, origin, tip, tensions, rest, rate, friction, use_starts, walking,
    first, last,
    q, start, state, load_at, wide, memory, report, spatial, frames, twists,
    statuses, inside, at_tip, lengths, compliance, numbers, works,
):  # fmt: skip
    """`find_shape` and `describe_tip` for rows first .. last - 1 of `tensions` (N, c), into the same rows of outputs;
    those whose status is not PENDING are left as they are.

    With `walking` each row starts from the one before, and each row that is solved becomes the history of friction for
    the next; a row that is not ends the walk. Returns the number of rows done.
    """
    by_length = rest.shape[0] > 0  # not a literal, for which `describe_tip` would be compiled once more
    for i in range(first, last):
        if statuses[i] != PENDING:
            continue
        use_start = use_starts or (walking and i > first)
        if walking and i > first:
            copy_pose(q[i - 1], q[i])
        statuses[i] = find_shape(
            joints, links, cables, segments, gravity, loads, tensions[i], rest, rate, friction, use_start,
            q[i], start, state, load_at, wide, memory, report, spatial,
        )  # fmt: skip
        if walking:
            place_links(joints, links, origin, spatial, q[i], frames, twists)
            locate_tip(frames, tip, at_tip[i])
            measure_cables(joints, cables, segments, spatial, q[i], lengths[i])
        else:
            describe_tip(
                joints, links, cables, segments, gravity, loads, origin, tip, by_length, friction, tensions[i], q[i],
                state, wide, memory, report, spatial, frames, twists, at_tip[i], lengths[i], compliance[i],
            )  # fmt: skip
        for column in range(report.shape[0]):
            numbers[i, column] = report[column]
        inside[i] = report[REPORT_LOCKED] == NONE and all_in_range(joints, cables, segments, q[i])
        if walking:
            if statuses[i] != SETTLED or report[REPORT_WEAK] != NONE or not inside[i]:
                return i
            works[i] = commit_history(cables, friction, tensions[i])
    return last


@inner
def commit_history(cables, friction, tensions):
    """`commit_slip` where there is friction; returns the work done against it, J."""
    if friction is None:
        return 0.0
    return commit_slip(cables, friction.laws, tensions, friction.grip, friction.history)


@kernel
def find_tip(
    joints, links, cables, segments, gravity, loads, origin, tip, tensions, rest, rate, friction, use_start,
    q, start, state, load_at, wide, memory, report, spatial, frames, twists, pulls, at_tip, by_tension, compliance,
):  # fmt: skip
    """`find_shape`, then the tip and how it answers to the tensions: d(tip)/dT (6, c) and its compliance (6, 6).

    Both are meaningless unless the status is SETTLED and the shape stable. `pulls`: (n, c) scratch.
    """
    status = find_shape(
        joints, links, cables, segments, gravity, loads, tensions, rest, rate, friction, use_start,
        q, start, state, load_at, wide, memory, report, spatial,
    )  # fmt: skip
    place_links(joints, links, origin, spatial, q, frames, twists)
    locate_tip(frames, tip, at_tip)
    for j in range(joints.shape[0]):
        for i in range(joints[j].freedoms):
            row = row_of(joints, j, spatial) + i
            for k in range(cables.shape[0]):
                pulls[row, k] = 0.0
                if j < cables[k].last_link:
                    pulls[row, k] = -tension_arm(joints, segments, friction, spatial, q, k, j, i)
    _, heavy_cables = gather_weights(joints, links, cables, state)
    narrow = friction is None and is_conservative(gravity, loads, heavy_cables)
    tip_response(state, spatial, wide, at_tip, narrow, pulls, memory, by_tension)
    push_columns(state, friction, spatial, at_tip, twists)
    tip_response(state, spatial, wide, at_tip, narrow, twists, memory, compliance)
    return status


# Where the mass is: links, rods at the centroid of their arc, cables in the gaps, locking devices (theory 4.6).


@kernel
def locate_masses(joints, links, cables, segments, q, frames, lengths, link_at, rod_at, cable_mass, cable_at, lock_at):
    """Write centroids in world axes, m: links (n+1, 3), rods (n, 3), cable gaps (cables, n, 3), locks (cables, 3).

    `cable_mass` (cables, n) in kg follows the current segment `lengths`. Joints without rods get the middle of their
    gap, cable gaps beyond the end of a cable zero.
    """
    for i in range(links.shape[0]):
        com = links[i].center_of_mass
        for row in range(3):
            link_at[i, row] = world(frames, i, row, com[0], com[1], com[2])
    for j in range(joints.shape[0]):
        for row in range(3):
            rod_at[j, row] = 0.5 * (world(frames, j, row, 0.0, 0.0, links[j].reach) + frames[j + 1, row, 3])
        if joints[j].kind == FLEXURE:
            locate_rods(joints[j], links[j].reach, q[joints[j].first], j, frames, rod_at)
    for k in range(cables.shape[0]):
        x, y, last = cables[k].x, cables[k].y, cables[k].last_link
        for row in range(3):
            lock_at[k, row] = world(frames, last, row, x, y, cables[k].end)
        for j in range(joints.shape[0]):
            cable_mass[k, j] = cables[k].linear_density * lengths[k, j]
            for row in range(3):
                cable_at[k, j, row] = 0.0
                if j < last:
                    before = world(frames, j, row, x, y, segments[k, j].exit)
                    cable_at[k, j, row] = 0.5 * (before + world(frames, j + 1, row, x, y, segments[k, j].entry))


@inner
def locate_rods(joint, reach, q, j, frames, rod_at):
    """Centroid of the circular arc of length L: on the bisector, from P toward the bend side."""
    h = 0.5 * q
    sin_h, cos_h = math.sin(h), math.cos(h)
    s, _, _ = mirror_law(joint.kind, joint.size, q, sin_h, cos_h)
    shift = joint.size * arc_centroid(h, sin_h, cos_h)
    toward_bend, back = shift * cos_h, shift * sin_h
    for row in range(3):
        rod_at[j, row] = world(
            frames, j, row, toward_bend * joint.axis_y, -toward_bend * joint.axis_x, reach + s - back
        )
