"""How the tip of a shape answers to tensions and to lengths of the cables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.robots import smooth
from tests.statics.cases import small_motion
from tests.statics.kinds import any_robot

import vertebra as vb
from vertebra.robot.arguments import axial_stiffness
from vertebra.statics import Shape

# Robot, tensions in N, friction.
CASES = {
    "rolling": (smooth("hu2023-prototype"), 5.0, None),
    "rolling, friction": (smooth("hu2023-prototype"), 5.0, 0.2),
    "flexures, friction": (vb.load("yang2023-b"), 8.0, None),
    "several sections, friction": (vb.load("yang2023-c"), 5.0, None),
    "universal": (any_robot(np.random.default_rng(1), 4, ("universal",)), 0.5, None),
    "backbone": (any_robot(np.random.default_rng(2), 4, ("backbone",)), 3.0, None),
    "backbone, friction": (any_robot(np.random.default_rng(2), 4, ("backbone",)), 3.0, 0.1),
    "mixed": (any_robot(np.random.default_rng(9), 12), 2.0, None),
}
every_case = pytest.mark.parametrize("name", CASES)


def drawn(name: str) -> tuple[vb.Robot, np.ndarray, dict[str, float]]:
    robot, level, friction = CASES[name]
    tensions = level * np.random.default_rng(0).uniform(0.7, 1.3, len(robot.cables))
    return robot, tensions, {} if friction is None else {"friction": friction}


def differences(solve: Callable[[np.ndarray], Shape], at: np.ndarray, shape: Shape, step: float) -> np.ndarray:
    """(6, cables) by fourth-order differences of shapes solved anew."""
    columns = []
    for k in range(len(at)):
        total = np.zeros(6)
        for sign, weight in ((2, -1), (1, 8), (-1, -8), (-2, 1)):
            beside = at.copy()
            beside[k] += sign * step
            total += weight * small_motion(solve(beside), shape)
        columns.append(total / (12 * step))
    return np.array(columns).T


def assert_slopes_agree(found: np.ndarray, wanted: np.ndarray) -> None:
    assert found.shape == wanted.shape
    for rows in (slice(0, 3), slice(3, 6)):
        np.testing.assert_allclose(found[rows], wanted[rows], rtol=0, atol=1e-6 * np.abs(wanted[rows]).max())


def natural_lengths(shape: Shape) -> np.ndarray:
    """Lengths without tension of cables that have these tensions in this shape."""
    mean = shape.tensions.sum(axis=1) / shape.robot.cables["last_link"]
    rest: np.ndarray = shape.lengths / (1.0 + mean / axial_stiffness(shape.robot, None))
    return rest


@every_case
def test_tip_by_tension_is_that_of_shapes_solved_anew(name: str) -> None:
    robot, tensions, friction = drawn(name)
    shape = vb.shape_from_tensions(robot, tensions, **friction)
    solve = lambda pull: vb.shape_from_tensions(robot, pull, start=shape.angles, **friction)  # noqa: E731
    assert_slopes_agree(shape.tip_by_tension, differences(solve, tensions, shape, 1e-5 * tensions.min()))


@every_case
def test_tip_by_length_is_that_of_shapes_solved_anew(name: str) -> None:
    robot, tensions, friction = drawn(name)
    pulled = vb.shape_from_tensions(robot, tensions, **friction)
    rest = natural_lengths(pulled)
    shape = vb.shape_from_lengths(robot, rest, start=pulled.angles, **friction)
    np.testing.assert_allclose(shape.tensions_at_base, tensions, rtol=1e-6)
    solve = lambda lengths: vb.shape_from_lengths(robot, lengths, start=shape.angles, **friction)  # noqa: E731
    assert_slopes_agree(shape.tip_by_length, differences(solve, rest, shape, 1e-7))
    # A shape answers alike, however it was asked for.
    np.testing.assert_allclose(pulled.tip_by_length, shape.tip_by_length, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(shape.tip_by_tension, pulled.tip_by_tension, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in CASES if "friction" in name])
def test_on_a_path_the_history_counts(name: str) -> None:
    robot, tensions, friction = drawn(name)
    path = vb.ShapePath(robot, **friction)
    path.step(1.3 * tensions)
    before = path.save()
    shape = path.step(tensions)
    alone = vb.shape_from_tensions(robot, tensions, **friction)

    def again(command: np.ndarray) -> Shape:
        path.restore(before)
        return path.step(command)

    slope = differences(again, tensions, shape, 1e-4 * tensions.min())
    assert_slopes_agree(shape.tip_by_tension, slope)
    assert np.abs(alone.tip_by_tension - slope).max() > 1e-2 * np.abs(slope).max()
    path.restore(before)
    rest = natural_lengths(shape)
    held = path.step(lengths=rest)

    def at_lengths(lengths: np.ndarray) -> Shape:
        path.restore(before)
        return path.step(lengths=lengths)

    assert_slopes_agree(held.tip_by_length, differences(at_lengths, rest, held, 1e-8))


def test_a_slack_cable_moves_nothing() -> None:
    robot = smooth("yang2023-a")
    shape = vb.shape_from_lengths(robot, shortenings=[1e-3, 1e-3, -1e-3, -1e-3])
    slack = shape.tensions_at_base == 0.0
    assert slack.any()
    assert not slack.all()
    assert (shape.tip_by_length[:, slack] == 0.0).all()
    assert (shape.tip_by_length[:, ~slack] != 0.0).any()


def test_the_slope_of_an_unstable_shape_is_infinite() -> None:
    robot = smooth("hu2023-planar")
    shape = vb.shape_from_tensions(robot, [1e-3] * 4, gravity="ground", start=np.zeros(5), check=False)
    if shape.stable:
        pytest.fail("this should have buckled")
    assert np.isinf(shape.tip_by_tension).all()


def test_cables_of_the_stiffness_that_was_given() -> None:
    robot = smooth("hu2023-prototype")
    shortenings = [2e-3, 1e-3, 1e-3, 2e-3]
    soft = vb.shape_from_lengths(robot, shortenings=shortenings, stiffness_EA=500.0)
    rest = vb.Pose(robot, np.zeros(robot.freedoms)).cable_lengths - shortenings
    solve = lambda lengths: vb.shape_from_lengths(robot, lengths, stiffness_EA=500.0, start=soft.angles)  # noqa: E731
    assert_slopes_agree(soft.tip_by_length, differences(solve, rest, soft, 1e-7))
