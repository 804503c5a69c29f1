"""Cables with friction, whatever the robot, law and tensions: an equilibrium that an oracle confirms, or an error."""

from __future__ import annotations

import collections
import math
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.oracles import friction as oracle
from tests.oracles.statics import Elastic
from tests.statics.cases import Case, random_case
from tests.statics.strategies import floats, gravities, loads, robots, tensions
from tests.statics.test_friction import assert_finite

import vertebra as vb
from vertebra.errors import NoEquilibrium, OutOfRange, Unstable
from vertebra.mechanics.kernels.newton import SETTLED, find_shape
from vertebra.mechanics.layout import REPORT_SOFTNESS
from vertebra.mechanics.problem import NO_CABLES, Problem
from vertebra.statics import Shape, Status

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
few = settings(max_examples=settings().max_examples // (1 if SOAK else 3))
Law = vb.FrictionLaw
PROTOTYPES = {"a": 12.0, "b": 20.0, "c": 10.0}
"""Largest tension of a cable, N."""
both_closures = pytest.mark.parametrize("closure", ["virtual-work", "paper"])
every_prototype = pytest.mark.parametrize("name", PROTOTYPES)


def yang(presliding: float) -> vb.FrictionLaw:
    return Law.quadratic(14.0, 0.7, 0.105, presliding)


def prototype_rows(name: str, count: int, seed: int) -> tuple[vb.Robot, np.ndarray]:
    robot = vb.load(f"yang2023-{name}")
    return robot, np.random.default_rng(seed).uniform(0.0, PROTOTYPES[name], (count, len(robot.cables)))


# The prototypes, for which nothing may fail. The bounds on iterations tell a limit cycle from a search.


@both_closures
@every_prototype
def test_random_tensions_are_all_solved(name: str, closure: Any) -> None:
    robot, rows = prototype_rows(name, 20_000 if SOAK else 1000, 1)
    shapes = vb.shapes_from_tensions(robot, rows, closure=closure)
    assert shapes.solved.all()
    assert (shapes.residual <= 1e-9 * shapes.moment_scale).all()
    half, most, worst = np.percentile(shapes.iterations, [50, 99, 100])
    print(f"{name}, {closure}: iterations {half:.0f} (median), {most:.0f} (99 %), {worst:.0f} (worst)")
    assert half <= 6
    assert most <= 20
    assert worst <= 100


LAWS = {
    "constant 0.3": Law.constant(0.3),
    "constant 1": Law.constant(1.0),
    "long presliding": yang(1e-4),
    "short presliding": yang(1e-6),
    "shortest presliding": yang(1e-7),
    "curve": Law.of(lambda theta: 0.3 + 0.2 * math.cos(20 * theta)),
}


@both_closures
@pytest.mark.parametrize("law", LAWS)
@every_prototype
def test_other_laws_end_in_a_finite_shape_that_says_what_it_is(name: str, law: str, closure: Any) -> None:
    robot, rows = prototype_rows(name, 5000 if SOAK else 200, 2)
    shapes = vb.shapes_from_tensions(robot, rows, closure=closure, friction=LAWS[law])
    for values in (shapes.angles, shapes.tip, shapes.lengths, shapes.energy, shapes.residual):
        assert np.isfinite(values).all()
    assert not np.isnan(shapes.compliance).any()
    assert (shapes.residual <= 1e-9 * shapes.moment_scale)[shapes.converged].all()
    print(f"{name}, {law}, {closure}: {shapes.solved.mean():.2%} solved, iterations up to {shapes.iterations.max()}")
    assert shapes.solved.mean() > 0.99


@both_closures
@every_prototype
def test_one_shape_from_wherever_the_search_starts(name: str, closure: Any) -> None:
    robot, rows = prototype_rows(name, 200 if SOAK else 40, 3)
    n = len(robot.joints)
    starts = np.random.default_rng(4).uniform(-0.3, 0.3, (25, n))
    widest = 0.0
    for row in rows:
        shapes = vb.shapes_from_tensions(robot, np.tile(row, (25, 1)), closure=closure, start=starts)
        assert shapes.solved.all()
        widest = max(widest, float(np.ptp(shapes.angles, axis=0).max()))
    print(f"{name}, {closure}: spread {widest:.1e} rad")
    assert widest < 1e-9


@every_prototype
def test_random_walks_are_solved_to_the_end(name: str) -> None:
    """From any tensions to any others in one step."""
    robot, rows = prototype_rows(name, 5000 if SOAK else 500, 5)
    path = vb.ShapePath(robot)
    walk = path.follow(rows)
    print(f"{name}: iterations {np.percentile(walk.iterations, [50, 99, 100])}")
    assert walk.iterations.max() <= 150
    assert (np.abs(path.slip) <= 1.0).all()
    assert np.isfinite(walk.friction_work).all()


# Any robot, any law.


@st.composite
def rules(draw: st.DrawFn) -> tuple[vb.FrictionLaw, oracle.Rule]:
    """A law, and the same by its formula."""
    presliding = 10.0 ** draw(floats(-7.0, -2.0))
    kind = draw(st.sampled_from(["constant", "constant", "quadratic", "own", "none"]))
    if kind == "none":
        return Law.none(), oracle.Rule(lambda theta: 0.0, presliding)
    level = draw(st.one_of(st.sampled_from([0.1, 0.3]), floats(0.0, 3.0)))
    if kind == "constant":
        return Law.constant(level, presliding), oracle.Rule(lambda theta: level, presliding)
    if kind == "quadratic":
        a, b = draw(floats(0.0, 20.0)), draw(floats(0.0, 2.0))
        return Law.quadratic(a, b, level, presliding), oracle.Rule(lambda t: (a * t + b) * t + level, presliding)
    rate = draw(floats(0.0, 5.0))

    def own(theta: float) -> float:
        return level * (1.0 + 0.9 * math.sin(rate * theta))

    return Law.of(own, presliding), oracle.Rule(own, presliding)


Question = tuple[Case, list[vb.FrictionLaw], list[oracle.Rule], Any, str]


@st.composite
def questions(draw: st.DrawFn) -> Question:
    robot = draw(robots())
    case = Case(robot, draw(tensions(robot)), draw(gravities), tuple(draw(st.lists(loads(robot), max_size=2))))
    few = draw(st.lists(rules(), min_size=1, max_size=3))
    chosen = [few[k % len(few)] for k in range(len(robot.cables))]
    n = robot.freedoms
    start = draw(st.one_of(st.none(), st.lists(floats(-1.0, 1.0), min_size=n, max_size=n)))
    flexures = (robot.joints["kind"] == 1).all()
    closure = draw(st.sampled_from(["virtual-work", "paper"])) if flexures else "virtual-work"
    return case, [law for law, _ in chosen], [rule for _, rule in chosen], start, closure


def asked(case: Case, given_rules: list[oracle.Rule], closure: str, pull: Any = None) -> oracle.Question:
    pull = case.tensions if pull is None else pull
    return oracle.Question(case.robot, given_rules, pull, case.field, case.loads, at_discs=closure == "paper")


def can_confirm(shape: Shape) -> bool:
    """Few joints, for time; no locked cable, where the solver stops short of the law; and for the paper's balance no
    faces that passed through each other, where a pull would turn into a push."""
    crossed = shape.closure == "paper" and shape.out_of_range
    return shape.converged and len(shape.angles) <= 8 and not shape.locked and not crossed


def noise(shape: Shape) -> float:
    """N*m; lengths of 0.1 m and more are known to 1e-16; friction turns errors over the presliding into torques."""
    length = float(shape.lengths.max(initial=0.0))
    steepest = max((1.0 / law.presliding for law in shape.friction), default=0.0)
    return 1e-15 * length * steepest * shape.moment_scale + 1e-18


@settings(max_examples=(3 if SOAK else 1) * settings().max_examples)
@given(questions())
def test_an_equilibrium_or_a_named_error(question: Question) -> None:
    case, laws, given_rules, start, closure = question
    error = None
    try:
        shape = case.solve(friction=laws, start=start, closure=closure)
    except (NoEquilibrium, Unstable, OutOfRange) as caught:
        error, shape = caught, caught.result
    event("equilibrium" if error is None else type(error).__name__)
    if error is not None:
        assert 1 <= error.joint <= len(case.robot.joints)
        assert f"joint {error.joint}" in str(error)
    assert_finite(shape)
    if shape.converged:
        assert shape.residual <= 1e-8 * shape.moment_scale + noise(shape)
        if can_confirm(shape):
            left = np.abs(oracle.residual(asked(case, given_rules, closure), shape.angles)).max()
            assert left <= 1e-8 * shape.moment_scale + noise(shape)
            event("confirmed by the oracle")


@few
@given(questions(), st.data())
def test_a_path_of_any_robot(question: Question, data: st.DataObject) -> None:
    """Three steps; the oracle keeps the history for itself."""
    case, laws, given_rules, _, closure = question
    path = vb.ShapePath(case.robot, gravity=case.gravity, loads=case.loads, friction=laws, closure=closure)
    check = asked(case, given_rules, closure)
    q = np.zeros(len(case.robot.joints))
    for i in range(3):
        pull = case.tensions if i == 0 else data.draw(tensions(case.robot))
        check = check.follow(q, pull) if i else check
        before = path.save()
        shape = path.step(pull, check=False)
        assert_finite(shape)
        if shape.status != Status.SOLVED:
            assert path.save() is before
            event(f"fails at step {i + 1}")
            return
        assert path.steps == i + 1
        assert math.isfinite(path.friction_work)
        q = shape.angles
        if can_confirm(shape):
            left = np.abs(oracle.residual(check, q)).max()
            assert left <= 1e-8 * shape.moment_scale + noise(shape)
    event("three steps")


@few
@given(questions(), st.data())
def test_cables_of_any_length(question: Question, data: st.DataObject) -> None:
    case, laws, given_rules, start, closure = question
    robot = case.robot
    if not len(robot.cables):
        return
    straight = vb.Pose(robot, np.zeros(robot.freedoms)).cable_lengths
    shares = st.lists(floats(-0.02, 0.02), min_size=len(straight), max_size=len(straight))
    rest = straight * (1 - np.array(data.draw(shares)))
    EA = 10.0 ** data.draw(floats(1.0, 5.0))
    given_: dict[str, Any] = {"friction": laws, "closure": closure, "gravity": case.gravity, "loads": case.loads}
    shape = vb.shape_from_lengths(robot, rest, stiffness_EA=EA, start=start, check=False, **given_)
    assert_finite(shape)
    event(shape.status.name)
    if can_confirm(shape):
        check = asked(case, given_rules, closure, Elastic(rest, np.full(len(rest), EA)))
        stretch = 1e-15 * EA * float(robot.cables["radius"].max())  # round-off of lengths in stiff cables
        left = np.abs(oracle.residual(check, shape.angles)).max()
        assert left <= 1e-8 * shape.moment_scale + noise(shape) + 100 * stretch


@few
@given(questions())
def test_laws_of_zero_give_the_bits_of_the_frictionless_solver(question: Question) -> None:
    case, laws, _, start, _ = question
    plain = case.solve(start=start, check=False)
    zero = case.solve(start=start, check=False, friction=[Law.of(lambda theta: 0.0, law.presliding) for law in laws])
    for field in ("angles", "tip", "tensions", "compliance", "lengths", "forces", "slip"):
        assert getattr(zero, field).tobytes() == getattr(plain, field).tobytes(), field
    assert (zero.iterations, zero.status) == (plain.iterations, plain.status)


# Robots that a person could build.


def reasonable_case(seed: int) -> tuple[Case, list[vb.FrictionLaw]]:
    rng = np.random.default_rng(seed)
    kinds = [("rolling",), ("flexure",), ("rolling", "flexure"), ("flexure", "flexure"), ("rolling", "flexure", "pin")]
    which, joints, count = kinds[rng.integers(5)], int(rng.integers(1, 25)), int(rng.integers(0, 3))
    case = random_case(rng, which, joints, loads=count, safety=float(np.exp(rng.uniform(-1.0, 2.0))))
    laws = [Law.constant(rng.choice([0.1, 0.2, 0.3]), 10.0 ** rng.uniform(-6, -4)), yang(10.0 ** rng.uniform(-6, -4))]
    return case, [laws[k % 2] for k in range(len(case.tensions))]


def test_reasonable_robots_hardly_ever_lack_an_answer() -> None:
    count = 3000 if SOAK else 200
    answers: collections.Counter[str] = collections.Counter()
    worst: list[int] = []
    for seed in range(count):
        case, laws = reasonable_case(seed)
        shape = case.solve(friction=laws, check=False)
        assert_finite(shape)
        answers[shape.status.name] += 1
        worst.append(shape.iterations)
        if shape.status == Status.NO_EQUILIBRIUM:
            print(f"# seed {seed}: {shape!r}")
    print(dict(answers), "iterations", np.percentile(worst, [50, 90, 99, 100]))
    assert answers["SOLVED"] > 0.8 * count
    assert answers["NO_EQUILIBRIUM"] <= 0.02 * count


def test_paths_of_reasonable_robots() -> None:
    """Four steps between random tensions; the oracle keeps the history for itself."""
    steps = 0
    for seed in range(300 if SOAK else 40):
        case, laws = reasonable_case(seed)
        if len(case.robot.joints) > 10:
            continue
        rng = np.random.default_rng(seed)
        rows = case.tensions * rng.uniform(0.5, 1.5, (4, len(laws)))
        path = vb.ShapePath(case.robot, gravity=case.gravity, loads=case.loads, friction=laws)
        given_rules = [oracle.Rule(law, law.presliding) for law in laws]
        check = oracle.Question(case.robot, given_rules, rows[0], case.field, case.loads)
        for i, row in enumerate(rows):
            check = check.follow(path.angles, row) if i else check
            shape = path.step(row, check=False)
            if shape.status != Status.SOLVED:
                break
            steps += 1
            left = np.abs(oracle.residual(check, shape.angles)).max()
            assert left <= 1e-8 * shape.moment_scale + noise(shape)
            np.testing.assert_allclose(shape.slip, oracle.slips(check, shape.angles), rtol=0, atol=1e-7)
    assert steps > 50


def hard_case(seed: int) -> tuple[Case, vb.FrictionLaw]:
    rng = np.random.default_rng(seed + 1_000_000)
    kinds = [("flexure",), ("rolling", "flexure"), ("flexure", "flexure"), ("rolling",)]
    which, joints, count = kinds[rng.integers(4)], int(rng.integers(4, 25)), int(rng.integers(0, 3))
    case = random_case(rng, which, joints, loads=count, safety=float(np.exp(rng.uniform(1, 4))))
    return case, Law.constant(rng.choice([0.5, 1.0, 2.0]), 10 ** rng.uniform(-9, -5))


@pytest.mark.parametrize("first", [0, 249, 897, 1119, 1168])
def test_friction_is_never_left_softer_than_it_is(first: int) -> None:
    """Where continuation softens friction first, the last answer is that of the true law, or none is given."""
    for seed in range(first, first + (500 if SOAK else 40 if first == 0 else 1)):
        case, law = hard_case(seed)
        problem = Problem.of(case.robot, case.gravity, case.loads, law)
        work, q, pull = problem.workspace(), np.zeros(len(case.robot.joints)), case.tensions.copy()
        status = find_shape(
            *problem.system, pull, NO_CABLES, NO_CABLES, work.friction, False, q, *work.scratch
        )  # fmt: skip
        assert work.report[REPORT_SOFTNESS] == 1.0
        shape = case.solve(friction=law, check=False)
        np.testing.assert_array_equal(shape.angles, q)
        assert shape.converged == (status == SETTLED)
        if shape.converged and not shape.locked and seed < 20:
            given_rules = [oracle.Rule(law, law.presliding)] * len(pull)
            check = oracle.Question(case.robot, given_rules, pull, case.field, case.loads)
            left = np.abs(oracle.residual(check, q)).max()
            assert left <= 1e-8 * shape.moment_scale + noise(shape)
