"""Accelerations: the inverse of the inverse, and cables, springs and damping as moments."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.dynamics.cases import random_moving, random_robot, with_inertia, worst
from tests.oracles import mirror_dynamics

import vertebra as vb
from vertebra.dynamics import bias_forces

ROBOTS = 200 if os.environ.get("VERTEBRA_SOAK") == "1" else 24


@pytest.mark.parametrize("seed", range(ROBOTS))
def test_forward_is_the_inverse_of_inverse(seed: int) -> None:
    rng = np.random.default_rng([41, seed])
    robot = random_robot(rng, int(rng.integers(1, 51)), gap_mass=seed % 2 == 1)
    for _ in range(4):
        case = random_moving(rng, robot)
        about = {"gravity": case.gravity, "loads": case.loads}
        qdd = vb.forward_dynamics(robot, case.q, case.qd, tau=case.tau(), **about)
        assert worst(qdd, case.qdd) < 1e-9
        wanted = rng.normal(0.0, 0.1, len(case.q))
        qdd = vb.forward_dynamics(robot, case.q, case.qd, tau=wanted, **about)
        tau = vb.inverse_dynamics(robot, case.q, case.qd, qdd, **about)
        # Moments of the parts cancel: what is left is judged by their size.
        size = np.abs(vb.mass_matrix(robot, case.q)) @ np.abs(qdd) + np.abs(wanted)
        assert np.abs((tau - wanted) / size).max() < 1e-9


@pytest.mark.parametrize("gap_mass", [False, True])
def test_accelerations_of_a_dense_solve(gap_mass: bool) -> None:
    rng = np.random.default_rng([42, gap_mass])
    for joints in (1, 2, 5, 9):
        robot = random_robot(rng, joints, gap_mass=gap_mass)
        case = random_moving(rng, robot)
        tau = rng.normal(0.0, 1.0, joints)
        qdd = vb.forward_dynamics(robot, case.q, case.qd, tau=tau, gravity=case.gravity, loads=case.loads)
        expected = mirror_dynamics.acceleration(robot, case.q, case.qd, tau, case.gravity, case.loads)
        assert worst(qdd, expected) < 1e-10


@pytest.mark.parametrize("seed", range(8))
def test_cables_springs_and_damping(seed: int) -> None:
    rng = np.random.default_rng([43, seed])
    robot = random_robot(rng, 6, ("flexure", "rolling", "pin"), gap_mass=seed % 2 == 1)
    case = random_moving(rng, robot)
    tensions, damping = rng.uniform(0.0, 50.0, len(robot.cables)), rng.uniform(0.0, 0.1)
    qdd = vb.forward_dynamics(robot, case.q, case.qd, tensions, case.gravity, case.loads, damping=damping)
    tau = mirror_dynamics.actuation(robot, case.q, case.qd, tensions, damping)
    expected = mirror_dynamics.acceleration(robot, case.q, case.qd, tau, case.gravity, case.loads)
    assert worst(qdd, expected) < 1e-10


def test_damping_of_each_joint() -> None:
    robot = vb.load("dantuono2023")
    rng = np.random.default_rng(44)
    case, each = random_moving(rng, robot, bend=0.5), rng.uniform(0.0, 0.5, 6)
    pull = np.full(4, 20.0)
    qdd = vb.forward_dynamics(robot, case.q, case.qd, pull, damping=each)
    tau = -pull @ vb.Pose(robot, case.q).cable_segments.first - each * case.qd
    np.testing.assert_allclose(qdd, vb.forward_dynamics(robot, case.q, case.qd, tau=tau), rtol=1e-12)


def test_nothing_accelerates_at_an_equilibrium() -> None:
    robot = with_inertia("yang2023-c")
    tensions = np.linspace(2.0, 9.0, len(robot.cables))
    shape = vb.shape_from_tensions(robot, tensions, friction=0)
    qdd = vb.forward_dynamics(robot, shape.angles, np.zeros(robot.freedoms), tensions)
    # Compared with what half a newton more on one cable does.
    tensions[0] += 0.5
    pushed = vb.forward_dynamics(robot, shape.angles, np.zeros(robot.freedoms), tensions)
    assert np.abs(qdd).max() < 1e-8 * np.abs(pushed).max()


def test_trajectories_equal_single_calls_bit_for_bit() -> None:
    rng = np.random.default_rng(45)
    robot = random_robot(rng, 7, ("rolling", "flexure"), gap_mass=True)
    cases = [random_moving(rng, robot) for _ in range(5)]
    q, qd, qdd = (np.array([getattr(case, name) for case in cases]) for name in ("q", "qd", "qdd"))
    about = {"gravity": (1.0, 2.0, -9.0), "loads": [vb.Load(force=(1.0, 0.0, 2.0), link=3)]}
    tensions = rng.uniform(0.0, 20.0, (5, len(robot.cables)))
    forces = vb.inverse_dynamics(robot, q, qd, qdd, **about, wrenches=True)
    tau, bias = vb.inverse_dynamics(robot, q, qd, qdd, **about), bias_forces(robot, q, qd, **about)
    M = vb.mass_matrix(robot, q)
    pulled = vb.forward_dynamics(robot, q, qd, tensions, **about, damping=0.01)
    pushed = vb.forward_dynamics(robot, q, qd, tau=tau, **about)
    assert M.shape == (5, 7, 7)
    assert forces.wrenches.shape == (5, 7, 6)
    np.testing.assert_array_equal(forces.tau, tau)
    for i in range(5):
        state = robot, q[i], qd[i]
        one = vb.inverse_dynamics(*state, qdd[i], **about, wrenches=True)
        np.testing.assert_array_equal(one.tau, tau[i])
        np.testing.assert_array_equal(one.wrenches, forces.wrenches[i])
        np.testing.assert_array_equal(vb.mass_matrix(robot, q[i]), M[i])
        np.testing.assert_array_equal(bias_forces(*state, **about), bias[i])
        np.testing.assert_array_equal(vb.inverse_dynamics(*state, np.zeros(7), **about), bias[i])
        np.testing.assert_array_equal(vb.forward_dynamics(*state, tensions[i], **about, damping=0.01), pulled[i])
        np.testing.assert_array_equal(vb.forward_dynamics(*state, tau=tau[i], **about), pushed[i])


def test_one_set_of_tensions_serves_all_states() -> None:
    robot = vb.load("dantuono2023")
    rng = np.random.default_rng(46)
    q, qd = rng.uniform(-0.5, 0.5, (4, 6)), rng.normal(0.0, 1.0, (4, 6))
    tensions = np.array([10.0, 20.0, 30.0, 15.0])
    each = vb.forward_dynamics(robot, q, qd, np.tile(tensions, (4, 1)))
    np.testing.assert_array_equal(vb.forward_dynamics(robot, q, qd, tensions), each)


def test_two_equal_sections_move_as_one() -> None:
    mapping = vb.load("dantuono2023").to_mapping()
    whole = mapping["sections"][0]
    front, back = {**whole, "joints": 2}, {**whole, "joints": 4}
    front.pop("cables")
    split = vb.load({**mapping, "sections": [front, back]})
    robot = vb.load("dantuono2023")
    case = random_moving(np.random.default_rng(47), robot, bend=0.6)
    np.testing.assert_array_equal(vb.inverse_dynamics(split, *case.given), case.tau())
    np.testing.assert_array_equal(vb.mass_matrix(split, case.q), vb.mass_matrix(robot, case.q))
    pull = np.array([10.0, 20.0, 30.0, 15.0])
    np.testing.assert_array_equal(
        vb.forward_dynamics(split, case.q, case.qd, pull), vb.forward_dynamics(robot, case.q, case.qd, pull)
    )


def test_caller_arrays_are_left_alone() -> None:
    robot = vb.load("dantuono2023")
    q, qd, qdd, pull = np.full(6, 0.1), np.full(6, 0.2), np.full(6, 0.3), np.full(4, 9.0)
    for array in (q, qd, qdd, pull):
        array.flags.writeable = False
    vb.forward_dynamics(robot, q, qd, tau=vb.inverse_dynamics(robot, q, qd, qdd))
    vb.forward_dynamics(robot, q, qd, tau=qdd)
    vb.forward_dynamics(robot, q, qd, pull)
    # Slices of larger arrays are read where they are.
    wide = np.arange(36.0).reshape(6, 6) / 100
    turned = wide[:, ::-1].T
    tau = vb.inverse_dynamics(robot, turned, wide, wide)
    np.testing.assert_array_equal(tau, vb.inverse_dynamics(robot, turned.copy(), wide, wide))
