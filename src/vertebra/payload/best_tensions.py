"""Which tensions hold most?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import Infeasible, InputError
from vertebra.mechanics.loads import Load
from vertebra.payload.cone_programme import cone_tensions
from vertebra.payload.directions import sphere_grid, unit_vector
from vertebra.payload.limit import limit_of
from vertebra.payload.locked_chain import LockedChain, Setting, load_couple, load_place
from vertebra.payload.polish import polished
from vertebra.payload.pushes import Pushes
from vertebra.payload.result import Payload
from vertebra.payload.worst_direction import worst_directions
from vertebra.robot.ball_shape import BallShape
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.robot.tension_bounds import tension_bounds

WORST = "worst"
GRID = 400
"""Directions among which the worst is sought."""
CONE_GRID = 24
"""Directions of the cone programme for the worst one."""
LEVELS = 33
"""Equal tensions that are compared."""
SAMPLES = 256
"""Tensions drawn at random, as starts beside that of the cone programme."""
STARTS = 3
ROUNDS = 6
"""Times that the worst direction is sought again."""


@dataclass(frozen=True, eq=False, repr=False)
class BestTensions:
    """Tensions that carry the largest load, and what equal tensions would carry."""

    tensions: Floats
    """(cables,) N, at the base."""
    payload: Payload
    """With these tensions, computed anew by `payload`."""
    equal_tensions: Floats
    """(cables,) N: the best tensions that are all the same, as far as the bounds allow."""
    equal: Payload
    """With equal tensions, in the same direction (for "worst": in their own worst direction)."""
    direction: Floats
    """(3,) of the load, unit vector; for "worst" the one in which these tensions hold least."""

    @property
    def gain(self) -> float:
        """Payload over that of equal tensions, minus one; infinite when equal tensions hold nothing."""
        if self.payload.force == self.equal.force:
            return 0.0
        return self.payload.force / self.equal.force - 1.0 if self.equal.force > 0.0 else math.inf

    def __repr__(self) -> str:
        pulls = ", ".join(f"{tension:.4g}" for tension in self.tensions)
        return f"BestTensions({pulls} N hold {self.payload.force:.4g} N, {self.gain:+.1%} over equal tensions)"


def best_tensions(
    robot: Robot,
    shape: BallShape | tuple[ArrayLike, ArrayLike],
    direction: ArrayLike | str,
    bounds: tuple[ArrayLike | None, ArrayLike | None] | None = None,
    link: int = -1,
    point: ArrayLike | None = None,
    moment_per_force: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    *,
    loads: Sequence[Load] = (),
    friction: Friction | None = None,
    socket_limit: ArrayLike | None = None,
    guided: int = 0,
) -> BestTensions:
    """Cable tensions with the largest payload in a direction, or with the largest payload in the "worst" direction.

    `shape`: bends and azimuths; `bounds`: least and most tension, N, each one number or one a cable; default:
    pretension and max_tension of the robot file. Other arguments as in `payload`. A cone programme finds where to
    look, linear programmes on the exact limits polish its answer, and so they do from equal tensions and from the best
    of a few hundred random ones; the best of all is returned with its payload computed anew. Payloads are quasi-concave
    in the tensions in every case tried, which is no proof: compare with a search of your own where much depends on it.

    Raises `Infeasible` naming the joint when no tensions hold the robot itself.
    """
    chain = LockedChain.of(
        robot, _shape(robot, shape), Setting.of(robot, gravity, loads, socket_limit, guided), friction
    )
    low, high = _bounds(robot, bounds)
    worst = isinstance(direction, str)
    if worst and direction != WORST:
        raise InputError("direction", f'must be three numbers or "{WORST}", not {direction!r}')
    toward = sphere_grid(GRID) if worst else unit_vector("direction", direction)[None]
    place = chain.push(toward[0], *load_place(robot, link, point), load_couple(moment_per_force))
    pushes = Pushes(chain, place, toward)
    equal = _best_equal(pushes, low, high)
    best = _search(pushes, equal, low, high)
    if worst:
        best = _against_worst(pushes, best, low, high)
    equal_answer, answer = (_certified(pushes, tensions, worst) for tensions in (equal, best))
    if equal_answer.force >= answer.force:
        best, answer = equal, equal_answer
    if answer.slips_unloaded:
        raise Infeasible(
            answer.joint, "friction", _missing(answer),
            f"no tensions within the bounds hold the robot itself in this shape: with equal tensions {answer.reason}",
            answer,
        )  # fmt: skip
    return BestTensions(best, answer, equal, equal_answer, answer.direction)


def _missing(answer: Payload) -> float:
    """How many times more friction the slipping joint would need than it has, above one."""
    row = answer.joint - 1
    return float(max(answer.contact.sliding_use[row], answer.contact.torsion_use[row])) - 1.0


def _shape(robot: Robot, shape: BallShape | tuple[ArrayLike, ArrayLike]) -> BallShape:
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        raise InputError("shape", "must be a BallShape, or a pair of bends and azimuths")
    return BallShape.of(robot, *shape)


def _bounds(robot: Robot, bounds: tuple[ArrayLike | None, ArrayLike | None] | None) -> tuple[Floats, Floats]:
    if bounds is None:
        bounds = (None, None)
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InputError("bounds", "must be a pair: least and most tension in N, each one number or one a cable")
    low, high = tension_bounds(robot, *bounds)
    if len(low) == 0:
        raise InputError("robot", f"{robot.name} has no cables to choose tensions for")
    if not np.isfinite(high).all():
        raise InputError("bounds", "give the most tension each cable may have, N: payload grows with it without end")
    return low, high


def _best_equal(pushes: Pushes, low: Floats, high: Floats) -> Floats:
    """Of equal tensions, clipped to the bounds, those that hold most; of equally good ones the largest."""
    levels = np.linspace(float(low.min()), float(high.max()), LEVELS)
    if low.max() <= high.min():
        levels = np.linspace(float(low.max()), float(high.min()), LEVELS)
    held = [float(pushes.least(np.clip(np.full_like(low, level), low, high)).min()) for level in levels]
    best = max(range(LEVELS), key=lambda i: (held[i], i))
    return np.clip(np.full_like(low, levels[best]), low, high)


def _search(pushes: Pushes, equal: Floats, low: Floats, high: Floats) -> Floats:
    """The best of several starts, each polished."""
    if math.isinf(float(pushes.least(equal).min())):
        return equal
    few = pushes.towards(sphere_grid(CONE_GRID)) if len(pushes.directions) > CONE_GRID else pushes
    random = np.random.default_rng(0).random((SAMPLES, len(low)))
    starts = [equal, *cone_tensions(few, low, high, equal), *(low + random * (high - low))]
    starts.sort(key=lambda tensions: -float(few.least(tensions).min()))
    best = max((polished(few, start, low, high) for start in starts[:STARTS]), key=lambda found: found[1])
    return best[0]


def _against_worst(pushes: Pushes, tensions: Floats, low: Floats, high: Floats) -> Floats:
    """Tensions polished against ever more of the directions in which they turn out to hold least."""
    for _ in range(ROUNDS):
        better, load = polished(pushes, tensions, low, high)
        directions, forces = worst_directions(pushes.towards(sphere_grid(GRID)), better)
        tensions = better
        if forces.min() >= load * (1.0 - 1e-6):
            break
        pushes = pushes.towards(np.concatenate([pushes.directions, directions]))
    return tensions


def _certified(pushes: Pushes, tensions: Floats, worst: bool) -> Payload:
    """The payload computed anew; for "worst" in the direction in which it is least."""
    direction = pushes.directions[0]
    if worst:
        directions, forces = worst_directions(pushes, tensions)
        direction = directions[int(np.argmin(forces))]
    x, y, z = direction.tolist()
    return limit_of(pushes.chain, tensions, pushes.at._replace(direction=(x, y, z)))
