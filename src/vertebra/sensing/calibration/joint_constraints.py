"""What the joints between two sensors forbid, whatever their kind: c = <A, Ri^T Rj> - constant must stay zero.

Every forbidden motion of the robots here has this form (theory 2, 5 and 7), with a and b the axes of freedoms:

    one axis a          R a = a                     A = b a^T and z a^T     (mirror joints; several about one axis)
    two axes a, then b  a . R b stays a . b         A = a b^T / |a x b|     (universal joint; two mirror joints)
    ball                no turn about z             A = (y x^T - x y^T) / 2
    more freedoms       nothing is forbidden
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vertebra.robot.robot import Robot
from vertebra.robot.tables import BALL, PIN, Floats

_SAME_AXIS = 1e-6


class Gap(NamedTuple):
    """The joints between two neighbouring sensors."""

    joints: tuple[int, ...]
    """Counted from 1."""
    matrices: Floats
    """(c, 3, 3) A of each thing that is forbidden; c = 0 when everything is possible."""
    constants: Floats
    """(c,)"""
    axes: Floats
    """(freedoms, 3) directions of the freedoms in the straight robot; empty when everything is possible."""


def gaps(robot: Robot) -> tuple[Gap, ...]:
    """One for each pair of neighbouring sensors, from base to tip."""
    links = robot.sensor_links.tolist()
    return tuple(_gap(robot, first, last) for first, last in pairwise(links))


def _gap(robot: Robot, first: int, last: int) -> Gap:
    """Joints first + 1 ... last."""
    joints = tuple(range(first + 1, last + 1))
    rows = robot.joints[first:last]
    if (rows["kind"] == BALL).any():
        if len(rows) == 1:
            twist = np.zeros((1, 3, 3))
            twist[0, 1, 0], twist[0, 0, 1] = 0.5, -0.5
            return Gap(joints, twist, np.zeros(1), np.eye(3)[:2])
        return _free(joints)
    axes = list[Floats]()
    for row in rows:
        a = np.array([row["axis_x"], row["axis_y"], 0.0])
        for axis in (a,) if row["kind"] <= PIN else (a, np.array([a[1], a[0], 0.0])):
            if not axes or np.linalg.norm(np.cross(axes[-1], axis)) > _SAME_AXIS:
                axes.append(axis)
    if len(axes) == 1:
        return _hinge(joints, axes[0])
    return _two_hinges(joints, *axes) if len(axes) == 2 else _free(joints)


def _hinge(joints: tuple[int, ...], a: Floats) -> Gap:
    others = np.array([np.cross([0.0, 0.0, 1.0], a), [0.0, 0.0, 1.0]])
    return Gap(joints, others[:, :, None] * a, np.zeros(2), a[None])


def _two_hinges(joints: tuple[int, ...], a: Floats, b: Floats) -> Gap:
    size = float(np.linalg.norm(np.cross(a, b)))
    return Gap(joints, np.outer(a, b)[None] / size, np.array([a @ b / size]), np.stack([a, b]))


def _free(joints: tuple[int, ...]) -> Gap:
    return Gap(joints, np.zeros((0, 3, 3)), np.zeros(0), np.zeros((0, 3)))
