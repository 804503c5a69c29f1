"""Pictures of several shapes side by side, from one side and at one scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from vertebra.report.page import robot_picture
from vertebra.report.scene import Scene
from vertebra.robot.robot import Robot

MARGIN_MM = 5.0
EYE = 2.6
"""Distance of the eye in plotly's units: narrow pictures need more than a wide one."""


def picture_row(robots: Sequence[Robot], scenes: Sequence[Scene], titles: Sequence[str]) -> Iterator[Any]:
    """Plotly figures without legends, seen as the first scene wants to be seen."""
    low, high = np.min([scene.low for scene in scenes], axis=0), np.max([scene.high for scene in scenes], axis=0)
    low, high = low - MARGIN_MM, high + MARGIN_MM
    span = high - low
    sides = dict(zip("xyz", span / np.prod(span) ** (1 / 3), strict=True))  # the same scale in all pictures
    axes = {
        f"{axis}axis": {"range": [low[i], high[i]], "nticks": 3 + int(6 * span[i] / span.max())}
        for i, axis in enumerate("xyz")
    }
    eye = {axis: EYE * value for axis, value in zip("xyz", scenes[0].view.eye, strict=True)}
    for robot, scene, title in zip(robots, scenes, titles, strict=True):
        figure = robot_picture(robot, scene)
        figure.update_layout(
            title={"text": title, "x": 0.03, "y": 0.96, "font": {"size": 15}},
            showlegend=False,
            scene={
                "domain": {"x": [0.0, 1.0]},
                "camera": {"eye": eye},
                "aspectmode": "manual",
                "aspectratio": sides,
                **axes,
            },
        )
        yield figure
