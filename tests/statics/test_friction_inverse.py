"""Tensions for a tip or a shape when cables rub: from the straight robot, or as the next step of a path."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from tests.statics.test_batch import assert_same_shape

import vertebra as vb
from vertebra.errors import Infeasible, InputError, OutOfRange
from vertebra.mechanics.problem import Problem
from vertebra.statics.tip import _Goal, _Tip

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
Law = vb.FrictionLaw
# Robot, largest tension in N, places to reach by a single call, steps of a path: here, and in the soak.
ROBOTS: dict[str, tuple[vb.Robot, float, tuple[int, int], tuple[int, int]]] = {
    "a": (vb.load("yang2023-a"), 12.0, (4, 50), (60, 400)),
    "b": (vb.load("yang2023-b"), 20.0, (2, 25), (40, 300)),
    "c": (vb.load("yang2023-c"), 10.0, (1, 8), (15, 100)),
}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "a": ("a", {}),
    "a, paper": ("a", {"closure": "paper"}),
    "a, sticking": ("a", {"friction": Law.constant(0.4, 1e-3), "gravity": "ceiling"}),
    "b": ("b", {}),
    "b, loaded": ("b", {"friction": Law.of(lambda t: 0.1 + t), "loads": [vb.Load(force=(0.1, 0.05, 0.0))]}),
    "c": ("c", {}),
}
every_case = pytest.mark.parametrize("name", CASES)


def case(name: str) -> tuple[vb.Robot, float, dict[str, Any], int, int]:
    which, given = CASES[name]
    robot, most, places, steps = ROBOTS[which]
    return robot, most, given, places[SOAK], steps[SOAK]


@every_case
def test_reachable_places_are_reached(name: str) -> None:
    robot, most, given, count, _ = case(name)
    rows = np.random.default_rng(5).uniform(0.0, most, (count, len(robot.cables)))
    for row in rows:
        wanted = vb.shape_from_tensions(robot, row, **given).tip
        result = vb.tensions_for_tip(robot, wanted, **given)
        assert result.reached
        assert result.error <= 1e-6
        assert result.error == pytest.approx(np.linalg.norm(result.shape.tip - wanted), abs=1e-15)
        forward = vb.shape_from_tensions(robot, result.tensions, **given)
        assert_same_shape(result.shape, forward)
        assert np.linalg.norm(forward.tip - wanted) <= 1e-6


def wandering(robot: vb.Robot, most: float, count: int, seed: int) -> np.ndarray:
    """(count, cables) tensions that go here and there by small steps, N."""
    rng = np.random.default_rng(seed)
    rows = [rng.uniform(0.3 * most, 0.7 * most, len(robot.cables))]
    for i in range(count):
        if i % 6 == 0:
            toward = rng.uniform(0.02 * most, most, len(robot.cables))
        rows.append(rows[-1] + 0.15 * (toward - rows[-1]))
    return np.array(rows[1:])


@every_case
def test_the_tip_follows_a_path_that_some_tensions_give(name: str) -> None:
    """Step by step from the answer before, with cables that slip to and fro."""
    robot, most, given, _, count = case(name)
    wanted = vb.ShapePath(robot, **given).follow(wandering(robot, most, count, 1)).tip
    path = vb.ShapePath(robot, **given)
    jumps, missed = [], 0
    for place in wanted:
        before, last = path.save().to_mapping(), path.tensions
        result = vb.tensions_for_tip(robot, place, path=path, check=False)
        assert result.reached == (result.error <= 1e-6)
        # Its history is another than that of the tensions which gave the places: a few may be out of its reach.
        missed += not result.reached
        assert path.save().to_mapping() == before
        assert_same_shape(path.step(result.tensions), result.shape)
        if last is not None:
            jumps.append(np.abs(result.tensions - last).max())
    print(f"{name}: largest step of a tension {np.percentile(jumps, [50, 99, 100])} N")
    assert missed <= 0.01 * count
    # Next to the last tensions, not anywhere.
    assert np.median(jumps) < 0.15 * most


def test_the_same_place_needs_other_tensions_on_the_way_back() -> None:
    robot = ROBOTS["b"][0]
    path = vb.ShapePath(robot)
    path.step([10.0, 9.0, 2.0, 3.0])
    eased = path.preview([6.0, 6.0, 2.0, 2.5])
    back = vb.tensions_for_tip(robot, eased.tip, path=path)
    np.testing.assert_allclose(path.step(back.tensions).tip, eased.tip, rtol=0, atol=1e-6)
    # Without that history these tensions lead elsewhere.
    alone = vb.shape_from_tensions(robot, back.tensions)
    assert np.linalg.norm(alone.tip - eased.tip) > 1e-3


def test_staying_where_the_tip_is_needs_no_change() -> None:
    robot = ROBOTS["b"][0]
    path = vb.ShapePath(robot)
    shape = path.step([9.0, 4.0, 1.0, 2.0])
    result = vb.tensions_for_tip(robot, shape.tip, path=path)
    np.testing.assert_array_equal(result.tensions, [9.0, 4.0, 1.0, 2.0])


def test_the_first_step_of_a_path_is_the_single_call() -> None:
    robot = ROBOTS["a"][0]
    wanted = vb.shape_from_tensions(robot, [6.0, 4.0, 1.0, 2.0]).tip
    fresh = vb.tensions_for_tip(robot, wanted, path=vb.ShapePath(robot))
    np.testing.assert_allclose(fresh.tensions, vb.tensions_for_tip(robot, wanted).tensions, rtol=1e-6, atol=1e-6)


def test_a_path_stepped_by_lengths_may_be_asked_too() -> None:
    robot = ROBOTS["a"][0]
    path = vb.ShapePath(robot)
    shape = path.step(shortenings=[5e-4, 3e-4, -3e-4, -1e-4])
    result = vb.tensions_for_tip(robot, shape.tip, path=path)
    assert result.reached
    assert path.tensions is None
    assert path.steps == 1


def test_places_beyond_reach_are_refused_and_the_path_stays() -> None:
    robot = ROBOTS["a"][0]
    path = vb.ShapePath(robot)
    path.step([6.0, 4.0, 1.0, 2.0])
    before = path.save().to_mapping()
    for given in ({"path": path}, {}):
        with pytest.raises(Infeasible, match="the tip gets within") as caught:
            vb.tensions_for_tip(robot, (0.0, 0.0, 0.2), upper=20.0, **given)  # type: ignore[arg-type]
        assert caught.value.amount > 0.1
        assert not caught.value.result.reached
        best = vb.tensions_for_tip(robot, (0.0, 0.0, 0.2), upper=20.0, check=False, **given)  # type: ignore[arg-type]
        assert best.error == caught.value.amount
    assert path.save().to_mapping() == before


def test_bounds_hold_on_a_path() -> None:
    robot = ROBOTS["b"][0]
    path = vb.ShapePath(robot)
    path.step([4.0, 4.0, 3.0, 3.0])
    wanted = path.preview([6.0, 5.0, 3.0, 3.0]).tip
    result = vb.tensions_for_tip(robot, wanted, path=path, lower=2.0, upper=8.0)
    assert (result.tensions >= 2.0).all()
    assert (result.tensions <= 8.0).all()


def test_stiffness_may_be_wanted_with_friction() -> None:
    robot = ROBOTS["a"][0]
    shape = vb.shape_from_tensions(robot, [8.0, 6.0, 4.0, 5.0])
    wanted = 1.0 / shape.compliance[1, 1]
    result = vb.tensions_for_tip(robot, shape.tip, stiffness=((0, 1, 0), float(wanted)))
    assert result.reached
    assert 1.0 / result.shape.compliance[1, 1] == pytest.approx(wanted, rel=1e-4)


WRONG: dict[str, dict[str, Any]] = {
    "gravity": {"gravity": "wall"},
    "loads": {"loads": [vb.Load(force=(0, 0, 1))]},
    "friction": {"friction": 0.2},
    "no friction": {"friction": 0},
    "start": {"start": np.zeros(6)},
    "closure": {"closure": "paper"},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_path_has_its_own_rules(name: str) -> None:
    robot = ROBOTS["a"][0]
    with pytest.raises(InputError, match="path"):
        vb.tensions_for_tip(robot, (0, 0, 0.07), path=vb.ShapePath(robot), **WRONG[name])


@pytest.mark.parametrize("path", [3, "path", vb.ShapePath(ROBOTS["b"][0]), vb.ShapePath(ROBOTS["b"][0]).save()])
def test_wrong_paths_are_refused(path: Any) -> None:
    with pytest.raises(InputError, match="path"):
        vb.tensions_for_tip(ROBOTS["a"][0], (0, 0, 0.07), path=path)


# The slope of the tip that the search goes by.


@pytest.mark.parametrize("closure", ["virtual-work", "paper"])
@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_how_the_tip_answers_to_tensions(name: str, closure: Any) -> None:
    robot, most, _, _ = ROBOTS[name]
    pull = np.random.default_rng(3).uniform(0.2 * most, most, len(robot.cables))
    problem = Problem.of(robot, None, (), None, closure)
    tip = _Tip(problem, _Goal(np.zeros(3), 1.0, None, 0.0), None)
    residual = tip.residual(pull)
    assert residual is not None
    slope = tip.slope(pull, residual).copy()
    h = 1e-5
    for k, unit in enumerate(np.eye(len(pull))):
        ends = [vb.shape_from_tensions(robot, pull + s * h * unit, closure=closure).tip for s in (1, -1)]
        np.testing.assert_allclose(slope[:, k], (ends[0] - ends[1]) / (2 * h), rtol=0, atol=1e-6 * np.abs(slope).max())


# Tensions for a shape.


@pytest.mark.parametrize("closure", ["virtual-work", "paper"])
@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_tensions_for_a_shape_hold_it(name: str, closure: Any) -> None:
    robot, most, _, _ = ROBOTS[name]
    for row in np.random.default_rng(7).uniform(0.0, most, (10 if SOAK else 4, len(robot.cables))):
        wanted = vb.shape_from_tensions(robot, row, closure=closure)
        result = vb.tensions_for_shape(robot, wanted.angles, closure=closure)
        assert result.feasible
        assert result.stable
        assert np.linalg.norm(result.tensions) <= np.linalg.norm(row) * (1 + 1e-9)
        assert np.abs(result.residual).max() <= 1e-6 * result.shape.moment_scale
        np.testing.assert_array_equal(result.shape.slip, wanted.slip)
        forward = vb.shape_from_tensions(robot, result.tensions, closure=closure)
        np.testing.assert_allclose(forward.angles, wanted.angles, rtol=0, atol=1e-6)


def test_friction_changes_the_tensions_that_hold_a_shape() -> None:
    robot = ROBOTS["b"][0]
    shape = vb.shape_from_tensions(robot, [12.0, 9.0, 2.0, 4.0])
    with_friction = vb.tensions_for_shape(robot, shape.angles)
    without = vb.tensions_for_shape(robot, shape.angles, friction=0, check=False)
    assert np.abs(with_friction.tensions - without.tensions).max() > 0.1
    assert not without.feasible


def test_shapes_that_no_tensions_hold_are_refused() -> None:
    robot = ROBOTS["a"][0]
    with pytest.raises(Infeasible, match="joint"):
        vb.tensions_for_shape(robot, [0.3, -0.3, 0.3, -0.3, 0.3, -0.3])
    with pytest.raises(OutOfRange, match="friction law holds a cable fast"):
        vb.tensions_for_shape(robot, np.full(6, 0.4), friction=10.0)
    result = vb.tensions_for_shape(robot, np.full(6, 0.4), friction=10.0, check=False)
    assert result.shape.locked == (1, 2, 3, 4, 5, 6)
    for values in (result.tensions, result.residual, result.shape.tensions):
        assert np.isfinite(values).all()
