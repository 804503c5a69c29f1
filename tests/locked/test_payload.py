"""Payload against an oracle that cuts every link free, and the figures of Cai 2023."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from tests.locked import snakes
from tests.oracles.ball_scan import wrong_limits

import vertebra as vb

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SEEDS = range(1500 if SOAK else 150)
DOWN = (0.0, -1.0, 0.0)


@pytest.fixture(scope="module")
def answers():
    """Random questions, their answers, and the oracle's wrenches."""
    out = []
    for seed in SEEDS:
        question = snakes.question(np.random.default_rng(seed))
        snake = question.snake()
        out.append((question, question.ask(), snake, snake.wrenches(*question.place())))
    return out


def test_every_joint_of_random_snakes_gives_way_where_the_scan_says(answers):
    modes = []
    for seed, (_, payload, _, wrenches) in enumerate(answers):
        wrong = wrong_limits(wrenches, payload.limits, payload.modes, round_off=1e-13)
        assert {name: rows.tolist() for name, rows in wrong.items()} == {"missed": [], "early": [], "mode": []}, seed
        assert payload.force == payload.limits.min()
        modes += payload.modes
    for mode in ("unlimited", "sliding", "torsion"):
        assert modes.count(mode) > len(answers) / 10
    slipping = sum(payload.slips_unloaded for _, payload, _, _ in answers)
    assert len(answers) / 20 < slipping < 0.8 * len(answers)


def test_contacts_supply_what_the_links_need(answers):
    """Force and moment at the limit, from the free bodies of all links, to 1e-10."""
    for question, payload, snake, _ in answers:
        load = payload.force if math.isfinite(payload.force) else 0.0
        _, link, point, couple = question.place()
        f, m = snake.supplies(load, question.unit, link, point, couple)
        scale = float(np.sum(question.tensions)) + load + np.abs(f).max() + 1e-12  # weights too, through f
        size = float(question.robot.joints["radius"].max())
        assert np.abs(payload.contact.force - f).max() < 1e-10 * scale
        reach = size + question.robot.length + (0.0 if point is None else np.linalg.norm(point))
        assert np.abs(payload.contact.moment - m).max() < 1e-10 * scale * reach
        assert np.abs(payload.contact.centers - [at for _, at in snake.frames[:-1]]).max() < 1e-13 * max(1.0, reach)


def test_contacts_are_balanced(answers):
    """F_N n + F_f t = f and r n x f + M_t n = m, to 1e-10, with n a unit vector and t across it."""
    rows = 0
    for question, payload, _, _ in answers:
        c, radius = payload.contact, question.robot.joints["radius"]
        for j in np.flatnonzero(c.normal_force > 0):
            f, m, n = c.force[j], c.moment[j], c.normal[j]
            size = np.linalg.norm(f)
            friction = f - c.normal_force[j] * n
            assert abs(n @ n - 1) < 1e-10
            assert abs(friction @ n) < 1e-10 * size
            assert abs(np.linalg.norm(friction) - c.friction_force[j]) < 1e-7 * size
            left = radius[j] * np.cross(n, f) + c.torsion[j] * n - m
            assert np.linalg.norm(left) < 1e-10 * (radius[j] * size + np.linalg.norm(m))
            rows += 1
    assert rows > 3 * len(answers)


def test_the_weakest_joint_uses_all_its_friction(answers):
    mu_checked = 0
    for question, payload, _, _ in answers:
        c, table = payload.contact, question.robot.joints
        most = table["friction"] * c.normal_force
        with np.errstate(divide="ignore", invalid="ignore"):
            assert c.sliding_use == pytest.approx(np.where(c.friction_force > 0, c.friction_force / most, 0))
            twist = np.abs(c.torsion) / (table["ring_radius"] * most)
            assert c.torsion_use == pytest.approx(np.where(c.torsion != 0, twist, 0))
        if payload.mode == "separation":
            continue
        if payload.slips_unloaded:
            assert max(c.sliding_use[payload.joint - 1], c.torsion_use[payload.joint - 1]) > 1
            continue
        if payload.joint:
            use = c.sliding_use if payload.mode == "sliding" else c.torsion_use
            assert use[payload.joint - 1] == pytest.approx(1.0, abs=1e-9)
            mu_checked += 1
        # No joint uses more than there is.
        assert max(c.sliding_use.max(), c.torsion_use.max()) < 1 + 1e-9
    assert mu_checked > 30


def test_what_an_answer_says(answers):
    for question, payload, _, _ in answers:
        n = len(question.robot.joints)
        assert payload.limits.shape == (n,)
        assert len(payload.modes) == n
        assert payload.direction == pytest.approx(question.unit, abs=1e-15)
        assert payload.link == question.link % (n + 1)
        assert payload.tensions.shape == (len(question.robot.cables), n)
        assert not np.isnan(payload.limits).any()
        assert payload.reentry > payload.force or math.isinf(payload.reentry)
        assert payload.is_interval == math.isinf(payload.reentry)
        if payload.joint:
            assert payload.mode == payload.modes[payload.joint - 1]
            assert payload.limits[payload.joint - 1] == payload.force
            assert f"joint {payload.joint} " in payload.reason
            assert f"joint {payload.joint} " in repr(payload)
        else:
            assert (payload.force, payload.mode) == (math.inf, "unlimited")
            assert "no load" in payload.reason
            assert "unlimited" in repr(payload)
        assert payload.slips_unloaded == (payload.force == 0.0)
        assert ("without any load" in payload.reason) == payload.slips_unloaded


# Cai 2023.


def test_the_straight_snake_at_35_newton():
    robot = vb.load("cai2023")
    payload = vb.payload(robot, 0.0, 0.0, 35.0, DOWN)
    assert round(payload.force, 3) == 1.933
    assert (payload.joint, payload.mode) == (1, "sliding")
    # By hand: weights and load on 19 links of 8.5 mm, r sin(atan mu) |f| across them.
    L, W, r, sine = 8.5e-3, -1.42e-3 * robot.gravity[1], 6.35e-3, 0.58 / math.hypot(1, 0.58)
    F, moment = payload.force, L * W * sum(range(1, 20))
    assert moment + 19 * L * F == pytest.approx(r * sine * math.hypot(105, 19 * W + F), rel=1e-12)


@pytest.mark.parametrize("shape", snakes.SHAPES)
def test_payload_is_affine_in_the_tension_with_weight_and_proportional_without(shape):
    robot = vb.load("cai2023")
    bent = snakes.shape_of(robot, shape)
    pull = np.arange(5.0, 35.1, 2.5)
    heavy = np.array([vb.payload(robot, *bent, tension, DOWN).force for tension in pull])
    held = heavy > 0
    assert held.sum() > 8
    line = np.polynomial.Polynomial.fit(pull[held], heavy[held], 1)
    assert np.abs(line(pull[held]) - heavy[held]).max() < 1e-3
    light = np.array([vb.payload(robot, *bent, tension, DOWN, gravity=(0, 0, 0)).force for tension in pull])
    assert light / pull == pytest.approx(np.full(len(pull), light[-1] / 35.0), rel=1e-9)
    assert (heavy < light).all()


@pytest.mark.parametrize("shape", snakes.SHAPES)
def test_the_four_shapes_against_the_oracle(shape):
    robot = vb.load("cai2023")
    question = snakes.Question(robot, *snakes.shape_of(robot, shape), [30.0, 35.0, 35.0], DOWN)
    payload = question.ask()
    assert payload.limits == pytest.approx(question.snake().limits(DOWN), rel=1e-9)
    assert payload.force > 1.5
