"""Limiting cases of locked snakes: no pressure, no friction, no weight, few joints."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests.locked import snakes
from tests.oracles.ball_scan import wrong_limits

import vertebra as vb
from vertebra.locked import payload_gradient

ROBOT = vb.load("cai2023")
DOWN = (0.0, -1.0, 0.0)
STILL = {"gravity": (0, 0, 0)}


def assert_sound(payload):
    """Nothing is NaN, derivatives included, and the parts agree."""
    for joint in (np.flatnonzero(np.isfinite(payload.limits)) + 1).tolist():
        for value in vars(payload_gradient(payload, joint)).values():
            if isinstance(value, np.ndarray):
                columns = [value[name] for name in value.dtype.names] if value.dtype.names else [value]
                assert all(np.isfinite(column).all() for column in columns)
    assert not np.isnan(payload.limits).any()
    assert (payload.limits >= 0).all()
    assert payload.force >= 0
    for values in vars(payload.contact).values():
        assert not np.isnan(values).any()
    assert payload.reason
    assert repr(payload)
    assert repr(payload.contact)
    assert not math.isnan(payload.reentry)


# Coming apart.


def test_pulled_along_the_axis_a_weightless_snake_holds_the_sum_of_its_tensions():
    for tensions in ([35.0, 35.0, 35.0], 10.0):
        payload = vb.payload(ROBOT, 0.0, 0.0, tensions, (0, 0, 1), **STILL)
        assert payload.force == pytest.approx(3 * np.mean(tensions), rel=1e-12)
        assert payload.modes == ("separation",) * 19
        assert payload.is_interval
        assert "comes apart" in payload.reason
        assert_sound(payload)


def test_along_the_axis_of_a_bent_weightless_snake_of_one_joint():
    """A pull against the contact force itself takes all of it away."""
    robot = snakes.short(1)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        bends, azimuths = rng.uniform(-0.3, 0.3), rng.uniform(-3, 3)
        unloaded = vb.payload(robot, bends, azimuths, 35.0, DOWN, link=0, **STILL)
        f, m = unloaded.contact.force[0], unloaded.contact.moment[0]
        size = np.linalg.norm(f)
        # At the ball's centre, with the moment taken away at the same rate.
        centre = vb.Pose(robot, vb.BallShape.arc(robot, bends, azimuths).coordinates).frames[1]
        at_ball = -centre[:3, :3].T @ centre[:3, 3]
        payload = vb.payload(robot, bends, azimuths, 35.0, f / size, 1, at_ball, m / size, **STILL)
        assert payload.mode == "separation"
        assert payload.force == pytest.approx(size, rel=1e-12)


@pytest.mark.parametrize("g", [1e-9, 1e-6, 1e-4, 1e-2, 1.0, 9.8])
def test_with_a_little_weight_it_slides_before_it_comes_apart(g):
    question = snakes.Question(ROBOT, 0.0, 0.0, 35.0, (0, 0, 1), gravity=(0, -g, 0))
    payload = question.ask()
    w = question.snake().wrenches(*question.place())
    wrong = wrong_limits(w, payload.limits, payload.modes, round_off=1e-13)
    assert not any(len(rows) for rows in wrong.values())
    assert payload.force < 105
    assert payload.mode == "sliding"
    # Joint 1: weight W of 19 links with lever 10 L against r sin(atan mu) |f|.
    W, sine = 19 * 1.42e-3 * g, 0.58 / math.hypot(1, 0.58)
    left = math.sqrt((W * 10 * 8.5e-3 / (6.35e-3 * sine)) ** 2 - W**2)
    if left > 1e-6:
        assert 105 - payload.limits[0] == pytest.approx(left, rel=1e-6)


def test_no_tension_and_no_weight():
    payload = vb.payload(ROBOT, 0.1, 0.2, 0.0, DOWN, **STILL)
    assert (payload.force, payload.mode, payload.slips_unloaded) == (0.0, "separation", True)
    assert "tighten" in payload.reason
    assert_sound(payload)


def test_a_stack_of_links_without_cables():
    """Weight alone presses: straight up it holds, and a load to the side slides."""
    robot = snakes.short(5)
    mapping = robot.to_mapping()
    mapping["sections"][0].pop("cables")
    bare = vb.load(mapping)
    assert len(bare.cables) == 0
    for tensions in ([], np.zeros(0), 0.0, 35.0):
        payload = vb.payload(bare, 0.0, 0.0, tensions, (1, 0, 0), gravity="ground")
        assert payload.mode == "sliding"
        assert 0 < payload.force < 5 * 1.42e-3 * 9.8
        assert payload.tensions.shape == (0, 5)
        assert_sound(payload)
    question = snakes.Question(bare, 0.01, 0.3, [], (1, 0.2, 0.1), gravity=(0, 0, -9.8))
    assert question.ask().limits == pytest.approx(question.snake().limits(question.direction), rel=1e-9)
    assert vb.payload(bare, 0.0, 0.0, [], (0, 0, -1), gravity="ground").mode == "unlimited"
    pulled = vb.payload(bare, 0.0, 0.0, [], (0, 0, 1), gravity="ground")
    assert (pulled.mode, pulled.joint) == ("separation", 5)
    assert pulled.force == pytest.approx(1.42e-3 * 9.8, rel=1e-9)
    # Hung from a ceiling there is nothing to hold it, if sockets were to let go; the model has no rim by default.
    assert_sound(vb.payload(bare, 0.0, 0.0, [], (1, 0, 0), gravity="ceiling"))


def test_the_map_of_a_robot_without_cables():
    mapping = snakes.short(3).to_mapping()
    mapping["sections"][0].pop("cables")
    bare = vb.load(mapping)
    answer = vb.payload_map(bare, 0.0, 0.0, [], 20, gravity="ground")
    assert answer.payload.shape == (1, 1, 20)
    assert not np.isnan(answer.payload).any()


# Slipping unloaded.


def test_a_snake_that_slips_by_itself_says_which_joint_and_why():
    bends = np.zeros(19)
    bends[[4, 11]] = [0.9, 1.1]
    payload = vb.payload(ROBOT, bends, 0.0, 35.0, DOWN)
    assert payload.force == 0.0
    assert payload.slips_unloaded
    assert payload.joint == 12
    assert payload.limits[[4, 11]].tolist() == [0.0, 0.0]
    use = payload.contact.sliding_use[11]
    assert use > payload.contact.sliding_use[4] > 1
    assert payload.reason.startswith("joint 12 slides without any load: it needs")
    assert f"{use:.4g} times" in payload.reason
    assert payload.contact.force == pytest.approx(vb.payload(ROBOT, bends, 0.0, 35.0, (1, 0, 0)).contact.force)


def test_a_snake_that_twists_by_itself():
    payload = vb.payload(ROBOT, 0.0, 0.0, 35.0, DOWN, loads=[vb.Load(moment=(0, 0, 0.4))], **STILL)
    assert (payload.force, payload.mode) == (0.0, "torsion")
    assert "twists without any load" in payload.reason
    limit = 0.58 * 5.5e-3 * 105
    held, slipping = (
        vb.payload(ROBOT, 0.0, 0.0, 35.0, DOWN, loads=[vb.Load(moment=(0, 0, limit * x))], **STILL).slips_unloaded
        for x in (1 - 1e-9, 1 + 1e-9)
    )
    assert (held, slipping) == (False, True)


def test_a_joint_with_no_force_and_a_moment():
    """Load and cables cancel, a moment is left: nothing can hold that."""
    robot = snakes.short(1)
    payload = vb.payload(robot, 0.0, 0.0, 35.0, DOWN, loads=[vb.Load((0, 0, 105.0), (1e-3, 0, 0))], **STILL)
    assert (payload.force, payload.mode) == (0.0, "separation")
    assert_sound(payload)


def test_a_joint_that_nothing_presses_lacks_more_than_one_that_slides():
    robot = snakes.short(2)
    loads = [vb.Load((0, 0, 105.0), (1e-3, 0, 0)), vb.Load((0, 0, -50.0), (0.2, 0, 0), link=1)]
    payload = vb.payload(robot, 0.0, 0.0, 35.0, DOWN, loads=loads, **STILL)
    assert payload.modes == ("sliding", "separation")
    assert (payload.joint, payload.mode) == (2, "separation")
    assert payload.contact.sliding_use[0] > 1
    dataset = vb.payload_map(robot, 0.0, 0.0, 35.0, [DOWN], loads=loads, **STILL)
    assert dataset.joint.values.tolist() == [[[2]]]
    assert_sound(payload)


# Without friction.


def test_without_friction_only_loads_along_the_axis_are_held():
    smooth = snakes.changed(ROBOT, joint={"friction": 0.0})
    assert vb.payload(smooth, 0.0, 0.0, 35.0, (0, 0, -1), **STILL).mode == "unlimited"
    assert vb.payload(smooth, 0.0, 0.0, 35.0, (0, 0, 1), **STILL).force == pytest.approx(105)
    side = vb.payload(smooth, 0.0, 0.0, 35.0, (1, 0, 0), **STILL)
    assert side.force < 1e-9
    turned = vb.payload(smooth, 0.0, 0.0, 35.0, (0, 0, -1), moment_per_force=(0, 0, 0.01), **STILL)
    assert turned.force < 1e-9
    assert turned.mode == "torsion"
    heavy = vb.payload(smooth, 0.0, 0.0, 35.0, DOWN)
    assert heavy.slips_unloaded
    assert "no friction" in heavy.reason or "times" in heavy.reason
    for payload in (side, turned, heavy):
        assert_sound(payload)


def test_more_friction_never_carries_less():
    for seed in range(10):
        question = snakes.question(np.random.default_rng(7000 + seed))
        robots = [snakes.changed(question.robot, joint={"friction": mu}) for mu in (0.05, 0.2, 0.5, 0.9)]
        forces = [question.ask(robot=robot).force for robot in robots]
        assert all(a <= b * (1 + 1e-9) for a, b in itertools.pairwise(forces)), forces


def test_the_largest_friction_a_file_allows():
    firm = snakes.changed(ROBOT, joint={"friction": 90.0, "ring_radius": 7e-5})
    payload = vb.payload(firm, 0.02, 0.3, 35.0, (0.3, -1, 0.2))
    question = snakes.Question(firm, 0.02, 0.3, 35.0, (0.3, -1, 0.2))
    assert payload.limits == pytest.approx(question.snake().limits(question.direction), rel=1e-6)
    assert_sound(payload)


# Slack cables.


@pytest.mark.parametrize("tensions", [[0.0, 35.0, 35.0], [0.0, 0.0, 35.0], [35.0, 0.0, 35.0], [1e-9, 35.0, 35.0]])
def test_slack_cables(tensions):
    for direction in (DOWN, (0, 1, 0), (0.2, 0.3, -1)):
        question = snakes.Question(ROBOT, 0.01, 0.3, tensions, direction)
        payload = question.ask()
        wrong = wrong_limits(question.snake().wrenches(direction), payload.limits, payload.modes, round_off=1e-13)
        assert not any(len(rows) for rows in wrong.values())
        assert_sound(payload)


def test_one_cable_alone_pulls_its_joints_over():
    """Its lever of 4.95 mm is more than r sin(atan mu) = 3.19 mm; that of two together, 2.48 mm, is less."""
    alone = vb.payload(ROBOT, 0.0, 0.0, [35.0, 0.0, 0.0], DOWN, **STILL)
    assert (alone.slips_unloaded, alone.mode) == (True, "sliding")
    assert alone.contact.sliding_use == pytest.approx(np.full(19, math.tan(math.asin(4.95 / 6.35)) / 0.58), rel=1e-9)
    two = vb.payload(ROBOT, 0.0, 0.0, [0.0, 35.0, 35.0], DOWN, **STILL)
    # The two upper ones lift the snake, so it carries more than with the third.
    sine = 0.58 / math.hypot(1, 0.58)
    lever = 19 * 8.5e-3 * two.force - 70 * 4.95e-3 / 2
    assert lever == pytest.approx(6.35e-3 * sine * math.hypot(70, two.force), rel=1e-9)


# Small and large.


def test_a_snake_of_one_joint():
    robot = snakes.short(1)
    r, sine = 6.35e-3, 0.58 / math.hypot(1, 0.58)
    payload = vb.payload(robot, 0.0, 0.0, 35.0, DOWN, **STILL)
    load = payload.force
    assert load * 8.5e-3 == pytest.approx(r * sine * math.hypot(105, load), rel=1e-12)
    for shape in ([0.1], np.array([0.1])):
        assert vb.payload(robot, shape, [0.3], [35.0] * 3, DOWN).limits.shape == (1,)


def test_a_snake_of_a_thousand_joints():
    robot = snakes.short(1000)
    payload = vb.payload(robot, 0.001, np.linspace(0, 40, 1000), 35.0, DOWN, **STILL)
    assert payload.limits.shape == (1000,)
    assert payload.force > 0
    assert_sound(payload)


@pytest.mark.parametrize("factor", [1e-60, 1e-12, 1e-6, 1e6, 1e9])
def test_forces_of_any_size(factor):
    here = vb.payload(ROBOT, 0.02, 0.3, 35.0, (0.1, -1, 0.2), **STILL)
    there = vb.payload(ROBOT, 0.02, 0.3, 35.0 * factor, (0.1, -1, 0.2), **STILL)
    assert there.limits == pytest.approx(factor * here.limits, rel=1e-9)
    assert there.modes == here.modes
    assert_sound(there)


def test_extreme_inputs_end_in_numbers():
    cases = [
        {"tensions": 1e12},
        {"tensions": 1e-300},
        {"tensions": [1e12, 1e-12, 1.0]},
        {"gravity": (1e12, -1e12, 0)},
        {"gravity": (0, 1e-300, 0)},
        {"point": (1e12, 0, 1e12)},
        {"point": (1e-300, 0, 0)},
        {"moment_per_force": (1e12, 1e12, -1e12)},
        {"moment_per_force": (1e-300, 0, 0)},
        {"direction": (1e12, -1e12, 1e-300)},
        {"direction": (5e-324, 0, 0)},
        {"azimuths": 1e12},
        {"bends": 1e-300},
        {"bends": math.pi / 2},
        {"loads": [vb.Load((1e12, 0, 0), (0, 1e12, 0))]},
        {"friction": 1e6},
        {"socket_limit": 1e-300},
        {"socket_limit": 5e-324, "tensions": 0.0},
    ]
    usual = {"bends": 0.02, "azimuths": 0.1, "tensions": 35.0, "direction": DOWN}
    for case in cases:
        for gravity in (None, (0, 0, 0)):
            payload = vb.payload(ROBOT, **{**usual, "gravity": gravity, **case})
            assert_sound(payload)
