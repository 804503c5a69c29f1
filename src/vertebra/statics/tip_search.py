"""Tip, its slope and its stiffness as functions of the tensions, where the range of the joints ends, and steps towards
a goal: what the questions of a tip position search with.

The derivative of the tip comes from the equilibrium itself: dq/dT = -H^-1 dl/dq.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vertebra.mechanics.gradient import SIXTH, Numbers, form_derivatives
from vertebra.mechanics.gradient import STEP as STEP_OF_POSE
from vertebra.mechanics.kernels.describe import find_tip
from vertebra.mechanics.kernels.newton import SETTLED, all_in_range
from vertebra.mechanics.kernels.sweep import NONE
from vertebra.mechanics.kinematics import Pose, directions_at_stops, measure, twist_table
from vertebra.mechanics.layout import REPORT_LOCKED, REPORT_WEAK
from vertebra.mechanics.problem import NO_CABLES, Problem
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, ROLLING, UNIVERSAL, Floats
from vertebra.statics.least_tensions import Point

WIDTHS = (0.003, 0.03)
"""Relative change of the tensions over which the tip's slope is taken where friction makes kinks."""
MOST_STEPS = 60
STEP = 1e-6
"""Of the usual tension: least change of one that tells a slope."""
GIVES_WAY = "the robot, which would give way with less tension"
NEAR, KEPT, LEEWAY = 0.3, 1e-9, 0.03
"""Of the range of a joint: what counts as near its end, what is kept free there, and how far a search may go past it
on its way."""


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
        self.walls = Walls.of(problem.robot)
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
        return Point(tensions, residual, self.slope(tensions), gaps[list(near)], closing, near)

    def closing(self, walls: tuple[int, ...]) -> Floats:
        """(walls, cables) how fast tensions use up the room before walls, at the last pose."""
        if not walls:
            return np.zeros((0, self.by_tension.shape[1]))
        turned = self._turned()
        rows = [
            self.walls.slope(self.q, wall) @ turned if wall < len(self.walls) else self._weakening(turned)
            for wall in walls
        ]
        return np.array(rows)

    def _turned(self) -> Floats:
        """(freedoms, cables) motion per tension at the last pose."""
        robot, friction = self.problem.robot, self.work.friction
        arms = measure(robot, self.q).first if friction is None else friction.arms(robot.joints)
        turned: Floats = np.linalg.solve(self.problem.dense_stiffness(self.work), -arms.T).astype(np.float64)
        return turned

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
        allowed = self._allowed()
        mode = allowed @ np.linalg.eigh(allowed.T @ self.problem.dense_stiffness(self.work) @ allowed)[1][:, 0]
        lost: Floats = -self._form_slope(mode, mode, turned) / self.walls.margin
        return lost

    def _form_slope(self, u: Floats, v: Floats, turned: Any) -> Floats:
        """(cables,) of u . H v per tension, where the pose follows and u and v are held."""
        problem, friction = self.problem, self.work.friction
        beside = problem.workspace(history=None if friction is None else friction.history.copy())
        by_numbers, by_angles = form_derivatives(problem, beside, self.q, self.pull, u, v)
        each = Numbers.zeros(problem, len(self.pull))
        each.tensions[:] = np.eye(len(self.pull))
        slope: Floats = each.flat @ by_numbers + by_angles @ turned
        return slope

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

    def slope(self, tensions: Floats) -> Floats:
        """Derivative of the residual at the tensions of the last call."""
        slope = self.goal.slope(self.scratch[0][-1, :3, :3], self.by_tension)
        if self.goal.direction is None:
            return slope
        if self.problem.closure == "virtual-work":
            return np.vstack([slope, self._softening(self.goal.direction)])
        # The paper's closure has no energy, so its stiffness has no such form.
        wide = self.wide_slope(tensions, STEP)
        return np.vstack([slope, np.zeros(len(tensions)) if wide is None else wide[-1]])

    def _softening(self, direction: Floats) -> Floats:
        """(cables,) of `TipGoal.too_soft` per tension: from d . J H^-1 J^T d at poses nearby, without a solve."""
        robot, H = self.problem.robot, self.problem.dense_stiffness(self.work)
        seen = direction @ Pose(robot, self.q).jacobian()[:3]
        right, left = (np.linalg.solve(each, seen).astype(np.float64) for each in (H, H.T))
        give = float(seen @ right)
        if give <= 0.0:
            return np.zeros(len(self.pull))
        # The second derivative of the tip is symmetric: that along x and a motion is the slope of d . J along x.
        x, bent = left + right, np.zeros(len(seen))
        h = STEP_OF_POSE / max(float(np.abs(x).max()), 1e-300)
        for steps, weight in SIXTH:
            bent += weight / h * (direction @ Pose(robot, self.q + steps * h * x).jacobian()[:3])
        turned = self._turned()
        slope: Floats = 0.1 / give * (bent @ turned - self._form_slope(left, right, turned))
        return slope


@dataclass(eq=False)
class Walls:
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
    def of(cls, robot: Robot) -> Walls:
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
        slope = tip.wide_slope(tensions, WIDTHS[stuck - 1]) if stuck else tip.slope(tensions)
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
