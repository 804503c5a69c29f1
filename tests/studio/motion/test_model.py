"""Tensions over time and joint angles that sway."""

import math

import numpy as np
import pytest

import vertebra as vb
from vertebra.errors import InputError
from vertebra.papers.dantuono2023.cases import CASES, motion
from vertebra.studio.motion.model import pulls, sway
from vertebra.studio.motion.settings import MotionSettings, patterns

TIMES = np.linspace(0.0, 1.0, 5)


def test_a_held_robot_has_its_sliders_tensions():
    found = pulls(MotionSettings(pull="hold", amplitude=9.0), np.array([1.0, 2.0]), TIMES)
    np.testing.assert_array_equal(found, np.tile([1.0, 2.0], (5, 1)))


def test_a_step_is_there_from_the_start_on_one_cable_only():
    found = pulls(MotionSettings(pull="step", cable=2, amplitude=-1.5), np.array([1.0, 2.0]), TIMES)
    np.testing.assert_array_equal(found, np.tile([1.0, 0.5], (5, 1)))


def test_a_sine_starts_from_the_slider():
    found = pulls(MotionSettings(pull="sine", cable=1, amplitude=1.0, frequency=1.0), np.array([3.0, 2.0]), TIMES)
    np.testing.assert_allclose(found[:, 0], [3.0, 4.0, 3.0, 2.0, 3.0], atol=1e-12)
    np.testing.assert_array_equal(found[:, 1], np.full(5, 2.0))


@pytest.mark.parametrize("pattern", ["pan", "tilt", "3d"])
def test_the_sways_of_the_paper_are_among_them(pattern):
    robot = vb.load("dantuono2023")
    found = sway(robot, MotionSettings(pattern=pattern, amplitude_deg=10.0, period=4 * math.pi))
    paper = motion(CASES[pattern], found.time)
    for name in ("q", "qd", "qdd"):
        np.testing.assert_allclose(getattr(found, name), getattr(paper, name), atol=1e-12)
    np.testing.assert_allclose(found.q[0], found.q[-1], atol=1e-12)


def test_a_planar_robot_only_pans():
    robot = vb.load("hu2023-planar")
    assert patterns(robot) == ("pan",)
    with pytest.raises(InputError, match="parallel"):
        sway(robot, MotionSettings(pattern="tilt"))


def test_a_sway_beyond_a_joints_limit_is_refused():
    mapping = vb.load("dantuono2023").to_mapping()
    mapping["sections"][0]["joint"]["limit"] = "20 deg"
    with pytest.raises(InputError, match="20 deg"):
        sway(vb.load(mapping), MotionSettings(amplitude_deg=21.0))


def test_samples_of_a_sway_are_bounded():
    robot = vb.load("dantuono2023")
    assert len(sway(robot, MotionSettings(period=0.1))) == 201
    assert len(sway(robot, MotionSettings(period=60.0))) == 2001
