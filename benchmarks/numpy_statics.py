"""Joint torques of a rolling-joint robot under cables and weight in plain NumPy, written as one would in a lab."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


def moments(robot: Robot, tensions: Floats, gravity: Floats) -> Callable[[Floats], Floats]:
    """A function of the angles (n,) rad that returns the torques out of balance (n,) N*m."""
    n = len(robot.joints)
    radius, x, y = robot.joints["size"], robot.joints["axis_x"], robot.joints["axis_y"]
    reach, mass = robot.links["reach"][:-1], robot.links["mass"][1:]
    centre_of_mass = robot.links["center_of_mass"][1:, 2]
    pull, recess, offset = tensions.sum(), tensions @ robot.segments["recess"], tensions @ robot.segments["offset"]
    skew = np.zeros((n, 3, 3))
    skew[:, 0, 2], skew[:, 1, 2], skew[:, 2, 0], skew[:, 2, 1] = y, -x, -y, x
    squares = skew @ skew
    axes = np.stack([x, y, np.zeros(n)], axis=1)

    def residual(q: Floats) -> Floats:
        cos, sin = np.cos(q / 2), np.sin(q / 2)
        s, slope = radius / cos - radius, radius * sin / (2 * cos**2)
        turns = np.eye(3) + np.sin(q)[:, None, None] * skew + (1 - np.cos(q))[:, None, None] * squares
        R, origin = np.eye(3), np.zeros(3)
        a, contact, weight_at = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
        for j in range(n):
            crossing = origin + (reach[j] + s[j]) * R[:, 2]
            bend = y[j] * R[:, 0] - x[j] * R[:, 1]
            a[j] = R @ axes[j]
            contact[j] = crossing + radius[j] * sin[j] / cos[j] * (cos[j] * bend - sin[j] * R[:, 2])
            R = R @ turns[j]
            origin = crossing + s[j] * R[:, 2]
            weight_at[j] = origin + centre_of_mass[j] * R[:, 2]
        beyond = np.cumsum(mass[::-1])[::-1]
        arms = np.cumsum((mass[:, None] * weight_at)[::-1], axis=0)[::-1] - beyond[:, None] * contact
        cables = 2 * slope * pull * cos - (s * pull + recess) * sin - offset * cos
        return cables - (a * np.cross(arms, gravity)).sum(axis=1)

    return residual
