"""Where two concentric snakes are: which one is loose, and the bends of both, counted from the entry.

Place p = 1, 2, ... along the path is the joint p - 1 links out of the guide. A snake keeps its bends by place: when it
advances by a link, each link takes the place of the one before it, and a new joint appears at the far end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from vertebra.errors import InputError
from vertebra.motion.bend import Bend
from vertebra.motion.pair import SnakePair
from vertebra.motion.steps import Snake


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
    return max(enumerate(states), key=lambda entry: _extent(*entry))[1]


def _extent(number: int, state: PairState) -> tuple[int, bool, int]:
    return len(state.outer), state.lock is not Lock.OUTER_LOOSE, number


def broken_rules(pair: SnakePair, state: PairState) -> list[str]:
    """What no state of the two snakes may break, as sentences; empty for a sound one."""
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
