"""All rods of a robot's flexure joints at once: where the corners of their meshes are, fast enough for every frame."""

from __future__ import annotations

import numpy as np

from vertebra.report.meshes import directions, rod_offsets, rod_radius
from vertebra.robot.robot import Robot
from vertebra.robot.tables import FLEXURE, Floats

COUNT, SECTORS = 13, 10
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
        angle = np.linspace(0.0, 2 * np.pi, SECTORS, endpoint=False)
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
        skin = rings.reshape(len(points), COUNT * SECTORS, 3)
        return np.concatenate([points[:, :1], skin, points[:, -1:]], axis=1).reshape(-1, 3)

    def _centre_lines(self, frames: Floats) -> Floats:
        """(rods, COUNT, 3) m, circular arcs."""
        turn, place = frames[self._rows, :3, :3], frames[self._rows, :3, 3]
        turned = np.einsum("rji,rj->ri", turn, frames[self._rows + 1, :3, 2])
        angle = np.arctan2((turned * self._bend).sum(axis=1), turned[:, 2])
        half = 0.5 * angle[:, None] * np.linspace(0.0, 1.0, COUNT)
        chord = self._length[:, None] * np.linspace(0.0, 1.0, COUNT) * np.sinc(half / np.pi)
        local = (chord * np.sin(half))[:, :, None] * self._bend[:, None] + self._foot[:, None]
        local[:, :, 2] += chord * np.cos(half)
        return np.asarray(local @ turn.transpose(0, 2, 1) + place[:, None])
