"""Plots and 3D pictures of the comparison."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.papers.dantuono2023.cases import SHORT, STATED, TOP, Method, Run, motion, snake
from vertebra.papers.dantuono2023.model import RATES, Migration, Results, own_rate
from vertebra.report.panels import Panel, Series, draw_panels, panel_figure, spread
from vertebra.report.plotly import eye_distance, picture_row
from vertebra.report.scene import CABLE_COLOURS, Scene, View, cable_style, robot_scene
from vertebra.robot.tables import Floats

MOST_POINTS = 253
"""Of a curve."""
WIDTHS = (6.0, 4.4, 3.0, 1.8)
"""Of cables 1 to 4: where curves lie on each other, each shows behind the next."""
MARGIN = 0.06
VIEW = View(1, 1, (-math.cos(0.5) * math.cos(0.4), math.sin(0.5), math.cos(0.5) * math.sin(0.4)))
"""From one side and above, with the wall on the left."""
CLOSER = 0.9
SCENES = (("pan", 1.0), ("tilt", 1.0), ("tilt", 3.0), ("3d", 1.0))
"""Case and instant, in pi seconds: at the largest angles."""
THINNEST, WIDEST = 0.5, 2.5
CASE_STYLES = {"pan": ("#0072B2", "circle"), "tilt": ("#D55E00", "square"), "3d": ("#000000", "diamond")}


def tension_panel(one: Run) -> Panel:
    """Tensions at the base over time."""
    rows = spread(len(one.motion.time), MOST_POINTS)
    series = [
        Series(f"T{k + 1}", one.motion.time[rows], one.base[rows, k], cable_style(k)[0], width=WIDTHS[k])
        for k in range(one.base.shape[1])
    ]
    return Panel(SHORT[one.case.name], "time [s]", "tension at the base [N]", tuple(series))


def tension_figures(whole: Results, method: Method, reading: str = STATED.name) -> list[Any]:
    """All cases by one method, to one scale."""
    runs = [whole.run(case.name, method, reading) for case in whole.cases]
    top = 1.08 * max(float(one.base.max()) for one in runs)
    figures = []
    for one in runs:
        figure = panel_figure([tension_panel(one)])
        figure.update_yaxes(range=[0.0, top])
        figures.append(figure)
    return figures


def residual_panel(one: Run) -> Panel:
    """Moments that one tension per cable leaves out of balance."""
    rows = spread(len(one.motion.time), MOST_POINTS)
    series = [
        Series(f"joint {j + 1}", one.motion.time[rows], one.allocation.residual[rows, j], CABLE_COLOURS[j],
               "solid" if j % 2 else "dash", width=1.8)
        for j in range(one.allocation.residual.shape[1])
    ]  # fmt: skip
    return Panel(SHORT[one.case.name], "time [s]", "out of balance [N m]", tuple(series))


def residual_figures(whole: Results) -> list[Any]:
    """All cases, to one scale."""
    runs = [whole.run(case.name, "shared") for case in whole.cases]
    values = np.concatenate([one.allocation.residual.ravel() for one in runs])
    low, high = float(values.min()), float(values.max())
    margin = MARGIN * max(high - low, 1e-6)
    figures = []
    for one in runs:
        figure = panel_figure([residual_panel(one)])
        figure.update_yaxes(range=[low - margin, high + margin])
        figures.append(figure)
    return figures


def along_panel(whole: Results) -> Panel:
    """The top cable of the straight robot, joint by joint."""
    found = whole.continuity
    assert found is not None
    joints = list(range(1, 7))
    series = (
        Series("cable 4, link by link", joints, found.along, cable_style(TOP)[0], "dot", "circle", size=8),
        Series("cable 4, one tension", joints, found.shared[TOP].repeat(6), "#000000", "solid"),
    )
    return Panel("the top cable of the straight robot", "joint, from the base", "tension [N]", series)


def along_figures(whole: Results) -> list[Any]:
    """The cable, and what each joint needs and gets."""
    found = whole.continuity
    assert found is not None
    joints = list(range(1, 7))
    series = (
        Series("needed", joints, found.needed, "#000000", "", "circle-open", size=12),
        Series("by one tension per cable", joints, found.needed - found.residual, "#0072B2", "", "circle", size=7),
    )
    needs = Panel("joint moments of the straight robot", "joint, from the base", "moment [N m]", series)
    cable = panel_figure([along_panel(whole)])
    cable.update_yaxes(rangemode="tozero")
    return [cable, panel_figure([needs])]


def migration_figures(whole: Results) -> list[Any]:
    """The missing moments over time, and their share against the joint rate."""
    shares = panel_figure([_share_panel(whole.migrations)])
    shares.update_xaxes(type="log")
    shares.update_yaxes(type="log", exponentformat="power")
    return [panel_figure([_missing_panel(whole.migrations)]), shares]


def _missing_panel(migrations: Sequence[Migration]) -> Panel:
    series = []
    for one in migrations:
        worst = int(np.abs(one.missing).max(axis=0).argmax())
        colour = CASE_STYLES[one.case.name][0]
        name = f"{SHORT[one.case.name]}, joint {worst + 1}"
        series.append(Series(name, one.time, 1e6 * one.missing[:, worst], colour))
    return Panel("left out by (5) and (11)", "time [s]", "moment [10⁻⁶ N m]", tuple(series))


def _share_panel(migrations: Sequence[Migration]) -> Panel:
    series = []
    for one in migrations:
        colour, symbol = CASE_STYLES[one.case.name]
        series.append(Series(SHORT[one.case.name], RATES, 100.0 * one.by_rate, colour, "solid", symbol))
    ends = [100.0 * float(np.min([one.by_rate for one in migrations])), 1.0]
    series.append(Series("the paper's motions", [own_rate()] * 2, ends, "#7F7F7F", "dash"))
    return Panel("at the largest angles", "joint rate [rad/s]", "share of largest moment [%]", tuple(series))


def scene_pictures(whole: Results) -> Iterator[Any]:
    """The robot at a few instants; cables the wider the tighter at the base."""
    chosen = [(name, time) for name, time in SCENES if any(case.name == name for case in whole.cases)]
    scenes, titles = [], []
    for name, pis in chosen:
        scenes.append(_scene(whole.run(name), pis * math.pi))
        titles.append(f"{SHORT[name]}, t = {pis * math.pi:.2f} s")
    low, high = (
        side([getattr(one, name) for one in scenes], axis=0) for side, name in ((np.min, "low"), (np.max, "high"))
    )
    # With bends to all sides the common box is mostly empty.
    distance = eye_distance(replace(scenes[0], low=low, high=high)) * (CLOSER if len(scenes) > 2 else 1.0)
    x, y, z = (distance * value for value in VIEW.eye)
    for figure in picture_row([snake()] * len(scenes), scenes, titles):
        figure.update_layout(scene_camera_eye={"x": x, "y": y, "z": z})
        yield figure


def _scene(one: Run, time: float) -> Scene:
    at = int(np.abs(one.motion.time - time).argmin())
    tensions = one.base[at]
    widths = tuple(THINNEST + (WIDEST - THINNEST) * float(value / one.base.max()) for value in tensions)
    labels = tuple(f"cable {k}: {value:.1f} N at the base" for k, value in enumerate(tensions, 1))
    q = motion(one.case, np.array([time])).q[0]
    scene = robot_scene(snake(), _frames(q))
    # Seen from one side, the arrow of gravity would be off the picture in most; the axes say what is up.
    return replace(scene, view=VIEW, gravity=None, cable_widths=widths, cable_labels=labels)


def _frames(q: Floats) -> Floats:
    return np.asarray(vb.Pose(snake(), q).frames)


def still_panels(whole: Results) -> list[Panel]:
    """Of the still picture: link by link, then one tension per cable."""
    names = {"per_link": "link by link", "shared": "one tension per cable"}
    methods: tuple[Method, ...] = ("per_link", "shared")
    return [
        replace(tension_panel(whole.run(case.name, method)), title=f"{SHORT[case.name]}, {names[method]}")
        for method in methods
        for case in whole.cases
    ]


# The comparison as one still picture.


def draw(whole: Results, path: Path) -> None:
    """Tensions at the base of all motions by both methods; the suffix decides between .png and .svg."""
    columns = max(len(whole.cases), 2)
    title = "D'Antuono et al. 2023: cable tensions at the base; dimensions of the robot are assumed"
    draw_panels(still_panels(whole), path, title, columns)
