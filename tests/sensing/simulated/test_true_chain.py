"""True frames and rates of links against MuJoCo, and against differences when joints twist."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from tests.oracles.mujoco_model import MIXED_MIRROR, MIXED_PLATFORM, MujocoModel

import vertebra as vb
from vertebra.sensing import so3
from vertebra.sensing.simulated.motion import Motion, chain_motion

TIMES = np.array([0.0, 0.7, 1.9, 3.3])
ROBOTS = [vb.load("lapusan2022"), vb.load(MIXED_MIRROR), vb.load(MIXED_PLATFORM)]


def moved(robot, twist=0.0, times=TIMES):
    motion = Motion.wander(robot, 2, amplitude=0.5)
    return chain_motion(robot, motion, Motion.twisting(len(robot.joints), twist, 1), times, len(robot.links))


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_stiff_links_are_where_mujoco_has_them_and_turn_as_fast(robot):
    frames, rates = moved(robot)
    oracle = MujocoModel(robot)
    motion = Motion.wander(robot, 2, amplitude=0.5)
    for row, time in enumerate(TIMES):
        oracle.pose(motion.angles(time))
        oracle.data.qvel[:] = oracle.rates @ motion.rates(time)
        mujoco.mj_forward(oracle.model, oracle.data)
        assert np.abs(oracle.frames() - frames[row]).max() < 1e-9
        for link in range(1, len(robot.links)):
            velocity = np.zeros(6)
            body = oracle.body_id(link)
            mujoco.mj_objectVelocity(oracle.model, oracle.data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 1)
            assert velocity[:3] == pytest.approx(rates[row, link], abs=1e-9)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_rates_of_twisting_joints_are_derivatives_of_their_frames(robot):
    step = 1e-5
    _, rates = moved(robot, 0.2)
    before, after = moved(robot, 0.2, TIMES - step)[0], moved(robot, 0.2, TIMES + step)[0]
    turned = np.swapaxes(before[..., :3, :3], -1, -2) @ after[..., :3, :3]
    assert np.abs(so3.log(turned) / (2 * step) - rates).max() < 1e-6


def test_twist_turns_a_link_about_its_own_axis():
    robot = vb.load("lapusan2022")
    stiff, soft = moved(robot)[0], moved(robot, 0.1)[0]
    twist = Motion.twisting(4, 0.1, 1).angles(TIMES)
    assert np.abs(soft[:, 1, :3, :3] - stiff[:, 1, :3, :3] @ so3.about_z(twist[:, 0])).max() < 1e-12
    assert np.abs(soft[:, :2, :3, 3] - stiff[:, :2, :3, 3]).max() < 1e-12
    across = [np.linalg.inv(frames[:, 2]) @ frames[:, 3] for frames in (stiff, soft)]
    assert np.abs(across[1][:, :3, :3] - across[0][:, :3, :3] @ so3.about_z(twist[:, 2])).max() < 1e-12


def test_refuses_a_motion_beyond_half_a_turn():
    robot = vb.load("lapusan2022")
    motion = Motion.hold(robot, [0, 0, 4, 0, 0, 0, 0, 0])
    with pytest.raises(vb.InputError, match="joint 2"):
        chain_motion(robot, motion, Motion.twisting(4, 0.0, 0), TIMES, 5)
