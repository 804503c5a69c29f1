"""The solver against independent oracles: an energy by complex steps, MuJoCo at rest, closed forms, symmetries."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from tests.oracles import chain, mirror_chain, statics
from tests.oracles.relaxation import LoadedModel
from tests.robots import mirror_mix, poses, smooth, universal_mix
from tests.statics.cases import Case, any_direction, random_case, random_robot

import vertebra as vb
from vertebra.robot.tables import PIN, ROLLING, UNIVERSAL

MIXES = [("rolling",), ("flexure",), ("rolling", "flexure"), ("flexure", "rolling"), ("rolling", "flexure", "pin")]
UNIVERSAL_MIXES = [
    ("universal",),
    ("universal", "rolling", "universal"),
    ("flexure", "universal"),
    ("rolling", "universal", "flexure", "universal", "pin"),
]
UNIVERSALS = range(1000, 1200 if os.environ.get("VERTEBRA_SOAK") == "1" else 1008)
"""Seeds of robots with universal joints."""


def mixed_case(seed: int, **options) -> Case:
    """Every mix of kinds in turn, with a force at the tip and one somewhere else."""
    rng = np.random.default_rng([17, seed])
    mixes = UNIVERSAL_MIXES if seed in UNIVERSALS else MIXES
    mix = mixes[seed % len(mixes)]
    case = random_case(rng, mix, int(rng.integers(max(3, len(mix)), 13)), **options)
    link = int(rng.integers(1, len(case.robot.links)))
    force = (0.02 if (case.robot.joints["kind"] == PIN).any() else 0.5) * 9.8 * case.robot.mass * any_direction(rng)
    return case.loaded(vb.Load(force=tuple(force), link=link, point=tuple(rng.normal(0.0, 5e-3, 3))))


# The oracles themselves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", [mirror_mix(), universal_mix()], ids=lambda robot: robot.name)
def test_batched_geometry_is_that_of_the_other_oracle(robot: vb.Robot) -> None:
    many = poses(robot, 5, seed=3)
    for q, links, lengths in zip(
        many, mirror_chain.frames(robot, many), mirror_chain.segment_lengths(robot, many), strict=True
    ):
        np.testing.assert_allclose(links, chain.frames(robot, q), rtol=0, atol=1e-15)
        np.testing.assert_allclose(lengths, chain.segment_lengths(robot, q), rtol=0, atol=1e-15)
        for link in range(1, len(robot.links)):
            angular = mirror_chain.angular_rates(robot, q)[:, link].T
            np.testing.assert_allclose(angular, chain.jacobian(robot, q, link, np.zeros(3))[3:], rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", [*range(len(MIXES)), *UNIVERSALS[:4]])
def test_complex_step_is_the_slope_of_the_energy(seed: int) -> None:
    case = mixed_case(seed, gap_mass=False)
    q = np.random.default_rng(seed).uniform(-0.5, 0.5, case.robot.freedoms)
    around = q + 0.01 * statics.STENCIL[:, None, None] * np.eye(len(q))
    slope = statics.SLOPE @ statics.potential(case.robot, around, *case.given).real / 0.01
    tau = statics.residual(case.robot, q, *case.given)
    np.testing.assert_allclose(tau, slope, rtol=0, atol=1e-11 * np.abs(tau).max())
    H = statics.stiffness_matrix(case.robot, q, *case.given)
    np.testing.assert_allclose(H, H.T, rtol=0, atol=1e-12 * np.abs(H).max())


# The solver ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [*range(40), *UNIVERSALS])
def test_newton_finds_where_an_overdamped_robot_rests(seed: int) -> None:
    case = mixed_case(seed)
    shape = case.solve()
    rest = statics.minimise(case.robot, *case.given, start=np.zeros(case.robot.freedoms))
    assert rest.settled
    np.testing.assert_allclose(shape.angles, rest.angles, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", [*range(10), *UNIVERSALS])
def test_energy_is_that_of_the_oracle(seed: int) -> None:
    case = mixed_case(seed)
    shape = case.solve()
    expected = statics.potential(case.robot, shape.angles, *case.given).real
    assert shape.energy == pytest.approx(expected, rel=1e-12, abs=1e-14)


def random_mujoco_case(seed: int) -> Case:
    """Nothing that the exported model leaves out: links weigh something, gaps nothing.

    Tight enough to have one stable shape only, so that every start leads to it.
    """
    rng = np.random.default_rng([23, seed])
    kinds = ("rolling", "flexure") if seed % 5 == 3 else ("flexure",) if seed % 5 == 4 else ("rolling",)
    case = random_case(rng, kinds, int(rng.integers(2, 21)), gap_mass=False, safety=rng.uniform(2.5, 5.0))
    moment = 0.02 * 9.8 * case.robot.mass * case.robot.length * any_direction(rng)
    return case.loaded(vb.Load(moment=tuple(moment))) if seed % 2 else case


@pytest.mark.parametrize("seed", range(10))
def test_mujoco_comes_to_rest_in_the_same_pose(seed: int) -> None:
    case = random_mujoco_case(seed)
    rng = np.random.default_rng(seed)
    n = len(case.robot.joints)
    shape = case.solve(start=rng.uniform(-0.5, 0.5, n) if seed % 3 else None)
    rest = LoadedModel(case.robot, *case.given).relax(np.zeros(n))
    assert rest.moving < 1e-10
    assert np.abs(shape.angles).max() > np.radians(1)
    assert np.degrees(np.abs(shape.angles - rest.angles).max()) < 1e-4


def universal_mujoco_case(seed: int) -> Case:
    """Universal joints alone and among others, in either order of their axes, bent by a force at the tip."""
    rng = np.random.default_rng([29, seed])
    kinds = [("universal",), ("universal", "rolling"), ("rolling", "universal", "flexure", "universal")][seed % 3]
    joints = int(rng.integers(len(kinds), 9))
    case = random_case(rng, kinds, joints, gap_mass=False, safety=rng.uniform(2.5, 5.0))
    robot, size = case.robot, case.robot.length
    pull = case.tensions @ (robot.cables["last_link"][:, None] > np.arange(joints))
    # What each joint resists with, N*m/rad.
    resists = np.where(robot.joints["kind"] == ROLLING, robot.joints["size"] / 2 * pull, robot.joints["stiffness"])
    push = vb.Load(force=tuple(0.15 * resists.min() / size * any_direction(rng)))
    moment = vb.Load(moment=tuple(0.02 * 9.8 * robot.mass * size * any_direction(rng)))
    return case.loaded(push, moment) if seed % 2 else case.loaded(push)


@pytest.mark.parametrize("seed", range(20 if os.environ.get("VERTEBRA_SOAK") == "1" else 3))
def test_mujoco_rests_where_universal_joints_do(seed: int) -> None:
    """In a model built from the tables of the robot alone."""
    case = universal_mujoco_case(seed)
    shape, model = case.solve(), LoadedModel(case.robot, *case.given, built=True)
    np.testing.assert_allclose(model.unbalanced(shape.angles), 0.0, rtol=0, atol=1e-11 * shape.moment_scale)
    np.testing.assert_allclose(model.cable_lengths(), shape.lengths, rtol=1e-13)
    np.testing.assert_allclose(model.tip(), shape.tip, rtol=0, atol=1e-14)
    # Couplings of hinges and slides are the tighter, the shorter the steps; universal joints have none.
    pace = (25.0, 100.0, 300.0)[seed % 3]
    rest = model.relax(np.zeros(case.robot.freedoms), pace=pace, longest=200_000, still=1e-12)
    assert rest.moving < 1e-10
    assert np.abs(shape.angles).max() > np.radians(1)
    assert np.degrees(np.abs(shape.angles - rest.angles).max()) < 1e-4


@pytest.mark.parametrize("seed", range(10, 40))
def test_mujoco_finds_no_unbalanced_moment(seed: int) -> None:
    case = random_mujoco_case(seed)
    shape = case.solve()
    unbalanced = LoadedModel(case.robot, *case.given).unbalanced(shape.angles)
    assert np.abs(unbalanced).max() < 1e-11 * shape.moment_scale


@pytest.mark.parametrize("seed", [*range(10), *UNIVERSALS])
def test_fields_belong_to_the_angles(seed: int) -> None:
    case = mixed_case(seed)
    robot, shape = case.robot, case.solve()
    np.testing.assert_allclose(shape.frames, vb.Pose(robot, shape.angles).frames, rtol=0, atol=1e-15)
    np.testing.assert_allclose(shape.tip, vb.Pose(robot, shape.angles).tip_frame[:3, 3], rtol=0, atol=1e-15)
    np.testing.assert_allclose(shape.lengths, vb.Pose(robot, shape.angles).cable_lengths, rtol=1e-14)
    crosses = np.arange(len(robot.joints)) < robot.cables["last_link"][:, None]
    np.testing.assert_array_equal(shape.tensions, np.where(crosses, case.tensions[:, None], 0.0))
    np.testing.assert_array_equal(shape.gravity, case.field)
    assert shape.loads == case.loads
    assert shape.robot is robot


# Closed forms and symmetries ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_rolling_joints_without_loads_take_the_closed_form(seed: int) -> None:
    rng = np.random.default_rng([29, seed])
    robot = random_robot(rng, ("rolling",), int(rng.integers(1, 30)))
    tensions = rng.uniform(0.1, 10.0, len(robot.cables))
    shape = vb.shape_from_tensions(robot, tensions, gravity=(0, 0, 0))
    sin_beta = robot.segments["offset"] / robot.joints["radius"]
    expected = 2 * np.arctan2(tensions @ sin_beta, tensions @ np.sqrt(1 - sin_beta**2))
    np.testing.assert_allclose(shape.angles, expected, rtol=0, atol=1e-14)


def planar_moments(robot: vb.Robot, q: np.ndarray, tensions: np.ndarray, g: complex, F: complex) -> np.ndarray:
    """dV/dq of a planar rolling robot, written for the plane: points are complex numbers z + i x."""
    R = robot.joints["radius"]

    def energy(q: np.ndarray) -> np.ndarray:
        beta = np.arcsin(robot.segments["offset"] / R)
        total = tensions @ (2 * R - 2 * R * np.cos(q / 2 - beta)).sum(axis=1)
        z = x = heading = 0.0
        for j, angle in enumerate(q):
            # Two arcs roll: from arc centre to arc centre along the middle heading.
            for step, turn in ((robot.links["reach"][j] - R[j], angle / 2), (2 * R[j], angle / 2), (-R[j], 0.0)):
                z, x = z + step * np.cos(heading), x + step * np.sin(heading)
                heading = heading + turn
            middle = robot.links["center_of_mass"][j + 1][2]
            m = robot.links["mass"][j + 1]
            total = total - m * (g.real * (z + middle * np.cos(heading)) + g.imag * (x + middle * np.sin(heading)))
        tip = robot.tip_point[2]
        return total - F.real * (z + tip * np.cos(heading)) - F.imag * (x + tip * np.sin(heading))

    return np.array([energy(q + 1e-30j * unit).imag / 1e-30 for unit in np.eye(len(q))])


@pytest.mark.parametrize("turn", [0.0, 0.7, math.pi / 2])
def test_a_planar_robot_stays_in_its_plane_and_balances_there(turn: float) -> None:
    mapping = smooth("hu2023-planar").to_mapping()
    section = mapping["sections"][0]
    section["azimuth"] = [turn]
    section["cables"]["azimuth"] = [turn + angle for angle in section["cables"]["azimuth"]]
    robot = smooth(mapping)
    toward = np.array([math.cos(turn), math.sin(turn), 0.0])
    tensions = np.array([0.0, 2.4, 0.0, 5.1])
    gravity = 3.0 * toward + np.array([0.0, 0.0, -9.0])
    load = vb.Load(force=tuple(0.05 * toward + np.array([0.0, 0.0, -0.02])))
    shape = vb.shape_from_tensions(robot, tensions, gravity=gravity, loads=[load])
    out_of_plane = shape.frames[:, :3, 3] @ np.array([-math.sin(turn), math.cos(turn), 0.0])
    assert np.abs(out_of_plane).max() < 1e-15
    assert np.abs(shape.angles).max() > 0.05
    moments = planar_moments(robot, shape.angles, tensions, complex(-9.0, 3.0), complex(-0.02, 0.05))
    assert np.abs(moments).max() < 1e-12 * shape.moment_scale


@pytest.mark.parametrize("name", ["yang2023-b", "hu2023-prototype"])
def test_two_identical_sections_are_one(name: str) -> None:
    one = smooth(name)
    mapping = one.to_mapping()
    section = mapping["sections"][0]
    bare = {key: value for key, value in section.items() if key != "cables"}
    two = smooth({**mapping, "sections": [{**bare, "joints": 4}, {**section, "joints": section["joints"] - 4}]})
    assert len(two.section_ends) == 2
    loads = [vb.Load(force=(0.01, 0.02, -0.03), moment=(1e-4, 0, 2e-4)), vb.Load(force=(0.02, 0, 0), link=5)]
    first, second = (vb.shape_from_tensions(robot, [3.0, 4.0, 5.0, 3.0], loads=loads) for robot in (one, two))
    np.testing.assert_array_equal(first.angles, second.angles)
    np.testing.assert_array_equal(first.compliance, second.compliance)
    assert first.energy == second.energy


@pytest.mark.parametrize("seed", range(6))
def test_a_turned_robot_takes_the_turned_shape(seed: int) -> None:
    case = mixed_case(seed)
    turn = 1.1 + seed
    R = np.array([[math.cos(turn), -math.sin(turn), 0], [math.sin(turn), math.cos(turn), 0], [0, 0, 1]])
    mapping = case.robot.to_mapping()
    for section in mapping["sections"]:
        for part in (section, section.get("cables", {"azimuth": []})):
            part["azimuth"] = [math.remainder(angle + turn, math.tau) for angle in part["azimuth"]]
    points = [load.point if load.point is None else tuple(R @ load.point) for load in case.loads]
    loads = tuple(
        vb.Load(force=tuple(R @ load.force), link=load.link, point=point)
        for load, point in zip(case.loads, points, strict=True)
    )
    turned = Case(smooth(mapping), case.tensions, R @ case.field, loads).solve()
    shape = case.solve()
    np.testing.assert_allclose(turned.angles, shape.angles, rtol=0, atol=1e-11)
    np.testing.assert_allclose(turned.tip, R @ shape.tip, rtol=0, atol=1e-12)
    np.testing.assert_allclose(turned.forces, shape.forces @ R.T, rtol=0, atol=1e-9)
    both = np.kron(np.eye(2), R)
    size = np.abs(shape.compliance).max()
    np.testing.assert_allclose(turned.compliance, both @ shape.compliance @ both.T, rtol=0, atol=1e-8 * size)


# Forces between the links -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [*range(10), *UNIVERSALS])
def test_forces_balance_everything_beyond_the_joint(seed: int) -> None:
    """Half of the mass in the gap hangs on the distal link."""
    case = mixed_case(seed)
    robot, shape = case.robot, case.solve()
    links = mirror_chain.frames(robot, shape.angles)
    last = len(robot.joints)
    gaps = robot.joints["mass"] + statics.gap_masses(robot, shape.angles).sum(axis=0)
    for j in range(last):
        crossing = robot.cables["last_link"] > j
        if robot.joints["kind"][j] == UNIVERSAL:
            start, end = mirror_chain.gap_ends(robot, links.real, j)
            pieces = (end - start) / np.linalg.norm(end - start, axis=1)[:, None]
        else:
            pieces = np.tile(mirror_chain.bisector(robot, links, shape.angles, j).real, (len(crossing), 1))
        total = shape.forces[j] - np.where(crossing, case.tensions, 0.0) @ pieces
        beyond = robot.links["mass"][j + 1 :].sum() + robot.cables["lock_mass"][robot.cables["last_link"] > j].sum()
        beyond += gaps[j] / 2 + gaps[j + 1 :].sum()
        total = total + beyond * case.field
        total = total + sum(np.array(load.force) for load in case.loads if load.link % (last + 1) > j)
        assert np.abs(total).max() < 1e-12 * (np.abs(case.tensions).sum() + 1.0)


def test_joints_that_would_have_to_pull_are_named() -> None:
    robot = smooth("hu2023-prototype")
    pulled = vb.Load(force=(0.0, 0.0, 20.0))
    shape = vb.shape_from_tensions(robot, [4.0] * 4, loads=[pulled], gravity=(0, 0, 0))
    assert shape.separated == tuple(range(1, 12))
    assert (shape.forces[:, 2] < 0).all()
    assert vb.shape_from_tensions(robot, [5.1] * 4, loads=[pulled], gravity=(0, 0, 0)).separated == ()
    part = vb.Load(force=(0.0, 0.0, 20.0), link=6)
    assert vb.shape_from_tensions(robot, [4.0] * 4, loads=[part], gravity=(0, 0, 0)).separated == tuple(range(1, 7))


# Cables held by length ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [*range(10), *UNIVERSALS])
def test_shape_from_lengths_is_where_elastic_cables_rest(seed: int) -> None:
    case = mixed_case(seed)
    rng = np.random.default_rng(seed)
    robot = case.robot
    straight = vb.Pose(robot, np.zeros(robot.freedoms)).cable_lengths
    EA = rng.uniform(200.0, 2000.0, len(robot.cables))
    rest = straight / (1 + case.tensions / EA) - rng.uniform(-3e-4, 3e-4, len(robot.cables))
    shape = vb.shape_from_lengths(robot, rest, stiffness_EA=EA, gravity=case.gravity, loads=case.loads)
    cables = statics.Elastic(rest, EA)
    oracle = statics.minimise(robot, cables, case.field, case.loads, start=shape.angles + rng.uniform(-0.02, 0.02))
    assert oracle.settled
    np.testing.assert_allclose(shape.angles, oracle.angles, rtol=0, atol=1e-9)
    expected = cables.tensions(vb.Pose(robot, shape.angles).cable_lengths)
    np.testing.assert_allclose(shape.tensions[:, 0], expected, rtol=1e-9, atol=1e-9 * expected.max())
    unbalanced = statics.residual(robot, shape.angles, cables, case.field, case.loads)
    assert np.abs(unbalanced).max() < 1e-9 * shape.moment_scale


@pytest.mark.parametrize("seed", [*range(5), *UNIVERSALS])
def test_compliance_of_held_cables_is_that_of_the_oracle(seed: int) -> None:
    """All cables taut: the stiffness of a cable counts, and is smooth."""
    case = mixed_case(seed)
    robot = case.robot
    tensions = np.full(len(robot.cables), case.tensions.mean())
    held = vb.shape_from_tensions(robot, tensions, gravity=case.gravity, loads=case.loads)
    EA = np.full(len(robot.cables), 500.0)
    cables = statics.Elastic(held.lengths / (1 + tensions / EA), EA)
    shape = vb.shape_from_lengths(
        robot, cables.rest, stiffness_EA=EA, gravity=case.gravity, loads=case.loads, start=held.angles
    )
    np.testing.assert_allclose(shape.angles, held.angles, rtol=0, atol=1e-9)
    expected = statics.compliance(robot, shape.angles, cables, case.field, case.loads, step=3e-4)
    size = np.abs(expected).max()
    np.testing.assert_allclose(shape.compliance, expected, rtol=0, atol=1e-8 * size)
    assert np.abs(shape.compliance - held.compliance).max() > 1e-5 * size


def test_a_cable_with_room_to_spare_is_slack() -> None:
    robot = smooth("hu2023-prototype")
    rest = vb.Pose(robot, np.zeros(11)).cable_lengths + np.array([-1e-3, 0.0, 4e-3, 0.0])
    shape = vb.shape_from_lengths(robot, rest, stiffness_EA=2e3, gravity="ceiling")
    assert shape.tensions[2].max() == 0.0
    assert shape.lengths[2] < rest[2]
    assert shape.tensions[0].min() > 0.01
    cables = statics.Elastic(rest, np.full(4, 2e3))
    unbalanced = statics.residual(robot, shape.angles, cables, shape.gravity)
    assert np.abs(unbalanced).max() < 1e-9 * shape.moment_scale
