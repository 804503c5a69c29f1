"""Cable friction at any pose: tensions, torques and stiffness against other constructions of the same forces."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests import robots
from tests.mechanics.test_kernels import assert_no_allocation_inside, recorded_call
from tests.oracles import friction as oracle
from tests.oracles.statics import Elastic
from tests.statics.cases import random_robot

import vertebra as vb
from vertebra.mechanics.kernels.friction import LAST_ANGLE, MOST_GRIP, commit_slip, friction_at
from vertebra.mechanics.kernels.newton import find_shape, inspect_pose
from vertebra.mechanics.kernels.sweep import NONE, substitute_wide
from vertebra.mechanics.layout import (
    GRIP_DRAWN,
    GRIP_HOLD,
    GRIP_RATIO,
    GRIP_SLIP,
    HISTORY_DRAWN,
    HISTORY_HOLD,
    HISTORY_SLIP,
    REPORT_LOCKED,
    REPORT_RESIDUAL,
    REPORT_SCALE,
    REPORT_WEAK,
    STATE_STEP,
    STATE_TAU,
)
from vertebra.mechanics.problem import NO_CABLES, Problem, Workspace
from vertebra.statics import PathState, path
from vertebra.statics import forward as from_lengths
from vertebra.statics import forward as from_tensions

POSES = 20 if os.environ.get("VERTEBRA_SOAK") == "1" else 3
"""Random poses of each robot, closure, kind of load and way to drive the cables."""


def yang(theta: float) -> float:
    return 14.0 * theta**2 + 0.7 * theta + 0.105


def easing(theta: float) -> float:
    return 0.1 + 0.2 * math.exp(-theta / 0.2)


# Each with its formula; given to the cables in turn.
LAWS = [
    (lambda d: vb.FrictionLaw.quadratic(14.0, 0.7, 0.105, d), yang),
    (lambda d: vb.FrictionLaw.of(easing, d), easing),
    (lambda d: vb.FrictionLaw.constant(0.3, d), lambda theta: 0.3),
    (lambda d: vb.FrictionLaw.none(), lambda theta: 0.0),
    (lambda d: vb.FrictionLaw.of(math.sin, d), math.sin),
]
LOADS = {
    "weights": (),
    "dead moments": (
        vb.Load(force=(0.2, -0.3, 0.1), moment=(0.004, -0.008, 0.006)),
        vb.Load(force=(-0.3, 0.2, 0.1), moment=(0.0, 0.006, 0.002), link=2, point=(0.003, -0.001, 0.004)),
    ),
}


def flexures(base, **cables):
    ring = robots.cables("4 mm", "10 deg", "100 deg", "190 deg", "280 deg", **cables)
    return robots.robot("flexures", robots.section(5, robots.FLEXURE, azimuth=AZIMUTHS, cables=ring), base=base)


AZIMUTHS = ["15 deg", "-70 deg"]
ROBOTS = {
    "a": vb.load("yang2023-a"),
    "b": vb.load("yang2023-b"),
    "c": vb.load("yang2023-c"),
    "rolling": vb.load("hu2023-spatial"),
    "mixed": robots.mirror_mix(),
    "random": random_robot(np.random.default_rng(4), ("rolling", "flexure", "rolling"), 9),
    "recessed": flexures("8 mm", holes={"recess": "1 mm"}),
    "no base": flexures("0 mm"),
    "universal yx": robots.universals("yx"),
    "universal xy": robots.universals("xy", linear_density=0.0),
    "universal mix": robots.universal_mix(),
}
CASES = [(name, "virtual-work") for name in ROBOTS]
CASES += [(name, "paper") for name in ("a", "b", "c", "recessed", "no base")]
every_case = pytest.mark.parametrize(("name", "closure"), CASES)
every_load = pytest.mark.parametrize("loads", LOADS)
both_ways = pytest.mark.parametrize("by_length", [False, True], ids=["tensions", "lengths"])


@dataclass
class Question:
    """A pose of a robot with a past, for the kernels and for the oracle."""

    problem: Problem
    asked: oracle.Question
    history: np.ndarray
    q: np.ndarray
    rest: np.ndarray
    rate: np.ndarray

    def inspected(self, q: np.ndarray) -> Workspace:
        work = self.problem.workspace(len(self.rest) > 0, self.history)
        pull = np.zeros(len(self.rest)) if len(self.rest) else np.array(self.asked.tensions)
        inspect_pose(*self.problem.system, pull, self.rest, self.rate, work.friction, False, q, *work.scratch[1:])
        return work

    def torques(self, q: np.ndarray) -> np.ndarray:
        return self.inspected(q).state[:, STATE_TAU].copy()


def _grips(rules, bends):
    return [rule.mu(bend) * math.sin(bend) for rule, at in zip(rules, bends, strict=True) for bend in at.flat]


def question(name, closure, loads, by_length, seed, spread=0.3) -> Question:
    """Cables that came from elsewhere: some stick, some slip either way; of those of given length some are slack."""
    rng = np.random.default_rng(seed)
    robot = ROBOTS[name]
    n, c = len(robot.joints), len(robot.cables)
    presliding = 10.0 ** rng.uniform(-5.0, -2.0, c)
    chosen = [LAWS[(k + seed) % len(LAWS)] for k in range(c)]
    laws = [make(float(d)) for (make, _), d in zip(chosen, presliding, strict=True)]
    rules = [oracle.Rule(mu, law.presliding) for (_, mu), law in zip(chosen, laws, strict=True)]
    gravity = rng.normal(0.0, 7.0, 3)
    q = rng.uniform(-spread, spread, robot.freedoms)
    # Cables bend more across universal joints; no law may lock them.
    while max(_grips(rules, oracle.bends(robot, q))) > 0.9:
        q *= 0.9
    history = np.zeros((3, c, n))
    history[HISTORY_SLIP] = rng.uniform(-1.0, 1.0, (c, n))
    # Where a cable begins to slip, the torques have a kink: none within reach of the differences below.
    slip = np.where(rng.uniform(size=(c, n)) < 0.5, rng.uniform(-0.95, 0.95, (c, n)), 0.0)
    slip[slip == 0.0] = (rng.choice([-1.0, 1.0], (c, n)) * rng.uniform(1.05, 1.6, (c, n)))[slip == 0.0]
    drawn = (slip - history[HISTORY_SLIP]) * np.array([[rule.presliding] for rule in rules])
    history[HISTORY_DRAWN] = oracle.way(robot, q) - drawn
    rest = rate = NO_CABLES
    pull = rng.uniform(0.5, 15.0, c)
    if by_length:
        rest = vb.Pose(robot, q).cable_lengths - rng.uniform(-1e-4, 3e-4, c)
        rate = 2e4 / rest
        pull = Elastic(rest, np.full(c, 2e4))
    asked = oracle.Question(
        robot, rules, pull, gravity, LOADS[loads], history[HISTORY_SLIP], history[HISTORY_DRAWN], closure == "paper"
    )
    problem = Problem.of(robot, gravity, LOADS[loads], laws, closure)
    return Question(problem, asked, history, q, rest, rate)


@every_case
@every_load
@both_ways
def test_torques_are_those_of_the_oracle(name, closure, loads, by_length):
    for seed in range(POSES):
        asked = question(name, closure, loads, by_length, seed, spread=0.5)
        work = asked.inspected(asked.q)
        expected = oracle.residual(asked.asked, asked.q)
        # Round-off: that of the lengths over the presliding of 1e-5 m, and over the stretch of stiff cables.
        close = 1e-9 if by_length else 2e-12
        np.testing.assert_allclose(work.state[:, STATE_TAU], expected, rtol=0, atol=close * work.report[REPORT_SCALE])
        assert work.report[REPORT_RESIDUAL] == np.abs(work.state[:, STATE_TAU]).max()
        assert work.report[REPORT_LOCKED] == NONE


def differences(torques, q, h=2e-6):
    """(n, n) central differences of fourth order."""
    columns = []
    for unit in np.eye(len(q)):
        near = torques(q + h * unit) - torques(q - h * unit)
        far = torques(q + 2 * h * unit) - torques(q - 2 * h * unit)
        columns.append((8.0 * near - far) / (12.0 * h))
    return np.stack(columns, axis=-1)


@every_case
@every_load
@both_ways
def test_stiffness_is_the_slope_of_the_torques(name, closure, loads, by_length):
    for seed in range(10, 10 + POSES):
        asked = question(name, closure, loads, by_length, seed)
        work = asked.inspected(asked.q)
        H = asked.problem.dense_stiffness(work, by_length)
        expected = differences(asked.torques, asked.q)
        np.testing.assert_allclose(H, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
        # The column of every joint by itself, small ones too.
        for column, wanted in zip(H.T, expected.T, strict=True):
            np.testing.assert_allclose(column, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


def test_the_questions_above_stick_and_slip_either_way():
    for name, closure in CASES:
        asked = question(name, closure, "weights", False, 10)
        slip = asked.inspected(asked.q).friction.grip[GRIP_SLIP]
        crossing = np.arange(slip.shape[1]) < asked.problem.robot.cables["last_link"][:, None]
        assert {-1.0, 1.0} <= set(slip[crossing].tolist()), name
        assert (np.abs(slip[crossing]) < 1.0).sum() > 3, name


@every_case
def test_the_sweep_solves_the_dense_system(name, closure):
    for by_length in (False, True):
        asked = question(name, closure, "dead moments", by_length, 5)
        work = asked.inspected(asked.q)
        H = asked.problem.dense_stiffness(work, by_length)
        substitute_wide(work.state, work.spatial, work.wide, work.memory, NONE)
        step = work.state[:, STATE_STEP]
        # Pivots that are not positive are replaced, so only where all are the step is Newton's.
        if work.report[REPORT_WEAK] == NONE:
            tau = work.state[:, STATE_TAU]
            np.testing.assert_allclose(H @ step, -tau, rtol=0, atol=1e-9 * np.abs(tau).max())


def fixed_point(mu, bends, slip, last):
    """The recursion of theory 4 without its algebra: at every disc, guess the tension beyond until both faces agree."""
    tensions, before = np.zeros(len(bends)), 1.0
    for j in range(last):
        behind = mu(bends[j - 1, 1]) * math.sin(bends[j - 1, 1]) if j else 0.0
        ahead = mu(bends[j, 0]) * math.sin(bends[j, 0])
        beyond = before
        for _ in range(400):
            beyond = before + slip[j] * (before * behind + beyond * ahead)
        tensions[j] = before = beyond
    return tensions


@pytest.mark.parametrize("name", ROBOTS)
def test_tensions_along_a_cable_are_those_of_a_literal_loop(name):
    robot = ROBOTS[name]
    n = len(robot.joints)
    # A universal joint bends a cable by up to its whole angle at one end: less, or the steepest law would lock it.
    spread = 0.6 if robot.freedoms == n else 0.25
    for seed in range(3):
        asked = question(name, "virtual-work", "weights", False, seed, spread=spread)
        assert asked.inspected(asked.q).report[REPORT_LOCKED] == NONE
        whole = asked.inspected(asked.q).friction.grip
        grip, bends = whole[:, :, :n], oracle.bends(robot, asked.q)
        np.testing.assert_allclose(grip[GRIP_DRAWN], oracle.way(robot, asked.q), rtol=0, atol=1e-15)
        np.testing.assert_allclose(grip[GRIP_SLIP], oracle.slips(asked.asked, asked.q), rtol=0, atol=1e-9)
        assert (np.abs(grip[GRIP_SLIP]) <= 1.0).all()
        for k, rule in enumerate(asked.asked.rules):
            last = int(robot.cables["last_link"][k])
            loop = fixed_point(rule.mu, bends[k], grip[GRIP_SLIP, k], last)
            np.testing.assert_allclose(grip[GRIP_RATIO, k], loop, rtol=1e-12)
            np.testing.assert_allclose(
                oracle.face_tensions(rule.mu, bends[k], grip[GRIP_SLIP, k], last), loop, rtol=1e-12
            )
            # Friction at full slip is what the tension changes by, over the slip direction.
            before = np.append(1.0, grip[GRIP_RATIO, k, :-1])[:last]
            np.testing.assert_allclose(
                grip[GRIP_SLIP, k, :last] * grip[GRIP_HOLD, k, :last],
                grip[GRIP_RATIO, k, :last] - before,
                rtol=0,
                atol=1e-13,
            )
            beyond = robot.joints["first"][last] if last < n else robot.freedoms
            assert (whole[:, k, beyond:] == 0.0).all()


def test_friction_at_the_base_disc_counts():
    robot = ROBOTS["a"]
    n, c = len(robot.joints), len(robot.cables)
    problem = Problem.of(robot, None, (), 0.4)
    history = np.zeros((3, c, n))
    q = np.full(n, 0.2)
    u = 0.4 * math.sin(0.1)
    for slip in (-1.0, 1.0):
        history[HISTORY_SLIP], history[HISTORY_DRAWN] = slip, oracle.way(robot, q)
        work = problem.workspace(history=history)
        inspect_pose(*problem.system, np.ones(c), NO_CABLES, NO_CABLES, work.friction, False, q, *work.scratch[1:])
        expected = ((1.0 + slip * u) / (1.0 - slip * u)) ** np.arange(n) / (1.0 - slip * u)
        np.testing.assert_allclose(work.friction.grip[GRIP_RATIO], np.tile(expected, (c, 1)), rtol=1e-12)


@pytest.mark.parametrize("law", range(len(LAWS)))
def test_the_compiled_law_is_the_law_and_its_slope(law):
    make, mu = LAWS[law]
    rough = Problem.of(ROBOTS["a"], None, (), [make(1e-5), *[vb.FrictionLaw.constant(0.1)] * 3]).cable_friction()
    rng = np.random.default_rng(1)
    for theta in [0.0, LAST_ANGLE, *rng.uniform(0.0, LAST_ANGLE, 300)]:
        value, slope = friction_at(rough.laws, rough.curves, 0, theta)
        assert value == pytest.approx(mu(theta), abs=1e-12, rel=1e-12)
        assert value == make(1e-5)(theta)
        inner = min(max(theta, 1e-3), LAST_ANGLE - 1e-3)
        _, slope = friction_at(rough.laws, rough.curves, 0, inner)
        assert slope == pytest.approx((mu(inner + 1e-5) - mu(inner - 1e-5)) / 2e-5, abs=1e-6, rel=1e-6)


def test_grip_is_even_and_ends_where_a_cable_is_locked():
    """Seen at the base disc of a cable that slips to the tip: F = T / (1 - u)."""
    robot = ROBOTS["a"]
    problem = Problem.of(robot, None, (), 3.0)

    def ratio(bend):
        q, history = np.zeros(6), np.zeros((3, 4, 6))
        q[0] = bend
        history[HISTORY_SLIP], history[HISTORY_DRAWN] = 1.0, oracle.way(robot, q) - 1e-3
        work = problem.workspace(history=history)
        inspect_pose(*problem.system, np.ones(4), NO_CABLES, NO_CABLES, work.friction, False, q, *work.scratch[1:])
        return float(work.friction.grip[GRIP_RATIO, 0, 0]), int(work.report[REPORT_LOCKED])

    for bend in (0.0, 0.01, 0.2, 0.6):
        found, locked = ratio(bend)
        assert found == pytest.approx(1.0 / (1.0 - 3.0 * math.sin(bend / 2)), rel=1e-12)
        assert locked == NONE
        assert ratio(-bend) == (pytest.approx(found, rel=1e-15), NONE)
    edge = 2.0 * math.asin(MOST_GRIP / 3.0)
    assert ratio(edge * (1 - 1e-9))[1] == NONE
    assert ratio(edge * (1 + 1e-9))[1] == 0
    assert ratio(1.5)[0] == pytest.approx(1.0 / (1.0 - MOST_GRIP))


@pytest.mark.parametrize("name", ROBOTS)
def test_kernels_for_friction_agree_with_the_others_without_friction(name):
    """Laws of zero never reach them through the public calls, so they are handed over directly."""
    robot = ROBOTS[name]
    c = len(robot.cables)
    rng = np.random.default_rng(3)
    gravity, q, pull = rng.normal(0.0, 7.0, 3), rng.uniform(-0.5, 0.5, robot.freedoms), rng.uniform(0.0, 9.0, c)
    plain = Problem.of(robot, gravity, LOADS["dead moments"], 0.0)
    assert not plain.has_friction
    rough = replace(plain, laws=(vb.FrictionLaw.none(),) * c)
    assert rough.has_friction
    rest = vb.Pose(robot, q).cable_lengths - rng.uniform(-1e-4, 3e-4, c)
    for lengths, rate in ((NO_CABLES, NO_CABLES), (rest, 2e4 / rest)):
        by_length = len(lengths) > 0
        works = [problem.workspace(by_length) for problem in (plain, rough)]
        for problem, work in zip((plain, rough), works, strict=True):
            inspect_pose(*problem.system, pull.copy(), lengths, rate, work.friction, False, q, *work.scratch[1:])
        first, second = works
        np.testing.assert_allclose(
            second.state[:, STATE_TAU], first.state[:, STATE_TAU], rtol=0, atol=1e-11 * first.report[REPORT_SCALE]
        )
        H = plain.dense_stiffness(first, by_length)
        np.testing.assert_allclose(rough.dense_stiffness(second, by_length), H, rtol=0, atol=1e-10 * np.abs(H).max())
        np.testing.assert_allclose(
            second.report[:3], first.report[:3], rtol=1e-9, atol=1e-11 * first.report[REPORT_SCALE]
        )


def test_committed_work_is_the_integral_of_friction_over_the_slip():
    """One disc, steps of any size and sense; the friction force at full slip changes linearly within a step."""
    robot = robots.robot("one", robots.section(1, robots.ROLLING, azimuth=["0 deg"], cables=robots.cables("5 mm", 0.0)))
    rough = Problem.of(robot, None, (), vb.FrictionLaw.constant(0.3, 1e-4)).cable_friction()
    rng = np.random.default_rng(2)
    history = np.zeros((3, 1, 1))
    slip = drawn = 0.0
    for _ in range(200):
        way = rng.choice([3e-5, 3e-4]) * rng.normal()
        after = min(max(slip + way / 1e-4, -1.0), 1.0)
        hold = 2.0  # the same in all steps: then the work is exact whatever their size
        rough.grip[GRIP_SLIP, 0, 0], rough.grip[GRIP_DRAWN, 0, 0], rough.grip[GRIP_HOLD, 0, 0] = (
            after,
            drawn + way,
            hold / 4.0,
        )
        history[HISTORY_HOLD] = hold
        work = commit_slip(robot.cables, rough.laws, np.array([4.0]), rough.grip, history)
        middle = (np.arange(20000) + 0.5) / 20000
        expected = hold * way * np.clip(slip + way * middle / 1e-4, -1.0, 1.0).mean()
        assert work == pytest.approx(expected, rel=1e-6, abs=1e-11)
        slip, drawn = after, drawn + way
        assert history[:, 0, 0].tolist() == [slip, drawn, hold]


@pytest.mark.parametrize("name", ["a", "mixed"])
def test_solvers_with_friction_allocate_nothing(name, monkeypatch):
    robot = ROBOTS[name]
    pull = np.full(len(robot.cables), 3.0)
    given = {"friction": 0.2, "check": False}
    rest = vb.Pose(robot, np.zeros(robot.freedoms)).cable_lengths - 1e-5
    asks = [
        (from_tensions, "find_shape", lambda: vb.shape_from_tensions(robot, pull, **given)),
        (from_lengths, "find_shape", lambda: vb.shape_from_lengths(robot, rest, **given)),
        (from_tensions, "find_shapes", lambda: vb.shapes_from_tensions(robot, [pull] * 3, **given)),
    ]
    if name == "a":  # pins of the mix hold nothing
        asks.append((path, "find_shapes", lambda: vb.ShapePath(robot).follow([pull] * 3)))
        asks.append((path, "commit_slip", lambda: vb.ShapePath(robot).step(pull)))
    assert_no_allocation_inside([recorded_call(module, kernel, monkeypatch, ask) for module, kernel, ask in asks])


def test_two_compiled_versions_of_the_solver_serve_all_questions():
    """One without friction and one with, and two more for joints with several freedoms; whatever the laws, their
    number, the closure and the history."""
    for name in ROBOTS:
        robot = ROBOTS[name]
        c = len(robot.cables)
        given = {"check": False, "loads": LOADS["dead moments"]}
        for law in (0.0, 0.2, vb.FrictionLaw.of(easing), [LAWS[k % 5][0](1e-4) for k in range(c)]):
            vb.shape_from_tensions(robot, [3.0] * c, friction=law, **given)
            vb.shapes_from_tensions(robot, [[3.0] * c] * 2, friction=law, loads=LOADS["weights"])
            vb.shape_from_lengths(robot, shortenings=[1e-5] * c, friction=law, **given)
            walk = vb.ShapePath(robot, friction=law)
            state = walk.step([3.0] * c, check=False) and walk.save()
            walk.restore(PathState.of(state.to_mapping()))
            walk.step(shortenings=[1e-5] * c, check=False)
            if name in "abc":
                vb.shape_from_tensions(robot, [3.0] * c, friction=law, closure="paper", **given)
                vb.ShapePath(robot, friction=law, closure="paper").follow([[3.0] * c] * 2)
    for function in (find_shape, from_tensions.find_shapes):
        # Other tests may have asked about joints with several freedoms, which have versions of their own.
        mirror = [types for types in function.signatures if "Spatial" not in str(types)]
        assert len(mirror) <= 2, function.__name__
    assert len(commit_slip.signatures) == 1
