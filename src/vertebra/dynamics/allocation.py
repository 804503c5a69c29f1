"""Which cable tensions give this motion?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.dynamics.equations_of_motion import mass_matrices_at, required_torques
from vertebra.dynamics.problem import Moving, States, joint_damping, states
from vertebra.errors import Infeasible, InputError, shown
from vertebra.mechanics.kernels.joint_balance import balance_joints
from vertebra.mechanics.kernels.link_tensions import CUTS, allocate_links, turn_wrenches, weigh_joints
from vertebra.mechanics.kernels.spatial import measure_spans
from vertebra.mechanics.layout import (
    BLOCK_FRAME,
    BLOCK_ORIGIN,
    CONTACT_LEAST_FORCE,
    CONTACT_MU,
    CONTACT_OFFSET,
    CONTACT_TRUE_CONE,
    CROSSING_ROWS,
    FORCE_AXIAL,
    FORCE_NORMAL,
    FORCE_TANGENTIAL,
    FORCE_USE,
    GIVE_WIDTH,
    RELAXED_ROWS,
    WORK_ROWS,
)
from vertebra.mechanics.problem import Load
from vertebra.robot.arguments import as_robot, flag, numbers, positive, tension_bounds, word
from vertebra.robot.friction import Friction, FrictionLaw, capstan_log_ratio, laws_for
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import ROLLING, Floats

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
    "moment": "its torque is {amount} out of balance",
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
    """Least by which it must give way, N, or N*m for the torque."""
    unit: str
    alone: bool = True
    """Giving way by `amount`, this constraint alone makes the joint's problem solvable; if not, all those that are
    named for the joint do so together (for the step, where cables share one tension)."""
    axis: str = ""
    """a, b or c, where it is about one of several freedoms of the joint."""

    @property
    def message(self) -> str:
        """A sentence."""
        what = _SENTENCES[self.constraint].format(amount=f"{self.amount:.4g} {self.unit}")
        where = f"step {self.step}, joint {self.joint}{self.axis}"
        return f"{where}: {what}" + ("" if self.alone else " (among others)")


def from_amounts(amounts: Floats) -> tuple[Violation, ...]:
    """Violations of links on their own, from the amounts by which constraints had to give way, (N, n, kinds)."""
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


def from_residuals(robot: Robot, residual: Floats, most: Floats) -> tuple[Violation, ...]:
    """Freedoms whose torque (N, n) is further out of balance than `most` (N,), N*m."""
    beyond = np.abs(residual) > most[:, None]
    if not beyond.any():
        return ()
    alone = np.count_nonzero(beyond, axis=1) == 1
    places = [(robot.joint_of(row), name.lstrip("0123456789")) for row, name in enumerate(robot.freedom_names)]
    return tuple(
        Violation(i, places[j][0], "moment", float(abs(residual[i, j])), "N*m", bool(alone[i]), places[j][1])
        for i, j in np.argwhere(beyond).tolist()
    )


# Forces between the links of rolling joints.


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
    table[:, CONTACT_OFFSET] = np.where(rolling, joints["contact_offset"], 0.0)
    table[:, CONTACT_MU] = joints["friction"]
    table[:, CONTACT_LEAST_FORCE] = min_contact_force
    table[:, CONTACT_TRUE_CONE] = true_cone
    return table


# How much a cable's tension may change along it: friction where it bends (capstan).
#
# In the gap of joint j a cable leaves one link and enters the next at half the joint's angle to either. Inside the
# link after joint j it bends by |q_j|/2 and |q_j+1|/2, so that friction lets the tensions before and after that link
# differ by factors up to exp(grip), grip = mu(|q_j|/2) |q_j|/2 + mu(|q_j+1|/2) |q_j+1|/2, mu taken at each of the two
# bends. Across a joint with several freedoms the bends are the angles between the straight piece and the two channels.


def cable_grips(moving: Moving, laws: Sequence[FrictionLaw], q: Floats) -> tuple[Floats, Floats]:
    """Grips (N, cables, n) of the link after each joint, zero after the last, and (N, cables) at the base's face."""
    out, into = cable_bends(moving, q)
    leaving, entering = (
        np.stack([capstan_log_ratio(law, bends[:, k]) for k, law in enumerate(laws)], axis=1) for bends in (out, into)
    )
    grips = np.zeros_like(leaving)
    grips[:, :, :-1] = entering[:, :, :-1] + leaving[:, :, 1:]
    return grips, leaving[:, :, 0]


def cable_bends(moving: Moving, q: Floats) -> tuple[Floats, Floats]:
    """(N, cables, n) rad each: by how much a cable bends where it leaves the link before a joint, and where it enters
    the one beyond."""
    robot, spatial = moving.robot, moving.statics.spatial()
    shape = len(q), len(robot.cables), len(robot.joints)
    halves = np.array(np.broadcast_to(0.5 * np.abs(q[:, None, robot.joints["first"]]), shape))
    if spatial is None:
        return halves, halves
    bends = halves, halves.copy()
    for i, row in enumerate(q):
        measure_spans(robot.joints, robot.links, robot.cables, robot.segments, row, spatial)
        for j in np.flatnonzero(robot.joints["freedoms"] > 1).tolist():
            turned = spatial.blocks[j, BLOCK_FRAME : BLOCK_FRAME + 9].reshape(3, 3)
            holes = np.stack([robot.cables["x"], robot.cables["y"], robot.segments["entry"][:, j]], axis=1)
            lines = holes @ turned + spatial.blocks[j, BLOCK_ORIGIN : BLOCK_ORIGIN + 3]
            holes[:, 2] = robot.segments["exit"][:, j]
            lines -= holes
            for bend, z in zip(bends, (np.array([0.0, 0.0, 1.0]), turned[2]), strict=True):
                bend[i, :, j] = np.arctan2(np.linalg.norm(np.cross(lines, z), axis=1), lines @ z)
    return bends


def tensions_at_base(first: Floats, grips: Floats, low: Floats) -> Floats:
    """(N, cables) N before the base's face: the least that holds the tensions in the first gap, in bounds."""
    least: Floats = np.maximum(first * np.exp(-grips), low)
    return least


# What a motion needs at every joint, in the joint's own axes, and the cables' arms to give it.


class JointNeeds(NamedTuple):
    """What N states need."""

    tau: Floats
    """(N, n) N*m, of all freedoms."""
    torques: Floats
    """(N, n) that the cables must supply, N*m: tau, what bends the springs and what damping takes."""
    wrenches: Floats
    """(N, joints, 6) force and moment about C along n, t, a of each joint; world axes for one with several freedoms."""
    arms: Floats
    """(N, cables, n) moment arms of the cables, m."""


def joint_needs(moving: Moving, motion: States, damping: Floats) -> JointNeeds:
    robot = moving.robot
    tau, wrenches = required_torques(moving, motion._replace(single=False), True)
    torques, arms = np.empty_like(tau), np.empty((len(tau), len(robot.cables), robot.freedoms))
    turn_wrenches(
        robot.joints, robot.links, robot.cables, robot.segments, motion.q, tau, moving.statics.spatial(), wrenches,
        torques, arms,
    )  # fmt: skip
    if damping.any():
        torques += damping * motion.qd
    return JointNeeds(tau, torques, wrenches, arms)


# Tensions of every link on its own (D'Antuono 2023, eqs. 31-37): least sum, within what the contacts can carry.


def per_link_tensions(
    robot: Robot, needs: JointNeeds, contacts: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Tensions (N, cables, n) in N, and by how much which constraints had to give way, (N, n, kinds)."""
    count, cables, n = len(needs.arms), len(robot.cables), len(robot.joints)
    variables, rows = cables + GIVE_WIDTH, RELAXED_ROWS + 2 * cables + CUTS
    tensions, amounts = np.empty((count, cables, n)), np.zeros((count, n, GIVE_WIDTH))
    limits = np.empty((2, variables + rows))
    factors = (
        np.empty((variables, variables)),
        np.empty((variables, variables)),
        np.empty((2, variables + 1), np.int64),
        np.empty(variables + rows, np.int64),
        np.empty((WORK_ROWS, variables + 1)),
    )
    allocate_links(
        robot.joints, robot.cables, contacts, low, high, needs.arms, needs.torques, needs.wrenches,
        np.empty((n, 2, variables + 1), np.int64), np.empty((CROSSING_ROWS, cables)), np.empty(variables),
        (np.empty((rows, variables)), limits[0], limits[1], np.empty(variables)), factors, tensions, amounts,
    )  # fmt: skip
    return tensions, amounts


# One tension per cable, or one per cable and gap, with the least torques out of balance.


def balanced_tensions(
    robot: Robot, low: Floats, high: Floats, arms: Floats, torques: Floats, grips: Floats | None = None
) -> Floats:
    """Tensions (N, cables, joints) in N, zero beyond the cables' ends, for `torques` (N, n) in N*m by `arms` in m.

    With `grips` (N, cables, joints), neighbouring segments of a cable may differ by factors up to exp(grip of the link
    between them). Of equally good tensions those of the least sum of squares, each cable by its mean.
    """
    count, cables, n = arms.shape
    along, joints, last_links = grips is not None, len(robot.joints), robot.cables["last_link"].copy()
    unknown = int(last_links.sum()) if along else cables
    variables, rows = unknown + n, n + (2 * unknown if along else 0)
    tensions = np.empty((count, cables, joints))
    limits, vectors = np.empty((2, variables + rows)), np.zeros((3, variables))
    factors = (
        np.empty((variables, variables)),
        np.empty((variables, variables)),
        np.empty(variables + rows, np.int64),
        np.empty((WORK_ROWS, variables + 1)),
    )
    balance_joints(
        last_links, low, high, arms, np.repeat(np.arange(joints), robot.joints["freedoms"]), torques, along,
        np.zeros((count, cables, joints)) if grips is None else grips, np.empty((2, 2, variables + 1), np.int64),
        vectors[0], vectors[1], vectors[2], np.empty((rows, variables)), limits[0], limits[1], factors, tensions,
    )  # fmt: skip
    return tensions


def nearest_accelerations(moving: Moving, motion: States, needs: JointNeeds, low: Floats, high: Floats) -> Floats:
    """qdd' (N, n) in rad/s^2 with the least (qdd' - qdd) . M (qdd' - qdd), of each state on its own.

    Gauss's principle of least constraint: by this measure a body stays as near as it can to its motion without
    constraints. A torque e out of balance changes the acceleration by M^-1 e, so this is least squares in L^-1 e with
    M = L L^T.
    """
    M = mass_matrices_at(moving, motion.q)
    L = np.linalg.cholesky(M)
    arms = np.linalg.solve(L, needs.arms.transpose(0, 2, 1)).transpose(0, 2, 1)
    torques = np.linalg.solve(L, needs.torques[:, :, None])[:, :, 0]
    arms, torques = np.ascontiguousarray(arms), np.ascontiguousarray(torques)
    pulls = balanced_tensions(moving.robot, low, high, arms, torques)[:, :, 0]
    missing = needs.torques - np.einsum("ikj,ik->ij", needs.arms, pulls)
    qdd: Floats = motion.qdd - np.linalg.solve(M, missing[:, :, None])[:, :, 0]
    return qdd


# The public call and its result.

Method = Literal["shared", "per_link", "capstan", "project"]
Cone = Literal["box", "true"]
METHODS = ("shared", "per_link", "capstan", "project")
MOST_CAPSTAN = 1000
"""Tensions that the method capstan chooses at a time, one per cable and gap: its work grows with their cube."""
BALANCED = 1e-6
"""A joint counts as balanced when its residual is below this part of the torques at the joints."""
ALIKE = 0.05
"""Rates and accelerations that differ from those of the angles by less than this part of their peak are theirs: angles
may be rounded, and the square of a short time step makes much of that."""
DIGITS = 1e-9
"""Of the largest angle: errors of angles below this part are those of their digits."""


@dataclass(frozen=True, eq=False, repr=False)
class Allocation:
    """Cable tensions of one state or, with a first dimension N everywhere, of a trajectory."""

    method: str
    tensions: Floats
    """N: (cables,), one per cable, for shared and project; (cables, joints), one per cable and gap, zero beyond the
    cable's end, for per_link and capstan."""
    base_tensions: Floats
    """(cables,) N, tension at the actuators."""
    residual: Floats
    """(n,) torque out of balance, needed less supplied, N*m."""
    feasible: bool | np.ndarray
    """Every joint is in balance and every constraint of the method is kept; (N,) for a trajectory."""
    violations: tuple[Violation, ...]
    """Constraints that cannot be met, in the order of steps and joints; empty when feasible."""
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
    """(n,) joint torques that the motion needs, N*m."""
    converged: bool = True
    """The search for the nearest trajectory converged; false means a feasible one that may not be the nearest."""
    stable: NDArray[np.bool_] | None = None
    """(N,) whether the robot, at rest at a sample, would stay there under these tensions; where it would not, only a
    controller keeps it on the motion. Told by project with `dt`, None otherwise."""

    def __repr__(self) -> str:
        steps = f"{len(self.q)} steps, " if self.q.ndim == 2 else ""
        crossed = self.tensions[self.tensions > 0.0]
        pulls = f"{crossed.min():.4g} to {crossed.max():.4g} N" if crossed.size else "0 N"
        if not self.violations:
            doubt = "" if self.converged else ", perhaps not the nearest"
            doubt += "" if self.stable is None or self.stable.all() else ", unstable"
            return f"Allocation({self.method}, {steps}{pulls}, feasible{doubt})"
        more = f" and {len(self.violations) - 1} more" if len(self.violations) > 1 else ""
        return f"Allocation({self.method}, {steps}{pulls}, not feasible: {self.violations[0].message}{more})"


def allocate_tensions(
    robot: RobotLike,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    *,
    method: Method = "shared",
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    min_contact_force: float = 1.0,
    cone: Cone = "box",
    friction: Friction | None = None,
    damping: ArrayLike | None = None,
    dt: float | None = None,
    check: bool = False,
) -> Allocation:
    """Cable tensions for angles `q` (rad), rates `qd` and accelerations `qdd`: one state (n,) or a trajectory (N, n).

    Methods:
    - shared: one tension per cable, with the least squared torques out of balance. A few cables cannot give every
      motion of many joints; `residual` and `violations` say where they do not.
    - per_link: every joint's own tensions, as in D'Antuono 2023: least sum with balanced torques, normal forces of at
      least `min_contact_force` (N) and friction within the `cone`: "box" bounds each component, "true" their resultant.
      Tensions along one cable then differ from gap to gap, as no cable without friction does.
    - capstan: tensions of neighbouring gaps within the friction between cable and link, up to a thousand of them.
      Without friction it is shared, with much every joint has what it needs.
    - project: a motion near this one that one tension per cable can give. With `dt` (s between steps) a trajectory that
      is at most 1 % farther from `q` than the nearest along which the robot is safely stable, if there is one, with the
      least and smoothest tensions there, every joint within its limit. A motion that shared tensions give as it is
      stays as it is, and one within 1 % of it stands too, even if the robot is unstable there; `stable` tells. Without
      `dt`, the nearest acceleration of each state, in the norm of the mass matrix.

    `friction` of cables in their holes: a law or mu, one or one per cable; default that of the robot file, 0 for none.
    Only capstan can use it: the others refuse a robot whose cables have friction, unless told to leave it out.
    `damping` of joints that the cables must overcome, N*m*s/rad, one for all or one each: default that of the file.
    Ties are broken by the least sum of squares. `lower`, `upper`: bounds in N, one for all or one per cable; default
    pretension and max_tension of the robot file. With `check`, raises `Infeasible` naming joint, constraint and amount.
    """
    robot = as_robot(robot)
    check = flag("check", check)
    word("method", method, METHODS)
    word("cone", cone, ("box", "true"))
    dt = None if dt is None else positive("dt", dt)
    moving = Moving.of(robot, gravity, loads)
    laws = robot.friction_laws if friction is None else laws_for(len(robot.cables), friction)
    if method != "capstan" and not all(law.is_none for law in laws):
        of = f"{robot.name} has in its file" if friction is None else "was given"
        raise InputError(
            "friction",
            f"{method} takes cables that slide freely, and cannot use the friction that {of}; take the method capstan, "
            "or pass friction=0 to leave it out",
        )
    gaps = int(robot.cables["last_link"].sum())
    if method == "capstan" and gaps > MOST_CAPSTAN:
        raise InputError(
            "method",
            f"capstan has a tension in each of the {gaps} gaps of the cables of {robot.name}, and can choose "
            f"{MOST_CAPSTAN} at most; take shared with friction=0, or a robot with fewer joints",
        )
    motion = states(robot, q, qd, qdd)
    low, high = _bounds(robot, lower, upper)
    contacts = contact_table(robot, _least_force(min_contact_force), cone == "true")
    losses = joint_damping(robot, damping)
    needs = joint_needs(moving, motion, losses)
    amounts: Floats | None = None
    base: Floats | None = None
    converged = True
    if method == "per_link":
        tensions, amounts = per_link_tensions(robot, needs, contacts, low, high)
    elif method == "capstan":
        grips, at_base = cable_grips(moving, laws, motion.q)
        tensions = balanced_tensions(robot, low, high, needs.arms, needs.torques, grips)
        base = tensions_at_base(tensions[:, :, 0], at_base, low)
    else:
        tensions = balanced_tensions(robot, low, high, needs.arms, needs.torques)
        if method == "project":
            asked = _weighed(robot, method, motion, needs, tensions, contacts, low, high)
            whole = qd is not None and qdd is not None
            if dt is not None and whole and not asked.violations and _is_motion(robot, motion, dt):
                return _told_stable(moving, asked, dt, losses)
            motion, pulls, converged = _projected(moving, motion, needs, low, high, dt, losses)
            needs = joint_needs(moving, motion, losses)
            if pulls is None:
                tensions = balanced_tensions(robot, low, high, needs.arms, needs.torques)
            else:
                crosses = np.arange(len(robot.joints)) < robot.cables["last_link"][:, None]
                tensions = np.where(crosses, pulls[:, :, None], 0.0)
    result = _weighed(robot, method, motion, needs, tensions, contacts, low, high, base, amounts, converged)
    if method == "project" and dt is not None:
        result = _told_stable(moving, result, dt, losses)
    if check and result.violations:
        raise _infeasible(result)
    return result


def _projected(
    moving: Moving, motion: States, needs: JointNeeds, low: Floats, high: Floats, dt: float | None, losses: Floats
) -> tuple[States, Floats | None, bool]:
    """The nearest motion; the tensions (N, cables) that were searched for along with it, if any; and whether that
    search converged."""
    if dt is None or motion.single:
        return motion._replace(qdd=nearest_accelerations(moving, motion, needs, low, high)), None, True
    from vertebra.dynamics.nearest_motion import nearest_trajectory

    found = nearest_trajectory(moving, motion.q, low, high, dt, losses)
    return States(False, found.q, found.qd, found.qdd), found.tensions, found.converged


def _told_stable(moving: Moving, result: Allocation, dt: float, losses: Floats) -> Allocation:
    """With `stable` filled in, for a trajectory."""
    from vertebra.dynamics.nearest_motion import MotionEquations

    if result.q.ndim == 1:
        return result
    return replace(result, stable=MotionEquations(moving, dt, losses).weakest(result.q, result.tensions) > 0.0)


def _is_motion(robot: Robot, motion: States, dt: float) -> bool:
    """Whether angles are within reach and rates and accelerations are theirs. Central differences of the angles are
    means of these over two steps, so they differ from a sample by no more than samples do from their neighbours."""
    from vertebra.dynamics.nearest_motion import Reach

    q = motion.q
    rates, rises = (q[2:] - q[:-2]) / (2.0 * dt), (q[2:] - 2.0 * q[1:-1] + q[:-2]) / dt**2
    for order, (differences, given) in enumerate(((rates, motion.qd), (rises, motion.qdd)), start=1):
        change = np.abs(np.diff(given, axis=0)).max(axis=0, initial=0.0)
        allowed = change + ALIKE * np.abs(given).max() + DIGITS * np.abs(q).max() / dt**order
        if (np.abs(differences - given[1:-1]) > allowed).any():
            return False
    return Reach.of(robot).keeps(q)


def _weighed(
    robot: Robot, method: str, motion: States, needs: JointNeeds, tensions: Floats, contacts: Floats,
    low: Floats, high: Floats, base: Floats | None = None, amounts: Floats | None = None, converged: bool = True,
) -> Allocation:  # fmt: skip
    """The result, with what the tensions do at the joints; `base` where they differ before the first gap."""
    count, cables, joints = tensions.shape
    residual, scale, forces = np.empty_like(needs.torques), np.empty(count), np.empty((4, count, joints, 2))
    weigh_joints(
        robot.joints, robot.cables, contacts, low, high, needs.arms, needs.torques, needs.wrenches, tensions,
        np.empty((CROSSING_ROWS, cables)), np.empty(cables), residual, scale, forces,
    )  # fmt: skip
    shaped = motion.shaped
    base = tensions[:, :, 0].copy() if base is None else base
    violations = from_residuals(robot, residual, BALANCED * scale) if amounts is None else from_amounts(amounts)
    feasible = np.ones(count, dtype=bool)
    feasible[[violation.step for violation in violations]] = False
    touching = None
    if contacts[:, CONTACT_OFFSET].any():
        touching = Contacts(
            *(shaped(forces[plane]) for plane in (FORCE_NORMAL, FORCE_TANGENTIAL, FORCE_AXIAL, FORCE_USE))
        )
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
        raise InputError("min_contact_force", f"must be one number of 0 N or more, not {shown(value)}")
    return float(array)


def _infeasible(result: Allocation) -> Infeasible:
    unit = result.violations[0].unit
    worst = max((violation for violation in result.violations if violation.unit == unit), key=lambda v: v.amount)
    joints = len({(violation.step, violation.joint) for violation in result.violations})
    places = "one joint" if joints == 1 else f"{joints} joints over all steps"
    remedy = "or slow the motion" if result.method == "project" else "slow the motion, or take method project"
    return Infeasible(
        worst.joint, worst.constraint, worst.amount,
        f"no tensions give this motion within the constraints, at {places}; most of all {worst.message}; widen the "
        f"bounds, {remedy}", result,
    )  # fmt: skip
