"""The scene: the robot, its cables coloured by tension, and what is drawn around it; nodes are updated in place.

Lengths in the viewer are in robot lengths, so that a gripper of 2 cm and a boom of 10 m look alike; `scale` converts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vertebra.report.meshes import Mesh, Rods, joined, joint_mesh, link_mesh, mount_mesh, quaternions
from vertebra.report.scene import CablePaths, best_view, upright
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.studio import palette
from vertebra.studio.form import Form, change
from vertebra.studio.state import ViewSettings

if TYPE_CHECKING:
    import viser

    from vertebra.studio.studio import Studio

MOST_VERTICES = 40_000
"""Robots of many links are drawn with coarser links."""
CABLE_THICKNESS = 0.006
"""Robot lengths."""


class RobotView:
    """One robot; another robot gets another view."""

    def __init__(self, scene: viser.SceneApi, robot: Robot, name: str = "/robot", opacity: float | None = None) -> None:
        self.robot = robot
        self.scale = 1.0 / float(robot.length)
        """Viewer lengths per metre."""
        self._scene, self._name, self._opacity = scene, name, opacity
        self._root = scene.add_frame(name, show_axes=False)
        self._paths = CablePaths(robot)
        straight = np.tile(np.eye(4), (len(robot.links), 1, 1))
        self._groups = [self._instances(*group) for group in _groups(robot)]
        self._rods = Rods(robot) if Rods.serves(robot) else None
        parts = _parts(robot, straight)
        self._parts = self._solid("parts", parts, palette.PART) if len(parts.vertices) else None
        self._cables = self._cable_lines(straight)
        if opacity is None:
            self._solid("mount", mount_mesh(robot), palette.MOUNT)

    def remove(self) -> None:
        """Take everything out of the viewer."""
        self._root.remove()

    def show(self, visible: bool) -> None:
        """Hide or show all of it."""
        change(self._root, "visible", visible)

    def fade(self, opacity: float | None) -> None:
        """Make the links see-through; None: solid."""
        for _, handle in self._groups:
            change(handle, "opacity", opacity)

    def update(self, frames: Floats, tensions: Floats | None = None, highest: float = 0.0) -> None:
        """Put the links at `frames`, (n+1, 4, 4) m, and colour the cables by `tensions`, (cables, n) N, up to
        `highest` N; without tensions they are grey. Call within the server's `atomic()`."""
        positions = (self.scale * frames[:, :3, 3]).astype(np.float32)
        wxyzs = quaternions(frames).astype(np.float32)
        for rows, handle in self._groups:
            handle.batched_positions = positions[rows]
            handle.batched_wxyzs = wxyzs[rows]
        if self._parts is not None:
            corners = _parts(self.robot, frames).vertices if self._rods is None else self._rods.vertices(frames)
            self._parts.vertices = (self.scale * corners).astype(np.float32)
        if self._cables is not None:
            self._cables.points = (self.scale * self._paths.segments(frames)).astype(np.float32)
            self._cables.colors = self._colours(tensions, highest)

    def _colours(self, tensions: Floats | None, highest: float) -> palette.Colours:
        count = len(self._paths.cables)
        if tensions is None:
            ends = np.tile(np.array(palette.PART, np.uint8), (count, 1))
        else:
            ends = palette.tension_colours(tensions[self._paths.cables, self._paths.joints], highest)
        return np.repeat(ends[:, None], 2, axis=1)

    def _instances(self, rows: list[int], mesh: Mesh) -> tuple[list[int], viser.BatchedMeshHandle]:
        count = len(rows)
        handle = self._scene.add_batched_meshes_simple(
            f"{self._name}/links-{rows[0]}",
            (self.scale * mesh.vertices).astype(np.float32),
            mesh.triangles.astype(np.uint32),
            batched_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
            batched_positions=np.zeros((count, 3)),
            batched_colors=palette.LINKS[np.array(rows) % 2] if self._opacity is None else palette.GHOST,
            opacity=self._opacity,
            flat_shading=False,
            lod="off",
            cast_shadow=False,
            receive_shadow=False,
        )
        return rows, handle

    def _solid(self, name: str, mesh: Mesh, colour: tuple[int, int, int]) -> viser.MeshHandle:
        return self._scene.add_mesh_simple(
            f"{self._name}/{name}",
            (self.scale * mesh.vertices).astype(np.float32),
            mesh.triangles.astype(np.uint32),
            color=colour if self._opacity is None else palette.GHOST,
            opacity=self._opacity,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
        )

    def _cable_lines(self, frames: Floats) -> viser.LineSegmentsHandle | None:
        if self._opacity is not None or len(self.robot.cables) == 0:
            return None
        return self._scene.add_line_segments(
            f"{self._name}/cables",
            (self.scale * self._paths.segments(frames)).astype(np.float32),
            self._colours(None, 0.0),
            thickness=CABLE_THICKNESS,
        )


def _parts(robot: Robot, frames: Floats) -> Mesh:
    return joined(joint_mesh(robot, frames, row) for row in range(len(robot.joints)))


def _groups(robot: Robot) -> list[tuple[list[int], Mesh]]:
    """Links that look the same, and their mesh."""
    sectors = int(min(max(MOST_VERTICES / (8 * len(robot.links)), 12), 32)) // 4 * 4
    found: dict[bytes, tuple[list[int], Mesh]] = {}
    for i in range(len(robot.links)):
        mesh = link_mesh(robot, i, sectors)
        rows, _ = found.setdefault(mesh.vertices.round(12).tobytes(), ([], mesh))
        rows.append(i)
    return list(found.values())


MOST_TRACE_POINTS = 600
"""Points that are remembered."""
LEAST_MOVE = 1e-4
"""A tip that moved less than this, in robot lengths, has not moved."""


class Trace:
    """The path of the tip, in viewer lengths."""

    def __init__(self, scene: viser.SceneApi) -> None:
        self._points: list[Floats] = []
        self._line = scene.add_line_segments(
            "/trace", np.zeros((1, 2, 3)), palette.TRACE, thickness=0.004, visible=False
        )

    def grow(self, point: Floats) -> None:
        """Add `point` (3,), where the tip is now."""
        if self._points and np.linalg.norm(point - self._points[-1]) < LEAST_MOVE:
            return
        self._points = [*self._points[-MOST_TRACE_POINTS + 1 :], point]
        if len(self._points) > 1:
            line = np.array(self._points, np.float32)
            self._line.points = np.stack([line[:-1], line[1:]], axis=1)
            self._line.visible = True

    def clear(self) -> None:
        """Remove all points."""
        self._points = []
        self._line.visible = False


VIEW_PLACE = 2e6
"""In the left panel, below the controls of the tab."""
GHOST_OPACITY = 0.25
GRID = {False: ((215, 215, 215), (175, 175, 175)), True: ((48, 48, 48), (80, 80, 80))}
"""Colours of the floor's lines on a light and on a dark page: visible, but in the background."""
GLASS = 0.35
"""Opacity of see-through links."""
EYE, EYE_BY_WIDTH = 1.7, 1.35
"""Distance of the camera: robot lengths, and widths of what stands around the robot, if that is more."""


@dataclass(frozen=True, eq=False)
class Picture:
    """What a tab wants to be seen; SI, world axes."""

    frames: Floats
    """(n+1, 4, 4) of the links, m."""
    tensions: Floats | None = None
    """(cables, n) N across each joint; None: cables in grey."""
    highest: float = 0.0
    """Tension of the brightest colour, N."""
    gravity: Floats | None = None
    """(3,) m/s^2; None: no arrow."""
    ghost: Floats | None = None
    """(n+1, 4, 4) of a second, pale robot."""
    ellipsoid: Mesh | None = None
    """World, m."""


class Stage:
    """Draws pictures of one robot; nodes are kept and updated in place."""

    def __init__(self, studio: Studio) -> None:
        self._server, self.scene = studio.server, studio.server.scene
        self.view: RobotView | None = None
        self._ghost: RobotView | None = None
        self._last: Picture | None = None
        self._robot: Robot | None = None
        self.around: Floats | None = None
        """(n, 3) viewer lengths, what the cameras should also see."""
        self._beside = np.array([-0.38, 0.0, 0.3])
        gui = self._server.gui
        self.form = Form(
            studio, ViewSettings, "view", lambda name: self._set_theme() if name == "dark" else self.redraw()
        )
        with gui.add_folder("View", expand_by_default=False, order=VIEW_PLACE):
            self.form.add(*ViewSettings.model_fields)
            studio.when(gui.add_button("Look at the robot"), self.look)
        self.scene.set_up_direction("+z")
        self.scene.configure_default_lights(True, cast_shadow=False)
        self._trace = Trace(self.scene)

    @property
    def scale(self) -> float:
        """Viewer lengths per metre."""
        assert self.view is not None
        return self.view.scale

    def settings(self) -> ViewSettings:
        """Which boxes are ticked."""
        return self.form.read()

    def restore(self, settings: ViewSettings) -> None:
        """Tick the boxes."""
        self.form.write(settings)
        self._set_theme()

    def choose_robot(self, robot: Robot) -> None:
        """Another robot: remove everything of the last one."""
        for view in (self.view, self._ghost):
            if view is not None:
                view.remove()
        self._robot, self._last = robot, None
        self.view = RobotView(self.scene, robot)
        self._ghost = RobotView(self.scene, robot, "/ghost", GHOST_OPACITY)
        self._ghost.show(False)
        self._floor(robot)
        count = len(robot.links)
        self._axes = self.scene.add_batched_axes(
            "/axes", np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)), np.zeros((count, 3)), axes_length=0.06,
            axes_radius=0.003, visible=False,
        )  # fmt: skip
        self._arrow = self.scene.add_arrows(
            "/gravity", np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, -0.2]]]), palette.GRAVITY, shaft_radius=0.006,
            head_radius=0.016, head_length=0.05, visible=False,
        )  # fmt: skip
        self._label = self.scene.add_label("/gravity-label", "gravity", visible=False)
        self._body = self.scene.add_mesh_simple(
            "/ellipsoid", np.zeros((3, 3)), np.array([[0, 1, 2]]), color=palette.ELLIPSOID, opacity=0.45,
            side="double", cast_shadow=False, receive_shadow=False, visible=False,
        )  # fmt: skip
        self._trace.clear()

    def draw(self, picture: Picture) -> None:
        """Show a picture, the tip's trace grown by it."""
        assert self.view is not None
        before, self._last = self._up, picture
        with self._server.atomic():
            self._draw(picture)
            if self.settings().trace:
                self._trace.grow(self._tip(picture) * self.scale)
        if self._up != before:
            self.look()

    def redraw(self) -> None:
        """The boxes have changed."""
        if not self.settings().trace:
            self._trace.clear()
        if self._last is not None:
            with self._server.atomic():
                self._draw(self._last)

    @property
    def _up(self) -> tuple[int, int] | None:
        """The axis that stands upright in the picture, and its sign: another mount turns the robot over."""
        picture, robot = self._last, self._robot
        if picture is None or robot is None:
            return None
        return upright(robot.gravity if picture.gravity is None else picture.gravity)

    def look(self) -> None:
        """Turn all cameras to the robot, across its bend; new windows start there too."""
        if self._last is None or self._robot is None:
            return
        picture = self._last
        gravity = picture.gravity if picture.gravity is not None else self._robot.gravity
        backbone = np.vstack([np.zeros(3), picture.frames[:, :3, 3], self._tip(picture)]) * self.scale
        seen = backbone if self.around is None else np.vstack([backbone, self.around])
        view, low, high = best_view(backbone, gravity), seen.min(axis=0), seen.max(axis=0)
        middle, width = (low + high) / 2, 0.0 if self.around is None else float((high - low).max())
        eye = middle + max(EYE, EYE_BY_WIDTH * width) * np.array(view.eye)
        away = np.abs(view.up) if view.axis == 2 else np.array(view.up)  # the robot's side of floor and ceiling
        self._beside = backbone[0] - 0.38 * view.right + 0.3 * away
        self._draw_gravity(picture, self.settings().gravity)
        first = self._server.initial_camera
        first.up, first.position, first.look_at = view.up, eye, middle
        for client in self._server.get_clients().values():
            with client.atomic():
                client.camera.up_direction, client.camera.position, client.camera.look_at = view.up, eye, middle

    def _draw(self, picture: Picture) -> None:
        assert self.view is not None
        assert self._ghost is not None
        boxes = self.settings()
        self.view.fade(GLASS if boxes.glass else None)
        self.view.update(picture.frames, picture.tensions, picture.highest)
        self._ghost.show(picture.ghost is not None and boxes.ghost)
        if picture.ghost is not None and boxes.ghost:
            self._ghost.update(picture.ghost)
        self._draw_axes(picture, boxes.frames)
        self._draw_gravity(picture, boxes.gravity)
        self._draw_body(picture, boxes.ellipsoid)

    def _draw_axes(self, picture: Picture, wanted: bool) -> None:
        change(self._axes, "visible", wanted)
        if wanted:
            self._axes.batched_positions = (self.scale * picture.frames[:, :3, 3]).astype(np.float32)
            self._axes.batched_wxyzs = quaternions(picture.frames).astype(np.float32)

    def _draw_gravity(self, picture: Picture, wanted: bool) -> None:
        size = 0.0 if picture.gravity is None else float(np.linalg.norm(picture.gravity))
        for node in (self._arrow, self._label):
            change(node, "visible", wanted and size > 0)
        if picture.gravity is not None and wanted and size > 0:
            down = picture.gravity / size
            self._arrow.points = np.array([[self._beside - 0.1 * down, self._beside + 0.1 * down]], np.float32)
            self._label.position = self._beside - 0.14 * down

    def _draw_body(self, picture: Picture, wanted: bool) -> None:
        change(self._body, "visible", wanted and picture.ellipsoid is not None)
        if picture.ellipsoid is not None and wanted:
            self._body.vertices = (self.scale * picture.ellipsoid.vertices).astype(np.float32)
            self._body.faces = picture.ellipsoid.triangles.astype(np.uint32)

    def _floor(self, robot: Robot) -> None:
        below = self.scale * float(mount_mesh(robot).vertices[:, 2].min())
        self._grid = self.scene.add_grid(
            "/floor", width=2.0, height=2.0, cell_size=0.1, section_size=0.5, plane="xy",
            position=(0.0, 0.0, below),
        )  # fmt: skip
        self._set_theme()

    def _tip(self, picture: Picture) -> Floats:
        assert self._robot is not None
        last = picture.frames[-1]
        return np.asarray(last[:3, :3] @ self._robot.tip_point + last[:3, 3])

    def _set_theme(self) -> None:
        dark = self.settings().dark
        self._grid.cell_color, self._grid.section_color = GRID[dark]
        self._server.gui.configure_theme(
            dark_mode=dark, show_logo=False, show_share_button=False, brand_color=palette.BRAND
        )
