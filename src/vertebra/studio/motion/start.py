"""Where a motion begins and under what: the shape of the Shape tab at rest, its gravity, loads and friction."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vertebra.dynamics.problem import Moving
from vertebra.errors import InputError
from vertebra.mechanics.kinematics import frames
from vertebra.mechanics.problem import Load
from vertebra.report.scene import round_number_below
from vertebra.robot.robot import Robot, fill_inertia
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape
from vertebra.studio.motion.settings import MotionSettings
from vertebra.studio.shape.model import usual_tension

KICK, MOST = 0.5, 10.0
"""Of a usual tension: the step on one cable to begin with, and what a cable without a limit may have at most."""
SHARE = 0.1
"""Of the damping by which a stiff robot that hangs from its base would just not swing; joints share it."""


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
        robot = fill_inertia(robot)
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
    usual = usual_tension(robot)
    own = {
        "tensions": settings.tensions or tuple(start.tensions.tolist()),
        "amplitude": round_number_below(KICK * usual) if settings.amplitude is None else settings.amplitude,
        "damping": usual_damping(robot) if settings.damping is None else settings.damping,
        "most_tension": MOST * usual if settings.most_tension is None else settings.most_tension,
    }
    return settings.model_copy(update=own)


def usual_damping(robot: Robot) -> float:
    """N*m*s/rad of every joint to begin with, a round number: the robot swings a few times, and comes to rest."""
    places = frames(robot, np.zeros(robot.freedoms))[1:, :3, 3]
    inertia = float((robot.links["mass"][1:] * (places**2).sum(axis=1)).sum())
    rate = math.sqrt(9.8 / float(robot.length))
    return round_number_below(SHARE * inertia * rate) if inertia > 0.0 else 0.0
