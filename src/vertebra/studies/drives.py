"""What moves the tip: cables by tension or by length, or the joints themselves, within bounds; which shapes that gives,
and how the tip moves with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from vertebra.derivatives.shape import derivatives_of_rows
from vertebra.errors import InputError, shown
from vertebra.locked.ball_shape import require_balls
from vertebra.locked.chain import unit_vector
from vertebra.locked.map import payload_map
from vertebra.mechanics.compiled import run_pieces
from vertebra.mechanics.gradient import Numbers, Seeds, pose_gradients
from vertebra.mechanics.kernels.describe import find_shapes
from vertebra.mechanics.kernels.joints import point_jacobian, walk_chain
from vertebra.mechanics.kernels.newton import PENDING, SETTLED, inspect_pose
from vertebra.mechanics.kernels.sweep import NONE
from vertebra.mechanics.kinematics import Pose, twist_table
from vertebra.mechanics.layout import REPORT_WEAK, REPORT_WIDTH
from vertebra.mechanics.problem import NO_CABLES, Problem
from vertebra.robot.arguments import (
    axial_stiffness,
    gravity_vector,
    tension_bounds,
)
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, Floats
from vertebra.statics.forward import rest_lengths, shapes_from_tensions
from vertebra.statics.shape import principal_stiffnesses
from vertebra.studies.boundary import Bools, Ints

Inputs = Literal["tensions", "shortenings", "bends"]
BARELY = 1e-9
"""A cable that is stretched by this part of its length counts as taut."""


class Solved(NamedTuple):
    """Shapes of rows of inputs; where a row is not good, the rest of it means nothing."""

    good: Bools
    """(N,) stable and within the limits of the joints."""
    tips: Floats
    """(N, 3) m."""
    merit: Floats
    """(N,) of the shapes in a voxel the one with the largest is kept: stiffness, N/m, or minus the largest bend."""
    angles: Floats
    """(N, freedoms) rad."""

    def at(self, rows: Ints) -> Solved:
        """Some of them."""
        return Solved(self.good[rows], self.tips[rows], self.merit[rows], self.angles[rows])


class Bends(NamedTuple):
    """What limits of joints hold for: the bend of each joint in a direction, or about each of its axes."""

    angles: Floats
    """(N, j, 2) rad; the second one is 0 but for joints that bend in any direction."""
    slopes: Floats
    """(N, j, 2, k) by each input."""
    limits: Floats
    """(j,) rad, of the length of both angles."""


class Drive(Protocol):
    """One way to move the tip."""

    robot: Robot
    driven_by: Inputs
    lower: Floats
    upper: Floats

    def solve(self, inputs: Floats) -> Solved:
        """Shapes of (N, k) inputs."""

    def slopes(self, inputs: Floats, solved: Solved) -> Floats:
        """(N, 3, k) of the tip by each input, at good rows."""

    def bends(self, inputs: Floats, solved: Solved) -> Bends | None:
        """At good rows; None where all inputs within bounds are within the limits of the joints."""

    def allowed(self, inputs: Floats) -> Floats:
        """The nearest inputs that are within their bounds."""

    def taut(self, inputs: Floats, solved: Solved) -> Floats:
        """Inputs of the same shapes with cables at the edge of being taut instead of slack, at good rows: at a slack
        one the tip does not move with its length, and no step would ever pull it in."""

    def finish(self, inputs: Floats) -> dict[str, Any]:
        """Fields of the voxels that are left to compute, for the inputs that are kept, and what was asked for."""


def _bounds(name: str, given: Any) -> tuple[Any, Any]:
    if not (isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim)) or len(given) != 2:
        raise InputError(name, f"must be a pair (least, largest), each one number or one per cable, not {shown(given)}")
    return given[0], given[1]


class _Cables:
    """What driving by tensions and by lengths share."""

    driven_by: Inputs
    lower: Floats
    upper: Floats

    def __init__(self, problem: Problem, workers: int) -> None:
        self.problem, self.robot, self.workers = problem, problem.robot, workers
        self._seeds = Seeds.none(problem, 3)
        self._seeds.tip[:, :3] = np.eye(3)
        self._of_angles = Seeds.none(problem, self.robot.freedoms)
        self._of_angles.angles[:] = np.eye(self.robot.freedoms)

    def allowed(self, inputs: Floats) -> Floats:
        return np.clip(inputs, self.lower, self.upper)

    def taut(self, inputs: Floats, solved: Solved) -> Floats:
        return inputs

    def solve(self, inputs: Floats) -> Solved:
        raise NotImplementedError

    def slopes(self, inputs: Floats, solved: Solved) -> Floats:
        return self._slopes(inputs, solved, self._seeds)

    def bends(self, inputs: Floats, solved: Solved) -> Bends:
        count, joints = len(inputs), self.robot.joints
        whole, axes = joints["kind"] == BACKBONE, np.minimum(joints["freedoms"], 2)
        first = np.concatenate([joint["first"] + np.arange(1 if one else axis)
                                for joint, one, axis in zip(joints, whole, axes, strict=True)])  # fmt: skip
        limits = np.repeat(joints["limit"], np.where(whole, 1, axes))
        both = np.repeat(whole, np.where(whole, 1, axes))
        angles, slopes = np.zeros((count, len(first), 2)), np.zeros((count, len(first), 2, inputs.shape[1]))
        of_angles = self._slopes(inputs, solved, self._of_angles)
        angles[:, :, 0], slopes[:, :, 0] = solved.angles[:, first], of_angles[:, first]
        angles[:, both, 1], slopes[:, both, 1] = solved.angles[:, first[both] + 1], of_angles[:, first[both] + 1]
        return Bends(angles, slopes, limits)

    def _slopes(self, inputs: Floats, solved: Solved, seeds: Seeds) -> Floats:
        """(N, m, k) of what the seeds stand for by each input."""
        raise NotImplementedError

    def _given(self, inputs: Floats) -> tuple[Floats, Floats, Floats]:
        """Tensions, rest lengths and rates of one row of inputs, as kernels take them."""
        raise NotImplementedError

    def finish(self, inputs: Floats) -> dict[str, Any]:
        problem, solved = self.problem, self.solve(inputs)
        n, per_force = self.robot.freedoms, np.empty((len(inputs), self.robot.freedoms, 3))
        by_length = self.driven_by == "shortenings"
        work = problem.workspace(by_length=by_length)
        for row, q in enumerate(solved.angles):
            pull, rest, rate = self._given(inputs[row])
            inspect_pose(*problem.system, pull, rest, rate, work.friction, True, q, *work.scratch[1:])
            H = problem.dense_stiffness(work, by_length)
            per_force[row] = np.linalg.solve(H, Pose(self.robot, q).jacobian()[:3].T).reshape(n, 3)
        return {
            "stiffness": solved.merit, "load_margin": load_margins(self.robot, solved.angles, per_force),
            "gravity": np.array(problem.gravity), "loads": problem.loads, "payload": None, "payload_direction": None,
            "friction": ", ".join(dict.fromkeys(map(repr, problem.laws))),
        }  # fmt: skip


def load_margins(robot: Robot, angles: Floats, per_force: Floats) -> Floats:
    """(N,) `Workspace.load_margin`, N, of poses (N, freedoms), rad, that change by `per_force` (N, freedoms, 3), rad/N,
    with a force at the tip."""
    least = np.full(len(angles), np.inf)
    for joint in robot.joints:
        own = slice(int(joint["first"]), int(joint["first"]) + min(int(joint["freedoms"]), 2))
        q, rates = angles[:, own], per_force[:, own]
        if joint["kind"] == BACKBONE:
            # Its limit is that of the whole bend, which grows along the bend; from straight, whichever way it can.
            bend = np.linalg.norm(q, axis=1, keepdims=True)
            along = np.einsum("nf,nfx->nx", q / np.where(bend > 0.0, bend, 1.0), rates)
            rise = np.where(bend > 0.0, np.linalg.norm(along, axis=1)[:, None],
                            np.linalg.norm(rates, 2, axis=(1, 2))[:, None])  # fmt: skip
        else:
            bend, rise = np.abs(q), np.linalg.norm(rates, axis=2)
        room = np.maximum(float(joint["limit"]) - bend, 0.0)
        margin = np.divide(room, rise, out=np.full(room.shape, np.inf), where=rise > 0.0)
        least = np.minimum(least, margin.min(axis=1))
    return least


class ByTension(_Cables):
    driven_by: Inputs = "tensions"

    def __init__(self, problem: Problem, tensions: Any, workers: int) -> None:
        super().__init__(problem, workers)
        robot = self.robot
        low, high = (None, None) if tensions is None else _bounds("tensions", tensions)
        try:
            self.lower, self.upper = tension_bounds(robot, low, high)
        except InputError as error:
            raise InputError("tensions", error.message) from None
        if not np.isfinite(self.upper).all():
            cable = int(np.argmax(~np.isfinite(self.upper))) + 1
            raise InputError(
                "tensions", f"cable {cable} of {robot.name} has no largest tension; give (least, largest), such as "
                "(0, 5), or `max_tension` in its robot file"
            )  # fmt: skip
        directions = Numbers.zeros(problem, len(self.lower))
        directions.tensions[:] = np.eye(len(self.lower))
        self._directions = directions.flat

    def solve(self, inputs: Floats) -> Solved:
        problem = self.problem
        found = shapes_from_tensions(
            self.robot, inputs, gravity=problem.gravity, loads=problem.loads, friction=problem.laws or 0.0,
            threads=self.workers,
        )  # fmt: skip
        stiffness = np.zeros(len(inputs))
        stiffness[found.solved] = softest(found.compliance[found.solved])
        return Solved(found.solved, found.tip, stiffness, found.angles)

    def _slopes(self, inputs: Floats, solved: Solved, seeds: Seeds) -> Floats:
        return derivatives_of_rows(
            self.problem, seeds, self._directions, solved.tips, solved.angles, np.ascontiguousarray(inputs)
        )

    def _given(self, inputs: Floats) -> tuple[Floats, Floats, Floats]:
        return inputs.copy(), NO_CABLES, NO_CABLES


class ByLength(_Cables):
    driven_by: Inputs = "shortenings"

    def __init__(self, problem: Problem, shortenings: Any, stiffness_EA: ArrayLike | None, workers: int) -> None:
        super().__init__(problem, workers)
        low, high = _bounds("shortenings", shortenings)
        self._straight = Pose(self.robot, np.zeros(self.robot.freedoms)).cable_lengths
        self.lower = self._straight - rest_lengths(self.robot, None, low)
        self.upper = self._straight - rest_lengths(self.robot, None, high)
        if (self.upper < self.lower).any():
            cable = int(np.argmax(self.upper < self.lower))
            raise InputError(
                "shortenings", f"cable {cable + 1}: {self.upper[cable]:g} m is below its least, {self.lower[cable]:g} m"
            )
        self._stiffness_EA = axial_stiffness(self.robot, stiffness_EA)

    def _given(self, inputs: Floats) -> tuple[Floats, Floats, Floats]:
        rest = self._straight - inputs
        return np.zeros(len(rest)), rest, self._stiffness_EA / rest

    def _pieces(self, count: int, work: Callable[[range, Any], None]) -> None:
        def piece(first: int) -> int:
            rows = range(first, min(first + 64, count))
            work(rows, self.problem.workspace(by_length=True))
            return len(rows)

        run_pieces(piece, range(0, count, 64), self.workers, count, None)

    def solve(self, inputs: Floats) -> Solved:
        robot, count = self.robot, len(inputs)
        n, c = len(robot.joints), len(robot.cables)
        pull, angles, status = np.zeros((count, c)), np.empty((count, robot.freedoms)), np.full(count, PENDING)
        inside, tips, lengths = np.empty(count, np.bool_), np.empty((count, 3)), np.empty((count, c))
        compliance, report = np.empty((count, 6, 6)), np.empty((count, REPORT_WIDTH))

        def some(rows: range, work: Any) -> None:
            scratch = np.empty((n + 1, 4, 4)), twist_table(robot)
            for row in rows:
                _, rest, rate = self._given(inputs[row])
                find_shapes(
                    *self.problem.system, robot.origin, robot.tip_point, pull, rest, rate, work.friction, False, False,
                    row, row + 1, angles, *work.scratch, *scratch, status, inside, tips, lengths, compliance, report,
                    NO_CABLES,
                )  # fmt: skip

        self._pieces(count, some)
        good = (status == SETTLED) & (report[:, REPORT_WEAK] == NONE) & inside
        merit = np.zeros(count)
        merit[good] = softest(compliance[good])
        return Solved(good, tips, merit, angles)

    def taut(self, inputs: Floats, solved: Solved) -> Floats:
        lengths = np.array([Pose(self.robot, q).cable_lengths for q in solved.angles])
        return np.minimum(np.maximum(inputs, self._straight - (1.0 - BARELY) * lengths), self.upper)

    def _slopes(self, inputs: Floats, solved: Solved, seeds: Seeds) -> Floats:
        slopes = np.zeros((len(inputs), len(seeds.tip), inputs.shape[1]))

        def some(rows: range, work: Any) -> None:
            for row in rows:
                pull, rest, rate = self._given(inputs[row])
                found, _ = pose_gradients(
                    self.problem, work, solved.tips[row], solved.angles[row], pull, seeds, None, rest, rate
                )
                # A shorter rest length is also a stiffer cable.
                slopes[row] = -found.rest + found.rate * rate / rest

        self._pieces(len(inputs), some)
        return slopes


class ByBend:
    driven_by: Inputs = "bends"

    def __init__(
        self, robot: Robot, gravity: Any, loads: Any, friction: Any, hold: Any, direction: Any, workers: int
    ) -> None:
        require_balls(robot)
        self.robot, self.workers, self._hold = robot, workers, hold
        self._limits = np.array(robot.joints["limit"])
        self.upper = np.repeat(self._limits, 2)
        self.lower = -self.upper
        self._gravity = gravity_vector(robot, gravity)
        along = self._gravity if self._gravity.any() else np.array([0.0, 0.0, -1.0])
        self._direction = unit_vector("direction", along if direction is None else direction)
        self._call = {"gravity": gravity, "loads": loads, "friction": friction}
        if hold is None:
            if direction is not None:
                raise InputError("direction", "is that of the payload; give the tensions that `hold` the robot too")
            if loads or friction is not None:
                raise InputError("loads" if loads else "friction", "does not move a locked robot; give `hold` too")
        else:
            self._payload(np.zeros((1, len(self.upper))))  # what is wrong is told now

    def bends(self, inputs: Floats, solved: Solved) -> None:
        return None

    def allowed(self, inputs: Floats) -> Floats:
        bends = inputs.reshape(len(inputs), -1, 2)
        size = np.linalg.norm(bends, axis=2)
        share = np.where(size > self._limits, self._limits / np.maximum(size, 1e-300), 1.0)
        held: Floats = (bends * share[:, :, None]).reshape(inputs.shape)
        return held

    def taut(self, inputs: Floats, solved: Solved) -> Floats:
        return inputs

    def solve(self, inputs: Floats) -> Solved:
        robot, count = self.robot, len(inputs)
        frames, twists, tips = np.empty((len(robot.links), 4, 4)), twist_table(robot), np.empty((count, 3))
        for row in range(count):
            walk_chain(robot.joints, robot.links, robot.origin, inputs[row], frames, twists)
            tips[row] = frames[-1, :3, :3] @ robot.tip_point + frames[-1, :3, 3]
        bends = np.linalg.norm(inputs.reshape(count, -1, 2), axis=2)
        return Solved(np.ones(count, np.bool_), tips, -(bends / self._limits).max(axis=1), inputs)

    def slopes(self, inputs: Floats, solved: Solved) -> Floats:
        robot, last = self.robot, len(self.robot.links) - 1
        frames, twists = np.empty((last + 1, 4, 4)), twist_table(robot)
        found = np.empty((len(inputs), 6, robot.freedoms))
        for row, q in enumerate(inputs):
            walk_chain(robot.joints, robot.links, robot.origin, q, frames, twists)
            point_jacobian(robot.joints, frames, twists, last, robot.tip_point, found[row])
        return found[:, :3]

    def _payload(self, inputs: Floats) -> Floats:
        bends = inputs.reshape(len(inputs), -1, 2)
        size = np.minimum(np.linalg.norm(bends, axis=2), self._limits)
        toward = np.arctan2(bends[:, :, 1], bends[:, :, 0])
        try:
            found = payload_map(
                self.robot, size, toward, self._hold, self._direction[None], threads=self.workers, **self._call
            )
        except InputError as error:
            raise InputError("hold" if error.argument == "tensions" else error.argument, error.message) from None
        return np.array(found["payload"].to_numpy()[:, 0, 0])

    def finish(self, inputs: Floats) -> dict[str, Any]:
        return {
            "stiffness": None, "load_margin": None, "gravity": np.array(self._gravity),
            "loads": tuple(self._call["loads"] or ()), "friction": "",
            "payload": None if self._hold is None else self._payload(inputs),
            "payload_direction": None if self._hold is None else self._direction,
        }  # fmt: skip


def softest(compliance: Floats) -> Floats:
    """(N,) least principal stiffness of the tip, N/m, from (N, 6, 6)."""
    linear = compliance[:, :3, :3]
    values = np.linalg.eigvalsh(0.5 * (linear + linear.transpose(0, 2, 1)))
    return np.asarray(principal_stiffnesses(values[:, ::-1])[:, 0])


def tip_axes(robot: Robot, angles: Floats) -> Floats:
    """(N, 3) direction of the tip, the axis of the last link, at poses (N, freedoms)."""
    frames, twists, axes = np.empty((len(robot.links), 4, 4)), twist_table(robot), np.empty((len(angles), 3))
    for row, q in enumerate(angles):
        walk_chain(robot.joints, robot.links, robot.origin, q, frames, twists)
        axes[row] = frames[-1, :3, 2]
    return axes
