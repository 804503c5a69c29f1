"""Inertia for links whose robot file gives none."""

from __future__ import annotations

from vertebra.errors import InputError
from vertebra.robot.export.inertia import solid_cylinder
from vertebra.robot.robot import Robot, load


def fill_inertia(robot: Robot) -> Robot:
    """The robot with the inertia of a solid cylinder, of the link's length and diameter, where its file gives none.

    A guess, the same as in exported models; measured or CAD values belong into the robot file.
    """
    mapping = robot.to_mapping()
    for section, end in zip(mapping["sections"], robot.section_ends, strict=True):
        link = section["link"]
        if link.get("inertia") is None:
            if not link.get("mass"):
                raise InputError("robot", f"link {end} has no mass, so no inertia can be guessed; give `link.mass`")
            diameter = float(robot.links["diameter"][end])
            link["inertia"] = solid_cylinder(link["mass"], link["length"], diameter).tolist()
    return load(mapping)
