"""Pictures of a robot at one pose: an interactive page, or a still image."""

from __future__ import annotations

from pathlib import Path

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


def robot_figure_html(robot: Robot, frames: Floats, path: str | Path, title: str = "") -> Path:
    """Write one HTML file that needs nothing else: a 3D picture to turn, and the robot's numbers below it.

    `frames`: (n+1, 4, 4) of all links, m, as `vertebra.frames` gives them.
    """
    from vertebra.report.page import robot_page

    target = Path(path)
    target.write_text(robot_page(robot, frames, title or robot.name), encoding="utf-8")
    return target


def robot_figure_static(robot: Robot, frames: Floats, path: str | Path, title: str = "") -> Path:
    """Write a still picture; the suffix of `path` (.png or .svg) says which kind.

    `frames`: (n+1, 4, 4) of all links, m, as `vertebra.frames` gives them.
    """
    from vertebra.report.still import draw_still

    target = Path(path)
    draw_still(robot, frames, target, title or robot.name)
    return target
