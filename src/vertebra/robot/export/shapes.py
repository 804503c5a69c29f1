"""Simple solids that make an exported robot good to look at; they carry no mass and touch nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, FLEXURE, PIN, ROLLING, UNIVERSAL

Point = tuple[float, float, float]

COLOURS = {
    "base": (0.30, 0.32, 0.36, 1.0),
    "link": (0.78, 0.80, 0.84, 1.0),
    "joint": (0.90, 0.62, 0.00, 1.0),
    "cable": (0.00, 0.45, 0.70, 1.0),
    "tip": (0.84, 0.37, 0.00, 1.0),
}
"""Red, green, blue, alpha; distinct for colour-blind eyes."""


@dataclass(frozen=True)
class Cylinder:
    """In the frame of its link, m."""

    start: Point
    end: Point
    radius: float
    colour: str


@dataclass(frozen=True)
class Sphere:
    """In the frame of its link, m."""

    center: Point
    radius: float
    colour: str


Shape = Cylinder | Sphere


def link_shapes(robot: Robot, link: int) -> list[Shape]:
    """What to draw for a link: its body and its halves of the joints at both ends."""
    shapes: list[Shape] = list(_base(robot) if link == 0 else _body(robot, link))
    if link > 0:
        shapes += _proximal_half(robot, link)
    if link < len(robot.joints):
        shapes += _distal_half(robot, link)
    return [shape for shape in shapes if isinstance(shape, Sphere) or shape.start != shape.end]


def _upright(z_start: float, z_end: float, radius: float, colour: str) -> Cylinder:
    return Cylinder((0.0, 0.0, float(z_start)), (0.0, 0.0, float(z_end)), float(radius), colour)


def _base(robot: Robot) -> Iterator[Shape]:
    floor, top, diameter = -robot.origin[2], robot.links["reach"][0], robot.links["diameter"][0]
    yield _upright(floor - 0.15 * diameter, floor, 0.75 * diameter, "base")
    if robot.joints["kind"][0] == ROLLING:
        top -= min(0.25 * top, _saddle_radius(robot, 0, 0))
    if top > floor:
        yield _upright(floor, top, diameter / 2, "base")


def _body(robot: Robot, link: int) -> Iterator[Shape]:
    kind, length, diameter = robot.joints["kind"][link - 1], robot.links["length"][link], robot.links["diameter"][link]
    if kind == BALL:
        yield _upright(-0.3 * length, 0.3 * length, diameter / 2, "link")
    elif kind == UNIVERSAL:
        yield _upright(0.0, length, 0.12 * diameter, "link")
        yield _upright(0.9 * length, length, diameter / 2, "link")
    else:
        near = 0.25 * length if kind == ROLLING else 0.0
        leads_to_rolling = link < len(robot.joints) and robot.joints["kind"][link] == ROLLING
        far = 0.75 * length if leads_to_rolling else length
        yield _upright(near, far, diameter / 2, "link")


def _proximal_half(robot: Robot, link: int) -> Iterator[Shape]:
    joint, diameter = robot.joints[link - 1], robot.links["diameter"][link]
    if joint["kind"] == ROLLING:
        yield _saddle(robot, link - 1, link, _saddle_radius(robot, link - 1, link))
    elif joint["kind"] == FLEXURE:
        yield _upright(-joint["size"] / 2, 0.0, 0.04 * diameter, "joint")
    elif joint["kind"] == PIN:
        yield _upright(-joint["size"], 0.0, 0.1 * diameter, "joint")
    elif joint["kind"] == UNIVERSAL:
        yield Sphere((0.0, 0.0, 0.0), float(0.16 * diameter), "joint")
    else:
        yield _upright(-joint["size"], 0.0, 0.25 * diameter, "link")


def _distal_half(robot: Robot, link: int) -> Iterator[Shape]:
    joint, reach, diameter = robot.joints[link], robot.links["reach"][link], robot.links["diameter"][link]
    if joint["kind"] == ROLLING:
        yield _saddle(robot, link, link, reach - _saddle_radius(robot, link, link))
    elif joint["kind"] == FLEXURE:
        yield _upright(reach, reach + joint["size"] / 2, 0.04 * diameter, "joint")
    elif joint["kind"] == PIN:
        yield _upright(reach, reach + joint["size"], 0.1 * diameter, "joint")
    elif joint["kind"] == UNIVERSAL:
        yield _upright(reach, reach + joint["size"], 0.12 * diameter, "link")
    else:
        yield Sphere((0.0, 0.0, float(reach)), float(0.9 * joint["radius"]), "joint")


def _saddle_radius(robot: Robot, row: int, link: int) -> float:
    """The arc's radius, made small enough that the drawn saddle stays inside its half of the link."""
    length = robot.links["length"][link]
    limits = [robot.joints["size"][row], 0.35 * robot.links["diameter"][link]]
    return float(min([*limits, 0.45 * length] if length else limits))


def _saddle(robot: Robot, row: int, link: int, z: float) -> Cylinder:
    half = 0.35 * robot.links["diameter"][link]
    x, y = (float(half * robot.joints[axis][row]) for axis in ("axis_x", "axis_y"))
    return Cylinder((-x, -y, float(z)), (x, y, float(z)), _saddle_radius(robot, row, link), "joint")
