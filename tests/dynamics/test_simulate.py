"""What drives a run, what comes out, how it ends, and which arguments are refused; the same bits every time."""

from __future__ import annotations

import itertools
import pickle
import re
from typing import Any

import numpy as np
import pytest
from tests.dynamics.cases import BACKBONE, UNIVERSAL, random_robot, spatial_robot, with_inertia
from tests.dynamics.runs import BENT, PRESET, PULL, end, imbalance, same, swing

import vertebra as vb
from vertebra.dynamics import Bumper

INTEGRATORS = ("rk4", "implicit")
BENT_LENGTHS = vb.Pose(PRESET, BENT).cable_lengths


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_constant_sampled_and_computed_tensions_agree(integrator: str) -> None:
    constant = swing(integrator=integrator)
    assert same(constant, swing(np.tile(PULL, (101, 1)), integrator=integrator))
    assert same(constant, swing(lambda t: PULL, integrator=integrator))
    assert same(constant, swing(lambda t, q, qd: PULL, integrator=integrator))
    assert same(constant, swing(PULL.tolist(), integrator=integrator))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_controller_does_not_disturb_the_friction_history(integrator: str) -> None:
    about = {"integrator": integrator, "friction": 0.3, "damping": 0.01}
    assert same(swing(**about), swing(lambda t, q, qd: PULL, **about))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_constant_sampled_and_computed_lengths_agree(integrator: str) -> None:
    about = {"integrator": integrator, "stiffness_EA": 2e3}
    constant = swing(lengths=0.99 * BENT_LENGTHS, **about)
    assert same(constant, swing(lengths=np.tile(0.99 * BENT_LENGTHS, (101, 1)), **about))
    assert same(constant, swing(lengths=lambda t: 0.99 * BENT_LENGTHS, **about))
    assert same(constant, swing(lengths=lambda t, q, qd: 0.99 * BENT_LENGTHS, **about))


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
@pytest.mark.parametrize("drive", ["tensions", "lengths", "friction"])
def test_runs_repeat_bit_for_bit_and_go_on_from_any_state(integrator: str, drive: str) -> None:
    about: dict[str, Any] = {"integrator": integrator, "damping": 0.01}
    if drive == "lengths":
        about |= {"lengths": 0.99 * BENT_LENGTHS, "stiffness_EA": 2e3}
    if drive == "friction":
        about |= {"friction": 0.2}
    whole = swing(**about)
    assert same(whole, swing(**about))
    if drive != "friction":  # where the history of the cables is part of the state
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


def test_progress_is_reported_and_changes_nothing() -> None:
    reported: list[tuple[int, int]] = []
    run = swing(duration=10.0, dt=1e-3, damping=0.2, progress=lambda done, total: reported.append((done, total)))
    assert same(run, swing(duration=10.0, dt=1e-3, damping=0.2))
    assert reported[-1] == (10_000, 10_000)
    assert len(reported) > 1
    assert all(before[0] < after[0] for before, after in itertools.pairwise(reported))


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


def test_damping_of_the_file_is_the_default() -> None:
    """For each freedom of a joint; what the call gives takes its place."""
    lossy = UNIVERSAL | {"damping": "0.002 N*m*s/rad"}, BACKBONE | {"torsion": 0.1, "damping": "0.004 N*m*s/rad"}
    robot, smooth = spatial_robot(*lossy), spatial_robot(UNIVERSAL, BACKBONE | {"torsion": 0.1})
    given = [0.002] * 4 + [0.004] * 6
    q, pull = np.linspace(-0.2, 0.3, 10), np.linspace(1.0, 4.0, 8)

    about: dict[str, Any] = {"duration": 5e-3, "dt": 1e-4, "q0": q}
    as_filed = vb.simulate(robot, pull, **about)
    assert float(as_filed.dissipated[-1]) > 0.0
    assert same(as_filed, vb.simulate(smooth, pull, damping=given, **about))
    assert not vb.simulate(robot, pull, damping=0, **about).dissipated.values.any()
    assert not vb.simulate(smooth, pull, **about).dissipated.values.any()
    model = vb.linearise(robot, q, pull)
    assert model.damping.tolist() == given
    np.testing.assert_array_equal(model.A, vb.linearise(smooth, q, pull, damping=given).A)
    qd = np.linspace(-2.0, 3.0, 10)
    accelerations = vb.forward_dynamics(robot, q, qd, pull)
    np.testing.assert_array_equal(accelerations, vb.forward_dynamics(smooth, q, qd, pull, damping=given))
    with pytest.raises(vb.InputError, match="10, one per freedom"):
        vb.simulate(robot, pull, damping=[0.1] * 4, **about)


# How a run ends, and what is refused.

WEAK = np.full(4, 5.0)
LIMIT = float(PRESET.joints["limit"][0])


def fall(**options: Any) -> Any:
    """Too little tension to hold the preset up: it folds."""
    return vb.simulate(PRESET, WEAK, **{"duration": 2.0, "friction": 0} | options)


@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
def test_a_joint_that_reaches_its_limit_ends_the_run(integrator: str) -> None:
    with pytest.raises(vb.OutOfRange) as caught:
        fall(integrator=integrator)
    error, run = caught.value, caught.value.result
    assert run.attrs["ended"] == "limit"
    assert run.attrs["ended_joint"] == error.joint
    assert np.abs(run.q.values).max() <= LIMIT
    time = run.attrs["ended_time"]
    assert float(run.time[-1]) <= time <= float(run.time[-1]) + 1e-3
    # The joint named is the one on its way out.
    row = error.joint - 1
    q, qd = run.q.values[-1], run.qd.values[-1]
    assert abs(q[row] + 1e-3 * qd[row]) > LIMIT - 0.01
    assert abs(abs(q[row] + (time - float(run.time[-1])) * qd[row]) - LIMIT) < 1e-3
    assert f"joint {error.joint}" in str(error)
    loaded = pickle.loads(pickle.dumps(error))
    assert loaded.result.identical(run)
    unchecked = fall(integrator=integrator, check=False)
    assert unchecked.identical(run)
    # Until then it is the run that a longer step of recording sees.
    coarse = fall(integrator=integrator, check=False, every=50)
    np.testing.assert_array_equal(coarse.q.values[-1], run.q.values[-1])
    np.testing.assert_array_equal(coarse.q.values[1], run.q.values[50])


def test_time_of_the_limit_does_not_depend_on_the_step() -> None:
    times = [fall(check=False, dt=dt).attrs["ended_time"] for dt in (2e-3, 1e-3, 2.5e-4)]
    assert np.ptp(times) < 1e-5


def test_bumpers_hold_the_joints() -> None:
    bumper = Bumper(stiffness=50.0, damping=0.05)
    run = fall(limits=bumper, dt=1e-4, duration=1.0)
    assert run.attrs["ended"] == "duration"
    assert LIMIT < np.abs(run.q.values).max() < LIMIT + 0.4
    assert imbalance(run) < 1e-4
    elastic = fall(limits=Bumper(stiffness=50.0), dt=1e-4, duration=1.0)
    assert imbalance(elastic) < 1e-4
    assert not elastic.dissipated.values.any()
    assert float(run.dissipated[-1]) > 1e-3
    # Within the limits nothing changes.
    assert swing(limits=bumper).identical(swing())


def test_bumpers_of_implicit_steps() -> None:
    run = fall(limits=Bumper(stiffness=5e3, damping=1.0), integrator="implicit", duration=5.0, damping=0.02)
    assert run.attrs["ended"] == "duration"
    assert np.abs(run.q.values).max() < LIMIT + 0.1
    assert np.abs(run.q.values[-1]).max() > LIMIT - 0.3


def test_a_run_that_diverges_keeps_its_trajectory() -> None:
    """A step somewhat too long for tight cables; limits are out of the way."""
    away = {"duration": 5.0, "dt": 7e-3, "limits": Bumper(stiffness=1e-6), "q0": 1e-6 * BENT, "friction": 0}
    away["gravity"] = (0.0, 0.0, 0.0)
    with pytest.raises(vb.Diverged) as caught:
        vb.simulate(PRESET, np.full(4, 1500.0), **away)
    error, run = caught.value, caught.value.result
    assert run.attrs["ended"] == "diverged"
    assert 1 <= error.joint <= 6
    assert run.attrs["ended_joint"] == error.joint
    assert error.time == pytest.approx(float(run.time[-1]))
    assert len(run.time) > 2
    for name in run.data_vars:
        assert np.isfinite(run[name].values).all(), name
    np.testing.assert_array_equal(run.q.values[0], 1e-6 * BENT)
    assert "dt" in str(error)
    assert pickle.loads(pickle.dumps(error)).result.identical(run)
    assert vb.simulate(PRESET, np.full(4, 1500.0), check=False, **away).identical(run)


@pytest.mark.parametrize("by_length", [False, True])
def test_divergence_tells_how_long_a_step_may_be(by_length: bool) -> None:
    """With the step it names the run comes to its end, and with one a little longer it does not."""
    robot = vb.load(PRESET)
    pulls = np.full(4, 1500.0)
    if by_length:
        rest = vb.Pose(robot, np.zeros(6)).cable_lengths
        drive = {"lengths": rest / (1.0 + pulls / 2e5), "stiffness_EA": 2e5}
    else:
        drive = {"tensions": pulls}
    drive |= {"duration": 2.0, "q0": 1e-6 * BENT, "friction": 0, "gravity": (0.0, 0.0, 0.0)}
    with pytest.raises(vb.Diverged) as caught:
        vb.simulate(PRESET, dt=8e-3, **drive)
    named = re.search(r"rk4 needs steps of (\S+) ms or less", str(caught.value))
    assert named is not None
    for part, how in ((0.95, "duration"), (1.1, "diverged")):
        assert vb.simulate(PRESET, dt=1e-3 * part * float(named[1]), check=False, **drive).attrs["ended"] == how


def test_divergence_is_not_taken_for_a_limit() -> None:
    """Damping too strong for explicit steps throws a joint through its range in one step."""
    about = {"duration": 1.0, "dt": 2e-3, "damping": 0.3, "friction": 0}
    with pytest.raises(vb.Diverged, match="shorter dt"):
        vb.simulate(PRESET, PULL, **about)
    assert vb.simulate(PRESET, PULL, integrator="implicit", **about).attrs["ended"] == "duration"


def test_faces_that_meet_at_a_cable_end_the_run() -> None:
    """A pin bends until its faces touch at the hole: tan(q/2) = s/e, here before its limit."""
    link = {"length": 0.05, "mass": 0.02, "inertia": [1e-5, 1e-5, 1e-6]}
    section = {"joints": 1, "joint": {"kind": "pin", "length": 4e-3}, "azimuth": [0.0], "link": link}
    section["cables"] = {"radius": 5e-3, "azimuth": [0.0]}
    size = {"base": {"length": 0.01}, "tip": {"length": 0.0}}
    robot = vb.load({"vertebra": 1, "name": "jaw", "gravity": "ground", **size, "sections": [section]})
    run = vb.simulate(robot, [1.0], duration=1.0, dt=1e-4, check=False)
    meet = 2 * np.arctan2(2e-3, 5e-3)
    assert meet < robot.joints["limit"][0]
    assert run.attrs["ended"] == "limit"
    q, qd = run.q.values[-1, 0], run.qd.values[-1, 0]
    assert q <= meet
    assert abs(q + (run.attrs["ended_time"] - float(run.time[-1])) * qd - meet) < 1e-3


def test_implicit_steps_survive_what_runge_kutta_does_not() -> None:
    about = {"duration": 5.0, "dt": 2e-2, "q0": 0.2 * BENT, "damping": 0.3, "friction": 0}
    run = vb.simulate(PRESET, np.full(4, 1500.0), integrator="implicit", **about)
    assert np.abs(run.qd.values[-1]).max() < 1e-3


BAD = [
    ("dt", 1e-12),
    ("q0", np.full(6, np.nan)),
    ("q0", np.zeros(5)),
    ("qd0", np.full(6, np.inf)),
    ("qd0", np.zeros((2, 6))),
    ("tensions", np.full((50, 4), 10.0)),
    ("tensions", np.full((101, 3), 10.0)),
    ("tensions", lambda t: PULL[:3]),
    ("tensions", lambda t: -PULL),
    ("tensions", lambda t: PULL * np.nan),
    ("tensions", lambda t: "all"),
    ("tensions", lambda t, q, qd: -PULL),
    ("tensions", lambda t, q, qd: PULL[:2]),
    ("tensions", lambda t, q, qd: PULL * np.inf),
    ("tensions", lambda t, q: PULL),
]
"""Beyond those of tests/test_bad_arguments.py."""


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_arguments_are_named(name: str, value: Any) -> None:
    with pytest.raises(vb.InputError) as caught:
        vb.simulate(PRESET, **{"tensions": PULL, "duration": 0.1} | {name: value})
    assert caught.value.argument == name


LENGTHS = vb.Pose(PRESET, np.zeros(6)).cable_lengths


@pytest.mark.parametrize(
    "lengths", [LENGTHS[:3], -LENGTHS, 0 * LENGTHS, np.nan * LENGTHS, lambda t: -LENGTHS, lambda t, q, qd: 0 * LENGTHS]
)
def test_bad_lengths_are_named(lengths: Any) -> None:
    with pytest.raises(vb.InputError) as caught:
        vb.simulate(PRESET, lengths=lengths, duration=0.1, stiffness_EA=1e4)
    assert caught.value.argument == "lengths"


def test_tensions_or_lengths_but_not_both() -> None:
    with pytest.raises(vb.InputError, match="either"):
        vb.simulate(PRESET, PULL, lengths=LENGTHS, duration=0.1, stiffness_EA=1e4)
    with pytest.raises(vb.InputError, match="either"):
        vb.simulate(PRESET, duration=0.1)


def test_start_outside_the_limits_names_the_joint() -> None:
    q0 = np.zeros(6)
    q0[2] = -1.7
    with pytest.raises(vb.OutOfRange) as caught:
        vb.simulate(PRESET, PULL, duration=0.1, q0=q0)
    assert caught.value.joint == 3
    with pytest.raises(vb.OutOfRange) as caught:
        vb.simulate(PRESET, PULL, duration=0.1, q0=2 * q0, limits=Bumper(stiffness=1.0))
    assert caught.value.joint == 3


def test_more_rows_than_memory_are_refused() -> None:
    with pytest.raises(vb.InputError) as caught:
        vb.simulate(PRESET, PULL, duration=1.0, dt=2e-8)
    assert caught.value.argument == "every"


@pytest.mark.parametrize("name", ["cai2023", "lapusan2022", "yang2023-a"])
def test_robots_that_cannot_be_moved_are_refused(name: str) -> None:
    robot = vb.load(name)
    with pytest.raises(vb.InputError, match="robot: "):
        vb.simulate(robot, np.ones(len(robot.cables)), duration=0.1)


BAD_BUMPERS = [("stiffness", value) for value in (0.0, -1.0, np.nan)] + [
    ("damping", value) for value in (-1.0, np.inf, [1.0, 2.0])
]


@pytest.mark.parametrize(("name", "value"), BAD_BUMPERS)
def test_bad_bumpers_are_named(name: str, value: Any) -> None:
    with pytest.raises(vb.InputError) as caught:
        Bumper(**{"stiffness": 1.0} | {name: value})
    assert caught.value.argument == name


def test_errors_of_a_controller_pass_through() -> None:
    def broken(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("of the controller")

    with pytest.raises(ZeroDivisionError):
        swing(broken)
