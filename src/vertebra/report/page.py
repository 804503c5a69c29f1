"""The interactive page of a robot at one pose: a 3D picture drawn by plotly, and the robot's numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from vertebra.report import traces
from vertebra.report.document import Facts
from vertebra.report.facts import cables, links, overview, sections
from vertebra.report.html_page import html_page
from vertebra.report.overlays import ELLIPSOID_COLOUR
from vertebra.report.page_parts import TURN_IT, Part, facts_table, pictures
from vertebra.report.scene import (
    GRAVITY_COLOUR,
    LINK_COLOURS,
    MOST_NAMED_CABLES,
    MOUNT_COLOUR,
    PART_COLOUR,
    TIP_COLOUR,
    Scene,
    cable_style,
    robot_scene,
)
from vertebra.report.solids import joined
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


def robot_page(robot: Robot, frames: Floats, title: str) -> str:
    """The whole HTML text; `frames` (n+1, 4, 4) in m."""
    scene = robot_scene(robot, frames)
    x, y, z = scene.tip
    pose = Facts("", ("", ""), (("tip in this picture", f"({x:.3f}, {y:.3f}, {z:.3f}) mm"),))
    tables = [facts_table(overview(robot)._replace(title="Robot"), pose), *part_tables(robot)]
    return html_page(title, [big_picture(robot_picture(robot, scene)), *tables])


def big_picture(figure: Any, caption: str = TURN_IT) -> Part:
    """The one picture at the top of a page."""
    return pictures("picture", [figure], "36rem", "", caption, buttons=True)


def robot_tables(robot: Robot) -> Iterator[Part]:
    """The robot itself."""
    about = overview(robot)
    rows = tuple(row for row in about.rows if row[0] != "gravity")  # the file's, which need not be what was asked
    yield facts_table(about._replace(title=f"Robot {robot.name}", rows=rows))
    yield from part_tables(robot)


def part_tables(robot: Robot) -> Iterator[Part]:
    """Tables of joints, links and cables."""
    yield from (facts_table(facts) for facts in (sections(robot), links(robot), cables(robot)) if facts.rows)


def robot_picture(robot: Robot, scene: Scene) -> Any:
    """The plotly figure of a scene."""
    figure = go.Figure([*_bodies(scene), *_lines(scene), *_overlays(scene)])
    distance = eye_distance(scene)
    ex, ey, ez = (distance * value for value in scene.view.eye)
    ux, uy, uz = scene.view.up
    left = 0.14 if scene.arrows or scene.ghosts or scene.marks else 0.0  # longer names in the legend
    # Labels below the box need more room than the robot above it.
    lower = -0.03 * distance
    center = {"x": lower * ux, "y": lower * uy, "z": lower * uz}
    figure.update_layout(
        template="none",
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        legend={"x": 0.01, "y": 0.99, "itemsizing": "constant"},
        scene={
            "aspectmode": "data",
            "domain": {"x": [left, 1.0]},
            "camera": {"center": center, "eye": {"x": ex, "y": ey, "z": ez}, "up": {"x": ux, "y": uy, "z": uz}},
            **{f"{name}axis": {"title": {"text": f"{name} [mm]"}} for name in "xyz"},
        },
    )
    return figure


def eye_distance(scene: Scene) -> float:
    """How far plotly's camera must stand off to see the whole box, in units of the geometric mean of its sides."""
    points = [scene.low, scene.high] if scene.gravity is None else [scene.low, scene.high, *scene.gravity]
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    sides = np.maximum(high - low, 1e-3 * (high - low).max())
    half = 0.5 * sides / float(np.prod(sides)) ** (1 / 3)
    corners = half * np.array(list(itertools.product((-1, 1), repeat=3)))
    eye, right = np.array(scene.view.eye), scene.view.right
    across, upward = np.abs(corners @ right), np.abs(corners @ np.cross(eye, right))
    # The camera sees 45 degrees upright and, on a usual screen, half as much again across; labels need a margin.
    needed = corners @ eye + np.maximum(upward, across / 1.5) / (0.88 * math.tan(math.radians(22.5)))
    return float(needed.max())


def _bodies(scene: Scene) -> Iterator[Any]:
    for parity, colour in enumerate(LINK_COLOURS):
        numbers = range(parity, len(scene.links), 2)
        if not numbers:
            continue
        texts = [text for i in numbers for text in [_link_text(scene, i)] * len(scene.links[i].vertices)]
        mesh = joined(scene.links[i] for i in numbers)
        yield traces.body(mesh, colour, 0.6, text=texts, hoverinfo="text", name="links")
    if len(scene.parts.vertices):
        yield traces.body(scene.parts, PART_COLOUR, 1.0, hoverinfo="skip")
    yield traces.body(scene.mount, MOUNT_COLOUR, 1.0, hoverinfo="skip")


def _link_text(scene: Scene, index: int) -> str:
    x, y, z = scene.origins[index]
    return f"link {index}{' (base)' if index == 0 else ''}<br>frame at ({x:.2f}, {y:.2f}, {z:.2f}) mm"


def _lines(scene: Scene) -> Iterator[Any]:
    named = len(scene.cables) <= MOST_NAMED_CABLES
    for k, (points, label, width) in enumerate(zip(scene.cables, scene.cable_labels, scene.cable_widths, strict=True)):
        colour, dash = cable_style(k)
        yield traces.line(points, colour, 5 * width, label, named, dash)
    yield traces.line(scene.neck, PART_COLOUR, 4, "tip", False)
    yield traces.point(scene.tip, TIP_COLOUR, "tip")
    if scene.gravity is not None:
        yield from traces.arrow(scene.gravity[0], scene.gravity[1], GRAVITY_COLOUR, "gravity")


def _overlays(scene: Scene) -> Iterator[Any]:
    for arrow in scene.arrows:
        yield from traces.arrow(arrow.start, arrow.end, arrow.colour, arrow.name, 8)
    for ghost in scene.ghosts:
        yield traces.line(ghost.line, ghost.colour, 3, ghost.name, True)
    for mark in scene.marks:
        yield traces.point(mark.place, mark.colour, mark.name, "x", 5)
    if scene.ellipsoid is not None:
        body, axes, name = scene.ellipsoid.mesh, scene.ellipsoid.axes, scene.ellipsoid.name
        yield traces.body(
            body,
            ELLIPSOID_COLOUR,
            0.3,
            name=name,
            showlegend=True,
            legendgroup=name,
            hoverinfo="name",
            flatshading=False,
        )
        for ends in axes:
            yield traces.line(ends, ELLIPSOID_COLOUR, 3, name, False, legendgroup=name)
