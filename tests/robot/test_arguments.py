"""What callers are told, and what they can ask instead."""

from __future__ import annotations

import numpy as np
import pytest
from tests.robots import ball_first, turning_mix

import vertebra as vb
from vertebra.errors import InputError
from vertebra.robot.arguments import BALLS_CAN, OTHERS_CAN

BALLS = vb.load("cai2023")
PULLS = np.full(len(BALLS.cables), 5.0)
STRAIGHT = np.zeros(BALLS.freedoms)


@pytest.mark.parametrize("robot", [BALLS, ball_first(), turning_mix()], ids=lambda robot: robot.name)
@pytest.mark.parametrize(
    "ask",
    [
        lambda robot: vb.shape_from_tensions(robot, np.ones(len(robot.cables))),
        lambda robot: vb.shape_from_lengths(robot, np.ones(len(robot.cables))),
        lambda robot: vb.equilibria(robot, np.ones(len(robot.cables))),
        lambda robot: vb.critical_tension(robot),
        lambda robot: vb.ShapePath(robot),
        lambda robot: vb.tensions_for_shape(robot, np.zeros(robot.freedoms)),
        lambda robot: vb.tensions_for_tip(robot, (0.0, 0.0, 0.1)),
        lambda robot: vb.inverse_dynamics(robot, *np.zeros((3, robot.freedoms))),
        lambda robot: vb.simulate(robot, tensions=np.ones(len(robot.cables)), duration=0.01),
    ],
    ids=["shape", "lengths", "equilibria", "critical", "path", "hold", "tip", "inverse", "simulate"],
)
def test_robots_with_ball_joints_are_told_what_they_can_be_asked(robot, ask) -> None:
    row = int(np.flatnonzero(robot.joints["kind"] == 4)[0])
    with pytest.raises(InputError) as caught:
        ask(robot)
    assert str(caught.value) == f"robot: joint {row + 1} is a ball joint; {BALLS_CAN}"


def test_what_ball_joints_can_be_asked_is_there() -> None:
    for name in ("payload", "payload_map", "best_tensions", "shape_from_tensions", "tensions_for_shape",
                 "tensions_for_tip", "simulate"):  # fmt: skip
        assert f"`{name}`" in BALLS_CAN + OTHERS_CAN
        assert callable(getattr(vb, name))


@pytest.mark.parametrize("name", ["hu2023-prototype", "lapusan2022"])
def test_robots_without_ball_joints_are_told_what_they_can_be_asked(name) -> None:
    robot = vb.load(name)
    bends = np.zeros(len(robot.joints))
    for ask in (
        lambda: vb.payload(robot, bends, bends, 5.0, direction=(0, 0, -1)),
        lambda: vb.best_tensions(robot, (bends, bends), (0, 0, -1)),
    ):
        with pytest.raises(InputError) as caught:
            ask()
        assert str(caught.value).endswith(OTHERS_CAN)
