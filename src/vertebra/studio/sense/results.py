"""The right side of the Sense tab, and what it draws into the scene."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from vertebra.report.meshes import Mesh, revolved
from vertebra.robot.tables import Floats
from vertebra.studio.plots import Plot
from vertebra.studio.scene.poses import quaternions
from vertebra.studio.scene.stage import Picture
from vertebra.studio.sense.look import Look, measured_turns
from vertebra.studio.sense.text import more_text, sensed_text

if TYPE_CHECKING:
    from vertebra.studio.sense.run import Sensed
    from vertebra.studio.studio import Studio

SIGMAS = 3.0
"""Half axes of the tip's ellipsoid, in standard deviations."""
_STEPS = np.linspace(0.02, math.pi - 0.02, 13)
_BALL = revolved([(math.sin(step), -math.cos(step)) for step in _STEPS], sectors=20)


class Results:
    """Made anew for every robot."""

    def __init__(self, studio: Studio) -> None:
        self._studio, self._robot = studio, studio.robot
        gui = studio.server.gui
        self._text = gui.add_html("")
        self._tip_error = Plot(gui, "Tip error, last 20 s", "time (s)", "error (mm)")
        self._turn_error = Plot(gui, "Orientation error of the tip, last 20 s", "time (s)", "error (deg)")
        self._place = Plot(gui, "Tip, last 20 s", "time (s)", "place (mm)")
        self._more = gui.add_html("")
        count = len(self._robot.sensor_links)
        self._axes = studio.stage.scene.add_batched_axes(
            "/sense/sensors", np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)), np.zeros((count, 3)), axes_length=0.09,
            axes_radius=0.004, visible=False,
        )  # fmt: skip

    def say(self, html: str) -> None:
        """Words instead of results."""
        self._text.content, self._more.content = html, ""
        for plot in (self._tip_error, self._turn_error, self._place):
            plot.hide()

    def show(self, sensed: Sensed, past: Floats) -> None:
        """Numbers, tables and plots; `past` (K, 6): s, tip in m, errors in m and rad."""
        known, enough = sensed.truth is not None, len(past) > 1
        means = (float(past[:, 4].mean()), float(past[:, 5].mean())) if known and enough else None
        self._text.content = sensed_text(self._robot, sensed, means)
        self._more.content = more_text(self._robot, sensed)
        if enough and known:
            self._tip_error.show(past[:, 0], [("tip error (mm)", 1e3 * past[:, 4])])
            self._turn_error.show(past[:, 0], [("orientation error (deg)", np.degrees(past[:, 5]))])
        elif enough:
            self._place.show(past[:, 0], [(f"{axis} (mm)", 1e3 * past[:, 1 + i]) for i, axis in enumerate("xyz")])

    def draw(self, sensed: Sensed, sensor_frames: bool) -> None:
        """The sensed robot, the true one as a ghost, how sure the tip is, and frames of the sensors if wanted."""
        look = sensed.look
        if look is None:
            return
        self._studio.stage.draw(
            Picture(look.frames, gravity=look.gravity, ghost=sensed.truth, ellipsoid=tip_ellipsoid(look))
        )
        self._show_axes(sensor_frames)
        if sensor_frames:
            frames = measured_turns(self._robot, look)
            self._axes.batched_positions = (self._studio.stage.scale * frames[:, :3, 3]).astype(np.float32)
            self._axes.batched_wxyzs = quaternions(frames).astype(np.float32)

    def hide(self) -> None:
        """Take own things out of the scene."""
        self._show_axes(False)

    def remove(self) -> None:
        """For another robot."""
        self._axes.remove()

    def _show_axes(self, visible: bool) -> None:
        if self._axes.visible != visible:
            self._axes.visible = visible


def tip_ellipsoid(look: Look) -> Mesh | None:
    """Where the tip is, to three standard deviations, m; None when no sensor tells."""
    if not np.isfinite(look.covariance).all():
        return None
    variances, axes = np.linalg.eigh(look.covariance)
    half = SIGMAS * np.sqrt(np.maximum(variances, 0.0))
    return Mesh(_BALL.vertices * half @ axes.T + look.tip, _BALL.triangles)
