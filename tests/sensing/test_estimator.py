"""The estimator as a whole: calibration, repeatability, what peeking and solving leave behind, wrong arguments."""

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
from vertebra.sensing.estimator import ShapeEstimator, shape_from_orientations

ROBOT = universal(4)
NOISE = ROBOT.sensor_noise
LAPUSAN = vb.load("lapusan2022")
STRAIGHT = np.broadcast_to(np.eye(3), (5, 3, 3))
MIRRORED = np.diag([1.0, 1.0, -1.0])
SCALED = 1.01 * np.eye(3)
SHEARED = np.array([[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
NOT_A_NUMBER = np.full((3, 3), np.nan)


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


# Wrong arguments are named, with what is expected instead; tests/test_bad_arguments.py has those of the constructor.


def with_matrix(matrix):
    rotations = STRAIGHT.copy()
    rotations[2] = matrix
    return rotations


@pytest.mark.parametrize(
    ("rotations", "words"),
    [
        (STRAIGHT[:4], r"shape \(5, 3, 3\)"),
        (with_matrix(MIRRORED), "matrix 2 is not a rotation"),
        (with_matrix(SCALED), "matrix 2 is not a rotation"),
        (with_matrix(SHEARED), "matrix 2 is not a rotation"),
        (with_matrix(NOT_A_NUMBER), "finite"),
        (with_matrix(np.inf), "finite"),
    ],
)
def test_rotations(rotations, words):
    with pytest.raises(vb.InputError, match="rotations") as caught:
        shape_from_orientations(LAPUSAN, rotations)
    assert caught.match(words)


def test_noise_has_a_row_per_sensor():
    with pytest.raises(vb.InputError, match="noise"):
        ShapeEstimator(LAPUSAN, noise=np.full((4, 3), 0.1))


@pytest.mark.parametrize("sensor", [-1, 5, 100, 1.0, 1.5, "1", None, True, [1], (1,), np.array(1.0), np.nan])
def test_unknown_sensors(sensor):
    estimator = ShapeEstimator(LAPUSAN)
    for call in (
        lambda: estimator.update(sensor, np.eye(3), 0.0),
        lambda: estimator.update_gyro(sensor, [0.0, 0.0, 0.0], 0.0),
        lambda: estimator.report_fault(sensor),
    ):
        with pytest.raises(vb.InputError, match=r"sensor.*0, 1, 2, 3, 4"):
            call()


def test_numbers_of_numpy_are_sensors_too():
    estimator = ShapeEstimator(universal(4, links=[0, 2, 4]))
    assert estimator.update(np.int64(2), np.eye(3), 0.0)
    with pytest.raises(vb.InputError, match="sensors are on links 0, 2, 4"):
        estimator.update(1, np.eye(3), 0.0)


@pytest.mark.parametrize(
    "orientation",
    [
        [0.0, 0.0],
        [0.0] * 5,
        0.0,
        np.eye(4),
        "up",
        None,
        [0.0, np.nan, 0.0],
        [np.inf, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
        [3.0, 0.0, 0.0, 0.0],
        [0.1, 0.0, 0.0, 0.0],
        [np.nan, 0.0, 0.0, 1.0],
        MIRRORED,
        SCALED,
        SHEARED,
        NOT_A_NUMBER,
        np.zeros((3, 3)),
    ],
    ids=str,
)
def test_orientations(orientation):
    estimator = ShapeEstimator(LAPUSAN)
    with pytest.raises(vb.InputError, match="orientation"):
        estimator.update(1, orientation, 0.0)
    assert estimator.time == -np.inf


@pytest.mark.parametrize("rate", [[0.0, 0.0], 0.0, "fast", [0.0, np.nan, 0.0], [np.inf, 0.0, 0.0], np.eye(3)], ids=str)
def test_rates(rate):
    estimator = ShapeEstimator(LAPUSAN)
    with pytest.raises(vb.InputError, match="gyro"):
        estimator.update(1, np.eye(3), 0.0, gyro=rate)
    with pytest.raises(vb.InputError, match="rate"):
        estimator.update_gyro(1, rate, 0.0)
    # A refused sample leaves nothing behind.
    assert estimator.update(1, np.eye(3), 0.0, gyro=[0.0, 0.0, 0.0])


@pytest.mark.parametrize("time", [np.nan, np.inf, -np.inf, "now", [0.0, 1.0], None, 1e300], ids=str)
def test_times(time):
    estimator = ShapeEstimator(LAPUSAN)
    with pytest.raises(vb.InputError, match="time"):
        estimator.update(1, np.eye(3), time)
    with pytest.raises(vb.InputError, match="time"):
        estimator.update_gyro(1, [0.0, 0.0, 0.0], time)
    estimator.update(1, np.eye(3), 0.0)
    if time is not None:
        for ask in (estimator.solve, estimator.peek):
            with pytest.raises(vb.InputError, match="time"):
                ask(time)


@pytest.mark.parametrize("method", ["chain", "pairwise", "paper"])
def test_nothing_heard_yet(method):
    estimator = ShapeEstimator(LAPUSAN, method)
    estimator.update_gyro(1, [0.0, 0.0, 0.0], 0.0)
    for ask in (estimator.solve, estimator.peek, lambda: estimator.solve(1.0), lambda: estimator.shape):
        with pytest.raises(vb.InputError, match="update"):
            ask()


def test_the_paper_is_for_universal_joints_with_a_sensor_on_each_link():
    for robot in (vb.load("cai2023"), vb.load("hu2023-planar")):
        with pytest.raises(vb.InputError, match=r"method.*joint 1"):
            ShapeEstimator(robot, "paper")
    with pytest.raises(vb.InputError, match=r"method.*every link"):
        ShapeEstimator(universal(4, links=[0, 1, 2, 3]), "paper")


def test_arguments_are_left_alone():
    rotations, noise, base = STRAIGHT.copy(), np.full((5, 3), 0.01), np.eye(3)
    for array in (rotations, noise, base):
        array.flags.writeable = False
    shape_from_orientations(LAPUSAN, rotations, noise=noise, base=base)
    shape_from_orientations(LAPUSAN, rotations.tolist(), noise=noise.tolist(), base=base.tolist())
    np.testing.assert_array_equal(rotations, STRAIGHT)


def test_results_are_readable():
    shape = fed(LAPUSAN, STRAIGHT).solve(0.5)
    text = repr(shape)
    for word in ("lapusan2022", "chain", "336.00", "mm", "0 stale"):
        assert word in text
    assert [health.sensor for health in shape.health] == [0, 1, 2, 3, 4]
    with pytest.raises(AttributeError):
        shape.time = 1.0
