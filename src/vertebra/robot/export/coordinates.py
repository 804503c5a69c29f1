"""From the joint coordinates of a robot to those of its exported models.

Exported models have more coordinates than the robot: a rolling joint is two hinges, a flexure two slides and a hinge.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError
from vertebra.robot.arguments import coordinates
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, FLEXURE, PIN, ROLLING, UNIVERSAL, Floats

Indices = NDArray[np.int64]

# Per kind: rolling, flexure, pin, universal, ball.
_MJCF_POSITIONS = np.array([2, 3, 1, 2, 4])
_MJCF_VELOCITIES = np.array([2, 3, 1, 2, 3])
_URDF_POSITIONS = np.array([1, 1, 1, 2, 3])

# tan(h)/h - 1 = h^2 (c0 + c1 h^2 + ...), lowest order first.
_TAN_SERIES = np.array([1 / 3, 2 / 15, 17 / 315, 62 / 2835, 1382 / 155925, 21844 / 6081075])
_SERIES_BELOW = 0.1


def mjcf_qpos(robot: Robot, angles: ArrayLike) -> Floats:
    """`qpos` of the model of `to_mjcf` at joint coordinates `angles` (freedoms,) in rad; lengths in m.

    Coupled coordinates are set consistently: rolling q/2, q/2; flexure s - L/2, q, s - L/2; balls as quaternions
    w, x, y, z.
    """
    q = _checked(robot, angles)
    starts, total = _layout(robot, _MJCF_POSITIONS)
    qpos = np.zeros(total)
    for kind, rows in _rows_of_kinds(robot):
        start, first = starts[rows], robot.joints["first"][rows]
        if kind == ROLLING:
            qpos[start] = qpos[start + 1] = q[first] / 2
        elif kind == FLEXURE:
            qpos[start] = qpos[start + 2] = flexure_stretch(robot.joints["size"][rows], q[first])
            qpos[start + 1] = q[first]
        elif kind == PIN:
            qpos[start] = q[first]
        elif kind == UNIVERSAL:
            qpos[start], qpos[start + 1] = q[first], q[first + 1]
        else:
            qpos[start[:, None] + np.arange(4)] = bend_quaternions(q[first], q[first + 1])
    return qpos


def mjcf_velocity_map(robot: Robot, angles: ArrayLike) -> Floats:
    """(nv, freedoms) derivative of the velocities of the model of `to_mjcf` by the rates of the joint coordinates.

    MuJoCo's velocity of a ball joint is its angular velocity in the frame of the moving body.
    """
    q = _checked(robot, angles)
    starts, total = _layout(robot, _MJCF_VELOCITIES)
    rates = np.zeros((total, robot.freedoms))
    for kind, rows in _rows_of_kinds(robot):
        start, first = starts[rows], robot.joints["first"][rows]
        if kind == ROLLING:
            rates[start, first] = rates[start + 1, first] = 0.5
        elif kind == FLEXURE:
            slope = flexure_stretch_slope(robot.joints["size"][rows], q[first])
            rates[start, first] = rates[start + 2, first] = slope
            rates[start + 1, first] = 1.0
        elif kind == PIN:
            rates[start, first] = 1.0
        elif kind == UNIVERSAL:
            rates[start, first] = rates[start + 1, first + 1] = 1.0
        else:
            block = bend_velocity(q[first], q[first + 1])
            rates[start[:, None, None] + np.arange(3)[:, None], first[:, None, None] + np.arange(2)] = block
    return rates


def urdf_coordinates(robot: Robot, angles: ArrayLike) -> Floats:
    """Independent joint positions of the model of `to_urdf` at joint coordinates `angles` (freedoms,), in rad.

    In file order: q/2 for the first joint of each rolling pair (the second one mimics it); x, y, z angles for balls.
    """
    q = _checked(robot, angles)
    starts, total = _layout(robot, _URDF_POSITIONS)
    positions = np.zeros(total)
    for kind, rows in _rows_of_kinds(robot):
        start, first = starts[rows], robot.joints["first"][rows]
        if kind == BALL:
            positions[start[:, None] + np.arange(3)] = bend_xyz_angles(q[first], q[first + 1])
        else:
            positions[start] = q[first] / 2 if kind == ROLLING else q[first]
            if kind == UNIVERSAL:
                positions[start + 1] = q[first + 1]
    return positions


def flexure_stretch(length: Floats, q: Floats) -> Floats:
    """s(q) - L/2 of a flexure, s = (L/q) tan(q/2), m; accurate also where q is small."""
    h = np.abs(q) / 2
    small = h < _SERIES_BELOW
    safe = np.where(small, 1.0, h)
    series: Floats = h**2 * np.polynomial.polynomial.polyval(h**2, _TAN_SERIES)
    return length / 2 * np.where(small, series, np.tan(safe) / safe - 1)


def flexure_stretch_slope(length: Floats, q: Floats) -> Floats:
    """ds/dq of a flexure, m/rad."""
    h = q / 2
    small = np.abs(h) < _SERIES_BELOW
    safe = np.where(small, 1.0, h)
    powers = 2 * np.arange(1, len(_TAN_SERIES) + 1)
    series = h * np.polynomial.polynomial.polyval(h**2, powers * _TAN_SERIES)
    closed = (safe - np.sin(safe) * np.cos(safe)) / (safe * np.cos(safe)) ** 2
    slope: Floats = length / 4 * np.where(small, series, closed)
    return slope


def bend_quaternions(b_x: Floats, b_y: Floats) -> Floats:
    """(..., 4) w, x, y, z of the rotation by |b| that bends toward b."""
    angle = np.hypot(b_x, b_y)
    scale = np.sinc(angle / (2 * np.pi)) / 2  # sin(angle/2) / angle
    return np.stack([np.cos(angle / 2), -scale * b_y, scale * b_x, np.zeros_like(angle)], axis=-1)


def bend_xyz_angles(b_x: Floats, b_y: Floats) -> Floats:
    """(..., 3) alpha, beta, gamma with Rx(alpha) Ry(beta) Rz(gamma) = the rotation that bends toward b, rad.

    Singular for a bend of 90 degrees exactly toward x, like any set of three angles somewhere.
    """
    w, x, y, _ = np.moveaxis(bend_quaternions(b_x, b_y), -1, 0)
    alpha = np.arctan2(2 * w * x, 1 - 2 * (x * x + y * y))
    beta = np.arctan2(2 * w * y, np.hypot(1 - 2 * y * y, 2 * x * y))
    gamma = np.arctan2(-2 * x * y, 1 - 2 * y * y)
    return np.stack([alpha, beta, gamma], axis=-1)


def bend_velocity(b_x: Floats, b_y: Floats) -> Floats:
    """(..., 3, 2) body-frame angular velocity by the rates of b: the right Jacobian of the rotation vector z x b."""
    angle = np.hypot(b_x, b_y)
    zero = np.zeros_like(angle)
    wx, wy = -b_y, b_x
    cross = np.stack(
        [np.stack([zero, zero, wy], -1), np.stack([zero, zero, -wx], -1), np.stack([-wy, wx, zero], -1)], axis=-2
    )
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    first = np.sinc(angle / (2 * np.pi)) ** 2 / 2  # (1 - cos) / angle^2
    second = np.where(small, 1 / 6, (1 - np.sin(safe) / safe) / safe**2)
    right = np.eye(3) - first[..., None, None] * cross + second[..., None, None] * (cross @ cross)
    turned = np.array([[0.0, -1.0], [1.0, 0.0], [0.0, 0.0]])  # z x b by b
    velocity: Floats = right @ turned
    return velocity


def _checked(robot: Robot, angles: ArrayLike) -> Floats:
    q = coordinates(robot, angles)
    if not np.isfinite(q).all():
        raise InputError("angles", "every angle must be finite")
    return q


def _layout(robot: Robot, widths: Indices) -> tuple[Indices, int]:
    """Where each joint's coordinates start, and how many there are."""
    ends = np.cumsum(widths[robot.joints["kind"]])
    return ends - widths[robot.joints["kind"]], int(ends[-1])


def _rows_of_kinds(robot: Robot) -> list[tuple[int, Indices]]:
    kinds = robot.joints["kind"]
    return [(int(kind), np.flatnonzero(kinds == kind)) for kind in np.unique(kinds)]
