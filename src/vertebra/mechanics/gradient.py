"""Derivatives of what depends on a pose by every number of its problem (theory 10)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vertebra.mechanics.kernels.adjoint import Gradient, differentiate_poses
from vertebra.mechanics.kernels.newton import inspect_pose
from vertebra.mechanics.kinematics import Pose, measure
from vertebra.mechanics.layout import (
    GRIP_DRAWN,
    HISTORY_DRAWN,
    HISTORY_PLANES,
    HISTORY_SLIP,
    LAW_PRESLIDING,
    LAW_WIDTH,
    LOAD,
    TURNING_WIDTH,
    WEIGHT_PLANES,
)
from vertebra.mechanics.problem import NO_CABLES, Problem, Workspace
from vertebra.robot.robot import Robot
from vertebra.robot.tables import CABLE, JOINT, LINK, SEGMENT, Floats


class Seeds(NamedTuple):
    """What is differentiated, one output per row: the sum of these weights times what they stand for."""

    tip: Floats
    """(m, 6) of the tip's position and of its rotation, world axes."""
    angles: Floats
    """(m, freedoms)"""
    lengths: Floats
    """(m, cables) of whole cables."""
    tensions: Floats
    """(m, cables) at the base."""
    slip: Floats
    """(m, cables, n) of the slip direction in each hole; (m, 0, 0) unless friction is remembered."""
    drawn: Floats
    """(m, cables, n) of the slip since the straight robot; likewise."""

    @classmethod
    def none(cls, problem: Problem, outputs: int) -> Seeds:
        """Weights of zero, to be written into."""
        freedoms, cables = problem.robot.freedoms, len(problem.robot.cables)
        empty = np.zeros((outputs, 0, 0))
        tip, angles, lengths, tensions = (np.zeros((outputs, width)) for width in (6, freedoms, cables, cables))
        return cls(tip, angles, lengths, tensions, empty, empty)


class Numbers(Gradient):
    """One value for each number that a problem of statics is made of, in rows (m, ...): derivatives of m outputs, or m
    directions in which the numbers change together."""

    __slots__ = ()

    @classmethod
    def zeros(cls, problem: Problem, rows: int, by_length: bool = False) -> Numbers:
        robot = problem.robot
        n, c, given = len(robot.joints), len(robot.cables), len(robot.cables) if by_length else 0
        curves = len({id(law) for law in problem.laws if law.curve is not None})
        knots = next((len(law.curve) for law in problem.laws if law.curve is not None), 2)
        grip = c if problem.has_friction else 0
        return cls(
            np.zeros((rows, n), JOINT), np.zeros((rows, n + 1), LINK), np.zeros((rows, c), CABLE),
            np.zeros((rows, c, n), SEGMENT), np.zeros((rows, 3)), np.zeros((rows, len(problem.table)), LOAD),
            np.zeros((rows, 3)), np.zeros((rows, 3)), np.zeros((rows, c)), np.zeros((rows, given)),
            np.zeros((rows, given)), np.zeros((rows, grip, LAW_WIDTH)), np.zeros((rows, curves, knots, 2)),
            np.zeros((rows, HISTORY_PLANES if grip else 0, grip, n)),
        )  # fmt: skip

    @classmethod
    def of(cls, problem: Problem) -> Numbers:
        """The numbers themselves, in one row; zero for tensions and slip, which are not the problem's."""
        robot, friction, row = problem.robot, problem.cable_friction(), cls.zeros(problem, 1)
        row.joints[:], row.links[:], row.cables[:], row.segments[:] = problem.system[:4]
        row.gravity[:], row.loads[:] = problem.gravity, problem.table
        row.tip_point[:], row.origin[:] = robot.tip_point, robot.origin
        if friction is not None:
            row.laws[:], row.curves[:] = friction.laws, friction.curves
        return row

    @property
    def flat(self) -> Floats:
        """(m, everything) side by side: a derivative along a direction is the product of two such rows."""
        rows = len(self.gravity)
        return np.hstack([part.view(np.float64).reshape(rows, -1) for part in self if part.size])

    def along(self, directions: Floats) -> Floats:
        """(m, p) derivatives along directions (p, everything), which are flat; without copies of what they leave."""
        rows, first = len(self.gravity), 0
        total, moved = np.zeros((rows, len(directions))), np.flatnonzero(directions.any(axis=0))
        for part in self:
            if part.size:
                flat = part.view(np.float64).reshape(rows, -1)
                last = first + flat.shape[1]
                own = moved[np.searchsorted(moved, first) : np.searchsorted(moved, last)]
                if len(own):
                    total += flat[:, own - first] @ directions[:, own].T
                first = last
        return total


def pose_gradients(
    problem: Problem,
    work: Workspace,
    tip: Floats,
    q: Floats,
    tensions: Floats,
    seeds: Seeds,
    rates: Floats | None = None,
    rest: Floats = NO_CABLES,
    rate: Floats = NO_CABLES,
) -> tuple[Numbers, Floats]:
    """Derivatives of the seeds' outputs by everything at an equilibrium, and lambda (m, freedoms); or at many, with
    `q` (N, freedoms), `tip` (N, 3) m and `tensions` (N, cables) N, and as many outputs for each as there are rows of
    seeds for it, one pose after the other.

    With `rates` (m, freedoms): those of the seeds, less the power of all torques out of balance as the joints turn at
    these rates, at whatever pose. `tensions` receives the tensions of cables of given length. `work` is left with the
    stiffness of the last pose.
    """
    robot, m = problem.robot, len(seeds.tip)
    n, c = len(robot.joints), len(robot.cables)
    lam = np.zeros((m, robot.freedoms)) if rates is None else rates
    found = Numbers.zeros(problem, m, len(rest) > 0)
    poses, pulls, tips = np.atleast_2d(q), np.atleast_2d(tensions), np.atleast_2d(tip)
    differentiate_poses(
        *problem.system, pulls, rest, rate, work.friction, 0, len(poses), rates is not None, poses, *work.scratch[1:],
        robot.origin, tips, *seeds, lam, np.empty(robot.freedoms), np.empty((WEIGHT_PLANES, c, n)),
        np.empty((n, TURNING_WIDTH)), *found,
    )  # fmt: skip
    return found, lam


# The stiffness H itself: with u and v held, u . H v is the slope along v of the power u . R.

SIXTH = ((-3, -1 / 60), (-2, 9 / 60), (-1, -45 / 60), (1, 45 / 60), (2, -9 / 60), (3, 1 / 60))
"""Central differences of order 6."""
STEP = 0.004
"""rad; of those differences, the largest turn of a joint in one step."""


def form_derivatives(
    problem: Problem,
    work: Workspace,
    q: Floats,
    tensions: Floats,
    u: Floats,
    v: Floats,
    rest: Floats = NO_CABLES,
    rate: Floats = NO_CABLES,
) -> tuple[Floats, Floats]:
    """Of u . H v at a pose, u and v held: (everything,) by the numbers of the problem, flat; (freedoms,) by the angles.

    By differences of order 6 along v, without a solve. `work` is left with the stiffness of a pose nearby.
    """
    h = step_along(problem, work, q, tensions, v, rest, rate)
    seeds, tip = Seeds.none(problem, 1), Pose(problem.robot, q).tip
    by_numbers, by_angles = 0.0, np.zeros(len(q))
    for steps, weight in SIXTH:
        found, _ = pose_gradients(
            problem, work, tip, q + steps * h * v, tensions.copy(), seeds, u[None].copy(), rest, rate
        )
        # The kernel's is that of the outputs, of which there are none, less the power.
        by_numbers = by_numbers - weight / h * found.flat[0]
        by_angles += weight / h * (problem.dense_stiffness(work, len(rest) > 0).T @ u)
    return np.asarray(by_numbers), by_angles


def step_along(
    problem: Problem,
    work: Workspace,
    q: Floats,
    tensions: Floats,
    v: Floats,
    rest: Floats = NO_CABLES,
    rate: Floats = NO_CABLES,
) -> float:
    """How far to step along v, and not so far that a cable of given length becomes slack or taut; with friction, that
    one begins to slip or to stick, or comes to run straight into its channel."""
    size = float(np.abs(v).max())
    h, friction, robot = STEP / size if size > 0.0 else STEP, work.friction, problem.robot
    if size == 0.0 or (friction is None and not len(rest)):
        return h
    joints = robot.joints
    single = joints["first"][joints["freedoms"] == 1]

    def to_corners(pose: Floats) -> list[Floats]:
        """Numbers whose corner is at 0, and what has one at 0 as a vector (..., 2)."""
        corners = []
        if len(rest):
            corners.append(measure(robot, pose).lengths.sum(axis=1) + robot.cables["inside"] - rest)
        if friction is not None:
            inspect_pose(*problem.system, tensions.copy(), rest, rate, friction, True, pose, *work.scratch[1:])
            way = friction.grip[GRIP_DRAWN, :, : len(joints)] - friction.history[HISTORY_DRAWN]
            slip = friction.history[HISTORY_SLIP] + way / friction.laws[:, LAW_PRESLIDING, None]
            corners += [slip - 1.0, slip + 1.0, pose[single], _bends_at_holes(robot, pose)]
        return corners

    here, small = to_corners(q), 1e-7 / size
    for near, there in zip(here, to_corners(q + small * v), strict=True):
        left, pace = np.abs(near), np.abs(there - near) / small
        share = 0.25
        if near.ndim == 4:
            # Near the tip of a cone nothing is a corner, but all is sharply bent.
            left, pace, share = np.linalg.norm(near, axis=-1), np.linalg.norm(there - near, axis=-1) / small, 0.025
        moves = (left > 0.0) & (pace > 0.0)
        h = min(h, share * float((left[moves] / pace[moves]).min(initial=np.inf)))
    return h


def _bends_at_holes(robot: Robot, q: Floats) -> Floats:
    """(cables, 2, joints with several freedoms, 2) of each cable where it leaves the link before the joint and where it
    enters the one beyond: what its direction has across the channel."""
    frames, cables = Pose(robot, q).frames, robot.cables
    joints = np.flatnonzero(robot.joints["freedoms"] > 1)
    found = np.zeros((len(cables), 2, len(joints), 2))
    for place, j in enumerate(joints):
        for k in np.flatnonzero(cables["last_link"] > j):
            x, y, hole = cables["x"][k], cables["y"][k], robot.segments[k, j]
            near = frames[j] @ (x, y, hole["exit"], 1.0)
            far = frames[j + 1] @ (x, y, hole["entry"], 1.0)
            line = (far - near)[:3] / np.linalg.norm(far - near)
            found[k, :, place] = [frames[link, :3, :2].T @ line for link in (j, j + 1)]
    return found
