"""The estimator as a whole: calibration, repeatability, what peeking and solving leave behind."""

from __future__ import annotations

import numpy as np
import pytest
from tests.sensing.cases import (
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

import vertebra as vb
from vertebra.sensing.calibration.calibration import Calibration
from vertebra.sensing.estimator import ShapeEstimator

ROBOT = universal(4)
NOISE = ROBOT.sensor_noise


def test_a_first_solve_long_after_the_samples_starts_from_them():
    q, _, rotations = still(ROBOT, 19)
    np.testing.assert_allclose(fed(ROBOT, rotations).solve(3.0).angles, q, rtol=0, atol=1e-9)


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
    q, base, rotations = still(ROBOT, 13)
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
    _, _, rotations = still(ROBOT, 14)
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
    _, _, rotations = still(ROBOT, 15)
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
    _, _, rotations = still(ROBOT, 17)
    estimator = fed(ROBOT, rotations)
    first = estimator.shape
    assert estimator.shape is first
    assert not estimator.update(1, rotations[1], 0.0)
    assert estimator.shape is first
    estimator.update(1, rotations[1], 0.01)
    assert estimator.shape is not first
    assert estimator.shape.time == estimator.time == 0.01
