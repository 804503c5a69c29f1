"""Where the mass is: links, rods at the centroid of their arc, cables in the gaps, locking devices (theory 4)."""

from __future__ import annotations

import math

from vertebra.mechanics.chain import world
from vertebra.mechanics.compiled import inner, kernel
from vertebra.mechanics.joints import arc_centroid, mirror_law
from vertebra.robot.tables import FLEXURE


@kernel
def locate_masses(joints, links, cables, segments, q, frames, lengths, link_at, rod_at, cable_mass, cable_at, lock_at):
    """Write centroids in world axes, m: links (n+1, 3), rods (n, 3), cable gaps (cables, n, 3), locks (cables, 3).

    `cable_mass` (cables, n) in kg follows the current segment `lengths`. Joints without rods get the middle of their
    gap, cable gaps beyond the end of a cable zero.
    """
    for i in range(links.shape[0]):
        com = links[i].center_of_mass
        for row in range(3):
            link_at[i, row] = world(frames, i, row, com[0], com[1], com[2])
    for j in range(joints.shape[0]):
        for row in range(3):
            rod_at[j, row] = 0.5 * (world(frames, j, row, 0.0, 0.0, links[j].reach) + frames[j + 1, row, 3])
        if joints[j].kind == FLEXURE:
            locate_rods(joints[j], links[j].reach, q[joints[j].first], j, frames, rod_at)
    for k in range(cables.shape[0]):
        x, y, last = cables[k].x, cables[k].y, cables[k].last_link
        for row in range(3):
            lock_at[k, row] = world(frames, last, row, x, y, cables[k].end)
        for j in range(joints.shape[0]):
            cable_mass[k, j] = cables[k].linear_density * lengths[k, j]
            for row in range(3):
                cable_at[k, j, row] = 0.0
                if j < last:
                    before = world(frames, j, row, x, y, segments[k, j].exit)
                    cable_at[k, j, row] = 0.5 * (before + world(frames, j + 1, row, x, y, segments[k, j].entry))


@inner
def locate_rods(joint, reach, q, j, frames, rod_at):
    """Centroid of the circular arc of length L: on the bisector, from P toward the bend side."""
    h = 0.5 * q
    sin_h, cos_h = math.sin(h), math.cos(h)
    s, _, _ = mirror_law(joint.kind, joint.size, q, sin_h, cos_h)
    shift = joint.size * arc_centroid(h, sin_h, cos_h)
    toward_bend, back = shift * cos_h, shift * sin_h
    for row in range(3):
        rod_at[j, row] = world(
            frames, j, row, toward_bend * joint.axis_y, -toward_bend * joint.axis_x, reach + s - back
        )
