"""Joints with several freedoms: how they move the link beyond them, and the cables across them (theory 9).

All vectors are in the axes of the link before the joint, from its origin. A point p of the link beyond, rho from that
link's origin o, moves with freedom k as p_k = om_k x rho + o_k, and p_ik = D_ik x rho + om_k x (om_i x rho) + o_ik with
D_ik = d om_k / d q_i. Pairs of freedoms are kept for i >= k, in the order 11, 21, 22, 31, 32, 33.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import added, combined, cross_product, dot, mixed, moved, read, scaled, write
from vertebra.mechanics.kernels.joints import rotation_coefficient_derivatives, rotation_coefficients
from vertebra.mechanics.layout import (
    BLOCK_FRAME,
    BLOCK_ORIGIN,
    BLOCK_SHIFT,
    BLOCK_SHIFT2,
    BLOCK_SPIN,
    BLOCK_SPIN2,
    SPAN_FIRST,
    SPAN_LENGTH,
    SPAN_SECOND,
)
from vertebra.robot.tables import UNIVERSAL, Floats

_SMALL_SQUARE = 0.04
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class Spatial(NamedTuple):
    """Of robots that have joints with several freedoms; None stands for it where all have one."""

    blocks: Floats
    """(n, BLOCK_WIDTH); rows of joints with one freedom are not used."""
    spans: Floats
    """(cables, n, SPAN_WIDTH)."""


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
                span_gap(joint.freedoms, cables[k], segments[k, j], j, spatial.blocks, spatial.spans[k, j])


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
    """A rod bent to a circle: T = Tz(s) E Rz(twist) E Tz(s) with E = exp(w/2), w = (-b_y, b_x, 0), s = L tan(t/2) / t.

    Bend vector b of length t; the twist about the bisector's normal n = E z is a third freedom where there is one.
    """
    first, freedoms = joint.first, joint.freedoms
    bx, by = q[first], q[first + 1]
    twist = q[first + 2] if freedoms == 3 else 0.0
    w = (-0.5 * by, 0.5 * bx, 0.0)
    square = dot(w, w)
    c, a, b, d = rotation_coefficients(square)
    a1, _, b1, _ = rotation_coefficient_derivatives(square, c, a, b)
    d1 = spin_coefficient_derivative(square, b, d)
    f, f1, f2 = tangent_ratio_of_square(square)
    height, height1, height2 = 0.5 * joint.size * f, 0.5 * joint.size * f1, 0.5 * joint.size * f2
    e = ((0.0, 0.5, 0.0), (-0.5, 0.0, 0.0))  # dw / d b_x, dw / d b_y
    normal = turned_by(c, a, b, w, Z)
    sin_t, cos_t = math.sin(twist), math.cos(twist)
    x = twisted_and_turned(c, a, b, w, sin_t, cos_t, turned_by(c, a, b, w, X))
    y = twisted_and_turned(c, a, b, w, sin_t, cos_t, turned_by(c, a, b, w, Y))
    z = twisted_and_turned(c, a, b, w, sin_t, cos_t, normal)
    axis = added(Z, z)
    write_frame(blocks, j, x, y, z, moved((0.0, 0.0, reach), height, axis))
    for k in range(2):
        # Of the first half: h_k = J_l(w) e_k; the second half turns with h_k seen through E Rz.
        half = combined(a, e[k], b, cross_product(w, e[k]), d * dot(w, e[k]), w)
        far = twisted_and_turned(c, a, b, w, sin_t, cos_t, half)
        spin = added(half, far)
        slope = 2.0 * height1 * dot(w, e[k])
        write(blocks, j, BLOCK_SPIN + 3 * k, spin)
        write(blocks, j, BLOCK_SHIFT + 3 * k, mixed(slope, axis, height, cross_product(spin, z)))
        for i in range(k, 2):
            rise = 2.0 * dot(w, e[i])
            along = dot(w, e[k])
            change = combined(rise * a1, e[k], rise * b1, cross_product(w, e[k]), rise * d1 * along, w)
            change = combined(1.0, change, b, cross_product(e[i], e[k]), d * along, e[i])
            change = moved(change, d * dot(e[i], e[k]), w)
            before = combined(a, e[i], b, cross_product(w, e[i]), d * dot(w, e[i]), w)
            turned = combined(
                1.0, change, 1.0, cross_product(before, far), 1.0,
                twisted_and_turned(c, a, b, w, sin_t, cos_t, change),
            )  # fmt: skip
            write(blocks, j, BLOCK_SPIN2 + 3 * pair_row(i, k), turned)
            curve = 4.0 * height2 * dot(w, e[k]) * dot(w, e[i]) + 2.0 * height1 * dot(e[i], e[k])
            write(blocks, j, BLOCK_SHIFT2 + 3 * pair_row(i, k), scaled(curve, axis))
        if freedoms == 3:
            write(blocks, j, BLOCK_SPIN2 + 3 * pair_row(2, k), cross_product(normal, far))
            write(blocks, j, BLOCK_SHIFT2 + 3 * pair_row(2, k), (0.0, 0.0, 0.0))
    if freedoms == 3:
        write(blocks, j, BLOCK_SPIN + 6, normal)
        write(blocks, j, BLOCK_SHIFT + 6, scaled(height, cross_product(normal, z)))
        write(blocks, j, BLOCK_SPIN2 + 15, (0.0, 0.0, 0.0))
        write(blocks, j, BLOCK_SHIFT2 + 15, (0.0, 0.0, 0.0))
    # o_ik with o = s (Z + z): the part above is that of s alone.
    for k in range(freedoms):
        spin_k = read(blocks, j, BLOCK_SPIN + 3 * k)
        slope_k = 2.0 * height1 * dot(w, e[k]) if k < 2 else 0.0
        for i in range(k, freedoms):
            spin_i = read(blocks, j, BLOCK_SPIN + 3 * i)
            slope_i = 2.0 * height1 * dot(w, e[i]) if i < 2 else 0.0
            row = 3 * pair_row(i, k)
            swung = mixed(slope_k, cross_product(spin_i, z), slope_i, cross_product(spin_k, z))
            turned = added(
                cross_product(read(blocks, j, BLOCK_SPIN2 + row), z), cross_product(spin_k, cross_product(spin_i, z))
            )
            now = read(blocks, j, BLOCK_SHIFT2 + row)
            write(blocks, j, BLOCK_SHIFT2 + row, combined(1.0, now, 1.0, swung, height, turned))


@inner
def turned_by(c, a, b, w, v):
    """exp(w) v from the coefficients of the rotation."""
    return combined(c, v, a, cross_product(w, v), b * dot(w, v), w)


@inner
def twisted_and_turned(c, a, b, w, sin_t, cos_t, v):
    """exp(w) Rz(twist) v."""
    return turned_by(c, a, b, w, (cos_t * v[0] - sin_t * v[1], sin_t * v[0] + cos_t * v[1], v[2]))


@inner
def spin_coefficient_derivative(y, b, d):
    """dD/dy of `rotation_coefficients`, D = (phi - sin phi) / phi^3 with y = phi^2."""
    if y < _SMALL_SQUARE:
        return -1 / 120 * (1 - y / 21 * (1 - y / 48 * (1 - y * 2 / 165 * (1 - y * 5 / 624))))
    return 0.5 * (b - 3.0 * d) / y


@inner
def tangent_ratio_of_square(y):
    """F(y) = tan(h) / h with y = h^2, and its first two derivatives in y."""
    if y < _SMALL_SQUARE:
        c1, c2, c3, c4, c5 = 1 / 3, 2 / 15, 17 / 315, 62 / 2835, 1382 / 155925
        c6, c7, c8 = 21844 / 6081075, 929569 / 638512875, 6404582 / 10854718875
        c9 = 443861162 / 1856156927625
        f = 1 + y * (c1 + y * (c2 + y * (c3 + y * (c4 + y * (c5 + y * (c6 + y * (c7 + y * (c8 + y * c9))))))))
        rest = 6 * c6 + y * (7 * c7 + y * (8 * c8 + y * 9 * c9))
        f1 = c1 + y * (2 * c2 + y * (3 * c3 + y * (4 * c4 + y * (5 * c5 + y * rest))))
        rest = 30 * c6 + y * (42 * c7 + y * (56 * c8 + y * 72 * c9))
        f2 = 2 * c2 + y * (6 * c3 + y * (12 * c4 + y * (20 * c5 + y * rest)))
        return f, f1, f2
    h = math.sqrt(y)
    t = math.tan(h)
    f, secant = t / h, 1.0 + t * t
    f1 = 0.5 * (secant - f) / y
    f2 = 0.5 * (secant * f - 3.0 * f1) / y
    return f, f1, f2


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
def span_gap(freedoms, cable, segment, j, blocks, span):
    """Length of the straight piece of a cable across joint j, and its derivatives."""
    rho = from_origin(blocks, j, cable.x, cable.y, segment.entry)
    line = moved(added(read(blocks, j, BLOCK_ORIGIN), rho), -1.0, (cable.x, cable.y, segment.exit))
    length = math.sqrt(dot(line, line))
    span[SPAN_LENGTH] = length
    share = 1.0 / length if length > 0.0 else 0.0
    unit = scaled(share, line)
    for k in range(freedoms):
        change = point_change(blocks, j, k, rho)
        first = dot(unit, change)
        span[SPAN_FIRST + k] = first
        for i in range(k, freedoms):
            other = point_change(blocks, j, i, rho)
            across = share * (dot(change, other) - first * dot(unit, other))
            span[SPAN_SECOND + pair_row(i, k)] = across + dot(unit, point_change_twice(blocks, j, i, k, rho))


@kernel
def measure_spans(joints, links, cables, segments, q, blocks, spans):
    """`turn_joints` for Python."""
    turn_joints(joints, links, cables, segments, q, Spatial(blocks, spans))
