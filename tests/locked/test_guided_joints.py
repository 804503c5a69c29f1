"""Joints in a rigid guide cannot slip, and all else stays as it was."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.locked import snakes

import vertebra as vb


@pytest.mark.parametrize("seed", range(20))
def test_a_guide_takes_its_joints_out_of_the_question(seed):
    question = snakes.question(np.random.default_rng(3000 + seed))
    n = len(question.robot.joints)
    free = question.ask()
    for guided in range(n + 1):
        held = question.ask(more={}, guided=guided)
        assert np.isinf(held.limits[:guided]).all()
        assert set(held.modes[:guided]) <= {"unlimited"}
        assert held.limits[guided:].tobytes() == free.limits[guided:].tobytes()
        assert held.modes[guided:] == free.modes[guided:]
        assert held.force == held.limits.min()
        assert held.force >= free.force
        assert held.joint == 0 or held.joint > guided
        assert held.reentry > held.force or math.isinf(held.reentry)
    assert question.ask(guided=n).mode == "unlimited"
    assert question.ask(guided=n).contact.force == pytest.approx(question.ask(link=0).contact.force, abs=1e-12)


def test_a_guided_joint_that_slips_is_not_blamed():
    robot = vb.load("cai2023")
    bends = np.zeros(19)
    bends[2] = 0.8
    assert vb.payload(robot, bends, 0.0, 35.0, (0, -1, 0)).joint == 3
    free = vb.payload(robot, bends, 0.0, 35.0, (0, -1, 0), guided=3)
    assert free.force > 1.0
    assert free.joint > 3
    assert vb.payload(robot, bends, 0.0, 35.0, (0, -1, 0), guided=2).slips_unloaded


def test_a_guide_of_k_joints_is_a_snake_that_is_k_joints_shorter():
    """Straight, so that the rest of it stands as it would on a base of its own."""
    robot, short = vb.load("cai2023"), snakes.short(12)
    long = vb.payload(robot, 0.0, 0.0, 35.0, (0.3, -1, 0.1), guided=7)
    cut = vb.payload(short, 0.0, 0.0, 35.0, (0.3, -1, 0.1))
    assert long.limits[7:] == pytest.approx(cut.limits, rel=1e-11)
    assert long.joint == cut.joint + 7


@pytest.mark.parametrize("guided", [np.int64(3), np.int8(3), 3])
def test_numbers_of_guided_joints(guided):
    payload = vb.payload(vb.load("cai2023"), 0.0, 0.0, 35.0, (0, -1, 0), guided=guided)
    assert payload.joint == 4
