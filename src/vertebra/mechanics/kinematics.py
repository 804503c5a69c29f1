"""Geometry of a robot at given joint coordinates: frames, Jacobians, cable lengths, masses.

These functions answer for any pose at which the joint laws are defined (|angle| < 180 degrees). Whether a joint can
reach it (`limit` of the robot file) is checked by the solvers, not here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError, OutOfRange
from vertebra.mechanics.kernels.cables import TOUCH, measure_segments
from vertebra.mechanics.kernels.describe import locate_masses
from vertebra.mechanics.kernels.joints import DONE, frames_and_jacobian, walk_chain
from vertebra.robot.arguments import coordinates, link_index, link_point
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


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
    """(cables, joints) mixed derivative of the two coordinates of universal and ball joints, m/rad^2."""

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
        moments: Floats = (
            self.links @ self.links_at
            + self.rods @ self.rods_at
            + np.einsum("kj,kjx->x", self.cables, self.cables_at)
            + self.locks @ self.locks_at
        )
        moments /= self.total
        return moments

    def __repr__(self) -> str:
        x, y, z = self.center * 1e3
        return f"Masses({self.total * 1e3:.4g} g at ({x:.2f}, {y:.2f}, {z:.2f}) mm)"


def frames(robot: Robot, angles: ArrayLike) -> Floats:
    """Frames of all links in the world, (n+1, 4, 4), m: 0 is the base, -1 the last link.

    `angles`: (freedoms,) rad; one a mirror joint, two a universal joint (first axis, second axis) or a ball joint
    (bend toward x, bend toward y). Universal and ball robots also take (joints, 2).
    """
    return _walk(robot, coordinates(robot, angles))[0]


def tip_frame(robot: Robot, angles: ArrayLike) -> Floats:
    """Frame at the tip point, (4, 4), m: axes of the last link."""
    tip: Floats = frames(robot, angles)[-1].copy()
    tip[:3, 3] += tip[:3, :3] @ robot.tip_point
    return tip


def jacobian(robot: Robot, angles: ArrayLike, link: int = -1, point: ArrayLike | None = None) -> Floats:
    """Geometric Jacobian (6, freedoms) of a point of a link: linear velocity rows, then angular, world axes.

    `point` is in the frame of `link`, m; default: the tip point on the last link, the centre of mass on any other.
    """
    q = coordinates(robot, angles)
    index = link_index(robot, link)
    at = link_point(robot, index, point)
    n, f = len(robot.joints), robot.freedoms
    links, axes, out = np.empty((n + 1, 4, 4)), np.empty((f, 6)), np.empty((6, f))
    status = frames_and_jacobian(robot.joints, robot.links, robot.origin, q, index, at, links, axes, out)
    if status != DONE:
        _refuse(robot, q, status)
    return out


def twists(robot: Robot, angles: ArrayLike) -> tuple[Floats, Floats]:
    """Rotation axis and a point on it for every freedom, both (freedoms, 3) in the world, rad/rad and m.

    Distal links turn about the axis through that point, the instantaneous centre. Axes are unit vectors, but for
    ball joints away from straight, whose coordinates are the components of the bend.
    """
    both = _walk(robot, coordinates(robot, angles))[1]
    return both[:, :3], both[:, 3:]


def cable_segments(robot: Robot, angles: ArrayLike) -> CableSegments:
    """Cable lengths across every joint with first and second derivatives.

    Raises `OutOfRange` where the faces of a joint have passed through each other at a cable.
    """
    q = coordinates(robot, angles)
    segments = measure(robot, q)
    if segments.lengths.size and segments.lengths.min() < -TOUCH:
        row = int(segments.lengths.min(axis=0).argmin())
        limit, reason = crossed_faces(robot, q, row)
        raise OutOfRange(row + 1, float(q[robot.joints["first"][row]]), limit, reason)
    return segments


def cable_lengths(robot: Robot, angles: ArrayLike) -> Floats:
    """Length of each cable from the base plane (world z = 0) to its end, through all holes, (cables,) m."""
    total: Floats = cable_segments(robot, angles).lengths.sum(axis=1) + robot.cables["inside"]
    return total


def masses(robot: Robot, angles: ArrayLike) -> Masses:
    """Every mass and its centroid at a pose."""
    q = coordinates(robot, angles)
    all_frames = _walk(robot, q)[0]
    segments = cable_segments(robot, q)
    cables, n = len(robot.cables), len(robot.joints)
    links_at, rods_at = np.empty((n + 1, 3)), np.empty((n, 3))
    cable_mass, cables_at, locks_at = np.empty((cables, n)), np.empty((cables, n, 3)), np.empty((cables, 3))
    locate_masses(
        robot.joints, robot.links, robot.cables, robot.segments, q, all_frames, segments.lengths,
        links_at, rods_at, cable_mass, cables_at, locks_at,
    )  # fmt: skip
    return Masses(
        robot.links["mass"].copy(), links_at, robot.joints["mass"].copy(), rods_at,
        cable_mass, cables_at, robot.cables["lock_mass"].copy(), locks_at,
    )  # fmt: skip


def _walk(robot: Robot, q: Floats) -> tuple[Floats, Floats]:
    links, axes = np.empty((len(robot.links), 4, 4)), np.empty((robot.freedoms, 6))
    status = walk_chain(robot.joints, robot.links, robot.origin, q, links, axes)
    if status != DONE:
        _refuse(robot, q, status)
    return links, axes


def measure(robot: Robot, q: Floats) -> CableSegments:
    """`cable_segments` for checked coordinates, also where faces have passed through each other."""
    cables, n, f = len(robot.cables), len(robot.joints), robot.freedoms
    lengths, cross = np.empty((cables, n)), np.empty((cables, n))
    first, second = np.empty((cables, f)), np.empty((cables, f))
    tables = robot.joints, robot.links, robot.cables, robot.segments
    status = measure_segments(*tables, q, lengths, first, second, cross)
    if status != DONE:
        _refuse(robot, q, status)
    return CableSegments(lengths, first, second, cross)


def crossed_faces(robot: Robot, q: Floats, row: int) -> tuple[float, str]:
    """Angle at which the faces of joint `row` touch on the way to the pose `q`, rad, and what to say about it."""
    cable = int(measure(robot, q).lengths[:, row].argmin())
    touching, crossed = 0.0, 1.0  # fraction of the pose, by bisection
    while crossed - touching > 1e-6:
        middle = 0.5 * (touching + crossed)
        if measure(robot, middle * q).lengths[cable, row] < 0.0:
            crossed = middle
        else:
            touching = middle
    reason = f"its faces have passed through each other at cable {cable + 1}; bend it less"
    return abs(touching * float(q[robot.joints["first"][row]])), reason


def _refuse(robot: Robot, q: Floats, row: int) -> None:
    joint = robot.joints[row]
    values = q[joint["first"] : joint["first"] + joint["freedoms"]]
    if not np.isfinite(values).all():
        raise InputError("angles", f"joint {row + 1} has angle {values.tolist()}; every angle must be finite")
    reason = "the joint law ends at 180 deg; angles are in rad"
    raise OutOfRange(row + 1, float(np.abs(values).max()), math.pi, reason)
