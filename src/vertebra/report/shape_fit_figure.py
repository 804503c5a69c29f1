"""Pictures of parameters fitted to measured shapes: rows before and after, and how errors go together."""

from __future__ import annotations

from typing import Any

import numpy as np

from vertebra.identify.shape_fit import ShapeFit
from vertebra.report.shape_fit_facts import angle_distances, tip_distances

BEFORE, AFTER = "#7F7F7F", "#0072B2"


def row_picture(fit: ShapeFit, kind: str) -> Any:
    """The plotly figure of every row's misfit, hollow before and filled after; `kind` is tips or angles."""
    import plotly.graph_objects as go

    from vertebra.report.comparison_plot import finish

    distances, unit = (tip_distances, "mm") if kind == "tips" else (angle_distances, "deg")
    figure = go.Figure()
    rows = list(range(1, len(fit.data) + 1))
    names = [f", path {name}" if name else "" for name in fit.data.sequence]
    for name, misfit, colour, symbol in (
        ("before", fit.before, BEFORE, "circle-open"),
        ("after", fit.after, AFTER, "circle"),
    ):
        figure.add_scatter(
            x=rows, y=distances(misfit), mode="markers", name=name, customdata=names,
            marker={"color": colour, "symbol": symbol, "size": 7},
            hovertemplate=f"row %{{x}}%{{customdata}} {name}: %{{y:.3f}} {unit}<extra></extra>",
        )  # fmt: skip
    what = "tip off" if kind == "tips" else "largest angle off"
    finish(figure, "row", f"{what} [{unit}]")
    figure.update_yaxes(rangemode="tozero")
    return figure


def correlation_picture(fit: ShapeFit) -> Any:
    """The plotly figure of the correlations, a coloured square each."""
    import plotly.graph_objects as go

    from vertebra.report.comparison_plot import finish

    values, names = fit.correlations, list(fit.names)
    figure = go.Figure(
        go.Heatmap(
            x=names, y=names, z=values, zmin=-1.0, zmax=1.0, colorscale="RdBu", text=np.round(values, 2),
            texttemplate="%{text}", colorbar={"title": {"text": "correlation"}, "len": 0.9},
            hovertemplate="%{y} with %{x}: %{z:.3f}<extra></extra>",
        )
    )  # fmt: skip
    finish(figure, "", "")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(showgrid=False)
    return figure


def tip_picture(fit: ShapeFit) -> Any:
    """The plotly figure of measured tips, hollow, with predicted ones, filled, and lines between them, in space."""
    import plotly.graph_objects as go

    measured = 1e3 * fit.data.tips
    whole = np.isfinite(measured).all(axis=1)
    at = measured[whole]
    predicted = at - 1e3 * fit.after.tips[whole]
    figure = go.Figure()
    gaps = np.full((len(at), 3, 3), np.nan)
    gaps[:, 0], gaps[:, 1] = at, predicted
    lines = gaps.reshape(-1, 3)
    labels = [f"row {row + 1}" for row in np.flatnonzero(whole)]
    figure.add_scatter3d(
        x=lines[:, 0], y=lines[:, 1], z=lines[:, 2], mode="lines", line={"color": BEFORE, "width": 3},
        hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    for name, places, symbol, colour in (
        ("simulated" if fit.data.simulated else "measured", at, "circle-open", "#222222"),
        ("predicted, fitted", predicted, "circle", AFTER),
    ):
        figure.add_scatter3d(
            x=places[:, 0], y=places[:, 1], z=places[:, 2], mode="markers", name=name, text=labels,
            marker={"symbol": symbol, "size": 4, "color": colour},
            hovertemplate=f"%{{text}}, {name}: (%{{x:.2f}}, %{{y:.2f}}, %{{z:.2f}}) mm<extra></extra>",
        )  # fmt: skip
    axes = {f"{letter}axis": {"title": {"text": f"{letter} [mm]"}} for letter in "xyz"}
    figure.update_layout(
        template="none", scene={**axes, "aspectmode": "data"}, margin={"l": 0, "r": 0, "t": 20, "b": 30},
        legend={"orientation": "h", "x": 0.5, "xanchor": "center", "y": 0.0, "yanchor": "top"},
    )  # fmt: skip
    return figure
