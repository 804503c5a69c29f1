"""A motion, the joint moments it needs and the tensions that were found for it, with all that its page tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.dynamics.allocation import Allocation, Violation
    from vertebra.dynamics.sampled_motion import SampledMotion


class Worst(NamedTuple):
    """The extreme of a quantity over moments and joints."""

    value: float
    time: float
    """s."""
    joint: int
    """Counted from 1."""


class Broken(NamedTuple):
    """All violations of one constraint at one joint."""

    joint: int
    """Counted from 1; 0 where no single joint is to blame."""
    constraint: str
    moments: int
    """At how many it is broken."""
    worst: Violation
    time: float
    """s, of the worst."""


@dataclass(frozen=True, eq=False)
class DynamicsCase:
    """What was asked, and the answer."""

    robot: Robot
    trajectory: SampledMotion
    """As it was asked for."""
    allocation: Allocation
    """Its q, qd and qdd are those of the trajectory, but for the method `project`."""
    gravity: Floats
    """(3,) m/s^2."""
    notes: tuple[tuple[str, str], ...] = ()
    """Further facts: bounds, loads, what was assumed."""
    warnings: tuple[str, ...] = ()
    """About the trajectory file."""
    frictionless: bool = False
    """Whether the cables slide freely, for the method capstan."""

    @property
    def time(self) -> Floats:
        """(N,) s."""
        return self.trajectory.time

    @property
    def title(self) -> str:
        """For a heading."""
        return f"{self.robot.name}: tensions for a motion of {self.trajectory.duration:.4g} s, {self.method}"

    @property
    def method(self) -> str:
        """How tensions were shared out, as it is called on the command line."""
        return self.allocation.method

    @property
    def springs(self) -> Floats:
        """(N, n) moment of elastic joints that the cables must overcome, k q, N*m."""
        moments: Floats = self.robot.joints["stiffness"] * self.allocation.q
        return moments

    @property
    def needed(self) -> Floats:
        """(N, n) moment that is left to the cables: tau + k q, N*m."""
        return self.allocation.tau + self.springs

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """(N,) true where every constraint holds."""
        return np.atleast_1d(np.asarray(self.allocation.feasible))

    @property
    def along(self) -> Floats | None:
        """(N, cables, n) tensions across each joint; none where a cable has one tension."""
        pulls = self.allocation.tensions
        return pulls if pulls.ndim == 3 else None

    @property
    def tip(self) -> Floats:
        """(N, 3) m."""
        from vertebra.mechanics.kinematics import tip_frame

        return np.array([tip_frame(self.robot, q)[:3, 3] for q in self.allocation.q])

    @property
    def moved(self) -> Worst | None:
        """How far the nearest feasible trajectory is from the one asked for, rad; none where it is the same."""
        off = np.abs(self.allocation.q - self.trajectory.q)
        return self.worst(off) if off.any() else None

    def worst(self, values: Floats) -> Worst:
        """The largest of (N, n) values."""
        row, joint = (int(i) for i in np.unravel_index(values.argmax(), values.shape))
        return Worst(float(values[row, joint]), float(self.time[row]), joint + 1)

    def with_contacts(self) -> NDArray[np.bool_]:
        """(n,) which joints have two contact points that press and rub."""
        joints = self.robot.joints
        return np.asarray((joints["contact_offset"] > 0.0) & (joints["friction"] > 0.0))

    def least_contact(self) -> Worst | None:
        """The smallest contact force, N; none without contact points."""
        found = self.allocation.contacts
        there = self.with_contacts()
        if found is None or not there.any():
            return None
        least = np.where(there, found.normal.min(axis=-1), np.inf)
        worst = self.worst(-least)
        return worst._replace(value=-worst.value)

    def most_friction(self) -> Worst | None:
        """The largest share of what friction can hold, infinite where links part; none without contact points."""
        found = self.allocation.contacts
        if found is None or not self.with_contacts().any():
            return None
        return self.worst(found.use.max(axis=-1))

    def broken(self) -> Iterator[Broken]:
        """Violations by joint and constraint, those that are broken most often first."""
        groups: dict[tuple[int, str], list[Violation]] = {}
        for violation in self.allocation.violations:
            groups.setdefault((violation.joint, violation.constraint), []).append(violation)
        for (joint, constraint), found in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
            worst = max(found, key=lambda violation: abs(violation.amount))
            steps = len({violation.step for violation in found})
            yield Broken(joint, constraint, steps, worst, float(self.time[worst.step]))
