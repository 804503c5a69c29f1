"""Tip compliance against finite loads, stiffness of the prototype against its published slope."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles import statics
from tests.robots import smooth
from tests.statics.cases import Case, random_case

import vertebra as vb
from vertebra.statics import Shape

CASES = {
    "prototype": ("hu2023-prototype", [4.0, 4.0, 4.0, 6.0], "ground", ()),
    "prototype, hanging": ("hu2023-prototype", [1.0, 1.5, 2.0, 1.0], "ceiling", ()),
    "steel, wall": ("hu2023-spatial", [3.7, 2.4, 1.8, 5.1], "wall", ()),
    "flexures, heavy cables": ("yang2023-a", [10.0, 30.0, 30.0, 10.0], "wall", ()),
    "three sections": ("yang2023-c", [5, 9, 9, 5, 6, 8, 8, 6, 7, 4, 4, 7], "wall", ()),
    "with a force": ("yang2023-a", [10.0, 30.0, 20.0, 10.0], "wall", (vb.Load(force=(0.3, 0.5, -0.2)),)),
    "with moments": (
        "hu2023-prototype",
        [6.0, 7.0, 6.0, 8.0],
        "ground",
        (vb.Load(moment=(0.02, -0.01, 0.05)), vb.Load(force=(0.05, 0.0, 0.0), moment=(0.02, 0.0, 0.03), link=4)),
    ),
    "flexures with moments": (
        "yang2023-a",
        [10.0, 30.0, 30.0, 10.0],
        "wall",
        (vb.Load(moment=(0.02, -0.01, 0.1)), vb.Load(moment=(0.02, 0.0, 0.03), link=3)),
    ),
}
every_case = pytest.mark.parametrize("name", CASES)


def named_case(name: str) -> Case:
    robot, tensions, gravity, loads = CASES[name]
    return Case(smooth(robot), np.array(tensions, float), gravity, loads)


def rotation_vector(R: np.ndarray) -> np.ndarray:
    """Of a small rotation, to second order."""
    return np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2


def measured_column(case: Case, shape: Shape, column: int) -> np.ndarray:
    """(6,) motion of the tip per unit of one load component, by a fourth-order difference over re-solved shapes."""
    unit = np.eye(6)[column]
    # Linear to 1e-8 when the tip turns by a few thousandths.
    size = 2e-3 / max(np.linalg.norm(shape.compliance[3:, column]), 1e-6)
    total = np.zeros(6)
    for sign, weight in ((2, -1), (1, 8), (-1, -8), (-2, 1)):
        load = vb.Load(force=tuple(sign * size * unit[:3]), moment=tuple(sign * size * unit[3:]))
        moved = case.loaded(load).solve(start=shape.angles)
        turn = rotation_vector(moved.frames[-1, :3, :3] @ shape.frames[-1, :3, :3].T)
        total += weight * np.concatenate([moved.tip - shape.tip, turn])
    return total / (12 * size)


@every_case
def test_compliance_is_the_motion_under_a_finite_load(name: str) -> None:
    case = named_case(name)
    shape = case.solve()
    measured = np.stack([measured_column(case, shape, column) for column in range(6)], axis=-1)
    for rows in (slice(0, 3), slice(3, 6)):
        for columns in (slice(0, 3), slice(3, 6)):
            block = measured[rows, columns]
            np.testing.assert_allclose(shape.compliance[rows, columns], block, rtol=0, atol=1e-6 * np.abs(block).max())


@every_case
def test_compliance_is_that_of_the_oracle(name: str) -> None:
    case = named_case(name)
    shape = case.solve()
    expected = statics.compliance(case.robot, shape.angles, *case.given)
    for rows in (slice(0, 3), slice(3, 6)):
        for columns in (slice(0, 3), slice(3, 6)):
            block = expected[rows, columns]
            np.testing.assert_allclose(shape.compliance[rows, columns], block, rtol=0, atol=1e-9 * np.abs(block).max())


@pytest.mark.parametrize("seed", range(15))
def test_compliance_of_random_robots_is_that_of_the_oracle(seed: int) -> None:
    rng = np.random.default_rng([37, seed])
    kinds = [("rolling",), ("flexure",), ("rolling", "flexure", "pin")][seed % 3]
    case = random_case(rng, kinds, int(rng.integers(1, 13)))
    shape = case.solve()
    expected = statics.compliance(case.robot, shape.angles, *case.given)
    np.testing.assert_allclose(shape.compliance, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_forces_alone_give_a_symmetric_compliance() -> None:
    C = named_case("prototype").solve().compliance
    np.testing.assert_allclose(C, C.T, rtol=0, atol=1e-13 * np.abs(C).max())


# Stiffness of the prototype (theory 3) ------------------------------------------------------------------------------


def softest(tension: float, gravity) -> float:
    """N/m of the straight prototype under a common tension."""
    robot = smooth("hu2023-prototype")
    shape = vb.shape_from_tensions(robot, [tension] * 4, gravity=gravity)
    assert np.abs(shape.angles).max() < 1e-12
    return shape.stiffness().stiffness[0]


def test_stiffness_is_exactly_linear_in_common_tension() -> None:
    tensions = np.array([0.1, 1.0, 3.0, 10.0, 100.0])
    slopes = np.array([softest(tension, (0, 0, 0)) for tension in tensions]) / tensions
    np.testing.assert_allclose(slopes, slopes[0], rtol=1e-12)
    assert slopes[0] == pytest.approx(0.844, abs=5e-4)


def test_gravity_softens_a_standing_robot_and_stiffens_a_hanging_one() -> None:
    shifts = {mount: softest(10.0, mount) - softest(10.0, (0, 0, 0)) for mount in ("ground", "ceiling")}
    assert shifts["ground"] == pytest.approx(-1.0, abs=0.1)
    assert shifts["ceiling"] == pytest.approx(1.0, abs=0.1)


@every_case
def test_tip_stiffness_inverts_the_linear_compliance(name: str) -> None:
    shape = named_case(name).solve()
    found = shape.stiffness()
    linear = shape.compliance[:3, :3]
    np.testing.assert_allclose(found.compliance, (linear + linear.T) / 2, rtol=0, atol=0)
    assert (np.diff(found.stiffness) >= 0).all()
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(3), rtol=0, atol=1e-12)
    for direction, stiffness in zip(found.directions, found.stiffness, strict=True):
        assert direction @ linear @ direction == pytest.approx(1 / stiffness, rel=1e-9)
        assert found.along(direction) == pytest.approx(stiffness, rel=1e-9)
