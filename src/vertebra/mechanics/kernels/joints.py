"""Joint laws and the chain recursion (theory 2.1, 2.2 and 2.4): s(q) of the mirror joints, the bend rotation of a ball
joint, then the frames of all links and the twist of every freedom, from base to tip in one pass.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vertebra.mechanics.compiled import inner, kernel
from vertebra.robot.tables import BALL, FLEXURE, PIN, ROLLING

Vector = tuple[float, float, float]

# Below these, the closed forms lose digits and the series keeps all of them.
_SMALL_HALF_ANGLE = 0.1
_SMALL_SQUARE = 0.06


@inner
def within_half_turn(joint, q):
    """Whether the joint law is defined: every angle a number within +-180 degrees (false for NaN)."""
    first = joint.first
    if joint.kind == BALL:
        return q[first] * q[first] + q[first + 1] * q[first + 1] < math.pi * math.pi
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


@inner
def tangent_ratio(h, sin_h, cos_h):
    """f(h) = tan(h) / h and its first two derivatives."""
    if abs(h) < _SMALL_HALF_ANGLE:
        # Taylor series of tan(h)/h in y = h^2.
        y = h * h
        c1, c2, c3, c4 = 1 / 3, 2 / 15, 17 / 315, 62 / 2835
        c5, c6, c7 = 1382 / 155925, 21844 / 6081075, 929569 / 638512875
        f = 1 + y * (c1 + y * (c2 + y * (c3 + y * (c4 + y * (c5 + y * (c6 + y * c7))))))
        f1 = h * (2 * c1 + y * (4 * c2 + y * (6 * c3 + y * (8 * c4 + y * (10 * c5 + y * (12 * c6 + y * 14 * c7))))))
        f2 = 2 * c1 + y * (12 * c2 + y * (30 * c3 + y * (56 * c4 + y * (90 * c5 + y * (132 * c6 + y * 182 * c7)))))
        return f, f1, f2
    tangent = sin_h / cos_h
    secant_squared = 1.0 + tangent * tangent
    f = tangent / h
    f1 = (secant_squared - f) / h
    f2 = (2.0 * secant_squared * tangent - 2.0 * f1) / h
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
    if abs(h) < 2.0 * _SMALL_HALF_ANGLE:
        # Taylor series; the terms left out are below 1e-16 of f, 1e-12 of f''.
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
    # f = (sec h - sinc h) / (2 h), differentiated as a product with h.
    secant, tangent, sinc = 1.0 / cos_h, sin_h / cos_h, sin_h / h
    sinc1 = (cos_h - sinc) / h
    sinc2 = -sinc - 2.0 * sinc1 / h
    f = 0.5 * (secant - sinc) / h
    f1 = (0.5 * (secant * tangent - sinc1) - f) / h
    f2 = (0.5 * (secant * (1.0 + 2.0 * tangent * tangent) - sinc2) - 2.0 * f1) / h
    return f, f1, f2


@kernel
def rotation_coefficients(y):
    """Of a rotation by phi, y = phi^2: cos(phi), A = sin(phi)/phi, B = (1-cos(phi))/phi^2, D = (phi-sin(phi))/phi^3."""
    if y < _SMALL_SQUARE:
        a = 1 - y / 6 * (1 - y / 20 * (1 - y / 42 * (1 - y / 72 * (1 - y / 110 * (1 - y / 156)))))
        b = 0.5 * (1 - y / 12 * (1 - y / 30 * (1 - y / 56 * (1 - y / 90 * (1 - y / 132 * (1 - y / 182))))))
        d = (1 - y / 20 * (1 - y / 42 * (1 - y / 72 * (1 - y / 110 * (1 - y / 156 * (1 - y / 210)))))) / 6
        return 1 - y * b, a, b, d
    phi = math.sqrt(y)
    sin_phi, cos_phi, sin_half = math.sin(phi), math.cos(phi), math.sin(0.5 * phi)
    return cos_phi, sin_phi / phi, 2.0 * sin_half * sin_half / y, (phi - sin_phi) / (phi * y)


@kernel
def rotation_coefficient_derivatives(y, c, a, b):
    """dA/dy, d2A/dy2, dB/dy, d2B/dy2 of `rotation_coefficients` (dcos/dy = -A/2)."""
    if y < _SMALL_SQUARE:
        a1 = -1 / 6 * (1 - y / 10 * (1 - y / 28 * (1 - y / 54 * (1 - y / 88 * (1 - y / 130)))))
        a2 = 1 / 60 * (1 - y / 14 * (1 - y / 36 * (1 - y / 66 * (1 - y / 104 * (1 - y / 150)))))
        b1 = -1 / 24 * (1 - y / 15 * (1 - y * 3 / 112 * (1 - y * 2 / 135 * (1 - y * 5 / 528 * (1 - y * 3 / 455)))))
        b2 = 1 / 360 * (1 - y * 3 / 56 * (1 - y / 45 * (1 - y * 5 / 396 * (1 - y * 3 / 364))))
        return a1, a2, b1, b2
    a1 = 0.5 * (c - a) / y
    b1 = (0.5 * a - b) / y
    a2 = (-0.25 * a - 1.5 * a1) / y
    b2 = (0.5 * a1 - 2.0 * b1) / y
    return a1, a2, b1, b2


# The chain recursion: frames of all links and the twist of every freedom, from base to tip in one pass.

DONE = -1
"""What a kernel returns when it could do its work; any other value is the row of the joint that stopped it."""


@kernel
def walk_chain(joints, links, origin, q, frames, twists):
    """Write frames (n+1, 4, 4), and for each freedom its rotation axis and instantaneous centre: twists (freedoms, 6).

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
        jacobian[3, f] = ax
        jacobian[4, f] = ay
        jacobian[5, f] = az
    for f in range(moving, jacobian.shape[1]):
        for row in range(6):
            jacobian[row, f] = 0.0
