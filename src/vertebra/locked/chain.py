"""A payload question, checked and laid out for the kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, shown
from vertebra.locked.ball_shape import BallShape
from vertebra.mechanics.kernels.ball import lay_out_locked_chain, point_of_link, sum_supply
from vertebra.mechanics.problem import Load, load_table, load_tuple, loaded_links
from vertebra.robot.arguments import gravity_vector, link_index, link_point, numbers, positive_count, vector, whole
from vertebra.robot.friction import Friction, FrictionLaw, capstan_log_ratio, laws_for
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats, Table

Triple = tuple[float, float, float]


class Setting(NamedTuple):
    """What all shapes of a robot have in common: weight, dead loads and sockets."""

    joints: Table
    """Those of the robot, with the requested sockets."""
    links: Table
    """Those of the robot, with the masses of loads."""
    gravity: Floats
    loads: Table
    guided: int
    """Joints 1..guided sit in a rigid guide and cannot slip."""
    acting: tuple[Load, ...]
    """Loads as given; `loads` are sorted by link."""
    own_gravity: bool
    """Gravity is that of the robot file."""
    own_sockets: bool
    """So are the sockets."""

    @classmethod
    def of(
        cls,
        robot: Robot,
        gravity: str | ArrayLike | None,
        loads: Sequence[Load] | None,
        socket_limit: ArrayLike | None,
        guided: int,
    ) -> Setting:
        count = whole(guided)
        if count is None or not 0 <= count <= len(robot.joints):
            raise InputError("guided", f"must be a number of joints from 0 to {len(robot.joints)}, not {shown(guided)}")
        acting = load_tuple(loads)
        return cls(
            _joints(robot, socket_limit), loaded_links(robot, acting), gravity_vector(robot, gravity),
            load_table(robot, acting), count, acting, gravity is None, socket_limit is None,
        )  # fmt: skip


class UnitLoad(NamedTuple):
    """One newton of the load whose size is asked for: where and how it acts. World axes."""

    link: int
    at: Triple
    """m."""
    direction: Triple
    """Unit vector."""
    couple: Triple
    """N*m per N."""
    own_point: bool
    """It acts at the default point of the link, which is that of the robot file."""


@dataclass(frozen=True, eq=False)
class LockedChain:
    """A ball-joint robot in one shape, ready for any tensions and any load."""

    robot: Robot
    shape: BallShape
    setting: Setting
    frames: Floats
    """(n+1, 4, 4) m."""
    share: Floats
    """(cables, n) fraction of each cable's tension that is left at each joint."""
    pulls: Floats
    """(n, cables, 6) force and moment about the ball's centre of each cable, per N of its tension at the base."""
    rest: Floats
    """(n, 6) those of weights and dead loads."""
    laws: tuple[FrictionLaw, ...]
    """(cables,) friction of each cable."""
    own_friction: bool
    """It is that of the robot file."""

    @classmethod
    def of(cls, robot: Robot, shape: BallShape, setting: Setting, friction: Friction | None) -> LockedChain:
        n, cables = len(robot.joints), len(robot.cables)
        laws = cable_laws(robot, friction)
        share = tension_shares(robot, shape.bends, laws)
        frames, pulls, rest = np.empty((n + 1, 4, 4)), np.empty((n, cables, 6)), np.empty((n, 6))
        # Bends are within the limits of the joints, so no joint can be refused.
        lay_out_locked_chain(
            *tables(robot, setting), *shape, share, np.empty(2 * n), frames, np.empty((2 * n, 6)), pulls, rest
        )
        return cls(robot, shape, setting, frames, share, pulls, rest, laws, friction is None)

    def supply(self, tensions: Floats) -> Floats:
        """(n, 6) force and moment that each contact supplies without the load, N and N*m."""
        out = np.empty_like(self.rest)
        sum_supply(self.pulls, self.rest, tensions, out)
        return out

    def unit_load(self, direction: Floats, link: int, point: ArrayLike | None, couple: Floats) -> UnitLoad:
        index, place = load_place(self.robot, link, point)
        at = point_of_link(self.frames, index, place)
        return UnitLoad(index, at, _triple(direction), _triple(couple), point is None)

    def question(self, supply: Floats, unit_load: UnitLoad) -> tuple[Any, ...]:
        """Arguments of the kernels that ask for limits."""
        return self.setting.joints, supply, self.frames, self.setting.guided, *unit_load[:4]


def tables(robot: Robot, setting: Setting) -> tuple[Any, ...]:
    """First arguments of `lay_out_locked_chain`."""
    return (
        setting.joints, setting.links, robot.cables, robot.segments, robot.origin, setting.gravity, setting.loads,
    )  # fmt: skip


def cable_laws(robot: Robot, friction: Friction | None) -> tuple[FrictionLaw, ...]:
    """Friction of each cable: as given, or of the robot file."""
    return robot.friction_laws if friction is None else laws_for(len(robot.cables), friction)


def tension_shares(robot: Robot, bends: Floats, laws: Sequence[FrictionLaw]) -> Floats:
    """Fraction of each cable's tension left at each joint, (..., cables, n) for bends (..., n); zero beyond its end.

    A joint bends a cable by half at the hole before its gap and by half at the hole after it.
    """
    shares = np.ones((*bends.shape[:-1], len(robot.cables), bends.shape[-1]))
    for k, law in enumerate(laws):
        if not law.is_none:
            loss = capstan_log_ratio(law, 0.5 * np.abs(bends))
            shares[..., k, :] = np.exp(-2.0 * np.cumsum(loss, axis=-1) + loss)
    for k, last in enumerate(robot.cables["last_link"].tolist()):
        if last < bends.shape[-1]:
            shares[..., k, last:] = 0.0
    return shares


def checked_tensions(robot: Robot, tensions: ArrayLike, name: str = "tensions") -> Floats:
    """(..., cables) N: one number for all cables, or one per cable, none of them negative."""
    array, cables = numbers(name, tensions, "N"), len(robot.cables)
    if array.ndim and array.shape[-1] != cables:
        raise InputError(name, f"must be one number, or {cables}, one per cable, not shape {array.shape}")
    if (array < 0.0).any():
        cable = int(np.argmax((array < 0.0).reshape(-1))) % max(cables, 1)
        raise InputError(name, f"cable {cable + 1} has {array.min():g} N; must be 0 or more: a cable can only pull")
    return array if array.ndim else np.full(cables, float(array))


def load_place(robot: Robot, link: int, point: ArrayLike | None) -> tuple[int, Floats]:
    """Number and point (link frame, m) of the loaded link."""
    index = link_index(robot, link)
    return index, link_point(robot, index, point)


def load_couple(moment_per_force: ArrayLike | None) -> Floats:
    """Moment per newton of load, (3,) m."""
    return np.zeros(3) if moment_per_force is None else vector("moment_per_force", moment_per_force, "N*m per N")


def _joints(robot: Robot, socket_limit: ArrayLike | None) -> Table:
    if socket_limit is None:
        return robot.joints
    given, n = numbers("socket_limit", socket_limit, "rad"), len(robot.joints)
    if given.shape not in ((), (n,)) or not ((given > 0.0) & (given <= np.pi)).all():
        raise InputError("socket_limit", f"must be one angle, or {n}, above 0 and up to pi, in rad")
    joints = robot.joints.copy()
    joints["socket"] = given
    joints.flags.writeable = False  # as the robot's own, for which the kernels are compiled
    return joints


def _triple(array: Floats) -> Triple:
    x, y, z = array.tolist()
    return x, y, z


# Load directions.

GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))
"""rad; turning by it from point to point never lines points up."""

MOST_DIRECTIONS = 1_000_000
"""Of a grid: one for every three arc minutes of the sphere."""

UNIT = 1e-15
"""How far from 1 the square of a unit vector may be; such a vector is used unchanged."""


def sphere_grid(count: int) -> Floats:
    """Unit vectors (count, 3), each for the same share of the sphere: a spiral from +z to -z. At most a million."""
    i = np.arange(positive_count("count", count, MOST_DIRECTIONS))
    z = 1.0 - (2.0 * i + 1.0) / len(i)
    ring, angle = np.sqrt(1.0 - z * z), GOLDEN_ANGLE * i
    grid: Floats = np.column_stack([ring * np.cos(angle), ring * np.sin(angle), z])
    return grid


def unit_vector(name: str, value: ArrayLike) -> Floats:
    """The direction of three numbers, of which not all are zero."""
    array = vector(name, value, "any unit")
    x, y, z = array.tolist()
    if abs(x * x + y * y + z * z - 1.0) <= UNIT:
        return array
    size = max(abs(x), abs(y), abs(z))
    if size == 0.0:
        raise InputError(name, "must not be zero: only the direction counts, such as (0, 0, -1)")
    x, y, z = x / size, y / size, z / size
    length = math.sqrt(x * x + y * y + z * z)
    return np.array([x / length, y / length, z / length])


def unit_vectors(name: str, given: int | ArrayLike) -> Floats:
    """Directions (D, 3) as given, or this many from `sphere_grid`."""
    count = whole(given)
    if count is not None:
        return _normalised(name, sphere_grid(positive_count(name, count, MOST_DIRECTIONS)))
    array = np.atleast_2d(numbers(name, given, "any unit"))
    if array.ndim != 2 or array.shape[1] != 3 or len(array) == 0:
        raise InputError(name, f"must be a count, or directions of shape (D, 3), not {array.shape}")
    return _normalised(name, array)


def _normalised(name: str, array: Floats) -> Floats:
    size = np.abs(array).max(axis=1, keepdims=True)
    if (size == 0.0).any():
        raise InputError(name, f"row {int(np.argmin(size))} is zero: only the direction counts, such as (0, 0, -1)")
    # The same steps as for one direction, for the same bits.
    x, y, z = array.T
    is_unit = np.abs(x * x + y * y + z * z - 1.0) <= UNIT
    x, y, z = (array / size).T
    unit: Floats = np.stack([x, y, z], axis=1) / np.sqrt(x * x + y * y + z * z)[:, None]
    return np.where(is_unit[:, None], array, unit)
