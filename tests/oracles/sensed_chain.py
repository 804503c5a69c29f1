"""Shape from orientations as one dense least-squares problem: no recursion, no analytic derivative.

The unknowns are the turn of the base, the joint angles and the twists; the residuals are those of the sensors and of
what is known beforehand about twists, angles and base. SciPy solves it, differences give the Jacobian.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation
from tests.oracles.chain import joint_motion

from vertebra.robot.tables import BALL, UNIVERSAL

BASE_PRIOR = 0.1
"""1/rad^2, of the base's orientation when it is to be estimated."""


def joint_rotations(robot, q):
    """A rotation per joint, by its meaning: a turn about the mirror's axis, two turns in a row, the turn of a bend."""
    rotations = []
    for joint in robot.joints:
        angles, axis = (
            q[joint["first"] : joint["first"] + joint["freedoms"]],
            np.array([joint["axis_x"], joint["axis_y"], 0.0]),
        )
        if joint["kind"] == BALL:
            rotations.append(Rotation.from_rotvec([-angles[1], angles[0], 0.0]))
        elif joint["kind"] == UNIVERSAL:
            second = axis[[1, 0, 2]]
            rotations.append(Rotation.from_rotvec(angles[0] * axis) * Rotation.from_rotvec(angles[1] * second))
        else:
            rotations.append(Rotation.from_rotvec(angles[0] * axis))
    return rotations


def world_rotations(robot, base, q, twist):
    """(n+1, 3, 3) orientations of the links."""
    turned = [base]
    for rotation, angle in zip(joint_rotations(robot, q), twist, strict=True):
        turned.append(turned[-1] @ (rotation * Rotation.from_rotvec([0.0, 0.0, angle])).as_matrix())
    return np.array(turned)


def world_frames(robot, base, q, twist):
    """(n+1, 4, 4) frames of the links, the base turned by `base` about the world's origin."""
    frames = np.zeros((len(robot.links), 4, 4))
    frames[:, :3, :3], frames[:, 3, 3] = world_rotations(robot, base, q, twist), 1.0
    frames[0, :3, 3] = base @ [0.0, 0.0, robot.origin[2]]
    for j, joint in enumerate(robot.joints):
        angles = q[joint["first"] : joint["first"] + joint["freedoms"]]
        step = robot.links["reach"][j] * np.array([0.0, 0.0, 1.0]) + joint_motion(joint, angles)[:3, 3].real
        frames[j + 1, :3, 3] = frames[j, :3, 3] + frames[j, :3, :3] @ step
    return frames


def wish_to_be_straight(robot, base_known):
    """(n,) 1/rad^2, of joints with more than three freedoms between two links of known orientation: a quarter of the
    limit is the standard deviation of each angle."""
    known = sorted({*robot.sensor_links.tolist(), *([0] if base_known else [])})
    wish = np.zeros(len(robot.joints))
    for before, after in pairwise(known):
        if sum(robot.joints["freedoms"][before:after]) >= 4:
            wish[before:after] = (robot.joints["limit"][before:after] / 4.0) ** -2.0
    return wish


@dataclass
class DenseFit:
    """One problem: orientations `measured` (m, 3, 3) with standard deviations `noise` (m, 3) on the sensors' links."""

    robot: object
    measured: np.ndarray
    noise: np.ndarray
    twist_sigma: float
    base: np.ndarray
    """Known, or to start from."""
    base_known: bool = False

    def __post_init__(self):
        self.links = self.robot.sensor_links
        self.weights = np.ones((len(self.links), 2))  # of tilt and heading
        self.free_base = 0 if self.base_known else 3
        self.soft = len(self.robot.joints) if self.twist_sigma > 0.0 else 0
        self.straight = np.repeat(wish_to_be_straight(self.robot, self.base_known), self.robot.joints["freedoms"])

    def split(self, unknowns):
        """Orientation of the base, joint angles, twists."""
        turn, q, twist = np.split(unknowns, [self.free_base, self.free_base + self.robot.freedoms])
        base = self.base if self.base_known else Rotation.from_rotvec(turn).as_matrix() @ self.base
        return base, q, twist if self.soft else np.zeros(len(self.robot.joints))

    def frames(self, unknowns):
        return world_frames(self.robot, *self.split(unknowns))

    def rotations(self, unknowns):
        """(m, 3, 3) of the links with sensors."""
        return world_rotations(self.robot, *self.split(unknowns))[self.links]

    def errors(self, unknowns):
        """(m, 3) measured less estimated orientation: tilt about the world's x and y, and heading, rad."""
        return orientation_errors(self.measured, self.rotations(unknowns))

    def residuals(self, unknowns):
        """In standard deviations; of sensors, of angles that want to be zero and, of a soft robot, of its twists."""
        scale = np.sqrt(self.weights[:, [0, 0, 1]]) / self.noise
        twist = self.split(unknowns)[2] / self.twist_sigma if self.soft else np.zeros(0)
        bends = np.sqrt(self.straight) * self.split(unknowns)[1]
        return np.concatenate([(scale * self.errors(unknowns)).ravel(), bends, twist])

    def solve(self, q, limits=np.inf):
        """Unknowns at the minimum for the weights as they are, from joint angles to start from, within limits."""
        start = np.concatenate([np.zeros(self.free_base), q, np.zeros(self.soft)])
        bounds = np.full(len(start), np.inf)
        bounds[self.free_base : self.free_base + len(q)] = limits
        given = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14, "bounds": (-bounds, bounds)}
        return least_squares(self.residuals, start, **given).x

    def gradient(self, unknowns):
        """Half the derivative of the sum of squares."""
        return differences(self.residuals, unknowns).T @ self.residuals(unknowns)

    def covariance(self, unknowns):
        """(information of the sensors here + what is known beforehand)^-1, of turn of the base, angles, twists.

        The errors of a sensor are turns about the world's axes, whatever residual this sample happens to have.
        """
        here = self.rotations(unknowns)

        def scaled_turns(changed):
            turned = self.rotations(changed) @ here.transpose(0, 2, 1)
            return (np.sqrt(self.weights[:, [0, 0, 1]]) / self.noise * Rotation.from_matrix(turned).as_rotvec()).ravel()

        jacobian = differences(scaled_turns, unknowns)
        limits = np.repeat(self.robot.joints["limit"], self.robot.joints["freedoms"])
        twists = np.full(self.soft, self.twist_sigma or 1.0)
        prior = np.concatenate([np.full(self.free_base, BASE_PRIOR), limits**-2.0 + self.straight, twists**-2.0])
        return np.linalg.inv(jacobian.T @ jacobian + np.diag(prior))

    def pose_covariance(self, unknowns, link, along):
        """(6, 6) of the point (0, 0, along) of a link: linear rows first, world axes."""
        here = self.frames(unknowns)[link]

        def pose(changed):
            frame = self.frames(changed)[link]
            turn = Rotation.from_matrix(frame[:3, :3] @ here[:3, :3].T).as_rotvec()
            return np.concatenate([frame[:3, 3] + along * frame[:3, 2], turn])

        jacobian = differences(pose, unknowns)
        return jacobian @ self.covariance(unknowns) @ jacobian.T


def orientation_errors(measured, estimated):
    """(m, 3) tilt about the world's x and y, and heading, of measured = Rz(heading) exp(tilt) estimated; rad."""
    x, y, z, w = Rotation.from_matrix(measured @ estimated.transpose(0, 2, 1)).as_quat().T
    heading = 2.0 * np.arctan2(z, w)
    headings = np.stack([0.0 * heading, 0.0 * heading, heading], axis=1)
    tilt = Rotation.from_rotvec(-headings) * Rotation.from_quat(np.stack([x, y, z, w], axis=1))
    return tilt.as_rotvec() + np.remainder(headings + np.pi, 2.0 * np.pi) - np.pi


def robust_weights(errors, noise, gate):
    """(m, 2) of tilt and heading: (gate / size)^2 beyond the gate."""
    scaled = errors / noise
    sizes = np.stack([np.hypot(scaled[:, 0], scaled[:, 1]), np.abs(scaled[:, 2])], axis=1)
    return np.minimum(1.0, gate / np.maximum(sizes, 1e-300)) ** 2


def differences(function, at, step=1e-6):
    """Jacobian by central differences."""
    columns = [(function(at + change) - function(at - change)) / (2 * step) for change in step * np.eye(len(at))]
    return np.transpose(columns)
