"""A statics question, checked and laid out for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.mechanics.columns import AXIS, LOWER, OWN, UPPER, WIDTH
from vertebra.mechanics.loads import Load, load_table, load_tuple
from vertebra.mechanics.newton import REPORT_WIDTH, is_conservative
from vertebra.mechanics.sweep import CABLE_COLUMN, V_LOW, U, V
from vertebra.robot.arguments import coordinates, gravity_vector, numbers
from vertebra.robot.robot import Robot
from vertebra.robot.tables import PIN, Floats, Table

NO_CABLES: Floats = np.empty(0)
"""Rest lengths and rates of cables whose tensions are given."""


class Workspace(NamedTuple):
    """Scratch of one solve; a thread has its own."""

    start: Floats
    state: Floats
    load_at: Floats
    wide: Floats
    memory: Floats
    report: Floats


@dataclass(frozen=True, eq=False)
class Problem:
    """A robot of mirror joints under gravity and loads."""

    robot: Robot
    gravity: Floats
    loads: tuple[Load, ...]
    table: Table

    @classmethod
    def of(cls, robot: Robot, gravity: str | ArrayLike | None, loads: Sequence[Load]) -> Problem:
        if not isinstance(robot, Robot):
            raise InputError("robot", f"must be a Robot; use vertebra.load, not {type(robot).__name__}")
        kinds = robot.joints["kind"]
        if kinds.max() > PIN:
            row = int(np.argmax(kinds > PIN))
            kind = ("universal", "ball")[int(kinds[row]) - PIN - 1]
            raise InputError(
                "robot",
                f"joint {row + 1} is a {kind} joint; the shape from cables needs rolling, flexure or pin joints",
            )
        together = load_tuple(loads)
        return cls(robot, gravity_vector(robot, gravity), together, load_table(robot, together))

    @property
    def system(self) -> tuple[Any, ...]:
        """First arguments of the kernels."""
        robot = self.robot
        return robot.joints, robot.links, robot.cables, robot.segments, self.gravity, self.table

    def workspace(self, by_length: bool = False) -> Workspace:
        n = len(self.robot.joints)
        columns = CABLE_COLUMN + (len(self.robot.cables) if by_length else 0)
        return Workspace(
            np.empty(n),
            np.empty((n, WIDTH)),
            np.empty((len(self.table), 3)),
            np.empty((5, n, columns)),
            np.empty((2 * columns + 2, max(columns, 6, len(self.robot.cables)))),
            np.empty(REPORT_WIDTH),
        )

    def dense_stiffness(self, work: Workspace, by_length: bool = False) -> Floats:
        """H (n, n) in N*m/rad at the pose that `work` belongs to, springs of cables of given length included."""
        state = work.state
        heavy = bool((self.robot.cables["linear_density"] > 0.0).any())
        if is_conservative(self.gravity, self.table, heavy) and not by_length:
            rows, columns, low_columns = (state[:, first : first + 3] for first in (AXIS, UPPER, LOWER))
        else:
            rows, columns, low_columns = work.wide[U], work.wide[V], work.wide[V_LOW]
        stiffness: Floats = np.triu(rows @ columns.T, 1) + np.tril(low_columns @ rows.T, -1)
        stiffness[np.diag_indices(len(state))] = state[:, OWN]
        return stiffness

    def tensions(self, tensions: ArrayLike) -> Floats:
        """One tension a cable, N, as a fresh array."""
        array = numbers("tensions", tensions, "N")
        count = len(self.robot.cables)
        if array.shape != (count,):
            raise InputError("tensions", f"must be {count} numbers in N, one a cable of {self.robot.name}{_got(array)}")
        require_pull("tensions", array)
        return array

    def start(self, start: ArrayLike | None) -> tuple[bool, Floats]:
        """Whether a start was given, and an array to solve in."""
        if start is None:
            return False, np.empty(len(self.robot.joints))
        q = coordinates(self.robot, start, "start").copy()
        if not (np.abs(q) < 3.0).all():
            row = int(np.argmin(np.abs(q) < 3.0))
            raise InputError("start", f"joint {row + 1} starts at {q[row]:.6g} rad; must be finite and within +-3 rad")
        return True, q


def require_pull(name: str, tensions: Floats) -> None:
    """Cables cannot push."""
    if tensions.size and tensions.min() < 0.0:
        cable = int(np.argmin(tensions.min(axis=0) if tensions.ndim == 2 else tensions))
        raise InputError(name, f"cable {cable + 1} has {tensions.min():.6g} N; a cable can only pull: 0 N or more")


def _got(array: Floats) -> str:
    return f", not {array.size}" if array.ndim == 1 else f", not an array of shape {array.shape}"
