"""Tensions that friction lets differ along a cable, and the nearest acceleration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize
from tests.dynamics.test_allocation import SNAKE, sway, two_sections

import vertebra as vb


@pytest.mark.parametrize("robot", [SNAKE, two_sections(), two_sections((2, 1))])
def test_without_friction_it_is_shared(robot):
    q, qd, qdd = sway(15, robot)
    shared = vb.allocate_tensions(robot, q, qd, qdd)
    capstan = vb.allocate_tensions(robot, q, qd, qdd, method="capstan", friction=0)
    runs = np.arange(len(robot.joints)) < robot.cables["last_link"][:, None]
    np.testing.assert_allclose(capstan.tensions, np.where(runs, shared.tensions[:, :, None], 0.0), atol=1e-6)
    np.testing.assert_allclose(capstan.residual, shared.residual, atol=1e-9)
    np.testing.assert_array_equal(capstan.base_tensions, capstan.tensions[:, :, 0])


def test_much_friction_balances_every_joint():
    q, qd, qdd = sway(15)
    q = q + 0.2  # bent everywhere: a straight cable has no friction to use
    capstan = vb.allocate_tensions(SNAKE, q, qd, qdd, method="capstan", friction=30.0)
    assert capstan.feasible.all()
    np.testing.assert_allclose(capstan.residual, 0.0, atol=1e-9)


def test_more_friction_never_balances_worse():
    q, qd, qdd = sway(10)
    sizes = [
        np.linalg.norm(vb.allocate_tensions(SNAKE, q, qd, qdd, method="capstan", friction=mu).residual, axis=1)
        for mu in (0.0, 0.1, 0.3, 1.0, 3.0)
    ]
    assert (np.diff(sizes, axis=0) <= 1e-9).all()
    assert (sizes[-1] < 0.5 * sizes[0]).all()


def bends(q):
    return 0.5 * np.abs(q)


def test_neighbours_stay_within_the_capstan_equation():
    law = vb.FrictionLaw.quadratic(2.0, 0.5, 0.2)
    q, qd, qdd = sway(20, size=0.4)
    found = vb.allocate_tensions(SNAKE, q, qd, qdd, method="capstan", friction=law)
    at_faces = law(bends(q)) * bends(q)
    most = np.exp(at_faces[:, :-1] + at_faces[:, 1:])[:, None]
    before, after = found.tensions[:, :, :-1], found.tensions[:, :, 1:]
    assert (after <= most * before + 1e-8).all()
    assert (before <= most * after + 1e-8).all()
    assert (np.isclose(after, most * before) | np.isclose(before, most * after)).any()
    assert (found.base_tensions <= found.tensions[:, :, 0]).all()
    np.testing.assert_allclose(
        found.base_tensions, np.maximum(found.tensions[:, :, 0] * np.exp(-at_faces[:, :1]), 5.0), rtol=1e-12
    )


def test_least_squares_of_a_general_solver():
    robot = two_sections()
    q, qd, qdd = (part[3] for part in sway(robot=robot, size=0.5))
    found = vb.allocate_tensions(robot, q, qd, qdd, method="capstan", friction=0.4)
    arms = -vb.Pose(robot, q).cable_segments.first
    variables = [(k, j) for k, last in enumerate(robot.cables["last_link"]) for j in range(last)]
    A = np.zeros((len(q), len(variables)))
    for column, (k, j) in enumerate(variables):
        A[j, column] = arms[k, j]
    grip, rows = 0.4 * (bends(q)[:-1] + bends(q)[1:]), []
    for column, (_, j) in enumerate(variables[:-1]):
        if variables[column + 1][1] == j + 1:
            for sign in (1.0, -1.0):
                row = np.zeros(len(variables))
                here, there = (column, column + 1) if sign > 0 else (column + 1, column)
                row[here], row[there] = np.exp(grip[j]), -1.0
                rows.append(row)
    rows, low, high = np.array(rows), robot.cables["pretension"], robot.cables["max_tension"]
    bounds = [(low[k], high[k]) for k, _ in variables]
    oracle = minimize(
        lambda x: 1e4 * np.sum((A @ x - found.tau) ** 2), [10.0] * len(variables), method="SLSQP", bounds=bounds,
        jac=lambda x: 2e4 * A.T @ (A @ x - found.tau), options={"maxiter": 1000, "ftol": 1e-16},
        constraints={"type": "ineq", "fun": lambda x: rows @ x, "jac": lambda x: rows},
    )  # fmt: skip
    ours = np.linalg.norm(found.residual)
    assert ours == pytest.approx(np.linalg.norm(A @ oracle.x - found.tau), abs=1e-6)


def test_the_file_s_friction_is_the_default():
    robot = two_sections(friction={"constant": 0.3})
    q, qd, qdd = sway(5, robot)
    default = vb.allocate_tensions(robot, q, qd, qdd, method="capstan")
    given = vb.allocate_tensions(robot, q, qd, qdd, method="capstan", friction=0.3)
    np.testing.assert_array_equal(default.tensions, given.tensions)


def test_the_nearest_acceleration_is_one_that_its_tensions_give():
    q, qd, qdd = sway(12)
    found = vb.allocate_tensions(SNAKE, q, qd, qdd, method="project")
    assert found.feasible.all()
    np.testing.assert_array_equal(found.q, q)
    np.testing.assert_array_equal(found.qd, qd)
    np.testing.assert_allclose(vb.forward_dynamics(SNAKE, q, qd, found.tensions), found.qdd, rtol=1e-7, atol=1e-6)
    low, high = SNAKE.cables["pretension"], SNAKE.cables["max_tension"]
    for i in range(len(q)):
        M, A = vb.mass_matrix(SNAKE, q[i]), -vb.Pose(SNAKE, q[i]).cable_segments.first.T
        root = np.linalg.cholesky(M).T
        needed = vb.inverse_dynamics(SNAKE, q[i], qd[i], qdd[i])
        whitened = np.linalg.solve(root.T, A), np.linalg.solve(root.T, needed)
        oracle = lsq_linear(*whitened, (low, high), "bvls", tol=1e-15)
        missed = root @ (found.qdd[i] - qdd[i])
        assert np.linalg.norm(missed) <= np.sqrt(2.0 * oracle.cost) * (1.0 + 1e-9)


def test_a_feasible_acceleration_stays():
    q, qd, _ = (part[4] for part in sway())
    qdd = vb.forward_dynamics(SNAKE, q, qd, [20.0, 30.0, 40.0, 50.0])
    found = vb.allocate_tensions(SNAKE, q, qd, qdd, method="project")
    np.testing.assert_allclose(found.qdd, qdd, atol=1e-8)


def test_with_a_time_step_the_trajectory_changes():
    t = np.linspace(0.0, 1.0, 21)
    q = 0.05 * np.sin(2.0 * np.pi * t)[:, None] * np.ones(6)
    rates = np.gradient(q, t[1], axis=0)
    found = vb.allocate_tensions(SNAKE, q, rates, np.gradient(rates, t[1], axis=0), method="project", dt=t[1])
    assert found.feasible.all()
    assert found.tensions.shape == (21, 4)
    assert np.abs(found.q - q).max() > 0.0
