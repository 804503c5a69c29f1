"""Energy of a simulated motion: kept without damping, accounted for with it; and the order of both integrators."""

from __future__ import annotations

import numpy as np
import pytest
from tests.dynamics.cases import random_robot, with_inertia
from tests.dynamics.runs import BENT, PRESET, PULL, SWUNG, end, imbalance, swing
from tests.oracles import mirror_dynamics

import vertebra as vb
from vertebra.robot.tables import FLEXURE


@pytest.mark.parametrize("tension", [30.0, 40.0])
def test_undamped_preset_keeps_its_energy(tension: float) -> None:
    """Kinetic energy, weights and cables of constant tension, whose potential is T l: at 1 ms over 1 s."""
    pull = np.full(4, tension)
    run = vb.simulate(PRESET, pull, duration=1.0, dt=1e-3, q0=BENT, qd0=0.2 * SWUNG, friction=0)
    assert run.attrs["ended"] == "duration"
    wound = run.lengths.values @ pull
    energy = (run.kinetic + run.potential).values + wound
    assert np.abs(run.q.values).max() > 1.0
    assert np.abs(energy - energy[0]).max() < 1e-5 * float(run.kinetic.max())
    np.testing.assert_allclose(run.cable_work, wound[0] - wound, rtol=0, atol=1e-5 * float(run.kinetic.max()))


def test_energies_are_those_of_the_oracle() -> None:
    rng = np.random.default_rng(61)
    robot = random_robot(rng, 4, ("flexure", "rolling"), gap_mass=True)
    q, qd = rng.uniform(-0.3, 0.3, 4), rng.normal(0.0, 3.0, 4)
    gravity = np.array([3.0, -4.0, 8.0])
    pull = np.full(len(robot.cables), 5.0)
    run = vb.simulate(robot, pull, duration=2e-3, q0=q, qd0=qd, gravity=gravity)
    for i in range(3):
        q, qd = run.q.values[i], run.qd.values[i]
        np.testing.assert_allclose(run.kinetic[i], mirror_dynamics.kinetic_energy(robot, q, qd), rtol=1e-12)
        weights = mirror_dynamics.potential_energy(robot, q, gravity)
        np.testing.assert_allclose(run.potential[i], weights, rtol=0, atol=1e-12 * abs(weights) + 1e-15)


ORDERS = [("rk4", 4.0, [2e-3, 1e-3, 5e-4]), ("implicit", 2.0, [2e-3, 1e-3, 5e-4])]


@pytest.mark.parametrize("drive", ["constant", "function", "lengths"])
@pytest.mark.parametrize(("integrator", "order", "steps"), ORDERS)
def test_order_of_the_integrators(integrator: str, order: float, steps: list[float], drive: str) -> None:
    straight = vb.Pose(PRESET, BENT).cable_lengths
    drives = {
        "constant": {"tensions": PULL},
        "function": {"tensions": lambda t: PULL + 10.0 * np.sin(30.0 * t + np.arange(4))},
        # Taut all the time, so that no cable's slack spoils the order.
        "lengths": {"lengths": lambda t: 0.97 * straight + 1e-3 * np.sin(30.0 * t + np.arange(4)), "stiffness_EA": 3e3},
    }  # fmt: skip
    given = drives[drive] | {"damping": 0.02, "loads": [vb.Load(force=(1.0, 0.0, 2.0), moment=(0.1, 0.0, 0.0))]}
    fine = end(swing(**given, dt=2e-5, every=5000))
    errors = np.array([np.abs(end(swing(**given, dt=dt, integrator=integrator)) - fine).max() for dt in steps])
    slopes = np.log2(errors[:-1] / errors[1:])
    assert errors[-1] < 1e-2
    assert slopes.min() > order - 0.25
    assert slopes.max() < order + 0.5


def driven_runs() -> dict[str, dict]:
    straight = vb.Pose(PRESET, BENT).cable_lengths
    pushed = [vb.Load(force=(1.0, -2.0, 0.5), link=3), vb.Load(moment=(0.1, 0.05, -0.1))]
    return {
        "damped": {"damping": 0.05},
        "damped-each": {"damping": np.linspace(0.0, 0.1, 6)},
        "loaded": {"damping": 0.01, "loads": pushed},
        "driven": {"tensions": lambda t: PULL * (1.0 + 0.5 * np.sin(40.0 * t))},
        "wound": {"lengths": lambda t: 0.99 * straight - 1e-3 * np.sin(20.0 * t + np.arange(4)), "stiffness_EA": 3e3},
        "slack": {"lengths": straight, "stiffness_EA": 1e3, "damping": 0.02},
    }


@pytest.mark.parametrize("name", driven_runs())
@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
def test_account_balances(name: str, integrator: str) -> None:
    """To the order of the method: about sixteen times, or four times, less with half the step."""
    given = driven_runs()[name] | {"integrator": integrator}
    coarse, fine = (imbalance(swing(**given, dt=dt)) for dt in (1e-3, 5e-4))
    assert coarse < (5e-6 if integrator == "rk4" else 5e-4)
    if integrator == "implicit":
        assert fine < 0.3 * coarse
    elif name != "slack":  # a cable that falls slack has a corner in its tension
        assert fine < 0.1 * coarse


def test_account_balances_with_mass_in_the_gaps() -> None:
    """Cable mass that is drawn into a gap brings energy along, which `drawn` tells."""
    rng = np.random.default_rng(62)
    robot = random_robot(rng, 5, ("flexure", "rolling"), gap_mass=True)
    pull = rng.uniform(5.0, 10.0, len(robot.cables))
    run = vb.simulate(robot, pull, duration=0.1, dt=2e-4, q0=rng.uniform(-0.2, 0.2, 5), damping=1e-3)
    assert float(abs(run.drawn).max() / run.kinetic.max()) > 1e-4
    assert imbalance(run) < 1e-6


def test_elastic_joints_are_part_of_the_potential() -> None:
    robot = with_inertia("yang2023-a")
    assert (robot.joints["kind"] == FLEXURE).all()
    q0 = np.linspace(-0.2, 0.2, robot.freedoms)
    run = vb.simulate(robot, np.zeros(4), duration=0.02, dt=1e-5, q0=q0, friction=0)
    spring = 0.5 * q0**2 @ robot.joints["stiffness"]
    weights = mirror_dynamics.potential_energy(robot, q0, robot.gravity) - spring
    assert spring > 0.01
    assert abs(float(run.potential[0]) - spring - weights) < 1e-12 * spring
    assert imbalance(run) < 1e-6
    assert float(abs(run.drawn).max()) > 0.0
