"""Tensions that bring the tip to a place, and as stiff as wanted."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests import robots
from tests.robots import smooth
from tests.statics.cases import Case

import vertebra as vb
from vertebra.errors import Infeasible, InputError
from vertebra.mechanics.problem import Problem
from vertebra.statics import Shape, TipTensions
from vertebra.statics.tip import _Goal, _Tip

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
        R = moved.frames[-1, :3, :3] @ shape.frames[-1, :3, :3].T
        turn = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
        total += weight * np.concatenate([moved.tip - shape.tip, turn])
    return total / (12 * step)


@every_question
def test_slope_of_the_tip_is_that_of_finite_differences(name: str) -> None:
    robot, _, gravity, loads, _ = QUESTIONS[name]
    _, _, shapes = reachable(name, 3, seed=4)
    for shape in shapes:
        case = Case(robot, shape.tensions[:, 0].copy(), gravity, loads)
        case.tensions[:] = np.maximum(case.tensions, 0.05 * case.tensions.max())
        shape = case.solve()
        tip = _Tip(Problem.of(robot, gravity, loads), _Goal(np.zeros(3), 1.0, None, 0.0), None)
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


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"position": (0.0, 0.1)}, "position"),
        ({"position": (0.0, 0.1, np.nan)}, "position"),
        ({"position": "up"}, "position"),
        ({"stiffness": 5.0}, "stiffness"),
        ({"stiffness": ((1.0, 0.0, 0.0), 0.0)}, "stiffness"),
        ({"stiffness": ((1.0, 0.0, 0.0), -5.0)}, "stiffness"),
        ({"stiffness": ((1.0, 0.0, 0.0), [5.0, 6.0])}, "stiffness"),
        ({"stiffness": ((1.0, 0.0, 0.0), "stiff")}, "stiffness"),
        ({"stiffness": ((0.0, 0.0, 0.0), 5.0)}, "stiffness"),
        ({"stiffness": ((1.0, 0.0), 5.0)}, "stiffness direction"),
        ({"lower": -1.0}, "lower"),
        ({"lower": 5.0, "upper": 4.0}, "upper"),
        ({"upper": [1.0, 2.0]}, "upper"),
        ({"start": np.zeros(3)}, "start"),
        ({"start": np.full(11, 3.5)}, "start"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"tolerance": "small"}, "tolerance"),
        ({"gravity": "moon"}, "gravity"),
        ({"loads": 3}, "loads"),
        ({"robot": "hu2023-prototype"}, "robot"),
        ({"robot": smooth("lapusan2022")}, "robot"),
    ],
)
def test_wrong_arguments_are_named(change, named) -> None:
    arguments = {"robot": smooth("hu2023-prototype"), "position": (0.0, 0.0, 0.15), **change}
    with pytest.raises(InputError) as caught:
        vb.tensions_for_tip(**arguments)
    assert caught.value.argument == named


def test_a_robot_without_cables_is_refused() -> None:
    mapping = smooth("yang2023-a").to_mapping()
    del mapping["sections"][0]["cables"]
    with pytest.raises(InputError, match="no cables"):
        vb.tensions_for_tip(smooth(mapping), (0.0, 0.0, 0.07))
