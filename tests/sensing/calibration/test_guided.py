from __future__ import annotations

import os
import threading
import time

import pytest

import vertebra as vb
from vertebra.errors import PoseError
from vertebra.sensing.calibration import guided
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import START, simulated_frames
from vertebra.sensing.wire.bus import open_bus, send

ROBOT = vb.load("lapusan2022")
MODEL = SensorModel.datasheet(disturbance_share=0.0)


@pytest.fixture
def player():
    """Plays simulated frames on a virtual bus in real time, one recording after the other."""
    url, stop = f"virtual://{os.urandom(8).hex()}", threading.Event()
    threads = []

    def play(frames):
        def run():
            with open_bus(url) as bus:
                began = time.monotonic()
                for frame in frames:
                    delay = frame.time - START - (time.monotonic() - began)
                    if delay > 0 and stop.wait(delay):
                        return
                    send(bus, frame)

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        return url

    yield play
    stop.set()
    for thread in threads:
        thread.join(timeout=10)


def test_a_pose_at_rest_is_recorded_when_the_robot_is_still(player):
    frames = simulated_frames(ROBOT, Motion.straight(ROBOT), MODEL, 6.0, 1).frames
    told = []
    with open_bus(player(frames)) as bus:
        found = guided.record_rest(bus, ROBOT, "straight", 2.0, told.append)
    assert len(found) > 1000
    assert "do not touch" in told[-1]


def test_a_robot_that_does_not_come_to_rest_is_refused(player, monkeypatch):
    monkeypatch.setattr(guided, "PATIENCE", 1.5)
    frames = simulated_frames(ROBOT, Motion.wander(ROBOT, 1), MODEL, 6.0, 1).frames
    told = []
    with open_bus(player(frames)) as bus, pytest.raises(PoseError, match="hold the robot still"):
        guided.record_rest(bus, ROBOT, "tilted", 2.0, told.append)
    assert told[0].startswith("waiting")


def test_joints_that_move_too_little_are_named():
    motion = Motion.wander(ROBOT, 1)
    sizes = motion.sizes.copy()
    sizes[2:4] = 0.0
    still = Motion(motion.middle, sizes, motion.frequencies, motion.phases)
    frames = simulated_frames(ROBOT, still, MODEL, 12.0, 1).frames
    watch = guided.BendWatch(ROBOT)
    assert watch.unbent() == [1, 2, 3, 4]
    watch.add(guided.read_readings(frames, [0, 1, 2, 3, 4]))
    assert watch.unbent() == [2]


def test_motion_is_recorded_with_a_count_down(player):
    frames = simulated_frames(ROBOT, Motion.wander(ROBOT, 1), MODEL, 8.0, 1).frames
    told = []
    with open_bus(player(frames)) as bus:
        found = guided.record_motion(bus, ROBOT, 6.2, told.append)
    assert len(found) > 3000
    assert any(text.startswith("5 s left") for text in told)
