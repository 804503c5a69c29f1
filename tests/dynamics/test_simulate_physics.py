"""Simulated motions against references: energy, solve_ivp, MuJoCo, and the equilibria of statics."""

from __future__ import annotations

import os
from collections.abc import Callable

import mujoco
import numpy as np
import pytest
import xarray as xr
from scipy.integrate import solve_ivp
from tests.dynamics.cases import random_robot, with_inertia
from tests.dynamics.runs import BENT, PRESET, PULL, SWUNG, end, imbalance, swing
from tests.oracles import friction as friction_oracle
from tests.oracles import mirror_dynamics, statics
from tests.oracles.mirror_chain import segment_lengths
from tests.oracles.mujoco_model import MujocoModel
from tests.robots import mirror_mix

import vertebra as vb
from vertebra.dynamics import bias_forces
from vertebra.robot.export.common import mjcf_velocity_map
from vertebra.robot.tables import FLEXURE

# Energy.


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


HEAVY_GAPS = [("flexure", "rolling"), ("universal", "flexure", "universal")]
heavy_gaps = pytest.mark.parametrize("kinds", HEAVY_GAPS, ids="-".join)


@heavy_gaps
def test_energies_are_those_of_the_oracle(kinds: tuple[str, ...]) -> None:
    rng = np.random.default_rng(61)
    robot = random_robot(rng, 4, kinds, gap_mass=True)
    q, qd = rng.uniform(-0.3, 0.3, robot.freedoms), rng.normal(0.0, 3.0, robot.freedoms)
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
def test_energy_balances(name: str, integrator: str) -> None:
    """To the order of the method: about sixteen times, or four times, less with half the step."""
    given = driven_runs()[name] | {"integrator": integrator}
    coarse, fine = (imbalance(swing(**given, dt=dt)) for dt in (1e-3, 5e-4))
    assert coarse < (5e-6 if integrator == "rk4" else 5e-4)
    if integrator == "implicit":
        assert fine < 0.3 * coarse
    elif name != "slack":  # a cable that falls slack has a corner in its tension
        assert fine < 0.1 * coarse


@heavy_gaps
def test_energy_balances_with_mass_in_the_gaps(kinds: tuple[str, ...]) -> None:
    """Cable mass that is drawn into a gap brings energy along, which is in `drawn`."""
    rng = np.random.default_rng(62)
    robot = random_robot(rng, 5, kinds, gap_mass=True)
    # Springs of universal joints bear less.
    pull = rng.uniform(5.0, 10.0, len(robot.cables)) * (0.1 if "universal" in kinds else 1.0)
    q0 = rng.uniform(-0.2, 0.2, robot.freedoms)
    run = vb.simulate(robot, pull, duration=0.1, dt=2e-4, q0=q0, damping=1e-3)
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


# Other integrators.

GRAVITY = np.array([1.0, -2.0, 9.0])
LOADS = (vb.Load(force=(0.1, 0.2, 0.3), moment=(0.01, 0.0, 0.02), link=2),)
DAMPING = 2e-3
SPAN = 0.03 if os.environ.get("VERTEBRA_SOAK") == "1" else 0.015
"""s of motion; the references take their time."""
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

    expected = reference(robot, lambda t, q: pull(t), start, SPAN)
    assert np.abs(expected - start).max() > 1.0
    given = {"q0": start[:3], "qd0": start[3:], "damping": DAMPING, "gravity": GRAVITY, "loads": LOADS, "friction": 0}
    for integrator, dt, apart in (("rk4", 5e-5, 1e-9), ("implicit", 5e-5, 1e-4)):
        run = vb.simulate(robot, pull, duration=SPAN, dt=dt, integrator=integrator, **given)
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

    expected = reference(robot, pull, start, SPAN)
    given = {"q0": start[:3], "qd0": start[3:], "damping": DAMPING, "gravity": GRAVITY, "loads": LOADS, "friction": 0}
    run = vb.simulate(robot, lengths=rest, stiffness_EA=200.0, duration=SPAN, dt=5e-5, **given)
    assert (run.tensions.values[:, 0] == 0.0).all()
    assert (run.tensions.values[:, 1:] > 1.0).all()
    np.testing.assert_allclose(end(run), expected, rtol=0, atol=1e-9)


def test_motion_with_cable_friction() -> None:
    """The same steps of Runge-Kutta with the friction of the oracle, whose history moves on at every step."""
    mapping = random_robot(np.random.default_rng(8), 2, ("flexure",)).to_mapping()
    mapping["sections"][0]["cables"] = {"radius": 5e-3, "azimuth": [0.3, 1.9, 4.0], "friction": 0.4}
    robot = vb.load(mapping)
    tensions, dt = np.array([9.0, 4.0, 6.0]), 2e-4
    steps = round(0.8 * SPAN / dt)
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
    least = 0.1 if SPAN == 0.03 else 0.03  # friction moves a longer motion further
    assert np.abs(end(smooth) - end(run)).max() > least, "friction must matter, far beyond the tolerance above"


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


def sensed_with_cables() -> vb.Robot:
    """The modules of Lapusan 2022 on their universal joints, with masses, springs and four cables."""
    mapping = vb.load("lapusan2022").to_mapping()
    section = mapping["sections"][0]
    section["joint"] |= {"stiffness": 1.5}
    section["link"] |= {"mass": 0.12, "diameter": 0.06}
    section["cables"] = {"radius": 0.025, "azimuth": [0.3, 1.9, 3.4, 5.0]}
    return vb.load(mapping).fill_inertia()


def test_modules_on_universal_joints_move_as_in_mujoco() -> None:
    """Nothing is coupled in that model, so it moves alike to round-off. Energy is kept, and RK4 is of fourth order."""
    robot, pull = sensed_with_cables(), np.array([8.0, 3.0, 5.0, 4.0])
    q0, qd0, gravity = np.linspace(-0.3, 0.4, 8), np.linspace(2.0, -1.0, 8), np.array([2.0, -3.0, -9.0])
    posed, dt, duration = MujocoModel(robot, built=True), 1e-4, 0.2
    model, data = posed.model, posed.data
    model.opt.timestep, model.opt.integrator, model.opt.gravity = dt, mujoco.mjtIntegrator.mjINT_RK4, gravity
    posed.pose(q0)
    data.qvel[:], data.ctrl[:] = qd0, pull
    for _ in range(round(duration / dt)):
        mujoco.mj_step(model, data)

    def run(dt: float, integrator: str = "rk4") -> xr.Dataset:
        given = {"q0": q0, "qd0": qd0, "gravity": gravity, "friction": 0, "integrator": integrator}
        return vb.simulate(robot, pull, duration=duration, dt=dt, **given)

    fine = run(dt)
    assert np.abs(fine.q.values[-1] - q0).max() > 0.3
    np.testing.assert_allclose(end(fine), np.concatenate([data.qpos, data.qvel]), rtol=0, atol=1e-9)
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(fine.tip.values[-1], posed.tip(), rtol=0, atol=1e-9)
    energy = (fine.kinetic + fine.potential).values + fine.lengths.values @ pull
    assert np.abs(energy - energy[0]).max() < 1e-9 * float(fine.kinetic.max())
    for integrator, order in (("rk4", 4.0), ("implicit", 2.0)):
        errors = np.array([np.abs(end(run(step, integrator)) - end(fine)).max() for step in (4e-3, 2e-3, 1e-3)])
        slopes = np.log2(errors[:-1] / errors[1:])
        assert slopes.min() > order - 0.25
        assert slopes.max() < order + 0.5


# Where it comes to rest.

HUNG_LOADS = (vb.Load(force=(1.0, 0.5, 0.0), link=3), vb.Load(force=(0.5, 0.0, -1.0), moment=(0.05, 0.02, 0.1)))
LONG = {"integrator": "implicit", "dt": 1e-2, "friction": 0, "every": 10**6}


def hanging_mix() -> vb.Robot:
    """Rolling, flexure and pin joints in three sections, cables ending at each; heavy gaps."""
    return mirror_mix().fill_inertia()


RESTS = {
    "preset": (PRESET, PULL, {}, 0.3, 10.0),
    "preset-wall": (PRESET, PULL, {"gravity": "wall"}, 0.3, 15.0),
    "preset-ceiling": (PRESET, PULL, {"gravity": "ceiling"}, 0.3, 15.0),
    "preset-ground": (PRESET, PULL, {"gravity": "ground"}, 0.3, 15.0),
    "preset-loaded": (PRESET, PULL, {"gravity": "ceiling", "loads": HUNG_LOADS}, 0.3, 15.0),
    "prototype": (with_inertia("hu2023-prototype"), np.array([4.0, 4.0, 4.0, 5.0]), {}, 3e-3, 10.0),
    "prototype-ceiling": (
        with_inertia("hu2023-prototype"), np.array([4.0, 4.0, 4.0, 5.0]), {"gravity": "ceiling"}, 3e-3, 10.0
    ),
    "flexures": (with_inertia("yang2023-b"), np.array([3.0, 9.0, 8.0, 2.0]), {}, 2e-2, 5.0),
    "flexures-wall": (with_inertia("yang2023-b"), np.array([3.0, 9.0, 8.0, 2.0]), {"gravity": "wall"}, 2e-2, 5.0),
    "three-sections": (with_inertia("yang2023-c"), np.linspace(2.0, 9.0, 12), {"gravity": "ground"}, 2e-2, 5.0),
    # Pins hold nothing against cables: those that cross them are loose.
    "mix": (hanging_mix(), np.array([0.9, 0.5, 0.2, 0.7, 0.4, 0.0, 0.0]), {"gravity": "ceiling"}, 5e-4, 60.0),
}  # fmt: skip


@pytest.mark.parametrize("name", RESTS)
def test_rest_is_the_equilibrium(name: str) -> None:
    robot, tensions, about, damping, duration = RESTS[name]
    run = vb.simulate(robot, tensions, duration=duration, damping=damping, **LONG, **about)
    q = run.q.values[-1]
    shape = vb.shape_from_tensions(robot, tensions, friction=0, start=q, **about)
    assert np.abs(q).max() > 0.02
    assert np.abs(run.qd.values[-1]).max() < 1e-6
    np.testing.assert_allclose(q, shape.angles, rtol=0, atol=1e-8)
    # And no equilibrium far away that the solver was led to: balance by the oracle's energy.
    field = vb.load(robot.to_mapping() | {"gravity": about.get("gravity", robot.gravity.tolist())}).gravity
    unbalanced = statics.residual(robot, q, tensions, field, about.get("loads", ()))
    assert np.abs(unbalanced).max() < 1e-6 * statics.moment_scale(robot, tensions, field, about.get("loads", ()))


def test_both_integrators_come_to_the_same_rest() -> None:
    about = {"loads": HUNG_LOADS, "gravity": "ceiling", "damping": 0.2, "duration": 20.0, "friction": 0, "every": 10**6}
    shape = vb.shape_from_tensions(PRESET, PULL, gravity="ceiling", loads=HUNG_LOADS, friction=0)
    for integrator in ("rk4", "implicit"):
        run = vb.simulate(PRESET, PULL, dt=1e-3, integrator=integrator, **about)
        np.testing.assert_allclose(run.q.values[-1], shape.angles, rtol=0, atol=1e-8)
        np.testing.assert_allclose(run.tip.values[-1], shape.tip, rtol=0, atol=1e-8)


STRAIGHT_LENGTHS = vb.Pose(PRESET, np.zeros(6)).cable_lengths


@pytest.mark.parametrize("drawn_mm", [(2.0, 1.0, 0.5, 1.0), (3.0, -2.0, -1.5, 1.0), (2.0, 1.0, -30.0, 1.0)])
def test_rest_of_elastic_cables(drawn_mm: tuple[float, ...]) -> None:
    """Of given unstretched length; the last one leaves a cable slack."""
    rest = STRAIGHT_LENGTHS - np.array(drawn_mm) * 1e-3
    run = vb.simulate(PRESET, lengths=rest, duration=10.0, damping=0.3, stiffness_EA=2e4, **LONG)
    shape = vb.shape_from_lengths(PRESET, rest, stiffness_EA=2e4)
    np.testing.assert_allclose(run.q.values[-1], shape.angles, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.tensions.values[-1], shape.tensions_at_base, rtol=0, atol=1e-5)
    assert (run.tensions.values >= 0.0).all()
    assert (run.tensions.values[-1] == 0.0).any() == (drawn_mm[2] == -30.0)
    stretch = np.maximum(run.lengths.values - rest, 0.0)
    np.testing.assert_allclose(run.tensions, 2e4 * stretch / rest, rtol=0, atol=1e-7)
    np.testing.assert_allclose(run.stored, (2e4 * stretch**2 / (2 * rest)).sum(axis=1), rtol=0, atol=1e-10)


def band(robot: vb.Robot, tensions: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n,) least and most torque that cables with friction can give each joint, whichever way each of them slips."""
    low, high = np.zeros(len(q)), np.zeros(len(q))
    arms, bent = -vb.Pose(robot, q).cable_segments.first, friction_oracle.bends(robot, q)
    for k, (tension, law) in enumerate(zip(tensions, robot.friction_laws, strict=True)):
        last = int(robot.cables["last_link"][k])
        ratios = np.array([friction_oracle.face_tensions(law, bent[k], np.full(last, s), last) for s in (-1.0, 1.0)])
        both = tension * ratios * arms[k]
        low, high = low + both.min(axis=0), high + both.max(axis=0)
    return low, high


@pytest.mark.parametrize("name", ["yang2023-a", "yang2023-c"])
def test_cables_with_friction_stop_within_its_band(name: str) -> None:
    robot = with_inertia(name)
    tensions = np.linspace(3.0, 12.0, len(robot.cables))
    run = vb.simulate(robot, tensions, duration=3.0, dt=2e-3, damping=2e-2, integrator="implicit", every=10**6)
    q = run.q.values[-1]
    assert np.abs(run.qd.values[-1]).max() < 1e-6
    needed = bias_forces(robot, q) + robot.joints["stiffness"] * q
    low, high = band(robot, tensions, q)
    slack = 1e-9 * np.abs(high).max()
    assert (needed > low - slack).all()
    assert (needed < high + slack).all()
    assert np.abs(q - vb.shape_from_tensions(robot, tensions, friction=0).angles).max() > 1e-3


def flexures_in_a_plane(joints: int) -> vb.Robot:
    mapping = with_inertia("yang2023-a").to_mapping()
    mapping["sections"][0]["joints"], mapping["sections"][0]["azimuth"] = joints, ["90 deg"]
    return vb.load(mapping)


CREEPING = {"duration": 6.0, "dt": 2e-3, "damping": 0.1, "integrator": "implicit", "gravity": (0.0, 0.0, 0.0)}


@pytest.mark.parametrize(("joints", "apart"), [(1, 1e-8), (6, 1e-3)])
def test_overdamped_robot_creeps_to_the_rest_of_statics(joints: int, apart: float) -> None:
    """A single joint slips one way all the time, so that its history does not matter. In a chain the far joints bend
    first, while there is hardly any friction, and stay a little beyond the rest of a robot that was never there."""
    robot, tensions = flexures_in_a_plane(joints), np.array([5.0, 12.0, 12.0, 5.0])
    run = vb.simulate(robot, tensions, **CREEPING)
    shape = vb.shape_from_tensions(robot, tensions, gravity=CREEPING["gravity"])
    assert np.abs(shape.angles).min() > 0.05
    np.testing.assert_allclose(run.q.values[-1], shape.angles, rtol=0, atol=apart)
    assert float(run.dissipated.diff("time").min()) > -1e-9


def test_elastic_cables_with_friction_creep_to_the_rest_of_statics() -> None:
    robot = flexures_in_a_plane(1)
    rest = vb.Pose(robot, [0.0]).cable_lengths - np.array([-1e-3, 1e-3, 1e-3, -1e-3])
    run = vb.simulate(robot, lengths=rest, stiffness_EA=1e3, **CREEPING)
    shape = vb.shape_from_lengths(robot, rest, stiffness_EA=1e3, gravity=CREEPING["gravity"])
    assert abs(shape.angles[0]) > 0.05
    np.testing.assert_allclose(run.q.values[-1], shape.angles, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.tensions.values[-1], shape.tensions_at_base, rtol=0, atol=1e-5)
