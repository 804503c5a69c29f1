"""The paper's own method against the closed form, and against plainer forms of itself."""

from __future__ import annotations

import math
import os
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.oracles.cai2023 import (
    STEP,
    ContactSearch,
    LiteralContact,
    LiteralLoad,
    LiteralSnake,
    R_x,
    R_y,
    applied,
    contact_wrench,
    literal_link_payload,
    literal_payload,
    slip_mode,
    to_paper,
)

import vertebra as vb
from vertebra.errors import InputError
from vertebra.locked import Payload
from vertebra.papers.cai2023.cases import DOWN, SHAPES, shape_of

SOAK = os.environ.get("VERTEBRA_SOAK") == "1"
SNAKE = vb.load("cai2023")
N = len(SNAKE.joints)
CLOSE = 1e-6
"""N, what the closed form must agree to."""
TOLERANCE = 1e-8
"""N, to which the literal method is refined."""
MOST = 40.0
"""N, load up to which limits are compared."""
STILL = np.zeros(3)


class Question(NamedTuple):
    """Arguments of a payload, and the joints beside the weakest one that are loaded on their own."""

    name: str
    shape: vb.BallShape
    tensions: Any
    direction: Any = DOWN
    link: int = -1
    point: Any = None
    moment: Any = None
    gravity: Any = None
    joints: tuple[int, ...] = (1, 7)
    robot: vb.Robot = SNAKE


def named_questions() -> list[Question]:
    """The paper's shapes under what the paper does not try."""
    found = []
    for name in SHAPES:
        shape = shape_of(name)
        found += [
            Question(f"{name}, equal", shape, 35.0),
            Question(f"{name}, low", shape, 5.0),
            Question(f"{name}, T1 less", shape, [30.0, 35.0, 35.0]),
            Question(f"{name}, one tendon slack", shape, [0.0, 35.0, 35.0]),
            Question(f"{name}, T2 less", shape, [25.0, 10.0, 30.0]),
            Question(f"{name}, no weight", shape, 20.0, gravity=STILL),
            Question(f"{name}, sideways", shape, 20.0, (1.0, 0.0, 0.0)),
            Question(f"{name}, up, standing", shape, [12.0, 20.0, 16.0], (0.3, 1.0, -0.2), gravity="ground"),
            Question(f"{name}, pushed", shape, 15.0, (0.4, -0.2, -1.0)),
            Question(f"{name}, link 8", shape, 25.0, DOWN, 8, joints=(3, 8)),
            Question(f"{name}, point of link 3", shape, [20.0, 30.0, 25.0], DOWN, 3, (4e-3, -2e-3, 5e-3), joints=(2,)),
            Question(f"{name}, wrench", shape, 30.0, DOWN, moment=(0.03, -0.02, 0.01)),
            Question(f"{name}, mostly twist", shape, 30.0, DOWN, moment=(0.0, 0.0, 0.3)),
            Question(f"{name}, twist the other way", shape, 30.0, DOWN, moment=(0.0, 0.0, -0.3)),
            Question(f"{name}, wrench at link 12, no weight", shape, [15.0, 5.0, 10.0], (1.0, 1.0, 0.0), 12,
                     moment=(0.0, 0.1, 0.2), gravity=STILL, joints=(12,)),
        ]  # fmt: skip
    return found


def other_robots() -> list[Question]:
    """Other numbers of links and tendons, another base and tip."""
    mapping = SNAKE.to_mapping()
    section = mapping["sections"][0]
    mapping["base"]["length"], mapping["tip"]["length"] = 0.01, 0.004
    section["joints"], section["cables"]["azimuth"] = 6, [0.1, 1.8, 3.3, 4.9]
    section["joint"]["friction"], section["link"]["channel"] = 0.3, 0.002
    robot = vb.load(mapping)
    found = []
    for bend in (0.0, 0.15):
        shape = vb.BallShape.spiral(robot, bend, 0.3, 2.5)
        found.append(Question(f"four tendons, {bend}", shape, [10.0, 12.0, 8.0, 9.0], joints=(2, 6), robot=robot))
        found.append(Question(f"four tendons, {bend}, one slack", shape, [10.0, 0.0, 8.0, 9.0], (1.0, 2.0, 0.5),
                              moment=(0.0, 0.0, 0.02), joints=(4,), robot=robot))  # fmt: skip
    return found


def random_questions(count: int) -> list[Question]:
    """Bent anyhow, or in one plane only; loaded anyhow."""
    found = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        azimuths = rng.uniform(-np.pi, np.pi, N) if seed % 3 else np.full(N, rng.uniform(-np.pi, np.pi))
        shape = vb.BallShape.of(SNAKE, rng.uniform(-0.2, 0.2, N), azimuths)
        link = int(rng.integers(1, N + 1)) if seed % 2 else N
        found.append(Question(
            f"random {seed}", shape, rng.uniform(5.0, 35.0, 3), rng.normal(size=3), link,
            0.003 * rng.normal(size=3) if seed % 4 == 1 else None, 0.05 * rng.normal(size=3) if seed % 4 else None,
            6.0 * rng.normal(size=3), (int(rng.integers(1, N + 1)),),
        ))  # fmt: skip
    return found


QUESTIONS = [*named_questions(), *other_robots(), *random_questions(400 if SOAK else 16)]


def closed_form(q: Question) -> Payload:
    return vb.payload(q.robot, *q.shape, q.tensions, q.direction, q.link, q.point, q.moment, q.gravity)


def literal(q: Question, joint: int, **options: Any) -> Any:
    return literal_link_payload(
        q.robot, *q.shape, q.tensions, q.direction, joint, q.link, q.point, q.moment, q.gravity, **options
    )


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.name)
def test_closed_form_equals_the_refined_literal_method(question):
    ours = closed_form(question)
    for joint in {ours.joint or 1, *question.joints}:
        theirs = literal(question, joint, tolerance=TOLERANCE, most_force=MOST)
        limit, mode = float(ours.limits[joint - 1]), ours.modes[joint - 1]
        if limit > MOST:
            assert (theirs.force, theirs.mode) == (math.inf, "unlimited")
            continue
        assert theirs.force == pytest.approx(limit, rel=0, abs=CLOSE)
        assert theirs.mode == mode
        assert theirs.force == 0.0 or theirs.slips_at - theirs.force <= TOLERANCE


def test_questions_are_of_every_kind():
    """At least 60 cases, with every way to give way among their weakest joints."""
    found = [closed_form(question) for question in QUESTIONS]
    assert len(QUESTIONS) >= 60
    count = Counter(payload.mode for payload in found if payload.force > 0)
    assert count["torsion"] >= 8
    assert count["sliding"] >= 40
    assert sum(payload.slips_unloaded for payload in found) >= 2
    degenerate = [abs(np.sum(p.contact.force * p.contact.moment, axis=1)).max() < 1e-12 for p in found]
    assert sum(degenerate) >= 5, "planar: no moment along the force"


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("tensions", [[20.0, 20.0, 20.0], [10.0, 15.0, 15.0]], ids=["equal", "T1-less"])
def test_steps_of_the_paper_end_just_below_the_closed_form(name, tensions):
    shape = shape_of(name)
    ours = vb.payload(SNAKE, *shape, tensions, DOWN)
    theirs = literal_payload(SNAKE, *shape, tensions, DOWN, only_weakest=True)
    assert theirs.force <= ours.force < theirs.force + STEP
    assert theirs.force / STEP == pytest.approx(round(theirs.force / STEP), abs=1e-9)
    assert (theirs.joint, theirs.mode) == (ours.joint, ours.mode)
    assert f"joint {theirs.joint}" in repr(theirs)


def test_whole_snake_joint_by_joint():
    """Every link loaded until it slips, as published; a coarse step keeps it short."""
    shape, step = shape_of("non-planar"), 0.5
    ours = vb.payload(SNAKE, *shape, 10.0, DOWN)
    theirs = literal_payload(SNAKE, *shape, 10.0, DOWN, step=step)
    assert [link.joint for link in theirs.links] == list(range(1, N + 1))
    for link, limit, mode in zip(theirs.links, ours.limits, ours.modes, strict=True):
        assert link.force <= limit < link.slips_at == pytest.approx(link.force + step)
        # Between two steps another limit may also be passed; which one is first is seen only at the finer one.
        assert link.mode == mode or link.mode in ("sliding", "torsion")
    assert theirs.force == min(link.force for link in theirs.links)


def test_result_does_not_depend_on_the_guesses():
    shape = shape_of("non-planar")
    found = [
        literal_link_payload(SNAKE, *shape, 35.0, DOWN, 1, tolerance=TOLERANCE, step=0.5, seed=seed)
        for seed in (0, 1, 2)
    ]
    assert len({one.contact for one in found}) > 1, "searches went different ways"
    for one in found[1:]:
        assert one.force == pytest.approx(found[0].force, abs=2 * TOLERANCE)
    again = literal_link_payload(SNAKE, *shape, 35.0, DOWN, 1, tolerance=TOLERANCE, step=0.5, seed=0)
    assert again == found[0], "same seed, same bits"


def test_published_method_draws_new_guesses_at_every_step():
    found = literal_link_payload(SNAKE, *shape_of("straight"), 5.0, DOWN, 1)
    assert (found.force, found.slips_at) == (pytest.approx(0.15), pytest.approx(0.20))
    assert found.solves == 5
    assert found.guesses >= found.solves


def test_contact_is_that_of_the_closed_form():
    """The six unknowns at the limit are the contact that `vertebra.payload` reports."""
    for question in named_questions()[::4]:
        ours = closed_form(question)
        if not 0.0 < ours.force < MOST:
            continue
        row = ours.joint - 1
        found = literal(question, ours.joint, tolerance=1e-9).contact
        normal = R_x(-found.beta) @ R_y(found.alpha - math.pi / 2) @ [1.0, 0.0, 0.0]
        np.testing.assert_allclose(to_paper(ours.contact.normal[row]), normal, rtol=0, atol=1e-6)
        carried = ours.contact.normal_force[row], ours.contact.friction_force[row]
        np.testing.assert_allclose([found.F_N, abs(found.F_f)], carried, rtol=1e-6)
        np.testing.assert_allclose(found.M_t, ours.contact.torsion[row], rtol=0, atol=1e-8)


# The parts of the method --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_frames_are_ours_in_the_papers_axes(name):
    shape = shape_of(name)
    found = LiteralSnake.of(SNAKE).frames(shape.bends, shape.azimuths + math.pi / 2)
    ours = vb.Pose(SNAKE, shape.coordinates).frames
    turn = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # ours to the paper's
    np.testing.assert_allclose(found[:, :3, 3], ours[:, :3, 3] @ turn.T, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found[:, :3, :3], turn @ ours[:, :3, :3] @ turn.T, rtol=0, atol=1e-15)


def test_tendons_run_where_eq_1_has_them():
    snake = LiteralSnake.of(SNAKE)
    np.testing.assert_allclose(snake.channels, [(4 * k - 7) / 6 * math.pi for k in (1, 2, 3)], atol=1e-12)
    shape = shape_of("non-planar")
    enter, leave = snake.vertices(snake.frames(shape.bends, shape.azimuths + math.pi / 2))
    segments = vb.Pose(SNAKE, shape.coordinates).cable_segments
    lengths = np.linalg.norm(enter[1:] - leave[:-1], axis=2).T
    np.testing.assert_allclose(lengths, segments.lengths, rtol=1e-12)


def test_theta_zero_bends_down():
    snake = LiteralSnake.of(SNAKE)
    tip = snake.frames(np.full(N, 0.05), np.zeros(N))[-1, :3, 3]
    assert tip[2] < -0.01
    assert abs(tip[1]) < 1e-15


def test_contact_wrench_is_that_of_the_equations():
    """Eqs 12 to 15 as matrices and cross products."""
    rng, r_o = np.random.default_rng(3), 6.35e-3
    for _ in range(20):
        F_N, F_f, alpha, beta, gamma, M_t = rng.normal(size=6)
        turn = R_x(-beta) @ R_y(alpha - math.pi / 2)
        n = np.array([math.sin(alpha), math.cos(alpha) * math.sin(beta), math.cos(alpha) * math.cos(beta)])
        np.testing.assert_allclose(turn[:, 0], n, atol=1e-15)
        n_f = turn @ [0.0, -math.cos(gamma), math.sin(gamma)]
        force = F_N * n + F_f * n_f
        moment = r_o * np.cross(n, F_f * n_f) + M_t * n
        found = contact_wrench(F_N, F_f, alpha, beta, gamma, M_t / r_o)
        np.testing.assert_allclose(found, [*force, *(moment / r_o)], rtol=0, atol=1e-12 * (1 + abs(M_t) / r_o))


def test_contact_that_pulls_is_drawn_again():
    """Half of the searches end at F_N < 0; none of them is returned."""
    rng = np.random.default_rng(5)
    search = ContactSearch(6.35e-3, rng)
    for _ in range(40):
        acts = np.concatenate([rng.normal(size=3) * 30.0, rng.normal(size=3) * 0.05])
        contact = search.solve(acts)
        assert contact is not None
        assert contact.F_N > 0.0
        wrench = np.array(contact_wrench(*contact[:5], contact.M_t / 6.35e-3))
        np.testing.assert_allclose(wrench[:3], -acts[:3], atol=1e-7)
        np.testing.assert_allclose(wrench[3:] * 6.35e-3, -acts[3:], atol=1e-9)
    assert search.guesses > 50


def test_moment_across_the_force_that_is_too_large_slides():
    """The only balance left has no normal force at all."""
    search = ContactSearch(6.35e-3, np.random.default_rng(0))
    contact = search.solve(np.array([-30.0, 0.0, 0.0, 0.0, 0.2, 0.0]))
    assert slip_mode(contact, 0.58, 5.5e-3) in ("sliding", "no contact")


def test_no_contact_balances_a_moment_alone():
    search = ContactSearch(6.35e-3, np.random.default_rng(0))
    assert search.solve(np.array([0.0, 0.0, 0.0, 0.0, 0.2, 0.0])) is None
    assert slip_mode(None, 0.58, 5.5e-3) == "no contact"


def test_slip_mode_takes_sizes():
    contact = LiteralContact(10.0, 5.0, 0.0, 0.0, 0.0, 0.02)
    assert slip_mode(contact, 0.58, 5.5e-3) == ""
    assert slip_mode(contact._replace(F_f=-5.9), 0.58, 5.5e-3) == "sliding"
    assert slip_mode(contact._replace(M_t=-0.033), 0.58, 5.5e-3) == "torsion"


def test_sums_over_links_beyond_the_joint():
    """Weight of links i to n, load only where it acts beyond the joint, tendons toward the base."""
    snake = LiteralSnake.of(SNAKE)
    frames = snake.frames(np.zeros(N), np.zeros(N))
    load = LiteralLoad(np.array([0.0, 0.0, -1.0]), 8, np.zeros(3), np.zeros(3))
    down = np.array([0.0, 0.0, -9.8])
    for joint in (1, 8, 9, N):
        acts = applied(snake, frames, joint, np.full(3, 10.0), load, down)
        count, weight = N + 1 - joint, 1.42e-3 * 9.8
        np.testing.assert_allclose(acts.fixed[:3], [-30.0, 0.0, -count * weight], atol=1e-12)
        lever = snake.L * sum(range(1, count + 1)) * weight
        np.testing.assert_allclose(acts.fixed[3:], [0.0, lever, 0.0], atol=1e-12)
        reach = (9 - joint) * snake.L
        np.testing.assert_allclose(
            acts.per_newton, [0, 0, -1, 0, reach, 0] if joint <= 8 else np.zeros(6), atol=1e-15
        )  # fmt: skip
        printed = applied(snake, frames, joint, np.full(3, 10.0), load, down, as_printed=True)
        assert printed.fixed[0] == pytest.approx(30.0)


def test_eq_6_as_printed_is_a_robot_with_load_and_weight_reversed():
    for name in SHAPES:
        shape, tensions = shape_of(name), np.array([30.0, 35.0, 35.0])
        reversed_ = vb.payload(SNAKE, *shape, tensions, [0, 1, 0], gravity=-SNAKE.gravity)
        printed = literal_link_payload(
            SNAKE, *shape, tensions, DOWN, reversed_.joint, as_printed=True, tolerance=TOLERANCE
        )
        assert printed.force == pytest.approx(reversed_.force, abs=CLOSE)
        assert printed.mode == reversed_.mode


def test_joints_beyond_the_load_are_unlimited():
    shape = shape_of("straight")
    found = literal_link_payload(SNAKE, *shape, 35.0, DOWN, 9, link=8)
    assert (found.force, found.mode, found.solves) == (math.inf, "unlimited", 1)
    nothing = literal_payload(SNAKE, *shape, 35.0, DOWN, link=0)
    assert (nothing.force, nothing.joint, nothing.mode) == (math.inf, 0, "unlimited")
    assert "unlimited" in repr(nothing)


def test_a_robot_that_slips_unloaded_holds_nothing():
    found = literal_link_payload(SNAKE, *shape_of("straight"), 1.0, DOWN, 1)
    assert (found.force, found.slips_at, found.mode) == (0.0, 0.0, "sliding")
    assert vb.payload(SNAKE, *shape_of("straight"), 1.0, DOWN).slips_unloaded


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"joint": 0}, "from 1 to 19"),
        ({"joint": 20}, "from 1 to 19"),
        ({"tensions": [1.0, 2.0]}, "one number or 3"),
        ({"tensions": -1.0}, "0 N or more"),
        ({"bends": [0.1, 0.2]}, "one number or 19"),
        ({"direction": [0.0, 0.0, 0.0]}, "must not be zero"),
        ({"step": 0.0}, "above 0 N"),
        ({"tolerance": 0.0}, "above 0 N"),
        ({"link": 20}, "link"),
    ],
)
def test_wrong_arguments_are_named(change, message):
    arguments = {"bends": 0.0, "azimuths": 0.0, "tensions": 5.0, "direction": DOWN, "joint": 1} | change
    with pytest.raises(InputError, match=message):
        literal_link_payload(SNAKE, **arguments)


def test_robots_of_another_form_are_refused():
    with pytest.raises(InputError, match="ball joints"):
        literal_payload(vb.load("hu2023-prototype"), 0.0, 0.0, 5.0, DOWN)
    for part, field, value, message in (
        ("link", "center_of_mass", [0.0, 0.0, 1e-3], "weight elsewhere"),
        ("cables", "lock_mass", 1e-3, "weight elsewhere"),
        ("cables", "friction", {"constant": 0.1}, "friction"),
    ):
        mapping = SNAKE.to_mapping()
        mapping["sections"][0][part][field] = value
        with pytest.raises(InputError, match=message):
            literal_payload(vb.load(mapping), 0.0, 0.0, 5.0, DOWN)
