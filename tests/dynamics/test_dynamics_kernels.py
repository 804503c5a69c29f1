"""Promises about the compiled code of dynamics: it owns no memory and is compiled once."""

from __future__ import annotations

import numpy as np
import pytest
from tests.mechanics.test_kernels import assert_no_allocation_inside, read_only, recorded_call

import vertebra as vb
from vertebra.dynamics import Bumper, allocation, equations_of_motion, sensitivities, simulate

ROBOT = vb.load("dantuono2023")
SOFT = vb.load("yang2023-a").fill_inertia()
REST = np.zeros(6)
PULL = np.full(4, 20.0)
KERNELS = {
    "inverse_motion": equations_of_motion,
    "mass_matrices": equations_of_motion,
    "forward_motion": equations_of_motion,
    "turn_wrenches": allocation,
    "allocate_links": allocation,
    "balance_joints": allocation,
    "weigh_joints": allocation,
    "run_steps": simulate,
    "trace_tips": simulate,
    "run_sensitivities": sensitivities,
}


def ask(robot, q, tensions=PULL, **given):
    vb.inverse_dynamics(robot, q, q, q, wrenches=True, **given)
    vb.inverse_dynamics(robot, q, q, q, **given)
    vb.mass_matrix(robot, q)
    vb.forward_dynamics(robot, q, q, tensions, **given)
    vb.forward_dynamics(robot, q, q, tau=q, **given)
    for method in ("shared", "per_link", "capstan", "project"):
        friction = None if method == "capstan" else 0.0
        vb.allocate_tensions(robot, q, q, q, method=method, upper=100.0, friction=friction, **given)


def ask_for_derivatives(robot, **given):
    given = {"duration": 3e-4, "dt": 1e-4, "friction": 0.0, "check": False, **given}
    vb.simulate(robot, PULL, sensitivities=["tensions", "sections[0].link.mass"], **given)
    lengths = vb.Pose(robot, np.zeros(robot.freedoms)).cable_lengths
    vb.simulate(robot, lengths=lambda t: lengths - t, sensitivities=["lengths", "gravity"], **given)


def ask_for_motion(robot, **given):
    vb.simulate(robot, PULL, duration=3e-4, dt=1e-4, check=False, **given)
    lengths = vb.Pose(robot, np.zeros(robot.freedoms)).cable_lengths
    vb.simulate(robot, lengths=lambda t: lengths - t, duration=3e-4, dt=1e-4, check=False, **given)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("robot", [ROBOT, SOFT], ids=lambda robot: robot.name)
def test_kernels_of_dynamics_allocate_nothing(robot, name, monkeypatch):
    def everything():
        ask(robot, np.full((2, 6), 0.01))
        ask_for_motion(robot, integrator="implicit", friction=0.2)
        ask_for_derivatives(robot, integrator="implicit")

    assert_no_allocation_inside([recorded_call(KERNELS[name], name, monkeypatch, everything)])


def test_one_compiled_version_of_each_kernel_of_dynamics_serves_all_questions():
    before = {name: set(getattr(module, name).signatures) for name, module in KERNELS.items()}
    load = vb.Load(force=(0.1, 0, 0), moment=(0, 0, 1e-3))
    rows = np.asfortranarray(np.full((3, 6), 0.01))
    for robot in (ROBOT, SOFT):
        for q in (REST, REST.tolist(), read_only(REST), rows, read_only(rows), rows[::-1]):
            ask(robot, q)
        for gravity in (None, "wall", (0, 0, -9.8), read_only([0, 0, 0])):
            ask(robot, REST, tensions=[20, 20, 20, 20], gravity=gravity, loads=[load])
            ask_for_motion(robot, gravity=gravity, loads=(load,), damping=read_only(np.full(6, 0.01)))
        for integrator in ("rk4", "implicit"):
            ask_for_motion(robot, integrator=integrator, friction=vb.FrictionLaw.of(np.cos), q0=read_only(REST))
            ask_for_motion(robot, integrator=integrator, limits=Bumper(10, 1), every=2, stiffness_EA=1000)
            ask_for_derivatives(robot, integrator=integrator, q0=read_only(REST), gravity="wall", loads=[load])
            ask_for_derivatives(robot, integrator=integrator, limits=Bumper(10, 1), damping=read_only(REST))
        vb.simulate(robot, lambda t, q, qd: [20, 20, 20, 20], duration=2e-4, dt=1e-4)
        vb.simulate(robot, read_only(np.full((3, 4), 20)), duration=2e-4, dt=1e-4)
    for name, module in KERNELS.items():
        # Tests that call a kernel themselves may have had it compiled for arrays of other kinds.
        assert len(set(getattr(module, name).signatures) - before[name]) <= 1, name
