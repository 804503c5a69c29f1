"""Forces between the links of rolling joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vertebra.mechanics.link_programme import LEAST_FORCE, MU, OFFSET, TRUE_CONE
from vertebra.robot.robot import Robot
from vertebra.robot.tables import ROLLING, Floats


@dataclass(frozen=True, eq=False, repr=False)
class Contacts:
    """Forces on the distal link at the two contact points of every joint, the first on the side of the joint's axis.

    (n, 2) for one state, (N, n, 2) for many. Zero at joints without `contact_offset` and `friction`.
    """

    normal: Floats
    """Along the bisector normal, N; negative where the contact would have to pull."""
    tangential: Floats
    """Across the axis, along the direction of rolling, N."""
    axial: Floats
    """Along the axis, N: shared by the two points in proportion to the friction that each can give."""
    use: Floats
    """Friction over mu times the normal force, of both parts together for the true cone, of the larger part for the
    box; above 1 the point slips. Infinite where friction is needed and the links part."""

    def __repr__(self) -> str:
        held = self.normal[self.normal != 0.0]
        least = f"least normal force {held.min():.3g} N, " if held.size else ""
        return f"Contacts({least}up to {100.0 * float(self.use.max(initial=0.0)):.3g} % of the friction used)"


def contact_table(robot: Robot, min_contact_force: float, true_cone: bool) -> Floats:
    """(n, 4) rows for the kernels: a joint has contact points when its file gives their distance and friction."""
    joints = robot.joints
    table = np.zeros((len(joints), 4))
    rolling = (joints["kind"] == ROLLING) & (joints["contact_offset"] > 0.0) & (joints["friction"] > 0.0)
    table[:, OFFSET] = np.where(rolling, joints["contact_offset"], 0.0)
    table[:, MU] = joints["friction"]
    table[:, LEAST_FORCE] = min_contact_force
    table[:, TRUE_CONE] = true_cone
    return table
