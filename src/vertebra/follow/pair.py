"""Two concentric snakes, their tensions and their loads: everything that stays the same on a journey."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.follow.steps import Bend, Snake
from vertebra.locked.ball_shape import require_balls
from vertebra.locked.chain import checked_tensions
from vertebra.robot.arguments import as_robot, gravity_vector, vector
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import Floats

ALIKE = 1e-9
"""Link lengths may differ by this fraction; a file that gives them in mm and one in inches must agree."""
SHARPEST_CORNER = math.pi / 2
"""A link whose two ends follow a corner sharper than this would have to jump."""


@dataclass(frozen=True, eq=False, repr=False)
class SnakePair:
    """Robots, tensions while rigid, and dead loads.

    Both robots have ball joints and one link length throughout, since every link takes the place of the one before it.
    The inner snake may have fewer joints; the outer one then gets at most one link farther than the inner one can.
    """

    outer: Robot
    inner: Robot
    outer_tensions: Floats
    """(cables,) N, when it is rigid."""
    inner_tensions: Floats
    """(cables,) N, when it is rigid."""
    gravity: Floats
    """(3,) m/s^2, in the frame of the entry: z points out of the guide."""
    tip_load: Floats
    """(3,) N, dead load at the foremost tip."""
    friction: Friction | None = None
    """Of the cables in their holes, as `payload` takes it; None for the laws of the robot files."""
    socket_limit: ArrayLike | None = None
    """As `payload` takes it."""
    link_length: float = field(init=False)
    """m."""

    def __post_init__(self) -> None:
        length = _link_length("outer", self.outer)
        inner = _link_length("inner", self.inner)
        if abs(length - inner) > ALIKE * length:
            raise InputError(
                "inner",
                f"its links are {inner * 1e3:.6g} mm long, those of the outer snake {length * 1e3:.6g} mm; both must "
                "be equal, or the joints of one could not take the places of the other's",
            )
        object.__setattr__(self, "link_length", length)

    def robot(self, snake: Snake) -> Robot:
        return self.outer if snake is Snake.OUTER else self.inner

    def tensions(self, snake: Snake) -> Floats:
        return self.outer_tensions if snake is Snake.OUTER else self.inner_tensions

    @property
    def reach(self) -> int:
        """Links that the outer snake can have outside: its own, and at most one more than the inner snake has."""
        return min(len(self.outer.joints), len(self.inner.joints) + 1)

    @property
    def shorter(self) -> Snake:
        """The snake that limits the reach."""
        return Snake.OUTER if self.reach == len(self.outer.joints) else Snake.INNER

    @property
    def steering_limit(self) -> float:
        """Largest bend of a new joint, rad: within the limits of both snakes, and no sharper than links can pass."""
        return min(float(self.outer.joints["limit"][-1]), float(self.inner.joints["limit"][-1]), SHARPEST_CORNER)

    def over_limit(self, snake: Snake, bends: Sequence[Bend]) -> Iterator[tuple[int, float, float]]:
        """Joint of the robot (from 1), its bend and its limit, rad, for each one that is bent too far."""
        limits = self.robot(snake).joints["limit"]
        guided = len(limits) - len(bends)
        for place, bend in enumerate(bends):
            limit = min(float(limits[guided + place]), SHARPEST_CORNER)
            if abs(bend.bend) > limit:
                yield guided + place + 1, bend.bend, limit

    def __repr__(self) -> str:
        return f"SnakePair({self.outer.name!r} around {self.inner.name!r}, {self.link_length * 1e3:g} mm links)"


def snake_pair(
    outer: RobotLike, inner: RobotLike, outer_tensions: ArrayLike, inner_tensions: ArrayLike,
    gravity: str | ArrayLike | None = None, tip_load: ArrayLike = (0.0, 0.0, 0.0), friction: Friction | None = None,
    socket_limit: ArrayLike | None = None,
) -> SnakePair:  # fmt: skip
    """A pair from what a caller passes; gravity is that of the outer robot's file unless given."""
    outer, inner = as_robot(outer, "outer"), as_robot(inner, "inner")
    for name, robot in (("outer", outer), ("inner", inner)):
        if not isinstance(robot, Robot):
            raise InputError(name, f"must be a robot from vertebra.load, not {type(robot).__name__}")
    return SnakePair(
        outer,
        inner,
        _tensions("outer_tensions", outer, outer_tensions),
        _tensions("inner_tensions", inner, inner_tensions),
        gravity_vector(outer, gravity),
        vector("tip_load", tip_load, "N"),
        friction,
        socket_limit,
    )


def _link_length(name: str, robot: Robot) -> float:
    require_balls(robot, name)
    lengths = robot.joints["size"]
    if np.ptp(lengths) > ALIKE * lengths[0]:
        raise InputError(
            name,
            f"links of {robot.name} are {lengths.min() * 1e3:.6g} to {lengths.max() * 1e3:.6g} mm long; all must be "
            "equal, since each takes the place of the one before it",
        )
    return float(lengths[0])


def _tensions(name: str, robot: Robot, tensions: ArrayLike) -> Floats:
    if len(robot.cables) == 0:
        raise InputError(name, f"{robot.name} has no cables to lock it; add a `cables` block to its robot file")
    values = checked_tensions(robot, tensions, name)
    if values.ndim != 1:
        raise InputError(name, f"must be one set of tensions, not shape {values.shape}")
    values.flags.writeable = False
    return values
