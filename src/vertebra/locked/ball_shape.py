"""The shape of a ball-joint robot: how far each joint bends, and toward where."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, OutOfRange, shown
from vertebra.robot.arguments import OTHERS_CAN, as_robot, number, numbers, require_robot
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import BALL, KIND_CODES, Floats


class _Pair(NamedTuple):
    bends: Floats
    azimuths: Floats


class BallShape(_Pair):
    """Bend and bend azimuth of each ball joint, (n,) rad each, in the frame of the link before it."""

    __slots__ = ()

    def __new__(cls, bends: ArrayLike, azimuths: ArrayLike) -> BallShape:
        both = numbers("bends", bends, "rad"), numbers("azimuths", azimuths, "rad")
        if both[0].shape != both[1].shape:
            raise InputError("azimuths", f"must be as many as bends, {both[0].shape}, not {shown(azimuths)}")
        return super().__new__(cls, *both)

    @classmethod
    def of(cls, robot: RobotLike, bends: ArrayLike, azimuths: ArrayLike = 0.0) -> BallShape:
        """Checked: one number for all joints or one per joint, within the limit of each joint."""
        robot = as_robot(robot)
        require_balls(robot)
        shape = cls._make((_per_joint("bends", robot, bends), _per_joint("azimuths", robot, azimuths)))
        limits = robot.joints["limit"]
        if (np.abs(shape.bends) > limits).any():
            row = int(np.argmax(np.abs(shape.bends) - limits))
            reason = "give a bend within the limit of the joint; bends are in rad"
            raise OutOfRange(row + 1, float(shape.bends[row]), float(limits[row]), reason)
        return shape

    @classmethod
    def straight(cls, robot: RobotLike) -> BallShape:
        """No bend at all."""
        return cls.of(robot, 0.0)

    @classmethod
    def arc(cls, robot: RobotLike, bend: float, azimuth: float = 0.0) -> BallShape:
        """The same bend at every joint."""
        return cls.of(robot, bend, azimuth)

    @classmethod
    def s_curve(cls, robot: RobotLike, bend: float, azimuth: float = 0.0) -> BallShape:
        """The first half bends toward the azimuth, the other half back; a middle joint goes with the first half."""
        robot = as_robot(robot)
        n = len(robot.joints)
        sides = np.where(np.arange(n) < (n + 1) // 2, 1.0, -1.0)
        return cls.of(robot, sides * number("bend", bend, "rad"), azimuth)

    @classmethod
    def spiral(cls, robot: RobotLike, bend: float, start: float = 0.0, end: float = math.pi) -> BallShape:
        """The same bend at every joint, toward azimuths that run from `start` to `end`."""
        robot = as_robot(robot)
        ends = number("start", start, "rad"), number("end", end, "rad")
        return cls.of(robot, bend, np.linspace(*ends, len(robot.joints)))

    @property
    def coordinates(self) -> Floats:
        """(2n,) joint coordinates, as `frames` and others take them: bend toward x, bend toward y of each joint."""
        both: Floats = np.stack([self.bends * np.cos(self.azimuths), self.bends * np.sin(self.azimuths)], axis=-1)
        return both.reshape(*self.bends.shape[:-1], -1)


def require_balls(robot: Robot, name: str = "robot") -> None:
    """`InputError` for a robot with joints of any other kind."""
    require_robot(robot)
    other = robot.joints["kind"] != BALL
    if other.any():
        row = int(np.argmax(other))
        kind = next(name for name, code in KIND_CODES.items() if code == robot.joints["kind"][row])
        raise InputError(name, f"{robot.name}: joint {row + 1} is a {kind} joint; {OTHERS_CAN}")


def _per_joint(name: str, robot: Robot, values: ArrayLike) -> Floats:
    array, n = numbers(name, values, "rad"), len(robot.joints)
    if array.shape == (n,):
        return array
    if array.shape != ():
        raise InputError(name, f"must be one number, or {n}, one per joint, not an array of shape {array.shape}")
    return np.full(n, float(array))
