"""Laws that hold for robots of every kind: size and units change no angle, turning or mirroring everything turns or
mirrors the answer, and what one call answers the others agree with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from tests.every_kind import (
    KINDS,
    Question,
    about_z,
    mirrored,
    mirrored_angles,
    random_question,
    turned,
    turned_angles,
)
from tests.test_units import Scale, snake

import vertebra as vb
from vertebra.statics import Status

SAME = 1e-9
"""rad."""
fewer = settings(max_examples=settings().max_examples // 4)
LAW = {"quadratic": [2.0, 0.3, 0.1], "presliding": 1e-4}
FLIP = np.array([1.0, -1.0, 1.0])


@st.composite
def questions(draw: st.DrawFn, rough: bool = False, **options: Any) -> Question:
    """One to three sections of any kinds, with loads and tensions that their springs bear; `rough`: at times with
    friction."""
    kinds = tuple(draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3)))
    friction = draw(st.sampled_from([None, LAW])) if rough else None
    given: dict[str, Any] = {"moment": draw(st.booleans()), "gap_mass": draw(st.booleans()), "friction": friction}
    return random_question(draw(st.integers(0, 10**6)), kinds, joints=draw(st.integers(1, 3)), **given, **options)


def rest(question: Question, **options: Any) -> vb.Shape:
    """Its shape, which must be a stable one within range, as nearly all are."""
    shape = question.shape(check=False, **options)
    event(shape.status.name)
    assume(shape.status == Status.SOLVED)
    return shape


def near(found: Any, expected: Any, unit: float = 1.0, part: float = SAME) -> None:
    expected = np.asarray(expected)
    np.testing.assert_allclose(np.asarray(found) / unit, expected, rtol=0, atol=part * np.abs(expected).max(initial=0))


def same_angles(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=SAME)


@st.composite
def scales(draw: st.DrawFn, base: float = 10.0, most: int = 3) -> Scale:
    """Powers from a thousandth to a thousand, as far as a robot file allows them together."""
    scale = Scale(*(base ** draw(st.integers(-most, most)) for _ in range(3)))
    assume(scale.torque <= 1e9)
    assume(scale.torque * scale.time <= 1e11)
    assume(scale.mass / scale.length <= 1e5)
    return scale


def scaled(question: Question, scale: Scale) -> Question:
    return Question(
        scale.robot(question.robot), question.q, question.tensions * scale.force,
        question.gravity * scale.acceleration, tuple(scale.load(load) for load in question.loads),
    )  # fmt: skip


@given(questions(rough=True), scales())
def test_size_and_units_change_no_angle(question, scale):
    one, other = question, scaled(question, scale)
    shape = rest(one)
    big = other.shape()
    same_angles(big.angles, shape.angles)
    near(big.tip, shape.tip, scale.length)
    near(big.tensions, shape.tensions, scale.force)
    near(big.compliance[:3, :3], shape.compliance[:3, :3], scale.length / scale.force)
    pull = [one.tensions * (1 + 1e-2), other.tensions * (1 + 1e-2)]
    if not shape.friction:
        EA = 500.0
        lengths = shape.lengths * (1 - 1e-3)
        wound = vb.shape_from_lengths(one.robot, lengths, stiffness_EA=EA, check=False, **one.field)
        again = vb.shape_from_lengths(
            other.robot, lengths * scale.length, stiffness_EA=EA * scale.force, check=False, **other.field
        )
        assert again.status == wound.status
        if wound.status == Status.SOLVED:
            same_angles(again.angles, wound.angles)
    else:
        paths = [vb.ShapePath(each.robot, **each.field) for each in (one, other)]
        for share in (0.5, 1.0, 0.6):
            steps = [path.step(share * tensions, check=False) for path, tensions in zip(paths, pull, strict=True)]
            if steps[0].status != Status.SOLVED:
                break
            same_angles(steps[1].angles, steps[0].angles)


@given(questions(rough=True), scales(2.0, 9))
def test_powers_of_two_change_no_bit(question, scale):
    small, big = (each.shape(check=False) for each in (question, scaled(question, scale)))
    np.testing.assert_array_equal(big.angles, small.angles)
    assert (big.status, big.iterations) == (small.status, small.iterations)


@given(questions(), scales())
def test_size_and_units_change_no_motion(question, scale):
    one, other = question, scaled(question, scale)
    rng = np.random.default_rng(int(1e6 * question.q[0]) & 0xFFFF)
    qd, qdd = rng.normal(0.0, 3.0, len(one.q)), rng.normal(0.0, 30.0, len(one.q))
    clock = scale.time
    small = vb.inverse_dynamics(one.robot, one.q, qd, qdd, **one.field)
    big = vb.inverse_dynamics(other.robot, one.q, qd / clock, qdd / clock**2, **other.field)
    near(big, small, scale.torque)
    near(vb.mass_matrix(other.robot, one.q), vb.mass_matrix(one.robot, one.q), scale.unit(2, 1))
    runs = []
    for each, t, drag in ((one, 1.0, 1e-3), (other, clock, 1e-3 * scale.torque * clock)):
        runs.append(
            vb.simulate(
                each.robot, each.tensions, duration=5e-3 * t, dt=2.5e-4 * t, q0=0.3 * one.q, qd0=qd / t, damping=drag,
                integrator="implicit", check=False, **each.field,
            )
        )  # fmt: skip
    assert runs[0].ended == runs[1].ended
    same_angles(runs[1].q.values, runs[0].q.values)


@given(questions(rough=True, round_links=True), st.floats(-3.1, 3.1), st.integers(-3, 3))
def test_turning_everything_turns_the_answer(question, angle, quarters):
    robot = question.robot
    if "universal" in robot.name:
        angle = quarters * math.pi / 2
    other = turned(question, angle)
    shape = rest(question)
    found = other.shape(check=False, start=turned_angles(robot, shape.angles, angle))
    same_angles(found.angles, turned_angles(robot, shape.angles, angle))
    near(found.tip, about_z(angle, shape.tip))
    near(found.lengths, shape.lengths)
    near(found.energy, shape.energy, part=1e-8)
    rng = np.random.default_rng(len(robot.name))
    qd, qdd = rng.normal(0.0, 3.0, (2, robot.freedoms))
    torque = vb.inverse_dynamics(robot, question.q, qd, qdd, **question.field)
    motion = [turned_angles(robot, value, angle) for value in (question.q, qd, qdd)]
    near(vb.inverse_dynamics(other.robot, *motion, **other.field), turned_angles(robot, torque, angle))


@given(questions(rough=True))
def test_a_mirror_image_behaves_like_one(question):
    robot, other = question.robot, mirrored(question)
    shape = rest(question)
    found = other.shape(check=False, start=mirrored_angles(robot, shape.angles))
    same_angles(found.angles, mirrored_angles(robot, shape.angles))
    near(found.tip, FLIP * shape.tip)
    near(found.tensions, shape.tensions)
    rng = np.random.default_rng(len(robot.name))
    qd, qdd = rng.normal(0.0, 3.0, (2, robot.freedoms))
    torque = vb.inverse_dynamics(robot, question.q, qd, qdd, **question.field)
    motion = [mirrored_angles(robot, value) for value in (question.q, qd, qdd)]
    near(vb.inverse_dynamics(other.robot, *motion, **other.field), mirrored_angles(robot, torque))


@given(questions())
def test_tensions_for_a_shape_hold_it(question):
    shape = rest(question)
    held = vb.tensions_for_shape(question.robot, shape.angles, **question.field, check=False)
    assert held.feasible
    assert np.linalg.norm(held.tensions) <= np.linalg.norm(question.tensions) * (1 + 1e-6)
    assume(held.stable)
    again = vb.shape_from_tensions(question.robot, held.tensions, **question.field, start=shape.angles, check=False)
    np.testing.assert_allclose(again.angles, shape.angles, rtol=0, atol=1e-7)


@given(questions(), st.floats(100.0, 1e4))
def test_the_lengths_of_a_shape_give_it_again(question, EA):
    shape = rest(question)
    rest_lengths = shape.lengths / (1 + question.tensions / EA)
    again = vb.shape_from_lengths(
        question.robot, rest_lengths, stiffness_EA=EA, **question.field, start=shape.angles, check=False
    )
    same_angles(again.angles, shape.angles)
    near(again.tensions_at_base, question.tensions, part=1e-7)


@fewer
@given(questions())
def test_damped_motion_comes_to_rest_in_the_shape(question):
    shape = rest(question)
    q, qd = 0.9 * shape.angles, 0.0 * shape.angles
    for _ in range(50):
        run = vb.simulate(
            question.robot, question.tensions, duration=2.0, dt=2e-3, q0=q, qd0=qd, damping=0.02, every=100,
            integrator="implicit", check=False, **question.field,
        )  # fmt: skip
        assert run.ended == "duration"
        q, qd = run.q.values[-1], run.qd.values[-1]
        if np.abs(qd).max() < 1e-9:
            break
    np.testing.assert_allclose(q, shape.angles, rtol=0, atol=1e-7)


@given(st.integers(0, 10**6), scales())
def test_size_and_units_change_no_payload(seed, scale):
    robot, shape, pull, direction = snake(seed)
    down = np.array([0.0, -9.8, 0.0])
    small = vb.payload(robot, *shape, pull, direction, gravity=down)
    big = vb.payload(scale.robot(robot), *shape, pull * scale.force, direction, gravity=down * scale.acceleration)
    assert big.joint == small.joint
    near(big.force, small.force, scale.force)
