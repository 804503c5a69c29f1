"""What given tensions do at every joint: moment left out of balance, forces at the two contact points (theory 6)."""

from __future__ import annotations

import math

from vertebra.mechanics.compiled import inlined, inner, kernel
from vertebra.mechanics.link_programme import (
    FA,
    MA,
    MU,
    OFFSET,
    TRUE_CONE,
    normal_forces,
    tangential_forces,
)
from vertebra.mechanics.link_tensions import gather

# Planes of `forces`, (N, n, 2) each, at the two contact points, N: along the bisector normal, along t, along the axis;
# then how much of the friction there is used.
NORMAL, TANGENTIAL, AXIAL, USE = range(4)


@kernel
def weigh_joints(joints, cables, contacts, low, high, arms, wrenches, tensions, crossing, x, residual, scale, forces):
    """Write `residual` (N, n) N*m, needed less supplied; `scale` (N,) N*m, of the moments at the joints; `forces`.

    Only the sum of the two axial forces follows from the motion; `axial_share` says how the points share it.
    """
    for i in range(arms.shape[0]):
        scale[i] = 0.0
        for j in range(joints.shape[0]):
            wrench, contact = wrenches[i, j], contacts[j]
            balance, sizes = wrench[MA], abs(wrench[MA])
            for k in range(cables.shape[0]):
                balance -= arms[i, k, j] * tensions[i, k, j]
                sizes += abs(arms[i, k, j]) * tensions[i, k, j]
            residual[i, j] = balance
            scale[i] = max(scale[i], sizes)
            for point in range(2):
                for plane in range(4):
                    forces[plane, i, j, point] = 0.0
            if contact[OFFSET] == 0.0:
                continue
            count = gather(joints, cables, low, high, arms[i], j, crossing)
            count = 0
            for k in range(cables.shape[0]):
                if j < cables[k].last_link:
                    x[count] = tensions[i, k, j]
                    count += 1
            press(wrench, contact, normal_forces(wrench, contact, crossing, count, x), forces[:, i, j])


@inner
def press(wrench, contact, normal, forces):
    """Forces at the two points of one joint."""
    across, mu, true_cone = tangential_forces(wrench, contact), contact[MU], contact[TRUE_CONE] > 0.0
    share = axial_share(abs(wrench[FA]), mu * normal[0], mu * normal[1], abs(across[0]), abs(across[1]), true_cone)
    for point in range(2):
        axial = wrench[FA] * (share if point == 0 else 1.0 - share)
        friction = max(abs(across[point]), abs(axial))
        if true_cone:
            friction = math.sqrt(across[point] ** 2 + axial * axial)
        forces[NORMAL, point], forces[TANGENTIAL, point], forces[AXIAL, point] = normal[point], across[point], axial
        if friction > 0.0:
            limit = mu * normal[point]
            forces[USE, point] = friction / limit if limit > 0.0 else math.inf


@inner
def axial_share(force, limit_1, limit_2, across_1, across_2, true_cone):
    """Part of the axial force that point 1 takes: in proportion to the friction left along the axis at either point.

    Where that is not enough, both limits are exceeded by the same force.
    """
    limit_1, limit_2 = max(limit_1, 0.0), max(limit_2, 0.0)
    beyond = max(across_1 - limit_1, across_2 - limit_2, 0.0) if true_cone else 0.0
    most = beyond + 0.5 * force
    room_1, room_2 = room(limit_1 + beyond, across_1, true_cone), room(limit_2 + beyond, across_2, true_cone)
    if room_1 + room_2 < force:
        for _ in range(60):
            middle = 0.5 * (beyond + most)
            room_1, room_2 = room(limit_1 + middle, across_1, true_cone), room(limit_2 + middle, across_2, true_cone)
            if room_1 + room_2 < force:
                beyond = middle
            else:
                most = middle
    return room_1 / (room_1 + room_2) if room_1 + room_2 > 0.0 else 0.5


@inlined
def room(limit, across, true_cone):
    """Friction left along the axis, N."""
    return math.sqrt(max((limit - across) * (limit + across), 0.0)) if true_cone else limit
