"""The answer about a robot: tables of its parts, its picture at any pose, its page, its file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.report.document import (
    PICTURES,
    Facts,
    Report,
    Section,
    big_picture,
    degrees,
    json_text,
    number,
    without_empty_columns,
)
from vertebra.robot.description import (
    BackboneJoint,
    BallJoint,
    CableFriction,
    Cables,
    FlexureJoint,
    Joint,
    Link,
    PinJoint,
    Recess,
    RollingJoint,
)
from vertebra.robot.reading import yaml_text
from vertebra.robot.robot import Robot
from vertebra.robot.tables import center_of_mass

if TYPE_CHECKING:
    from vertebra.report.scene import Scene

MM, GRAM = 1e3, 1e3
FILES = (*PICTURES, ".yaml", ".yml", ".json")
"""What the report of this file can be written to."""


def robot_report(robot: Robot, bend: Sequence[float] | None = None, title: str = "") -> Report:
    """A robot; its pictures show it bent by `bend`, rad for each joint coordinate, or straight."""

    def scene() -> Scene:
        # Here, since a list of robots needs no engine.
        from vertebra.mechanics.kinematics import Pose
        from vertebra.report.scene import robot_scene

        return robot_scene(robot, Pose(robot, [0.0] * robot.freedoms if bend is None else bend).frames)

    return Report(
        title or robot.name,
        record=lambda: {"robot": robot.to_mapping(), "totals": totals(robot)},
        tables=lambda: (overview(robot), *part_tables(robot)),
        notes=() if bend is None else tuple(beyond_limits(robot, bend)),
        page=lambda: robot_sections(robot, scene()),
        picture=scene,
        texts={
            ".yaml": lambda: yaml_text(robot.to_mapping()),
            ".yml": lambda: yaml_text(robot.to_mapping()),
            ".json": lambda: json_text(robot.to_mapping()),
        },
    )


def robot_sections(robot: Robot, scene: Scene) -> Iterator[Section]:
    """The page."""
    x, y, z = scene.tip
    yield big_picture(scene)
    about = overview(robot)
    tip = ("tip in this picture", f"({x:.3f}, {y:.3f}, {z:.3f}) mm")
    yield about._replace(title="Robot", rows=(*about.rows, tip))
    yield from part_tables(robot)


def robot_tables(robot: Robot) -> Iterator[Facts]:
    """The robot itself, for the end of a page about something else."""
    yield about_robot(robot, f"Robot {robot.name}")
    yield from part_tables(robot)


def about_robot(robot: Robot, title: str) -> Facts:
    """The overview without the file's gravity, which need not be what was asked."""
    about = overview(robot)
    return about._replace(title=title, rows=tuple(row for row in about.rows if row[0] != "gravity"))


def part_tables(robot: Robot) -> Iterator[Facts]:
    """Tables of joints, links and cables."""
    yield from (facts for facts in (sections(robot), links(robot), cables(robot)) if facts.rows)


def totals(robot: Robot) -> dict[str, Any]:
    """Derived numbers of a robot, SI."""
    return {
        "joints": len(robot.joints),
        "freedoms": robot.freedoms,
        "links": len(robot.links),
        "cables": len(robot.cables),
        "length": robot.length,
        "mass": robot.mass,
    }


def presets_table(robots: Sequence[Robot]) -> Facts:
    """One row per robot."""
    rows = tuple(
        (robot.name, joints_text(robot), str(len(robot.cables)), number(round(robot.length * 1e3, 2)),
         mass_text(robot), short_source(robot.source))
        for robot in robots
    )  # fmt: skip
    return Facts("Presets", ("name", "joints", "cables", "length [mm]", "mass [g]", "source"), rows)


def preset_record(robot: Robot) -> dict[str, Any]:
    """One line of a list of robots."""
    kinds = list(dict.fromkeys(section.joint.kind for section in robot.description.sections))
    return {"name": robot.name, "kinds": kinds, **totals(robot), "source": robot.source}


def beyond_limits(robot: Robot, bend: Sequence[float]) -> Iterator[str]:
    """A pose beyond the limits can be drawn, but the reader should know."""
    angles = np.asarray(bend, dtype=np.float64)
    bent = np.array([abs(robot.bend_of(angles, row)) for row in range(len(robot.joints))])
    beyond = np.flatnonzero(bent > robot.joints["limit"] * (1 + 1e-12)) + 1
    if len(beyond):
        more = f", and {len(beyond) - 1} more" if len(beyond) > 1 else ""
        yield f"joint {beyond[0]} is bent beyond the limit in the robot file{more}"


def short_source(source: str) -> str:
    """Authors and year, for a narrow table."""
    year = re.match(r".{1,60}?\b(?:19|20)\d\d\b", source)
    return year.group() if year else source if len(source) <= 40 else source[:37] + "..."


def joints_text(robot: Robot) -> str:
    """Such as ``11 rolling``, or ``4 pin + 6 rolling``."""
    counts: dict[str, int] = {}
    for section in robot.description.sections:
        counts[section.joint.kind] = counts.get(section.joint.kind, 0) + section.joints
    return " + ".join(f"{count} {kind}" for kind, count in counts.items())


def mass_text(robot: Robot) -> str:
    """In g; a dash when the file gives no mass."""
    return number(round(robot.mass * GRAM, 3)) if robot.mass else "-"


def overview(robot: Robot) -> Facts:
    """The robot as a whole, one fact per row."""
    x, y, z = robot.gravity
    rows = [
        ("joints", f"{joints_text(robot)}, {robot.freedoms} coordinates"),
        ("cables", str(len(robot.cables)) if len(robot.cables) else "none"),
        ("length", f"{number(round(robot.length * MM, 4))} mm, straight, base to tip"),
        ("mass", f"{mass_text(robot)} g" if robot.mass else "not given"),
        ("gravity", f"({number(x)}, {number(y)}, {number(z)}) m/s^2"),
        ("base", f"{number(robot.description.base.length * MM)} mm, world origin to the first joint"),
        ("tip", _tip_text(robot)),
    ]
    if robot.source:
        rows.append(("source", robot.source))
    return Facts(robot.name, ("", ""), tuple(rows))


def _tip_text(robot: Robot) -> str:
    tip = robot.description.tip
    length = tip.length * MM
    attached = f", {number(tip.mass * GRAM)} g attached" if tip.mass else ""
    if length == 0:
        return f"at the end of the last link{attached}"
    return f"{number(abs(length))} mm {'beyond' if length > 0 else 'before'} the end of the last link{attached}"


def sections(robot: Robot) -> Facts:
    """Joints, section by section."""
    rows = []
    for index, (section, (first, last)) in enumerate(zip(robot.description.sections, _ranges(robot), strict=True)):
        azimuth = degrees(section.azimuth) if section.azimuth else "any direction"
        rows.append((str(index + 1), _span(first, last), section.joint.kind, _joint_text(section.joint), azimuth))
    return Facts("Joints", ("section", "joints", "kind", "dimensions", "bend azimuth [deg]"), tuple(rows))


def links(robot: Robot) -> Facts:
    """Links, section by section; the base is link 0 and has no mass of its own."""
    rows = []
    for section, (first, last) in zip(robot.description.sections, _ranges(robot), strict=True):
        link = section.link
        center = MM * np.array(center_of_mass(section))
        rows.append(
            (
                _span(first, last),
                number(link.length * MM),
                number(link.mass * GRAM) if link.mass else "-",
                ", ".join(number(value) for value in center) if link.mass else "-",
                number(robot.links["diameter"][first] * MM) + ("" if link.diameter else " (drawn)"),
                _link_extras(link),
            )
        )
    headers = ("links", "length [mm]", "mass [g]", "centre of mass [mm]", "diameter [mm]", "more")
    return without_empty_columns(Facts("Links", headers, tuple(rows)))


def cables(robot: Robot) -> Facts:
    """Cables in file order, one row per group that ends at the same link."""
    rows, first = [], 1
    for section, (_, end) in zip(robot.description.sections, _ranges(robot), strict=True):
        group = section.cables
        if group is not None:
            count = len(group.azimuth)
            span = _span(first, first + count - 1)
            holes = _holes_text(group) if section.joint.kind not in ("ball", "universal") else ""
            row = (number(group.radius * MM), degrees(group.azimuth), str(end), holes, _friction_text(group.friction))
            rows.append((span, *row, ", ".join(_cable_extras(group))))
            first += count
    headers = ("cables", "radius [mm]", "azimuth [deg]", "end at link", "holes", "friction", "more")
    return without_empty_columns(Facts("Cables", headers, tuple(rows)))


def _ranges(robot: Robot) -> list[tuple[int, int]]:
    """First and last joint (or link) of each section, counted from 1."""
    ends = robot.section_ends
    return [(start + 1, end) for start, end in zip((0, *ends[:-1]), ends, strict=True)]


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _joint_text(joint: Joint) -> str:
    stops = [] if isinstance(joint, BallJoint) or joint.stops == "none" else [f"{joint.stops} stops"]
    return ", ".join([*_joint_parts(joint), f"limit {number(math.degrees(joint.limit))} deg", *stops])


def _joint_parts(joint: Joint) -> Iterator[str]:
    if isinstance(joint, RollingJoint):
        yield f"radius {number(joint.radius * MM)} mm"
        if joint.contact_offset is not None:
            yield f"contacts +-{number(joint.contact_offset * MM)} mm"
        if joint.friction is not None:
            yield f"friction {number(joint.friction)}"
    elif isinstance(joint, FlexureJoint):
        yield f"length {number(joint.length * MM)} mm"
        if joint.rods is not None and joint.rod_diameter is not None:
            yield f"{joint.rods} rods of {number(joint.rod_diameter * MM)} mm"
        yield f"{joint.bending_stiffness():.4g} N*m/rad"
    elif isinstance(joint, BackboneJoint):
        yield f"length {number(joint.length * MM)} mm"
        if joint.rod_diameter is not None:
            yield f"rod of {number(joint.rod_diameter * MM)} mm"
        yield f"bending {joint.bending_stiffness():.4g} N*m/rad"
        torsion = joint.torsional_stiffness()
        yield "no torsion" if torsion is None else f"torsion {torsion:.4g} N*m/rad"
    elif isinstance(joint, PinJoint):
        yield f"length {number(joint.length * MM)} mm"
    elif isinstance(joint, BallJoint):
        yield f"ball {number(joint.radius * MM)} mm"
        yield f"ring {number(joint.ring_radius * MM)} mm"
        yield f"friction {number(joint.friction)}"
    else:
        yield f"order {joint.order}"
        yield f"lower {number(joint.lower * MM)} mm"
    yield from _springs_and_masses(joint)


def _springs_and_masses(joint: Joint) -> Iterator[str]:
    """What a joint may have in addition."""
    if isinstance(joint, FlexureJoint | BackboneJoint):
        if joint.mass:
            yield f"{number(joint.mass * GRAM)} g"
    elif not isinstance(joint, BallJoint) and joint.stiffness:
        yield f"spring {joint.stiffness:.4g} N*m/rad"
    if not isinstance(joint, BallJoint) and joint.damping:
        yield f"damping {joint.damping:.4g} N*m*s/rad"


def _link_extras(link: Link) -> str:
    parts = []
    if link.channel is not None:
        parts.append(f"channel {number(link.channel * MM)} mm")
    if link.inertia is not None:
        parts.append("inertia " + ", ".join(f"{value:.4g}" for value in link.inertia) + " kg*m^2")
    return ", ".join(parts)


def _holes_text(group: Cables) -> str:
    if isinstance(group.holes, Recess):
        return f"{number(group.holes.recess * MM)} mm deep"
    return group.holes or "surface"


def _friction_text(friction: CableFriction | None) -> str:
    if friction is None:
        return ""
    if friction.table is not None:
        return f"table of {len(friction.table)} bends"
    if friction.quadratic is None:
        return number(friction.constant or 0.0)
    a, b, c = (number(value) for value in friction.quadratic)
    return f"{a} t^2 + {b} t + {c}".replace("+ -", "- ")


def _cable_extras(group: Cables) -> Iterator[str]:
    if group.linear_density:
        yield f"{number(group.linear_density * 1e3)} g/m"
    if group.lock_mass:
        yield f"lock {number(group.lock_mass * GRAM)} g"
    if group.stiffness_EA is not None:
        yield f"EA {number(group.stiffness_EA)} N"
    if group.pretension:
        yield f"at least {number(group.pretension)} N"
    if group.max_tension is not None:
        yield f"at most {number(group.max_tension)} N"
