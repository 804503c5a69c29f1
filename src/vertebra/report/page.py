"""The interactive page: a 3D picture drawn by plotly and the robot's numbers, in one file without outside links."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.io

from vertebra import __version__
from vertebra.report.facts import Facts, cables, links, overview, sections
from vertebra.report.scene import (
    GRAVITY_COLOUR,
    LINK_COLOURS,
    MOST_NAMED_CABLES,
    MOUNT_COLOUR,
    PART_COLOUR,
    TIP_COLOUR,
    Scene,
    cable_label,
    cable_style,
    robot_scene,
)
from vertebra.report.solids import Mesh, joined
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

LIGHT = {"ambient": 0.8, "diffuse": 0.7, "specular": 0.05, "roughness": 0.9, "fresnel": 0.1}
STYLE = """
  body { font: 15px/1.45 system-ui, sans-serif; color: #222; margin: 0 auto; max-width: 70rem; padding: 1rem; }
  h1 { font-size: 1.4rem; margin: 0 0 .5rem; }
  h2 { font-size: 1.05rem; margin: 1.2rem 0 .3rem; }
  #picture { height: 36rem; border: 1px solid #ddd; }
  .wide { overflow-x: auto; }
  table { border-collapse: collapse; }
  th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid #e4e4e4; vertical-align: top; }
  th { font-weight: 600; }
  footer { color: #666; margin-top: 1.2rem; font-size: .85rem; }
"""


def robot_page(robot: Robot, frames: Floats, title: str) -> str:
    """The whole HTML text; `frames` (n+1, 4, 4) in m."""
    scene = robot_scene(robot, frames)
    picture = plotly.io.to_html(
        robot_picture(robot, scene),
        full_html=False,
        include_plotlyjs=True,
        div_id="picture",
        default_height="36rem",
        config={"displaylogo": False, "responsive": True, "showSendToCloud": False, "plotlyServerURL": ""},
    )
    x, y, z = scene.tip
    pose = Facts("", ("", ""), (("tip in this picture", f"({x:.3f}, {y:.3f}, {z:.3f}) mm"),))
    tables = [_facts_table(overview(robot)._replace(title=""), pose)]
    tables += [_facts_table(facts) for facts in (sections(robot), links(robot), cables(robot)) if facts.rows]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{picture}
{"".join(tables)}
<footer>Vertebra {escape(__version__)}. Drag to turn, scroll to zoom, point at a part to see where it is.</footer>
</body>
</html>
"""


def robot_picture(robot: Robot, scene: Scene) -> Any:
    """The plotly figure of a scene."""
    figure = go.Figure([*_bodies(scene), *_lines(robot, scene)])
    axis = {"backgroundcolor": "#f7f7f7", "gridcolor": "#d9d9d9", "zerolinecolor": "#bbbbbb", "showspikes": False}
    ex, ey, ez = (2.15 * value for value in scene.view.eye)
    ux, uy, uz = scene.view.up
    # Labels below the box need more room than the robot above it.
    center = {"x": -0.12 * ux, "y": -0.12 * uy, "z": -0.12 * uz}
    figure.update_layout(
        template="none",
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        legend={"x": 0.01, "y": 0.99, "bgcolor": "rgba(255,255,255,0.7)", "itemsizing": "constant"},
        scene={
            "aspectmode": "data",
            "camera": {"center": center, "eye": {"x": ex, "y": ey, "z": ez}, "up": {"x": ux, "y": uy, "z": uz}},
            **{f"{name}axis": {**axis, "title": {"text": f"{name} [mm]"}} for name in "xyz"},
        },
    )
    return figure


def _bodies(scene: Scene) -> Iterator[Any]:
    for parity, colour in enumerate(LINK_COLOURS):
        numbers = range(parity, len(scene.links), 2)
        if not numbers:
            continue
        texts = [text for i in numbers for text in [_link_text(scene, i)] * len(scene.links[i].vertices)]
        yield _mesh(joined(scene.links[i] for i in numbers), colour, 0.6, text=texts, hoverinfo="text", name="links")
    if len(scene.parts.vertices):
        yield _mesh(scene.parts, PART_COLOUR, 1.0, hoverinfo="skip")
    yield _mesh(scene.mount, MOUNT_COLOUR, 1.0, hoverinfo="skip")


def _link_text(scene: Scene, index: int) -> str:
    x, y, z = scene.origins[index]
    return f"link {index}{' (base)' if index == 0 else ''}<br>frame at ({x:.2f}, {y:.2f}, {z:.2f}) mm"


def _mesh(mesh: Mesh, colour: str, opacity: float, **more: Any) -> Any:
    x, y, z = np.round(mesh.vertices, 4).T.astype(np.float32)
    i, j, k = mesh.triangles.T.astype(np.int32)
    return go.Mesh3d(
        x=x, y=y, z=z, i=i, j=j, k=k, color=colour, opacity=opacity, flatshading=True, lighting=LIGHT, **more
    )  # fmt: skip


def _lines(robot: Robot, scene: Scene) -> Iterator[Any]:
    for k, line in enumerate(scene.cables):
        colour, dash = cable_style(k)
        yield _line(line, colour, 5, cable_label(robot, k), len(scene.cables) <= MOST_NAMED_CABLES, dash)
    yield _line(scene.neck, PART_COLOUR, 4, "tip", False)
    x, y, z = scene.tip
    yield go.Scatter3d(
        x=[x], y=[y], z=[z], mode="markers", name="tip", marker={"size": 6, "color": TIP_COLOUR},
        hovertemplate="tip<br>(%{x:.2f}, %{y:.2f}, %{z:.2f}) mm<extra></extra>",
    )  # fmt: skip
    if scene.gravity is not None:
        yield from _gravity(scene.gravity)


def _gravity(arrow: Floats) -> Iterator[Any]:
    yield _line(arrow, GRAVITY_COLOUR, 6, "gravity", True, hoverinfo="name")
    (x, y, z), direction = arrow[1], (arrow[1] - arrow[0]) * 0.35
    yield go.Cone(
        x=[x], y=[y], z=[z], u=[direction[0]], v=[direction[1]], w=[direction[2]], sizemode="raw", anchor="tail",
        colorscale=[[0, GRAVITY_COLOUR], [1, GRAVITY_COLOUR]], showscale=False, hoverinfo="skip",
    )  # fmt: skip


def _line(points: Floats, colour: str, width: float, name: str, named: bool, dash: str = "solid", **more: Any) -> Any:
    x, y, z = points.T
    line = {"color": colour, "width": width, "dash": dash}
    more = more or {"hovertemplate": f"{name}<br>(%{{x:.2f}}, %{{y:.2f}}, %{{z:.2f}}) mm<extra></extra>"}
    return go.Scatter3d(
        x=x, y=y, z=z, mode="lines", name=name, showlegend=named, line=line, **more
    )  # fmt: skip


def _facts_table(*parts: Facts) -> str:
    first = parts[0]
    heading = f"<h2>{escape(first.title)}</h2>" if first.title else "<h2>Robot</h2>"
    head = "".join(f"<th>{escape(text)}</th>" for text in first.headers) if any(first.headers) else ""
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>\n" for part in parts for row in part.rows
    )
    return f'{heading}\n<div class="wide"><table>\n<tr>{head}</tr>\n{rows}</table></div>\n'
