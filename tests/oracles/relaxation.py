"""MuJoCo lets the exported model of a robot, or one built here, come to rest under its cables, weights and loads.

Neither model has mass in the gaps (in the exported one rods sit at the next link, and cables weigh nothing), and the
exported one invents a mass for links without: compare robots whose links have mass and whose gaps have none.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from tests.oracles.mujoco_model import MujocoModel, flexure_crossing
from tests.oracles.statics import load_place

from vertebra.robot.export.common import flexure_stretch
from vertebra.robot.robot import Robot
from vertebra.robot.tables import FLEXURE, ROLLING, UNIVERSAL


@dataclass(frozen=True)
class Rest:
    """Where MuJoCo's simulation stopped."""

    angles: np.ndarray
    """(freedoms,) rad, in the robot's joint coordinates."""
    moving: float
    """rad in the last step."""
    steps: int


class LoadedModel(MujocoModel):
    """A model with tensions, gravity and loads applied."""

    def __init__(self, robot: Robot, tensions, gravity, loads=(), built: bool = False) -> None:
        super().__init__(robot, built)
        self.loads = loads
        self.model.opt.gravity[:] = gravity
        self.data.ctrl[:] = tensions

    def apply_loads(self) -> None:
        """Dead loads follow their points: to be renewed at every pose."""
        self.data.qfrc_applied[:] = 0.0
        for load in self.loads:
            link, point = load_place(self.robot, load)
            body = self.body_id(link)
            place = self.data.xpos[body] + self.data.xmat[body].reshape(3, 3) @ point
            force, moment = np.array(load.force), np.array(load.moment)
            mujoco.mj_applyFT(self.model, self.data, force, moment, place, body, self.data.qfrc_applied)

    def unbalanced(self, angles: np.ndarray) -> np.ndarray:
        """(freedoms,) N*m on the joints at a pose, without the softness of simulated couplings; zero in equilibrium."""
        self.data.qpos[:] = self.coordinates(angles)
        self.data.qvel[:] = 0.0
        mujoco.mj_forward(self.model, self.data)
        self.apply_loads()
        total = self.data.qfrc_passive + self.data.qfrc_actuator + self.data.qfrc_applied - self.data.qfrc_bias
        return self.velocity_map(angles).T @ total

    def angles(self) -> np.ndarray:
        """(freedoms,) rad: both hinges of a rolling joint together, those of a universal one, the hinge of others."""
        out: list[float] = []
        for row, joint in enumerate(self.robot.joints):
            ends = ("_a", "_b") if joint["kind"] in (ROLLING, UNIVERSAL) else ("",)
            hinges = [self.data.joint(f"joint{row + 1}{end}").qpos[0] for end in ends]
            out += [sum(hinges)] if joint["kind"] == ROLLING else hinges
        return np.array(out)

    def relax(self, start: np.ndarray, *, pace: float = 100.0, longest: int = 40_000, still: float = 1e-11) -> Rest:
        """Simulate from a pose at rest until nothing moves more than `still` rad in a step; `pace` counts the steps per
        radian of the fastest swing.

        Neither inertia nor damping nor the step changes where a robot rests, so they suit the simulation: armature as
        large as the robot's own inertia on every hinge, about critical damping. Slow hinges also keep the couplings
        tight, whose softness MuJoCo measures by the acceleration that they prevent.
        """
        model, data = self.model, self.data
        stiffness, inertia = self.stiffness_near(start), np.linalg.eigvalsh(self.mass_matrix())[-1]
        model.opt.timestep = np.sqrt(inertia / stiffness) / pace
        model.eq_solref[:, 0] = 2 * model.opt.timestep
        model.dof_armature[self.hinges] = inertia
        model.dof_damping[self.hinges] = 2 * np.sqrt(stiffness * inertia)
        for row in np.flatnonzero(self.robot.joints["kind"] == FLEXURE):
            for end in "ab":
                slide = model.joint(f"joint{row + 1}_slide_{end}").dofadr[0]
                model.dof_armature[slide] = inertia / self.robot.joints["size"][row] ** 2
        mujoco.mj_setConst(model, mujoco.MjData(model))
        data.qpos[:], data.qvel[:] = self.coordinates(start), 0.0
        steps = self._settle(longest, still)
        if (self.robot.joints["kind"] == FLEXURE).any():
            self._refine_flexures()
            steps += self._settle(longest, still)
        return Rest(self.angles(), float(np.abs(data.qvel[self.hinges]).max() * model.opt.timestep), steps)

    @property
    def hinges(self) -> np.ndarray:
        return self.model.jnt_dofadr[self.model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE]

    def stiffness_near(self, angles: np.ndarray, step: float = 0.05) -> float:
        """N*m/rad: the largest slope of the joint torques around a pose."""
        ends = [
            [self.unbalanced(angles + sign * step * unit) for sign in (1, -1)] for unit in np.eye(self.robot.freedoms)
        ]
        slopes = [(low - high) / (2 * step) for high, low in ends]
        self.pose(angles)
        return float(np.linalg.norm(slopes, 2))

    def _settle(self, longest: int, still: float) -> int:
        model, data = self.model, self.data
        for count in range(longest):
            mujoco.mj_step1(model, data)
            self.apply_loads()
            mujoco.mj_step2(model, data)
            if count % 50 == 49 and np.abs(data.qvel[self.hinges]).max() * model.opt.timestep < still:
                break
        assert not any(warning.number for warning in data.warning)
        return count

    def _refine_flexures(self) -> None:
        """The file's quartic for s(q) holds near straight; here one that holds near the present angles."""
        model = self.model
        for row in np.flatnonzero(self.robot.joints["kind"] == FLEXURE):
            if self.built:
                hinge = model.joint(f"joint{row + 1}").id
                around = self.data.joint(f"joint{row + 1}").qpos[0] + np.linspace(-0.05, 0.05, 21)
                stretch = flexure_crossing(self.robot.joints[row], around).real
                followers = (model.eq_type == mujoco.mjtEq.mjEQ_JOINT) & (model.eq_obj2id == hinge)
                model.eq_data[followers, :5] = np.polynomial.Polynomial.fit(around, stretch, 4).convert().coef
                continue
            tendon = model.tendon(f"joint{row + 1}").id
            arm = model.wrap_prm[model.tendon_adr[tendon]]
            around = self.data.joint(f"joint{row + 1}").qpos[0] + np.linspace(-0.05, 0.05, 21)
            stretch = flexure_stretch(self.robot.joints["size"][row], around)
            followers = (model.eq_type == mujoco.mjtEq.mjEQ_TENDON) & (model.eq_obj2id == tendon)
            model.eq_data[followers, :5] = np.polynomial.Polynomial.fit(arm * around, stretch, 4).convert().coef
