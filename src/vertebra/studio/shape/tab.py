"""Shape: pull cables, tilt the mount, hang loads on the robot, and see which shape that gives and how firm it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from vertebra.errors import StudioError
from vertebra.report.meshes import Mesh
from vertebra.report.scene import round_number_below, tip_ellipsoid
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, Floats
from vertebra.statics.path import ShapePath
from vertebra.statics.shape import Shape, Status
from vertebra.studio.form import put
from vertebra.studio.readout import Plot, notes
from vertebra.studio.scene.palette import brightest
from vertebra.studio.scene.stage import Picture
from vertebra.studio.shape.loads import Loads
from vertebra.studio.shape.model import (
    Answer,
    first_tensions,
    gravity_of,
    has_statics,
    most_tensions,
    pose,
    solve,
    straight_lengths,
    usual_tension,
)
from vertebra.studio.shape.settings import MOUNTS, ShapeSettings
from vertebra.studio.shape.text import answer_text, pose_text
from vertebra.studio.tab import Tab

MOST_SLIDERS = 40
"""More joints than this have one slider together."""


class ShapeTab(Tab[ShapeSettings]):
    """Cables, mount, loads and friction on the left; tip, angles, stiffness and stability on the right."""

    name, title, settings_type = "shape", "Shape", ShapeSettings

    answer: Answer | None = None
    """The last one; its shape may say that it is none."""
    _path: ShapePath | None = None

    @property
    def shape(self) -> Shape | None:
        """The shape that is shown, when it is solved."""
        return self.answer.shape if self.answer is not None and self.answer.shape.status == Status.SOLVED else None

    @property
    def tensions(self) -> tuple[float, ...]:
        """N, of the sliders; empty for robots whose shape no cable law gives."""
        return tuple(float(slider.value) for slider in self._tensions)

    # Controls -------------------------------------------------------------------------------------------------------

    def controls(self) -> None:
        self.answer, self._path = None, None
        self._statics = has_statics(self.studio.robot)
        self._tensions: list[Any] = []
        self._shortenings: list[Any] = []
        self._angles: list[Any] = []
        if self._statics:
            self._cable_controls()
        else:
            self._joint_controls()
        self._mount_controls()
        self._loads = Loads(self.studio, self.shown) if self._statics else None

    def _cable_controls(self) -> None:
        gui, robot = self.gui, self.studio.robot
        count, usual = len(robot.cables), usual_tension(robot)
        self._drive = self.when(gui.add_dropdown("Pull by", ("tensions", "lengths")), self._drive_chosen)
        self._first = first_tensions(robot, usual)
        for k, (tension, most) in enumerate(zip(self._first, most_tensions(robot, usual), strict=True)):
            slider = gui.add_slider(f"Cable {k + 1} (N)", 0.0, most, most / 500, tension)
            self._tensions.append(self.when(slider, self.shown))
        reach = round_number_below(150 * robot.length)
        for k in range(count):
            slider = gui.add_slider(f"Cable {k + 1} shorter by (mm)", -reach, reach, reach / 1000, 0.0, visible=False)
            self._shortenings.append(self.when(slider, self.shown))
        rubs = any(law != type(law).none() for law in robot.friction_laws)
        with gui.add_folder("Cable friction", expand_by_default=rubs):
            self._friction = self.when(gui.add_checkbox("Friction", rubs, disabled=not rubs), self._anew)
            self._history = self.when(gui.add_checkbox("History", False, disabled=not rubs), self._anew)
            self._forget = self.when(gui.add_button("Forget the history", disabled=not rubs), self._anew)

    def _joint_controls(self) -> None:
        gui, robot = self.gui, self.studio.robot
        ball = (robot.joints["kind"] == BALL).any()
        why = "Ball joints are held by friction" if ball else "Universal joints stand where their drives put them"
        gui.add_html(notes([f"{why}: no cable decides this robot's shape. Set its joints by hand."]))
        limits = np.degrees(np.minimum(_limits(robot), np.pi / 2))
        rows = range(robot.freedoms) if robot.freedoms <= MOST_SLIDERS else range(0)
        for row in rows:
            slider = gui.add_slider(f"Angle {row + 1} (deg)", -float(limits[row]), float(limits[row]), 0.1, 0.0)
            self._angles.append(self.when(slider, self.shown))
        if not rows:
            least = float(limits.min())
            slider = gui.add_slider("All angles (deg)", -least, least, 0.05, 0.0)
            self._angles.append(self.when(slider, self.shown))

    def _mount_controls(self) -> None:
        gui = self.gui
        with gui.add_folder("Mount", expand_by_default=False):
            self._mount = self.when(gui.add_dropdown("Stands on", MOUNTS), self.shown)
            self._tilt = self.when(gui.add_slider("Tilted by (deg)", 0.0, 180.0, 1.0, 0.0), self.shown)
            self._toward = self.when(gui.add_slider("Toward azimuth (deg)", -180.0, 180.0, 5.0, 0.0), self.shown)

    def results(self) -> None:
        gui = self.gui
        self._text = gui.add_html("")
        self._plot = Plot(gui, "Joint angles", "joint", "angle (deg)", counted=True)

    # Events ---------------------------------------------------------------------------------------------------------

    def _drive_chosen(self) -> None:
        """Sliders of the other kind start from the shape that is shown."""
        shape, by_length = self.shape, self._drive.value == "lengths"
        if shape is not None and by_length:
            shorter = 1e3 * (straight_lengths(self.studio.robot) - shape.lengths)
            put(self._shortenings, shorter)
        elif shape is not None:
            put(self._tensions, shape.tensions_at_base)
        self._show_sliders()
        self.shown()

    def _show_sliders(self) -> None:
        by_length = self._drive.value == "lengths"
        for tension, shortening in zip(self._tensions, self._shortenings, strict=True):
            tension.visible, shortening.visible = not by_length, by_length

    def _anew(self) -> None:
        """Friction was switched, or the history is to be forgotten."""
        self._path = None
        self.shown()

    def shown(self) -> None:
        settings = self.settings()
        self._show_pose(settings) if not self._statics else self._show_shape(settings)

    def _show_shape(self, settings: ShapeSettings) -> None:
        robot = self.studio.robot
        if settings.history and self._path is None:
            self._path = ShapePath(
                robot, gravity=gravity_of(robot, settings), friction=None if settings.friction else 0.0
            )
        answer = solve(robot, settings, self._path if settings.history else None)
        lost = answer.shape.status == Status.NO_EQUILIBRIUM and self.answer is not None
        drawn = self.answer if lost and self.answer is not None else answer
        self.answer, shape = drawn, drawn.shape
        highest = brightest(shape.tensions_at_base)
        with self.studio.server.atomic():
            self.studio.stage.draw(_picture(drawn, highest))
            assert self._loads is not None
            self._loads.draw(shape)
            self._text.content = answer_text(answer, highest, self._path)
            self._plot.show(np.arange(1.0, len(shape.angles) + 1), [("angle (deg)", np.degrees(shape.angles))], False)

    def _show_pose(self, settings: ShapeSettings) -> None:
        robot = self.studio.robot
        frames = pose(robot, settings)
        with self.studio.server.atomic():
            self.studio.stage.draw(Picture(frames, gravity=gravity_of(robot, settings)))
            self._text.content = pose_text(robot, settings, frames)
            angles = np.array(settings.angles_deg)
            self._plot.show(np.arange(1.0, len(angles) + 1), [("angle (deg)", angles)], False)

    def hidden(self) -> None:
        if self._loads is not None:
            self._loads.draw(None)

    def removed(self) -> None:
        if self._loads is not None:
            self._loads.remove()

    # State ----------------------------------------------------------------------------------------------------------

    def settings(self) -> ShapeSettings:
        common = {
            "mount": self._mount.value,
            "tilt_deg": float(self._tilt.value),
            "toward_deg": float(self._toward.value),
        }
        if not self._statics:
            angles = [float(slider.value) for slider in self._angles]
            if len(angles) != self.studio.robot.freedoms:
                angles = angles * self.studio.robot.freedoms
            return ShapeSettings(angles_deg=tuple(angles), **common)
        assert self._loads is not None
        return ShapeSettings(
            drive=self._drive.value,
            tensions=self.tensions,
            shortenings_mm=tuple(float(slider.value) for slider in self._shortenings),
            loads=self._loads.settings(),
            friction=bool(self._friction.value),
            history=bool(self._history.value),
            **common,
        )

    def restore(self, settings: ShapeSettings) -> None:
        self._check(settings)
        self._mount.value, self._tilt.value, self._toward.value = settings.mount, settings.tilt_deg, settings.toward_deg
        if not self._statics:
            put(self._angles, settings.angles_deg or [0.0] * len(self._angles))
            return
        assert self._loads is not None
        self._drive.value = settings.drive
        put(self._tensions, settings.tensions or self._first)
        put(self._shortenings, settings.shortenings_mm or [0.0] * len(self._shortenings))
        self._friction.value, self._history.value = settings.friction, settings.history
        self._loads.restore(settings.loads)
        self._path = None
        self._show_sliders()

    def _check(self, settings: ShapeSettings) -> None:
        robot = self.studio.robot
        for field, sliders in (("tensions", self._tensions), ("shortenings_mm", self._shortenings)):
            given = getattr(settings, field)
            if given and len(given) != len(sliders):
                raise StudioError(f"tabs.shape.{field}", f"must have {len(sliders)} numbers for {robot.name}")
        if settings.angles_deg and len(settings.angles_deg) != robot.freedoms:
            raise StudioError("tabs.shape.angles_deg", f"must have {robot.freedoms} numbers for {robot.name}")
        for load in settings.loads:
            if load.link >= len(robot.links):
                raise StudioError("tabs.shape.loads", f"there is no link {load.link} in {robot.name}")


def _picture(answer: Answer, highest: float) -> Picture:
    shape = answer.shape
    size = 1e3 * float(shape.robot.length)
    body = tip_ellipsoid(shape, size)
    mesh = None if body is None else Mesh(body.mesh.vertices * 1e-3, body.mesh.triangles)
    return Picture(shape.frames, shape.tensions, highest, shape.gravity, answer.ghost, mesh)


def _limits(robot: Robot) -> Floats:
    """(freedoms,) rad."""
    return np.repeat(robot.joints["limit"], robot.joints["freedoms"])
