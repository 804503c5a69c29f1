"""Shape: pull cables, tilt the mount, hang loads on the robot, and see which shape that gives and how stiff it is."""

from __future__ import annotations

import numpy as np

from vertebra.errors import StudioError
from vertebra.report.meshes import Mesh
from vertebra.report.scene import tip_ellipsoid
from vertebra.robot.tables import BALL
from vertebra.statics.path import ShapePath
from vertebra.statics.shape import Shape, Status
from vertebra.studio.form import Form
from vertebra.studio.palette import brightest
from vertebra.studio.readout import Plot, notes
from vertebra.studio.scene import Picture
from vertebra.studio.shape.loads import Loads
from vertebra.studio.shape.model import (
    Answer,
    answer_text,
    gravity_of,
    has_statics,
    pose,
    pose_text,
    solve,
    straight_lengths,
)
from vertebra.studio.shape.settings import ShapeSettings, has_friction
from vertebra.studio.tab import Tab


class ShapeTab(Tab[ShapeSettings]):
    """Cables, mount, loads and friction on the left; tip, angles, stiffness and stability on the right."""

    name, title, settings_type = "shape", "Shape", ShapeSettings

    answer: Answer | None = None
    """The last one; its shape may not be an equilibrium."""
    _path: ShapePath | None = None
    _loads: Loads | None = None

    @property
    def shape(self) -> Shape | None:
        """The shape that is shown, when it is solved."""
        return self.answer.shape if self.answer is not None and self.answer.shape.status == Status.SOLVED else None

    @property
    def tensions(self) -> tuple[float, ...]:
        """N, of the sliders; empty for robots whose shape no cable law gives."""
        return () if self.form is None or not self._statics else tuple(self.form.value("tensions"))

    # Controls -------------------------------------------------------------------------------------------------------

    def controls(self) -> None:
        self.answer, self._path = None, None
        robot, gui = self.studio.robot, self.gui
        self._statics, self._loads = has_statics(robot), None
        form = self.form = Form(self.studio, ShapeSettings, "tabs.shape", self._changed)
        if self._statics:
            form.add("drive", "tensions", "shortenings_mm")
            with form.folder("Cable friction", expanded=has_friction(robot)):
                form.add("friction", "history")
                self.when(gui.add_button("Forget the history", disabled=not has_friction(robot)), self._forget_history)
        else:
            ball = (robot.joints["kind"] == BALL).any()
            why = "Friction holds ball joints" if ball else "Universal joints have drives of their own"
            gui.add_html(notes([f"{why}: cables do not determine this robot's shape. Set its joints by hand."]))
            form.add("angles_deg")
        with form.folder("Mount", expanded=False):
            form.add("mount", "tilt_deg", "toward_deg")
        if self._statics:
            self._loads = Loads(self.studio, self.shown)
            form.bind("loads", self._loads.settings, self._loads.restore)
        form.arrange()

    def results(self) -> None:
        gui = self.gui
        self._text = gui.add_html("")
        self._plot = Plot(gui, "Joint angles", "joint", "angle (deg)", counted=True)

    # Events ---------------------------------------------------------------------------------------------------------

    def _changed(self, name: str) -> None:
        if name == "drive":
            self._take_over()
        if name in ("friction", "history"):
            self._path = None
        self.shown()

    def _take_over(self) -> None:
        """Sliders of the other kind start from the shape that is shown."""
        assert self.form is not None
        shape = self.shape
        if shape is not None and self.form.value("drive") == "lengths":
            self.form.set("shortenings_mm", 1e3 * (straight_lengths(self.studio.robot) - shape.lengths))
        elif shape is not None:
            self.form.set("tensions", shape.tensions_at_base)

    def _forget_history(self) -> None:
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

    def restore(self, settings: ShapeSettings) -> None:
        robot = self.studio.robot
        for load in settings.loads:
            if load.link >= len(robot.links):
                raise StudioError("tabs.shape.loads", f"there is no link {load.link} in {robot.name}")
        super().restore(settings)
        self._path = None


def _picture(answer: Answer, highest: float) -> Picture:
    shape = answer.shape
    size = 1e3 * float(shape.robot.length)
    body = tip_ellipsoid(shape, size)
    mesh = None if body is None else Mesh(body.mesh.vertices * 1e-3, body.mesh.triangles)
    return Picture(shape.frames, shape.tensions, highest, shape.gravity, answer.ghost, mesh)
