"""What a caller passes along with a robot, checked: joint coordinates, a link, a point of a link, gravity, tension
bounds, cable stiffness.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.robot.description import MOUNTS
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

LARGEST = 1e12
"""No quantity of a robot, in SI, is larger than this."""


def require_robot(robot: object) -> None:
    """Refuse anything but a robot, such as the name of one."""
    if not isinstance(robot, Robot):
        raise InputError("robot", f"must be a Robot, such as vertebra.load returns, not {type(robot).__name__}")


def coordinates(robot: Robot, angles: ArrayLike, name: str = "angles") -> Floats:
    """Joint coordinates as a contiguous (freedoms,) array, or an `InputError` that says what is expected."""
    require_robot(robot)
    try:
        q = np.ascontiguousarray(angles, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(name, "must be numbers in rad") from None
    if not q.flags.writeable:
        q = q.copy()  # kernels are compiled for writable coordinates only
    if q.shape == (robot.freedoms,):
        return q
    if q.shape == (len(robot.joints), 2) and robot.freedoms == q.size:
        return q.reshape(-1)
    raise InputError(name, f"must have shape ({robot.freedoms},) for {robot.name}, not {q.shape}")


def link_index(robot: Robot, link: int) -> int:
    """Link number counted from 0; negative numbers count from the tip."""
    count = len(robot.links)
    if isinstance(link, bool) or not isinstance(link, int | np.integer) or not -count <= link < count:
        raise InputError("link", f"must be from 0 (base) to {count - 1}, or -1 for the last link, not {link!r}")
    return int(link) % count


def link_point(robot: Robot, link: int, point: ArrayLike | None) -> Floats:
    """`point` in the frame of `link`, or its default: the tip on the last link, the centre of mass on any other."""
    if point is None:
        if link == len(robot.links) - 1:
            return robot.tip_point
        return _frozen(robot.links["center_of_mass"][link])
    return _frozen(vector("point", point, "m"))


def numbers(name: str, values: ArrayLike, unit: str) -> Floats:
    """A fresh contiguous array of numbers, none of them so large that sums of products could overflow."""
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(name, f"must be numbers in {unit}") from None
    if not (np.abs(array) <= LARGEST).all():
        raise InputError(name, f"must be finite numbers in {unit}, at most {LARGEST:g}")
    return array


def vector(name: str, value: ArrayLike, unit: str) -> Floats:
    """A fresh array of three numbers."""
    array = numbers(name, value, unit)
    if array.shape != (3,):
        raise InputError(name, f"must be three numbers in {unit}, not an array of shape {array.shape}")
    return array


def positive(name: str, value: float) -> float:
    """One number above 0."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.shape != () or not 0.0 < array <= LARGEST:
        raise InputError(name, f"must be one number above 0, at most {LARGEST:g}, not {value!r}")
    return float(array)


def positive_count(name: str, value: int, most: int | None = None) -> int:
    """A whole number of 1 or more, up to `most` where there is one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(name, f"must be a whole number of 1 or more, not {value!r}")
    if most is not None and value > most:
        raise InputError(name, f"must be {most:,} or less, not {value:,}")
    return int(value)


def gravity_vector(robot: Robot, gravity: str | ArrayLike | None) -> Floats:
    """Acceleration (3,) in the world frame, m/s^2: the robot's own, that of a mount, or a vector."""
    if gravity is None:
        return robot.gravity
    if isinstance(gravity, str):
        if gravity not in MOUNTS:
            raise InputError("gravity", f"must be {', '.join(MOUNTS)} or three numbers in m/s^2, not {gravity!r}")
        return _frozen(np.array(MOUNTS[gravity]))
    return _frozen(vector("gravity", gravity, "m/s^2"))


def _frozen(array: Floats) -> Floats:
    # Read-only like `tip_point`, so that the kernel is compiled for one kind of array only.
    result = np.ascontiguousarray(array)
    result.flags.writeable = False
    return result


# How stiff cables are along their length, as given or from the robot file.

USUAL_EA = 2e4
"""N; stiffness of a cable that nobody states: that of thin steel rope."""


def axial_stiffness(robot: Robot, stiffness_EA: ArrayLike | None) -> Floats:
    """EA of each cable, N: as given (one or one per cable), else of the robot file, else USUAL_EA."""
    stated = robot.cables["stiffness_EA"]
    array = np.where(np.isinf(stated), USUAL_EA, stated)
    if stiffness_EA is None:
        return array
    given = numbers("stiffness_EA", stiffness_EA, "N")
    try:
        array = np.array(np.broadcast_to(given, array.shape))
    except ValueError:
        raise InputError("stiffness_EA", f"must be one number in N or {len(array)}, one per cable") from None
    if not (array > 0.0).all():
        raise InputError("stiffness_EA", "must be more than 0 N")
    return array


# Bounds on cable tensions, as given or from the robot file.


def tension_bounds(robot: Robot, lower: ArrayLike | None, upper: ArrayLike | None) -> tuple[Floats, Floats]:
    """Least and largest tension of each cable, N: as given (one or one per cable), else pretension and max_tension."""
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
        raise InputError(name, f"must be one number in N, or {len(robot.cables)}, one per cable") from None
    if np.isnan(array).any():
        raise InputError(name, "must be numbers in N")
    return array
