"""All cables of a robot as line segments, in one go: fast enough for every frame of a motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


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
