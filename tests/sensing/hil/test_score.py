"""Scores of shapes whose errors are known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import vertebra as vb
from vertebra.sensing import so3
from vertebra.sensing.hil.estimate import SensedRun
from vertebra.sensing.hil.score import platforms, score
from vertebra.sensing.sensed_shape import SensorState
from vertebra.sensing.simulated.motion import Motion, tilted_base
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames

ROBOT = vb.load("lapusan2022")
TRUTH = simulated_frames(ROBOT, Motion.wander(ROBOT, 4), SensorModel.ideal(), 1.0, base=tilted_base(0.7)).truth


def sensed(frames=None, angles=None, states=None, times=None):
    times = TRUTH.times if times is None else times
    return SensedRun(
        "chain",
        times,
        TRUTH.angles if angles is None else angles,
        TRUTH.frames_in_base if frames is None else frames,
        np.zeros((len(times), 5), np.int64) if states is None else states,
        np.zeros(0),
    )


def test_the_truth_has_no_error():
    found = score(sensed(), TRUTH)
    assert len(found.times) == len(TRUTH.times)
    # acos-free: rotation vectors keep small angles exact.
    assert found.tip_worst < 1e-12
    assert found.turn_worst < 1e-9
    assert np.abs(found.angle_errors).max() < 1e-12


def test_a_turned_and_shifted_tip():
    frames = TRUTH.frames_in_base.copy()
    frames[:, -1, :3, :3] = frames[:, -1, :3, :3] @ so3.exp(np.array([0.03, 0.0, 0.04]))
    frames[:, -1, :3, 3] += [3e-3, 4e-3, 0.0]
    found = score(sensed(frames), TRUTH)
    assert found.turn_mean == pytest.approx(0.05)
    # The tip is 42 mm along the link's own axis, which turned by 0.03 rad across.
    arm = np.linalg.norm(ROBOT.tip_point) * 2 * math.sin(0.03 / 2)
    assert found.tip_errors == pytest.approx(np.full(101, 5e-3), abs=arm * 1.05)
    assert found.tip_errors.std() > 0
    assert found.platform_distances[:, :-1].max() < 1e-12
    assert found.platform_turns[:, :-1].max() < 1e-9


def test_angles_of_platforms_are_compared_the_short_way_round():
    def turned(angle):
        frames = TRUTH.frames_in_base.copy()
        frames[..., :3, :3] = so3.exp(np.array([0.0, 0.0, angle])) @ frames[..., :3, :3]
        return frames

    found = replace(score(sensed(), TRUTH), true_frames=turned(math.pi - 0.02), frames=turned(math.pi + 0.03))
    assert found.platform_angles[:, 0, 2] == pytest.approx(np.full(101, 0.05))
    assert np.abs(found.platform_angles).max() < 0.06


def test_platforms_are_where_the_next_joint_starts():
    straight = vb.Pose(ROBOT, np.zeros(8)).frames
    assert platforms(ROBOT, straight)[:, 2] == pytest.approx([0.0, 0.084, 0.168, 0.252, 0.336])


def test_joint_errors_are_sensed_less_true():
    found = score(sensed(angles=TRUTH.angles + np.arange(8) * 1e-3), TRUTH)
    assert found.angle_errors.mean(axis=0) == pytest.approx(np.arange(8) * 1e-3)


def test_shapes_before_every_sensor_has_spoken_are_left_out():
    states = np.zeros((101, 5), np.int64)
    states[:7, 2] = SensorState.SILENT
    states[:, 4] = SensorState.SILENT  # never speaks: nothing to wait for
    assert len(score(sensed(states=states), TRUTH).times) == 94


def test_shapes_of_another_run_are_refused():
    with pytest.raises(vb.InputError, match="one run"):
        score(sensed(times=TRUTH.times + 100.0), TRUTH)
