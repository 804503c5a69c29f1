"""Pictures that plotly draws: bodies and lines in 3D, rows of pictures, and moving robots to play."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from vertebra.errors import MissingPackage
from vertebra.mechanics.kinematics import Pose
from vertebra.report.document import Figures
from vertebra.report.meshes import Mesh, Rods, face_depth, joined, link_mesh, solid_between, struts
from vertebra.report.panels import MOST_POINTS, spread
from vertebra.report.scene import (
    ELLIPSOID_COLOUR,
    GRAVITY_COLOUR,
    LINK_COLOURS,
    MOST_NAMED_CABLES,
    MOUNT_COLOUR,
    PART_COLOUR,
    TIP_COLOUR,
    CablePaths,
    Scene,
    View,
    best_view,
    cable_label,
    cable_style,
    gravity_arrow,
    robot_scene,
)
from vertebra.robot.robot import Robot
from vertebra.robot.tables import UNIVERSAL, Floats

try:
    import plotly.colors
    import plotly.graph_objects
    import plotly.subplots
except ModuleNotFoundError:
    raise MissingPackage("plotly") from None

# Other reports have these from here, so that whoever draws without plotly is told which extra brings it.
go, make_subplots = plotly.graph_objects, plotly.subplots.make_subplots
sample_colorscale = plotly.colors.sample_colorscale

LIGHT = {"ambient": 0.8, "diffuse": 0.7, "specular": 0.05, "roughness": 0.9, "fresnel": 0.1}
PLACE = "(%{x:.2f}, %{y:.2f}, %{z:.2f}) mm<extra></extra>"


def body_trace(mesh: Mesh, colour: str, opacity: float, **more: Any) -> Any:
    """A mesh, mm."""
    x, y, z = np.round(mesh.vertices, 4).T.astype(np.float32)
    i, j, k = mesh.triangles.T.astype(np.int32)
    style = {"flatshading": True, "lighting": LIGHT, **more}
    return go.Mesh3d(x=x, y=y, z=z, i=i, j=j, k=k, color=colour, opacity=opacity, **style)


def line_trace(
    points: Floats, colour: str, width: float, name: str, named: bool, dash: str = "solid", **more: Any
) -> Any:
    """A polyline (m, 3), mm; pointing at it shows its name and the place."""
    x, y, z = points.T
    style = {"color": colour, "width": width, "dash": dash}
    more = {"hovertemplate": f"{name}<br>{PLACE}"} | more if "hoverinfo" not in more else more
    return go.Scatter3d(x=x, y=y, z=z, mode="lines", name=name, showlegend=named, line=style, **more)


def point_trace(place: Floats, colour: str, name: str, symbol: str = "circle", size: float = 6) -> Any:
    """A mark at (3,), mm."""
    x, y, z = place
    marker = {"size": size, "color": colour, "symbol": symbol}
    return go.Scatter3d(
        x=[x], y=[y], z=[z], mode="markers", name=name, marker=marker, hovertemplate=f"{name}<br>{PLACE}"
    )


def arrow_trace(start: Floats, end: Floats, colour: str, name: str, width: float = 6) -> Iterator[Any]:
    """An arrow with a head beyond `end`, mm; both parts are shown and hidden together."""
    yield line_trace(np.array([start, end]), colour, width, name, True, hoverinfo="name", legendgroup=name)
    (x, y, z), (u, v, w) = end, (end - start) * 0.35
    yield go.Cone(
        x=[x], y=[y], z=[z], u=[u], v=[v], w=[w], sizemode="raw", anchor="tail",
        colorscale=[[0, colour], [1, colour]], showscale=False, hoverinfo="skip", legendgroup=name,
    )  # fmt: skip


# A scene as a 3D picture.


def scene_figure(scene: Scene) -> Any:
    """The plotly figure of any scene."""
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
        modebar={"remove": _not_for(scene.view)},
        scene={
            "aspectmode": "data",
            "domain": {"x": [left, 1.0]},
            "dragmode": _drag(scene.view),
            "camera": {"center": center, "eye": {"x": ex, "y": ey, "z": ez}, "up": {"x": ux, "y": uy, "z": uz}},
            **{f"{name}axis": {"title": {"text": f"{name} [mm]"}} for name in "xyz"},
        },
    )
    return figure


def _drag(view: View) -> str:
    """How a page lets the reader turn a picture: plotly's turntable has z up, whatever the camera's own up is."""
    return "turntable" if view.up == (0.0, 0.0, 1.0) else "orbit"


def _not_for(view: View) -> list[str]:
    """Buttons that would turn a hanging robot upright."""
    return [] if _drag(view) == "turntable" else ["tableRotation"]


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
        yield body_trace(mesh, colour, 0.6, text=texts, hoverinfo="text", name="links")
    if len(scene.parts.vertices):
        yield body_trace(scene.parts, PART_COLOUR, 1.0, hoverinfo="skip")
    yield body_trace(scene.mount, MOUNT_COLOUR, 1.0, hoverinfo="skip")


def _link_text(scene: Scene, index: int) -> str:
    x, y, z = scene.origins[index]
    return f"link {index}{' (base)' if index == 0 else ''}<br>frame at ({x:.2f}, {y:.2f}, {z:.2f}) mm"


def _lines(scene: Scene) -> Iterator[Any]:
    named = len(scene.cables) <= MOST_NAMED_CABLES
    for k, (points, label, width) in enumerate(zip(scene.cables, scene.cable_labels, scene.cable_widths, strict=True)):
        colour, dash = cable_style(k)
        yield line_trace(points, colour, 5 * width, label, named, dash)
    yield line_trace(scene.neck, PART_COLOUR, 4, "tip", False)
    yield point_trace(scene.tip, TIP_COLOUR, "tip")
    if scene.gravity is not None:
        yield from arrow_trace(scene.gravity[0], scene.gravity[1], GRAVITY_COLOUR, "gravity")


def _overlays(scene: Scene) -> Iterator[Any]:
    for arrow in scene.arrows:
        yield from arrow_trace(arrow.start, arrow.end, arrow.colour, arrow.name, 8)
    for ghost in scene.ghosts:
        yield line_trace(ghost.line, ghost.colour, 3, ghost.name, True)
    for mark in scene.marks:
        yield point_trace(mark.place, mark.colour, mark.name, "x", 5)
    if scene.ellipsoid is not None:
        body, axes, name = scene.ellipsoid.mesh, scene.ellipsoid.axes, scene.ellipsoid.name
        yield body_trace(
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
            yield line_trace(ends, ELLIPSOID_COLOUR, 3, name, False, legendgroup=name)


# What a 3D picture needs to be played: buttons, a slider, and a box that fits every instant.

BYTES_PER_NUMBER = 16.0 / 3.0
"""Four bytes of a float32, in base64."""


def play_buttons(milliseconds: float) -> dict[str, Any]:
    """Play and Pause; `milliseconds` per frame."""
    play = {"frame": {"duration": milliseconds, "redraw": True}, "fromcurrent": True, "transition": {"duration": 0}}
    stop = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate", "transition": {"duration": 0}}
    return {
        "type": "buttons", "direction": "left", "showactive": False, "x": 0.01, "y": 0.02, "xanchor": "left",
        "yanchor": "bottom", "pad": {"t": 0, "r": 8},
        "buttons": [
            {"label": "Play", "method": "animate", "args": [None, play]},
            {"label": "Pause", "method": "animate", "args": [[None], stop]},
        ],
    }  # fmt: skip


def slider(labels: Sequence[str], prefix: str) -> dict[str, Any]:
    """One stop per frame, named by its number; it starts at the last."""
    go_there = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate", "transition": {"duration": 0}}
    return {
        "active": len(labels) - 1, "x": 0.16, "len": 0.82, "y": 0.03, "yanchor": "bottom", "pad": {"t": 0, "b": 0},
        "currentvalue": {"prefix": prefix, "font": {"size": 14, "color": "#222222"}, "xanchor": "left"},
        "ticklen": 0, "minorticklen": 0, "font": {"size": 1, "color": "rgba(0,0,0,0)"},
        "steps": [
            {"label": label, "method": "animate", "args": [[str(number)], go_there]}
            for number, label in enumerate(labels)
        ],
    }  # fmt: skip


def lay_out(
    figure: Any, low: Floats, high: Floats, line: Floats, gravity: Floats, view: View, controls: dict[str, Any]
) -> None:
    """Equal aspect and one box for all frames, mm; `line` (m, 3) is the robot, `controls` go into the layout."""
    arrow = gravity_arrow(gravity, np.vstack([low, high, line]), view)
    if arrow is not None:
        for trace in arrow_trace(arrow[0], arrow[1], GRAVITY_COLOUR, "gravity"):
            figure.add_trace(trace)
        low, high = np.minimum(low, arrow.min(axis=0)), np.maximum(high, arrow.max(axis=0))
    span, nothing = high - low, joined([])
    box = Scene((), nothing, nothing, (), line, line[-1], line[-2:], low, high, view, None)
    sides = span / float(np.prod(span)) ** (1 / 3)
    eye = dict(zip("xyz", (eye_distance(box) * value for value in view.eye), strict=True))
    figure.update_layout(
        template="none",
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        uirevision="keep",
        legend={"x": 0.01, "y": 0.99, "itemsizing": "constant"},
        modebar={"remove": _not_for(view)},
        scene={
            "uirevision": "keep",
            "dragmode": _drag(view),
            "aspectmode": "manual",
            "aspectratio": dict(zip("xyz", sides.tolist(), strict=True)),
            "domain": {"x": [0.08, 1.0], "y": [0.1, 1.0]},
            "camera": {"eye": eye, "up": dict(zip("xyz", view.up, strict=True))},
            **{
                f"{name}axis": {
                    "title": {"text": f"{name} [mm]"},
                    "range": [float(low[i]), float(high[i])],
                    "nticks": 3 + int(6 * span[i] / span.max()),
                }
                for i, name in enumerate("xyz")
            },
        },
        **controls,
    )


def animation(figure: Any, name: str, caption: str) -> Figures:
    """A figure with frames, which stands still until Play is pressed."""
    return Figures(name, [figure], "40rem", "", caption, buttons=True, moves=True)


# Pictures of several shapes side by side, from one side and at one scale.

MARGIN_MM = 5.0
EYE = 2.6
"""Distance of the eye in plotly's units: narrow pictures need more than a wide one."""


def row_distance(scenes: Sequence[Scene]) -> float:
    """Distance from which the eye sees a box around all scenes."""
    low, high = _common_box(scenes)
    return eye_distance(replace(scenes[0], low=low, high=high))


def _common_box(scenes: Sequence[Scene]) -> tuple[Floats, Floats]:
    return np.min([scene.low for scene in scenes], axis=0), np.max([scene.high for scene in scenes], axis=0)


def picture_row(scenes: Sequence[Scene], titles: Sequence[str], distance: float = EYE) -> Iterator[Any]:
    """Plotly figures without legends, all seen as the first scene is, from one distance."""
    low, high = _common_box(scenes)
    low, high = low - MARGIN_MM, high + MARGIN_MM
    span = high - low
    sides = dict(zip("xyz", span / np.prod(span) ** (1 / 3), strict=True))  # the same scale in all pictures
    axes = {
        f"{axis}axis": {"range": [low[i], high[i]], "nticks": 3 + int(6 * span[i] / span.max())}
        for i, axis in enumerate("xyz")
    }
    eye = {axis: distance * value for axis, value in zip("xyz", scenes[0].view.eye, strict=True)}
    for scene, title in zip(scenes, titles, strict=True):
        figure = scene_figure(scene)
        figure.update_layout(
            title={"text": title, "x": 0.03, "y": 0.96, "font": {"size": 15}},
            showlegend=False,
            scene={
                "domain": {"x": [0.0, 1.0]},
                "camera": {"eye": eye},
                "aspectmode": "manual",
                "aspectratio": sides,
                **axes,
            },
        )
        yield figure


# A moving robot as an animation: plotly frames with a slider, small enough for a page.

MM = 1e3
MOST_FRAMES, LEAST_FRAMES = 300, 40
MOST_BYTES = 2_200_000
"""For all frames; plotly itself takes 4.9 MB of a page."""
SECTORS = 10
ROD_POINTS = 5
"""Along each rod of a flexure or a backbone."""
FRAME_MILLISECONDS = 40.0
"""Browsers draw a frame in about this time."""
TIP_PATH_COLOUR, START_COLOUR = "#882255", "#777777"


class Motion:
    """Instants of a motion, as many as fit on a page."""

    def __init__(self, robot: Robot, time: Floats, q: Floats) -> None:
        """`time` (N,) s, `q` (N, n) rad."""
        self.robot = robot
        self.bodies = [light_link(robot, i) for i in range(len(robot.links))]
        self._rods = Rods(robot, count=ROD_POINTS)
        points = sum(len(body.vertices) for body in self.bodies) + len(self._parts(Pose(robot, q[0]).frames))
        points += sum(2 * int(last) + 2 for last in robot.cables["last_link"])
        room = int(MOST_BYTES / (3.0 * points * BYTES_PER_NUMBER))
        kept = spread(len(time), min(max(room, LEAST_FRAMES), MOST_FRAMES))
        self.time: Floats = time[kept]
        self.frames = [Pose(robot, angles).frames for angles in q[kept]]
        self.mount = robot_scene(robot, self.frames[0]).mount

    @property
    def slowness(self) -> float:
        """How many times slower than real the animation plays."""
        span = float(self.time[-1] - self.time[0])
        return FRAME_MILLISECONDS * 1e-3 * (len(self.time) - 1) / span if span else 1.0

    def links(self, instant: int, parity: int) -> Mesh:
        """Every second link, mm."""
        frames = self.frames[instant]
        mesh = joined(self.bodies[i].moved(frames[i]) for i in range(parity, len(frames), 2))
        return Mesh(mesh.vertices * MM, mesh.triangles)

    def parts(self, instant: int) -> Floats:
        """(m, 3) mm, all rods, pins and crosses as one line that is broken between them by points that are not
        numbers."""
        return self._parts(self.frames[instant])

    def _parts(self, frames: Floats) -> Floats:
        straight = (line for row in range(len(self.robot.joints)) for line, _ in struts(self.robot, frames, row))
        gap = np.full((1, 3), np.nan)
        pieces = [np.vstack([line * MM, gap]) for line in (*self._rods.centre_lines(frames), *straight)]
        return np.vstack(pieces) if pieces else np.zeros((0, 3))

    def tip(self, instant: int) -> Floats:
        """(3,) mm."""
        last = self.frames[instant][-1]
        place: Floats = MM * (last[:3, 3] + last[:3, :3] @ self.robot.tip_point)
        return place

    def backbone(self, instant: int) -> Floats:
        """(n+2, 3) from the base to the tip, mm."""
        return np.vstack([self.frames[instant][:, :3, 3] * MM, self.tip(instant)])


def light_link(robot: Robot, index: int) -> Mesh:
    """A link with few corners, in its own frame, m: rolling links keep the rim and the apex of their arcs."""
    if index == 0:
        return link_mesh(robot, 0, SECTORS)
    if robot.joints["kind"][index - 1] == UNIVERSAL:
        return link_mesh(robot, index, SECTORS, rings=1)
    link = robot.links[index]
    length = float(link["length"])
    near = face_depth(robot.joints[index - 1])
    far = face_depth(robot.joints[index]) if index < len(robot.joints) else None

    def bottom(x: Floats, y: Floats) -> Floats:
        return np.minimum(near(x, y), length / 2)

    def top(x: Floats, y: Floats) -> Floats:
        depth = np.zeros_like(x) if far is None else far(x, y)
        return np.maximum(length - depth, length / 2)

    return solid_between(bottom, top, float(link["diameter"]) / 2, SECTORS, rings=1)


def motion_picture(robot: Robot, time: Floats, q: Floats, tips: Floats, gravity: Floats) -> tuple[Any, float]:
    """The plotly figure with its frames, and how many times slower than real it plays.

    `tips` (N, 3) m, the path of the tip. It shows the last instant first, so that it says something before it moves.
    """
    motion = Motion(robot, time, q)
    last = len(motion.time) - 1
    moving = list(_moving(motion, last, True))
    figure = go.Figure([*moving, *_standing(motion, tips)])
    figure.frames = [
        go.Frame(name=str(i), data=list(_moving(motion, i, False)), traces=list(range(len(moving))))
        for i in range(last + 1)
    ]
    low, high = _corners(motion, tips)
    lines = np.vstack([motion.backbone(i) for i in spread(last + 1, 20)])
    view = _base_on_the_left(best_view(lines, gravity), lines[-1] - lines[0])
    form = _time_form(motion.time)
    controls = {
        "updatemenus": [play_buttons(FRAME_MILLISECONDS)],
        "sliders": [slider([f"{instant:{form}} s" for instant in motion.time], "")],
    }
    lay_out(figure, low, high, motion.backbone(last), gravity, view, controls)
    return figure, motion.slowness


def _base_on_the_left(view: View, from_base: Floats) -> View:
    """The view from the other side if that puts the base on the left; a tip that swings both ways does not decide."""
    if from_base @ view.right >= -0.3 * np.linalg.norm(from_base):
        return view
    x, y, z = (value if i == view.axis else -value for i, value in enumerate(view.eye))
    return replace(view, eye=(x, y, z))


def _moving(motion: Motion, instant: int, whole: bool) -> Iterator[Any]:
    """Links, cables and tip; only what changes unless `whole`."""
    for parity, colour in enumerate(LINK_COLOURS):
        mesh = motion.links(instant, parity)
        if whole:
            yield body_trace(mesh, colour, 0.6, hoverinfo="skip", name="links")
        else:
            x, y, z = mesh.vertices.T.astype(np.float32)
            yield go.Mesh3d(x=x, y=y, z=z)
    robot, parts = motion.robot, motion.parts(instant)
    if len(parts):
        x, y, z = parts.T.astype(np.float32)
        shown = partial(line_trace, parts, PART_COLOUR, 6, "rods, pins, crosses", False, hoverinfo="skip")
        yield shown() if whole else go.Scatter3d(x=x, y=y, z=z)
    named = len(robot.cables) <= MOST_NAMED_CABLES
    for k, line in enumerate(CablePaths(robot).lines(motion.frames[instant])):
        points = line * MM
        if whole:
            colour, dash = cable_style(k)
            yield line_trace(points, colour, 4, cable_label(robot, k), named, dash)
        else:
            x, y, z = points.T.astype(np.float32)
            yield go.Scatter3d(x=x, y=y, z=z)
    tip = motion.tip(instant)
    yield point_trace(tip, TIP_COLOUR, "tip") if whole else go.Scatter3d(x=tip[:1], y=tip[1:2], z=tip[2:])


def _standing(motion: Motion, tips: Floats) -> Iterator[Any]:
    yield body_trace(motion.mount, MOUNT_COLOUR, 1.0, hoverinfo="skip")
    if len(tips) > 1:
        path = tips[spread(len(tips), MOST_POINTS)] * MM
        yield line_trace(path, TIP_PATH_COLOUR, 3, "path of the tip", True)
        yield line_trace(motion.backbone(0), START_COLOUR, 3, "at the start", True, "dot")


def _corners(motion: Motion, tips: Floats) -> tuple[Floats, Floats]:
    """Box around everything that is drawn at any instant, mm."""
    bodies = [motion.links(i, parity).vertices for i in spread(len(motion.time), 60) for parity in (0, 1)]
    points = np.vstack([motion.mount.vertices, tips * MM, *bodies])
    margin = 0.04 * float(np.ptp(points, axis=0).max())
    return points.min(axis=0) - margin, points.max(axis=0) + margin


def _time_form(time: Floats) -> str:
    """Enough digits to tell the frames apart."""
    step = float(np.diff(time).min()) if len(time) > 1 else 1.0
    return f".{max(0, min(6, int(np.ceil(-np.log10(step))) + 1))}f"
