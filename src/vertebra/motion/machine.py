"""The two snakes step by step, with the history that leads back."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from vertebra.motion.holding import Holding, holding, require
from vertebra.motion.pair import SnakePair, snake_pair
from vertebra.motion.plan import way_back
from vertebra.motion.state import PairState, check_state
from vertebra.motion.steps import Step
from vertebra.motion.transitions import after, allowed
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot


class FollowTheLeader:
    """Two concentric snakes that come out of a guide, the outer one ahead, the inner one following.

    A step that is not possible raises an error and changes nothing: `InputError` that says what is allowed now,
    `OutOfRange` for a bend beyond a limit, `Infeasible` (with the `Payload` as `result`) where the rigid snake would
    not hold. With `check=False` steps that it would not hold are done all the same, and `holdings` tells.
    """

    def __init__(
        self,
        outer: Robot,
        inner: Robot,
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
        check_state(self.pair, reached)
        found = holding(self.pair, reached)
        if found is not None and self.check:
            require(self.pair, reached, found, f"step {len(self._steps) + 1}, {step}")
        self._states.append(reached)
        self._steps.append(step)
        self._holdings.append(found)
        return reached

    def run(self, steps: Iterable[Step]) -> PairState:
        """Step after step; an error leaves the snakes where they were before the step that it names."""
        for step in steps:
            self.do(step)
        return self.state

    def way_back(self) -> tuple[Step, ...]:
        """The exact reverse of all steps so far: running it leads to the start."""
        return way_back(self._states, self._steps)

    def __repr__(self) -> str:
        return f"FollowTheLeader({self.pair.outer.name!r}: {self.state!r}, {len(self._steps)} steps done)"
