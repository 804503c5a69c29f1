"""Where a damped run comes to rest is where the solvers of statics say."""

from __future__ import annotations

import numpy as np
import pytest
from tests.dynamics.cases import with_inertia
from tests.dynamics.runs import PRESET, PULL
from tests.oracles import friction as friction_oracle
from tests.oracles import statics
from tests.robots import mirror_mix

import vertebra as vb
from vertebra.dynamics import bias_forces

LOADS = (vb.Load(force=(1.0, 0.5, 0.0), link=3), vb.Load(force=(0.5, 0.0, -1.0), moment=(0.05, 0.02, 0.1)))
LONG = {"integrator": "implicit", "dt": 1e-2, "friction": 0, "every": 10**6}


def hanging_mix() -> vb.Robot:
    """Rolling, flexure and pin joints in three sections, cables ending at each; heavy gaps."""
    return mirror_mix().fill_inertia()


RESTS = {
    "preset": (PRESET, PULL, {}, 0.3, 10.0),
    "preset-wall": (PRESET, PULL, {"gravity": "wall"}, 0.3, 15.0),
    "preset-ceiling": (PRESET, PULL, {"gravity": "ceiling"}, 0.3, 15.0),
    "preset-ground": (PRESET, PULL, {"gravity": "ground"}, 0.3, 15.0),
    "preset-loaded": (PRESET, PULL, {"gravity": "ceiling", "loads": LOADS}, 0.3, 15.0),
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
    about = {"loads": LOADS, "gravity": "ceiling", "damping": 0.2, "duration": 20.0, "friction": 0, "every": 10**6}
    shape = vb.shape_from_tensions(PRESET, PULL, gravity="ceiling", loads=LOADS, friction=0)
    for integrator in ("rk4", "implicit"):
        run = vb.simulate(PRESET, PULL, dt=1e-3, integrator=integrator, **about)
        np.testing.assert_allclose(run.q.values[-1], shape.angles, rtol=0, atol=1e-8)
        np.testing.assert_allclose(run.tip.values[-1], shape.tip, rtol=0, atol=1e-8)


STRAIGHT = vb.Pose(PRESET, np.zeros(6)).cable_lengths


@pytest.mark.parametrize("drawn_mm", [(2.0, 1.0, 0.5, 1.0), (3.0, -2.0, -1.5, 1.0), (2.0, 1.0, -30.0, 1.0)])
def test_rest_of_elastic_cables(drawn_mm: tuple[float, ...]) -> None:
    """Of given unstretched length; the last one leaves a cable slack."""
    rest = STRAIGHT - np.array(drawn_mm) * 1e-3
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
    """(n,) least and most moment that rubbing cables can give each joint, whatever way each of them slips."""
    low, high = np.zeros(len(q)), np.zeros(len(q))
    arms = -vb.Pose(robot, q).cable_segments.first
    for k, (tension, law) in enumerate(zip(tensions, robot.friction_laws, strict=True)):
        last = int(robot.cables["last_link"][k])
        ratios = np.array([friction_oracle.face_tensions(law, q, np.full(last, s), last) for s in (-1.0, 1.0)])
        both = tension * ratios * arms[k]
        low, high = low + both.min(axis=0), high + both.max(axis=0)
    return low, high


@pytest.mark.parametrize("name", ["yang2023-a", "yang2023-c"])
def test_rubbing_cables_stop_within_the_band_of_friction(name: str) -> None:
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
    at once, while the cables hardly rub, and stay a little beyond the rest of a robot that was never there."""
    robot, tensions = flexures_in_a_plane(joints), np.array([5.0, 12.0, 12.0, 5.0])
    run = vb.simulate(robot, tensions, **CREEPING)
    shape = vb.shape_from_tensions(robot, tensions, gravity=CREEPING["gravity"])
    assert np.abs(shape.angles).min() > 0.05
    np.testing.assert_allclose(run.q.values[-1], shape.angles, rtol=0, atol=apart)
    assert float(run.dissipated.diff("time").min()) > -1e-9


def test_elastic_cables_that_rub_creep_to_the_rest_of_statics() -> None:
    robot = flexures_in_a_plane(1)
    rest = vb.Pose(robot, [0.0]).cable_lengths - np.array([-1e-3, 1e-3, 1e-3, -1e-3])
    run = vb.simulate(robot, lengths=rest, stiffness_EA=1e3, **CREEPING)
    shape = vb.shape_from_lengths(robot, rest, stiffness_EA=1e3, gravity=CREEPING["gravity"])
    assert abs(shape.angles[0]) > 0.05
    np.testing.assert_allclose(run.q.values[-1], shape.angles, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.tensions.values[-1], shape.tensions_at_base, rtol=0, atol=1e-5)
