"""What a solved pose looks like: frames, cable lengths, forces in the joints, tip compliance."""

from __future__ import annotations

import math

from vertebra.mechanics.cables import mirror_segment
from vertebra.mechanics.chain import place_base, place_mirror, world
from vertebra.mechanics.columns import AXIS, CENTRE, GAP, MASS, TENSION
from vertebra.mechanics.compiled import kernel
from vertebra.mechanics.equilibrium import gather_weights
from vertebra.mechanics.newton import ENERGY, WEAK, all_in_range, find_shape, is_conservative
from vertebra.mechanics.sweep import NONE, tip_response
from vertebra.mechanics.vectors import cross_product, moved, read, write


@kernel
def place_links(joints, links, origin, q, frames, twists):
    """`walk_chain` for mirror joints only, which compiles in less time."""
    place_base(origin, frames)
    for j in range(joints.shape[0]):
        place_mirror(joints[j], links[j].reach, q[j], j, frames, twists)


@kernel
def describe(
    joints, links, cables, segments, gravity, loads, origin, tip, by_length, tensions, q, state, wide, memory, report,
    frames, twists, at_tip, along, lengths, forces, normal_forces, compliance,
):  # fmt: skip
    """Write what `Shape` tells, from a pose and the `state` and `report` that `settle` or `inspect` left for it.

    Frames (n+1, 4, 4); tip (3,); tensions along the cables (c, n) and their lengths (c,); joint forces (n, 3) and
    their part along the common normal (n,); compliance (6, 6), infinite where the pose is not stable. Completes the
    energy by the cables inside the links.
    """
    n = joints.shape[0]
    place_links(joints, links, origin, q, frames, twists)
    for row in range(3):
        at_tip[row] = world(frames, n, row, tip[0], tip[1], tip[2])
    for k in range(cables.shape[0]):
        lengths[k] = cables[k].inside
        if not by_length:
            report[ENERGY] += tensions[k] * cables[k].inside
        for j in range(n):
            along[k, j] = 0.0
            if j < cables[k].last_link:
                along[k, j] = tensions[k]
                lengths[k] += mirror_segment(joints[j], segments[k, j], q[j])[0]
    heavy_gaps, heavy_cables = gather_weights(joints, links, cables, state)
    carry(joints, gravity, loads, heavy_gaps, q, state, frames, forces, normal_forces)
    if report[WEAK] == NONE:
        narrow = is_conservative(gravity, loads, heavy_cables) and not by_length
        tip_columns(state, at_tip, twists)
        tip_response(state, wide, at_tip, narrow, twists, memory, compliance)
    else:
        for row in range(6):
            for column in range(6):
                compliance[row, column] = math.inf


@kernel
def tip_columns(state, tip, columns):
    """Write the transposed Jacobian (n, 6) at a point of the last link."""
    point = (tip[0], tip[1], tip[2])
    for j in range(state.shape[0]):
        a = read(state, j, AXIS)
        write(columns, j, 0, cross_product(a, moved(point, -1.0, read(state, j, CENTRE))))
        write(columns, j, 3, a)


@kernel
def carry(joints, gravity, loads, heavy_gaps, q, state, frames, forces, normal_forces):
    """Force that each joint passes to its distal link: what the cables press together less what hangs beyond.

    All cables cross a joint along the bisector normal n (theory 2). Mass in a gap counts half to either side.
    """
    mass, fx, fy, fz = 0.0, 0.0, 0.0, 0.0
    last = loads.shape[0] - 1
    for j in range(joints.shape[0] - 1, -1, -1):
        mass += state[j, MASS]
        while last >= 0 and loads[last].link == j + 1:
            f = loads[last].force
            fx, fy, fz = fx + f[0], fy + f[1], fz + f[2]
            last -= 1
        gap = state[j, GAP] if heavy_gaps else 0.0
        mass += 0.5 * gap
        pressed, double_cos = state[j, TENSION], 2.0 * math.cos(0.5 * q[j])
        normal_forces[j] = 0.0
        for row in range(3):
            normal = (frames[j, row, 2] + frames[j + 1, row, 2]) / double_cos
            hung = mass * gravity[row] + (fx if row == 0 else fy if row == 1 else fz)
            forces[j, row] = pressed * normal - hung
            normal_forces[j] += forces[j, row] * normal
        mass += 0.5 * gap


@kernel
def find_shapes(
    joints, links, cables, segments, gravity, loads, origin, tip, tensions, rest, rate, use_starts, first, last,
    q, start, state, load_at, wide, memory, report, frames, twists, along, forces, normal_forces,
    statuses, inside, at_tip, lengths, compliance, numbers,
):  # fmt: skip
    """`find_shape` and `describe` for rows first .. last - 1 of `tensions` (N, c), into the same rows of outputs."""
    by_length = rest.shape[0] > 0  # not a literal, for which `describe` would be compiled once more
    for i in range(first, last):
        statuses[i] = find_shape(
            joints, links, cables, segments, gravity, loads, tensions[i], rest, rate, use_starts,
            q[i], start, state, load_at, wide, memory, report,
        )  # fmt: skip
        describe(
            joints, links, cables, segments, gravity, loads, origin, tip, by_length, tensions[i], q[i], state, wide,
            memory, report, frames, twists, at_tip[i], along, lengths[i], forces, normal_forces, compliance[i],
        )  # fmt: skip
        for column in range(report.shape[0]):
            numbers[i, column] = report[column]
        inside[i] = all_in_range(joints, cables, segments, q[i])


@kernel
def reach(
    joints, links, cables, segments, gravity, loads, origin, tip, tensions, rest, rate, use_start,
    q, start, state, load_at, wide, memory, report, frames, twists, pulls, at_tip, by_tension, compliance,
):  # fmt: skip
    """`find_shape`, then the tip and how it answers to the tensions: d(tip)/dT (6, c) and its compliance (6, 6).

    Both are meaningless unless the status is SETTLED and the shape stable. `pulls`: (n, c) scratch.
    """
    status = find_shape(
        joints, links, cables, segments, gravity, loads, tensions, rest, rate, use_start,
        q, start, state, load_at, wide, memory, report,
    )  # fmt: skip
    place_links(joints, links, origin, q, frames, twists)
    n = joints.shape[0]
    for row in range(3):
        at_tip[row] = world(frames, n, row, tip[0], tip[1], tip[2])
    for j in range(n):
        for k in range(cables.shape[0]):
            pulls[j, k] = -mirror_segment(joints[j], segments[k, j], q[j])[1] if j < cables[k].last_link else 0.0
    _, heavy_cables = gather_weights(joints, links, cables, state)
    narrow = is_conservative(gravity, loads, heavy_cables)
    tip_response(state, wide, at_tip, narrow, pulls, memory, by_tension)
    tip_columns(state, at_tip, twists)
    tip_response(state, wide, at_tip, narrow, twists, memory, compliance)
    return status
