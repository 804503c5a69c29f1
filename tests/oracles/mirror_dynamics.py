"""Dynamics of chains of mirror and universal joints in plain NumPy, twice, by other constructions than the kernels'.

`lagrange` writes the kinetic energy with the Jacobians of every part and differentiates it by differences; `newton`
takes the acceleration of every part from a circle of complex times and sums force times virtual displacement. Both are
slow and use neither joint laws nor instantaneous centres. Masses of cables in the gaps are those of the pose: their
change is not differentiated, as in statics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tests.oracles import statics
from tests.oracles.chain import NODES, STEP, WEIGHTS
from tests.oracles.mirror_chain import (
    Array,
    along_arc,
    angular_rates,
    complex_steps,
    frames,
    gap_ends,
    joint_angle,
    place,
    segment_lengths,
    springs,
)

from vertebra.robot.robot import Robot

# Parts -------------------------------------------------------------------------------------------------------------


def point_masses(robot: Robot, q: Array) -> Array:
    """(..., parts) kg: links, locks, rods of each joint, then the cables in the gaps (cable by cable)."""
    fixed = np.concatenate([robot.links["mass"][1:], robot.cables["lock_mass"], robot.joints["mass"]])
    gaps = statics.gap_masses(robot, q)
    shape = gaps.shape[:-2]
    return np.concatenate([np.broadcast_to(fixed, (*shape, len(fixed))), gaps.reshape(*shape, -1)], axis=-1)


def last_joints(robot: Robot) -> Array:
    """(parts,) row of the last joint that each part lies wholly beyond; -1 for what is in the first gap."""
    rows = np.arange(len(robot.joints))
    return np.concatenate([rows, robot.cables["last_link"] - 1, rows - 1, np.tile(rows - 1, len(robot.cables))])


def points(robot: Robot, q: Array, links: Array | None = None) -> Array:
    """(..., parts, 3) m, where those masses are; poses may be complex."""
    q = np.asarray(q, complex)
    links = frames(robot, q) if links is None else links
    n = len(robot.joints)
    out = [place(links, i, robot.links["center_of_mass"][i]) for i in range(1, n + 1)]
    out += [place(links, cable["last_link"], [cable["x"], cable["y"], cable["end"]]) for cable in robot.cables]
    for j, joint in enumerate(robot.joints):
        # Centroid of an arc = integral of (1 - u) times its tangent. A joint without rods has no mass to place.
        angle = joint_angle(joint, q) if joint["freedoms"] == 1 else q[..., joint["first"]]
        local = along_arc(joint, angle, WEIGHTS * (1 - NODES))
        face = place(links, j, [0.0, 0.0, robot.links["reach"][j]])
        out.append(face + np.einsum("...ij,...j->...i", links[..., j, :3, :3], local))
    gaps = [sum(gap_ends(robot, links, j)) / 2 for j in range(n)]
    return np.concatenate([np.stack(out, axis=-2), *np.moveaxis(np.array(gaps), [-2, 0], [0, -2])], axis=-2)


def point_jacobians(robot: Robot, q: Array) -> Array:
    """(..., n, parts, 3) m/rad, by the complex step."""
    return points(robot, complex_steps(q)).imag / STEP


# Lagrange ----------------------------------------------------------------------------------------------------------


def mass_matrix(robot: Robot, q: Array, masses: Array | None = None) -> Array:
    """(..., n, n) kg*m^2: parts moved and links turned by each joint. `masses` default to those of the pose."""
    q = np.asarray(q, float)
    masses = point_masses(robot, q) if masses is None else masses
    J = point_jacobians(robot, q)
    turning = angular_rates(robot, q)[..., 1:, :]
    R = frames(robot, q).real[..., 1:, :3, :3]
    local = np.einsum("...lwx,...alw->...alx", R, turning)
    return np.einsum("...apx,...p,...bpx->...ab", J, masses, J) + np.einsum(
        "...alx,lx,...blx->...ab", local, robot.links["inertia"][1:], local
    )


def kinetic_energy(robot: Robot, q: Array, qd: Array, masses: Array | None = None) -> Array:
    """(...) J."""
    return np.einsum("...a,...ab,...b->...", qd, mass_matrix(robot, q, masses), qd) / 2


def potential_energy(robot: Robot, q: Array, gravity: Array) -> Array:
    """(...) J: weights and springs, without cables and loads."""
    return statics.potential(robot, q, np.zeros(len(robot.cables)), gravity).real


def holding(robot: Robot, q: Array, gravity: Array, loads=()) -> Array:
    """(n,) N*m that keep the weights and loads at rest; springs and cables not counted."""
    return statics.residual(robot, q, np.zeros(len(robot.cables)), gravity, loads) - springs(robot) * q


def lagrange(robot: Robot, q: Array, qd: Array, qdd: Array, gravity: Array, loads=(), step: float = 0.01) -> Array:
    """(n,) N*m: d/dt dK/dqd - dK/dq + holding torques. Costs n^2 chains: for short robots."""
    masses = point_masses(robot, q)
    around = q + step * statics.STENCIL[:, None, None] * np.eye(len(q))
    slopes = np.tensordot(statics.SLOPE, mass_matrix(robot, around, masses), axes=1) / step  # dM / dq_i: (i, a, b)
    changing = np.einsum("iab,i,b->a", slopes, qd, qd) - np.einsum("aib,i,b->a", slopes, qd, qd) / 2
    return mass_matrix(robot, q, masses) @ qdd + changing + holding(robot, q, gravity, loads)


# Newton ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Motion:
    """Every part and link along q(t) = q + qd t + qdd t^2 / 2 at t = 0, world axes."""

    at: Array
    """(parts, 3) m."""
    velocity: Array
    """(parts, 3) m/s."""
    acceleration: Array
    """(parts, 3) m/s^2."""
    turning: Array
    """(n, 3) angular velocity of links 1 to n, rad/s."""
    spinning_up: Array
    """(n, 3) angular acceleration, rad/s^2."""


CIRCLE = np.exp(2j * np.pi * np.arange(32) / 32)


def motion(robot: Robot, q: Array, qd: Array, qdd: Array) -> Motion:
    """First and second time derivatives as Cauchy integrals: all positions are entire functions of the time."""
    # All joints together turn by about a radian on the circle.
    radius = 1.0 / max(np.abs(qd).sum(), np.sqrt(np.abs(qdd).sum()), 1e-3)
    t = radius * CIRCLE[:, None]
    path = q + qd * t + qdd * t**2 / 2
    links = frames(robot, path)
    spots = points(robot, path, links)

    def derivative(values: Array, order: int) -> Array:
        return order * np.tensordot(CIRCLE**-order, values, axes=1).real / len(CIRCLE) / radius**order

    turns = links[:, 1:, :3, :3]
    R, R1, R2 = turns.mean(axis=0).real, derivative(turns, 1), derivative(turns, 2)
    return Motion(
        spots.mean(axis=0).real, derivative(spots, 1), derivative(spots, 2),
        _axial(R1 @ R.swapaxes(1, 2)), _axial(R2 @ R.swapaxes(1, 2)),
    )  # fmt: skip


def _axial(spin: Array) -> Array:
    """Vector of the skew part: of R' R^T the angular velocity, of R'' R^T the angular acceleration."""
    skew = (spin - spin.swapaxes(-1, -2)) / 2
    return np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)


def inertia_moments(robot: Robot, q: Array, moving: Motion) -> Array:
    """(n, 3) N*m: rate of change of the angular momentum of each link about its centre of mass."""
    R = frames(robot, q).real[1:, :3, :3]
    inertia = np.einsum("lij,lj,lkj->lik", R, robot.links["inertia"][1:], R)
    spin = np.einsum("lij,lj->li", inertia, moving.turning)
    return np.einsum("lij,lj->li", inertia, moving.spinning_up) + np.cross(moving.turning, spin)


def newton(robot: Robot, q: Array, qd: Array, qdd: Array, gravity: Array, loads=()) -> Array:
    """(n,) N*m by d'Alembert: the inertia forces of all parts, times how each joint moves them."""
    q, qd, qdd = (np.asarray(given, float) for given in (q, qd, qdd))
    moving = motion(robot, q, qd, qdd)
    forces = point_masses(robot, q)[:, None] * moving.acceleration
    moments = inertia_moments(robot, q, moving)
    tau = np.einsum("apx,px->a", point_jacobians(robot, q), forces)
    tau += np.einsum("alx,lx->a", angular_rates(robot, q)[:, 1:], moments)
    return tau + holding(robot, q, gravity, loads)


def wrenches(robot: Robot, q: Array, qd: Array, qdd: Array, gravity: Array, loads=()) -> Array:
    """(n, 6) N, N*m about the instantaneous centre: what acts across every joint on all that lies beyond its gap."""
    q, qd, qdd = (np.asarray(given, float) for given in (q, qd, qdd))
    links, moving = frames(robot, q).real, motion(robot, q, qd, qdd)
    forces = point_masses(robot, q)[:, None] * (moving.acceleration - np.asarray(gravity, float))
    moments, carried = inertia_moments(robot, q, moving), last_joints(robot)
    out, turned_by = np.zeros((len(robot.joints), 6)), angular_rates(robot, q)
    moved_by = frames(robot, complex_steps(q))[..., :3, 3].imag / STEP
    for j, joint in enumerate(robot.joints):
        # The point of the bend plane that the joint leaves at rest; of a universal joint, that of both axes.
        row, centre = joint["first"], links[j + 1, :3, 3]
        if joint["freedoms"] == 1:
            centre = centre + np.cross(turned_by[row, j + 1], moved_by[row, j + 1])
        for at, force, last in zip(moving.at, forces, carried, strict=True):
            if last >= j:
                out[j] += np.concatenate([force, np.cross(at - centre, force)])
        out[j, 3:] += moments[j:].sum(axis=0)
        for load in loads:
            link, point = statics.load_place(robot, load)
            if link > j:
                arm = place(links, link, point) - centre
                out[j] -= np.concatenate([load.force, np.cross(arm, load.force) + load.moment])
    return out


# Forward -----------------------------------------------------------------------------------------------------------


def actuation(robot: Robot, q: Array, qd: Array, tensions: Array, damping: float = 0.0) -> Array:
    """(n,) N*m of cables, springs and damping."""
    slopes = segment_lengths(robot, complex_steps(q)).imag.sum(axis=-1) / STEP
    return -slopes @ np.asarray(tensions, float) - springs(robot) * q - damping * qd


def acceleration(robot: Robot, q: Array, qd: Array, tau: Array, gravity: Array, loads=()) -> Array:
    """(n,) rad/s^2."""
    return np.linalg.solve(mass_matrix(robot, q), tau - newton(robot, q, qd, np.zeros(len(q)), gravity, loads))
