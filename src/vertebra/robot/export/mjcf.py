"""MJCF, the model file of MuJoCo: exact kinematics of links and cables, one body per link.

A rolling joint becomes two hinges R from its faces that turn q/2 each; a flexure becomes slide, hinge, slide with both
slides following s(q) of the hinge. Equality constraints keep these couplings (theory 6.11).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from vertebra.errors import InputError
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
)
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, FLEXURE, PIN, ROLLING, Body, Floats, straight_gaps

MAX_JOINTS = 495
"""MuJoCo's XML reader stops at 500 nested elements, and bodies nest."""

LARGEST_TENSION = 1e7
"""N, the largest force of a robot file; stands for no limit, since MuJoCo only takes two-sided ranges."""

LONGEST_TIMESTEP = 2e-4
"""s; links of a few grams between tight cables oscillate at a few thousand rad/s."""

SLIDE_ARMATURE = 0.1
"""Of the link's mass, on the slides of a flexure: without it the inertia matrix of the straight robot is singular. The
slides move by L q / 12 per bend, so this adds far less than a thousandth to the inertia of the joint."""


def to_mjcf(robot: Robot) -> str:
    """The robot as MJCF text for MuJoCo, SI units and radians.

    Bodies "link0" to "linkN" have the frames of the robot's links; the site "tip" is the tip point. Joints are named
    "joint3", with "_a" and "_b" for the two hinges of rolling and universal joints and "_slide_a", "_slide_b" beside
    the hinge of a flexure. Tendons and actuators "cable1" and on are the cables and come first; the control of an
    actuator is its tension in N. `vertebra.robot.mjcf_qpos` converts joint coordinates. The comment at the top
    of the text lists what is left out or approximate.

    Raises `InputError` for more joints than MuJoCo's reader can nest.
    """
    if len(robot.joints) > MAX_JOINTS:
        raise InputError(
            "robot",
            f"{robot.name!r} has {len(robot.joints)} joints and MuJoCo's file reader nests at most {MAX_JOINTS}; "
            "export to URDF, or describe a shorter robot",
        )
    inertials = link_inertials(robot)
    root = Element("mujoco", model=legal(robot.name))
    _add_settings(root, robot, _timestep(robot, inertials))
    _add_bodies(SubElement(root, "worldbody"), robot, inertials)
    tendons = SubElement(root, "tendon")
    _add_cables(root, tendons, robot)
    _add_couplings(root, tendons, robot)
    return document(list(_notes(robot)), root)


def _notes(robot: Robot) -> Iterator[str]:
    kinds = robot.joints["kind"]
    yield f"{robot.name}: MuJoCo model written by Vertebra."
    if robot.source:
        yield f"Source: {robot.source}"
    yield "SI units, radians. Kinematics of links and cables are exact; the control of an actuator is its tension in N."
    if FLEXURE in kinds:
        yield (
            "Approximate: while simulating, the two slides of a flexure follow a quartic of its bend angle; each is "
            "short by 0.0001 of the flexure's length at 45 deg and by 0.0084 at 90 deg. Each slide has an armature of "
            f"{SLIDE_ARMATURE:g} times the mass of its link, since the two slides of a straight flexure are one motion."
        )
    if BALL in kinds:
        yield "Ball joints are free, also to twist: the friction that locks them is not modelled."
    yield from mass_notes(robot)
    yield "Left out: friction of cables and joints, damping, contact between links."


def _timestep(robot: Robot, inertials: list[Body]) -> float:
    """A step that resolves neighbouring links swinging against each other on their springs, s; one digit."""
    smallest = np.array([np.linalg.eigvalsh(body.inertia)[0] for body in inertials])
    fastest = math.sqrt((4 * robot.joints["stiffness"] / smallest).max())
    step = LONGEST_TIMESTEP if fastest == 0 else min(LONGEST_TIMESTEP, 0.5 / fastest)
    digit = 10.0 ** math.floor(math.log10(step))
    return float(f"{math.floor(step / digit * (1 + 1e-12)) * digit:.0e}")


def _add_settings(root: Element, robot: Robot, timestep: float) -> None:
    size = float(robot.links["diameter"].max())
    SubElement(root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false")
    SubElement(root, "option", gravity=numbers(robot.gravity), timestep=number(timestep), integrator="implicitfast")
    reach = float(robot.origin[2] + robot.links["reach"].sum() + straight_gaps(robot.joints).sum())
    extent = max(reach, size)
    SubElement(
        root, "statistic", center=numbers((0.0, 0.0, 0.5 * reach)), extent=number(extent), meansize=number(0.2 * size)
    )
    visual = SubElement(root, "visual")
    SubElement(visual, "global", azimuth="135", elevation="-15", offwidth="1280", offheight="960")
    SubElement(visual, "headlight", ambient="0.4 0.4 0.4", diffuse="0.5 0.5 0.5", specular="0.1 0.1 0.1")
    asset = SubElement(root, "asset")
    sky = SubElement(asset, "texture", type="skybox", builtin="gradient", width="64", height="384")
    sky.attrib |= {"rgb1": "1 1 1", "rgb2": "0.7 0.76 0.84"}
    default = SubElement(root, "default")
    SubElement(default, "geom", contype="0", conaffinity="0")
    SubElement(default, "site", size=number(0.02 * size), rgba=numbers(COLOURS["cable"]), group="4")
    SubElement(default, "tendon", width=number(0.015 * size), rgba=numbers(COLOURS["cable"]))
    # As stiff as MuJoCo allows: its usual softness lets the couplings of slender links drift by 1e-3 deg.
    SubElement(default, "equality", solref=numbers((2 * timestep, 1.0)), solimp="0.9999 0.9999 0.001 0.5 2")


def _add_bodies(world: Element, robot: Robot, inertials: list[Body]) -> None:
    SubElement(world, "light", type="directional", dir="-0.3 1 -1", diffuse="0.5 0.5 0.5", castshadow="false")
    sites = [site for cable in range(len(robot.cables)) for site in cable_sites(robot, cable)]
    places = [robot.origin, *_straight_steps(robot)]
    parent = world
    for link, place in enumerate(places):
        parent = SubElement(parent, "body", name=f"link{link}", pos=numbers(place))
        if link > 0:
            _add_inertial(parent, inertials[link - 1])
            _add_joints(parent, robot, link, inertials[link - 1].mass)
        for shape in link_shapes(robot, link):
            _add_geom(parent, shape)
        for site in (site for site in sites if site.link == link):
            SubElement(parent, "site", name=site.name, pos=numbers(site.place))
    tip_size = number(0.06 * robot.links["diameter"][-1])
    SubElement(
        parent, "site", name="tip", pos=numbers(robot.tip_point), size=tip_size, rgba=numbers(COLOURS["tip"]), group="0"
    )


def _straight_steps(robot: Robot) -> Floats:
    """(n, 3) origin of each link 1 to n in the frame of the link before it, straight robot, m."""
    steps = np.zeros((len(robot.joints), 3))
    steps[:, 2] = robot.links["reach"][:-1] + straight_gaps(robot.joints)
    return steps


def _add_inertial(body: Element, inertial: Body) -> None:
    inertia = inertial.inertia
    products = inertia[[0, 0, 1], [1, 2, 2]]
    element = SubElement(body, "inertial", pos=numbers(inertial.center), mass=number(inertial.mass))
    if np.abs(products).max() <= 1e-12 * inertia.max():
        element.set("diaginertia", numbers(np.diag(inertia)))
    else:
        element.set("fullinertia", numbers([*np.diag(inertia), *products]))


def _add_joints(body: Element, robot: Robot, link: int, mass: float) -> None:
    joint, name = robot.joints[link - 1], f"joint{link}"
    kind, size, limit, axis = joint["kind"], joint["size"], joint["limit"], (joint["axis_x"], joint["axis_y"], 0.0)
    if kind == ROLLING:
        _add_hinge(body, f"{name}_a", axis, -size, limit / 2)
        _add_hinge(body, f"{name}_b", axis, size, limit / 2)
    elif kind == FLEXURE:
        slide = {"type": "slide", "axis": "0 0 1", "armature": number(SLIDE_ARMATURE * mass)}
        SubElement(body, "joint", slide, name=f"{name}_slide_a")
        _add_hinge(body, name, axis, -size / 2, limit).set("stiffness", number(joint["stiffness"]))
        SubElement(body, "joint", slide, name=f"{name}_slide_b")
    elif kind == PIN:
        _add_hinge(body, name, axis, -size, limit)
    elif kind == BALL:
        SubElement(body, "joint", name=name, type="ball", pos=numbers((0.0, 0.0, -size)), range=numbers((0.0, limit)))
    else:
        _add_hinge(body, f"{name}_a", axis, 0.0, limit)
        _add_hinge(body, f"{name}_b", (axis[1], axis[0], 0.0), 0.0, limit)


def _add_hinge(body: Element, name: str, axis: tuple[float, float, float], z: float, limit: float) -> Element:
    return SubElement(
        body,
        "joint",
        name=name,
        type="hinge",
        axis=numbers(axis),
        pos=numbers((0.0, 0.0, z)),
        range=numbers((-limit, limit)),
    )


def _add_geom(body: Element, shape: Shape) -> None:
    colour = numbers(COLOURS[shape.colour])
    if isinstance(shape, Cylinder):
        ends = numbers((*shape.start, *shape.end))
        SubElement(body, "geom", type="cylinder", fromto=ends, size=number(shape.radius), rgba=colour)
    else:
        SubElement(body, "geom", type="sphere", pos=numbers(shape.center), size=number(shape.radius), rgba=colour)


class Site(NamedTuple):
    """A point that a cable passes."""

    name: str
    link: int
    place: tuple[float, float, float]
    """In the frame of the link, m."""


def cable_sites(robot: Robot, cable: int) -> list[Site]:
    """The holes that a cable passes from the world's base plane to its end, without repeated points."""
    row, name = robot.cables[cable], f"cable{cable + 1}"
    # In a base that is shorter than the holes are deep, the cable begins at its hole.
    heights = [("start", 0, min(-robot.origin[2], robot.segments[cable, 0]["exit"]))]
    for joint in range(row["last_link"]):
        segment = robot.segments[cable, joint]
        heights += [("out", joint, segment["exit"]), ("in", joint + 1, segment["entry"])]
    heights.append(("end", int(row["last_link"]), row["end"]))
    sites: list[Site] = []
    for label, link, z in heights:
        site = Site(f"{name}_link{link}_{label}", link, (float(row["x"]), float(row["y"]), float(z)))
        if not sites or site[1:] != sites[-1][1:]:
            sites.append(site)
    return sites


def _add_cables(root: Element, tendons: Element, robot: Robot) -> None:
    actuators = SubElement(root, "actuator")
    for cable, row in enumerate(robot.cables):
        name = f"cable{cable + 1}"
        spatial = SubElement(tendons, "spatial", name=name)
        for site in cable_sites(robot, cable):
            SubElement(spatial, "site", site=site.name)
        # A tendon's force grows its length; a tension shortens it, hence the gear.
        motor = SubElement(actuators, "motor", name=name, tendon=name, gear="-1")
        if math.isfinite(row["max_tension"]):
            motor.set("ctrlrange", numbers((0.0, max(row["max_tension"], 1e-12))))
        else:
            # On the force and not on the control, so that the viewer's slider keeps a useful range.
            motor.set("forcerange", numbers((0.0, LARGEST_TENSION)))


def _add_couplings(root: Element, tendons: Element, robot: Robot) -> None:
    equality = SubElement(root, "equality")
    for row, joint in enumerate(robot.joints):
        name = f"joint{row + 1}"
        if joint["kind"] == ROLLING:
            SubElement(equality, "joint", joint1=f"{name}_b", joint2=f"{name}_a", polycoef="0 1 0 0 0")
        elif joint["kind"] == FLEXURE:
            _couple_slides(equality, tendons, name, joint["size"])


def _couple_slides(equality: Element, tendons: Element, name: str, length: float) -> None:
    """Slides follow s(q) - L/2 = L/2 (q^2/12 + q^4/120 + ...).

    MuJoCo softens a constraint by the sum of both sides' mobilities whatever their units: a hinge of a few g*mm^2 would
    let the slide yield by a millimetre under the cables. A fixed tendon that measures the bend as an arc cures that.
    """
    arm = length / 10
    quartic = numbers((0.0, 0.0, length / 24 / arm**2, 0.0, length / 240 / arm**4))
    for joint, scale in ((name, arm), (f"{name}_slide_a", 1.0), (f"{name}_slide_b", 1.0)):
        SubElement(SubElement(tendons, "fixed", name=joint), "joint", joint=joint, coef=number(scale))
    for slide in (f"{name}_slide_a", f"{name}_slide_b"):
        SubElement(equality, "tendon", tendon1=slide, tendon2=name, polycoef=quartic)
