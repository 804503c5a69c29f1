"""The nearest feasible trajectory: feasible ones stay, others become feasible, and none nearer is found by SLSQP."""

from __future__ import annotations

import os

import numpy as np
import pytest

import vertebra as vb
from vertebra.dynamics.nearest_motion import SMOOTH, TIE, NearestTrajectory, nearest_trajectory
from vertebra.dynamics.problem import Moving
from vertebra.errors import InputError

STRIDE = 1 if os.environ.get("VERTEBRA_SOAK") == "1" else 16
"""Of the 5 ms of the paper's trajectories."""
LOW, HIGH = np.full(4, 5.0), np.full(4, 100.0)


def nearest(robot, q, dt, low, high, gravity=None, loads=()) -> NearestTrajectory:
    q = np.asarray(q)
    still = np.zeros_like(q)
    return nearest_trajectory(Moving.of(robot, gravity, loads), q, still, still, low, high, dt)


def planar(joints: int, joint: dict | None = None) -> vb.Robot:
    """A chain in a plane with two cables: more joints than inputs."""
    link = {"length": 0.03, "mass": 0.05, "inertia": [1e-5, 1e-5, 1e-5]}
    joint = joint or {"kind": "rolling", "radius": 0.02}
    section = {"joints": joints, "joint": joint, "azimuth": [0.0], "link": link}
    section["cables"] = {"azimuth": [0.0, np.pi], "radius": 0.01}
    return vb.load({"vertebra": 1, "name": "planar", "sections": [section]})


def left(robot: vb.Robot, q, qd, qdd, tensions, gravity=None, loads=()) -> np.ndarray:
    """(N, n) torques out of balance, by the public functions only."""
    tau = vb.inverse_dynamics(robot, q, qd, qdd, gravity, loads) + robot.joints["stiffness"] * q
    pulls = [vb.Pose(robot, row).cable_segments.first.T @ pull for row, pull in zip(q, tensions, strict=True)]
    return tau + np.array(pulls)


def check_feasible(robot: vb.Robot, found: NearestTrajectory, dt, low, high, gravity=None, loads=()) -> None:
    """Differences, equations and bounds, all computed anew."""
    q = found.q
    assert found.converged
    assert found.qd[1:-1] == pytest.approx((q[2:] - q[:-2]) / (2 * dt), abs=1e-12)
    assert found.qdd[1:-1] == pytest.approx((q[2:] - 2 * q[1:-1] + q[:-2]) / dt**2, abs=1e-9)
    out = left(robot, *found[:4], gravity, loads)
    assert np.abs(out).max() < 1e-9 * (1.0 + high.max() * 0.04)
    assert found.residual == pytest.approx(out, abs=1e-12)
    assert (found.tensions >= low).all()
    assert (found.tensions <= high).all()


@pytest.mark.parametrize("joints", [[0, 2, 4], [1, 3, 5], range(6)], ids=["pan", "tilt", "all"])
def test_trajectories_of_the_paper_become_feasible(joints):
    robot = vb.load("dantuono2023")
    dt = 0.005 * STRIDE
    time = np.arange(0, 2513, STRIDE) * 0.005
    q = np.zeros((len(time), 6))
    q[:, list(joints)] = (np.pi / 18 * np.sin(time / 2))[:, None]
    found = nearest(robot, q, dt, LOW, HIGH)
    check_feasible(robot, found, dt, LOW, HIGH)
    # It has to sag: the same tensions at every joint do not hold a straight cantilever.
    assert 0.1 < np.abs(found.q - q).max() < 0.25
    # Smooth: no tension crosses more than a few per cent of its range in 5 ms.
    assert np.abs(np.diff(found.tensions, axis=0)).max() / STRIDE < 2.0


def test_trajectory_that_cables_gave_comes_back():
    """Simulated under tensions that change slowly; what is left is the error of central differences."""
    robot = vb.load("dantuono2023")
    base, swing = np.array([60.0, 50.0, 60.0, 90.0]), np.array([20.0, 0.0, -20.0, 5.0])
    start = vb.shape_from_tensions(robot, base).angles

    def pull(t):
        return base + swing * (1.0 - np.cos(t)) / 2

    run = vb.simulate(robot, pull, duration=1.5, dt=1e-3, q0=start)
    errors = []
    for step in (20, 10):
        q = run["q"].values[::step]
        found = nearest(robot, q, 1e-3 * step, LOW, HIGH)
        check_feasible(robot, found, 1e-3 * step, LOW, HIGH)
        errors.append(np.abs(found.q - q).max())
        # Where nothing else decides, the least tensions: they need not be those of the simulation.
        assert (found.tensions**2).sum() <= 1.01 * (run["tensions"].values[::step] ** 2).sum()
    assert max(errors) < 1e-5
    assert errors[1] < 0.3 * errors[0]  # of second order
    assert np.abs(run["q"].values - start).max() > 0.1


def test_shared_allocation_of_the_result_has_nothing_left():
    robot = vb.load("dantuono2023")
    time = np.linspace(0.0, 2.0, 101)
    q = 0.15 * np.sin(time)[:, None] * np.array([1.0, -0.5, 0.3, 0.8, -1.0, 0.2])
    wanted = vb.allocate_tensions(robot, q, np.gradient(q, 0.02, axis=0), np.zeros_like(q))
    found = nearest(robot, q, 0.02, LOW, HIGH)
    again = vb.allocate_tensions(robot, found.q, found.qd, found.qdd)
    assert not np.all(wanted.feasible)
    assert np.abs(wanted.residual).max() > 0.1
    assert np.all(again.feasible)
    assert np.abs(again.residual).max() < 1e-7


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["rolling", "flexure"])
def test_no_nearer_one_is_found_by_another_optimiser(kind, seed):
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    robot = planar(3, {"kind": kind, "length": 0.01, "stiffness": 0.1} if kind == "flexure" else None)
    count, dt, n, c = 6, 0.05, 3, 2
    low, high = np.full(c, 1.0), np.full(c, 20.0)
    wanted = rng.uniform(-0.3, 0.3, n) + 0.05 * np.cumsum(rng.normal(size=(count, n)), axis=0)
    gravity = np.array([-9.8, 0.0, 0.0])

    def parts(x):
        return x[: count * n].reshape(count, n), x[count * n :].reshape(count - 2, c)

    def objective(x):
        q, tensions = parts(x)
        bend = np.diff(q - wanted, 2, axis=0) * (SMOOTH / dt) ** 2
        return ((q - wanted) ** 2).sum() + (bend**2).sum() + TIE * ((tensions / 20.0) ** 2).sum()

    def equations(x):
        q, tensions = parts(x)
        rates, rises = (q[2:] - q[:-2]) / (2 * dt), np.diff(q, 2, axis=0) / dt**2
        return left(robot, q[1:-1], rates, rises, tensions, gravity).reshape(-1)

    found = nearest(robot, wanted, dt, low, high, gravity)
    check_feasible(robot, found, dt, low, high, gravity)
    ours = np.concatenate([found.q.reshape(-1), found.tensions[1:-1].reshape(-1)])
    assert np.abs(equations(ours)).max() < 1e-9
    start = np.concatenate([wanted.reshape(-1), np.full((count - 2) * c, 10.0)])
    bounds = [(-0.9, 0.9)] * wanted.size + [(1.0, 20.0)] * ((count - 2) * c)
    rules = {"type": "eq", "fun": lambda x: 10.0 * equations(x)}
    theirs = minimize(
        objective, start, method="SLSQP", bounds=bounds, constraints=[rules], options={"maxiter": 500, "ftol": 1e-13}
    )
    assert np.abs(equations(theirs.x)).max() < 1e-7
    assert objective(ours) > 1e-4  # the wanted one was not feasible
    assert objective(ours) <= objective(theirs.x) * (1 + 1e-5)
    assert np.abs(ours - theirs.x)[: wanted.size].max() < 2e-3


def test_fixed_tensions_leave_the_free_motion():
    robot = planar(4)
    q = 0.02 * np.sin(np.linspace(0.0, 3.0, 40))[:, None] * np.ones(4)
    both = np.full(2, 8.0)
    found = nearest(robot, q, 0.02, both, both, "ceiling")
    check_feasible(robot, found, 0.02, both, both, "ceiling")
    assert (found.tensions == 8.0).all()


def test_robot_without_cables_swings():
    mapping = planar(3).to_mapping()
    del mapping["sections"][0]["cables"]
    robot, none = vb.load(mapping), np.zeros(0)
    found = nearest(robot, np.tile([0.1, 0.0, 0.0], (30, 1)), 0.02, none, none, "ceiling")
    assert found.converged
    assert found.tensions.shape == (30, 0)
    assert np.abs(found.residual).max() < 1e-9


def test_loads_count():
    robot, load = planar(3), (vb.Load(force=(0.3, 0.0, 0.0), moment=(0.0, 0.01, 0.0)),)
    low, high = np.full(2, 1.0), np.full(2, 30.0)
    q = np.zeros((12, 3))
    found = nearest(robot, q, 0.05, low, high, "ceiling", load)
    check_feasible(robot, found, 0.05, low, high, "ceiling", load)
    assert np.abs(found.q).max() > 1e-3


def test_pose_at_rest_becomes_an_equilibrium():
    """A pose held for long: in the middle of the time nothing moves, and no other equilibrium within the bounds is
    nearer, found by trying many."""
    robot = planar(3)
    low, high, gravity = np.full(2, 1.0), np.full(2, 20.0), np.array([-9.8, 0.0, 0.0])
    wanted = np.array([0.2, 0.1, -0.1])
    found = nearest(robot, np.tile(wanted, (200, 1)), 0.05, low, high, gravity)
    middle, pull = found.q[100], found.tensions[100]
    assert np.abs(found.qd[100]).max() < 1e-6
    shape = vb.shape_from_tensions(robot, pull, gravity=gravity, start=middle)
    assert shape.angles == pytest.approx(middle, abs=1e-6)
    rows = np.linspace(1.0, 20.0, 40)
    grid = np.array([(a, b) for a in rows for b in rows])
    shapes = vb.shapes_from_tensions(robot, grid, gravity=gravity, start=np.tile(middle, (len(grid), 1)))
    tried = np.linalg.norm(shapes.angles[shapes.solved] - wanted, axis=1)
    assert len(tried) > 100
    assert np.linalg.norm(middle - wanted) <= tried.min() + 1e-6


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"q": np.zeros((4, 3)), "qd": np.zeros((4, 3)), "qdd": np.zeros((4, 3))}, "q"),
        ({"q": np.zeros(3), "qd": np.zeros(3), "qdd": np.zeros(3)}, "q"),
        ({"qd": np.zeros((8, 2))}, "qd"),
        ({"qdd": np.zeros((7, 3))}, "qdd"),
        ({"dt": None}, "dt"),
        ({"dt": 0.0}, "dt"),
        ({"dt": -0.1}, "dt"),
        ({"dt": np.nan}, "dt"),
        ({"high": np.array([20.0, np.inf])}, "upper"),
    ],
)
def test_bad_input(change, argument):
    rows = np.zeros((8, 3))
    bounds = {"low": np.full(2, 1.0), "high": np.full(2, 20.0)}
    given = {"q": rows, "qd": rows, "qdd": rows, "dt": 0.01, **bounds, **change}
    with pytest.raises(InputError) as caught:
        nearest_trajectory(Moving.of(planar(3), None, ()), **given)
    assert caught.value.argument == argument
