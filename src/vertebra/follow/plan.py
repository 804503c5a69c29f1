"""From a wanted path of the head to bends, and from bends to steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import Infeasible, InputError, OutOfRange, shown
from vertebra.follow.pair import SnakePair
from vertebra.follow.poses import point_ahead
from vertebra.follow.state import PairState, undo
from vertebra.follow.steps import Advance, Bend, Loosen, Snake, Steer, Step, Tighten, bend_toward, checked_bend, turned
from vertebra.robot.arguments import numbers
from vertebra.robot.tables import Floats

AT_ENTRY = 1e-3
"""A path may begin this far from the entry, in links; its first point is then moved there."""
END_SLACK = 1e-9
"""A path whose end misses a whole number of links by this fraction of one ends there."""
ROUND_OFF = 1e-9
"""A corner at the very limit may come out this fraction over it."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Bends that lead the head along a polyline, one link after the other."""

    path: Floats
    """(N, 3) wanted, m, from the entry."""
    commands: tuple[Bend, ...]
    """One per link, from the entry on."""
    vertices: Floats
    """(k+1, 3) ball centres, m: the entry, then one per link, all on the path."""
    along: Floats
    """(k+1,) where each of them is along the path, m."""
    leftover: float
    """What is left of the path beyond the last link, m, because a whole link does not fit any more."""

    def __repr__(self) -> str:
        left = f", {self.leftover * 1e3:.3g} mm left over" if self.leftover else ""
        return f"Plan of {len(self.commands)} links along {self.along[-1] * 1e3:.4g} mm{left}"


def plan_path(pair: SnakePair, path: ArrayLike) -> Plan:
    """Bends for a polyline (N, 3), m, in the frame of the entry: it begins at the origin, z points out of the guide.

    Raises `OutOfRange` where the path turns too sharply and `Infeasible` where it is too long.
    """
    line = checked_path(pair, path)
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    length, rotation = pair.link_length, np.eye(3)
    vertex, at = 0, line[0]
    centers, along = [line[0]], [0.0]
    commands: list[Bend] = []
    missing = 0
    while (found := point_ahead(line, vertex, at, centers[-1], length, END_SLACK)) is not None:
        vertex, at = found
        so_far = float(lengths[vertex] + np.linalg.norm(at - line[vertex]))
        if len(commands) == pair.reach:
            missing += 1
            centers[-1] = at
            continue
        bend = _within_limit(pair, len(commands) + 1, bend_toward(rotation, at - centers[-1]), along[-1])
        rotation = turned(rotation, bend)
        commands.append(bend)
        centers.append(centers[-1] + length * rotation[:, 2])
        along.append(so_far)
    if missing:
        raise _too_long(pair, missing, float(lengths[-1]))
    if not commands:
        raise InputError("path", f"is {lengths[-1] * 1e3:.4g} mm long, less than one link of {length * 1e3:.4g} mm")
    leftover = float(lengths[-1]) - along[-1]
    leftover = leftover if leftover > END_SLACK * length else 0.0
    return Plan(line, tuple(commands), np.array(centers), np.array(along), leftover)


def checked_path(pair: SnakePair, path: ArrayLike) -> Floats:
    """(N, 3) from the entry on, without points that repeat."""
    line = numbers("path", path, "m")
    if line.ndim != 2 or line.shape[1] != 3 or len(line) < 2:
        raise InputError("path", f"must be two or more points (N, 3) in m, not an array of shape {line.shape}")
    gap = float(np.linalg.norm(line[0]))
    if gap > AT_ENTRY * pair.link_length:
        raise InputError(
            "path",
            f"must begin at the entry, the origin, but its first point is {gap * 1e3:.4g} mm away; give the path in "
            "the frame of the entry, whose z points out of the guide, and begin it with 0, 0, 0",
        )
    line[0] = 0.0
    moved = np.linalg.norm(np.diff(line, axis=0), axis=1) > 0.0
    line = np.array(line[np.concatenate([[True], moved])])
    if len(line) < 2:
        raise InputError("path", "has no length: all its points are the same")
    return line


def _within_limit(pair: SnakePair, place: int, bend: Bend, along: float) -> Bend:
    limit = pair.steering_limit
    if bend.bend <= limit * (1.0 + ROUND_OFF):
        return Bend(min(bend.bend, limit), bend.azimuth)
    where = "at the entry" if place == 1 else f"{along * 1e3:.2f} mm along the path"
    raise OutOfRange(
        place, bend.bend, limit,
        f"the path turns too sharply at place {place}, {where}; round it off there (a link is "
        f"{pair.link_length * 1e3:.4g} mm long)",
    )  # fmt: skip


def _too_long(pair: SnakePair, missing: int, length: float) -> Infeasible:
    short = pair.shorter
    links = "1 link is" if missing == 1 else f"{missing} links are"
    return Infeasible(
        0, "reach", missing,
        f"the path of {length * 1e3:.4g} mm is too long: {links} missing. The {short} snake allows {pair.reach} links, "
        f"{pair.reach * pair.link_length * 1e3:.4g} mm; shorten the path or take a longer {short} snake",
    )  # fmt: skip


def checked_commands(pair: SnakePair, commands: Iterable[Sequence[float]]) -> tuple[Bend, ...]:
    """Bends a caller passes as pairs (bend, azimuth) in rad, one per link."""
    try:
        pairs = [tuple(command) for command in commands]
    except Exception:  # an object may raise anything when it is listed
        raise InputError("commands", f"must be pairs of bend and azimuth in rad, not {shown(commands)}") from None
    bends = []
    for place, found in enumerate(pairs, 1):
        if len(found) != 2:
            raise InputError("commands", f"command {place} must be a bend and an azimuth in rad, not {shown(found)}")
        bend = checked_bend(f"command {place}", *found)
        if abs(bend.bend) > pair.steering_limit:
            raise OutOfRange(place, bend.bend, pair.steering_limit, f"command {place} bends too far; angles are in rad")
        bends.append(bend)
    if not bends:
        raise InputError("commands", "must be one or more pairs of bend and azimuth in rad")
    if len(bends) > pair.reach:
        extra = len(bends) - pair.reach
        raise Infeasible(
            0, "reach", extra,
            f"{len(bends)} commands are {extra} too many: the {pair.shorter} snake allows {pair.reach} links",
        )  # fmt: skip
    return tuple(bends)


def cycle_steps(pair: SnakePair, commands: Sequence[Bend]) -> Iterator[Step]:
    """Out of the guide, link by link: the outer snake goes ahead and is steered, the inner one follows.

    An inner snake with all its joints out stays behind the last link.
    """
    for count, bend in enumerate(commands, 1):
        yield from (Loosen(Snake.OUTER), Advance(Snake.OUTER), Steer(*bend), Tighten(Snake.OUTER))
        if count <= len(pair.inner.joints):
            yield from (Loosen(Snake.INNER), Advance(Snake.INNER), Tighten(Snake.INNER))


def way_back(states: Sequence[PairState], steps: Sequence[Step]) -> tuple[Step, ...]:
    """The exact reverse of `steps`, each done in the state of the same number: it ends in the first of `states`."""
    return tuple(back for state, step in zip(reversed(states[: len(steps)]), reversed(steps), strict=True)
                 for back in undo(state, step))  # fmt: skip
