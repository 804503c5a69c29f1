"""The paper's first test again: the algorithm against a virtual robot that is fed with the algorithm's own angles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import vertebra as vb
from vertebra.papers.lapusan2022.cases import BASES, DURATION, Base, motion, python_robot
from vertebra.papers.lapusan2022.equations import PRINTED, modules_in_line, relative_angles, roll_pitch_yaw
from vertebra.papers.lapusan2022.published import LOOP_RATE, errors
from vertebra.papers.lapusan2022.tip_errors import distances_mm
from vertebra.papers.lapusan2022.true_poses import far_faces, orientations, true_platforms
from vertebra.robot.tables import Floats


@dataclass(frozen=True)
class VirtualTest:
    """Tip of the algorithm beside that of the virtual robot, and beside the truth."""

    base: Base
    from_virtual_mm: float
    """Largest distance between algorithm and virtual robot: what the test sees."""
    from_truth_mm: float
    """Mean distance between algorithm and truth: what it cannot see."""


@dataclass(frozen=True)
class Rounding:
    """What 32-bit numbers on one of the two computers would do to the same motion; largest differences."""

    angle_deg: float
    """Of relative angles."""
    position_mm: float
    """Of the last platform, along any axis."""


@dataclass(frozen=True)
class Lever:
    """What the printed errors of orientation mean for the position of the same platform."""

    axis_deg: float
    """The platform's axis is off by this much at least, on average."""
    last_module_mm: float
    """That moves its centre by this much against its own joint."""
    spread_mm: float
    """And by this much in all, were the error spread evenly over all modules."""
    printed_mm: float
    """Largest printed mean absolute error of its position."""
    d2_mm: float
    """Assumed length between its joint and its centre."""


def virtual_tests() -> tuple[VirtualTest, ...]:
    """One a base, without sensor errors."""
    robot, turned = python_robot(), python_robot(order="xy")
    true = _true_platforms()
    out = []
    for base in BASES:
        theta_x, theta_y = relative_angles(orientations(true, base.rotations(len(true))), world=True)
        board = modules_in_line(theta_x, theta_y, robot, PRINTED)[:, -1]
        coordinates = np.stack([theta_x, theta_y], axis=-1).reshape(len(true), -1)
        virtual = far_faces(turned, np.array([vb.Pose(turned, q).frames for q in coordinates]))[:, -1]
        out.append(
            VirtualTest(base, float(distances_mm(board, virtual).max()), float(distances_mm(board, true[:, -1]).mean()))
        )
    return tuple(out)


def rounding() -> Rounding:
    """The same angles of the sensors in 64 and in 32 bits."""
    robot = python_robot()
    seen = np.stack(roll_pitch_yaw(_true_platforms()), axis=-1).astype(np.float32)
    found = []
    for kind in (np.float32, np.float64):
        theta = relative_angles(euler_rotations(seen.astype(kind)), world=True)
        found.append((np.stack(theta), modules_in_line(*theta, robot, PRINTED)[:, -1, :3, 3]))
    (rough, near), (fine, exact) = found
    return Rounding(math.degrees(float(np.abs(rough - fine).max())), 1e3 * float(np.abs(near - exact).max()))


def euler_rotations(angles: Floats) -> Floats:
    """(1) and (2): (..., 3, 3) of alpha, beta, gamma (..., 3), rad, in the float type of the angles."""
    (ca, cb, cg), (sa, sb, sg) = (np.moveaxis(f(angles), -1, 0) for f in (np.cos, np.sin))
    parts = [
        cg * cb, cg * sb * sa - sg * ca, cg * sb * ca + sg * sa,
        sg * cb, sg * sb * sa + cg * ca, sg * sb * ca - cg * sa,
        -sb, cb * sa, cb * ca,
    ]  # fmt: skip
    return np.stack(parts, axis=-1).reshape(*angles.shape[:-1], 3, 3)


def lever() -> Lever:
    """From what is printed, and the assumed d1 and d2.

    A difference (da, db, dg) of the Euler angles turns the platform about its own y by cos(a) db + sin(a) cos(b) dg,
    which tilts its axis. Twist of the platform about that axis would not move it, but cannot make up for db.
    """
    printed, robot = errors("hil"), python_robot()
    most = math.radians(printed.ranges[3] / 2)  # of alpha, about upright
    axis = math.cos(most) * printed.mae[4] - math.sin(most) * printed.mae[5]
    d1, d2 = float(robot.joints["size"][-1]), float(robot.links["length"][-1])
    modules = len(robot.joints)
    arms = (d1 + d2) * np.arange(modules) + d2
    turn = math.radians(axis)
    return Lever(float(axis), 1e3 * d2 * turn, 1e3 * float(arms.mean()) * turn, float(printed.mae[:3].max()), 1e3 * d2)


def _true_platforms() -> Floats:
    """Of the motion of the first test, at the paper's rate."""
    return true_platforms(python_robot(), motion("hil").angles(np.arange(0.0, DURATION, 1.0 / LOOP_RATE)))
