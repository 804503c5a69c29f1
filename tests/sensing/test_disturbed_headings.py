"""Magnets turn headings, not tilts: an upright robot hardly notices, and the sensor is named."""

from __future__ import annotations

import numpy as np
import pytest
from tests import robots
from tests.oracles.sensed_chain import world_frames
from tests.sensing.cases import (
    DEGREE,
    about_z,
    assert_finite,
    disturbed,
    fed,
    feed,
    link_rotations,
    random_pose,
    random_rotation,
    universal,
)

import vertebra as vb
from vertebra.sensing.estimator import ShapeEstimator, shape_from_orientations

ROBOT = universal(4)
NOISE = ROBOT.sensor_noise


def tip_error(shape, q):
    return np.linalg.norm(shape.tip_in_base - vb.Pose(ROBOT, q).tip_frame[:3, 3])


@pytest.mark.parametrize("sensor", [1, 2, 3, 4])
def test_20_deg_on_one_sensor_of_an_upright_robot_moves_the_tip_by_less_than_a_millimetre(sensor):
    rng = np.random.default_rng(sensor)
    for _ in range(20):
        q = rng.uniform(-0.35, 0.35, 8)
        rotations = link_rotations(ROBOT, q, np.eye(3))
        struck = rotations.copy()
        struck[sensor] = about_z(20 * DEGREE) @ struck[sensor]
        shape = shape_from_orientations(ROBOT, struck)
        assert tip_error(shape, q) < 1e-3
        assert [health.sensor for health in shape.health if health.state != "ok"] == [sensor]
        assert shape.health[sensor].state == "disturbed"
        assert shape.health[sensor].heading_weight < 0.2
        assert shape.heading_residuals[sensor] == pytest.approx(20 * DEGREE, abs=0.03)
        assert shape.health[sensor].tilt_weight == 1.0


@pytest.mark.parametrize("angle", [45, 90, 135, 180])
def test_a_wrong_heading_of_the_base_does_not_change_the_shape(angle):
    rng = np.random.default_rng(angle)
    for _ in range(40):
        q = rng.uniform(-0.35, 0.35, 8)
        measured = disturbed(link_rotations(ROBOT, q, np.eye(3)), NOISE, rng)
        measured[0] = about_z(angle * DEGREE) @ measured[0]
        shape = shape_from_orientations(ROBOT, measured)
        assert shape.converged
        assert tip_error(shape, q) < 3e-3
        # Half a turn away, either the base is wrong or all others are: the shape is the same.
        assert shape.health[0].state == "disturbed" or angle == 180


@pytest.mark.parametrize("sensor", [0, 2, 4])
@pytest.mark.parametrize("angle", [60, 120, 170, -90])
def test_a_heading_that_jumps_in_a_stream_moves_nothing(sensor, angle):
    """The fit starts from the last shape, so that it recovers from a jump of any size."""
    rng = np.random.default_rng(abs(angle))
    for _ in range(8):
        q = rng.uniform(-0.35, 0.35, 8)
        rotations = link_rotations(ROBOT, q, np.eye(3))
        estimator = ShapeEstimator(ROBOT)
        feed(estimator, disturbed(rotations, NOISE, rng), 0.0)
        estimator.solve()
        struck = rotations.copy()
        struck[sensor] = about_z(angle * DEGREE) @ struck[sensor]
        for step in range(1, 4):
            feed(estimator, disturbed(struck, NOISE, rng), 0.01 * step)
            shape = estimator.solve()
            assert tip_error(shape, q) < 4e-3
            assert shape.health[sensor].state == "disturbed"


def test_a_common_turn_of_all_headings_turns_the_base():
    q = random_pose(ROBOT, np.random.default_rng(0), 0.3)
    shape = shape_from_orientations(ROBOT, about_z(2.5) @ link_rotations(ROBOT, q, np.eye(3)))
    np.testing.assert_allclose(shape.angles, q, atol=1e-9)
    np.testing.assert_allclose(shape.base, about_z(2.5), atol=1e-9)


def test_a_twisting_robot_is_sensed_better_as_soft():
    """A stiff constraint on a torsionally soft robot is worse than none."""
    rng = np.random.default_rng(1)
    noise = np.array([0.06, 0.06, 0.3]) * DEGREE
    errors = {0.0: [], 2 * DEGREE: []}
    for _ in range(40):
        q, twist = rng.uniform(-0.35, 0.35, 8), rng.normal(size=4) * 2 * DEGREE
        frames = world_frames(ROBOT, random_rotation(rng), q, twist)
        measured = disturbed(frames[:, :3, :3], noise, rng)
        truth = frames[0, :3, :3].T @ frames[-1, :3] @ [0.0, 0.0, 0.042, 1.0]
        for sigma, found in errors.items():
            shape = shape_from_orientations(ROBOT, measured, noise=noise, twist=sigma)
            found.append(np.linalg.norm(shape.tip_in_base - truth))
    assert np.mean(errors[2 * DEGREE]) < 0.5 * np.mean(errors[0.0])


@pytest.mark.parametrize("twist", [5e-324, 1e-155, 1e-100, 1e-12])
def test_a_tiny_twist_is_stiff(twist):
    """Its square, or the inverse of that, is beyond the range of floats."""
    rng = np.random.default_rng(5)
    measured = disturbed(link_rotations(ROBOT, random_pose(ROBOT, rng), np.eye(3)), NOISE, rng)
    shape, stiff = (shape_from_orientations(ROBOT, measured, twist=value) for value in (twist, 0.0))
    assert_finite(shape)
    np.testing.assert_allclose(shape.angles, stiff.angles, rtol=0, atol=1e-12)
    np.testing.assert_allclose(shape.covariance, stiff.covariance, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("limit", [1, 5, 15])
def test_joint_limits_are_kept(limit):
    rng = np.random.default_rng(limit)
    for order in ("yx", "xy"):
        robot = universal(5, order, f"{limit} deg")
        beyond = vb.Pose(universal(5, order), rng.uniform(-0.5, 0.5, 10)).frames[:, :3, :3]
        for noise in (robot.sensor_noise, [1e-4] * 3):
            shape = shape_from_orientations(robot, random_rotation(rng) @ beyond, noise=noise)
            assert np.abs(shape.angles).max() <= robot.joints["limit"][0]
            assert_finite(shape)


def test_the_limit_of_a_ball_is_that_of_its_bend():
    joint = robots.BALL | {"limit": "20 deg"}
    robot = robots.robot("tight", robots.section(3, joint, robots.BALL_LINK))
    free = robots.robot("free", robots.section(3, robots.BALL, robots.BALL_LINK))
    rng = np.random.default_rng(2)
    for _ in range(10):
        q = rng.uniform(-0.6, 0.6, 6)
        shape = shape_from_orientations(robot, vb.Pose(free, q).frames[:, :3, :3])
        bends = np.hypot(shape.angles[0::2], shape.angles[1::2])
        assert bends.max() <= robot.joints["limit"][0] * (1 + 1e-12)
        direction = np.arctan2(shape.angles[1], shape.angles[0])
        if np.hypot(*q[:2]) > 0.6:
            assert abs(np.angle(np.exp(1j * (direction - np.arctan2(q[1], q[0]))))) < 0.3
        assert_finite(shape)


def test_a_joint_within_its_limit_does_not_feel_it():
    rng = np.random.default_rng(3)
    robot = universal(5, limit="20 deg")
    q = rng.uniform(-0.34, 0.34, 10)
    np.testing.assert_allclose(shape_from_orientations(robot, vb.Pose(robot, q).frames[:, :3, :3]).angles, q, atol=1e-9)


WILD = {
    "upside down": lambda R, rng: np.diag([1.0, -1.0, -1.0]) @ R,
    "base yawed 180 deg": lambda R, rng: np.diag([-1.0, -1.0, 1.0]) @ R,
    "two sensors swapped": lambda R, rng: R[[0, 3, 2, 1, 4]],
    "all sensors reversed": lambda R, rng: R[::-1],
    "all the same": lambda R, rng: np.broadcast_to(R[2], R.shape),
    "nonsense": lambda R, rng: np.array([random_rotation(rng) for _ in R]),
    "half turns": lambda R, rng: np.array(
        [np.diag(d) for d in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1), (1, 1, 1.0))]
    ),
}


@pytest.mark.parametrize("gate", [1e-12, 3.0, 1e12])
@pytest.mark.parametrize("method", ["chain", "pairwise", "paper"])
@pytest.mark.parametrize("name", WILD)
def test_nonsense_gives_numbers(name, method, gate):
    rng = np.random.default_rng(4)
    for _ in range(5):
        rotations = link_rotations(ROBOT, random_pose(ROBOT, rng), np.eye(3))
        shape = fed(ROBOT, WILD[name](rotations, rng), method=method, gate=gate).solve()
        assert_finite(shape)
        if method == "chain":
            assert np.abs(shape.angles).max() <= ROBOT.joints["limit"][0]
