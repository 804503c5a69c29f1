"""Moments fixed in the world: they have no energy, and an unsymmetric stiffness."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.oracles import statics
from tests.statics.cases import Case, any_direction, random_case

import vertebra as vb
from vertebra.robot.tables import PIN

MIXES = [("rolling",), ("flexure",), ("rolling", "flexure"), ("rolling", "flexure", "pin")]


def moment_on(case: Case, rng: np.random.Generator, link: int, share: float) -> vb.Load:
    """A moment of a share of what the weight of the straight robot could exert."""
    size = share * 9.8 * case.robot.mass * case.robot.length / 2
    return vb.Load(moment=tuple(size * any_direction(rng)), link=link)


def turned_case(seed: int) -> Case:
    """Moments at the tip and on an inner link, and a force."""
    rng = np.random.default_rng([31, seed])
    case = random_case(rng, MIXES[seed % len(MIXES)], int(rng.integers(3, 12)), twist=rng.uniform(0.5, 1.57))
    inner = int(rng.integers(1, len(case.robot.links) - 1))
    # Hanging pins have only the weight beyond them to resist a moment.
    share = 0.01 if (case.robot.joints["kind"] == PIN).any() else 0.2
    return case.loaded(moment_on(case, rng, -1, share), moment_on(case, rng, inner, share))


@pytest.mark.parametrize("seed", range(20))
def test_moments_balance_the_oracle(seed: int) -> None:
    case = turned_case(seed)
    shape = case.solve()
    found = np.abs(statics.residual(case.robot, shape.angles, *case.given)).max()
    assert found < 1e-11 * shape.moment_scale


@pytest.mark.parametrize("seed", range(20))
def test_robot_rests_where_moments_leave_it(seed: int) -> None:
    case = turned_case(seed)
    rest = statics.minimise(case.robot, *case.given)
    assert rest.settled
    np.testing.assert_allclose(case.solve().angles, rest.angles, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_newton_knows_the_unsymmetric_stiffness(seed: int) -> None:
    """From a hundredth of a radian away an exact Newton step leaves 1e-4 of the error, the next one 1e-8 and less."""
    case = turned_case(seed)
    shape = case.solve()
    H = statics.stiffness_matrix(case.robot, shape.angles, *case.given)
    assert np.abs(H - H.T).max() > 1e-5 * np.abs(H).max()
    push = np.random.default_rng(seed).uniform(-0.01, 0.01, len(shape.angles))
    again = case.solve(start=shape.angles + push)
    np.testing.assert_allclose(again.angles, shape.angles, rtol=0, atol=1e-11)
    assert again.iterations <= 5


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("what", ["force", "moment"])
def test_a_small_change_of_load_moves_the_tip_by_the_compliance(seed: int, what: str) -> None:
    case = turned_case(seed)
    shape = case.solve()
    rng = np.random.default_rng(seed)
    # Small enough to be linear, large enough for a residual of round-off: a rotation of about a thousandth.
    column = slice(0, 3) if what == "force" else slice(3, 6)
    direction = any_direction(rng)
    size = 1e-3 / np.linalg.norm(shape.compliance[3:, column] @ direction)
    ends = [
        case.loaded(vb.Load(**{what: tuple(sign * size * direction)})).solve(start=shape.angles)
        for sign in (2, 1, -1, -2)
    ]
    moved = (-ends[0].tip + 8 * ends[1].tip - 8 * ends[2].tip + ends[3].tip) / (12 * size)
    expected = shape.compliance[:, column] @ direction
    np.testing.assert_allclose(moved, expected[:3], rtol=0, atol=1e-7 * np.linalg.norm(expected[:3]))
    angles = (-ends[0].angles + 8 * ends[1].angles - 8 * ends[2].angles + ends[3].angles) / (12 * size)
    turned = statics.tip_jacobian(case.robot, shape.angles)[3:] @ angles
    np.testing.assert_allclose(turned, expected[3:], rtol=0, atol=1e-7 * np.linalg.norm(expected[3:]))


@pytest.mark.parametrize("seed", range(12))
def test_compliance_is_unsymmetric_as_the_oracle_has_it(seed: int) -> None:
    case = turned_case(seed)
    shape = case.solve()
    expected = statics.compliance(case.robot, shape.angles, *case.given)
    for rows in (slice(0, 3), slice(3, 6)):
        for columns in (slice(0, 3), slice(3, 6)):
            block = expected[rows, columns]
            np.testing.assert_allclose(shape.compliance[rows, columns], block, rtol=0, atol=1e-9 * np.abs(block).max())
    assert np.abs(expected - expected.T).max() > 1e-5 * np.abs(expected).max()


def one_rolling_joint(azimuth: float) -> vb.Robot:
    ring = {"radius": 0.004, "azimuth": [azimuth, azimuth + math.pi]}
    joint = {"kind": "rolling", "radius": 0.01}
    section = {"joints": 1, "joint": joint, "azimuth": [azimuth], "link": {"length": 0.01}, "cables": ring}
    return vb.load({"vertebra": 1, "name": "one", "sections": [section]})


def test_one_joint_bends_by_the_closed_form() -> None:
    # V = -2 R sum T cos(q/2 -+ beta): with equal tensions M = 2 R T cos(beta) sin(q/2).
    azimuth, tension = 0.4, 3.0
    robot = one_rolling_joint(azimuth)
    axis = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    stiff = 2 * 0.01 * tension * math.cos(math.asin(0.4))
    for moment in (0.01, -0.03, 0.038):
        shape = vb.shape_from_tensions(robot, [tension] * 2, loads=[vb.Load(moment=tuple(moment * axis))])
        assert shape.angles[0] == pytest.approx(2 * math.asin(moment / stiff), abs=1e-13)
    across = vb.Load(moment=(0.5 * math.cos(azimuth), 0.5 * math.sin(azimuth), 0.7))
    assert abs(vb.shape_from_tensions(robot, [tension] * 2, loads=[across]).angles[0]) < 1e-14


def test_too_large_a_moment_is_refused_with_the_joint() -> None:
    robot = one_rolling_joint(0.0)
    with pytest.raises((vb.OutOfRange, vb.NoEquilibrium), match="joint 1"):
        vb.shape_from_tensions(robot, [3.0] * 2, loads=[vb.Load(moment=(0.0, 0.06, 0.0))])


def test_a_moment_does_not_care_where_on_its_link_it_acts() -> None:
    robot = vb.load("hu2023-prototype")
    shapes = [
        vb.shape_from_tensions(robot, [4.0] * 4, loads=[vb.Load(moment=(0.01, 0.02, 0.03), link=7, point=point)])
        for point in (None, (0.0, 0.0, 0.0), (0.05, -0.03, 0.2))
    ]
    for shape in shapes[1:]:
        np.testing.assert_array_equal(shape.angles, shapes[0].angles)


def test_a_moment_on_the_base_does_nothing() -> None:
    robot = vb.load("hu2023-prototype")
    loads = [vb.Load(force=(5, 5, 5), moment=(1, 2, 3), link=0)]
    free, loaded = (vb.shape_from_tensions(robot, [4.0, 4.0, 4.0, 6.0], loads=given) for given in ((), loads))
    np.testing.assert_allclose(loaded.angles, free.angles, rtol=0, atol=1e-13)
