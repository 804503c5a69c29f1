"""Samples as they come: order, age, rates, jumps, and what calibration makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests import robots
from tests.sensing.cases import (
    DEGREE,
    about_z,
    disturbed,
    fed,
    feed,
    link_rotations,
    numbers_of,
    random_pose,
    random_rotation,
    universal,
)

import vertebra as vb
from vertebra.mechanics.sensor_intake import (
    GYRO_ERROR,
    GYRO_SCALE_ERROR,
    LONGEST_CARRY,
    MOST_GAIN,
    MOST_REFUSED,
    UNKNOWN_ACCELERATION,
    UNKNOWN_JERK,
    UNKNOWN_RATE,
)
from vertebra.sensing.calibration.result import Calibration
from vertebra.sensing.estimator import ShapeEstimator

ROBOT = universal(4)
PIN = robots.robot("pins", robots.section(3, robots.PIN, azimuth=["0 deg"]))
NOISE = ROBOT.sensor_noise


def turned(rate, time):
    """exp(rate time)."""
    return Rotation.from_rotvec(np.asarray(rate) * time).as_matrix()


def still(seed=0):
    """A pose of the robot: angles, base, orientations."""
    rng = np.random.default_rng(seed)
    q, base = random_pose(ROBOT, rng), random_rotation(rng)
    return q, base, link_rotations(ROBOT, q, base)


@pytest.mark.parametrize("ahead", [0.02, 0.1, -0.03])
def test_a_constant_rate_carries_a_sample_exactly(ahead):
    q, base, rotations = still()
    spin = np.array([0.8, -1.1, 2.0])
    estimator = ShapeEstimator(ROBOT)
    for link, R in enumerate(rotations):
        estimator.update(link, R, 5.0, gyro=R.T @ spin)
    shape = estimator.solve(5.0 + ahead)
    assert shape.time == 5.0 + ahead
    np.testing.assert_allclose(shape.angles, q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(shape.base, turned(spin, ahead) @ base, rtol=0, atol=1e-9)


def test_asynchronous_samples_of_a_turning_robot_are_brought_together():
    q, base, rotations = still(1)
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
        rotation = vb.frames(PIN, start + rates * time)[link, :3, :3]
        estimator.update_gyro(link, speeds[link] * axis, time)
        estimator.update(link, rotation, time)
    shape = estimator.solve(0.05)
    np.testing.assert_allclose(shape.angles, start + 0.05 * rates, rtol=0, atol=1e-9)


def test_rates_that_change_steadily_are_followed():
    """Two rates tell a slope: a link that speeds up by 4 rad/s^2 is met to the last digit, about a fixed axis."""
    estimator = ShapeEstimator(PIN)
    rotations = vb.frames(PIN, np.zeros(3))[:, :3, :3]
    for time in (0.0, 0.01):
        for link, R in enumerate(rotations):
            speed = 4.0 * time if link else 0.0
            angle = 2.0 * time**2 if link else 0.0
            estimator.update(link, turned([0.0, angle, 0.0], 1.0) @ R, time, gyro=[0.0, speed, 0.0])
    np.testing.assert_allclose(estimator.solve(0.03).angles, [2.0 * 0.03**2, 0.0, 0.0], rtol=0, atol=1e-9)


def test_without_rates_the_last_sample_stays():
    _, base, rotations = still(2)
    spin = np.array([0.0, 0.0, 1.0])
    for options, gyro in (({"gyro": False}, spin), ({}, None)):
        estimator = ShapeEstimator(ROBOT, **options)
        for link, R in enumerate(rotations):
            estimator.update(link, R, 0.0, gyro=None if gyro is None else R.T @ gyro)
        np.testing.assert_allclose(estimator.solve(0.05).base, base, rtol=0, atol=1e-9)


def test_rates_carry_no_further_than_they_are_good_for():
    _, base, rotations = still(3)
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


def test_the_order_of_samples_of_one_time_does_not_matter():
    rng = np.random.default_rng(4)
    _, _, rotations = still(4)
    answers = set()
    for _ in range(4):
        estimator = ShapeEstimator(ROBOT)
        for time in (0.0, 0.01, 0.02):
            for link in rng.permutation(5):
                estimator.update(
                    int(link), disturbed(rotations[None, link], NOISE, np.random.default_rng(link))[0], time
                )
        answers.add(numbers_of(estimator.solve()))
    assert len(answers) == 1


def test_old_and_repeated_samples_are_refused():
    _, _, rotations = still(5)
    estimator = fed(ROBOT, rotations, 1.0)
    before = numbers_of(estimator.peek())
    for time in (1.0, 0.99, 0.0, -5.0):
        assert not estimator.update(2, np.eye(3), time)
        assert numbers_of(estimator.peek()) == before
    assert estimator.update(2, rotations[2], 1.01)
    assert estimator.update_gyro(1, [0.0, 0.0, 0.0], 1.0)
    assert not estimator.update_gyro(1, [9.0, 0.0, 0.0], 1.0)
    assert not estimator.update_gyro(1, [9.0, 0.0, 0.0], 0.5)


def test_a_sample_that_comes_twice_with_its_age_rounded_is_one_sample():
    _, _, rotations = still(6)
    estimator = fed(ROBOT, rotations, 1.0)
    assert not estimator.update(0, rotations[0], 1.0001)
    assert estimator.solve().samples.tolist() == [1] * 5


@pytest.mark.parametrize("gyro", [None, (0.0, 0.0, 0.0)])
def test_a_tilt_that_jumps_is_refused_until_it_stays(gyro):
    _, _, rotations = still(7)
    estimator = ShapeEstimator(ROBOT)
    for step in range(3):
        feed(estimator, rotations, 0.01 * step, gyro=gyro)
    jumped = Rotation.from_rotvec([1.2, 0.0, 0.0]).as_matrix() @ rotations[3]
    good = estimator.solve()
    for k in range(MOST_REFUSED):
        assert not estimator.update(3, jumped, 0.03 + 0.01 * k, gyro=gyro)
        shape = estimator.solve(0.02)
        np.testing.assert_allclose(shape.angles, good.angles, atol=1e-9)
        assert shape.health[3].state == "outlier"
        assert shape.health[3].outliers == k + 1
    # Really moved: five in a row are believed.
    assert estimator.update(3, jumped, 0.03 + 0.01 * MOST_REFUSED, gyro=gyro)
    expected = fed(ROBOT, [*rotations[:3], jumped, rotations[4]], gate=3.0).solve()
    assert estimator.update(3, jumped, 0.04 + 0.01 * MOST_REFUSED, gyro=gyro)
    feed(estimator, [*rotations[:3], jumped, rotations[4]], 0.06 + 0.01 * MOST_REFUSED, gyro=gyro)
    shape = estimator.solve()
    assert shape.health[3].outliers == MOST_REFUSED
    np.testing.assert_allclose(shape.base, expected.base, atol=5e-3)


def test_one_wild_sample_leaves_no_trace():
    _, _, rotations = still(8)
    clean, struck = ShapeEstimator(ROBOT), ShapeEstimator(ROBOT)
    for step in range(10):
        for estimator in (clean, struck):
            feed(estimator, rotations, 0.01 * step)
        assert not struck.update(2, random_rotation(np.random.default_rng(step)), 0.01 * step + 0.004)
    assert struck.peek().health[2].state == "outlier"
    for estimator in (clean, struck):
        feed(estimator, rotations, 0.1)
    first, second = clean.solve(), struck.solve()
    assert first.angles.tobytes() == second.angles.tobytes()
    assert first.covariance.tobytes() == second.covariance.tobytes()
    assert second.outliers.tolist() == [0, 0, 10, 0, 0]
    assert second.health[2].state == "ok"


def test_a_heading_may_jump():
    """Magnets do that; it is taken and weighed, not refused."""
    _, _, rotations = still(9)
    estimator = fed(ROBOT, rotations)
    assert estimator.update(2, about_z(2.0) @ rotations[2], 0.01)


def test_a_fast_link_is_no_outlier():
    _, _, rotations = still(10)
    for gyro in (False, True):
        estimator = ShapeEstimator(ROBOT)
        spin = np.array([6.0, 0.0, 0.0])
        for step in range(20):
            for link, R in enumerate(turned(spin, 0.01 * step) @ rotations):
                assert estimator.update(link, R, 0.01 * step, gyro=R.T @ spin if gyro else None)


def test_a_still_robot_gets_quieter_with_its_gyros():
    """Tilts of successive samples are weighed against each other; the gain is bounded."""
    rng = np.random.default_rng(11)
    _, _, rotations = still(11)
    errors = {True: [], False: []}
    for smooth in errors:
        for _ in range(40):
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
    _, base, rotations = still(18)
    estimator = ShapeEstimator(ROBOT)
    for step in range(10):
        feed(estimator, about_z(0.1 * step) @ rotations, 0.01 * step, gyro=(0.0, 0.0, 0.0))
        np.testing.assert_allclose(estimator.solve().base, about_z(0.1 * step) @ base, rtol=0, atol=1e-9)


def test_a_first_solve_long_after_the_samples_starts_from_them():
    q, _, rotations = still(19)
    np.testing.assert_allclose(fed(ROBOT, rotations).solve(3.0).angles, q, rtol=0, atol=1e-9)


def test_unsettled_tilts_and_disturbed_headings_count_less():
    _, _, rotations = still(12)
    plain = fed(ROBOT, rotations).solve()
    for flag, state in (("disturbed", "disturbed"), ("unsettled", "ok")):
        shape = fed_with(rotations, 2, **{flag: True}).solve()
        assert shape.health[2].state == state
        assert (shape.angle_sigmas >= plain.angle_sigmas - 1e-15).all()
        assert shape.angle_sigmas.max() > plain.angle_sigmas.max()
    wrong = rotations.copy()
    wrong[2] = about_z(4 * DEGREE) @ wrong[2]
    free, flagged = fed(ROBOT, wrong).solve(), fed_with(wrong, 2, disturbed=True).solve()
    assert abs(flagged.heading_residuals[2]) > abs(free.heading_residuals[2])
    assert flagged.heading_residuals[2] == pytest.approx(4 * DEGREE, rel=0.05)


def fed_with(rotations, sensor, **flags):
    estimator = ShapeEstimator(ROBOT)
    for link, R in enumerate(rotations):
        estimator.update(link, R, 0.0, **(flags if link == sensor else {}))
    return estimator


def random_calibration(rng, order=slice(None)):
    mounts = np.array([random_rotation(rng) for _ in range(5)])
    nothing = np.zeros((5, 3))
    return Calibration(
        ROBOT.name, np.arange(5)[order], mounts[order], rng.uniform(-3, 3, 5)[order], rng.normal(size=(5, 3))[order],
        nothing, nothing[:, 0], nothing,
    )  # fmt: skip


@pytest.mark.parametrize("method", ["chain", "pairwise"])
@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)], ids=["rising", "falling"])
def test_calibration_is_applied_exactly(method, order):
    """R_meas = Rz(heading) R mount and gyro = mount^T omega + bias are undone, whatever they are."""
    q, base, rotations = still(13)
    calibration = random_calibration(np.random.default_rng(13), order)
    spin = np.array([0.3, -0.5, 0.8])
    estimator = ShapeEstimator(ROBOT, method, calibration=calibration)
    for row, link in enumerate(calibration.sensors.tolist()):
        mount, R = calibration.mounts[row], rotations[link]
        measured = about_z(calibration.headings[row]) @ R @ mount
        rate = mount.T @ R.T @ spin + calibration.gyro_biases[row]
        estimator.update(link, measured, 0.0, gyro=rate)
    shape = estimator.solve(0.05)
    np.testing.assert_allclose(shape.angles, q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(shape.base, turned(spin, 0.05) @ base, rtol=0, atol=1e-9)


def test_a_calibration_of_another_robot_is_refused():
    other = Calibration.identity(vb.load("lapusan2022"))
    with pytest.raises(vb.InputError, match="sensor 5"):
        ShapeEstimator(universal(5), calibration=other)


def test_peek_leaves_the_estimator_as_it_is():
    rng = np.random.default_rng(14)
    _, _, rotations = still(14)
    for method in ("chain", "pairwise", "paper"):
        plain, watched = ShapeEstimator(ROBOT, method), ShapeEstimator(ROBOT, method)
        for step in range(8):
            measured = disturbed(rotations, NOISE, rng)
            for estimator in (plain, watched):
                feed(estimator, measured, 0.01 * step, gyro=(0.1, 0.0, 0.0))
            peeked = watched.peek()
            for time in (None, 0.01 * step + 0.3, -2.0):
                watched.peek(time)
            solved = plain.solve()
            assert numbers_of(peeked) == numbers_of(solved)
            assert numbers_of(watched.solve()) == numbers_of(solved)


def test_two_estimators_fed_the_same_say_the_same_bits():
    rng = np.random.default_rng(15)
    _, _, rotations = still(15)
    estimators = [ShapeEstimator(ROBOT), ShapeEstimator(vb.load(ROBOT.to_mapping()))]
    for step in range(8):
        measured = disturbed(rotations, 5 * NOISE, rng)
        for estimator in estimators:
            feed(estimator, measured, 0.01 * step, gyro=(0.1, 0.0, 0.0))
        assert len({numbers_of(estimator.shape) for estimator in estimators}) == 1


def test_a_result_does_not_change_when_the_estimator_goes_on():
    rng = np.random.default_rng(16)
    for method in ("chain", "pairwise", "paper"):
        estimator = fed(ROBOT, [random_rotation(rng)] * 5, method=method)
        shape = estimator.solve()
        before = numbers_of(shape)
        feed(estimator, [random_rotation(rng)] * 5, 1.0)
        estimator.solve()
        assert numbers_of(shape) == before


def test_shape_is_solved_when_there_is_news():
    _, _, rotations = still(17)
    estimator = fed(ROBOT, rotations)
    first = estimator.shape
    assert estimator.shape is first
    assert not estimator.update(1, rotations[1], 0.0)
    assert estimator.shape is first
    estimator.update(1, rotations[1], 0.01)
    assert estimator.shape is not first
    assert estimator.shape.time == estimator.time == 0.01
