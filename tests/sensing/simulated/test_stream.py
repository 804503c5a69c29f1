"""Simulated frames decode back to the truth, within the errors that were asked for and no less."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

import vertebra as vb
from vertebra.sensing import so3
from vertebra.sensing.simulated.motion import Motion, chain_motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import START, SimulatedSensors, simulated_frames
from vertebra.sensing.wire.can import (
    ANGLES,
    DISTURBED,
    GYRO,
    HEARTBEAT,
    QUATERNION,
    SYNC,
    decode_angles,
    decode_gyro,
    decode_quaternion,
    decode_sync,
    kind_and_node,
)  # fmt: skip

ROBOT = vb.load("lapusan2022")
DEGREE = math.pi / 180
BASE = so3.exp(np.array([0.3, -0.5, 1.1]))
LONG = 60.0 if os.environ.get("VERTEBRA_SOAK") == "1" else 20.0
"""s, for what only shows in the mean."""


def run(model, duration=4.0, seed=7, motion=None, **options):
    return simulated_frames(ROBOT, motion or Motion.wander(ROBOT, 3), model, duration, seed, **options)


def decoded(simulation, kind, decode):
    """{node: (times of the samples, values, statuses)}; stamped with the SYNC whose low four bits they carry."""
    syncs = {0: 0.0}
    result: dict[int, list] = {}
    for frame in simulation.frames:
        found = kind_and_node(frame.id)
        if found[0] == SYNC:
            sync = decode_sync(frame.data)
            syncs[sync.counter & 15] = sync.time
        elif found[0] == kind:
            sample = decode(frame.data)
            result.setdefault(found[1], []).append((syncs[sample.counter] - sample.age, sample.values, sample.status))
    return {node: tuple(np.array(part) for part in zip(*rows, strict=True)) for node, rows in result.items()}


def euler(angles):
    roll, pitch, yaw = angles.T
    zero = np.zeros_like(roll)
    about_y, about_x = np.stack([zero, pitch, zero], 1), np.stack([roll, zero, zero], 1)
    return so3.about_z(yaw) @ so3.exp(about_y) @ so3.exp(about_x)


def true_motion(times, twist=0.0, seed=7):
    twisting = Motion.twisting(4, twist, seed)
    frames, rates = chain_motion(ROBOT, Motion.wander(ROBOT, 3), twisting, times, 5)
    return frames[..., :3, :3], rates


def errors_of(simulation, base=BASE, twist=0.0):
    """{node: (K, 3) world rotation errors, rad}."""
    errors = {}
    for node, (times, values, _) in decoded(simulation, ANGLES, decode_angles).items():
        truth = base @ true_motion(times, twist)[0][:, node]
        errors[node] = so3.log(euler(values) @ np.swapaxes(truth, 1, 2))
    return errors


@pytest.mark.parametrize("twist", [0.0, 0.05])
def test_ideal_sensors_tell_the_truth(twist):
    simulation = run(SensorModel.ideal(twist=twist), base=BASE)
    errors = errors_of(simulation, twist=twist)
    assert sorted(errors) == [0, 1, 2, 3, 4]
    # Half a count of the angles, and the speed times half a count of the age.
    assert max(np.abs(error).max() for error in errors.values()) < 3 * (180 / 65536 * DEGREE + 2.0 * 0.05e-3)
    for node, (times, values, _) in decoded(simulation, GYRO, decode_gyro).items():
        assert np.abs(values - true_motion(times, twist)[1][:, node]).max() < 2000 / 65536 * DEGREE + 1e-3


def test_quaternions_tell_the_truth():
    simulation = run(SensorModel.ideal(quaternions=True), base=BASE)
    assert not decoded(simulation, ANGLES, decode_angles)
    for node, (times, values, _) in decoded(simulation, QUATERNION, decode_quaternion).items():
        axis_angle = so3.log(BASE @ true_motion(times)[0][:, node])
        half = np.linalg.norm(axis_angle, axis=1) / 2
        expected = np.column_stack([np.cos(half), axis_angle * (np.sin(half) / (2 * half))[:, None]])
        assert np.abs(np.abs((values * expected).sum(axis=1)) - 1).max() < 1e-7


def test_noise_has_the_size_asked_for():
    model = SensorModel(tilt_noise=0.5 * DEGREE, heading_noise=2 * DEGREE)
    error = np.concatenate(list(errors_of(run(model, 10.0, base=BASE)).values()))
    assert error.std(axis=0) / DEGREE == pytest.approx([0.5, 0.5, 2.0], rel=0.05)
    assert np.abs(error.mean(axis=0)).max() < 0.1 * DEGREE


def test_heading_wanders_over_its_correlation_time():
    model = SensorModel(tilt_noise=0.0, heading_correlation=0.2)
    series = [error[:, 2] for error in errors_of(run(model, LONG, base=BASE)).values()]
    near = [(s[:-20] * s[20:]).mean() / s.var() for s in series]
    assert np.mean(near) == pytest.approx(math.exp(-1), abs=0.08)
    assert np.std(np.concatenate(series)) == pytest.approx(1.5 * DEGREE, rel=0.1)


def test_constant_errors_are_those_of_the_truth():
    model = SensorModel.ideal(mount=5 * DEGREE, heading_bias=10 * DEGREE, gyro_bias=0.1)
    simulation = run(model, base=BASE)
    sensors = simulation.sensors
    assert sensors.mounts.std() > 0
    for row, (times, values, _) in decoded(simulation, ANGLES, decode_angles).items():
        expected = so3.about_z(sensors.headings[row]) @ BASE @ true_motion(times)[0][:, row] @ sensors.mounts[row]
        assert np.abs(so3.log(euler(values) @ np.swapaxes(expected, 1, 2))).max() < 5e-4
    for row, (times, values, _) in decoded(simulation, GYRO, decode_gyro).items():
        expected = true_motion(times)[1][:, row] @ sensors.mounts[row] + sensors.gyro_biases[row]
        assert np.abs(values - expected).max() < 2e-3


def test_bursts_come_as_often_and_as_large_as_asked_for():
    sizes = (5 * DEGREE, 20 * DEGREE)
    model = SensorModel.ideal(disturbance=sizes, disturbance_share=0.3, disturbance_duration=0.5, flagged=1.0)
    simulation = run(model, LONG, base=BASE)
    errors, samples = errors_of(simulation), decoded(simulation, ANGLES, decode_angles)
    flagged = np.concatenate([samples[node][2] == DISTURBED for node in samples])
    heading = np.concatenate([np.abs(errors[node][:, 2]) for node in samples])
    assert flagged.mean() * 5 == pytest.approx(0.3, rel=0.2)
    assert heading[~flagged].max() < 1e-3
    assert sizes[0] < heading[flagged].max() < sizes[1] + 1e-3


def test_bursts_are_not_reported_when_no_node_flags_them():
    model = SensorModel.ideal(disturbance=(0.1, 0.2), disturbance_share=0.5, flagged=0.0)
    simulation = run(model, 20.0, base=BASE)
    assert max(np.abs(error).max() for error in errors_of(simulation).values()) > 0.1
    assert not any(status.any() for _, _, status in decoded(simulation, ANGLES, decode_angles).values())


def test_losses_hit_answers_and_syncs_alike():
    simulation = run(SensorModel.ideal(drops=0.2, heartbeat=0.0), 20.0)
    kinds = [kind_and_node(frame.id)[0] for frame in simulation.frames]
    assert kinds.count(SYNC) == pytest.approx(2001 * 0.8, rel=0.05)
    assert kinds.count(ANGLES) == pytest.approx(5 * 2001 * 0.64, rel=0.03)
    assert simulation.unheard == pytest.approx(5 * 2001 * 0.2, rel=0.1)
    assert simulation.sent - simulation.dropped == len(simulation.frames)


def test_frames_arrive_late_and_in_order_of_arrival():
    simulation = run(SensorModel.ideal(latency=5e-3, jitter=2e-3))
    times = np.array([frame.time for frame in simulation.frames]) - START
    assert (np.diff(times) >= 0).all()
    stamps = np.array([decode_sync(frame.data).time for frame in simulation.frames if frame.id == SYNC])
    delays = np.array([frame.time - START for frame in simulation.frames if frame.id == SYNC]) - np.sort(stamps)
    assert delays.mean() == pytest.approx(5e-3, rel=0.1)
    assert delays.min() >= 3e-3 - 1e-6


def test_a_sensor_falls_silent():
    simulation = run(SensorModel.ideal(), silent={2: 1.5})
    samples = decoded(simulation, ANGLES, decode_angles)
    assert samples[2][0].max() < 1.5
    assert samples[3][0].max() > 3.9
    assert any(kind_and_node(frame.id)[0] == HEARTBEAT for frame in simulation.frames)


def test_the_same_seed_gives_the_same_bits():
    model = SensorModel.datasheet(twist=0.01)
    assert run(model).frames == run(model).frames
    assert run(model).frames != run(model, seed=8).frames


def test_default_base_follows_gravity():
    robot = vb.load(ROBOT.to_mapping() | {"gravity": "wall"})
    base = simulated_frames(robot, Motion.straight(robot), SensorModel.ideal(), 0.1).truth.base
    assert base @ robot.gravity == pytest.approx([0, 0, -np.linalg.norm(robot.gravity)])


def test_truth_between_syncs():
    truth = run(SensorModel.ideal(), base=BASE).truth
    times = np.array([0.0, 0.5, 1.234, 4.0])
    exact = true_motion(times)[0]
    assert np.abs(truth.frames_at(times)[..., :3, :3] - BASE @ exact).max() < 1e-5
    assert np.abs(truth.frames_at(0.5)[0] - truth.frames[50]).max() < 1e-12
    assert np.abs(truth.frames_in_base[0] - vb.Pose(ROBOT, truth.angles[0]).frames).max() < 1e-12
    with pytest.raises(vb.InputError, match="within"):
        truth.frames_at(4.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"silent": {9: 1.0}}, "no sensor 9"), ({"base": np.ones((3, 3))}, "rotation"), ({"sync_rate": 0.0}, "above 0")],
)
def test_refuses(options, message):
    with pytest.raises(vb.InputError, match=message):
        run(SensorModel.ideal(), 0.1, **options)


@pytest.mark.parametrize(
    "wrong", [{"rate": 0}, {"drops": 1.5}, {"tilt_noise": -1}, {"jitter": 1e-3}, {"disturbance": (2.0, 1.0)}]
)
def test_model_refuses(wrong):
    with pytest.raises(vb.InputError, match=next(iter(wrong))):
        SensorModel(**wrong)


def test_sensors_driven_step_by_step_say_what_the_stream_says():
    """Same errors, so the only difference is when a sample is taken: at the next step after it is due."""
    model = SensorModel(heartbeat=0.0)
    sensors = SimulatedSensors(ROBOT, model, 0.5, seed=7)
    step, frames = 1e-4, []
    rotations, rates = true_motion(np.arange(5001) * step)
    for number in range(5001):
        time = number * step
        if time >= sensors.due:
            sensors.feed(time, BASE @ rotations[number], rates[number])
        if number % 100 == 0 and number:
            frames += sensors.sync(number // 100, time)
    stream = [frame for frame in run(model, 0.5, base=BASE).frames if frame.time - START > 0.005]
    ours = {(frame.id, frame.data[6] & 15, round(frame.time * 100)): frame for frame in frames if frame.id != SYNC}
    assert len(ours) == 5 * 2 * 50
    for frame in stream:
        if kind_and_node(frame.id)[0] == ANGLES:
            again = ours[frame.id, frame.data[6] & 15, round((frame.time - START) * 100)]
            one, two = decode_angles(frame.data), decode_angles(again.data)
            assert one.values == pytest.approx(two.values, abs=1e-3)
            assert one.age == pytest.approx(two.age, abs=2.1e-4)
