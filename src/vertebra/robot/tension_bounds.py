"""Bounds on cable tensions, as given or from the robot file."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


def tension_bounds(robot: Robot, lower: ArrayLike | None, upper: ArrayLike | None) -> tuple[Floats, Floats]:
    """Least and most tension of each cable, N: as given (one or one a cable), else pretension and max_tension."""
    low = _bound("lower", robot, lower, "pretension")
    high = _bound("upper", robot, upper, "max_tension")
    if (low < 0.0).any():
        raise InputError("lower", "must be 0 N or more: a cable can only pull")
    if not np.isfinite(low).all():
        raise InputError("lower", "must be finite, in N")
    if (high < low).any():
        cable = int(np.argmax(high < low))
        raise InputError("upper", f"cable {cable + 1}: {high[cable]:g} N is below its lower bound {low[cable]:g} N")
    return low, high


def _bound(name: str, robot: Robot, given: ArrayLike | None, field: str) -> Floats:
    if given is None:
        return np.array(robot.cables[field])
    try:
        array = np.array(np.broadcast_to(np.array(given, dtype=np.float64), (len(robot.cables),)))
    except (TypeError, ValueError):
        raise InputError(name, f"must be one number in N, or {len(robot.cables)}, one a cable") from None
    if np.isnan(array).any():
        raise InputError(name, "must be numbers in N")
    return array
