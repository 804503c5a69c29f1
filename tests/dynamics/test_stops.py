"""Rigid stops: joints that strike them lose energy and rest there, and stops only push."""

from __future__ import annotations

import os
from typing import Any

import mujoco
import numpy as np
import pytest
import xarray
from tests.dynamics.cases import BACKBONE, PLATE, SPATIAL, UNIVERSAL, spatial_robot
from tests.dynamics.runs import end, imbalance, same, swing
from tests.oracles.mujoco_model import MujocoModel

import vertebra as vb
from vertebra.dynamics import Bumper, bias_forces
from vertebra.robot import tables

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
LIMIT = np.radians(20.0)


def limited(*joints: dict[str, Any], **about: Any) -> vb.Robot:
    return spatial_robot(*(joint | {"limit": "20 deg"} for joint in joints), gravity="wall", **about)


def uneven(robot: vb.Robot) -> np.ndarray:
    """Tensions that bend every joint to its stop, or a few of them."""
    pull = np.zeros(len(robot.cables))
    pull[0::4], pull[1::4] = 10.0, 7.0
    return pull


def struck(robot: vb.Robot, pull: np.ndarray, **options: Any) -> xarray.Dataset:
    return vb.simulate(robot, pull, **{"limits": "rigid", "friction": 0, "duration": 0.3, "dt": 1e-4} | options)


def bends(robot: vb.Robot, q: np.ndarray) -> np.ndarray:
    """(N, joints) what each limit holds for."""
    return np.array([[abs(robot.bend_of(row, j)) for j in range(len(robot.joints))] for row in q])


def out_of_balance(robot: vb.Robot, q: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """(n,) torque that stops must give a robot at rest."""
    stiffness = np.repeat(robot.joints["stiffness"], robot.joints["freedoms"])
    twists = robot.joints["freedoms"] == 3
    stiffness[robot.joints["first"][twists] + 2] = robot.joints["torsion"][twists]
    return bias_forces(robot, q) + stiffness * q + vb.Pose(robot, q).cable_segments.first.T @ pull


@pytest.mark.parametrize("torsion", [None, 0.2])
def test_both_integrators_swing_around_on_a_stop_alike(torsion: float | None) -> None:
    """A backbone slides to another side while its stop holds its bend: order 2 of the implicit steps is kept."""
    joint: dict[str, Any] = {"kind": "backbone", "length": 0.01, "stiffness": 0.15, "limit": 0.2, "stops": "rigid"}
    joint |= {} if torsion is None else {"torsion": torsion}
    section = {"joints": 4, "joint": joint, "link": {"length": 0.02, "mass": 0.05, "inertia": [4e-6, 4e-6, 4e-6]}}
    section["cables"] = {"radius": 0.008, "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"]}
    robot = vb.load({"vertebra": 1, "name": "rods", "gravity": "wall", "sections": [section]})
    about = {"qd0": 2.0 * np.random.default_rng(3).normal(size=robot.freedoms), "damping": 2e-4, "duration": 0.1}
    pull = np.array([20.0, 2.0, 3.0, 5.0])
    right = struck(robot, pull, dt=5e-5, **about)
    coarse, fine = (struck(robot, pull, dt=dt, integrator="implicit", **about) for dt in (2e-4, 1e-4))
    assert fine.attrs["energy_error"] < min(2e-3, 0.35 * coarse.attrs["energy_error"])
    off = [float(np.abs(end(run) - end(right))[: robot.freedoms].max()) for run in (coarse, fine)]
    assert off[1] < min(1e-3, 0.4 * off[0])


def pendulum(limit: str = "60 deg", **about: Any) -> vb.Robot:
    """A pin under gravity, with 0.294 N*m at the horizontal."""
    link = {"length": 0.2, "mass": 0.3, "center_of_mass": [0, 0, 0.1], "inertia": [1e-3, 1e-3, 1e-4]}
    section = {"joints": 1, "joint": {"kind": "pin", "limit": limit} | about, "azimuth": [0.0], "link": link}
    size = {"base": {"length": 0.0}, "tip": {"length": 0.0}}
    return vb.load({"vertebra": 1, "name": "pendulum", "gravity": "ground", **size, "sections": [section]})


def fall(**options: Any) -> xarray.Dataset:
    return vb.simulate(pendulum(), **{"q0": [0.1], "duration": 2.0, "limits": "rigid"} | options)


@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
def test_a_pendulum_falls_on_its_stop_and_rests(integrator: str) -> None:
    """What it fell is lost in the strike, and the stop carries its weight from then on."""
    run = fall(integrator=integrator)
    limit = float(pendulum().joints["limit"][0])
    resting = run.q.values[:, 0] == limit
    first = int(np.argmax(resting))
    assert resting[first:].all()
    assert (run.qd.values[first:] == 0.0).all()
    torque = 9.8 * 0.3 * 0.1 * np.sin(limit)
    np.testing.assert_allclose(run.stop_torques.values[first:, 0], -torque, rtol=1e-12)
    assert not run.stop_torques.values[:first].any()
    fallen = 9.8 * 0.3 * 0.1 * (np.cos(0.1) - np.cos(limit))
    near = 1e-9 if integrator == "rk4" else 1e-4
    assert float(run.dissipated[-1]) == pytest.approx(fallen, rel=near)
    assert run.attrs["ended"] == "duration"


def test_the_instant_of_a_strike_does_not_depend_on_the_step() -> None:
    """Its speed is right as well: by the time a spring throws the joint back it matters."""
    sprung = pendulum(stiffness="2 N*m/rad", limit="0.3 rad")
    ends = []
    for dt in (2e-3, 1e-3, 2.5e-4):
        run = vb.simulate(sprung, q0=[-0.3], duration=0.2, dt=dt, limits="rigid")
        ends.append(end(run))
    np.testing.assert_allclose(ends[0], ends[2], rtol=0, atol=1e-4)
    np.testing.assert_allclose(ends[1], ends[2], rtol=0, atol=1e-5)


def test_within_the_limits_nothing_changes() -> None:
    plain = swing()
    run = swing(limits="rigid")
    assert not run.stop_torques.values.any()
    np.testing.assert_array_equal(run.q, plain.q)
    assert same(run.drop_vars("stop_torques"), plain)
    assert "stop_torques" not in plain


@pytest.mark.parametrize("name", SPATIAL)
def test_stops_hold_and_energy_never_grows(name: str) -> None:
    """Without damping: strikes take energy, stops give none, and the account of it is that of the integrator."""
    robot = limited(*SPATIAL[name])
    run = struck(robot, uneven(robot), duration=0.15)
    assert run.attrs["ended"] == "duration"
    assert bends(robot, run.q.values).max() <= LIMIT * (1 + 1e-14)
    assert np.abs(run.stop_torques.values).max() > 0.01
    energy = (run.kinetic + run.potential - run.cable_work).values
    scale = float(run.kinetic.max())
    assert float(run.dissipated[-1]) > 0.1 * scale
    assert np.diff(energy).max() < 1e-4 * scale
    assert imbalance(run) < 1e-4
    assert imbalance(struck(robot, uneven(robot), duration=0.15, dt=5e-5)) < 0.25 * imbalance(run)
    # A stop only pushes inward, and only where its joint is.
    pairs = zip(run.q.values, run.stop_torques.values, strict=True)
    assert min(least_inward_push(robot, q, torques) for q, torques in pairs) >= -1e-12


def least_inward_push(robot: vb.Robot, q: np.ndarray, torques: np.ndarray) -> float:
    """Of the stops: torque against the bend where a joint touches one; 0 or more is right."""
    least = 0.0
    for row, joint in enumerate(robot.joints):
        own = slice(joint["first"], joint["first"] + joint["freedoms"])
        bend, torque = q[own], torques[own]
        if joint["kind"] == tables.BACKBONE:
            bend, torque = bend[:2], torque[:2]
            pushed = -float(bend @ torque)
            off = abs(float(bend[0] * torque[1] - bend[1] * torque[0]))
            assert off < 1e-12
            touching = robot.bend_of(q, row) > LIMIT - 1e-9
            least = min(least, pushed if touching else -float(np.abs(torque).max()))
            continue
        for angle, value in zip(bend, torque, strict=True):
            least = min(least, -value * np.sign(angle) if abs(angle) > LIMIT - 1e-9 else -abs(value))
    return least


@pytest.mark.parametrize("name", SPATIAL)
def test_a_damped_robot_rests_where_stops_and_torques_balance(name: str) -> None:
    """Complementarity to 1e-10 of the torques: each freedom in balance with its stop, which pushes inward or not."""
    robot = limited(*SPATIAL[name])
    pull = uneven(robot)
    run = struck(robot, pull, duration=4.0, dt=5e-4, integrator="implicit", damping=0.003, every=10**6)
    q, torques = run.q.values[-1], run.stop_torques.values[-1]
    assert np.abs(run.qd.values[-1]).max() < 1e-9
    np.testing.assert_allclose(torques, out_of_balance(robot, q, pull), rtol=0, atol=1e-10 * np.abs(torques).max())
    assert least_inward_push(robot, q, torques) >= -1e-10 * np.abs(torques).max()
    assert np.abs(torques).max() > 0.01


def test_both_integrators_rest_at_the_same_place() -> None:
    robot = limited(UNIVERSAL)
    pull = uneven(robot)
    pull[:2] = 2.0, 0.4
    ends = [end(struck(robot, pull, duration=3.0, dt=2e-4, integrator=integrator, damping=0.002, every=10**6))
            for integrator in ("rk4", "implicit")]  # fmt: skip
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-9)


def test_stops_of_a_bend_let_it_swing_around() -> None:
    """A backbone pressed against its limit moves along it: the bend stays, its direction turns."""
    robot = limited(BACKBONE)
    turning = [[25.0 * max(np.cos(a - k * np.pi / 2), 0.0) for k in range(4)] for a in np.linspace(0.0, np.pi, 1001)]
    run = vb.simulate(robot, turning, duration=1.0, dt=1e-3, damping=0.01, limits="rigid", integrator="implicit")
    late = run.q.values[300:, :2]
    np.testing.assert_allclose(np.hypot(*late.T), LIMIT, rtol=1e-12)
    direction = np.unwrap(np.arctan2(late[:, 1], late[:, 0]))
    assert abs(direction[-1] - direction[0]) > 1.5


def test_where_stops_end_a_run_or_hold() -> None:
    """By default nothing holds; a start beyond a limit is refused either way."""
    with pytest.raises(vb.OutOfRange, match="passed the limit after"):
        fall(limits="file")
    with pytest.raises(vb.OutOfRange, match="rigid stops"):
        fall(limits="end")
    with pytest.raises(vb.OutOfRange, match="q0"):
        fall(q0=[1.2])
    with pytest.raises(vb.OutOfRange, match="q0") as caught:
        vb.simulate(limited(BACKBONE), np.zeros(4), duration=0.1, q0=[0, 0, 0.3, 0.3], limits="rigid")
    assert caught.value.joint == 2
    assert caught.value.angle == pytest.approx(np.hypot(0.3, 0.3))
    assert caught.value.limit == pytest.approx(LIMIT)
    with pytest.raises(vb.InputError, match="limits: must be file, end, rigid or a Bumper"):
        fall(limits="stop")
    with pytest.raises(vb.InputError, match="limits: must be a Bumper itself"):
        fall(limits="a Bumper")


@pytest.mark.parametrize("limits", ["file", "rigid", Bumper(50.0)])
def test_faces_that_meet_at_a_cable_are_named_as_in_statics(limits: Any) -> None:
    """Of pins and of backbones, before the limit of the joint."""
    wide = {"radius": "9 mm", "azimuth": ["20 deg", "200 deg"]}
    for joint, about in (({"kind": "pin", "length": 4e-3}, {"azimuth": [0.0]}),
                         ({"kind": "backbone", "length": "6 mm", "stiffness": 0.01}, {})):  # fmt: skip
        section = {"joints": 2, "joint": joint, "link": PLATE, "cables": wide} | about
        size = {"base": {"length": 0.01}, "tip": {"length": 0.0}}
        robot = vb.load({"vertebra": 1, "name": "jaw", "gravity": "ground", **size, "sections": [section]})
        if isinstance(limits, Bumper) and joint["kind"] == "pin":
            assert (
                vb.simulate(robot, [3.0, 0.0], duration=0.2, dt=1e-4, damping=1e-3, limits=limits).ended == "duration"
            )
            continue
        with pytest.raises(vb.OutOfRange) as caught:
            vb.simulate(robot, [3.0, 0.0], duration=0.5, dt=1e-4, limits=limits)
        error = caught.value
        said = f"after {error.result.attrs['ended_time']:.6g} s its faces have passed through each other at cable 1"
        assert said in str(error)
        assert f"joint {error.joint}: " in str(error)
        assert abs(error.angle) < robot.joints["limit"][0]
        assert error.limit <= abs(error.angle)
        last = error.result.q.values[-1]
        _ = vb.Pose(robot, last).cable_segments  # until then they have not


@pytest.mark.parametrize("direction", [[1.0, 0.0], [0.0, 1.0], [0.8, -0.6]])
def test_faces_of_a_backbone_meet_at_a_bend_in_whatever_direction(direction: list[float]) -> None:
    """Discs L apart meet at a cable r from the axis when the rod is bent toward it by L/r, whichever way that is."""
    azimuth = np.degrees(np.arctan2(direction[1], direction[0]))
    section = {"joints": 1, "joint": {"kind": "backbone", "length": "8 mm", "stiffness": 0.01}, "link": PLATE}
    section["cables"] = {"radius": "10 mm", "azimuth": [f"{azimuth} deg", f"{azimuth + 180} deg"]}
    robot = vb.load({"vertebra": 1, "name": "jaw", "sections": [section]})
    q = 1.2 * np.array(direction)
    with pytest.raises(vb.OutOfRange, match="passed through each other at cable 1") as caught:
        vb.simulate(robot, 0.0, duration=0.01, q0=q)
    assert caught.value.limit == pytest.approx(0.8, rel=1e-6)
    with pytest.raises(vb.OutOfRange) as caught:
        _ = vb.Pose(robot, q).cable_segments
    assert (caught.value.angle, caught.value.limit) == pytest.approx((1.2, 0.8), rel=1e-6)


def mujoco_with_stops(robot: vb.Robot, step: float) -> MujocoModel:
    """As stiff as it allows, and without bounce."""
    posed = MujocoModel(robot)
    posed.model.opt.timestep, posed.model.opt.integrator = step, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    posed.model.opt.tolerance, posed.model.opt.iterations = 1e-15, 200
    posed.model.jnt_solref[:] = 2 * step, 1.0
    posed.model.jnt_solimp[:] = 0.9999, 0.9999, 1e-3, 0.5, 2.0
    return posed


@pytest.mark.parametrize("seed", range(32 if SOAK else 4))
def test_rest_of_the_exported_model_on_stiff_limits(seed: int) -> None:
    """Universal robots at random, some joints on a stop and some not: MuJoCo rests at the same angles. Pressed harder
    than here, its limits chatter and it does not rest."""
    rng = np.random.default_rng(seed)
    joint = UNIVERSAL | {"order": ("xy", "yx")[seed % 2], "limit": "15 deg"}
    joint["stiffness"] = float(rng.uniform(0.1, 0.5))
    robot = spatial_robot(*[joint] * int(rng.integers(1, 3)), gravity=[float(x) for x in rng.normal(0.0, 6.0, 3)])
    pull = rng.uniform(0.0, 10.0, len(robot.cables))
    step, damping = 1e-4, 2e-3
    run = struck(robot, pull, duration=3.0, dt=5e-4, integrator="implicit", damping=damping, every=10**6)
    posed = mujoco_with_stops(robot, step)
    posed.model.jnt_stiffness[:], posed.model.dof_damping[:] = joint["stiffness"], damping
    posed.data.ctrl[:] = pull
    for n in range(60000):
        mujoco.mj_step(posed.model, posed.data)
        if n > 1000 and np.abs(posed.data.qvel).max() < 1e-8:
            break
    assert np.abs(posed.data.qvel).max() < 1e-8
    torques = run.stop_torques.values[-1]
    assert torques.any() or seed >= 4, "about half of them touch a stop, and the first four do"
    # Its limits give way a little, by less than 1e-4 deg.
    np.testing.assert_allclose(np.degrees(run.q.values[-1]), np.degrees(posed.data.qpos), rtol=0, atol=1e-4)
    np.testing.assert_allclose(torques, posed.data.qfrc_constraint, rtol=0, atol=1e-4 * np.abs(torques).max())
