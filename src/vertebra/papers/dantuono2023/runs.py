"""Cable tensions of a motion, link by link as the paper has them or one a cable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

import vertebra as vb
from vertebra.papers.dantuono2023.cases import STATED, Case, Motion, Reading, motion, snake, times
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.dynamics.allocation import Allocation

Method = Literal["per_link", "shared"]
METHODS: dict[Method, str] = {
    "per_link": "the paper's: least sum of tensions link by link, so that a cable's tension differs from link to link",
    "shared": "one tension a cable from base to tip, nearest to the needed joint moments",
}


@dataclass(frozen=True, eq=False)
class Run:
    """Tensions of one motion by one method."""

    case: Case
    method: Method
    reading: Reading
    motion: Motion
    allocation: Allocation

    @property
    def base(self) -> Floats:
        """(N, 4) tensions at the base, N, with the cables named as the reading has it."""
        return self.reading.named(np.asarray(self.allocation.base_tensions))

    @property
    def peaks(self) -> Floats:
        """(4,) highest tension of each cable at the base, N."""
        return np.asarray(self.base.max(axis=0))

    @property
    def feasible(self) -> float:
        """Share of instants at which all joints balance."""
        return float(np.mean(self.allocation.feasible))

    @property
    def out_of_balance(self) -> Floats:
        """(N,) largest moment of any joint that the tensions leave out of balance, N*m."""
        return np.asarray(np.abs(self.allocation.residual).max(axis=1))

    @property
    def worst(self) -> tuple[float, int, float]:
        """Moment most out of balance, N*m; its joint, counted from 1; when, s."""
        residual = np.abs(self.allocation.residual)
        row, joint = np.unravel_index(int(residual.argmax()), residual.shape)
        return float(residual[row, joint]), int(joint) + 1, float(self.motion.time[row])

    @property
    def least_contact(self) -> float:
        """Least normal force of any contact point, N; below 0 the links would come apart there."""
        contacts = self.allocation.contacts
        return float(contacts.normal.min()) if contacts is not None else 0.0

    def __repr__(self) -> str:
        peaks = ", ".join(f"{peak:.2f}" for peak in self.peaks)
        return f"Run({self.case.name}, {self.method}, {self.reading.name}: peaks at the base {peaks} N)"


def run(
    case: Case, method: Method, reading: Reading = STATED, time: Floats | None = None, robot: Robot | None = None
) -> Run:
    """Allocate tensions along one motion."""
    body = robot or snake()
    moves = motion(case, times() if time is None else time)
    found = vb.allocate_tensions(
        body, moves.q, moves.qd, moves.qdd, reading.gravity(body), method=method, check=False
    )  # fmt: skip
    return Run(case, method, reading, moves, found)
