"""Geometry of chains of mirror and universal joints for statics, in plain NumPy, by other constructions than the
kernels'.

As in `chain`, rolling joints are two hinges at the arc centres, flexures are integrated along their arc and universal
joints are two rotations; here poses are complex and may carry leading axes, so that all complex steps are taken
together.
"""

from __future__ import annotations

import numpy as np
from tests.oracles.chain import NODES, STEP, WEIGHTS

from vertebra.robot.robot import Robot
from vertebra.robot.tables import FLEXURE, ROLLING, UNIVERSAL

Array = np.ndarray


def lifted(shape: tuple[int, ...], z: Array | float) -> Array:
    out = np.zeros((*shape, 4, 4), complex)
    out[...] = np.eye(4)
    out[..., 2, 3] = z
    return out


def turned(axis: tuple[float, float], angle: Array) -> Array:
    """Rodrigues about a horizontal axis."""
    x, y = axis
    K = np.zeros((4, 4))
    K[:3, :3] = [[0, 0, y], [0, 0, -x], [-y, x, 0]]
    angle = angle[..., None, None]
    return np.eye(4) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


def along_arc(joint: np.void, angle: Array, weights: Array) -> Array:
    """Integral of the unit tangent of a bent rod times a weight, in m: (..., 3) from the start of the rod."""
    toward = np.array([joint["axis_y"], -joint["axis_x"], 0.0])
    bend = NODES * angle[..., None]
    along, across = np.cos(bend) @ weights, np.sin(bend) @ weights
    return joint["size"] * (across[..., None] * toward + along[..., None] * np.array([0.0, 0.0, 1.0]))


def joint_angle(joint: np.void, q: Array) -> Array:
    """(...) angle of a joint with one freedom, (..., 2) those of a universal joint."""
    if joint["kind"] == UNIVERSAL:
        return q[..., joint["first"] : joint["first"] + 2]
    return q[..., joint["first"]]


def joint_motion(joint: np.void, angle: Array) -> Array:
    """(..., 4, 4) from the start of a joint to the frame of the link beyond it."""
    if joint["kind"] == UNIVERSAL:
        axis = (joint["axis_x"], joint["axis_y"])
        return lifted(angle.shape[:-1], joint["size"]) @ turned(axis, angle[..., 0]) @ turned(axis[::-1], angle[..., 1])
    size, axis, shape = joint["size"], (joint["axis_x"], joint["axis_y"]), angle.shape
    if joint["kind"] == ROLLING:
        half = turned(axis, angle / 2)
        return lifted(shape, -size) @ half @ lifted(shape, 2 * size) @ half @ lifted(shape, -size)
    if joint["kind"] == FLEXURE:
        out = turned(axis, angle)
        out[..., :3, 3] = along_arc(joint, angle, WEIGHTS)
        return out
    return lifted(shape, size) @ turned(axis, angle) @ lifted(shape, size)


def frames(robot: Robot, q: Array) -> Array:
    """(..., n+1, 4, 4)"""
    q = np.asarray(q, complex)
    out = [lifted(q.shape[:-1], 0.0)]
    for j, joint in enumerate(robot.joints):
        step = lifted(q.shape[:-1], robot.links["reach"][j]) @ joint_motion(joint, joint_angle(joint, q))
        out.append(out[-1] @ step)
    return np.stack(out, axis=-3)


def place(links: Array, link: int, point: Array) -> Array:
    return links[..., link, :3, 3] + links[..., link, :3, :3] @ np.asarray(point, float)


def gap_ends(robot: Robot, links: Array, j: int) -> tuple[Array, Array]:
    """(..., cables, 3) holes of all cables before and after a joint."""
    ends = []
    for link, side in ((j, "exit"), (j + 1, "entry")):
        holes = np.stack([robot.cables["x"], robot.cables["y"], robot.segments[side][:, j]])
        turned_holes = links[..., link, :3, :3] @ holes
        ends.append(np.swapaxes(turned_holes, -1, -2) + links[..., link, None, :3, 3])
    return ends[0], ends[1]


def bisector(robot: Robot, links: Array, q: Array, j: int) -> Array:
    """(..., 3) normal of the mirror plane of a joint in the world, pointing to the tip."""
    joint = robot.joints[j]
    half = turned((joint["axis_x"], joint["axis_y"]), np.asarray(joint_angle(joint, q), complex) / 2)
    return np.einsum("...ij,...j->...i", links[..., j, :3, :3], half[..., :3, 2])


def springs(robot: Robot) -> Array:
    """(freedoms,) N*m/rad."""
    return np.repeat(robot.joints["stiffness"], robot.joints["freedoms"])


def runs(robot: Robot, j: int) -> Array:
    """(cables,) which cables cross a joint."""
    return j < robot.cables["last_link"]


def segment_lengths(robot: Robot, q: Array, links: Array | None = None) -> Array:
    """(..., cables, n) m along the bisector normal of a mirror joint: a distance with a sign, smooth where the holes
    meet; across a universal joint, the distance."""
    q = np.asarray(q, complex)
    links = frames(robot, q) if links is None else links
    out = np.zeros((*q.shape[:-1], len(robot.cables), len(robot.joints)), complex)
    for j, joint in enumerate(robot.joints):
        start, end = gap_ends(robot, links, j)
        if joint["kind"] == UNIVERSAL:
            along = np.sqrt(((end - start) ** 2).sum(axis=-1))
        else:
            along = np.einsum("...kx,...x->...k", end - start, bisector(robot, links, q, j))
        out[..., j] = np.where(runs(robot, j), along, 0.0)
    return out


def complex_steps(q: Array) -> Array:
    """(..., freedoms, freedoms): one coordinate stepped at a time."""
    q = np.asarray(q, float)
    return q[..., None, :] + 1j * STEP * np.eye(q.shape[-1])


def angular_rates(robot: Robot, q: Array) -> Array:
    """(..., freedoms, links, 3) world angular velocity of every link per unit rate of each freedom, from R' R^T."""
    rates = frames(robot, complex_steps(q))[..., :3, :3].imag / STEP
    now = frames(robot, q)[..., None, :, :3, :3].real
    spin = np.einsum("...ij,...kj->...ik", rates, now)
    return np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)


def tip_jacobian(robot: Robot, q: Array) -> Array:
    """(6, freedoms) of the tip point: linear rows, then angular."""
    moved = place(frames(robot, complex_steps(q)), len(robot.joints), robot.tip_point)
    return np.vstack([moved.imag.T / STEP, angular_rates(robot, q)[:, -1].T])
