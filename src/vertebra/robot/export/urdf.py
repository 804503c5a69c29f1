"""URDF, the robot file of ROS tools: links and joints only, since URDF knows neither cables nor springs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from vertebra.robot.export.common import (
    COLOURS,
    Cylinder,
    Shape,
    document,
    legal,
    link_inertials,
    link_shapes,
    mass_notes,
    number,
    numbers,
    range_note,
    reachable_bend,
    reachable_range,
)
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, BALL, FLEXURE, PIN, ROLLING, UNIVERSAL, Body

Axis = tuple[float, float, float]

NEGLIGIBLE = 1e-9
"""Share of a link's inertia that its helper links get."""

NO_LIMIT = "1e9"
"""URDF demands limits of effort and velocity; the robot file has none."""

X_AXIS, Y_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def to_urdf(robot: Robot) -> str:
    """The robot as URDF text, SI units and radians.

    Links "link0" to "linkN" have the frames of the robot's links; "world" is the world frame and "tip" the tip. A
    rolling joint is two revolute joints "joint3_a" and "joint3_b" that turn q/2 each, the second one mimicking the
    first: exact. A universal joint is two revolute joints, a ball joint three: "joint3_a", "joint3_b", "joint3_c" about
    x, y, z, from base to tip. A flexure is one revolute joint in the middle of its free length, a backbone three there:
    "joint3_a" about x, "joint3_b" about y and "joint3_c", which mimics the first, with "joint3_d" about z where it
    twists: links turn exactly, but their places are exact only when straight. Damping is that of the robot file.
    `vertebra.robot.urdf_coordinates` converts joint coordinates.
    """
    root = Element("robot", name=legal(robot.name))
    for colour in ("base", "link", "joint"):
        SubElement(SubElement(root, "material", name=colour), "color", rgba=numbers(COLOURS[colour]))
    SubElement(root, "link", name="world")
    _add_joint(root, "base_mount", "fixed", "world", "link0", robot.origin[2])
    _add_link(root, robot, 0, None)
    inertials = link_inertials(robot)
    for link, inertial in enumerate(inertials, start=1):
        _add_joints_to(root, robot, link, inertial)
        _add_link(root, robot, link, inertial)
    _add_joint(root, "tip_mount", "fixed", f"link{len(robot.joints)}", "tip", robot.tip_point[2])
    # A link without inertial has 1 kg in some simulators.
    _add_inertial(SubElement(root, "link", name="tip"), _negligible(inertials[-1]))
    return document(list(_notes(robot)), root)


def _notes(robot: Robot) -> Iterator[str]:
    kinds = robot.joints["kind"]
    yield f"{robot.name}: URDF model written by Vertebra."
    if robot.source:
        yield f"Source: {robot.source}"
    yield "SI units, radians. Left out, because URDF cannot express them: cables, gravity, friction, springs."
    if ROLLING in kinds:
        yield "Rolling joints are pairs of revolute joints that turn q/2 each; the second one mimics the first. Exact."
    if FLEXURE in kinds:
        springs = ", ".join(number(value) for value in np.unique(robot.joints["stiffness"][kinds == FLEXURE]))
        yield "Approximate: flexures are revolute joints in the middle of their free length, exact only when straight."
        yield f"Bending stiffness of the flexures: {springs} N*m/rad."
    if BACKBONE in kinds:
        springs = ", ".join(number(value) for value in np.unique(robot.joints["stiffness"][kinds == BACKBONE]))
        yield (
            "Approximate: backbones are revolute joints about x, y and x again, the last one mimicking the first, in "
            "the middle of their free length; about z as well where they twist. Links turn exactly, their places are "
            "exact only when straight."
        )
        yield f"Bending stiffness of the backbones: {springs} N*m/rad."
    if robot.can_twist:
        twisting = robot.joints["torsion"][robot.joints["freedoms"] == 3]
        springs = ", ".join(number(value) for value in np.unique(twisting))
        yield f"Torsional stiffness of the backbones that twist: {springs} N*m/rad."
    if BALL in kinds:
        yield (
            "Ball joints are three revolute joints about x, y, z from base to tip: R = Rx Ry Rz; the first two bend, "
            "the third one twists. Their ranges contain the cone of the ball joint and more."
        )
    yield (
        "Helper links (names with an underscore) stand between the joints before one link; each gets "
        f"{NEGLIGIBLE:g} of that link's inertia, and so does the tip, because some tools drop links without any and "
        "others give them 1 kg."
    )
    yield range_note(robot)
    yield from mass_notes(robot)
    yield "Limits of effort and velocity are placeholders without meaning."


@dataclass(frozen=True)
class Revolute:
    """One revolute joint of the chain that replaces a joint."""

    name: str
    axis: Axis
    z: float
    """From the frame before it, m."""
    low: float
    """rad"""
    high: float
    """rad"""
    damping: float
    """N*m*s/rad"""
    mimics: str | None = None


def revolute_chain(robot: Robot, link: int) -> tuple[list[Revolute], float]:
    """Revolute joints between link - 1 and link, and the distance from the last one to the link's frame, m."""
    joint, name = robot.joints[link - 1], f"joint{link}"
    kind, size, limit, loss = (float(joint[field]) for field in ("kind", "size", "limit", "damping"))
    start, axis = float(robot.links["reach"][link - 1]), (float(joint["axis_x"]), float(joint["axis_y"]), 0.0)
    if kind == BALL:
        # A cone wider than 90 deg needs every first angle; the second angle never needs more than 90 deg.
        about_x, about_y = limit if limit <= math.pi / 2 else math.pi, min(limit, math.pi / 2)
        return [
            Revolute(f"{name}_a", X_AXIS, start, -about_x, about_x, loss),
            Revolute(f"{name}_b", Y_AXIS, 0.0, -about_y, about_y, loss),
            Revolute(f"{name}_c", Z_AXIS, 0.0, -math.pi, math.pi, loss),
        ], size
    if kind == UNIVERSAL:
        second = (axis[1], axis[0], 0.0)
        return [
            Revolute(f"{name}_a", axis, start + size, -limit, limit, loss),
            Revolute(f"{name}_b", second, 0.0, -limit, limit, loss),
        ], 0.0
    if kind == BACKBONE:
        bend = reachable_bend(robot, link - 1)
        # Two joints that turn by half each lose as much as one when each has twice its damping.
        chain = [
            Revolute(f"{name}_a", X_AXIS, start + size / 2, -bend / 2, bend / 2, 2 * loss),
            Revolute(f"{name}_b", Y_AXIS, 0.0, -bend, bend, loss),
            Revolute(f"{name}_c", X_AXIS, 0.0, -bend / 2, bend / 2, 2 * loss, mimics=f"{name}_a"),
        ]
        if joint["freedoms"] == 3:
            chain.append(Revolute(f"{name}_d", Z_AXIS, 0.0, -math.pi, math.pi, loss))
        return chain, size / 2
    low, high = reachable_range(robot, link - 1)
    if kind == ROLLING:
        first = Revolute(f"{name}_a", axis, start - size, low / 2, high / 2, 2 * loss)
        return [first, replace(first, name=f"{name}_b", z=2 * size, mimics=first.name)], -size
    lever = size if kind == PIN else size / 2
    return [Revolute(name, axis, start + lever, low, high, loss)], lever


def _add_joints_to(root: Element, robot: Robot, link: int, inertial: Body) -> None:
    chain, offset = revolute_chain(robot, link)
    child = f"link{link - 1}"
    for index, part in enumerate(chain):
        is_last = index == len(chain) - 1
        parent, child = child, f"link{link}" if is_last and offset == 0 else f"link{link}_{'abcd'[index]}"
        element = _add_joint(root, part.name, "revolute", parent, child, part.z)
        SubElement(element, "axis", xyz=numbers(part.axis))
        bounds = {"lower": number(part.low), "upper": number(part.high)}
        SubElement(element, "limit", bounds | {"effort": NO_LIMIT, "velocity": NO_LIMIT})
        if part.damping:
            SubElement(element, "dynamics", damping=number(part.damping))
        if part.mimics is not None:
            SubElement(element, "mimic", joint=part.mimics, multiplier="1", offset="0")
        if child != f"link{link}":
            _add_inertial(SubElement(root, "link", name=child), _negligible(inertial))
    if offset != 0:
        _add_joint(root, f"joint{link}_mount", "fixed", child, f"link{link}", offset)


def _add_joint(root: Element, name: str, kind: str, parent: str, child: str, z: float) -> Element:
    element = SubElement(root, "joint", name=name, type=kind)
    SubElement(element, "origin", xyz=numbers((0.0, 0.0, z)), rpy="0 0 0")
    SubElement(element, "parent", link=parent)
    SubElement(element, "child", link=child)
    return element


def _add_link(root: Element, robot: Robot, link: int, inertial: Body | None) -> None:
    element = SubElement(root, "link", name=f"link{link}")
    if inertial is not None:
        _add_inertial(element, inertial)
    for shape in link_shapes(robot, link):
        _add_visual(element, shape)


def _negligible(inertial: Body) -> Body:
    return Body(NEGLIGIBLE * inertial.mass, np.zeros(3), NEGLIGIBLE * inertial.inertia)


def _add_inertial(element: Element, inertial: Body) -> None:
    parent = SubElement(element, "inertial")
    SubElement(parent, "origin", xyz=numbers(inertial.center), rpy="0 0 0")
    SubElement(parent, "mass", value=number(inertial.mass))
    entries = {f"i{'xyz'[i]}{'xyz'[j]}": number(inertial.inertia[i, j]) for i in range(3) for j in range(i, 3)}
    SubElement(parent, "inertia", entries)


def _add_visual(element: Element, shape: Shape) -> None:
    visual = SubElement(element, "visual")
    if isinstance(shape, Cylinder):
        start, end = np.array(shape.start), np.array(shape.end)
        along = end - start
        # Roll, pitch, yaw that turn z, the axis of URDF cylinders, along this one.
        turn = (0.0, math.atan2(math.hypot(along[0], along[1]), along[2]), math.atan2(along[1], along[0]))
        SubElement(visual, "origin", xyz=numbers((start + end) / 2), rpy=numbers(turn))
        size = {"radius": number(shape.radius), "length": number(float(np.linalg.norm(along)))}
        SubElement(SubElement(visual, "geometry"), "cylinder", size)
    else:
        SubElement(visual, "origin", xyz=numbers(shape.center), rpy="0 0 0")
        SubElement(SubElement(visual, "geometry"), "sphere", radius=number(shape.radius))
    SubElement(visual, "material", name=shape.colour)
