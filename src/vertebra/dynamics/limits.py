"""What happens where a joint ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import InputError
from vertebra.mechanics.cables import TOUCH
from vertebra.mechanics.kinematics import measure
from vertebra.robot.arguments import numbers, positive
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

HALVINGS = 30
"""Of the angle at which the faces of a joint meet."""


@dataclass(frozen=True)
class Bumper:
    """Springs that stop a joint at its limit, instead of the end of the simulation."""

    stiffness: float
    """N*m/rad, beyond the limit."""
    damping: float = 0.0
    """N*m*s/rad, while beyond the limit."""

    def __post_init__(self) -> None:
        positive("stiffness", self.stiffness)
        damping = numbers("damping", self.damping, "N*m*s/rad")
        if damping.shape != () or damping < 0.0:
            raise InputError("damping", f"must be one number of 0 N*m*s/rad or more, not {self.damping!r}")


def joint_ranges(robot: Robot) -> tuple[Floats, Floats]:
    """Least and most angle of each joint, rad: its limit, or less where its faces would meet at a cable."""
    return _until_faces_meet(robot, -robot.joints["limit"]), _until_faces_meet(robot, +robot.joints["limit"])


def _until_faces_meet(robot: Robot, ends: Floats) -> Floats:
    """The way from straight to `ends`, as far as every joint can go it by itself."""
    if not _faces_crossed(robot, ends).any():
        return ends
    free, crossed = np.zeros(len(ends)), np.ones(len(ends))
    for _ in range(HALVINGS):
        middle = 0.5 * (free + crossed)
        meets = _faces_crossed(robot, middle * ends)
        free, crossed = np.where(meets, free, middle), np.where(meets, middle, crossed)
    return np.where(_faces_crossed(robot, ends), free, 1.0) * ends


def _faces_crossed(robot: Robot, q: Floats) -> NDArray[np.bool_]:
    """Which joints have the ends of a cable segment past each other; once they have, more bend makes it worse."""
    return np.asarray((measure(robot, q).lengths < -TOUCH).any(axis=0))
