"""A dynamics question, checked and laid out for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, OutOfRange
from vertebra.mechanics.kernels.spatial import Spatial
from vertebra.mechanics.kinematics import Pose
from vertebra.mechanics.layout import (
    BODY_WIDTH,
    MOTION_SPATIAL_WIDTH,
    MOTION_WIDTH,
    PARTICLE_SPATIAL_WIDTH,
    PARTICLE_WIDTH,
)
from vertebra.mechanics.problem import Load, Problem, load_table, require_pull
from vertebra.robot.arguments import gravity_vector, numbers
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, Body, Floats, join, point_mass, read_body, section_rows


@dataclass(frozen=True, eq=False)
class Moving:
    """A robot with mass and inertia, under gravity and loads."""

    statics: Problem
    """The same robot at rest: gravity, loads, friction."""

    @classmethod
    def of(
        cls, robot: Robot, gravity: str | ArrayLike | None, loads: Sequence[Load] | None, friction: Any = 0.0
    ) -> Moving:
        problem = Problem.of(robot, gravity, loads, friction)
        require_inertia(problem)
        return cls(problem)

    @property
    def robot(self) -> Robot:
        return self.statics.robot

    def weightless(self) -> Moving:
        """The same masses without gravity and loads."""
        gravity = gravity_vector(self.robot, np.zeros(3))
        return Moving(replace(self.statics, gravity=gravity, table=load_table(self.robot, ())))

    @property
    def heavy_gaps(self) -> bool:
        """Whether there is mass in the gaps of joints: rods, cables."""
        robot = self.robot
        return bool(robot.joints["mass"].any() or robot.cables["linear_density"].any())

    @property
    def system(self) -> tuple[Any, ...]:
        """First arguments of the kernels: tables, gravity, loads, scratch for the bodies, whether gaps have mass."""
        return *self.statics.system, np.empty((len(self.robot.joints), BODY_WIDTH)), self.heavy_gaps

    def scratch(self) -> tuple[Floats, Floats, Floats, Spatial | None]:
        """Fields of `MotionWork`, what the passes along the chain write, and what joints with several freedoms need; a
        thread has its own."""
        n, c, spatial = len(self.robot.joints), len(self.robot.cables), self.statics.spatial()
        return (
            np.empty((self.robot.freedoms, MOTION_WIDTH if spatial is None else MOTION_SPATIAL_WIDTH)),
            np.empty((n * (c + 1), PARTICLE_WIDTH if spatial is None else PARTICLE_SPATIAL_WIDTH)),
            np.empty((len(self.statics.table), 3)),
            spatial,
        )


def require_inertia(problem: Problem) -> None:
    """Every moving link needs mass and inertia. An inertia of 0 that the file states is taken where the link resists
    every motion of its joint all the same, as a point mass beside the joint's axes does."""
    robot, links = problem.robot, problem.links
    if not (links["mass"][1:] > 0.0).all():
        link = int(np.argmin(links["mass"][1:] > 0.0)) + 1
        raise InputError("robot", f"link {link} has no mass; give `link: {{mass: ...}}` in the robot file")
    for section, rows in section_rows(robot.description):
        if section.link.inertia is None:
            raise InputError(
                "robot",
                f"link {rows.start + 1} has no inertia; give `link: {{inertia: [Ixx, Iyy, Izz]}}` in the robot file, "
                "or take solid cylinders with fill_inertia",
            )
    require_resistance(problem, np.zeros(robot.freedoms), "robot")


LEAST_RESISTANCE = 1e-12
"""Of the inertia about a joint, as a share of what the mass of its link has at the distance of the link's length."""


def require_resistance(problem: Problem, q: Floats, argument: str = "q") -> None:
    """Something has to resist every motion of every joint at angles `q`, or accelerations would be infinite; only links
    that have no inertia about some axis can fail to.

    From the tip to the base, each joint moves the inertia of what lies beyond it, all further joints free
    (Featherstone's articulated bodies): their determinants make up that of the mass matrix, but lose no digits.
    """
    robot, links = problem.robot, problem.links
    if (links["inertia"][1:] > 0.0).all():
        return
    pose, beyond = Pose(robot, q), np.zeros((6, 6))
    for link in range(len(robot.joints), 0, -1):
        joint, body, frame = robot.joints[link - 1], _with_locks(problem, link), pose.frames[link]
        turn, arm = frame[:3, :3], _crossing(frame[:3, :3] @ body.center)
        beyond[:3, :3] += body.mass * np.eye(3)
        beyond[:3, 3:] -= body.mass * arm
        beyond[3:, :3] += body.mass * arm
        beyond[3:, 3:] += turn @ body.inertia @ turn.T - body.mass * arm @ arm
        own = slice(joint["first"], joint["first"] + joint["freedoms"])
        moves = pose.jacobian(link, np.zeros(3))[:, own]
        force = beyond @ moves
        scale = body.mass * (float(robot.links["length"][link]) + float(joint["size"])) ** 2
        if not np.linalg.eigvalsh(moves.T @ force)[0] > LEAST_RESISTANCE * scale:
            where = "" if argument == "robot" else " at these angles"
            raise InputError(
                argument,
                f"nothing resists a motion of joint {link}{where}: link {link} has inertia "
                f"{_listed(links['inertia'][link])} kg*m^2, and all mass that would move lies on the axis; give "
                "`link: {inertia: [Ixx, Iyy, Izz]}` above 0, or a `center_of_mass` beside the axis",
            )
        beyond -= force @ np.linalg.solve(moves.T @ force, force.T)
        # About the origin of the link before.
        shift = np.eye(6)
        shift[3:, :3] = _crossing(frame[:3, 3] - pose.frames[link - 1][:3, 3])
        beyond = shift @ beyond @ shift.T


def _with_locks(problem: Problem, link: int) -> Body:
    """A link with what is fixed to it."""
    locks = problem.robot.cables[problem.robot.cables["last_link"] == link]
    fixed = [point_mass(float(lock["lock_mass"]), np.array([lock["x"], lock["y"], lock["end"]])) for lock in locks]
    return join([read_body(problem.links[link]), *fixed])


def _crossing(arm: Floats) -> Floats:
    """The matrix that takes the cross product of `arm` with a vector."""
    x, y, z = arm
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _listed(values: Floats) -> str:
    return f"[{', '.join(f'{value:g}' for value in values)}]"


class States(NamedTuple):
    """One state or many, as (N, n) arrays."""

    single: bool
    q: Floats
    qd: Floats
    qdd: Floats

    def shaped(self, array: Floats) -> Floats:
        """(N, ...) as the caller asked for it: without the first dimension for one state."""
        return array[0] if self.single else array


def states(
    robot: Robot, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None, third: str = "qdd"
) -> States:
    """Angles, rates and accelerations of one state (n,) or many (N, n); those left out are zero.

    `third`: what the caller passes as `qdd`, for messages.
    """
    angles = _rows(robot, "q", q, "rad")
    require_joint_law(robot, angles, "the joint law ends at 180 deg; angles are in rad")
    shape = angles.shape
    rates = np.zeros(shape) if qd is None else _rows(robot, "qd", qd, "rad/s")
    accelerations = np.zeros(shape) if qdd is None else _rows(robot, third, qdd, "SI units")
    for name, array in (("qd", rates), (third, accelerations)):
        if array.shape != shape:
            raise InputError(name, f"must have the shape of q, {shape}, not {array.shape}")
    single = angles.ndim == 1
    if single:
        return States(single, angles[None], rates[None], accelerations[None])
    return States(single, angles, rates, accelerations)


def require_joint_law(robot: Robot, q: Floats, reason: str) -> None:
    """Angles (n,) or (N, n) within the half turn at which joint laws end; of a backbone the whole bend."""
    beyond = np.abs(q) >= np.pi
    rods = robot.joints["first"][robot.joints["kind"] == BACKBONE]
    beyond[..., rods] |= np.hypot(q[..., rods], q[..., rods + 1]) >= np.pi
    if beyond.any():
        step, freedom = divmod(int(np.argmax(beyond)), robot.freedoms)
        joint, row = robot.joint_of(freedom), q.reshape(-1, robot.freedoms)[step]
        bend = float(row[freedom])
        if freedom in rods or freedom in rods + 1:
            bend = robot.bend_of(row, joint - 1)
        raise OutOfRange(joint, bend, np.pi, reason)


def _rows(robot: Robot, name: str, values: ArrayLike, unit: str) -> Floats:
    array = numbers(name, values, unit)
    n = robot.freedoms
    if array.ndim not in (1, 2) or array.shape[-1] != n or array.size == 0:
        raise InputError(name, f"must have shape ({n},) or (steps, {n}) for {robot.name}, not {array.shape}")
    return array


def joint_damping(robot: Robot, damping: ArrayLike | None) -> Floats:
    """(n,) N*m*s/rad: one for all joints or one for each freedom, 0 or more; None for those of the robot file."""
    if damping is None:
        return robot.dampers
    array = numbers("damping", damping, "N*m*s/rad")
    if array.shape not in ((), (robot.freedoms,)) or (array < 0.0).any():
        each = "joint" if robot.freedoms == len(robot.joints) else "freedom"
        raise InputError("damping", f"must be one number of 0 N*m*s/rad or more, or {robot.freedoms}, one per {each}")
    return np.array(np.broadcast_to(array, (robot.freedoms,)))


def cable_tensions(problem: Problem, tensions: ArrayLike, count: int) -> Floats:
    """(count, cables) N: one number or one set for all states, or one set each."""
    array, cables = numbers("tensions", tensions, "N"), len(problem.robot.cables)
    if array.shape not in ((), (cables,), (count, cables)):
        wanted = f"({cables},) or ({count}, {cables}), one per cable of {problem.robot.name}"
        raise InputError("tensions", f"must be one number, or have shape {wanted}, not {array.shape}")
    require_pull("tensions", array)
    return np.array(np.broadcast_to(array, (count, cables)), order="C")
