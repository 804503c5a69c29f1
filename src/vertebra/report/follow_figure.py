"""Plots of a follow-the-leader journey against the step: how far off, and how much the rigid snake carries."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from vertebra.follow.journey import Journey
from vertebra.follow.steps import Snake
from vertebra.report.panels import Panel, Series, draw_panels, panel_figure

MM = 1e3
CUT_COLOUR, END_COLOUR, WANTED_COLOUR = "#882255", "#009E73", "#333333"
CARRIED_STYLES = {Snake.OUTER: ("#0072B2", "circle"), Snake.INNER: ("#D55E00", "diamond")}
MOST_SHOWN = 4.0
"""The plot of forces ends at so many times their median: a snake that is hardly out carries far more than later."""


def journey_panels(journey: Journey) -> tuple[Panel, Panel]:
    """Two plots."""
    return deviation_panel(journey), carried_panel(journey)


def deviation_panel(journey: Journey) -> Panel:
    """Off the path while a snake slides, and at the ends of steps."""
    steps = np.arange(1.0, len(journey.steps) + 1.0)
    slides = np.flatnonzero(journey.corner_cuts > 0.0)
    series = (
        Series("while sliding", steps[slides], journey.corner_cuts[slides] * MM, CUT_COLOUR, "", "circle", size=5),
        Series("at the end of the step", steps, journey.tip_path_deviations[1:] * MM, END_COLOUR),
    )
    return Panel("Off the path of the tip", "step", "distance [mm]", series)


def carried_panel(journey: Journey) -> Panel:
    """What the rigid snake carries at the tip until a link slips."""
    series = []
    for snake, (colour, symbol) in CARRIED_STYLES.items():
        found = [
            (float(number), holding.force)
            for number, holding in enumerate(journey.holdings, 1)
            if holding is not None and holding.rigid is snake and math.isfinite(holding.force)
        ]
        x, y = [step for step, _ in found], [force for _, force in found]
        series.append(Series(f"rigid {snake} snake", x, y, colour, "", symbol, size=5))
    wanted = float(np.linalg.norm(journey.pair.tip_load))
    ends = [1.0, max(float(len(journey.steps)), 1.0)]
    series.append(Series("tip load", ends, [wanted, wanted], WANTED_COLOUR, "dash"))
    return Panel("Carried at the tip beside all weights", "step", "force [N]", tuple(series))


def journey_figures(journey: Journey) -> tuple[Any, Any]:
    """The plotly figures of both plots."""
    deviation, carried = journey_panels(journey)
    figures = panel_figure([deviation]), panel_figure([carried])
    figures[0].update_yaxes(rangemode="tozero")
    forces = [force for series in carried.series[:2] for force in np.asarray(series.y).tolist()]
    wanted = float(np.asarray(carried.series[2].y)[0])
    if forces:
        top = max(min(max(forces), MOST_SHOWN * float(np.median(forces))), 1.5 * wanted, 1e-6)
        figures[1].update_yaxes(range=[-0.04 * top, 1.05 * top])
    return figures


def journey_figure_static(journey: Journey, path: str | Path, title: str) -> Path:
    """Write a still picture of both plots, .png or .svg; same input, same bytes."""
    return draw_panels(journey_panels(journey), path, title)
