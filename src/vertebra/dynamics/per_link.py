"""Tensions of every link on its own (D'Antuono 2023, eqs. 31-37): least sum, within what the contacts can carry."""

from __future__ import annotations

import numpy as np

from vertebra.dynamics.joint_needs import JointNeeds
from vertebra.mechanics.link_programme import CUTS, KINDS
from vertebra.mechanics.link_relaxation import RELAXED_ROWS
from vertebra.mechanics.link_tensions import allocate_links
from vertebra.mechanics.polyhedron import WORK_ROWS
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


def per_link_tensions(
    robot: Robot, needs: JointNeeds, contacts: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Tensions (N, cables, n) in N, and by how much which constraints had to give way, (N, n, kinds)."""
    count, cables, n = needs.arms.shape
    variables, rows = cables + KINDS, RELAXED_ROWS + 2 * cables + CUTS
    tensions, amounts = np.empty((count, cables, n)), np.zeros((count, n, KINDS))
    limits = np.empty((2, variables + rows))
    factors = (
        np.empty((variables, variables)),
        np.empty((variables, variables)),
        np.empty((2, variables + 1), np.int64),
        np.empty(variables + rows, np.int64),
        np.empty((WORK_ROWS, variables + 1)),
    )
    allocate_links(
        robot.joints, robot.cables, contacts, low, high, needs.arms, needs.wrenches,
        np.empty((n, 2, variables + 1), np.int64), np.empty((4, cables)), np.empty(variables),
        (np.empty((rows, variables)), limits[0], limits[1], np.empty(variables)), factors, tensions, amounts,
    )  # fmt: skip
    return tensions, amounts
