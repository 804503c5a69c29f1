"""The poses at rest in the normal equations, the fixture, the level base, and what is known beforehand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.noise import Tolerances, far_heading
from vertebra.sensing.calibration.static_pose import StaticPose
from vertebra.sensing.calibration.unknowns import HEADING, Unknowns


def static_equations(
    unknowns: Unknowns, poses: Sequence[StaticPose], up: Floats, tolerances: Tolerances
) -> tuple[Floats, Floats]:
    """Information and slope in all unknowns. `up`: the vertical in base axes when the base is level (first pose)."""
    size = unknowns.size
    information, slope = np.zeros((size, size)), np.zeros(size)

    def add(residuals: Floats, slopes: Floats, weights: Floats) -> None:
        nonlocal information, slope
        information += slopes.T @ (weights[:, None] * slopes)
        slope += slopes.T @ (weights * residuals)

    for number, pose in enumerate(poses):
        for i in range(len(unknowns.mounts)):
            add(*_orientation(unknowns, number, pose, i))
            slopes = np.zeros((3, size))
            slopes[:, unknowns.sensor(i)][:, 4:] = -np.eye(3)
            trust = 1.0 / pose.gyro_sigmas[i] ** 2
            add(pose.gyros[i] - unknowns.biases[i], slopes, np.full(3, trust))
    for i in range(1, len(unknowns.mounts)):
        slopes = np.zeros((3, size))
        off = so3.log(unknowns.fixture[i])
        slopes[:, unknowns.fixed(i)] = so3.log_slope(off)
        add(off, slopes, np.full(3, 1.0 / tolerances.fixture**2))
    leaning = unknowns.bases[0] @ up
    slopes = np.zeros((2, size))
    slopes[:, unknowns.base(0)] = -so3.hat(leaning)[:2]
    add(leaning[:2], slopes, np.full(2, 1.0 / tolerances.level**2))
    return information, slope


def _orientation(unknowns: Unknowns, number: int, pose: StaticPose, i: int) -> tuple[Floats, Floats, Floats]:
    turn = so3.about_z(unknowns.headings[i])
    link = turn @ unknowns.bases[number] @ unknowns.fixture[i]
    off = so3.log(pose.rotations[i] @ (link @ unknowns.mounts[i]).T)
    slope = -so3.log_slope(off).T
    slopes = np.zeros((3, unknowns.size))
    own = slopes[:, unknowns.sensor(i)]
    own[:, :3], own[:, HEADING] = slope @ link, slope[:, 2]
    slopes[:, unknowns.base(number)] = slope @ turn
    if i:
        slopes[:, unknowns.fixed(i)] = slope @ turn @ unknowns.bases[number]
    tilt = 1.0 / pose.tilt_sigmas[i] ** 2
    spread = np.maximum(pose.heading_sigmas[i], pose.heading_noises[i])
    heading = 1.0 / pose.heading_sigmas[i] ** 2 / far_heading(off[2], spread)
    return off, slopes, np.array([tilt, tilt, heading])


def static_headings_off(unknowns: Unknowns, pose: StaticPose, number: int) -> Floats:
    """(m,) how far each heading is from what the fit says, rad."""
    said = so3.about_z(-unknowns.headings) @ pose.rotations @ np.swapaxes(unknowns.mounts, 1, 2)
    links = unknowns.bases[number] @ unknowns.fixture
    return np.asarray(so3.log(said @ np.swapaxes(links, 1, 2))[:, 2])
