"""The answer of the Shape tab: what the library says for what is set."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from vertebra.errors import InputError
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.problem import Load
from vertebra.robot.description import MOUNTS
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, UNIVERSAL, Floats
from vertebra.statics.forward import shape_from_lengths, shape_from_tensions
from vertebra.statics.path import ShapePath
from vertebra.statics.shape import Shape, Status
from vertebra.studio.shape.settings import ShapeSettings


@dataclass(frozen=True, eq=False)
class Answer:
    """A shape with what is shown beside it."""

    shape: Shape
    ghost: Floats | None
    """(n+1, 4, 4) m, frames of the shape without gravity; None where there is no gravity, or no such shape."""
    margin: tuple[float, float] | None
    """Range of the factor on all tensions within which this pose does not buckle."""
    seconds: float
    """What the solve of the shape took."""


def has_statics(robot: Robot) -> bool:
    """Whether cables decide the shape; ball joints are held by friction, universal joints by drives of their own."""
    return not np.isin(robot.joints["kind"], (BALL, UNIVERSAL)).any()


def gravity_of(robot: Robot, settings: ShapeSettings) -> Floats:
    """(3,) m/s^2: of the mount, turned by the tilt about the level axis that leans it toward an azimuth."""
    if settings.mount == "no gravity":
        return np.zeros(3)
    own = robot.gravity if settings.mount == "as in the file" else np.array(MOUNTS[settings.mount])
    tilt, toward = math.radians(settings.tilt_deg), math.radians(settings.toward_deg)
    axis = np.array([-math.sin(toward), math.cos(toward), 0.0])
    turned = own * math.cos(tilt) + np.cross(axis, own) * math.sin(tilt) + axis * (axis @ own) * (1 - math.cos(tilt))
    return np.asarray(turned)


def loads_of(robot: Robot, settings: ShapeSettings) -> tuple[Load, ...]:
    """The forces that are set."""
    last = len(robot.links) - 1
    for number, load in enumerate(settings.loads, 1):
        if load.link > last:
            raise InputError(f"load {number}", f"there is no link {load.link}; {robot.name} has {last}")
    return tuple(Load(force=load.force, link=load.link) for load in settings.loads if any(load.force))


def solve(robot: Robot, settings: ShapeSettings, path: ShapePath | None = None) -> Answer:
    """The shape, solved or saying what is wrong with it. With a `path` the cables remember how they slipped."""
    gravity, loads = gravity_of(robot, settings), loads_of(robot, settings)
    began = time.perf_counter()
    shape = _shape(robot, settings, gravity, loads, path)
    seconds = time.perf_counter() - began
    solved = shape.status == Status.SOLVED
    return Answer(shape, _ghost(shape), shape.tension_margin() if solved else None, seconds)


def _shape(
    robot: Robot, settings: ShapeSettings, gravity: Floats, loads: tuple[Load, ...], path: ShapePath | None
) -> Shape:
    by_length = settings.drive == "lengths"
    shortenings = np.array(settings.shortenings_mm) * 1e-3
    if path is not None:
        command = {"shortenings": shortenings} if by_length else {"tensions": settings.tensions}
        return path.step(**command, gravity=gravity, loads=loads, check=False)
    friction = None if settings.friction else 0.0
    if by_length:
        return shape_from_lengths(
            robot, shortenings=shortenings, gravity=gravity, loads=loads, friction=friction, check=False
        )
    return shape_from_tensions(robot, settings.tensions, gravity=gravity, loads=loads, friction=friction, check=False)


def _ghost(shape: Shape) -> Floats | None:
    """What the same tensions give without gravity; loads stay."""
    if not shape.gravity.any() or shape.status == Status.NO_EQUILIBRIUM:
        return None
    light = shape_from_tensions(
        shape.robot, shape.tensions_at_base, gravity=np.zeros(3), loads=shape.loads, friction=shape.friction or 0.0,
        closure=shape.closure, check=False,
    )  # fmt: skip
    return light.frames if light.status == Status.SOLVED else None


def pose(robot: Robot, settings: ShapeSettings) -> Floats:
    """(n+1, 4, 4) m, frames of a robot whose joint coordinates are set by hand."""
    return Pose(robot, np.radians(settings.angles_deg)).frames


def straight_lengths(robot: Robot) -> Floats:
    """(cables,) m."""
    return Pose(robot, np.zeros(robot.freedoms)).cable_lengths
