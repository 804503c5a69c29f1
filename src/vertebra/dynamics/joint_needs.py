"""What a motion needs at every joint, in the joint's own axes, and the cables' arms to give it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vertebra.dynamics.inverse import needed
from vertebra.dynamics.problem import Moving, States
from vertebra.mechanics.link_programme import MA
from vertebra.mechanics.link_tensions import turn_wrenches
from vertebra.robot.tables import Floats


class JointNeeds(NamedTuple):
    """N states."""

    tau: Floats
    """(N, n) N*m."""
    wrenches: Floats
    """(N, n, 6) force and moment about C along n, t, a of each joint, the last one the moment left to the cables."""
    arms: Floats
    """(N, cables, n) moment arms of the cables, m."""

    @property
    def moments(self) -> Floats:
        """(N, n) that the cables must supply, N*m."""
        return np.ascontiguousarray(self.wrenches[:, :, MA])


def joint_needs(moving: Moving, motion: States) -> JointNeeds:
    robot = moving.robot
    tau, wrenches = needed(moving, motion._replace(single=False), True)
    arms = np.empty((len(tau), len(robot.cables), len(robot.joints)))
    turn_wrenches(robot.joints, robot.cables, robot.segments, motion.q, tau, wrenches, arms)
    return JointNeeds(tau, wrenches, arms)
