"""Random links for the tension programmes: as many as asked for, solved by the kernel in one call."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from tests.oracles.link_programme import Link

from vertebra.dynamics.allocation import JointNeeds, per_link_tensions
from vertebra.robot.tables import CABLE, JOINT, ROLLING

JOINTS = 4


def random_links(rng, cables, steps, feasible, tidy=False):
    """Tables of a robot of JOINTS unrelated joints, their needs (steps, JOINTS), contacts, bounds.

    `tidy`: cables at right angles and round numbers, so that many answers are equally good.
    """
    joints, table = np.zeros(JOINTS, JOINT), np.zeros(cables, CABLE)
    joints["kind"] = ROLLING
    psi = rng.integers(0, 4, JOINTS) * np.pi / 2 if tidy else rng.uniform(0, 2 * np.pi, JOINTS)
    phi = np.arange(cables) * np.pi / 2 if tidy else rng.uniform(0, 2 * np.pi, cables)
    joints["axis_x"], joints["axis_y"] = -np.sin(psi), np.cos(psi)
    radius = 0.02 if tidy else rng.uniform(0.005, 0.03, cables)
    table["x"], table["y"] = radius * np.cos(phi), radius * np.sin(phi)
    table["last_link"] = JOINTS
    along = table["x"][:, None] * joints["axis_x"] + table["y"][:, None] * joints["axis_y"]
    reach = table["x"][:, None] * joints["axis_y"] - table["y"][:, None] * joints["axis_x"]
    if tidy:
        # Round-off in place of zero would be an arm to the oracle.
        along, reach = np.round(along, 12), np.round(reach, 12)
    contacts = np.zeros((JOINTS, 4))
    contacts[:, 0] = 0.022 if tidy else rng.uniform(0.01, 0.03, JOINTS)
    contacts[:, 0] *= rng.random(JOINTS) < 0.85
    contacts[:, 1], contacts[:, 2] = (0.5, 1.0) if tidy else (rng.uniform(0.1, 1.0, JOINTS), rng.uniform(0, 3, JOINTS))
    low = np.full(cables, 5.0) if tidy else rng.uniform(0.0, 10.0, cables)
    high = np.full(cables, 100.0) if tidy else low + rng.uniform(0.0, 120.0, cables) * (rng.random(cables) < 0.95)
    arms = reach[None] + (0.0 if tidy else rng.normal(0.0, 0.003, (steps, 1, JOINTS)))
    arms = np.ascontiguousarray(np.broadcast_to(arms, (steps, cables, JOINTS)))
    wrenches = np.empty((steps, JOINTS, 6))
    for i in range(steps):
        for j in range(JOINTS):
            wrenches[i, j] = needed_wrench(rng, arms[i, :, j], along[:, j], low, high, contacts[j], feasible, tidy)
    needs = JointNeeds(np.zeros((steps, JOINTS)), wrenches, arms)
    return SimpleNamespace(joints=joints, cables=table), needs, contacts, low, high, along


def needed_wrench(rng, arms, along, low, high, contact, feasible, tidy):
    b, mu, least, _ = contact
    tensions = rng.uniform(low, high)
    if tidy:
        tensions = np.clip(np.round(tensions, -1), low, high)
    moment = float(arms @ tensions)
    if not feasible:
        scale = rng.choice([1.0, 3.0, 10.0])
        force = rng.normal(0.0, 20.0 * scale, 3)
        moments = rng.normal(0.0, 0.4 * scale, 3)
        return np.array([*force, *moments[:2], moment if rng.random() < 0.5 else moments[2]])
    if not b:
        return np.array([*rng.normal(0.0, 10.0, 3), *rng.normal(0.0, 0.3, 2), moment])
    across = np.round(rng.normal(0.0, 3.0, 2)) if tidy else rng.normal(0.0, 3.0, 2)
    reserve = rng.integers(0, 3, 2) if tidy else rng.exponential(20.0, 2)
    normal = np.maximum(least, np.abs(across) / mu) + reserve
    axial = rng.uniform(-1.0, 1.0) * np.sqrt(np.maximum((mu * normal) ** 2 - across**2, 0.0)).sum()
    return np.array(
        [
            normal.sum() - tensions.sum(),
            across.sum(),
            axial,
            -b * (across[0] - across[1]),
            b * (normal[0] - normal[1]) - along @ tensions,
            moment,
        ]
    )


def solved(given):
    robot, needs, contacts, low, high, _ = given
    return per_link_tensions(robot, needs, contacts, low, high)


def link_of(given, i, j, **relaxed):
    """The oracle's view of one of the links."""
    _, needs, contacts, low, high, along = given
    b, mu, least, _ = contacts[j]
    return Link(needs.wrenches[i, j], needs.arms[i, :, j], along[:, j], low, high, b, mu, least, relaxed)
