"""A robot in the paper's own frames and symbols (section 2.2, Fig. 1).

Axes are the paper's: x along the straight robot, z up. Paper (x, y, z) are ours (z, x, y).

Frame n sits in the far hole plane of link n, x along the link, z along the axis of the joint that follows: so z of
frame n-1 is the axis about which link n rolls. Frame f3,n sits in the middle between both contact points of joint n,
with x normal to the surfaces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import InputError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import ROLLING, Floats

AXES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""(3, 3) turns a vector in our axes into one in the paper's."""


@dataclass(frozen=True, eq=False)
class LiteralRobot:
    """N joints and c cables, SI units; rows are joints, or the links that follow them."""

    R: Floats
    """(N,) radius of curvature, m."""
    a: Floats
    """(N,) from the arc's centre to the hole plane, m: R cos(contact angle)."""
    H: Floats
    """(N,) between both hole planes of the link, m."""
    psi: Floats
    """(N,) turn of the joint's axis about x, from z of the base, rad."""
    base: float
    """World origin to the hole plane of the base, m."""
    mass: Floats
    """(N,) kg"""
    center: Floats
    """(N, 3) p_C of the link in its frame, m; the paper's is (-H/2, 0, 0)."""
    inertia: Floats
    """(N, 3, 3) about the centre of mass, in the link's frame, kg*m^2."""
    hole: Floats
    """(c, 3) of each cable in its plane, before frames are turned about x, m."""
    last: NDArray[np.int64]
    """(c,) link where each cable ends, counted from 1."""
    b: Floats
    """(N,) contact points are so far from the middle, along the joint's axis, m."""
    mu: Floats
    """(N,) static friction between links."""
    pretension: Floats
    """(c,) N"""

    @classmethod
    def of(cls, robot: Robot) -> LiteralRobot:
        """The parameters in a robot file; `InputError` for a robot of another form than the paper's."""
        joints, links, cables = robot.joints, robot.links[1:], robot.cables
        recess = _hole_planes(robot)
        far = np.append(recess[1:], recess[-1])
        H = links["length"] - recess - far
        psi = np.array(joints["azimuth"])
        turns = [AXES.T @ R_x(angle) for angle in np.append(psi[1:], psi[-1])]
        center = links["center_of_mass"] - np.outer(links["length"] - far, [0.0, 0.0, 1.0])
        return cls(
            R=np.array(joints["size"]),
            a=joints["size"] - recess,
            H=H,
            psi=psi,
            base=float(robot.links["reach"][0] - recess[0]),
            mass=np.array(links["mass"]),
            center=np.array([turn.T @ place for turn, place in zip(turns, center, strict=True)]),
            inertia=np.array([turn.T @ np.diag(i) @ turn for turn, i in zip(turns, links["inertia"], strict=True)]),
            hole=np.stack([np.zeros(len(cables)), cables["x"], cables["y"]], axis=1),
            last=np.array(cables["last_link"]),
            b=np.array(joints["contact_offset"]),
            mu=np.array(joints["friction"]),
            pretension=np.array(cables["pretension"]),
        )

    def turn_after(self, row: int) -> float:
        """How far frame n of link n = `row` + 1 is turned about x, rad; the last is turned as the one before it."""
        return float(self.psi[min(row + 1, len(self.psi) - 1)])

    def to_contact(self, row: int, theta: float) -> Floats:
        """(4, 4) T from f3,n to frame n-1, for joint n = `row` + 1 at `theta` rad."""
        return move_x(-self.a[row]) @ turn_z(theta / 2) @ move_x(self.R[row])

    def from_contact(self, row: int, theta: float) -> Floats:
        """(4, 4) T from frame n to f3,n."""
        twist = np.eye(4)
        twist[:3, :3] = R_x(self.turn_after(row) - self.psi[row])
        return move_x(self.R[row]) @ turn_z(theta / 2) @ move_x(self.H[row] - self.a[row]) @ twist

    def base_frame(self) -> Floats:
        """(4, 4) frame 0 in the world."""
        frame = move_x(self.base)
        frame[:3, :3] = R_x(self.psi[0])
        return frame

    def holes(self, row: int) -> tuple[Floats, Floats]:
        """(c, 3) h_1 and h_2 of link n = `row` + 1 in frame n: near the base, and far from it."""
        far = self.hole @ R_x(self.turn_after(row))
        return far - [self.H[row], 0.0, 0.0], far

    def holes_before(self, row: int) -> Floats:
        """(c, 3) h_2 of link n-1 in frame n-1; those of the base for the first joint."""
        return self.hole @ R_x(self.psi[row])


def _hole_planes(robot: Robot) -> Floats:
    """(N,) how far behind the apex of its arc each joint's hole plane lies, m."""
    joints = robot.joints
    if not (joints["kind"] == ROLLING).all() or not len(robot.cables):
        raise InputError("robot", f"{robot.name} has other joints than rolling ones, or no cables; the paper has both")
    passes = np.arange(1, len(joints) + 1) <= robot.cables["last_link"][:, None]
    recess = np.where(passes, robot.segments["recess"], np.nan)
    deep = np.nanmax(recess, axis=0)
    if not np.array_equal(deep, np.nanmin(recess, axis=0)):
        raise InputError("robot", f"{robot.name} has holes on the arcs; the paper's lie in a plane: holes: {{recess}}")
    if not (joints["contact_offset"] > 0.0).all():
        raise InputError("robot", f"{robot.name} has no contact_offset, by which contact points lie off the middle")
    if robot.cables["linear_density"].any() or robot.cables["lock_mass"].any():
        raise InputError("robot", f"{robot.name} has cables with mass, which the paper leaves out")
    if not ((robot.links["mass"][1:] > 0.0).all() and (robot.links["inertia"][1:] > 0.0).all()):
        raise InputError("robot", f"{robot.name} has links without mass or inertia")
    return np.asarray(deep)


def move_x(distance: float) -> Floats:
    """(4, 4) along x, m."""
    frame = np.eye(4)
    frame[0, 3] = distance
    return frame


def turn_z(angle: float) -> Floats:
    """(4, 4) about z, rad."""
    c, s = math.cos(angle), math.sin(angle)
    frame = np.eye(4)
    frame[:2, :2] = [[c, -s], [s, c]]
    return frame


def R_x(angle: float) -> Floats:
    """(3, 3) rotation about x, rad."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def cross(u: Floats, v: Floats) -> Floats:
    """(3,) u x v; numpy's own takes ten times as long for a single vector."""
    (a, b, c), (d, e, f) = u, v
    return np.array([b * f - c * e, c * d - a * f, a * e - b * d])
