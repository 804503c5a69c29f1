"""Simulated motions of universal and backbone joints: order, energy, rest, and MuJoCo."""

from __future__ import annotations

import functools
from typing import Any

import mujoco
import numpy as np
import pytest
import xarray
from tests.dynamics.cases import SPATIAL, spatial_robot
from tests.dynamics.runs import end, imbalance
from tests.oracles.mujoco_model import MujocoModel

import vertebra as vb


def sway(name: str, **options: Any) -> xarray.Dataset:
    """Under uneven cables, from a bent pose in motion."""
    robot = spatial_robot(*SPATIAL[name], gap_mass=options.pop("gap_mass", False))
    n, c = robot.freedoms, len(robot.cables)
    about = {"q0": np.linspace(-0.1, 0.2, n), "qd0": np.linspace(2.0, -3.0, n), "duration": 0.02, "dt": 1e-4}
    if "lengths" not in options:
        about["tensions"] = np.linspace(0.2, 1.0, c)
    return vb.simulate(robot, **about | options)


DAMPED = {"damping": 1e-4, "duration": 0.01, "gap_mass": True}


@functools.cache
def finely_stepped(name: str) -> np.ndarray:
    return end(sway(name, dt=1e-6, every=10**6, **DAMPED))


ORDERS = [("rk4", 4.0, [2e-4, 1e-4, 5e-5]), ("implicit", 2.0, [1e-4, 5e-5, 2.5e-5])]


@pytest.mark.parametrize("name", SPATIAL)
@pytest.mark.parametrize(("integrator", "order", "steps"), ORDERS)
def test_order_of_the_integrators(integrator: str, order: float, steps: list[float], name: str) -> None:
    fine = finely_stepped(name)
    errors = [np.abs(end(sway(name, dt=dt, integrator=integrator, **DAMPED)) - fine).max() for dt in steps]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes.min() > order - 0.3
    assert slopes.max() < order + 0.6


@pytest.mark.parametrize("gap_mass", [False, True])
@pytest.mark.parametrize("name", SPATIAL)
def test_energy_is_kept_without_damping(name: str, gap_mass: bool) -> None:
    """As that of rolling joints: 1e-5 of the largest kinetic energy, and sixteen times less with half the step."""
    coarse, fine = (sway(name, dt=dt, duration=0.06, gap_mass=gap_mass) for dt in (1e-4, 5e-5))
    assert imbalance(coarse) < 1e-5
    assert imbalance(fine) < 0.1 * imbalance(coarse)
    assert not coarse.dissipated.values.any()


@pytest.mark.parametrize("gravity", ["wall", "ceiling"])
@pytest.mark.parametrize("name", SPATIAL)
def test_rest_is_the_equilibrium(name: str, gravity: str) -> None:
    robot = spatial_robot(*SPATIAL[name], gap_mass=True)
    pull = np.linspace(0.02, 0.3, len(robot.cables))
    loads = [vb.Load(force=(0.1, 0.05, 0.1), link=2)]
    about = {"gravity": gravity, "loads": loads}
    run = vb.simulate(robot, pull, duration=20.0, dt=2e-3, damping=2e-3, integrator="implicit", every=10**6, **about)
    shape = vb.shape_from_tensions(robot, pull, start=run.q.values[-1], **about)
    assert np.abs(run.qd.values[-1]).max() < 1e-7
    assert np.abs(shape.angles).max() > 0.02
    np.testing.assert_allclose(run.q.values[-1], shape.angles, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.tip.values[-1], shape.tip, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["universal", "mixed"])
def test_rest_of_elastic_cables(name: str) -> None:
    robot = spatial_robot(*SPATIAL[name])
    rest = vb.Pose(robot, np.zeros(robot.freedoms)).cable_lengths - np.resize(
        [4e-4, 2e-4, -1e-3, 1e-4], len(robot.cables)
    )
    given = {"lengths": rest, "stiffness_EA": 500.0}
    run = vb.simulate(robot, duration=3.0, dt=1e-3, damping=2e-3, integrator="implicit", every=10**6, **given)
    shape = vb.shape_from_lengths(robot, rest, stiffness_EA=500.0)
    np.testing.assert_allclose(run.q.values[-1], shape.angles, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.tensions.values[-1], shape.tensions_at_base, rtol=0, atol=1e-5)


def lapusan_with_cables() -> vb.Robot:
    """The robot of the sensing paper with three cables to each second link, links of 40 g and springs."""
    mapping = vb.load("lapusan2022").to_mapping()
    (section,) = mapping["sections"]
    section["joint"] |= {"stiffness": 3.0, "damping": 0.004}
    section["link"] |= {"mass": "40 g", "inertia": [6e-5, 7e-5, 1e-5], "center_of_mass": ["1 mm", "-2 mm", "20 mm"]}
    cables = [{"radius": "12 mm", "azimuth": [f"{k + 120 * i} deg" for i in range(3)]} for k in (10, 70)]
    mapping["sections"] = [section | {"joints": 2, "cables": cable} for cable in cables]
    return vb.load(mapping)


def test_the_robot_of_the_sensing_paper_moves_as_in_mujoco() -> None:
    robot, step = lapusan_with_cables(), 2e-5
    q0, qd0 = np.linspace(-0.2, 0.3, 8), np.linspace(1.0, -2.0, 8)
    pull = np.array([12.0, 5.0, 8.0, 3.0, 9.0, 6.0])
    posed = MujocoModel(robot)
    model, data = posed.model, posed.data
    model.opt.timestep, model.opt.integrator = step, mujoco.mjtIntegrator.mjINT_RK4
    model.jnt_stiffness[:], model.dof_damping[:] = 3.0, 0.004
    posed.pose(q0)
    data.qvel[:], data.ctrl[:] = qd0, pull
    for _ in range(round(0.2 / step)):
        mujoco.mj_step(model, data)
    run = vb.simulate(robot, pull, duration=0.2, dt=1e-4, q0=q0, qd0=qd0)
    assert np.abs(run.q.values[-1] - q0).max() > 0.2
    np.testing.assert_allclose(run.q.values[-1], data.qpos, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.qd.values[-1], data.qvel, rtol=0, atol=1e-6)
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(run.tip.values[-1], posed.tip(), rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.lengths.values[-1], vb.Pose(robot, data.qpos).cable_lengths, rtol=1e-8)
