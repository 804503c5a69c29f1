"""Sensors that fall silent in the middle of a run: the shape continues with a larger covariance, and they are named."""

from __future__ import annotations

import numpy as np
import pytest
from tests.sensing.cases import assert_finite, disturbed, feed, link_rotations, universal

import vertebra as vb
from vertebra.sensing.estimator import ShapeEstimator

ROBOT = universal(4)
PERIOD = 0.01
BASE = np.eye(3)


def pose(time):
    """Slow motion of all joints."""
    phases = np.arange(ROBOT.freedoms)
    return 0.3 * np.sin(1.3 * time + phases)


class Run:
    """A moving robot whose sensors can be switched off and on."""

    def __init__(self, method="chain", seed=0, gyro=True, **options):
        self.estimator = ShapeEstimator(ROBOT, method, **options)
        self.rng, self.time, self.gyro = np.random.default_rng(seed), 0.0, gyro

    def go(self, duration, dead=()):
        """Shapes of every cycle while the sensors in `dead` say nothing."""
        shapes = []
        for _ in range(round(duration / PERIOD)):
            self.time += PERIOD
            rotations, later = (link_rotations(ROBOT, pose(self.time + step), BASE) for step in (0.0, 1e-6))
            measured = disturbed(rotations, ROBOT.sensor_noise, self.rng)
            for link in set(range(5)) - set(dead):
                turn = (rotations[link].T @ later[link] - np.eye(3)) / 1e-6
                rate = (turn[2, 1], turn[0, 2], turn[1, 0]) if self.gyro else None
                self.estimator.update(link, measured[link], self.time, gyro=rate)
            shapes.append(self.estimator.solve(self.time))
            assert_finite(shapes[-1])
        return shapes

    def tip_error(self, shape):
        return np.linalg.norm(shape.tip_in_base - vb.Pose(ROBOT, pose(shape.time)).tip_frame[:3, 3])


def sigmas(shapes, joint):
    return np.array([np.linalg.norm(shape.angle_sigmas[2 * joint : 2 * joint + 2]) for shape in shapes])


@pytest.mark.parametrize("gyro", [True, False], ids=["gyro", "no gyro"])
@pytest.mark.parametrize("dead", [0, 1, 2, 4])
def test_a_sensor_dies_and_returns(dead, gyro):
    run = Run(gyro=gyro)
    alive = run.go(0.5)
    assert {health.state for health in alive[-1].health} <= {"ok", "disturbed"}
    silent = run.go(2.0, dead=[dead])
    joint = max(dead - 1, 0)
    # It grows until the last sample counts for nothing, and then varies with the pose.
    grown = sigmas(silent, joint)[::20]
    assert (np.diff(grown[:3]) > 0.0).all()
    assert (grown[3:] > 0.85 * grown.max()).all()
    assert grown[-1] > 3 * sigmas(alive, joint)[-1]
    for shape in silent:
        assert (shape.health[dead].state == "stale") == (shape.ages[dead] > 0.25)
        assert shape.ages[dead] == pytest.approx(shape.time - alive[-1].time, abs=1e-9)
    assert [health.sensor for health in silent[-1].health if health.state == "stale"] == [dead]
    assert f"{dead} stale" in repr(silent[-1])
    back = run.go(0.1)
    assert back[-1].health[dead].state in ("ok", "disturbed")
    np.testing.assert_allclose(sigmas(back, joint)[-1], sigmas(alive, joint)[-1], rtol=0.3)
    assert run.tip_error(back[-1]) < 3e-3


def test_without_the_middle_sensor_the_rest_still_know_the_orientation_beyond():
    """How two joints share a bend is then unknown, and the covariance of the tip shows it."""
    run = Run()
    run.go(0.5)
    for shape in run.go(2.0, dead=[2]):
        truth = BASE @ vb.Pose(ROBOT, pose(shape.time)).frames[-1, :3, :3]
        assert np.degrees(np.arccos((np.trace(truth @ shape.frames[-1, :3, :3].T) - 1.0) / 2.0)) < 4.0
        assert run.tip_error(shape) < 3e-3 + 3.0 * np.sqrt(np.trace(shape.covariance[:3, :3]))


def still_robot(dead):
    """Shapes and variances of a robot at rest, from the sample after which a sensor falls silent."""
    estimator = ShapeEstimator(ROBOT)
    rotations = link_rotations(ROBOT, pose(0.0), BASE)
    feed(estimator, rotations, 0.0)
    shapes = [estimator.solve()]
    for step in range(1, 60):
        for link in set(range(5)) - {dead}:
            estimator.update(link, rotations[link], 0.05 * step)
        shapes.append(estimator.solve())
    joint = max(dead - 1, 0)
    return shapes, np.array([[sigmas([shape], joint)[0], *np.diag(shape.covariance)] for shape in shapes])


@pytest.mark.parametrize("dead", [0, 4])
def test_at_an_end_a_still_robot_keeps_its_angles_and_the_covariance_grows(dead):
    shapes, sizes = still_robot(dead)
    for shape in shapes:
        np.testing.assert_allclose(shape.angles, shapes[0].angles, atol=1e-6)
    assert (np.diff(sizes, axis=0) >= -1e-12).all()
    assert sizes[-1][0] > 2.0 * sizes[1][0]


def test_joints_beside_a_silent_sensor_share_their_bend_in_the_end():
    shapes, sizes = still_robot(2)
    first, second = shapes[0].angles.reshape(4, 2)[1:3]
    assert np.linalg.norm(first - second) > 0.2
    first, second = shapes[-1].angles.reshape(4, 2)[1:3]
    assert np.linalg.norm(first - second) < 0.1
    assert sizes[-1][0] > 2.0 * sizes[1][0]
    for link in (1, 3, 4):  # those that are heard stay where they are
        turn = shapes[-1].frames[link, :3, :3] @ shapes[0].frames[link, :3, :3].T
        assert np.degrees(np.arccos((np.trace(turn) - 1.0) / 2.0)) < 0.2


def test_joints_beside_a_dead_sensor_come_to_share_their_bend():
    """Its last sample soon counts for nothing; the links beyond stay where they were."""
    estimator = ShapeEstimator(ROBOT)
    q = np.array([0.1, 0.0, 0.4, 0.0, 0.0, 0.0, -0.2, 0.0])
    rotations = link_rotations(ROBOT, q, BASE)
    feed(estimator, rotations, 0.0)
    estimator.solve()
    for step in range(1, 600):
        for link in (0, 1, 3, 4):
            estimator.update(link, rotations[link], 0.01 * step)
        shape = estimator.solve()
        np.testing.assert_allclose(shape.frames[[0, 1, 3, 4], :3, :3], rotations[[0, 1, 3, 4]], atol=2e-3)
        if step < 20:
            np.testing.assert_allclose(shape.angles, q, atol=1e-2)
    np.testing.assert_allclose(shape.angles, [0.1, 0.0, 0.2, 0.0, 0.2, 0.0, -0.2, 0.0], atol=1e-2)


def test_a_known_base_is_heard_for_ever():
    """Joints between it and the first sensor that is still heard share their bend too."""
    robot = universal(4, links=[1, 2, 3, 4])
    rotations = link_rotations(robot, np.array([0.3, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0]), BASE)
    estimator = ShapeEstimator(robot, base=BASE)
    feed(estimator, rotations, 0.0)
    estimator.solve()
    for step in range(1, 600):
        for link in (2, 3, 4):
            estimator.update(link, rotations[link - 1], 0.01 * step)
        shape = estimator.solve()
    np.testing.assert_allclose(shape.angles[:4], [0.2, 0.0, 0.2, 0.0], atol=1e-2)


def test_all_sensors_die():
    run = Run()
    last = run.go(0.5)[-1]
    silent = [run.estimator.solve(last.time + 0.05 * step) for step in range(100)]
    totals = [np.trace(shape.covariance[:3, :3]) for shape in silent]
    assert (np.diff(totals) > 0.0).all()
    for shape in silent[6:]:
        assert {health.state for health in shape.health} == {"stale"}
        assert_finite(shape)
        # The last rates still carry for a tenth of a second; then the robot stays where it was.
        np.testing.assert_allclose(shape.angles, silent[6].angles, atol=1e-2)
    assert run.go(0.1)[-1].health[0].state in ("ok", "disturbed")


def test_a_sensor_that_was_never_heard_is_silent():
    estimator = ShapeEstimator(ROBOT)
    rotations = link_rotations(ROBOT, pose(0.0), BASE)
    for link in (0, 1, 3, 4):
        estimator.update(link, rotations[link], 0.0)
    shape = estimator.solve()
    assert_finite(shape)
    assert shape.health[2].state == "silent"
    assert shape.health[2].age == np.inf
    assert shape.health[2].samples == 0
    assert shape.heading_residuals[2] == shape.tilt_residuals[2] == 0.0


def test_a_fault_is_reported_until_the_next_good_sample():
    run = Run()
    run.go(0.1)
    run.estimator.report_fault(3)
    assert run.estimator.solve().health[3].state == "fault"
    assert run.go(0.02)[-1].health[3].state in ("ok", "disturbed")
    with pytest.raises(vb.InputError, match="sensor"):
        run.estimator.report_fault(9)


def test_stale_after_is_what_the_caller_says():
    estimator = ShapeEstimator(ROBOT, stale_after=2.0)
    feed(estimator, link_rotations(ROBOT, pose(0.0), BASE), 0.0)
    assert estimator.solve(1.9).health[0].state == "ok"
    assert estimator.solve(2.1).health[0].state == "stale"


@pytest.mark.parametrize("dead", [0, 2, 4])
def test_pairwise_goes_on_too(dead):
    run = Run("pairwise")
    alive = run.go(0.3)
    silent = run.go(1.0, dead=[dead])
    assert silent[-1].health[dead].state == "stale"
    assert sigmas(silent, max(dead - 1, 0))[-1] > sigmas(alive, max(dead - 1, 0))[-1]
    if dead == 4:
        # Nothing determines the last joint any more: it stays as it was.
        np.testing.assert_array_equal(silent[-1].angles[6:], silent[40].angles[6:])
    assert run.go(0.1)[-1].health[dead].state == "ok"


def test_ages_of_samples_from_the_future_are_negative_and_nothing_breaks():
    estimator = ShapeEstimator(ROBOT)
    rotations = link_rotations(ROBOT, pose(0.0), BASE)
    feed(estimator, rotations, 0.0)
    estimator.update(1, rotations[1], 1e9)
    for time in (0.0, None, 1e11, -1e11):
        shape = estimator.solve(time)
        assert_finite(shape)
    shape = estimator.solve(0.0)
    assert shape.ages[1] == -1e9
    np.testing.assert_allclose(shape.angles[4:], pose(0.0)[4:], atol=1e-6)


@pytest.mark.parametrize("method", ["chain", "pairwise"])
def test_a_shape_is_settled_once_every_angle_is_determined(method):
    robot = universal(4)
    estimator = ShapeEstimator(robot, method)
    settled = []
    for link in (0, 4, 2, 3, 1):
        estimator.update(link, np.eye(3), 0.0)
        settled.append(estimator.solve().settled)
    assert settled == [False, False, False, False, True]
