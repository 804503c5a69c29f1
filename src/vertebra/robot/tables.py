"""A description flattened into the tables that kernels read: one row per joint, link, cable and cable segment.

Numbering: link 0 is the base, link i the link distal of joint i, so joint i is row i - 1 of `joints`.

What builds them works on complex numbers too, for derivatives by the complex step (`robot.fields`). At a corner the
imaginary part decides which side is meant: the one toward which a field grows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.description import (
    BackboneJoint,
    BallJoint,
    Cables,
    Description,
    FlexureJoint,
    PinJoint,
    Point,
    Recess,
    RollingJoint,
    Section,
    Sensors,
    UniversalJoint,
)
from vertebra.robot.friction import FrictionLaw

ROLLING, FLEXURE, PIN, UNIVERSAL, BALL, BACKBONE = range(6)
KIND_CODES = {
    "rolling": ROLLING, "flexure": FLEXURE, "pin": PIN, "universal": UNIVERSAL, "ball": BALL, "backbone": BACKBONE,
}  # fmt: skip

JOINT = np.dtype(
    [
        ("kind", np.int64),  # ROLLING .. BACKBONE
        (
            "size",
            np.float64,
        ),  # R of rolling, L of flexure or backbone, s of pin, `lower` of universal, length of ball link; m
        ("azimuth", np.float64),  # bend azimuth psi of mirror joints, rad
        ("axis_x", np.float64),  # (first) rotation axis in the straight robot: (-sin psi, cos psi, 0)
        ("axis_y", np.float64),
        ("first", np.int64),  # coordinates of this joint: q[first : first + freedoms]
        ("freedoms", np.int64),  # 1 for mirror joints, 2 for universal and ball joints, 2 or 3 for backbones
        ("limit", np.float64),  # rad
        ("stops", np.int64),  # 1 where the joint rests on its limit, 0 where the limit must not be passed
        ("stiffness", np.float64),  # N*m/rad
        ("torsion", np.float64),  # of the third freedom, N*m/rad
        ("damping", np.float64),  # N*m*s/rad
        ("mass", np.float64),  # rods and screws inside the joint, kg
        ("radius", np.float64),  # arc or ball radius, m
        ("ring_radius", np.float64),  # contact ring of a ball joint, m
        ("friction", np.float64),  # between the links
        ("socket", np.float64),  # rim of a ball's socket from its axis, rad; infinite when not given
        ("contact_offset", np.float64),  # m
    ]
)
LINK = np.dtype(
    [
        ("length", np.float64),  # m
        ("reach", np.float64),  # from the link's origin to the start of the next joint, m
        ("mass", np.float64),  # kg
        ("center_of_mass", np.float64, (3,)),  # in the link's frame, m
        ("inertia", np.float64, (3,)),  # about the centre of mass, link axes: xx, yy, zz, kg*m^2; zero when not given
        ("products", np.float64, (3,)),  # and xy, xz, yz of the same tensor
        ("diameter", np.float64),  # m; a guess from the cables when not given
    ]
)
CABLE = np.dtype(
    [
        ("radius", np.float64),  # m
        ("azimuth", np.float64),  # rad
        ("x", np.float64),  # hole in any link: (x, y)
        ("y", np.float64),
        ("last_link", np.int64),  # where it ends
        ("end", np.float64),  # z of the end in the frame of the last link, m
        ("inside", np.float64),  # constant part of the length: through the base and the links, m
        ("friction", np.float64, (3,)),  # a, b, c of mu = a theta^2 + b theta + c; zero for a table
        ("presliding", np.float64),  # m
        ("linear_density", np.float64),  # kg/m
        ("lock_mass", np.float64),  # kg
        ("stiffness_EA", np.float64),  # N; infinite when not given
        ("pretension", np.float64),  # N
        ("max_tension", np.float64),  # N; infinite when not given
    ]
)
SEGMENT = np.dtype(
    [
        ("offset", np.float64),  # e: hole's distance from the axis toward the bend side, m (mirror joints)
        ("recess", np.float64),  # rho: hole behind the face apex, m (mirror joints and backbones)
        ("exit", np.float64),  # z of the hole in the frame of the link before the joint, m
        ("entry", np.float64),  # z of the hole in the frame of the link after the joint, m
    ]
)

PRODUCTS = ((0, 1), (0, 2), (1, 2))
"""Row and column of each of a link's `products`."""

Table = NDArray[np.void]
Floats = NDArray[np.float64]


class Tables(NamedTuple):
    """All arrays of a robot that come from the numbers of its file, as `Robot` documents them."""

    joints: Table
    links: Table
    cables: Table
    segments: Table
    gravity: Floats
    origin: Floats
    tip_point: Floats
    sensor_noise: Floats
    sensor_twist: Floats
    """()."""


def tables(description: Description, number: type = float) -> Tables:
    """The arrays of a robot; `number` is `complex` where the description holds complex numbers."""
    joints = joint_table(description, number)
    links = link_table(description, joints, number)
    cables = cable_table(description, number)
    segments = segment_table(description, joints, links, cables, number)
    base = description.base.length if joints["kind"][0] == BALL else 0.0
    cables["inside"] = length_inside_links(cables, segments, base)
    last_is_ball = joints["kind"][-1] == BALL
    tip = description.tip.length + (0.0 if last_is_ball else links["length"][-1])
    sensors = description.sensors or Sensors()
    vectors = description.gravity, [0.0, 0.0, base], [0.0, 0.0, tip], sensors.noise, sensors.twist
    return Tables(joints, links, cables, segments, *(np.array(vector, number) for vector in vectors))


@cache
def columns(table: np.dtype[Any], number: type) -> np.dtype[Any]:
    """The type of a table with `number` in place of its floats."""
    if number is float:
        return table
    kinds = [(name, table[name]) for name in table.names or ()]
    return np.dtype([(name, number if kind.base == np.float64 else kind.base, kind.shape) for name, kind in kinds])


def section_rows(description: Description) -> Iterator[tuple[Section, slice]]:
    """Each section with the rows of its joints."""
    start = 0
    for section in description.sections:
        yield section, slice(start, start + section.joints)
        start += section.joints


def unit_vectors(azimuth: Floats) -> tuple[Floats, Floats]:
    """cos and sin of azimuths, with multiples of 90 degrees exact, so that perpendicular parts do not couple."""
    cos, sin = np.cos(azimuth), np.sin(azimuth)
    for part in (cos.real, sin.real):
        part[np.abs(part) < 1e-15] = 0.0
    return cos, sin


def joint_table(description: Description, number: type = float) -> Table:
    table = np.zeros(sum(section.joints for section in description.sections), columns(JOINT, number))
    for section, rows in section_rows(description):
        joint, part = section.joint, table[rows]
        part["kind"] = KIND_CODES[joint.kind]
        part["limit"] = joint.limit
        part["freedoms"] = 1
        if not isinstance(joint, BallJoint):
            part["damping"], part["stiffness"] = joint.damping, joint.stiffness or 0.0
            part["stops"] = joint.stops == "rigid"
        if section.azimuth is not None:
            part["azimuth"] = np.resize(section.azimuth, section.joints)
            cos, sin = unit_vectors(part["azimuth"].copy())
            part["axis_x"], part["axis_y"] = -sin, cos
        if isinstance(joint, RollingJoint):
            part["size"] = part["radius"] = joint.radius
            part["friction"], part["contact_offset"] = joint.friction or 0.0, joint.contact_offset or 0.0
        elif isinstance(joint, FlexureJoint):
            part["size"], part["stiffness"], part["mass"] = joint.length, joint.bending_stiffness(), joint.mass
        elif isinstance(joint, PinJoint):
            part["size"] = joint.length / 2
        elif isinstance(joint, UniversalJoint):
            part["size"], part["freedoms"] = joint.lower, 2
            part["axis_x"], part["axis_y"] = (0.0, 1.0) if joint.order == "yx" else (1.0, 0.0)
        elif isinstance(joint, BackboneJoint):
            part["size"], part["stiffness"], part["mass"] = joint.length, joint.bending_stiffness(), joint.mass
            torsion = joint.torsional_stiffness()
            part["freedoms"], part["torsion"] = (2, 0.0) if torsion is None else (3, torsion)
        else:
            part["size"], part["freedoms"] = section.link.length, 2
            part["radius"], part["ring_radius"], part["friction"] = joint.radius, joint.ring_radius, joint.friction
            part["socket"] = math.inf if joint.socket is None else joint.socket
    table["first"] = np.cumsum(table["freedoms"]) - table["freedoms"]
    return table


def link_table(description: Description, joints: Table, number: type = float) -> Table:
    table = np.zeros(len(joints) + 1, columns(LINK, number))
    base = table[:1]
    base["length"] = description.base.length
    base["reach"] = 0.0 if joints["kind"][0] == BALL else description.base.length
    base["diameter"] = drawn_diameter(description, 0)
    for index, (section, rows) in enumerate(section_rows(description)):
        link, part = section.link, table[1:][rows]
        is_ball = isinstance(section.joint, BallJoint)
        part["length"], part["mass"] = link.length, link.mass
        part["reach"] = 0.0 if is_ball else link.length
        part["center_of_mass"] = center_of_mass(section)
        part["inertia"] = link.inertia or (0.0, 0.0, 0.0)
        part["diameter"] = drawn_diameter(description, index)
        leads_to_flat_joint = is_ball and rows.stop < len(joints) and joints["kind"][rows.stop] != BALL
        if leads_to_flat_joint:
            part["reach"][-1] = link.channel
    if description.tip.mass != 0.0:
        write_body(table[-1:], join([read_body(table[-1]), tip_body(description)]))
    return table


def center_of_mass(section: Section) -> Point:
    """Of each link of a section without what is attached to it, in the link's frame, m."""
    default = 0.0 if isinstance(section.joint, BallJoint) else section.link.length / 2
    return section.link.center_of_mass or (0.0, 0.0, default)


class Body(NamedTuple):
    """A rigid body in the frame of its link."""

    mass: float
    """kg."""
    center: Floats
    """(3,) centre of mass, m."""
    inertia: Floats
    """(3, 3) about the centre of mass, link axes, kg*m^2."""


def join(bodies: Sequence[Body]) -> Body:
    """Bodies fixed to one link as one body (parallel axes)."""
    mass = sum(body.mass for body in bodies)
    center = np.sum([body.mass * body.center for body in bodies], axis=0) / mass
    inertia = np.zeros((3, 3), center.dtype)
    for body in bodies:
        arm = body.center - center
        inertia += body.inertia + body.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Body(mass, center, inertia)


def point_mass(mass: float, place: Floats) -> Body:
    """A body that is all in one point of its link."""
    return Body(mass, place, np.zeros((3, 3)))


def tip_body(description: Description) -> Body:
    """What is attached to the last link, in that link's frame."""
    tip, last = description.tip, description.sections[-1]
    far_face = 0.0 if isinstance(last.joint, BallJoint) else last.link.length
    x, y, z = tip.center_of_mass or (0.0, 0.0, tip.length / 2)
    return Body(tip.mass, np.array([x, y, far_face + z]), np.diag(tip.inertia or (0.0, 0.0, 0.0)))


def read_body(row: Table) -> Body:
    """The body of a row of the links' table."""
    inertia = np.diag(row["inertia"])
    for (i, j), product in zip(PRODUCTS, row["products"], strict=True):
        inertia[i, j] = inertia[j, i] = product
    return Body(row["mass"].item(), np.array(row["center_of_mass"]), inertia)


def write_body(row: Table, body: Body) -> None:
    """Make a link's row, a table of length one, that of `body`."""
    row["mass"], row["center_of_mass"] = body.mass, body.center
    row["inertia"], row["products"] = np.diag(body.inertia), [body.inertia[place] for place in PRODUCTS]


def drawn_diameter(description: Description, index: int) -> float:
    """Outer diameter of a section's links: stated, that of the ball, or a rim around the cables that pass."""
    section = description.sections[index]
    if section.link.diameter is not None:
        return section.link.diameter
    if isinstance(section.joint, BallJoint):
        return 2 * section.joint.radius
    holes = [later.cables.radius for later in description.sections[index:] if later.cables is not None]
    return 2.6 * max(holes, key=lambda hole: (hole.real, hole.imag)) if holes else section.link.length / 2


def cable_table(description: Description, number: type = float) -> Table:
    parts = []
    for section, rows in section_rows(description):
        cables = section.cables
        if cables is None:
            continue
        part = np.zeros(len(cables.azimuth), columns(CABLE, number))
        part["radius"], part["azimuth"] = cables.radius, cables.azimuth
        cos, sin = unit_vectors(np.array(cables.azimuth))
        part["x"], part["y"] = cables.radius * cos, cables.radius * sin
        part["last_link"] = rows.stop
        part["end"] = _cable_end(section, cables)
        if cables.friction is not None:
            part["friction"], part["presliding"] = cables.friction.coefficients(), cables.friction.presliding
        part["linear_density"], part["lock_mass"] = cables.linear_density, cables.lock_mass
        part["stiffness_EA"] = math.inf if cables.stiffness_EA is None else cables.stiffness_EA
        part["pretension"] = cables.pretension
        part["max_tension"] = math.inf if cables.max_tension is None else cables.max_tension
        parts.append(part)
    return np.concatenate(parts) if parts else np.zeros(0, columns(CABLE, number))


def friction_laws(description: Description) -> tuple[FrictionLaw, ...]:
    """One per cable, in file order."""
    laws: list[FrictionLaw] = []
    for section in description.sections:
        if section.cables is not None:
            friction = section.cables.friction
            law = FrictionLaw.none() if friction is None else friction.law()
            laws += [law] * len(section.cables.azimuth)
    return tuple(laws)


def _cable_end(section: Section, cables: Cables) -> float:
    """Where in the last link a cable is held: at its far hole plane; on the platform of a universal module."""
    if section.link.channel is not None:
        return section.link.channel
    if isinstance(cables.holes, Recess) and not isinstance(section.joint, UniversalJoint):
        return section.link.length - cables.holes.recess
    return section.link.length


def segment_table(description: Description, joints: Table, links: Table, cables: Table, number: type = float) -> Table:
    table = np.zeros((len(cables), len(joints)), columns(SEGMENT, number))
    first = 0
    for section in description.sections:
        if section.cables is None:
            continue
        group = slice(first, first + len(section.cables.azimuth))
        first = group.stop
        for passed, rows in section_rows(description):
            if rows.start >= cables["last_link"][group.start]:
                break
            _fill_segments(
                table[group, rows], section.cables, passed, cables[group], joints[rows], links["reach"][rows]
            )
            if isinstance(passed.joint, BallJoint):
                # A ball link's exit holes lie its channel beyond its origin; so do those of a base under a first ball.
                exits = table[group, rows]["exit"]
                exits[:, 1:] = passed.link.channel
                before = description.sections[0] if rows.start == 0 else _section_before(description, rows.start)
                if isinstance(before.joint, BallJoint):
                    exits[:, 0] = before.link.channel
    return table


def _section_before(description: Description, row: int) -> Section:
    return next(section for section, rows in section_rows(description) if rows.stop == row)


def _fill_segments(part: Table, group: Cables, passed: Section, cables: Table, joints: Table, reach: Floats) -> None:
    if isinstance(passed.joint, BallJoint):
        part["exit"], part["entry"] = reach, 0.0
    elif isinstance(passed.joint, UniversalJoint):
        part["exit"], part["entry"] = reach, passed.link.length
    else:
        # e = r cos(phi - psi): along the bend direction b = (axis_y, -axis_x); a backbone has none of its own.
        offset = cables["x"][:, None] * joints["axis_y"] - cables["y"][:, None] * joints["axis_x"]
        part["offset"] = offset
        part["recess"] = hole_recess(group, passed, offset)
        part["exit"], part["entry"] = reach - part["recess"], part["recess"]


def hole_recess(cables: Cables, passed: Section, offset: Floats) -> Floats:
    """How far behind the face apex the holes lie, m; `offset` is their distance from the axis toward the bend side."""
    if isinstance(cables.holes, Recess):
        return np.full_like(offset, cables.holes.recess)
    if cables.holes != "face" and isinstance(passed.joint, RollingJoint):
        # Theory 2, holes on the arc: R - sqrt(R^2 - e^2) in the form without cancellation.
        radius = passed.joint.radius
        return offset**2 / (radius + np.sqrt(radius**2 - offset**2))
    return np.zeros_like(offset)


def straight_gaps(joints: Table) -> Floats:
    """What each joint adds to the length of the straight robot, m."""
    per_size = np.array([0.0, 1.0, 2.0, 1.0, 1.0, 1.0])  # rolling, flexure, pin, universal, ball, backbone
    gaps: Floats = per_size[joints["kind"]] * joints["size"]
    return gaps


def length_inside_links(cables: Table, segments: Table, base: float) -> Floats:
    """Length of each cable inside the base and the links, m; `base` is z of link 0's frame in the world.

    A cable begins at world z = 0, or at its hole in the base where a short base leaves that below.
    """
    entry, leave, last = segments["entry"], segments["exit"], cables["last_link"]
    passed = np.arange(1, segments.shape[1]) < last[:, None]
    links = np.where(passed, _distance(leave[:, 1:] - entry[:, :-1]), 0.0).sum(axis=1)
    end = _distance(cables["end"] - entry[np.arange(len(cables)), last - 1])
    total: Floats = np.maximum(leave[:, 0] + base, 0.0) + links + end
    return total


def _distance(along: Floats) -> Floats:
    # Not np.abs, the modulus of complex numbers. NumPy orders these by real, then by imaginary part.
    distance: Floats = np.maximum(along, -along)
    return distance


def solid_cylinder(mass: float, length: float, diameter: float) -> Floats:
    """(3,) principal inertias about the centre, axis along z, kg*m^2."""
    across = mass * (3 * (diameter / 2) ** 2 + length**2) / 12
    return np.array([across, across, mass * diameter**2 / 8])
