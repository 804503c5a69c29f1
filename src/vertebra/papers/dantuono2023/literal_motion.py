"""Velocities and accelerations of all links, eqs 2 to 13 of the paper, in the frame of each link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vertebra.papers.dantuono2023.literal_robot import AXES, LiteralRobot, cross
from vertebra.robot.tables import Floats

Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """Link n; vectors in frame n, and accelerations with that of gravity taken off."""

    to_contact: Floats
    """(4, 4) T from f3,n to frame n-1."""
    from_contact: Floats
    """(4, 4) T from frame n to f3,n."""
    frame: Floats
    """(4, 4) frame n in the world, the paper's axes."""
    omega: Floats
    """(3,) rad/s"""
    omega_dot: Floats
    """(3,) rad/s^2"""
    v_dot: Floats
    """(3,) of the frame's origin, m/s^2."""
    center_acceleration: Floats
    """(3,) of the centre of mass, m/s^2."""

    @property
    def contact(self) -> Floats:
        """(4, 4) f3,n in frame n."""
        return np.asarray(np.linalg.inv(self.from_contact))


def link_motions(
    robot: LiteralRobot,
    theta: Floats,
    theta_d: Floats,
    theta_dd: Floats,
    gravity: Floats,
    *,
    migration: bool = False,
    z_0_of_base: bool = False,
) -> list[LinkMotion]:
    """One a link, from the base on; angles (N,) rad, rad/s, rad/s^2, `gravity` (3,) m/s^2 in our axes.

    `migration` adds what (5) and (11) leave out: the contact point wanders along both surfaces while they roll, so the
    point of the link that touches has no velocity but an acceleration, R/2 theta_d^2 along the normal.
    `z_0_of_base` takes z_0 in (6) and (7) as the axis of the base. It must be that of frame n-1, or (0, 0, 1) in it.
    """
    frame = robot.base_frame()
    omega, omega_dot = np.zeros(3), np.zeros(3)
    v_dot = frame[:3, :3].T @ (AXES @ -gravity)
    motions = []
    for row in range(len(robot.R)):
        to_contact, from_contact = robot.to_contact(row, theta[row]), robot.from_contact(row, theta[row])
        step = to_contact @ from_contact
        turn = step[:3, :3]
        near = to_contact[:3, 3]  # d from frame n-1 to f3,n; here and in the next four lines in frame n-1
        far = step[:3, 3] - near  # d from f3,n to frame n
        z_0 = frame[:3, :3].T @ robot.base_frame()[:3, 2] if z_0_of_base else Z
        faster = omega + theta_d[row] * z_0  # 2, 6
        faster_dot = omega_dot + theta_dd[row] * z_0 + theta_d[row] * cross(faster, z_0)  # 3, 7
        v_dot = v_dot + swing(omega, omega_dot, near) + swing(faster, faster_dot, far)  # 5, 11
        if migration:
            v_dot = v_dot + 0.5 * robot.R[row] * theta_d[row] ** 2 * to_contact[:3, 0]
        frame = frame @ step
        omega, omega_dot, v_dot = turn.T @ faster, turn.T @ faster_dot, turn.T @ v_dot
        a_C = v_dot + swing(omega, omega_dot, robot.center[row])  # 13
        motions.append(LinkMotion(to_contact, from_contact, frame, omega, omega_dot, v_dot, a_C))
    return motions


def swing(omega: Floats, omega_dot: Floats, d: Floats) -> Floats:
    """(3,) acceleration that turning gives to a point `d` away, m/s^2."""
    return cross(omega_dot, d) + cross(omega, cross(omega, d))
