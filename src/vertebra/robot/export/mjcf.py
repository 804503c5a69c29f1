"""MJCF, the model file of MuJoCo: exact kinematics of links and cables, one body per link.

A rolling joint becomes two hinges R from its faces that turn q/2 each; a flexure becomes slide, hinge, slide with both
slides following s(q) of the hinge. A backbone is slide, ball, slide, or slide, four hinges, slide where it twists; its
slides follow from the distance between its two discs. Equality constraints keep these couplings (theory 6.11).
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
    range_note,
    reachable_bend,
    reachable_range,
)
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, BALL, FLEXURE, PIN, ROLLING, UNIVERSAL, Body, Floats, straight_gaps

Axis = tuple[float, float, float]
X_AXIS, Y_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

MAX_JOINTS = 495
"""MuJoCo's XML reader stops at 500 nested elements, and bodies nest."""

LARGEST_TENSION = 1e7
"""N, the largest force of a robot file; stands for no limit, since MuJoCo only takes two-sided ranges."""

LONGEST_TIMESTEP = 2e-4
"""s; links of a few grams between tight cables oscillate at a few thousand rad/s."""

SLIDE_ARMATURE = 0.1
"""Of the link's mass, on the slides of a flexure or a backbone: without it the inertia matrix of the straight robot is
singular. The slides move by L q / 12 per bend, so this adds far less than a thousandth to the inertia of the joint."""


HINGE_ARMATURE = 1e-3
"""Of the link's inertia about the middle of the rod, on the two hinges of a twisting backbone that are one motion when
straight."""


def to_mjcf(robot: Robot) -> str:
    """The robot as MJCF text for MuJoCo, SI units and radians.

    Bodies "link0" to "linkN" have the frames of the robot's links; the site "tip" is the tip point. Joints are named
    "joint3", with "_a" and "_b" for the two hinges of rolling and universal joints, "_a" to "_d" for the four hinges of
    a backbone that twists, and "_slide_a", "_slide_b" beside the hinge of a flexure or the ball of a backbone. Tendons
    and actuators "cable1" and on are the cables and come first; the control of an actuator is its tension in N.
    `vertebra.robot.mjcf_qpos` converts joint coordinates. The comment at the top of the text lists what is left out or
    approximate.

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
    if BACKBONE in kinds:
        yield (
            "Backbones are exact but for the length of their two slides, which follow a quartic of the distance "
            "between the two discs: short by 7e-7 of the rod's length at a bend of 45 deg, by 8e-4 at 90 deg. Their "
            f"slides have the same armature as those of flexures, {SLIDE_ARMATURE:g} times the mass of their link."
        )
    if (robot.joints["freedoms"] == 3).any():
        yield (
            "Approximate: the spring of a backbone that twists is exact for bends toward x and y; between them it is "
            "stiffer by up to 1/48 of the square of the bend in rad. With a twist as well, springs are off by an "
            "eighth of the square of either angle, slides by the rod's length times (bend twist)^2/96. Its hinges "
            f"about x have an armature of {HINGE_ARMATURE:g} times the inertia of its link, since both are one motion "
            "when straight."
        )
    if BALL in kinds:
        yield "Ball joints are free, also to twist: the friction that locks them is not modelled."
    yield from mass_notes(robot)
    yield (
        f"Springs and damping of joints are those of the robot file. {range_note(robot)} Left out: friction of cables "
        "and joints, contact between links."
    )
    balls = (kinds == BACKBONE) & (robot.joints["freedoms"] == 2)
    if robot.joints["damping"][balls].any():
        yield (
            "Approximate: MuJoCo damps the angular velocity of the ball in a backbone, the robot damps the rates of "
            "its bend vector; their difference is of second order in the bend."
        )


def _timestep(robot: Robot, inertials: list[Body]) -> float:
    """A step that resolves neighbouring links swinging against each other on their springs, s; one digit."""
    smallest = np.array([np.linalg.eigvalsh(body.inertia)[0] for body in inertials])
    fastest = math.sqrt((4 * np.maximum(robot.joints["stiffness"], robot.joints["torsion"]) / smallest).max())
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
            _add_joints(parent, robot, link, inertials[link - 1])
        for shape in link_shapes(robot, link):
            _add_geom(parent, shape)
        for site in (site for site in [*sites, *disc_sites(robot, link)] if site.link == link):
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


def _add_joints(body: Element, robot: Robot, link: int, inertial: Body) -> None:
    joint, name = robot.joints[link - 1], f"joint{link}"
    kind, size, limit, axis = joint["kind"], joint["size"], joint["limit"], (joint["axis_x"], joint["axis_y"], 0.0)
    slide = {"type": "slide", "axis": "0 0 1", "armature": number(SLIDE_ARMATURE * inertial.mass)}
    spring = {"stiffness": float(joint["stiffness"]), "damping": float(joint["damping"])}
    # Two hinges that turn by half each store and lose as much as the joint when each has twice of its coefficients.
    twice = {field: 2 * value for field, value in spring.items()}
    if kind in (FLEXURE, BACKBONE):
        SubElement(body, "joint", slide, name=f"{name}_slide_a")
    if kind == UNIVERSAL:
        _add_hinge(body, f"{name}_a", axis, 0.0, (-limit, limit), spring)
        _add_hinge(body, f"{name}_b", (axis[1], axis[0], 0.0), 0.0, (-limit, limit), spring)
    elif kind == BALL:
        SubElement(body, "joint", name=name, type="ball", pos=numbers((0.0, 0.0, -size)), range=numbers((0.0, limit)))
    elif kind == BACKBONE:
        widest = reachable_bend(robot, link - 1)
        if joint["freedoms"] == 2:
            place = {"pos": numbers((0.0, 0.0, -size / 2)), "range": numbers((0.0, widest))}
            _add_numbers(SubElement(body, "joint", place, name=name, type="ball"), spring)
        else:
            twist = {"stiffness": float(joint["torsion"]), "damping": spring["damping"]}
            arm = float(inertial.center[2] + size / 2)
            twice["armature"] = HINGE_ARMATURE * (float(inertial.inertia[0, 0]) + inertial.mass * arm**2)
            _add_hinge(body, f"{name}_a", X_AXIS, -size / 2, (-widest / 2, widest / 2), twice)
            _add_hinge(body, f"{name}_b", Y_AXIS, -size / 2, (-widest, widest), spring)
            _add_hinge(body, f"{name}_c", X_AXIS, -size / 2, (-widest / 2, widest / 2), twice)
            _add_hinge(body, f"{name}_d", Z_AXIS, -size / 2, None, twist)
    else:
        low, high = reachable_range(robot, link - 1)
        if kind == ROLLING:
            _add_hinge(body, f"{name}_a", axis, -size, (low / 2, high / 2), twice)
            _add_hinge(body, f"{name}_b", axis, size, (low / 2, high / 2), twice)
        else:
            _add_hinge(body, name, axis, -size if kind == PIN else -size / 2, (low, high), spring)
    if kind in (FLEXURE, BACKBONE):
        SubElement(body, "joint", slide, name=f"{name}_slide_b")


def _add_hinge(
    body: Element, name: str, axis: Axis, z: float, bounds: tuple[float, float] | None, spring: dict[str, float]
) -> None:
    place = {"axis": numbers(axis), "pos": numbers((0.0, 0.0, z))}
    hinge = SubElement(body, "joint", place, name=name, type="hinge")
    if bounds is not None:
        hinge.set("range", numbers(bounds))
    _add_numbers(hinge, spring)


def _add_numbers(joint: Element, values: dict[str, float]) -> None:
    """As attributes, but for zeros."""
    for name, value in values.items():
        if value:
            joint.set(name, number(value))


def _add_geom(body: Element, shape: Shape) -> None:
    colour = numbers(COLOURS[shape.colour])
    if isinstance(shape, Cylinder):
        ends = numbers((*shape.start, *shape.end))
        SubElement(body, "geom", type="cylinder", fromto=ends, size=number(shape.radius), rgba=colour)
    else:
        SubElement(body, "geom", type="sphere", pos=numbers(shape.center), size=number(shape.radius), rgba=colour)


class Site(NamedTuple):
    """A point of a link that a cable passes, or between which and another a coupling measures."""

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
        elif joint["kind"] == BACKBONE:
            _couple_backbone(equality, tendons, name, joint["size"], joint["freedoms"] == 3)


def disc_sites(robot: Robot, link: int) -> Iterator[Site]:
    """The points of a link between which the couplings of the backbones before and after it measure: the middle of the
    disc, and two of its rim."""
    rim = 0.35 * float(robot.links["diameter"][link])
    for row, label, z in ((link - 1, "in", 0.0), (link, "out", float(robot.links["reach"][link]))):
        if 0 <= row < len(robot.joints) and robot.joints["kind"][row] == BACKBONE:
            # Both discs of a joint are measured at one radius.
            radius = min(rim, 0.35 * float(robot.links["diameter"][2 * row + 1 - link]))
            for place, point in (("middle", (0.0, 0.0, z)), ("x", (radius, 0.0, z)), ("y", (0.0, radius, z))):
                yield Site(f"joint{row + 1}_{label}_{place}", link, point)


def _couple_backbone(equality: Element, tendons: Element, name: str, length: float, twists: bool) -> None:
    """Slides follow the distance c of the two discs, which a bend shortens: s - L/2 = L (x + 27/10 x^2 + ...) with
    x = 1 - c/L. A joint that does not twist has two diagonals from disc to disc of equal length."""

    def measure(label: str, start: str, end: str) -> str:
        spatial = SubElement(tendons, "spatial", name=f"{name}_{label}", rgba="0 0 0 0")
        for site in (f"{name}_out_{start}", f"{name}_in_{end}"):
            SubElement(spatial, "site", site=site)
        return f"{name}_{label}"

    chord = measure("chord", "middle", "middle")
    powers = zip((0.0, -1.0, 27 / 10, -1296 / 175, 3564 / 175), range(5), strict=True)
    quartic = numbers(factor * length ** (1 - power) for factor, power in powers)
    for slide in (f"{name}_slide_a", f"{name}_slide_b"):
        SubElement(SubElement(tendons, "fixed", name=slide), "joint", joint=slide, coef="1")
        SubElement(equality, "tendon", tendon1=slide, tendon2=chord, polycoef=quartic)
    if twists:
        SubElement(equality, "joint", joint1=f"{name}_c", joint2=f"{name}_a", polycoef="0 1 0 0 0")
    else:
        one, other = measure("diagonal_a", "x", "y"), measure("diagonal_b", "y", "x")
        SubElement(equality, "tendon", tendon1=one, tendon2=other, polycoef="0 1 0 0 0")


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
