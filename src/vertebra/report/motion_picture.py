"""A moving robot as an animation: plotly frames with a slider, small enough for a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from vertebra.mechanics.kinematics import frames as link_frames
from vertebra.report import traces
from vertebra.report.cable_lines import cable_line
from vertebra.report.link_shapes import face_depth, link_mesh
from vertebra.report.player import BYTES_PER_NUMBER, lay_out, play_buttons, slider
from vertebra.report.scene import (
    LINK_COLOURS,
    MOST_NAMED_CABLES,
    MOUNT_COLOUR,
    TIP_COLOUR,
    cable_label,
    cable_style,
    robot_scene,
)
from vertebra.report.solids import Mesh, joined, solid_between
from vertebra.report.thinning import MOST_POINTS, spread
from vertebra.report.view import View, best_view
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

MM = 1e3
MOST_FRAMES, LEAST_FRAMES = 300, 40
MOST_BYTES = 2_200_000
"""For all frames; plotly itself takes 4.9 MB of a page."""
SECTORS = 10
FRAME_MILLISECONDS = 40.0
"""Browsers draw a frame in about this time."""
TIP_PATH_COLOUR, START_COLOUR = "#882255", "#777777"


class Motion:
    """Moments of a motion, as many as fit on a page."""

    def __init__(self, robot: Robot, time: Floats, q: Floats) -> None:
        """`time` (N,) s, `q` (N, n) rad."""
        self.robot = robot
        self.bodies = [light_link(robot, i) for i in range(len(robot.links))]
        points = sum(len(body.vertices) for body in self.bodies)
        points += sum(2 * int(last) + 2 for last in robot.cables["last_link"])
        room = int(MOST_BYTES / (3.0 * points * BYTES_PER_NUMBER))
        kept = spread(len(time), min(max(room, LEAST_FRAMES), MOST_FRAMES))
        self.time: Floats = time[kept]
        self.frames = [link_frames(robot, angles) for angles in q[kept]]
        self.mount = robot_scene(robot, self.frames[0]).mount

    @property
    def slowness(self) -> float:
        """How many times slower than real the animation plays."""
        span = float(self.time[-1] - self.time[0])
        return FRAME_MILLISECONDS * 1e-3 * (len(self.time) - 1) / span if span else 1.0

    def links(self, moment: int, parity: int) -> Mesh:
        """Every second link, mm."""
        frames = self.frames[moment]
        mesh = joined(self.bodies[i].moved(frames[i]) for i in range(parity, len(frames), 2))
        return Mesh(mesh.vertices * MM, mesh.triangles)

    def tip(self, moment: int) -> Floats:
        """(3,) mm."""
        last = self.frames[moment][-1]
        place: Floats = MM * (last[:3, 3] + last[:3, :3] @ self.robot.tip_point)
        return place

    def backbone(self, moment: int) -> Floats:
        """(n+2, 3) from the base to the tip, mm."""
        return np.vstack([self.frames[moment][:, :3, 3] * MM, self.tip(moment)])


def light_link(robot: Robot, index: int) -> Mesh:
    """A link with few corners, in its own frame, m: rolling links keep the rim and the apex of their arcs."""
    if index == 0:
        return link_mesh(robot, 0, SECTORS)
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

    `tips` (N, 3) m, the way of the tip. It begins with the last moment, so that it says something before it moves.
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
        "sliders": [slider([f"{moment:{form}} s" for moment in motion.time], "")],
    }
    lay_out(figure, low, high, motion.backbone(last), gravity, view, controls)
    return figure, motion.slowness


def _base_on_the_left(view: View, from_base: Floats) -> View:
    """The view from the other side where that puts the base on the left; a tip that swings about would not decide."""
    if from_base @ view.right >= -0.3 * np.linalg.norm(from_base):
        return view
    x, y, z = (value if i == view.axis else -value for i, value in enumerate(view.eye))
    return replace(view, eye=(x, y, z))


def _moving(motion: Motion, moment: int, whole: bool) -> Iterator[Any]:
    """Links, cables and tip; only what changes unless `whole`."""
    for parity, colour in enumerate(LINK_COLOURS):
        mesh = motion.links(moment, parity)
        if whole:
            yield traces.body(mesh, colour, 0.6, hoverinfo="skip", name="links")
        else:
            x, y, z = mesh.vertices.T.astype(np.float32)
            yield go.Mesh3d(x=x, y=y, z=z)
    robot = motion.robot
    named = len(robot.cables) <= MOST_NAMED_CABLES
    for k in range(len(robot.cables)):
        points = cable_line(robot, motion.frames[moment], k) * MM
        if whole:
            colour, dash = cable_style(k)
            yield traces.line(points, colour, 4, cable_label(robot, k), named, dash)
        else:
            x, y, z = points.T.astype(np.float32)
            yield go.Scatter3d(x=x, y=y, z=z)
    tip = motion.tip(moment)
    yield traces.point(tip, TIP_COLOUR, "tip") if whole else go.Scatter3d(x=tip[:1], y=tip[1:2], z=tip[2:])


def _standing(motion: Motion, tips: Floats) -> Iterator[Any]:
    yield traces.body(motion.mount, MOUNT_COLOUR, 1.0, hoverinfo="skip")
    if len(tips) > 1:
        way = tips[spread(len(tips), MOST_POINTS)] * MM
        yield traces.line(way, TIP_PATH_COLOUR, 3, "way of the tip", True)
        yield traces.line(motion.backbone(0), START_COLOUR, 3, "at the start", True, "dot")


def _corners(motion: Motion, tips: Floats) -> tuple[Floats, Floats]:
    """Box around everything that is ever drawn, mm."""
    bodies = [motion.links(i, parity).vertices for i in spread(len(motion.time), 60) for parity in (0, 1)]
    points = np.vstack([motion.mount.vertices, tips * MM, *bodies])
    margin = 0.04 * float(np.ptp(points, axis=0).max())
    return points.min(axis=0) - margin, points.max(axis=0) + margin


def _time_form(time: Floats) -> str:
    """Enough digits to tell the frames apart."""
    step = float(np.diff(time).min()) if len(time) > 1 else 1.0
    return f".{max(0, min(6, int(np.ceil(-np.log10(step))) + 1))}f"
