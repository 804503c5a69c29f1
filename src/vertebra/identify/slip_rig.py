"""The rig of a slip test: two links of a robot, one clamped and one that the cables hold on the first ball joint."""

from __future__ import annotations

from vertebra.errors import InputError
from vertebra.robot.description import BallJoint, Cables, Section
from vertebra.robot.robot import Robot

LARGEST_MU = 100.0
"""No robot file takes more."""
CLOSEST = 1e-6
"""How near mu r_c may come to the radius of the ball, in parts of it: there the torsion limit has no meaning."""


def two_link_rig(robot: Robot) -> Robot:
    """A robot of one joint: the first joint, its link, all cables, and base, tip and gravity as in the file."""
    description = robot.description
    first = description.sections[0]
    if not isinstance(first.joint, BallJoint):
        raise InputError(
            "robot",
            f"slip tests are made on ball joints held by friction, and joint 1 of {robot.name} is a "
            f"{first.joint.kind} joint; give the robot whose links were tested",
        )
    section = first.model_copy(update={"joints": 1, "cables": _all_cables(robot)})
    return Robot(description.model_copy(update={"name": f"{robot.name}, two links", "sections": (section,)}))


def _all_cables(robot: Robot) -> Cables:
    """The cables of all sections as one block, in file order: each of them passes the first joint."""
    groups = [section.cables for section in robot.description.sections if section.cables is not None]
    if not groups:
        raise InputError("robot", f"{robot.name} has no cables to hold a link; add a `cables` block to its file")
    merged = groups[0].model_copy(update={"azimuth": tuple(angle for group in groups for angle in group.azimuth)})
    if any(group.model_copy(update={"azimuth": merged.azimuth}) != merged for group in groups):
        raise InputError(
            "robot",
            f"the cables of {robot.name} differ from section to section; write a robot file of the rig: one section "
            "with one joint and the cables that held the link",
        )
    return merged


def with_friction(robot: Robot, mu: float) -> Robot:
    """The same robot with another friction of joint 1 and of every joint that is like it."""
    description = robot.description
    first = description.sections[0].joint
    sections = tuple(_changed(section, mu) if section.joint == first else section for section in description.sections)
    return Robot(description.model_copy(update={"sections": sections}))


def _changed(section: Section, mu: float) -> Section:
    return section.model_copy(update={"joint": section.joint.model_copy(update={"friction": float(mu)})})


def largest_mu(rig: Robot) -> float:
    """Above it mu r_c reaches the radius of the ball, and no robot file takes it."""
    joint = rig.joints[0]
    return float(min(LARGEST_MU, (1.0 - CLOSEST) * joint["radius"] / joint["ring_radius"]))
