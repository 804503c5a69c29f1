"""Tensions that bring the tip to a place, and as stiff as wanted; with friction also as the next step of a path."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from tests import every_kind, robots
from tests.robots import smooth
from tests.statics.cases import Case, small_motion
from tests.statics.test_forward import assert_same_shape

import vertebra as vb
from vertebra.errors import Infeasible, InputError
from vertebra.mechanics.gradient import SIXTH
from vertebra.mechanics.problem import Closure, Problem
from vertebra.report.tensions import optimum_text
from vertebra.statics import Shape, TipTensions
from vertebra.statics.shape import Status
from vertebra.statics.tip_search import TipGoal, TipSearch

TARGETS = 84 if os.environ.get("VERTEBRA_SOAK") == "1" else 10
"""Places for each of the seven questions below."""


def three_cables() -> vb.Robot:
    ring = {"radius": "5 mm", "azimuth": ["0 deg", "120 deg", "240 deg"]}
    return robots.robot("three", robots.section(8, robots.ROLLING, azimuth=["0 deg", "90 deg"], cables=ring))


SIDE, TWIST = vb.Load(force=(0.02, -0.01, 0.01)), vb.Load(moment=(1e-3, 0.0, 2e-3), link=3)
# Robot, largest tension in N, gravity, loads, whether the tensions are bounded.
QUESTIONS = {
    "prototype": (smooth("hu2023-prototype"), 6.0, "ground", (), False),
    "prototype, hanging, bounded": (smooth("hu2023-prototype"), 4.0, "ceiling", (SIDE,), True),
    "prototype, twisted": (smooth("hu2023-prototype"), 12.0, "wall", (SIDE, TWIST), False),
    "steel": (smooth("hu2023-spatial"), 8.0, "wall", (), False),
    "planar, bounded": (smooth("hu2023-planar"), 8.0, "wall", (), True),
    "flexures": (smooth("yang2023-a"), 40.0, "wall", (SIDE,), False),
    "three cables": (three_cables(), 5.0, "ceiling", (), False),
}
every_question = pytest.mark.parametrize("name", QUESTIONS)


def reachable(name: str, count: int, seed: int):
    """Solver options, and shapes that some tensions within the bounds give: even, uneven and with slack cables."""
    robot, size, gravity, loads, bounded = QUESTIONS[name]
    rng = np.random.default_rng(seed)
    low = 0.02 * size if bounded else 0.0
    rows = rng.uniform(low, size, (8 * count, len(robot.cables)))
    uneven = rng.uniform(size=len(rows)) < 0.4
    rows[uneven] = np.maximum(low, size * 10.0 ** rng.uniform(-2.0, 0.0, rows[uneven].shape))
    rows[rng.uniform(size=rows.shape) < 0.05] = low
    shapes = vb.shapes_from_tensions(robot, rows, gravity=gravity, loads=loads)
    chosen = np.flatnonzero(shapes.solved)[:count]
    assert len(chosen) == count
    bounds = {"lower": low, "upper": size} if bounded else {}
    return robot, {"gravity": gravity, "loads": loads, **bounds}, [shapes.shape(int(i)) for i in chosen]


def assert_honest(robot, options, result: TipTensions, position) -> None:
    """What the result says of itself is what a forward solve says of its tensions."""
    given = {key: options[key] for key in ("gravity", "loads")}
    forward = vb.shape_from_tensions(robot, result.tensions, check=False, **given)
    np.testing.assert_array_equal(forward.angles, result.shape.angles)
    assert result.error == pytest.approx(np.linalg.norm(forward.tip - position), abs=1e-15)
    low, high = options.get("lower", 0.0), options.get("upper", np.inf)
    assert (result.tensions >= low).all()
    assert (result.tensions <= high).all()
    edge = np.flatnonzero((result.tensions == low) | (result.tensions == high)) + 1
    assert result.at_bounds == tuple(edge.tolist())


@every_question
def test_reachable_places_are_reached(name: str) -> None:
    robot, options, shapes = reachable(name, TARGETS, seed=1)
    missed = 0
    for shape in shapes:
        result = vb.tensions_for_tip(robot, shape.tip, check=False, **options)
        assert_honest(robot, options, result, shape.tip)
        assert result.stiffness is None
        assert result.reached == (result.error <= 1e-6 and result.shape.status == 0)
        missed += not result.reached
    print(f"{name}: {TARGETS - missed} of {TARGETS} places reached")
    assert missed <= 0.01 * TARGETS


@every_question
def test_reachable_places_are_reached_as_stiff_as_wanted(name: str) -> None:
    count = max(TARGETS // 2, 1)
    robot, options, shapes = reachable(name, count, seed=2)
    rng = np.random.default_rng(3)
    missed = 0
    for shape in shapes:
        direction = rng.normal(size=3)
        if robot.name == "hu2023-planar":
            direction[1] = 0.0  # its links cannot leave their plane
        wanted = shape.stiffness().along(direction)
        result = vb.tensions_for_tip(robot, shape.tip, stiffness=(direction, wanted), check=False, **options)
        assert_honest(robot, options, result, shape.tip)
        assert result.stiffness == pytest.approx(result.shape.stiffness().along(direction), rel=1e-9)
        if result.reached:
            assert result.error <= 1e-6
            assert result.stiffness == pytest.approx(wanted, rel=1e-4)
        missed += not result.reached
    print(f"{name}: {count - missed} of {count} places reached with the wanted stiffness")
    assert missed <= 0.05 * count


def test_stiffness_and_place_are_set_apart() -> None:
    """The same place at three stiffnesses: without weight, more tension in all cables does not change the shape."""
    robot = smooth("hu2023-prototype")
    weightless = {"gravity": (0.0, 0.0, 0.0)}
    shape = vb.shape_from_tensions(robot, [4.0, 4.0, 4.0, 6.0], **weightless)
    tip, own, totals = shape.tip, shape.stiffness().along((1.0, 0.0, 0.0)), []
    for wanted in (own, 1.5 * own, 3.0 * own):
        result = vb.tensions_for_tip(robot, tip, stiffness=((1.0, 0.0, 0.0), wanted), **weightless)
        np.testing.assert_allclose(result.shape.tip, tip, rtol=0, atol=1e-6)
        # The stiffness as a user would measure it: push by a little, see how far it goes.
        push = 1e-4
        pushed = vb.shape_from_tensions(robot, result.tensions, loads=[vb.Load(force=(push, 0.0, 0.0))], **weightless)
        pulled = vb.shape_from_tensions(robot, result.tensions, loads=[vb.Load(force=(-push, 0.0, 0.0))], **weightless)
        assert 2 * push / (pushed.tip[0] - pulled.tip[0]) == pytest.approx(wanted, rel=1e-3)
        totals.append(result.tensions.sum())
    assert totals == sorted(totals)


# The slope that the search follows ----------------------------------------------------------------------------------


def tip_motion(case: Case, shape: Shape, cable: int, step: float) -> np.ndarray:
    """(6,) motion of the tip per newton of one cable, by a fourth-order difference over re-solved shapes."""
    total = np.zeros(6)
    for sign, weight in ((2, -1), (1, 8), (-1, -8), (-2, 1)):
        tensions = case.tensions.copy()
        tensions[cable] += sign * step
        moved = vb.shape_from_tensions(case.robot, tensions, gravity=case.gravity, loads=case.loads, start=shape.angles)
        total += weight * small_motion(moved, shape)
    return total / (12 * step)


@every_question
def test_slope_of_the_tip_is_that_of_finite_differences(name: str) -> None:
    robot, _, gravity, loads, _ = QUESTIONS[name]
    _, _, shapes = reachable(name, 3, seed=4)
    for shape in shapes:
        case = Case(robot, shape.tensions[:, 0].copy(), gravity, loads)
        case.tensions[:] = np.maximum(case.tensions, 0.05 * case.tensions.max())
        shape = case.solve()
        tip = TipSearch(Problem.of(robot, gravity, loads), TipGoal(np.zeros(3), 1.0, None, 0.0), 1.0, None)
        np.testing.assert_array_equal(tip.residual(case.tensions), shape.tip)
        np.testing.assert_array_equal(tip.compliance, shape.compliance)
        slope = np.stack(
            [tip_motion(case, shape, k, 5e-3 * case.tensions[k]) for k in range(len(robot.cables))], axis=-1
        )
        for rows in (slice(0, 3), slice(3, 6)):
            np.testing.assert_allclose(tip.by_tension[rows], slope[rows], rtol=0, atol=1e-6 * np.abs(slope[rows]).max())


# Places out of reach ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("position", [(0.0, 0.0, 1.0), (0.3, 0.0, 0.0), (0.0, 0.0, -0.2)])
def test_a_place_out_of_reach_gives_the_closest_answer(position) -> None:
    robot = smooth("hu2023-prototype")
    bounds = {"lower": 1.0, "upper": 8.0}
    with pytest.raises(Infeasible, match="the tip gets within") as caught:
        vb.tensions_for_tip(robot, position, **bounds)
    error = caught.value
    result = error.result
    assert error.constraint == "tip position"
    assert error.amount == result.error == pytest.approx(np.linalg.norm(result.shape.tip - position))
    assert error.joint == 0
    assert not result.reached
    assert "not reached" in repr(result)
    assert f"{result.error * 1e3:.4g} mm" in str(error)
    loose = vb.tensions_for_tip(robot, position, check=False, **bounds)
    np.testing.assert_array_equal(loose.tensions, result.tensions)
    # Nothing that chance finds within the bounds comes closer.
    rng = np.random.default_rng(0)
    rows = rng.uniform(1.0, 8.0, (4000, 4))
    rows[:1000][rng.uniform(size=(1000, 4)) < 0.5] = 1.0
    rows[1000:2000][rng.uniform(size=(1000, 4)) < 0.5] = 8.0
    shapes = vb.shapes_from_tensions(robot, rows)
    closest = np.linalg.norm(shapes.tip[shapes.solved] - position, axis=1).min()
    assert result.error <= closest + 1e-5


def test_cables_at_their_bounds_are_named() -> None:
    robot = smooth("hu2023-prototype")
    result = vb.tensions_for_tip(robot, (0.3, 0.0, 0.0), lower=1.0, upper=8.0, check=False)
    assert result.at_bounds
    with pytest.raises(Infeasible, match=f"cable {result.at_bounds[0]}"):
        vb.tensions_for_tip(robot, (0.3, 0.0, 0.0), lower=1.0, upper=8.0)


def test_a_stiffness_out_of_reach_is_told_with_the_one_reached() -> None:
    robot = smooth("hu2023-prototype")
    tip = vb.shape_from_tensions(robot, [4.0, 4.0, 4.0, 6.0]).tip
    with pytest.raises(Infeasible, match="stiffness") as caught:
        vb.tensions_for_tip(robot, tip, stiffness=((1.0, 0.0, 0.0), 500.0), upper=10.0)
    result = caught.value.result
    assert not result.reached
    assert result.stiffness < 100.0
    assert f"{result.stiffness:.4g} N/m" in str(caught.value)


def test_the_tolerance_decides_what_is_reached() -> None:
    robot = smooth("hu2023-prototype")
    beyond = (0.0, 0.0, robot.length + 1e-4)
    assert not vb.tensions_for_tip(robot, beyond, check=False).reached
    assert vb.tensions_for_tip(robot, beyond, tolerance=2e-4).reached
    near = vb.shape_from_tensions(robot, [4.0, 4.0, 4.0, 6.0]).tip
    assert vb.tensions_for_tip(robot, near, tolerance=1e-9).error <= 1e-9


def test_a_place_a_hair_beyond_the_bounds_has_a_proven_nearest_answer() -> None:
    """Within the tolerance, though no tensions within the bounds meet it exactly."""
    robot = three_cables()
    tip = vb.shape_from_tensions(robot, [3.0, 0.9995, 2.0], gravity="ceiling").tip
    found = vb.tensions_for_tip(robot, tip, lower=1.0, gravity="ceiling")
    assert found.reached
    assert 1e-8 * robot.length < found.error < 5e-6 * robot.length
    assert found.kkt < 1e-7
    assert found.held == ((2, -1),)
    rng = np.random.default_rng(0)
    for beside in np.maximum(found.tensions + rng.normal(0.0, 1e-3, (200, 3)), 1.0):
        assert np.linalg.norm(vb.shape_from_tensions(robot, beside, gravity="ceiling").tip - tip) > found.error
    assert optimum_text(found).startswith("least distance")


def test_bounds_come_from_the_robot_file() -> None:
    mapping = smooth("hu2023-prototype").to_mapping()
    mapping["sections"][0]["cables"].update(pretension=2.0, max_tension=6.0)
    robot = smooth(mapping)
    tip = vb.shape_from_tensions(robot, [3.0, 3.5, 3.0, 5.0]).tip
    result = vb.tensions_for_tip(robot, tip)
    assert result.tensions.min() >= 2.0
    assert result.tensions.max() <= 6.0
    far = vb.shape_from_tensions(robot, [3.0, 3.5, 3.0, 30.0]).tip
    with pytest.raises(Infeasible):
        vb.tensions_for_tip(robot, far)


def test_a_start_chooses_the_branch() -> None:
    robot = smooth("hu2023-planar")
    critical = vb.critical_tension(robot, gravity="ground")
    tensions = 0.7 * critical * np.ones(4)
    for side in (-0.3, 0.3):
        start = np.full(5, side)
        shape = vb.shape_from_tensions(robot, tensions, gravity="ground", start=start)
        assert np.sign(shape.tip[0]) == np.sign(side)
        result = vb.tensions_for_tip(robot, shape.tip, gravity="ground", start=start, upper=critical)
        again = vb.shape_from_tensions(robot, result.tensions, gravity="ground", start=start)
        np.testing.assert_array_equal(again.angles, result.shape.angles)
        np.testing.assert_allclose(again.tip, shape.tip, rtol=0, atol=1e-6)


def test_the_search_is_repeatable() -> None:
    robot = smooth("hu2023-spatial")
    tip = vb.shape_from_tensions(robot, [3.7, 2.4, 1.8, 5.1]).tip
    first, again = (vb.tensions_for_tip(robot, tip) for _ in range(2))
    np.testing.assert_array_equal(first.tensions, again.tensions)


def test_a_robot_without_cables_is_refused() -> None:
    mapping = smooth("yang2023-a").to_mapping()
    del mapping["sections"][0]["cables"]
    with pytest.raises(InputError, match="no cables"):
        vb.tensions_for_tip(smooth(mapping), (0.0, 0.0, 0.07))


# With friction: from the straight robot, or as the next step of a path.


SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
Law = vb.FrictionLaw
# Robot, largest tension in N, places to reach by a single call, steps of a path: here, and in the soak.
ROUGH: dict[str, tuple[vb.Robot, float, tuple[int, int], tuple[int, int]]] = {
    "a": (vb.load("yang2023-a"), 12.0, (4, 50), (60, 400)),
    "b": (vb.load("yang2023-b"), 20.0, (2, 25), (40, 300)),
    "c": (vb.load("yang2023-c"), 10.0, (1, 8), (15, 100)),
}
ROUGH_CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "a": ("a", {}),
    "a, paper": ("a", {"closure": "paper"}),
    "a, sticking": ("a", {"friction": Law.constant(0.4, 1e-3), "gravity": "ceiling"}),
    "b": ("b", {}),
    "b, loaded": ("b", {"friction": Law.of(lambda t: 0.1 + t), "loads": [vb.Load(force=(0.1, 0.05, 0.0))]}),
    "c": ("c", {}),
}
every_rough_case = pytest.mark.parametrize("name", ROUGH_CASES)


def rough_case(name: str) -> tuple[vb.Robot, float, dict[str, Any], int, int]:
    which, given = ROUGH_CASES[name]
    robot, most, places, steps = ROUGH[which]
    return robot, most, given, places[SOAK], steps[SOAK]


@every_rough_case
def test_reachable_places_are_reached_with_friction(name: str) -> None:
    robot, most, given, count, _ = rough_case(name)
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


@every_rough_case
def test_the_tip_follows_a_path_that_some_tensions_give(name: str) -> None:
    """Step by step from the answer before, with cables that slip to and fro."""
    robot, most, given, _, count = rough_case(name)
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
    robot = ROUGH["b"][0]
    path = vb.ShapePath(robot)
    path.step([10.0, 9.0, 2.0, 3.0])
    eased = path.preview([6.0, 6.0, 2.0, 2.5])
    back = vb.tensions_for_tip(robot, eased.tip, path=path)
    np.testing.assert_allclose(path.step(back.tensions).tip, eased.tip, rtol=0, atol=1e-6)
    # Without that history these tensions lead elsewhere.
    alone = vb.shape_from_tensions(robot, back.tensions)
    assert np.linalg.norm(alone.tip - eased.tip) > 1e-3


def test_staying_where_the_tip_is_needs_no_change() -> None:
    robot = ROUGH["b"][0]
    path = vb.ShapePath(robot)
    shape = path.step([9.0, 4.0, 1.0, 2.0])
    result = vb.tensions_for_tip(robot, shape.tip, path=path)
    np.testing.assert_array_equal(result.tensions, [9.0, 4.0, 1.0, 2.0])


def test_the_first_step_of_a_path_is_the_single_call() -> None:
    robot = ROUGH["a"][0]
    wanted = vb.shape_from_tensions(robot, [6.0, 4.0, 1.0, 2.0]).tip
    fresh = vb.tensions_for_tip(robot, wanted, path=vb.ShapePath(robot))
    np.testing.assert_allclose(fresh.tensions, vb.tensions_for_tip(robot, wanted).tensions, rtol=1e-6, atol=1e-6)


def test_a_path_stepped_by_lengths_may_be_asked_too() -> None:
    robot = ROUGH["a"][0]
    path = vb.ShapePath(robot)
    shape = path.step(shortenings=[5e-4, 3e-4, -3e-4, -1e-4])
    result = vb.tensions_for_tip(robot, shape.tip, path=path)
    assert result.reached
    assert path.tensions is None
    assert path.steps == 1


def test_places_beyond_reach_are_refused_and_the_path_stays() -> None:
    robot = ROUGH["a"][0]
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
    robot = ROUGH["b"][0]
    path = vb.ShapePath(robot)
    path.step([4.0, 4.0, 3.0, 3.0])
    wanted = path.preview([6.0, 5.0, 3.0, 3.0]).tip
    result = vb.tensions_for_tip(robot, wanted, path=path, lower=2.0, upper=8.0)
    assert (result.tensions >= 2.0).all()
    assert (result.tensions <= 8.0).all()


def test_stiffness_may_be_wanted_with_friction() -> None:
    robot = ROUGH["a"][0]
    shape = vb.shape_from_tensions(robot, [8.0, 6.0, 4.0, 5.0])
    wanted = 1.0 / shape.compliance[1, 1]
    result = vb.tensions_for_tip(robot, shape.tip, stiffness=((0, 1, 0), float(wanted)))
    assert result.reached
    assert 1.0 / result.shape.compliance[1, 1] == pytest.approx(wanted, rel=1e-4)


OWN_TO_A_PATH: dict[str, dict[str, Any]] = {
    "gravity": {"gravity": "wall"},
    "loads": {"loads": [vb.Load(force=(0, 0, 1))]},
    "friction": {"friction": 0.2},
    "no friction": {"friction": 0},
    "start": {"start": np.zeros(6)},
    "closure": {"closure": "paper"},
}


@pytest.mark.parametrize("name", OWN_TO_A_PATH)
def test_a_path_has_its_own_rules(name: str) -> None:
    robot = ROUGH["a"][0]
    with pytest.raises(InputError, match="path"):
        vb.tensions_for_tip(robot, (0, 0, 0.07), path=vb.ShapePath(robot), **OWN_TO_A_PATH[name])


@pytest.mark.parametrize("path", [3, "path", vb.ShapePath(ROUGH["b"][0]), vb.ShapePath(ROUGH["b"][0]).save()])
def test_wrong_paths_are_refused(path: Any) -> None:
    with pytest.raises(InputError, match="path"):
        vb.tensions_for_tip(ROUGH["a"][0], (0, 0, 0.07), path=path)


# The slope of the tip that the search follows.


@pytest.mark.parametrize("closure", ["virtual-work", "paper"])
@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_how_the_tip_answers_to_tensions(name: str, closure: Any) -> None:
    robot, most, _, _ = ROUGH[name]
    pull = np.random.default_rng(3).uniform(0.2 * most, most, len(robot.cables))
    check_slope(robot, pull, closure=closure)


@pytest.mark.parametrize("kind", every_kind.KINDS)
def test_how_the_tip_of_every_kind_answers_to_tensions(kind: str) -> None:
    for seed in range(3):
        question = every_kind.random_question((*map(ord, kind[:4]), seed), (kind,), moment=True)
        given = {"gravity": question.gravity, "loads": question.loads}
        if vb.shape_from_tensions(question.robot, question.tensions, check=False, **given).status == Status.SOLVED:
            check_slope(question.robot, question.tensions, **given)
            return
    raise AssertionError("no question has a stable shape")


def check_slope(
    robot: vb.Robot, pull: Any, gravity: Any = None, loads: Any = (), closure: Closure = "virtual-work"
) -> None:
    """The slope of position, rotation and stiffness, against differences of shapes solved anew."""
    problem = Problem.of(robot, gravity, loads, None, closure)
    goal = TipGoal(np.zeros(3), robot.length, np.array([0.6, 0.0, 0.8]), 20.0, np.eye(3), np.eye(3))
    tip = TipSearch(problem, goal, 1.0, None)
    assert tip.residual(pull) is not None
    slope, h = tip.slope(pull), 1e-4

    def residual(tensions: Any) -> Any:
        given = {"gravity": gravity, "loads": loads, "closure": closure}
        shape = vb.shape_from_tensions(robot, tensions, **given)
        return goal.residual(shape.tip, shape.frames[-1, :3, :3], shape.compliance)

    for k, unit in enumerate(np.eye(len(pull))):
        found = sum(weight * residual(pull + steps * h * unit) for steps, weight in SIXTH) / h
        np.testing.assert_allclose(slope[:, k], found, rtol=0, atol=1e-6 * np.abs(slope).max())
