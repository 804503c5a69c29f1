"""How stiff cables are along their length, as given or from the robot file."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.robot.arguments import numbers
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

USUAL_EA = 2e4
"""N; a cable whose stiffness nobody states is taken to be this stiff, as thin steel rope is."""


def axial_stiffness(robot: Robot, stiffness_EA: ArrayLike | None) -> Floats:
    """EA of each cable, N: as given (one or one a cable), else of the robot file, else USUAL_EA."""
    stated = robot.cables["stiffness_EA"]
    array = np.where(np.isinf(stated), USUAL_EA, stated)
    if stiffness_EA is None:
        return array
    try:
        array = np.array(np.broadcast_to(numbers("stiffness_EA", stiffness_EA, "N"), array.shape))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError("stiffness_EA", f"must be one number in N or {len(array)}, one a cable") from None
    if not (array > 0.0).all():
        raise InputError("stiffness_EA", "must be more than 0 N")
    return array
