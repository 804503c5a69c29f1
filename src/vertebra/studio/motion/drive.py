"""What drives a motion: cable tensions over time, or joint angles that sway."""

from __future__ import annotations

import math

import numpy as np

from vertebra.dynamics.sampled_motion import SampledMotion, sampled_motion
from vertebra.errors import InputError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.studio.motion.settings import MotionSettings, Pattern

ACROSS = 0.5
"""Sine of the angle from the first joint's axis beyond which an axis counts as the other one."""
LONGEST_STEP, FEWEST, MOST = 0.01, 200, 2000
"""s between samples of a sway, and how many there are."""
NAMES: dict[Pattern, str] = {"pan": "pan", "tilt": "tilt", "3d": "3D"}


def pulls(settings: MotionSettings, base: Floats, times: Floats) -> Floats:
    """(N, cables) N at `times`: the sliders' `base` and, on one cable, a step or a sine; a cable never pushes."""
    wanted = np.tile(base, (len(times), 1))
    if settings.pull != "hold" and len(base):
        if settings.cable > len(base):
            raise InputError("cable", f"there is no cable {settings.cable}; the robot has {len(base)}")
        amplitude = settings.amplitude or 0.0
        wave = np.ones_like(times) if settings.pull == "step" else np.sin(2 * np.pi * settings.frequency * times)
        wanted[:, settings.cable - 1] += amplitude * wave
    return np.maximum(wanted, 0.0)


def patterns(robot: Robot) -> tuple[Pattern, ...]:
    """The ways in which a robot can sway: one where all axes are parallel."""
    return ("pan", "tilt", "3d") if not _pans(robot).all() else ("pan",)


def sway(robot: Robot, settings: MotionSettings) -> SampledMotion:
    """One period of A sin(2 pi t / T) in the joints of the pattern: pan those with the first joint's axis, tilt the
    others."""
    if settings.pattern not in patterns(robot):
        raise InputError("pattern", f"{robot.name} has no joints that tilt: all its axes are parallel; choose pan")
    limit = math.degrees(float(robot.joints["limit"].min()))
    if settings.amplitude_deg > limit:
        raise InputError("amplitude", f"{settings.amplitude_deg:g} deg is beyond the limit of a joint, {limit:.4g} deg")
    pans = _pans(robot)
    moves = {"pan": pans, "tilt": ~pans, "3d": np.ones_like(pans)}[settings.pattern]
    size = math.radians(settings.amplitude_deg) * moves
    count = min(max(math.ceil(settings.period / LONGEST_STEP), FEWEST), MOST)
    time, rate = np.linspace(0.0, settings.period, count + 1), 2 * math.pi / settings.period
    phase = rate * time[:, None]
    return sampled_motion(time, size * np.sin(phase), rate * size * np.cos(phase), -(rate**2) * size * np.sin(phase))


def _pans(robot: Robot) -> np.ndarray:
    """(n,) whether each joint turns about the first one's axis."""
    azimuths = robot.joints["azimuth"]
    return np.asarray(np.abs(np.sin(azimuths - azimuths[:1])) < ACROSS)
