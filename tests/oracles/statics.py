"""Equilibrium of chains of mirror and universal joints in plain NumPy, by other constructions than the kernels'.

The torques are the complex step of the energy, the stiffness an eighth-order difference of the torques, and the
equilibrium is where an overdamped robot comes to rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
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
    tip_jacobian,
)

from vertebra.robot.robot import Robot


@dataclass(frozen=True)
class Elastic:
    """Cables held at rest lengths (cables,) m, of axial stiffness EA (cables,) N; slack when shorter."""

    rest: Array
    EA: Array

    def tensions(self, lengths: Array) -> Array:
        stretch = lengths - self.rest
        return np.where(stretch.real > 0, self.EA / self.rest * stretch, 0.0)

    def energy(self, lengths: Array) -> Array:
        stretch = lengths - self.rest
        return np.where(stretch.real > 0, self.EA / (2 * self.rest) * stretch**2, 0.0).sum(axis=-1)


def load_place(robot: Robot, load) -> tuple[int, Array]:
    """Link and point where a load acts, with the defaults filled in."""
    last = len(robot.joints)
    link = load.link % (last + 1)
    if load.point is not None:
        return link, np.asarray(load.point, float)
    return link, np.asarray(robot.tip_point if link == last else robot.links["center_of_mass"][link])


def gap_masses(robot: Robot, q: Array) -> Array:
    """(..., cables, n) kg of the cables in the gaps, at the real part of a pose."""
    return robot.cables["linear_density"][:, None] * segment_lengths(robot, np.real(q)).real


def potential(robot: Robot, q: Array, tensions, gravity, loads=(), cable_mass=None) -> Array:
    """V in J: cables, springs, weights and forces. Cable masses are held at `cable_mass`, by default those of `q`."""
    q = np.asarray(q, complex)
    gravity = np.asarray(gravity, float)
    links = frames(robot, q)
    lengths = segment_lengths(robot, q, links).sum(axis=-1) + robot.cables["inside"]
    energy = tensions.energy(lengths) if isinstance(tensions, Elastic) else lengths @ np.asarray(tensions, float)
    energy = energy + (q**2) @ springs(robot) / 2
    for i in range(1, len(robot.links)):
        energy = energy - robot.links["mass"][i] * place(links, i, robot.links["center_of_mass"][i]) @ gravity
    for cable in robot.cables:
        lock = place(links, cable["last_link"], [cable["x"], cable["y"], cable["end"]])
        energy = energy - cable["lock_mass"] * lock @ gravity
    for j, joint in enumerate(robot.joints):
        if joint["mass"]:
            # Centroid of an arc = integral of (1 - u) times its tangent.
            local = along_arc(joint, joint_angle(joint, q), WEIGHTS * (1 - NODES))
            face = place(links, j, [0.0, 0.0, robot.links["reach"][j]])
            centroid = face + np.einsum("...ij,...j->...i", links[..., j, :3, :3], local)
            energy = energy - joint["mass"] * centroid @ gravity
    if robot.cables["linear_density"].any():
        held = gap_masses(robot, q) if cable_mass is None else cable_mass
        for j in range(len(robot.joints)):
            start, end = gap_ends(robot, links, j)
            energy = energy - (held[..., j] * ((start + end) / 2 @ gravity)).sum(axis=-1)
    for load in loads:
        energy = energy - place(links, *load_place(robot, load)) @ np.asarray(load.force, float)
    return energy


def residual(robot: Robot, q: Array, tensions, gravity, loads=()) -> Array:
    """(..., freedoms) N*m: dV/dq by the complex step with cable masses held, less the work of moments that keep their
    direction in the world."""
    q = np.asarray(q, float)
    held = gap_masses(robot, q)[..., None, :, :]
    tau = potential(robot, complex_steps(q), tensions, gravity, loads, held).imag / STEP
    turning = [load for load in loads if np.any(load.moment)]
    if turning:
        rates = angular_rates(robot, q)
        for load in turning:
            tau = tau - rates[..., load.link % len(robot.links), :] @ np.asarray(load.moment, float)
    return tau


# Eighth-order central difference: exact to round-off for steps of a hundredth of a radian.
STENCIL = np.array([-4, -3, -2, -1, 1, 2, 3, 4])
SLOPE = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280])


def stiffness_matrix(robot: Robot, q: Array, tensions, gravity, loads=(), step: float = 0.01) -> Array:
    """(freedoms, freedoms) d tau_i / d q_j; unsymmetric where moments or cable masses act."""
    columns = []
    for unit in np.eye(len(q)):
        around = q + step * STENCIL[:, None] * unit
        columns.append(SLOPE @ residual(robot, around, tensions, gravity, loads) / step)
    return np.stack(columns, axis=-1)


def compliance(robot: Robot, q: Array, tensions, gravity, loads=(), step: float = 0.01) -> Array:
    """(6, 6) motion of the tip per force and moment at the tip."""
    J = tip_jacobian(robot, q)
    return J @ np.linalg.solve(stiffness_matrix(robot, q, tensions, gravity, loads, step), J.T)


@dataclass(frozen=True)
class Rest:
    """Where an overdamped robot stops."""

    angles: Array
    residual: float
    """N*m, the largest."""
    scale: float
    """N*m, size of the torques that balance."""
    steps: int
    settled: bool


def moment_scale(robot: Robot, tensions, gravity, loads=()) -> float:
    """N*m: cables at their radius, weights and loads at the length of the robot, springs at one radian."""
    pull = 0.0 if isinstance(tensions, Elastic) else float(np.abs(tensions) @ robot.cables["radius"])
    reach = sum(abs(robot.links["reach"])) + 2 * sum(robot.joints["size"])
    weight = robot.mass * np.linalg.norm(gravity) + sum(np.linalg.norm(load.force) for load in loads)
    moments = sum(np.linalg.norm(load.moment) for load in loads)
    return pull + weight * reach + moments + float(robot.joints["stiffness"].max(initial=0.0)) or 1.0


def minimise(robot: Robot, tensions, gravity, loads=(), start=None, steps: int = 2000) -> Rest:
    """Overdamped motion by linearly implicit steps that grow as the robot slows down: follows forces, not the energy,
    so it also finds rest under moments that have no energy. Ends in plain Newton steps."""
    q = np.zeros(robot.freedoms) if start is None else np.array(start, float)
    given = (tensions, gravity, loads)
    scale = moment_scale(robot, *given)
    tau = residual(robot, q, *given)
    first = max(np.abs(tau).max(), 1e-3 * scale)
    taken = 0
    while taken < steps:
        taken += 1
        # A coarse Jacobian will do: only the residual decides.
        J = (residual(robot, q + 1e-6 * np.eye(len(q)), *given) - tau).T / 1e-6
        drag = np.abs(J).sum(axis=1).max() * min(1.0, np.abs(tau).max() / first) * np.eye(len(q))
        if np.abs(tau).max() < 1e-6 * first:
            drag = 0.0 * drag
        dq = -np.linalg.solve(J + drag, tau)
        dq *= min(1.0, 0.2 / np.abs(dq).max(initial=1e-300))
        q = np.clip(q + dq, -3.0, 3.0)
        tau = residual(robot, q, *given)
        if np.abs(dq).max() < 1e-13 or np.abs(tau).max() < 1e-17 * scale:
            break
    worst = float(np.abs(tau).max())
    return Rest(q, worst, scale, taken, worst < 1e-12 * scale)
