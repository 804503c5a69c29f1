"""The shape of a robot under its cables: the result of every forward solve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError, NoEquilibrium, OutOfRange, Unstable
from vertebra.mechanics.gradient import Numbers, Seeds, pose_gradients
from vertebra.mechanics.kernels.describe import describe_shape
from vertebra.mechanics.kernels.friction import MOST_GRIP, grip_at
from vertebra.mechanics.kernels.newton import SETTLED, all_in_range, in_range
from vertebra.mechanics.kernels.sweep import NONE
from vertebra.mechanics.kinematics import crossed_faces, twist_table
from vertebra.mechanics.layout import (
    GRIP_IN,
    GRIP_OUT,
    GRIP_SLIP,
    REPORT_ENERGY,
    REPORT_ITERATIONS,
    REPORT_LOCKED,
    REPORT_RESIDUAL,
    REPORT_SCALE,
    REPORT_WEAK,
    STATE_STOP,
    STATE_TAU,
)
from vertebra.mechanics.problem import NO_CABLES, CableFriction, Closure, Load, Problem, Workspace
from vertebra.robot.arguments import axial_stiffness, vector
from vertebra.robot.friction import FrictionLaw
from vertebra.robot.robot import Robot
from vertebra.robot.tables import ROLLING, Floats

RIGID = 1e-12
"""A principal compliance below this fraction of the largest is zero: the tip cannot move that way to first order."""
NO_GIVE = 1e-200
"""m/N; less is left where every joint that could move the tip rests on a stop."""


class Status(IntEnum):
    """How a solve ended."""

    SOLVED = 0
    NO_EQUILIBRIUM = 1
    OUT_OF_RANGE = 2
    UNSTABLE = 3

    @property
    def sentence(self) -> str:
        """What happened and what to try."""
        return _SENTENCES[self]


_SENTENCES = {
    Status.SOLVED: "a stable equilibrium within the range of every joint",
    Status.NO_EQUILIBRIUM: "the search found no equilibrium; try another start, or smaller loads",
    Status.OUT_OF_RANGE: "a joint would pass its limit; change the tensions, lessen the load, or try another start",
    Status.UNSTABLE: "nothing supports the robot in this equilibrium; raise the tensions, or try another start",
}


@dataclass(frozen=True, eq=False, repr=False)
class TipStiffness:
    """Principal stiffnesses of the tip against forces: axes of the stiffness ellipsoid."""

    stiffness: Floats
    """(3,) N/m, softest first; infinite where the tip cannot move to first order, as along a straight robot."""
    directions: Floats
    """(3, 3) unit vectors, one row each, world axes."""
    compliance: Floats
    """(3, 3) m/N, the symmetric part."""

    def along(self, direction: ArrayLike) -> float:
        """Force along a direction per displacement along it, N/m; the tip may move sideways as well."""
        unit = vector("direction", direction, "any unit")
        if not unit.any():
            raise InputError("direction", "must not be all zero")
        unit /= np.linalg.norm(unit)
        give = float(unit @ self.compliance @ unit)
        return 1.0 / give if give > RIGID * float(np.abs(self.compliance).max()) + NO_GIVE else np.inf

    def __repr__(self) -> str:
        values = ", ".join(f"{value:.4g}" for value in self.stiffness)
        return f"TipStiffness({values} N/m)"


class GivenCables(NamedTuple):
    """How the cables of a shape were held, beside their tensions."""

    rest: Floats = NO_CABLES
    """(cables,) lengths without tension, m; empty when the tensions were given."""
    rate: Floats = NO_CABLES
    """(cables,) tension per stretch, N/m."""
    history: Floats | None = None
    """(3, cables, n) of the friction before this shape; None for cables pulled from the straight robot."""


@dataclass(frozen=True, eq=False, repr=False)
class Shape:
    """A robot in equilibrium (unless it says otherwise), world axes, SI."""

    robot: Robot
    gravity: Floats
    """(3,) m/s^2."""
    loads: tuple[Load, ...]
    friction: tuple[FrictionLaw, ...]
    """One per cable; empty without friction."""
    closure: Closure
    angles: Floats
    """(n,) rad."""
    frames: Floats
    """(n+1, 4, 4) frames of the links, m; 0 is the base."""
    tip: Floats
    """(3,) m."""
    tensions: Floats
    """(cables, n) of each cable across each joint, N; 0 beyond its end."""
    tensions_at_base: Floats
    """(cables,) tension of each cable where it enters the base, N, before the friction of the base."""
    slip: Floats
    """(cables, n) slip direction of each cable in the link before each joint: -1 where it is drawn to the base, 1 to
    the tip, between them where it sticks; 0 without friction."""
    lengths: Floats
    """(cables,) from the base plane to the end, through all holes, m."""
    forces: Floats
    """(n, 3) force that each joint passes to its distal link, N; for a rolling joint the contact force."""
    normal_forces: Floats
    """(n,) its part along the common normal of the two links, N; negative where the joint would have to pull."""
    compliance: Floats
    """(6, 6) motion of the tip per force and moment on it: linear rows and columns first, m/N, rad/N, rad/(N*m).
    Infinite when unstable."""
    energy: float
    """Potential of cables, elastic joints, weights and forces, J."""
    residual: float
    """Largest joint torque out of balance, N*m."""
    moment_scale: float
    """Size of the torques that balance at a joint, N*m, to compare the residual with."""
    iterations: int
    """Newton steps."""
    converged: bool
    stable: bool
    """Every small displacement is resisted."""
    out_of_range: tuple[int, ...]
    """Joints past their limit, or bent so far that their faces pass through each other or that friction locks a cable,
    counted from 1."""
    locked: tuple[int, ...]
    """Joints bent so far that by the friction law no tension could draw a cable through, counted from 1."""
    separated: tuple[int, ...]
    """Rolling joints whose contact would have to pull, counted from 1: there the links of a real robot come apart."""
    weakest: int
    """Joint from which an unstable robot gives way, or that is farthest from balance, counted from 1; 0 for none."""
    stop_torques: Floats
    """(n,) torque of the rigid stop that each joint rests on, N*m; 0 where none does."""
    _cables: GivenCables
    """What else the shape depends on, for its derivatives."""

    @property
    def at_stops(self) -> tuple[int, ...]:
        """Joints that rest on their rigid stops, counted from 1."""
        return tuple(sorted({self.robot.joint_of(int(row)) for row in np.flatnonzero(self.stop_torques)}))

    @property
    def status(self) -> Status:
        """The first thing that is wrong, or SOLVED."""
        if self.out_of_range:
            return Status.OUT_OF_RANGE
        if not self.converged:
            return Status.NO_EQUILIBRIUM
        return Status.SOLVED if self.stable else Status.UNSTABLE

    def require_solved(self, hint: str = "") -> Shape:
        """This shape, or the typed error that says what is wrong with it, with a `hint` at what else may help."""
        status = self.status
        remedy = _SENTENCES[status].split("; ")[-1] + (f"; {hint}" if hint else "")
        if status == Status.OUT_OF_RANGE:
            row = self.out_of_range[0] - 1
            what = "the equilibrium lies there" if self.converged else "the search went there and found no equilibrium"
            limit, reason = limit_passed(self, row, f"{what}; {remedy}")
            raise OutOfRange(row + 1, self.robot.bend_of(self.angles, row), limit, reason, self)
        if status == Status.NO_EQUILIBRIUM:
            raise NoEquilibrium(self.weakest, self.residual, remedy, self)
        if status == Status.UNSTABLE:
            raise Unstable(self.weakest, remedy, self)
        return self

    def stiffness(self) -> TipStiffness:
        """Principal stiffnesses of the tip against forces; the shape must be a stable one."""
        self.require_solved()
        compliance = 0.5 * (self.compliance[:3, :3] + self.compliance[:3, :3].T)
        values, vectors = np.linalg.eigh(compliance)
        return TipStiffness(principal_stiffnesses(values[::-1]), vectors.T[::-1].copy(), compliance)

    @property
    def tip_by_tension(self) -> Floats:
        """(6, cables) motion of the tip per tension at the base, all other tensions held: m/N, then rad/N.

        For a shape from lengths too, as if its cables were now held by their tensions. Infinite where the shape would
        then be unstable. Worked out anew at each use.
        """
        found = self._tip_slopes(NO_CABLES, NO_CABLES)
        return np.full((6, len(self.tensions)), np.inf) if found is None else found.tensions

    @property
    def tip_by_length(self) -> Floats:
        """(6, cables) motion of the tip per length of cable without tension, all other lengths held: m/m, then rad/m.

        The cables have the axial stiffness that the shape was solved with. A shape from tensions is taken as if its
        cables were now held by their lengths, with the robot file's `stiffness_EA`, and 20 kN where that has none; a
        cable without tension is about to become taut. Zero for slack cables, infinite where the shape is unstable.
        Worked out anew at each use.
        """
        rest, rate = self._cables.rest, self._cables.rate
        if not len(rest):
            rest = self.natural_lengths()
            rate = axial_stiffness(self.robot, None) / rest
        found = self._tip_slopes(rest, rate)
        # The tension per stretch is EA over the length without tension.
        return np.full((6, len(rest)), np.inf) if found is None else found.rest - found.rate * rate / rest

    def natural_lengths(self, stiffness_EA: ArrayLike | None = None) -> Floats:
        """(cables,) lengths without tension of cables that have these tensions in this shape, m.

        `stiffness_EA` as in `shape_from_lengths`, which takes these lengths.
        """
        mean = self.tensions.sum(axis=1) / self.robot.cables["last_link"]
        rest: Floats = self.lengths / (1.0 + mean / axial_stiffness(self.robot, stiffness_EA))
        return rest

    def _problem(self) -> Problem:
        return Problem.of(self.robot, self.gravity, self.loads, self.friction or 0.0, self.closure)

    def _tip_slopes(self, rest: Floats, rate: Floats) -> Numbers | None:
        """Derivatives (6, ...) of the tip by everything; None where the shape is unstable with its cables held so."""
        problem, history = self._problem(), self._cables.history
        work = problem.workspace(len(rest) > 0, None if history is None else history.copy())
        seeds = Seeds.none(problem, 6)
        seeds.tip[:] = np.eye(6)
        pull = self.tensions_at_base.copy()
        found, _ = pose_gradients(problem, work, self.tip, self.angles, pull, seeds, None, rest, rate)
        return found if self.converged and work.report[REPORT_WEAK] == NONE else None

    def tension_margin(self) -> tuple[float, float]:
        """Range of the factor on all tensions within which the stiffness at this pose is positive definite.

        1 lies within it for a stable shape whose cables have no friction. Rolling joints buckle at its lower end,
        flexures at its upper one, which is infinite for rolling joints; (0, 0) when no factor makes the pose stable.
        This is linear buckling: pose, weight and loads stay, cables run freely. For the straight robot it is exact, and
        `critical_tension` over the tension.
        """
        from vertebra.statics.branches import tension_margin

        return tension_margin(self)

    def __repr__(self) -> str:
        x, y, z = (float(value) for value in self.tip * 1e3)
        if self.status != Status.SOLVED:
            held = self.status.name.lower().replace("_", " ")
        else:
            held = "stable" + (", contact lost at joint " + str(self.separated[0]) if self.separated else "")
        most = math.degrees(float(np.abs(self.angles).max()))
        return (
            f"Shape of {self.robot.name!r}: tip ({x:.2f}, {y:.2f}, {z:.2f}) mm, angles up to {most:.2f} deg, {held}, "
            f"{self.iterations} iterations"
        )


def principal_stiffnesses(compliances: NDArray[np.floating]) -> Floats:
    """1 / c along the last axis, N/m; infinite where c is round-off."""
    floor = RIGID * np.abs(compliances).max(axis=-1, keepdims=True) + NO_GIVE
    moves = compliances > floor
    result: Floats = np.where(moves, 1.0 / np.where(moves, compliances, 1.0), np.inf)
    return result


def limit_passed(shape: Shape, row: int, remedy: str) -> tuple[float, str]:
    """The limit that a joint is past, rad, with `remedy`; or, where it is within the limit of the robot file, the
    narrower one that its cables or faces set, and why."""
    limit = float(shape.robot.joints["limit"][row])
    if abs(shape.robot.bend_of(shape.angles, row)) > limit:
        return limit, remedy
    if row + 1 in shape.locked:
        return _locking_angle(shape, row), _LOCKED
    return crossed_faces(shape.robot, shape.angles, row)


def _locking_angle(shape: Shape, row: int) -> float:
    """Bend of a joint at which friction locks a cable that crosses it, rad."""
    crossing = np.flatnonzero(shape.robot.cables["last_link"] > row)
    bends = np.linspace(0.0, abs(shape.robot.bend_of(shape.angles, row)), 2001)
    if shape.robot.joints["freedoms"][row] > 1:
        return float(bends[-1])  # where a cable meets its channels at angles of its own, the pose itself must do
    grips = np.max([shape.friction[k](0.5 * bends) for k in crossing], axis=0) * np.sin(0.5 * bends)
    return float(bends[int(np.argmax(grips >= MOST_GRIP))])


_LOCKED = (
    "bent that far, the friction law locks a cable in its hole (mu sin(bend) reaches 1); lower the tensions, or "
    "give a law that is valid for such bends"
)


BY_TENSION = GivenCables()


def build_shape(
    problem: Problem, status: int, tensions: Floats, q: Floats, work: Workspace, cables: GivenCables = BY_TENSION
) -> Shape:
    """The result object of a pose, from what `find_shape` or `inspect_pose` left in `work`."""
    robot, by_length = problem.robot, len(cables.rest) > 0
    n, c = len(robot.joints), len(robot.cables)
    frames, twists, tip = np.empty((n + 1, 4, 4)), twist_table(robot), np.empty(3)
    along, lengths = np.empty((c, n)), np.empty(c)
    forces, normal_forces, compliance = np.empty((n, 3)), np.empty(n), np.empty((6, 6))
    describe_shape(
        *problem.system, robot.origin, robot.tip_point, by_length, work.friction, tensions, q, work.state, work.wide,
        work.memory, work.report, work.spatial, frames, twists, tip, along, lengths, forces, normal_forces, compliance,
    )  # fmt: skip
    report: list[float] = work.report.tolist()
    slip = work.friction.grip[GRIP_SLIP, :, :n].copy() if problem.laws and work.friction else np.zeros((c, n))
    locked = _locked_joints(work.friction, robot, q) if report[REPORT_LOCKED] != NONE else ()
    weak = int(report[REPORT_WEAK])
    converged = status == SETTLED
    stable = converged and weak == NONE
    if converged:
        weakest = robot.joint_of(weak) if weak != NONE else 0
    else:
        weakest = robot.joint_of(int(np.argmax(np.abs(work.state[:, STATE_TAU]))))
        compliance[:] = math.inf
    return Shape(
        robot, problem.gravity, problem.loads, problem.laws, problem.closure, q, frames, tip, along, tensions.copy(),
        slip, lengths, forces, normal_forces, compliance,
        report[REPORT_ENERGY], report[REPORT_RESIDUAL], report[REPORT_SCALE], int(report[REPORT_ITERATIONS]),
        converged, stable, tuple(sorted({*joints_out_of_range(robot, q), *locked})), locked,
        rows_where((normal_forces < 0.0) & (robot.joints["kind"] == ROLLING)), weakest,
        work.state[:, STATE_STOP].copy() if robot.has_stops else np.zeros(len(q)), cables,
    )  # fmt: skip


def _locked_joints(friction: CableFriction | None, robot: Robot, q: Floats) -> tuple[int, ...]:
    if friction is None:
        return ()
    locked = np.zeros(len(robot.joints), dtype=bool)
    for k, last in enumerate(robot.cables["last_link"].tolist()):
        for j in range(last):
            if robot.joints["freedoms"][j] > 1:
                locked[j] |= bool((friction.grip[[GRIP_OUT, GRIP_IN], k, j] >= MOST_GRIP).any())
            else:
                half = 0.5 * q[robot.joints["first"][j]]
                locked[j] |= grip_at(friction.laws, friction.curves, k, 2.0 * half, np.sin(half), np.cos(half))[2]
    return rows_where(locked)


def joints_out_of_range(robot: Robot, q: Floats) -> tuple[int, ...]:
    """Counted from 1."""
    joints, cables, segments = robot.joints, robot.cables, robot.segments
    if all_in_range(joints, cables, segments, q):
        return ()
    return tuple(j + 1 for j in range(len(joints)) if not in_range(joints, cables, segments, q, j))


def rows_where(mask: Any) -> tuple[int, ...]:
    """Counted from 1."""
    return tuple((np.flatnonzero(mask) + 1).tolist()) if mask.any() else ()
