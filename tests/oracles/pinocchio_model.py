"""Pinocchio as an independent engine for the dynamics of robots with mirror and universal joints, joint by joint.

A rolling joint is two hinges R from its faces that turn q/2 each, a flexure a slide, a hinge and a slide, a pin one
hinge, a universal joint two in one point. The rods of a joint and a cable in its gap are point masses on slides. With
Q = phi(q) for all these coordinates, tau = phi'^T rnea(Q, Q', Q'') and M = phi'^T M(Q) phi'.
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
from vertebra.robot.tables import FLEXURE, ROLLING, UNIVERSAL

UP = np.array([0.0, 0.0, 1.0])
RADIUS = 0.4
CIRCLE = np.exp(2j * np.pi * np.arange(64) / 64)
HINGE, SLIDE = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned

Law = Callable[[Array], Array]
"""(..., count) coordinates of the model at complex angles (..., freedoms) of one joint of the robot."""


class Follower(NamedTuple):
    """Coordinates of the model that follow one joint of the robot."""

    row: int
    first_joint: int
    law: Law


class Coordinates(NamedTuple):
    """phi (nv,), its derivatives (nv, freedoms), and what constant rates of the robot's angles add to Q'', (nv,)."""

    phi: Array
    slope: Array
    curve: Array


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
            law: Law = lambda q: np.concatenate([q / 2, q / 2], axis=-1)  # noqa: E731
        elif joint["kind"] == FLEXURE:
            first = self._joint(before, SLIDE, UP, face)
            last, end = self._joint(self._joint(first, HINGE, axis, 0 * UP), SLIDE, UP, 0 * UP), 0.0
            law = lambda q: np.stack([s := crossing(joint, q[..., 0]), q[..., 0], s], axis=-1)  # noqa: E731
        elif joint["kind"] == UNIVERSAL:
            first, end = self._joint(before, HINGE, axis, face + size * UP), 0.0
            last = self._joint(first, HINGE, axis[[1, 0, 2]], 0 * UP)
            law = lambda q: q  # noqa: E731
        else:
            first = last = self._joint(before, HINGE, axis, face + size * UP)
            end = size
            law = lambda q: q  # noqa: E731
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
            carrier = self._carriage(row, 0.0, lambda q: along_arc(joint, q[..., 0], WEIGHTS * (1 - NODES)))
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
            one = joint["freedoms"] == 1

            def middle(q: Array, near: Array = near, far: Array = far, one: bool = one) -> Array:
                return (near + (joint_motion(joint, q[..., 0] if one else q) @ far)[..., :3]) / 2

            self.gaps.append((self._carriage(row, across, middle), k, row))

    def _carriage(self, row: int, across: float, centroid: Law) -> int:
        """Slides toward the bend and along the link before the joint, and to the side where it bends any way, so that a
        mass sits at `centroid` of its face."""
        joint = self.robot.joints[row]
        axis = np.array([joint["axis_x"], joint["axis_y"], 0.0])
        toward = np.array([joint["axis_y"], -joint["axis_x"], 0.0])
        if joint["freedoms"] == 1:
            slides, place = (toward, UP), self._face(row) + across * axis
        else:
            slides, place = (toward, axis, UP), self._face(row)
        law: Law = lambda q: np.stack([centroid(q) @ slide for slide in slides], axis=-1)  # noqa: E731
        self.followers.append(Follower(row, self.model.njoints, law))
        last = self.bodies[row]
        for slide in slides:
            last, place = self._joint(last, SLIDE, slide, place), 0 * UP
        return last

    # Asking --------------------------------------------------------------------------------------------------------

    def coordinates(self, q: Array, qd: Array | None = None) -> Coordinates:
        """Derivatives of the laws are Cauchy integrals around the angles. Cables in the gaps get their mass."""
        masses = statics.gap_masses(self.robot, q) if self.gaps else None
        for joint, k, row in self.gaps:
            self.model.inertias[joint] = pin.Inertia(masses[k, row], np.zeros(3), np.zeros((3, 3)))
        nv = self.model.nv
        phi, slope, curve = np.empty(nv), np.zeros((nv, len(q))), np.zeros(nv)
        filled = 0
        for follower in self.followers:
            joint = self.robot.joints[follower.row]
            first, freedoms = int(joint["first"]), int(joint["freedoms"])
            part = q[first : first + freedoms]
            assert self.model.idx_vs[follower.first_joint] == filled
            for i, unit in enumerate(np.eye(freedoms)):
                values = follower.law(part + RADIUS * CIRCLE[:, None] * unit)
                rows = slice(filled, filled + values.shape[-1])
                phi[rows], slope[rows, first + i] = values.mean(axis=0).real, cauchy(values, 1)
            if qd is not None:
                rate = qd[first : first + freedoms]
                speed = np.linalg.norm(rate)
                toward = rate / speed if speed > 0 else rate
                curve[rows] = speed**2 * cauchy(follower.law(part + RADIUS * CIRCLE[:, None] * toward), 2)
            filled = rows.stop
        return Coordinates(phi, slope, curve)

    def inverse(self, q: Array, qd: Array, qdd: Array, gravity: Array, loads=()) -> Array:
        """(freedoms,) N*m."""
        self.model.gravity.linear = np.asarray(gravity, float)
        at = self.coordinates(q, qd)
        pushes = self._pushes(at.phi, loads)
        full = pin.rnea(self.model, self.data, at.phi, at.slope @ qd, at.slope @ qdd + at.curve, pushes)
        return at.slope.T @ full

    def mass_matrix(self, q: Array) -> Array:
        """(freedoms, freedoms) kg*m^2."""
        at = self.coordinates(q)
        upper = np.triu(pin.crba(self.model, self.data, at.phi))
        return at.slope.T @ (upper + np.triu(upper, 1).T) @ at.slope

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


def cauchy(values: Array, order: int) -> Array:
    """Derivative at the middle of the circle on which the values (64, ...) are given."""
    return order * (CIRCLE**-order @ values).real / len(CIRCLE) / RADIUS**order


def crossing(joint: np.void, q: Array) -> Array:
    """s of a flexure: both link axes reach P after the same way, so the far face is s (1 + cos q) up."""
    return joint_motion(joint, q)[..., 2, 3] / (1 + np.cos(q))
