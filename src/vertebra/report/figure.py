"""Pictures of a robot at one pose, or of a shape under its forces: an interactive page, or a still image."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vertebra.report.overlays import Ghost, Mark
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape, Status


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


def shape_figure_html(
    shape: Shape, path: str | Path, title: str = "", ghosts: Sequence[Ghost] = (), marks: Sequence[Mark] = ()
) -> Path:
    """Write one HTML file that needs nothing else: the shape to turn, and all its numbers below it."""
    from vertebra.report.shape_page import shape_page

    target = Path(path)
    target.write_text(shape_page(shape, title or shape.robot.name, ghosts, marks), encoding="utf-8")
    return target


def shape_figure_static(
    shape: Shape, path: str | Path, title: str = "", ghosts: Sequence[Ghost] = (), marks: Sequence[Mark] = ()
) -> Path:
    """Write a still picture of a shape; the suffix of `path` (.png or .svg) says which kind."""
    from vertebra.report.shape_scene import shape_scene
    from vertebra.report.still import draw_scene

    target = Path(path)
    # A picture travels without its page, so it says itself when the shape does not hold.
    fault = "" if shape.status == Status.SOLVED else f" ({shape.status.name.lower().replace('_', ' ')})"
    draw_scene(shape_scene(shape, ghosts, marks), target, (title or shape.robot.name) + fault)
    return target
