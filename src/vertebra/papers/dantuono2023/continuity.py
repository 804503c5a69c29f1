"""Tensions found link by link are not those of one cable.

A cable that runs straight through a link without friction has one tension; the paper's programmes do not know that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import vertebra as vb
from vertebra.papers.dantuono2023.cases import TOP, snake
from vertebra.robot.tables import Floats


@dataclass(frozen=True, eq=False)
class Continuity:
    """The straight robot at rest."""

    needed: Floats
    """(6,) joint moments that hold it, N*m."""
    per_link: Floats
    """(4, 6) tensions of every cable in the gap of every joint, N."""
    shared: Floats
    """(4,) one tension a cable, nearest to the needed moments, N."""
    residual: Floats
    """(6,) moments that those leave out of balance, N*m."""
    inputs: int
    """Independent joint moments that four tensions can make here; six are needed."""

    @property
    def along(self) -> Floats:
        """(6,) N, of the top cable."""
        return np.asarray(self.per_link[TOP])


def continuity() -> Continuity:
    """Both methods on the straight robot."""
    robot, still = snake(), np.zeros(6)
    apart, one = (
        vb.allocate_tensions(robot, still, still, still, method=method, check=False)
        for method in ("per_link", "shared")
    )
    moments = -_slopes()
    return Continuity(
        np.asarray(apart.tau),
        np.asarray(apart.tensions),
        np.asarray(one.tensions),
        np.asarray(one.residual),
        int(np.linalg.matrix_rank(moments, tol=1e-9)),
    )


def _slopes() -> Floats:
    """(4, 6) change of each cable's length with each joint of the straight robot, m/rad, by central differences."""
    robot, h = snake(), 1e-6
    ends = [[vb.Pose(robot, sign * h * axis).cable_lengths for axis in np.eye(6)] for sign in (1.0, -1.0)]
    return np.asarray((np.array(ends[0]) - np.array(ends[1])).T / (2 * h))
