"""Joint moments and wrenches against Pinocchio: every kind of mirror joint, alone and mixed, one to fifty joints."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.dynamics.cases import random_moving, random_robot, with_inertia, worst
from tests.oracles import mirror_dynamics
from tests.oracles.pinocchio_model import PinocchioModel

import vertebra as vb

ROBOTS = 400 if os.environ.get("VERTEBRA_SOAK") == "1" else 40
STATES = 5
MIRROR_PRESETS = [name for name in vb.presets() if vb.load(name).joints["kind"].max() <= 2]


def wrenches_differ(value: np.ndarray, expected: np.ndarray) -> float:
    """Forces relative to the largest force, moments to the largest moment."""
    return max(worst(value[:, :3], expected[:, :3]), worst(value[:, 3:], expected[:, 3:]))


@pytest.mark.parametrize("seed", range(ROBOTS))
def test_moments_and_wrenches_of_random_robots(seed: int) -> None:
    """Every second robot has rods and cables with mass in its gaps."""
    rng = np.random.default_rng([11, seed])
    gap_mass = seed % 2 == 1
    robot = random_robot(rng, int(rng.integers(1, 13 if gap_mass else 51)), gap_mass=gap_mass)
    model = PinocchioModel(robot)
    for _ in range(STATES):
        case = random_moving(rng, robot)
        forces = vb.inverse_dynamics(robot, *case.given, wrenches=True)
        assert worst(forces.tau, model.inverse(*case.given)) < 1e-11
        assert wrenches_differ(forces.wrenches, model.wrenches(vb.Pose(robot, case.q).twists[1])) < 1e-11


@pytest.mark.parametrize("name", MIRROR_PRESETS)
def test_moments_of_presets(name: str) -> None:
    robot = with_inertia(name)
    model, rng = PinocchioModel(robot), np.random.default_rng(2)
    for _ in range(STATES):
        case = random_moving(rng, robot, bend=0.5)
        assert worst(case.tau(), model.inverse(*case.given)) < 1e-11


@pytest.mark.parametrize("seed", range(6))
def test_moments_and_wrenches_by_plain_numpy(seed: int) -> None:
    rng = np.random.default_rng([13, seed])
    robot = random_robot(rng, int(rng.integers(1, 9)), ("flexure", "rolling", "pin")[: 1 + seed % 3], gap_mass=True)
    case = random_moving(rng, robot)
    forces = vb.inverse_dynamics(robot, *case.given, wrenches=True)
    assert worst(forces.tau, mirror_dynamics.lagrange(robot, *case.given)) < 1e-11
    assert worst(forces.tau, mirror_dynamics.newton(robot, *case.given)) < 1e-11
    assert wrenches_differ(forces.wrenches, mirror_dynamics.wrenches(robot, *case.given)) < 1e-11


def test_all_but_straight_flexures_keep_their_digits() -> None:
    """Where series stand in for the closed forms: at zero, and on both sides of the change."""
    rng = np.random.default_rng(7)
    robot = random_robot(rng, 4, ("flexure",), gap_mass=True)
    model = PinocchioModel(robot)
    for angle in (0.0, 1e-9, 1e-4, 0.0999, 0.1001, 0.1999, 0.2001, 0.3999, 0.4001):
        case = random_moving(rng, robot, bend=1e-300)
        q = angle * np.array([1.0, -1.0, 1.0, -1.0])
        tau = vb.inverse_dynamics(robot, q, *case.given[1:])
        assert worst(tau, model.inverse(q, *case.given[1:])) < 1e-11


def test_moment_is_the_axial_part_of_the_wrench_without_mass_in_the_gaps() -> None:
    rng = np.random.default_rng(8)
    case = random_moving(rng, random_robot(rng, 9))
    forces = vb.inverse_dynamics(case.robot, *case.given, wrenches=True)
    axes, _ = vb.Pose(case.robot, case.q).twists
    np.testing.assert_allclose((axes * forces.wrenches[:, 3:]).sum(axis=1), forces.tau, rtol=0, atol=1e-14)


def test_at_rest_the_moments_are_those_of_statics() -> None:
    """At an equilibrium of cables and springs they balance what gravity and loads need."""
    robot = with_inertia("yang2023-a")
    tensions, loads = np.array([3.0, 7.0, 8.0, 2.0]), [vb.Load(force=(0.1, 0.0, 0.2))]
    shape = vb.shape_from_tensions(robot, tensions, loads=loads, friction=0)
    still = np.zeros(robot.freedoms)
    tau = vb.inverse_dynamics(robot, shape.angles, still, still, loads=loads)
    supplied = -tensions @ vb.Pose(robot, shape.angles).cable_segments.first - robot.joints["stiffness"] * shape.angles
    np.testing.assert_allclose(tau, supplied, rtol=0, atol=1e-12)
