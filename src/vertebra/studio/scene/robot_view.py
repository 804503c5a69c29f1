"""The robot in the viewer: its links as instances of few meshes, its joints' parts, its cables coloured by tension.
Lengths in the viewer are in robot lengths, so that a gripper of 2 cm and a boom of 10 m look alike; `scale`
converts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vertebra.report.meshes import Mesh, directions, joined, joint_mesh, link_mesh, mount_mesh, rod_offsets, rod_radius
from vertebra.robot.robot import Robot
from vertebra.robot.tables import FLEXURE, Floats
from vertebra.studio.scene import palette

if TYPE_CHECKING:
    import viser


def quaternions(frames: Floats) -> Floats:
    """(m, 4) w, x, y, z of the rotations of (m, 4, 4) frames; of the two signs, any."""
    r = frames[:, :3, :3]
    xx, yy, zz = r[:, 0, 0], r[:, 1, 1], r[:, 2, 2]
    # Four formulas, each exact where its own component is the largest one.
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=1)
    a, b, c = r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]
    d, e, f = r[:, 1, 0] + r[:, 0, 1], r[:, 0, 2] + r[:, 2, 0], r[:, 2, 1] + r[:, 1, 2]
    rows = np.stack(
        [
            np.stack([squares[:, 0], a, b, c], axis=1),
            np.stack([a, squares[:, 1], d, e], axis=1),
            np.stack([b, d, squares[:, 2], f], axis=1),
            np.stack([c, e, f, squares[:, 3]], axis=1),
        ],
        axis=1,
    )
    chosen = rows[np.arange(len(frames)), squares.argmax(axis=1)]
    return np.asarray(chosen / np.linalg.norm(chosen, axis=1, keepdims=True))


# All cables of a robot as line segments, in one go: fast enough for every frame of a motion.


class CablePaths:
    """Where the corners of all cables are, in the frames of their links."""

    def __init__(self, robot: Robot) -> None:
        links: list[int] = []
        points: list[tuple[float, float, float]] = []
        starts: list[int] = []
        cables: list[int] = []
        joints: list[int] = []
        for k, row in enumerate(robot.cables):
            x, y, last = float(row["x"]), float(row["y"]), int(row["last_link"])
            corners = [(-1, 0.0)]
            for joint in range(last):
                hole = robot.segments[k][joint]
                corners += [(joint, float(hole["exit"])), (joint + 1, float(hole["entry"]))]
            corners.append((last, float(row["end"])))
            for number, (link, z) in enumerate(corners):
                if number:
                    starts.append(len(links) - 1)
                    cables.append(k)
                    # A piece inside a link has the tension that has come through the joint before it.
                    joints.append(max((number - 2) // 2, 0))
                links.append(link)
                points.append((x, y, z))
        self._links = np.array(links, np.int64)
        self._points = np.array(points, np.float64).reshape(-1, 3)
        self._starts = np.array(starts, np.int64)
        self.cables: NDArray[np.int64] = np.array(cables, np.int64)
        """(segments,) cable that each belongs to."""
        self.joints: NDArray[np.int64] = np.array(joints, np.int64)
        """(segments,) row of the joint whose tension each has."""

    def segments(self, frames: Floats) -> Floats:
        """(segments, 2, 3) ends in the world, m; `frames` (n+1, 4, 4)."""
        rotation = np.where((self._links < 0)[:, None, None], np.eye(3), frames[self._links, :3, :3])
        origin = np.where((self._links < 0)[:, None], 0.0, frames[self._links, :3, 3])
        corners = np.einsum("mij,mj->mi", rotation, self._points) + origin
        return np.stack([corners[self._starts], corners[self._starts + 1]], axis=1)


# All rods of a robot's flexure joints at once: where the corners of their meshes are, fast enough for every frame.

ROD_POINTS, ROD_SECTORS = 13, 10
"""Points along a rod and around it, as the meshes of reports have."""


class FlexureRods:
    """For a robot whose joints are all flexures; corners stand in the order of the meshes of reports."""

    def __init__(self, robot: Robot) -> None:
        rods = [(row, offset) for row in range(len(robot.joints)) for offset in rod_offsets(robot, row)]
        self._rows = np.array([row for row, _ in rods])
        axes, bends = zip(*(directions(robot, row) for row, _ in rods), strict=True)
        self._bend = np.array(bends)
        self._foot = np.array([offset for _, offset in rods])[:, None] * np.array(axes)
        self._foot[:, 2] += robot.links["reach"][self._rows]
        self._length = robot.joints["size"][self._rows].astype(np.float64)
        self._radius = np.array([rod_radius(robot, row) for row, _ in rods])
        angle = np.linspace(0.0, 2 * np.pi, ROD_SECTORS, endpoint=False)
        self._circle = np.stack([np.cos(angle), np.sin(angle)])

    @staticmethod
    def serves(robot: Robot) -> bool:
        """Whether all joints are flexures."""
        return bool((robot.joints["kind"] == FLEXURE).all())

    def vertices(self, frames: Floats) -> Floats:
        """(corners, 3) m; `frames` (n+1, 4, 4)."""
        points = self._centre_lines(frames)
        along = np.gradient(points, axis=1)
        along /= np.linalg.norm(along, axis=2, keepdims=True)
        helper = np.eye(3)[np.abs(along).max(axis=1).argmin(axis=1)]
        side = np.cross(along, helper[:, None])
        side /= np.linalg.norm(side, axis=2, keepdims=True)
        spokes = np.stack([side, np.cross(along, side)], axis=-1) @ self._circle  # (rods, points, 3, sectors)
        rings = points[:, :, None] + self._radius[:, None, None, None] * spokes.transpose(0, 1, 3, 2)
        skin = rings.reshape(len(points), ROD_POINTS * ROD_SECTORS, 3)
        return np.concatenate([points[:, :1], skin, points[:, -1:]], axis=1).reshape(-1, 3)

    def _centre_lines(self, frames: Floats) -> Floats:
        """(rods, COUNT, 3) m, circular arcs."""
        turn, place = frames[self._rows, :3, :3], frames[self._rows, :3, 3]
        turned = np.einsum("rji,rj->ri", turn, frames[self._rows + 1, :3, 2])
        angle = np.arctan2((turned * self._bend).sum(axis=1), turned[:, 2])
        half = 0.5 * angle[:, None] * np.linspace(0.0, 1.0, ROD_POINTS)
        chord = self._length[:, None] * np.linspace(0.0, 1.0, ROD_POINTS) * np.sinc(half / np.pi)
        local = (chord * np.sin(half))[:, :, None] * self._bend[:, None] + self._foot[:, None]
        local[:, :, 2] += chord * np.cos(half)
        return np.asarray(local @ turn.transpose(0, 2, 1) + place[:, None])


# The robot in the viewer: its links as instances of few meshes, its joints' parts, its cables coloured by tension.
#
# Lengths in the viewer are in robot lengths, so that a gripper of 2 cm and a boom of 10 m look alike; `scale`
# converts.

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
