"""Which tensions bring the tip here, and as stiff as this?

A coarse look at many tensions, then damped Gauss-Newton steps within the bounds from the best of them. The
derivative of the tip comes from the equilibrium itself: dq/dT = -H^-1 dl/dq.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import Infeasible, InputError
from vertebra.mechanics.kernels.describe import find_tip
from vertebra.mechanics.kernels.newton import SETTLED, all_in_range
from vertebra.mechanics.kernels.sweep import NONE
from vertebra.mechanics.layout import REPORT_LOCKED, REPORT_WEAK
from vertebra.mechanics.problem import NO_CABLES, Closure, Load, Problem
from vertebra.robot.arguments import as_robot, flag, positive, tension_bounds, tip_goal, vector
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import Floats, twist_table
from vertebra.statics.forward import shape_from_tensions, shapes_from_tensions
from vertebra.statics.path import ShapePath
from vertebra.statics.shape import Shape, Status

MOST = 1e3
"""How far the search goes without an upper bound: times the tension that balances weight, loads and elastic joints."""
SAMPLES = 1500
TRIES = 24
ANSWERS = 4
"""How many tensions that reach the goal are compared."""
KICKS = (0.0, 0.01, 0.01, 0.02, 0.02, 0.05, 0.05, 0.1, 0.1, 0.2)
"""On a path: how far from the last tensions the search starts, relative."""
WIDTHS = (0.003, 0.03)
"""Relative change of the tensions over which the tip's slope is taken where friction makes kinks."""
MOST_STEPS = 60
STIFFNESS_TOLERANCE = 1e-4
"""Relative."""
TOLERANCE = 5e-6
"""Distance that counts as reached, unless stated: as a part of the robot's length."""
STEP = 1e-6
"""Of the usual tension: least change of one that tells a slope."""


@dataclass(frozen=True, eq=False, repr=False)
class TipTensions:
    """Tensions that bring the tip as near as they can to where it should be."""

    tensions: Floats
    """(cables,) N, within the bounds."""
    shape: Shape
    """The shape that they give."""
    error: float
    """Distance of the tip from the wanted position, m."""
    stiffness: float | None
    """Tip stiffness in the wanted direction, N/m; None when none was wanted."""
    reached: bool
    """Position within the tolerance, and stiffness if wanted."""
    at_bounds: tuple[int, ...]
    """Cables at their least or most tension, counted from 1."""

    def __repr__(self) -> str:
        pulls = ", ".join(f"{tension:.4g}" for tension in self.tensions)
        stiff = "" if self.stiffness is None else f", {self.stiffness:.4g} N/m"
        return f"TipTensions({pulls} N, {self.error * 1e3:.3g} mm off{stiff}{'' if self.reached else ', not reached'})"


@dataclass(frozen=True)
class _Goal:
    """What the tip should do, as residuals without units."""

    position: Floats
    size: float
    direction: Floats | None
    stiffness: float

    def residual(self, tip: Floats, compliance: Floats) -> Floats:
        off = (tip - self.position) / self.size
        return off if self.direction is None else np.append(off, self.too_soft(compliance, self.direction))

    def too_soft(self, compliance: Floats, direction: Floats) -> Any:
        """Wanted over actual stiffness, on a logarithmic scale."""
        give = np.einsum("i,...ij,j->...", direction, compliance[..., :3, :3], direction)
        return 0.1 * np.log(np.maximum(give, 1e-300) * self.stiffness)


class _Tip:
    """Tip, slope and compliance as functions of the tensions; scratch made once."""

    def __init__(
        self, problem: Problem, goal: _Goal, usual: float, start: ArrayLike | None, history: Floats | None = None
    ) -> None:
        self.problem, self.goal, self.usual = problem, goal, usual
        self.use_start, first = problem.start(start)
        self.begin = first.copy() if self.use_start else first
        n, c = len(problem.robot.joints), len(problem.robot.cables)
        self.q, self.work = first, problem.workspace(history=history)
        twists = twist_table(problem.robot.joints)
        self.scratch = np.empty((n + 1, 4, 4)), twists, np.empty((len(twists), c))
        self.tip, self.by_tension, self.compliance = np.empty(3), np.empty((6, c)), np.empty((6, 6))

    def residual(self, tensions: Floats) -> Floats | None:
        """None where the tensions give no stable shape within range."""
        robot, problem = self.problem.robot, self.problem
        if self.use_start:
            self.q[:] = self.begin
        status = find_tip(
            *problem.system, robot.origin, robot.tip_point, tensions, NO_CABLES, NO_CABLES, self.work.friction,
            self.use_start, self.q, *self.work.scratch, *self.scratch, self.tip, self.by_tension, self.compliance,
        )  # fmt: skip
        if (
            status != SETTLED
            or self.work.report[REPORT_WEAK] != NONE
            or self.work.report[REPORT_LOCKED] != NONE
            or not all_in_range(robot.joints, robot.cables, robot.segments, self.q)
        ):
            return None
        return self.goal.residual(self.tip, self.compliance)

    def wide_slope(self, tensions: Floats, width: float) -> Floats | None:
        """The slope by differences over a fraction of the tensions; None where a shape is missing.

        Where cables begin to slip the residual has kinks, and its slope at a point may lead nowhere.
        """
        columns = []
        for k, size in enumerate(width * np.maximum(tensions, 0.1 * float(tensions.max()) + STEP * self.usual)):
            aside = size * (np.arange(len(tensions)) == k)
            low = np.maximum(tensions - aside, 0.0)
            ahead, behind = self.residual(tensions + aside), self.residual(low)
            if ahead is None or behind is None:
                return None
            columns.append((ahead - behind) / (size + tensions[k] - low[k]))
        return np.array(columns).T

    def slope(self, tensions: Floats, residual: Floats) -> Floats:
        """Derivative of the residual at the tensions of the last call."""
        slope = self.by_tension[:3] / self.goal.size
        if self.goal.direction is None:
            return slope
        last = np.zeros(len(tensions))
        for k in range(len(tensions)):
            step = STEP * (self.usual + tensions[k])
            beside = self.residual(tensions + step * (np.arange(len(tensions)) == k))
            if beside is not None:
                last[k] = (beside[-1] - residual[-1]) / step
        return np.vstack([slope, last])


def tensions_for_tip(
    robot: RobotLike,
    position: ArrayLike,
    *,
    stiffness: tuple[ArrayLike, float] | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    path: ShapePath | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    start: ArrayLike | None = None,
    tolerance: float | None = None,
    check: bool = True,
) -> TipTensions:
    """Cable tensions whose shape has its tip at `position` (3,) m, as stable shapes within range only.

    More cables than needed leave a choice: of several answers found, the one of least norm is taken.

    `stiffness`: a direction and the tip stiffness wanted in it, N/m; needs one cable more. `lower`, `upper`: bounds in
    N, one or one per cable; default pretension and max_tension of the robot file, and where that has none, a thousand
    times what balances weight and loads. `friction`, `closure`, `start` as in `shape_from_tensions`: each trial is
    solved from the start. `tolerance`: m, default 5 millionths of the robot's length.

    `path`: the next step of a path instead, with its history, gravity, loads and friction. The search starts from its
    last tensions and takes the answer closest to them, so that tensions along a tip path change little by little; where
    none is near, any other. The path itself does not move: step it with the answer.

    With `check`, raises `Infeasible` with the closest answer as `result` when the tip does not get there.
    """
    robot = as_robot(robot)
    check = flag("check", check)
    if path is None:
        problem = Problem.of(robot, gravity, loads, friction, closure)
    else:
        problem = _on_path(robot, path, (gravity, friction, start, loads or None), closure)
    low, high = tension_bounds(robot, lower, upper)
    if len(low) == 0:
        raise InputError("robot", f"{robot.name} has no cables")
    tolerance = TOLERANCE * robot.length if tolerance is None else positive("tolerance", tolerance)
    goal = _goal(robot, position, stiffness)
    usual = _usual_tension(problem, low, high)
    farthest = np.minimum(high, low + MOST * usual)
    enough = 0.2 * tolerance / goal.size
    if path is None:
        tip = _Tip(problem, goal, usual, start)
        tensions = _search(tip, _candidates(tip, low, high, start), low, farthest, enough)
        shape = shape_from_tensions(
            robot, tensions, gravity=gravity, loads=loads, friction=friction, closure=closure, start=start, check=False
        )
    else:
        tensions = _next_on_path(path, goal, usual, low, farthest, high, enough)
        shape = path.preview(tensions)
    result = _result(shape, goal, tensions, low, high, tolerance)
    if check:
        shape.require_solved()
        if not result.reached:
            _refuse(result, stiffness)
    return result


def _on_path(robot: Robot, path: ShapePath, given: tuple[object, ...], closure: Closure) -> Problem:
    if not isinstance(path, ShapePath):
        raise InputError("path", f"must be a ShapePath, not {type(path).__name__}")
    if path.robot != robot:
        raise InputError("path", f"is of {path.robot.name}, not of {robot.name}")
    if any(value is not None for value in given) or closure not in ("virtual-work", path.problem.closure):
        raise InputError("path", "has its own gravity, loads, friction, closure and start; leave those out")
    return path.problem


def _next_on_path(
    path: ShapePath, goal: _Goal, usual: float, low: Floats, farthest: Floats, high: Floats, enough: float
) -> Floats:
    """The answer that the last tensions lead to; where they lead to none, the usual search, history included."""
    problem, state = path.problem, path.save()
    tip = _Tip(problem, goal, usual, state.angles if state.steps else None, state.history.copy())
    last = path.tensions
    if last is not None:
        # Where cables begin to slip back, the tip responds differently than just before: a kick finds the new slope.
        rng = np.random.default_rng(0)
        size = np.maximum(last, 0.1 * float(last.max()))
        for kick in KICKS:
            first = last + kick * size * rng.uniform(-1.0, 1.0, len(last))
            tensions, miss = _descend(tip, np.clip(first, low, farthest), low, farthest, enough)
            if miss <= enough:
                return tensions
    return _search(tip, _candidates(tip, low, high, None), low, farthest, enough)


def _search(tip: _Tip, candidates: Floats, low: Floats, high: Floats, enough: float) -> Floats:
    """The tensions that miss least; of several that reach the goal, the smallest."""
    best, least, found = low, np.inf, 0
    for first in candidates:
        tensions, miss = _descend(tip, first, low, high, enough)
        if miss > enough:
            if miss < least:
                best, least = tensions, miss
            continue
        if found == 0 or np.linalg.norm(tensions) < np.linalg.norm(best):
            best, least = tensions, 0.0
        found += 1
        if found == ANSWERS:
            break
    return best


def _goal(robot: Robot, position: ArrayLike, stiffness: tuple[ArrayLike, float] | None) -> _Goal:
    place = tip_goal(robot, position)
    if stiffness is None:
        return _Goal(place, robot.length, None, 0.0)
    try:
        direction, wanted = stiffness
    except Exception:  # an object may raise anything when it is taken apart
        raise InputError("stiffness", "must be a direction and a stiffness: ((0, 0, 1), 20.0) in N/m") from None
    along, value = vector("stiffness direction", direction, "any unit"), positive("stiffness", wanted)
    if not along.any():
        raise InputError("stiffness", "the direction must not be all zero")
    return _Goal(place, robot.length, along / np.linalg.norm(along), value)


def _candidates(tip: _Tip, low: Floats, high: Floats, start: ArrayLike | None) -> Floats:
    """Tensions to start from, the most promising first."""
    problem, goal, rng = tip.problem, tip.goal, np.random.default_rng(0)
    robot = problem.robot
    level = tip.usual * 10.0 ** rng.uniform(-1.5, 1.5, (SAMPLES, 1))
    # Even tensions, uneven ones, and ones with single cables all but slack.
    shares = rng.uniform(0.0, 1.0, (SAMPLES, len(low))) ** rng.choice([0.3, 1.0, 3.0], (SAMPLES, 1))
    samples = np.clip(low + level * shares, low, high)
    bounded = np.isfinite(high)
    third = SAMPLES // 3
    samples[:third, bounded] = rng.uniform(low[bounded], high[bounded], (third, int(bounded.sum())))
    shapes = shapes_from_tensions(
        robot, samples, gravity=problem.gravity, loads=problem.loads, friction=problem.laws or 0.0,
        closure=problem.closure, start=start, threads=1,
    )  # fmt: skip
    solved = shapes.solved
    if not solved.any():
        return np.empty((0, len(low)))
    misses = (shapes.tip[solved] - goal.position) / goal.size
    miss = (misses**2).sum(axis=1)
    if goal.direction is not None:
        miss += goal.too_soft(shapes.compliance[solved], goal.direction) ** 2
    nearest: Floats = samples[solved][np.argsort(miss, kind="stable")]
    # Neighbours of the best share its fate: half of the tries go to it, the others are spread over the ranks.
    ranks = np.unique(
        np.concatenate([np.arange(TRIES // 2), np.geomspace(TRIES // 2, SAMPLES, TRIES // 2).astype(int)])
    )
    chosen: Floats = nearest[ranks[ranks < len(nearest)]]
    return chosen


def _usual_tension(problem: Problem, low: Floats, high: Floats) -> float:
    """A tension that matters to this robot: what balances its weight, its loads and its elastic joints.

    A robot that has none of them takes the same shape at any tension: then its bounds say, or nothing does, and 1 N is
    as good as any.
    """
    robot = problem.robot
    lever = float(robot.cables["radius"].mean())
    mass = robot.mass + sum(load.mass for load in problem.loads)
    weight = mass * float(np.linalg.norm(problem.gravity))
    push = float(np.abs(problem.table["force"]).sum()) + weight
    torque = push * robot.length + float(np.abs(problem.table["moment"]).sum())
    torque += 0.3 * float(robot.joints["stiffness"].max(initial=0.0))
    bounded = np.concatenate([high[np.isfinite(high)], low])
    return torque / lever if torque > 0.0 else float(bounded.max(initial=0.0)) or 1.0


def _descend(tip: _Tip, first: Floats, low: Floats, high: Floats, enough: float) -> tuple[Floats, float]:
    """Levenberg-Marquardt within bounds: the best tensions found, and how far they miss."""
    tensions = first.copy()
    residual = tip.residual(tensions)
    if residual is None:
        return tensions, np.inf
    miss, damping, stuck = float(np.linalg.norm(residual)), 1e-3, 0
    for _ in range(MOST_STEPS):
        if miss <= enough:
            break
        slope = tip.wide_slope(tensions, WIDTHS[stuck - 1]) if stuck else tip.slope(tensions, residual)
        moved_on = False
        while slope is not None and damping < 1e10:
            trial = np.clip(tensions + _step(slope, residual, damping, tensions, tip.usual, low, high), low, high)
            after = tip.residual(trial)
            if after is not None and float(np.linalg.norm(after)) < miss:
                gain = 1.0 - float(np.linalg.norm(after)) / miss
                tensions, residual, miss = trial, after, float(np.linalg.norm(after))
                damping, moved_on = max(damping * 0.1, 1e-14), gain > 1e-9
                break
            damping *= 10.0
        if moved_on:
            damping, stuck = min(damping, 1e6), 0
            continue
        stuck, damping = stuck + 1, 1e-3
        if stuck > len(WIDTHS) or not tip.problem.laws:
            break
    return tensions, miss


def _step(
    slope: Floats, residual: Floats, damping: float, tensions: Floats, usual: float, low: Floats, high: Floats
) -> Floats:
    """Damped least-squares step; cables that it would push past a bound are held there and the rest solved again."""
    scale = np.maximum(tensions, 0.05 * float(tensions.max()) + STEP * usual)
    step = np.zeros(len(tensions))
    free = np.ones(len(tensions), dtype=bool)
    for _ in range(len(tensions)):
        A = slope[:, free] * scale[free]
        size = float((A**2).sum()) or 1.0
        rest = residual + slope[:, ~free] @ step[~free]
        step[free] = -scale[free] * np.linalg.solve(A.T @ A + damping * size * np.eye(A.shape[1]), A.T @ rest)
        past = free & ((tensions + step < low) | (tensions + step > high))
        if not past.any() or past.sum() == free.sum():
            break
        step[past] = np.clip(tensions[past] + step[past], low[past], high[past]) - tensions[past]
        free &= ~past
    return step


def _result(shape: Shape, goal: _Goal, tensions: Floats, low: Floats, high: Floats, tolerance: float) -> TipTensions:
    error = float(np.linalg.norm(shape.tip - goal.position))
    reached, stiffness = error <= tolerance and shape.status == Status.SOLVED, None
    if goal.direction is not None:
        give = float(goal.direction @ shape.compliance[:3, :3] @ goal.direction)
        stiffness = 1.0 / give if give > 0.0 else np.inf
        reached = reached and abs(stiffness / goal.stiffness - 1.0) <= STIFFNESS_TOLERANCE
    edge = np.flatnonzero((tensions <= low) | (tensions >= high)) + 1
    return TipTensions(tensions, shape, error, stiffness, reached, tuple(edge.tolist()))


def _refuse(result: TipTensions, wanted: tuple[ArrayLike, float] | None) -> None:
    edges = f" with cable {', '.join(map(str, result.at_bounds))} at a bound" if result.at_bounds else ""
    stiff = "" if wanted is None else f" and stiffness {result.stiffness:.4g} N/m of {float(wanted[1]):.4g} wanted"
    raise Infeasible(
        0, "tip position", result.error,
        f"the tip gets within {result.error * 1e3:.4g} mm{stiff}{edges}; ask for a place within reach, widen the "
        "bounds, or try another start", result,
    )  # fmt: skip
