from __future__ import annotations

from collections import deque

import pytest
from tests.waiting import SetClock

import vertebra as vb
from vertebra.errors import PoseError
from vertebra.sensing.calibration import guided
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import START, simulated_frames
from vertebra.sensing.wire.can import Frame

ROBOT = vb.load("lapusan2022")
MODEL = SensorModel.datasheet(disturbance_share=0.0)


@pytest.fixture
def player(monkeypatch):
    """Plays simulated frames to the guide, one recording after the other, by a clock that the frames move."""
    clock, frames = SetClock(START), deque[Frame]()

    def receive(_bus, timeout):
        if not frames or frames[0].time > clock.now + timeout:
            clock.sleep(timeout)
            return None
        clock.now = max(clock.now, frames[0].time)
        return frames.popleft()

    monkeypatch.setattr(guided, "receive", receive)
    monkeypatch.setattr(guided, "time", clock)
    return frames.extend


def test_a_pose_at_rest_is_recorded_when_the_robot_is_still(player):
    frames = simulated_frames(ROBOT, Motion.straight(ROBOT), MODEL, 6.0, 1).frames
    player(frames)
    told = []
    found = guided.record_rest(None, ROBOT, "straight", 2.0, told.append)
    assert len(found) > 1000
    assert "do not touch" in told[-1]


def test_a_robot_that_does_not_come_to_rest_is_refused(player, monkeypatch):
    monkeypatch.setattr(guided, "PATIENCE", 1.5)
    frames = simulated_frames(ROBOT, Motion.wander(ROBOT, 1), MODEL, 6.0, 1).frames
    player(frames)
    told = []
    with pytest.raises(PoseError, match="hold the robot still"):
        guided.record_rest(None, ROBOT, "tilted", 2.0, told.append)
    assert told[0].startswith("waiting")


def test_joints_that_move_too_little_are_named():
    motion = Motion.wander(ROBOT, 1)
    sizes = motion.sizes.copy()
    sizes[2:4] = 0.0
    still = Motion(motion.middle, sizes, motion.frequencies, motion.phases)
    frames = simulated_frames(ROBOT, still, MODEL, 12.0, 1).frames
    bent = guided.BendRange(ROBOT)
    assert bent.unbent() == [1, 2, 3, 4]
    bent.add(guided.read_readings(frames, [0, 1, 2, 3, 4]))
    assert bent.unbent() == [2]


def test_motion_is_recorded_with_a_count_down(player):
    frames = simulated_frames(ROBOT, Motion.wander(ROBOT, 1), MODEL, 8.0, 1).frames
    player(frames)
    told = []
    found = guided.record_motion(None, ROBOT, 6.2, told.append)
    assert len(found) > 3000
    assert any(text.startswith("5 s left") for text in told)
