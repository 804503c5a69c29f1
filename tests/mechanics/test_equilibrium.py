"""Torques and stiffness of a chain at any pose against an energy written by other means."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests import robots
from tests.oracles import statics

import vertebra as vb
from vertebra.mechanics.kernels.newton import inspect_pose
from vertebra.mechanics.kernels.sweep import NONE
from vertebra.mechanics.layout import REPORT_ENERGY, REPORT_RESIDUAL, REPORT_SCALE, REPORT_WEAK, STATE_TAU
from vertebra.mechanics.problem import NO_CABLES, Problem
from vertebra.robot.tables import PIN
from vertebra.statics.branches import joint_stiffness

LIGHT = {"linear_density": 0.0}
RING = ("10 deg", "100 deg", "190 deg", "280 deg")
ROD = {"kind": "flexure", "length": "7 mm", "stiffness": 0.3}
AZIMUTHS = ["15 deg", "-70 deg"]


def one_section(name, joint, **cables):
    ring = robots.cables("4 mm", *RING, **cables)
    return robots.robot(name, robots.section(5, joint, azimuth=AZIMUTHS, cables=ring))


def heavy_base():
    """Masses off the axis, loads on every kind of link, cables that end early."""
    link = robots.FLAT_LINK | {"center_of_mass": [0.001, -0.002, 0.004]}
    return robots.robot(
        "crooked",
        robots.section(3, robots.ROLLING, link, ["0 deg", "50 deg"], robots.cables("6 mm", "0 deg", "90 deg", **LIGHT)),
        robots.section(3, ROD, link, ["120 deg"], robots.cables("5 mm", "45 deg", holes={"recess": "2 mm"}, **LIGHT)),
    )


ROBOTS = {
    "rolling": one_section("rolling", robots.ROLLING, **LIGHT),
    "flexure": one_section("flexure", ROD, **LIGHT),
    "flexure with rods": one_section("rods", robots.FLEXURE, **LIGHT),
    "pin": one_section("pin", robots.PIN, **LIGHT),
    "heavy cables, rolling": one_section("heavy rolling", robots.ROLLING, linear_density="20 g/m"),
    "heavy cables, flexure": one_section("heavy flexure", robots.FLEXURE, linear_density="20 g/m"),
    "heavy cables, pin": one_section("heavy pin", robots.PIN, linear_density="20 g/m", holes={"recess": "1 mm"}),
    "mixed": robots.mirror_mix(),
    "crooked": heavy_base(),
    "universal yx": robots.universals("yx", 5, **LIGHT),
    "universal xy": robots.universals("xy", 5, **LIGHT),
    "heavy cables, universal": robots.universals("xy", linear_density="20 g/m"),
    "universal mix": robots.universal_mix(),
}
LOADS = {
    "none": (),
    "forces": (vb.Load(force=(0.2, -0.1, 0.3)), vb.Load(force=(-0.3, 0.2, 0.1), link=2, point=(0.003, -0.001, 0.02))),
    "moments": (vb.Load(moment=(0.01, -0.02, 0.03)), vb.Load(force=(0.1, 0.2, 0.0), moment=(0, 0.02, 0.01), link=3)),
    "base": (vb.Load(force=(5.0, 5.0, 5.0), moment=(1.0, 1.0, 1.0), link=0),),
}
POSES = {
    "straight": lambda rng, n: np.zeros(n),
    "nearly straight": lambda rng, n: rng.uniform(-1e-7, 1e-7, n),
    "slightly bent": lambda rng, n: rng.uniform(-1e-3, 1e-3, n),
    # Where the series of the joint laws hand over to closed forms, half angles 0.05, 0.1 and 0.2.
    "hand-over": lambda rng, n: (
        rng.choice([0.0999, 0.1001, 0.1999, 0.2001, 0.3999, 0.4001], n) * rng.choice([-1, 1], n)
    ),
    "bent": lambda rng, n: rng.uniform(-0.6, 0.6, n),
    "curled": lambda rng, n: rng.uniform(-1.5, 1.5, n),
}


def inspected(problem, q, tensions):
    """Torques (n,) and the report at a pose."""
    work = problem.workspace()
    for array in work.scratch[:6]:
        array[...] = np.nan
    inspect_pose(*problem.system, tensions, NO_CABLES, NO_CABLES, work.friction, False, q, *work.scratch[1:])
    return work.state[:, STATE_TAU].copy(), work.report.copy()


def question(robot, loads, seed):
    rng = np.random.default_rng(seed)
    gravity = rng.normal(0.0, 8.0, 3)
    tensions = rng.uniform(0.0, 8.0, len(robot.cables))
    return rng, Problem.of(robot, gravity, LOADS[loads], friction=0.0), gravity, tensions


every_robot = pytest.mark.parametrize("name", ROBOTS)
every_load = pytest.mark.parametrize("loads", LOADS)


@pytest.mark.parametrize("pose", POSES)
@every_load
@every_robot
def test_torques_are_the_slope_of_the_energy(name, loads, pose):
    robot = ROBOTS[name]
    rng, problem, gravity, tensions = question(robot, loads, 1)
    for _ in range(3):
        q = POSES[pose](rng, robot.freedoms)
        tau, report = inspected(problem, q, tensions)
        expected = statics.residual(robot, q, tensions, gravity, LOADS[loads])
        np.testing.assert_allclose(tau, expected, rtol=0, atol=2e-14 * report[REPORT_SCALE])
        assert report[REPORT_RESIDUAL] == np.abs(tau).max()


@pytest.mark.parametrize("pose", POSES)
@every_load
@every_robot
def test_stiffness_is_the_slope_of_the_torques(name, loads, pose):
    robot = ROBOTS[name]
    rng, problem, gravity, tensions = question(robot, loads, 2)
    q = POSES[pose](rng, robot.freedoms)
    H, unbalanced = joint_stiffness(problem, q, tensions)
    expected = statics.stiffness_matrix(robot, q, tensions, gravity, LOADS[loads])
    np.testing.assert_allclose(H, expected, rtol=0, atol=2e-11 * np.abs(expected).max())
    tau, report = inspected(problem, q, tensions)
    assert unbalanced == np.abs(tau).max() / report[REPORT_SCALE]


@every_robot
def test_energy_is_that_of_the_oracle_up_to_the_cables_inside_links(name):
    robot = ROBOTS[name]
    rng, problem, gravity, tensions = question(robot, "forces", 3)
    q = rng.uniform(-0.6, 0.6, robot.freedoms)
    _, report = inspected(problem, q, tensions)
    inside = float(tensions @ robot.cables["inside"])
    expected = statics.potential(robot, q, tensions, gravity, LOADS["forces"]).real
    assert report[REPORT_ENERGY] + inside == pytest.approx(expected, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("loads", ["forces", "moments"])
@every_robot
def test_the_pivots_tell_whether_every_displacement_is_resisted(name, loads):
    robot = ROBOTS[name]
    rng, problem, gravity, tensions = question(robot, loads, 4)
    seen = set()
    for stretch in (0.1, 30.0):
        for spread in (0.0, 0.3, 1.5):
            q = rng.uniform(-spread, spread, robot.freedoms)
            pull = stretch * tensions
            _, report = inspected(problem, q, pull)
            H = statics.stiffness_matrix(robot, q, pull, gravity, LOADS[loads])
            softest = np.linalg.eigvalsh(0.5 * (H + H.T))[0]
            assert abs(softest) > 1e-9 * np.abs(H).max()
            assert (report[REPORT_WEAK] == NONE) == (softest > 0.0)
            seen.add(softest > 0.0)
    # Cables make pins unstable; all other robots show both.
    assert len(seen) == 2 or (robot.joints["kind"] == PIN).any()


@pytest.mark.parametrize("name", ["heavy cables, flexure", "mixed", "universal mix"])
def test_dead_moments_and_heavy_cables_make_the_stiffness_unsymmetric(name):
    robot = ROBOTS[name]
    rng, problem, _, tensions = question(robot, "moments", 5)
    H, _ = joint_stiffness(problem, rng.uniform(-0.6, 0.6, robot.freedoms), tensions)
    assert np.abs(H - H.T).max() > 1e-3 * np.abs(H).max()


def test_the_torque_scale_counts_every_kind_of_torque():
    """Whatever acts must count, or a residual would be compared with the wrong thing."""
    robot = ROBOTS["flexure"]
    n, c = len(robot.joints), len(robot.cables)

    def scale(q=0.0, tension=0.0, gravity=(0.0, 0.0, 0.0), load=None):
        problem = Problem.of(robot, gravity, () if load is None else (load,), friction=0.0)
        return inspected(problem, np.full(n, q), np.full(c, tension))[1][REPORT_SCALE]

    assert scale() == 0.0
    weight = robot.mass * 9.8 * robot.length
    assert 0.3 * weight < scale(gravity=(9.8, 0.0, 0.0)) < 2.0 * weight
    assert scale(q=0.5) == pytest.approx(0.15)
    assert scale(tension=10.0) == pytest.approx(10.0 * np.abs(robot.segments["offset"]).sum(axis=0).max())
    force, moment = vb.Load(force=(2.0, 0.0, 0.0)), vb.Load(moment=(0.0, 3.0, 0.0))
    assert scale(load=force) == pytest.approx(2.0 * robot.length, rel=0.2)
    assert scale(load=moment) == pytest.approx(3.0)


def test_the_torque_scale_of_universal_joints_counts_moments():
    robot = ROBOTS["universal yx"]
    problem = Problem.of(robot, (0.0, 0.0, 0.0), (vb.Load(moment=(0.0, 3.0, 0.0)),), friction=0.0)
    _, report = inspected(problem, np.zeros(robot.freedoms), np.zeros(len(robot.cables)))
    assert report[REPORT_SCALE] == pytest.approx(3.0)


def test_weight_of_the_base_and_loads_on_it_do_not_count():
    robot = ROBOTS["rolling"]
    _, plain, _, tensions = question(robot, "none", 6)
    _, loaded, _, _ = question(robot, "base", 6)
    q = np.full(len(robot.joints), 0.2)
    for found, expected in zip(inspected(loaded, q, tensions), inspected(plain, q, tensions), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_planar_robot_bends_in_its_plane_exactly():
    robot = vb.load("hu2023-planar")
    q = np.linspace(-0.3, 0.4, len(robot.joints))
    H, _ = joint_stiffness(Problem.of(robot, "wall", (), friction=0.0), q, np.ones(len(robot.cables)))
    frames = vb.Pose(robot, q).frames
    assert (frames[:, 1, 3] == 0.0).all()
    assert np.isfinite(H).all()
    assert math.isclose(H[0, 1], H[1, 0], rel_tol=1e-14)
