"""Tensions of a motion: wrenches, least squares, violations; shared, per link, capstan and project."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize
from tests import robots

import vertebra as vb
from vertebra.dynamics.allocation import METHODS

SNAKE = vb.load("dantuono2023")


def sway(count=40, robot=SNAKE, size=np.pi / 18):
    """A sinusoid in all joints, with its rates and accelerations."""
    t, n = np.linspace(0.0, 4.0 * np.pi, count)[:, None], robot.freedoms
    phase = np.arange(n) * 0.3
    return size * np.sin(t / 2 + phase), size / 2 * np.cos(t / 2 + phase), -size / 4 * np.sin(t / 2 + phase)


def two_sections(joints=(3, 2), **extra):
    """Rolling joints with contact points; the cables of the first section end there."""
    joint = robots.ROLLING | {"contact_offset": "4 mm", "friction": 0.4, "radius": "12 mm"}
    link = robots.FLAT_LINK | {"inertia": [1e-7, 1e-7, 2e-7]}
    first = robots.cables("5 mm", "10 deg", "130 deg", "250 deg", pretension="2 N", max_tension="80 N", **extra)
    second = robots.cables("4 mm", "45 deg", "165 deg", "285 deg", pretension="1 N", max_tension="60 N", **extra)
    return robots.robot(
        "two-sections",
        robots.section(joints[0], joint, link, azimuth=["0 deg", "90 deg"], cables=first),
        robots.section(joints[1], joint, link, azimuth=["20 deg", "110 deg"], cables=second),
    )


def outboard_wrenches(robot, q, tensions, contacts):
    """Force and moment about C, world axes, that cables and contacts exert beyond each joint: holes and contact points
    from the frames of the links, summed one by one."""
    frames, (axes, centres) = vb.Pose(robot, q).frames, vb.Pose(robot, q).twists
    wrenches = np.zeros((len(robot.joints), 6))
    for j, joint in enumerate(robot.joints):
        before, after, axis, centre = frames[j], frames[j + 1], axes[j], centres[j]

        def push(force, at, j=j, centre=centre):
            wrenches[j] += np.concatenate([force, np.cross(at - centre, force)])

        for k, cable in enumerate(robot.cables):
            if j < cable["last_link"]:
                out = before @ [cable["x"], cable["y"], robot.segments[k, j]["exit"], 1.0]
                into = after @ [cable["x"], cable["y"], robot.segments[k, j]["entry"], 1.0]
                line = (out - into)[:3]
                push(tensions[k, j] * line / np.linalg.norm(line), into[:3])
        normal = before[:3, 2] + after[:3, 2]
        normal /= np.linalg.norm(normal)
        for point, side in enumerate((1.0, -1.0)):
            at = centre + side * joint["contact_offset"] * axis
            push(contacts.normal[j, point] * normal, at)
            push(contacts.tangential[j, point] * np.cross(axis, normal), at)
            push(contacts.axial[j, point] * axis, at)
    return wrenches


@pytest.mark.parametrize("cone", ["box", "true"])
@pytest.mark.parametrize("method", METHODS)
def test_cables_and_contacts_give_each_part_the_wrench_its_motion_needs(method, cone):
    for robot in (SNAKE, two_sections(linear_density=0)):
        q, qd, qdd = (part[7] for part in sway(robot=robot, size=0.3))
        found = vb.allocate_tensions(robot, q, qd, qdd, method=method, cone=cone)
        tensions = found.tensions if found.tensions.ndim == 2 else np.tile(found.tensions[:, None], len(q))
        given = outboard_wrenches(robot, found.q, tensions, found.contacts)
        tau, needed = vb.inverse_dynamics(robot, found.q, found.qd, found.qdd, wrenches=True)
        axes = vb.Pose(robot, found.q).twists[0]
        supplied = np.einsum("jx,jx->j", axes, given[:, 3:])
        np.testing.assert_allclose(tau - supplied, found.residual, atol=1e-10)
        np.testing.assert_allclose(found.tau, tau, atol=1e-12)
        # All but the torque about the axis is balanced whatever the tensions.
        given[:, 3:] += axes * found.residual[:, None]
        np.testing.assert_allclose(given, needed, atol=1e-9)


@pytest.mark.parametrize(
    ("robot", "bounds"),
    [(SNAKE, {}), (vb.load("yang2023-a").fill_inertia(), {"lower": 1.0, "upper": 30.0}), (two_sections((2, 1)), {})],
    ids=lambda given: getattr(given, "name", ""),
)
def test_shared_tensions_at_rest_are_those_of_statics(robot, bounds):
    for pose in robots.poses(robot, 8, seed=3, spread=0.3):
        still = np.zeros_like(pose)
        ours = vb.allocate_tensions(robot, pose, still, still, friction=0, **bounds)
        theirs = vb.tensions_for_shape(robot, pose, friction=0, check=False, **bounds)
        np.testing.assert_allclose(ours.tensions, theirs.tensions, atol=1e-6)
        np.testing.assert_allclose(ours.residual, theirs.residual, atol=1e-9)
        assert ours.feasible == theirs.feasible
        assert {violation.joint for violation in ours.violations} == set(theirs.infeasible)


def test_shared_tensions_have_the_least_squares_of_a_general_solver():
    for robot in (SNAKE, two_sections()):
        q, qd, qdd = sway(25, robot)
        found = vb.allocate_tensions(robot, q, qd, qdd)
        low, high = robot.cables["pretension"], robot.cables["max_tension"]
        for i in range(len(q)):
            A, b = -vb.Pose(robot, q[i]).cable_segments.first.T, found.tau[i]
            oracle = lsq_linear(A, b, (low, high), "bvls", tol=1e-15)
            assert np.linalg.norm(found.residual[i]) <= np.linalg.norm(A @ oracle.x - b) + 1e-12
            assert np.linalg.norm(found.tensions[i]) <= np.linalg.norm(oracle.x) + 1e-6


def test_a_motion_made_by_shared_tensions_is_feasible_and_gives_them_back():
    q, qd, _ = (part[5] for part in sway())
    pulls = np.array([20.0, 33.0, 41.0, 52.0])
    qdd = vb.forward_dynamics(SNAKE, q, qd, pulls)
    found = vb.allocate_tensions(SNAKE, q, qd, qdd)
    assert found.feasible
    assert found.violations == ()
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-10)
    # Holes in planes, at right angles: what one pair of opposite cables has more and the other less moves no joint.
    idle = np.array([1.0, -1.0, 1.0, -1.0]) / 2.0
    np.testing.assert_allclose(found.tensions, pulls - idle * (idle @ pulls), atol=1e-6)


def test_published_straight_robot():
    still = np.zeros(6)
    found = vb.allocate_tensions(SNAKE, still, still, still, method="per_link")
    np.testing.assert_allclose(found.tensions[3], [46.29, 78.96, 18.11, 31.63, 5.0, 7.96], atol=0.01)
    np.testing.assert_array_equal(found.tensions[:3], 5.0)
    np.testing.assert_array_equal(found.base_tensions, found.tensions[:, 0])
    assert found.contacts.normal.min() == pytest.approx(1.0, abs=1e-9)


def test_joints_without_contact_points_need_balanced_torques_only():
    flexures = vb.load("yang2023-a").fill_inertia()
    still = np.zeros(flexures.freedoms)
    found = vb.allocate_tensions(
        flexures, still + 0.05, still, still, method="per_link", lower=0.5, upper=60, friction=0
    )
    assert found.contacts is None
    assert found.feasible
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-10)


def test_cables_end_with_their_section():
    robot = two_sections()
    q, qd, qdd = sway(10, robot, 0.2)
    for method in ("per_link", "capstan"):
        found = vb.allocate_tensions(robot, q, qd, qdd, method=method)
        assert found.tensions.shape == (10, 6, 5)
        assert (found.tensions[:, :3, 3:] == 0.0).all()
        assert (found.tensions[:, :3, :3] >= 2.0).all()
        assert (found.tensions[:, 3:] >= 1.0).all()


@pytest.mark.parametrize("method", METHODS)
def test_one_state_is_one_row_of_a_trajectory(method):
    q, qd, qdd = sway(6)
    many = vb.allocate_tensions(SNAKE, q, qd, qdd, method=method)
    for i in range(6):
        one = vb.allocate_tensions(SNAKE, q[i], qd[i], qdd[i], method=method)
        for name in ("tensions", "base_tensions", "residual", "q", "qd", "qdd", "tau"):
            np.testing.assert_allclose(getattr(one, name), getattr(many, name)[i], atol=1e-7, err_msg=name)
        np.testing.assert_allclose(one.contacts.use, many.contacts.use[i], atol=1e-7)
        assert one.feasible is bool(many.feasible[i])
        assert [v[1:3] for v in one.violations] == [v[1:3] for v in many.violations if v.step == i]


def test_violations_name_step_joint_constraint_and_amount():
    q, qd, qdd = sway(12)
    tight = vb.allocate_tensions(SNAKE, q, qd, qdd, method="per_link", upper=40)
    assert not tight.feasible.all()
    assert {v.step for v in tight.violations} == set(np.flatnonzero(~tight.feasible).tolist())
    step, joint, constraint, _, unit, alone, _ = tight.violations[0]
    assert (constraint, unit, alone) == ("max_tension", "N", True)
    assert f"step {step}, joint {joint}" in tight.violations[0].message
    more = max(v.amount for v in tight.violations)
    assert vb.allocate_tensions(SNAKE, q, qd, qdd, method="per_link", upper=40 + more + 1e-9).feasible.all()
    assert not vb.allocate_tensions(SNAKE, q, qd, qdd, method="per_link", upper=40 + more - 1e-6).feasible.all()
    assert "not feasible" in repr(tight)
    assert "and" in repr(tight)


def test_a_stronger_least_contact_force_is_kept():
    q, qd, qdd = sway(12)
    found = vb.allocate_tensions(SNAKE, q, qd, qdd, method="per_link", min_contact_force=4.0)
    assert found.contacts.normal.min() == pytest.approx(4.0, abs=1e-9)


def test_check_raises_the_worst_violation_with_the_result():
    q, qd, qdd = sway(12)
    for method, constraint in (("shared", "moment"), ("per_link", "max_tension")):
        with pytest.raises(vb.Infeasible, match="joint") as caught:
            vb.allocate_tensions(SNAKE, q, qd, qdd, method=method, upper=40, check=True)
        error = caught.value
        assert error.constraint == constraint
        assert error.amount == max(v.amount for v in error.result.violations if v.constraint == constraint)
        assert error.result.method == method
    assert vb.allocate_tensions(SNAKE, q, qd, qdd, method="per_link", check=True).feasible.all()


@pytest.mark.parametrize(
    ("argument", "given", "says"),
    [
        ("method", {"method": "best"}, "shared, per_link, capstan or project"),
        ("cone", {"cone": "round"}, "box or true"),
        ("min_contact_force", {"min_contact_force": -1.0}, "0 N or more"),
        ("lower", {"lower": -1.0}, "only pull"),
        ("upper", {"upper": [1.0, 2.0]}, "must be one number in N, or 4"),
        ("upper", {"upper": 1.0}, "below its lower bound"),
        ("upper", {"upper": np.inf}, "cables.max_tension"),
        ("friction", {"friction": 0.2}, "capstan"),
        ("dt", {"method": "project", "q": np.zeros((8, 6)), "dt": -1.0}, "above 0"),
        ("dt", {"method": "project", "q": np.zeros((8, 6)), "dt": -1.0, "gravity": [0, 0, 0]}, "above 0"),
        ("dt", {"method": "shared", "dt": "x"}, "above 0"),
    ],
)
def test_wrong_arguments_are_named(argument, given, says):
    rest = {"q": np.zeros(6)} | given
    for name in ("qd", "qdd"):
        rest.setdefault(name, np.zeros_like(rest["q"]))
    with pytest.raises(vb.InputError, match=says) as caught:
        vb.allocate_tensions(SNAKE, **rest)
    assert caught.value.argument == argument


def test_a_robot_without_largest_tensions_is_refused_with_the_remedy():
    still = np.zeros(11)
    with pytest.raises(vb.InputError, match="max_tension"):
        vb.allocate_tensions(vb.load("hu2023-prototype").fill_inertia(), still, still, still)


# Tensions along cables with friction, and accelerations that tensions can give.


@pytest.mark.parametrize("robot", [SNAKE, two_sections(), two_sections((2, 1))])
def test_without_friction_it_is_shared(robot):
    q, qd, qdd = sway(15, robot)
    shared = vb.allocate_tensions(robot, q, qd, qdd)
    capstan = vb.allocate_tensions(robot, q, qd, qdd, method="capstan", friction=0)
    runs = np.arange(len(robot.joints)) < robot.cables["last_link"][:, None]
    np.testing.assert_allclose(capstan.tensions, np.where(runs, shared.tensions[:, :, None], 0.0), atol=1e-6)
    np.testing.assert_allclose(capstan.residual, shared.residual, atol=1e-9)
    np.testing.assert_array_equal(capstan.base_tensions, capstan.tensions[:, :, 0])


def test_much_friction_balances_every_joint():
    q, qd, qdd = sway(15)
    q = q + 0.2  # bent everywhere: a straight cable has no friction to use
    capstan = vb.allocate_tensions(SNAKE, q, qd, qdd, method="capstan", friction=30.0)
    assert capstan.feasible.all()
    np.testing.assert_allclose(capstan.residual, 0.0, atol=1e-9)


def test_more_friction_never_balances_worse():
    q, qd, qdd = sway(10)
    sizes = [
        np.linalg.norm(vb.allocate_tensions(SNAKE, q, qd, qdd, method="capstan", friction=mu).residual, axis=1)
        for mu in (0.0, 0.1, 0.3, 1.0, 3.0)
    ]
    assert (np.diff(sizes, axis=0) <= 1e-9).all()
    assert (sizes[-1] < 0.5 * sizes[0]).all()


def bends(q):
    return 0.5 * np.abs(q)


def test_neighbours_stay_within_the_capstan_equation():
    law = vb.FrictionLaw.quadratic(2.0, 0.5, 0.2)
    q, qd, qdd = sway(20, size=0.4)
    found = vb.allocate_tensions(SNAKE, q, qd, qdd, method="capstan", friction=law)
    at_faces = law(bends(q)) * bends(q)
    most = np.exp(at_faces[:, :-1] + at_faces[:, 1:])[:, None]
    before, after = found.tensions[:, :, :-1], found.tensions[:, :, 1:]
    assert (after <= most * before + 1e-8).all()
    assert (before <= most * after + 1e-8).all()
    assert (np.isclose(after, most * before) | np.isclose(before, most * after)).any()
    assert (found.base_tensions <= found.tensions[:, :, 0]).all()
    np.testing.assert_allclose(
        found.base_tensions, np.maximum(found.tensions[:, :, 0] * np.exp(-at_faces[:, :1]), 5.0), rtol=1e-12
    )


def test_least_squares_of_a_general_solver():
    robot = two_sections()
    q, qd, qdd = (part[3] for part in sway(robot=robot, size=0.5))
    found = vb.allocate_tensions(robot, q, qd, qdd, method="capstan", friction=0.4)
    arms = -vb.Pose(robot, q).cable_segments.first
    variables = [(k, j) for k, last in enumerate(robot.cables["last_link"]) for j in range(last)]
    A = np.zeros((len(q), len(variables)))
    for column, (k, j) in enumerate(variables):
        A[j, column] = arms[k, j]
    grip, rows = 0.4 * (bends(q)[:-1] + bends(q)[1:]), []
    for column, (_, j) in enumerate(variables[:-1]):
        if variables[column + 1][1] == j + 1:
            for sign in (1.0, -1.0):
                row = np.zeros(len(variables))
                here, there = (column, column + 1) if sign > 0 else (column + 1, column)
                row[here], row[there] = np.exp(grip[j]), -1.0
                rows.append(row)
    rows, low, high = np.array(rows), robot.cables["pretension"], robot.cables["max_tension"]
    bounds = [(low[k], high[k]) for k, _ in variables]
    oracle = minimize(
        lambda x: 1e4 * np.sum((A @ x - found.tau) ** 2), [10.0] * len(variables), method="SLSQP", bounds=bounds,
        jac=lambda x: 2e4 * A.T @ (A @ x - found.tau), options={"maxiter": 1000, "ftol": 1e-16},
        constraints={"type": "ineq", "fun": lambda x: rows @ x, "jac": lambda x: rows},
    )  # fmt: skip
    ours = np.linalg.norm(found.residual)
    assert ours == pytest.approx(np.linalg.norm(A @ oracle.x - found.tau), abs=1e-6)


def test_the_file_s_friction_is_the_default():
    robot = two_sections(friction={"constant": 0.3})
    q, qd, qdd = sway(5, robot)
    default = vb.allocate_tensions(robot, q, qd, qdd, method="capstan")
    given = vb.allocate_tensions(robot, q, qd, qdd, method="capstan", friction=0.3)
    np.testing.assert_array_equal(default.tensions, given.tensions)


def test_the_nearest_acceleration_is_one_that_its_tensions_give():
    q, qd, qdd = sway(12)
    found = vb.allocate_tensions(SNAKE, q, qd, qdd, method="project")
    assert found.feasible.all()
    np.testing.assert_array_equal(found.q, q)
    np.testing.assert_array_equal(found.qd, qd)
    np.testing.assert_allclose(vb.forward_dynamics(SNAKE, q, qd, found.tensions), found.qdd, rtol=1e-7, atol=1e-6)
    low, high = SNAKE.cables["pretension"], SNAKE.cables["max_tension"]
    for i in range(len(q)):
        M, A = vb.mass_matrix(SNAKE, q[i]), -vb.Pose(SNAKE, q[i]).cable_segments.first.T
        root = np.linalg.cholesky(M).T
        needed = vb.inverse_dynamics(SNAKE, q[i], qd[i], qdd[i])
        whitened = np.linalg.solve(root.T, A), np.linalg.solve(root.T, needed)
        oracle = lsq_linear(*whitened, (low, high), "bvls", tol=1e-15)
        missed = root @ (found.qdd[i] - qdd[i])
        assert np.linalg.norm(missed) <= np.sqrt(2.0 * oracle.cost) * (1.0 + 1e-9)


def test_a_feasible_acceleration_stays():
    q, qd, _ = (part[4] for part in sway())
    qdd = vb.forward_dynamics(SNAKE, q, qd, [20.0, 30.0, 40.0, 50.0])
    found = vb.allocate_tensions(SNAKE, q, qd, qdd, method="project")
    np.testing.assert_allclose(found.qdd, qdd, atol=1e-8)


def test_with_a_time_step_the_trajectory_changes():
    t = np.linspace(0.0, 1.0, 21)
    q = 0.05 * np.sin(2.0 * np.pi * t)[:, None] * np.ones(6)
    rates = np.gradient(q, t[1], axis=0)
    found = vb.allocate_tensions(SNAKE, q, rates, np.gradient(rates, t[1], axis=0), method="project", dt=t[1])
    assert found.feasible.all()
    assert found.tensions.shape == (21, 4)
    assert np.abs(found.q - q).max() > 0.0


def cross(joints):
    """Universal joints between four cables, in which a motion leaves some of the tensions open."""
    joint = {"kind": "universal", "lower": "10 mm", "stiffness": 0.05, "damping": 1e-3}
    link = {"length": "20 mm", "mass": "20 g", "inertia": [3e-6, 3e-6, 2e-6]}
    cables = robots.cables("8 mm", "0 deg", "90 deg", "180 deg", "270 deg", max_tension="50 N")
    return robots.robot("cross", robots.section(joints, joint, link, cables=cables))


def test_the_tensions_of_a_trajectory_are_those_that_were_searched_for_with_it():
    """Those of each step on its own would balance as well, but jump from step to step."""
    robot, dt = cross(1), 0.01
    wave = np.sin(5.0 * np.pi * np.arange(41) * dt)[:, None] * np.array([0.3, 0.2])
    found = vb.allocate_tensions(robot, wave, method="project", dt=dt, check=True)
    alone = vb.allocate_tensions(robot, found.q, found.qd, found.qdd)

    def cost(pulls):
        return float((pulls**2).sum() + (np.diff(pulls, axis=0) ** 2).sum() / dt**2)

    assert cost(found.tensions[1:-1]) < 0.2 * cost(alone.tensions[1:-1])
    np.testing.assert_array_equal(found.base_tensions, found.tensions)
    given = vb.forward_dynamics(robot, found.q, found.qd, found.tensions)
    np.testing.assert_allclose(given, found.qdd, atol=1e-6 * np.abs(found.qdd).max())


def test_a_trajectory_is_feasible_at_every_step_with_the_tensions_found_for_it():
    robot, dt = cross(2), 0.01
    wave = np.sin(5.0 * np.pi * np.arange(41) * dt)[:, None] * np.array([0.3, 0.2, -0.1, 0.0])
    assert vb.allocate_tensions(robot, wave, method="project", dt=dt, check=True).feasible.all()


def test_a_motion_stays_only_if_its_rates_are_those_of_its_angles():
    """Tensions hold each of these poses at rest, but the angles move."""
    dt, pulls = 0.05, np.array([60.0, 50.0, 60.0, 90.0])
    over_time = pulls + 10.0 * np.sin(3.0 * np.arange(12)[:, None] * dt) * np.array([1.0, 0.0, -1.0, 0.0])
    q = np.array([vb.shape_from_tensions(SNAKE, pull).angles for pull in over_time])
    still = np.zeros_like(q)
    assert vb.allocate_tensions(SNAKE, q, still, still).feasible.all()
    found = vb.allocate_tensions(SNAKE, q, still, still, method="project", dt=dt)
    np.testing.assert_allclose(found.qd[1:-1], (found.q[2:] - found.q[:-2]) / (2.0 * dt), atol=1e-9)
    assert found.feasible.all()
    assert np.abs(found.q - q).max() < 0.05
    # Its own rates and accelerations, off by the error of differences, let it stay.
    made = vb.allocate_tensions(SNAKE, found.q, found.qd, found.qdd, method="project", dt=dt)
    np.testing.assert_array_equal(made.q, found.q)


def test_a_motion_with_rounded_angles_stays():
    """A robot swings under its tensions, sampled at 1 kHz with the four decimals in degrees of a file."""
    pulls = np.array([60.0, 50.0, 60.0, 90.0])
    start = vb.shape_from_tensions(SNAKE, pulls).angles
    run = vb.simulate(SNAKE, pulls + np.array([5.0, 0.0, -5.0, 0.0]), q0=start, duration=0.2, dt=1e-3)
    q, qd, qdd = (run[name].values for name in ("q", "qd", "qdd"))
    rounded = np.radians(np.round(np.degrees(q), 4))
    found = vb.allocate_tensions(SNAKE, rounded, qd, qdd, method="project", dt=1e-3)
    assert found.feasible.all()
    np.testing.assert_array_equal(found.q, rounded)


def test_the_method_that_failed_is_not_advised(monkeypatch):
    from vertebra.dynamics import nearest_motion

    monkeypatch.setattr(nearest_motion, "search", lambda goal, q, tensions: (q, tensions, False))
    with pytest.raises(vb.Infeasible, match=r"widen the bounds, or slow the motion$"):
        vb.allocate_tensions(SNAKE, sway(12)[0], method="project", dt=1.0, check=True)
