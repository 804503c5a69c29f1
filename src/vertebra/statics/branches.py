"""Which stable shapes exist, when does the straight one stop being stable, and how far is a shape from buckling?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.mechanics.kernels.newton import inspect_pose, is_conservative
from vertebra.mechanics.kernels.sweep import NONE, bend_from, eliminate_narrow, eliminate_wide, substitute_wide
from vertebra.mechanics.kinematics import measure
from vertebra.mechanics.layout import (
    REPORT_RESIDUAL,
    REPORT_SCALE,
    SPAN_SECOND,
    STATE_AXIS,
    STATE_OWN,
    STATE_PLACE,
    STATE_STEP,
    STATE_TIE,
    STATE_TIE_LOW,
    STATE_UPPER,
    WIDE_U,
    WIDE_V,
    WIDE_V_LOW,
)
from vertebra.mechanics.problem import NO_CABLES, Closure, Load, Problem, Workspace
from vertebra.robot.arguments import as_robot, positive_count, seed_number
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import Floats
from vertebra.statics.forward import shape_from_tensions, shapes_from_tensions
from vertebra.statics.shape import Shape, Status

ZERO = 1e-12
"""A range narrower than this part of its upper end is none."""
CLOSE = 1e-9
"""Part of a factor to which bisection leads; Newton's method doubles the digits."""
POLISHED = 3
"""Newton steps."""
MOST_TRIALS = 120
"""Number of factors tried, by doubling and halving."""
EVEN = 1e-9
"""Torques that bend the straight robot, as a part of those that act, below which it stays straight."""
MOST_ANGLES = 10_000_000
"""Starts times joints of a search for all shapes."""
SAME = 1e-6
"""rad; shapes closer than this in every joint are one."""


@dataclass(frozen=True, eq=False, repr=False)
class Equilibria:
    """The stable shapes of a robot under one set of tensions."""

    shapes: tuple[Shape, ...]
    """By energy, lowest first; each within the range of every joint."""
    counts: tuple[int, ...]
    """How many of the starts lead to each: a rough size of its basin."""
    reached: int | None
    """Index of the shape that the given start reaches (the usual start when none was given); None if it fails."""
    tried: int
    """Number of starts."""

    def __len__(self) -> int:
        return len(self.shapes)

    def __repr__(self) -> str:
        which = "" if self.reached is None else f", the start reaches number {self.reached}"
        lines = [f"Equilibria: {len(self)} stable from {self.tried} starts{which}"]
        lines += [f"  {i}: {shape!r}, {shape.energy:.6g} J" for i, shape in enumerate(self.shapes)]
        return "\n".join(lines)


def equilibria(
    robot: RobotLike,
    tensions: ArrayLike,
    *,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    start: ArrayLike | None = None,
    starts: int = 64,
    seed: int = 0,
) -> Equilibria:
    """Stable shapes under the same tensions, found from many starts: bends to all sides, S-bends and random poses.

    `starts`: how many to try besides `start` (the usual one when none is given); more find rarer shapes. The search is
    repeatable: `seed` sets the random poses. Starts times joints are ten million at most.
    """
    robot = as_robot(robot)
    seed = seed_number("seed", seed)
    starts = positive_count("starts", starts, MOST_ANGLES // len(robot.joints))
    rules: dict[str, Any] = {"gravity": gravity, "loads": loads, "friction": friction, "closure": closure}
    own = shape_from_tensions(robot, tensions, **rules, start=start, check=False)
    poses = _starting_poses(robot, starts, np.random.default_rng(seed))
    pull = np.tile(np.asarray(tensions, dtype=np.float64), (len(poses), 1))
    batch = shapes_from_tensions(robot, pull, **rules, start=poses)
    solved = own.status == Status.SOLVED
    found: list[Shape] = [own] if solved else []
    counts = [1] if solved else []
    for row in np.flatnonzero(batch.solved):
        for i, shape in enumerate(found):
            if np.abs(shape.angles - batch.angles[row]).max() < SAME:
                counts[i] += 1
                break
        else:
            found.append(batch.shape(int(row)))
            counts.append(1)
    order = sorted(range(len(found)), key=lambda i: found[i].energy)
    reached = order.index(0) if solved else None
    return Equilibria(tuple(found[i] for i in order), tuple(counts[i] for i in order), reached, len(poses) + 1)


def _starting_poses(robot: Robot, count: int, rng: np.random.Generator) -> Floats:
    """The straight pose, bends and S-bends toward eight sides, then random mixtures of them and random poses."""
    joints, freedoms = robot.joints, robot.joints["freedoms"]
    limit, azimuth = np.repeat(np.minimum(joints["limit"], 2.9), freedoms), np.repeat(joints["azimuth"], freedoms)
    along = np.repeat((np.arange(len(joints)) + 0.5) / len(joints), freedoms)
    several, n = joints["first"][freedoms > 1], robot.freedoms
    azimuth[several + 1] = 0.5 * np.pi  # freedoms of one joint turn to perpendicular sides
    limit[several] *= np.sqrt(0.5)
    limit[several + 1] *= np.sqrt(0.5)
    limit[joints["first"][freedoms == 3] + 2] = 0.0
    poses = [np.zeros(n)]
    for waves in (0, 1, 2):
        profile = np.cos(np.pi * waves * along)
        bend = 0.6 * min(1.0, 6.0 / len(joints)) * limit * profile
        poses += [bend * np.cos(azimuth - side) for side in np.arange(8) * np.pi / 4]
    while len(poses) < count:
        if len(poses) % 2:
            poses.append(rng.uniform(-0.9, 0.9, n) * limit)
        else:
            weights = rng.normal(size=3) / np.arange(1, 4)
            profile = sum(w * np.cos(np.pi * k * along) for k, w in enumerate(weights))
            bend = profile * np.cos(azimuth - rng.uniform(0, 2 * np.pi)) * limit * rng.uniform(0.1, 1.0)
            poses.append(np.clip(bend, -0.95 * limit, 0.95 * limit))
    return np.array(poses[:count])


def joint_stiffness(problem: Problem, angles: Floats, tensions: Floats) -> tuple[Floats, float]:
    """Dense stiffness H (n, n) in N*m/rad at a pose, and the largest torque out of balance over the torque scale."""
    work = problem.workspace()
    inspect_pose(*problem.system, tensions, NO_CABLES, NO_CABLES, work.friction, False, angles, *work.scratch[1:])
    scale = float(work.report[REPORT_SCALE])
    return problem.dense_stiffness(work), float(work.report[REPORT_RESIDUAL]) / scale if scale else 0.0


def critical_tension(
    robot: RobotLike, *, gravity: str | ArrayLike | None = None, loads: Sequence[Load] | None = ()
) -> float:
    """Common tension of all cables below which the straight robot buckles, N; 0 when it stands without cables.

    Raises `InputError` when equal tensions do not keep the robot straight (gravity or a load from the side, cables
    that do not balance), or no tension makes it stand.
    """
    robot = as_robot(robot)
    low, high = stable_tensions(robot, gravity=gravity, loads=loads)
    if low == high:
        raise InputError(
            "robot", f"no common tension makes {robot.name} stand straight; shorten it or stiffen its joints"
        )
    return low


def stable_tensions(
    robot: RobotLike, *, gravity: str | ArrayLike | None = None, loads: Sequence[Load] | None = ()
) -> tuple[float, float]:
    """Range of the common tension within which the straight robot is stable, N; (0, 0) when there is none.

    Rolling joints stiffen under tension, so their range has no upper end; tension presses flexures together, so they
    buckle above one. The stiffness is linear in the tension. Takes time in proportion to the number of joints.
    """
    robot = as_robot(robot)
    problem = Problem.of(robot, gravity, loads, friction=0.0)  # in a straight robot no cable is bent: no friction
    straight = np.zeros(robot.freedoms)
    arms = measure(robot, straight).first
    pulled = PulledStiffness.of(problem, straight, np.ones(len(robot.cables)))
    uneven = np.abs(arms.sum(axis=0)).max() > EVEN * np.abs(arms).sum(axis=0).max()
    if pulled.unbalanced > EVEN or uneven:
        cause = "its cables do not balance" if uneven else "gravity or a load bends it"
        raise InputError("robot", f"{robot.name} does not stay straight under equal tensions: {cause}; use equilibria")
    return stable_interval(pulled)


@dataclass(frozen=True, eq=False)
class PulledStiffness:
    """The stiffness K(f) = S + f D of a pose whose cables pull f times as hard, weight and loads the same.

    Kept by the factors of the sweep along the chain, so every question takes time in proportion to the joints. A
    cable's length is a sum over joints, each of its own angles: D is diagonal at any pose, but for the freedoms of one
    joint. Of a stiffness that is not symmetric, the symmetric part.
    """

    work: Workspace
    narrow: bool
    """Whether the narrow sweep is enough."""
    slack: Floats
    """(n,) diagonal of S, N*m/rad."""
    per_unit: Floats
    """(n,) diagonal of D, N*m/rad."""
    slack_ties: Floats
    """(n, 2) of S, between each freedom and those of its joint before it, N*m/rad; empty where no joint has several."""
    ties_per_unit: Floats
    """(n, 2) of D."""
    unbalanced: float
    """Largest torque out of balance with slack cables, over the torque scale."""

    @classmethod
    def of(cls, problem: Problem, angles: Floats, tensions: Floats, stops: bool = False) -> PulledStiffness:
        """D is what these tensions (cables,), N, add. With `stops`, joints that they press on a stop rest there."""
        work, pull = problem.workspace(), tensions if stops else np.zeros(len(tensions))
        inspect_pose(*problem.system, pull, NO_CABLES, NO_CABLES, work.friction, stops, angles, *work.scratch[1:])
        scale = float(work.report[REPORT_SCALE])
        unbalanced = float(work.report[REPORT_RESIDUAL]) / scale if scale else 0.0
        heavy = bool((problem.robot.cables["linear_density"] > 0.0).any())
        narrow = bool(is_conservative(problem.gravity, problem.table, heavy))
        state, per_unit = work.state, tensions @ measure(problem.robot, angles).second
        slack = state[:, STATE_OWN] - (per_unit if stops else 0.0)
        if work.spatial is None:
            return cls(work, narrow, slack, per_unit, np.empty((0, 2)), np.empty((0, 2)), unbalanced)
        is_tied = state[:, STATE_PLACE, None] > np.arange(2)  # elsewhere nothing was written
        above, below = (np.where(is_tied, state[:, first : first + 2], 0.0) for first in (STATE_TIE, STATE_TIE_LOW))
        slack_ties = 0.5 * (above + below)
        pulled = np.einsum("k,kjs->js", tensions, work.spatial.spans)
        ties = np.zeros((len(slack), 2))
        for row, joint in enumerate(problem.robot.joints):
            for i in range(1, joint["freedoms"]):
                pair = SPAN_SECOND + i * (i + 1) // 2
                ties[joint["first"] + i, :i] = pulled[row, pair : pair + i]
        return cls(work, narrow, slack, per_unit, slack_ties - (ties if stops else 0.0), ties, unbalanced)

    def weakest(self, factor: float) -> int:
        """Row of the joint nearest the tip whose pivot is not positive, or NONE where K is positive definite."""
        state, spatial = self.work.state, self.work.spatial
        state[:, STATE_OWN] = self.slack + factor * self.per_unit
        if spatial is not None:
            ties = self.slack_ties + factor * self.ties_per_unit
            state[:, STATE_TIE : STATE_TIE + 2] = state[:, STATE_TIE_LOW : STATE_TIE_LOW + 2] = ties
        if self.narrow:
            return int(eliminate_narrow(state, spatial, 0.0))
        return int(eliminate_wide(state, spatial, self.work.wide, self.work.memory, 0.0, True))

    def factors(self) -> tuple[Floats, Floats]:
        """u and w: K_ij = u_i . w_j for i < j, but for the ties."""
        state, wide = self.work.state, self.work.wide
        if self.narrow:
            return state[:, STATE_AXIS : STATE_AXIS + 3], state[:, STATE_UPPER : STATE_UPPER + 3]
        return wide[WIDE_U], 0.5 * (wide[WIDE_V] + wide[WIDE_V_LOW])

    def upper_end(self) -> float:
        """A factor from which on some joint by itself gives way; infinite where tension softens none."""
        softens = self.per_unit < 0.0
        high = float((-self.slack[softens] / self.per_unit[softens]).min(initial=np.inf))
        if self.work.spatial is None:
            return high
        u, w = self.factors()
        place = self.work.state[:, STATE_PLACE].astype(int)
        for last in np.flatnonzero(place > np.append(place[1:], 0)):  # of the freedoms of a joint that has several
            rows = np.arange(last - place[last], last + 1)
            slack, per_unit = np.diag(self.slack[rows]), np.diag(self.per_unit[rows])
            for k, row in enumerate(rows):
                slack[:k, k] = slack[k, :k] = u[rows[:k]] @ w[row] + self.slack_ties[row, :k]
                per_unit[:k, k] = per_unit[k, :k] = self.ties_per_unit[row, :k]
            rates, directions = np.linalg.eigh(per_unit)
            for v in directions.T[rates < 0.0]:
                high = min(high, -float(v @ slack @ v) / float(v @ per_unit @ v))
        return high

    def zero(self, weak: int) -> tuple[float, float]:
        """v S v and v D v of the direction v in which the joints from `weak` on give way at the factor asked for last,
        N*m: v K(f) v, which is not positive there, is linear in f."""
        state, wide, spatial = self.work.state, self.work.wide, self.work.spatial
        if self.narrow:
            bend_from(state, spatial, weak)
        else:
            substitute_wide(state, spatial, wide, self.work.memory, weak)
        u, w = self.factors()
        v = state[:, STATE_STEP]
        turned = u * v[:, None]
        before = np.cumsum(turned, axis=0) - turned
        off, tied = (v[:, None] * w * before).sum(), 0.0
        if spatial is not None:
            place = state[:, STATE_PLACE].astype(int)
            for k in range(2):
                later = np.flatnonzero(place > k)
                both = v[later] * v[later - place[later] + k]
                off, tied = off + both @ self.slack_ties[later, k], tied + both @ self.ties_per_unit[later, k]
        return float(self.slack @ v**2 + 2.0 * off), float(self.per_unit @ v**2 + 2.0 * tied)


def stable_interval(pulled: PulledStiffness) -> tuple[float, float]:
    """Range of f >= 0 in which K(f) is positive definite; (0, 0) when there is none.

    The smallest eigenvalue is concave in f, so the range is one interval. Pivots tell on which side of an end a factor
    lies; between the two sides the pivot that changes its sign there leads to the end, by Newton's method.
    """
    high = pulled.upper_end()
    if pulled.weakest(0.0) == NONE:
        inside, low = 0.0, 0.0
    else:
        found = _factor_inside(pulled, high)
        if found is None:
            return 0.0, 0.0
        inside, low = found, max(0.0, _end_between(pulled, 0.0, found))
    return low, _end_between(pulled, high, inside) if high < np.inf else np.inf


def _factor_inside(pulled: PulledStiffness, high: float) -> float | None:
    """A factor between 0 and `high`, both excluded, that makes K positive definite; None when there is none.

    A direction that gives way excludes all factors on one side of the one at which it would hold.
    """
    size = float(np.abs(pulled.per_unit).max())
    low, factor = 0.0, float(np.abs(pulled.slack).max()) / size if size else 1.0
    factor = factor or 1.0
    for _ in range(MOST_TRIALS):
        if not low < factor < high:
            factor = 2.0 * low if np.isinf(high) else 0.5 * (low + high)
        weak = pulled.weakest(factor)
        if weak == NONE:
            return factor
        slack, rate = pulled.zero(weak)
        if rate > 0.0:
            low = max(factor, -slack / rate)
        elif rate < 0.0:
            high = min(factor, -slack / rate)
        if rate == 0.0 or not low < (1.0 - ZERO) * high:
            return None
    return None


def _end_between(pulled: PulledStiffness, outside: float, inside: float) -> float:
    """The end of the range between a factor that is not in it and one that is."""
    for _ in range(MOST_TRIALS):
        if abs(inside - outside) <= CLOSE * max(inside, outside):
            break
        middle = 0.5 * (inside + outside)
        if pulled.weakest(middle) == NONE:
            inside = middle
        else:
            outside = middle
    weak, end = pulled.weakest(outside), outside
    for _ in range(POLISHED):
        pulled.weakest(end)
        slack, rate = pulled.zero(weak)
        if rate != 0.0:
            end = -slack / rate
    return end


# How far a shape is from buckling: by how much its tensions could be scaled, all together.


def tension_margin(shape: Shape) -> tuple[float, float]:
    """See `Shape.tension_margin`."""
    problem = Problem.of(shape.robot, shape.gravity, shape.loads, friction=0.0)
    stops = bool(shape.stop_torques.any())
    return stable_interval(PulledStiffness.of(problem, shape.angles, shape.tensions_at_base, stops))
