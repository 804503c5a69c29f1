"""Where platforms really are, and how sensors on them are oriented."""

from __future__ import annotations

import numpy as np

import vertebra as vb
from vertebra.papers.lapusan2022.cases import Method
from vertebra.papers.lapusan2022.equations import CORRECTED, PRINTED, platforms
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


def true_platforms(robot: Robot, angles: Floats) -> Floats:
    """(N, n+1, 4, 4) in the base, m: the far face of each link, for joint coordinates (N, freedoms), rad."""
    return far_faces(robot, np.array([vb.Pose(robot, q).frames for q in angles]))


def far_faces(robot: Robot, frames: Floats) -> Floats:
    """Frames of links (N, n+1, 4, 4) moved along their z to their far ends, m."""
    out = frames.copy()
    out[..., :3, 3] += frames[..., :3, 2] * robot.links["length"][:, None]
    return out


def orientations(platforms: Floats, bases: Floats) -> Floats:
    """(N, n+1, 3, 3) in the world, of platforms (N, n+1, 4, 4) on bases (N, 3, 3)."""
    return np.asarray(bases[:, None] @ platforms[..., :3, :3])


def estimated_tips(robot: Robot, rotations: Floats, method: Method, noise: Floats | None = None) -> Floats:
    """(N, 4, 4) poses of the tip in the base, m, from orientations (N, n+1, 3, 3); `noise` (3,) rad.

    Pair by pair all poses are worked out at once; the estimator gives the same, one at a time.
    """
    if method.estimator != "chain":
        return platforms(rotations, robot, PRINTED if method.estimator == "paper" else CORRECTED)[:, -1]
    shapes = (
        vb.shape_from_orientations(robot, one, method.estimator, noise=noise, twist=method.twist) for one in rotations
    )
    return np.array([shape.tip_frame_in_base for shape in shapes])
