"""The robot in the viewer: its links as instances of few meshes, its joints' parts, its cables coloured by tension.

Lengths in the viewer are in robot lengths, so that a gripper of 2 cm and a boom of 10 m look alike; `scale` converts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vertebra.report.meshes import Mesh, joined, joint_mesh, link_mesh, mount_mesh
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.studio.scene import palette
from vertebra.studio.scene.cable_paths import CablePaths
from vertebra.studio.scene.flexure_rods import FlexureRods
from vertebra.studio.scene.poses import quaternions

if TYPE_CHECKING:
    import viser

MOST_VERTICES = 40_000
"""Robots of many links are drawn with coarser links."""
CABLE_THICKNESS = 0.006
"""Robot lengths."""


class RobotView:
    """One robot; made anew for another one."""

    def __init__(self, scene: viser.SceneApi, robot: Robot, name: str = "/robot", opacity: float | None = None) -> None:
        self.robot = robot
        self.scale = 1.0 / float(robot.length)
        """Viewer lengths a metre."""
        self._scene, self._name, self._opacity = scene, name, opacity
        self._root = scene.add_frame(name, show_axes=False)
        self._paths = CablePaths(robot)
        straight = np.tile(np.eye(4), (len(robot.links), 1, 1))
        self._groups = [self._instances(*group) for group in _groups(robot)]
        self._rods = FlexureRods(robot) if FlexureRods.serves(robot) else None
        self._parts = self._part_mesh(straight)
        self._cables = self._cable_lines(straight)
        if opacity is None:
            self._solid("mount", mount_mesh(robot), palette.MOUNT)

    def remove(self) -> None:
        """Take everything out of the viewer."""
        self._root.remove()

    def show(self, visible: bool) -> None:
        """Hide or show all of it."""
        if self._root.visible != visible:
            self._root.visible = visible

    def fade(self, opacity: float | None) -> None:
        """Make the links see-through; None: solid."""
        for _, handle in self._groups:
            if handle.opacity != opacity:
                handle.opacity = opacity

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

    def _part_mesh(self, frames: Floats) -> viser.MeshHandle | None:
        mesh = _parts(self.robot, frames)
        return self._solid("parts", mesh, palette.PART) if len(mesh.vertices) else None

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
    """Links that look the same, and the look."""
    sectors = int(min(max(MOST_VERTICES / (8 * len(robot.links)), 12), 32)) // 4 * 4
    found: dict[bytes, tuple[list[int], Mesh]] = {}
    for i in range(len(robot.links)):
        mesh = link_mesh(robot, i, sectors)
        rows, _ = found.setdefault(mesh.vertices.round(12).tobytes(), ([], mesh))
        rows.append(i)
    return list(found.values())
