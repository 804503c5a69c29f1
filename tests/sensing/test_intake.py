"""Samples as they come: order, repetition, jumps, flags."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.sensing.cases import (
    DEGREE,
    about_z,
    disturbed,
    fed,
    feed,
    numbers_of,
    random_rotation,
    still,
    turned,
    universal,
)

from vertebra.mechanics.kernels.sensor_intake import MOST_REFUSED
from vertebra.sensing.estimator import ShapeEstimator

ROBOT = universal(4)
NOISE = ROBOT.sensor_noise


def test_the_order_of_samples_of_one_time_does_not_matter():
    rng = np.random.default_rng(4)
    _, _, rotations = still(ROBOT, 4)
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
    _, _, rotations = still(ROBOT, 5)
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
    _, _, rotations = still(ROBOT, 6)
    estimator = fed(ROBOT, rotations, 1.0)
    assert not estimator.update(0, rotations[0], 1.0001)
    assert estimator.solve().samples.tolist() == [1] * 5


@pytest.mark.parametrize("gyro", [None, (0.0, 0.0, 0.0)])
def test_a_tilt_that_jumps_is_refused_until_it_stays(gyro):
    _, _, rotations = still(ROBOT, 7)
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
    # A real movement: five in a row are accepted.
    assert estimator.update(3, jumped, 0.03 + 0.01 * MOST_REFUSED, gyro=gyro)
    expected = fed(ROBOT, [*rotations[:3], jumped, rotations[4]], gate=3.0).solve()
    assert estimator.update(3, jumped, 0.04 + 0.01 * MOST_REFUSED, gyro=gyro)
    feed(estimator, [*rotations[:3], jumped, rotations[4]], 0.06 + 0.01 * MOST_REFUSED, gyro=gyro)
    shape = estimator.solve()
    assert shape.health[3].outliers == MOST_REFUSED
    np.testing.assert_allclose(shape.base, expected.base, atol=5e-3)


def test_one_wild_sample_leaves_no_trace():
    _, _, rotations = still(ROBOT, 8)
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
    _, _, rotations = still(ROBOT, 9)
    estimator = fed(ROBOT, rotations)
    assert estimator.update(2, about_z(2.0) @ rotations[2], 0.01)


def test_a_fast_link_is_no_outlier():
    _, _, rotations = still(ROBOT, 10)
    for gyro in (False, True):
        estimator = ShapeEstimator(ROBOT)
        spin = np.array([6.0, 0.0, 0.0])
        for step in range(20):
            for link, R in enumerate(turned(spin, 0.01 * step) @ rotations):
                assert estimator.update(link, R, 0.01 * step, gyro=R.T @ spin if gyro else None)


def test_unsettled_tilts_and_disturbed_headings_count_less():
    _, _, rotations = still(ROBOT, 12)
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
