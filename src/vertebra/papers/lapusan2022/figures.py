"""Plots and 3D pictures of the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.papers.lapusan2022.cases import (
    BASES,
    METHODS,
    PRINTED,
    SEEDS,
    orientations,
    platforms,
    poses,
    python_robot,
    true_platforms,
)
from vertebra.papers.lapusan2022.model import ENCODERS, Results
from vertebra.papers.lapusan2022.published import QUANTITIES, UNITS, errors
from vertebra.report.panels import Panel, Series, draw_panels, panel_figure, spread
from vertebra.report.plotly import eye_distance, picture_row
from vertebra.report.scene import Ghost, Scene, View, robot_scene
from vertebra.robot.tables import Floats

STYLES = {
    "paper": ("#D55E00", "square"),
    "pairwise": ("#0072B2", "diamond"),
    "chain": ("#000000", "circle"),
    "chain, soft": ("#56B4E9", "triangle-up"),
    ENCODERS: ("#7F7F7F", "x"),
}
PUBLISHED = "published"
NOISE = {"stated": "noise as stated", "datasheet": "all errors"}
MOST_POINTS = 400
SHOWN_POSE = 113
"""One whose errors on all bases are near the means."""
SHOWN_BASES = (0, 1, 3, 4)
MM = 1e3
VIEW = View(2, 1, (0.24, -0.70, 0.67))
"""Across the bend and from above, so that errors to any side show."""


def base_panel(found: Results, unit: str = "mm") -> Panel:
    """Error of the tip by tilt of the base, perfect sensors; the yawed base has its own mark. `unit`: mm or deg."""
    mean = attrgetter(f"mean_{unit}")
    tilted = [one for one in found.bases if not one.base.yaw]
    series = []
    for name in ("paper", "pairwise", "chain"):
        colour, symbol = STYLES[name]
        y = [mean(one.methods[name]) for one in tilted]
        series.append(Series(name, [one.base.tilt for one in tilted], y, colour, "solid", symbol, size=8))
    yawed = next(one for one in found.bases if one.base.yaw)
    name, colour = f"paper, level but yawed by {yawed.base.yaw:g} deg", STYLES["paper"][0]
    series.append(Series(name, [0.0], [mean(yawed.methods["paper"])], colour, "", "circle-open", size=12))
    return Panel("perfect sensors", "tilt of the base [deg]", f"mean error of the tip [{unit}]", tuple(series))


def growth_panel(found: Results, unit: str = "deg") -> Panel:
    """Error of the tip against the number of modules, with noise; `unit`: mm or deg."""
    mean = attrgetter(f"mean_{unit}")
    counts = [one.modules for one in found.growth]
    series = []
    for name in (*METHODS, ENCODERS):
        colour, symbol = STYLES[name]
        y = [mean(one.noisy[name]) for one in found.growth]
        series.append(Series(name, counts, y, colour, "dot" if name == ENCODERS else "solid", symbol, size=7))
    return Panel("noise as stated, level base", "modules", f"mean error of the tip [{unit}]", tuple(series))


def mae_panel(found: Results, test: str, places: slice, model: str = "stated") -> Panel:
    """Mean absolute errors beside the printed ones: of positions or of angles."""
    names = tuple(QUANTITIES)[places]
    unit = UNITS[places][0]
    rows = list(range(len(names)))
    series = [Series(PUBLISHED, errors(test).mae[places], rows, "#000000", "", "circle-open", size=14)]
    for name in METHODS:
        colour, symbol = STYLES[name]
        series.append(Series(f"simulated, {name}", found.mae(test, model, name)[places], rows, colour, "",
                             symbol, size=8))  # fmt: skip
    what = {"hil": "HIL motion", "tracker": "tracker motion"}[test]
    return Panel(f"{what}, {NOISE[model]}", f"mean absolute error [{unit}]", "", tuple(series), rows=names)


def time_panel(found: Results, test: str, model: str) -> Panel:
    """Distance of the tip from the truth during the first run."""
    series = []
    for name in ("paper", "pairwise", "chain"):
        run = next(one for one in found.of(test, model, name) if one.seed == SEEDS[0])
        rows = spread(len(run.times), MOST_POINTS)
        series.append(Series(name, run.times[rows], run.distances[rows], STYLES[name][0]))
    return Panel(f"{test} motion, {NOISE[model]}", "time [s]", "error of the tip [mm]", tuple(series))


def base_figures(found: Results) -> list[Any]:
    """Position and orientation of the tip by base."""
    figures = [panel_figure([base_panel(found, unit)]) for unit in ("mm", "deg")]
    for figure in figures:
        figure.update_yaxes(rangemode="tozero")
    return figures


def growth_figures(found: Results) -> list[Any]:
    """Position and orientation."""
    figures = [panel_figure([growth_panel(found, unit)]) for unit in ("mm", "deg")]
    for figure in figures:
        figure.update_yaxes(rangemode="tozero")
    return figures


def mae_figures(found: Results, test: str) -> list[Any]:
    """Positions and angles."""
    return [panel_figure([mae_panel(found, test, places)]) for places in (slice(0, 3), slice(3, 6))]


def time_figures(found: Results) -> list[Any]:
    """One run with noise only, one with all errors."""
    return [panel_figure([time_panel(found, "hil", model)]) for model in ("stated", "datasheet")]


def still_panels(found: Results) -> list[Panel]:
    """Of the still picture."""
    return [
        base_panel(found),
        growth_panel(found),
        mae_panel(found, "tracker", slice(0, 3)),
        time_panel(found, "hil", "stated"),
    ]


# Shapes --------------------------------------------------------------------------------------------------------------


def shape_pictures() -> Iterator[Any]:
    """One pose on several bases in the frame of the base: the robot, and where methods have it with perfect sensors."""
    robot, angles = python_robot(), poses()[SHOWN_POSE]
    true = true_platforms(robot, angles[None])
    scenes, titles = [], []
    for place in SHOWN_BASES:
        base = BASES[place]
        seen = orientations(true, base.rotations(SHOWN_POSE + 1)[-1:])
        printed = platforms(seen, robot, PRINTED)[0]
        chain = vb.shape_from_orientations(robot, seen[0], twist=0.0).platforms_in_base
        scenes.append(_scene(angles, {"paper": printed, "chain": chain}))
        off = MM * np.linalg.norm(printed[-1, :3, 3] - true[0, -1, :3, 3])
        titles.append(f"{base.name}: {off:.1f} mm")
    low, high = np.min([one.low for one in scenes], axis=0), np.max([one.high for one in scenes], axis=0)
    distance = eye_distance(replace(scenes[0], low=low, high=high))
    x, y, z = (distance * value for value in scenes[0].view.eye)
    for figure in picture_row([robot] * len(scenes), scenes, titles):
        figure.update_layout(scene_camera_eye={"x": x, "y": y, "z": z})
        yield figure


def _scene(angles: Floats, found: Mapping[str, Floats]) -> Scene:
    robot = python_robot()
    scene = robot_scene(robot, vb.Pose(robot, angles).frames)
    ghosts = tuple(Ghost(MM * frames[:, :3, 3], STYLES[name][0], name) for name, frames in found.items())
    corners = np.vstack([scene.low, scene.high, *(ghost.line for ghost in ghosts)])
    # In the frame of the base, gravity would point elsewhere in every picture.
    return replace(scene, view=VIEW, ghosts=ghosts, gravity=None, low=corners.min(axis=0), high=corners.max(axis=0))


# The comparison as one still picture.


def draw(found: Results, path: Path) -> None:
    """Errors by base, by number of modules, beside the printed ones, and over time; .png or .svg by the suffix."""
    title = "Lapusan et al. 2022: shape from orientation sensors; ours simulated, module length assumed"
    draw_panels(still_panels(found), path, title)
