"""The body of the virtual robot: real dynamics that follow a motion, read without delay."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.oracles.mujoco_model import MIXED_MIRROR, MIXED_PLATFORM

import vertebra as vb
from vertebra.sensing import so3
from vertebra.sensing.hil.virtual_robot import VirtualBody
from vertebra.sensing.simulated.motion import Motion, tilted_base

LAPUSAN = vb.load("lapusan2022")


@pytest.mark.parametrize("source", ["lapusan2022", "hu2023-prototype", "yang2023-a", "cai2023", MIXED_MIRROR])
def test_follows_the_motion_whatever_the_joints(source):
    robot = vb.load(source)
    motion = Motion.wander(robot, 2, amplitude=0.3)
    body = VirtualBody(robot, motion, tilted_base(0.5))
    for tick in range(1, 301):
        body.advance(tick * 1e-3)
    assert np.abs(body.angles() - motion.angles(0.3)).max() < np.radians(3)
    frames, _ = body.look()
    twists = np.radians(0.1) * len(robot.joints) if (robot.joints["kind"] == 4).any() else 1e-4
    expected = vb.frames(robot, body.angles())
    assert np.abs(frames[:, :3, 3] - expected[:, :3, 3]).max() < max(1e-5, twists * robot.length)
    turned = np.swapaxes(expected[:, :3, :3], 1, 2) @ frames[:, :3, :3]
    assert np.linalg.norm(so3.log(turned), axis=1).max() < twists


def test_what_is_read_belongs_to_the_coordinates_of_now():
    """A body that is read without bringing MuJoCo up to date is one step, 0.2 mrad here, behind."""
    body = VirtualBody(LAPUSAN, Motion.wander(LAPUSAN, 2), np.eye(3))
    body.advance(0.05)
    frames, _ = body.look()
    assert np.abs(frames - vb.frames(LAPUSAN, body.angles())).max() < 1e-12


@pytest.mark.parametrize("source", ["lapusan2022", MIXED_PLATFORM])
def test_rates_are_derivatives_of_the_frames(source):
    robot = vb.load(source)
    body = VirtualBody(robot, Motion.wander(robot, 2), np.eye(3))
    seen = []
    for tick in range(99, 102):
        body.advance(tick * 1e-3)
        seen.append(body.look())
    turned = np.swapaxes(seen[0][0][:, :3, :3], 1, 2) @ seen[2][0][:, :3, :3]
    assert so3.log(turned) / 2e-3 == pytest.approx(seen[1][1], abs=5e-3)
    assert np.abs(seen[1][1]).max() > 0.1


def test_weight_pulls_down_in_the_world():
    """A robot with a level base leaves straight nowhere; with a tilted one it sags toward the ground."""
    sags = []
    for tilt in (0.0, np.pi / 2):
        body = VirtualBody(LAPUSAN, Motion.straight(LAPUSAN), tilted_base(tilt))
        for tick in range(1, 1001):
            body.advance(tick * 1e-3)
        frames, _ = body.look()
        sags.append((tilted_base(tilt) @ frames[-1, :3, 3])[2] - (tilted_base(tilt) @ [0, 0, 0.294])[2])
    assert abs(sags[0]) < 1e-6
    assert -0.02 < sags[1] < -1e-4


def test_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(vb.InputError, match=r"vertebra\[hil\]"):
        VirtualBody(LAPUSAN, Motion.straight(LAPUSAN), np.eye(3))
