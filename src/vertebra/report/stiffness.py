"""The answer about how stiff the tip is against the common tension of all cables: table, plot, page, CSV."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from vertebra.errors import InputError
from vertebra.report.document import (
    Facts,
    Report,
    Rows,
    Section,
    big_picture,
    number,
    plain_fields,
    vector,
)
from vertebra.report.robot import robot_tables
from vertebra.report.shape import friction_rows, load_table
from vertebra.robot.tables import Floats
from vertebra.statics.branches import critical_tension
from vertebra.statics.stiffness import StiffnessCurve

NAMES = ("softest direction", "middle direction", "stiffest direction")
CRITICAL_COLOUR = "#555555"
COLOURS = ("#D55E00", "#009E73", "#0072B2")
SYMBOLS = ("circle", "square", "diamond")
MARKERS = ("o", "s", "D")
X_TITLE, Y_TITLE = "tension of every cable [N]", "stiffness at the tip [N/m]"
WIDE = 30.0
"""Stiffnesses further apart than this factor are drawn on a logarithmic axis."""
COLUMNS = ("tension_N", "softest_N_per_m", "middle_N_per_m", "stiffest_N_per_m", "solved")
CAPTION = (
    "Tensions without a stable shape within the range of every joint have no mark. Below the dotted line, if there is "
    "one, the straight robot buckles, and the marks belong to a bent shape. Point at a mark to read it."
)


def stiffness_report(curve: StiffnessCurve) -> Report:
    """A curve of stiffness against tension."""
    robot = curve.shapes.robot
    title = f"Stiffness at the tip of {robot.name}"

    def page() -> Iterator[Section]:
        yield big_picture(curve_picture(curve, buckling_tension(curve)), CAPTION)
        tables = (conditions(curve), load_table(curve.shapes.robot, curve.shapes.loads), curve_table(curve))
        yield from (table for table in tables if table.rows)
        yield from robot_tables(robot)

    def rows() -> Rows:
        values = zip(curve.common.tolist(), curve.stiffness.tolist(), curve.solved.tolist(), strict=True)
        return Rows(COLUMNS, ((tension, *three, solved) for tension, three, solved in values))

    return Report(
        title,
        # Null where the tip cannot move at all, 0 where there is no stable shape.
        record=lambda: {"robot": robot.name} | plain_fields(curve, ("common", "stiffness", "solved")),
        tables=lambda: [curve_table(curve)._replace(title=title)],
        page=page,
        picture=lambda: lambda: curve_still(curve, title, buckling_tension(curve)),
        rows=rows,
    )


def buckling_tension(curve: StiffnessCurve) -> float | None:
    """Below which the straight robot buckles, N; none where equal tensions do not keep it straight."""
    shapes = curve.shapes
    try:
        tension = critical_tension(shapes.robot, gravity=shapes.gravity, loads=shapes.loads)
    except InputError:
        return None
    return tension if curve.common.min() < tension < curve.common.max() else None


def curve_table(curve: StiffnessCurve) -> Facts:
    """One row per tension."""
    rows = [
        (number(tension), *(_text(value) if solved else "-" for value in stiffness), "yes" if solved else "NO")
        for tension, stiffness, solved in zip(curve.common, curve.stiffness, curve.solved, strict=True)
    ]
    headers = ("tension [N]", "softest [N/m]", "middle [N/m]", "stiffest [N/m]", "stable")
    return Facts("Stiffness at the tip", headers, tuple(rows))


def conditions(curve: StiffnessCurve) -> Facts:
    """Conditions of the curve."""
    gravity = ("gravity", f"{vector(curve.shapes.gravity)} m/s^2")
    return Facts("Asked for", ("", ""), (gravity, *friction_rows(curve.shapes)))


def _text(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "rigid"


def curve_picture(curve: StiffnessCurve, critical: float | None = None) -> Any:
    """The plotly figure."""
    from vertebra.report.panels import finish
    from vertebra.report.plotly import go

    figure = go.Figure()
    for i, values in _finite_rows(curve):
        figure.add_scatter(
            x=curve.common, y=values, name=NAMES[i], mode="lines+markers", line={"color": COLOURS[i]},
            marker={"symbol": SYMBOLS[i], "size": 8}, hovertemplate="%{x:.4g} N: %{y:.4g} N/m",
        )  # fmt: skip
    if critical is not None:
        text = f"straight above {critical:.4g} N"
        figure.add_vline(critical, line={"color": CRITICAL_COLOUR, "dash": "dot"}, annotation_text=text)
    finish(figure, X_TITLE, Y_TITLE)
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(type="log" if _is_wide(curve) else "linear", rangemode="tozero", automargin=True)
    return figure


def curve_still(curve: StiffnessCurve, title: str, critical: float | None = None) -> Any:
    """The matplotlib figure."""
    from vertebra.report.still import legend_below, plot_grid

    figure, ((axes,),) = plot_grid(1, 1, title)
    for i, values in _finite_rows(curve):
        axes.plot(
            curve.common, values, color=COLOURS[i], linewidth=1.4, marker=MARKERS[i], markersize=5, label=NAMES[i]
        )
    if critical is not None:
        axes.axvline(critical, color=CRITICAL_COLOUR, linestyle=":", label=f"straight above {critical:.4g} N")
    axes.set(xlabel=X_TITLE, ylabel=Y_TITLE, yscale="log" if _is_wide(curve) else "linear")
    legend_below(axes)
    return figure


def _finite_rows(curve: StiffnessCurve) -> Iterator[tuple[int, Floats]]:
    """Each direction with its stiffness; what is not finite is left out of the picture."""
    for i, column in enumerate(curve.stiffness.T):
        values = np.where(np.isfinite(column) & curve.solved, column, np.nan)
        if not np.isnan(values).all():
            yield i, values


def _is_wide(curve: StiffnessCurve) -> bool:
    values = curve.stiffness[curve.solved]
    values = values[np.isfinite(values)]
    return bool(len(values) and values.max() > WIDE * values.min())
