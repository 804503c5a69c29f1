"""The fit takes the same number of steps however long the robot, and stays sound with a thousand joints."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles.sensed_chain import world_frames
from tests.sensing.cases import assert_finite, disturbed, random_rotation, universal

import vertebra as vb
from vertebra.sensing.estimator import shape_from_orientations

LENGTHS = (4, 20, 200, 1000)


def measured(robot, rng, spread=0.1, noise=None):
    n = len(robot.joints)
    q = rng.uniform(-spread, spread, 2 * n)
    rotations = random_rotation(rng) @ vb.Pose(robot, q).frames[:, :3, :3]
    return q, disturbed(rotations, robot.sensor_noise if noise is None else noise, rng)


def test_steps_do_not_grow_with_the_robot():
    rng = np.random.default_rng(0)
    steps = {}
    for count in LENGTHS:
        robot = universal(count)
        shapes = [shape_from_orientations(robot, measured(robot, rng)[1], gate=1e6) for _ in range(5)]
        assert all(shape.converged for shape in shapes)
        steps[count] = max(shape.iterations for shape in shapes)
    assert max(steps.values()) <= 8
    assert steps[1000] <= steps[4] + 4


@pytest.mark.parametrize("method", ["chain", "pairwise", "paper"])
@pytest.mark.parametrize("count", [200, 1000])
def test_long_robots_work(count, method):
    rng = np.random.default_rng(count)
    robot = universal(count)
    q, rotations = measured(robot, rng, noise=[1e-9] * 3)
    shape = shape_from_orientations(robot, rotations, method)
    assert_finite(shape)
    assert (shape.angle_sigmas > 0.0).all()
    if method != "paper":
        np.testing.assert_allclose(shape.angles, q, atol=1e-6)


def test_uncertainty_of_a_long_robot_grows_toward_the_tip():
    robot = universal(200)
    shape = shape_from_orientations(robot, np.broadcast_to(np.eye(3), (201, 3, 3)))
    sizes = np.trace(shape.platform_covariances[:, :3, :3], axis1=1, axis2=2)
    assert (np.diff(sizes) > 0.0).all()
    # Orientations are each measured, so that the position is a sum of independent errors: it grows with the root.
    assert sizes[200] / sizes[100] == pytest.approx(2.0, rel=0.1)


RATIOS = [(1e-3, 3e-2, 5e-3), (1e-4, 1.0, 0.0), (1e-4, 1.0, 0.3), (1e-2, 1e-4, 5e-3), (1e-4, 1e-4, 1e-4)]


@pytest.mark.parametrize("count", [20, 1000])
@pytest.mark.parametrize(("tilt", "heading", "twist"), RATIOS)
def test_covariances_stay_covariances(tilt, heading, twist, count):
    """Symmetric and positive, whatever the ratios of what the sensors know."""
    rng = np.random.default_rng(1)
    robot = universal(count)
    noise = np.array([tilt, tilt, heading])
    _, rotations = measured(robot, rng, 0.3, noise=np.minimum(noise, 0.05))
    shape = shape_from_orientations(robot, rotations, noise=noise, twist=twist)
    assert_finite(shape)
    covariances = shape.platform_covariances[1:]
    np.testing.assert_allclose(
        covariances, covariances.transpose(0, 2, 1), rtol=0, atol=1e-12 * np.abs(covariances).max()
    )
    sizes = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    assert (sizes > 0.0).all()
    correlations = covariances / (sizes[:, :, None] * sizes[:, None, :])
    assert np.linalg.eigvalsh(correlations).min() > -1e-9
    assert (shape.angle_sigmas > 0.0).all()
    assert (shape.angle_sigmas <= robot.joints["limit"][0] * (1 + 1e-9)).all()


def test_a_few_sensors_on_a_long_robot():
    rng = np.random.default_rng(2)
    robot = universal(100, links=list(range(0, 101, 5)))
    q = np.repeat(rng.uniform(-0.05, 0.05, (20, 2)), 5, axis=0).ravel()
    frames = world_frames(robot, np.eye(3), q, np.zeros(100))
    shape = shape_from_orientations(robot, frames[robot.sensor_links, :3, :3])
    assert shape.converged
    assert_finite(shape)
    assert np.linalg.norm(shape.tip - vb.Pose(robot, q).tip_frame[:3, 3]) < 0.02 * robot.length
