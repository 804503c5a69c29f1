"""Which load makes the link of a slip test slip, as a function of mu: the closed form of the payload, per setting."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vertebra.errors import CellProblem, InputError, MeasurementError
from vertebra.identify.slip_data import Rows, SlipData
from vertebra.identify.slip_rig import largest_mu, with_friction
from vertebra.locked.ball_shape import BallShape
from vertebra.locked.chain import LockedChain, Setting, checked_tensions, load_couple, load_place
from vertebra.locked.payload import Payload, payload
from vertebra.mechanics.kernels.ball import joint_limits
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

POINTS = 64
"""Values of mu, evenly spread in the angle of friction, that a search looks at first."""
NUDGE = 1e-5
"""Step of mu for slopes: the closed form has some 13 digits, and its curvature is mild."""


class Scan(NamedTuple):
    """Slip forces over the whole range of mu."""

    mu: Floats
    """(points,) from just above 0 to the largest that a robot file takes."""
    forces: Floats
    """(points, settings) N; infinite where no load makes the link slip."""


@dataclass(frozen=True, eq=False)
class SlipModel:
    """The settings of slip tests on a rig of two links."""

    rig: Robot
    data: SlipData
    first: Rows
    """(settings,) the first row of each."""
    cell: Rows
    """(n,) the setting of each row."""
    questions: tuple[tuple[Any, ...], ...]
    """(settings,) arguments of the kernel behind its table of joints: all that does not depend on mu."""

    @classmethod
    def of(cls, rig: Robot, data: SlipData) -> SlipModel:
        cables = len(rig.cables)
        if data.tensions.shape[1] != cables:
            raise InputError("slips", f"has {data.tensions.shape[1]} tensions a row, and the rig has {cables} cables")
        limit = float(rig.joints["limit"][0])
        problems = [
            CellProblem(row + 1, data.lines[row], "bend_deg", f"the joint bends {math.degrees(limit):g} deg at most")
            for row in np.flatnonzero(np.abs(data.bend) > limit).tolist()
        ]
        if problems:
            raise MeasurementError(problems, data.source)
        first, cell = data.settings
        return cls(rig, data, first, cell, tuple(_question(rig, data, row) for row in first.tolist()))

    @property
    def largest(self) -> float:
        """mu at which the torsion limit reaches the ball's radius."""
        return largest_mu(self.rig)

    def forces(self, mu: float) -> Floats:
        """(settings,) N; infinite where no load makes the link slip."""
        joints = self.rig.joints.copy()
        joints["friction"] = mu
        joints.flags.writeable = False  # the type that the kernel is compiled for
        limits, modes = np.empty((len(self.questions), 1)), np.empty(1, dtype=np.int64)
        for limit, question in zip(limits, self.questions, strict=True):
            joint_limits(joints, *question, limit, modes)
        return limits[:, 0]

    def slopes(self, mu: float) -> Floats:
        """(settings,) N: how the forces grow with mu."""
        step = min(NUDGE, 0.5 * mu, 0.5 * (self.largest - mu))
        slopes: Floats = (self.forces(mu + step) - self.forces(mu - step)) / (2.0 * step)
        return slopes

    def payloads(self, mu: float) -> list[Payload]:
        """(settings,) the whole answer: how each test ends, and at which load."""
        robot, data = with_friction(self.rig, mu), self.data
        return [
            payload(robot, data.bend[i], data.azimuth[i], data.tensions[i], data.direction[i], point=data.point[i])
            for i in self.first.tolist()
        ]

    def scan(self) -> Scan:
        """Forces over the whole range of mu; refuses tests that would not slip at any mu."""
        angles = np.linspace(0.0, math.atan(self.largest), POINTS + 1)[1:]
        mu = np.minimum(np.tan(angles), self.largest)
        forces = np.array([self.forces(value) for value in mu.tolist()])
        self._refuse_unlimited(forces[0])
        return Scan(mu, forces)

    def _refuse_unlimited(self, least: Floats) -> None:
        rows = np.flatnonzero(np.isinf(least)[self.cell]).tolist()
        message = "no load in this direction makes the link slip, however small mu is; check dx, dy, dz and the point"
        if rows:
            problems = [CellProblem(row + 1, self.data.lines[row], "dx", message) for row in rows]
            raise MeasurementError(problems, self.data.source)


def _question(rig: Robot, data: SlipData, row: int) -> tuple[Any, ...]:
    shape = BallShape.of(rig, data.bend[row], data.azimuth[row])
    chain = LockedChain.of(rig, shape, Setting.of(rig, None, (), None, 0), None)
    push = chain.push(data.direction[row], *load_place(rig, -1, data.point[row]), load_couple(None))
    _, *others = chain.question(chain.supply(checked_tensions(rig, data.tensions[row])), push)
    return tuple(others)
