"""Drawn cables are as long as the kinematics says."""

from __future__ import annotations

import numpy as np
import pytest

import vertebra as vb
from vertebra.report.scene import cable_line


@pytest.mark.parametrize("bend", [0.0, 0.15, -0.1])
@pytest.mark.parametrize("name", vb.presets())
def test_length(name: str, bend: float) -> None:
    robot = vb.load(name)
    angles = bend * np.cos(np.arange(robot.freedoms))
    frames = vb.frames(robot, angles)
    drawn = [
        np.linalg.norm(np.diff(cable_line(robot, frames, k), axis=0), axis=1).sum() for k in range(len(robot.cables))
    ]
    np.testing.assert_allclose(drawn, vb.cable_lengths(robot, angles), rtol=0, atol=1e-12)


def test_ends_at_its_own_link() -> None:
    robot = vb.load("yang2023-c")
    frames = vb.frames(robot, np.full(robot.freedoms, 0.1))
    for k, cable in enumerate(robot.cables):
        line = cable_line(robot, frames, k)
        assert line.shape == (2 + 2 * cable["last_link"], 3)
        frame = frames[cable["last_link"]]
        np.testing.assert_allclose((line[-1] - frame[:3, 3]) @ frame[:3, :3], [cable["x"], cable["y"], cable["end"]])
        np.testing.assert_allclose(line[0], [cable["x"], cable["y"], 0.0])
