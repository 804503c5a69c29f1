"""Perfect orientations give back the joint angles and poses of MuJoCo, whatever the robot and however it stands."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.oracles.lapusan2022 import eq_3, eq_4, eq_5, eq_6
from tests.oracles.mujoco_model import MujocoModel
from tests.oracles.sensed_chain import world_frames
from tests.sensing.cases import every_kind, fed, random_pose, random_rotation, universal, with_sensors

import vertebra as vb
from vertebra.sensing.estimator import ShapeEstimator, shape_from_orientations

LONG = [universal(count, order) for count, order in ((4, "yx"), (8, "xy"), (13, "yx"), (20, "xy"))]
ROBOTS = {robot.name: robot for robot in [*every_kind(), *LONG]}


@pytest.fixture(scope="module", params=ROBOTS.values(), ids=ROBOTS)
def posed(request):
    return MujocoModel(request.param)


def truth(posed, rng, share=0.9):
    """Joint angles, orientation of the base, and MuJoCo's frames and tip in the world."""
    q, base = random_pose(posed.robot, rng, share), random_rotation(rng)
    posed.pose(q)
    frames = posed.frames().copy()
    frames[:, :3, :] = base @ frames[:, :3, :]
    return q, base, frames, base @ posed.tip()


@pytest.mark.parametrize("method", ["chain", "pairwise"])
def test_angles_and_poses_are_those_of_mujoco(posed, method):
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, base, frames, tip = truth(posed, rng)
        shape = shape_from_orientations(posed.robot, frames[:, :3, :3], method)
        np.testing.assert_allclose(shape.angles, q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(shape.frames, frames, rtol=0, atol=1e-9)
        np.testing.assert_allclose(shape.tip, tip, rtol=0, atol=1e-9)
        np.testing.assert_allclose(shape.base, base, rtol=0, atol=1e-9)
        np.testing.assert_allclose(shape.joint_twists, 0.0, atol=1e-9)
        assert shape.converged
        assert {health.state for health in shape.health} == {"ok"}
        assert max(shape.tilt_residuals.max(), np.abs(shape.heading_residuals).max()) < 1e-9


@pytest.mark.parametrize("method", ["chain", "pairwise"])
def test_quaternions_angles_and_matrices_say_the_same(posed, method):
    rng = np.random.default_rng(1)
    q, _, frames, _ = truth(posed, rng)
    turns = Rotation.from_matrix(frames[:, :3, :3])
    # Of either sign, as filters give them, and not quite of length 1.
    quaternions = -0.999 * turns.as_quat()[:, [3, 0, 1, 2]]
    for orientations in (turns.as_matrix(), quaternions, turns.as_euler("ZYX")[:, ::-1]):
        shape = fed(posed.robot, orientations, method=method).solve()
        np.testing.assert_allclose(shape.angles, q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(shape.frames, frames, rtol=0, atol=1e-9)


@pytest.mark.parametrize("pitch", [90, -90])
def test_angles_at_pitch_90_deg(pitch):
    """Roll and yaw are not unique there; every pair of them is the same orientation."""
    robot = vb.load("lapusan2022")
    base = Rotation.from_euler("ZYX", [35, pitch, -20], degrees=True)
    with pytest.warns(UserWarning, match="Gimbal"):
        angles = base.as_euler("ZYX")[::-1]
    for roll in (0.0, 0.4):
        turned = angles + roll * np.array([1.0, 0.0, np.sign(pitch)])
        shape = fed(robot, [turned] * 5).solve()
        np.testing.assert_allclose(shape.angles, 0.0, atol=1e-9)
        np.testing.assert_allclose(shape.base, base.as_matrix(), atol=1e-9)


@pytest.mark.parametrize("robot", every_kind(), ids=lambda robot: robot.name)
@pytest.mark.parametrize("method", ["chain", "pairwise"])
def test_a_known_base_needs_no_sensor(robot, method):
    rng = np.random.default_rng(2)
    robot = with_sensors(robot, links=list(range(1, len(robot.links))))
    q, base = random_pose(robot, rng), random_rotation(rng)
    frames = vb.Pose(robot, q).frames
    frames[:, :3, :] = base @ frames[:, :3, :]
    shape = shape_from_orientations(robot, frames[1:, :3, :3], method, base=base)
    np.testing.assert_allclose(shape.angles, q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(shape.frames, frames, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["chain", "pairwise"])
def test_a_known_base_is_believed_more_than_its_sensor(method):
    rng = np.random.default_rng(7)
    robot = universal(4)
    q, base = random_pose(robot, rng), random_rotation(rng)
    rotations = base @ vb.Pose(robot, q).frames[:, :3, :3]
    rotations[0] = Rotation.from_rotvec([0.0, 0.0, 0.5]).as_matrix() @ rotations[0]
    shape = shape_from_orientations(robot, rotations, method, base=base)
    np.testing.assert_allclose(shape.angles, q, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(shape.base, base)


@pytest.mark.parametrize("method", ["chain", "pairwise"])
def test_a_robot_without_a_base_sensor_stands_as_its_first_sensor_says(method):
    rng = np.random.default_rng(3)
    robot = universal(5, links=[1, 2, 3, 4, 5])
    base, q = random_rotation(rng), random_pose(robot, rng)
    q[:2] = 0.0
    rotations = base @ vb.Pose(robot, q).frames[:, :3, :3]
    shape = shape_from_orientations(robot, rotations[1:], method)
    np.testing.assert_allclose(shape.frames[:, :3, :3], rotations, atol=1e-9)


@pytest.mark.parametrize("method", ["chain", "pairwise"])
def test_unmeasured_links_share_a_bend_evenly(method):
    robot = universal(6, links=[0, 3, 6])
    q = np.tile([0.2, 0.0], 6)
    rotations = vb.Pose(robot, q).frames[[0, 3, 6], :3, :3]
    shape = shape_from_orientations(robot, rotations, method)
    np.testing.assert_allclose(shape.angles, q, atol=1e-6)


@pytest.mark.parametrize("method", ["chain", "pairwise"])
def test_lapusans_equations_as_printed_are_off_where_these_methods_are_exact(method):
    robot, rng = vb.load("lapusan2022"), np.random.default_rng(4)
    base = Rotation.from_euler("z", 30, degrees=True).as_matrix()
    for _ in range(20):
        q = random_pose(robot, rng, 0.3)
        frames = vb.Pose(robot, q).frames
        rotations = base @ frames[:, :3, :3]
        right = shape_from_orientations(robot, rotations, method)
        printed = shape_from_orientations(robot, rotations, "paper")
        tip = vb.Pose(robot, q).tip_frame[:3, 3]
        assert np.linalg.norm(right.tip_in_base - tip) < 1e-9
        assert np.linalg.norm(printed.tip_in_base - tip) > 1e-3


def test_the_paper_is_its_printed_equations():
    robot, rng = vb.load("lapusan2022"), np.random.default_rng(8)
    d1, d2 = robot.joints["size"][0], robot.links["reach"][1]
    for _ in range(5):
        rotations = random_rotation(rng) @ vb.Pose(robot, random_pose(robot, rng, 0.3)).frames[:, :3, :3]
        angles = [eq_4(eq_3(after, before)) for before, after in pairwise(rotations)]
        expected = eq_5([eq_6(*pair, d1, d2) for pair in angles], rotations[0])
        shape = shape_from_orientations(robot, rotations, "paper")
        np.testing.assert_allclose(shape.platforms, expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(shape.angles, np.array(angles)[:, ::-1].ravel(), rtol=0, atol=1e-12)


def test_frames_in_base_do_not_know_how_the_base_stands():
    robot, rng = universal(5), np.random.default_rng(5)
    q = random_pose(robot, rng)
    frames = vb.Pose(robot, q).frames
    for _ in range(5):
        shape = shape_from_orientations(robot, random_rotation(rng) @ frames[:, :3, :3])
        np.testing.assert_allclose(shape.frames_in_base, frames, atol=1e-9)
        np.testing.assert_allclose(shape.tip_frame_in_base, vb.Pose(robot, q).tip_frame, atol=1e-9)
        np.testing.assert_allclose(shape.tip_in_base, vb.Pose(robot, q).tip_frame[:3, 3], atol=1e-9)
        reach = robot.links["reach"][:, None] * frames[:, :3, 2]
        np.testing.assert_allclose(shape.platforms_in_base[:, :3, 3], frames[:, :3, 3] + reach, atol=1e-9)


def test_a_twisted_joint_is_found():
    """With good headings the twist shows; the frames carry it."""
    rng = np.random.default_rng(6)
    for robot in every_kind():
        q, base, twist = random_pose(robot, rng), random_rotation(rng), rng.uniform(-0.2, 0.2, len(robot.joints))
        frames = world_frames(robot, base, q, twist)
        estimator = ShapeEstimator(robot, noise=[1e-5] * 3, twist=1.0)
        for link, R in enumerate(frames[:, :3, :3]):
            estimator.update(link, R, 0.0)
        shape = estimator.solve()
        np.testing.assert_allclose(shape.angles, q, atol=1e-6)
        np.testing.assert_allclose(shape.joint_twists, twist, atol=1e-6)
        np.testing.assert_allclose(shape.frames, frames, atol=1e-6)
