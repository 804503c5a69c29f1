"""Which tensions, or lengths of the cables, lead the tip along a path in time?

Without friction the least tensions are followed from row to row, so that they change as little by little as the tip
does; with friction each row is the next step of a `ShapePath`, next to the tensions before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import Infeasible, InputError
from vertebra.files import write_file
from vertebra.mechanics.problem import Closure, Load, Problem
from vertebra.robot.arguments import as_robot, flag, numbers, positive, tension_bounds
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.table_file import TIME, TIP, column_names, length_columns, tension_columns
from vertebra.robot.tables import Floats
from vertebra.statics.forward import shape_from_tensions
from vertebra.statics.least_tensions import least
from vertebra.statics.path import ShapePath
from vertebra.statics.shape import Shape, Status
from vertebra.statics.tip import (
    GIVES_WAY,
    MOST,
    PROVEN,
    TOLERANCE,
    Found,
    TipSearch,
    TipTensions,
    descend,
    steadier_answer,
    tensions_for_tip,
    tip_goal,
    tip_result,
    usual_tension,
)

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
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
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
    names the row and the reason. `stiffness_EA` as in `shape_from_lengths`, other arguments as in `tensions_for_tip`.

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
    problem = Problem.of(robot, gravity, loads, friction, closure)
    if not len(robot.cables):
        raise InputError("robot", f"{robot.name} has no cables")
    tolerance = TOLERANCE * robot.length if tolerance is None else positive("tolerance", tolerance)
    rules: dict[str, Any] = {"gravity": gravity, "loads": loads, "friction": friction, "closure": closure}
    bounds: dict[str, Any] = {"lower": lower, "upper": upper, "tolerance": tolerance}
    track = _Track(robot, problem, rules, bounds, tolerance)
    rows: list[tuple[Floats, Shape, bool, float]] = []
    jumps: list[Jump] = []
    for number, place in enumerate(places, 1):
        found, reason = track.go_to(place)
        if reason and rows:
            jumps.append(Jump(number, float(np.abs(found.tensions - rows[-1][0]).max()), reason))
        rows.append((found.tensions, found.shape, found.reached, found.kkt))
        if check and not found.reached:
            what = f"row {number}: the tip gets within {found.error * 1e3:.4g} mm"
            stops = f"; what stops it: {', '.join(found.stops)}" if found.stops else ""
            raise Infeasible(
                0, "tip position", found.error, f"{what}{stops}; ask for places within reach, or widen the bounds",
                _collect(robot, when, places, rows, jumps, stiffness_EA),
            )  # fmt: skip
    return _collect(robot, when, places, rows, jumps, stiffness_EA)


def _collect(
    robot: Robot, times: Floats, places: Floats, rows: Sequence[tuple[Floats, Shape, bool, float]],
    jumps: Sequence[Jump], stiffness_EA: ArrayLike | None,
) -> TipPath:  # fmt: skip
    count, shapes = len(rows), [row[1] for row in rows]
    tip = np.array([shape.tip for shape in shapes])
    return TipPath(
        robot, times[:count], places[:count], np.array([row[0] for row in rows]),
        np.array([shape.natural_lengths(stiffness_EA) for shape in shapes]),
        np.array([shape.angles for shape in shapes]), tip, np.linalg.norm(tip - places[:count], axis=1),
        tuple(row[2] for row in rows), np.array([row[3] for row in rows]), tuple(jumps),
    )  # fmt: skip


class _Track:
    """Where the robot is on its way."""

    def __init__(
        self, robot: Robot, problem: Problem, rules: dict[str, Any], bounds: dict[str, Any], tolerance: float
    ) -> None:
        self.robot, self.problem, self.rules, self.bounds, self.tolerance = robot, problem, rules, bounds, tolerance
        self.low, self.high = tension_bounds(robot, bounds["lower"], bounds["upper"])
        self.usual = usual_tension(problem, self.low, self.high)
        self.path = ShapePath(robot, **rules) if problem.laws else None
        self.last: TipTensions | None = None
        self.place = np.zeros(3)
        self.margin = 0.0

    def go_to(self, place: Floats) -> tuple[TipTensions, str]:
        """The answer at a place, and the reason if it is not next to the last."""
        reason = ""
        if self.path is not None:
            found = tensions_for_tip(self.robot, place, path=self.path, **self.bounds, check=False)
            if self.last is not None and self._far(found, self.last):
                reason = "no tensions near the last ones bring the tip there with this history of friction"
            if found.shape.status == Status.SOLVED:
                self.path.step(found.tensions)
        else:
            nearby = None if self.last is None else self._follow(self.last, self.place, place, HALVINGS)
            if nearby is None:
                found = tensions_for_tip(self.robot, place, **self.rules, **self.bounds, check=False)
                if self.last is not None:
                    held = f" ({', '.join(self.last.stops)})" if self.last.stops else ""
                    reason = f"the least tensions of the rows before lead no further{held}"
            else:
                found = nearby
        if self.path is None and GIVES_WAY in found.stops:
            # What was left of its stability when it first mattered is kept on the whole way.
            self.margin = self.margin or self._weakest(found)
        self.last, self.place = found, place
        return found, reason

    def _weakest(self, found: TipTensions) -> float:
        tip = TipSearch(self.problem, tip_goal(self.robot, found.shape.tip), self.usual, found.shape.angles)
        return 0.0 if tip.residual(found.tensions) is None else tip.weakest()

    def _far(self, found: TipTensions, last: TipTensions) -> bool:
        """Whether two rows differ by more than rows of one branch do."""
        size = float(np.linalg.norm(last.tensions)) + 0.01 * self.usual
        return bool(np.linalg.norm(found.tensions - last.tensions) > SMOOTH * size)

    def _follow(self, last: TipTensions, here: Floats, there: Floats, halvings: int) -> TipTensions | None:
        """The least tensions at a place, followed from those of another; None where they jump on the way."""
        found = self._next(last, there)
        if found is not None and not self._far(found, last):
            return found
        if halvings == 0:
            return None
        middle = 0.5 * (here + there)
        halfway = self._follow(last, here, middle, halvings - 1)
        return None if halfway is None else self._follow(halfway, middle, there, halvings - 1)

    def _next(self, last: TipTensions, place: Floats) -> TipTensions | None:
        goal = tip_goal(self.robot, place)
        tip = TipSearch(self.problem, goal, self.usual, last.shape.angles)
        farthest = np.minimum(self.high, self.low + MOST * self.usual)
        tip.walls.margin = self.margin
        first, miss = descend(tip, last.tensions, self.low, farthest, 0.2 * self.tolerance / goal.size)
        if miss > self.tolerance / goal.size:
            return None
        answer = least(tip, first, self.low, farthest)
        if answer is not None and answer.kkt > PROVEN:
            answer = steadier_answer(tip, answer, self.low, farthest)
        if answer is None:
            return None
        shape = shape_from_tensions(
            self.robot, answer.tensions, start=last.shape.angles, check=False, **self.rules
        )  # fmt: skip
        found = Found(answer.tensions, answer)
        return tip_result(shape, goal, found, tip.walls, self.low, self.high, self.tolerance)
