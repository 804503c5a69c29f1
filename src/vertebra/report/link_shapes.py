"""What each link looks like, in its own frame: simple bodies with the true dimensions of the robot file.

Rolling links end in their real rolling surfaces, so that neighbours touch along the contact line at any bend.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from vertebra.report.solids import Height, Mesh, joined, revolved, solid_between
from vertebra.robot.description import Section
from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, ROLLING, UNIVERSAL, Floats, Table

THIN = 0.08
"""Thickness of platforms and of the mounting plate, in link diameters."""


def section_of(robot: Robot, link: int) -> Section:
    """The section that a link belongs to; the base counts with the first one."""
    return robot.description.sections[bisect_left(robot.section_ends, link)]


def rolling_depth(u: Floats, radius: float) -> Floats:
    """How far a rolling surface lies behind its apex at `u` toward the bend side, m; flat beyond the arc itself."""
    inside = np.minimum(np.abs(u), radius)
    return inside**2 / (radius + np.sqrt(radius**2 - inside**2))


def face_depth(joint: Table) -> Height:
    """Depth of a link's face behind its apex over (x, y), m: the arc of a rolling joint, flat for all others."""
    if joint["kind"] != ROLLING:
        return lambda x, y: np.zeros_like(x)
    bend_x, bend_y, radius = float(joint["axis_y"]), -float(joint["axis_x"]), float(joint["radius"])
    return lambda x, y: rolling_depth(bend_x * x + bend_y * y, radius)


def link_mesh(robot: Robot, index: int, sectors: int = 40) -> Mesh:
    """The body of link `index` in its own frame, m."""
    joints = robot.joints
    before = joints[index - 1] if index else None
    after = joints[index] if index < len(joints) else None
    parts = []
    if before is None:
        parts.append(_base(robot, sectors))
    elif before["kind"] == BALL:
        parts.append(_ball_shell(robot, index, sectors))
    else:
        parts.append(_column(robot, index, sectors))
    if after is not None and after["kind"] == BALL:
        parts.append(_dome(robot, index, sectors))
    return joined(parts)


def mount_mesh(robot: Robot) -> Mesh:
    """The plate that the robot stands on, below the world's origin, m."""
    radius = 0.8 * float(robot.links["diameter"][0])
    return revolved([(radius, -THIN * 2 * radius), (radius, 0.0)])


def _column(robot: Robot, index: int, sectors: int) -> Mesh:
    """Links of mirror joints fill the space between their faces; those of universal joints are a platform."""
    link, before = robot.links[index], robot.joints[index - 1]
    radius, length = float(link["diameter"]) / 2, float(link["length"])
    near = face_depth(before)
    far = face_depth(robot.joints[index]) if index < len(robot.joints) else _flat
    if before["kind"] == UNIVERSAL:
        start = length - min(THIN * 2 * radius, length)
        return solid_between(_less(start, far), _less(length, far), radius, sectors)

    def faces(x: Floats, y: Floats) -> tuple[Floats, Floats]:
        low, high = near(x, y), length - far(x, y)
        # Where two deep arcs would cross inside a short link, both surfaces meet halfway.
        middle = np.clip((low + high) / 2, 0.0, length)
        return np.where(low <= high, low, middle), np.where(low <= high, high, middle)

    return solid_between(lambda x, y: faces(x, y)[0], lambda x, y: faces(x, y)[1], radius, sectors)


def _base(robot: Robot, sectors: int) -> Mesh:
    link, after = robot.links[0], robot.joints[0]
    radius, floor = float(link["diameter"]) / 2, -float(robot.origin[2])
    top = _less(float(link["reach"]), face_depth(after))
    angle = np.linspace(0.0, 2 * math.pi, 41)
    lowest_rim = float(top(radius * np.cos(angle), radius * np.sin(angle)).min())
    # A base shorter than its rolling face is deep is drawn into the mounting plate.
    return solid_between(_less(min(floor, lowest_rim) - 0.01 * radius, _flat), top, radius, sectors)


def _ball_shell(robot: Robot, index: int, sectors: int) -> Mesh:
    """From the contact ring on the ball before it (at z = -length) to the hole plane, or to the ends of the cables."""
    link, joint = robot.links[index], robot.joints[index - 1]
    outer, ball = float(link["diameter"]) / 2, float(joint["radius"])
    length = float(joint["size"])
    ring = min(float(joint["ring_radius"]), outer)
    start = min(math.sqrt(max(ball**2 - ring**2, 0.0)) - length, -0.3 * length)
    shoulder = start + 0.25 * abs(start)
    last = index == len(robot.joints)
    end = _channel(robot, index) if last or robot.joints[index]["kind"] != BALL else 0.0
    profile = [(ring, start), (outer, shoulder), (outer, 0.0)]
    return revolved([*profile, (outer, end)] if end > 0 else profile, sectors)


def _dome(robot: Robot, index: int, sectors: int) -> Mesh:
    """The ball that carries the next link, cut off where the cables leave it."""
    joint, outer = robot.joints[index], float(robot.links[index]["diameter"]) / 2
    ball, centre = float(joint["radius"]), float(robot.links[index]["reach"])
    top = min(_channel(robot, index + 1), 0.95 * ball)
    heights = np.linspace(0.0, top, 8)
    profile = [(min(math.sqrt(ball**2 - z**2), outer), centre + float(z)) for z in heights]
    return revolved(profile, sectors)


def _channel(robot: Robot, index: int) -> float:
    """Length of the cable channel of ball link `index`, m."""
    return section_of(robot, index).link.channel or 0.0


def _flat(x: Floats, y: Floats) -> Floats:
    return np.zeros_like(x)


def _less(level: float, depth: Callable[[Floats, Floats], Floats]) -> Height:
    return lambda x, y: level - depth(x, y)
