"""Which tensions bring the tip here, and as stiff as this?

A coarse look at many tensions, then damped Gauss-Newton steps within the bounds from the best of them. The
derivative of the tip comes from the equilibrium itself: dq/dT = -H^-1 dl/dq.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import Infeasible, InputError
from vertebra.mechanics.kernels.describe import find_tip
from vertebra.mechanics.kernels.newton import SETTLED, all_in_range, inspect_pose
from vertebra.mechanics.kernels.sweep import NONE
from vertebra.mechanics.kinematics import Pose, directions_at_stops, measure, twist_table
from vertebra.mechanics.layout import REPORT_LOCKED, REPORT_WEAK
from vertebra.mechanics.problem import NO_CABLES, Closure, Load, Problem
from vertebra.robot.arguments import as_robot, flag, numbers, positive, tension_bounds, tip_position, vector
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import BACKBONE, ROLLING, UNIVERSAL, Floats
from vertebra.statics.forward import require_solved, shape_from_tensions, shapes_from_tensions
from vertebra.statics.least_tensions import CLOSE_ENOUGH, Answer, Point, least, nearest
from vertebra.statics.path import ShapePath
from vertebra.statics.shape import Shape, Status

MOST = 1e3
"""How far the search goes without an upper bound: times the tension that balances weight, loads and elastic joints."""
SAMPLES = (300, 900)
"""Tensions looked at before the search, and once more where these lead nowhere."""
TRIES = 24
ANSWERS, AGREEING = 4, (8, 4)
"""Answers that are compared with friction; without, how many optima are found at least, and how many of them have to
agree on the best."""
ALIKE = 1e-6
"""Relative difference of norms below which two optima are the same."""
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
PROVEN = 1e-7
"""Residual of the first-order conditions below which an optimum counts as one."""
WORTH = 1.5
"""How much larger than others the tensions of a proven optimum may be."""
TRIED = 3
"""Least answers next to which a steadier one is looked for."""
GIVES_WAY = "the robot, which would give way with less tension"
MARGINS = (1.1, 1.3, 1.6, 2.0, 4.0, 8.0, 16.0, 64.0)
"""Where tensions could shrink until the robot gives way: stiffness of its weakest motion that is kept, as a factor on
what is left when it is about to take another shape."""
NEAR, KEPT, LEEWAY = 0.3, 1e-9, 0.03
"""Of the range of a joint: what counts as near its end, what is kept free there, and how far a search may go past it
on its way."""


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
    """Position within the tolerance, and direction and stiffness if wanted."""
    at_bounds: tuple[int, ...]
    """Cables at their least or most tension, counted from 1."""
    tilt: float | None
    """Angle between the tip and the wanted axis or rotation, rad; None when none was wanted."""
    kkt: float
    """Residual of the first-order conditions of an optimum, without units: that no tensions nearby do the same with a
    smaller sum of squares (on a path: with less change), or, where the goal is not met exactly, come nearer. Zero at an
    optimum, infinite where none could be told, as where friction makes kinks. Where less tension would let a joint
    leave its rigid stop there is a kink too, and no small number."""
    stops: tuple[str, ...]
    """What holds the answer where it is, in words: cables at a bound, joints at their limit. For a goal that is not
    reached, that is what keeps the tip from it."""
    held: tuple[tuple[int, int], ...] = ()
    """The cables among them, counted from 1, and the bound that holds each: -1 its least tension, 1 its most."""

    def __repr__(self) -> str:
        pulls = ", ".join(f"{tension:.4g}" for tension in self.tensions)
        tilt = "" if self.tilt is None else f", {np.degrees(self.tilt):.3g} deg off"
        stiff = "" if self.stiffness is None else f", {self.stiffness:.4g} N/m"
        missed = "" if self.reached else ", not reached"
        return f"TipTensions({pulls} N, {self.error * 1e3:.3g} mm off{tilt}{stiff}{missed})"


@dataclass(frozen=True)
class TipGoal:
    """What the tip should do, as residuals without units."""

    position: Floats
    size: float
    direction: Floats | None
    stiffness: float
    turned: Floats | None = None
    """(3, 3) the wanted axes of the tip, one per column; of an axis alone, that axis in the third."""
    rows: Floats | None = None
    """(2 or 3, 3) directions about which the tip must not be turned away from them."""

    @property
    def count(self) -> int:
        """Equations."""
        return 3 + (0 if self.rows is None else len(self.rows)) + (self.direction is not None)

    def residual(self, tip: Floats, axes: Floats, compliance: Floats) -> Floats:
        """`axes` (3, 3) of the tip, one per column."""
        off = (tip - self.position) / self.size
        if self.turned is not None and self.rows is not None:
            away, cosine = self._away(self.turned, axes)
            off = np.append(off, 2.0 * self.rows @ away / (1.0 + cosine))
        return off if self.direction is None else np.append(off, self.too_soft(compliance, self.direction))

    def slope(self, axes: Floats, by_tension: Floats) -> Floats:
        """Derivative of the residual, but for the stiffness; `by_tension` (6, cables) of the tip."""
        slope: Floats = by_tension[:3] / self.size
        if self.turned is None or self.rows is None:
            return slope
        # Twice n tan(angle / 2), with the axis n of the turn: d(w x a) = omega (w . a) - a (w . omega).
        last = 2 if len(self.rows) == 2 else 0
        overlap = (self.turned[:, last:] * axes[:, last:]).sum()
        turning = (1.0 if last else 0.5) * (overlap * np.eye(3) - axes[:, last:] @ self.turned[:, last:].T)
        away, cosine = self._away(self.turned, axes)
        turning = 2.0 * (turning / (1.0 + cosine) + np.outer(away, away) / (1.0 + cosine) ** 2)
        return np.vstack([slope, self.rows @ turning @ by_tension[3:]])

    def _away(self, wanted: Floats, axes: Floats) -> tuple[Floats, float]:
        """n sin(angle) and cos(angle) of the turn from the wanted axis or axes to the actual."""
        turn = np.cross(wanted, axes, axis=0)
        if self.rows is not None and len(self.rows) == 2:
            away, cosine = turn[:, 2], float(wanted[:, 2] @ axes[:, 2])
        else:
            away, cosine = 0.5 * turn.sum(axis=1), 0.5 * float((wanted * axes).sum()) - 0.5
        if self.rows is not None and cosine < 0.0 and np.linalg.norm(away) < 1e-6:
            away = 1e-6 * self.rows[0]  # turned right round, any way leads back
        return away, max(cosine, -1.0 + 1e-9)

    def tilt(self, axes: Floats) -> Any:
        """Angle from the wanted axis or rotation, rad; `axes` (..., 3, 3)."""
        if self.turned is None or self.rows is None:
            return 0.0
        if len(self.rows) == 2:
            apart = axes[..., 2] - self.turned[:, 2]
            return 2.0 * np.arcsin(np.minimum(0.5 * np.linalg.norm(apart, axis=-1), 1.0))
        apart = axes - self.turned
        return 2.0 * np.arcsin(np.minimum(np.sqrt((apart**2).sum(axis=(-2, -1)) / 8.0), 1.0))

    def too_soft(self, compliance: Floats, direction: Floats) -> Any:
        """Wanted over actual stiffness, on a logarithmic scale."""
        give = np.einsum("i,...ij,j->...", direction, compliance[..., :3, :3], direction)
        return 0.1 * np.log(np.maximum(give, 1e-300) * self.stiffness)


class TipSearch:
    """Tip, slope and compliance as functions of the tensions; scratch made once."""

    def __init__(
        self, problem: Problem, goal: TipGoal, usual: float, start: ArrayLike | None, history: Floats | None = None
    ) -> None:
        self.problem, self.goal, self.usual = problem, goal, usual
        self.use_start, first = problem.start(start)
        self.begin = first.copy() if self.use_start else first
        n, c = len(problem.robot.joints), len(problem.robot.cables)
        self.q, self.work = first, problem.workspace(history=history)
        twists = twist_table(problem.robot)
        self.scratch = np.empty((n + 1, 4, 4)), twists, np.empty((len(twists), c))
        self.tip, self.by_tension, self.compliance = np.empty(3), np.empty((6, c)), np.empty((6, 6))
        self.walls = _Walls.of(problem.robot)
        self.pull = np.empty(c)

    def residual(self, tensions: Floats, leeway: bool = False) -> Floats | None:
        """None where the tensions give no stable shape within range; with `leeway`, slightly beyond its end."""
        robot, problem = self.problem.robot, self.problem
        if self.use_start:
            self.q[:] = self.begin
        self.pull[:] = tensions
        status = find_tip(
            *problem.system, robot.origin, robot.tip_point, tensions, NO_CABLES, NO_CABLES, self.work.friction,
            self.use_start, self.q, *self.work.scratch, *self.scratch, self.tip, self.by_tension, self.compliance,
        )  # fmt: skip
        if (
            status != SETTLED
            or self.work.report[REPORT_WEAK] != NONE
            or self.work.report[REPORT_LOCKED] != NONE
            or not (
                all_in_range(robot.joints, robot.cables, robot.segments, self.q)
                or (leeway and self.walls.gaps(self.q).min(initial=0.0) > -LEEWAY)
            )
        ):
            return None
        return self.goal.residual(self.tip, self.scratch[0][-1, :3, :3], self.compliance)

    def point(self, tensions: Floats) -> Point | None:
        """For the search of the least tensions."""
        residual = self.residual(tensions, leeway=True)
        if residual is None:
            return None
        gaps = self.walls.gaps(self.q)
        if self.walls.margin:
            gaps = np.append(gaps, self.weakest() / self.walls.margin - 1.0)
        near = tuple(np.flatnonzero(gaps < np.where(np.arange(len(gaps)) < len(self.walls), NEAR, 3.0)).tolist())
        closing = self.closing(near)
        return Point(tensions, residual, self.slope(tensions, residual).copy(), gaps[list(near)], closing, near)

    def closing(self, walls: tuple[int, ...]) -> Floats:
        """(walls, cables) how fast tensions use up the room before walls, at the last pose."""
        if not walls:
            return np.zeros((0, self.by_tension.shape[1]))
        robot, friction = self.problem.robot, self.work.friction
        arms = measure(robot, self.q).first if friction is None else friction.arms(robot.joints)
        turned = np.linalg.solve(self.problem.dense_stiffness(self.work), -arms.T)
        rows = [
            self.walls.slope(self.q, wall) @ turned if wall < len(self.walls) else self._weakening(turned)
            for wall in walls
        ]
        return np.array(rows)

    def weakest(self) -> float:
        """Least stiffness against any motion that stops allow at the last pose, N*m/rad; infinite without any."""
        allowed = self._allowed()
        stiffness = self.problem.dense_stiffness(self.work)
        return float(np.linalg.eigvalsh(allowed.T @ stiffness @ allowed)[0]) if allowed.size else np.inf

    def _allowed(self) -> Any:
        """(freedoms, k) motions in which no joint leaves the rigid stop that it touches."""
        touched = directions_at_stops(self.problem.robot, self.q)
        return np.linalg.qr(touched, mode="complete")[0][:, touched.shape[1] :]

    def _weakening(self, turned: Any) -> Floats:
        """(cables,) loss of the least stiffness per tension, relative to the margin, at the last pose; `turned` is
        the motion per tension (freedoms, cables)."""
        problem, work, q, pull = self.problem, self.problem.workspace(), self.q, self.pull
        allowed = self._allowed()
        mode = allowed @ np.linalg.eigh(allowed.T @ problem.dense_stiffness(self.work) @ allowed)[1][:, 0]
        rows = np.empty(len(pull))
        for k, motion in enumerate(turned.T):
            width = 1e-4 / max(float(np.abs(motion).max()), 1e-4 / self.usual)
            stiff = []
            for step in (width, -width):
                beside = pull + step * (np.arange(len(pull)) == k)
                inspect_pose(
                    *problem.system,
                    beside,
                    NO_CABLES,
                    NO_CABLES,
                    work.friction,
                    False,
                    q + step * motion,
                    *work.scratch[1:],
                )
                stiff.append(mode @ problem.dense_stiffness(work) @ mode)
            rows[k] = (stiff[1] - stiff[0]) / (2.0 * width * self.walls.margin)
        return rows

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
        slope = self.goal.slope(self.scratch[0][-1, :3, :3], self.by_tension)
        if self.goal.direction is None:
            return slope
        last = np.zeros(len(tensions))
        for k in range(len(tensions)):
            step = STEP * (self.usual + tensions[k])
            beside = self.residual(tensions + step * (np.arange(len(tensions)) == k), leeway=True)
            if beside is not None:
                last[k] = (beside[-1] - residual[-1]) / step
        return np.vstack([slope, last])


@dataclass(eq=False)
class _Walls:
    """Where the range of the joints ends: each freedom at the limit of its joint, each backbone at its bend, unless it
    may rest there on a rigid stop; each joint where its faces meet at a cable. With a margin, one wall more: that much
    stiffness must be left."""

    robot: Robot
    freedoms: Any
    """Freedoms that have a limit of their own."""
    limits: Floats
    backbones: Any
    """Joints, from 0."""
    cables: Any
    """Cables and joints whose faces may meet there."""
    faces: Any
    sizes: Floats
    margin: float = 0.0
    """N*m/rad; 0 for none."""

    def __len__(self) -> int:
        return len(self.freedoms) + len(self.backbones) + len(self.faces)

    @classmethod
    def of(cls, robot: Robot) -> _Walls:
        joints, kinds = robot.joints, robot.joints["kind"]
        straight = [
            (int(joint["first"]) + i, float(joint["limit"]))
            for joint in joints
            if joint["kind"] != BACKBONE and not joint["stops"]
            for i in range(joint["freedoms"])
        ]
        cables, faces = np.nonzero(
            (np.arange(len(joints)) < robot.cables["last_link"][:, None]) & (kinds != ROLLING) & (kinds != UNIVERSAL)
        )
        holes = robot.segments[cables, faces]
        sizes = joints["size"][faces] + np.abs(holes["recess"]) + np.abs(holes["offset"])
        rows, limits = (np.array(part) for part in zip(*straight, strict=True)) if straight else (np.zeros(0, int),) * 2
        backbones = np.flatnonzero((kinds == BACKBONE) & (joints["stops"] == 0))
        return cls(robot, rows, limits, backbones, cables, faces, sizes)

    def gaps(self, q: Floats) -> Floats:
        """Room left before each wall, relative to its size; a billionth of it is kept."""
        joints = self.robot.joints
        first = joints["first"][self.backbones]
        parts = [1.0 - np.abs(q[self.freedoms]) / self.limits]
        parts.append(1.0 - np.hypot(q[first], q[first + 1]) / joints["limit"][self.backbones])
        if len(self.faces):
            parts.append(measure(self.robot, q).lengths[self.cables, self.faces] / self.sizes)
        gaps: Floats = np.concatenate(parts) - KEPT
        return gaps

    def slope(self, q: Floats, wall: int) -> Floats:
        """(freedoms,) how fast motion uses up the room before a wall."""
        slope, joints = np.zeros(len(q)), self.robot.joints
        if wall < len(self.freedoms):
            slope[self.freedoms[wall]] = np.sign(q[self.freedoms[wall]]) / self.limits[wall]
            return slope
        wall -= len(self.freedoms)
        if wall < len(self.backbones):
            row = self.backbones[wall]
            first = joints["first"][row]
            bend = float(np.hypot(q[first], q[first + 1])) or 1.0
            slope[first : first + 2] = q[first : first + 2] / (bend * joints["limit"][row])
            return slope
        wall -= len(self.backbones)
        row, cable = self.faces[wall], self.cables[wall]
        own = slice(joints["first"][row], joints["first"][row] + joints["freedoms"][row])
        slope[own] = -measure(self.robot, q).first[cable, own] / self.sizes[wall]
        return slope

    def name(self, wall: int) -> str:
        """Such as ``joint 3 at its limit of 45 deg``."""
        joints = self.robot.joints
        if wall >= len(self):
            return GIVES_WAY
        if wall < len(self.freedoms) + len(self.backbones):
            if wall < len(self.freedoms):
                row = self.robot.joint_of(int(self.freedoms[wall])) - 1
            else:
                row = int(self.backbones[wall - len(self.freedoms)])
            return f"joint {row + 1} at its limit of {np.degrees(joints['limit'][row]):.4g} deg"
        wall -= len(self.freedoms) + len(self.backbones)
        return f"joint {self.faces[wall] + 1}, whose faces meet at cable {self.cables[wall] + 1}"


def tensions_for_tip(
    robot: RobotLike,
    position: ArrayLike,
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
    start: ArrayLike | None = None,
    tolerance: float | None = None,
    check: bool = True,
) -> TipTensions:
    """Least cable tensions whose shape has its tip at `position` (3,) m. Only stable shapes within the range of every
    joint count.

    More cables than needed leave a choice: the least sum of squares is taken, the best of several optima that searches
    from different starts lead to. `kkt` in the result says how well it meets the conditions of an optimum.

    `axis`: (3,) where the last link shall point, world axes; needs five cables. `rotation`: (3, 3) the wanted axes of
    the last link, one per column, as in `shape.frames`; needs six. `stiffness`: a direction and the tip stiffness
    wanted in it, N/m; needs one cable more. `lower`, `upper`: bounds in N, one or one per cable; default pretension and
    max_tension of the robot file, and where that has none, a thousand times what balances weight and loads. `friction`,
    `closure`, `start` as in `shape_from_tensions`: each trial is solved from the start. `tolerance`: m, default 5
    millionths of the robot's length; angles have that over the length.

    `path`: the next step of a path instead, with its history, gravity, loads and friction. The search starts from its
    last tensions and takes the answer closest to them, so that tensions along a tip path change little by little; where
    none is near, any other. The path itself does not move: step it with the answer.

    With `check`, raises `Infeasible` with the closest answer as `result` when the tip does not get there: it says by
    how much, and which cables or joints stop it.
    """
    robot = as_robot(robot)
    check = flag("check", check)
    problem = problem_of(robot, path, gravity, loads, friction, closure, start)
    low, high = tension_bounds(robot, lower, upper)
    if len(low) == 0:
        raise InputError("robot", f"{robot.name} has no cables")
    tolerance = TOLERANCE * robot.length if tolerance is None else positive("tolerance", tolerance)
    goal = tip_goal(robot, position, axis, rotation, stiffness)
    usual = usual_tension(problem, low, high)
    farthest = np.minimum(high, low + MOST * usual)
    enough = 0.2 * tolerance / goal.size
    if path is None:
        tip = TipSearch(problem, goal, usual, start)
        found = _search(tip, low, high, farthest, start, enough)
        shape = shape_from_tensions(
            robot, found.tensions, gravity=gravity, loads=loads, friction=friction, closure=closure, start=start,
            check=False,
        )  # fmt: skip
    else:
        state = path.save()
        tip = TipSearch(problem, goal, usual, state.angles if state.steps else None, state.history.copy())
        found = _next_on_path(tip, path.tensions, low, high, farthest, enough)
        shape = path.preview(found.tensions)
    result = tip_result(shape, goal, found, tip.walls, low, high, tolerance)
    if check:
        require_solved(problem, shape)
        if not result.reached:
            _refuse(result, stiffness, on_path=path is not None)
    return result


def problem_of(
    robot: Robot, path: ShapePath | None, gravity: str | ArrayLike | None, loads: Sequence[Load] | None,
    friction: Friction | None, closure: Closure, start: ArrayLike | None = None,
) -> Problem:  # fmt: skip
    """The problem of a path, or without one, what was given."""
    if path is None:
        return Problem.of(robot, gravity, loads, friction, closure)
    if not isinstance(path, ShapePath):
        raise InputError("path", f"must be a ShapePath, not {type(path).__name__}")
    if path.robot != robot:
        raise InputError("path", f"is of {path.robot.name}, not of {robot.name}")
    given = (gravity, friction, start, loads or None)
    if any(value is not None for value in given) or closure not in ("virtual-work", path.problem.closure):
        raise InputError("path", "has its own gravity, loads, friction, closure and start; leave those out")
    return path.problem


def _next_on_path(
    tip: TipSearch, last: Floats | None, low: Floats, high: Floats, farthest: Floats, enough: float
) -> Found:
    """The answer that the last tensions lead to; where they lead to none, the usual search, history included."""
    if last is not None:
        # Where cables begin to slip back, the tip responds differently than just before: a kick finds the new slope.
        rng = np.random.default_rng(0)
        size = np.maximum(last, 0.1 * float(last.max()))
        for kick in KICKS:
            first = last + kick * size * rng.uniform(-1.0, 1.0, len(last))
            tensions, miss = descend(tip, np.clip(first, low, farthest), low, farthest, enough)
            if miss <= enough:
                nearby = None if tip.problem.laws else least(tip, tensions, low, farthest, toward=last)
                return Found(tensions, None) if nearby is None else Found(nearby.tensions, nearby)
    return _search(tip, low, high, farthest, None, enough)


class Found(NamedTuple):
    """What a search found."""

    tensions: Floats
    answer: Answer | None
    """None where the first-order conditions could not be told."""
    first: Floats | None = None
    """Where its search began."""


def _search(
    tip: TipSearch, low: Floats, high: Floats, farthest: Floats, start: ArrayLike | None, enough: float
) -> Found:
    """The least tensions that reach the goal, or those that come nearest to it."""
    near, miss_of_near = low, np.inf
    found: list[Found] = []
    for count in SAMPLES:
        for first in _candidates(tip, low, high, start, count):
            tensions, miss = descend(tip, first, low, farthest, enough)
            if miss > enough:
                if miss < miss_of_near:
                    near, miss_of_near = tensions, miss
                continue
            optimum = least(tip, tensions, low, farthest)
            found.append(Found(tensions, None) if optimum is None else Found(optimum.tensions, optimum, tensions))
            if _agree(found):
                return _proven(tip, found, low, farthest)
            if tip.problem.laws and len(found) == ANSWERS:
                return min(found, key=_norm)
    if found:
        return _proven(tip, found, low, farthest)
    return _nearest(tip, near, low, farthest)


def _norm(found: Found) -> float:
    return float(np.linalg.norm(found.tensions))


def _agree(found: list[Found]) -> bool:
    norms = np.array([_norm(one) for one in found])
    return len(norms) >= AGREEING[0] and int((norms <= (1.0 + ALIKE) * norms.min()).sum()) >= AGREEING[1]


def _proven(tip: TipSearch, found: list[Found], low: Floats, high: Floats) -> Found:
    """The least of the answers; where the robot is about to give way there, the least with some stability left."""
    found.sort(key=_norm)
    for place, one in enumerate(found):
        if tip.problem.laws or (one.answer is not None and one.answer.kkt <= PROVEN):
            return one if _norm(one) <= WORTH * _norm(found[0]) else found[0]
        steadier = (
            steadier_answer(tip, one.answer, low, high, one.first) if one.answer is not None and place < TRIED else None
        )
        others = [_norm(other) for other in found[place + 1 :] if other.answer and other.answer.kkt <= PROVEN]
        if steadier is not None and np.linalg.norm(steadier.tensions) <= min([WORTH * _norm(found[0]), *others]):
            return Found(steadier.tensions, steadier)
    return found[0] if found[0].answer is not None else _nearest(tip, found[0].tensions, low, high)


def _nearest(tip: TipSearch, tensions: Floats, low: Floats, high: Floats) -> Found:
    """The tensions nearby that come nearest to the goal; if they meet it after all, the least that do."""
    closest = nearest(tip, tensions, low, high)
    if closest is not None and float(np.linalg.norm(closest.point.off)) <= CLOSE_ENOUGH:
        closest = least(tip, closest.tensions, low, high) or closest
    return Found(tensions, None) if closest is None else Found(closest.tensions, closest)


def steadier_answer(
    tip: TipSearch, answer: Answer, low: Floats, high: Floats, first: Floats | None = None
) -> Answer | None:
    """The least tensions with some stability left, next to an answer that is about to give way; or from `first`."""
    if tip.residual(answer.tensions) is None:
        return None
    weakest, before = tip.weakest(), tip.walls.margin
    if not np.isfinite(weakest):
        return None
    try:
        for more in MARGINS:
            tip.walls.margin = more * weakest
            for start in (answer.tensions,) if first is None else (answer.tensions, first):
                optimum = least(tip, start, low, high)
                if optimum is not None and optimum.kkt <= PROVEN:
                    return optimum
    finally:
        tip.walls.margin = before
    return None


def tip_goal(
    robot: Robot, position: ArrayLike, axis: ArrayLike | None = None, rotation: ArrayLike | None = None,
    stiffness: tuple[ArrayLike, float] | None = None,
) -> TipGoal:  # fmt: skip
    """The goal, checked."""
    place = tip_position(robot, position)
    turned = rows = along = None
    value = 0.0
    if axis is not None and rotation is not None:
        raise InputError("rotation", "give axis or rotation, not both")
    if axis is not None:
        turned = np.zeros((3, 3))
        turned[:, 2] = _unit("axis", axis)
        rows = np.linalg.svd(turned[:, 2:].T)[2][1:]
    if rotation is not None:
        turned, rows = numbers("rotation", rotation, "any unit"), np.eye(3)
        if turned.shape != (3, 3) or np.abs(turned.T @ turned - rows).max() > 1e-6 or np.linalg.det(turned) < 0.0:
            raise InputError("rotation", "must be a (3, 3) rotation matrix: right-handed unit axes, one per column")
    if stiffness is not None:
        try:
            direction, wanted = stiffness
        except Exception:  # an object may raise anything when it is taken apart
            raise InputError("stiffness", "must be a direction and a stiffness: ((0, 0, 1), 20.0) in N/m") from None
        value = positive("stiffness", wanted)
        along = _unit("stiffness", direction)
    goal = TipGoal(place, robot.length, along, value, turned, rows)
    if rows is not None and len(robot.cables) < goal.count:
        asked = f"position and {'axis' if axis is not None else 'rotation'}{'' if along is None else ' and stiffness'}"
        raise InputError(
            "axis" if axis is not None else "rotation",
            f"{asked} need {goal.count} cables or more, and {robot.name} has {len(robot.cables)}",
        )
    return goal


def _unit(name: str, direction: ArrayLike) -> Floats:
    along = vector(f"{name} direction" if name == "stiffness" else name, direction, "any unit")
    if not along.any():
        raise InputError(name, "the direction must not be all zero")
    unit: Floats = along / np.linalg.norm(along)
    return unit


def _candidates(tip: TipSearch, low: Floats, high: Floats, start: ArrayLike | None, count: int) -> Floats:
    """Tensions to start from, the most promising first."""
    problem, goal, rng = tip.problem, tip.goal, np.random.default_rng(0)
    robot = problem.robot
    level = tip.usual * 10.0 ** rng.uniform(-1.5, 1.5, (count, 1))
    # Even tensions, uneven ones, and ones with single cables all but slack.
    shares = rng.uniform(0.0, 1.0, (count, len(low))) ** rng.choice([0.3, 1.0, 3.0], (count, 1))
    samples = np.clip(low + level * shares, low, high)
    bounded = np.isfinite(high)
    third = count // 3
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
    if goal.turned is not None:
        axes = np.array([Pose(robot, angles).frames[-1, :3, :3] for angles in shapes.angles[solved]])
        miss += goal.tilt(axes) ** 2
    if goal.direction is not None:
        miss += goal.too_soft(shapes.compliance[solved], goal.direction) ** 2
    nearest: Floats = samples[solved][np.argsort(miss, kind="stable")]
    # Neighbours of the best share its fate: half of the tries go to it, the others, in turn, are spread over the ranks.
    best = np.arange(TRIES // 2)
    spread = np.geomspace(TRIES // 2, max(len(nearest) - 1, TRIES // 2), TRIES // 2).astype(int)
    ranks = np.array(list(dict.fromkeys(np.column_stack([best, spread]).reshape(-1).tolist())))
    chosen: Floats = nearest[ranks[ranks < len(nearest)]]
    return chosen


def usual_tension(problem: Problem, low: Floats, high: Floats) -> float:
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


def descend(tip: TipSearch, first: Floats, low: Floats, high: Floats, enough: float) -> tuple[Floats, float]:
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


def tip_result(
    shape: Shape, goal: TipGoal, found: Found, walls: _Walls, low: Floats, high: Floats, tolerance: float
) -> TipTensions:
    """The answer with all that it says of itself."""
    tensions, answer = found.tensions, found.answer
    error = float(np.linalg.norm(shape.tip - goal.position))
    reached, stiffness, tilt = error <= tolerance and shape.status == Status.SOLVED, None, None
    if goal.turned is not None:
        tilt = float(goal.tilt(shape.frames[-1, :3, :3]))
        reached = reached and tilt <= tolerance / goal.size
    if goal.direction is not None:
        give = float(goal.direction @ shape.compliance[:3, :3] @ goal.direction)
        stiffness = 1.0 / give if give > 0.0 else np.inf
        reached = reached and abs(stiffness / goal.stiffness - 1.0) <= STIFFNESS_TOLERANCE
    edge = np.flatnonzero((tensions <= low) | (tensions >= high)) + 1
    stops: list[str] = []
    if answer is not None:
        for cable, side in answer.held:
            bound = "least" if side < 0 else "most" if tensions[cable] >= high[cable] else "largest searched"
            stops.append(f"cable {cable + 1} at its {bound} tension of {tensions[cable]:.4g} N")
        stops += [walls.name(wall) for wall in answer.walls]
        if not reached and not stops:
            stops.append("the reach of the robot, at no bound")
    kkt, held = (np.inf, ()) if answer is None else (answer.kkt, answer.held)
    return TipTensions(
        tensions, shape, error, stiffness, reached, tuple(edge.tolist()), tilt, kkt, tuple(stops),
        tuple((cable + 1, side) for cable, side in held),
    )  # fmt: skip


def _refuse(result: TipTensions, wanted: tuple[ArrayLike, float] | None, on_path: bool) -> None:
    stops = f"; what stops it: {', '.join(result.stops)}" if result.stops else ""
    tilt = "" if result.tilt is None else f" and {np.degrees(result.tilt):.4g} deg"
    stiff = "" if wanted is None else f" and stiffness {result.stiffness:.4g} N/m of {float(wanted[1]):.4g} wanted"
    raise Infeasible(
        0, "tip position", result.error,
        f"the tip gets within {result.error * 1e3:.4g} mm{tilt}{stiff}{stops}; ask for a place within reach"
        f"{', or widen the bounds' if on_path else ', widen the bounds, or try another start'}", result,
    )  # fmt: skip
