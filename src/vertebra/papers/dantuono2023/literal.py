"""The paper's recursive algorithm (section 3.5): accelerations from the base to the tip, balances from the tip back.

It is slow; it is here to check `vertebra.inverse_dynamics` and `vertebra.allocate_tensions`, and to be compared with
them. It has its own frames and its own balances, in the paper's axes and symbols, and takes nothing but numbers from
the robot. Arguments are those of `vertebra.inverse_dynamics`, one instant at a time.

As published, programme 37 is solved link by link with the balances (28) and (30), and accelerations leave out the
migration of the contact point. Three switches: `migration` puts that in; `moments` 29 takes (29) with (21) inserted as
printed, where terms of link n+1 have the wrong sign, instead of (30); `z_0_of_base` reads z_0 of (6) and (7) as the
base's axis.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import Infeasible
from vertebra.papers.dantuono2023.literal_balance import LiteralBalance, literal_balance
from vertebra.papers.dantuono2023.literal_programme import Programme, programme, solve
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.mechanics.problem import Load

MIN_CONTACT_FORCE = 1.0
"""N, the threshold of (34); the paper prints none."""


@dataclass(frozen=True, eq=False)
class LiteralStep:
    """One instant."""

    tensions: Floats
    """(cables, joints) F_T,1,n,k, N; zero beyond a cable's last link."""
    normal: Floats
    """(joints, 2) x-components of f_c at both contact points in f3, N."""
    friction: Floats
    """(joints, 2, 2) y- and z-components of f_S at both contact points in f3, N."""
    balance: LiteralBalance

    @property
    def wrenches(self) -> Floats:
        """(joints, 6) what cables and link n-1 exert on link n: force, then moment about f3,n; our axes, N and N*m."""
        return self.balance.wrenches

    @property
    def tau(self) -> Floats:
        """(joints,) their moment about the joint's axis, N*m."""
        return self.balance.tau

    def __repr__(self) -> str:
        base = ", ".join(f"{value:.2f}" for value in self.tensions[:, 0])
        return f"LiteralStep({self.tensions.shape[1]} joints; tensions at the base {base} N)"


def literal_step(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, **options: Any) -> Floats:
    """(cables, joints) N: tensions of every link by the paper's algorithm; options of `literal_solution`."""
    return literal_solution(robot, q, qd, qdd, **options).tensions


def literal_solution(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    gravity: str | ArrayLike | None = None,
    loads: Iterable[Load] = (),
    *,
    upper: float = np.inf,
    min_contact_force: float = MIN_CONTACT_FORCE,
    **switches: Any,
) -> LiteralStep:
    """Everything the algorithm finds at one instant; `q`, `qd`, `qdd` (joints,) rad, rad/s, rad/s^2.

    `upper`: most tension of a cable, N; the paper has no such bound. `switches`: `moments`, `migration` and
    `z_0_of_base` of `literal_balance`. Raises `Infeasible` when no tensions balance a link.
    """
    balance = literal_balance(robot, q, qd, qdd, gravity, loads, **switches)
    body, count = balance.body, len(balance.motions)
    tensions, normal, friction = np.zeros((len(body.hole), count)), np.zeros((count, 2)), np.zeros((count, 2, 2))
    for row in reversed(range(count)):
        found = solve(link_programme(balance, row, upper, min_contact_force))
        if found is None:
            link = row + 1
            raise Infeasible(
                link, "programme 37", 0.0, f"link {link}: no tensions up to {upper:g} N balance it; raise `upper`, or"
                " give its joint friction",
            )  # fmt: skip
        tensions[body.last > row, row] = found.tensions
        normal[row], friction[row] = found.normal, found.friction
    return LiteralStep(tensions, normal, friction, balance)


def link_programme(
    balance: LiteralBalance, row: int, upper: float, min_contact_force: float, mu: float | None = None
) -> Programme:
    """Programme 37 of link n = `row` + 1; forces in N, `mu` another friction coefficient than that of the robot."""
    body, motion = balance.body, balance.motions[row]
    back = np.linalg.inv(motion.to_contact @ motion.from_contact)
    before = body.holes_before(row) @ back[:3, :3].T + back[:3, 3]
    near, _ = body.holes(row)
    L_1 = before - near  # 14
    passing = body.last > row
    e_1 = (L_1 / np.linalg.norm(L_1, axis=1)[:, None])[passing]  # 15
    contact, along = motion.contact, body.b[row] * motion.contact[:3, 2]
    places = np.array([contact[:3, 3] + along, contact[:3, 3] - along])
    return programme(
        balance.right[row], e_1, near[passing] - body.center[row], places - body.center[row], contact[:3, :3],
        float(body.mu[row]) if mu is None else mu, body.pretension[passing], upper, min_contact_force,
    )  # fmt: skip
