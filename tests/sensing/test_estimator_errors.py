"""Every wrong argument is named, with what is expected instead."""

from __future__ import annotations

import numpy as np
import pytest
from tests.sensing.cases import fed, universal

import vertebra as vb
from vertebra.sensing.estimator import ShapeEstimator, shape_from_orientations

ROBOT = vb.load("lapusan2022")
STRAIGHT = np.broadcast_to(np.eye(3), (5, 3, 3))
MIRRORED = np.diag([1.0, 1.0, -1.0])
SCALED = 1.01 * np.eye(3)
SHEARED = np.array([[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
NOT_A_NUMBER = np.full((3, 3), np.nan)


def with_matrix(matrix):
    rotations = STRAIGHT.copy()
    rotations[2] = matrix
    return rotations


@pytest.mark.parametrize(
    ("rotations", "words"),
    [
        (STRAIGHT[:4], r"shape \(5, 3, 3\)"),
        (np.eye(3), r"\(k, 3, 3\)"),
        (np.zeros((5, 4)), r"\(k, 3, 3\)"),
        (np.zeros((0, 3, 3)), r"shape \(5, 3, 3\)"),
        ("upright", "numbers"),
        ([None] * 5, "finite|numbers"),
        (with_matrix(MIRRORED), "matrix 2 is no rotation"),
        (with_matrix(SCALED), "matrix 2 is no rotation"),
        (with_matrix(SHEARED), "matrix 2 is no rotation"),
        (with_matrix(0.0), "matrix 2 is no rotation"),
        (with_matrix(NOT_A_NUMBER), "finite"),
        (with_matrix(np.inf), "finite"),
    ],
)
def test_rotations(rotations, words):
    with pytest.raises(vb.InputError, match="rotations") as caught:
        shape_from_orientations(ROBOT, rotations)
    assert caught.match(words)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("method", "kalman"),
        ("method", None),
        ("base", MIRRORED),
        ("base", np.eye(4)),
        ("base", NOT_A_NUMBER),
        ("base", [1.0, 0.0, 0.0]),
        ("noise", [0.1, 0.1]),
        ("noise", 0.1),
        ("noise", [0.1, 0.1, 0.0]),
        ("noise", [0.1, 0.1, -1.0]),
        ("noise", [0.1, 0.1, np.nan]),
        ("noise", [0.1, 0.1, np.inf]),
        ("noise", np.full((4, 3), 0.1)),
        ("noise", "loud"),
        ("twist", -0.1),
        ("twist", 2.0),
        ("twist", np.nan),
        ("twist", [0.1, 0.1]),
        ("twist", "soft"),
        ("gate", 0.0),
        ("gate", -1.0),
        ("gate", np.nan),
        ("gate", np.inf),
        ("gate", [3.0, 3.0]),
    ],
)
def test_options(name, value):
    for call in (
        lambda **given: shape_from_orientations(ROBOT, STRAIGHT, **given),
        lambda **given: ShapeEstimator(ROBOT, **given),
    ):
        with pytest.raises(vb.InputError, match=name):
            call(**{name: value})


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "soon"])
def test_stale_after(value):
    with pytest.raises(vb.InputError, match="stale_after"):
        ShapeEstimator(ROBOT, stale_after=value)


@pytest.mark.parametrize("sensor", [-1, 5, 100, 1.0, 1.5, "1", None, True, [1], (1,), np.array(1.0), np.nan])
def test_unknown_sensors(sensor):
    estimator = ShapeEstimator(ROBOT)
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
    estimator = ShapeEstimator(ROBOT)
    with pytest.raises(vb.InputError, match="orientation"):
        estimator.update(1, orientation, 0.0)
    assert estimator.time == -np.inf


@pytest.mark.parametrize("rate", [[0.0, 0.0], 0.0, "fast", [0.0, np.nan, 0.0], [np.inf, 0.0, 0.0], np.eye(3)], ids=str)
def test_rates(rate):
    estimator = ShapeEstimator(ROBOT)
    with pytest.raises(vb.InputError, match="gyro"):
        estimator.update(1, np.eye(3), 0.0, gyro=rate)
    with pytest.raises(vb.InputError, match="rate"):
        estimator.update_gyro(1, rate, 0.0)
    # A refused sample leaves nothing behind.
    assert estimator.update(1, np.eye(3), 0.0, gyro=[0.0, 0.0, 0.0])


@pytest.mark.parametrize("time", [np.nan, np.inf, -np.inf, "now", [0.0, 1.0], None, 1e300], ids=str)
def test_times(time):
    estimator = ShapeEstimator(ROBOT)
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
    estimator = ShapeEstimator(ROBOT, method)
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
    shape_from_orientations(ROBOT, rotations, noise=noise, base=base)
    shape_from_orientations(ROBOT, rotations.tolist(), noise=noise.tolist(), base=base.tolist())
    np.testing.assert_array_equal(rotations, STRAIGHT)


def test_results_are_readable():
    shape = fed(ROBOT, STRAIGHT).solve(0.5)
    text = repr(shape)
    for word in ("lapusan2022", "chain", "336.00", "mm", "0 stale"):
        assert word in text
    assert [health.sensor for health in shape.health] == [0, 1, 2, 3, 4]
    with pytest.raises(AttributeError):
        shape.time = 1.0
