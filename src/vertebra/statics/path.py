"""A robot stepped from shape to shape: what friction holds depends on how the robot came there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError, NoEquilibrium, VertebraError
from vertebra.mechanics.kernels.describe import find_shapes
from vertebra.mechanics.kernels.friction import commit_slip
from vertebra.mechanics.kernels.newton import PENDING, find_shape
from vertebra.mechanics.kinematics import twist_table
from vertebra.mechanics.layout import HISTORY_PLANES, REPORT_ITERATIONS, REPORT_WIDTH
from vertebra.mechanics.problem import (
    NO_CABLES,
    Closure,
    Load,
    Problem,
    Workspace,
    load_table,
    load_tuple,
    loaded_links,
)
from vertebra.robot.arguments import as_robot, flag, gravity_vector, positive_count
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import Floats
from vertebra.statics.forward import cable_rates, require_solved, rest_lengths, tension_rows
from vertebra.statics.shape import GivenCables, Shape, Status, build_shape

MOST_STEPS = 1_000_000
"""Of one call: rows times substeps."""


@dataclass(frozen=True, eq=False, repr=False)
class PathState:
    """Where a path is: enough to continue from there. Plain, constant numbers, made by `ShapePath.save`."""

    angles: Floats
    """(n,) rad."""
    history: Floats
    """(3, cables, n): slip direction; slip since the straight robot, m; friction at full slip, N."""
    command: Floats
    """(cables,) the last tensions in N, or lengths without tension in m."""
    by_length: bool
    """What `command` is."""
    gravity: Floats
    """(3,) m/s^2."""
    loads: tuple[Load, ...]
    friction_work: float
    """J."""
    steps: int
    """Committed so far."""

    def __post_init__(self) -> None:
        for name in ("angles", "history", "command", "gravity"):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.flags.writeable:
                array = np.array(array, dtype=np.float64)
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    def to_mapping(self) -> dict[str, Any]:
        """For JSON; `PathState.of` reads it."""
        loads = [asdict(load) for load in self.loads]
        return {
            "angles": self.angles.tolist(), "history": self.history.tolist(), "command": self.command.tolist(),
            "by_length": self.by_length, "gravity": self.gravity.tolist(), "loads": loads,
            "friction_work": self.friction_work, "steps": self.steps,
        }  # fmt: skip

    @classmethod
    def of(cls, mapping: Mapping[str, Any]) -> PathState:
        """The state that `to_mapping` wrote."""
        try:
            angles, history, command, gravity = (
                np.array(mapping[name], dtype=np.float64) for name in ("angles", "history", "command", "gravity")
            )
            loads = tuple(Load(**load) for load in mapping["loads"])
            spent, steps = float(mapping["friction_work"]), int(mapping["steps"])
            return cls(angles, history, command, bool(mapping["by_length"]), gravity, loads, spent, steps)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError("state", f"is not what PathState.to_mapping wrote: {error!r}") from None

    def __repr__(self) -> str:
        return f"PathState after {self.steps} steps, {self.friction_work * 1e3:.4g} mJ against friction"


@dataclass(frozen=True, eq=False, repr=False)
class Walk:
    """Shapes along a sequence of tensions, one row each, SI."""

    robot: Robot
    tensions: Floats
    """(N, cables) N."""
    angles: Floats
    """(N, n) rad."""
    tip: Floats
    """(N, 3) m."""
    lengths: Floats
    """(N, cables) m."""
    friction_work: Floats
    """(N,) done against cable friction since the path began, J."""
    iterations: Floats
    """(N,) Newton steps."""
    numbers: NDArray[np.int64] | None = None
    """(N,) of the rows, counted from 1, where some that were asked for have no shape; None for 1, 2, 3, ..."""

    @property
    def row_numbers(self) -> NDArray[np.int64]:
        """(N,) counted from 1."""
        return np.arange(1, len(self) + 1) if self.numbers is None else self.numbers

    def __len__(self) -> int:
        return len(self.tensions)

    def __repr__(self) -> str:
        spent = self.friction_work[-1] * 1e3
        return f"Walk of {self.robot.name!r}: {len(self)} shapes, {spent:.4g} mJ against friction since the path began"


class ShapePath:
    """A robot that is stepped from shape to shape by tensions or cable lengths and remembers how its cables slipped.

    Friction in each hole builds up over the robot file's `presliding` and then slips, so loading and unloading differ.
    A step becomes history only when it is solved. The path begins at the straight robot, nothing having slipped.

    As a context it is all or nothing: an error inside `with path:` takes it back to where it was.
    """

    def __init__(
        self,
        robot: RobotLike,
        *,
        gravity: str | ArrayLike | None = None,
        loads: Sequence[Load] | None = (),
        friction: Friction | None = None,
        closure: Closure = "virtual-work",
    ) -> None:
        robot = as_robot(robot)
        self._problem = Problem.of(robot, gravity, loads, friction, closure)
        self._history = np.empty((HISTORY_PLANES, len(robot.cables), len(robot.joints)))
        self._scratch: dict[tuple[bool, int], Workspace] = {}
        self._entered: list[PathState] = []
        self._state = self._straight()
        self._first = self._state

    @property
    def robot(self) -> Robot:
        return self._problem.robot

    @property
    def problem(self) -> Problem:
        """The robot with gravity, loads and friction as they are now."""
        return self._problem

    @property
    def angles(self) -> Floats:
        """(n,) where the robot is, rad."""
        return self._state.angles.copy()

    @property
    def slip(self) -> Floats:
        """(cables, n) slip directions, -1 to 1, that the next step starts from."""
        slip: Floats = self._state.history[0].copy()
        return slip

    @property
    def tensions(self) -> Floats | None:
        """(cables,) of the last step, N; None before the first and after a step by lengths."""
        return None if self._state.by_length or not self._state.steps else self._state.command.copy()

    @property
    def friction_work(self) -> float:
        """Work done against cable friction since the path began, J: lost, except for what presliding gives back."""
        return self._state.friction_work

    @property
    def steps(self) -> int:
        """Steps committed."""
        return self._state.steps

    def save(self) -> PathState:
        """Where the path is now."""
        return self._state

    def restore(self, state: PathState) -> None:
        """Go back to a saved state, of this path or of another of the same robot."""
        if not isinstance(state, PathState):
            raise InputError("state", f"must be a PathState, as `save` gives, not {type(state).__name__}")
        arrays = {"angles": 3.0, "history": np.inf, "command": np.inf, "gravity": np.inf}
        for name, most in arrays.items():
            array = getattr(state, name)
            if array.shape != getattr(self._state, name).shape:
                raise InputError("state", f"belongs to another robot than {self.robot.name}")
            if not (np.isfinite(array).all() and (np.abs(array) <= most).all()):
                raise InputError("state", f"{name} holds numbers that no path has")
        if not (np.abs(state.history[0]) <= 1.0).all() or not np.isfinite(state.friction_work) or state.steps < 0:
            raise InputError("state", "slip, friction_work or steps are what no path has")
        self._adopt(state)

    def reset(self) -> None:
        """Back to the straight robot, nothing having slipped, with the gravity and loads that the path began with."""
        self._adopt(self._first)

    def _straight(self) -> PathState:
        n, c, problem = len(self.robot.joints), len(self.robot.cables), self._problem
        history, straight = np.zeros((HISTORY_PLANES, c, n)), np.zeros(self.robot.freedoms)
        return PathState(straight, history, np.zeros(c), False, problem.gravity, problem.loads, 0.0, 0)

    def _adopt(self, state: PathState) -> None:
        self._problem = self._under(state)
        self._state = state

    def _under(self, state: PathState) -> Problem:
        """The robot under the gravity and the loads of a state."""
        problem = self._problem
        if problem.loads != state.loads:
            acting, links = load_table(self.robot, state.loads), loaded_links(self.robot, state.loads)
            problem = replace(problem, loads=state.loads, table=acting, links=links)
        return problem if problem.gravity is state.gravity else replace(problem, gravity=state.gravity)

    @contextmanager
    def trial(self) -> Iterator[ShapePath]:
        """Steps inside `with path.trial():` are forgotten at its end."""
        state = self._state
        try:
            yield self
        finally:
            self._adopt(state)

    def __enter__(self) -> ShapePath:
        self._entered.append(self._state)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        before = self._entered.pop()
        if kind is not None:
            self._adopt(before)

    def step(
        self,
        tensions: ArrayLike | None = None,
        *,
        lengths: ArrayLike | None = None,
        shortenings: ArrayLike | None = None,
        stiffness_EA: ArrayLike | None = None,
        gravity: str | ArrayLike | None = None,
        loads: Sequence[Load] | None = None,
        substeps: int = 1,
        check: bool = True,
    ) -> Shape:
        """The next shape, under new tensions in N, or lengths or shortenings in m as in `shape_from_lengths`.

        `gravity` and `loads` stay as they were unless given. `substeps`: on the way from the last command to this one,
        evenly spaced; more where a cable would slip back and forth within the step, a million at most.

        The step is committed when it is solved, else the path stays where it was: with `check` a typed error says why,
        without, the shape does.
        """
        check = flag("check", check)
        if tensions is not None and (lengths is not None or shortenings is not None):
            raise InputError("tensions", "give tensions, lengths or shortenings, one of them")
        by_length, state = tensions is None, self._state
        if tensions is None:
            target = rest_lengths(self.robot, lengths, shortenings)
        else:
            target = self._problem.tensions(tensions)
        if gravity is not None:
            state = replace(state, gravity=gravity_vector(self.robot, gravity))
        if loads is not None:
            state = replace(state, loads=load_tuple(loads))
        for command in self._commands(target[None], by_length, positive_count("substeps", substeps, MOST_STEPS)):
            state, shape = self._solve(state, command, by_length, stiffness_EA)
            if shape.status != Status.SOLVED:
                if check:
                    return shape.require_solved() if by_length else require_solved(self._under(state), shape)
                return shape
        self._adopt(state)
        return shape

    def preview(self, tensions: ArrayLike) -> Shape:
        """The shape that `step` would give, without the step and without a check."""
        return self._solve(self._state, self._problem.tensions(tensions), False, None)[1]

    def follow(self, tensions: ArrayLike, *, substeps: int = 1) -> Walk:
        """Step through rows of tensions (N, cables), N, in one compiled call.

        A row that is not solved raises its typed error; the path then stays where it was before the first row. Rows
        times substeps are a million at most.
        """
        problem, robot = self._problem, self.robot
        n, c = len(robot.joints), len(robot.cables)
        rows = tension_rows(robot, tensions)
        if not len(rows):
            raise InputError("tensions", "must have one row or more")
        if len(rows) > MOST_STEPS:
            raise InputError("tensions", f"{len(rows):,} rows are more than {MOST_STEPS:,}; follow a part at a time")
        substeps = positive_count("substeps", substeps, MOST_STEPS // len(rows))
        pull = self._commands(rows, False, substeps)
        count, before = len(pull), self._state
        angles, works = np.empty((count, robot.freedoms)), np.zeros(count)
        report = np.empty((count, REPORT_WIDTH))
        angles[0] = before.angles
        tip, lengths = np.empty((count, 3)), np.empty((count, c))
        scratch = np.empty((n + 1, 4, 4)), twist_table(robot)
        work = self._workspace(problem, False)
        self._history[:] = before.history
        done = find_shapes(
            *problem.system, robot.origin, robot.tip_point, pull, NO_CABLES, NO_CABLES, work.friction,
            before.steps > 0, True, 0, count, angles, *work.scratch, *scratch, np.full(count, PENDING),
            np.empty(count, np.bool_), tip, lengths, np.empty((count, 6, 6)), report, works,
        )  # fmt: skip
        total = before.friction_work + np.cumsum(works)

        def after(rows_done: int) -> PathState:
            if rows_done == 0:
                return before
            row = rows_done - 1
            return PathState(
                angles[row], self._history, pull[row], False, before.gravity, before.loads, float(total[row]),
                before.steps + rows_done,
            )  # fmt: skip

        if done < count:
            self._refuse(after(done), pull[done], done // substeps)
        self._adopt(after(count))
        every = slice(substeps - 1, None, substeps)
        return Walk(
            robot,
            pull[every],
            angles[every],
            tip[every],
            lengths[every],
            total[every],
            report[every, REPORT_ITERATIONS],
        )

    def _refuse(self, state: PathState, command: Floats, row: int) -> None:
        """Raise the error of the row that `follow` could not solve, by solving it once more."""
        shape = self._solve(state, command, False, None)[1]
        try:
            require_solved(self._under(state), shape)
        except VertebraError as error:
            error.add_note(f"in row {row + 1} of the tensions; the path stays where it was before row 1")
            raise
        raise NoEquilibrium(shape.weakest, shape.residual, f"row {row + 1} could not be solved", shape)

    def _workspace(self, problem: Problem, by_length: bool) -> Workspace:
        key = by_length, len(problem.table)
        if key not in self._scratch:
            self._scratch[key] = problem.workspace(by_length, self._history)
        return self._scratch[key]

    def _commands(self, targets: Floats, by_length: bool, substeps: int) -> Floats:
        """Every substep from the last command to the last target."""
        if substeps == 1:
            return targets
        first = self._state.command if self._state.by_length == by_length else targets[0]
        if by_length and not self._state.steps:
            first = rest_lengths(self.robot, None, np.zeros(targets.shape[1]))
        starts = np.vstack([first[None], targets[:-1]])
        parts = np.arange(1, substeps + 1) / substeps
        spread = starts[:, None] + parts[:, None] * (targets - starts)[:, None]
        spread[:, -1] = targets
        return np.ascontiguousarray(spread.reshape(-1, targets.shape[1]))

    def _solve(
        self, state: PathState, command: Floats, by_length: bool, stiffness: ArrayLike | None
    ) -> tuple[PathState, Shape]:
        """The shape under a command from a state, and the state that it leads to if solved."""
        problem = self._under(state)
        work = self._workspace(problem, by_length)
        self._history[:] = state.history
        q = state.angles.copy()
        if by_length:
            rest, rate = command, cable_rates(self.robot, command, stiffness)
            pull = np.zeros(len(command))
        else:
            rest = rate = NO_CABLES
            pull = command.copy()
        status = find_shape(
            *problem.system, pull, rest, rate, work.friction, state.steps > 0, q, *work.scratch
        )  # fmt: skip
        shape = build_shape(problem, status, pull, q, work, GivenCables(rest, rate, state.history))
        if shape.status != Status.SOLVED:
            return state, shape
        spent = 0.0
        if work.friction is not None:
            spent = commit_slip(self.robot.cables, work.friction.laws, pull, work.friction.grip, self._history)
        spent += state.friction_work
        return PathState(
            q, self._history, command, by_length, state.gravity, state.loads, spent, state.steps + 1
        ), shape  # fmt: skip

    def __repr__(self) -> str:
        where = f"{self.steps} steps, {self.friction_work * 1e3:.4g} mJ against friction"
        return f"ShapePath of {self.robot.name!r}: {where}"
