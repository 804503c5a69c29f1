"""Sensing of rods that bend any way, and twist, alone and among other joints."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests import robots
from tests.sensing.cases import disturbed, link_rotations, random_rotation, universal, with_sensors

import vertebra as vb
from vertebra.mechanics.kernels.sensor_intake import place_sensed
from vertebra.mechanics.kinematics import twist_table
from vertebra.robot.tables import BACKBONE, BALL
from vertebra.sensing.calibration.moving import gaps
from vertebra.sensing.estimator import ShapeEstimator, shape_from_orientations
from vertebra.sensing.simulated.motion import Motion, chain_motion

ROD = {"kind": "backbone", "length": "42 mm", "stiffness": 0.1, "limit": "80 deg"}
TWISTING = ROD | {"torsion": 0.1}
LINK = {"length": "42 mm"}
ROBOTS = {
    "rods": robots.robot("rods", robots.section(5, ROD, LINK)),
    "twisting rods": robots.robot("twisting rods", robots.section(5, TWISTING, LINK)),
    "mixed": robots.robot(
        "mixed",
        robots.section(2, TWISTING),
        robots.section(2, robots.ROLLING, azimuth=["20 deg"]),
        robots.section(2, ROD),
        robots.section(1, robots.BALL, robots.BALL_LINK),
        robots.section(2, robots.UNIVERSAL),
    ),
}
BENDS = (BALL, BACKBONE)


@pytest.fixture(params=ROBOTS.values(), ids=ROBOTS)
def robot(request) -> vb.Robot:
    return request.param


def random_pose(robot, rng, share=0.9):
    reach = share * robot.joints["limit"] / np.where(np.isin(robot.joints["kind"], BENDS), np.sqrt(2), 1.0)
    return rng.uniform(-1.0, 1.0, robot.freedoms) * np.repeat(reach, robot.joints["freedoms"])


@pytest.mark.parametrize("method", ["chain", "pairwise"])
def test_perfect_orientations_give_back_every_angle(robot, method):
    rng = np.random.default_rng(0)
    for known in (False, True):
        for _ in range(10):
            q, base = random_pose(robot, rng), random_rotation(rng)
            shape = shape_from_orientations(robot, link_rotations(robot, q, base), method, base=base if known else None)
            np.testing.assert_allclose(shape.angles, q, atol=1e-9)
            np.testing.assert_allclose(shape.joint_twists, 0.0, atol=1e-9)
            np.testing.assert_allclose(shape.tip_in_base, vb.Pose(robot, q).tip, atol=1e-9)


def test_a_stream_follows_a_moving_rod_and_bends_stay_within_their_limit(robot):
    """From the last shape, not from a fresh start; perfect orientations beyond the limit end at the limit."""
    rng = np.random.default_rng(1)
    estimator, q, base = ShapeEstimator(robot, gyro=False), random_pose(robot, rng, 0.3), random_rotation(rng)
    for step in range(10):
        q = q + 0.004 * rng.normal(size=len(q))  # slow enough for no sample to look like a jump
        for link, rotation in zip(robot.sensor_links.tolist(), link_rotations(robot, q, base), strict=True):
            estimator.update(link, rotation, 0.01 * step)
        np.testing.assert_allclose(estimator.solve().angles, q, atol=1e-6)
    far = np.where(np.repeat(robot.joints["kind"], robot.joints["freedoms"]) == BACKBONE, 1.3, 0.0)
    shape = shape_from_orientations(robot, link_rotations(robot, far, base))
    for row in np.flatnonzero(robot.joints["kind"] == BACKBONE):
        assert robot.bend_of(shape.angles, row) <= robot.joints["limit"][row] * (1 + 1e-12)


def test_axes_are_the_derivative_of_the_orientations(robot):
    """By differences: what the fit takes for the turn, and the covariance for the motion, of each link."""
    rng = np.random.default_rng(2)
    q, base = random_pose(robot, rng), random_rotation(rng)
    twist, axes = 0.05 * rng.normal(size=len(robot.joints)), twist_table(robot)
    twist[robot.joints["freedoms"] == 3] = 0.0

    def placed(at):
        frames = np.empty((len(robot.links), 4, 4))
        place_sensed(robot.joints, robot.links, robot.origin, base, at, twist, frames, axes)
        return frames

    h = 1e-5
    for row in range(robot.freedoms):
        step = h * np.eye(robot.freedoms)[row]
        low, high = placed(q - step), placed(q + step)
        link = robot.joint_of(row)
        turn = Rotation.from_matrix(high[link, :3, :3] @ low[link, :3, :3].T).as_rotvec() / (2 * h)
        moved = (high[link, :3, 3] - low[link, :3, 3]) / (2 * h)
        here = placed(q)
        np.testing.assert_allclose(axes[row, :3], turn, atol=1e-8)
        along = axes[row, 6:].sum() * axes[row, :3]
        if robot.joints["kind"][link - 1] != BALL:
            slide = np.cross(axes[row, :3], here[link, :3, 3] - axes[row, 3:6]) + along
            np.testing.assert_allclose(slide, moved, atol=1e-8)


@pytest.mark.parametrize("method", ["chain", "pairwise"])
def test_spread_is_that_of_small_errors(robot, method):
    """Covariance of the tip and variances of the angles, against what small errors of the sensors do one by one."""
    rng = np.random.default_rng(3)
    q, base = random_pose(robot, rng, 0.6), Rotation.from_rotvec([0.1, 0.2, 0.3]).as_matrix()
    rotations = link_rotations(robot, q, base)
    noise, h = np.array([0.002, 0.003, 0.02]), 1e-4
    given = {"noise": noise, "gate": 1e6, "twist": 0.01}

    def asked(measured):
        shape = shape_from_orientations(robot, measured, method, **given)
        return np.concatenate([shape.tip, shape.angles])

    total = 0.0
    for sensor in range(len(rotations)):
        for axis in range(3):
            sides = []
            for sign in (-1.0, 1.0):
                turned = rotations.copy()
                turned[sensor] = Rotation.from_rotvec(sign * h * np.eye(3)[axis]).as_matrix() @ turned[sensor]
                sides.append(asked(turned))
            slope = noise[axis] * (sides[1] - sides[0]) / (2 * h)
            total = total + np.outer(slope, slope)
    shape = shape_from_orientations(robot, rotations, method, **given)
    sigmas = np.concatenate([np.sqrt(np.diagonal(shape.covariance)[:3]), shape.angle_sigmas])
    if method == "pairwise":
        np.testing.assert_allclose(sigmas, np.sqrt(np.diagonal(total)), rtol=1e-4)
    else:  # what is known beforehand adds to the spread, since a soft twist may be there
        assert (sigmas > 0.99 * np.sqrt(np.diagonal(total))).all()
        assert (sigmas < 3.0 * np.sqrt(np.diagonal(total)) + 1e-4).all()


def test_noise_costs_a_rod_what_it_costs_a_universal_joint():
    """Root mean square error of the tip over random poses, with datasheet sensors; spreads are honest."""
    noise = np.radians([0.06, 0.06, 1.5])
    errors, normal = {}, []
    for name, robot in {"rods": ROBOTS["rods"], "universal": universal(5, limit="80 deg")}.items():
        rng, found = np.random.default_rng(4), []
        for _ in range(40):
            q = random_pose(robot, rng, 0.5)
            shape = shape_from_orientations(robot, disturbed(link_rotations(robot, q, np.eye(3)), noise, rng))
            found.append(shape.tip_in_base - vb.Pose(robot, q).tip)
            if name == "rods":
                normal.append((shape.angles - q) / shape.angle_sigmas)
        errors[name] = float(np.sqrt(np.mean(np.sum(np.square(found), axis=1))))
    assert errors["rods"] < 1.5 * errors["universal"]
    assert 0.5 < np.sqrt(np.mean(np.square(normal))) < 1.2


def test_joints_across_a_link_without_sensor_share_what_is_known(robot):
    rng = np.random.default_rng(5)
    sparse = with_sensors(robot, links=[0, *range(2, len(robot.links))])
    q, base = random_pose(robot, rng, 0.2), random_rotation(rng)
    turned = vb.Pose(robot, q).frames[:, :3, :3]
    for method in ("chain", "pairwise"):
        shape = shape_from_orientations(sparse, link_rotations(sparse, q, base), method)
        off = Rotation.from_matrix(shape.frames_in_base[2:, :3, :3] @ np.swapaxes(turned[2:], 1, 2)).magnitude()
        sigmas = np.sqrt(np.trace(shape.platform_covariances[2:, 3:, 3:], axis1=1, axis2=2))
        assert (off < (1e-5 if method == "pairwise" else sigmas)).all()


def test_calibration_knows_that_a_rod_without_torsion_does_not_twist():
    rng, counts = np.random.default_rng(6), {}
    for name in ("rods", "twisting rods"):
        robot = ROBOTS[name]
        q = random_pose(robot, rng)
        frames = vb.Pose(robot, q).frames[:, :3, :3]
        for link, gap in enumerate(gaps(robot)):
            held = np.einsum("cij,ij->c", gap.matrices, frames[link].T @ frames[link + 1])
            np.testing.assert_allclose(held, gap.constants, atol=1e-14)
        counts[name] = len(gaps(robot)[0].constants)
    assert counts == {"rods": 1, "twisting rods": 0}
    across = with_sensors(ROBOTS["rods"], links=[0, 2, 3])
    assert [len(gap.constants) for gap in gaps(across)] == [0, 1]


def test_simulated_sensors_turn_as_the_links_do(robot):
    motion = Motion.wander(robot, amplitude=0.3, speed=1.0, seed=7)
    times = np.array([0.4, 0.4 + 1e-5])
    still = Motion(*(np.zeros((len(robot.joints), 1))[..., 0] if i == 0 else np.zeros((len(robot.joints), 1))
                     for i in range(4)))  # fmt: skip
    frames, rates = chain_motion(robot, motion, still, times, len(robot.links))
    turned = Rotation.from_matrix(np.swapaxes(frames[0, :, :3, :3], 1, 2) @ frames[1, :, :3, :3]).as_rotvec() / 1e-5
    np.testing.assert_allclose(rates[0], turned, atol=1e-4)
    assert (np.abs(motion.angles(np.linspace(0, 60, 200))) < 0.3 + 1e-9).all()
