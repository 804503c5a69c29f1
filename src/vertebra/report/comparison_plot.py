"""Marks of a plot that compares: ours filled, published hollow, what is real a hollow diamond."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from vertebra.report.scene import CABLE_COLOURS

COLOURS = CABLE_COLOURS
"""Colours that people with any colour vision tell apart."""
GREY = "#7F7F7F"

MARKS = {
    "ours": {"symbol": "circle", "size": 6},
    "published": {"symbol": "circle-open", "size": 12, "line": {"width": 1.6}},
    "real": {"symbol": "diamond-open", "size": 9, "line": {"width": 1.6}},
}


def marks(x: Sequence[Any], y: Sequence[Any], kind: str, colour: str, name: str, **more: Any) -> Any:
    """Points of one kind: ours, published or real."""
    style = {"mode": "markers", "showlegend": False, "hovertemplate": f"{name}: %{{y:.2f}}<extra></extra>"}
    return go.Scatter(x=x, y=y, name=name, marker={**MARKS[kind], "color": colour}, **(style | more))


def line(x: Sequence[Any], y: Sequence[Any], colour: str, name: str, dash: str = "solid", **more: Any) -> Any:
    """A thin line through ours."""
    style = {
        "mode": "lines",
        "showlegend": False,
        "hoverinfo": "skip",
        "line": {"color": colour, "width": 1.3, "dash": dash},
    }
    return go.Scatter(x=x, y=y, name=name, **(style | more))


def key(names: dict[str, str]) -> list[Any]:
    """Legend entries that say what each kind of mark is; `names` by kind."""
    dark = "#333333"
    return [marks([None], [None], kind, dark, name, showlegend=True, hoverinfo="skip") for kind, name in names.items()]


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
