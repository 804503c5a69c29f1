"""Joint laws and the chain recursion (theory 2.1, 2.2 and 2.4): s(q) of the mirror joints, the bend rotation of a ball
joint, then the frames of all links and the twist of every freedom, from base to tip in one pass.
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
    rotation_coefficients,
    scaled,
    turned_by,
)
from vertebra.mechanics.simd import all_of, any_of, select
from vertebra.robot.tables import BACKBONE, BALL, FLEXURE, PIN, ROLLING

Vector = tuple[float, float, float]

# Below these, the closed forms lose digits and the series keeps all of them.
_SMALL_HALF_ANGLE = 0.1
_SMALL_HALF_SQUARE = 0.04


@inner
def within_half_turn(joint, q):
    """Whether the joint law is defined: every angle a number within +-180 degrees (false for NaN)."""
    first = joint.first
    if joint.kind >= BALL:
        within = q[first] * q[first] + q[first + 1] * q[first + 1] < math.pi * math.pi
        return within and abs(q[first + joint.freedoms - 1]) < math.pi
    return abs(q[first]) < math.pi and abs(q[first + joint.freedoms - 1]) < math.pi


@kernel
def mirror_law(kind, size, q, sin_half, cos_half):
    """s, s', s'' of a mirror joint: distance from a link's face to the crossing P of the two link axes, m.

    Rolling: s = R / cos(q/2) - R. Flexure: s = (L/q) tan(q/2). Pin: constant.
    """
    if kind == ROLLING:
        s = size * sin_half * sin_half / (cos_half * (1.0 + cos_half))
        first = 0.5 * size * sin_half / (cos_half * cos_half)
        second = 0.25 * size * (1.0 + sin_half * sin_half) / (cos_half * cos_half * cos_half)
        return s, first, second
    if kind == FLEXURE:
        f, f1, f2 = tangent_ratio(0.5 * q, sin_half, cos_half)
        return 0.5 * size * f, 0.25 * size * f1, 0.125 * size * f2
    return size, 0.0, 0.0


class BentJoint(NamedTuple):
    """A mirror joint at an angle: its law, and its vectors in the world (theory 2.2)."""

    angle: float
    sin_half: float
    cos_half: float
    s: float
    s1: float
    s2: float
    crossing: Vector
    """P, m."""
    a: Vector
    z: Vector
    """Axis of the link before the joint."""
    tangent: Vector
    normal: Vector


class BentRod(NamedTuple):
    """A backbone joint at a pose: half of its bend as a rotation, its twist, and where that takes the link beyond."""

    w: Vector
    """Half of the bend as a rotation vector."""
    coefficients: tuple[float, float, float, float]
    """`rotation_coefficients` of w."""
    sin_twist: float
    cos_twist: float
    height: tuple[float, float, float]
    """s of theory 2.1 and its derivatives in |w|^2, m."""
    normal: Vector
    """Of the bisector plane, in the axes of the link before, as all below."""
    x: Vector
    """Axes of the link beyond."""
    y: Vector
    z: Vector
    origin: Vector
    """Of the link beyond, m."""


@inner
def bend_rod(joint, reach, q):
    """T = Tz(s) E Rz(twist) E Tz(s) with E = exp(w), w = (-b_y, b_x, 0) / 2, s = L tan(t/2) / t (theory 9)."""
    w = (-0.5 * q[joint.first + 1], 0.5 * q[joint.first], 0.0)
    twist = q[joint.first + 2] if joint.freedoms == 3 else 0.0
    c, a, b, d = rotation_coefficients(dot(w, w))
    f, f1, f2 = tangent_ratio_of_square(dot(w, w))
    height = (0.5 * joint.size * f, 0.5 * joint.size * f1, 0.5 * joint.size * f2)
    sin_t, cos_t = math.sin(twist), math.cos(twist)
    normal = turned_by(c, a, b, w, (0.0, 0.0, 1.0))
    x = twisted_and_turned(c, a, b, w, sin_t, cos_t, turned_by(c, a, b, w, (1.0, 0.0, 0.0)))
    y = twisted_and_turned(c, a, b, w, sin_t, cos_t, turned_by(c, a, b, w, (0.0, 1.0, 0.0)))
    z = twisted_and_turned(c, a, b, w, sin_t, cos_t, normal)
    origin = moved((0.0, 0.0, reach + height[0]), height[0], z)
    return BentRod(w, (c, a, b, d), sin_t, cos_t, height, normal, x, y, z, origin)


@inner
def rod_change(rod, k):
    """With freedom k of a backbone joint: om_k, o_k, and the part of om_k that the second half of the rod turns by."""
    if k == 2:
        return rod.normal, scaled(rod.height[0], cross_product(rod.normal, rod.z)), rod.normal
    c, a, b, d = rod.coefficients
    w, e = rod.w, rod_direction(k)
    half = combined(a, e, b, cross_product(w, e), d * dot(w, e), w)
    far = twisted_and_turned(c, a, b, w, rod.sin_twist, rod.cos_twist, half)
    spin = added(half, far)
    slope = 2.0 * rod.height[1] * dot(w, e)
    axis = (rod.z[0], rod.z[1], 1.0 + rod.z[2])
    return spin, mixed(slope, axis, rod.height[0], cross_product(spin, rod.z)), far


@inner
def rod_direction(k):
    """dw / d b_x or dw / d b_y."""
    if k == 0:
        return (0.0, 0.5, 0.0)
    return (-0.5, 0.0, 0.0)


@inner
def twisted_and_turned(c, a, b, w, sin_t, cos_t, v):
    """exp(w) Rz(twist) v."""
    return turned_by(c, a, b, w, (cos_t * v[0] - sin_t * v[1], sin_t * v[0] + cos_t * v[1], v[2]))


@inner
def tangent_ratio_of_square(y):
    """F(y) = tan(h) / h with y = h^2, and its first two derivatives in y."""
    if y < _SMALL_HALF_SQUARE:
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
def tangent_ratio(h, sin_h, cos_h):
    """f(h) = tan(h) / h and its first two derivatives."""
    small = abs(h) < _SMALL_HALF_ANGLE
    if all_of(small):
        return tangent_ratio_series(h)
    tangent = sin_h / cos_h
    secant_squared = 1.0 + tangent * tangent
    f = tangent / h
    f1 = (secant_squared - f) / h
    f2 = (2.0 * secant_squared * tangent - 2.0 * f1) / h
    if any_of(small):
        near, near1, near2 = tangent_ratio_series(h)
        return select(small, near, f), select(small, near1, f1), select(small, near2, f2)
    return f, f1, f2


@inner
def tangent_ratio_series(h):
    """`tangent_ratio` by the Taylor series of tan(h)/h in y = h^2."""
    y = h * h
    c1, c2, c3, c4 = 1 / 3, 2 / 15, 17 / 315, 62 / 2835
    c5, c6, c7 = 1382 / 155925, 21844 / 6081075, 929569 / 638512875
    f = 1 + y * (c1 + y * (c2 + y * (c3 + y * (c4 + y * (c5 + y * (c6 + y * c7))))))
    f1 = h * (2 * c1 + y * (4 * c2 + y * (6 * c3 + y * (8 * c4 + y * (10 * c5 + y * (12 * c6 + y * 14 * c7))))))
    f2 = 2 * c1 + y * (12 * c2 + y * (30 * c3 + y * (56 * c4 + y * (90 * c5 + y * (132 * c6 + y * 182 * c7)))))
    return f, f1, f2


@kernel
def arc_centroid(h, sin_h, cos_h):
    """Centroid of a circular arc of unit length and half angle h, from P toward the bend side (theory 4.6)."""
    if abs(h) < 0.5 * _SMALL_HALF_ANGLE:
        y = h * h
        c0, c1, c2 = 2 / 3, 1 / 5, 107 / 1260
        c3, c4 = 1385 / 40320 - 1 / 362880, 50521 / 3628800 + 1 / 39916800
        return 0.5 * h * (c0 + y * (c1 + y * (c2 + y * (c3 + y * c4))))
    return 0.5 * (1.0 / cos_h - sin_h / h) / h


@kernel
def arc_centroid_derivatives(h, sin_h, cos_h):
    """`arc_centroid` and its first two derivatives in h."""
    small = abs(h) < 2.0 * _SMALL_HALF_ANGLE
    if all_of(small):
        return arc_centroid_series(h)
    # f = (sec h - sinc h) / (2 h), differentiated as a product with h.
    secant, tangent, sinc = 1.0 / cos_h, sin_h / cos_h, sin_h / h
    sinc1 = (cos_h - sinc) / h
    sinc2 = -sinc - 2.0 * sinc1 / h
    f = 0.5 * (secant - sinc) / h
    f1 = (0.5 * (secant * tangent - sinc1) - f) / h
    f2 = (0.5 * (secant * (1.0 + 2.0 * tangent * tangent) - sinc2) - 2.0 * f1) / h
    if any_of(small):
        near, near1, near2 = arc_centroid_series(h)
        return select(small, near, f), select(small, near1, f1), select(small, near2, f2)
    return f, f1, f2


@inner
def arc_centroid_series(h):
    """`arc_centroid_derivatives` by Taylor series; the terms left out are below 1e-16 of f, 1e-12 of f''."""
    y = h * h
    c0, c1, c2 = 1 / 3, 1 / 10, 107 / 2520
    c3, c4 = 0.5 * (1385 / 40320 - 1 / 362880), 0.5 * (50521 / 3628800 + 1 / 39916800)
    c5, c6 = 0.5 * (2702765 / 479001600 - 1 / 6227020800), 0.5 * (199360981 / 87178291200 + 1 / 1307674368000)
    c7 = 0.5 * (19391512145 / 20922789888000 - 1 / 355687428096000)
    c8 = 0.5 * (2404879675441 / 6402373705728000 + 1 / 121645100408832000)
    f = h * (c0 + y * (c1 + y * (c2 + y * (c3 + y * (c4 + y * (c5 + y * (c6 + y * (c7 + y * c8))))))))
    b3, b4, b5, b6, b7, b8 = 7 * c3, 9 * c4, 11 * c5, 13 * c6, 15 * c7, 17 * c8
    f1 = c0 + y * (3 * c1 + y * (5 * c2 + y * (b3 + y * (b4 + y * (b5 + y * (b6 + y * (b7 + y * b8)))))))
    rest = 6 * b3 + y * (8 * b4 + y * (10 * b5 + y * (12 * b6 + y * (14 * b7 + y * 16 * b8))))
    f2 = h * (6 * c1 + y * (20 * c2 + y * rest))
    return f, f1, f2


# The chain recursion: frames of all links and the twist of every freedom, from base to tip in one pass.

DONE = -1
"""What a kernel returns when it could do its work; any other value is the row of the joint that stopped it."""


@kernel
def walk_chain(joints, links, origin, q, frames, twists):
    """Write frames (n+1, 4, 4), and for each freedom its rotation axis and instantaneous centre: twists (freedoms, 6).

    A backbone that is bent and twisted moves along its axis as well: a seventh column of zeros receives how far, m/rad.
    World axes, m. Returns DONE, or the row of the first joint that is not `within_half_turn`.
    """
    place_base(origin, frames)
    for j in range(joints.shape[0]):
        joint = joints[j]
        first = joint.first
        if not within_half_turn(joint, q):
            return j
        if joint.kind <= PIN:
            place_mirror(joint, links[j].reach, q[first], j, frames, twists)
        elif joint.kind == BALL:
            place_ball(joint, links[j].reach, q[first], q[first + 1], j, frames, twists)
        elif joint.kind == BACKBONE:
            place_backbone(joint, links[j].reach, q, j, frames, twists)
        else:
            place_universal(joint, links[j].reach, q[first], q[first + 1], j, frames, twists)
    return DONE


@inner
def place_base(origin, frames):
    """Frame 0 at `origin`, and the last row of all frames."""
    for row in range(3):
        for column in range(3):
            frames[0, row, column] = 1.0 if row == column else 0.0
        frames[0, row, 3] = origin[row]
    for i in range(frames.shape[0]):
        for column in range(4):
            frames[i, 3, column] = 1.0 if column == 3 else 0.0


@inner
def place_mirror(joint, reach, q, j, frames, twists):
    """T = Tz(s) Rot(a, q) Tz(s) (theory 2.1), and the twist about C (2.2)."""
    sin_half, cos_half = math.sin(0.5 * q), math.cos(0.5 * q)
    sin_q, versine = 2.0 * sin_half * cos_half, 2.0 * sin_half * sin_half
    s, s1, _ = mirror_law(joint.kind, joint.size, q, sin_half, cos_half)
    lever = 2.0 * s1 * cos_half
    first, ax, ay = joint.first, joint.axis_x, joint.axis_y
    for row in range(3):
        x, y, z = frames[j, row, 0], frames[j, row, 1], frames[j, row, 2]
        a = ax * x + ay * y  # rotation axis
        b = ay * x - ax * y  # bend direction: a = z x b
        # Changes of b and z: added to the axes, they keep a straight joint exactly straight.
        change_b = -versine * b - sin_q * z
        turned_z = z + sin_q * b - versine * z
        crossing = frames[j, row, 3] + (reach + s) * z
        tangent = cos_half * b - sin_half * z  # a x n, with n the bisector normal
        frames[j + 1, row, 0] = x + ay * change_b
        frames[j + 1, row, 1] = y - ax * change_b
        frames[j + 1, row, 2] = turned_z
        frames[j + 1, row, 3] = crossing + s * turned_z
        twists[first, row] = a
        twists[first, 3 + row] = crossing + lever * tangent


@inner
def place_universal(joint, reach, q1, q2, j, frames, twists):
    """Two pins in one point: Tz(lower), then the first axis, then the second."""
    sin_1, cos_1, sin_2, cos_2 = math.sin(q1), math.cos(q1), math.sin(q2), math.cos(q2)
    first, y_first = joint.first, joint.axis_y == 1.0
    for row in range(3):
        x, y, z = frames[j, row, 0], frames[j, row, 1], frames[j, row, 2]
        centre = frames[j, row, 3] + (reach + joint.size) * z
        if y_first:
            x1, z1 = cos_1 * x - sin_1 * z, cos_1 * z + sin_1 * x
            new_x, new_y, new_z = x1, cos_2 * y + sin_2 * z1, cos_2 * z1 - sin_2 * y
            axis_1, axis_2 = y, x1
        else:
            y1, z1 = cos_1 * y + sin_1 * z, cos_1 * z - sin_1 * y
            new_x, new_y, new_z = cos_2 * x - sin_2 * z1, y1, cos_2 * z1 + sin_2 * x
            axis_1, axis_2 = x, y1
        frames[j + 1, row, 0] = new_x
        frames[j + 1, row, 1] = new_y
        frames[j + 1, row, 2] = new_z
        frames[j + 1, row, 3] = centre
        twists[first, row], twists[first + 1, row] = axis_1, axis_2
        twists[first, 3 + row] = twists[first + 1, 3 + row] = centre


@inner
def place_backbone(joint, reach, q, j, frames, twists):
    """A rod bent to a circle, and twisted."""
    rod = bend_rod(joint, reach, q)
    for row in range(3):
        u, v, w = frames[j, row, 0], frames[j, row, 1], frames[j, row, 2]
        for column in range(3):
            axis = rod.x if column == 0 else rod.y if column == 1 else rod.z
            frames[j + 1, row, column] = u * axis[0] + v * axis[1] + w * axis[2]
        frames[j + 1, row, 3] = frames[j, row, 3] + u * rod.origin[0] + v * rod.origin[1] + w * rod.origin[2]
    for k in range(joint.freedoms):
        spin, shift, _ = rod_change(rod, k)
        square = dot(spin, spin)
        point = moved(rod.origin, 1.0 / square, cross_product(spin, shift))
        for row in range(3):
            u, v, w = frames[j, row, 0], frames[j, row, 1], frames[j, row, 2]
            twists[joint.first + k, row] = u * spin[0] + v * spin[1] + w * spin[2]
            place = frames[j, row, 3] + u * point[0] + v * point[1] + w * point[2]
            twists[joint.first + k, 3 + row] = place
        if twists.shape[1] > 6:
            twists[joint.first + k, 6] = dot(spin, shift) / square


@inner
def place_ball(joint, reach, bx, by, j, frames, twists):
    """Turn by the rotation vector w = z x bend about the ball's centre, then one link length to the next centre.

    The axes are the angular velocities of unit rates of the bend vector, J_l(w) dw: unit vectors only at w = 0.
    """
    wx, wy = -by, bx
    c, a, b, d = rotation_coefficients(wx * wx + wy * wy)
    first = joint.first
    for row in range(3):
        x, y, z = frames[j, row, 0], frames[j, row, 1], frames[j, row, 2]
        centre = frames[j, row, 3] + reach * z
        mixed = b * wx * wy
        new_z = a * wy * x - a * wx * y + c * z
        frames[j + 1, row, 0] = (1.0 - b * wy * wy) * x + mixed * y - a * wy * z
        frames[j + 1, row, 1] = mixed * x + (1.0 - b * wx * wx) * y + a * wx * z
        frames[j + 1, row, 2] = new_z
        frames[j + 1, row, 3] = centre + joint.size * new_z
        twists[first, row] = d * wx * wy * x + (1.0 - d * wx * wx) * y + b * wx * z
        twists[first + 1, row] = -((1.0 - d * wy * wy) * x + d * wx * wy * y - b * wy * z)
        twists[first, 3 + row] = twists[first + 1, 3 + row] = centre


@inner
def world(frames, link, row, x, y, z):
    """One world coordinate of a point of a link's frame, m."""
    return frames[link, row, 3] + frames[link, row, 0] * x + frames[link, row, 1] * y + frames[link, row, 2] * z


@kernel
def point_jacobian(joints, frames, twists, link, point, jacobian):
    """Write the 6 x freedoms Jacobian at `point` of a link (link frame, m): linear rows, then angular; world axes."""
    px, py, pz = point[0], point[1], point[2]
    x, y = world(frames, link, 0, px, py, pz), world(frames, link, 1, px, py, pz)
    z = world(frames, link, 2, px, py, pz)
    moving = joints[link - 1].first + joints[link - 1].freedoms if link > 0 else 0
    for f in range(moving):
        ax, ay, az = twists[f, 0], twists[f, 1], twists[f, 2]
        rx, ry, rz = x - twists[f, 3], y - twists[f, 4], z - twists[f, 5]
        jacobian[0, f] = ay * rz - az * ry
        jacobian[1, f] = az * rx - ax * rz
        jacobian[2, f] = ax * ry - ay * rx
        if twists.shape[1] > 6:
            for row in range(3):
                jacobian[row, f] += twists[f, 6] * twists[f, row]
        jacobian[3, f] = ax
        jacobian[4, f] = ay
        jacobian[5, f] = az
    for f in range(moving, jacobian.shape[1]):
        for row in range(6):
            jacobian[row, f] = 0.0
