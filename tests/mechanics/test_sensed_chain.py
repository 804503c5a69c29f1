"""The kernels of shape sensing one by one: residuals, weights, pair angles, steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests import robots
from tests.oracles.sensed_chain import joint_rotations, orientation_errors, robust_weights, world_rotations
from tests.sensing.cases import every_kind, random_pose, random_rotation, universal

import vertebra as vb
from vertebra.mechanics.kernels.sensed_chain import LARGEST_STEP, MOST_STEPS, fit_chain
from vertebra.mechanics.kernels.sensor_intake import fill_pair_angles, place_sensed
from vertebra.mechanics.layout import FACTOR_WIDTH
from vertebra.robot.tables import BALL, UNIVERSAL

PIN = robots.robot("pin", robots.section(1, robots.PIN, azimuth=["0 deg"]))


class Fit:
    """`fit_chain` with all its arrays."""

    def __init__(self, robot, measured, information, *, base=None, base_known=False, gate=math.inf, soft=0.0, q=None):
        n = len(robot.joints)
        self.q = np.zeros(robot.freedoms) if q is None else np.array(q, float)
        self.twist, self.frames = np.zeros(n), np.zeros((n + 1, 4, 4))
        self.frames[0] = np.eye(4)
        self.frames[0, :3, :3] = np.eye(3) if base is None else base
        self.residuals, self.weights = np.full((n + 1, 3), np.nan), np.full((n + 1, 2), np.nan)
        self.steps = fit_chain(
            robot.joints, robot.links, np.ascontiguousarray(measured), np.array(information, float), gate, soft,
            np.zeros(n), base_known, self.q, self.twist, self.frames, np.zeros((robot.freedoms, 6)),
            np.zeros((n + 1, FACTOR_WIDTH)), self.residuals, self.weights,
        )  # fmt: skip


def residual(first, second, gate=math.inf, information=(4.0, 25.0, 9.0)):
    """Residuals and weights of a sensor on a base that is known: the fit cannot touch it."""
    fit = Fit(PIN, [second, np.eye(3)], [information, (0.0, 0.0, 0.0)], base=first, base_known=True, gate=gate)
    return fit.residuals[0], fit.weights[0]


def test_residuals_are_tilt_and_heading():
    rng = np.random.default_rng(0)
    for _ in range(200):
        first, second = random_rotation(rng), random_rotation(rng)
        expected = orientation_errors(second[None], first[None])[0]
        np.testing.assert_allclose(residual(first, second)[0], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-6, 1e-4, 9.9e-5, 1.01e-4, 1e-2, 1.0, 3.0, math.pi - 1e-6])
def test_residuals_of_any_size(size):
    rng = np.random.default_rng(1)
    for heading in (0.0, 1e-9, 2.0, -3.0, math.pi):
        direction = rng.uniform(0.0, 2.0 * math.pi)
        tilt = size * np.array([math.cos(direction), math.sin(direction), 0.0])
        first = random_rotation(rng)
        turn = Rotation.from_rotvec([0.0, 0.0, heading]) * Rotation.from_rotvec(tilt)
        found = residual(first, turn.as_matrix() @ first)[0]
        np.testing.assert_allclose(found[:2], tilt[:2], rtol=1e-9, atol=1e-15 + 1e-9 * (size > 3.0))
        # Upside down, a turn of the heading and one of the tilt's direction are all but the same.
        assert abs(math.remainder(found[2] - heading, 2.0 * math.pi)) < (1e-8 if size < 3.1 else 1e-3)


@pytest.mark.parametrize("half", [(1, -1, -1), (-1, 1, -1)])
def test_a_sensor_upside_down_has_a_residual_of_half_a_turn(half):
    found = residual(np.eye(3), np.diag(np.array(half, float)))[0]
    assert np.isfinite(found).all()
    assert math.hypot(found[0], found[1]) == pytest.approx(math.pi)


def test_half_a_turn_of_heading_is_no_tilt():
    found = residual(np.eye(3), np.diag([-1.0, -1.0, 1.0]))[0]
    np.testing.assert_allclose(np.abs(found), [0.0, 0.0, math.pi], atol=1e-12)


@pytest.mark.parametrize("gate", [0.5, 2.0, 50.0])
def test_weights_fall_beyond_the_gate(gate):
    rng = np.random.default_rng(2)
    information = np.array([4.0, 25.0, 9.0])
    for _ in range(50):
        first, second = random_rotation(rng), random_rotation(rng)
        errors, weights = residual(first, second, gate, information)
        np.testing.assert_allclose(weights, robust_weights(errors[None], information**-0.5, gate)[0], rtol=1e-12)


def test_links_without_a_sensor_have_no_residual():
    rng = np.random.default_rng(3)
    robot = universal(3)
    fit = Fit(robot, [random_rotation(rng) for _ in range(4)], [(1.0, 1.0, 1.0), (0, 0, 0), (0, 0, 0), (1.0, 1.0, 1.0)])
    np.testing.assert_array_equal(fit.residuals[1:3], 0.0)
    np.testing.assert_array_equal(fit.weights[1:3], 1.0)


@pytest.mark.parametrize("robot", every_kind(), ids=lambda robot: robot.name)
def test_a_start_far_off_finds_the_pose(robot):
    """From straight, with the base turned by a radian: Gauss-Newton with its steps bounded."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        q, base = random_pose(robot, rng, 0.5), random_rotation(rng)
        measured = world_rotations(robot, base, q, np.zeros(len(robot.joints)))
        start = Rotation.from_rotvec(rng.normal(size=3)).as_matrix() @ base
        fit = Fit(robot, measured, np.full((len(robot.links), 3), 1e6), base=start, gate=3.0)
        assert 0 < fit.steps <= MOST_STEPS
        np.testing.assert_allclose(fit.q, q, rtol=0, atol=1e-6)
        np.testing.assert_allclose(fit.frames[0, :3, :3], base, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(fit.twist, 0.0)


@pytest.mark.parametrize("robot", every_kind(), ids=lambda robot: robot.name)
def test_small_errors_take_few_steps(robot):
    """The step is that of the whole problem, so that what is left is of second order: 1e-3, 1e-6, done."""
    rng = np.random.default_rng(9)
    n = len(robot.joints)
    information = np.tile([1e6, 1e6, 2e3], (n + 1, 1))
    for _ in range(10):
        q, base = random_pose(robot, rng), random_rotation(rng)
        noise = Rotation.from_rotvec(rng.normal(size=(n + 1, 3)) * 3e-4).as_matrix()
        measured = noise @ world_rotations(robot, base, q, np.zeros(n))
        assert 0 < Fit(robot, measured, information, base=base, soft=3e-5, q=q).steps <= 4


def test_steps_are_bounded():
    """A pin asked to turn by 3 rad gets there in steps of at most a radian, and stops at its limit."""
    measured = [np.eye(3), Rotation.from_rotvec([0.0, 1.4, 0.0]).as_matrix()]
    fit = Fit(PIN, measured, [(1e6,) * 3] * 2, base_known=True, q=[-1.5])
    assert fit.steps >= math.ceil(2.9 / LARGEST_STEP)
    assert fit.q[0] == pytest.approx(1.4, abs=1e-6)
    wide = [np.eye(3), Rotation.from_rotvec([0.0, 3.0, 0.0]).as_matrix()]
    assert Fit(PIN, wide, [(1e6,) * 3] * 2, base_known=True).q[0] == PIN.joints["limit"][0]


def test_twist_is_shared_with_what_is_known_about_it():
    """One heading says 0.2 rad; joint twist and sensor pull as springs in series do."""
    information, soft = 100.0, 0.04
    measured = [np.eye(3), Rotation.from_rotvec([0.0, 0.0, 0.2]).as_matrix()]
    fit = Fit(PIN, measured, [(1e6, 1e6, 1e6), (1e6, 1e6, information)], base_known=True, soft=soft)
    assert fit.twist[0] == pytest.approx(0.2 * information / (information + 1.0 / soft), rel=1e-6)
    assert fit.q[0] == pytest.approx(0.0, abs=1e-6)


def test_a_known_base_stays():
    rng = np.random.default_rng(5)
    base = random_rotation(rng)
    fit = Fit(universal(3), [random_rotation(rng) for _ in range(4)], np.full((4, 3), 1e3), base=base, base_known=True)
    np.testing.assert_array_equal(fit.frames[0, :3, :3], base)


def pair_angles(robot, rotations):
    q = np.zeros(robot.freedoms)
    fill_pair_angles(robot.joints, np.ascontiguousarray(rotations), np.zeros((3, 6)), q)
    return q


@pytest.mark.parametrize("robot", every_kind(), ids=lambda robot: robot.name)
def test_pair_angles_of_joints_that_turn_as_they_can(robot):
    rng = np.random.default_rng(6)
    for q in [random_pose(robot, rng, 0.95) for _ in range(5)] + [
        np.zeros(robot.freedoms),
        np.full(robot.freedoms, 1e-13),
    ]:
        rotations = world_rotations(robot, random_rotation(rng), q, np.zeros(len(robot.joints)))
        np.testing.assert_allclose(pair_angles(robot, rotations), q, rtol=0, atol=1e-9)


def test_pair_angles_leave_a_twist_aside():
    """Universal joints: a turn about z before them; balls: one behind them; mirrors: the nearest turn."""
    rng = np.random.default_rng(7)
    for robot in every_kind():
        q = random_pose(robot, rng)
        for j, joint in enumerate(robot.joints):
            own = slice(joint["first"], joint["first"] + joint["freedoms"])
            turn, twist = joint_rotations(robot, q)[j], Rotation.from_rotvec([0.0, 0.0, rng.uniform(-0.5, 0.5)])
            twisted = twist * turn if joint["kind"] == UNIVERSAL else turn * twist
            rotations = np.broadcast_to(np.eye(3), (len(robot.links), 3, 3)).copy()
            rotations[j + 1 :] = twisted.as_matrix()
            found = pair_angles(robot, rotations)
            if joint["kind"] in (UNIVERSAL, BALL):
                np.testing.assert_allclose(found[own], q[own], rtol=0, atol=1e-9)
            else:
                near = [distance(robot, j, found[own][0] + step, rotations[j + 1]) for step in (0.0, 1e-4, -1e-4)]
                assert near[0] <= min(near[1:])


def distance(robot, j, angle, rotation):
    """Between a rotation and that of a mirror joint at an angle."""
    q = np.zeros(robot.freedoms)
    q[robot.joints["first"][j]] = angle
    return np.linalg.norm(joint_rotations(robot, q)[j].as_matrix() - rotation)


@pytest.mark.parametrize("robot", every_kind(), ids=lambda robot: robot.name)
def test_links_are_placed_as_the_chain_does_with_the_base_turned(robot):
    rng = np.random.default_rng(8)
    q, base, n = random_pose(robot, rng), random_rotation(rng), len(robot.joints)
    frames, axes = np.zeros((n + 1, 4, 4)), np.zeros((robot.freedoms, 6))
    place_sensed(robot.joints, robot.links, robot.origin, base, q, np.zeros(n), frames, axes)
    expected = vb.Pose(robot, q).frames
    expected[:, :3] = base @ expected[:, :3]
    np.testing.assert_allclose(frames, expected, rtol=0, atol=1e-14)
    spins, centres = vb.Pose(robot, q).twists
    np.testing.assert_allclose(axes, np.hstack([spins @ base.T, centres @ base.T]), rtol=0, atol=1e-14)
