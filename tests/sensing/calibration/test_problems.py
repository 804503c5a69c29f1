from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest
from tests.sensing.calibration.recordings import DEGREE, mounted, poses, variant

import vertebra as vb
from vertebra.errors import PoseError
from vertebra.sensing import so3
from vertebra.sensing.calibration.calibrate import calibrate
from vertebra.sensing.simulated.motion import Motion, SensorTruth
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames
from vertebra.sensing.wire.can import kind_and_node

ROBOT = vb.load("lapusan2022")
QUIET = SensorModel.datasheet(disturbance_share=0.0)


@cache
def brief():
    """Poses that are long enough and a motion that is not."""
    return poses(ROBOT, 1, QUIET, rest=4.0, moving=1.0)


def refused(*recordings, robot=ROBOT):
    with pytest.raises(PoseError) as caught:
        calibrate(robot, *recordings)
    return caught.value


def moving_a_little(amplitude, speed, seconds=6.0):
    motion = Motion.wander(ROBOT, 3, amplitude=amplitude, speed=speed)
    return simulated_frames(ROBOT, motion, QUIET, seconds, 4).frames


def test_a_robot_that_moves_during_the_straight_pose():
    error = refused(moving_a_little(0.05, 0.05))
    assert error.pose == "straight"
    assert error.sensor is not None
    assert "turned at" in str(error)
    assert "hold the robot still" in str(error)


def test_a_robot_that_creeps_is_seen_by_the_vertical():
    """0.6 deg/s does not hide in a gyro bias of half a degree, and a slower creep still tilts."""
    error = refused(moving_a_little(0.05, 0.006, 10.0))
    assert "tilted by" in str(error)


def test_a_tilt_that_is_too_small():
    data = poses(ROBOT, 1, QUIET, rest=4.0, moving=1.0, tilt=5.0)
    error = refused(data.straight, data.tilted)
    assert (error.pose, error.sensor) == ("tilted", None)
    assert "only 5.0 deg" in str(error)
    assert "about 30 deg" in str(error)


def test_a_sensor_that_slips_between_the_poses():
    data = brief()
    slipped = np.tile(np.eye(3), (5, 1, 1))
    slipped[3] = so3.exp(np.array([2.0, 2.0, 0.0]) * DEGREE)
    tilted = mounted(data.tilted, SensorTruth((0, 1, 2, 3, 4), slipped, np.zeros(5), np.zeros((5, 3))))
    error = refused(data.straight, tilted)
    assert (error.pose, error.sensor) == ("tilted", 3)
    assert "fixture" in str(error)


def test_a_joint_that_hardly_moves():
    data = brief()
    motion = Motion.wander(ROBOT, 1)
    sizes = motion.sizes.copy()
    sizes[4:6] *= 0.05
    frames = simulated_frames(ROBOT, Motion(motion.middle, sizes, motion.frequencies, motion.phases), QUIET, 12.0, 5)
    error = refused(data.straight, data.tilted, mounted(frames.frames, data.truth))
    assert {problem.joint for problem in error.problems} == {3}
    assert (error.pose, error.joint) == ("motion", 3)
    assert "20 deg or more" in str(error)


def test_a_silent_sensor_and_a_wrong_robot():
    data = brief()
    heard = [frame for frame in data.straight if kind_and_node(frame.id)[1] != 2]
    error = refused(heard)
    assert (error.pose, error.sensor) == ("straight", 2)
    assert "silent" in str(error)
    error = refused(data.straight, robot=variant("lapusan2022", joints=6))
    assert [problem.sensor for problem in error.problems] == [5, 6]
    error = refused(data.straight, robot=variant("lapusan2022", joints=8, links=[0, 7, 8]))
    assert "the recording has sensors 1, 2, 3, 4 instead" in str(error)
    assert error.problems == pickle.loads(pickle.dumps(error)).problems


def test_recordings_that_are_empty_or_short():
    assert "no answer of any sensor" in str(refused([]))
    data = brief()
    error = refused(data.straight[:500])
    assert "record longer" in str(error)
    error = refused(data.straight, data.tilted, data.motion)
    assert error.pose == "motion"


def test_a_magnet_in_one_pose():
    data = brief()
    headings = np.array([0.0, 0.0, 25.0, 0.0, 0.0]) * DEGREE
    magnet = SensorTruth((0, 1, 2, 3, 4), np.tile(np.eye(3), (5, 1, 1)), headings, np.zeros((5, 3)))
    error = refused(data.straight, mounted(data.tilted, magnet))
    assert 2 in {problem.sensor for problem in error.problems}
    assert "magnets" in str(error)


def test_joints_of_another_kind_do_not_fit():
    """The same sensors on ball joints: their motion is none that universal joints allow."""
    ball = variant("cai2023", joints=4)
    mapping = ROBOT.to_mapping() | {"gravity": ball.to_mapping()["gravity"]}
    data = poses(ball, 2, QUIET, rest=4.0, moving=15.0, amplitude=0.6, sync_rate=50.0)
    error = refused(data.straight, data.tilted, data.motion, robot=vb.load(mapping))
    assert {problem.pose for problem in error.problems} == {"motion"}
    assert error.joint is not None
    assert "kind, order and azimuth" in str(error)


def test_a_base_that_moves():
    data = brief()
    links = variant("lapusan2022", joints=5, links=[1, 2, 3, 4, 5])
    # Sensors one link farther out: what is called the base moves.
    frames = simulated_frames(links, Motion.wander(links, 1), QUIET, 12.0, 5).frames
    shifted = [f._replace(id=f.id - 1) if f.id != 0x080 else f for f in frames]
    error = refused(data.straight, data.tilted, shifted)
    assert (error.pose, error.sensor) == ("motion", 0)
    assert "fix it" in str(error)
