"""The way of every cable through its holes, as a polyline in the world."""

from __future__ import annotations

import numpy as np

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


def cable_line(robot: Robot, frames: Floats, cable: int) -> Floats:
    """Corners (m, 3) of a cable in the world, m: the base plane, each hole on its way, its end.

    Its length is what `vertebra.cable_lengths` says.
    """
    row, holes = robot.cables[cable], robot.segments[cable]
    x, y, last = float(row["x"]), float(row["y"]), int(row["last_link"])
    corners = [np.array([x, y, 0.0])]
    for joint in range(last):
        corners.append(_place(frames[joint], x, y, float(holes["exit"][joint])))
        corners.append(_place(frames[joint + 1], x, y, float(holes["entry"][joint])))
    corners.append(_place(frames[last], x, y, float(row["end"])))
    return np.array(corners)


def _place(frame: Floats, x: float, y: float, z: float) -> Floats:
    point: Floats = frame[:3, :3] @ np.array([x, y, z]) + frame[:3, 3]
    return point
