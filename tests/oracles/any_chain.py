"""Energy and motion of chains of any joints but balls, in plain NumPy, by other constructions than the kernels'.

A bent rod is the series of the integral of its turning frame, so that no angle, no axis and no square root appears in
it: all is smooth when straight. Torques are complex steps of an energy, and the equations of motion are Lagrange's. As
in the model, the far half of a rod that twists swings about the normal of the mirror plane, and the mass of a cable in
a gap is that of its length at the pose, held.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from tests.oracles.chain import STEP
from tests.oracles.mirror_chain import Array, complex_steps, gap_ends, lifted, place, runs, turned
from tests.oracles.statics import SLOPE, STENCIL, load_place

from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, FLEXURE, PIN, ROLLING

TERMS = 26


def integrals(w: Array, terms: int = TERMS) -> tuple[Array, Array, Array]:
    """Of exp(u W), u from 0 to 1: its end, its integral, and the integral of (1 - u) exp(u W); (..., 3, 3) each."""
    W = np.zeros((*w.shape[:-1], 3, 3), complex)
    W[..., 0, 2], W[..., 1, 2], W[..., 2, 0], W[..., 2, 1] = w[..., 1], -w[..., 0], -w[..., 1], w[..., 0]
    W[..., 1, 0], W[..., 0, 1] = w[..., 2], -w[..., 2]
    power = np.broadcast_to(np.eye(3), W.shape)
    end, once, twice = (np.zeros(W.shape, complex) for _ in range(3))
    for k in range(terms):
        end = end + power / math.factorial(k)
        once = once + power / math.factorial(k + 1)
        twice = twice + power / math.factorial(k + 2)
        power = power @ W
    return end, once, twice


def bent(length: float, w: Array) -> tuple[Array, Array]:
    """A piece of rod of constant curvature, turned by the rotation vector w over its length: the frame at its end, and
    its centroid."""
    end, once, twice = integrals(w)
    out = lifted(w.shape[:-1], 0.0)
    out[..., :3, :3], out[..., :3, 3] = end, length * once[..., :, 2]
    return out, length * twice[..., :, 2]


def bend_vector(joint: np.void, q: Array) -> Array:
    """(..., 3) rotation vector of the bend of a flexure or a backbone joint."""
    zero = np.zeros(q.shape[:-1], complex)
    if joint["kind"] == BACKBONE:
        return np.stack([-q[..., 1], q[..., 0], zero], axis=-1)
    return np.stack([joint["axis_x"] * q[..., 0], joint["axis_y"] * q[..., 0], zero], axis=-1)


def swung(angle: Array, straight: Array) -> Array:
    """A turn about the normal of the plane that mirrors one end of a bent rod into the other, through the point where
    the axes of both ends cross; `straight` is the frame at the far end before it."""
    z, end = straight[..., :3, 2], straight[..., :3, 3]
    crossing = np.zeros_like(end)
    crossing[..., 2] = end[..., 2] / (1 + z[..., 2])
    normal = z + np.array([0.0, 0.0, 1.0])
    normal = normal / np.sqrt((normal**2).sum(axis=-1, keepdims=True))
    turn = integrals(angle[..., None] * normal)[0]
    out = lifted(angle.shape, 0.0)
    out[..., :3, :3] = turn
    out[..., :3, 3] = crossing - np.einsum("...ij,...j->...i", turn, crossing)
    return out


def rod(joint: np.void, q: Array) -> tuple[Array, Array]:
    """Frame at the end and centroid of the rod of a flexure or a backbone joint, whose far half swings with a twist."""
    half, near = bent(joint["size"] / 2, bend_vector(joint, q) / 2)
    far = half[..., :3, 3] + np.einsum("...ij,...j->...i", half[..., :3, :3], near)
    end = half @ half
    if joint["freedoms"] == 3:
        swing = swung(q[..., 2], end)
        end = swing @ end
        far = swing[..., :3, 3] + np.einsum("...ij,...j->...i", swing[..., :3, :3], far)
    return end, (near + far) / 2


def joint_motion(joint: np.void, q: Array) -> Array:
    """(..., 4, 4) across one joint, from its start to the frame of the link beyond."""
    size, axis, shape = joint["size"], (joint["axis_x"], joint["axis_y"]), q.shape[:-1]
    if joint["kind"] == ROLLING:
        half = turned(axis, q[..., 0] / 2)
        return lifted(shape, -size) @ half @ lifted(shape, 2 * size) @ half @ lifted(shape, -size)
    if joint["kind"] in (FLEXURE, BACKBONE):
        return rod(joint, q)[0]
    if joint["kind"] == PIN:
        return lifted(shape, size) @ turned(axis, q[..., 0]) @ lifted(shape, size)
    return lifted(shape, size) @ turned(axis, q[..., 0]) @ turned(axis[::-1], q[..., 1])


def own(robot: Robot, q: Array, j: int) -> Array:
    """(..., freedoms) coordinates of a joint."""
    joint = robot.joints[j]
    return q[..., joint["first"] : joint["first"] + joint["freedoms"]]


def frames(robot: Robot, q: Array) -> Array:
    """(..., n+1, 4, 4)"""
    q = np.asarray(q, complex)
    out = [lifted(q.shape[:-1], 0.0)]
    for j, joint in enumerate(robot.joints):
        out.append(out[-1] @ lifted(q.shape[:-1], robot.links["reach"][j]) @ joint_motion(joint, own(robot, q, j)))
    return np.stack(out, axis=-3)


def segment_lengths(robot: Robot, q: Array, links: Array | None = None) -> Array:
    """(..., cables, n) m, straight from hole to hole."""
    q = np.asarray(q, complex)
    links = frames(robot, q) if links is None else links
    out = np.zeros((*q.shape[:-1], len(robot.cables), len(robot.joints)), complex)
    for j in range(len(robot.joints)):
        start, end = gap_ends(robot, links, j)
        out[..., j] = np.where(runs(robot, j), np.sqrt(((end - start) ** 2).sum(axis=-1)), 0.0)
    return out


def angular_rates(robot: Robot, q: Array) -> Array:
    """(..., freedoms, links, 3) world angular velocity of every link per unit rate of each freedom, from R' R^T."""
    rates = frames(robot, complex_steps(q))[..., :3, :3].imag / STEP
    now = frames(robot, q)[..., None, :, :3, :3].real
    spin = np.einsum("...ij,...kj->...ik", rates, now)
    return np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)


def jacobian(robot: Robot, q: Array, link: int, point: Array) -> Array:
    """(6, freedoms) of a point of a link: linear rows, then angular."""
    moved = place(frames(robot, complex_steps(q)), link, point).imag / STEP
    return np.vstack([moved.T, angular_rates(robot, q)[:, link].T])


def springs(robot: Robot) -> Array:
    """(freedoms,) N*m/rad: of a bend that of the joint, of a twist its torsion."""
    out = np.repeat(robot.joints["stiffness"], robot.joints["freedoms"])
    for joint in robot.joints[robot.joints["freedoms"] == 3]:
        out[joint["first"] + 2] = joint["torsion"]
    return out


# Masses ------------------------------------------------------------------------------------------------------------


def masses(robot: Robot, q: Array) -> Array:
    """(..., parts) kg at the real part of a pose: links, locks, rods, then the cables in the gaps, joint by joint."""
    fixed = np.concatenate([robot.links["mass"][1:], robot.cables["lock_mass"], robot.joints["mass"]])
    gaps = robot.cables["linear_density"][:, None] * segment_lengths(robot, np.real(q)).real
    shape = gaps.shape[:-2]
    hung = np.swapaxes(gaps, -1, -2).reshape(*shape, -1)
    return np.concatenate([np.broadcast_to(fixed, (*shape, len(fixed))), hung], axis=-1)


def points(robot: Robot, q: Array, links: Array) -> Array:
    """(..., parts, 3) m, where those masses are."""
    n = len(robot.joints)
    out = [place(links, i, robot.links["center_of_mass"][i]) for i in range(1, n + 1)]
    out += [place(links, cable["last_link"], [cable["x"], cable["y"], cable["end"]]) for cable in robot.cables]
    for j, joint in enumerate(robot.joints):
        face = place(links, j, [0.0, 0.0, robot.links["reach"][j]])
        if joint["mass"]:
            centroid = rod(joint, own(robot, q, j))[1]
            face = face + np.einsum("...ij,...j->...i", links[..., j, :3, :3], centroid)
        out.append(face)
    gaps = [sum(gap_ends(robot, links, j)) / 2 for j in range(n)]
    return np.concatenate([np.stack(out, axis=-2), *gaps], axis=-2)


# Statics -----------------------------------------------------------------------------------------------------------


def potential(
    robot: Robot, q: Array, tensions: Array, gravity: Array, loads: Sequence[Any] = (), held: Array | None = None
) -> Array:
    """(...) J: cables, springs, weights and forces; masses are `held`, by default those of the pose."""
    q = np.asarray(q, complex)
    links = frames(robot, q)
    held = masses(robot, q) if held is None else held
    energy = segment_lengths(robot, q, links).sum(axis=-1) @ np.asarray(tensions, float) + q**2 @ springs(robot) / 2
    energy = energy - (held * (points(robot, q, links) @ np.asarray(gravity, float))).sum(axis=-1)
    for load in loads:
        energy = energy - place(links, *load_place(robot, load)) @ np.asarray(load.force, float)
    return energy


def residual(robot: Robot, q: Array, tensions: Array, gravity: Array, loads: Sequence[Any] = ()) -> Array:
    """(..., freedoms) N*m: dV/dq with cable masses held, less the work of moments fixed in the world."""
    q = np.asarray(q, float)
    held = masses(robot, q)[..., None, :]
    tau = potential(robot, complex_steps(q), tensions, gravity, loads, held).imag / STEP
    for load in loads:
        if np.any(load.moment):
            tau = tau - angular_rates(robot, q)[..., load.link % len(robot.links), :] @ np.asarray(load.moment, float)
    return tau


def stiffness_matrix(robot: Robot, q: Array, *given: Any, step: float = 0.01) -> Array:
    """(freedoms, freedoms) d tau_i / d q_j by an eighth-order difference."""
    around = q + step * STENCIL[:, None, None] * np.eye(len(q))
    return np.tensordot(SLOPE, residual(robot, around, *given), axes=1).T / step


# Dynamics ----------------------------------------------------------------------------------------------------------


def mass_matrix(robot: Robot, q: Array, held: Array | None = None) -> Array:
    """(..., freedoms, freedoms) kg*m^2: parts moved and links turned by each freedom."""
    q = np.asarray(q, float)
    held = masses(robot, q) if held is None else held
    steps = complex_steps(q)
    J = points(robot, steps, frames(robot, steps)).imag / STEP
    turning = angular_rates(robot, q)[..., 1:, :]
    local = np.einsum("...lwx,...alw->...alx", frames(robot, q).real[..., 1:, :3, :3], turning)
    inertia = robot.links["inertia"][1:]
    return np.einsum("...apx,...p,...bpx->...ab", J, held, J) + np.einsum(
        "...alx,lx,...blx->...ab", local, inertia, local
    )


def holding(robot: Robot, q: Array, gravity: Array, loads: Sequence[Any] = ()) -> Array:
    """(freedoms,) N*m that keep weights and loads at rest, without springs and cables."""
    return residual(robot, q, np.zeros(len(robot.cables)), gravity, loads) - springs(robot) * q


def lagrange(
    robot: Robot, q: Array, qd: Array, qdd: Array, gravity: Array, loads: Sequence[Any] = (), step: float = 0.01
) -> Array:
    """(freedoms,) N*m: d/dt dK/dqd - dK/dq + holding torques."""
    held = masses(robot, q)
    around = q + step * STENCIL[:, None, None] * np.eye(len(q))
    slopes = np.tensordot(SLOPE, mass_matrix(robot, around, held), axes=1) / step  # dM / dq_i: (i, a, b)
    changing = np.einsum("iab,i,b->a", slopes, qd, qd) - np.einsum("aib,i,b->a", slopes, qd, qd) / 2
    return mass_matrix(robot, q, held) @ qdd + changing + holding(robot, q, gravity, loads)


def pull(robot: Robot, q: Array, tensions: Array) -> Array:
    """(freedoms,) N*m of the cables."""
    return -(segment_lengths(robot, complex_steps(q)).imag.sum(axis=-1) / STEP) @ np.asarray(tensions, float)
