"""Geometry of a robot at given joint coordinates: frames, Jacobians, cable lengths, masses.

A `Pose` answers for any angles at which the joint laws are defined (|angle| < 180 degrees). Whether a joint can
reach it (`limit` of the robot file) is checked by the solvers, not here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError, OutOfRange
from vertebra.mechanics.kernels.cables import TOUCH, measure_segments
from vertebra.mechanics.kernels.describe import locate_masses
from vertebra.mechanics.kernels.joints import DONE, point_jacobian, walk_chain
from vertebra.mechanics.kernels.newton import TOUCHES_STOP
from vertebra.mechanics.kernels.spatial import Spatial, measure_spans
from vertebra.mechanics.layout import (
    BLOCK_WIDTH,
    FILLING_WIDTH,
    SPAN_FIRST,
    SPAN_LENGTH,
    SPAN_SECOND,
    SPAN_WIDTH,
)
from vertebra.robot.arguments import as_robot, coordinates, link_index, link_point
from vertebra.robot.robot import Robot, RobotLike
from vertebra.robot.tables import BACKBONE, Floats


@dataclass(frozen=True, eq=False)
class CableSegments:
    """Length of every cable across every joint, with derivatives in the joint's own coordinates."""

    lengths: Floats
    """(cables, joints) m; zero beyond the link where a cable ends."""
    first: Floats
    """(cables, freedoms) dl/dq, m/rad."""
    second: Floats
    """(cables, freedoms) d2l/dq2, m/rad^2."""
    cross: Floats
    """(cables, joints) mixed derivative of the first two coordinates of joints that have several, m/rad^2."""

    def __repr__(self) -> str:
        cables, joints = self.lengths.shape
        return f"CableSegments({cables} cables x {joints} joints)"


@dataclass(frozen=True, eq=False)
class Masses:
    """Every mass of a robot and its centroid in the world frame."""

    links: Floats
    """(n+1,) kg."""
    links_at: Floats
    """(n+1, 3) m."""
    rods: Floats
    """(n,) kg, of the rods of flexure joints."""
    rods_at: Floats
    """(n, 3) m."""
    cables: Floats
    """(cables, n) kg, of the cables in the gaps; inside a link a cable counts with the link."""
    cables_at: Floats
    """(cables, n, 3) m."""
    locks: Floats
    """(cables,) kg, of the devices that hold the cable ends."""
    locks_at: Floats
    """(cables, 3) m."""

    @property
    def total(self) -> float:
        """kg."""
        return float(self.links.sum() + self.rods.sum() + self.cables.sum() + self.locks.sum())

    @property
    def center(self) -> Floats:
        """(3,) centre of mass, m; the base origin for a robot without mass."""
        if self.total == 0.0:
            return np.array(self.links_at[0])
        center: Floats = (
            self.links @ self.links_at
            + self.rods @ self.rods_at
            + np.einsum("kj,kjx->x", self.cables, self.cables_at)
            + self.locks @ self.locks_at
        )
        center /= self.total
        return center

    def __repr__(self) -> str:
        x, y, z = self.center * 1e3
        return f"Masses({self.total * 1e3:.4g} g at ({x:.2f}, {y:.2f}, {z:.2f}) mm)"


@dataclass(frozen=True, eq=False, repr=False)
class Pose:
    """A robot at given joint coordinates: where its links are, how its points move, how long its cables are.

    `angles`: (freedoms,) rad; one per mirror joint, two per universal joint (first axis, second axis) or ball joint
    (bend toward x, bend toward y). Universal and ball robots also take (joints, 2).
    """

    robot: Robot
    angles: Floats
    """(freedoms,) rad."""
    frames: Floats = field(init=False)
    """(n+1, 4, 4) frames of the links in the world, m: 0 is the base, -1 the last link."""
    _axes: Floats = field(init=False)
    """(freedoms, 6 or 7) `twists` as kernels read them, with the lead of backbones that twist."""

    def __init__(self, robot: RobotLike, angles: ArrayLike) -> None:
        robot = as_robot(robot)
        q = coordinates(robot, angles).copy()
        links, axes = np.empty((len(robot.links), 4, 4)), twist_table(robot)
        status = walk_chain(robot.joints, robot.links, robot.origin, q, links, axes)
        if status != DONE:
            _refuse(robot, q, status)
        for name, value in (("robot", robot), ("angles", q), ("frames", links), ("_axes", axes)):
            object.__setattr__(self, name, value)

    @property
    def twists(self) -> tuple[Floats, Floats]:
        """Rotation axis and a point on it for every freedom, both (freedoms, 3) in the world, rad/rad and m.

        Distal links turn about the axis through that point, the instantaneous centre. Axes are unit vectors, except for
        ball and backbone joints away from straight, whose coordinates are the components of the bend. A backbone joint
        that is bent and twisted moves along its axes as well; `jacobian` counts that."""
        return self._axes[:, :3], self._axes[:, 3:6]

    @property
    def tip(self) -> Floats:
        """(3,) the tip point, m."""
        return self.tip_frame[:3, 3]

    @property
    def tip_frame(self) -> Floats:
        """(4, 4) frame at the tip point, m: axes of the last link."""
        tip: Floats = self.frames[-1].copy()
        tip[:3, 3] += tip[:3, :3] @ self.robot.tip_point
        return tip

    def jacobian(self, link: int = -1, point: ArrayLike | None = None) -> Floats:
        """Geometric Jacobian (6, freedoms) of a point of a link: linear velocity rows, then angular, world axes.

        `point` is in the frame of `link`, m; default: the tip point on the last link, the centre of mass on any other.
        """
        robot = self.robot
        index = link_index(robot, link)
        at = link_point(robot, index, point)
        out = np.empty((6, robot.freedoms))
        point_jacobian(robot.joints, self.frames, self._axes, index, at, out)
        return out

    @property
    def cable_segments(self) -> CableSegments:
        """Cable lengths across every joint with first and second derivatives.

        Raises `OutOfRange` where the faces of a joint have passed through each other at a cable.
        """
        segments = measure(self.robot, self.angles)
        crossed = crossed_joints(self.robot, segments)
        if crossed.any():
            row = int(np.where(crossed, segments.lengths.min(axis=0, initial=0.0), 0.0).argmin())
            limit, reason = crossed_faces(self.robot, self.angles, row)
            raise OutOfRange(row + 1, self.robot.bend_of(self.angles, row), limit, reason)
        return segments

    @property
    def cable_lengths(self) -> Floats:
        """Length of each cable from the base plane (world z = 0) to its end, through all holes, (cables,) m; from its
        hole in the base where a base shorter than the holes are deep leaves that below the plane."""
        total: Floats = self.cable_segments.lengths.sum(axis=1) + self.robot.cables["inside"]
        return total

    @property
    def masses(self) -> Masses:
        """Every mass and its centroid."""
        robot, segments = self.robot, self.cable_segments
        cables, n = len(robot.cables), len(robot.joints)
        links_at, rods_at = np.empty((n + 1, 3)), np.empty((n, 3))
        cable_mass, cables_at, locks_at = np.empty((cables, n)), np.empty((cables, n, 3)), np.empty((cables, 3))
        locate_masses(
            robot.joints, robot.links, robot.cables, robot.segments, self.angles, self.frames, segments.lengths,
            links_at, rods_at, cable_mass, cables_at, locks_at,
        )  # fmt: skip
        return Masses(
            robot.links["mass"].copy(), links_at, robot.joints["mass"].copy(), rods_at,
            cable_mass, cables_at, robot.cables["lock_mass"].copy(), locks_at,
        )  # fmt: skip

    def __repr__(self) -> str:
        x, y, z = self.tip * 1e3
        return f"Pose of {self.robot.name!r}: tip ({x:.2f}, {y:.2f}, {z:.2f}) mm"


def measure(robot: Robot, q: Floats) -> CableSegments:
    """`Pose.cable_segments` for checked coordinates, also where faces have passed through each other."""
    cables, n, f = len(robot.cables), len(robot.joints), robot.freedoms
    lengths, cross = np.empty((cables, n)), np.empty((cables, n))
    first, second = np.empty((cables, f)), np.empty((cables, f))
    tables = robot.joints, robot.links, robot.cables, robot.segments
    status = measure_segments(*tables, q, lengths, first, second, cross)
    if status != DONE:
        _refuse(robot, q, status)
    if (robot.joints["kind"] == BACKBONE).any():
        _measure_backbones(robot, q, lengths, first, second, cross)
    return CableSegments(lengths, first, second, cross)


def twist_table(robot: Robot) -> Floats:
    """What `walk_chain` writes the axes of all freedoms into: a seventh column for joints that twist."""
    return np.zeros((robot.freedoms, 7 if robot.can_twist else 6))


def spatial_tables(robot: Robot) -> Spatial | None:
    """Scratch for joints with several freedoms, where there are any; a thread has its own."""
    n, c = len(robot.joints), len(robot.cables)
    if robot.freedoms == n:
        return None
    return Spatial(np.zeros((n, BLOCK_WIDTH)), np.zeros((c, n, SPAN_WIDTH)), np.zeros((n, c + 1, FILLING_WIDTH)))


def _measure_backbones(robot: Robot, q: Floats, lengths: Floats, first: Floats, second: Floats, cross: Floats) -> None:
    spatial = spatial_tables(robot)
    assert spatial is not None
    measure_spans(robot.joints, robot.links, robot.cables, robot.segments, q, spatial)
    spans = spatial.spans
    for row in np.flatnonzero(robot.joints["kind"] == BACKBONE):
        start, freedoms = robot.joints["first"][row], robot.joints["freedoms"][row]
        lengths[:, row], cross[:, row] = spans[:, row, SPAN_LENGTH], spans[:, row, SPAN_SECOND + 1]
        for k in range(freedoms):
            first[:, start + k] = spans[:, row, SPAN_FIRST + k]
            second[:, start + k] = spans[:, row, SPAN_SECOND + k * (k + 3) // 2]


def crossed_joints(robot: Robot, segments: CableSegments) -> NDArray[np.bool_]:
    """(n,) where the faces of a joint have passed through each other at a cable, beyond round-off."""
    holes = robot.segments
    size = robot.joints["size"] + np.abs(holes["recess"]) + np.abs(holes["offset"])
    return np.asarray((segments.lengths < -TOUCH * size).any(axis=0))


HALVINGS = 30
"""Of the way on which faces meet."""


def until_faces_meet(robot: Robot, start: Floats, end: Floats) -> Floats:
    """(joints,) how much of the straight way from `start` to `end`, both (freedoms,) rad, each joint can go before its
    faces meet at a cable: 1 where they are apart at the end, too. They must be apart at the start."""
    meet = crossed_joints(robot, measure(robot, end))
    apart, crossed = np.zeros(len(meet)), np.ones(len(meet))
    for _ in range(HALVINGS if meet.any() else 0):
        middle = 0.5 * (apart + crossed)
        way = np.repeat(middle, robot.joints["freedoms"])
        passed = crossed_joints(robot, measure(robot, start + way * (end - start)))
        apart, crossed = np.where(passed, apart, middle), np.where(passed, middle, crossed)
    return np.where(meet, apart, 1.0)


def crossed_faces(robot: Robot, q: Floats, row: int) -> tuple[float, str]:
    """Bend at which the faces of joint `row` touch on the way to the pose `q`, rad, and what to say about it."""
    cable = int(measure(robot, q).lengths[:, row].argmin())
    part = float(until_faces_meet(robot, np.zeros(len(q)), q)[row])
    reason = f"its faces have passed through each other at cable {cable + 1}; bend it less"
    return abs(part * robot.bend_of(q, row)), reason


def directions_at_stops(robot: Robot, q: Floats) -> Floats:
    """(freedoms, stops) unit vectors toward the rigid stops that joints touch."""
    directions: list[Floats] = []
    for joint in robot.joints[robot.joints["stops"] == 1]:
        own = np.arange(joint["first"], joint["first"] + min(int(joint["freedoms"]), 2))
        touch = TOUCHES_STOP * joint["limit"]
        if joint["kind"] == BACKBONE:
            groups = [own] if np.hypot(*q[own]) >= touch else []
        else:
            groups = [own[[place]] for place in np.flatnonzero(np.abs(q[own]) >= touch)]
        for rows in groups:
            directions.append(np.zeros(len(q)))
            directions[-1][rows] = q[rows] / np.linalg.norm(q[rows])
    return np.array(directions).reshape(-1, len(q)).T


def _refuse(robot: Robot, q: Floats, row: int) -> None:
    joint = robot.joints[row]
    values = q[joint["first"] : joint["first"] + joint["freedoms"]]
    if not np.isfinite(values).all():
        raise InputError("angles", f"joint {row + 1} has angle {values.tolist()}; every angle must be finite")
    reason = "the joint law ends at 180 deg; angles are in rad"
    turned = max(abs(robot.bend_of(q, row)), float(np.abs(values).max()))
    raise OutOfRange(row + 1, turned, math.pi, reason)
