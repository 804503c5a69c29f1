"""The chain recursion: frames of all links and the twist of every freedom, from base to tip in one pass."""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.joints import mirror_law, rotation_coefficients, within_half_turn
from vertebra.robot.tables import BALL, PIN

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
    """T = Tz(s) Rot(a, q) Tz(s) (theory 2)."""
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


@inner
def point_jacobian(joints, frames, twists, link, point, jacobian):
    """Write the 6 x freedoms Jacobian at `point` of a link (link frame, m): linear rows, then angular; world axes."""
    px, py, pz = point[0], point[1], point[2]
    x, y, z = (
        world(frames, link, 0, px, py, pz),
        world(frames, link, 1, px, py, pz),
        world(frames, link, 2, px, py, pz),
    )
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


@kernel
def frames_and_jacobian(joints, links, origin, q, link, point, frames, twists, jacobian):
    """`walk_chain` and `point_jacobian` in one compiled call."""
    status = walk_chain(joints, links, origin, q, frames, twists)
    if status == DONE:
        point_jacobian(joints, frames, twists, link, point, jacobian)
    return status
