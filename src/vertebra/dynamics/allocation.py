"""Which cable tensions give this motion?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from vertebra.dynamics.capstan import cable_grips, tensions_at_base
from vertebra.dynamics.contacts import Contacts, contact_table
from vertebra.dynamics.joint_needs import JointNeeds, joint_needs
from vertebra.dynamics.nearest_acceleration import nearest_accelerations
from vertebra.dynamics.per_link import per_link_tensions
from vertebra.dynamics.problem import Moving, States, states
from vertebra.dynamics.shared_tensions import balanced_tensions
from vertebra.dynamics.violations import Violation, from_amounts, from_residuals
from vertebra.errors import Infeasible, InputError
from vertebra.mechanics.contact_forces import AXIAL, NORMAL, TANGENTIAL, USE, weigh_joints
from vertebra.mechanics.link_programme import OFFSET
from vertebra.mechanics.loads import Load
from vertebra.robot.arguments import numbers, positive
from vertebra.robot.friction import Friction, laws_for
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.robot.tension_bounds import tension_bounds

Method = Literal["shared", "per_link", "capstan", "project"]
Cone = Literal["box", "true"]
METHODS = ("shared", "per_link", "capstan", "project")
BALANCED = 1e-6
"""A joint counts as balanced when its residual is below this part of the moments at the joints."""


@dataclass(frozen=True, eq=False, repr=False)
class Allocation:
    """Cable tensions of one state or, with a first dimension N everywhere, of a trajectory."""

    method: str
    tensions: Floats
    """N: (cables,), one a cable, for shared and project; (cables, n), one a cable and gap, zero beyond the cable's end,
    for per_link and capstan."""
    base_tensions: Floats
    """(cables,) N, what the actuators pull with."""
    residual: Floats
    """(n,) moment out of balance, needed less supplied, N*m."""
    feasible: bool | np.ndarray
    """Every joint is in balance and every constraint of the method is kept; (N,) for a trajectory."""
    violations: tuple[Violation, ...]
    """What stands in the way, in the order of steps and joints; empty when feasible."""
    contacts: Contacts | None
    """Forces between the links; None without any rolling joint that has `contact_offset` and `friction`. Only per_link
    chooses tensions by them."""
    q: Floats
    """(n,) rad, of the motion that the tensions belong to: as asked for, but for project."""
    qd: Floats
    """(n,) rad/s."""
    qdd: Floats
    """(n,) rad/s^2."""
    tau: Floats
    """(n,) joint moments that the motion needs, N*m."""
    converged: bool = True
    """The search for the nearest trajectory came to its end; false means a feasible one that may not be the nearest."""

    def __repr__(self) -> str:
        steps = f"{len(self.q)} steps, " if self.q.ndim == 2 else ""
        crossed = self.tensions[self.tensions > 0.0]
        pulls = f"{crossed.min():.4g} to {crossed.max():.4g} N" if crossed.size else "0 N"
        if not self.violations:
            doubt = "" if self.converged else ", perhaps not the nearest"
            return f"Allocation({self.method}, {steps}{pulls}, feasible{doubt})"
        more = f" and {len(self.violations) - 1} more" if len(self.violations) > 1 else ""
        return f"Allocation({self.method}, {steps}{pulls}, not feasible: {self.violations[0].message}{more})"


def allocate_tensions(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] = (),
    *,
    method: Method = "shared",
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    min_contact_force: float = 1.0,
    cone: Cone = "box",
    friction: Friction | None = None,
    dt: float | None = None,
    check: bool = False,
) -> Allocation:
    """Cable tensions for angles `q` (rad), rates `qd` and accelerations `qdd`: one state (n,) or a trajectory (N, n).

    Methods:
    - shared: one tension a cable, with the least squared moments out of balance. A few cables cannot give every motion
      of many joints; `residual` and `violations` say where they do not.
    - per_link: every joint's own tensions, as in D'Antuono 2023: least sum with balanced moments, normal forces of at
      least `min_contact_force` (N) and friction within the `cone`: "box" bounds each component, "true" their resultant.
      Tensions along one cable then differ from gap to gap, as no cable without friction does.
    - capstan: tensions of neighbouring gaps within the friction between cable and link, `friction` (a law or mu;
      default the laws of the robot file). Without friction it is shared, with much every joint has what it needs.
    - project: the nearest motion that one tension a cable can give. With `dt` (s between steps) the nearest trajectory;
      without, the nearest acceleration of each state, in the norm of the mass matrix.

    Ties are broken by the least sum of squares. `lower`, `upper`: bounds in N, one or one a cable; default pretension
    and max_tension of the robot file. With `check`, raises `Infeasible` naming joint, constraint and amount.
    """
    if method not in METHODS:
        raise InputError("method", f"must be {', '.join(METHODS)}, not {method!r}")
    if cone not in ("box", "true"):
        raise InputError("cone", f"must be box or true, not {cone!r}")
    if friction is not None and method != "capstan":
        raise InputError("friction", f"is for the method capstan; leave it out for {method}")
    moving = Moving.of(robot, gravity, loads)
    motion = states(robot, q, qd, qdd)
    low, high = _bounds(robot, lower, upper)
    contacts = contact_table(robot, _least_force(min_contact_force), cone == "true")
    needs = joint_needs(moving, motion)
    amounts: Floats | None = None
    converged, last_links = True, robot.cables["last_link"].copy()
    if method == "per_link":
        tensions, amounts = per_link_tensions(robot, needs, contacts, low, high)
        base = tensions[:, :, 0].copy()
    elif method == "capstan":
        laws = robot.friction_laws if friction is None else laws_for(len(low), friction)
        grips, at_base = cable_grips(laws, motion.q)
        tensions = balanced_tensions(last_links, low, high, needs.arms, needs.moments, grips)
        base = tensions_at_base(tensions[:, :, 0], at_base, low)
    else:
        if method == "project":
            motion, converged = _projected(moving, motion, needs, low, high, dt)
            needs = joint_needs(moving, motion)
        tensions = balanced_tensions(last_links, low, high, needs.arms, needs.moments)
        base = tensions[:, :, 0].copy()
    result = _weighed(robot, method, motion, needs, tensions, base, contacts, low, high, amounts, converged)
    if check and result.violations:
        raise _infeasible(result)
    return result


def _projected(
    moving: Moving, motion: States, needs: JointNeeds, low: Floats, high: Floats, dt: float | None
) -> tuple[States, bool]:
    """The nearest motion, and whether the search for it came to its end."""
    if dt is None or motion.single:
        return motion._replace(qdd=nearest_accelerations(moving, motion, needs, low, high)), True
    from vertebra.dynamics.nearest_trajectory import nearest_trajectory

    found = nearest_trajectory(moving, motion.q, motion.qd, motion.qdd, low, high, positive("dt", dt))
    return States(False, found.q, found.qd, found.qdd), found.converged


def _weighed(
    robot: Robot, method: str, motion: States, needs: JointNeeds, tensions: Floats, base: Floats, contacts: Floats,
    low: Floats, high: Floats, amounts: Floats | None, converged: bool,
) -> Allocation:  # fmt: skip
    """The result, with what the tensions do at the joints."""
    count, cables, n = tensions.shape
    residual, scale, forces = np.empty((count, n)), np.empty(count), np.empty((4, count, n, 2))
    weigh_joints(
        robot.joints, robot.cables, contacts, low, high, needs.arms, needs.wrenches, tensions, np.empty((4, cables)),
        np.empty(cables), residual, scale, forces,
    )  # fmt: skip
    shaped = motion.shaped
    violations = from_residuals(residual, BALANCED * scale) if amounts is None else from_amounts(amounts)
    feasible = np.ones(count, dtype=bool)
    feasible[[violation.step for violation in violations]] = False
    touching = None
    if contacts[:, OFFSET].any():
        touching = Contacts(*(shaped(forces[plane]) for plane in (NORMAL, TANGENTIAL, AXIAL, USE)))
    return Allocation(
        method, shaped(tensions if method in ("per_link", "capstan") else base), shaped(base), shaped(residual),
        bool(feasible[0]) if motion.single else feasible, violations, touching, shaped(motion.q), shaped(motion.qd),
        shaped(motion.qdd), shaped(needs.tau), converged,
    )  # fmt: skip


def _bounds(robot: Robot, lower: ArrayLike | None, upper: ArrayLike | None) -> tuple[Floats, Floats]:
    low, high = tension_bounds(robot, lower, upper)
    if not len(low):
        raise InputError("robot", f"{robot.name} has no cables to pull with; give `cables` in a section of its file")
    if not np.isfinite(high).all():
        cable = int(np.argmin(np.isfinite(high))) + 1
        raise InputError(
            "upper", f"cable {cable} has no largest tension; give it here, or as cables.max_tension in the robot file"
        )
    return low, high


def _least_force(value: float) -> float:
    array = numbers("min_contact_force", value, "N")
    if array.shape != () or array < 0.0:
        raise InputError("min_contact_force", f"must be one number of 0 N or more, not {value!r}")
    return float(array)


def _infeasible(result: Allocation) -> Infeasible:
    unit = result.violations[0].unit
    worst = max((violation for violation in result.violations if violation.unit == unit), key=lambda v: v.amount)
    joints = len({(violation.step, violation.joint) for violation in result.violations})
    places = "one joint" if joints == 1 else f"{joints} joints of all steps"
    return Infeasible(
        worst.joint, worst.constraint, worst.amount,
        f"no tensions give this motion within the constraints, at {places}; most of all {worst.message}; widen the "
        "bounds, slow the motion, or take method project", result,
    )  # fmt: skip
