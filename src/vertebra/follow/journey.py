"""Two concentric friction-locked snakes along a path: plan, run step by step, check, and measure how far the bodies
stray.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, shown
from vertebra.follow.holding import Holding, holding, require
from vertebra.follow.pair import SnakePair, snake_pair
from vertebra.follow.plan import Plan, checked_commands, cycle_steps, plan_path, way_back
from vertebra.follow.poses import (
    ball_centers,
    body_points,
    distances,
    farthest,
    head,
    slide_line,
    sliding_centers,
    sliding_frames,
    snake_frames,
    state_frames,
)
from vertebra.follow.state import Lock, PairState, after, allowed, check_state, farthest_out
from vertebra.follow.steps import Advance, Bend, Retract, Snake, Steer, Step, bend_of_vector
from vertebra.robot.arguments import flag, positive_count
from vertebra.robot.friction import Friction
from vertebra.robot.robot import RobotLike
from vertebra.robot.tables import Floats


class FollowTheLeader:
    """Two concentric snakes that come out of a guide, the outer one ahead, the inner one following.

    A step that is not possible raises an error and changes nothing: `InputError` that says what is allowed now,
    `OutOfRange` for a bend beyond a limit, `Infeasible` (with the `Payload` as `result`) where the rigid snake would
    not hold. With `check=False` steps that it would not hold are done all the same, and `holdings` shows them.
    """

    def __init__(
        self,
        outer: RobotLike,
        inner: RobotLike,
        *,
        outer_tensions: ArrayLike,
        inner_tensions: ArrayLike,
        gravity: str | ArrayLike | None = None,
        tip_load: ArrayLike = (0.0, 0.0, 0.0),
        friction: Friction | None = None,
        socket_limit: ArrayLike | None = None,
        check: bool = True,
        state: PairState | None = None,
    ) -> None:
        """Tensions are those of a rigid snake, N; `gravity` and `tip_load` (N) are in the frame of the entry, z out of
        the guide; `friction` and `socket_limit` as in `payload`. All links are in the guide unless `state` is given."""
        check = flag("check", check)
        self.pair: SnakePair = snake_pair(
            outer, inner, outer_tensions, inner_tensions, gravity, tip_load, friction, socket_limit
        )
        self.check = check
        start = PairState() if state is None else state
        check_state(self.pair, start)
        found = holding(self.pair, start)
        if found is not None and check:
            require(self.pair, start, found, "start")
        self._states: list[PairState] = [start]
        self._steps: list[Step] = []
        self._holdings: list[Holding | None] = []

    @property
    def state(self) -> PairState:
        return self._states[-1]

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps done so far."""
        return tuple(self._steps)

    @property
    def states(self) -> tuple[PairState, ...]:
        """The start, and the state after each step."""
        return tuple(self._states)

    @property
    def holdings(self) -> tuple[Holding | None, ...]:
        """What the rigid snake carries after each step; none where both are rigid."""
        return tuple(self._holdings)

    @property
    def allowed(self) -> tuple[str, ...]:
        """Steps that are possible now, but for limits of joints and forces."""
        return allowed(self.pair, self.state)

    def do(self, step: Step) -> PairState:
        """One step; the state after it."""
        reached = after(self.pair, self.state, step)
        found = holding(self.pair, reached)
        if found is not None and self.check:
            require(self.pair, reached, found, f"step {len(self._steps) + 1}, {step}")
        self._states.append(reached)
        self._steps.append(step)
        self._holdings.append(found)
        return reached

    def run(self, steps: Iterable[Step]) -> PairState:
        """Step after step; an error leaves the snakes where they were before the step that it names."""
        try:
            given = iter(steps)
        except Exception:  # an object may raise anything when it is listed
            raise InputError("steps", f"must be steps such as Advance(Snake.OUTER), not {shown(steps)}") from None
        for step in given:
            self.do(step)
        return self.state

    def way_back(self) -> tuple[Step, ...]:
        """The exact reverse of all steps so far: running it leads to the start."""
        return way_back(self._states, self._steps)

    def __repr__(self) -> str:
        return f"FollowTheLeader({self.pair.outer.name!r}: {self.state!r}, {len(self._steps)} steps done)"


# How far the bodies are from where they should be: at the ends of steps, and while a snake slides.

SHARES = 8
"""A slide of one link is checked at this many parts of it."""
HALVINGS = 5
"""How often the search for the largest distance is then made finer."""

MOST_SAMPLES = 1000
"""Pictures of one step: more than a film needs, and few enough to keep."""


@dataclass(frozen=True)
class Deviation:
    """Distance of a body from a line."""

    largest: float
    """m."""
    rms: float
    """m, evenly along the links."""

    def __repr__(self) -> str:
        return f"Deviation({self.largest * 1e3:.4g} mm at most, {self.rms * 1e3:.4g} mm rms)"


def from_tip_path(pair: SnakePair, states: Sequence[PairState]) -> tuple[Deviation, Floats]:
    """Both bodies against the path of the head, over all states; and the largest distance in each, (states,) m.

    The path is made of places where the head has been while it was steered, and of where it is now. A body that
    follows the leader has not left it.
    """
    trail: list[Floats] = list(ball_centers(pair, states[0], Snake.OUTER))
    largest, squares, count = [], 0.0, 0
    for state in states:
        out = len(state.outer)
        del trail[out + 1 :]
        if len(trail) == out:
            trail.append(head(pair, state))
        elif out and state.lock is Lock.OUTER_LOOSE and len(state.inner) < out:
            trail[out] = head(pair, state)
        # Body and trail are straight between vertices: ends and middles of links are enough.
        points = [body_points(ball_centers(pair, state, snake), 2) for snake in Snake]
        off = distances(np.vstack(points), np.array(trail))
        largest.append(float(off.max()))
        squares, count = squares + float(off @ off), count + len(off)
    return Deviation(max(largest), math.sqrt(squares / count)), np.array(largest)


def from_wanted(pair: SnakePair, states: Sequence[PairState], wanted: Floats) -> Deviation:
    """The outer snake, as far out as it got, against the wanted polyline (N, 3)."""
    largest, off = farthest(ball_centers(pair, farthest_out(states), Snake.OUTER), wanted)
    return Deviation(largest, math.sqrt(float(off @ off) / len(off)))


def corner_cut(pair: SnakePair, states: Sequence[PairState], steps: Sequence[Step]) -> tuple[Deviation, Floats]:
    """Sliding snakes against the line they slide along; and the largest distance in each step, (steps,) m.

    A link that passes a corner of angle phi cuts it by (L/2) sin(phi/2), about L phi/4.
    """
    largest, squares = np.zeros(len(steps)), []
    for number, (state, step) in enumerate(zip(states, steps, strict=False)):
        if isinstance(step, Advance | Retract):
            largest[number], mean_square = _slide_cut(pair, state, step)
            squares.append(mean_square)
    rms = math.sqrt(sum(squares) / len(squares)) if squares else 0.0
    return Deviation(float(largest.max(initial=0.0)), rms), largest


def _slide_cut(pair: SnakePair, state: PairState, step: Advance | Retract) -> tuple[float, float]:
    """Largest distance in one slide, m, and the mean square along the snake and over the slide, m^2."""
    line = slide_line(pair, state)

    def cuts(share: float) -> Floats:
        return link_cuts(sliding_centers(pair, state, step, share), line)

    coarse = {part / SHARES: cuts(part / SHARES) for part in range(1, SHARES)}
    best = max(coarse, key=lambda share: coarse[share].max())
    largest, width = float(coarse[best].max()), 1.0 / SHARES
    for _ in range(HALVINGS):
        width /= 2.0
        for share in (best - width, best + width):
            found = float(cuts(share).max())
            if found > largest:
                largest, best = found, share
                break
    # The distance rises and falls linearly along a link, so its mean square is a third of that of its peak.
    return largest, float(np.mean([np.mean(found**2) / 3.0 for found in coarse.values()]))


def link_cuts(centers: Floats, line: Floats) -> Floats:
    """(k,) largest distance of each link of a sliding snake from its own part of the line, m.

    `centers` (k+1, 3) from the last one in the guide on, `line` as `slide_line` gives it: a link begins on one segment
    and ends on the next. With alpha and beta between the link and its two segments, the points of the link at
    t L sin(alpha) from the one and (1 - t) L sin(beta) from the other are farthest where both are equal.
    """
    links = np.diff(centers, axis=0)
    length = np.linalg.norm(links, axis=1)
    corners = line[2 : 2 + len(links)]
    axes = links / length[:, None]
    alpha, beta = _sine(corners - centers[:-1], axes), _sine(centers[1:] - corners, axes)
    total = alpha + beta
    peaks: Floats = np.divide(length * alpha * beta, total, out=np.zeros_like(total), where=total > 0.0)
    return peaks


def _sine(vectors: Floats, axes: Floats) -> Floats:
    """(k,) of the angle between each vector and each unit vector; 0 for no vector."""
    size = np.linalg.norm(vectors, axis=1)
    across = np.linalg.norm(np.cross(vectors, axes), axis=1)
    sine: Floats = np.divide(across, size, out=np.zeros_like(size), where=size > 0.0)
    return sine


# The result: steps, states, what held, how far the bodies strayed, and pictures of it for animations.


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """One picture of an animation. Lengths in m, in the frame of the entry."""

    step: int
    """Which step is being done, counted from 1; 0 before the first."""
    share: float
    """How much of it is done, from 0 to 1."""
    label: str
    """Such as ``12 of 133: advance outer``."""
    lock: Lock
    outer: Floats
    """(n+1, 4, 4) frames of all links of the outer snake; those with z < 0 are in the guide."""
    inner: Floats
    """The same of the inner snake."""
    links_out: tuple[int, int]
    """Whole links outside the guide, of the outer and of the inner snake."""

    def __repr__(self) -> str:
        return f"Snapshot({self.label}, {self.share * 100:.3g} % done, {self.lock})"


@dataclass(frozen=True, eq=False, repr=False)
class Journey:
    """A follow-the-leader motion of two concentric snakes."""

    pair: SnakePair
    steps: tuple[Step, ...]
    states: tuple[PairState, ...]
    """(steps + 1) the start, and the state after each step."""
    holdings: tuple[Holding | None, ...]
    """(steps) what the rigid snake carries after each step; none where both are rigid."""
    plan: Plan | None
    """How the wanted path became bends; none for a journey from commands or steps."""
    commands: tuple[Bend, ...]
    """Bends of the outer snake where it was farthest out, from the entry on."""
    tip_path_deviation: Deviation
    """Of both bodies from the path of the head at the ends of steps: round-off."""
    tip_path_deviations: Floats
    """(steps + 1) largest in each state, m."""
    wanted_deviation: Deviation | None
    """Of the body from the wanted path; none without one."""
    corner_cut: Deviation
    """Of a sliding snake from the line it slides along, between the ends of steps."""
    corner_cuts: Floats
    """(steps) largest in each step, m."""

    @property
    def holds(self) -> bool:
        """Whether the rigid snake held in every step."""
        return all(found.holds for found in self.holdings if found is not None)

    @property
    def weakest(self) -> int:
        """The step with the least margin, from 0; -1 when no step loosens a snake."""
        # A snake that slips without any tip load does not hold, although its margin is 0 where no load is wanted.
        loose = {number: (found.holds, found.margin) for number, found in enumerate(self.holdings) if found is not None}
        return min(loose, key=lambda number: loose[number], default=-1)

    @property
    def heads(self) -> Floats:
        """(steps + 1, 3) far end of the outer snake in each state, m."""
        return np.array([head(self.pair, state) for state in self.states])

    def frames(self, samples_per_step: int = 4) -> tuple[Snapshot, ...]:
        """The journey as pictures: the start, then for each step that moves something `samples_per_step`, one else.
        At most a thousand for a step."""
        samples = positive_count("samples_per_step", samples_per_step, MOST_SAMPLES)
        return tuple(_snapshots(self, samples))

    def __repr__(self) -> str:
        cut = self.corner_cut.largest * 1e3
        verdict = "" if self.holds else ", DOES NOT HOLD"
        return (
            f"Journey of {self.pair.outer.name!r} around {self.pair.inner.name!r}: {len(self.commands)} links, "
            f"{len(self.steps)} steps, corners cut by {cut:.3g} mm{verdict}"
        )


def _snapshots(journey: Journey, samples: int) -> Iterator[Snapshot]:
    pair, states, total = journey.pair, journey.states, len(journey.steps)
    bodies = {snake: state_frames(pair, states[0], snake) for snake in Snake}
    yield _snapshot(0, 1.0, "start", states[0], bodies)
    for number, step in enumerate(journey.steps, 1):
        before, now = states[number - 1], states[number]
        label = f"{number} of {total}: {step}"
        if isinstance(step, Advance | Retract | Steer):
            mover = Snake.OUTER if isinstance(step, Steer) else step.snake
            for share in (k / samples for k in range(1, samples)):
                if isinstance(step, Steer):
                    moved = snake_frames(pair.outer, (*before.outer[:-1], _between(before.outer[-1], step, share)))
                else:
                    moved = sliding_frames(pair, before, step, share)
                yield _snapshot(number, share, label, before, {**bodies, mover: moved})
            bodies = {**bodies, mover: state_frames(pair, now, mover)}
        yield _snapshot(number, 1.0, label, now, bodies)


def _between(old: Bend, step: Steer, share: float) -> Bend:
    """On the straight way from one bend vector to the other."""
    (x, y), (new_x, new_y) = old.vector, step.target.vector
    return bend_of_vector(x + share * (new_x - x), y + share * (new_y - y))


def _snapshot(step: int, share: float, label: str, state: PairState, bodies: dict[Snake, Floats]) -> Snapshot:
    out = len(state.outer), len(state.inner)
    return Snapshot(step, share, label, state.lock, bodies[Snake.OUTER], bodies[Snake.INNER], out)


# The whole journey in one call.


def follow_the_leader(
    outer: RobotLike,
    inner: RobotLike,
    path: ArrayLike | None = None,
    *,
    commands: Iterable[Sequence[float]] | None = None,
    steps: Iterable[Step] | None = None,
    outer_tensions: ArrayLike,
    inner_tensions: ArrayLike,
    gravity: str | ArrayLike | None = None,
    tip_load: ArrayLike = (0.0, 0.0, 0.0),
    friction: Friction | None = None,
    socket_limit: ArrayLike | None = None,
    come_back: bool = False,
    check: bool = True,
) -> Journey:
    """Lead two concentric snakes along a path, link by link: whether the rigid snake holds, and how far they stray.

    Give one of: `path` (N, 3), m, a polyline for the far end of the outer snake that begins at the entry (the origin),
    where z points out of the guide; `commands`, pairs of bend and azimuth in rad, one per link; or `steps`.

    `outer_tensions` and `inner_tensions` (N, one per cable or one for all) lock a snake when it is rigid. Before each
    step the rigid snake must carry its own weight, that of the loose one and `tip_load` (N) at the foremost tip, or
    `Infeasible` names the joint that gives way; with `check=False` the journey goes on and `holdings` shows where.
    `gravity` and `tip_load` are in the frame of the entry; default gravity: that of the outer robot's file. `friction`
    and `socket_limit` as in `payload`. `come_back` adds the exact reverse, back into the guide.

    The inner snake needs links of the same length; with fewer joints, the outer one gets only one link farther than it.
    """
    come_back = flag("come_back", come_back)
    if sum(given is not None for given in (path, commands, steps)) != 1:
        raise InputError("path", "give one of path, commands or steps")
    machine = FollowTheLeader(
        outer, inner, outer_tensions=outer_tensions, inner_tensions=inner_tensions, gravity=gravity,
        tip_load=tip_load, friction=friction, socket_limit=socket_limit, check=check,
    )  # fmt: skip
    plan: Plan | None = None
    if path is not None:
        plan = plan_path(machine.pair, path)
        machine.run(cycle_steps(machine.pair, plan.commands))
    elif commands is not None:
        machine.run(cycle_steps(machine.pair, checked_commands(machine.pair, commands)))
    elif steps is not None:
        machine.run(steps)
    if come_back:
        machine.run(machine.way_back())
    return measured(machine, plan)


def measured(machine: FollowTheLeader, plan: Plan | None = None) -> Journey:
    """The journey that a machine has made so far, with its deviations."""
    pair, states, steps = machine.pair, machine.states, machine.steps
    tip_path, tip_paths = from_tip_path(pair, states)
    cut, cuts = corner_cut(pair, states, steps)
    wanted = None if plan is None else from_wanted(pair, states, plan.path)
    bends = farthest_out(states).outer
    return Journey(pair, steps, states, machine.holdings, plan, bends, tip_path, tip_paths, wanted, cut, cuts)
