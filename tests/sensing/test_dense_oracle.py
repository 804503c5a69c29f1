"""The O(n) fit against the same problem solved by SciPy as one dense least-squares problem."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests import robots
from tests.oracles.sensed_chain import DenseFit, robust_weights, world_frames
from tests.sensing.cases import DEGREE, about_z, disturbed, every_kind, random_pose, random_rotation, universal

from vertebra.sensing.estimator import shape_from_orientations

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
CASES = 20 if SOAK else 1
NOISE = np.array([0.06, 0.06, 1.5]) * DEGREE
TIGHT = robots.robot("tight", robots.section(6, robots.ROLLING | {"limit": "10 deg"}, azimuth=["0 deg", "70 deg"]))
ROBOTS = {robot.name: robot for robot in every_kind()}


class Case:
    """A random robot pose, what its sensors say, and both answers."""

    def __init__(
        self, robot, rng, *, noise=NOISE, twist=0.3 * DEGREE, base_known=False, gate=np.inf, change=None, pose=None
    ):
        m = len(robot.sensor_links)
        self.robot, self.gate, self.noise = robot, gate, np.broadcast_to(noise, (m, 3))
        self.q, base = random_pose(robot, rng) if pose is None else pose, random_rotation(rng)
        frames = world_frames(robot, base, self.q, rng.normal(size=len(robot.joints)) * twist)
        self.measured = disturbed(frames[robot.sensor_links, :3, :3], self.noise, rng)
        if change is not None:
            change(self.measured)
        self.dense = DenseFit(robot, self.measured, self.noise, twist, base, base_known)
        self.shape = shape_from_orientations(
            robot, self.measured, noise=self.noise, twist=twist, base=base if base_known else None, gate=min(gate, 1e9)
        )

    def assert_same(self, share=1e-3):
        """Angles within a thousandth of their standard deviation, covariances within 1e-4."""
        # Weights of outliers belong to the answer that they lead to: given them, this answer; given it, these weights.
        self.dense.weights = self.shape.weights
        unknowns = self.dense.solve(self.q)
        base, q, twist = self.dense.split(unknowns)
        covariance = self.dense.covariance(unknowns)
        first = self.dense.free_base
        sigmas = np.sqrt(np.diag(covariance))[first : first + self.robot.freedoms]
        shape, links = self.shape, self.robot.sensor_links
        assert shape.converged
        assert (np.abs(shape.angles - q) < share * sigmas).all()
        np.testing.assert_allclose(shape.joint_twists, twist, rtol=0, atol=share * sigmas.min())
        np.testing.assert_allclose(shape.base, base, rtol=0, atol=share * NOISE[2])
        np.testing.assert_allclose(shape.frames, self.dense.frames(unknowns), rtol=0, atol=share * NOISE[2])
        np.testing.assert_allclose(shape.angle_sigmas, sigmas, rtol=1e-4)
        for link in {0, links[len(links) // 2], len(self.robot.joints)}:
            expected = self.dense.pose_covariance(unknowns, link, self.robot.links["reach"][link])
            found = shape.platform_covariances[link]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())
        expected = self.dense.pose_covariance(unknowns, len(self.robot.joints), self.robot.tip_point[2])
        np.testing.assert_allclose(shape.covariance, expected, rtol=0, atol=1e-4 * np.abs(expected).max())
        errors = self.dense.errors(unknowns)
        np.testing.assert_allclose(shape.heading_residuals, errors[:, 2], rtol=0, atol=share * NOISE[2])
        np.testing.assert_allclose(
            shape.tilt_residuals, np.hypot(errors[:, 0], errors[:, 1]), rtol=0, atol=share * NOISE[2]
        )
        np.testing.assert_allclose(shape.weights, robust_weights(errors, self.noise, self.gate), rtol=0, atol=1e-4)


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
@pytest.mark.parametrize(
    ("twist", "base_known"),
    [(0.3 * DEGREE, False), (0.0, True), (0.0, False), (0.3 * DEGREE, True), (3 * DEGREE, False)][: 5 if SOAK else 2],
    ids=["firm", "stiff, known base", "stiff", "firm, known base", "soft"][: 5 if SOAK else 2],
)
def test_random_noise(robot, twist, base_known):
    rng = np.random.default_rng([len(robot.name), int(1e5 * twist), base_known])
    for _ in range(CASES):
        Case(robot, rng, twist=twist, base_known=base_known).assert_same()


@pytest.mark.parametrize("robot", [universal(5), ROBOTS["turning-mix"]], ids=lambda robot: robot.name)
def test_less_noise_shows_the_same_minimum_to_seven_digits(robot):
    rng = np.random.default_rng(1)
    for _ in range(CASES):
        case = Case(robot, rng, noise=0.1 * NOISE, twist=0.1 * DEGREE)
        q = case.dense.split(case.dense.solve(case.shape.angles))[1]
        np.testing.assert_allclose(case.shape.angles, q, rtol=0, atol=1e-7)


@pytest.mark.parametrize("links", [[0, 2, 5], [1, 4], [0, 5], [5], [2, 3, 4], [0, 1, 2, 3]], ids=str)
@pytest.mark.parametrize("base_known", [False, True], ids=["free base", "known base"])
def test_sensors_on_some_links(links, base_known):
    """Where nothing is measured, angles stay at the start or share the bend evenly; their sigmas show it."""
    rng = np.random.default_rng(links)
    robot = universal(5, "xy", links=links)
    m = len(links)
    noise = NOISE * rng.uniform(0.5, 2.0, (m, 1))
    q, base, twist = random_pose(robot, rng, 0.3), random_rotation(rng), 0.5 * DEGREE
    measured = disturbed(world_frames(robot, base, q, np.zeros(5))[links, :3, :3], noise, rng)
    shape = shape_from_orientations(
        robot, measured, noise=noise, twist=twist, base=base if base_known else None, gate=1e9
    )
    dense = DenseFit(robot, measured, noise, twist, shape.base, base_known)
    here = np.concatenate([np.zeros(dense.free_base), shape.angles, shape.joint_twists])
    # The minimum is no longer a single point: the step that the full problem would still take must be nothing, in
    # standard deviations, which are large for angles that no sensor measures.
    every = np.sqrt(np.diag(dense.covariance(here)))
    np.testing.assert_allclose(dense.covariance(here) @ dense.gradient(here) / every, 0.0, atol=1e-4)
    first = dense.free_base
    np.testing.assert_allclose(shape.angle_sigmas, every[first : first + robot.freedoms], rtol=1e-4)
    for link in range(6):
        expected = dense.pose_covariance(here, link, robot.links["reach"][link])
        np.testing.assert_allclose(
            shape.platform_covariances[link], expected, rtol=0, atol=1e-4 * np.abs(expected).max()
        )


@pytest.mark.parametrize("noise", [[0.5, 2.0, 5.0], [3.0, 0.3, 0.3], [0.1, 0.1, 20.0]], ids=str)
def test_noise_that_differs_by_axis_and_by_sensor(noise):
    rng = np.random.default_rng(2)
    for robot in (universal(4), ROBOTS["ball-first"]):
        scale = rng.uniform(0.5, 3.0, (len(robot.sensor_links), 1))
        Case(robot, rng, noise=np.array(noise) * 0.01 * DEGREE * scale).assert_same()


@pytest.mark.parametrize("robot", [universal(6), ROBOTS["ball"], ROBOTS["rolling"]], ids=lambda robot: robot.name)
@pytest.mark.parametrize("angle", [12, -25])
def test_a_heading_outlier_gets_the_weight_of_the_dense_fit(robot, angle):
    rng = np.random.default_rng(abs(angle))

    def turn_heading(measured):
        measured[2] = about_z(angle * DEGREE) @ measured[2]

    weights = []
    for _ in range(CASES):
        case = Case(robot, rng, gate=3.0, change=turn_heading)
        case.assert_same()
        weights.append(case.shape.weights[2, 1])
    # A robot that lies may bend to follow a heading; most cannot.
    assert np.median(weights) < 0.5


@pytest.mark.parametrize(
    "robot", [universal(4, limit="10 deg"), universal(4, "xy", "10 deg"), TIGHT], ids=lambda robot: robot.name
)
def test_joints_at_their_limits_leave_the_rest_to_the_others(robot):
    """Not only clipped: the other joints take the best angles that are left."""
    rng = np.random.default_rng(5)
    limits = np.repeat(robot.joints["limit"], robot.joints["freedoms"])
    converged, held = 0, 0
    for _ in range(2 * CASES):
        case = Case(robot, rng, twist=0.2 * DEGREE, pose=rng.uniform(-0.3, 0.3, robot.freedoms))
        q = case.dense.split(case.dense.solve(np.clip(case.q, -0.9 * limits, 0.9 * limits), limits))[1]
        held += (np.abs(q) > limits - 1e-5).sum()
        # Sensors that contradict the limits strongly may leave the search between two sets of joints at theirs.
        converged += case.shape.converged
        if case.shape.converged:
            np.testing.assert_allclose(case.shape.angles, q, rtol=0, atol=1e-4)
    assert converged > 1.8 * CASES
    assert held > 2 * CASES


def test_a_tilt_outlier_gets_the_weight_of_the_dense_fit():
    """A robot that bends in one plane cannot follow a sensor that tilts out of it."""
    flat = robots.robot("flat", robots.section(6, robots.ROLLING, azimuth=["0 deg"]))

    def lean(measured):
        measured[3] = measured[3] @ Rotation.from_rotvec([3.0 * DEGREE, 0.0, 0.0]).as_matrix()

    for twist in (0.0, 0.1 * DEGREE):
        case = Case(flat, np.random.default_rng(3), twist=twist, gate=3.0, change=lean)
        case.assert_same(share=5e-3)
        assert case.shape.weights[3, 0] < 0.1
        assert case.shape.health[3].state == "outlier"


def monte_carlo(method, robot, count, noise, twist, rng, share=0.3):
    """Errors of the tip and of all platforms over many draws of noise, and what the covariances promised."""
    q, base = random_pose(robot, rng, share), random_rotation(rng)
    frames = world_frames(robot, base, q, np.zeros(len(robot.joints)))
    platforms = frames[:, :3, 3] + robot.links["reach"][:, None] * frames[:, :3, 2]
    promised, errors, turned, angles = 0.0, [], [], []
    for _ in range(count):
        drawn = world_frames(robot, base, q, rng.normal(size=len(robot.joints)) * twist) if twist else frames
        measured = disturbed(drawn[:, :3, :3], noise, rng)
        shape = shape_from_orientations(robot, measured, method, noise=noise, twist=twist, gate=1e9)
        errors.append(shape.platforms[:, :3, 3] - platforms)
        turned.append(shape.frames[-1, :3, :3] @ frames[-1, :3, :3].T)
        angles.append(shape.angles - q)
        promised = promised + shape.platform_covariances / count
    return np.array(errors), np.array(turned), np.array(angles), promised, shape.angle_sigmas


@pytest.mark.parametrize("method", ["chain", "pairwise"])
@pytest.mark.parametrize(
    "robot", [universal(4), universal(3, "xy"), ROBOTS["ball"], ROBOTS["mirror-mix"]], ids=lambda r: r.name
)
def test_covariances_are_those_of_many_draws(robot, method):
    rng = np.random.default_rng(4)
    count = 20_000 if SOAK else 300
    errors, turned, angles, promised, sigmas = monte_carlo(method, robot, count, 0.1 * NOISE, 0.0, rng)
    # A variance from N draws is known to sqrt(2/N); five of these.
    slack = 5.0 * np.sqrt(2.0 / count) + 0.01
    np.testing.assert_allclose(angles.std(axis=0), sigmas, rtol=slack / 2)
    for link in (len(robot.links) // 2, -1):
        drawn = np.cov(errors[:, link].T)
        np.testing.assert_allclose(drawn, promised[link, :3, :3], rtol=0, atol=slack * np.trace(drawn))
    small = np.stack([turned[:, 2, 1], turned[:, 0, 2], turned[:, 1, 0]], axis=1)
    np.testing.assert_allclose(np.cov(small.T), promised[-1, 3:, 3:], rtol=0, atol=slack * np.trace(np.cov(small.T)))
    cross = np.cov(errors[:, -1].T, small.T)[:3, 3:]
    scale = np.sqrt(np.trace(np.cov(errors[:, -1].T)) * np.trace(np.cov(small.T)))
    np.testing.assert_allclose(cross, promised[-1, :3, 3:], rtol=0, atol=slack * scale)
