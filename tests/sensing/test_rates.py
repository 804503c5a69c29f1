"""Rates bring samples to one time, and tell how much an older one is still worth."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests import robots
from tests.sensing.cases import (
    about_z,
    disturbed,
    feed,
    still,
    turned,
    universal,
)

import vertebra as vb
from vertebra.mechanics.kernels.sensor_intake import (
    GYRO_ERROR,
    GYRO_SCALE_ERROR,
    LONGEST_CARRY,
    MOST_GAIN,
    UNKNOWN_ACCELERATION,
    UNKNOWN_JERK,
    UNKNOWN_RATE,
)
from vertebra.sensing.estimator import ShapeEstimator

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
ROBOT = universal(4)
PIN = robots.robot("pins", robots.section(3, robots.PIN, azimuth=["0 deg"]))
NOISE = ROBOT.sensor_noise


@pytest.mark.parametrize("ahead", [0.02, 0.1, -0.03])
def test_a_constant_rate_carries_a_sample_exactly(ahead):
    q, base, rotations = still(ROBOT)
    spin = np.array([0.8, -1.1, 2.0])
    estimator = ShapeEstimator(ROBOT)
    for link, R in enumerate(rotations):
        estimator.update(link, R, 5.0, gyro=R.T @ spin)
    shape = estimator.solve(5.0 + ahead)
    assert shape.time == 5.0 + ahead
    np.testing.assert_allclose(shape.angles, q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(shape.base, turned(spin, ahead) @ base, rtol=0, atol=1e-9)


def test_asynchronous_samples_of_a_turning_robot_are_brought_together():
    q, base, rotations = still(ROBOT, 1)
    spin = np.array([-1.5, 0.4, 0.9])
    estimator = ShapeEstimator(ROBOT)
    times = {link: 0.01 * k + 0.0023 * link for k in range(30) for link in range(5)}
    for time, link in sorted((0.01 * k + 0.0023 * link, link) for k in range(30) for link in range(5)):
        R = turned(spin, time) @ rotations[link]
        assert estimator.update(link, R, time, gyro=R.T @ spin)
        shape = estimator.solve()
        assert shape.time == time
    np.testing.assert_allclose(shape.angles, q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(shape.base, turned(spin, shape.time) @ base, rtol=0, atol=1e-9)
    np.testing.assert_allclose(shape.ages, [shape.time - times[link] for link in range(5)], atol=1e-12)


def test_joints_that_turn_at_constant_rates_are_followed_exactly():
    """Pins about parallel axes: each link turns about a fixed axis at its own constant rate."""
    rates, start = np.array([0.5, -0.3, 0.7]), np.array([0.1, 0.2, -0.3])
    estimator = ShapeEstimator(PIN)
    axis = np.array([0.0, 1.0, 0.0])
    speeds = np.concatenate([[0.0], np.cumsum(rates)])
    for link in range(4):
        time = 0.004 * link
        rotation = vb.Pose(PIN, start + rates * time).frames[link, :3, :3]
        estimator.update_gyro(link, speeds[link] * axis, time)
        estimator.update(link, rotation, time)
    shape = estimator.solve(0.05)
    np.testing.assert_allclose(shape.angles, start + 0.05 * rates, rtol=0, atol=1e-9)


def test_rates_that_change_steadily_are_followed():
    """Two rates tell a slope: a link that speeds up by 4 rad/s^2 is met to the last digit, about a fixed axis."""
    estimator = ShapeEstimator(PIN)
    rotations = vb.Pose(PIN, np.zeros(3)).frames[:, :3, :3]
    for time in (0.0, 0.01):
        for link, R in enumerate(rotations):
            speed = 4.0 * time if link else 0.0
            angle = 2.0 * time**2 if link else 0.0
            estimator.update(link, turned([0.0, angle, 0.0], 1.0) @ R, time, gyro=[0.0, speed, 0.0])
    np.testing.assert_allclose(estimator.solve(0.03).angles, [2.0 * 0.03**2, 0.0, 0.0], rtol=0, atol=1e-9)


def test_without_rates_the_last_sample_stays():
    _, base, rotations = still(ROBOT, 2)
    spin = np.array([0.0, 0.0, 1.0])
    for options, gyro in (({"gyro": False}, spin), ({}, None)):
        estimator = ShapeEstimator(ROBOT, **options)
        for link, R in enumerate(rotations):
            estimator.update(link, R, 0.0, gyro=None if gyro is None else R.T @ gyro)
        np.testing.assert_allclose(estimator.solve(0.05).base, base, rtol=0, atol=1e-9)


def test_rates_carry_no_further_than_they_are_good_for():
    _, base, rotations = still(ROBOT, 3)
    spin = np.array([0.0, 0.0, 1.0])
    estimator = ShapeEstimator(ROBOT)
    for link, R in enumerate(rotations):
        estimator.update(link, R, 0.0, gyro=R.T @ spin)
    expected = turned(spin, LONGEST_CARRY) @ base
    np.testing.assert_allclose(estimator.solve(0.2).base, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("rates", [None, (0.0,), (2.0,), (1.9, 2.0)], ids=["no rate", "at rest", "turning", "trend"])
@pytest.mark.parametrize("elapsed", [0.0, 0.01, 0.08, 0.5, 40.0])
def test_an_older_sample_is_worth_less(rates, elapsed):
    """Of a pin between a known base and a sensor, the sigma is that of the sensor and of what happened since."""
    robot = robots.robot("pin", robots.section(1, robots.PIN, azimuth=["0 deg"]))
    estimator = ShapeEstimator(robot, base=np.eye(3), twist=0.0, stale_after=0.2)
    for k, rate in enumerate(rates or ()):
        estimator.update_gyro(1, [0.0, rate, 0.0], 1.0 - 0.01 * (len(rates) - 1 - k))
    estimator.update(1, np.eye(3), 1.0)
    carry = min(elapsed, LONGEST_CARRY) if rates else 0.0
    drift = UNKNOWN_RATE * (elapsed - carry)
    if rates:
        drift += carry * (GYRO_ERROR + GYRO_SCALE_ERROR * rates[-1])
        drift += UNKNOWN_JERK * carry**3 / 6.0 if len(rates) > 1 else UNKNOWN_ACCELERATION * carry**2 / 2.0
    drift *= max(elapsed / 0.2, 1.0) ** 2
    information = 1.0 / (robot.sensor_noise[1] ** 2 + drift**2) + 1.0 / robot.joints["limit"][0] ** 2
    assert estimator.solve(1.0 + elapsed).angle_sigmas[0] == pytest.approx(information**-0.5, rel=1e-9)


def test_a_still_robot_gets_quieter_with_its_gyros():
    """Tilts of successive samples are weighed against each other; the gain is bounded."""
    rng = np.random.default_rng(11)
    _, _, rotations = still(ROBOT, 11)
    errors = {True: [], False: []}
    for smooth in errors:
        for _ in range(40 if SOAK else 16):
            estimator = ShapeEstimator(ROBOT, gyro=smooth)
            for step in range(30):
                feed(estimator, disturbed(rotations, NOISE, rng), 0.01 * step, gyro=(0.0, 0.0, 0.0))
            shape = estimator.solve()
            errors[smooth].append((rotations[4] @ shape.frames[4, :3, :3].T)[2, :2])
    gain = np.square(errors[False]).mean() / np.square(errors[True]).mean()
    # At least as good as promised, and white noise is the best case.
    assert MOST_GAIN < gain < 4.0 * MOST_GAIN


def test_headings_are_taken_as_they_come():
    """Their errors change slowly, so that weighing them against the last ones would only make them late."""
    _, base, rotations = still(ROBOT, 18)
    estimator = ShapeEstimator(ROBOT)
    for step in range(10):
        feed(estimator, about_z(0.1 * step) @ rotations, 0.01 * step, gyro=(0.0, 0.0, 0.0))
        np.testing.assert_allclose(estimator.solve().base, about_z(0.1 * step) @ base, rtol=0, atol=1e-9)
