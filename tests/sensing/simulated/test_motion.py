"""Motions stay within what was asked for, and their rates are the derivatives of their angles."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.robots import every_robot

import vertebra as vb
from vertebra.sensing.simulated.motion import Motion

TIMES = np.linspace(0.0, 40.0, 4001)


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
