"""Plots side by side, as data: drawn by plotly on a page, or by matplotlib in a still picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.tables import Floats

MOST_POINTS = 2000
"""Of one curve on a page."""


def spread(count: int, most: int) -> NDArray[np.int64]:
    """At most `most` of `count` rows, evenly, with the first and the last."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, most).round().astype(np.int64))


def thin_curve(x: Floats, y: Floats, most: int = MOST_POINTS) -> tuple[Floats, Floats]:
    """The curve with at most `most` points: the lowest and the highest of every stretch, so that no peak is lost."""
    if len(x) <= most:
        return x, y
    # Both ends stay, and every stretch between them has two points.
    stretches = np.array_split(np.arange(1, len(x) - 1), (most - 2) // 2)
    kept = [0, len(x) - 1]
    for rows in stretches:
        kept += [int(rows[np.argmin(y[rows])]), int(rows[np.argmax(y[rows])])]
    order = np.unique(kept)
    return x[order], y[order]


SYMBOLS = {
    "circle": "o",
    "circle-open": "o",
    "square": "s",
    "diamond": "D",
    "diamond-open": "D",
    "triangle-up": "^",
    "x": "x",
    "": "",
}
"""Names of marks in plotly and in matplotlib."""
DASHES = {"solid": "-", "dash": "--", "dot": ":"}


@dataclass(frozen=True, eq=False)
class Series:
    """A line, marks, or both."""

    name: str
    """In the legend; series with the same name are shown and hidden together."""
    x: Sequence[float] | Floats
    y: Sequence[float] | Floats
    colour: str
    dash: str = "solid"
    """solid, dash, dot, or nothing for marks only."""
    symbol: str = ""
    """One of `SYMBOLS`; nothing for a line only."""
    width: float = 1.4
    size: float = 6.0


@dataclass(frozen=True, eq=False)
class Panel:
    """One plot."""

    title: str
    x: str
    """Title of the axis, with its unit."""
    y: str
    series: tuple[Series, ...]
    equal: bool = False
    """The same scale on both axes."""
    rows: tuple[str, ...] = ()
    """Names of y = 0, 1, ..., instead of numbers; the first one is at the top."""
    flipped: bool = False
    """Whether y grows downwards, for what hangs."""


def panel_figure(panels: Sequence[Panel]) -> Any:
    """The plotly figure of panels in one row."""
    from vertebra.report.plotly import make_subplots

    figure = make_subplots(cols=len(panels), subplot_titles=[panel.title for panel in panels], horizontal_spacing=0.11)
    named = {""}
    for column, panel in enumerate(panels, 1):
        for series in panel.series:
            figure.add_trace(_trace(series, series.name not in named), row=1, col=column)
            named.add(series.name)
    finish(figure, "", "")
    for column, panel in enumerate(panels, 1):
        figure.update_xaxes(title={"text": panel.x, "standoff": 6}, col=column)
        figure.update_yaxes(title={"text": panel.y, "standoff": 6}, col=column)
        if panel.equal:
            figure.update_yaxes(scaleanchor=f"x{column}" if column > 1 else "x", scaleratio=1, col=column)
        if panel.flipped:
            figure.update_yaxes(autorange="reversed", col=column)
        if panel.rows:
            figure.update_yaxes(
                tickvals=list(range(len(panel.rows))),
                ticktext=list(panel.rows),
                range=_row_range(panel),
                col=column,
                automargin=True,
            )
            figure.update_xaxes(rangemode="tozero", col=column)
    return figure


def _trace(series: Series, first: bool) -> Any:
    from vertebra.report.plotly import go

    mode = "+".join(part for part, there in (("lines", series.dash), ("markers", series.symbol)) if there)
    return go.Scatter(
        x=list(series.x), y=list(series.y), name=series.name, legendgroup=series.name, showlegend=first, mode=mode,
        line={"color": series.colour, "width": series.width, "dash": series.dash or "solid"},
        marker={"symbol": series.symbol or "circle", "size": series.size, "color": series.colour},
        hovertemplate=f"{series.name}: (%{{x:.2f}}, %{{y:.2f}})<extra></extra>",
    )  # fmt: skip


def _row_range(panel: Panel) -> list[float]:
    return [len(panel.rows) - 0.5, -0.5]


def panel_still(panels: Sequence[Panel], title: str, columns: int = 2) -> Any:
    """The matplotlib figure of panels in rows of `columns`."""
    from vertebra.report.still import plot_grid

    figure, grid = plot_grid(math.ceil(len(panels) / columns), columns, title)
    for place, axes in enumerate(grid.flat):
        if place < len(panels):
            _draw(axes, panels[place])
        else:
            axes.set_axis_off()
    return figure


def _draw(axes: Any, panel: Panel) -> None:
    from vertebra.report.still import legend_below

    named = {""}
    for series in panel.series:
        axes.plot(
            series.x, series.y, color=series.colour, linestyle=DASHES.get(series.dash, ""), linewidth=series.width,
            marker=SYMBOLS[series.symbol], markersize=0.8 * series.size,
            markerfacecolor="none" if series.symbol.endswith("-open") else None,
            label=series.name if series.name not in named else None,
        )  # fmt: skip
        named.add(series.name)
    axes.set(xlabel=panel.x, ylabel=panel.y, title=panel.title)
    if panel.equal:
        axes.set_aspect("equal", adjustable="datalim")
    if panel.flipped:
        axes.invert_yaxis()
    if panel.rows:
        axes.set_yticks(range(len(panel.rows)), panel.rows)
        axes.set_ylim(*_row_range(panel))
        axes.set_xlim(left=0.0)
    legend_below(axes)


MARKS = {
    "ours": {"symbol": "circle", "size": 6},
    "published": {"symbol": "circle-open", "size": 12, "line": {"width": 1.6}},
    "real": {"symbol": "diamond-open", "size": 9, "line": {"width": 1.6}},
}
"""Of a plotly figure that compares: ours filled, published hollow, what is real a hollow diamond."""


def finish(figure: Any, x: str, y: str, **layout: Any) -> Any:
    """Axis titles with units, the legend below."""
    axis = {"zeroline": False, "showline": True, "ticks": "outside"}
    figure.update_xaxes(title={"text": x, "standoff": 6}, **axis)
    figure.update_yaxes(title={"text": y, "standoff": 6}, **axis)
    figure.update_layout(
        template="none",
        margin={"l": 55, "r": 12, "t": 36, "b": 95},
        legend={"orientation": "h", "x": 0.5, "xanchor": "center", "y": -0.22, "yanchor": "top"},
        **layout,
    )
    return figure
