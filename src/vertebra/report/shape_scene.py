"""A shape as a scene: the robot with its cables drawn by tension, its loads, other shapes as thin lines, and the
compliance of its tip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from vertebra.report.overlays import Ghost, Mark, load_arrows, points_of, tip_ellipsoid
from vertebra.report.scene import Scene, body_points, cable_label, gravity_arrow, robot_scene
from vertebra.report.slip_facts import tensions_at_end
from vertebra.statics.shape import Shape

THINNEST, WIDEST = 0.5, 2.0
"""Line widths of a slack cable and of the tightest one, in usual ones."""


def shape_scene(shape: Shape, ghosts: Sequence[Ghost] = (), marks: Sequence[Mark] = ()) -> Scene:
    """Everything that a picture of `shape` shows, mm.

    `ghosts` are other shapes of the robot for comparison, `marks` points such as a target.
    """
    robot = shape.robot
    scene = robot_scene(robot, shape.frames, shape.gravity)
    size = float((scene.high - scene.low).max())
    arrows = load_arrows(shape, size)
    ellipsoid = tip_ellipsoid(shape, size)
    robot_points = body_points(scene.links, scene.parts, scene.mount, scene.cables, scene.tip)
    around_tip = ellipsoid.mesh.vertices if ellipsoid is not None else np.zeros((0, 3))
    points = np.vstack([robot_points, points_of(arrows, ghosts, marks), around_tip])
    tensions = shape.tensions_at_base.tolist()
    highest = max(tensions, default=0.0)
    return replace(
        scene,
        low=points.min(axis=0),
        high=points.max(axis=0),
        gravity=gravity_arrow(shape.gravity, points, scene.view),
        cable_labels=tuple(_labels(shape, tensions)),
        cable_widths=tuple(_width(tension, highest) for tension in tensions),
        arrows=arrows,
        ghosts=tuple(ghosts),
        marks=tuple(marks),
        ellipsoid=ellipsoid,
    )


def _labels(shape: Shape, tensions: Sequence[float]) -> Iterator[str]:
    """Names with tensions; of cables that rub, at both ends."""
    for k, (tension, end) in enumerate(zip(tensions, tensions_at_end(shape), strict=True)):
        near, far = (f"{round(value, 9):.4g}" for value in (tension, end))
        yield f"{cable_label(shape.robot, k)}: {near if near == far else f'{near} to {far}'} N"


def _width(tension: float, highest: float) -> float:
    return THINNEST + (WIDEST - THINNEST) * tension / highest if highest > 0 else THINNEST
