"""How errors of the tip grow with the number of modules."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vertebra.papers.lapusan2022.cases import METHODS, SEED, Base, poses, python_robot
from vertebra.papers.lapusan2022.equations import PRINTED, platforms
from vertebra.papers.lapusan2022.published import SENSOR_HEADING, SENSOR_TILT
from vertebra.papers.lapusan2022.tip_errors import TipError, tip_error
from vertebra.papers.lapusan2022.true_poses import estimated_tips, orientations, true_platforms
from vertebra.robot.tables import Floats
from vertebra.sensing import so3

COUNTS = (4, 8, 12, 16, 20)
POSES = 150
ENCODERS = "encoders"
"""Beside the methods: one error of the sensor's tilt in every joint angle, on its own."""
LEVEL, TILTED = Base("level"), Base("tilted 30 deg", tilt=30.0)


@dataclass(frozen=True)
class Growth:
    """Of one number of modules that together bend as far as four do."""

    modules: int
    exact: dict[str, TipError]
    """Equations as printed with perfect sensors, by base."""
    noisy: dict[str, TipError]
    """By method on a level base, sensors of the stated precision; and with `ENCODERS` in place of sensors."""


def growth() -> tuple[Growth, ...]:
    """One a number of modules."""
    return tuple(_growth(count) for count in COUNTS)


def _growth(modules: int) -> Growth:
    robot, angles = python_robot(modules), poses(count=POSES, modules=modules)
    true = true_platforms(robot, angles)
    tips = true[:, -1]
    exact = {}
    for base in (LEVEL, TILTED):
        measured = orientations(true, base.rotations(POSES))
        exact[base.name] = tip_error(platforms(measured, robot, PRINTED)[:, -1], tips)
    rng = np.random.default_rng([SEED, modules])
    measured = disturbed(true[..., :3, :3], rng)
    sigmas = stated_noise()
    noisy = {name: tip_error(estimated_tips(robot, measured, method, sigmas), tips) for name, method in METHODS.items()}
    off = angles + rng.normal(0.0, math.radians(SENSOR_TILT), angles.shape)
    noisy[ENCODERS] = tip_error(true_platforms(robot, off)[:, -1], tips)
    return Growth(modules, exact, noisy)


def stated_noise() -> Floats:
    """(3,) rad: the stated precision, taken as standard deviations about the world's x, y and z."""
    return np.radians([SENSOR_TILT, SENSOR_TILT, SENSOR_HEADING])


def disturbed(rotations: Floats, rng: np.random.Generator) -> Floats:
    """Orientations (..., 3, 3) in the world with errors of the stated precision."""
    return np.asarray(so3.exp(rng.normal(size=(*rotations.shape[:-2], 3)) * stated_noise()) @ rotations)
