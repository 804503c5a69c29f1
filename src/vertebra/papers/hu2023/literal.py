"""The paper's own method for the shape of its robot: nonlinear Gauss-Seidel with relaxation.

It is slower than `vertebra.shape_from_tensions` and may not converge; it is here to check that solver, and to be
compared with it. Nothing in it comes from `vertebra.mechanics`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.papers.hu2023 import gauss_seidel
from vertebra.robot.description import RollingJoint
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

OUTCOMES = {
    gauss_seidel.CONVERGED: "the tip has come to rest",
    gauss_seidel.TOO_MANY_SWEEPS: "the tip still moves after the last sweep; allow more sweeps or a smaller omega",
    gauss_seidel.STALLED: "halving omega no longer makes the tip move less; the tolerance may be below round-off",
    gauss_seidel.NO_ROOT: "the moment balance of a link has no bending angle within +-90 deg",
}


@dataclass(frozen=True)
class LiteralRobot:
    """A robot in the paper's parameters; SI units."""

    links: int
    """n, with the fixed first link."""
    orientation: float
    """alpha, angle between the two contact lines of a link, rad, within +-pi/2."""
    surface_radius: float
    """R of the rolling surfaces, m."""
    link_length: float
    """L, m."""
    cable_radius: float
    """r, from the axis of the robot to each of the four cables, m."""
    link_mass: float
    """Of every link but the first, kg."""
    base: float
    """From the world origin to the centre of the first link, m: d_1 of eq 18."""
    tip: float
    """From the centre of the last link to the tip point, m."""


@dataclass(frozen=True, eq=False)
class LiteralShape:
    """What the iteration ended with."""

    angles: Floats
    """(n-1,) rad, in the sign of `vertebra`, of the last whole sweep; NaN when not even the first one succeeded."""
    tip: Floats
    """(3,) m, world frame."""
    sweeps: int
    """Sweeps over the robot after the first one, which is without weight."""
    omega: float
    """Relaxation of the last sweep."""
    converged: bool
    """Whether the tip moved by less than the tolerance in the last sweep."""
    outcome: str
    """Why it ended, as a sentence."""

    def __repr__(self) -> str:
        x, y, z = self.tip * 1e3
        state = "converged" if self.converged else "NOT converged"
        return f"LiteralShape({state} in {self.sweeps} sweeps, tip ({x:.2f}, {y:.2f}, {z:.2f}) mm)"


def literal_shape(
    robot: LiteralRobot,
    tensions: ArrayLike,
    gravity: ArrayLike,
    *,
    omega: float | None = None,
    tolerance: float = 1e-12,
    most_sweeps: int = 10_000,
) -> LiteralShape:
    """Shape under four cable tensions (N) and gravity (m/s^2, world frame) by the paper's iteration.

    `omega` None starts at 1 and is halved whenever the iteration fails to converge, as the paper suggests; a number
    in (0, 1] is kept. `tolerance` is on the change of the tip in one sweep, m. The result says whether it converged.
    """
    T, g = np.array(tensions, dtype=np.float64), np.array(gravity, dtype=np.float64)
    if T.shape != (4,) or not np.isfinite(T).all():
        raise InputError("tensions", "must be four finite numbers in N, one for each cable of the paper's robot")
    if g.shape != (3,) or not np.isfinite(g).all():
        raise InputError("gravity", "must be three finite numbers in m/s^2")
    if omega is not None and not 0.0 < omega <= 1.0:
        raise InputError("omega", f"must be above 0 and at most 1, not {omega}")
    if not abs(robot.cable_radius) <= robot.surface_radius:
        raise InputError("robot", "the cables must pass through the rolling surface: cable_radius <= surface_radius")
    joints = robot.links - 1
    theta, relaxed, star, trial = (np.zeros(joints) for _ in range(4))
    status, sweeps, last_omega, tip = gauss_seidel.relax(
        float(robot.orientation), float(robot.surface_radius), float(robot.link_length), float(robot.cable_radius),
        float(robot.base), float(robot.tip), robot.link_mass * g, T,
        float(omega or 1.0), omega is None, float(tolerance), int(most_sweeps),
        theta, relaxed, star, trial, np.zeros((robot.links, 3)),
    )  # fmt: skip
    return LiteralShape(
        star, np.array(tip), sweeps, last_omega, status == gauss_seidel.CONVERGED, OUTCOMES[status]
    )  # fmt: skip


def literal_robot(robot: Robot) -> LiteralRobot:
    """The paper's parameters of a robot that has its form: rolling joints of two azimuths and four bare cables.

    Raises `InputError` for a robot of any other form.
    """
    section = robot.description.sections[0]
    joint, link, cables = section.joint, section.link, section.cables
    if len(robot.description.sections) > 1 or not isinstance(joint, RollingJoint) or cables is None:
        raise InputError("robot", f"{robot.name} is not one section of rolling joints with cables")
    azimuth, holes = robot.joints["azimuth"], robot.cables["azimuth"]
    alpha = -float(azimuth[1]) if len(azimuth) > 1 else math.pi - float(holes[1 % len(holes)])
    alpha = math.remainder(alpha, 2 * math.pi)
    toward = [0.0 if number % 2 == 0 else -alpha for number in range(len(azimuth))]
    if not (_same_turns(azimuth, toward) and _same_turns(holes, [0.0, math.pi - alpha, math.pi, -alpha])):
        raise InputError("robot", f"{robot.name} has joints or cables at other azimuths than the paper's robots")
    if cables.holes not in (None, "surface") or cables.lock_mass or cables.linear_density or cables.friction:
        raise InputError("robot", f"{robot.name} has cables with weight, friction or holes off the rolling surface")
    if np.abs(robot.links["center_of_mass"][1:] - [0.0, 0.0, link.length / 2]).max() > 1e-12:
        raise InputError("robot", f"{robot.name} has links whose centre of mass is not in their middle")
    return LiteralRobot(
        links=len(robot.links),
        orientation=alpha,
        surface_radius=joint.radius,
        link_length=link.length,
        cable_radius=cables.radius,
        link_mass=link.mass,
        base=robot.description.base.length - link.length / 2,
        tip=robot.description.tip.length + link.length / 2,
    )


def _same_turns(found: ArrayLike, wanted: ArrayLike) -> bool:
    a, b = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    return a.shape == b.shape and bool(np.all(np.abs(np.exp(1j * a) - np.exp(1j * b)) < 1e-9))
