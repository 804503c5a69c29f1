"""Tensions that hold a shape: feasible where they must be, and proven to be the smallest."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, nnls
from tests.oracles import mirror_chain, statics
from tests.robots import smooth
from tests.statics.cases import Case, random_case
from tests.statics.kinds import any_robot

import vertebra as vb
from vertebra.errors import Infeasible, InputError, OutOfRange, Unstable
from vertebra.statics import HoldingTensions
from vertebra.statics.hold import least_squares

SIDE, TWIST = vb.Load(force=(0.02, -0.03, 0.01)), vb.Load(moment=(1e-3, 2e-3, -1e-3), link=2)
CASES = {
    "prototype": ("hu2023-prototype", [4.0, 3.0, 4.0, 6.0], "ground", ()),
    "prototype, loaded": ("hu2023-prototype", [6.0, 7.0, 5.0, 9.0], "wall", (SIDE, TWIST)),
    "planar": ("hu2023-planar", [0.3, 2.4, 0.2, 5.1], "wall", ()),
    "steel": ("hu2023-spatial", [3.7, 2.4, 1.8, 5.1], "ceiling", ()),
    "dantuono": ("dantuono2023", [50.0, 60.0, 55.0, 40.0], "ceiling", ()),
    "flexures": ("yang2023-a", [10.0, 30.0, 20.0, 12.0], "wall", (SIDE,)),
    "more flexures": ("yang2023-b", [10.0, 12.0, 14.0, 11.0], "wall", ()),
    "three sections": ("yang2023-c", [5, 9, 8, 5, 6, 8, 9, 6, 7, 4, 5, 7], "wall", ()),
}
every_case = pytest.mark.parametrize("name", CASES)


def named_case(name: str) -> Case:
    robot, tensions, gravity, loads = CASES[name]
    return Case(smooth(robot), np.array(tensions, float), gravity, loads)


def hold(case: Case, angles, **options) -> HoldingTensions:
    # A preset may bound its tensions; these questions do not, unless they say so.
    free = {"lower": 0.0, "upper": np.inf}
    return vb.tensions_for_shape(case.robot, angles, gravity=case.gravity, loads=case.loads, **(free | options))


def torque_equations(case: Case, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A (n, cables) and b (n,) of the balance A T = b, by complex steps."""
    lengths = mirror_chain.segment_lengths(case.robot, mirror_chain.complex_steps(q)).sum(axis=-1)
    A = lengths.imag / statics.STEP
    b = -statics.residual(case.robot, q, np.zeros(len(case.robot.cables)), case.field, case.loads)
    return A, b


def bounds_of(count: int, lower, upper) -> tuple[np.ndarray, np.ndarray]:
    return np.broadcast_to(np.asarray(lower, float), count), np.broadcast_to(np.asarray(upper, float), count)


def assert_least_squares(A, b, pull, low, high) -> None:
    """The conditions of a bounded least-squares problem: no cable could do better by moving off its place."""
    size = np.abs(A).max()
    slope = A.T @ (A @ pull - b) / size
    tiny = 1e-9 * (np.abs(b).max() + size * np.abs(pull).max())
    assert (pull >= low).all()
    assert (pull <= high).all()
    assert (np.abs(slope[(low < pull) & (pull < high)]) <= tiny).all()
    assert (slope[pull == low] >= -tiny).all()
    assert (slope[pull == high] <= tiny).all()


def assert_least_norm(A, pull, low, high) -> None:
    """T = A^T y + what active bounds press: the certificate that no other solution is shorter."""
    touch = 1e-7 * pull.max()
    at_low, at_high = pull <= low + touch, pull >= high - touch
    unit = np.eye(len(pull))
    _, sizes, rows = np.linalg.svd(A)
    spanned = rows[: int((sizes > 1e-10 * sizes[0]).sum())]
    cone = np.vstack([spanned, -spanned, unit[at_low], -unit[at_high]]).T
    _, miss = nnls(cone, pull / np.linalg.norm(pull))
    assert miss < 1e-6


def least_sum(A, pull, low, high) -> float:
    """Smallest sum of tensions with the same torques, by a linear programme of the dense equations."""
    _, sizes, rows = np.linalg.svd(A)
    spanned = rows[: int((sizes > 1e-10 * sizes[0]).sum())]
    bounds = [(a, None if np.isinf(b) else b) for a, b in zip(low, high, strict=True)]
    answer = linprog(np.ones(len(pull)), A_eq=spanned, b_eq=spanned @ pull, bounds=bounds, method="highs")
    assert answer.status == 0
    return float(answer.fun)


# Shapes that cables give --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("minimise", ["norm", "sum"])
@every_case
def test_shapes_of_the_forward_solver_are_held(name: str, minimise: str) -> None:
    case = named_case(name)
    shape = case.solve()
    held = hold(case, shape.angles, minimise=minimise, check=False)
    assert held.feasible
    assert held.infeasible == ()
    assert np.abs(held.residual).max() < 1e-9 * shape.moment_scale
    unbalanced = statics.residual(case.robot, shape.angles, held.tensions, case.field, case.loads)
    assert np.abs(unbalanced).max() < 1e-9 * shape.moment_scale
    np.testing.assert_allclose(held.residual, unbalanced, rtol=0, atol=1e-12 * shape.moment_scale)
    A, b = torque_equations(case, shape.angles)
    low, high = bounds_of(len(case.tensions), 0.0, np.inf)
    assert_least_squares(A, b, held.tensions, low, high)
    if minimise == "norm":
        assert np.linalg.norm(held.tensions) <= np.linalg.norm(case.tensions) * (1 + 1e-9)
        assert_least_norm(A, held.tensions, low, high)
    else:
        assert held.tensions.sum() <= case.tensions.sum() * (1 + 1e-9)
        assert held.tensions.sum() == pytest.approx(least_sum(A, case.tensions, low, high), rel=1e-6)


@pytest.mark.parametrize("seed", range(24))
def test_random_robots_within_random_bounds(seed: int) -> None:
    rng = np.random.default_rng([47, seed])
    kinds = [("rolling",), ("flexure",), ("rolling", "flexure"), ("rolling", "rolling")][seed % 4]
    case = random_case(rng, kinds, int(rng.integers(1, 12)))
    shape = case.solve()
    low = case.tensions * rng.uniform(0.0, 1.0, len(case.tensions))
    high = case.tensions * rng.uniform(1.0, 2.0, len(case.tensions))
    A, b = torque_equations(case, shape.angles)
    for minimise in ("norm", "sum"):
        held = hold(case, shape.angles, lower=low, upper=high, minimise=minimise)
        assert held.feasible
        assert_least_squares(A, b, held.tensions, low, high)
        if minimise == "norm":
            assert_least_norm(A, held.tensions, low, high)
        else:
            assert held.tensions.sum() == pytest.approx(least_sum(A, case.tensions, low, high), rel=1e-6)


@every_case
def test_the_tensions_found_lead_back_to_the_shape(name: str) -> None:
    case = named_case(name)
    shape = case.solve()
    # Least tensions may buckle; those near the given ones do not.
    held = hold(case, shape.angles, lower=0.8 * case.tensions)
    assert held.stable
    again = vb.shape_from_tensions(
        case.robot, held.tensions, gravity=case.gravity, loads=case.loads, start=shape.angles
    )
    np.testing.assert_allclose(again.angles, shape.angles, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(held.shape.angles, shape.angles)
    np.testing.assert_allclose(held.shape.tensions[:, 0], held.tensions, rtol=0)
    assert held.shape.converged
    np.testing.assert_allclose(held.shape.compliance, again.compliance, rtol=0, atol=1e-4 * again.compliance.max())


# Shapes that they do not --------------------------------------------------------------------------------------------


def brute_force(A, b, low, high) -> float:
    """Least |A T - b| over all choices of cables at their bounds."""
    best = np.inf
    for places in itertools.product(("low", "high", "free"), repeat=len(low)):
        place = np.array(places)
        if (np.isinf(high) & (place == "high")).any():
            continue
        pull = np.where(place == "low", low, np.where(place == "high", high, 0.0))
        free = place == "free"
        if free.any():
            pull[free] = np.linalg.lstsq(A[:, free], b - A @ pull, rcond=1e-12)[0]
        if (pull >= low - 1e-9).all() and (pull <= high + 1e-9).all():
            best = min(best, float(np.linalg.norm(A @ pull - b)))
    return best


@pytest.mark.parametrize("minimise", ["norm", "sum"])
@pytest.mark.parametrize("seed", range(20))
def test_no_tensions_come_closer_to_a_shape_that_cables_cannot_hold(seed: int, minimise: str) -> None:
    rng = np.random.default_rng([53, seed])
    case = named_case(["prototype", "planar", "flexures", "dantuono"][seed % 4])
    q = rng.uniform(-0.4, 0.4, len(case.robot.joints))
    low, high = bounds_of(4, 0.0, np.inf) if seed % 3 else (rng.uniform(0.0, 2.0, 4), rng.uniform(3.0, 9.0, 4))
    held = hold(case, q, lower=low, upper=high, minimise=minimise, check=False)
    A, b = torque_equations(case, q)
    assert_least_squares(A, b, held.tensions, low, high)
    assert np.linalg.norm(held.residual) == pytest.approx(brute_force(A, b, low, high), rel=1e-8)
    np.testing.assert_allclose(held.residual, A @ held.tensions - b, rtol=0, atol=1e-12 * held.shape.moment_scale)
    assert not held.feasible
    assert not held.stable
    assert not held.shape.converged
    expected = np.flatnonzero(np.abs(held.residual) > 1e-6 * held.shape.moment_scale) + 1
    assert held.infeasible == tuple(expected.tolist())
    assert "does not hold joint" in repr(held)
    with pytest.raises(Infeasible) as caught:
        hold(case, q, lower=low, upper=high, minimise=minimise)
    error = caught.value
    assert error.joint == np.abs(held.residual).argmax() + 1
    assert error.amount == held.residual[error.joint - 1]
    assert error.constraint == "moment balance"
    assert f"joint {error.joint}" in str(error)
    np.testing.assert_array_equal(error.result.tensions, held.tensions)


def random_problem(rng: np.random.Generator):
    """Equations of low rank, with and without a solution, and bounds of all kinds."""
    n, c = rng.integers(1, 15), rng.integers(1, 14)
    rank = min(n, c, rng.integers(1, 8))
    A = 0.005 * rng.normal(size=(n, rank)) @ rng.normal(size=(rank, c))
    low = rng.uniform(0, 2, c) * (rng.uniform(size=c) < 0.5)
    high = np.where(rng.uniform(size=c) < 0.5, low + rng.uniform(0.1, 20, c), np.inf)
    b = A @ np.clip(rng.uniform(0, 10, c), low, high) + rng.choice([0.0, 0.01]) * rng.normal(size=n)
    return A, b, low, high


@pytest.mark.parametrize("minimise", ["norm", "sum"])
@pytest.mark.parametrize("seed", [15, 16])  # both hold a problem that takes more steps than it has cables
def test_bounded_least_squares_of_random_problems(seed: int, minimise: str) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(300):
        A, b, low, high = random_problem(rng)
        pull = least_squares(A, b, low, high, minimise)
        assert_least_squares(A, b, pull, low, high)
        if minimise == "norm" and pull.any():
            assert_least_norm(A, pull, low, high)
        elif minimise == "sum":
            assert pull.sum() == pytest.approx(least_sum(A, pull, low, high), rel=1e-6, abs=1e-6)


def test_the_tolerance_decides_what_is_held() -> None:
    case = named_case("prototype")
    q = case.solve().angles.copy()
    q[4] += 1e-4
    strict = hold(case, q, check=False)
    assert not strict.feasible
    share = np.abs(strict.residual).max() / strict.shape.moment_scale
    assert hold(case, q, check=False, tolerance=1.01 * share).feasible
    assert not hold(case, q, check=False, tolerance=0.99 * share).feasible


def test_bounds_that_are_too_tight_are_infeasible() -> None:
    case = named_case("prototype")
    shape = case.solve()
    assert hold(case, shape.angles, upper=6.5, lower=2.5).feasible
    with pytest.raises(Infeasible, match="widen the bounds"):
        hold(case, shape.angles, upper=3.0, lower=2.5)


def test_angles_past_their_limit_are_named() -> None:
    robot = smooth("hu2023-prototype")
    q = np.zeros(11)
    q[6] = np.radians(91.0)
    with pytest.raises(OutOfRange) as caught:
        vb.tensions_for_shape(robot, q)
    error = caught.value
    assert error.joint == 7
    assert error.angle == q[6]
    assert error.limit == pytest.approx(np.pi / 2)
    assert isinstance(error.result, HoldingTensions)
    assert vb.tensions_for_shape(robot, q, check=False).shape.out_of_range == (7,)


def test_a_shape_that_would_collapse_is_unstable() -> None:
    # Least tensions of a straight standing robot: none at all.
    robot = smooth("hu2023-prototype")
    straight = np.zeros(11)
    with pytest.raises(Unstable, match="lower bound") as caught:
        vb.tensions_for_shape(robot, straight)
    assert caught.value.result.feasible
    assert not caught.value.result.stable
    assert 1 <= caught.value.joint <= 11
    critical = vb.critical_tension(robot)
    with pytest.raises(Unstable):
        vb.tensions_for_shape(robot, straight, lower=0.99 * critical)
    held = vb.tensions_for_shape(robot, straight, lower=1.01 * critical)
    assert held.stable
    np.testing.assert_allclose(held.tensions, 1.01 * critical, rtol=1e-12)


# Arguments ----------------------------------------------------------------------------------------------------------


def bounded_robot(**bounds) -> vb.Robot:
    mapping = smooth("hu2023-prototype").to_mapping()
    mapping["sections"][0]["cables"].update(bounds)
    return smooth(mapping)


@pytest.mark.parametrize("minimise", ["norm", "sum"])
def test_bounds_come_from_the_robot_file(minimise: str) -> None:
    case = named_case("prototype")
    angles = case.solve().angles
    free = hold(case, angles, check=False, minimise=minimise).tensions
    robot = bounded_robot(pretension=3.0, max_tension=8.0)
    own = vb.tensions_for_shape(robot, angles, minimise=minimise, check=False)
    given = hold(case, angles, lower=3.0, upper=8.0, minimise=minimise, check=False)
    each = hold(case, angles, lower=[3.0] * 4, upper=[8.0] * 4, minimise=minimise, check=False)
    np.testing.assert_array_equal(own.tensions, given.tensions)
    np.testing.assert_array_equal(own.tensions, each.tensions)
    assert own.feasible
    assert own.tensions.min() == 3.0
    assert free.min() < 3.0
    with pytest.raises(Infeasible):
        vb.tensions_for_shape(bounded_robot(pretension=2.0, max_tension=2.5), angles)


def test_a_cable_may_be_held_at_one_tension() -> None:
    case = named_case("prototype")
    angles = case.solve().angles
    held = hold(case, angles, lower=[0.0, 5.0, 0.0, 0.0], upper=[50.0, 5.0, 50.0, 50.0])
    assert held.tensions[1] == 5.0
    robot = bounded_robot(pretension=2.0, max_tension=2.0)
    np.testing.assert_array_equal(vb.tensions_for_shape(robot, np.zeros(11)).tensions, [2.0] * 4)


def test_the_shape_asked_for_is_left_alone() -> None:
    angles = np.zeros(11)
    held = vb.tensions_for_shape(smooth("hu2023-prototype"), angles, lower=2.0)
    held.shape.angles[0] = 1.0
    assert angles[0] == 0.0


def test_the_cable_whose_bounds_are_crossed_is_named() -> None:
    with pytest.raises(InputError, match="cable 3"):
        vb.tensions_for_shape(smooth("hu2023-prototype"), np.zeros(11), lower=[0, 0, 3, 0], upper=2.0)


def test_a_robot_without_cables_holds_only_its_own_shape() -> None:
    mapping = smooth("yang2023-a").to_mapping()
    del mapping["sections"][0]["cables"]
    robot = smooth(mapping)
    sagging = vb.shape_from_tensions(robot, [])
    assert vb.tensions_for_shape(robot, sagging.angles).tensions.shape == (0,)
    with pytest.raises(Infeasible):
        vb.tensions_for_shape(robot, np.zeros(6))


# With friction.

ROUGH = {"a": (vb.load("yang2023-a"), 12.0), "b": (vb.load("yang2023-b"), 20.0), "c": (vb.load("yang2023-c"), 10.0)}
"""Robot, and largest tension in N."""


@pytest.mark.parametrize("closure", ["virtual-work", "paper"])
@pytest.mark.parametrize("name", ROUGH)
def test_tensions_for_a_shape_hold_it(name: str, closure: Any) -> None:
    robot, most = ROUGH[name]
    for row in np.random.default_rng(7).uniform(
        0.0, most, (10 if os.environ.get("VERTEBRA_SOAK") == "1" else 4, len(robot.cables))
    ):
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
    robot = ROUGH["b"][0]
    shape = vb.shape_from_tensions(robot, [12.0, 9.0, 2.0, 4.0])
    with_friction = vb.tensions_for_shape(robot, shape.angles)
    without = vb.tensions_for_shape(robot, shape.angles, friction=0, check=False)
    assert np.abs(with_friction.tensions - without.tensions).max() > 0.1
    assert not without.feasible


def test_shapes_that_no_tensions_hold_are_refused() -> None:
    robot = ROUGH["a"][0]
    with pytest.raises(Infeasible, match="joint"):
        vb.tensions_for_shape(robot, [0.3, -0.3, 0.3, -0.3, 0.3, -0.3])
    with pytest.raises(OutOfRange, match="friction law locks a cable"):
        vb.tensions_for_shape(robot, np.full(6, 0.4), friction=10.0)
    result = vb.tensions_for_shape(robot, np.full(6, 0.4), friction=10.0, check=False)
    assert result.shape.locked == (1, 2, 3, 4, 5, 6)
    for values in (result.tensions, result.residual, result.shape.tensions):
        assert np.isfinite(values).all()


def test_a_cut_list_of_joints_says_how_many_more() -> None:
    held = vb.tensions_for_shape("hu2023-prototype", np.radians([(-1) ** j * 5.0 for j in range(11)]), check=False)
    joints = held.infeasible
    assert len(joints) > 8
    assert repr(held).endswith(f"does not hold joint {', '.join(map(str, joints[:8]))} and {len(joints) - 8} more)")


@pytest.mark.parametrize("kind", ["universal", "backbone"])
@pytest.mark.parametrize("seed", range(3))
def test_joints_with_several_freedoms_are_held(kind: str, seed: int) -> None:
    """What some tensions give, they or smaller ones hold; and the shape comes back from them."""
    rng = np.random.default_rng(seed)
    robot = any_robot(rng, 8, (kind,))
    row = 0.4 * rng.uniform(0.5, 1.5, 8)
    wanted = vb.shape_from_tensions(robot, row)
    result = vb.tensions_for_shape(robot, wanted.angles)
    assert result.feasible
    assert result.stable
    assert result.residual.shape == (robot.freedoms,)
    assert np.linalg.norm(result.tensions) <= np.linalg.norm(row) * (1 + 1e-9)
    forward = vb.shape_from_tensions(robot, result.tensions, start=wanted.angles)
    np.testing.assert_allclose(forward.angles, wanted.angles, rtol=0, atol=1e-6)
    # Bent another way at its last joint, no tensions hold it; what is out of balance is spread over all joints.
    turned = wanted.angles.copy()
    turned[-2:] += [0.3, -0.2]
    loose = vb.tensions_for_shape(robot, turned, check=False)
    assert not loose.feasible
    assert len(robot.joints) in loose.infeasible
    assert set(loose.infeasible) <= set(range(1, len(robot.joints) + 1))
