"""Joints with several freedoms: how they move the link beyond them, and the cables across them (theory 9).

All vectors are in the axes of the link before the joint, from its origin. A point p of the link beyond, rho from that
link's origin o, moves with freedom k as p_k = om_k x rho + o_k, and p_ik = D_ik x rho + om_k x (om_i x rho) + o_ik with
D_ik = d om_k / d q_i. Pairs of freedoms are kept for i >= k, in the order 11, 21, 22, 31, 32, 33.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import (
    added,
    combined,
    cross_product,
    dot,
    mixed,
    moved,
    read,
    rotation_coefficient_derivatives,
    scaled,
    spin_coefficient_derivatives,
    write,
)
from vertebra.mechanics.kernels.joints import bend_rod, rod_change, rod_direction, twisted_and_turned
from vertebra.mechanics.layout import (
    BLOCK_FRAME,
    BLOCK_ORIGIN,
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
)
from vertebra.robot.tables import BACKBONE, UNIVERSAL, Floats

X, Y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


class Spatial(NamedTuple):
    """Of robots that have joints with several freedoms; None stands for it where all have one."""

    blocks: Floats
    """(n, BLOCK_WIDTH); rows of joints with one freedom are not used."""
    spans: Floats
    """(cables, n, SPAN_WIDTH)."""
    fillings: Floats
    """(n, cables + 1, FILLING_WIDTH); of no use where gaps have no mass."""


@inner
def row_of(joints, j, spatial):
    """Row of the first freedom of joint j."""
    if spatial is None:
        return j
    return joints[j].first


@inner
def in_world(u, x, y, z):
    """A vector given in the axes x, y, z."""
    return combined(u[0], x, u[1], y, u[2], z)


@inner
def pair_row(i, k):
    """Where the pair of freedoms i >= k of a joint is kept."""
    return i * (i + 1) // 2 + k


@inner
def turn_joints(joints, links, cables, segments, q, spatial):
    """Write `blocks` and `spans` of all joints with several freedoms at a pose."""
    for j in range(joints.shape[0]):
        joint = joints[j]
        if joint.freedoms == 1:
            continue
        if joint.kind == UNIVERSAL:
            turn_universal(joint, links[j].reach, q, j, spatial.blocks)
        else:
            bend_backbone(joint, links[j].reach, q, j, spatial.blocks)
        for k in range(cables.shape[0]):
            if j < cables[k].last_link:
                span = spatial.spans[k, j]
                span_gap(joint.freedoms, joint.kind == BACKBONE, cables[k], segments[k, j], j, spatial.blocks, span)


@inner
def turn_universal(joint, reach, q, j, blocks):
    """Two pins in one point, the origin of the link beyond: om_1 stands still, om_2 turns with q_1."""
    q1, q2 = q[joint.first], q[joint.first + 1]
    sin_1, cos_1, sin_2, cos_2 = math.sin(q1), math.cos(q1), math.sin(q2), math.cos(q2)
    if joint.axis_y == 1.0:
        axis_1, axis_2 = Y, (cos_1, 0.0, -sin_1)
        turned_z = (sin_1, 0.0, cos_1)
        x, y, z = axis_2, mixed(cos_2, Y, sin_2, turned_z), mixed(cos_2, turned_z, -sin_2, Y)
    else:
        axis_1, axis_2 = X, (0.0, cos_1, sin_1)
        turned_z = (0.0, -sin_1, cos_1)
        x, y, z = mixed(cos_2, X, -sin_2, turned_z), axis_2, mixed(cos_2, turned_z, sin_2, X)
    for column in range(blocks.shape[1]):
        blocks[j, column] = 0.0
    write_frame(blocks, j, x, y, z, (0.0, 0.0, reach + joint.size))
    write(blocks, j, BLOCK_SPIN, axis_1)
    write(blocks, j, BLOCK_SPIN + 3, axis_2)


@inner
def write_frame(blocks, j, x, y, z, origin):
    write(blocks, j, BLOCK_FRAME, x)
    write(blocks, j, BLOCK_FRAME + 3, y)
    write(blocks, j, BLOCK_FRAME + 6, z)
    write(blocks, j, BLOCK_ORIGIN, origin)


@inner
def bend_backbone(joint, reach, q, j, blocks):
    """A rod bent to a circle, and twisted about the bisector's normal where it has a third freedom."""
    rod = bend_rod(joint, reach, q)
    write_frame(blocks, j, rod.x, rod.y, rod.z, rod.origin)
    axis, height = (rod.z[0], rod.z[1], 1.0 + rod.z[2]), rod.height[0]
    for k in range(joint.freedoms):
        spin, shift, far = rod_change(rod, k)
        write(blocks, j, BLOCK_SPIN + 3 * k, spin)
        write(blocks, j, BLOCK_SHIFT + 3 * k, shift)
        slope = rod_slope(rod, k)
        for i in range(k, joint.freedoms):
            other, _, _ = rod_change(rod, i)
            turn = rod_turn(rod, i, k, far)
            # o = s (Z + z), so o_ik = s_ik (Z + z) + s_k z_i + s_i z_k + s z_ik.
            swung = mixed(slope, cross_product(other, rod.z), rod_slope(rod, i), cross_product(spin, rod.z))
            bent = added(cross_product(turn, rod.z), cross_product(spin, cross_product(other, rod.z)))
            write(blocks, j, BLOCK_SPIN2 + 3 * pair_row(i, k), turn)
            curve = combined(rod_curve(rod, i, k), axis, 1.0, swung, height, bent)
            write(blocks, j, BLOCK_SHIFT2 + 3 * pair_row(i, k), curve)


@inner
def rod_slope(rod, k):
    """ds / dq_k."""
    return 2.0 * rod.height[1] * dot(rod.w, rod_direction(k)) if k < 2 else 0.0


@inner
def rod_curve(rod, i, k):
    """d2s / dq_i dq_k, i >= k."""
    if i == 2:
        return 0.0
    along = dot(rod.w, rod_direction(i)) * dot(rod.w, rod_direction(k))
    return 4.0 * rod.height[2] * along + 2.0 * rod.height[1] * dot(rod_direction(i), rod_direction(k))


@inner
def rod_turn(rod, i, k, far):
    """d om_k / dq_i, i >= k; `far` is the part of om_k by which the second half of the rod turns."""
    if k == 2:
        return (0.0, 0.0, 0.0)
    if i == 2:
        return cross_product(rod.normal, far)
    c, a, b, d = rod.coefficients
    w, ei, ek = rod.w, rod_direction(i), rod_direction(k)
    square, rise, along = dot(w, w), 2.0 * dot(w, ei), dot(w, ek)
    a1, _, b1, _ = rotation_coefficient_derivatives(square, c, a, b)
    d1, _ = spin_coefficient_derivatives(square, b, d, b1)
    change = combined(rise * a1, ek, rise * b1, cross_product(w, ek), rise * d1 * along + d * dot(ei, ek), w)
    change = combined(1.0, change, b, cross_product(ei, ek), d * along, ei)
    before = combined(a, ei, b, cross_product(w, ei), d * dot(w, ei), w)
    beyond = twisted_and_turned(c, a, b, w, rod.sin_twist, rod.cos_twist, change)
    return combined(1.0, change, 1.0, cross_product(before, far), 1.0, beyond)


@inner
def point_change(blocks, j, k, rho):
    """p_k of a point of the link beyond joint j."""
    return added(read(blocks, j, BLOCK_SHIFT + 3 * k), cross_product(read(blocks, j, BLOCK_SPIN + 3 * k), rho))


@inner
def point_change_twice(blocks, j, i, k, rho):
    """p_ik of a point of the link beyond joint j, i >= k."""
    row = 3 * pair_row(i, k)
    spin_i, spin_k = read(blocks, j, BLOCK_SPIN + 3 * i), read(blocks, j, BLOCK_SPIN + 3 * k)
    bent = cross_product(read(blocks, j, BLOCK_SPIN2 + row), rho)
    return combined(
        1.0, read(blocks, j, BLOCK_SHIFT2 + row), 1.0, bent, 1.0, cross_product(spin_k, cross_product(spin_i, rho))
    )


@inner
def from_origin(blocks, j, x, y, z):
    """A point of the link beyond joint j as seen from that link's origin, in the axes of the link before."""
    ex, ey, ez = read(blocks, j, BLOCK_FRAME), read(blocks, j, BLOCK_FRAME + 3), read(blocks, j, BLOCK_FRAME + 6)
    return combined(x, ex, y, ey, z, ez)


@inner
def span_gap(freedoms, is_rod, cable, segment, j, blocks, span):
    """Length of the straight piece of a cable across joint j, and its derivatives."""
    rho = from_origin(blocks, j, cable.x, cable.y, segment.entry)
    line = moved(added(read(blocks, j, BLOCK_ORIGIN), rho), -1.0, (cable.x, cable.y, segment.exit))
    length = math.sqrt(dot(line, line))
    if is_rod and line[2] + dot(line, read(blocks, j, BLOCK_FRAME + 6)) < 0.0:
        length = -length  # discs that have passed through each other, as the cable law of mirror joints has it
    span[SPAN_LENGTH] = length
    share = 1.0 / length if length != 0.0 else 0.0
    unit = scaled(share, line)
    for k in range(freedoms):
        change = point_change(blocks, j, k, rho)
        first = dot(unit, change)
        span[SPAN_FIRST + k] = first
        for i in range(k, freedoms):
            other = point_change(blocks, j, i, rho)
            across = share * (dot(change, other) - first * dot(unit, other))
            span[SPAN_SECOND + pair_row(i, k)] = across + dot(unit, point_change_twice(blocks, j, i, k, rho))


# Masses in the gaps: cables at the middle of their piece, a rod at the centroid of its arc (theory 4.6).


@inner
def fill_gaps(joints, links, cables, segments, q, spatial):
    """Write `fillings` of all joints with several freedoms, after `turn_joints`."""
    for j in range(joints.shape[0]):
        joint = joints[j]
        if joint.freedoms > 1:
            for k in range(cables.shape[0]):
                fill_with_cable(joint.freedoms, cables[k], segments[k, j], k, j, spatial)
            fill_with_rod(joint, links[j].reach, q, j, spatial.blocks, spatial.fillings[j, cables.shape[0]])


@inner
def fill_with_cable(freedoms, cable, segment, k, j, spatial):
    """The middle between a hole of the link before and one of the link beyond moves half as much as the latter."""
    blocks, filling, span = spatial.blocks, spatial.fillings, spatial.spans
    density = cable.linear_density if j < cable.last_link else 0.0
    filling[j, k, FILLING_MASS] = density * span[k, j, SPAN_LENGTH]
    if density == 0.0:
        filling[j, k, FILLING_MASS] = 0.0
        return
    rho = from_origin(blocks, j, cable.x, cable.y, segment.entry)
    middle = added(read(blocks, j, BLOCK_ORIGIN), added(rho, (cable.x, cable.y, segment.exit)))
    write(filling[j], k, FILLING_PLACE, scaled(0.5, middle))
    for m in range(freedoms):
        filling[j, k, FILLING_DRIFT + m] = density * span[k, j, SPAN_FIRST + m]
        write(filling[j], k, FILLING_SLOPE + 3 * m, scaled(0.5, point_change(blocks, j, m, rho)))
        for i in range(m, freedoms):
            curve = scaled(0.5, point_change_twice(blocks, j, i, m, rho))
            write(filling[j], k, FILLING_CURVE + 3 * pair_row(i, m), curve)


@inner
def fill_with_rod(joint, reach, q, j, blocks, filling):
    """Half of the rod's mass is seen from either link alike: at c = (L/2) (D h + B Z) beyond the face of the link
    before, h half of the bend vector, and at its mirror image c' before the link beyond."""
    mass = joint.mass if joint.kind == BACKBONE else 0.0
    filling[FILLING_MASS] = mass
    if mass == 0.0:
        return
    rod = bend_rod(joint, reach, q)
    near, far = rod_half(rod, joint.size, reach)
    rho = from_origin(blocks, j, far[0], far[1], far[2])
    place = added(near, added(rod.origin, rho))
    for row in range(3):
        filling[FILLING_PLACE + row] = 0.5 * place[row]
    for k in range(joint.freedoms):
        filling[FILLING_DRIFT + k] = 0.0
        near_k, far_k = rod_half_change(rod, joint.size, k)
        seen_k = from_origin(blocks, j, far_k[0], far_k[1], far_k[2])
        slope = added(near_k, added(seen_k, point_change(blocks, j, k, rho)))
        spin_k = read(blocks, j, BLOCK_SPIN + 3 * k)
        for row in range(3):
            filling[FILLING_SLOPE + 3 * k + row] = 0.5 * slope[row]
        for i in range(k, joint.freedoms):
            _, far_i = rod_half_change(rod, joint.size, i)
            seen_i = from_origin(blocks, j, far_i[0], far_i[1], far_i[2])
            near_ik, far_ik = rod_half_change_twice(rod, joint.size, i, k)
            seen_ik = from_origin(blocks, j, far_ik[0], far_ik[1], far_ik[2])
            swung = added(cross_product(read(blocks, j, BLOCK_SPIN + 3 * i), seen_k), cross_product(spin_k, seen_i))
            curve = combined(1.0, near_ik, 1.0, seen_ik, 1.0, swung)
            curve = added(curve, point_change_twice(blocks, j, i, k, rho))
            for row in range(3):
                filling[FILLING_CURVE + 3 * pair_row(i, k) + row] = 0.5 * curve[row]


@inner
def rod_half(rod, length, reach):
    """c and c'."""
    _, _, b, d = rod.coefficients
    x, y, z = 0.5 * length * d * rod.w[1], -0.5 * length * d * rod.w[0], 0.5 * length * b
    return (x, y, reach + z), (x, y, -z)


@inner
def rod_half_change(rod, length, k):
    """Derivatives of c and c' in freedom k."""
    if k == 2:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    c, a, b, d = rod.coefficients
    square, e = dot(rod.w, rod.w), rod_direction(k)
    _, _, b1, _ = rotation_coefficient_derivatives(square, c, a, b)
    d1, _ = spin_coefficient_derivatives(square, b, d, b1)
    rise, half = 2.0 * dot(rod.w, e), 0.5 * length
    x, y = half * (d1 * rise * rod.w[1] + d * e[1]), -half * (d1 * rise * rod.w[0] + d * e[0])
    return (x, y, half * b1 * rise), (x, y, -half * b1 * rise)


@inner
def rod_half_change_twice(rod, length, i, k):
    """Second derivatives of c and c', i >= k."""
    if i == 2:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    c, a, b, d = rod.coefficients
    w, ei, ek, half = rod.w, rod_direction(i), rod_direction(k), 0.5 * length
    square = dot(w, w)
    _, _, b1, b2 = rotation_coefficient_derivatives(square, c, a, b)
    d1, d2 = spin_coefficient_derivatives(square, b, d, b1)
    rise_i, rise_k, bend = 2.0 * dot(w, ei), 2.0 * dot(w, ek), 2.0 * dot(ei, ek)
    whole = d2 * rise_i * rise_k + d1 * bend
    x = half * (whole * w[1] + d1 * (rise_k * ei[1] + rise_i * ek[1]))
    y = -half * (whole * w[0] + d1 * (rise_k * ei[0] + rise_i * ek[0]))
    z = half * (b2 * rise_i * rise_k + b1 * bend)
    return (x, y, z), (x, y, -z)


@kernel
def measure_spans(joints, links, cables, segments, q, spatial):
    """`turn_joints` and `fill_gaps` for Python."""
    turn_joints(joints, links, cables, segments, q, spatial)
    fill_gaps(joints, links, cables, segments, q, spatial)
