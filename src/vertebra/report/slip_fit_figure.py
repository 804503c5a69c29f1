"""Pictures of a mu from slip tests: forces against tension, residuals, and mu of each setting alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vertebra.identify.slip_fit import SlipFit
from vertebra.identify.slip_model import SlipModel
from vertebra.identify.slips import DECIMALS
from vertebra.identify.statistics import simultaneous_factor
from vertebra.report.scene import CABLE_COLOURS
from vertebra.report.slip_fit_facts import halves, made, setting_name
from vertebra.robot.tables import Floats

LINE_COLOUR = "#777777"
BEYOND = 1.08
"""The line goes on to this many times the largest tension."""
SPREAD = 0.012
"""Of the axis, between repeats side by side."""


class Family(NamedTuple):
    """Settings that differ in how hard the cables pull alone: one line of the picture."""

    name: str
    places: list[int]
    """Settings."""
    colour: str


class Line(NamedTuple):
    """Predicted force over the mean tension of the cables, with the band that holds the whole line."""

    tension: Floats
    force: Floats
    low: Floats
    high: Floats


def families(fit: SlipFit) -> list[Family]:
    """Settings by everything but the common factor of their tensions."""
    data, groups = fit.data, dict[bytes, list[int]]()
    for place, item in enumerate(fit.settings):
        pull = data.tensions[item.row]
        key = [pull / pull.mean(), data.bend[item.row], data.azimuth[item.row], data.direction[item.row],
               data.point[item.row]]  # fmt: skip
        groups.setdefault((np.hstack(key).round(DECIMALS) + 0.0).tobytes(), []).append(place)
    colours = itertools.cycle(CABLE_COLOURS)
    return [Family(_family_name(fit, places), places, next(colours)) for places in groups.values()]


def _family_name(fit: SlipFit, places: list[int]) -> str:
    pull, extra = setting_name(fit, places[0])
    ratio = fit.data.tensions[fit.settings[places[0]].row]
    tensions = f"{pull} N"
    if len(places) > 1:
        even = np.ptp(ratio) == 0.0
        parts = " : ".join(f"{value:.3g}" for value in ratio / ratio.max())
        tensions = "equal tensions" if even else f"tensions {parts}"
    return f"{tensions}, {extra}" if extra else tensions


def tension_of(fit: SlipFit, place: int) -> float:
    """Mean over the cables, N."""
    return float(fit.data.tensions[fit.settings[place].row].mean())


def line_of(fit: SlipFit, family: Family) -> Line:
    """The fitted line of a family, from next to no tension to a little beyond the largest tested."""
    row = fit.settings[family.places[0]].row
    largest = BEYOND * max(tension_of(fit, place) for place in family.places)
    tension = np.linspace(0.01, 1.0, 60) * largest
    ratio = fit.data.tensions[row] / fit.data.tensions[row].mean()
    count = len(tension)
    same: dict[str, Any] = {name: np.repeat(getattr(fit.data, name)[[row]], count, axis=0) for name in
            ("bend", "azimuth", "direction", "point", "step", "held")}  # fmt: skip
    data = replace(fit.data, tensions=tension[:, None] * ratio, force=np.full(count, 1e8), lines=(), **same)
    model = SlipModel.of(fit.model.rig, data)
    force, slopes = model.forces(fit.mu), model.slopes(fit.mu)
    columns = np.column_stack([slopes, np.ones(count)][: len(fit.solution.covariance)])
    factor = simultaneous_factor(fit.level, columns.shape[1], max(fit.degrees_of_freedom, 1), fit.noise_known)
    half = factor * np.sqrt(np.einsum("ij,jk,ik->i", columns, fit.solution.covariance, columns))
    half += columns @ fit.solution.rounding
    force = force + fit.solution.shift
    return Line(tension, force, force - half, force + half)


def force_picture(fit: SlipFit) -> Any:
    """The plotly figure of slip force against tension: tests hollow, the model filled, its line with a band."""
    import plotly.graph_objects as go

    from vertebra.report.comparison_plot import MARKS, finish

    figure = go.Figure()
    groups = families(fit)
    for family in groups:
        if len(family.places) > 1:
            _add_line(figure, fit, family, several=len(groups) > 1)
    for family in groups:
        rows = [row for row, place in enumerate(fit.model.cell.tolist()) if place in family.places]
        more = f", {family.name}" if len(groups) > 1 else ""
        figure.add_scatter(
            x=[tension_of(fit, place) for place in family.places],
            y=[fit.settings[place].predicted for place in family.places], mode="markers", name=f"model{more}",
            marker={**MARKS["ours"], "color": family.colour}, showlegend=len(groups) == 1,
            hovertemplate="model at %{x:.4g} N: %{y:.3f} N<extra></extra>",
        )  # fmt: skip
        figure.add_scatter(
            x=[tension_of(fit, int(fit.model.cell[row])) for row in rows], y=fit.data.slip_force[rows], mode="markers",
            name=f"{made(fit)}{more}", marker={**MARKS["real"], "color": _dark(family, groups)},
            customdata=[row + 1 for row in rows], showlegend=True,
            error_y={"type": "data", "array": 0.5 * fit.data.step[rows], "thickness": 1, "visible": bool(
                fit.data.step[rows].any())},
            hovertemplate=f"{made(fit)}, row %{{customdata}}: %{{y:.3f}} N<extra></extra>",
        )  # fmt: skip
    finish(figure, "tension, mean of the cables [N]", "load at which the link slips [N]")
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(rangemode="tozero")
    return figure


def _dark(family: Family, groups: list[Family]) -> str:
    return family.colour if len(groups) > 1 else "#222222"


def _add_line(figure: Any, fit: SlipFit, family: Family, several: bool) -> None:
    line = line_of(fit, family)
    figure.add_scatter(
        x=[*line.tension, *line.tension[::-1]], y=[*line.high, *line.low[::-1]], fill="toself", mode="lines",
        line={"width": 0}, fillcolor=family.colour, opacity=0.25, hoverinfo="skip", showlegend=not several,
        name=f"band of the whole line, {100 * fit.level:g} %",
    )  # fmt: skip
    figure.add_scatter(
        x=line.tension, y=line.force, mode="lines", line={"color": family.colour, "width": 1.6}, showlegend=False,
        customdata=np.column_stack([line.low, line.high]), name=family.name,
        hovertemplate="%{x:.3g} N: %{y:.3f} N (%{customdata[0]:.3f} to %{customdata[1]:.3f})<extra></extra>",
    )  # fmt: skip


def places_apart(fit: SlipFit) -> Floats:
    """(n,) N: predicted force of each test, repeats moved aside so that they do not cover each other."""
    predicted = fit.predicted
    width = SPREAD * float(predicted.max())
    seen = np.zeros(len(fit.settings))
    aside = np.empty(len(predicted))
    for row, place in enumerate(fit.model.cell.tolist()):
        aside[row] = width * (seen[place] - 0.5 * (fit.settings[place].tests - 1))
        seen[place] += 1.0
    return predicted + aside


def residual_picture(fit: SlipFit) -> Any:
    """The plotly figure of what the model leaves over."""
    import plotly.graph_objects as go

    from vertebra.report.comparison_plot import MARKS, finish

    figure = go.Figure()
    for family in families(fit):
        rows = [row for row, place in enumerate(fit.model.cell.tolist()) if place in family.places]
        figure.add_scatter(
            x=places_apart(fit)[rows], y=fit.residuals[rows], mode="markers", name=family.name, showlegend=False,
            marker={**MARKS["real"], "color": _dark(family, families(fit))}, customdata=[row + 1 for row in rows],
            hovertemplate="row %{customdata}: %{y:.3f} N<extra></extra>",
        )  # fmt: skip
    reach, limit = _scatter_limits(fit)
    for sign in (1.0, -1.0):
        figure.add_scatter(
            x=reach, y=sign * limit, mode="lines", line={"color": LINE_COLOUR, "width": 1, "dash": "dot"},
            name=f"where {100 * fit.level:g} % of tests should lie", showlegend=sign > 0, hoverinfo="skip",
        )  # fmt: skip
    figure.add_hline(0.0, line={"color": LINE_COLOUR, "width": 1})
    finish(figure, "load of the model [N]", "load minus model [N]")
    return figure


def _scatter_limits(fit: SlipFit) -> tuple[Floats, Floats]:
    """Where a share `level` of tests should lie, N, over the predicted force, N."""
    reach = np.array([0.0, 1.05 * float(fit.predicted.max())])
    size = reach if fit.options.scatter == "proportional" else np.ones(2)
    return reach, fit.solution.factor(fit.level) * fit.solution.noise * size


def mu_picture(fit: SlipFit) -> Any:
    """The plotly figure of mu of each setting alone beside the common one."""
    import plotly.graph_objects as go

    from vertebra.report.comparison_plot import finish

    figure = go.Figure()
    low, high = fit.interval
    figure.add_hrect(low, high, fillcolor="rgba(0,114,178,0.25)", line_width=0)
    figure.add_hline(fit.mu, line={"color": CABLE_COLOURS[0], "width": 1.6})
    for x, y, half, name in _alone(fit):
        figure.add_scatter(
            x=[x], y=[y], mode="markers", name="each setting alone", showlegend=False,
            marker={"symbol": "diamond-open", "size": 9, "color": "#222222", "line": {"width": 1.6}},
            error_y={"type": "data", "array": [half], "thickness": 1.3},
            hovertemplate=f"{name}: %{{y:.4f}} +- {half:.4f}<extra></extra>",
        )  # fmt: skip
    text = f"mu = {fit.mu:.4f}, {100 * fit.level:g} % from {low:.4f} to {high:.4f}"
    finish(figure, "load of the model [N]", "mu", title={"text": text, "font": {"size": 13}, "x": 0.5, "y": 0.97})
    figure.update_xaxes(rangemode="tozero")
    figure.update_layout(margin={"b": 60})
    return figure


def _alone(fit: SlipFit) -> Iterator[tuple[float, float, float, str]]:
    for place, (item, half) in enumerate(zip(fit.settings, halves(fit), strict=True)):
        if math.isfinite(half):
            tension, extra = setting_name(fit, place)
            yield item.predicted, item.mu, half, f"{tension} N" + (f", {extra}" if extra else "")
