"""Joint moments against `mj_inverse` on the exported models, which know nothing of joint laws or wrenches."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from tests.dynamics.cases import KINDS, Moving, random_moving, random_robot, with_inertia, worst
from tests.oracles import statics
from tests.oracles.mujoco_model import MujocoModel

import vertebra as vb
from vertebra.robot.export.common import mjcf_velocity_map


def mujoco_moments(case: Moving, model: MujocoModel) -> np.ndarray:
    """(n,) N*m. Couplings, limits and springs are off; the armature of the slides is subtracted."""
    robot, m, d = case.robot, model.model, model.data
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    m.opt.gravity[:] = case.gravity
    m.jnt_stiffness[:] = 0.0
    model.pose(case.q)
    # The velocity map changes along the motion: its rate, by differences of eighth order.
    step = 0.01 / np.abs(case.qd).max()
    along = [mjcf_velocity_map(robot, case.q + step * i * case.qd) @ case.qd for i in statics.STENCIL]
    d.qvel[:] = model.rates @ case.qd
    d.qacc[:] = model.rates @ case.qdd + statics.SLOPE @ np.array(along) / step
    mujoco.mj_inverse(m, d)
    full = d.qfrc_inverse - m.dof_armature * d.qacc
    for load in case.loads:
        link, point = statics.load_place(robot, load)
        body, pushed = model.body_id(link), np.zeros(m.nv)
        at = d.xpos[body] + d.xmat[body].reshape(3, 3) @ point
        mujoco.mj_applyFT(m, d, np.array(load.force), np.array(load.moment), at, body, pushed)
        full = full - pushed
    return model.rates.T @ full


@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), KINDS, KINDS[::-1]], ids="-".join)
@pytest.mark.parametrize("joints", [1, 3, 10])
def test_moments_of_random_robots(kinds: tuple[str, ...], joints: int) -> None:
    rng = np.random.default_rng([23, joints, len(kinds)])
    robot = random_robot(rng, joints, kinds)
    model = MujocoModel(robot)
    for _ in range(3):
        case = random_moving(rng, robot)
        assert worst(case.tau(), mujoco_moments(case, model)) < 1e-8


@pytest.mark.parametrize("name", ["dantuono2023", "hu2023-prototype", "hu2023-spatial"])
def test_moments_of_presets(name: str) -> None:
    robot, rng = with_inertia(name), np.random.default_rng(4)
    model = MujocoModel(robot)
    for _ in range(3):
        case = random_moving(rng, robot, bend=0.5)
        assert worst(case.tau(), mujoco_moments(case, model)) < 1e-8


def test_mass_matrix_of_exported_models() -> None:
    rng = np.random.default_rng(29)
    for kinds in (*((kind,) for kind in KINDS), KINDS):
        robot = random_robot(rng, 6, kinds)
        model, case = MujocoModel(robot), random_moving(rng, robot)
        model.pose(case.q)
        assert worst(vb.mass_matrix(robot, case.q), model.mass_matrix()) < 1e-8
