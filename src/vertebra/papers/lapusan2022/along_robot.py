"""Errors of each platform from base to tip, and what (3) makes of a joint that cannot twist."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vertebra.papers.lapusan2022.cases import BASES, POSES, SEED, poses, python_robot
from vertebra.papers.lapusan2022.equations import CORRECTED, platforms, roll_pitch_yaw
from vertebra.papers.lapusan2022.growth import disturbed
from vertebra.papers.lapusan2022.tip_errors import distances_mm
from vertebra.papers.lapusan2022.true_poses import orientations, true_platforms
from vertebra.robot.tables import Floats


@dataclass(frozen=True, eq=False)
class Along:
    """Mean errors of platforms 1 to n with sensors of the stated precision, equations put right."""

    moving_mm: Floats
    """(n,) over many poses."""
    straight_mm: Floats
    """(n,) with the robot held straight: no motion at all."""


def along() -> Along:
    """Both with the same errors of the sensors."""
    return Along(_by_platform(poses()), _by_platform(np.zeros_like(poses())))


def _by_platform(angles: Floats) -> Floats:
    robot = python_robot()
    true = true_platforms(robot, angles)
    found = platforms(disturbed(true[..., :3, :3], np.random.default_rng([SEED, 9])), robot, CORRECTED)
    return np.array([distances_mm(found[:, j], true[:, j]).mean() for j in range(1, true.shape[1])])


def third_angles() -> dict[str, float]:
    """Largest rotation about z, deg, between neighbours, which a universal joint does not have.

    In the frame of the platform before; and in R_R of (3) as printed, by base.
    """
    true = true_platforms(python_robot(), poses())
    before, after = true[:, :-1, :3, :3], true[:, 1:, :3, :3]
    out = {"in the platform's frame": _largest_yaw(np.swapaxes(before, -1, -2) @ after)}
    for base in BASES:
        seen = orientations(true, base.rotations(POSES))
        out[base.name] = _largest_yaw(seen[:, 1:] @ np.swapaxes(seen[:, :-1], -1, -2))
    return out


def _largest_yaw(rotations: Floats) -> float:
    return math.degrees(float(np.abs(roll_pitch_yaw(rotations)[2]).max()))
