"""How does a payload change with every number it was computed from?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vertebra.errors import InputError, shown
from vertebra.locked.chain import LockedChain
from vertebra.locked.payload import MODES, VERBS, Mode, Payload, Unit
from vertebra.mechanics.kernels.ball_gradient import SAME_LOAD, SMOOTH, TOUCHES, TWO_MODES, differentiate_limit
from vertebra.mechanics.layout import (
    GRADIENT_COUPLE,
    GRADIENT_DIRECTION,
    GRADIENT_GRAVITY,
    GRADIENT_POINT,
    GRADIENT_ROWS,
)
from vertebra.robot.arguments import instance, link_index, whole
from vertebra.robot.friction import law_slope
from vertebra.robot.tables import Floats, Table


class LoadGradient(NamedTuple):
    """By one dead load."""

    force: Floats
    """(3,) by each N, world axes."""
    moment: Floats
    """(3,) by each N*m, world axes."""
    point: Floats
    """(3,) by each m, in the link's frame."""
    mass: float
    """By each kg."""


@dataclass(frozen=True, eq=False, repr=False)
class PayloadGradient:
    """Derivatives of the load at which a joint gives way, in N (N*m of a pure torque) per unit of each number.

    `joints`, `links`, `cables` and `segments` are tables like the robot's; columns that no payload knows are zero.
    What a question gives instead of the robot file is zero there.
    """

    limit: float
    """The load itself, in `unit`."""
    joint: int
    """The joint that gives way at it, from 1."""
    mode: Mode
    """How."""
    unit: Unit
    """Of `limit`: N or N*m."""
    notes: tuple[str, ...]
    """One sentence for each reason why this is not a derivative in every direction; empty where it is."""
    bends: Floats
    """(n,) per rad."""
    azimuths: Floats
    """(n,) per rad."""
    tensions: Floats
    """(cables,) per N at the base."""
    direction: Floats
    """(3,) by the unit vector of the load, across it: its length does not count. Zero for a pure torque."""
    moment: Floats
    """(3,) the same by the axis of a pure torque; zero for a force."""
    point: Floats
    """(3,) per m, in the frame of the loaded link."""
    moment_per_force: Floats
    """(3,) per m."""
    gravity: Floats
    """(3,) by the gravity of the question, per m/s^2."""
    loads: tuple[LoadGradient, ...]
    """In the order in which they were given."""
    friction: Floats
    """(cables, 3) by a, b, c of each cable's friction law in the question; zero for a law that is a curve. Of cables
    without friction: toward more of it."""
    socket_limit: Floats
    """(n,) by the rims of the sockets in the question, per rad."""
    joints: Table
    """(n,) by `size`, `radius`, `ring_radius`, `friction` and `socket`."""
    links: Table
    """(n+1,) by `reach`, `mass` and `center_of_mass`."""
    cables: Table
    """(cables,) by `x`, `y`, `end`, `friction`, `linear_density` and `lock_mass`."""
    segments: Table
    """(cables, n) by `exit` and `entry`."""
    tip_point: Floats
    """(3,) by the tip in the frame of the last link, where that is the default point of loads, per m."""
    robot_gravity: Floats
    """(3,) by the gravity of the robot file, per m/s^2."""

    @property
    def is_smooth(self) -> bool:
        """Whether the derivative holds in every direction."""
        return not self.notes

    def __repr__(self) -> str:
        what = "" if self.is_smooth else f"; {'; '.join(self.notes)}"
        return f"PayloadGradient({self.limit:.4g} {self.unit}: joint {self.joint} {VERBS[self.mode]}{what})"


def payload_gradient(payload: Payload, joint: int | None = None) -> PayloadGradient:
    """Exact derivatives of a payload's `force` by every number of the question and of the robot's tables; with `joint`,
    from 1, those of that joint's own limit.

    A payload of 0 stays 0 under small changes: its derivatives are all zero, and `notes` say so. They also say where
    derivatives hold in some directions only: two joints or two modes at the same load, links that come apart, cable
    friction at straight joints. `InputError` where there is none: for an unlimited payload, or a limit that is only
    just touched.
    """
    instance("payload", payload, Payload, "as `payload` returns")
    chain, load, pull = payload.chain, payload.unit_load, payload.base_tensions
    robot, setting, row = chain.robot, chain.setting, _row(payload, joint)
    limit, mode, n, c = float(payload.limits[row]), payload.modes[row], len(robot.joints), len(robot.cables)
    is_torque = payload.unit == "N*m"
    toward, couple = (_NONE, tuple(payload.direction.tolist())) if is_torque else (load.direction, load.couple)
    # As `load_table` sorts them.
    order = sorted(range(len(setting.acting)), key=lambda i: link_index(robot, setting.acting[i].link))
    bends, azimuths, tensions, vectors = np.zeros(n), np.zeros(n), np.zeros(c), np.zeros((GRADIENT_ROWS, 3))
    joints, links, cables, segments, sorted_loads = (
        np.zeros(table.shape, table.dtype)
        for table in (robot.joints, robot.links, robot.cables, robot.segments, setting.loads)
    )
    masses, friction, status = np.zeros(len(order)), np.zeros((c, 3)), SMOOTH
    if limit > 0.0:
        status = differentiate_limit(
            robot.joints, robot.links, robot.cables, robot.segments, np.array(setting.gravity), setting.loads,
            np.array([setting.acting[i].mass for i in order]), chain.shape.azimuths, chain.share, pull,
            chain.supply(pull), chain.frames, load.link, load.at, toward, couple, row, limit, MODES.index(mode),
            float(setting.joints["socket"][row]),
            bends, azimuths, tensions, vectors, joints, links, cables, segments, sorted_loads, masses,
        )  # fmt: skip
        if status == TOUCHES:
            raise InputError(
                "payload",
                f"joint {row + 1} only just {VERBS[mode]} at {limit:.4g} {payload.unit}: the limit jumps there and has "
                "no derivative; change the direction or the tensions a little",
            )
        friction = _add_friction(chain, row, pull * tensions, bends)
    gravity, by_direction, point, by_couple = (
        vectors[k] for k in (GRADIENT_GRAVITY, GRADIENT_DIRECTION, GRADIENT_POINT, GRADIENT_COUPLE)
    )
    by_loads: dict[int, LoadGradient] = {}
    at_default = [(load.link, point)] if load.own_point else []
    for i, by, mass in zip(order, sorted_loads, masses.tolist(), strict=True):
        by_loads[i] = LoadGradient(by["force"], by["moment"], by["point"], mass)
        if setting.acting[i].point is None:
            at_default.append((link_index(robot, setting.acting[i].link), by["point"]))
    tip_point, none = np.zeros(3), np.zeros(3)
    for link, by_point in at_default:
        part = tip_point if link == n else links["center_of_mass"][link]
        part += by_point
    sockets = joints["socket"].copy()
    joints["socket"] *= setting.own_sockets
    cables["friction"] = chain.own_friction * friction
    across = _across(by_couple if is_torque else by_direction, payload.direction)
    return PayloadGradient(
        limit, row + 1, mode, payload.unit, tuple(_notes(payload, row, status)), bends, azimuths, tensions,
        none if is_torque else across, across if is_torque else none, point, none if is_torque else by_couple,
        gravity, tuple(by_loads[i] for i in range(len(order))), friction, sockets, joints, links, cables, segments,
        tip_point, setting.own_gravity * gravity,
    )  # fmt: skip


_NONE = (0.0, 0.0, 0.0)


def _row(payload: Payload, joint: int | None) -> int:
    """Of the joint whose limit is differentiated."""
    n, number = len(payload.limits), payload.joint if joint is None else whole(joint)
    if joint is None and payload.joint == 0:
        raise InputError(
            "payload", "is unlimited: no load in this direction makes a link slip, so it has no derivative; ask for "
            "another direction or link"
        )  # fmt: skip
    if number is None or not 1 <= number <= n:
        raise InputError("joint", f"must be from 1 to {n}, not {shown(joint)}")
    if math.isinf(payload.limits[number - 1]):
        why = "sits in the guide" if number <= payload.chain.setting.guided else "carries any load in this direction"
        limited = _joints(np.flatnonzero(np.isfinite(payload.limits)))
        raise InputError("joint", f"{number} {why}; {f'ask for {limited}' if limited else 'none has a limit'}")
    return number - 1


def _across(vector: Floats, unit: Floats) -> Floats:
    part: Floats = vector - (vector @ unit) * unit
    return part


def _add_friction(chain: LockedChain, row: int, by_log: Floats, bends: Floats) -> Floats:
    """Add to the derivatives by bends what they do through cable friction, and return those by a, b, c of each law.
    `by_log` (cables,): by the logarithm of the tension that is left at the joint."""
    bent = chain.shape.bends[: row + 1]
    angle, count = 0.5 * np.abs(bent), np.full(row + 1, -2.0)
    count[row] = -1.0  # at the joint itself only the hole before the gap counts (theory 5.8)
    powers = np.array([angle**3, angle**2, angle])
    by_laws: Floats = np.outer(by_log * [law.curve is None for law in chain.laws], powers @ count)
    for k, law in enumerate(chain.laws):
        if not law.is_none:
            mu = law(angle)
            bends[: row + 1] += 0.5 * by_log[k] * np.sign(bent) * count * (mu + law_slope(law, angle) * angle)
            if law.curve is None:
                by_laws[k] = by_log[k] * (powers @ (count * (mu > 0.0)))
    return by_laws


def _notes(payload: Payload, row: int, status: int) -> Iterator[str]:
    limits, mode, name = payload.limits, payload.modes[row], f"joint {row + 1}"
    limit, chain = float(limits[row]), payload.chain
    if limit == 0.0:
        yield f"{name} {VERBS[mode]} without load, and so it does after a small change: every derivative is 0"
        return
    if mode == "separation":
        yield f"{name} comes apart only while the load pulls against its contact; after any other change it slides"
    if status == TWO_MODES:
        yield f"{name} reaches another limit at the same load; derivatives are those by which it {VERBS[mode]}"
    same = np.abs(limits - limit) <= SAME_LOAD * limit
    if row == payload.joint - 1 and np.count_nonzero(same) > 1:
        others = _joints(i for i in np.flatnonzero(same) if i != row)
        yield f"the load is also the limit of {others}; derivatives are those of {name}"
    pulled = payload.tensions[:, row] > 0.0
    if any(law(0.0) > 0.0 for law, pulls in zip(chain.laws, pulled, strict=True) if pulls and not law.is_none):
        straight = _joints(np.flatnonzero(chain.shape.bends[: row + 1] == 0.0))
        if straight:
            yield f"cable friction grows with a bend to either side of straight {straight}; the mean of both is taken"


def _joints(rows: Iterable[np.integer[Any]]) -> str:
    listed = [str(row + 1) for row in rows]
    return f"joint{'s' * (len(listed) > 1)} {', '.join(listed)}" if listed else ""
