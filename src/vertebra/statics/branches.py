"""Which stable shapes exist, when does the straight one stop being stable, and how far is a shape from buckling?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.mechanics.kernels.newton import inspect_pose
from vertebra.mechanics.layout import REPORT_RESIDUAL, REPORT_SCALE
from vertebra.mechanics.problem import NO_CABLES, Closure, Load, Problem
from vertebra.robot.arguments import positive_count
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.forward import shape_from_tensions, shapes_from_tensions
from vertebra.statics.shape import Shape, Status

ZERO = 1e-12
"""Eigenvalues below this fraction of the largest are round-off."""
MOST_TRIALS = 120
"""Number of factors tried, by doubling and halving."""
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
    robot: Robot,
    tensions: ArrayLike,
    *,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    start: ArrayLike | None = None,
    starts: int = 64,
    seed: int = 0,
) -> Equilibria:
    """Stable shapes under the same tensions, found from many starts: bends to all sides, S-bends and random poses.

    `starts`: how many to try besides `start` (the usual one when none is given); more find rarer shapes. The search is
    repeatable: `seed` sets the random poses.
    """
    starts = positive_count("starts", starts)
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
    limit = np.minimum(robot.joints["limit"], 2.9)
    azimuth, n = robot.joints["azimuth"], len(robot.joints)
    along = (np.arange(n) + 0.5) / n
    poses = [np.zeros(n)]
    for waves in (0, 1, 2):
        profile = np.cos(np.pi * waves * along)
        bend = 0.6 * min(1.0, 6.0 / n) * limit * profile
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
    inspect_pose(*problem.system, tensions, NO_CABLES, NO_CABLES, work.friction, angles, *work.scratch[1:])
    scale = float(work.report[REPORT_SCALE])
    return problem.dense_stiffness(work), float(work.report[REPORT_RESIDUAL]) / scale if scale else 0.0


def critical_tension(robot: Robot, *, gravity: str | ArrayLike | None = None, loads: Sequence[Load] = ()) -> float:
    """Common tension of all cables below which the straight robot buckles, N; 0 when it stands without cables.

    Raises `InputError` when equal tensions do not keep the robot straight (gravity or a load from the side, cables
    that do not balance), or no tension makes it stand.
    """
    low, high = stable_tensions(robot, gravity=gravity, loads=loads)
    if low == high:
        raise InputError(
            "robot", f"no common tension makes {robot.name} stand straight; shorten it or stiffen its joints"
        )
    return low


def stable_tensions(
    robot: Robot, *, gravity: str | ArrayLike | None = None, loads: Sequence[Load] = ()
) -> tuple[float, float]:
    """Range of the common tension within which the straight robot is stable, N; (0, 0) when there is none.

    Rolling joints stiffen under tension, so their range has no upper end; tension presses flexures together, so they
    buckle above one. The stiffness is linear in the tension.
    """
    problem = Problem.of(robot, gravity, loads, friction=0.0)  # in a straight robot no cable is bent: no friction
    straight, c = np.zeros(len(robot.joints)), len(robot.cables)
    slack, unbalanced = joint_stiffness(problem, straight, np.zeros(c))
    pulled, uneven = joint_stiffness(problem, straight, np.ones(c))
    if max(unbalanced, uneven) > 1e-9:
        cause = "gravity or a load bends it" if unbalanced > 1e-9 else "its cables do not balance"
        raise InputError("robot", f"{robot.name} does not stay straight under equal tensions: {cause}; use equilibria")
    return stable_interval(0.5 * (slack + slack.T), (pulled - slack).diagonal())


def stable_interval(slack: Floats, per_unit: Floats) -> tuple[float, float]:
    """Range of f >= 0 in which slack + f diag(per_unit) is positive definite; (0, 0) when there is none.

    The smallest eigenvalue is concave in f: the range is one interval, which ends where the matrix is singular.
    """
    from scipy.linalg import eigvalsh

    inside = _factor_inside(slack, per_unit)
    if inside is None:
        return 0.0, 0.0
    # With K(inside) for a metric, K(f) is singular where 1 / (inside - f) is an eigenvalue of diag(per_unit).
    values = eigvalsh(np.diag(per_unit), slack + inside * np.diag(per_unit))
    least, most = (float(value) if abs(value) > ZERO * np.abs(values).max() else 0.0 for value in values[[0, -1]])
    low = inside - 1.0 / most if most > 0.0 else 0.0
    return max(low, 0.0), inside - 1.0 / least if least < 0.0 else np.inf


def _factor_inside(slack: Floats, per_unit: Floats) -> float | None:
    """A factor that makes slack + f diag(per_unit) positive definite, found along the slope of its smallest eigenvalue;
    None when there is none."""
    from scipy.linalg import eigh

    floor = ZERO * max(float(np.abs(slack).max()), 1e-300) / len(slack)
    low, high, factor = 0.0, np.inf, 1.0
    for _ in range(MOST_TRIALS):
        value, vector = eigh(slack + factor * np.diag(per_unit), subset_by_index=(0, 0))
        if value[0] > floor:
            return factor
        if float(per_unit @ vector[:, 0] ** 2) > 0.0:
            low = factor
        else:
            high = factor
        factor = 2.0 * factor if np.isinf(high) else 0.5 * (low + high)
    return None


# How far a shape is from buckling: by how much its tensions could be scaled, all together.


def tension_margin(shape: Shape) -> tuple[float, float]:
    """See `Shape.tension_margin`."""
    problem = Problem.of(shape.robot, shape.gravity, shape.loads, friction=0.0)
    pull = shape.tensions_at_base
    slack, _ = joint_stiffness(problem, shape.angles, np.zeros(len(pull)))
    pulled, _ = joint_stiffness(problem, shape.angles, np.ascontiguousarray(pull))
    # A cable's length is a sum over joints, each of its own angle: its share of the stiffness is diagonal at any pose.
    return stable_interval(0.5 * (slack + slack.T), (pulled - slack).diagonal())
