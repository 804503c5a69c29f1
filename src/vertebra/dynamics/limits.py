"""What happens where a joint ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vertebra.mechanics.cables import TOUCH
from vertebra.mechanics.kinematics import measure
from vertebra.robot.arguments import numbers, positive
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

POSES = 64
"""Angles to either side at which cables are looked at."""


@dataclass(frozen=True)
class Bumper:
    """Springs that stop a joint at its limit, instead of the end of the simulation."""

    stiffness: float
    """N*m/rad, beyond the limit."""
    damping: float = 0.0
    """N*m*s/rad, while beyond the limit."""

    def __post_init__(self) -> None:
        positive("stiffness", self.stiffness)
        if not float(numbers("damping", self.damping, "N*m*s/rad")) >= 0.0:
            raise ValueError("damping must be 0 N*m*s/rad or more")


def joint_ranges(robot: Robot) -> tuple[Floats, Floats]:
    """Least and most angle of each joint, rad: its limit, or less where its faces would meet at a cable."""
    n = len(robot.joints)
    least, most = -np.array(robot.joints["limit"]), np.array(robot.joints["limit"])
    for ends in (least, most):
        within = np.zeros(n)
        for part in np.linspace(0.0, 1.0, POSES + 1)[1:]:
            meets = (measure(robot, part * ends).lengths < -TOUCH).any(axis=0) if len(robot.cables) else np.zeros(n)
            if meets.all():
                break
            within = np.where((meets == 0) & (within >= part - 1.5 / POSES), part, within)
        ends *= within
    return least, most
