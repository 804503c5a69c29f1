"""Parts of a 3D picture as plotly draws them: bodies, lines, arrows, points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from vertebra.report.solids import Mesh
from vertebra.robot.tables import Floats

LIGHT = {"ambient": 0.8, "diffuse": 0.7, "specular": 0.05, "roughness": 0.9, "fresnel": 0.1}
PLACE = "(%{x:.2f}, %{y:.2f}, %{z:.2f}) mm<extra></extra>"


def body(mesh: Mesh, colour: str, opacity: float, **more: Any) -> Any:
    """A mesh, mm."""
    x, y, z = np.round(mesh.vertices, 4).T.astype(np.float32)
    i, j, k = mesh.triangles.T.astype(np.int32)
    style = {"flatshading": True, "lighting": LIGHT, **more}
    return go.Mesh3d(x=x, y=y, z=z, i=i, j=j, k=k, color=colour, opacity=opacity, **style)


def line(points: Floats, colour: str, width: float, name: str, named: bool, dash: str = "solid", **more: Any) -> Any:
    """A polyline (m, 3), mm; pointing at it shows its name and the place."""
    x, y, z = points.T
    style = {"color": colour, "width": width, "dash": dash}
    more = {"hovertemplate": f"{name}<br>{PLACE}"} | more if "hoverinfo" not in more else more
    return go.Scatter3d(x=x, y=y, z=z, mode="lines", name=name, showlegend=named, line=style, **more)


def point(place: Floats, colour: str, name: str, symbol: str = "circle", size: float = 6) -> Any:
    """A mark at (3,), mm."""
    x, y, z = place
    marker = {"size": size, "color": colour, "symbol": symbol}
    return go.Scatter3d(
        x=[x], y=[y], z=[z], mode="markers", name=name, marker=marker, hovertemplate=f"{name}<br>{PLACE}"
    )


def arrow(start: Floats, end: Floats, colour: str, name: str, width: float = 6) -> Iterator[Any]:
    """An arrow with a head beyond `end`, mm; both parts are shown and hidden together."""
    yield line(np.array([start, end]), colour, width, name, True, hoverinfo="name", legendgroup=name)
    (x, y, z), (u, v, w) = end, (end - start) * 0.35
    yield go.Cone(
        x=[x], y=[y], z=[z], u=[u], v=[v], w=[w], sizemode="raw", anchor="tail",
        colorscale=[[0, colour], [1, colour]], showscale=False, hoverinfo="skip", legendgroup=name,
    )  # fmt: skip
