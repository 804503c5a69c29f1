"""Mass, centre and inertia of each link together with what is fixed to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

PLACEHOLDER_MASS = 1e-3
"""kg; written for links whose mass the robot file does not give, because simulators need one."""

SMALLEST_INERTIA = 2e-15
"""kg*m^2; MuJoCo takes no less."""


@dataclass(frozen=True)
class Inertial:
    """A rigid body in the frame of its link."""

    mass: float
    """kg"""
    center: Floats
    """(3,) centre of mass, m."""
    inertia: Floats
    """(3, 3) about the centre of mass, link axes, kg*m^2."""


def link_inertials(robot: Robot) -> list[Inertial]:
    """Links 1 to n, each with the locking devices of the cables that end there (exact) and the rods of its joint.

    Rods are lumped at the proximal face, where they are clamped. The fixed base has no inertial.
    """
    return [_combined(robot, link) for link in range(1, len(robot.links))]


def mass_notes(robot: Robot) -> Iterator[str]:
    """What a reader of an exported file must know about its masses."""
    if robot.joints["mass"].any():
        yield "Approximate: the mass of rods in a joint is lumped at the proximal face of the link after it."
    if robot.cables["linear_density"].any():
        yield "Left out: the mass of cables."
    missing = [link for link in range(1, len(robot.links)) if robot.links["mass"][link] == 0]
    if missing:
        names = "any link" if len(missing) == len(robot.joints) else ", ".join(f"link{link}" for link in missing)
        yield f"Placeholder: the robot file gives no mass for {names}; {PLACEHOLDER_MASS * 1e3:g} g each is written."
    if not robot.links["inertia"][1:].any(axis=1).all():
        yield "Inertia where the robot file gives none: a solid cylinder of the link's length and diameter."


def solid_cylinder(mass: float, length: float, diameter: float) -> Floats:
    """(3,) principal moments about the centre, axis along z, kg*m^2."""
    across = mass * (3 * (diameter / 2) ** 2 + length**2) / 12
    return np.array([across, across, mass * diameter**2 / 8])


def _combined(robot: Robot, link: int) -> Inertial:
    row = robot.links[link]
    own_mass = float(row["mass"]) or PLACEHOLDER_MASS
    moments = row["inertia"] if row["inertia"].any() else solid_cylinder(own_mass, row["length"], row["diameter"])
    parts = [(own_mass, row["center_of_mass"]), *_points_fixed_to(robot, link)]
    mass = sum(part for part, _ in parts)
    center = sum(part * place for part, place in parts) / mass
    inertia = np.diag(moments)
    for part, place in parts:
        arm = place - center
        inertia = inertia + part * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Inertial(mass, center, _solid(inertia))


def _solid(inertia: Floats) -> Floats:
    """Flat and thin bodies made thick enough, by 1e-9 of their inertia, for simulators that test it strictly."""
    small, middle, large = np.linalg.eigvalsh(inertia)
    lack = max(large * (1 + 1e-12) - small - middle, 1e-9 * large - small, SMALLEST_INERTIA - small)
    thick: Floats = inertia + max(lack, 0.0) * np.eye(3)
    return thick


def _points_fixed_to(robot: Robot, link: int) -> Iterator[tuple[float, Floats]]:
    rods = float(robot.joints["mass"][link - 1])
    if rods:
        yield rods, np.zeros(3)
    for cable in robot.cables[robot.cables["last_link"] == link]:
        if cable["lock_mass"]:
            yield float(cable["lock_mass"]), np.array([cable["x"], cable["y"], cable["end"]])
