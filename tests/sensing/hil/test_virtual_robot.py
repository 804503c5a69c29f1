"""The virtual robot tick by tick, without waiting: what it sends is what it did."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.oracles.mujoco_model import MIXED_MIRROR, MIXED_PLATFORM
from tests.sensing.hil.offline import small_setup
from tests.waiting import SetClock

import vertebra as vb
from vertebra.sensing import so3
from vertebra.sensing.hil import virtual_robot
from vertebra.sensing.hil.estimate import sense_frames
from vertebra.sensing.hil.score import score
from vertebra.sensing.hil.virtual_robot import (
    Account,
    HilSetup,
    TickClock,
    VirtualBody,
    VirtualRobot,
    load_truth,
    save_truth,
)
from vertebra.sensing.simulated.motion import Motion, tilted_base
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames
from vertebra.sensing.wire.can import ANGLES, SYNC, decode_sync, kind_and_node

LAPUSAN = vb.load("lapusan2022")


def moved(setup, ticks=None):
    robot, frames = VirtualRobot(setup), []
    for tick in range(round(setup.duration * 1000) + 1 if ticks is None else ticks):
        frames += robot.tick(tick)
    return robot, frames + robot.rest()


def test_perfect_sensors_tell_where_its_links_are():
    setup = small_setup(model=SensorModel.ideal(), duration=0.5, base=tilted_base(0.6))
    robot, frames = moved(setup)
    found = score(sense_frames(setup.robot, frames, "chain")[0], robot.truth())
    assert len(found.times) > 45
    settled = found.times > 0.1  # the servos start with a jerk
    assert found.tip_errors[settled].max() < 4e-5
    assert found.platform_turns[settled].max() < 4e-4


def test_twist_is_in_the_sensors_and_in_the_truth():
    stiff = small_setup(model=SensorModel.ideal(), duration=0.1)
    soft = small_setup(model=SensorModel.ideal(twist=0.05), duration=0.1)
    truths = [moved(setup)[0].truth() for setup in (stiff, soft)]
    assert np.abs(truths[1].twists).max() > 0.01
    assert np.abs(truths[0].frames - truths[1].frames).max() > 0.01
    robot, frames = moved(soft)
    found = score(sense_frames(soft.robot, frames, "pairwise")[0], robot.truth())
    assert found.platform_turns[:, 0].max() < 1e-3


def test_master_beats_at_the_times_of_the_truth():
    setup = small_setup(model=SensorModel.ideal(), duration=0.3, sync_rate=50.0)
    robot, frames = moved(setup)
    beats = [decode_sync(frame.data) for frame in frames if frame.id == SYNC]
    assert [beat.counter for beat in beats] == list(range(16))
    assert np.abs([beat.time for beat in beats] - robot.truth().times).max() < 1e-6


def test_frames_come_late_by_the_latency_and_none_is_forgotten():
    setup = small_setup(model=SensorModel.ideal(latency=20e-3), duration=0.1)
    robot = VirtualRobot(setup)
    early = [frame for tick in range(20) for frame in robot.tick(tick)]
    later = [frame for tick in range(20, 101) for frame in robot.tick(tick)] + robot.rest()
    assert early == []
    assert len(later) == robot.sensors.transport.sent


def test_a_sensor_dies():
    setup = small_setup(model=SensorModel.ideal(heartbeat=0.0), duration=0.3, silent={3: 0.15})
    _, frames = moved(setup)
    counts = [sum(kind_and_node(frame.id) == (ANGLES, node) for frame in frames) for node in range(5)]
    assert counts[3] < 0.6 * counts[2]
    assert counts[2] >= 29


def test_the_same_setup_gives_the_same_frames():
    setup = small_setup(duration=0.2)
    assert moved(setup)[1] == moved(setup)[1]


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
    expected = vb.Pose(robot, body.angles()).frames
    assert np.abs(frames[:, :3, 3] - expected[:, :3, 3]).max() < max(1e-5, twists * robot.length)
    turned = np.swapaxes(expected[:, :3, :3], 1, 2) @ frames[:, :3, :3]
    assert np.linalg.norm(so3.log(turned), axis=1).max() < twists


def test_what_is_read_belongs_to_the_coordinates_of_now():
    """A body that is read without bringing MuJoCo up to date is one step, 0.2 mrad here, behind."""
    body = VirtualBody(LAPUSAN, Motion.wander(LAPUSAN, 2), np.eye(3))
    body.advance(0.05)
    frames, _ = body.look()
    assert np.abs(frames - vb.Pose(LAPUSAN, body.angles()).frames).max() < 1e-12


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


def test_pace_is_kept_from_the_start_and_lateness_is_counted(monkeypatch):
    clock = SetClock(50.0)
    monkeypatch.setattr(virtual_robot, "time", clock)
    ticking, begun = TickClock(5e-3, 50.02), []
    for tick in ticking.ticks(20):
        begun.append(clock.now - 50.02)
        if tick == 4:
            clock.sleep(0.022)
    # The 22 ms of the fifth tick make three more late by over 5 ms and one by 2 ms; then nothing is left of them.
    wanted = np.arange(20) * 5e-3
    wanted[5:9] = 0.042
    assert begun == pytest.approx(wanted, abs=1e-9)
    assert ticking.overruns == 3
    assert ticking.worst == pytest.approx(0.017)


def test_a_setup_survives_its_file():
    setup = small_setup(model=SensorModel.uncalibrated(twist=0.01), base=tilted_base(1.0), silent={2: 1.5}, seed=4)
    again = HilSetup.from_text(setup.to_text())
    assert (again.robot, again.model, again.silent, again.seed) == (setup.robot, setup.model, {2: 1.5}, 4)
    assert (again.base == setup.base).all()
    assert (again.motion.angles(1.7) == setup.motion.angles(1.7)).all()
    assert again.to_text() == setup.to_text()


@pytest.mark.parametrize("wrong", [{"duration": 0.0}, {"method": "guess"}, {"sync_rate": 5000.0}])
def test_a_setup_refuses(wrong):
    with pytest.raises(vb.InputError, match=next(iter(wrong))):
        small_setup(**wrong)


def test_the_truth_survives_its_file(tmp_path):
    setup = small_setup(model=SensorModel.uncalibrated(), duration=0.1)
    run = simulated_frames(setup.robot, setup.motion, setup.model, 0.1)
    account = Account(10, 2, 1, 100, 3, 0.004)
    save_truth(tmp_path / "truth.npz", run.truth, run.sensors, account)
    truth, sensors, found = load_truth(tmp_path / "truth.npz", setup.robot)
    assert found == account
    assert found.on_bus == 8
    for name in ("times", "angles", "twists", "frames", "base"):
        assert (getattr(truth, name) == getattr(run.truth, name)).all()
    assert sensors.sensors == run.sensors.sensors
    assert (sensors.mounts == run.sensors.mounts).all()
    assert [file.name for file in tmp_path.iterdir()] == ["truth.npz"]
