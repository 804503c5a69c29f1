"""Shapes of ball-joint robots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests import robots

import vertebra as vb
from vertebra.errors import InputError, OutOfRange

ROBOT = vb.load("cai2023")


def test_the_named_shapes():
    assert vb.BallShape.straight(ROBOT).bends.tolist() == [0.0] * 19
    arc = vb.BallShape.arc(ROBOT, 0.1, 0.5)
    assert arc.bends.tolist() == [0.1] * 19
    assert arc.azimuths.tolist() == [0.5] * 19
    s_curve = vb.BallShape.s_curve(ROBOT, 0.05, 1.0)
    assert s_curve.bends.tolist() == [0.05] * 10 + [-0.05] * 9
    assert s_curve.azimuths.tolist() == [1.0] * 19
    spiral = vb.BallShape.spiral(ROBOT, 0.14)
    assert spiral.bends.tolist() == [0.14] * 19
    assert spiral.azimuths == pytest.approx(np.linspace(0, math.pi, 19))
    assert vb.BallShape.spiral(ROBOT, 0.14, -1.0, 2.0).azimuths[[0, 9, 18]] == pytest.approx([-1.0, 0.5, 2.0])


def test_an_even_number_of_joints_has_two_equal_halves():
    mapping = ROBOT.to_mapping()
    mapping["sections"][0]["joints"] = 6
    assert vb.BallShape.s_curve(vb.load(mapping), 0.1).bends.tolist() == [0.1] * 3 + [-0.1] * 3
    mapping["sections"][0]["joints"] = 1
    one = vb.load(mapping)
    assert vb.BallShape.s_curve(one, 0.1).bends.tolist() == [0.1]
    assert vb.BallShape.spiral(one, 0.1, 0.3, 0.9).azimuths.tolist() == [0.3]


def test_coordinates_are_what_frames_takes():
    """A bend turns the link after the joint about z x toward-the-azimuth."""
    rng = np.random.default_rng(1)
    bends, azimuths = rng.uniform(-1, 1, 19), rng.uniform(-3, 3, 19)
    frames = vb.Pose(ROBOT, vb.BallShape(bends, azimuths).coordinates).frames
    for j in range(19):
        turn = frames[j, :3, :3].T @ frames[j + 1, :3, :3]
        z = turn[:, 2]
        toward = np.array([math.cos(azimuths[j]), math.sin(azimuths[j]), 0.0])
        assert z == pytest.approx(math.sin(bends[j]) * toward + [0, 0, math.cos(bends[j])], abs=1e-12)
        axis = np.array([-math.sin(azimuths[j]), math.cos(azimuths[j]), 0.0])
        assert turn @ axis == pytest.approx(axis, abs=1e-12)
    assert vb.BallShape(bends, azimuths).coordinates.shape == (38,)
    assert vb.BallShape(np.tile(bends, (2, 1)), np.tile(azimuths, (2, 1))).coordinates.shape == (2, 38)


def test_an_s_curve_comes_back_to_its_direction():
    mapping = ROBOT.to_mapping()
    mapping["sections"][0]["joints"] = 8
    robot = vb.load(mapping)
    tip = vb.Pose(robot, vb.BallShape.s_curve(robot, 0.2, 0.7).coordinates).frames[-1]
    assert tip[:3, :3] == pytest.approx(np.eye(3), abs=1e-12)
    assert math.atan2(tip[1, 3], tip[0, 3]) == pytest.approx(0.7)


def test_shapes_are_checked():
    with pytest.raises(OutOfRange) as caught:
        vb.BallShape.of(ROBOT, [0.1] * 6 + [2.0] + [0.1] * 12)
    assert (caught.value.joint, caught.value.angle) == (7, 2.0)
    assert "rad" in str(caught.value)
    for bends, azimuths, name in (
        ([0.1] * 18, 0.0, "bends"),
        (math.nan, 0.0, "bends"),
        ("bent", 0.0, "bends"),
        (0.1, [0.1, 0.2], "azimuths"),
        (0.1, math.inf, "azimuths"),
        (np.zeros((2, 19)), 0.0, "bends"),
    ):
        with pytest.raises(InputError) as wrong:
            vb.BallShape.of(ROBOT, bends, azimuths)
        assert wrong.value.argument == name
    for other in ("hu2023-planar", "lapusan2022"):
        with pytest.raises(InputError, match="ball") as wrong:
            vb.BallShape.straight(vb.load(other))
        assert wrong.value.argument == "robot"
    with pytest.raises(InputError, match="joint 4 is a flexure joint"):
        vb.BallShape.straight(robots.ball_first())


def test_the_limit_itself_is_allowed():
    assert vb.BallShape.arc(ROBOT, math.pi / 2).bends[0] == math.pi / 2
    assert vb.BallShape.arc(ROBOT, -math.pi / 2).bends[0] == -math.pi / 2


def test_shapes_are_copies():
    bends = np.full(19, 0.1)
    bends.flags.writeable = False
    shape = vb.BallShape.of(ROBOT, bends, np.full(38, 0.2)[::2])
    shape.bends[0] = 5.0
    assert bends[0] == 0.1
    assert shape.azimuths.tolist() == [0.2] * 19
    assert shape.azimuths.flags.c_contiguous
