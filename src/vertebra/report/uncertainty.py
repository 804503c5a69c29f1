"""The answer about how uncertain the quantities of a study are, and why: sentences, tables, bars of the variables'
shares, histograms, how the answer settled, and the rows themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from vertebra.report.document import (
    MOTION_FILES,
    Facts,
    Figures,
    Listing,
    Report,
    Rows,
    Section,
    Sentences,
    plain_fields,
    plain_value,
)
from vertebra.report.panels import spread
from vertebra.report.robot import robot_tables
from vertebra.robot.tables import Floats
from vertebra.robot.units import axis_title, shown_unit
from vertebra.studies.uncertainty import QUANTILES, ColumnUncertainty, Uncertainty, moments

UNCERTAINTY_FILES = MOTION_FILES
TOTAL_COLOUR, ALONE_COLOUR, LINEAR_COLOUR = "#0072B2", "#E69F00", "#D55E00"
LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
WITH, ALONE, LINEAR = "with interactions", "alone", "by derivatives"
MOST_PICTURED = 9
"""Columns of the study that are drawn."""
MOST_CORRELATED = 6
"""Columns of the table of correlations, which must fit beside each other."""
MOST_BARS = 12
"""Variables of one picture."""
MOST_SCATTERED = 4
"""Variables, and columns, of the scatter plots."""
MOST_POINTS = 600
"""Of one scatter plot."""
SHARES = (
    "Share of the variance that comes from each variable alone, and together with its interactions with others; the "
    "thin lines are confidence intervals. Hollow: what derivatives say, for small tolerances."
)
HISTOGRAMS = "How often each value came. The line is what derivatives say: a normal distribution about the mean robot."
SETTLING = (
    "What fewer rows would have said. Left: each quantity's standard deviation, divided by that of all rows. Right: "
    "shares of the variance with interactions, of the quantity whose shares are least certain. Curves that still move "
    "at the end ask for more rows."
)
SCATTERED = "The quantities against the variables that matter most, a point per robot."


def uncertainty_report(found: Uncertainty) -> Report:
    """Distributions of quantities, and the shares of variables in them."""
    study = found.study
    lead, *others = found.sentences()
    said = Sentences("Uncertainty", lead, tuple(others))

    def tables() -> Iterator[Facts | Sentences]:
        yield said
        yield from fact_tables(found)

    def page() -> Iterator[Section]:
        yield said
        headers, *rows = found.rows()
        yield Facts("Quantities", headers, tuple(rows))
        yield from pictures(found)
        yield from list(fact_tables(found))[1:]
        yield Listing("Study", study.text)
        yield from robot_tables(study.robot)

    return Report(
        f"{study.name}: uncertainty of {study.robot.name}",
        record=lambda: uncertainty_record(found),
        tables=tables,
        notes=found.notes,
        warnings=_warnings(found),
        page=page,
        picture=lambda: lambda: uncertainty_still(found),
        rows=lambda: sample_rows(found),
        dataset=found.to_dataset,
    )


def _warnings(found: Uncertainty) -> tuple[str, ...]:
    if not found.failed:
        return ()
    share = 100.0 * found.failed / found.computed
    return (f"{found.failed:,} of {found.computed:,} robots ({share:.2g} %) have no answer and are left out",)


# Tables.


def fact_tables(found: Uncertainty) -> Iterator[Facts]:
    """The columns, the shares of the variables in them, and why rows failed."""
    headers, *rows = found.rows()
    yield Facts("Quantities", headers, tuple(rows))
    for part in found.index_rows():
        headers, *rows = part
        yield Facts("Share of the variance, alone / with interactions", headers, tuple(rows))
    if len(found.columns) > 1:
        matrix = found.correlation()
        names = tuple(column.name for column in found.columns)
        cells = (tuple(f"{value:+.2f}" for value in row) for row in matrix)
        if len(names) <= MOST_CORRELATED:
            correlated = tuple((name, *row) for name, row in zip(names, cells, strict=True))
            yield Facts("Correlation of the quantities", ("", *names), correlated)
    if found.failures:
        failed = tuple((f"{failure.rows:,}", failure.message) for failure in found.failures)
        yield Facts("Robots without an answer", ("robots", "why"), failed)


# Files.


def uncertainty_record(found: Uncertainty) -> dict[str, Any]:
    """As JSON, SI."""
    record: dict[str, Any] = {"study": found.study.name, "robot": found.study.robot.name}
    record |= plain_fields(found, ("count", "computed", "failed", "lost", "confidence", "notes"))
    record |= {"method": found.study.samples.method, "seed": found.study.samples.seed}
    record["sentences"] = list(found.sentences())
    record["failures"] = [{"rows": failure.rows, "message": failure.message} for failure in found.failures]
    record["variables"] = []
    for variable in found.variables:
        mean, deviation = moments(variable)
        record["variables"].append({"name": variable.name, "unit": variable.unit, "mean": mean, "deviation": deviation})
    record["columns"] = [_column_record(column) for column in found.columns]
    record["covariance"] = plain_value(found.covariance())
    record["correlation"] = plain_value(found.correlation())
    return record


def _column_record(column: ColumnUncertainty) -> dict[str, Any]:
    names = ("name", "unit", "missing", "mean", "deviation", "mean_bounds", "deviation_bounds", "skewness", "extremes")
    record = plain_fields(column, names)
    record["quantiles"] = {f"{quantile:g}": float(at) for quantile, at in zip(QUANTILES, column.quantiles, strict=True)}
    indices, first, settled = column.indices, column.first_order, column.convergence
    fields = ("first", "total", "first_bounds", "total_bounds", "interactions")
    record["indices"] = None if indices is None else plain_fields(indices, fields)
    record["without_indices"] = column.without_indices
    record["first_order"] = None if first is None else plain_fields(first, first._fields)
    record["without_first_order"] = column.without_first_order
    record["convergence"] = plain_fields(settled, settled._fields)
    return record


def sample_rows(found: Uncertainty) -> Rows:
    """One row per independent robot: its variables, then the quantities; an empty cell where there is no answer."""
    variables = [(one.name, one.unit) for one in found.variables]
    columns = [(one.name, one.unit) for one in found.study.columns]
    names = [f"{name}_{unit}".rstrip("_") for name, unit in (*variables, *columns)]
    together = np.hstack([found.samples, found.results]).tolist()
    return Rows(names, ([None if math.isnan(value) else value for value in row] for row in together))


# Pictures.


class Bars(NamedTuple):
    """Shares of the variables in one column, the largest first, %."""

    names: list[str]
    alone: Floats
    total: Floats
    alone_bounds: Floats
    """(k, 2) how far the interval reaches below and above."""
    total_bounds: Floats
    linear: Floats | None
    """By derivatives, where there are some."""


def bars(found: Uncertainty, column: ColumnUncertainty) -> Bars | None:
    """None where nothing is known of the shares."""
    indices, first = column.indices, column.first_order
    if indices is None and (first is None or first.deviation == 0.0):
        return None
    linear = None if first is None else 100.0 * first.shares
    none = np.zeros(len(found.variables))
    if indices is None:
        alone = total = none
        around = [np.zeros((len(none), 2))] * 2
    else:
        alone, total = 100.0 * indices.first, 100.0 * indices.total
        around = [
            np.maximum(0.0, np.abs(100.0 * bounds - index[:, None]))
            for bounds, index in ((indices.first_bounds, alone), (indices.total_bounds, total))
        ]
    size = total if indices is not None or linear is None else linear
    order = np.argsort(-size, kind="stable")[:MOST_BARS]
    names = [found.variables[row].name for row in order]
    return Bars(names, alone[order], total[order], around[0][order], around[1][order],
                None if linear is None else linear[order])  # fmt: skip


def pictured(found: Uncertainty) -> list[ColumnUncertainty]:
    """Columns that are drawn."""
    return [column for column in found.columns if not column.is_constant][:MOST_PICTURED]


def pictures(found: Uncertainty) -> Iterator[Figures]:
    """Of a page."""
    shown = pictured(found)
    with_bars = [column for column in shown if bars(found, column) is not None]
    if with_bars:
        height = f"{9 + 2.4 * min(len(found.variables), MOST_BARS):.0f}rem"
        yield Figures(
            "shares", lambda: [share_picture(found, column) for column in with_bars], height,
            "Tornado: what the uncertainty comes from", SHARES, columns=min(2, len(with_bars)),
        )  # fmt: skip
    if shown:
        yield Figures(
            "histograms", lambda: [histogram_picture(column) for column in shown], "20rem", "Distributions", HISTOGRAMS,
            columns=min(3, len(shown)),
        )  # fmt: skip
        yield Figures("settling", lambda: settling_pictures(found), "22rem", "Enough rows?", SETTLING)
        rows = min(len(shown), MOST_SCATTERED)
        yield Figures(
            "scattered", lambda: [scatter_picture(found)], f"{4 + 12 * rows}rem", "Robots one by one", SCATTERED
        )


def share_picture(found: Uncertainty, column: ColumnUncertainty) -> Any:
    """The plotly figure: bars per variable, the longest at the top."""
    from vertebra.report.panels import finish
    from vertebra.report.plotly import go

    drawn, figure = bars(found, column), go.Figure()
    if drawn is None:
        return figure
    parts = ((ALONE, drawn.alone, drawn.alone_bounds, ALONE_COLOUR), (WITH, drawn.total, drawn.total_bounds,
             TOTAL_COLOUR)) if column.indices is not None else ()  # fmt: skip
    for name, share, around, colour in parts:
        error = {"type": "data", "symmetric": False, "arrayminus": around[:, 0], "array": around[:, 1],
                 "thickness": 1.5, "width": 3, "color": "#808080"}  # fmt: skip
        figure.add_bar(
            x=share, y=drawn.names, orientation="h", name=name, marker={"color": colour}, error_x=error,
            hovertemplate=f"%{{y}} {name}: %{{x:.1f}} %<extra></extra>",
        )  # fmt: skip
    if drawn.linear is not None:
        figure.add_scatter(
            x=drawn.linear, y=drawn.names, mode="markers", name=LINEAR, cliponaxis=False,
            marker={"symbol": "diamond-open", "size": 11, "color": LINEAR_COLOUR, "line": {"width": 2}},
            hovertemplate=f"%{{y}} {LINEAR}: %{{x:.1f}} %<extra></extra>",
        )  # fmt: skip
    finish(figure, f"share of the variance of {column.name} [%]", "", barmode="group", legend_traceorder="normal")
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(autorange="reversed", automargin=True)
    figure.update_layout(margin={"t": 12, "b": 80}, legend={"y": -0.16})
    return figure


def normal_curve(column: ColumnUncertainty, edges: Floats) -> tuple[Floats, Floats] | None:
    """Values, SI, and how many of the robots derivatives would have in a bin around each."""
    first = column.first_order
    if first is None or first.deviation == 0.0:
        return None
    low, high = first.value - 4.0 * first.deviation, first.value + 4.0 * first.deviation
    x = np.linspace(min(low, edges[0]), max(high, edges[-1]), 161)
    density = np.exp(-0.5 * ((x - first.value) / first.deviation) ** 2) / (first.deviation * math.sqrt(2.0 * math.pi))
    return x, density * len(column.values) * (edges[1] - edges[0])


def histogram_picture(column: ColumnUncertainty) -> Any:
    """The plotly figure."""
    from vertebra.report.panels import finish
    from vertebra.report.plotly import go

    counts, edges = column.histogram()
    size = shown_unit(column.unit)[1]
    figure = go.Figure(
        go.Bar(
            x=0.5 * (edges[1:] + edges[:-1]) / size, y=counts, width=np.diff(edges) / size, name="robots",
            marker={"color": TOTAL_COLOUR}, hovertemplate="%{x:.5g}: %{y} robots<extra></extra>",
        )
    )  # fmt: skip
    curve = normal_curve(column, edges)
    if curve is not None:
        figure.add_scatter(x=curve[0] / size, y=curve[1], mode="lines", name=LINEAR, line={"color": LINEAR_COLOUR})
    finish(figure, axis_title(column.name, column.unit), "robots", bargap=0.0)
    figure.update_layout(margin={"t": 12, "b": 80}, legend={"y": -0.3})
    return figure


def settling_pictures(found: Uncertainty) -> list[Any]:
    """The plotly figures: standard deviations, and total indices of the column with the largest interval; of as many
    as there are colours."""
    from vertebra.report.panels import finish
    from vertebra.report.plotly import go

    shown = pictured(found)
    deviations = go.Figure()
    for colour, column in zip(LINES, shown, strict=False):
        settled = column.convergence
        deviations.add_scatter(
            x=settled.rows, y=settled.deviation / settled.deviation[-1], name=column.name, mode="lines+markers",
            line={"color": colour}, hovertemplate="%{x} rows: %{y:.3f}<extra></extra>",
        )  # fmt: skip
    drawn = [finish(deviations, "base rows", "standard deviation / last")]
    least = _least_settled(shown)
    if least is not None and least.convergence.total is not None:
        settled, shares = least.convergence, go.Figure()
        order = np.argsort(-least.convergence.total[-1], kind="stable")[: len(LINES)]
        for colour, row in zip(LINES, order.tolist(), strict=False):
            shares.add_scatter(
                x=settled.rows, y=100.0 * least.convergence.total[:, row], name=found.variables[row].name,
                mode="lines+markers", line={"color": colour}, hovertemplate="%{x} rows: %{y:.1f} %<extra></extra>",
            )  # fmt: skip
        drawn.append(finish(shares, "base rows", f"share of {least.name} [%]"))
    for figure in drawn:
        figure.update_xaxes(type="log", dtick=math.log10(2.0), tickformat="d")
        figure.update_layout(margin={"t": 12}, showlegend=True)
    return drawn


def _least_settled(shown: list[ColumnUncertainty]) -> ColumnUncertainty | None:
    """The column whose shares are least certain, if any has shares."""
    with_indices = [(float(np.ptp(one.indices.total_bounds, axis=1).max()), one) for one in shown if one.indices]
    return max(with_indices, key=lambda item: item[0])[1] if with_indices else None


def scatter_picture(found: Uncertainty) -> Any:
    """The plotly figure: a row per column, a column per variable."""
    from vertebra.report.panels import finish
    from vertebra.report.plotly import go, make_subplots

    shown, variables = pictured(found)[:MOST_SCATTERED], found.ranked()[:MOST_SCATTERED]
    at = spread(len(found.samples), MOST_POINTS)
    names = [column.name for column in found.study.columns]
    figure = make_subplots(
        len(shown), len(variables), shared_xaxes=True, shared_yaxes=True, horizontal_spacing=0.02, vertical_spacing=0.03
    )
    for i, column in enumerate(shown, 1):
        results = found.results[at, names.index(column.name)] / shown_unit(column.unit)[1]
        there = np.isfinite(results)
        for j, row in enumerate(variables, 1):
            values = found.samples[at, row] / shown_unit(found.variables[row].unit)[1]
            figure.add_trace(
                go.Scatter(
                    x=values[there], y=results[there], mode="markers", showlegend=False,
                    marker={"size": 3, "color": TOTAL_COLOUR, "opacity": 0.6},
                    hovertemplate="%{x:.5g}: %{y:.5g}<extra></extra>",
                ), row=i, col=j,
            )  # fmt: skip
    finish(figure, "", "")
    for i, column in enumerate(shown, 1):
        figure.update_yaxes(title={"text": axis_title(column.name, column.unit)}, row=i, col=1, automargin=True)
    for j, row in enumerate(variables, 1):
        variable = found.variables[row]
        figure.update_xaxes(title={"text": axis_title(variable.name, variable.unit)}, row=len(shown), col=j)
    figure.update_layout(margin={"t": 12, "b": 55})
    return figure


def uncertainty_still(found: Uncertainty) -> Any:
    """The matplotlib figure: shares above, histograms below, of the first three columns that vary."""
    from vertebra.report.still import legend_below, plot_grid

    shown = pictured(found)[:3]
    title = f"{found.study.name}: uncertainty of {found.study.robot.name}"
    figure, grid = plot_grid(2 if shown else 1, max(1, len(shown)), title)
    if not shown:
        grid[0, 0].text(0.5, 0.5, "none of the variables moves any quantity", ha="center")
        grid[0, 0].set_axis_off()
    for place, column in enumerate(shown):
        _still_shares(grid[0, place], found, column)
        counts, edges = column.histogram()
        size = shown_unit(column.unit)[1]
        axes = grid[1, place]
        axes.bar(edges[:-1] / size, counts, np.diff(edges) / size, align="edge", color=TOTAL_COLOUR, label="robots")
        curve = normal_curve(column, edges)
        if curve is not None:
            axes.plot(curve[0] / size, curve[1], color=LINEAR_COLOUR, linewidth=1.4, label=LINEAR)
        axes.set(xlabel=axis_title(column.name, column.unit), ylabel="robots")
    for axes in grid.flat:
        legend_below(axes)
    return figure


def _still_shares(axes: Any, found: Uncertainty, column: ColumnUncertainty) -> None:
    drawn = bars(found, column)
    if drawn is None:
        axes.set_axis_off()
        return
    place = np.arange(len(drawn.names))
    if column.indices is not None:
        for off, name, share, around, colour in (
            (-0.2, ALONE, drawn.alone, drawn.alone_bounds, ALONE_COLOUR),
            (0.2, WITH, drawn.total, drawn.total_bounds, TOTAL_COLOUR),
        ):
            axes.barh(place + off, share, 0.38, xerr=around.T, color=colour, label=name,
                      error_kw={"elinewidth": 0.9, "capsize": 2})  # fmt: skip
    if drawn.linear is not None:
        axes.plot(drawn.linear, place, "D", markerfacecolor="none", color=LINEAR_COLOUR, label=LINEAR, clip_on=False)
    axes.set_yticks(place, drawn.names)
    axes.invert_yaxis()
    axes.set(xlabel=f"share of the variance of {column.name} [%]")
    axes.set_xlim(left=0.0)
