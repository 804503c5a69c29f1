"""The bend of one ball joint, and the bend that points a link somewhere."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vertebra.errors import InputError
from vertebra.robot.tables import Floats


class Bend(NamedTuple):
    """Bend angle and bend azimuth of a ball joint, in the frame of the link before it."""

    bend: float
    """rad; 0 is straight."""
    azimuth: float
    """rad; toward (cos azimuth, sin azimuth, 0)."""

    @property
    def vector(self) -> tuple[float, float]:
        """Bend toward x and toward y, rad: the two coordinates of the joint."""
        return self.bend * math.cos(self.azimuth), self.bend * math.sin(self.azimuth)

    def __str__(self) -> str:
        if self.bend == 0.0:
            return "straight"
        return f"{math.degrees(self.bend):.4g} deg toward azimuth {math.degrees(self.azimuth):.4g} deg"


STRAIGHT = Bend(0.0, 0.0)


def checked_bend(name: str, bend: float, azimuth: float) -> Bend:
    """A bend of two finite numbers, or an error that names it."""
    try:
        found = Bend(float(bend), float(azimuth))
    except (TypeError, ValueError):
        raise InputError(name, f"needs a bend and an azimuth in rad, not {bend!r} and {azimuth!r}") from None
    if not (math.isfinite(found.bend) and math.isfinite(found.azimuth)):
        raise InputError(name, f"bend and azimuth must be finite numbers in rad, not {bend!r} and {azimuth!r}")
    return found


def bend_of_vector(x: float, y: float) -> Bend:
    """The bend whose coordinates are these, rad."""
    size = math.hypot(x, y)
    return Bend(size, math.atan2(y, x)) if size > 0.0 else STRAIGHT


def bend_toward(rotation: Floats, direction: Floats) -> Bend:
    """The bend after a link with axes `rotation` (3, 3) that points the next link along `direction` (3,)."""
    x, y, z = (float(value) for value in rotation.T @ direction)
    aside = math.hypot(x, y)
    return Bend(math.atan2(aside, z), math.atan2(y, x)) if aside > 0.0 or z < 0.0 else STRAIGHT


def turned(rotation: Floats, bend: Bend) -> Floats:
    """(3, 3) axes of the link after a joint: Rot(a, bend) with a = (-sin azimuth, cos azimuth, 0), no twist."""
    bx, by = math.cos(bend.azimuth), math.sin(bend.azimuth)
    s, v = math.sin(bend.bend), 2.0 * math.sin(0.5 * bend.bend) ** 2  # v = 1 - cos
    turn = np.array(
        [
            [1.0 - v * bx * bx, -v * bx * by, s * bx],
            [-v * bx * by, 1.0 - v * by * by, s * by],
            [-s * bx, -s * by, 1.0 - v],
        ]
    )
    result: Floats = rotation @ turn
    return result
