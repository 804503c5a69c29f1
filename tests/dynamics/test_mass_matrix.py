"""The joint-space inertia: against Pinocchio and NumPy, symmetric, positive, and that of `inverse_dynamics`."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.dynamics.cases import random_moving, random_robot, worst
from tests.oracles import mirror_dynamics
from tests.oracles.pinocchio_model import PinocchioModel

import vertebra as vb
from vertebra.dynamics import bias_forces

ROBOTS = 200 if os.environ.get("VERTEBRA_SOAK") == "1" else 20


@pytest.mark.parametrize("seed", range(ROBOTS))
def test_mass_matrix_of_random_robots(seed: int) -> None:
    rng = np.random.default_rng([31, seed])
    gap_mass = seed % 2 == 1
    robot = random_robot(rng, int(rng.integers(1, 9 if gap_mass else 51)), gap_mass=gap_mass)
    q = random_moving(rng, robot).q
    M = vb.mass_matrix(robot, q)
    assert worst(M, PinocchioModel(robot).mass_matrix(q)) < 1e-11
    np.testing.assert_array_equal(M, M.T)
    np.linalg.cholesky(M)
    assert np.linalg.eigvalsh(M).min() > 0.0
    if gap_mass:
        assert worst(M, mirror_dynamics.mass_matrix(robot, q)) < 1e-11


@pytest.mark.parametrize("gap_mass", [False, True])
def test_columns_are_moments_of_unit_accelerations(gap_mass: bool) -> None:
    rng = np.random.default_rng(32)
    robot = random_robot(rng, 8, ("flexure", "rolling"), gap_mass)
    case, n = random_moving(rng, robot), 8
    M = vb.mass_matrix(robot, case.q)
    still = np.zeros((n, n))
    columns = vb.inverse_dynamics(robot, np.tile(case.q, (n, 1)), still, np.eye(n), gravity=(0.0, 0.0, 0.0))
    assert worst(columns.T, M) < 1e-13
    bias = bias_forces(robot, case.q, case.qd, case.gravity, case.loads)
    assert worst(case.tau(), M @ case.qdd + bias) < 1e-12


def test_single_link_is_a_compound_pendulum() -> None:
    """One pin: m d^2 + I about the pin; the moment of its weight m g d sin(q)."""
    link = {"length": 0.1, "mass": 0.2, "inertia": [3e-4, 2e-4, 1e-4], "center_of_mass": 0.04}
    robot = vb.load(
        {
            "vertebra": 1,
            "name": "pendulum",
            "base": {"length": 0.0},
            "tip": {"length": 0.0},
            "sections": [{"joints": 1, "joint": {"kind": "pin", "length": 0.02}, "azimuth": [0.0], "link": link}],
        }
    )
    inertia, arm = 2e-4 + 0.2 * 0.05**2, 0.05
    np.testing.assert_allclose(vb.mass_matrix(robot, [0.3]), [[inertia]], rtol=1e-14)
    tau = vb.inverse_dynamics(robot, [0.3], [5.0], [7.0], gravity="ground")
    np.testing.assert_allclose(tau, [inertia * 7.0 - 0.2 * 9.8 * arm * np.sin(0.3)], rtol=1e-13)


def test_single_rolling_link_by_hand() -> None:
    """Lagrange on paper: from arc centre to arc centre 2R at angle q/2, then d - R at angle q to the centre of mass."""
    R, d, m, I = 0.03, 0.05, 0.2, 2e-4  # noqa: E741
    link = {"length": 0.1, "mass": m, "inertia": [3e-4, I, 4e-4], "center_of_mass": d}
    section = {"joints": 1, "joint": {"kind": "rolling", "radius": R}, "azimuth": [0.0], "link": link}
    robot = vb.load(
        {"vertebra": 1, "name": "roller", "base": {"length": R}, "tip": {"length": 0.0}, "sections": [section]}
    )
    q, qd, qdd, g = 0.7, 3.0, -11.0, 9.8
    x1, z1 = R * np.cos(q / 2) + (d - R) * np.cos(q), -R * np.sin(q / 2) - (d - R) * np.sin(q)
    x2, z2 = -R / 2 * np.sin(q / 2) - (d - R) * np.sin(q), -R / 2 * np.cos(q / 2) - (d - R) * np.cos(q)
    M = m * (x1**2 + z1**2) + I
    tau = M * qdd + m * (x1 * x2 + z1 * z2) * qd**2 + m * g * z1
    np.testing.assert_allclose(vb.mass_matrix(robot, [q]), [[M]], rtol=1e-14)
    np.testing.assert_allclose(vb.inverse_dynamics(robot, [q], [qd], [qdd], gravity="ground"), [tau], rtol=1e-13)
