"""MuJoCo lets the exported model of a robot come to rest under its cables: the shape without a solver for it."""

from __future__ import annotations

import mujoco
import numpy as np

from vertebra.mechanics.problem import Problem
from vertebra.robot.export.common import mjcf_qpos
from vertebra.robot.export.mjcf import to_mjcf
from vertebra.robot.tables import Floats
from vertebra.statics.branches import joint_stiffness

CLOSE = np.radians(1e-4)
"""rad; near enough to rest."""
MOST_STEPS = 1000
HEAVIER = 10.0
"""Armature of every hinge over the largest inertia of the robot's own."""
PACES = (1.0, 0.6, 0.3, 0.1)
"""Steps to try, longest first, in units of 1 / (fastest frequency)."""


class Relaxation:
    """A robot of rolling joints that swings from a pose to rest, as quickly as the engine can make it.

    Where it rests does not depend on inertia, damping and step. Equal armatures make every direction swing by its
    stiffness alone; then the damping that suits the softest direction and the longest step that the stiffest bears
    need the fewest steps. Both are taken from the known answer, which favours the engine.
    """

    def __init__(self, problem: Problem, tensions: Floats, start: Floats, rest: Floats) -> None:
        self.model = mujoco.MjModel.from_xml_string(to_mjcf(problem.robot))
        self.data = mujoco.MjData(self.model)
        self.start, self.rest = mjcf_qpos(problem.robot, start), rest
        self.model.opt.gravity[:] = problem.gravity
        self.data.ctrl[:] = tensions
        stiffness, _ = joint_stiffness(problem, rest, tensions)
        softest, *_, stiffest = np.linalg.eigvalsh(0.5 * (stiffness + stiffness.T))
        armature = HEAVIER * self._largest_inertia(mjcf_qpos(problem.robot, rest))
        # A joint is two hinges that turn by half its angle each, so it has half the inertia of one of them.
        for pace in PACES:
            self.model.opt.timestep = pace * np.sqrt(0.5 * armature / stiffest)
            self.model.eq_solref[:, 0] = 2 * self.model.opt.timestep
            self.model.dof_armature[:] = armature
            self.model.dof_damping[:] = 2 * np.sqrt(2 * softest * armature)
            mujoco.mj_setConst(self.model, mujoco.MjData(self.model))
            self.steps = self._steps_to_rest()
            if self.steps < MOST_STEPS:
                return
        raise ArithmeticError("MuJoCo's robot does not come to rest where the solver says")

    def _largest_inertia(self, qpos: Floats) -> float:
        self.data.qpos[:] = qpos
        mujoco.mj_forward(self.model, self.data)
        inertia = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, inertia)
        return float(np.linalg.eigvalsh(inertia)[-1])

    def _steps_to_rest(self) -> int:
        """Steps after which every angle is close to its final value and stays there; MOST_STEPS for never."""
        self._begin()
        needed = 0
        for count in range(1, MOST_STEPS):
            mujoco.mj_step(self.model, self.data)
            if not np.abs(self.data.qpos.reshape(-1, 2).sum(axis=1) - self.rest).max() < CLOSE:
                needed = count + 1
            elif count > 2 * needed:
                return needed
        return MOST_STEPS

    def _begin(self) -> None:
        self.data.qpos[:], self.data.qvel[:], self.data.qacc_warmstart[:] = self.start, 0.0, 0.0

    def run(self) -> None:
        """To rest, in one call of the engine."""
        self._begin()
        mujoco.mj_step(self.model, self.data, self.steps)
