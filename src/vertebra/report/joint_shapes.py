"""What is seen between two links: rods of flexure joints, pins, crosses of universal joints. World frame, m."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vertebra.report.link_shapes import section_of
from vertebra.report.solids import Mesh, joined, tube
from vertebra.robot.description import FlexureJoint
from vertebra.robot.robot import Robot
from vertebra.robot.tables import FLEXURE, PIN, UNIVERSAL, Floats

THICKNESS = 0.03
"""Radius of drawn pins and struts, in link diameters."""


def joint_mesh(robot: Robot, frames: Floats, row: int) -> Mesh:
    """The parts inside the joint at `row`, between link `row` and link `row` + 1; empty for rolling and ball joints."""
    kind = robot.joints["kind"][row]
    if kind == FLEXURE:
        return joined(tube(points, rod_radius(robot, row)) for points in flexure_rods(robot, frames, row))
    if kind == PIN:
        return _hinge(robot, frames, row)
    if kind == UNIVERSAL:
        return _cross(robot, frames, row)
    return joined([])


def flexure_rods(robot: Robot, frames: Floats, row: int, count: int = 13) -> list[Floats]:
    """Centre lines of the rods of a flexure joint, circular arcs of (count, 3) points in the world, m."""
    joint, before = robot.joints[row], frames[row]
    axis, bend = directions(robot, row)
    turned = before[:3, :3].T @ frames[row + 1][:3, 2]  # z of the next link, in this one
    angle = math.atan2(float(turned @ bend), float(turned[2]))
    length, share = float(joint["size"]), np.linspace(0.0, 1.0, count)
    # (L/q) (1 - cos qt) and (L/q) sin qt, in the form that stays exact at q = 0.
    chord = length * share * np.sinc(angle * share / (2 * np.pi))
    aside, along = chord * np.sin(angle * share / 2), chord * np.cos(angle * share / 2)
    arc = np.outer(aside, bend) + np.outer(along + robot.links["reach"][row], [0.0, 0.0, 1.0])
    return [_to_world(before, arc + offset * axis) for offset in rod_offsets(robot, row)]


def rod_offsets(robot: Robot, row: int) -> Iterator[float]:
    """Rods stand side by side along the joint's axis; the file does not say how far apart."""
    joint = section_of(robot, row + 1).joint
    count = (joint.rods if isinstance(joint, FlexureJoint) else None) or 2
    half = 0.3 * float(robot.links["diameter"][row + 1])
    yield from (float(offset) for offset in (np.linspace(-half, half, count) if count > 1 else [0.0]))


def rod_radius(robot: Robot, row: int) -> float:
    joint = section_of(robot, row + 1).joint
    stated = joint.rod_diameter if isinstance(joint, FlexureJoint) else None
    return stated / 2 if stated else THICKNESS * float(robot.links["diameter"][row + 1])


def _hinge(robot: Robot, frames: Floats, row: int) -> Mesh:
    """A pin along the axis, and a lug from either face to it."""
    diameter, reach = float(robot.links["diameter"][row + 1]), float(robot.links["reach"][row])
    half = float(robot.joints["size"][row])
    axis, _ = directions(robot, row)
    centre = np.array([0.0, 0.0, reach + half])
    pin = np.array([centre - 0.4 * diameter * axis, centre, centre + 0.4 * diameter * axis])
    parts = [tube(_to_world(frames[row], pin), 1.5 * THICKNESS * diameter)]
    for side in (-0.25, 0.25):
        lug = side * diameter * axis
        parts.append(_strut(frames[row], lug, reach, reach + half, diameter))
        parts.append(_strut(frames[row + 1], lug, -half, 0.0, diameter))
    return joined(parts)


def _cross(robot: Robot, frames: Floats, row: int) -> Mesh:
    """Two crossed pins, with a strut down to the platform before and one up to the platform after."""
    diameter, reach = float(robot.links["diameter"][row + 1]), float(robot.links["reach"][row])
    lower, upper = float(robot.joints["size"][row]), float(robot.links["length"][row + 1])
    middle, after = np.zeros(3), frames[row + 1]
    parts = [
        tube(_to_world(after, np.array([-arm, middle, arm])), 1.3 * THICKNESS * diameter)
        for arm in (0.2 * diameter * np.eye(3)[0], 0.2 * diameter * np.eye(3)[1])
    ]
    if lower > 0:
        parts.append(_strut(frames[row], middle, reach, reach + lower, diameter))
    parts.append(_strut(after, middle, 0.0, upper, diameter))
    return joined(parts)


def _strut(frame: Floats, foot: Floats, low: float, high: float, diameter: float) -> Mesh:
    ends = foot + np.outer(np.linspace(low, high, 3), [0.0, 0.0, 1.0])
    return tube(_to_world(frame, ends), THICKNESS * diameter)


def directions(robot: Robot, row: int) -> tuple[Floats, Floats]:
    """Rotation axis and bend direction of a mirror joint, unit vectors in the link before it."""
    x, y = float(robot.joints["axis_x"][row]), float(robot.joints["axis_y"][row])
    return np.array([x, y, 0.0]), np.array([y, -x, 0.0])


def _to_world(frame: Floats, points: Floats) -> Floats:
    return points @ frame[:3, :3].T + frame[:3, 3]
