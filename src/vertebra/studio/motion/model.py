"""What is asked of a motion: where it begins and under what, and what drives it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vertebra.dynamics.motion_samples import SampledMotion, sampled_motion
from vertebra.dynamics.problem import Moving
from vertebra.errors import InputError
from vertebra.mechanics.problem import Load
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape
from vertebra.studio.motion.settings import (
    MotionSettings,
    pans,
    patterns,
    usual_damping,
    usual_limit,
    usual_step,
)


@dataclass(frozen=True, eq=False)
class Start:
    """A robot at rest, SI."""

    angles: Floats
    """(n,) rad."""
    tensions: Floats
    """(cables,) N, of the cables that hold it; zeros where none do."""
    gravity: Floats
    """(3,) m/s^2."""
    loads: tuple[Load, ...]
    rubs: bool
    """Whether cables rub in their holes, by the laws of the robot file."""
    words: str

    def same(self, other: Start | None) -> bool:
        """Whether a motion from here is the same as from `other`."""
        return (
            other is not None
            and np.array_equal(self.angles, other.angles)
            and np.array_equal(self.tensions, other.tensions)
            and np.array_equal(self.gravity, other.gravity)
            and (self.loads, self.rubs) == (other.loads, other.rubs)
        )


def start_from(shape: Shape | None, robot: Robot) -> Start:
    """Of a solved shape; without one the straight robot."""
    if shape is None:
        words = "straight, at rest: the Shape tab has no shape that holds"
        return Start(np.zeros(robot.freedoms), np.zeros(len(robot.cables)), robot.gravity.copy(), (), True, words)
    words = "the shape of the Shape tab, at rest"
    return Start(shape.angles, shape.tensions_at_base, shape.gravity, shape.loads, bool(shape.friction), words)


def moving_robot(robot: Robot, fill: bool) -> Robot:
    """The robot with all that a motion needs; InputError says what it lacks, and what to do."""
    if fill and not has_inertia(robot):
        robot = robot.fill_inertia()
    Moving.of(robot, None, ())
    return robot


def has_inertia(robot: Robot) -> bool:
    """Whether the robot file says how every link resists a turn."""
    return bool((robot.links["inertia"][1:] > 0.0).all())


def lacks(robot: Robot, fill: bool) -> str:
    """What the robot lacks for a motion, and what to do; empty when nothing."""
    try:
        moving_robot(robot, fill)
    except InputError as error:
        words = error.message.replace("take solid cylinders with fill_inertia", 'tick "Links as solid cylinders"')
        return f"{words[0].upper()}{words[1:]}."
    return ""


def completed(settings: MotionSettings, robot: Robot, start: Start) -> MotionSettings:
    """The settings with the studio's own choices for what nobody has set."""
    own = {
        "tensions": settings.tensions or tuple(start.tensions.tolist()),
        "amplitude": usual_step(robot) if settings.amplitude is None else settings.amplitude,
        "damping": usual_damping(robot) if settings.damping is None else settings.damping,
        "most_tension": usual_limit(robot) if settings.most_tension is None else settings.most_tension,
    }
    return settings.model_copy(update=own)


# What drives a motion: cable tensions over time, or joint angles that sway.

LONGEST_STEP, FEWEST_SAMPLES, MOST_SAMPLES = 0.01, 200, 2000
"""s between samples of a sway, and how many there are."""


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


def sway(robot: Robot, settings: MotionSettings) -> SampledMotion:
    """One period of A sin(2 pi t / T) in the joints of the pattern: pan those with the first joint's axis, tilt the
    others."""
    if settings.pattern not in patterns(robot):
        raise InputError("pattern", f"{robot.name} has no joints that tilt: all its axes are parallel; choose pan")
    limit = math.degrees(float(robot.joints["limit"].min()))
    if settings.amplitude_deg > limit:
        raise InputError("amplitude", f"{settings.amplitude_deg:g} deg is beyond the limit of a joint, {limit:.4g} deg")
    about_first = pans(robot)
    moves = {"pan": about_first, "tilt": ~about_first, "3d": np.ones_like(about_first)}[settings.pattern]
    size = math.radians(settings.amplitude_deg) * moves
    count = min(max(math.ceil(settings.period / LONGEST_STEP), FEWEST_SAMPLES), MOST_SAMPLES)
    time, rate = np.linspace(0.0, settings.period, count + 1), 2 * math.pi / settings.period
    phase = rate * time[:, None]
    return sampled_motion(time, size * np.sin(phase), rate * size * np.cos(phase), -(rate**2) * size * np.sin(phase))
