"""What drives a run and what comes out: constant, sampled, functions, controllers; the same bits every time."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from tests.dynamics.cases import random_robot, with_inertia
from tests.dynamics.runs import BENT, PRESET, PULL, end, same, swing

import vertebra as vb

INTEGRATORS = ("rk4", "implicit")
STRAIGHT = vb.Pose(PRESET, BENT).cable_lengths


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_constant_sampled_and_computed_tensions_agree(integrator: str) -> None:
    constant = swing(integrator=integrator)
    assert same(constant, swing(np.tile(PULL, (101, 1)), integrator=integrator))
    assert same(constant, swing(lambda t: PULL, integrator=integrator))
    assert same(constant, swing(lambda t, q, qd: PULL, integrator=integrator))
    assert same(constant, swing(PULL.tolist(), integrator=integrator))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_controller_does_not_disturb_the_history_of_rubbing_cables(integrator: str) -> None:
    about = {"integrator": integrator, "friction": 0.3, "damping": 0.01}
    assert same(swing(**about), swing(lambda t, q, qd: PULL, **about))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_constant_sampled_and_computed_lengths_agree(integrator: str) -> None:
    about = {"integrator": integrator, "stiffness_EA": 2e3}
    constant = swing(lengths=0.99 * STRAIGHT, **about)
    assert same(constant, swing(lengths=np.tile(0.99 * STRAIGHT, (101, 1)), **about))
    assert same(constant, swing(lengths=lambda t: 0.99 * STRAIGHT, **about))
    assert same(constant, swing(lengths=lambda t, q, qd: 0.99 * STRAIGHT, **about))


def test_straight_lines_between_samples() -> None:
    """A ramp in samples is the same ramp as a function, and reaches its last value at the end."""
    times = np.linspace(0.0, 0.1, 101)
    ramp = PULL + np.outer(times, [100.0, -50.0, 0.0, 20.0])
    sampled, computed = swing(ramp), swing(lambda t: PULL + t * np.array([100.0, -50.0, 0.0, 20.0]))
    np.testing.assert_allclose(end(sampled), end(computed), rtol=0, atol=1e-12)
    np.testing.assert_allclose(sampled.tensions, ramp, rtol=1e-14)
    np.testing.assert_allclose(computed.tensions, ramp, rtol=1e-13)


def test_controller_sees_the_state_at_the_start_of_each_step() -> None:
    seen: list[tuple[float, np.ndarray, np.ndarray]] = []

    def controller(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        seen.append((t, q, qd))
        return PULL + 5.0 * np.tanh(q[:4])

    run = swing(controller, duration=0.02)
    steps = seen[:20]
    np.testing.assert_allclose([t for t, _, _ in steps], run.time.values[:20], rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal([q for _, q, _ in steps], run.q.values[:20])
    np.testing.assert_array_equal([qd for _, _, qd in steps], run.qd.values[:20])
    np.testing.assert_array_equal(run.tensions.values[:20], PULL + 5.0 * np.tanh(run.q.values[:20, :4]))
    # Held through each step: one step from each state is a run of its own.
    for i in (0, 7, 19):
        one = swing(run.tensions.values[i], q0=run.q.values[i], qd0=run.qd.values[i], duration=1e-3)
        np.testing.assert_array_equal(one.q.values[-1], run.q.values[i + 1])
        np.testing.assert_array_equal(one.qd.values[-1], run.qd.values[i + 1])


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("drive", ["tensions", "lengths", "rubbing"])
def test_runs_repeat_bit_for_bit_and_go_on_from_any_state(integrator: str, drive: str) -> None:
    about: dict[str, Any] = {"integrator": integrator, "damping": 0.01}
    if drive == "lengths":
        about |= {"lengths": 0.99 * STRAIGHT, "stiffness_EA": 2e3}
    if drive == "rubbing":
        about |= {"friction": 0.2}
    whole = swing(**about)
    assert same(whole, swing(**about))
    if drive != "rubbing":  # where the history of the cables is part of the state
        first = swing(**about, duration=0.04)
        rest = swing(**about, duration=0.06, q0=first.q.values[-1], qd0=first.qd.values[-1])
        np.testing.assert_array_equal(rest.q.values, whole.q.values[40:])
        np.testing.assert_array_equal(rest.qd.values, whole.qd.values[40:])


def test_thinned_runs_are_the_same_run() -> None:
    whole = swing()
    for every in (2, 7, 100, 1000):
        thin = swing(every=every)
        rows = sorted({*range(0, 101, every), 100})
        assert thin.isel(time=slice(None)).drop_attrs().identical(whole.isel(time=rows).drop_attrs())


def test_progress_is_told_and_changes_nothing() -> None:
    told: list[tuple[int, int]] = []
    run = swing(duration=10.0, dt=1e-3, damping=0.2, progress=lambda done, total: told.append((done, total)))
    assert same(run, swing(duration=10.0, dt=1e-3, damping=0.2))
    assert told[-1] == (10_000, 10_000)
    assert len(told) > 1
    assert all(before[0] < after[0] for before, after in itertools.pairwise(told))


def test_variables_units_and_attributes() -> None:
    run = swing(duration=0.01)
    shapes = {"q": 6, "qd": 6, "qdd": 6, "tensions": 4, "lengths": 4, "tip": 3}
    for name, width in shapes.items():
        assert run[name].shape == (11, width), name
    units = {name: run[name].attrs["units"] for name in run.data_vars}
    assert units == {
        "q": "rad", "qd": "rad/s", "qdd": "rad/s^2", "tensions": "N", "lengths": "m", "tip": "m", "kinetic": "J",
        "potential": "J", "cable_work": "J", "load_work": "J", "dissipated": "J", "stored": "J", "drawn": "J",
    }  # fmt: skip
    assert all(run[name].attrs["long_name"] for name in run.variables if name in units or name == "time")
    assert run.joint.values.tolist() == [1, 2, 3, 4, 5, 6]
    assert run.cable.values.tolist() == [1, 2, 3, 4]
    assert run.axis.values.tolist() == ["x", "y", "z"]
    assert run.attrs["robot"] == "dantuono2023"
    assert run.attrs["integrator"] == "rk4"
    assert (run.attrs["ended"], run.attrs["ended_joint"], run.attrs["dt"]) == ("duration", 0, 1e-3)
    np.testing.assert_allclose(run.time, 1e-3 * np.arange(11), rtol=1e-12)
    np.testing.assert_allclose(run.lengths.values[-1], vb.Pose(PRESET, run.q.values[-1]).cable_lengths, rtol=1e-14)
    np.testing.assert_allclose(run.tip.values[-1], vb.Pose(PRESET, run.q.values[-1]).tip, rtol=0, atol=1e-15)
    for i in (0, 4, 10):
        state = PRESET, run.q.values[i], run.qd.values[i]
        np.testing.assert_array_equal(run.qdd.values[i], vb.forward_dynamics(*state, PULL))


def test_straight_and_at_rest_by_default() -> None:
    run = vb.simulate(PRESET, PULL, duration=1e-3)
    assert not run.q.values[0].any()
    assert not run.qd.values[0].any()
    np.testing.assert_array_equal(run.qdd.values[0], vb.forward_dynamics(PRESET, np.zeros(6), np.zeros(6), PULL))


def test_last_step_may_be_the_only_one_and_durations_round_to_whole_steps() -> None:
    assert len(swing(duration=1e-3).time) == 2
    assert len(swing(duration=0.3, dt=0.1 / 3, integrator="implicit", damping=0.3).time) == 10
    assert len(swing(duration=0.1 + 1e-12).time) == 101


def test_robot_without_cables_swings_like_a_pendulum() -> None:
    """A uniform pin-jointed link: the period of small swings is that of a compound pendulum."""
    link = {"length": 0.2, "mass": 0.3, "inertia": [1e-3, 1e-3, 1e-4]}
    section = {"joints": 1, "joint": {"kind": "pin"}, "azimuth": [0.0], "link": link}
    size = {"base": {"length": 0.0}, "tip": {"length": 0.0}}
    robot = vb.load({"vertebra": 1, "name": "pendulum", "gravity": "ceiling", **size, "sections": [section]})
    rate = np.sqrt(0.3 * 9.8 * 0.1 / (1e-3 + 0.3 * 0.1**2))
    run = vb.simulate(robot, duration=1.0, q0=[1e-4])
    np.testing.assert_allclose(run.q.values[:, 0], 1e-4 * np.cos(rate * run.time.values), rtol=0, atol=1e-10)
    large = vb.simulate(robot, duration=1.0, q0=[1.2])
    height = 9.8 * 0.3 * 0.1 * (1 - np.cos(large.q.values[:, 0]))
    np.testing.assert_allclose(large.kinetic.values, height[0] - height, rtol=0, atol=1e-10)


def test_fifty_joints_by_both_integrators() -> None:
    robot = random_robot(np.random.default_rng(5), 50, ("flexure", "rolling"), gap_mass=True)
    about = {"duration": 2e-3, "dt": 1e-4, "damping": 1e-2}
    fine = vb.simulate(robot, np.full(len(robot.cables), 0.1), **about)
    run = vb.simulate(robot, np.full(len(robot.cables), 0.1), **about, integrator="implicit")
    assert np.abs(fine.qd.values).max() > 0.1
    np.testing.assert_allclose(run.qd.values[-1], fine.qd.values[-1], rtol=0, atol=2e-3)


def test_friction_of_the_file_is_the_default() -> None:
    robot = with_inertia("yang2023-a")
    pull = np.array([5.0, 12.0, 12.0, 5.0])
    about = {"duration": 0.01, "dt": 1e-4, "damping": 1e-2, "integrator": "implicit"}
    as_filed = vb.simulate(robot, pull, **about)
    assert not same(as_filed, vb.simulate(robot, pull, friction=0, **about))
    assert same(as_filed, vb.simulate(robot, pull, friction=list(robot.friction_laws), **about))
