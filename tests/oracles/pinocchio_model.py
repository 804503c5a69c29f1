"""Pinocchio as an independent engine for the dynamics of mirror-joint robots, built joint by joint.

A rolling joint is two hinges R from its faces that turn q/2 each, a flexure a slide, a hinge and a slide, a pin one
hinge. The rods of a joint and a cable in its gap are point masses on two slides. With Q = phi(q) for all these
coordinates, tau = phi'^T rnea(Q, Q', Q'') and M = phi'^T M(Q) phi'.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from tests.oracles import statics
from tests.oracles.chain import NODES, WEIGHTS
from tests.oracles.mirror_chain import Array, along_arc, joint_motion

from vertebra.robot.robot import Robot
from vertebra.robot.tables import FLEXURE, ROLLING

UP = np.array([0.0, 0.0, 1.0])
CIRCLE = 0.4 * np.exp(2j * np.pi * np.arange(64) / 64)
HINGE, SLIDE = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned

Law = Callable[[Array], Array]
"""(..., count) coordinates of the model at complex angles (...) of one joint of the robot."""


class Follower(NamedTuple):
    """Coordinates of the model that follow one angle of the robot."""

    row: int
    first_joint: int
    law: Law


class Coordinates(NamedTuple):
    """phi and its first two derivatives, (nv,), and the row of the robot's joint that each follows."""

    phi: Array
    slope: Array
    curve: Array
    rows: Array


class PinocchioModel:
    """All parts of a robot: links, locks, rods at the centroid of their arc and cables in the gaps."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.model = pin.Model()
        self.bodies = [0]  # joint of the model that carries each link; the base is the universe
        self.ends = [0.0]  # z of the link's frame in that of this joint, m
        self.followers: list[Follower] = []
        self.gaps: list[tuple[int, int, int]] = []  # joint of the model, cable and row of each cable in a gap
        for row in range(len(robot.joints)):
            self._add_rods(row)
            self._add_cables(row)
            self._add_joint(row)
            self._add_link(row + 1)
        self.data = self.model.createData()

    # Building ------------------------------------------------------------------------------------------------------

    def _joint(self, parent: int, kind: type, axis: Array, place: Array) -> int:
        return self.model.addJoint(parent, kind(axis), pin.SE3(np.eye(3), place), f"{self.model.njoints}")

    def _body(self, joint: int, mass: float, place: Array, moments: Array | tuple = (0.0, 0.0, 0.0)) -> None:
        inertia = pin.Inertia(float(mass), np.asarray(place, float), np.diag(moments))
        self.model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())

    def _face(self, row: int) -> Array:
        """Start of a joint, in the frame of what carries the link before it."""
        return (self.ends[row] + self.robot.links["reach"][row]) * UP

    def _add_joint(self, row: int) -> None:
        joint, before, face = self.robot.joints[row], self.bodies[row], self._face(row)
        axis, size = np.array([joint["axis_x"], joint["axis_y"], 0.0]), float(joint["size"])
        if joint["kind"] == ROLLING:
            first = self._joint(before, HINGE, axis, face - size * UP)
            last, end = self._joint(first, HINGE, axis, 2 * size * UP), -size
            law: Law = lambda q: np.stack([q / 2, q / 2], axis=-1)  # noqa: E731
        elif joint["kind"] == FLEXURE:
            first = self._joint(before, SLIDE, UP, face)
            last, end = self._joint(self._joint(first, HINGE, axis, 0 * UP), SLIDE, UP, 0 * UP), 0.0
            law = lambda q: np.stack([crossing(joint, q), q, crossing(joint, q)], axis=-1)  # noqa: E731
        else:
            first = last = self._joint(before, HINGE, axis, face + size * UP)
            end = size
            law = lambda q: q[..., None]  # noqa: E731
        self.followers.append(Follower(row, first, law))
        self.bodies.append(last)
        self.ends.append(end)

    def _add_link(self, link: int) -> None:
        row, body, frame = self.robot.links[link], self.bodies[link], self.ends[link] * UP
        self._body(body, row["mass"], frame + row["center_of_mass"], row["inertia"])
        for cable in self.robot.cables[self.robot.cables["last_link"] == link]:
            self._body(body, cable["lock_mass"], frame + np.array([cable["x"], cable["y"], cable["end"]]))

    def _add_rods(self, row: int) -> None:
        joint = self.robot.joints[row]
        if joint["mass"]:
            carrier = self._carriage(row, 0.0, lambda q: along_arc(joint, q, WEIGHTS * (1 - NODES)))
            self._body(carrier, joint["mass"], 0 * UP)

    def _add_cables(self, row: int) -> None:
        joint, reach = self.robot.joints[row], self.robot.links["reach"][row]
        for k, cable in enumerate(self.robot.cables):
            if not cable["linear_density"] or row >= cable["last_link"]:
                continue
            hole = self.robot.segments[k, row]
            near = np.array([cable["x"], cable["y"], hole["exit"] - reach])
            far = np.array([cable["x"], cable["y"], hole["entry"], 1.0])
            across = cable["x"] * joint["axis_x"] + cable["y"] * joint["axis_y"]
            middle = lambda q, near=near, far=far: (near + (joint_motion(joint, q) @ far)[..., :3]) / 2  # noqa: E731
            self.gaps.append((self._carriage(row, across, middle), k, row))

    def _carriage(self, row: int, across: float, centroid: Law) -> int:
        """Slides toward the bend and along the link before the joint, so that a mass sits at `centroid` of its face."""
        joint = self.robot.joints[row]
        axis = np.array([joint["axis_x"], joint["axis_y"], 0.0])
        toward = np.array([joint["axis_y"], -joint["axis_x"], 0.0])
        first = self._joint(self.bodies[row], SLIDE, toward, self._face(row) + across * axis)
        law: Law = lambda q: np.stack([centroid(q) @ toward, centroid(q) @ UP], axis=-1)  # noqa: E731
        self.followers.append(Follower(row, first, law))
        return self._joint(first, SLIDE, UP, 0 * UP)

    # Asking --------------------------------------------------------------------------------------------------------

    def coordinates(self, q: Array) -> Coordinates:
        """Derivatives of the laws are Cauchy integrals around the angles. Cables in the gaps get their mass."""
        masses = statics.gap_masses(self.robot, q) if self.gaps else None
        for joint, k, row in self.gaps:
            self.model.inertias[joint] = pin.Inertia(masses[k, row], np.zeros(3), np.zeros((3, 3)))
        parts, rows = [], []
        turns = CIRCLE / np.abs(CIRCLE)
        for follower in self.followers:
            values = follower.law(q[follower.row] + CIRCLE)
            assert self.model.idx_vs[follower.first_joint] == len(rows)
            parts.append([(turns**-k @ values).real / len(CIRCLE) * f / 0.4**k for k, f in ((0, 1), (1, 1), (2, 2))])
            rows += [follower.row] * values.shape[-1]
        phi, slope, curve = np.concatenate(parts, axis=-1)
        return Coordinates(phi, slope, curve, np.array(rows))

    def inverse(self, q: Array, qd: Array, qdd: Array, gravity: Array, loads=()) -> Array:
        """(n,) N*m."""
        self.model.gravity.linear = np.asarray(gravity, float)
        at = self.coordinates(q)
        rates, accelerations = at.slope * qd[at.rows], at.slope * qdd[at.rows] + at.curve * qd[at.rows] ** 2
        pushes = self._pushes(at.phi, loads)
        full = pin.rnea(self.model, self.data, at.phi, rates, accelerations, pushes)
        return np.bincount(at.rows, at.slope * full, minlength=len(q))

    def mass_matrix(self, q: Array) -> Array:
        """(n, n) kg*m^2."""
        at = self.coordinates(q)
        upper = np.triu(pin.crba(self.model, self.data, at.phi))
        rates = np.zeros((self.model.nv, len(q)))
        rates[np.arange(self.model.nv), at.rows] = at.slope
        return rates.T @ (upper + np.triu(upper, 1).T) @ rates

    def wrenches(self, centres: Array) -> Array:
        """(n, 6) N, N*m about `centres` (n, 3): what acts on all beyond the gap of each joint, after `inverse`."""
        out = np.zeros((len(self.robot.joints), 6))
        # The joint itself stands after the carriages in its gap.
        for row, joint in {follower.row: follower.first_joint for follower in self.followers}.items():
            push = self.data.oMi[joint].act(self.data.f[joint])
            out[row] = np.concatenate([push.linear, push.angular - np.cross(centres[row], push.linear)])
        return out

    def frame(self, link: int) -> tuple[Array, Array]:
        """Rotation and origin of a link, after `inverse`."""
        body = self.data.oMi[self.bodies[link]]
        return body.rotation, body.translation + body.rotation @ (self.ends[link] * UP)

    def _pushes(self, phi: Array, loads) -> pin.StdVec_Force:
        """Loads as wrenches in the frames of the joints that carry them."""
        pin.forwardKinematics(self.model, self.data, phi)
        pushes = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for load in loads:
            link, point = statics.load_place(self.robot, load)
            if link > 0:
                R, origin = self.frame(link)
                force, body = np.asarray(load.force, float), self.bodies[link]
                wrench = pin.Force(force, np.cross(origin + R @ point, force) + load.moment)
                pushes[body] += self.data.oMi[body].actInv(wrench)
        vector = pin.StdVec_Force()
        vector.extend(pushes)
        return vector


def crossing(joint: np.void, q: Array) -> Array:
    """s of a flexure: both link axes reach P after the same way, so the far face is s (1 + cos q) up."""
    return joint_motion(joint, q)[..., 2, 3] / (1 + np.cos(q))
