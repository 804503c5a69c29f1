"""A dynamics question, checked and laid out for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, OutOfRange
from vertebra.mechanics.kernels.spatial import Spatial
from vertebra.mechanics.layout import (
    BODY_WIDTH,
    MOTION_SPATIAL_WIDTH,
    MOTION_WIDTH,
    PARTICLE_SPATIAL_WIDTH,
    PARTICLE_WIDTH,
)
from vertebra.mechanics.problem import Load, Problem, require_pull
from vertebra.robot.arguments import numbers
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


@dataclass(frozen=True, eq=False)
class Moving:
    """A robot of mirror joints with mass and inertia, under gravity and loads."""

    statics: Problem
    """The same robot at rest: gravity, loads, friction."""

    @classmethod
    def of(cls, robot: Robot, gravity: str | ArrayLike | None, loads: Sequence[Load], friction: Any = 0.0) -> Moving:
        problem = Problem.of(robot, gravity, loads, friction)
        require_inertia(robot)
        return cls(problem)

    @property
    def robot(self) -> Robot:
        return self.statics.robot

    @property
    def heavy_gaps(self) -> bool:
        """Whether there is mass in the gaps of joints: rods, cables."""
        robot = self.robot
        return bool(robot.joints["mass"].any() or robot.cables["linear_density"].any())

    @property
    def system(self) -> tuple[Any, ...]:
        """First arguments of the kernels: tables, gravity, loads, scratch for the bodies, whether gaps have mass."""
        return *self.statics.system, np.empty((len(self.robot.joints), BODY_WIDTH)), self.heavy_gaps

    def scratch(self) -> tuple[Floats, Floats, Floats, Spatial | None]:
        """Fields of `MotionWork`, what the passes along the chain write, and what joints with several freedoms need; a
        thread has its own."""
        n, c, spatial = len(self.robot.joints), len(self.robot.cables), self.statics.spatial()
        return (
            np.empty((self.robot.freedoms, MOTION_WIDTH if spatial is None else MOTION_SPATIAL_WIDTH)),
            np.empty((n * (c + 1), PARTICLE_WIDTH if spatial is None else PARTICLE_SPATIAL_WIDTH)),
            np.empty((len(self.statics.table), 3)),
            spatial,
        )


def require_inertia(robot: Robot) -> None:
    """Every moving link needs mass and inertia: a point mass does not resist rotation."""
    links = robot.links[1:]
    if not (links["mass"] > 0.0).all():
        link = int(np.argmin(links["mass"] > 0.0)) + 1
        raise InputError("robot", f"link {link} has no mass; give `link: {{mass: ...}}` in the robot file")
    if not (links["inertia"] > 0.0).all():
        link = int(np.argmin((links["inertia"] > 0.0).all(axis=1))) + 1
        raise InputError(
            "robot",
            f"link {link} has no inertia; give `link: {{inertia: [Ixx, Iyy, Izz]}}` in the robot file, or take solid "
            "cylinders with fill_inertia",
        )


class States(NamedTuple):
    """One state or many, as (N, n) arrays."""

    single: bool
    q: Floats
    qd: Floats
    qdd: Floats

    def shaped(self, array: Floats) -> Floats:
        """(N, ...) as the caller asked for it: without the first dimension for one state."""
        return array[0] if self.single else array


def states(
    robot: Robot, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None, third: str = "qdd"
) -> States:
    """Angles, rates and accelerations of one state (n,) or many (N, n); those left out are zero.

    `third`: what the caller passes as `qdd`, for messages.
    """
    angles = _rows(robot, "q", q, "rad")
    if not (np.abs(angles) < np.pi).all():
        place = int(np.argmax(np.abs(angles) >= np.pi))
        reason = "the joint law ends at 180 deg; angles are in rad"
        raise OutOfRange(robot.joint_of(place % robot.freedoms), float(angles.flat[place]), np.pi, reason)
    shape = angles.shape
    rates = np.zeros(shape) if qd is None else _rows(robot, "qd", qd, "rad/s")
    accelerations = np.zeros(shape) if qdd is None else _rows(robot, third, qdd, "SI units")
    for name, array in (("qd", rates), (third, accelerations)):
        if array.shape != shape:
            raise InputError(name, f"must have the shape of q, {shape}, not {array.shape}")
    single = angles.ndim == 1
    if single:
        return States(single, angles[None], rates[None], accelerations[None])
    return States(single, angles, rates, accelerations)


def _rows(robot: Robot, name: str, values: ArrayLike, unit: str) -> Floats:
    array = numbers(name, values, unit)
    n = robot.freedoms
    if array.ndim not in (1, 2) or array.shape[-1] != n or array.size == 0:
        raise InputError(name, f"must have shape ({n},) or (steps, {n}) for {robot.name}, not {array.shape}")
    return array


def joint_damping(robot: Robot, damping: ArrayLike | None) -> Floats:
    """(n,) N*m*s/rad: one for all joints or one for each freedom, 0 or more; default that of the robot file."""
    if damping is None:
        return np.repeat(robot.joints["damping"], robot.joints["freedoms"])
    array = numbers("damping", damping, "N*m*s/rad")
    if array.shape not in ((), (robot.freedoms,)) or (array < 0.0).any():
        each = "joint" if robot.freedoms == len(robot.joints) else "freedom"
        raise InputError("damping", f"must be one number of 0 N*m*s/rad or more, or {robot.freedoms}, one per {each}")
    return np.array(np.broadcast_to(array, (robot.freedoms,)))


def cable_tensions(problem: Problem, tensions: ArrayLike, count: int) -> Floats:
    """(count, cables) N: one set for all states or one each."""
    array, cables = numbers("tensions", tensions, "N"), len(problem.robot.cables)
    if array.shape not in ((cables,), (count, cables)):
        wanted = f"({cables},) or ({count}, {cables}), one per cable of {problem.robot.name}"
        raise InputError("tensions", f"must have shape {wanted}, not {array.shape}")
    require_pull("tensions", array)
    return np.array(np.broadcast_to(array, (count, cables)), order="C")
