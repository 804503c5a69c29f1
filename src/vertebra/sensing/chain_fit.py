"""Room for one fit of orientations along a chain, and the call of the compiled fit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from vertebra.mechanics.kernels.sensed_chain import FACTORS, fit_chain
from vertebra.mechanics.kernels.sensor_intake import sense_chain
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats, Table


@dataclass(eq=False)
class ChainFit:
    """Scratch arrays of a robot, reused by every fit; fresh arrays for what a result keeps."""

    robot: Robot
    points: Floats = field(init=False)
    """(n+1,) where along each link its platform is, m."""

    def __post_init__(self) -> None:
        n = len(self.robot.joints)
        self.points = self.robot.links["reach"].copy()
        self.measured, self.information = np.zeros((n + 1, 3, 3)), np.zeros((n + 1, 3))
        self.axes = np.zeros((self.robot.freedoms, 6))
        self.factors, self.scratch = np.zeros((n + 1, FACTORS)), np.zeros((3, 3, 6))

    def whole(
        self, table: Table, time: float, use_rates: bool, stale_after: float, least: float, gate: float,
        twist_sigma: float, straight: Floats, base_known: bool, base: Floats, q: Floats, twist: Floats,
    ) -> Fitted:  # fmt: skip
        """Fit all joints to what the sensors have said; q, twist and base are changed to the answer."""
        robot = self.robot
        n = len(robot.joints)
        found = Fitted(n)
        found.steps = sense_chain(
            robot.joints, robot.links, robot.origin, self.points, table, time, use_rates, stale_after, least, gate,
            twist_sigma**2, straight, base_known, base, q, twist, self.measured, self.information, found.frames,
            self.axes, self.factors, self.scratch, found.residuals, found.weights, found.variances, found.covariances,
        )  # fmt: skip
        return found

    def span(self, first: int, last: int, measured: Floats, q: Floats, frames: Floats) -> None:
        """Angles between two links of known orientation, as near to those in q as possible; q is changed."""
        part, ends = slice(first, last), slice(first, last + 1)
        information = np.zeros((last - first + 1, 3))
        information[-1] = 1e6
        twist, residuals, weights = (
            np.zeros(last - first),
            np.zeros((last - first + 1, 3)),
            np.zeros((last - first + 1, 2)),
        )
        frames[first, :3, :3] = measured[first]
        fit_chain(
            self.robot.joints[part], self.robot.links[ends], measured[ends], information, math.inf, 0.0,
            np.zeros(last - first), True, q, twist, frames[ends], self.axes, self.factors[ends], residuals, weights,
        )  # fmt: skip


class Fitted:
    """What a fit found, in arrays of its own."""

    def __init__(self, joints: int) -> None:
        self.steps = 0
        self.frames = np.empty((joints + 1, 4, 4))
        self.residuals, self.weights = np.zeros((joints + 1, 3)), np.ones((joints + 1, 2))
        self.variances, self.covariances = np.zeros((joints, 3)), np.zeros((joints + 1, 6, 6))
