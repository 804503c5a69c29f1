"""Forces and moments from the tip back to the base: eqs 22 to 30 of the paper, each link in its own frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.papers.dantuono2023.literal_motion import LinkMotion, link_motions
from vertebra.papers.dantuono2023.literal_robot import AXES, LiteralRobot, R_x, cross
from vertebra.robot.arguments import coordinates, gravity_vector, link_index, link_point
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.mechanics.problem import Load


@dataclass(frozen=True, eq=False)
class LiteralBalance:
    """Right-hand sides of (25), (27), (28) and (30): what cables and contacts must exert on every link."""

    body: LiteralRobot
    motions: tuple[LinkMotion, ...]
    right: Floats
    """(N, 6) force, N, and moment about p_C, N*m, in frame n."""

    @property
    def about_contacts(self) -> Floats:
        """(N, 6) the same with the moment about f3,n, in frame n."""
        found = self.right.copy()
        for row, motion in enumerate(self.motions):
            found[row, 3:] += cross(self.body.center[row] - motion.contact[:3, 3], found[row, :3])
        return found

    @property
    def wrenches(self) -> Floats:
        """(N, 6) the same in our axes: force in N, then moment about f3,n in N*m."""
        turns = [AXES.T @ motion.frame[:3, :3] for motion in self.motions]
        parts = self.about_contacts.reshape(-1, 2, 3)
        return np.array([(part @ turn.T).ravel() for part, turn in zip(parts, turns, strict=True)])

    @property
    def tau(self) -> Floats:
        """(N,) moments about the joints' axes, N*m."""
        axes = np.array([motion.contact[:3, 2] for motion in self.motions])
        return np.asarray((axes * self.about_contacts[:, 3:]).sum(axis=1))


def literal_balance(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: str | ArrayLike | None = None,
    loads: Iterable[Load] = (),
    *,
    moments: int = 30,
    migration: bool = False,
    z_0_of_base: bool = False,
) -> LiteralBalance:
    """Balances at one instant; `q`, `qd`, `qdd` (N,) rad, rad/s, rad/s^2.

    What (30) needs of link n+1 is the moment of all that acts on it from link n. Programme 37 fixes that sum, so it is
    taken from the right-hand side of link n+1 instead of from forces that carry the rounding of a solver.

    `moments` 29: (29) with (21) inserted as printed, where terms of link n+1 have the wrong sign. `loads` are ours: the
    balances of the paper have no room for a load on a link.
    """
    if moments not in (29, 30):
        raise InputError("moments", f"must be 30, or 29 for the equation with its signs as printed, not {moments!r}")
    body = LiteralRobot.of(robot)
    theta, theta_d, theta_dd = (coordinates(robot, value, name) for value, name in ((q, "q"), (qd, "qd"), (qdd, "qdd")))
    motions = link_motions(
        body, theta, theta_d, theta_dd, gravity_vector(robot, gravity), migration=migration, z_0_of_base=z_0_of_base
    )  # fmt: skip
    right = -_loads_on_links(robot, body, motions, loads)
    for row in reversed(range(len(motions))):
        motion, inertia = motions[row], body.inertia[row]
        right[row, :3] += body.mass[row] * motion.center_acceleration  # 22
        right[row, 3:] += inertia @ motion.omega_dot + cross(motion.omega, inertia @ motion.omega)  # 23
        if row + 1 < len(motions):
            force, moment = _of_next(body, motions[row + 1], row, right[row + 1])
            right[row, :3] += force  # 28
            right[row, 3:] += moment if moments == 30 else -moment
    return LiteralBalance(body, tuple(motions), right)


def _of_next(body: LiteralRobot, motion: LinkMotion, row: int, right: Floats) -> tuple[Floats, Floats]:
    """Force of link n+1's balance, and its moment about p_C of link n, in frame n."""
    step = motion.to_contact @ motion.from_contact
    force = step[:3, :3] @ right[:3]
    arm = step[:3, :3] @ body.center[row + 1] + step[:3, 3] - body.center[row]
    return force, step[:3, :3] @ right[3:] + cross(arm, force)


def _loads_on_links(robot: Robot, body: LiteralRobot, motions: Sequence[LinkMotion], loads: Iterable[Load]) -> Floats:
    """(N, 6) of loads on each link: force and moment about p_C, in frame n."""
    total = np.zeros((len(motions), 6))
    for load in loads:
        link = link_index(robot, load.link)
        if link == 0:
            continue
        row = link - 1
        # From our frame, at the apex of the near arc, to the paper's in the far hole plane.
        ahead = body.R[row] - body.a[row] + body.H[row]
        place = (AXES @ link_point(robot, link, load.point) - [ahead, 0.0, 0.0]) @ R_x(body.turn_after(row))
        world = motions[row].frame[:3, :3]
        force, moment = (world.T @ (AXES @ np.asarray(vector)) for vector in (load.force, load.moment))
        total[row] += np.concatenate([force, moment + cross(place - body.center[row], force)])
    return total
