"""The paper's robot in its own axes and symbols: kinematics of section II-A and what acts on a link, section II-B.

Axes are the paper's: x along the straight robot, z up. Paper (x, y, z) are ours (z, x, y).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vertebra.errors import InputError
from vertebra.robot.description import BallJoint
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


@dataclass(frozen=True)
class LiteralSnake:
    """A robot in the paper's parameters; SI units."""

    links: int
    """Links that move; one more is clamped and carries the world frame."""
    L: float
    """From the origin of one link's frame to that of the next, m."""
    r: float
    """From the axis to each tendon channel, m."""
    channels: tuple[float, ...]
    """Where each tendon runs about x, rad from the y axis: (4k - 7) pi / 6 of eq 1, or as the robot file says."""
    d: float
    """Length of a channel, m."""
    r_o: float
    """Radius of the ball, m."""
    r_c: float
    """Radius of the contact ring, m."""
    mu: float
    """mu_f, static friction between links."""
    mass: float
    """Of a link, at the origin of its frame, kg."""
    base: float = 0.0
    """World origin to the frame of the clamped link, m along x."""
    tip: float = 0.0
    """Origin of the last link's frame to the tip, m along its x."""

    @classmethod
    def of(cls, robot: Robot) -> LiteralSnake:
        """The parameters in a robot file; `InputError` for a robot of another form than the paper's."""
        section = robot.description.sections[0]
        joint, link, cables = section.joint, section.link, section.cables
        if len(robot.description.sections) > 1 or not isinstance(joint, BallJoint) or cables is None:
            raise InputError("robot", f"{robot.name} is not one section of ball joints with cables")
        if link.center_of_mass not in (None, (0.0, 0.0, 0.0)) or cables.linear_density or cables.lock_mass:
            raise InputError("robot", f"{robot.name} has weight elsewhere than at the origins of its links")
        if cables.friction is not None:
            raise InputError("robot", f"{robot.name} has cable friction, which the paper leaves out")
        return cls(
            links=section.joints,
            L=link.length,
            r=cables.radius,
            channels=tuple(cables.azimuth),
            d=link.channel or 0.0,
            r_o=joint.radius,
            r_c=joint.ring_radius,
            mu=joint.friction,
            mass=link.mass,
            base=robot.description.base.length,
            tip=robot.description.tip.length,
        )

    def frames(self, phi: Floats, theta: Floats) -> Floats:
        """(n+1, 4, 4) of all links in the world, eqs 3-5; `phi` bending angles, `theta` their directions, (n,) rad."""
        frames = np.zeros((self.links + 1, 4, 4))
        frames[0] = np.eye(4)
        frames[0, 0, 3] = self.base
        for i in range(1, self.links + 1):
            step = np.eye(4)
            step[:3, :3] = R_x(theta[i - 1]) @ R_y(phi[i - 1]) @ R_x(-theta[i - 1])
            step[:3, 3] = step[:3, :3] @ [self.L, 0.0, 0.0]
            frames[i] = frames[i - 1] @ step
        return frames

    def vertices(self, frames: Floats) -> tuple[Floats, Floats]:
        """(n+1, cables, 3) where tendons enter a link's channels, p, and where they leave them, p'; eqs 1, 2."""
        angle = np.array(self.channels)
        b_p = np.stack([np.zeros_like(angle), self.r * np.cos(angle), self.r * np.sin(angle)], axis=1)
        leave = b_p + np.array([self.d, 0.0, 0.0])
        turn, origin = frames[:, :3, :3], frames[:, None, :3, 3]
        return b_p @ turn.transpose(0, 2, 1) + origin, leave @ turn.transpose(0, 2, 1) + origin


@dataclass(frozen=True, eq=False)
class Applied:
    """All that acts on the links from one joint to the tip, except through that joint's contact.

    Force, then moment about the joint's centre, N and N*m: `fixed` + F_ext `per_newton`.
    """

    fixed: Floats
    """(6,) tendons and weight."""
    per_newton: Floats
    """(6,) of the external load; zero when it acts before the joint."""

    def under(self, force: float) -> Floats:
        """(6,) N, N*m."""
        return self.fixed + force * self.per_newton


@dataclass(frozen=True, eq=False)
class LiteralLoad:
    """A load of growing size F_ext, in the paper's axes."""

    direction: Floats
    """(3,) n_ext, unit vector, world."""
    link: int
    """Counted from 0, the clamped one."""
    point: Floats
    """(3,) in the frame of that link, m."""
    moment: Floats
    """(3,) moment that comes with each newton, N*m/N, world; the paper has none."""


def applied(
    snake: LiteralSnake,
    frames: Floats,
    joint: int,
    tensions: Floats,
    load: LiteralLoad,
    gravity: Floats,
    as_printed: bool = False,
) -> Applied:
    """Sums of eqs 10 and 11 at link i = `joint`, without the contact; `gravity` (3,) m/s^2, the paper's axes.

    Two things are put right. A tendon pulls link i toward the link before it, the opposite of eq 6, which is the
    pull on that other link (`as_printed` keeps it). And the weights are those of links i to n, which eqs 9 and 10,
    printed with sums from 1, must mean: they come from adding up the balances of these links.
    """
    enter, leave = snake.vertices(frames)
    center = frames[joint - 1, :3, 3]
    tau = enter[joint] - leave[joint - 1]
    tau *= (tensions / np.linalg.norm(tau, axis=1))[:, None]
    if not as_printed:
        tau = -tau
    f_g = snake.mass * gravity
    arms = frames[joint:, :3, 3] - center
    force = tau.sum(axis=0) + len(arms) * f_g
    moment = np.cross(enter[joint] - center, tau).sum(axis=0) + np.cross(arms, f_g).sum(axis=0)
    per_newton = np.zeros(6)
    if joint <= load.link:
        place = frames[load.link] @ [*load.point, 1.0]
        per_newton[:3] = load.direction
        per_newton[3:] = np.cross(place[:3] - center, load.direction) + load.moment
    return Applied(np.concatenate([force, moment]), per_newton)


def R_x(angle: float) -> Floats:
    """(3, 3) rotation about x."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def R_y(angle: float) -> Floats:
    """(3, 3) rotation about y."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
