"""Plots and 3D pictures of the comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from vertebra.papers.cai2023.cases import LEVELS, SHAPES, Curve, snake
from vertebra.papers.cai2023.model import Results
from vertebra.report.panels import Panel, Series, draw_panels, panel_figure
from vertebra.report.payload import WEAKEST_COLOUR, payload_case, payload_scene, weakest_ball
from vertebra.report.plotly import body_trace, picture_row

EQUAL, LESS = "#0072B2", "#D55E00"
SHAPE_STYLES = {
    "straight": ("#000000", "circle"),
    "vertical S": ("#0072B2", "square"),
    "horizontal S": ("#009E73", "diamond"),
    "non-planar": ("#D55E00", "triangle-up"),
}
HIGHEST_LIMIT = 8.0
"""N, top of the plot of limits; joints near the tip hold far more."""
HALF_WIDTH, HALF_HEIGHT = 0.8, 0.22
"""Of the boxes of implied ranges: N of tension, and rows."""
MARGIN = 0.06
CLOSER = 0.8
"""Two pictures a row are wider than the three or four that the eye's distance is meant for."""


def shape_panel(found: Results, shape: str) -> Panel:
    """Payload against tension, and what the tables imply for the highest."""
    series: list[Series] = []
    for curve in found.curves:
        if curve.case.shape == shape:
            series += _curve_series(curve)
    return Panel(shape, "tension of tendons 2 and 3 [N]", "payload [N]", tuple(series))


def _curve_series(curve: Curve) -> Iterator[Series]:
    table, (low, high) = curve.case.table, curve.printed.implied
    colour, numeral = (EQUAL, "I") if table == 1 else (LESS, "II")
    name, symbol, dash = ("all equal", "circle", "solid") if table == 1 else ("T1 5 N less", "square", "dash")
    x, y = _box(LEVELS[-1], HALF_WIDTH, low, high)
    yield Series(f"Table {numeral} implies", x, y, colour, width=1.6)
    yield Series(f"ours, {name}", LEVELS, curve.forces, colour, dash, symbol, size=7)


def _box(middle: float, half: float, low: float, high: float) -> tuple[list[float], list[float]]:
    """Outline of a range, hollow since it is published: places across it, and along it."""
    left, right = middle - half, middle + half
    return [left, right, right, left, left], [low, low, high, high, low]


def range_panel(found: Results) -> Panel:
    """The six implied ranges, and ours."""
    series, rows = [], []
    for row, curve in enumerate(found.curves):
        low, high = curve.printed.implied
        y, x = _box(row, HALF_HEIGHT, low, high)
        series.append(Series("printed errors imply", x, y, EQUAL, width=1.6))
        series.append(Series("ours", [curve.largest.force], [row], "#000000", "", "circle", size=7))
        rows.append(curve.case.name)
    return Panel("largest payload", "N", "", tuple(series), rows=tuple(rows))


def limit_panel(found: Results) -> Panel:
    """What each joint alone would hold at 35 N."""
    series = []
    for shape, (colour, symbol) in SHAPE_STYLES.items():
        limits = found.curve(1, shape).largest.limits
        there = np.flatnonzero(limits <= HIGHEST_LIMIT)
        series.append(Series(shape, (there + 1).tolist(), limits[there], colour, "solid", symbol))
    title = f"limit of each joint at {LEVELS[-1]} N"
    return Panel(title, "joint, from the clamp", "limit [N]", tuple(series))


def panels(found: Results) -> dict[str, Panel]:
    """Every plot by name."""
    return {
        **{shape: shape_panel(found, shape) for shape in SHAPES},
        "ranges": range_panel(found),
        "limits": limit_panel(found),
    }


def curve_figures(found: Results) -> list[Any]:
    """The four shapes, all to one scale."""
    top = 1.08 * max(float(curve.forces.max()) for curve in found.curves)
    figures = []
    for shape in SHAPES:
        figure = panel_figure([shape_panel(found, shape)])
        figure.update_yaxes(range=[0.0, top])
        figures.append(figure)
    return figures


def range_figures(found: Results) -> list[Any]:
    """Implied ranges, from just below the least, and the limits of joints."""
    ranges = panel_figure([range_panel(found)])
    values = [v for c in found.curves for v in (*c.printed.implied, c.largest.force)]
    span = max(values) - min(values)
    ranges.update_xaxes(range=[min(values) - MARGIN * span, max(values) + MARGIN * span])
    limits = panel_figure([limit_panel(found)])
    limits.update_yaxes(range=[0.0, HIGHEST_LIMIT])
    return [ranges, limits]


def shape_pictures(found: Results) -> Iterator[Any]:
    """The four shapes under their largest payload at 35 N, with a ball around the weakest joint."""
    robot, scenes, titles, balls = snake(), [], [], []
    for shape in SHAPES:
        curve = found.curve(1, shape)
        case = payload_case(robot, curve.shape, shape, curve.case.tensions[-1], robot.gravity)
        # Seen from one side, the arrow of gravity would be off the picture in most; the load shows what is down.
        scenes.append(replace(payload_scene(case, curve.largest), gravity=None))
        titles.append(f"{shape}: {curve.largest.force:.2f} N")
        balls.append(body_trace(weakest_ball(case, curve.largest), WEAKEST_COLOUR, 0.45, hoverinfo="skip"))
    for figure, ball in zip(picture_row([robot] * len(scenes), scenes, titles), balls, strict=True):
        figure.add_trace(ball)
        eye = figure.layout.scene.camera.eye
        figure.update_layout(scene_camera_eye={axis: CLOSER * eye[axis] for axis in "xyz"})
        yield figure


# The comparison as one still picture.


def draw(found: Results, path: Path) -> None:
    """Payload against tension of the four shapes; the suffix decides between .png and .svg."""
    plots = panels(found)
    title = "Cai et al. 2023: payload against tension; boxes: what Tables I and II imply"
    draw_panels([plots[shape] for shape in SHAPES], path, title)
