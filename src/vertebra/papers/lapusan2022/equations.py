"""Equations 3 to 8 for many poses at once, as printed and put right one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

MM = 1e3


@dataclass(frozen=True)
class Variant:
    """One way to read equations 3 and 6."""

    name: str
    world: bool = False
    """(3) as printed, R_j R_j-1^T: about axes of the world; else R_j-1^T R_j, about those of the platform before."""
    order: str = "yx"
    """Of the rotations in (6): xy as printed, yx as (4) needs it."""
    along: tuple[int, int] = (2, 2)
    """Axes along which d1 and d2 lie in (6): z as the text says, or x and y as its matrices have them."""


PRINTED = Variant("as printed", world=True, order="xy")
CORRECTED = Variant("both put right")
VARIANTS = (
    PRINTED,
    Variant("only (3) put right", order="xy"),
    Variant("only (6) put right", world=True),
    CORRECTED,
    Variant("as printed, d1 and d2 too", world=True, order="xy", along=(0, 1)),
)


def relative_angles(rotations: Floats, world: bool) -> tuple[Floats, Floats]:
    """(3) and (4): theta_x and theta_y, each (N, n) rad, from orientations (N, n+1, 3, 3) of any float type."""
    before, after = rotations[:, :-1], rotations[:, 1:]
    relative = after @ np.swapaxes(before, -1, -2) if world else np.swapaxes(before, -1, -2) @ after
    theta_x, theta_y, _ = roll_pitch_yaw(relative)
    return theta_x, theta_y


def platforms(rotations: Floats, robot: Robot, variant: Variant) -> Floats:
    """(3) to (6): frames (N, n+1, 4, 4) of all platforms in the base, m."""
    theta_x, theta_y = relative_angles(rotations, variant.world)
    return modules_in_line(theta_x, theta_y, robot, variant)


def modules_in_line(theta_x: Floats, theta_y: Floats, robot: Robot, variant: Variant) -> Floats:
    """(5) and (6): frames (N, n+1, 4, 4) in the base, m, of modules that bend by angles (N, n), rad."""
    kind = theta_x.dtype
    lengths = robot.joints["size"].astype(kind), robot.links["length"][1:].astype(kind)
    count, n = theta_x.shape
    out = np.zeros((count, n + 1, 4, 4), kind)
    out[...] = np.eye(4, dtype=kind)
    for j in range(n):
        turned = np.zeros((count, 4, 4), kind)
        turned[:, :3, :3] = _bent(theta_x[:, j], theta_y[:, j], variant.order)
        turned[:, 3, 3] = 1.0
        first, second = (_shift(axis, length[j], kind) for axis, length in zip(variant.along, lengths, strict=True))
        out[:, j + 1] = out[:, j] @ first @ turned @ second
    return out


def poses_mm_deg(frames: Floats) -> Floats:
    """(7) and (8): (N, 6) x, y, z in mm and alpha, beta, gamma in deg, of frames (N, 4, 4) in m."""
    return np.column_stack([MM * frames[:, :3, 3], np.degrees(np.column_stack(roll_pitch_yaw(frames)))])


def roll_pitch_yaw(frames: Floats) -> tuple[Floats, Floats, Floats]:
    """z-y-x Euler angles, rad, of frames or rotations (..., 3 or 4, 3 or 4).

    Without the division by cos(beta) of (4) and (8): the cosine of an angle within +-90 deg is not negative, and both
    sides of atan2 have it.
    """
    roll = np.arctan2(frames[..., 2, 1], frames[..., 2, 2])
    pitch = np.arctan2(-frames[..., 2, 0], np.hypot(frames[..., 0, 0], frames[..., 1, 0]))
    yaw = np.arctan2(frames[..., 1, 0], frames[..., 0, 0])
    return roll, pitch, yaw


def _bent(theta_x: Floats, theta_y: Floats, order: str) -> Floats:
    """(N, 3, 3)"""
    cx, sx, cy, sy = np.cos(theta_x), np.sin(theta_x), np.cos(theta_y), np.sin(theta_y)
    zero = np.zeros_like(cx)
    if order == "yx":
        parts = [cy, sy * sx, sy * cx, zero, cx, -sx, -sy, cy * sx, cy * cx]
    else:
        parts = [cy, zero, sy, sx * sy, cx, -sx * cy, -cx * sy, sx, cx * cy]
    return np.stack(parts, axis=-1).reshape(-1, 3, 3)


def _shift(axis: int, length: float, kind: npt.DTypeLike) -> Floats:
    out = np.eye(4, dtype=kind)
    out[axis, 3] = length
    return out
