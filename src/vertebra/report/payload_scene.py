"""The picture of one payload: the robot, the load where it acts, the weakest joint and the normal of its contact."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vertebra.report.overlays import ARROW_SHARE, FORCE_COLOUR, Arrow, Mark, points_of
from vertebra.report.payload_case import PayloadCase, case_scene
from vertebra.report.payload_words import force_text, weakest_text
from vertebra.report.scene import MM, Scene, body_points, gravity_arrow
from vertebra.report.solids import Mesh, revolved
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    from vertebra.locked.payload import Payload

WEAKEST_COLOUR = "#D6007F"
"""Unlike any cable, link or load."""
NORMAL_SHARE = 0.6
"""Length of the arrow along the contact normal, in lengths of the arrow of the payload."""
RING_SIZE = 1.25
"""Radius of the sphere around the weakest joint, in radii of its ball."""


def payload_scene(case: PayloadCase, found: Payload) -> Scene:
    """Everything that the picture shows, mm. The load's arrow has the same length whatever the load."""
    scene = case_scene(case)
    size = float((scene.high - scene.low).max())
    at = case.place(found.link)
    name = f"payload at {case.where(found.link)}: {force_text(found.force)}"
    arrows = [*scene.arrows, Arrow(at, at + ARROW_SHARE * size * found.direction, FORCE_COLOUR, name)]
    marks: list[Mark] = []
    if found.joint and found.contact.normal[found.joint - 1].any():  # nothing touches where nothing presses
        point, normal = contact_point(case, found), found.contact.normal[found.joint - 1]
        end = point + NORMAL_SHARE * ARROW_SHARE * size * normal
        arrows.append(Arrow(point, end, WEAKEST_COLOUR, f"contact normal of joint {found.joint}"))
        marks.append(Mark(point, WEAKEST_COLOUR, f"contact: {weakest_text(found.joint, found.mode)}"))
    robot = body_points(scene.links, scene.parts, scene.mount, scene.cables, scene.tip)
    points = np.vstack([robot, points_of(arrows, (), marks)])
    return replace(
        scene,
        low=points.min(axis=0),
        high=points.max(axis=0),
        gravity=gravity_arrow(case.gravity, points, scene.view),
        arrows=tuple(arrows),
        marks=tuple(marks),
    )


def contact_point(case: PayloadCase, found: Payload) -> Floats:
    """(3,) mm: where the weakest joint touches its ball."""
    i = found.joint - 1
    radius = float(case.robot.joints["radius"][i])
    return np.asarray(MM * (found.contact.centers[i] + radius * found.contact.normal[i]))


def weakest_ball(case: PayloadCase, found: Payload) -> Mesh:
    """A sphere around the ball of the weakest joint, mm."""
    i = found.joint - 1
    radius = RING_SIZE * MM * float(case.robot.joints["radius"][i])
    turn = np.linspace(0.02, np.pi - 0.02, 15)
    ball = revolved([(radius * np.sin(t), -radius * np.cos(t)) for t in turn], sectors=24)
    return Mesh(ball.vertices + MM * found.contact.centers[i], ball.triangles)
