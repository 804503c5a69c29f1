"""Plots of a simulated motion against time: angles, tensions, tip, energy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vertebra.report.along_plot import alike_cables
from vertebra.report.panels import Panel, Series, draw_panels, panel_figure
from vertebra.report.path_figure import TIP_STYLES
from vertebra.report.scene import cable_style
from vertebra.report.simulation_case import ENERGIES, SimulationCase
from vertebra.report.thinning import spread, thin_curve
from vertebra.robot.tables import Floats

MM, MJ = 1e3, 1e3
TIME_AXIS = "time [s]"
MOST_LINES = 24
"""Colours and dashes repeat beyond this number."""
ENERGY_STYLES = {
    "kinetic": ("#D55E00", "solid"),
    "potential": ("#0072B2", "solid"),
    "stored": ("#009E73", "solid"),
    "cable_work": ("#000000", "dash"),
    "load_work": ("#CC79A7", "dash"),
    "dissipated": ("#8C6D1F", "dot"),
    "drawn": ("#56B4E9", "dot"),
}


def simulation_panels(case: SimulationCase) -> tuple[Panel, Panel, Panel, Panel]:
    """Four plots."""
    time = case.time
    angles = joint_panel("Angles", "angle [deg]", time, np.degrees(case.array("q")))
    return angles, tension_panel(time, case.array("tensions")), tip_panel(case), energy_panel(case)


def joint_panel(title: str, axis: str, time: Floats, values: Floats) -> Panel:
    """One line a joint; (N, n) values. Of very many joints, some."""
    shown = spread(values.shape[1], MOST_LINES)
    some = "" if len(shown) == values.shape[1] else f", {len(shown)} of {values.shape[1]} joints"
    series = tuple(curve(f"joint {j + 1}", time, values[:, j], *cable_style(i)) for i, j in enumerate(shown))
    return Panel(title + some, TIME_AXIS, axis, series)


def tension_panel(time: Floats, tensions: Floats, title: str = "Tensions at the base") -> Panel:
    """One line a cable, or one for those that are alike; (N, cables) N."""
    series = (curve(name, time, tensions[:, k], *cable_style(k)) for k, name in alike_cables(tensions.T).items())
    return Panel(title, TIME_AXIS, "tension [N]", tuple(series))


def tip_panel(case: SimulationCase) -> Panel:
    """Where the tip is."""
    tip = case.array("tip") * MM
    series = (curve(f"tip {axis}", case.time, tip[:, i], colour, dash)
              for i, (axis, colour, dash) in enumerate(TIP_STYLES))  # fmt: skip
    return Panel("Tip", TIME_AXIS, "place [mm]", tuple(series))


def energy_panel(case: SimulationCase) -> Panel:
    """Changes since the start; what stays zero is left out."""
    changes = case.energy().changes
    series = (
        curve(words, case.time, changes[name] * MJ, *ENERGY_STYLES[name])
        for name, words in ENERGIES.items()
        if changes[name].any()
    )
    return Panel("Energy since the start", TIME_AXIS, "energy [mJ]", tuple(series))


def curve(name: str, time: Floats, values: Floats, colour: str, dash: str) -> Series:
    """A line with as many points as a page has room for; a single moment is a dot."""
    x, y = thin_curve(time, values)
    return Series(name, x, y, colour, dash, "circle" if len(x) == 1 else "")


def time_figure(panel: Panel) -> Any:
    """The plotly figure of a plot against time; pointing at a line tells its value and when."""
    figure = panel_figure([panel])
    figure.update_yaxes(automargin=True)
    if panel.x == TIME_AXIS:
        figure.update_traces(hovertemplate="%{fullData.name}: %{y:.4g} at %{x:.4g} s<extra></extra>")
    return figure


def simulation_figure_static(case: SimulationCase, path: str | Path, title: str) -> Path:
    """Write a still picture of the four plots, .png or .svg; same input, same bytes."""
    return draw_panels(simulation_panels(case), path, title)
