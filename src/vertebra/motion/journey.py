"""What came of a journey: steps, states, what held, how far the bodies strayed, and pictures of it for animations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vertebra.motion.bend import Bend, bend_of_vector
from vertebra.motion.deviation import Deviation
from vertebra.motion.holding import Holding
from vertebra.motion.pair import SnakePair
from vertebra.motion.plan import Plan
from vertebra.motion.poses import head, sliding_frames, snake_frames, state_frames
from vertebra.motion.state import Lock, PairState
from vertebra.motion.steps import Advance, Retract, Snake, Steer, Step
from vertebra.robot.arguments import positive_count
from vertebra.robot.tables import Floats


@dataclass(frozen=True, eq=False, repr=False)
class Moment:
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
    """Links of the outer and of the inner snake outside, whole ones."""

    def __repr__(self) -> str:
        return f"Moment({self.label}, {self.share * 100:.3g} % done, {self.lock})"


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
        margins = [np.inf if found is None else found.margin - (not found.holds) for found in self.holdings]
        loose = [number for number, found in enumerate(self.holdings) if found is not None]
        return min(loose, key=lambda number: margins[number], default=-1)

    @property
    def heads(self) -> Floats:
        """(steps + 1, 3) far end of the outer snake in each state, m."""
        return np.array([head(self.pair, state) for state in self.states])

    def frames(self, samples_per_step: int = 4) -> tuple[Moment, ...]:
        """The journey as pictures: the start, then for each step that moves something `samples_per_step`, one else."""
        samples = positive_count("samples_per_step", samples_per_step)
        return tuple(_moments(self, samples))

    def __repr__(self) -> str:
        cut = self.corner_cut.largest * 1e3
        verdict = "" if self.holds else ", DOES NOT HOLD"
        return (
            f"Journey of {self.pair.outer.name!r} around {self.pair.inner.name!r}: {len(self.commands)} links, "
            f"{len(self.steps)} steps, corners cut by {cut:.3g} mm{verdict}"
        )


def _moments(journey: Journey, samples: int) -> Iterator[Moment]:
    pair, states, total = journey.pair, journey.states, len(journey.steps)
    bodies = {snake: state_frames(pair, states[0], snake) for snake in Snake}
    yield _moment(0, 1.0, "start", states[0], bodies)
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
                yield _moment(number, share, label, before, {**bodies, mover: moved})
            bodies = {**bodies, mover: state_frames(pair, now, mover)}
        yield _moment(number, 1.0, label, now, bodies)


def _between(old: Bend, step: Steer, share: float) -> Bend:
    """On the straight way from one bend vector to the other."""
    (x, y), (new_x, new_y) = old.vector, step.target.vector
    return bend_of_vector(x + share * (new_x - x), y + share * (new_y - y))


def _moment(step: int, share: float, label: str, state: PairState, bodies: dict[Snake, Floats]) -> Moment:
    out = len(state.outer), len(state.inner)
    return Moment(step, share, label, state.lock, bodies[Snake.OUTER], bodies[Snake.INNER], out)
