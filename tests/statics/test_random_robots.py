"""Whatever robot, tensions and loads: an equilibrium that an independent oracle confirms, or an error that says why."""

from __future__ import annotations

import collections
import math
import os
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.oracles import statics
from tests.robots import smooth
from tests.statics.cases import Case, random_case
from tests.statics.strategies import questions

import vertebra as vb
from vertebra.errors import NoEquilibrium, OutOfRange, Unstable
from vertebra.statics import Shape

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
thoroughly = settings(max_examples=(5 if SOAK else 2) * settings().max_examples)

CLOSE = 1e-9
"""Largest residual of an equilibrium, as a fraction of the torques that balance."""
NOTHING = 1e-20
"""N*m; round-off of a pose in which all torques vanish."""


def assert_finite(shape: Shape) -> None:
    """All numbers finite; the compliance of a shape that nothing holds is infinite."""
    for field in fields(shape):
        value = getattr(shape, field.name)
        if field.name == "compliance" and not shape.stable:
            assert (value == math.inf).all()
        elif isinstance(value, np.ndarray | float):
            assert np.isfinite(value).all(), field.name


def limits(robot: vb.Robot) -> np.ndarray:
    """With room for the round-off of a joint that comes to rest exactly at its limit."""
    return robot.joints["limit"] * (1 + 1e-12)


def outcome(case: Case, start: Any = None) -> tuple[str, Shape | None]:
    """What the solver says, checked for form: the name of the error or "equilibrium", and the shape."""
    try:
        shape = case.solve(start=start)
    except (NoEquilibrium, Unstable, OutOfRange) as caught:
        error = caught
    else:
        assert shape.converged
        assert shape.stable
        assert shape.out_of_range == ()
        assert_finite(shape)
        return "equilibrium", shape
    assert 1 <= error.joint <= len(case.robot.joints)
    assert f"joint {error.joint}" in str(error)
    assert_finite(error.result)
    return type(error).__name__, error.result


@thoroughly
@given(questions())
def test_an_equilibrium_or_a_named_error(question: tuple[Case, list[float] | None]) -> None:
    case, start = question
    what, shape = outcome(case, start)
    event(what)
    if what == "equilibrium":
        assert (np.abs(shape.angles) <= limits(case.robot)).all()
        # No cable is shorter than nothing, which would mean that faces have passed through each other.
        np.testing.assert_allclose(shape.lengths, vb.Pose(case.robot, shape.angles).cable_lengths, rtol=1e-12)
    if shape.converged:
        assert shape.residual <= CLOSE * shape.moment_scale
        if len(case.robot.joints) <= 8:
            found = np.abs(statics.residual(case.robot, shape.angles, *case.given)).max()
            assert found <= CLOSE * shape.moment_scale + NOTHING


@thoroughly
@given(questions())
def test_without_checks_the_shape_says_it_itself(question: tuple[Case, list[float] | None]) -> None:
    case, start = question
    what, raised = outcome(case, start)
    shape = case.solve(start=start, check=False)
    assert_finite(shape)
    np.testing.assert_array_equal(shape.angles, raised.angles)
    assert (shape.converged, shape.stable, shape.out_of_range) == (raised.converged, raised.stable, raised.out_of_range)
    sound = shape.converged and shape.stable and not shape.out_of_range
    assert sound == (what == "equilibrium")
    if what == "NoEquilibrium":
        assert not shape.converged
    beyond = np.flatnonzero(np.abs(shape.angles) > limits(case.robot)) + 1
    assert set(beyond) <= set(shape.out_of_range)


@given(questions().filter(lambda question: len(question[0].robot.joints) <= 8))
def test_stability_is_that_of_the_dense_stiffness(question: tuple[Case, list[float] | None]) -> None:
    case, start = question
    shape = case.solve(start=start, check=False)
    if not shape.converged:
        return
    H = statics.stiffness_matrix(case.robot, shape.angles, *case.given)
    softest = np.linalg.eigvalsh((H + H.T) / 2)[0]
    # Of a single joint the matrix is no measure of round-off in itself: what cancels in it is.
    if abs(softest) > 1e-9 * max(np.abs(H).max(), shape.moment_scale):
        assert shape.stable == (softest > 0)


def reasonable_case(seed: int) -> tuple[Case, np.ndarray | None]:
    """A robot with one to forty joints and tensions that may or may not bear its weight."""
    rng = np.random.default_rng(seed)
    kinds = [("rolling",), ("flexure",), ("rolling", "flexure"), ("rolling", "rolling"), ("rolling", "flexure", "pin")]
    case = random_case(
        rng,
        kinds[rng.integers(len(kinds))],
        int(rng.integers(1, 41)),
        loads=int(rng.integers(0, 3)),
        safety=float(np.exp(rng.uniform(math.log(0.03), math.log(6.0)))),
    )
    if rng.random() < 0.3:
        size = 0.02 * 9.8 * case.robot.mass * case.robot.length
        link = int(rng.integers(1, len(case.robot.links)))
        case = case.loaded(vb.Load(moment=tuple(rng.normal(0, size, 3)), link=link))
    start = rng.uniform(-0.5, 0.5, len(case.robot.joints)) if rng.random() < 0.5 else None
    return case, start


def test_reasonable_robots_hardly_ever_lack_an_answer() -> None:
    count = 1000 if SOAK else 400
    answers: collections.Counter[str] = collections.Counter()
    for seed in range(count):
        case, start = reasonable_case(seed)
        what, _ = outcome(case, start)
        answers[what] += 1
        if what == "NoEquilibrium":
            print(f"# seed {seed}, start {None if start is None else start.tolist()}\n{case.snippet()}")
    print(dict(answers))
    assert answers["equilibrium"] > 0.3 * count
    assert answers["NoEquilibrium"] <= 0.005 * count


@pytest.mark.parametrize("seed", [72, 235])
def test_long_robots_do_not_leap_past_a_half_turn(seed: int) -> None:
    """Large steps of many joints once led past shapes within range: from a random start, and from the usual one."""
    case, start = reasonable_case(seed)
    assert outcome(case, start)[0] == "equilibrium"


@pytest.mark.parametrize("seed", [2, 11, 20, 25, 29, 32, 36, 44])
def test_what_an_overdamped_robot_finds_is_not_missed(seed: int) -> None:
    case, start = reasonable_case(seed)
    begin = np.zeros(len(case.robot.joints)) if start is None else start
    rest = statics.minimise(case.robot, *case.given, start=begin)
    assert rest.settled
    assert (np.abs(rest.angles) <= limits(case.robot)).all()
    assert outcome(case, start)[0] == "equilibrium"


@given(st.integers(1, 12), st.one_of(st.just(0.0), st.floats(1e-9, 50.0)))
def test_equal_tensions_hold_a_weightless_rolling_robot_straight(joints: int, tension: float) -> None:
    link = {"length": 0.01}
    ring = {"radius": 0.004, "azimuth": [0.0, math.pi / 2, math.pi, -math.pi / 2]}
    section = {"joints": joints, "joint": {"kind": "rolling", "radius": 0.01}, "azimuth": [0.3, 1.2]}
    robot = smooth({"vertebra": 1, "name": "straight", "sections": [{**section, "link": link, "cables": ring}]})
    shape = vb.shape_from_tensions(robot, [tension] * 4, check=False)
    assert shape.converged
    assert np.abs(shape.angles).max() < 1e-12
    assert shape.stable == (tension > 0.0)
