"""How does the robot accelerate?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from vertebra.dynamics.problem import Moving, cable_tensions, joint_damping, states
from vertebra.errors import InputError
from vertebra.mechanics.kernels.articulated import forward_motion
from vertebra.mechanics.problem import Load
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

SUMS_WIDTH = 4
"""Columns of the sums over the cables at a joint."""


def forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tensions: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] = (),
    *,
    tau: ArrayLike | None = None,
    damping: ArrayLike = 0.0,
) -> Floats:
    """Joint accelerations in rad/s^2 at angles `q` (rad) and rates `qd` (rad/s), one state (n,) or many (N, n).

    Under cable `tensions` in N, (cables,) or one set a state, with elastic joints and `damping` in N*m*s/rad; or under
    joint moments `tau` in N*m and nothing else, the inverse of `inverse_dynamics`.
    """
    if (tensions is None) == (tau is None):
        raise InputError("tensions", "give either the tensions of the cables or the joint moments tau")
    moving = Moving.of(robot, gravity, loads)
    motion = states(robot, q, qd, tau, "tau")
    count, n = motion.q.shape
    pulls = np.zeros((count, len(robot.cables)))
    if tensions is not None:
        pulls = cable_tensions(moving.statics, tensions, count)
    qdd = np.empty((count, n))
    forward_motion(
        *moving.system, motion.q, motion.qd, np.zeros(n), motion.qdd, tensions is not None, pulls,
        joint_damping(robot, damping), np.empty((n, SUMS_WIDTH)), *moving.scratch(), qdd,
    )  # fmt: skip
    return motion.shaped(qdd)
