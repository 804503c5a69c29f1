"""The cable law: length of every segment across a joint and its derivatives in the joint's own coordinates."""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.kernels.algebra import (
    combined,
    cross_product,
    dot,
    rotation_coefficient_derivatives,
    rotation_coefficients,
    scaled,
)
from vertebra.mechanics.kernels.joints import DONE, mirror_law, within_half_turn
from vertebra.robot.tables import BACKBONE, BALL, PIN

TOUCH = 1e-10
"""Round-off allowed below a segment length of zero, as a part of the joint's size and of where the hole is."""


@kernel
def measure_segments(joints, links, cables, segments, q, lengths, first, second, cross):
    """Write lengths (cables, n) in m, first and second derivatives (cables, freedoms), cross derivatives (cables, n).

    `cross` is the mixed derivative of the two coordinates of a universal or ball joint, zero for mirror joints.
    Entries beyond the link where a cable ends are zero, and so are those of backbones, which `measure_spans` measures.
    Returns DONE, or the row of the first joint that is not `within_half_turn`.
    """
    for j in range(joints.shape[0]):
        if not within_half_turn(joints[j], q):
            return j
    for k in range(cables.shape[0]):
        for j in range(joints.shape[0]):
            joint = joints[j]
            f = joint.first
            cross[k, j] = 0.0
            if j >= cables[k].last_link or joint.kind == BACKBONE:
                lengths[k, j] = 0.0
                for freedom in range(f, f + joint.freedoms):
                    first[k, freedom] = second[k, freedom] = 0.0
            elif joint.kind <= PIN:
                lengths[k, j], first[k, f], second[k, f] = mirror_segment(joint, segments[k, j], q[f])
            else:
                (
                    lengths[k, j],
                    first[k, f],
                    first[k, f + 1],
                    second[k, f],
                    cross[k, j],
                    second[k, f + 1],
                ) = straight_segment(joint, links[j].reach, cables[k], segments[k, j], q[f], q[f + 1])
    return DONE


@kernel
def mirror_segment(joint, segment, q):
    """l = 2 [(s + rho) cos(q/2) - e sin(q/2)] and its two derivatives (theory 2.3)."""
    sin_half, cos_half = math.sin(0.5 * q), math.cos(0.5 * q)
    s, s1, s2 = mirror_law(joint.kind, joint.size, q, sin_half, cos_half)
    return across_mirror(1.0, s + segment.recess, s1, s2, segment.offset, sin_half, cos_half)


@inner
def across_mirror(total, height, s1, s2, offset, sin_half, cos_half):
    """l, l', l'' of one segment (total 1, height s + rho, offset e), or summed over cables with tensions T as weights
    (total sum T, height s sum T + sum T rho, offset sum T e): the law is linear in these."""
    reach, slant = height * cos_half - offset * sin_half, 2.0 * s1 * total
    first = slant * cos_half - height * sin_half - offset * cos_half
    return 2.0 * reach, first, 2.0 * s2 * total * cos_half - slant * sin_half - 0.5 * reach


@inner
def straight_segment(joint, reach, cable, segment, q1, q2):
    """Straight line across a joint that turns about a fixed point (theory 2.4): l, l_1, l_2, l_11, l_12, l_22.

    All vectors in the frame of the link before the joint, from the joint's centre.
    """
    if joint.kind == BALL:
        exit_z, entry = segment.exit - reach, (cable.x, cable.y, segment.entry + joint.size)
        p, p1, p2, p11, p12, p22 = turned_by_ball(entry, q1, q2)
    else:
        exit_z, entry = segment.exit - reach - joint.size, (cable.x, cable.y, segment.entry)
        p, p1, p2, p11, p12, p22 = turned_by_universal(entry, joint.axis_y == 1.0, q1, q2)
    line = (p[0] - cable.x, p[1] - cable.y, p[2] - exit_z)
    length = math.sqrt(dot(line, line))
    if length == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    u = scaled(1.0 / length, line)
    l1, l2 = dot(u, p1), dot(u, p2)
    l11 = (dot(p1, p1) - l1 * l1) / length + dot(u, p11)
    l12 = (dot(p1, p2) - l1 * l2) / length + dot(u, p12)
    l22 = (dot(p2, p2) - l2 * l2) / length + dot(u, p22)
    return length, l1, l2, l11, l12, l22


@inner
def turned_by_universal(r, y_first, q1, q2):
    """Point R1(q1) R2(q2) r and its derivatives p, p_1, p_2, p_11, p_12, p_22."""
    axis_1, axis_2 = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)) if y_first else ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    inner = turned_about(axis_2, q2, r)
    inner_1 = cross_product(axis_2, inner)
    inner_2 = cross_product(axis_2, inner_1)
    p, p2 = turned_about(axis_1, q1, inner), turned_about(axis_1, q1, inner_1)
    p1 = cross_product(axis_1, p)
    return p, p1, p2, cross_product(axis_1, p1), cross_product(axis_1, p2), turned_about(axis_1, q1, inner_2)


@inner
def turned_by_ball(r, bx, by):
    """Point exp(w) r with w = (-by, bx, 0) and its derivatives in (bx, by): p, p_1, p_2, p_11, p_12, p_22.

    exp(w) r = cos r + A (w x r) + B (w.r) w, all coefficients functions of y = |w|^2.
    """
    w = (-by, bx, 0.0)
    c, a, b, _ = rotation_coefficients(dot(w, w))
    a1, a2, b1, b2 = rotation_coefficient_derivatives(dot(w, w), c, a, b)
    c1, c2 = -0.5 * a, -0.5 * a1
    across, along = cross_product(w, r), dot(w, r)
    p = combined(c, r, a, across, b * along, w)
    # Derivative of p along y with w held, used by every chain rule below, and once more.
    slope = combined(c1, r, a1, across, b1 * along, w)
    bend = combined(c2, r, a2, across, b2 * along, w)
    e1, e2 = (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)  # dw/dbx, dw/dby
    y1, y2 = 2.0 * dot(w, e1), 2.0 * dot(w, e2)
    k1, k2 = held_change(a, b, along, w, e1, r), held_change(a, b, along, w, e2, r)
    m1, m2 = held_change(a1, b1, along, w, e1, r), held_change(a1, b1, along, w, e2, r)
    p1 = combined(y1, slope, 1.0, k1, 0.0, w)
    p2 = combined(y2, slope, 1.0, k2, 0.0, w)
    p11 = second_change(bend, slope, y1, y1, 2.0, m1, m1, b, dot(e1, r), dot(e1, r), e1, e1)
    p12 = second_change(bend, slope, y1, y2, 0.0, m1, m2, b, dot(e1, r), dot(e2, r), e1, e2)
    p22 = second_change(bend, slope, y2, y2, 2.0, m2, m2, b, dot(e2, r), dot(e2, r), e2, e2)
    return p, p1, p2, p11, p12, p22


@inner
def held_change(a, b, along, w, e, r):
    """Change of A (w x r) + B (w.r) w as w moves along e, with A and B held."""
    return combined(a, cross_product(e, r), b * dot(e, r), w, b * along, e)


@inner
def second_change(bend, slope, yi, yj, yij, mi, mj, b, er_i, er_j, ei, ej):
    """Second derivative by the chain rule over y and the explicit w."""
    by_y = combined(yi * yj, bend, yij, slope, yi, mj)
    by_w = combined(b * er_i, ej, b * er_j, ei, yj, mi)
    return combined(1.0, by_y, 1.0, by_w, 0.0, ei)


@inner
def turned_about(axis, angle, v):
    c, s = math.cos(angle), math.sin(angle)
    return combined(c, v, s, cross_product(axis, v), (1.0 - c) * dot(axis, v), axis)
