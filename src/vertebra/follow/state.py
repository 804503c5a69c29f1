"""Where two concentric snakes are, and what each step does to that: pure functions of the state, without forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from vertebra.errors import InputError, OutOfRange
from vertebra.follow.pair import SHARPEST_CORNER, SnakePair
from vertebra.follow.steps import STRAIGHT, VERBS, Advance, Bend, Loosen, Retract, Snake, Steer, Step, Tighten


class Lock(StrEnum):
    """Which snake is loose; never both."""

    BOTH_RIGID = "both rigid"
    OUTER_LOOSE = "outer loose"
    INNER_LOOSE = "inner loose"


@dataclass(frozen=True, repr=False)
class PairState:
    """The two snakes between two steps. Equal states are equal to the last bit."""

    lock: Lock = Lock.BOTH_RIGID
    outer: tuple[Bend, ...] = ()
    """Bends of the outer snake's joints that are out of the guide, from the entry on."""
    inner: tuple[Bend, ...] = ()
    """The same of the inner snake."""

    @property
    def loose(self) -> Snake | None:
        """The snake that can slide; none when both are rigid."""
        return {Lock.OUTER_LOOSE: Snake.OUTER, Lock.INNER_LOOSE: Snake.INNER}.get(self.lock)

    @property
    def rigid(self) -> Snake | None:
        """The snake that carries the loose one; none when both are rigid."""
        return self.loose.other if self.loose is not None else None

    def bends(self, snake: Snake) -> tuple[Bend, ...]:
        return self.outer if snake is Snake.OUTER else self.inner

    def __repr__(self) -> str:
        return f"{self.lock}, {len(self.outer)} links of the outer and {len(self.inner)} of the inner snake out"


def farthest_out(states: Sequence[PairState]) -> PairState:
    """The state in which the outer snake reached farthest: rigid when it ever was, and then the last such one."""
    return max(reversed(states), key=lambda state: (len(state.outer), state.lock is not Lock.OUTER_LOOSE))


def broken_rules(pair: SnakePair, state: PairState) -> list[str]:
    """Rules that a state of the two snakes breaks, as sentences; empty for a sound one."""
    outer, inner = state.outer, state.inner
    found = []
    if not isinstance(state.lock, Lock):
        found.append(f"lock must be one of {', '.join(Lock)}, not {state.lock!r}")
    if not 0 <= len(outer) - len(inner) <= 1:
        found.append(f"the outer snake must be out as far as the inner one or one link more, not {len(outer)} links "
                     f"where the inner has {len(inner)}")  # fmt: skip
    shared = min(len(outer), len(inner))
    different = [place + 1 for place in range(shared) if outer[place] != inner[place]]
    if different:
        found.append(f"both snakes must have the same bends where both are, not at place {different[0]}")
    for snake in Snake:
        robot, bends = pair.robot(snake), state.bends(snake)
        if len(bends) > len(robot.joints):
            found.append(f"the {snake} snake has {len(robot.joints)} joints, not {len(bends)}")
            continue
        for joint, bend, limit in pair.over_limit(snake, bends):
            found.append(f"joint {joint} of the {snake} snake is bent by {abs(bend):.6g} rad, over {limit:.6g} rad")
    return found


def check_state(pair: SnakePair, state: PairState) -> None:
    """An `InputError` that says which rule a state breaks."""
    broken = broken_rules(pair, state)
    if broken:
        raise InputError("state", "; ".join(broken))


# What each step does to the state, and which steps are possible.
#
# Whether the rigid snake can carry what a step asks of it is decided in `holding`.

LOOSE = {Snake.OUTER: Lock.OUTER_LOOSE, Snake.INNER: Lock.INNER_LOOSE}


def after(pair: SnakePair, state: PairState, step: Step) -> PairState:
    """The state after a step, or an error that says what is possible now; `state` itself never changes."""
    refusal = why_not(pair, state, step)
    if refusal:
        possible = ", ".join(allowed(pair, state)) or "nothing"
        name = str(step) if isinstance(step, Step | str) else "steps"
        raise InputError(name, f"not possible: {refusal}. The state is: {state!r}. Allowed now: {possible}")
    if isinstance(step, Loosen):
        return replace(state, lock=LOOSE[step.snake])
    if isinstance(step, Tighten):
        return replace(state, lock=Lock.BOTH_RIGID)
    if isinstance(step, Steer):
        _check_steering(pair, state, step)
        return replace(state, outer=(*state.outer[:-1], step.target))
    bends = state.bends(step.snake)
    moved = bends[:-1] if isinstance(step, Retract) else (*bends, _next_bend(state, step.snake))
    for joint, bend, limit in pair.over_limit(step.snake, moved):
        raise OutOfRange(joint, bend, limit, f"{step}: that joint of the {step.snake} snake cannot take this place")
    return replace(state, outer=moved) if step.snake is Snake.OUTER else replace(state, inner=moved)


def _next_bend(state: PairState, snake: Snake) -> Bend:
    """The outer snake goes straight on until it is steered; the inner one takes what the outer has."""
    return STRAIGHT if snake is Snake.OUTER else state.outer[len(state.inner)]


def _check_steering(pair: SnakePair, state: PairState, step: Steer) -> None:
    if abs(step.bend) <= pair.steering_limit:
        return
    limits = {snake: float(pair.robot(snake).joints["limit"][-1]) for snake in Snake}
    owner = min(limits, key=lambda snake: limits[snake])
    why = "no link slides around a sharper corner"
    if limits[owner] < SHARPEST_CORNER:
        why = f"that is the limit of the {owner} snake"
    raise OutOfRange(
        len(pair.outer.joints), step.bend, pair.steering_limit,
        f"steering at place {len(state.outer)} from the entry: {why}; steer less",
    )  # fmt: skip


def why_not(pair: SnakePair, state: PairState, step: Step) -> str:
    """Why a step is not possible now; empty when it is (but for limits of joints, and forces)."""
    ahead = len(state.outer) - len(state.inner)
    if isinstance(step, Loosen):
        if state.loose is not None:
            return f"the {state.loose} snake is loose already, and one of the two must hold"
    elif isinstance(step, Tighten):
        if state.loose is not step.snake:
            return f"the {step.snake} snake is rigid already"
    elif isinstance(step, Steer):
        if state.lock is not Lock.OUTER_LOOSE:
            return "only a loose outer snake can be steered"
        if ahead != 1:
            return "the newest joint of the outer snake is where the inner one is; advance it first"
    elif isinstance(step, Advance | Retract):
        if state.loose is not step.snake:
            return f"the {step.snake} snake is rigid; loosen it first"
        return _cannot_slide(pair, state, step, ahead)
    else:
        return f"it must be Loosen, Tighten, Advance, Retract or Steer, not {type(step).__name__}"
    return ""


def _cannot_slide(pair: SnakePair, state: PairState, step: Advance | Retract, ahead: int) -> str:
    outer, forward = step.snake is Snake.OUTER, isinstance(step, Advance)
    if outer and forward:
        if ahead == 1:
            return "the outer snake is one link ahead already; let the inner one follow"
        if len(state.outer) == pair.reach:
            return f"all links that the {pair.shorter} snake allows are out"
    elif outer:
        if ahead == 0:
            return "the inner snake is out as far; retract it first"
    elif forward:
        if ahead == 0:
            return "the inner snake is out as far as the outer one"
    elif ahead == 1:
        return "the inner snake is one link behind already; let the outer one come back"
    elif not state.inner:
        return "the inner snake is all inside the guide"
    return ""


def allowed(pair: SnakePair, state: PairState) -> tuple[str, ...]:
    """Names of the steps that are possible now, but for limits of joints and forces."""
    steps = [kind(snake) for snake in Snake for kind in VERBS.values()]
    names = [str(step) for step in steps if not why_not(pair, state, step)]
    if not why_not(pair, state, Steer(0.0, 0.0)):
        names.append("steer")
    return tuple(names)


def undo(state: PairState, step: Step) -> tuple[Step, ...]:
    """The steps that lead back to `state`, in which `step` was done."""
    if isinstance(step, Loosen):
        return (Tighten(step.snake),)
    if isinstance(step, Tighten):
        return (Loosen(step.snake),)
    if isinstance(step, Advance):
        return (Retract(step.snake),)
    if isinstance(step, Steer):
        return (Steer(*state.outer[-1]),)
    if step.snake is Snake.INNER or state.outer[-1] == STRAIGHT:
        return (Advance(step.snake),)
    return Advance(step.snake), Steer(*state.outer[-1])
