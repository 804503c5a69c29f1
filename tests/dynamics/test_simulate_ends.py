"""How a run ends early: at a limit, by running away; what a bumper does; which arguments are refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from tests.dynamics.runs import BENT, PRESET, PULL, imbalance, swing

import vertebra as vb
from vertebra.dynamics import Bumper

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


def test_time_of_the_limit_does_not_hang_on_the_step() -> None:
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


def test_a_run_that_runs_away_keeps_its_trajectory() -> None:
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


def test_a_run_away_is_not_taken_for_a_limit() -> None:
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
    ("dt", 0.0),
    ("dt", -1e-3),
    ("dt", np.nan),
    ("dt", np.inf),
    ("dt", "fast"),
    ("dt", 1e-12),
    ("duration", 0.0),
    ("duration", -1.0),
    ("duration", np.nan),
    ("duration", np.inf),
    ("duration", [1.0, 2.0]),
    ("q0", np.full(6, np.nan)),
    ("q0", np.zeros(5)),
    ("q0", "bent"),
    ("qd0", np.full(6, np.inf)),
    ("qd0", np.zeros((2, 6))),
    ("damping", -1.0),
    ("damping", np.nan),
    ("damping", np.zeros(4)),
    ("gravity", "moon"),
    ("loads", [1.0]),
    ("friction", -0.1),
    ("friction", "rough"),
    ("integrator", "euler"),
    ("integrator", 4),
    ("limits", "stop"),
    ("limits", 3.0),
    ("every", 0),
    ("every", 1.5),
    ("every", -2),
    ("stiffness_EA", -3.0),
    ("stiffness_EA", np.zeros(3)),
    ("tensions", [10.0, 10.0, -1.0, 10.0]),
    ("tensions", np.full(3, 10.0)),
    ("tensions", np.full((50, 4), 10.0)),
    ("tensions", np.full((101, 3), 10.0)),
    ("tensions", [10.0, np.nan, 10.0, 10.0]),
    ("tensions", lambda t: PULL[:3]),
    ("tensions", lambda t: -PULL),
    ("tensions", lambda t: PULL * np.nan),
    ("tensions", lambda t: "all"),
    ("tensions", lambda t, q, qd: -PULL),
    ("tensions", lambda t, q, qd: PULL[:2]),
    ("tensions", lambda t, q, qd: PULL * np.inf),
    ("tensions", lambda t, q: PULL),
    ("tensions", "all"),
]


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


def test_faults_of_a_caller_pass_through() -> None:
    def broken(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("of the controller")

    with pytest.raises(ZeroDivisionError):
        swing(broken)
