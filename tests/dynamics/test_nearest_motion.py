"""The nearest feasible trajectory: feasible ones stay, others become feasible, and none nearer is found by SLSQP."""

from __future__ import annotations

import os

import numpy as np
import pytest

import vertebra as vb
from vertebra.dynamics.nearest_motion import (
    ALLOWED,
    CALM,
    NEGLIGIBLE,
    SMOOTH,
    TIE,
    Goal,
    MotionEquations,
    NearestTrajectory,
    nearest_trajectory,
    search,
)
from vertebra.dynamics.problem import Moving
from vertebra.errors import InputError
from vertebra.statics import stable_tensions

STRIDE = 1 if os.environ.get("VERTEBRA_SOAK") == "1" else 16
"""Of the 5 ms of the paper's trajectories."""
LOW, HIGH = np.full(4, 5.0), np.full(4, 100.0)


def nearest(robot, q, dt, low, high, gravity=None, loads=()) -> NearestTrajectory:
    return nearest_trajectory(Moving.of(robot, gravity, loads), q, low, high, dt)


def nearest_of_all(robot, q, dt, low, high, gravity=None) -> tuple[np.ndarray, np.ndarray]:
    """Angles, also one sample beyond each end, and tensions, whatever the tensions."""
    goal = Goal.of(MotionEquations(Moving.of(robot, gravity, ()), dt, robot.dampers), np.asarray(q), low, high)
    angles, tensions, converged = goal.nearest()
    assert converged
    return angles, tensions


def distance(q, qdd, wanted, dt) -> float:
    """From the wanted motion, as the module defines it, rad. Its accelerations at the ends go on as they came."""
    rises = np.diff(wanted, 2, axis=0) / dt**2
    rises = np.concatenate([2 * rises[:1] - rises[1:2], rises, 2 * rises[-1:] - rises[-2:-1]])
    bend = SMOOTH**2 * (qdd - rises)
    return float(np.sqrt(((q - wanted) ** 2).sum() + (bend**2).sum()))


def distance_of(angles, wanted, dt) -> float:
    """The same of angles with a sample beyond each end."""
    return distance(angles[1:-1], np.diff(angles, 2, axis=0) / dt**2, wanted, dt)


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


def check_ends(found: NearestTrajectory) -> None:
    """Nothing starts or stops with a jerk."""
    rises = np.abs(found.qdd).max(axis=1)
    assert rises[[0, -1]].max() < 4.0 * rises[1:-1].max()


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
    check_ends(found)


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
        q, dt = run["q"].values[::step], 1e-3 * step
        strict, _ = nearest_of_all(robot, q, dt, LOW, HIGH)
        found = nearest(robot, q, dt, LOW, HIGH)
        check_feasible(robot, found, dt, LOW, HIGH)
        errors.append([np.abs(angles - q).max() for angles in (strict[1:-1], found.q)])
        most = (1 + ALLOWED) * distance_of(strict, q, dt) + NEGLIGIBLE * np.sqrt(strict.size)
        assert distance(found.q, found.qdd, q, dt) <= most * (1 + 1e-5)
        # Where nothing else decides, the least tensions: they need not be those of the simulation.
        assert (found.tensions**2).sum() <= 1.01 * (run["tensions"].values[::step] ** 2).sum()
    assert errors[0][0] < 1e-5
    assert max(errors[1]) < 1e-5
    assert errors[1][0] < 0.3 * errors[0][0]  # of second order
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
    count, dt, n, c = 5, 0.05, 3, 2
    low, high = np.full(c, 1.0), np.full(c, 20.0)
    wanted = rng.uniform(-0.3, 0.3, n) + 0.05 * np.cumsum(rng.normal(size=(count, n)), axis=0)
    gravity = np.array([-9.8, 0.0, 0.0])

    def parts(x):
        return x[: (count + 2) * n].reshape(count + 2, n), x[(count + 2) * n :].reshape(count, c)

    def objective(x):
        q, tensions = parts(x)
        return distance_of(q, wanted, dt) ** 2 + TIE * ((tensions / 20.0) ** 2).sum()

    def equations(x):
        q, tensions = parts(x)
        rates, rises = (q[2:] - q[:-2]) / (2 * dt), np.diff(q, 2, axis=0) / dt**2
        return left(robot, q[1:-1], rates, rises, tensions, gravity).reshape(-1)

    ours = np.concatenate([part.reshape(-1) for part in nearest_of_all(robot, wanted, dt, low, high, gravity)])
    assert np.abs(equations(ours)).max() < 1e-9
    beyond = 2 * wanted[:1] - wanted[1:2], 2 * wanted[-1:] - wanted[-2:-1]
    angles = np.concatenate([beyond[0], wanted, beyond[1]])
    start = np.concatenate([angles.reshape(-1), np.full(count * c, 10.0)])
    free = [(None, None)] * n
    bounds = [*free, *[(-0.9, 0.9)] * wanted.size, *free, *[(1.0, 20.0)] * (count * c)]
    rules = {"type": "eq", "fun": lambda x: 10.0 * equations(x)}
    theirs = minimize(
        objective, start, method="SLSQP", bounds=bounds, constraints=[rules], options={"maxiter": 500, "ftol": 1e-13}
    )
    assert np.abs(equations(theirs.x)).max() < 1e-7
    assert objective(ours) > 1e-4  # the wanted one was not feasible
    assert objective(ours) <= objective(theirs.x) * (1 + 1e-5)
    assert np.abs(ours - theirs.x)[: angles.size].max() < 2e-3

    # The answer: not much farther away, and no other motion as near has smaller and smoother tensions.
    found = nearest(robot, wanted, dt, low, high, gravity)
    check_feasible(robot, found, dt, low, high, gravity)
    most = (1 + ALLOWED) * distance_of(parts(ours)[0], wanted, dt)
    assert distance(found.q, found.qdd, wanted, dt) <= most * (1 + 1e-5)

    if seed and STRIDE > 1:
        return  # the rest takes seconds

    def effort(x):
        pulls = parts(x)[1] / 20.0
        return (pulls**2).sum() + ((np.diff(pulls, axis=0) * CALM / dt) ** 2).sum()

    near = {"type": "ineq", "fun": lambda x: 1.0 - (distance_of(parts(x)[0], wanted, dt) / most) ** 2}
    least = minimize(
        effort, ours, method="SLSQP", bounds=bounds, constraints=[rules, near], options={"maxiter": 500, "ftol": 1e-13}
    )
    assert np.abs(equations(least.x)).max() < 1e-7
    reached = effort(np.concatenate([angles.reshape(-1), found.tensions.reshape(-1)]))
    assert reached <= effort(least.x) * (1 + 1e-3)
    assert reached < 0.999 * effort(ours)


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
    nearer than the nearest of all, found by trying many."""
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
    rows = np.tile(wanted, (200, 1))
    strict, _ = nearest_of_all(robot, rows, 0.05, low, high, gravity)
    assert np.linalg.norm(strict[101] - wanted) <= tried.min() + 1e-6
    assert distance(found.q, found.qdd, rows, 0.05) <= (1 + ALLOWED) * distance_of(strict, rows, 0.05) * (1 + 1e-5)


def test_a_standing_robot_gets_the_nearest_pose_in_which_it_is_stable():
    """It could be balanced much nearer, and would fall. Of many tensions tried, those that leave it less stiffness than
    the margin bring it 2 % nearer at most."""
    robot, wanted, (low, high) = planar(3), np.array([0.05, 0.0, 0.0]), np.array([[1.0, 1.0], [50.0, 50.0]])
    rows = np.tile(wanted, (200, 1))
    found = nearest(robot, rows, 0.05, low, high)
    middle, pull = found.q[100], found.tensions[100]
    shape = vb.shape_from_tensions(robot, pull, start=middle)
    assert shape.angles == pytest.approx(middle, abs=1e-6)
    pulls = np.linspace(1.0, 12.0, 111)
    shapes = vb.shapes_from_tensions(robot, np.array([(a, b) for a in pulls for b in pulls]), start=middle)
    tried = np.linalg.norm(shapes.angles[shapes.solved] - wanted, axis=1)
    assert len(tried) > 100
    assert np.linalg.norm(middle - wanted) <= (1 + ALLOWED) * 1.02 * tried.min()
    balanced = Goal.of(MotionEquations(Moving.of(robot, None, ()), 0.05, robot.dampers), rows, low, high)
    nearer, _, converged = search(balanced, balanced.within(balanced.q), np.tile(low, (200, 1)))
    assert converged
    assert np.linalg.norm(nearer[101] - wanted) < 0.9 * np.linalg.norm(middle - wanted)


def bends_both_ways(kind):
    """A robot, and its nearest motion to one in which links bend to opposite sides; and that one."""
    robot, dt = springy(kind), 0.04
    q = 0.1 * np.sin(3.0 * dt * np.arange(25))[:, None] * np.linspace(1.0, -0.5, robot.freedoms)
    return robot, vb.allocate_tensions(robot, q, method="project", lower=0.0, upper=60.0, dt=dt), q


def test_a_motion_that_only_an_unstable_robot_follows_is_given_as_asked_and_flagged():
    _, found, q = bends_both_ways("flexure")
    assert np.linalg.norm(found.q - q) < 0.02 * np.linalg.norm(q)
    assert np.all(found.feasible)
    assert not found.stable[1:].any()  # it starts straight


@pytest.mark.parametrize("kind", ["universal", "backbone"])
def test_a_motion_that_cables_cannot_give_is_replaced_by_a_stable_one(kind):
    """Nearer motions take a robot that has buckled, at tensions up to the bounds."""
    robot, found, _ = bends_both_ways(kind)
    assert found.converged
    assert np.all(found.feasible)
    assert found.stable.all()
    assert found.tensions.max() < 30.0
    for i in (0, 12, 24):
        # It moves slowly: at rest it is not far from where it was.
        shape = vb.shape_from_tensions(robot, found.tensions[i], start=found.q[i])
        assert shape.angles == pytest.approx(found.q[i], abs=0.05)


def test_a_robot_that_nothing_straightens_but_its_cables():
    """Without weight, springs and least tensions it has no stiffness to keep a part of."""
    robot, (q, _, _) = planar(3), one_joint_sways(3)
    found = vb.allocate_tensions(robot, q, method="project", gravity=(0, 0, 0), lower=0.0, upper=50.0, dt=0.02)
    assert found.converged
    assert np.all(found.feasible)
    assert np.isfinite(found.tensions).all()


@pytest.mark.parametrize("kind", ["universal", "flexure", "backbone"])
def test_derivatives_of_weak_stiffnesses_are_those_of_differences(kind):
    robot, rng = springy(kind), np.random.default_rng(5)
    equations = MotionEquations(Moving.of(robot, "wall", ()), 0.02, robot.dampers)
    q, pulls = rng.uniform(-0.3, 0.3, (4, robot.freedoms)), rng.uniform(1.0, 10.0, (4, 4))
    values, in_angles, in_tensions = equations.weak_motions(q, pulls, 3)
    turn, pull, step = rng.normal(size=q.shape), rng.normal(size=pulls.shape), 1e-5
    ends = [equations.weak_motions(q + way * turn, pulls + way * pull, 3)[0] for way in (step, -step)]
    expected = (ends[0] - ends[1]) / (2 * step)
    slopes = np.einsum("ijk,ik->ij", in_angles, turn) + np.einsum("ijk,ik->ij", in_tensions, pull)
    assert slopes == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(expected).max())
    assert values[:, 0] == pytest.approx(equations.weakest(q, pulls), rel=1e-12)


def one_joint_sways(n):
    """(q, qd, qdd) of a motion that needs a few mN*m of a light robot, and cannot be had with two cables."""
    time = np.linspace(0.0, 1.0, 51)
    shape, w = np.r_[1.0, np.zeros(n - 1)], 2 * np.pi
    sways = 1.0 - np.cos(w * time), w * np.sin(w * time), w * w * np.cos(w * time)
    return tuple(0.025 * part[:, None] * shape for part in sways)


@pytest.mark.parametrize(("joints", "jump"), [(3, 10.0), (4, 15.0)])
def test_tensions_do_not_run_to_their_bounds_for_the_last_thousandth(joints, jump):
    """The nearest motion of all takes cables to many times this tension within two or three samples."""
    robot, (q, qd, qdd) = planar(joints), one_joint_sways(joints)
    low, high = np.full(2, 1.0), np.full(2, 50.0)
    assert np.abs(vb.inverse_dynamics(robot, q, qd, qdd)).max() < 0.01
    strict, wild = nearest_of_all(robot, q, 0.02, low, high)
    assert np.abs(np.diff(wild, axis=0)).max() > jump
    found = vb.allocate_tensions(robot, q, qd, qdd, method="project", lower=1.0, upper=50.0, dt=0.02)
    assert found.converged
    assert np.all(found.feasible)
    assert distance(found.q, found.qdd, q, 0.02) <= (1 + ALLOWED) * distance_of(strict, q, 0.02) * (1 + 1e-5)
    calm = found.tensions
    assert calm.min() >= 1.0
    assert found.stable.all()
    assert calm.max() < 0.5 * wild.max()
    assert np.abs(np.diff(calm, axis=0)).max() < 0.1
    assert np.abs(np.diff(calm, axis=0)).sum() < 0.1 * np.abs(np.diff(wild, axis=0)).sum()


def test_a_motion_that_shared_tensions_give_stays_as_it_is():
    robot = vb.load("dantuono2023")
    time = np.linspace(0.0, 1.0, 41)
    start = vb.shape_from_tensions(robot, [60.0, 50.0, 60.0, 90.0]).angles
    q = np.tile(start, (41, 1))
    still = np.zeros_like(q)
    plain = vb.allocate_tensions(robot, q, still, still)
    assert np.all(plain.feasible)
    found = vb.allocate_tensions(robot, q, still, still, method="project", dt=float(time[1]))
    assert (found.q == q).all()
    assert (found.qdd == 0.0).all()
    assert (found.tensions == plain.tensions).all()


def test_no_joint_goes_beyond_its_limit():
    low, high = np.full(2, 1.0), np.full(2, 20.0)
    q = 0.3 * np.sin(2 * np.pi * np.arange(60) * 0.02)[:, None] * np.array([1.0, 0.0, 0.0])
    assert np.abs(nearest(planar(3), q, 0.02, low, high).q).max() > 0.2
    robot = planar(3, {"kind": "rolling", "radius": 0.02, "limit": 0.15})
    found = nearest(robot, q, 0.02, low, high)
    check_feasible(robot, found, 0.02, low, high)
    assert 0.149 < np.abs(found.q).max() <= 0.15 + 1e-9


# Joints with several freedoms.


def backbone(joints=2, **joint):
    link = {"length": 0.02, "mass": 0.01, "inertia": [1e-6, 1e-6, 1e-6]}
    joint = {"kind": "backbone", "length": 0.004, "stiffness": 0.05, **joint}
    cables = {"azimuth": [0.0, np.pi / 2, np.pi, -np.pi / 2], "radius": 0.01}
    sections = [{"joints": joints, "joint": joint, "link": link, "cables": cables}]
    return vb.load({"vertebra": 1, "name": "backbone", "sections": sections})


def universal(joints=2):
    link = {"length": 0.03, "mass": 0.02, "inertia": [2e-6, 2e-6, 1e-6]}
    joint = {"kind": "universal", "order": "xy", "lower": 0.01, "stiffness": 0.02}
    cables = {"azimuth": [0.3, 0.3 + 2 * np.pi / 3, 0.3 - 2 * np.pi / 3], "radius": 0.01}
    rolling = {"joints": 1, "joint": {"kind": "rolling", "radius": 0.02}, "azimuth": [0.5], "link": link}
    sections = [{"joints": joints, "joint": joint, "link": link}, {**rolling, "cables": cables}]
    return vb.load({"vertebra": 1, "name": "universal", "sections": sections})


def test_derivatives_of_the_equations_are_those_of_differences():
    """In all angles and tensions, with pairs of freedoms of one joint."""
    for robot in (universal(), backbone(torsion=0.03)):
        rng = np.random.default_rng(1)
        equations = MotionEquations(Moving.of(robot, None, ()), 0.05, rng.uniform(0.0, 0.1, robot.freedoms))
        q, pulls = rng.uniform(-0.2, 0.2, (5, robot.freedoms)), rng.uniform(5.0, 20.0, (3, len(robot.cables)))
        slopes, by_pull, _ = equations.derivatives(q, pulls)

        def torques(q, pulls, equations=equations):
            return equations.unbalanced(equations.motion(q), pulls).reshape(-1)

        for step, matrix, change in ((1e-5, slopes, "q"), (1.0, by_pull, "pulls")):
            for column in rng.choice(matrix.shape[1], 8, replace=False):
                move = np.zeros(matrix.shape[1])
                move[column] = step
                if change == "q":
                    ends = [torques(q + sign * move.reshape(q.shape), pulls) for sign in (1.0, -1.0)]
                else:
                    ends = [torques(q, pulls + sign * move.reshape(pulls.shape)) for sign in (1.0, -1.0)]
                expected = (ends[0] - ends[1]) / (2 * step)
                assert matrix[:, [column]].toarray()[:, 0] == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


def test_universal_and_mixed_motions_become_feasible():
    robot = universal()
    low, high, dt = np.full(3, 1.0), np.full(3, 40.0), 0.02
    time = np.arange(50) * dt
    q = 0.1 * np.sin(4 * time)[:, None] * np.array([1.0, -0.4, 0.2, 0.6, -0.3])
    found = nearest(robot, q, dt, low, high)
    tau = vb.inverse_dynamics(robot, found.q, found.qd, found.qdd) + robot.springs * found.q
    pulls = [-vb.Pose(robot, row).cable_segments.first.T @ pull for row, pull in zip(*found[:4:3], strict=True)]
    assert found.converged
    assert tau == pytest.approx(np.array(pulls), abs=1e-9)
    assert (found.tensions >= low).all()
    assert (found.tensions <= high).all()
    assert np.abs(found.q - q).max() > 1e-3
    # The nearest motion of all takes them to 40 N, by 11 N from one sample to the next.
    assert found.tensions.max() < 10.0
    assert np.abs(np.diff(found.tensions, axis=0)).max() < 1.0
    check_ends(found)


def springy(kind: str, joints: int = 3) -> vb.Robot:
    """Cables push its joints over from about 20 N on."""
    joint = {
        "universal": {"kind": "universal", "lower": 0.006, "stiffness": 0.3, "damping": 0.002},
        "flexure": {"kind": "flexure", "length": 0.01, "stiffness": 0.1},
        "backbone": {"kind": "backbone", "length": 0.01, "stiffness": 0.1},
    }[kind]
    link = {"length": 0.02, "mass": 0.01, "inertia": [1e-6, 1e-6, 1e-6]}
    section = {"joints": joints, "joint": {**joint, "limit": 0.6}, "link": link}
    section["cables"] = {"azimuth": [0.0, np.pi / 2, np.pi, -np.pi / 2], "radius": 0.008}
    if kind == "flexure":
        section["azimuth"] = [0.0, np.pi / 2]
    return vb.load({"vertebra": 1, "name": kind, "sections": [section]})


def effort(tensions, dt) -> float:
    """Least and smoothest, as the module defines it, N^2."""
    return float((tensions**2).sum() + (CALM**2 * (np.diff(tensions, axis=0) / dt) ** 2).sum())


@pytest.mark.parametrize("gravity", ["ground", "wall"])
@pytest.mark.parametrize("kind", ["universal", "flexure", "backbone"])
def test_wider_bounds_do_not_cost_tensions_or_distance(kind, gravity):
    """The robot needs a few newtons, and buckles far below the widest bound. Balanced beyond that it could be nearer,
    but it would not stay there."""
    robot, dt = springy(kind), 0.04
    q = 0.1 * np.sin(3.0 * dt * np.arange(25))[:, None] * np.ones(robot.freedoms)
    count, answers = len(robot.cables), []
    for most in (5.0, 30.0, 100.0, 1000.0):
        low, high = np.zeros(count), np.full(count, most)
        found = nearest(robot, q, dt, low, high, gravity)
        assert found.converged
        assert np.abs(found.residual).max() < 1e-9
        assert np.abs(found.q).max() <= 0.6 + 1e-9
        assert ((found.tensions >= low) & (found.tensions <= high)).all()
        check_ends(found)
        answers.append((distance(found.q, found.qdd, q, dt), effort(found.tensions, dt)))
        shape = vb.shape_from_tensions(robot, found.tensions[12], gravity=gravity, start=found.q[12])
        assert shape.angles == pytest.approx(found.q[12], abs=0.05)  # it moves slowly, and stays where it is
    assert answers[0][1] > 1.0
    for wide in answers[1:]:
        assert wide == pytest.approx(answers[0], rel=0.01)


@pytest.mark.parametrize("kind", ["universal", "flexure", "backbone"])
def test_motion_of_a_robot_that_would_buckle_is_called_unstable(kind):
    """Straight and at rest is feasible at any equal tensions; stable below those at which the robot buckles only."""
    robot = springy(kind)
    buckles = stable_tensions(robot)[1]
    for part in (0.98, 1.02):
        found = vb.allocate_tensions(
            robot, np.zeros((5, robot.freedoms)), method="project", lower=part * buckles, upper=part * buckles, dt=0.04
        )
        assert found.feasible.all()
        assert (found.stable == (part < 1.0)).all()
        assert ("unstable" in repr(found)) == (part > 1.0)


def test_backbones_keep_their_limit_in_every_direction_and_their_faces_apart():
    low, high, dt = np.full(4, 1.0), np.full(4, 60.0), 0.05
    slant = np.tile([0.5, 0.5], 2)
    wanted = slant * np.sin(np.pi * np.arange(25) / 24)[:, None]
    limited = backbone(limit=0.3)
    found = nearest(limited, wanted, dt, low, high)
    bends = np.hypot(found.q[:, ::2], found.q[:, 1::2])
    assert found.converged
    assert 0.29 < bends.max() <= 0.3 + 1e-9
    # Discs 4 mm apart meet at a cable 10 mm from the axis when bent toward it by about 0.39 rad.
    toward = np.tile([0.6, 0.0], 2) * np.sin(np.pi * np.arange(25) / 24)[:, None]
    found = nearest(backbone(), toward, dt, low, high)
    gaps = np.array([vb.Pose(backbone(), row).cable_segments.lengths.min() for row in found.q])
    assert found.converged
    assert -1e-9 <= gaps.min() < 1e-4


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"q": np.zeros((4, 3))}, "q"),
        ({"q": np.zeros(3)}, "q"),
        ({"q": np.zeros((8, 2))}, "q"),
        ({"dt": None}, "dt"),
        ({"dt": 0.0}, "dt"),
        ({"dt": -0.1}, "dt"),
        ({"dt": np.nan}, "dt"),
        ({"high": np.array([20.0, np.inf])}, "upper"),
    ],
)
def test_bad_input(change, argument):
    bounds = {"low": np.full(2, 1.0), "high": np.full(2, 20.0)}
    given = {"q": np.zeros((8, 3)), "dt": 0.01, **bounds, **change}
    with pytest.raises(InputError) as caught:
        nearest_trajectory(Moving.of(planar(3), None, ()), **given)
    assert caught.value.argument == argument
