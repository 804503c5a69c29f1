"""Which tensions, or lengths of the cables, lead the tip along a path in time?

Without friction the least tensions are followed from row to row, so that they change as smoothly as the tip moves;
with friction each row is the next step of a `ShapePath`, next to the tensions before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import Infeasible, InputError
from vertebra.files import write_file
from vertebra.mechanics.problem import Closure, Load, Problem
from vertebra.robot.arguments import as_robot, axial_stiffness, flag, numbers, positive, tension_bounds
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.table_file import TIME, TIP, column_names, length_columns, tension_columns
from vertebra.robot.tables import Floats
from vertebra.statics.forward import shape_from_tensions
from vertebra.statics.least_tensions import least
from vertebra.statics.path import ShapePath
from vertebra.statics.shape import Status
from vertebra.statics.tip import (
    MOST,
    PROVEN,
    TOLERANCE,
    Found,
    TipTensions,
    problem_of,
    steadier_answer,
    tensions_for_tip,
    tip_goal,
    tip_result,
    usual_tension,
)
from vertebra.statics.tip_search import GIVES_WAY, TipGoal, TipSearch, descend

HALVINGS = 5
"""How often a stretch between two rows is halved before what happens in it counts as a jump."""
SMOOTH = 0.4
"""Change of the tensions, relative to their norm, that needs no closer look."""


class Jump(NamedTuple):
    """A row whose tensions are not next to those of the row before."""

    row: int
    """Counted from 1: between this row and the one before it."""
    change: float
    """Largest change of a tension, N."""
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class TipPath:
    """Tensions and cable lengths that lead the tip along a path, one row per time, SI."""

    robot: Robot
    times: Floats
    """(N,) s."""
    wanted: Floats
    """(N, 3) where the tip should be, m."""
    tensions: Floats
    """(N, cables) at the base, N."""
    lengths: Floats
    """(N, cables) of the cables without tension, m: what motors have to give."""
    angles: Floats
    """(N, n) rad."""
    tip: Floats
    """(N, 3) m."""
    error: Floats
    """(N,) distance of the tip from where it should be, m."""
    reached: tuple[bool, ...]
    """(N,)"""
    kkt: Floats
    """(N,) as in `TipTensions`."""
    jumps: tuple[Jump, ...]
    """Where the tensions could not change little by little, and why."""

    def __len__(self) -> int:
        return len(self.times)

    @property
    def tension_rates(self) -> Floats:
        """(N, cables) N/s."""
        return _rates(self.tensions, self.times)

    @property
    def length_rates(self) -> Floats:
        """(N, cables) m/s, of the lengths without tension."""
        return _rates(self.lengths, self.times)

    def tensions_at(self, time: float) -> Floats:
        """(cables,) N, on straight lines between the rows; `vb.simulate` takes this function as its tensions."""
        return _at(self.times, self.tensions, time)

    def lengths_at(self, time: float) -> Floats:
        """(cables,) m, on straight lines between the rows; `vb.simulate` takes this function as its lengths."""
        return _at(self.times, self.lengths, time)

    def to_csv(self, file: str | Path) -> None:
        """Time, tensions, lengths and tip, as `vertebra simulate --tensions-file` and motor controllers read them."""
        cables = self.tensions.shape[1]
        names = column_names(TIME, tension_columns(cables), length_columns(cables), TIP)
        table = np.column_stack([self.times, self.tensions, 1e3 * self.lengths, 1e3 * self.tip])
        lines = [",".join(names), *(",".join(repr(value) for value in row) for row in table.tolist())]
        write_file(Path(file), "\n".join(lines) + "\n")

    def __repr__(self) -> str:
        jumps = f", {len(self.jumps)} jumps" if self.jumps else ""
        fastest = f"{np.abs(self.tension_rates).max():.4g} N/s and {np.abs(self.length_rates).max() * 1e3:.4g} mm/s"
        return (
            f"TipPath of {self.robot.name!r}: {sum(self.reached)} of {len(self)} rows reached, "
            f"up to {self.tensions.max():.4g} N, {fastest}{jumps}"
        )


def _rates(values: Floats, times: Floats) -> Floats:
    if len(times) == 1:
        return np.zeros_like(values)
    rates: Floats = np.gradient(values, times, axis=0)
    return rates


def _at(times: Floats, rows: Floats, time: float) -> Floats:
    return np.array([np.interp(time, times, column) for column in rows.T])


def tensions_for_tips(
    robot: RobotLike,
    tips: ArrayLike,
    times: ArrayLike | None = None,
    *,
    axis: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
    stiffness: tuple[ArrayLike, float] | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    path: ShapePath | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    stiffness_EA: ArrayLike | None = None,
    tolerance: float | None = None,
    check: bool = True,
) -> TipPath:
    """Cable tensions, and lengths without tension, whose shapes have their tips at `tips` (N, 3) m, one after another.

    `times`: (N,) s, increasing; default: 1 s from row to row. The first row has the least tensions, those that follow
    stay next to the row before: without friction the least ones near them, with friction the nearest. The robot goes on
    from its last shape. Where tensions near the last ones lead no further, a new search takes another branch; `jumps`
    names the row and the reason. `axis`, `rotation` and `stiffness` hold on the whole way. `path`: begin where it is,
    with its history, gravity, loads and friction; the path itself does not move. `stiffness_EA` as in
    `shape_from_lengths`, other arguments as in `tensions_for_tip`.

    With `check`, raises `Infeasible` for the first row that is not reached; its `result` is the path up to there.
    """
    robot = as_robot(robot)
    check = flag("check", check)
    places = numbers("tips", tips, "m")
    if places.ndim != 2 or places.shape[1] != 3 or not len(places):
        raise InputError("tips", f"must have shape (N, 3), in m, not {places.shape}")
    when = np.arange(float(len(places))) if times is None else numbers("times", times, "s")
    if when.shape != (len(places),) or not (np.diff(when) > 0.0).all():
        raise InputError("times", f"must be {len(places)} increasing numbers in s, one per tip")
    problem = problem_of(robot, path, gravity, loads, friction, closure)
    if not len(robot.cables):
        raise InputError("robot", f"{robot.name} has no cables")
    axial_stiffness(robot, stiffness_EA)
    goals = []
    for number, place in enumerate(places, 1):
        try:
            goals.append(tip_goal(robot, place, axis, rotation, stiffness))
        except InputError as error:
            if error.argument != "position":
                raise
            raise InputError("tips", f"row {number}: {error.message}") from None
    tolerance = TOLERANCE * robot.length if tolerance is None else positive("tolerance", tolerance)
    aim: dict[str, Any] = {"axis": axis, "rotation": rotation, "stiffness": stiffness}
    aim |= {"lower": lower, "upper": upper, "tolerance": tolerance}
    track = _Track(problem, path, aim)
    found: list[TipTensions] = []
    jumps: list[Jump] = []
    with track.path.trial():
        for number, goal in enumerate(goals, 1):
            before = track.last
            here, reason = track.go_to(goal)
            found.append(here)
            if reason and before is not None:
                jumps.append(Jump(number, float(np.abs(here.tensions - before.tensions).max()), reason))
            if check and not here.reached:
                off = "" if here.tilt is None else f" and {np.degrees(here.tilt):.4g} deg"
                stops = f"; what stops it: {', '.join(here.stops)}" if here.stops else ""
                raise Infeasible(
                    0, "tip position", here.error,
                    f"row {number}: the tip gets within {here.error * 1e3:.4g} mm{off}{stops}; ask for places within "
                    "reach, or widen the bounds", _collect(robot, when, places, found, jumps, stiffness_EA),
                )  # fmt: skip
    return _collect(robot, when, places, found, jumps, stiffness_EA)


def _collect(
    robot: Robot, times: Floats, places: Floats, found: Sequence[TipTensions], jumps: Sequence[Jump],
    stiffness_EA: ArrayLike | None,
) -> TipPath:  # fmt: skip
    count, shapes = len(found), [row.shape for row in found]
    return TipPath(
        robot, times[:count], places[:count], np.array([row.tensions for row in found]),
        np.array([shape.natural_lengths(stiffness_EA) for shape in shapes]),
        np.array([shape.angles for shape in shapes]), np.array([shape.tip for shape in shapes]),
        np.array([row.error for row in found]), tuple(row.reached for row in found),
        np.array([row.kkt for row in found]), tuple(jumps),
    )  # fmt: skip


class _Track:
    """Where the robot is on its way."""

    def __init__(self, problem: Problem, path: ShapePath | None, aim: dict[str, Any]) -> None:
        robot = problem.robot
        self.robot, self.problem, self.aim = robot, problem, aim
        self.low, self.high = tension_bounds(robot, aim["lower"], aim["upper"])
        self.usual = usual_tension(problem, self.low, self.high)
        self.rules: dict[str, Any] = {
            "gravity": problem.gravity, "loads": problem.loads, "friction": problem.laws or 0.0,
            "closure": problem.closure,
        }  # fmt: skip
        self.path = ShapePath(robot, **self.rules) if path is None else path
        self.last: TipTensions | None = None
        self.angles = self.path.angles if self.path.steps else None
        self.place = np.zeros(3)
        self.margin = 0.0
        if self.path.tensions is not None:
            shape = self.path.preview(self.path.tensions)
            self.last = TipTensions(self.path.tensions, shape, 0.0, None, True, (), None, np.inf, ())
            self.place = shape.tip

    def go_to(self, goal: TipGoal) -> tuple[TipTensions, str]:
        """The answer for a goal, and the reason if it is not next to the last."""
        reason = ""
        if self.problem.laws:
            found = tensions_for_tip(self.robot, goal.position, path=self.path, **self.aim, check=False)
            if self.last is not None and self._far(found, self.last):
                reason = "no tensions near the last ones bring the tip there with this history of friction"
            if found.shape.status == Status.SOLVED:
                self.path.step(found.tensions)
        else:
            nearby = None if self.last is None else self._follow(self.last, self.place, goal, HALVINGS)
            if nearby is None:
                found = tensions_for_tip(
                    self.robot, goal.position, start=self.angles, **self.rules, **self.aim, check=False
                )
                if self.last is not None and self._far(found, self.last):
                    held = f" ({', '.join(self.last.stops)})" if self.last.stops else ""
                    reason = f"the least tensions of the rows before lead no further{held}"
            else:
                found = nearby
            if GIVES_WAY in found.stops:
                # What was left of its stability when it first mattered is kept on the whole way.
                self.margin = self.margin or self._weakest(found)
        if found.shape.status == Status.SOLVED:
            self.last, self.place, self.angles = found, goal.position, found.shape.angles
        return found, reason

    def _weakest(self, found: TipTensions) -> float:
        tip = TipSearch(self.problem, tip_goal(self.robot, found.shape.tip), self.usual, found.shape.angles)
        return 0.0 if tip.residual(found.tensions) is None else tip.weakest()

    def _far(self, found: TipTensions, last: TipTensions) -> bool:
        """Whether two rows differ by more than rows of one branch do."""
        size = float(np.linalg.norm(last.tensions)) + 0.01 * self.usual
        return bool(np.linalg.norm(found.tensions - last.tensions) > SMOOTH * size)

    def _follow(self, last: TipTensions, here: Floats, goal: TipGoal, halvings: int) -> TipTensions | None:
        """The least tensions for a goal, followed from those of another place; None where they jump on the way."""
        found = self._next(last, goal)
        if found is not None and not self._far(found, last):
            return found
        if halvings == 0:
            return None
        middle = replace(goal, position=0.5 * (here + goal.position))
        halfway = self._follow(last, here, middle, halvings - 1)
        return None if halfway is None else self._follow(halfway, middle.position, goal, halvings - 1)

    def _next(self, last: TipTensions, goal: TipGoal) -> TipTensions | None:
        tolerance = self.aim["tolerance"]
        tip = TipSearch(self.problem, goal, self.usual, last.shape.angles)
        farthest = np.minimum(self.high, self.low + MOST * self.usual)
        tip.walls.margin = self.margin
        first, miss = descend(tip, last.tensions, self.low, farthest, 0.2 * tolerance / goal.size)
        if miss > tolerance / goal.size:
            return None
        answer = least(tip, first, self.low, farthest)
        if answer is not None and answer.kkt > PROVEN:
            answer = steadier_answer(tip, answer, self.low, farthest)
        if answer is None:
            return None
        shape = shape_from_tensions(self.robot, answer.tensions, start=last.shape.angles, check=False, **self.rules)
        found = Found(answer.tensions, answer)
        return tip_result(shape, goal, found, tip.walls, self.low, self.high, tolerance)
