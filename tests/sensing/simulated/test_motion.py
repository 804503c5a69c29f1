"""Motions stay within what was asked for, and their rates are the derivatives of their angles."""

from __future__ import annotations

import json

import mujoco
import numpy as np
import pytest
from tests.oracles.mujoco_model import MIXED_MIRROR, MIXED_PLATFORM, MujocoModel
from tests.robots import every_robot

import vertebra as vb
from vertebra.sensing import so3
from vertebra.sensing.simulated.motion import Motion, chain_motion

TIMES = np.linspace(0.0, 40.0, 4001)
CHAIN_TIMES = np.array([0.0, 0.7, 1.9, 3.3])
ROBOTS = [vb.load("lapusan2022"), vb.load(MIXED_MIRROR), vb.load(MIXED_PLATFORM)]


@pytest.mark.parametrize("robot", every_robot(), ids=lambda robot: robot.name)
def test_wandering_joints_keep_to_amplitude_speed_and_limits(robot):
    motion = Motion.wander(robot, 3, amplitude=0.3, speed=0.4)
    angles, rates = motion.angles(TIMES), motion.rates(TIMES)
    assert np.abs(angles).max() <= 0.3
    assert np.abs(rates).max() <= 0.4
    assert np.abs(rates).max() > 0.2
    for joint in robot.joints:
        own = angles[:, joint["first"] : joint["first"] + joint["freedoms"]]
        bend = np.linalg.norm(own, axis=1) if joint["kind"] == 4 else np.abs(own).max(axis=1)
        assert bend.max() <= joint["limit"]


def test_rates_are_derivatives():
    motion = Motion.wander(vb.load("lapusan2022"), 5)
    step = 1e-4
    differences = (motion.angles(TIMES + step) - motion.angles(TIMES - step)) / (2 * step)
    assert np.abs(differences - motion.rates(TIMES)).max() < 1e-8


def test_one_time_and_many_times_agree():
    motion = Motion.wander(vb.load("lapusan2022"), 5)
    assert motion.angles(TIMES[7]).shape == (8,)
    assert (motion.angles(TIMES)[7] == motion.angles(TIMES[7])).all()


def test_seed_decides():
    robot = vb.load("lapusan2022")
    assert (Motion.wander(robot, 1).angles(TIMES) == Motion.wander(robot, 1).angles(TIMES)).all()
    assert (Motion.wander(robot, 1).angles(TIMES) != Motion.wander(robot, 2).angles(TIMES)).any()


def test_rest():
    robot = vb.load("lapusan2022")
    held = Motion.hold(robot, np.arange(8) / 20)
    assert (held.angles(3.0) == np.arange(8) / 20).all()
    assert (held.rates(3.0) == 0).all()
    assert (Motion.straight(robot).angles(TIMES) == 0).all()


def test_twist_has_the_amount_asked_for():
    twist = Motion.twisting(6, 0.01, 4).angles(np.linspace(0, 4000, 100_001))
    assert np.sqrt((twist**2).mean(axis=0)) == pytest.approx(np.full(6, 0.01), rel=0.02)


def test_goes_through_a_file():
    motion = Motion.wander(vb.load("lapusan2022"), 8)
    again = Motion.from_mapping(json.loads(json.dumps(motion.to_mapping())))
    assert (again.angles(TIMES) == motion.angles(TIMES)).all()


@pytest.mark.parametrize("wrong", [{"amplitude": 0.0}, {"speed": -1.0}, {"speed": np.inf}])
def test_refuses(wrong):
    with pytest.raises(vb.InputError, match="above 0"):
        Motion.wander(vb.load("lapusan2022"), 0, **wrong)


def moved(robot, twist=0.0, times=CHAIN_TIMES):
    motion = Motion.wander(robot, 2, amplitude=0.5)
    return chain_motion(robot, motion, Motion.twisting(len(robot.joints), twist, 1), times, len(robot.links))


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_stiff_links_are_where_mujoco_has_them_and_turn_as_fast(robot):
    frames, rates = moved(robot)
    oracle = MujocoModel(robot)
    motion = Motion.wander(robot, 2, amplitude=0.5)
    for row, time in enumerate(CHAIN_TIMES):
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
    before, after = moved(robot, 0.2, CHAIN_TIMES - step)[0], moved(robot, 0.2, CHAIN_TIMES + step)[0]
    turned = np.swapaxes(before[..., :3, :3], -1, -2) @ after[..., :3, :3]
    assert np.abs(so3.log(turned) / (2 * step) - rates).max() < 1e-6


def test_twist_turns_a_link_about_its_own_axis():
    robot = vb.load("lapusan2022")
    stiff, soft = moved(robot)[0], moved(robot, 0.1)[0]
    twist = Motion.twisting(4, 0.1, 1).angles(CHAIN_TIMES)
    assert np.abs(soft[:, 1, :3, :3] - stiff[:, 1, :3, :3] @ so3.about_z(twist[:, 0])).max() < 1e-12
    assert np.abs(soft[:, :2, :3, 3] - stiff[:, :2, :3, 3]).max() < 1e-12
    across = [np.linalg.inv(frames[:, 2]) @ frames[:, 3] for frames in (stiff, soft)]
    assert np.abs(across[1][:, :3, :3] - across[0][:, :3, :3] @ so3.about_z(twist[:, 2])).max() < 1e-12


def test_refuses_a_motion_beyond_half_a_turn():
    robot = vb.load("lapusan2022")
    motion = Motion.hold(robot, [0, 0, 4, 0, 0, 0, 0, 0])
    with pytest.raises(vb.InputError, match="joint 2"):
        chain_motion(robot, motion, Motion.twisting(4, 0.0, 0), CHAIN_TIMES, 5)
