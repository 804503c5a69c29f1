"""The equations of motion: which joint torques does a motion need, which motion do torques or tensions give, and how do
torques change with angles and rates?
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from vertebra.dynamics.problem import (
    Moving,
    States,
    cable_tensions,
    joint_damping,
    require_resistance,
    states,
)
from vertebra.errors import InputError
from vertebra.mechanics.kernels.articulated import forward_motion
from vertebra.mechanics.kernels.newton_euler import inverse_motion, mass_matrices
from vertebra.mechanics.problem import CableFriction, Load
from vertebra.robot.arguments import as_robot, flag
from vertebra.robot.friction import Friction
from vertebra.robot.robot import RobotLike
from vertebra.robot.tables import Floats


class JointForces(NamedTuple):
    """What a motion needs at every joint."""

    tau: Floats
    """(n,) or (N, n) torque of each freedom, N*m."""
    wrenches: Floats
    """(joints, 6) or (N, joints, 6) what the part before each joint must exert on the link after it and all beyond:
    force in N, then moment in N*m, world axes; about the joint's instantaneous centre, or for universal and backbone
    joints about the origin of the link after it. Rods and cables inside the joint's own gap count in `tau` only, by
    virtual work."""


@overload
def inverse_dynamics(
    robot: RobotLike, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, gravity: str | ArrayLike | None = ...,
    loads: Sequence[Load] | None = ..., *, wrenches: Literal[False] = ...,
) -> Floats: ...  # fmt: skip
@overload
def inverse_dynamics(
    robot: RobotLike, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, gravity: str | ArrayLike | None = ...,
    loads: Sequence[Load] | None = ..., *, wrenches: Literal[True],
) -> JointForces: ...  # fmt: skip


def inverse_dynamics(
    robot: RobotLike,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    *,
    wrenches: bool = False,
) -> Floats | JointForces:
    """Joint torques tau in N*m that give angles `q` (rad) the rates `qd` (rad/s) and accelerations `qdd` (rad/s^2).

    One state (n,) or a trajectory (N, n). tau = M qdd + bias: what cables, elastic joints and damping together must
    supply, so `tau + k q + d qd` is left to the cables of a joint with stiffness k and damping d. With `wrenches`,
    `JointForces` with the whole wrench at every joint. The migration of contact points is included.
    """
    robot = as_robot(robot)
    wrenches = flag("wrenches", wrenches)
    moving = Moving.of(robot, gravity, loads)
    tau, all_wrenches = required_torques(moving, states(robot, q, qd, qdd), wrenches)
    return JointForces(tau, all_wrenches) if wrenches else tau


def required_torques(moving: Moving, motion: States, wrenches: bool) -> tuple[Floats, Floats]:
    """tau and, if asked for, the wrenches of states that were checked, shaped as the caller's."""
    count, n = motion.q.shape
    joints = len(moving.robot.joints)
    tau, all_wrenches = np.empty((count, n)), np.empty((count if wrenches else 0, joints, 6))
    inverse_motion(*moving.system, motion.q, motion.qd, motion.qdd, *moving.scratch(), tau, all_wrenches)
    return motion.shaped(tau), motion.shaped(all_wrenches) if wrenches else all_wrenches


def bias_forces(
    robot: RobotLike,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
) -> Floats:
    """Joint torques in N*m of a motion without joint accelerations: gravity, loads, Coriolis and centrifugal terms."""
    robot = as_robot(robot)
    return required_torques(Moving.of(robot, gravity, loads), states(robot, q, qd), False)[0]


def mass_matrix(robot: RobotLike, q: ArrayLike, loads: Sequence[Load] | None = ()) -> Floats:
    """Joint-space inertia in kg*m^2, (n, n) at angles (n,) in rad or (N, n, n) at (N, n); masses among the `loads` are
    moved too."""
    robot = as_robot(robot)
    moving, poses = Moving.of(robot, None, loads), states(robot, q)
    return poses.shaped(mass_matrices_at(moving, poses.q))


def mass_matrices_at(moving: Moving, q: Floats) -> Floats:
    """(N, n, n) kg*m^2 at angles (N, n) that were checked."""
    count, n = q.shape
    M = np.empty((count, n, n))
    mass_matrices(*moving.system, q, np.zeros(n), *moving.scratch(), M)
    return M


def forward_dynamics(
    robot: RobotLike,
    q: ArrayLike,
    qd: ArrayLike,
    tensions: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    *,
    tau: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    friction: Friction | None = None,
) -> Floats:
    """Joint accelerations in rad/s^2 at angles `q` (rad) and rates `qd` (rad/s), one state (n,) or many (N, n).

    Under cable `tensions` in N, (cables,) or one set per state, with elastic joints and `damping` in N*m*s/rad; or
    under joint torques `tau` in N*m and nothing else, the inverse of `inverse_dynamics`. `damping` and `friction` of
    cables in their holes: default those of the robot file, 0 for none. How far a cable has slipped decides its
    direction, so every state counts as one that the cables were pulled to from the straight robot: these are the
    accelerations with which `simulate` starts there. Along a motion, with its history, use `simulate`; so too for
    joints that rest on rigid stops, which are left out here.
    """
    robot = as_robot(robot)
    if (tensions is None) == (tau is None):
        raise InputError("tensions", "give either the tensions of the cables or the joint torques tau")
    if tau is not None and friction is not None:
        raise InputError("friction", "acts on cables; leave it out with joint torques tau")
    moving = Moving.of(robot, gravity, loads, 0.0 if tensions is None else friction)
    motion = states(robot, q, qd, tau, "tau")
    if (moving.statics.links["inertia"][1:] <= 0.0).any():
        for row in motion.q:
            require_resistance(moving.statics, row)
    count, n = motion.q.shape
    pulls = np.zeros((count, len(robot.cables)))
    if tensions is not None:
        pulls = cable_tensions(moving.statics, tensions, count)
    qdd, work = np.empty((count, n)), moving.statics.workspace()
    forward_motion(
        *moving.system, motion.q, motion.qd, np.zeros(n), motion.qdd, tensions is not None, pulls,
        joint_damping(robot, damping), moving.statics.has_friction, work.friction or CableFriction.nothing(),
        work.state, work.wide, *moving.scratch(), qdd,
    )  # fmt: skip
    return motion.shaped(qdd)


# How the joint torques of a motion change with its angles and rates: differences of inverse dynamics.
#
# Accelerations enter through the mass matrix, which needs no differences.

REACH = 0.04
"""rad; how far the differences in an angle extend to either side."""
# Weights of the central differences of order 2 and 8, nearest pair first, for steps of one.
ORDERS = {2: (1 / 2,), 8: (4 / 5, -1 / 5, 4 / 105, -1 / 280)}


def angle_derivatives(moving: Moving, motion: States, order: int = 8) -> Floats:
    """(N, n, n) d tau_i / d q_j in N*m/rad of N states, rates and accelerations held.

    Of order 8 with steps of 0.01 rad: truncation and round-off are both near 1e-13 of the torques at usual angles.
    """
    count, n = motion.q.shape
    weights = ORDERS[order]
    slopes = np.zeros((count, n, n))
    # Steps of order 2 are where truncation and round-off are equal; joint laws end at a half turn.
    reach = REACH if order > 2 else 1e-5
    step = np.minimum(reach, 0.2 * (np.pi - np.abs(motion.q))) / len(weights)
    for j in range(n):
        for pair, weight in enumerate(weights, start=1):
            for sign in (1.0, -1.0):
                q = motion.q.copy()
                q[:, j] += sign * pair * step[:, j]
                tau = required_torques(moving, States(False, q, motion.qd, motion.qdd), False)[0]
                slopes[:, :, j] += sign * weight * tau
        slopes[:, :, j] /= step[:, j, None]
    return slopes


def rate_derivatives(moving: Moving, motion: States) -> Floats:
    """(N, n, n) d tau_i / d qd_j in N*m*s/rad of N states.

    Exact up to round-off: torques are quadratic in the rates, and central differences of a quadratic are exact.
    """
    count, n = motion.q.shape
    slopes = np.zeros((count, n, n))
    step = np.abs(motion.qd).max(axis=1)
    step[step == 0.0] = 1.0  # rad/s, any: at rest the two sides are equal
    still = np.zeros_like(motion.qdd)
    for j in range(n):
        for sign in (1.0, -1.0):
            qd = motion.qd.copy()
            qd[:, j] += sign * step
            slopes[:, :, j] += sign * required_torques(moving, States(False, motion.q, qd, still), False)[0]
    slopes /= 2.0 * step[:, None, None]
    return slopes
