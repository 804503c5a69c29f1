"""The virtual robot tick by tick, without waiting: what it sends is what it did."""

from __future__ import annotations

import numpy as np
from tests.sensing.hil.offline import small_setup

from vertebra.sensing.hil.estimate import replay
from vertebra.sensing.hil.score import score
from vertebra.sensing.hil.virtual_robot import VirtualRobot
from vertebra.sensing.simulated.motion import tilted_base
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.wire.can import ANGLES, SYNC, decode_sync, kind_and_node


def moved(setup, ticks=None):
    robot, frames = VirtualRobot(setup), []
    for tick in range(round(setup.duration * 1000) + 1 if ticks is None else ticks):
        frames += robot.tick(tick)
    return robot, frames + robot.rest()


def test_perfect_sensors_tell_where_its_links_are():
    setup = small_setup(model=SensorModel.ideal(), duration=0.5, base=tilted_base(0.6))
    robot, frames = moved(setup)
    found = score(replay(setup.robot, frames, "chain")[0], robot.truth())
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
    found = score(replay(soft.robot, frames, "pairwise")[0], robot.truth())
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
