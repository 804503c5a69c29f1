"""Of all tensions that bring the tip to one place the least, and where no tensions do, those that come nearest.

Both are small programmes with curved equations, solved by a sequence of quadratic ones. The derivatives of the tip are
exact; the curvature of the Lagrange function comes from differences of them. Every step is brought back to the goal
before it counts, so that but for round-off the tensions only ever shrink.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from vertebra.robot.tables import Floats

OPTIMAL = 1e-10
"""Residual of the first-order conditions at which a search ends."""
CLOSE, CLOSE_ENOUGH = 1e-11, 1e-8
"""How exactly the goal is met, as parts of the robot's length; where round-off prevents the first, the second does."""
MOST_STEPS = 40
LONGEST = 0.3
"""Of the tensions' norm: largest change in a step."""
SHORTEST = 1e-4
"""Part of a step that is worth trying."""
WIDTH = 1e-5
"""Of the tensions' norm: change over which curvature is taken."""
RANK = 1e-10
"""Combinations of tensions that move the tip less than this fraction of the most effective one do not move it."""
NOTHING = 1e-13
"""Part of the robot's length by which the tip moves at most, when tensions double, where it does not move at all: every
joint rests on a stop."""
FLATTEST = 1e-3
"""Least curvature that a step counts on, relative to the largest."""


class Point(NamedTuple):
    """What some tensions do."""

    tensions: Floats
    """(cables,) N."""
    off: Floats
    """(m,) how far the goal is missed, without units."""
    slope: Floats
    """(m, cables) its derivative, 1/N."""
    gaps: Floats
    """(walls,) room left before each wall that is near: a joint's limit, or its faces; rad or relative."""
    closing: Floats
    """(walls, cables) how fast tensions use it up, 1/N."""
    walls: tuple[int, ...]
    """(walls,) which ones these are."""


class System(Protocol):
    """Tip and walls as functions of the tensions."""

    def point(self, tensions: Floats) -> Point | None:
        """None where the tensions give no stable shape within range."""

    def closing(self, walls: tuple[int, ...]) -> Floats:
        """(walls, cables) of certain walls, at the tensions of the last call of `point`."""


@dataclass(frozen=True, eq=False)
class Answer:
    """Where a search ended."""

    point: Point
    kkt: float
    """Residual of the first-order conditions, without units: length of the step, relative to the tensions, that a
    steepest descent could take without leaving goal, bounds and walls."""
    held: tuple[tuple[int, int], ...]
    """Cables (row from 0) that a bound holds back, and at which: -1 least, 1 most."""
    walls: tuple[int, ...]
    """Walls that hold it back."""

    @property
    def tensions(self) -> Floats:
        return self.point.tensions


class _Solution(NamedTuple):
    step: Floats
    goal: Floats
    """Multipliers of the goal."""
    limits: Floats
    """Multipliers of the limits, none negative."""


def least(system: System, first: Floats, low: Floats, high: Floats, toward: Floats | None = None) -> Answer | None:
    """Least |T - toward| (default: zero) with the goal met, from tensions that all but meet it; None where these lead
    nowhere."""
    aim = np.zeros(len(first)) if toward is None else toward
    point = _meet(system, first, low, high)
    if point is None:
        return None
    kkt, solution = np.inf, None
    for _ in range(MOST_STEPS):
        tensions = point.tensions
        unit = float(np.linalg.norm(tensions)) or 1.0
        slope, (rows, room) = unit * point.slope, _limits(point, low, high, unit)
        gradient = (tensions - aim) / unit
        one = np.eye(len(tensions))
        # At bounds there may be no step that takes the last digits of the miss away.
        first_order = _programme(one, gradient, slope, point.off, rows, room)
        first_order = first_order or _programme(one, gradient, slope, np.zeros_like(point.off), rows, room)
        if first_order is None:
            break
        solution, kkt = first_order, float(np.linalg.norm(first_order.step))
        if kkt <= OPTIMAL:
            break
        free = ~_at_bounds(solution, low, high)
        hessian = one + _curvature(system, point, solution, free, unit, len(low), high)
        second_order = _programme(hessian, gradient, slope, point.off, rows, room)
        step = (second_order or first_order).step
        after = _shorter(system, point, aim, unit * step, kkt, low, high)
        if after is None and second_order is not None:
            after = _shorter(system, point, aim, unit * first_order.step, kkt, low, high)
        if after is None:
            break
        point = after
    return _answer(point, kkt, solution, low, high)


def nearest(system: System, first: Floats, low: Floats, high: Floats) -> Answer | None:
    """Least distance from the goal, from any tensions that give a shape."""
    point = system.point(first)
    if point is None:
        return None
    nothing, none = np.zeros((0, len(first))), np.zeros(0)
    kkt, solution = np.inf, None
    for _ in range(MOST_STEPS):
        unit = float(np.linalg.norm(point.tensions)) or 1.0
        slope, (rows, room) = unit * point.slope, _limits(point, low, high, unit)
        miss = float(np.linalg.norm(point.off))
        size = float(np.linalg.norm(slope, 2)) or 1.0
        gradient = slope.T @ point.off / (size * (miss or 1.0))
        first_order = _programme(np.eye(len(first)), gradient, nothing, none, rows, room)
        if first_order is None:
            break
        solution, kkt = first_order, float(np.linalg.norm(first_order.step))
        if kkt <= OPTIMAL:
            break
        free = ~_at_bounds(solution, low, high)
        # The slope's own part of the curvature is exact; the walls and the bending of the tip come by differences.
        weights = _Solution(solution.step, point.off, solution.limits * size * miss)
        hessian = slope.T @ slope + _curvature(system, point, weights, free, unit, len(low), high, along=slope[:0])
        second_order = _programme(hessian, slope.T @ point.off, nothing, none, rows, room)
        after = None
        for step in (second_order, first_order):
            if step is not None and after is None:
                after = _nearer(system, point, unit * step.step, low, high)
        if after is None:
            break
        point = after
    return _answer(point, kkt, solution, low, high)


def _answer(point: Point, kkt: float, solution: _Solution | None, low: Floats, high: Floats) -> Answer:
    if solution is None:
        return Answer(point, kkt, (), ())
    count, tops = len(low), np.flatnonzero(np.isfinite(high))
    pushed = solution.limits > 1e-9 * max(float(solution.limits.max(initial=0.0)), 1e-300)
    near = 1e-9 * float(np.linalg.norm(point.tensions))
    least_held = [(int(k), -1) for k in np.flatnonzero(pushed[:count] & (point.tensions <= low + near))]
    most_held = [(int(k), 1) for k in tops[pushed[count : count + len(tops)]] if point.tensions[k] >= high[k] - near]
    walls = tuple(np.array(point.walls, dtype=int)[pushed[count + len(tops) :]].tolist()) if point.walls else ()
    return Answer(point, kkt, tuple(sorted(least_held + most_held)), walls)


def _limits(point: Point, low: Floats, high: Floats, unit: float) -> tuple[Floats, Floats]:
    """Rows and room: rows @ step <= room, for steps in units of `unit`."""
    one, tops = np.eye(len(low)), np.isfinite(high)
    rows = np.vstack([-one, one[tops], unit * point.closing])
    room = np.concatenate([(point.tensions - low) / unit, ((high - point.tensions) / unit)[tops], point.gaps])
    return rows, room


def _at_bounds(solution: _Solution, low: Floats, high: Floats) -> np.ndarray:
    """(cables,) whether a bound holds a cable back."""
    tops = np.flatnonzero(np.isfinite(high))
    held = solution.limits[: len(low)] > 0.0
    held[tops] |= solution.limits[len(low) : len(low) + len(tops)] > 0.0
    return held


def _curvature(
    system: System, point: Point, solution: _Solution, free: np.ndarray, unit: float, count: int, high: Floats,
    along: Floats | None = None,
) -> Floats:  # fmt: skip
    """(cables, cables) second derivative of goal and walls times their multipliers, where steps can go: among free
    cables, past what the goal allows. `along` replaces the goal's slope."""
    tensions, skipped = point.tensions, count + int(np.isfinite(high).sum())
    tight = np.flatnonzero(solution.limits[skipped:] > 0.0)
    walls = tuple(point.walls[i] for i in tight)
    weights = solution.limits[skipped:][tight]
    held = np.vstack([(point.slope if along is None else along), point.closing[tight]])[:, free]
    basis = np.zeros((len(tensions), 0))
    if free.any():
        inner = _null_space(unit * held)
        basis = np.zeros((len(tensions), inner.shape[1]))
        basis[free] = inner
    before = point.slope.T @ solution.goal + point.closing[tight].T @ weights
    columns = np.zeros((basis.shape[1], basis.shape[1]))
    for i in range(basis.shape[1]):
        width = WIDTH
        if (tensions + width * unit * basis[:, i] < 0.0).any() and (tensions - width * unit * basis[:, i] >= 0.0).all():
            width = -WIDTH
        beside = system.point(np.maximum(tensions + width * unit * basis[:, i], 0.0))
        if beside is None:
            return np.zeros((len(tensions), len(tensions)))
        after = beside.slope.T @ solution.goal
        if walls:
            after = after + system.closing(walls).T @ weights
        columns[i] = basis.T @ (after - before) * (unit / width)
    curved: Floats = basis @ (0.5 * (columns + columns.T)) @ basis.T
    return curved


def _rank(values: Floats) -> int:
    """From singular values, the largest first, of slopes in units of the robot and of the tensions."""
    return int((values > max(RANK * float(values[0]), NOTHING)).sum()) if len(values) else 0


def _null_space(rows: Floats) -> Floats:
    """(n, k) orthonormal combinations that `rows` do not feel."""
    if not len(rows):
        return np.eye(rows.shape[1])
    _, values, vectors = np.linalg.svd(rows)
    rank = _rank(values)
    space: Floats = vectors[rank:].T
    return space


def _programme(
    hessian: Floats, gradient: Floats, slope: Floats, off: Floats, rows: Floats, room: Floats
) -> _Solution | None:
    """Least gradient.d + d.hessian.d / 2 with slope d = -off and rows d <= room; None where no step keeps them all.

    The equations are eliminated; what remains is a least-distance problem, solved as non-negative least squares.
    Where the objective curves down, it is taken to curve up as much.
    """
    from scipy.optimize import nnls

    rank, left, values, vectors = 0, np.zeros((len(off), 0)), np.zeros(0), np.eye(len(gradient))
    if len(off):
        left, values, vectors = np.linalg.svd(slope)
        rank = _rank(values)
    space, fixed = vectors[rank:].T, np.zeros(len(gradient))
    if rank:
        fixed = -(vectors[:rank].T / values[:rank]) @ (left[:, :rank].T @ off)
    prices = np.zeros(len(room))
    step = fixed
    if space.shape[1]:
        bends, axes = np.linalg.eigh(space.T @ hessian @ space)
        bends = np.maximum(np.abs(bends), FLATTEST * float(np.abs(bends).max()) + 1e-300)
        root = axes / np.sqrt(bends)
        step = fixed - space @ (root @ (root.T @ (space.T @ (gradient + hessian @ fixed))))
        reach, short = rows @ space @ root, room - rows @ step
        if (short < -1e-15).any():
            scale = float(np.abs(short).max())
            E = np.vstack([-reach.T, -short / scale])
            target = np.zeros(len(E))
            target[-1] = 1.0
            try:
                u, _ = nnls(E, target, maxiter=100 * len(room))
            except RuntimeError:
                return None
            r = E @ u - target
            if abs(r[-1]) < 1e-13:
                return None
            step = step + space @ (root @ (-scale * r[:-1] / r[-1]))
            prices = -scale * u / r[-1]
    elif (rows @ step > room + 1e-12).any():
        return None
    goal = np.zeros(len(off))
    if rank:
        rest = gradient + hessian @ step + rows.T @ prices
        goal = -(left[:, :rank] / values[:rank]) @ (vectors[:rank] @ rest)
    return _Solution(step, goal, prices)


def _meet(system: System, tensions: Floats, low: Floats, high: Floats) -> Point | None:
    """The point next to some tensions that meets the goal within bounds and walls."""
    last = np.inf
    for _ in range(12):
        point = system.point(tensions)
        if point is None:
            return None
        miss = max(float(np.linalg.norm(point.off)), -float(point.gaps.min(initial=0.0)))
        if miss <= CLOSE:
            return point
        enough = point if miss <= CLOSE_ENOUGH and point.gaps.min(initial=0.0) >= 0.0 else None
        if miss > 0.5 * last:
            return enough
        last = miss
        unit = float(np.linalg.norm(tensions)) or 1.0
        rows, room = _limits(point, low, high, unit)
        one, zero = np.eye(len(tensions)), np.zeros(len(tensions))
        solution = _programme(one, zero, unit * point.slope, point.off, rows, room)
        if solution is None:
            return enough
        tensions = _bounded(tensions + unit * solution.step, low, high, unit)
    return None


def _bounded(tensions: Floats, low: Floats, high: Floats, unit: float) -> Floats:
    """Within the bounds, and at them but for round-off exactly there."""
    near = 1e-13 * unit
    return np.where(tensions <= low + near, low, np.where(tensions >= high - near, high, tensions))


def _shorter(
    system: System, point: Point, aim: Floats, step: Floats, kkt: float, low: Floats, high: Floats
) -> Point | None:
    """The end of a step, or of a part of it, that meets the goal with less tension."""
    before, unit = float(np.linalg.norm(point.tensions - aim)), float(np.linalg.norm(point.tensions))
    length = float(np.linalg.norm(step)) / (unit or 1.0)
    part = min(1.0, LONGEST / length) if length > 0.0 else 1.0
    while part * length > 1e-12 and part > SHORTEST:
        after = _meet(system, _bounded(point.tensions + part * step, low, high, unit), low, high)
        # So near the end that round-off hides the gain, full steps are trusted.
        trusted = kkt < 1e-5 and part == 1.0
        if after is not None and (trusted or float(np.linalg.norm(after.tensions - aim)) < before):
            return after
        part *= 0.4
    return None


def _nearer(system: System, point: Point, step: Floats, low: Floats, high: Floats) -> Point | None:
    """The end of a step, or of a part of it, that is nearer to the goal."""
    before, unit = float(np.linalg.norm(point.off)), float(np.linalg.norm(point.tensions))
    length = float(np.linalg.norm(step)) / (unit or 1.0)
    part = min(1.0, 1.0 / length) if length > 0.0 else 1.0
    while part * length > 1e-12 and part > SHORTEST:
        after = _back_inside(system, _bounded(point.tensions + part * step, low, high, unit), low, high)
        if after is not None and float(np.linalg.norm(after.off)) < before:
            return after
        part *= 0.4
    return None


def _back_inside(system: System, tensions: Floats, low: Floats, high: Floats) -> Point | None:
    """The point next to some tensions that keeps clear of the walls."""
    nothing, none, one = np.zeros((0, len(tensions))), np.zeros(0), np.eye(len(tensions))
    for _ in range(6):
        point = system.point(tensions)
        if point is None or point.gaps.min(initial=0.0) >= -CLOSE:
            return point
        unit = float(np.linalg.norm(tensions)) or 1.0
        solution = _programme(one, np.zeros(len(tensions)), nothing, none, *_limits(point, low, high, unit))
        if solution is None:
            return None
        tensions = _bounded(tensions + unit * solution.step, low, high, unit)
    return None
