"""Cables that rub in their holes: the tension left at each joint, and what it does to the payload."""

from __future__ import annotations

import numpy as np
import pytest
from tests.locked import snakes
from tests.oracles.ball_chain import Snake

import vertebra as vb

ROBOT = vb.load("cai2023")
DOWN = (0.0, -1.0, 0.0)
RNG = np.random.default_rng(0)
BENDS, AZIMUTHS = RNG.uniform(-0.15, 0.15, 19), RNG.uniform(-3, 3, 19)
LAW = vb.FrictionLaw.quadratic(14.0, 0.7, 0.105)


def test_tension_falls_by_half_a_bend_at_every_hole():
    payload = vb.payload(ROBOT, BENDS, AZIMUTHS, [30.0, 35.0, 40.0], DOWN, friction=0.2)
    bends = np.abs(BENDS)
    passed = np.cumsum(bends) - 0.5 * bends  # all bends before, and half of this one
    assert payload.tensions == pytest.approx(np.outer([30.0, 35.0, 40.0], np.exp(-0.2 * passed)), rel=1e-14)
    assert payload.tensions[:, 0] == pytest.approx(np.array([30.0, 35.0, 40.0]) * np.exp(-0.1 * bends[0]))


@pytest.mark.parametrize(
    ("friction", "rule"),
    [
        (0.25, 0.25),
        (np.float64(0.25), 0.25),
        (vb.FrictionLaw.constant(0.1), 0.1),
        ([0.0, 0.1, 0.3], [0.0, 0.1, 0.3]),
        (LAW, lambda theta: 14 * theta**2 + 0.7 * theta + 0.105),
        ([0.1, LAW, 0.2], [0.1, lambda theta: 14 * theta**2 + 0.7 * theta + 0.105, 0.2]),
    ],
)
def test_payload_with_friction_against_the_oracle(friction, rule):
    for link in (-1, 8):
        payload = vb.payload(ROBOT, BENDS, AZIMUTHS, [36.0, 34.0, 35.0], DOWN, link, friction=friction)
        snake = Snake(ROBOT, BENDS, AZIMUTHS, [36.0, 34.0, 35.0], friction=rule)
        tensions = [[snake.tension(k, joint) for joint in range(1, 20)] for k in range(3)]
        assert payload.tensions == pytest.approx(np.array(tensions), rel=1e-12)
        assert payload.limits == pytest.approx(snake.limits(DOWN, link), rel=1e-8)


def test_the_law_of_the_file_is_the_default():
    rough = snakes.changed(ROBOT, cables={"friction": 0.15})
    by_file = vb.payload(rough, BENDS, AZIMUTHS, 35.0, DOWN)
    stated = vb.payload(ROBOT, BENDS, AZIMUTHS, 35.0, DOWN, friction=0.15)
    assert by_file.limits.tobytes() == stated.limits.tobytes()
    assert by_file.tensions.tobytes() == stated.tensions.tobytes()
    # A given law takes the place of that of the file.
    smooth = vb.payload(rough, BENDS, AZIMUTHS, 35.0, DOWN, friction=0)
    assert smooth.limits.tobytes() == vb.payload(ROBOT, BENDS, AZIMUTHS, 35.0, DOWN).limits.tobytes()
    assert (smooth.tensions == 35.0).all()


def test_a_straight_snake_loses_nothing():
    smooth, rough = (vb.payload(ROBOT, 0.0, 0.0, 35.0, DOWN, friction=mu) for mu in (0.0, 1.0))
    assert smooth.limits.tobytes() == rough.limits.tobytes()


def test_friction_keeps_the_payload_proportional_to_the_tension():
    for gravity in ((0, 0, 0),):
        forces = [
            vb.payload(ROBOT, BENDS, AZIMUTHS, T, DOWN, gravity=gravity, friction=LAW).force / T
            for T in (5.0, 35.0, 80.0)
        ]
        assert forces == pytest.approx([forces[0]] * 3, rel=1e-9)


def test_joints_of_a_second_section_count_the_bends_of_the_first():
    mapping = ROBOT.to_mapping()
    section = mapping["sections"][0]
    mapping["sections"] = [{**section, "joints": 7}, {**section, "joints": 5}]
    robot = vb.load(mapping)
    bends = BENDS[:12]
    payload = vb.payload(robot, bends, AZIMUTHS[:12], 20.0, DOWN, friction=0.3)
    passed = np.cumsum(np.abs(bends)) - 0.5 * np.abs(bends)
    assert payload.tensions[3:] == pytest.approx(np.tile(20.0 * np.exp(-0.3 * passed), (3, 1)))
    assert payload.tensions[:3, :7] == pytest.approx(np.tile(20.0 * np.exp(-0.3 * passed[:7]), (3, 1)))
    # Cables of the first section end there, as in the tensions of a `Shape`.
    assert (payload.tensions[:3, 7:] == 0.0).all()
    snake = Snake(robot, bends, AZIMUTHS[:12], 20.0, friction=0.3)
    assert payload.limits == pytest.approx(snake.limits(DOWN), rel=1e-8)
