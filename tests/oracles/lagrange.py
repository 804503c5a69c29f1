"""Lagrange's equations of any robot without ball joints, from its energies alone.

Every mass is a point, or a link with inertia, whose place is a plain function of the coordinates, written here from the
shapes of the parts: two arcs that roll, a rod bent to a circle, hinges. Jacobians come from the complex step, and with
M = sum m J^T J + sum of the links' turning

    tau = M qdd + (dM/dt) qd - 1/2 d(qd . M qd)/dq + dV/dq

dM/dq by differences of order 8. No joint law, recursion or centre of rotation of the package is used. Masses of cables
in the gaps are those of the pose: their change is not differentiated, as in statics.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vertebra.robot.robot import Robot
from vertebra.robot.tables import BACKBONE, FLEXURE, PIN, ROLLING, UNIVERSAL

STEP = 1e-30
REACH = 0.02
"""rad between the points of differences."""
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
TERMS = 24
"""Of series in angles below one."""

Array = np.ndarray
Z = np.array([0.0, 0.0, 1.0])


def turned(axis: Any, angle: Any) -> Array:
    """(3, 3) rotation about a unit axis; angles may be complex."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def bend_powers(vector: Any) -> Array:
    """(TERMS, 3, 3) of the series of a rotation by a bend vector toward x and y, which has no trouble at zero."""
    K = np.array([[0, 0, vector[0]], [0, 0, vector[1]], [-vector[0], -vector[1], 0]])
    terms = [np.eye(3, dtype=complex)]
    for k in range(1, TERMS):
        terms.append(terms[-1] @ K / k)
    return np.array(terms)


def arcs(vector: Any, length: float) -> tuple[Array, Array]:
    """End and centroid of a rod bent to a circle, which turns from z by `vector`: its tangent, the series times z at
    u of the bend, integrated along u with weights 1 and 1 - u."""
    k, tangents = np.arange(TERMS), bend_powers(vector) @ Z
    return length * tangents.T @ (1.0 / (k + 1)), length * tangents.T @ (1.0 / ((k + 1) * (k + 2)))


def cross_joint(joint: Any, q: Any) -> tuple[Array, Array, Array]:
    """Rotation of the link beyond, its origin and the centroid of the rod, from the face of the link before."""
    kind, size, no_rod = joint["kind"], joint["size"], np.zeros(3)
    if kind == UNIVERSAL:
        first, second = ((1, 0, 0), (0, 1, 0)) if joint["axis_x"] == 1.0 else ((0, 1, 0), (1, 0, 0))
        return turned(first, q[0]) @ turned(second, q[1]), size * Z, no_rod
    if kind == BACKBONE:
        # The untwisted rod says how far the tangents of its ends run before they meet; the twist is about the normal
        # of the plane between the two links. Either half of the rod is seen from its own link.
        half, end = 0.5 * np.asarray(q[:2]), arcs(q[:2], size)[0]
        run = end[2] / (1.0 + (bend_powers(q[:2]).sum(axis=0) @ Z)[2])
        bent = bend_powers(half).sum(axis=0)
        R = bent @ turned(Z, q[2] if len(q) > 2 else 0.0) @ bent
        origin, near = run * (Z + R @ Z), arcs(half, 0.5 * size)[1]
        return R, origin, 0.5 * (near + origin + R @ (near * [1.0, 1.0, -1.0]))
    axis = joint["axis_x"], joint["axis_y"], 0.0
    R, halfway = turned(axis, q[0]), turned(axis, 0.5 * q[0])
    if kind == ROLLING:
        # From the face to the centre of its arc, to that of the other arc, to the face of the other.
        return R, size * (-Z + 2.0 * halfway @ Z - R @ Z), no_rod
    if kind == PIN:
        return R, size * (Z + R @ Z), no_rod
    assert kind == FLEXURE
    return R, *arcs(q[0] * np.array([axis[1], -axis[0]]), size)


def places(robot: Robot, q: Array) -> tuple[Array, Array]:
    """(parts, 3) of point masses, and (n, 3, 3) rotations of the links; coordinates may be complex."""
    R, origin = np.eye(3, dtype=complex), np.zeros(3, dtype=complex)
    points, rotations, holes = [], [], []
    for j, joint in enumerate(robot.joints):
        own = q[joint["first"] : joint["first"] + joint["freedoms"]]
        turn, shift, rod = cross_joint(joint, own)
        face = origin + R @ (robot.links["reach"][j] * Z)
        before = R, origin
        R, origin = R @ turn, face + R @ shift
        points += [face + before[0] @ rod, origin + R @ robot.links["center_of_mass"][j + 1]]
        rotations.append(R)
        for k, cable in enumerate(robot.cables):
            hole = [np.array([cable["x"], cable["y"], robot.segments[k, j][end]]) for end in ("exit", "entry")]
            holes.append((before[1] + before[0] @ hole[0], origin + R @ hole[1]))
            points += [0.5 * (holes[-1][0] + holes[-1][1]), origin + R @ [cable["x"], cable["y"], cable["end"]]]
    return np.array(points), np.array(rotations)


def masses(robot: Robot, q: Array) -> Array:
    """(parts,) kg of these points."""
    R, origin, out = np.eye(3), np.zeros(3), []
    for j, joint in enumerate(robot.joints):
        turn, shift, _ = cross_joint(joint, q[joint["first"] : joint["first"] + joint["freedoms"]])
        face = origin + R @ (robot.links["reach"][j] * Z)
        before = R, origin
        R, origin = R @ turn.real, face + R @ np.real(shift)
        out += [joint["mass"] if joint["kind"] in (FLEXURE, BACKBONE) else 0.0, robot.links["mass"][j + 1]]
        for k, cable in enumerate(robot.cables):
            ends = [np.array([cable["x"], cable["y"], robot.segments[k, j][end]]) for end in ("exit", "entry")]
            line = origin + R @ ends[1] - before[1] - before[0] @ ends[0]
            crosses = j < cable["last_link"]
            out += [cable["linear_density"] * np.linalg.norm(line) if crosses else 0.0]
            out += [cable["lock_mass"] if j + 1 == cable["last_link"] else 0.0]
    return np.array(out)


def mass_matrix(robot: Robot, q: Array, heavy: Array | None = None) -> Array:
    """(n, n) kg*m^2. `heavy`: the masses, default those of the pose."""
    heavy = masses(robot, q) if heavy is None else heavy
    J, turning = [], []
    _, rotations = places(robot, q.astype(complex))
    for row in range(len(q)):
        moved, turns = places(robot, q + 1j * STEP * np.eye(len(q))[row])
        J.append(moved.imag / STEP)
        spin = np.einsum("lwx,lwy->lxy", rotations.real, turns.imag / STEP)  # in the axes of the links
        turning.append(np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1))
    jacobian, rates = np.array(J), np.array(turning)
    inertia = robot.links["inertia"][1:]
    return np.asarray(
        np.einsum("apx,p,bpx->ab", jacobian, heavy, jacobian) + np.einsum("alx,lx,blx->ab", rates, inertia, rates)
    )


def by_coordinate(function: Callable[[Array], Array], q: Array) -> Array:
    """(n, ...) derivatives of a real function, of order 8."""
    out = []
    for row in range(len(q)):
        move = REACH * np.eye(len(q))[row]
        pairs = (
            weight * (function(q + k * move) - function(q - k * move)) for k, weight in enumerate(WEIGHTS, start=1)
        )
        out.append(sum(pairs) / REACH)
    return np.array(out)


def torques(robot: Robot, q: Array, qd: Array, qdd: Array, gravity: Array) -> Array:
    """(n,) N*m."""
    heavy = masses(robot, q)
    M, slopes = mass_matrix(robot, q, heavy), by_coordinate(lambda p: mass_matrix(robot, p, heavy), q)
    fall = [(places(robot, q + 1j * STEP * np.eye(len(q))[row])[0].imag / STEP) @ gravity for row in range(len(q))]
    return np.asarray(
        M @ qdd
        + np.einsum("kab,k,b->a", slopes, qd, qd)
        - 0.5 * np.einsum("kab,a,b->k", slopes, qd, qd)
        - np.array(fall) @ heavy
    )
