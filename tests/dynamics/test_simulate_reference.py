"""Simulated motions against SciPy on the oracle's dynamics, and against MuJoCo on the exported model."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tests.dynamics.cases import random_robot
from tests.dynamics.runs import BENT, PRESET, PULL, SWUNG, end, swing
from tests.oracles import friction as friction_oracle
from tests.oracles import mirror_dynamics, statics
from tests.oracles.mirror_chain import segment_lengths
from tests.oracles.mujoco_model import MujocoModel

import vertebra as vb
from vertebra.robot.export.common import mjcf_velocity_map

GRAVITY = np.array([1.0, -2.0, 9.0])
LOADS = (vb.Load(force=(0.1, 0.2, 0.3), moment=(0.01, 0.0, 0.02), link=2),)
DAMPING = 2e-3
Pull = Callable[[float, np.ndarray], np.ndarray]


def reference(robot: vb.Robot, pull: Pull, start: np.ndarray, duration: float) -> np.ndarray:
    """(2 n,) angles and rates at the end, by an eighth-order method on `mirror_dynamics`."""
    n = len(robot.joints)

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        q, qd = y[:n], y[n:]
        tau = mirror_dynamics.actuation(robot, q, qd, pull(t, q), DAMPING)
        return np.concatenate([qd, mirror_dynamics.acceleration(robot, q, qd, tau, GRAVITY, LOADS)])

    solved = solve_ivp(slope, (0.0, duration), start, method="DOP853", rtol=1e-11, atol=1e-12)
    return solved.y[:, -1]


@pytest.mark.parametrize("gap_mass", [False, True])
def test_motion_under_tensions(gap_mass: bool) -> None:
    robot = random_robot(np.random.default_rng(3), 3, ("rolling", "flexure", "pin"), gap_mass)
    count = len(robot.cables)
    start = np.array([0.1, -0.2, 0.3, 1.0, -2.0, 1.5])

    def pull(t: float) -> np.ndarray:
        return 2.0 + np.sin(20.0 * t + np.arange(count))

    expected = reference(robot, lambda t, q: pull(t), start, 0.03)
    assert np.abs(expected - start).max() > 1.0
    given = {"q0": start[:3], "qd0": start[3:], "damping": DAMPING, "gravity": GRAVITY, "loads": LOADS, "friction": 0}
    for integrator, dt, apart in (("rk4", 5e-5, 1e-9), ("implicit", 5e-5, 1e-4)):
        run = vb.simulate(robot, pull, duration=0.03, dt=dt, integrator=integrator, **given)
        np.testing.assert_allclose(end(run), expected, rtol=0, atol=apart)


def test_motion_of_elastic_cables() -> None:
    """One of them is slack all the time."""
    robot = random_robot(np.random.default_rng(3), 3, ("rolling", "flexure", "pin"))
    start = np.array([0.1, -0.2, 0.3, 1.0, -2.0, 1.5])
    rest = 0.97 * vb.Pose(robot, start[:3]).cable_lengths
    rest[0] *= 1.5
    EA = np.full(len(rest), 200.0)

    def pull(t: float, q: np.ndarray) -> np.ndarray:
        lengths = segment_lengths(robot, q).sum(axis=-1).real + robot.cables["inside"]
        return statics.Elastic(rest, EA).tensions(lengths)

    expected = reference(robot, pull, start, 0.03)
    given = {"q0": start[:3], "qd0": start[3:], "damping": DAMPING, "gravity": GRAVITY, "loads": LOADS, "friction": 0}
    run = vb.simulate(robot, lengths=rest, stiffness_EA=200.0, duration=0.03, dt=5e-5, **given)
    assert (run.tensions.values[:, 0] == 0.0).all()
    assert (run.tensions.values[:, 1:] > 1.0).all()
    np.testing.assert_allclose(end(run), expected, rtol=0, atol=1e-9)


def test_motion_of_rubbing_cables() -> None:
    """The same steps of Runge-Kutta with the friction of the oracle, whose history moves on at every step."""
    mapping = random_robot(np.random.default_rng(8), 2, ("flexure",)).to_mapping()
    mapping["sections"][0]["cables"] = {"radius": 5e-3, "azimuth": [0.3, 1.9, 4.0], "friction": 0.4}
    robot = vb.load(mapping)
    tensions, dt, steps = np.array([9.0, 4.0, 6.0]), 2e-4, 120
    q, qd = np.array([0.3, -0.4]), np.array([-30.0, 25.0])
    given = {"q0": q, "qd0": qd, "damping": DAMPING, "gravity": GRAVITY}
    run = vb.simulate(robot, tensions, duration=steps * dt, dt=dt, **given)

    question = friction_oracle.Question(robot, [friction_oracle.Rule(lambda bend: 0.4)] * 3, tensions, GRAVITY)

    def rise(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        slopes = segment_lengths(robot, q + 1e-30j).imag / 1e-30
        tau = -(friction_oracle.tensions(question, q) * slopes).sum(axis=0)
        tau -= robot.joints["stiffness"] * q + DAMPING * qd
        return mirror_dynamics.acceleration(robot, q, qd, tau, GRAVITY)

    for _ in range(steps):
        question = question.follow(q, tensions)
        k1 = rise(q, qd)
        k2 = rise(q + dt / 2 * qd, qd + dt / 2 * k1)
        k3 = rise(q + dt / 2 * qd + dt**2 / 4 * k1, qd + dt / 2 * k2)
        k4 = rise(q + dt * qd + dt**2 / 2 * k2, qd + dt * k3)
        q, qd = q + dt * qd + dt**2 / 6 * (k1 + k2 + k3), qd + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    np.testing.assert_allclose(end(run), np.concatenate([q, qd]), rtol=0, atol=1e-9)
    smooth = vb.simulate(robot, tensions, duration=steps * dt, dt=dt, friction=0, **given)
    assert np.abs(end(smooth) - end(run)).max() > 0.1


def test_motion_of_the_exported_model() -> None:
    """MuJoCo with its tendons and with stiff couplings of the hinge pairs, for a tenth of a second."""
    posed, step = MujocoModel(PRESET), 5e-5
    model, data = posed.model, posed.data
    model.opt.timestep, model.opt.integrator = step, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.tolerance = 1e-15
    model.eq_solref[:] = 2 * step, 1.0
    posed.pose(BENT)
    data.qvel[:] = mjcf_velocity_map(PRESET, BENT) @ SWUNG
    data.ctrl[:] = PULL
    for _ in range(2000):
        mujoco.mj_step(model, data)
    run = swing(dt=1e-4)
    q, qd = data.qpos.reshape(-1, 2).sum(axis=1), data.qvel.reshape(-1, 2).sum(axis=1)
    assert np.abs(q - BENT).max() > 0.3
    np.testing.assert_allclose(run.q.values[-1], q, rtol=0, atol=1e-7)
    np.testing.assert_allclose(run.qd.values[-1], qd, rtol=0, atol=1e-5)
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(run.tip.values[-1], posed.tip(), rtol=0, atol=1e-7)
