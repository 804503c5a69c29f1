"""What stands in the way of a motion: which joint, which constraint, by how much."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vertebra.robot.tables import Floats

CONSTRAINTS = (
    "max_tension", "pretension", "contact_force_1", "contact_force_2", "friction_1", "friction_2", "friction_axial",
    "moment",
)  # fmt: skip
"""In the order of the kernels' kinds."""
_SENTENCES = {
    "max_tension": "the largest tensions of its cables are {amount} too small",
    "pretension": "the least tensions of its cables are {amount} too large",
    "contact_force_1": "the normal force at contact point 1 falls {amount} short of the least",
    "contact_force_2": "the normal force at contact point 2 falls {amount} short of the least",
    "friction_1": "contact point 1 lacks {amount} of friction",
    "friction_2": "contact point 2 lacks {amount} of friction",
    "friction_axial": "the contact points together lack {amount} of friction along the axis",
    "moment": "its moment is {amount} out of balance",
}


class Violation(NamedTuple):
    """A constraint that has to give way at one joint and step."""

    step: int
    """Row of the trajectory, counted from 0."""
    joint: int
    """Counted from 1."""
    constraint: str
    """One of max_tension, pretension, contact_force_1, contact_force_2, friction_1, friction_2, friction_axial,
    moment."""
    amount: float
    """Least by which it must give way, N, or N*m for the moment."""
    unit: str
    alone: bool = True
    """Giving way by `amount`, this constraint alone makes the joint's problem solvable; if not, all those that are
    named for the joint do so together (for the step, where cables share one tension)."""

    @property
    def message(self) -> str:
        """A sentence."""
        what = _SENTENCES[self.constraint].format(amount=f"{self.amount:.4g} {self.unit}")
        return f"step {self.step}, joint {self.joint}: {what}" + ("" if self.alone else " (among others)")


def from_amounts(amounts: Floats) -> tuple[Violation, ...]:
    """Violations of links on their own, from what had to give way, (N, n, kinds)."""
    if not amounts.any():
        return ()
    alone = np.count_nonzero(amounts, axis=2) == 1
    return tuple(
        Violation(
            i, j + 1, CONSTRAINTS[kind], float(amounts[i, j, kind]), "N*m" if CONSTRAINTS[kind] == "moment" else "N",
            bool(alone[i, j]),
        )
        for i, j, kind in np.argwhere(amounts > 0.0).tolist()
    )  # fmt: skip


def from_residuals(residual: Floats, most: Floats) -> tuple[Violation, ...]:
    """Joints whose moment (N, n) is further out of balance than `most` (N,), N*m."""
    beyond = np.abs(residual) > most[:, None]
    if not beyond.any():
        return ()
    alone = np.count_nonzero(beyond, axis=1) == 1
    return tuple(
        Violation(i, j + 1, "moment", float(abs(residual[i, j])), "N*m", bool(alone[i]))
        for i, j in np.argwhere(beyond).tolist()
    )
