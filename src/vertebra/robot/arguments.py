"""What a caller passes, checked: a robot, joint coordinates, numbers, counts, words, functions; a link and a point of
it, gravity, tension bounds, cable stiffness.

Every check raises an `InputError` that names the argument, says what is allowed and shows what was found.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import DescriptionError, InputError, shown
from vertebra.robot.description import MOUNTS
from vertebra.robot.reading import did_you_mean
from vertebra.robot.robot import Robot, RobotLike, load
from vertebra.robot.tables import Floats
from vertebra.robot.units import real

BALLS_CAN = (
    "ball joints are locked by friction, so their shape is given and not found: ask for `payload`, `payload_map`, "
    "`best_tensions`, `follow_the_leader`, kinematics, sensing or exports"
)
"""What robots with ball joints are told where a shape is to be found, and what they can be asked."""
OTHERS_CAN = (
    "only ball joints are locked by friction: ask for `shape_from_tensions`, `tensions_for_shape`, `tensions_for_tip` "
    "or `simulate`"
)
"""What robots with other joints are told where a locked shape is asked about."""

LARGEST = 1e12
"""No quantity of a robot, in SI, is larger than this."""
SMALLEST = 1e-60
"""None that must be above 0 is smaller."""
MOST = 10**9
"""No count is larger."""


def as_robot(robot: RobotLike, name: str = "robot") -> Robot:
    """A robot as it is, or as `load` makes it from a preset name, a path or a mapping."""
    if isinstance(robot, Robot):
        return robot
    if not isinstance(robot, str | Path | Mapping):
        message = "must be a Robot, as vertebra.load returns, or what it takes: a preset name, a path or a mapping"
        raise InputError(name, f"{message}, not {shown(robot)}")
    try:
        return load(robot)
    except DescriptionError as error:
        raise DescriptionError(error.problems, f"{name}: {error.origin}") from None


def require_robot(robot: object) -> None:
    """Refuse anything but a robot."""
    if not isinstance(robot, Robot):
        raise InputError("robot", f"must be a Robot, as vertebra.load returns, not {shown(robot)}")


Kind = TypeVar("Kind")


def instance(name: str, value: Any, kind: type[Kind], made_by: str) -> Kind:
    """An object of one class; `made_by` says where such objects come from."""
    if not isinstance(value, kind):
        raise InputError(name, f"must be a {kind.__name__}, {made_by}, not {shown(value)}")
    return value


Word = TypeVar("Word", bound=str)


def word(name: str, value: Word, allowed: Sequence[str]) -> Word:
    """One of a few words."""
    if not isinstance(value, str) or value not in allowed:
        listed = " or ".join([", ".join(allowed[:-1])] * (len(allowed) > 1) + [allowed[-1]])
        raise InputError(name, f"must be {listed}, not {shown(value)}{did_you_mean(value, allowed)}")
    return value


def flag(name: str, value: bool) -> bool:
    """Yes or no."""
    if value is True or value is False:
        return value
    if isinstance(value, np.bool_) or (whole(value) in (0, 1)):
        return bool(value)
    raise InputError(name, f"must be True or False, not {shown(value)}")


def function(name: str, value: Any, *arguments: str) -> None:
    """Refuse what is neither left out nor a function that takes these arguments."""
    if value is None:
        return
    try:
        takes = callable(value) and inspect.signature(value).bind(*arguments) is not None
    except TypeError:
        takes = False
    except ValueError:  # some functions that are not written in Python do not say what they take
        takes = not isinstance(value, type)
    if not takes:
        raise InputError(name, f"must be a function of {', '.join(arguments)}, or None, not {shown(value)}")


LONGEST_PATH = 4000
"""Characters; no system takes more."""


def folder(name: str, value: Any) -> Path | None:
    """The path of a folder, there already or not; None where it is left out."""
    if value is None:
        return None
    text = str(value) if isinstance(value, str | Path) else ""
    if not 0 < len(text) <= LONGEST_PATH or "\0" in text:
        raise InputError(name, f"must be the path of a folder, or None, not {shown(value)}")
    return Path(value)


def whole(value: object) -> int | None:
    """A whole number as Python's own, also one of numpy; None for anything else."""
    if type(value) is int:
        return value
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except Exception:  # an object may raise anything when it is asked for a number
        return None


def positive_count(name: str, value: int, most: int = MOST) -> int:
    """A whole number of 1 or more, up to `most`."""
    count = whole(value)
    if count is None or not 1 <= count <= most:
        raise InputError(name, f"must be a whole number from 1 to {most:,}, not {shown(value)}")
    return count


def seed_number(name: str, value: int) -> int:
    """A whole number of 0 or more, from which random numbers start."""
    seed = whole(value)
    if seed is None or seed < 0:
        raise InputError(name, f"must be a whole number of 0 or more, not {shown(value)}")
    return seed


def floats(name: str, values: ArrayLike, unit: str) -> Floats:
    """A fresh contiguous array of numbers, NaN and infinite ones among them. Texts, yes and no, complex numbers and
    dates are none."""
    array = real(values)
    if array is None:
        raise InputError(name, f"must be numbers in {unit}, not {shown(values)}")
    return array


def numbers(name: str, values: ArrayLike, unit: str) -> Floats:
    """A fresh contiguous array of numbers, none of them so large that sums of products could overflow."""
    array = floats(name, values, unit)
    if array.size and not -LARGEST <= array.min() <= array.max() <= LARGEST:  # NaN is in no order
        raise InputError(name, f"must be finite numbers in {unit}, at most {LARGEST:g}, not {shown(values)}")
    return array


def number(name: str, value: float, unit: str, least: float = -LARGEST, most: float = LARGEST) -> float:
    """One number within bounds."""
    array = real(value)
    if array is None or array.shape != () or not least <= array <= most:
        bounds = f"from {least:g} to {most:g}" if least > -LARGEST or most < LARGEST else f"at most {LARGEST:g}"
        raise InputError(name, f"must be one number in {unit}, {bounds}, not {shown(value)}")
    return float(array)


def positive(name: str, value: float) -> float:
    """One number above 0."""
    array = real(value)
    if array is None or array.shape != () or not SMALLEST <= array <= LARGEST:
        raise InputError(name, f"must be one number above 0, from {SMALLEST:g} to {LARGEST:g}, not {shown(value)}")
    return float(array)


def one_per_cable(name: str, values: ArrayLike, unit: str, robot: Robot) -> Floats:
    """A fresh array of a number per cable; one number is for all of them."""
    array, count = numbers(name, values, unit), len(robot.cables)
    if array.ndim == 0:
        return np.full(count, float(array))
    if array.shape != (count,):
        found = f"not {array.size}" if array.ndim == 1 else f"not an array of shape {array.shape}"
        raise InputError(name, f"must be one number in {unit}, or {count}, one per cable of {robot.name}, {found}")
    return array


def coordinates(robot: Robot, angles: ArrayLike, name: str = "angles") -> Floats:
    """Joint coordinates as a fresh (freedoms,) array, or an `InputError` that says what is expected."""
    require_robot(robot)
    q = floats(name, angles, "rad")
    if q.shape == (robot.freedoms,):
        return q
    if q.shape == (len(robot.joints), 2) and (robot.joints["freedoms"] == 2).all():
        return q.reshape(-1)
    raise InputError(name, f"must have shape ({robot.freedoms},) for {robot.name}, not {q.shape}")


def link_index(robot: Robot, link: int) -> int:
    """Link number counted from 0; negative numbers count from the tip."""
    count, index = len(robot.links), whole(link)
    if index is None or not -count <= index < count:
        raise InputError("link", f"must be from 0 (base) to {count - 1}, or -1 for the last link, not {shown(link)}")
    return index % count


def link_point(robot: Robot, link: int, point: ArrayLike | None) -> Floats:
    """`point` in the frame of `link`, or its default: the tip on the last link, the centre of mass on any other."""
    if point is None:
        if link == len(robot.links) - 1:
            return robot.tip_point
        return _frozen(robot.links["center_of_mass"][link])
    return _frozen(vector("point", point, "m"))


def vector(name: str, value: ArrayLike, unit: str) -> Floats:
    """A fresh array of three numbers."""
    array = numbers(name, value, unit)
    if array.shape != (3,):
        raise InputError(name, f"must be three numbers in {unit}, not an array of shape {array.shape}")
    return array


def far_outside(robot: Robot, values: ArrayLike, times: float = 3.0) -> str:
    """What to say about lengths of so many `times` the robot's, m; empty where they are shorter."""
    too_long = np.abs(values).max() > times * robot.length
    return f"the robot is only {robot.length * 1e3:.4g} mm long" if too_long else ""


def tip_position(robot: Robot, position: ArrayLike) -> Floats:
    """Where the tip is wanted, (3,) m. Out of reach it has a nearest answer; far outside it is most likely in mm."""
    place = vector("position", position, "m")
    outside = far_outside(robot, place, 30.0)
    if outside:
        listed = ", ".join(f"{value:g}" for value in place)
        mm = "" if far_outside(robot, 1e-3 * place) else "; did you mean mm? Give m"
        raise InputError("position", f"tip ({listed}) m is far outside: {outside}{mm}")
    return place


def gravity_vector(robot: Robot, gravity: str | ArrayLike | None) -> Floats:
    """Acceleration (3,) in the world frame, m/s^2: the robot's own, that of a mount, or a vector."""
    if gravity is None:
        return robot.gravity
    if isinstance(gravity, str):
        if gravity not in MOUNTS:
            message = f"must be {', '.join(MOUNTS)} or three numbers in m/s^2, not {shown(gravity)}"
            raise InputError("gravity", message + did_you_mean(gravity, MOUNTS))
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
    if not (array >= SMALLEST).all():
        raise InputError("stiffness_EA", f"must be more than 0 N, not {shown(stiffness_EA)}")
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
    values, count = floats(name, given, "N"), len(robot.cables)
    if values.shape not in ((), (1,), (count,)):
        raise InputError(name, f"must be one number in N, or {count}, one per cable, not {shown(given)}")
    if not ((np.abs(values) <= LARGEST) | (values == np.inf)).all():
        raise InputError(name, f"must be numbers in N, at most {LARGEST:g}, or inf for none, not {shown(given)}")
    return np.array(np.broadcast_to(values, (count,)))
