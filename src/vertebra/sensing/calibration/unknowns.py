"""The unknowns of a calibration and where each stands in the vector of their small changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing import so3

EACH = 7
"""Changes of one sensor: mount about link x, y, z; heading; gyro bias x, y, z."""
HEADING = 3
BIAS = slice(4, 7)


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Constants of m sensors, and what must be found along with them."""

    mounts: Floats
    """(m, 3, 3); a change turns link axes: exp(change) M."""
    headings: Floats
    """(m,) rad."""
    biases: Floats
    """(m, 3) rad/s."""
    fixture: Floats
    """(m, 3, 3) how the fixture holds each link against the first: a straight robot has identities."""
    bases: Floats
    """(poses, 3, 3) the first link in each pose at rest, to world axes; a change turns world axes."""

    @property
    def size(self) -> int:
        """Length of the vector of changes."""
        return 10 * len(self.mounts) - 3 + 3 * len(self.bases)

    def sensor(self, i: int) -> slice:
        """Where the changes of sensor i stand."""
        return slice(EACH * i, EACH * (i + 1))

    def fixed(self, i: int) -> slice:
        """Where the changes of fixture i stand; that of the first link is none."""
        start = EACH * len(self.mounts) + 3 * (i - 1)
        return slice(start, start + 3)

    def base(self, pose: int) -> slice:
        """Where the changes of a pose's first link stand."""
        start = 10 * len(self.mounts) - 3 + 3 * pose
        return slice(start, start + 3)

    def changed(self, change: Floats) -> Unknowns:
        """After a small change."""
        m = len(self.mounts)
        own = change[: EACH * m].reshape(m, EACH)
        fixture = np.concatenate([np.zeros((1, 3)), change[EACH * m : 10 * m - 3].reshape(m - 1, 3)])
        return Unknowns(
            so3.exp(own[:, :3]) @ self.mounts,
            self.headings + own[:, HEADING],
            self.biases + own[:, BIAS],
            so3.exp(fixture) @ self.fixture,
            so3.exp(change[10 * m - 3 :].reshape(-1, 3)) @ self.bases,
        )
