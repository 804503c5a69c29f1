from __future__ import annotations

import numpy as np
import pytest

import vertebra as vb
from vertebra.sensing import so3
from vertebra.sensing.calibration.readings import read_readings
from vertebra.sensing.calibration.rest import correlation_length
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames
from vertebra.sensing.wire.can import FAULT, Frame, angles_data, sync_data

ROBOT = vb.load("lapusan2022")


@pytest.mark.parametrize("quaternions", [False, True])
def test_orientations_and_rates_are_brought_to_the_syncs(quaternions):
    """Each sensor samples at its own phase, up to 10 ms before a SYNC; at 30 deg/s that is 0.3 deg."""
    model = SensorModel.ideal(quaternions=quaternions, latency=3e-3, jitter=1e-3, drops=0.1)
    run = simulated_frames(ROBOT, Motion.wander(ROBOT, 1), model, 4.0, 2)
    found = read_readings(run.frames, [0, 1, 2, 3, 4])
    truth = run.truth.frames_at(np.clip(found.times, 0.0, 4.0))[:, :, :3, :3]
    errors = np.degrees(so3.log(np.swapaxes(found.rotations, 0, 1) @ np.swapaxes(truth, 2, 3)))
    assert np.abs(np.swapaxes(errors, 0, 1)[found.seen]).max() < 0.02
    middle = slice(5, -5)
    turned = (
        so3.log(truth[7:-3] @ np.swapaxes(truth[3:-7], 2, 3)) / (found.times[7:-3] - found.times[3:-7])[:, None, None]
    )
    rates = np.einsum("kiab,ikb->ika", truth, found.gyros)
    off = np.degrees(np.abs(rates[:, middle] - np.swapaxes(turned, 0, 1)))[found.gyro_seen[:, middle]]
    assert off.max() < 0.3
    assert found.seen.mean() > 0.75


def test_faults_old_samples_and_strangers():
    frames = [Frame(0x080, sync_data(k, 0.01 * k)) for k in range(4)]
    frames.insert(1, Frame(0x101, angles_data((0.1, 0.2, 0.3), 0, FAULT)))
    frames.insert(3, Frame(0x101, angles_data((0.1, 0.2, 0.3), 1, 0, 0.1)))
    frames.insert(5, Frame(0x101, angles_data((0.1, 0.2, 0.3), 2)))
    frames.append(Frame(0x109, angles_data((0.1, 0.2, 0.3), 3)))
    frames.append(Frame(0x101, b"\x00"))
    found = read_readings(frames, [1])
    assert found.seen.sum() == 1
    np.testing.assert_allclose(found.times, [0.02])
    np.testing.assert_allclose(found.rotations[0, 0], so3.from_roll_pitch_yaw(np.array([0.1, 0.2, 0.3])), atol=1e-4)
    assert found.strangers == (9,)


def test_correlation_length_of_white_and_of_wandering_noise():
    rng = np.random.default_rng(1)
    white = rng.standard_normal((6, 3000))
    seen = rng.random((6, 3000)) < 0.8
    assert correlation_length(white, seen) == pytest.approx(1.0, abs=0.15)
    keep = np.exp(-1 / 20)
    wander = white.copy()
    for k in range(1, 3000):
        wander[:, k] = keep * wander[:, k - 1] + np.sqrt(1 - keep**2) * white[:, k]
    assert correlation_length(wander, seen) == pytest.approx((1 + keep) / (1 - keep), rel=0.3)
