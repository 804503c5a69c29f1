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
    texts: Sequence[str] = ()
    """What each mark says on a page when it is pointed at; by default its name and its place."""
    keys: Sequence[str] = ()
    """The row of the page's `Files` that a click on each mark saves."""


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
    columns: tuple[str, ...] = ()
    """Names of x = 0, 1, ..., instead of numbers."""
    log: str = ""
    """Axes with a logarithmic scale: x, y or xy."""
    x_range: tuple[float, float] | None = None
    """What is in view; by default everything."""
    y_range: tuple[float, float] | None = None


def panel_figure(panels: Sequence[Panel]) -> Any:
    """The plotly figure of panels in one row."""
    from vertebra.report.plotly import make_subplots

    figure = make_subplots(cols=len(panels), subplot_titles=[panel.title for panel in panels], horizontal_spacing=0.11)
    _add_panels(figure, panels, len(panels))
    for column, panel in enumerate(panels, 1):
        figure.update_xaxes(title={"text": panel.x, "standoff": 6}, col=column)
        figure.update_yaxes(title={"text": panel.y, "standoff": 6}, automargin=True, col=column)
        if panel.equal:
            figure.update_yaxes(scaleanchor=f"x{column}" if column > 1 else "x", scaleratio=1, col=column)
        if panel.flipped:
            figure.update_yaxes(autorange="reversed", col=column)
        if panel.rows:
            figure.update_yaxes(
                tickvals=list(range(len(panel.rows))), ticktext=list(panel.rows), range=_row_range(panel), col=column
            )
            figure.update_xaxes(rangemode="tozero", col=column)
    return figure


def matrix_figure(panels: Sequence[Panel], columns: int) -> Any:
    """The plotly figure of panels in rows of `columns`: each row has one y axis, each column one x axis, and all have
    the legend at the top."""
    from vertebra.report.plotly import make_subplots

    rows = len(panels) // columns
    figure = make_subplots(
        rows, columns, shared_xaxes=True, shared_yaxes=True, horizontal_spacing=0.02, vertical_spacing=0.1 / rows
    )
    # Where one of several shared axes is given a range, plotly leaves others at -1 to 6, whatever is on them.
    figure.update_xaxes(autorange=True)
    figure.update_yaxes(autorange=True)
    _add_panels(figure, panels, columns)
    for row in range(rows):
        figure.update_yaxes(title={"text": panels[row * columns].y, "standoff": 6}, automargin=True, row=row + 1, col=1)
    for column in range(columns):
        figure.update_xaxes(title={"text": panels[column].x, "standoff": 6}, row=rows, col=column + 1)
    figure.update_layout(margin={"t": 60, "b": 50}, legend={"y": 1.0, "yanchor": "bottom", "itemsizing": "constant"})
    return figure


def _add_panels(figure: Any, panels: Sequence[Panel], columns: int) -> None:
    """Their curves, and what their axes show, in rows of `columns`."""
    named = {""}
    for place, panel in enumerate(panels):
        for series in panel.series:
            figure.add_trace(
                _trace(series, series.name not in named), row=place // columns + 1, col=place % columns + 1
            )
            named.add(series.name)
    finish(figure, "", "")
    for place, panel in enumerate(panels):
        at = {"row": place // columns + 1, "col": place % columns + 1}
        if panel.columns:
            figure.update_xaxes(
                tickvals=list(range(len(panel.columns))), ticktext=list(panel.columns), range=_column_range(panel),
                autorange=None, **at,
            )  # fmt: skip
        if panel.x_range is not None:
            figure.update_xaxes(range=panel.x_range, autorange=None, **at)
        if panel.y_range is not None:
            figure.update_yaxes(range=panel.y_range, autorange=None, **at)
        if "x" in panel.log:
            figure.update_xaxes(type="log", **at)
        if "y" in panel.log:
            figure.update_yaxes(type="log", **at)


def _trace(series: Series, first: bool) -> Any:
    from vertebra.report.plotly import go

    mode = "+".join(part for part, there in (("lines", series.dash), ("markers", series.symbol)) if there)
    return go.Scatter(
        x=list(series.x), y=list(series.y), name=series.name, legendgroup=series.name, showlegend=first, mode=mode,
        line={"color": series.colour, "width": series.width, "dash": series.dash or "solid"},
        marker={"symbol": series.symbol or "circle", "size": series.size, "color": series.colour},
        text=list(series.texts) or None, customdata=list(series.keys) or None,
        hovertemplate="%{text}<extra></extra>" if series.texts else
        f"{series.name}: (%{{x:.2f}}, %{{y:.2f}})<extra></extra>",
    )  # fmt: skip


def _row_range(panel: Panel) -> list[float]:
    return [len(panel.rows) - 0.5, -0.5]


def _column_range(panel: Panel) -> list[float]:
    return [-0.5, len(panel.columns) - 0.5]


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
    if panel.columns:
        axes.set_xticks(range(len(panel.columns)), panel.columns)
        axes.set_xlim(*_column_range(panel))
    if panel.x_range is not None:
        axes.set_xlim(panel.x_range)
    if panel.y_range is not None:
        axes.set_ylim(panel.y_range)
    axes.set(**{f"{axis}scale": "log" for axis in panel.log})
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
