"""Shape: pull cables, tilt the mount, hang loads on the robot, and see which shape that gives and how stiff it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.errors import StudioError
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.problem import Load
from vertebra.report.meshes import Mesh
from vertebra.report.scene import acts_at, round_number_below, tip_ellipsoid
from vertebra.robot.tables import Floats
from vertebra.statics.path import PathState, ShapePath
from vertebra.statics.shape import Shape, Status
from vertebra.studio import palette
from vertebra.studio.form import Form
from vertebra.studio.jobs import Latest
from vertebra.studio.limits import is_small
from vertebra.studio.palette import brightest
from vertebra.studio.readout import Plot, notes
from vertebra.studio.scene import Picture
from vertebra.studio.shape.model import (
    Answer,
    angle_lines,
    answer_text,
    gravity_of,
    new_path,
    pose,
    pose_text,
    solve,
    solve_apart,
    straight_lengths,
)
from vertebra.studio.shape.settings import (
    MOST_LOADS,
    LoadSetting,
    ShapeSettings,
    has_friction,
    has_statics,
    why_by_hand,
)
from vertebra.studio.shape.workspace import WorkspaceView
from vertebra.studio.tab import Tab

if TYPE_CHECKING:
    from vertebra.studies.drives import Inputs
    from vertebra.studio.studio import Studio

# Loads on links: numbers in the panel, and arrows of forces in the scene that can be dragged by their heads.

MOST, MOST_GRAMS = 1e6, 1e8
"""N, of a part of a force; g, of a mass."""
ARROW, LONGEST = 0.3, 1.5
"""Robot lengths of the arrow of a usual force, and of the longest arrow."""


@dataclass(eq=False)
class _Row:
    """One load on the page and in the scene."""

    number: int
    folder: Any
    link: Any
    force: Any
    mass: Any
    arrow: Any
    grip: Any
    """Dragged by a person, it sets the force."""
    dragged: bool = False


class Loads:
    """Up to a few forces and masses; `changed` is called after a person has changed one."""

    def __init__(self, studio: Studio, changed: Callable[[], None]) -> None:
        self._studio, self._changed = studio, changed
        robot, gui = studio.robot, studio.server.gui
        weight = 9.8 * robot.mass
        self.usual = round_number_below(weight / 2) if weight > 0 else 1.0
        """N, of a new load."""
        self._last = len(robot.links) - 1
        self._names = tuple("tip" if link == self._last else f"link {link}" for link in range(self._last, 0, -1))
        self._rows: list[_Row] = []
        self._shape: Shape | None = None
        with gui.add_folder("Loads", expand_by_default=False) as self._folder:
            self._add = studio.when(gui.add_button("Add a load at the tip"), self._added)

    def settings(self) -> tuple[LoadSetting, ...]:
        """What the controls say."""
        return tuple(
            LoadSetting(
                link=self._link(row), force=tuple(float(part) for part in row.force.value), mass_g=float(row.mass.value)
            )
            for row in self._rows
        )

    def restore(self, loads: tuple[LoadSetting, ...]) -> None:
        """Make these loads, and no others."""
        while self._rows:
            self._remove(self._rows[-1])
        for load in loads:
            self._make(load)

    def draw(self, shape: Shape | None) -> None:
        """Put arrows and handles where the loads act now; hide them without a shape."""
        self._shape = shape
        for row, load in zip(self._rows, self.settings(), strict=True):
            shown = shape is not None
            row.arrow.visible = shown and any(load.force)
            row.grip.visible = shown
            if shape is None:
                continue
            start = self._start(shape, load)
            end = start + self._reach(load)
            row.arrow.points = np.array([[start, end]], np.float32)
            if not row.dragged:
                row.grip.position = end

    def remove(self) -> None:
        """Take everything out of the scene; the panel's controls go with their folder."""
        for row in self._rows:
            row.arrow.remove()
            row.grip.remove()

    def _link(self, row: _Row) -> int:
        return self._last - self._names.index(row.link.value)

    def _start(self, shape: Shape, load: LoadSetting) -> Floats:
        return acts_at(shape, Load(force=load.force, link=load.link)) * self._studio.stage.scale

    def _reach(self, load: LoadSetting) -> Floats:
        """The arrow, viewer lengths; of huge forces no longer than can be seen."""
        reach = ARROW / self.usual * np.array(load.force)
        return reach / max(1.0, float(np.linalg.norm(reach)) / LONGEST)

    def _added(self) -> None:
        self._make(LoadSetting(link=self._last, force=(self.usual, 0.0, 0.0)))
        self._changed()

    def _make(self, load: LoadSetting) -> None:
        gui, scene, number = self._studio.server.gui, self._studio.stage.scene, self._free_number()
        with self._folder, gui.add_folder(f"Load {number}") as folder:
            link = gui.add_dropdown("Acts on", self._names, initial_value=self._names[self._last - load.link])
            force = gui.add_vector3("Force (N)", load.force, step=self.usual / 20, min=(-MOST,) * 3, max=(MOST,) * 3)
            mass = gui.add_number(
                "Mass (g)", load.mass_g, min=0.0, max=MOST_GRAMS, step=round_number_below(100 * self.usual / 20),
                hint="Weighs along gravity, and its inertia counts in motions.",
            )  # fmt: skip
            gone = gui.add_button(f"Remove load {number}")
        arrow = scene.add_arrows(
            f"/loads/{number}", np.zeros((1, 2, 3)), palette.FORCE, shaft_radius=0.008, head_radius=0.02,
            head_length=0.05,
        )  # fmt: skip
        grip = scene.add_transform_controls(
            f"/loads/{number}-grip", scale=0.12, disable_rotations=True, depth_test=False
        )
        row = _Row(number, folder, link, force, mass, arrow, grip)
        for handle in (row.link, row.force, row.mass):
            self._studio.when(handle, self._changed)
        self._studio.when(gone, lambda: self._take_away(row))
        self._follow_drags(row)
        self._rows.append(row)
        self._add.disabled = len(self._rows) >= MOST_LOADS

    def _free_number(self) -> int:
        taken = {row.number for row in self._rows}
        return next(number for number in range(1, MOST_LOADS + 1) if number not in taken)

    def _follow_drags(self, row: _Row) -> None:
        async def dragged(event: Any) -> None:
            place = np.array(row.grip.position)
            row.dragged = event.phase != "end"
            self._studio.loop.post(id(row.grip), lambda: self._studio.act(lambda: self._dragged_to(row, place)))

        row.grip.on_update(dragged)

    def _dragged_to(self, row: _Row, place: Floats) -> None:
        """The head of an arrow has been dragged to `place`."""
        if self._shape is None or row not in self._rows or not np.isfinite(place).all():
            return
        load = self.settings()[self._rows.index(row)]
        force = (place - self._start(self._shape, load)) * self.usual / ARROW
        row.force.value = tuple(float(f"{part:.3g}") for part in np.clip(force, -MOST, MOST))
        self._changed()

    def _take_away(self, row: _Row) -> None:
        self._remove(row)
        self._changed()

    def _remove(self, row: _Row) -> None:
        if row not in self._rows:
            return
        self._rows.remove(row)
        row.folder.remove()
        row.arrow.remove()
        row.grip.remove()
        self._add.disabled = False


# The tab.


class ShapeTab(Tab[ShapeSettings]):
    """Cables, mount, loads and friction on the left; tip, angles, stiffness and stability on the right."""

    name, title, settings_type = "shape", "Shape", ShapeSettings

    answer: Answer | None = None
    """The last one; its shape may not be an equilibrium."""
    _path: ShapePath | None = None
    _sent: ShapePath | None = None
    """The path whose next step is computed."""
    _loads: Loads | None = None

    @property
    def shape(self) -> Shape | None:
        """The shape that is shown, when it is solved."""
        return self.answer.shape if self.answer is not None and self.answer.shape.status == Status.SOLVED else None

    # Controls -------------------------------------------------------------------------------------------------------

    def __init__(self, studio: Studio) -> None:
        super().__init__(studio)
        self._solver = Latest(studio.jobs, self._work, self._solved, studio.fail)
        self._waits: Callable[[], None] | None = None

    def controls(self) -> None:
        self.answer, self._path, self._waits, self._away = None, None, None, True
        robot, gui = self.studio.robot, self.gui
        self._statics, self._loads = has_statics(robot), None
        form = self.form = Form(self.studio, ShapeSettings, "tabs.shape", self._changed)
        if self._statics:
            form.add("drive", "tensions", "shortenings_mm")
            with form.folder("Cable friction", expanded=has_friction(robot)):
                form.add("friction", "history")
                self.when(gui.add_button("Forget the history", disabled=not has_friction(robot)), self._forget_history)
        else:
            gui.add_html(notes([f"{why_by_hand(robot)} Set its joints by hand."]))
            form.add("angles_deg")
        with form.folder("Mount", expanded=False):
            form.add("mount", "tilt_deg", "toward_deg")
        if self._statics:
            self._loads = Loads(self.studio, self._update)
            form.bind("loads", self._loads.settings, self._loads.restore)
        self._map = WorkspaceView(self.studio, self._go)
        self._map.controls(form)
        form.arrange()

    def results(self) -> None:
        gui = self.gui
        self._text = gui.add_html("")
        self._map.results()
        self._plot = Plot(gui, "Joint angles", "joint", "angle (deg)", counted=True)

    # Events ---------------------------------------------------------------------------------------------------------

    def _changed(self, name: str) -> None:
        if name == "drive":
            self._take_over()
        if name in ("friction", "history"):
            self._path = None
        self._update()

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
        self._update()

    def _go(self, driven_by: Inputs, inputs: Floats) -> None:
        """Take the robot to the inputs of a tip of the map, N, m or rad."""
        assert self.form is not None
        name, size = {
            "tensions": ("tensions", 1.0), "shortenings": ("shortenings_mm", 1e3), "bends": ("angles_deg", 180 / np.pi)
        }[driven_by]  # fmt: skip
        if len(self.form.handles(name)) != len(inputs):
            raise StudioError("workspace", "one slider sets all angles of this long robot: it cannot go to a tip")
        if self._statics:
            self.form.set("drive", "lengths" if driven_by == "shortenings" else "tensions")
        self.form.set(name, size * inputs)
        self.form.arrange()
        self._update()

    def shown(self) -> None:
        if self.form is not None:
            self.form.list_files()
        self._update()

    def _update(self) -> None:
        settings, robot = self.settings(), self.studio.robot
        self._map.show(settings)
        if not self._statics:
            self._show_pose(settings)
        elif is_small(robot):
            self._show_shape(solve(robot, settings, self._remembered(settings)))
        else:
            self._ask()

    def _remembered(self, settings: ShapeSettings) -> ShapePath | None:
        """The path that the cables remember; None when they do not."""
        if settings.history and self._path is None:
            self._path = new_path(self.studio.robot, settings)
        return self._path if settings.history else None

    # Long robots are solved in a process of their own.

    def when_solved(self, act: Callable[[], None]) -> None:
        """Call `act` once a long robot is solved, and at once for any other."""
        if self.answer is not None or not self._statics or is_small(self.studio.robot):
            act()
        else:
            self._waits = act
            self._ask()

    def stop(self) -> None:
        """End what is computed."""
        self._waits = None
        self._solver.stop()

    def _ask(self) -> None:
        if self.studio.tab is self and self._away:
            self._show_last()
        self._solver.ask()
        self.studio.status.working(0.0, f"Solving the shape of {len(self.studio.robot.joints)} joints ...")

    def _show_last(self) -> None:
        """Until there is an answer: the last one, else the straight robot."""
        self._away = False
        robot, gravity = self.studio.robot, gravity_of(self.studio.robot, self.settings())
        if self.answer is not None:
            self._draw(self.answer)
        else:
            self.studio.stage.draw(Picture(Pose(robot, np.zeros(robot.freedoms)).frames, gravity=gravity))

    def _work(self) -> tuple[Any, ...]:
        settings = self.settings()
        path = self._sent = self._remembered(settings)
        return solve_apart, self.studio.robot, settings, None if path is None else path.save()

    def _solved(self, found: tuple[Answer, PathState | None]) -> None:
        answer, state = found
        if state is not None and self._path is not None and self._path is self._sent:
            self._path.restore(state)
        if not self._solver.busy:
            self.studio.status.clear()
        if self.studio.tab is self:
            self._show_shape(answer)
        else:
            self.answer = answer
        act, self._waits = self._waits, None
        if act is not None:
            act()
        self.studio.server.flush()

    def _show_shape(self, answer: Answer) -> None:
        lost = answer.shape.status == Status.NO_EQUILIBRIUM
        drawn = self.answer if lost and self.answer is not None else answer
        self.answer, shape = drawn, drawn.shape
        with self.studio.server.atomic():
            self._draw(drawn)
            self._text.content = answer_text(answer, brightest(shape.tensions_at_base), self._path)
            self._plot.show(*angle_lines(shape.robot, np.degrees(shape.angles)), False)
        self._map.arrived(answer.shape.tip)

    def _draw(self, answer: Answer) -> None:
        assert self._loads is not None
        with self.studio.server.atomic():
            self.studio.stage.draw(_picture(answer, brightest(answer.shape.tensions_at_base)))
            self._loads.draw(answer.shape)

    def _show_pose(self, settings: ShapeSettings) -> None:
        robot = self.studio.robot
        frames = pose(robot, settings)
        with self.studio.server.atomic():
            self.studio.stage.draw(Picture(frames, gravity=gravity_of(robot, settings)))
            self._text.content = pose_text(robot, settings, frames)
            self._plot.show(*angle_lines(robot, np.array(settings.angles_deg)), False)
        self._map.arrived(frames[-1][:3, :3] @ robot.tip_point + frames[-1][:3, 3])

    def hidden(self) -> None:
        self.stop()
        self._away = True
        self._map.hide()
        if self._loads is not None:
            self._loads.draw(None)

    def removed(self) -> None:
        self._map.close()
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
