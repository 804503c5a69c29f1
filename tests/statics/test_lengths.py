"""Shapes from cable lengths: elastic cables, taut or slack."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.oracles import mirror_chain, statics
from tests.robots import smooth
from tests.statics.cases import Case, random_case, small_motion

import vertebra as vb
from vertebra.errors import InputError
from vertebra.mechanics.kernels.newton import inspect_pose
from vertebra.mechanics.layout import REPORT_ENERGY, REPORT_SCALE, STATE_TAU
from vertebra.mechanics.problem import Problem
from vertebra.statics import Shape

SIDE = vb.Load(force=(0.02, 0.01, 0.0))
TWIST = vb.Load(moment=(2e-3, -1e-3, 3e-3))
CASES = {
    "prototype": ("hu2023-prototype", [3.0, 2.5, 3.0, 4.0], "ground", ()),
    "prototype, hanging": ("hu2023-prototype", [1.0, 1.5, 2.0, 1.0], "ceiling", (SIDE,)),
    "prototype, twisted": ("hu2023-prototype", [3.0, 4.0, 3.0, 5.0], "ground", (SIDE, TWIST)),
    "steel, wall": ("hu2023-spatial", [3.7, 2.4, 1.8, 5.1], "wall", ()),
    "flexures, heavy cables": ("yang2023-a", [10.0, 30.0, 30.0, 12.0], "wall", ()),
    "three sections": ("yang2023-c", [5, 9, 9, 5, 6, 8, 8, 6, 7, 4, 4, 7], "wall", ()),
    "three sections, twisted": ("yang2023-c", [5, 9, 9, 5, 6, 8, 8, 6, 7, 4, 4, 7], "wall", (SIDE, TWIST)),
}
every_case = pytest.mark.parametrize("name", CASES)


def named_case(name: str) -> Case:
    robot, tensions, gravity, loads = CASES[name]
    return Case(smooth(robot), np.array(tensions, float), gravity, loads)


def by_lengths(case: Case, lengths, **options) -> Shape:
    return vb.shape_from_lengths(case.robot, lengths, gravity=case.gravity, loads=case.loads, **options)


def straight_lengths(robot: vb.Robot) -> np.ndarray:
    return vb.Pose(robot, np.zeros(robot.freedoms)).cable_lengths


# Elastic cables -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("EA", [300.0, 2e4, 1e6])
@every_case
def test_tensions_to_lengths_and_back(name: str, EA: float) -> None:
    case = named_case(name)
    pulled = case.solve()
    shape = by_lengths(case, pulled.lengths / (1.0 + case.tensions / EA), stiffness_EA=EA)
    np.testing.assert_allclose(shape.angles, pulled.angles, rtol=0, atol=1e-9)
    np.testing.assert_allclose(shape.tensions, pulled.tensions, rtol=0, atol=1e-8 * case.tensions.max())
    np.testing.assert_allclose(shape.lengths, pulled.lengths, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(12))
def test_random_robots_there_and_back(seed: int) -> None:
    rng = np.random.default_rng([41, seed])
    kinds = [("rolling",), ("flexure",), ("rolling", "flexure"), ("rolling", "rolling")][seed % 4]
    case = random_case(rng, kinds, int(rng.integers(2, 14)))
    pulled = case.solve()
    EA = rng.uniform(200.0, 5000.0, len(case.tensions))
    rest = pulled.lengths / (1.0 + case.tensions / EA)
    shape = by_lengths(case, rest, stiffness_EA=EA, start=pulled.angles + rng.uniform(-0.02, 0.02, len(pulled.angles)))
    np.testing.assert_allclose(shape.angles, pulled.angles, rtol=0, atol=1e-9)
    np.testing.assert_allclose(shape.tensions, pulled.tensions, rtol=0, atol=1e-8 * case.tensions.max())


@pytest.mark.parametrize("EA", [300.0, 2e4])
@pytest.mark.parametrize("name", ["prototype, hanging", "flexures, heavy cables", "three sections"])
def test_slack_cables_do_not_pull(name: str, EA: float) -> None:
    case = named_case(name)
    case.tensions[::2] = 0.0
    pulled = case.solve()
    rest = pulled.lengths / (1.0 + case.tensions / EA)
    rest[::2] += 1e-4
    shape = by_lengths(case, rest, stiffness_EA=EA)
    assert (shape.tensions[::2] == 0.0).all()
    assert (shape.lengths[::2] <= rest[::2]).all()
    assert (shape.tensions[1::2, 0] > 0.0).all()
    np.testing.assert_allclose(shape.angles, pulled.angles, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_every_cable_is_either_slack_or_taut(seed: int) -> None:
    rng = np.random.default_rng([43, seed])
    robot = smooth(["hu2023-prototype", "yang2023-a", "yang2023-c"][seed % 3])
    EA = float(10.0 ** rng.uniform(2.0, 5.0))
    rest = straight_lengths(robot) * (1.0 - 50.0 / EA) + rng.uniform(-1e-3, 1e-3, len(robot.cables))
    shape = vb.shape_from_lengths(robot, rest, stiffness_EA=EA, check=False)
    stretch = shape.lengths - rest
    pull = shape.tensions[:, 0]
    assert (pull >= 0.0).all()
    assert (pull[stretch < 0.0] == 0.0).all()
    expected = np.maximum(stretch, 0.0) * EA / rest
    np.testing.assert_allclose(pull, expected, rtol=1e-9, atol=1e-12 * EA)


def elastic_stiffness(problem: Problem, cables: statics.Elastic, q: np.ndarray):
    """Torques (n,), dense stiffness (n, n), energy and torque scale at any pose with cables of given length."""
    work, pull = problem.workspace(by_length=True), np.empty(len(cables.rest))
    rate = cables.EA / cables.rest
    inspect_pose(*problem.system, pull, cables.rest, rate, work.friction, False, q, *work.scratch[1:])
    return (
        work.state[:, STATE_TAU].copy(),
        problem.dense_stiffness(work, by_length=True),
        work.report[REPORT_ENERGY],
        work.report[REPORT_SCALE],
    )


@pytest.mark.parametrize("spread", [1e-7, 0.1, 0.5])
@every_case
def test_torques_and_stiffness_at_any_pose(name: str, spread: float) -> None:
    case = named_case(name)
    robot, rng = case.robot, np.random.default_rng(7)
    q = rng.uniform(-spread, spread, len(robot.joints))
    EA = rng.uniform(500.0, 2000.0, len(robot.cables))
    # Taut and slack in turn, far enough from the corner between them for differences.
    offset = np.where(np.arange(len(robot.cables)) % 3 == 1, 5e-3, -5e-3)
    cables = statics.Elastic(vb.Pose(robot, q).cable_lengths + offset, EA)
    tau, H, energy, scale = elastic_stiffness(Problem.of(robot, case.gravity, case.loads), cables, q)
    given = (cables, case.field, case.loads)
    np.testing.assert_allclose(tau, statics.residual(robot, q, *given), rtol=0, atol=1e-13 * scale)
    expected = statics.stiffness_matrix(robot, q, *given, step=0.004)
    np.testing.assert_allclose(H, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert energy == pytest.approx(statics.potential(robot, q, *given).real, rel=1e-12)


@every_case
def test_energy_of_an_elastic_shape(name: str) -> None:
    case = named_case(name)
    EA = np.full(len(case.tensions), 3000.0)
    rest = case.solve().lengths / (1.0 + case.tensions / EA)
    shape = by_lengths(case, rest, stiffness_EA=EA)
    expected = statics.potential(case.robot, shape.angles, statics.Elastic(rest, EA), case.field, case.loads).real
    assert shape.energy == pytest.approx(expected, rel=1e-11)


def moved_tip(case: Case, shape: Shape, lengths, column: int, **options) -> np.ndarray:
    """(6,) motion of the tip per unit of one load component with the lengths held, by re-solving."""
    unit, total = np.eye(6)[column], np.zeros(6)
    size = 1e-3 / np.linalg.norm(shape.compliance[3:, column])
    for sign, weight in ((2, -1), (1, 8), (-1, -8), (-2, 1)):
        load = vb.Load(force=tuple(sign * size * unit[:3]), moment=tuple(sign * size * unit[3:]))
        moved = by_lengths(case.loaded(load), lengths, start=shape.angles, **options)
        total += weight * small_motion(moved, shape)
    return total / (12 * size)


@every_case
def test_compliance_with_lengths_held_is_the_motion_under_a_finite_load(name: str) -> None:
    case, EA = named_case(name), 500.0
    lengths = case.solve().lengths / (1.0 + case.tensions / EA)
    shape = by_lengths(case, lengths, stiffness_EA=EA)
    for column in (0, 4, 5):
        measured = moved_tip(case, shape, lengths, column, stiffness_EA=EA)
        for rows in (slice(0, 3), slice(3, 6)):
            size = np.abs(shape.compliance[rows, column]).max()
            np.testing.assert_allclose(shape.compliance[rows, column], measured[rows], rtol=0, atol=2e-5 * size)


@pytest.mark.parametrize("EA", [500.0, 2e4])
@every_case
def test_compliance_with_lengths_held_is_that_of_the_oracle(name: str, EA: float) -> None:
    case = named_case(name)
    if case.robot.name == "yang2023-c" and EA == 500.0:
        case.tensions[::3] = 0.0  # some slack cables
    lengths = case.solve().lengths / (1.0 + case.tensions / EA) + np.where(case.tensions > 0.0, 0.0, 1e-3)
    shape = by_lengths(case, lengths, stiffness_EA=EA)
    J = mirror_chain.tip_jacobian(case.robot, shape.angles)
    cables = statics.Elastic(lengths, np.full(len(lengths), EA))
    # A small step: the next cable to go slack is not far.
    H = statics.stiffness_matrix(
        case.robot, shape.angles, cables, case.field, case.loads, step=1e-4 * min(1.0, 1e3 / EA)
    )
    expected = J @ np.linalg.solve(H, J.T)
    for rows in (slice(0, 3), slice(3, 6)):
        for columns in (slice(0, 3), slice(3, 6)):
            block = expected[rows, columns]
            np.testing.assert_allclose(shape.compliance[rows, columns], block, rtol=0, atol=1e-6 * np.abs(block).max())


@every_case
def test_cables_held_by_length_make_the_tip_stiffer_than_cables_held_by_tension(name: str) -> None:
    case = named_case(name)
    pulled = case.solve()
    gives = [pulled.compliance[:3, :3]]
    for EA in (300.0, 3e3, 3e5):
        shape = by_lengths(case, pulled.lengths / (1.0 + case.tensions / EA), stiffness_EA=EA)
        gives.append(shape.compliance[:3, :3])
    for softer, stiffer in pairwise(gives):
        difference = softer - stiffer
        least = np.linalg.eigvalsh(0.5 * (difference + difference.T))[0]
        assert least > -1e-9 * np.abs(softer).max()


# How stiff cables are ------------------------------------------------------------------------------------------------


@every_case
def test_stiffer_cables_stretch_less(name: str) -> None:
    case = named_case(name)
    lengths = case.solve().lengths
    shapes = [by_lengths(case, lengths, stiffness_EA=EA) for EA in (1e4, 1e5, 1e6)]
    stretches = [np.abs(np.maximum(shape.lengths - lengths, 0.0)).max() for shape in shapes]
    # Ten times as stiff, a tenth of the stretch, as long as the same cables are taut.
    assert stretches[0] > 0.0
    assert stretches[2] < 0.3 * stretches[1] < 0.1 * stretches[0]
    for shape in shapes:
        assert shape.residual <= 1e-9 * shape.moment_scale


def test_common_pull_in_stretches_all_cables_alike() -> None:
    # Straight: the same tension in all, EA times the strain, however it is shared out.
    robot = smooth("hu2023-prototype")
    rest = straight_lengths(robot) - 1e-3
    shape = vb.shape_from_lengths(robot, rest, stiffness_EA=4e3)
    assert np.abs(shape.angles).max() < 1e-9
    np.testing.assert_allclose(shape.tensions, np.tile((4e3 * 1e-3 / rest)[:, None], 11), rtol=1e-9)


def test_the_usual_stiffness_is_that_of_thin_steel_rope() -> None:
    robot = smooth("hu2023-prototype")
    assert np.isinf(robot.cables["stiffness_EA"]).all()
    short = [1e-4, 2e-4, 1e-4, 3e-4]
    own = vb.shape_from_lengths(robot, shortenings=short)
    given = vb.shape_from_lengths(robot, shortenings=short, stiffness_EA=20e3)
    np.testing.assert_array_equal(own.angles, given.angles)
    np.testing.assert_array_equal(own.tensions, given.tensions)


def test_the_home_pose_needs_no_pretension() -> None:
    """Cables of exactly the straight length keep a standing robot all but straight, at hardly any tension."""
    robot = smooth("hu2023-prototype")
    shape = vb.shape_from_lengths(robot, shortenings=[0.0] * 4)
    assert np.abs(shape.tip - [0.0, 0.0, robot.length]).max() < 5e-3
    slackest = shape.tensions[:, 0].min()
    tight = vb.shape_from_lengths(robot, shortenings=[1e-4] * 4)
    assert np.abs(tight.angles).max() < 1e-9
    assert tight.tensions[:, 0].min() > slackest


@pytest.mark.parametrize("stiffness", [0.05, 1.0, 100.0, 1e4])
def test_soft_and_stiff_joints(stiffness: float) -> None:
    mapping = smooth("yang2023-a").to_mapping()
    mapping["sections"][0]["joint"] = {"kind": "flexure", "length": 0.006, "stiffness": stiffness}
    robot = smooth(mapping)
    lengths = vb.Pose(robot, np.full(6, 0.02)).cable_lengths
    shape = vb.shape_from_lengths(robot, lengths)
    cables = statics.Elastic(lengths, np.full(4, 2e4))
    unbalanced = statics.residual(robot, shape.angles, cables, robot.gravity)
    assert np.abs(unbalanced).max() <= 1e-9 * shape.moment_scale


def test_one_cable_alone_can_always_be_shortened() -> None:
    robot = smooth("hu2023-prototype")
    shape = vb.shape_from_lengths(robot, shortenings=[-0.1, 3e-3, -0.1, -0.1], gravity="ceiling")
    assert (shape.tensions[[0, 2, 3]] == 0.0).all()
    assert shape.lengths[1] == pytest.approx(straight_lengths(robot)[1] - 3e-3, abs=1e-5)


# Arguments ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("EA", [None, 2e3])
def test_shortenings_are_lengths_less_than_straight(EA) -> None:
    robot = smooth("yang2023-c")
    short = np.random.default_rng(0).uniform(-1e-3, 3e-4, 12)
    one = vb.shape_from_lengths(robot, shortenings=short, stiffness_EA=EA, check=False)
    other = vb.shape_from_lengths(robot, straight_lengths(robot) - short, stiffness_EA=EA, check=False)
    np.testing.assert_array_equal(one.angles, other.angles)
    np.testing.assert_array_equal(one.tensions, other.tensions)


def test_stiffness_comes_from_the_robot_file() -> None:
    mapping = smooth("hu2023-prototype").to_mapping()
    mapping["sections"][0]["cables"]["stiffness_EA"] = 4000.0
    soft, plain = smooth(mapping), smooth("hu2023-prototype")
    short = [1e-4, 2e-4, 1e-4, 3e-4]
    own = vb.shape_from_lengths(soft, shortenings=short)
    given = vb.shape_from_lengths(plain, shortenings=short, stiffness_EA=4000.0)
    each = vb.shape_from_lengths(plain, shortenings=short, stiffness_EA=[4000.0] * 4)
    np.testing.assert_array_equal(own.angles, given.angles)
    np.testing.assert_array_equal(own.angles, each.angles)
    stiffer = vb.shape_from_lengths(soft, shortenings=short, stiffness_EA=8000.0)
    assert np.abs(stiffer.angles - own.angles).max() > 1e-6


def test_cables_may_differ_in_stiffness() -> None:
    case = named_case("prototype")
    pulled = case.solve()
    EA = np.array([500.0, 1e6, 2e3, 1e5])
    shape = by_lengths(case, pulled.lengths / (1.0 + case.tensions / EA), stiffness_EA=EA)
    np.testing.assert_allclose(shape.angles, pulled.angles, rtol=0, atol=1e-9)
    np.testing.assert_allclose(shape.tensions[:, 0], case.tensions, rtol=1e-8)


def test_arguments_are_left_alone() -> None:
    robot = smooth("hu2023-prototype")
    lengths, EA, start = straight_lengths(robot) - 1e-4, np.full(4, 1e4), np.full(11, 0.01)
    kept = [array.copy() for array in (lengths, EA, start)]
    vb.shape_from_lengths(robot, lengths, stiffness_EA=EA, start=start)
    vb.shape_from_lengths(robot, lengths + 1e-3, start=start, check=False)
    for array, before in zip((lengths, EA, start), kept, strict=True):
        np.testing.assert_array_equal(array, before)


def test_a_wrong_cable_is_named() -> None:
    with pytest.raises(InputError, match="cable 3"):
        vb.shape_from_lengths(smooth("hu2023-prototype"), [0.1, 0.1, -0.1, 0.1])
