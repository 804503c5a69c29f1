"""Which shape do these cable tensions, or these cable lengths, give?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError, Unstable, shown
from vertebra.mechanics.compiled import run_pieces, thread_count
from vertebra.mechanics.kernels.describe import find_shapes
from vertebra.mechanics.kernels.lanes import find_shapes_in_lanes
from vertebra.mechanics.kernels.newton import PENDING, SETTLED, STALLED, find_shape, inspect_pose
from vertebra.mechanics.kernels.sweep import NONE
from vertebra.mechanics.kinematics import Pose, measure, twist_table
from vertebra.mechanics.layout import (
    REPORT_ENERGY,
    REPORT_ITERATIONS,
    REPORT_RESIDUAL,
    REPORT_SCALE,
    REPORT_WEAK,
    REPORT_WIDTH,
)
from vertebra.mechanics.problem import NO_CABLES, Closure, Load, Problem, require_pull
from vertebra.robot.arguments import (
    as_robot,
    axial_stiffness,
    flag,
    function,
    link_index,
    link_point,
    numbers,
    one_per_cable,
    whole,
)
from vertebra.robot.friction import Friction, FrictionLaw
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import PIN, UNIVERSAL, Floats
from vertebra.statics.shape import GivenCables, Shape, Status, build_shape

CHUNK = 256
"""Rows that a thread solves at a time."""
LANE_CHUNK = 1024
"""The same where rows are solved in lanes, which takes a fifth of the time; up to eight times as many in large batches,
since threads wait for each other between pieces."""


def shape_from_tensions(
    robot: RobotLike,
    tensions: ArrayLike,
    *,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    start: ArrayLike | None = None,
    check: bool = True,
) -> Shape:
    """The stable shape of a robot under cables, gravity and loads: of any joints but ball joints, which friction locks.

    `tensions`: one for all or one per cable, N, where it enters the base. `gravity`: the robot's own, a mount (ground,
    ceiling, wall) or a vector, m/s^2. `friction` of the cables in their holes: the robot's own, a `FrictionLaw` or a
    coefficient, or one per cable; 0 for none. The cables are assumed to have been pulled from the straight robot; for a
    history use `ShapePath`. `closure`: "virtual-work", or "paper" to balance torques as Yang 2023 does.
    `start`: (n,) rad, decides which of several stable shapes is found; default: the shape without weight and loads,
    and where that leads nowhere or out of range, the straight one.

    With `check` a solve that fails raises `NoEquilibrium`, `OutOfRange` or `Unstable`, each with the `result`; without,
    the result says so itself.
    """
    robot = as_robot(robot)
    check = flag("check", check)
    problem = Problem.of(robot, gravity, loads, friction, closure)
    pull = problem.tensions(tensions)
    use_start, q = problem.start(start)
    work = problem.workspace()
    status = find_shape(*problem.system, pull, NO_CABLES, NO_CABLES, work.friction, use_start, q, *work.scratch)
    shape = build_shape(problem, status, pull, q, work)
    return require_solved(problem, shape) if check else shape


GRID = 4
"""Poses of a joint to either side at which is looked whether it could rest there."""
LENGTHS_OR_SPRINGS = (
    "give lengths of enough cables instead (shape_from_lengths with lengths or shortenings), or the joint a spring "
    "(`stiffness` in the robot file) or `stops: rigid`"
)


def require_solved(problem: Problem, shape: Shape) -> Shape:
    """A shape of given tensions, or the typed error that says what is wrong with it.

    A pin or universal joint shortens its cables whichever way it bends: their part of the stiffness, the sum of
    T d2l/dq2, is negative (theory 3.6). Where that is more than springs, weights and loads could make up for in any
    pose in which they could balance the torque, that is what the error says, wherever the search has ended. Friction
    could hold it, and so could rigid stops.
    """
    if shape.status == Status.SOLVED:
        return shape
    tensions = shape.tensions_at_base
    robot, joints = problem.robot, problem.robot.joints
    rows = joints_pushed_over(robot, tensions)
    if not rows.size:
        return shape.require_solved()
    springs, weights, spacing = joints["stiffness"][rows], _most_help(problem)[rows], 1.0 / GRID
    bearable = np.zeros(len(rows), np.bool_)
    several = bool((joints["kind"][rows] == UNIVERSAL).any())
    for pose in product(np.linspace(-1.0, 1.0, 2 * GRID + 1), repeat=2 if several else 1):
        torque, stiffness, most = _cables_alone(robot, rows, tensions, pose)
        limit = joints["limit"][rows]
        carried = weights + springs * limit * np.linalg.norm(pose) + most * limit * spacing
        bearable |= (torque <= carried) & (stiffness + springs + weights >= 0.0)
    if not bearable.all() and not problem.has_friction:
        worst = int(np.argmin(bearable))
        reason = f"{pushed_over(robot, rows[worst])}, and its spring, weights and loads could make up for "
        reason += f"{springs[worst] + weights[worst]:.3g} N*m/rad at most; {LENGTHS_OR_SPRINGS}"
        raise Unstable(int(rows[worst]) + 1, reason, shape)
    named = (shape.out_of_range[0] if shape.status == Status.OUT_OF_RANGE else shape.weakest) - 1
    return shape.require_solved(f"{pushed_over(robot, named)}: {LENGTHS_OR_SPRINGS}" if named in rows else "")


def joints_pushed_over(robot: Robot, tensions: Floats) -> NDArray[np.int64]:
    """Rows of the pin and universal joints that the cables push out of the straight pose against their springs, unless
    rigid stops end that."""
    joints = robot.joints
    rows = np.flatnonzero(((joints["kind"] == PIN) | (joints["kind"] == UNIVERSAL)) & (joints["stops"] == 0))
    if not rows.size or not tensions.any():
        return rows[:0]
    falls: NDArray[np.bool_] = _cables_alone(robot, rows, tensions, (0.0, 0.0))[1] + joints["stiffness"][rows] < 0.0
    return rows[falls]


def pushed_over(robot: Robot, row: int) -> str:
    """Why tensions do not hold a pin or universal joint."""
    kind = "pin" if robot.joints["kind"][row] == PIN else "universal"
    return f"cables get shorter whichever way a {kind} joint bends, so tension pushes it over"


def _cables_alone(robot: Robot, rows: Any, tensions: Floats, bends: tuple[float, ...]) -> tuple[Floats, Floats, Floats]:
    """What cables alone do to joints bent by these fractions of their limits, each (rows,): torque in N*m, least and
    largest stiffness in any direction in N*m/rad."""
    joints = robot.joints[rows]
    q, first, last = np.zeros(robot.freedoms), joints["first"], joints["first"] + joints["freedoms"] - 1
    for rows_of, bend in zip((first, last), bends, strict=False):
        q[rows_of] = bend * joints["limit"]
    segments = measure(robot, q)
    torque, own = tensions @ segments.first, tensions @ segments.second
    cross = np.where(last > first, (tensions @ segments.cross)[rows], 0.0)
    middle, spread = 0.5 * (own[first] + own[last]), np.hypot(0.5 * (own[first] - own[last]), cross)
    across = np.where(last > first, torque[last], 0.0)
    return np.hypot(torque[first], across), middle - spread, np.abs(middle) + spread


def _most_help(problem: Problem) -> Floats:
    """(n,) most stiffness that weights and loads beyond each joint can give it in any pose, N*m/rad."""
    robot = problem.robot
    pose = Pose(robot, np.zeros(robot.freedoms))
    masses, pull = pose.masses, float(np.linalg.norm(problem.gravity))
    at = [*masses.links_at, *masses.rods_at, *masses.cables_at.reshape(-1, 3), *masses.locks_at]
    size = [*masses.links, *masses.rods, *masses.cables.ravel(), *masses.locks]
    height, force = np.array(at)[:, 2], pull * np.array(size)
    for load in problem.loads:
        link = link_index(robot, load.link)
        place = pose.frames[link] @ [*link_point(robot, link, load.point), 1.0]
        height, force = np.append(height, place[2]), np.append(force, np.linalg.norm(load.force) + load.mass * pull)
    away = np.maximum(height[:, None] - pose.frames[:-1, 2, 3] + robot.links["diameter"].max(initial=0.0), 0.0)
    moments = sum(float(np.linalg.norm(load.moment)) for load in problem.loads)
    help_: Floats = force @ away + moments
    return help_


@dataclass(frozen=True, eq=False, repr=False)
class Shapes:
    """Shapes of one robot under many sets of tensions, one row each, SI."""

    robot: Robot
    gravity: Floats
    """(3,) m/s^2."""
    loads: tuple[Load, ...]
    friction: tuple[FrictionLaw, ...]
    """One per cable; empty without friction."""
    closure: Closure
    tensions: Floats
    """(N, cables) N."""
    angles: Floats
    """(N, n) rad."""
    tip: Floats
    """(N, 3) m."""
    lengths: Floats
    """(N, cables) m."""
    compliance: Floats
    """(N, 6, 6) as in `Shape`."""
    energy: Floats
    """(N,) J."""
    residual: Floats
    """(N,) N*m."""
    moment_scale: Floats
    """(N,) N*m."""
    iterations: NDArray[np.int64]
    """(N,)"""
    converged: NDArray[np.bool_]
    """(N,)"""
    stable: NDArray[np.bool_]
    """(N,)"""
    status: NDArray[np.int64]
    """(N,) codes of `Status`: 0 is solved."""

    def __len__(self) -> int:
        return len(self.tensions)

    @property
    def solved(self) -> NDArray[np.bool_]:
        """(N,) rows without any fault."""
        solved: NDArray[np.bool_] = self.status == Status.SOLVED
        return solved

    def shape(self, row: int) -> Shape:
        """Everything about one row, at its `angles`."""
        index = whole(row)
        if index is None or not -len(self) <= index < len(self):
            raise InputError("row", f"must be from 0 to {len(self) - 1}, or -1 for the last, not {shown(row)}")
        row = index
        problem = Problem.of(self.robot, self.gravity, self.loads, self.friction or 0.0, self.closure)
        pull, q, work = self.tensions[row].copy(), self.angles[row].copy(), problem.workspace()
        inspect_pose(*problem.system, pull, NO_CABLES, NO_CABLES, work.friction, True, q, *work.scratch[1:])
        work.report[REPORT_ITERATIONS] = self.iterations[row]
        return build_shape(problem, SETTLED if self.converged[row] else STALLED, pull, q, work)

    def __repr__(self) -> str:
        counts = [f"{int((self.status == code).sum())} {code.name.lower().replace('_', ' ')}" for code in Status]
        return f"Shapes of {self.robot.name!r}: {len(self)} rows, " + ", ".join(
            text for text in counts if not text.startswith("0 ")
        )


def shapes_from_tensions(
    robot: RobotLike,
    tensions: ArrayLike,
    *,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    start: ArrayLike | None = None,
    check: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> Shapes:
    """Shapes for many sets of tensions (N, cables), N, each that of `shape_from_tensions`.

    Without friction, rigid stops, dead moments and heavy cables, rows of robots with rolling, flexure and pin joints
    are solved eight at a time. Their angles are those of a single solve to 1e-13 rad at most, and `iterations` may
    differ by one; all other rows have the same bits as a single solve. A row has the same bits whatever the number of
    threads, and in whatever company.

    `start`: (n,) or (N, n) rad. `threads`: default all cores. `progress(done, N)` is called from this thread as rows
    are solved. Rows that fail say so in `status`; with `check` the first of them raises its error.
    """
    robot = as_robot(robot)
    check = flag("check", check)
    function("progress", progress, "done", "total")
    problem = Problem.of(robot, gravity, loads, friction, closure)
    n, c = len(robot.joints), len(robot.cables)
    pull = tension_rows(robot, tensions)
    count = len(pull)
    angles, in_lanes = _starts(problem, start, count), problem.serves_lanes
    chunk = LANE_CHUNK * min(max(count // (16 * LANE_CHUNK), 1), 8) if in_lanes else CHUNK
    results = (
        np.full(count, PENDING), np.empty(count, np.bool_), np.empty((count, 3)), np.empty((count, c)),
        np.empty((count, 6, 6)), np.empty((count, REPORT_WIDTH)),
    )  # fmt: skip

    def solve(first: int) -> int:
        last = min(first + chunk, count)
        given = (*problem.system, robot.origin, robot.tip_point, pull, NO_CABLES, NO_CABLES)
        if in_lanes:
            find_shapes_in_lanes(*given, start is not None, first, last, angles, *problem.lanes(), *results)
        if (results[0][first:last] == PENDING).any():
            scratch = np.empty((n + 1, 4, 4)), twist_table(robot)
            work = problem.workspace()
            find_shapes(
                *given, work.friction, start is not None, False, first, last, angles, *work.scratch, *scratch,
                *results, NO_CABLES,
            )  # fmt: skip
        return last - first

    run_pieces(solve, range(0, count, chunk), thread_count(threads), count, progress)
    shapes = _collect(problem, pull, angles, *results)
    if check and not shapes.solved.all():
        row = int(np.argmin(shapes.solved))
        require_solved(problem, shapes.shape(row))
    return shapes


def tension_rows(robot: Robot, tensions: ArrayLike) -> Floats:
    """(N, cables) N: many sets of tensions, none of them negative; one number, or one per row, is for all cables."""
    rows, cables = numbers("tensions", tensions, "N"), len(robot.cables)
    if rows.ndim == 0:
        rows = rows.reshape(1, 1)
    if rows.ndim != 2 or rows.shape[1] not in (cables, 1):
        wanted = f"(N, {cables}), or (N, 1) for one tension per row,"
        raise InputError("tensions", f"must have shape {wanted} for {robot.name}, not {rows.shape}")
    require_pull("tensions", rows)
    return rows if rows.shape[1] == cables else np.repeat(rows, cables, axis=1)


def _starts(problem: Problem, start: ArrayLike | None, count: int) -> Floats:
    n = problem.robot.freedoms
    if start is None:
        return np.empty((count, n))
    array = numbers("start", start, "rad")
    if array.shape not in ((n,), (count, n)):
        raise InputError("start", f"must have shape ({n},) or ({count}, {n}), not {array.shape}")
    if array.size and not (np.abs(array) < 3.0).all():
        freedom = int(np.argmax(np.abs(array).reshape(-1, n).max(axis=0)))
        joint = problem.robot.joint_of(freedom)
        raise InputError("start", f"joint {joint} starts beyond +-3 rad; give an angle within that")
    return np.array(np.broadcast_to(array, (count, n)), order="C")


def _collect(
    problem: Problem, tensions: Floats, angles: Floats, statuses: Any, inside: Any, tip: Floats, lengths: Floats,
    compliance: Floats, report: Floats,
) -> Shapes:  # fmt: skip
    converged = statuses == SETTLED
    stable = converged & (report[:, REPORT_WEAK] == NONE)
    compliance[~converged] = np.inf
    status = np.where(converged, np.where(stable, Status.SOLVED, Status.UNSTABLE), Status.NO_EQUILIBRIUM)
    status[~inside] = Status.OUT_OF_RANGE
    return Shapes(
        problem.robot, problem.gravity, problem.loads, problem.laws, problem.closure, tensions, angles, tip, lengths,
        compliance,
        report[:, REPORT_ENERGY].copy(), report[:, REPORT_RESIDUAL].copy(), report[:, REPORT_SCALE].copy(),
        report[:, REPORT_ITERATIONS].astype(np.int64), converged, stable, status.astype(np.int64),
    )  # fmt: skip


# Which shape do these cable lengths give? Elastic cables, taut or slack (theory 3.8).


def shape_from_lengths(
    robot: RobotLike,
    lengths: ArrayLike | None = None,
    *,
    shortenings: ArrayLike | None = None,
    stiffness_EA: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    start: ArrayLike | None = None,
    check: bool = True,
) -> Shape:
    """The stable shape with cables of given length, and the tensions that result.

    `lengths`: length of each cable without tension from the base plane to its end, m; or `shortenings`: how much
    shorter than along the straight robot, m. A cable stretches by T / EA of its length; `stiffness_EA` in N, one or
    one per cable, default the robot file's, and 20 kN where that has none. A cable that is too long is slack and has no
    tension; one with friction stretches by its mean tension. Other arguments as in `shape_from_tensions`; the usual
    start is the straight pose.

    Cables are never inextensible: most robots have more of them than the joints need, so that exact lengths would
    leave no equilibrium, or tensions that nothing determines.
    """
    robot = as_robot(robot)
    check = flag("check", check)
    problem = Problem.of(robot, gravity, loads, friction, closure)
    rest = rest_lengths(robot, lengths, shortenings)
    rate = cable_rates(robot, rest, stiffness_EA)
    use_start, q = problem.start(start)
    work, pull = problem.workspace(by_length=True), np.zeros(len(rest))
    status = find_shape(*problem.system, pull, rest, rate, work.friction, use_start, q, *work.scratch)
    shape = build_shape(problem, status, pull, q, work, GivenCables(rest, rate))
    if check and shape.status == Status.UNSTABLE:
        raise Unstable(shape.weakest, "the cables do not support it; shorten all of them a little", shape)
    return shape.require_solved() if check else shape


def rest_lengths(robot: Robot, lengths: ArrayLike | None, shortenings: ArrayLike | None) -> Floats:
    """Cable lengths without tension, m, from lengths or shortenings."""
    name, given = ("lengths", lengths) if lengths is not None else ("shortenings", shortenings)
    if given is None or (lengths is not None and shortenings is not None):
        raise InputError("lengths", "give either lengths or shortenings, in m")
    if len(robot.cables) == 0:
        raise InputError("robot", f"{robot.name} has no cables; use shape_from_tensions with no tensions")
    array = one_per_cable(name, given, "m", robot)
    rest: Floats = array if lengths is not None else Pose(robot, np.zeros(robot.freedoms)).cable_lengths - array
    if (rest <= 0.0).any():
        cable = int(np.argmin(rest))
        raise InputError(name, f"cable {cable + 1} would be {rest[cable]:.6g} m long; must be more than 0")
    return rest


def cable_rates(robot: Robot, rest: Floats, stiffness_EA: ArrayLike | None) -> Floats:
    """Tension per stretch of each cable, N/m."""
    rates: Floats = axial_stiffness(robot, stiffness_EA) / rest
    return rates
