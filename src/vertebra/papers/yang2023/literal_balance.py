"""Frames, cable tensions and moments of the paper's method, from points and forces.

Poses q (..., n) may carry leading axes, and may be complex in `locate`. Corrections to the printed equations: the last
denominator of eq 5 is the distance to the hole h of the next disc, the pressure of eq 13 is F - (F.n) n with n normal
to the disc, and eq 41 keeps the moment of the lumped force as eq 37 does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.papers.yang2023.literal_robot import History, LiteralRobot
from vertebra.robot.tables import Floats

Numbers = NDArray[Any]
"""Real or complex."""
UP = np.array([0.0, 0.0, 1.0])
STEP = 1e-30
"""rad, of complex steps: they have no round-off."""


class Points(NamedTuple):
    """Where things are in the world, m."""

    frames: Numbers
    """(..., n + 1, 4, 4) at the disc centres."""
    discs: Numbers
    """(..., n, 3) centres of mass of discs 1 to n."""
    rods: Numbers
    """(..., n, 3) centres of mass."""
    far: Numbers
    """(..., c, n, 3) holes H before the joints."""
    near: Numbers
    """(..., c, n, 3) holes h after the joints."""
    locks: Numbers
    """(..., c, 3)"""
    tip: Numbers
    """(..., 3)"""


def locate(robot: LiteralRobot, q: Numbers) -> Points:
    """Eqs 1 to 3, and the points that forces act at."""
    n = q.shape[-1]
    s = robot.rod_length * tangent_ratio(q)
    steps = lifted(robot.half[:-1, 1] + s) @ turned(robot.axes, q) @ lifted(s + robot.half[1:, 0])
    frames = np.empty((*q.shape[:-1], n + 1, 4, 4), q.dtype)
    frames[..., 0, :, :] = np.eye(4)
    for j in range(n):
        frames[..., j + 1, :, :] = frames[..., j, :, :] @ steps[..., j, :, :]
    # Eq 30: bending shifts the centre of gravity of a rod along the bisector, toward the bend side.
    aside, ahead = arc_centroid(q)
    toward = np.cross(robot.axes, UP)
    rods = (robot.rod_length * aside)[..., None] * toward
    rods = rods + (robot.half[:-1, 1] + robot.rod_length * ahead)[..., None] * UP
    per_cable = frames[..., None, :, :, :]
    return Points(
        frames,
        placed(frames[..., 1:, :, :], robot.disc_at[1:]),
        placed(frames[..., :-1, :, :], rods),
        placed(per_cable[..., :-1, :, :], robot.far),
        placed(per_cable[..., 1:, :, :], robot.near),
        placed(frames[..., robot.last, :, :], robot.lock_at),
        placed(frames[..., -1, :, :], robot.tip),
    )


def segment_lengths(robot: LiteralRobot, at: Points) -> Numbers:
    """(..., c, n) m from hole to hole; zero where a cable does not run."""
    lengths: Numbers = np.sqrt(((at.near - at.far) ** 2).sum(axis=-1)) * robot.crosses
    return lengths


def cable_tensions(
    robot: LiteralRobot, q: Floats, at: Points, pull: Floats, history: History
) -> tuple[Floats, History]:
    """Tension in each gap (..., c, n) N from `pull` (c,) at the actuators, and the slip there: eqs 11 to 16."""
    straight = segment_lengths(robot, locate(robot, np.zeros(q.shape[-1])))
    changes = segment_lengths(robot, at) - straight
    variation = np.cumsum(changes[..., ::-1], axis=-1)[..., ::-1]
    slip = np.clip(history.slip + (variation - history.variation) / robot.presliding[:, None], -1.0, 1.0)
    theta = np.abs(q)[..., None, :] / 2
    a, b, c = robot.friction.T[:, :, None]
    mu = a * theta**2 + b * theta + c
    unit = unit_vectors(at.near - at.far)
    normals = at.frames[..., None, :, :3, 2]
    # Friction per tension on the disc before a joint and on the disc after it.
    leaving, entering = mu * pressure(unit, normals[..., :-1, :]), mu * pressure(unit, normals[..., 1:, :])
    tension = np.zeros(changes.shape)
    held, drag = np.broadcast_to(pull, changes.shape[:-1]), np.zeros(changes.shape[:-1])
    for j in range(q.shape[-1]):
        # Eq 14 reads F = held + s (drag held + leaving F): the second face of a disc presses with F itself.
        s = slip[..., j]
        held = held * (1 + s * drag) / (1 - s * leaving[..., j])
        tension[..., j], drag = held, entering[..., j]
    return tension * robot.crosses, History(slip, variation)


def paper_moments(robot: LiteralRobot, q: Floats, at: Points, tension: Floats) -> Floats:
    """(..., n) N*m along each joint's axis about the centre of the disc before it: eqs 5 to 9 and 17 to 41."""
    n = q.shape[-1]
    g = robot.gravity
    entering = tension[..., None] * unit_vectors(at.far - at.near)
    # On disc i pulls the next segment too; none leaves the last disc.
    leaving = np.concatenate([-entering[..., 1:, :], np.zeros_like(entering[..., :1, :])], axis=-2)
    exits = np.concatenate([at.far[..., 1:, :], at.near[..., -1:, :]], axis=-2)
    hung = robot.density[:, None] * segment_lengths(robot, at)
    locks = robot.lock_mass[:, None] * (robot.last[:, None] == np.arange(1, n + 1))
    on_last = np.arange(1, n + 1) == n
    on_discs = (  # points and forces (..., any number of them, n discs, 3)
        (at.near, entering),
        (exits, leaving),
        ((at.far + at.near) / 2, hung[..., None] * g),
        (at.locks[..., None, :], locks[..., None] * g),
        (at.discs[..., None, :, :], robot.disc_mass[None, 1:, None] * g),
        (at.rods[..., None, :, :], robot.rod_mass[None, :, None] * g),
        (at.tip[..., None, None, :], on_last[None, :, None] * robot.tip_force),
    )
    centres = at.frames[..., :3, 3]
    before = centres[..., None, :-1, :]
    own_force = sum(force.sum(axis=-3) for _, force in on_discs) + np.zeros((*q.shape, 3))
    own_moment = sum(crossed(point - before, force).sum(axis=-3) for point, force in on_discs) + np.zeros_like(
        own_force
    )
    axes = (at.frames[..., :-1, :3, :3] @ robot.axes[..., None])[..., 0]
    force, moment = np.zeros_like(own_force[..., 0, :]), np.zeros_like(own_force[..., 0, :])
    moments = np.empty(q.shape)
    for j in reversed(range(n)):
        # Eqs 38 to 40: what the disc beyond hands on, with the moment of its lumped force.
        moment = moment + crossed(centres[..., j + 1, :] - centres[..., j, :], force) + own_moment[..., j, :]
        force = force + own_force[..., j, :]
        moments[..., j] = (axes[..., j, :] * moment).sum(axis=-1)
    return moments


def virtual_work(robot: LiteralRobot, q: Floats, at: Points, tension: Floats) -> Floats:
    """(..., n) N*m: work of cables, weights and the tip's force per angle, by complex steps of all frames.

    Tensions and the masses of cable segments are held at their values in `q`.
    """
    hung = (robot.density[:, None] * segment_lengths(robot, at))[..., None, :, :]
    moved = locate(robot, q[..., None, :] + 1j * STEP * np.eye(q.shape[-1]))
    work = -(tension[..., None, :, :] * segment_lengths(robot, moved)).sum(axis=(-2, -1))
    work = work + (hung * ((moved.far + moved.near) / 2 @ robot.gravity)).sum(axis=(-2, -1))
    work = work + moved.discs @ robot.gravity @ robot.disc_mass[1:]
    work = work + moved.rods @ robot.gravity @ robot.rod_mass
    work = work + moved.locks @ robot.gravity @ robot.lock_mass + moved.tip @ robot.tip_force
    moments: Floats = work.imag / STEP
    return moments


def tangent_ratio(q: Numbers) -> Numbers:
    """tan(q/2) / q"""
    small = np.abs(q) < 0.02
    safe = np.where(small, 1.0, q)
    x = q**2 / 4
    series = 0.5 * (1 + x * (1 / 3 + x * (2 / 15 + x * (17 / 315 + x * 62 / 2835))))
    ratio: Numbers = np.where(small, series, np.tan(safe / 2) / safe)
    return ratio


def arc_centroid(q: Numbers) -> tuple[Numbers, Numbers]:
    """Of an arc of length 1 from its start: toward the bend side (q - sin q)/q^2, and ahead (1 - cos q)/q^2."""
    small = np.abs(q) < 0.2
    safe = np.where(small, 1.0, q)
    x = q**2
    aside = q * (1 / 6 - x * (1 / 120 - x * (1 / 5040 - x * (1 / 362880 - x / 39916800))))
    ahead = 1 / 2 - x * (1 / 24 - x * (1 / 720 - x * (1 / 40320 - x * (1 / 3628800 - x / 479001600))))
    return (
        np.where(small, aside, (safe - np.sin(safe)) / safe**2),
        np.where(small, ahead, (1 - np.cos(safe)) / safe**2),
    )


def lifted(z: Numbers) -> Numbers:
    """Trans(0, 0, z)"""
    out = np.zeros((*z.shape, 4, 4), z.dtype)
    out[...] = np.eye(4)
    out[..., 2, 3] = z
    return out


def turned(axes: Floats, q: Numbers) -> Numbers:
    """Rot(axis, q) by Rodrigues' formula, for axes in the plane of a disc."""
    K = np.zeros((len(axes), 4, 4))
    K[:, 0, 2], K[:, 1, 2], K[:, 2, 0], K[:, 2, 1] = axes[:, 1], -axes[:, 0], -axes[:, 1], axes[:, 0]
    sin, versine = np.sin(q)[..., None, None], 2 * np.sin(q / 2)[..., None, None] ** 2
    rotation: Numbers = np.eye(4) + sin * K + versine * (K @ K)
    return rotation


def placed(frames: Numbers, local: Numbers) -> Numbers:
    """Points of discs in the world."""
    world: Numbers = (frames[..., :3, :3] @ local[..., None])[..., 0] + frames[..., :3, 3]
    return world


def unit_vectors(v: Floats) -> Floats:
    unit: Floats = v / np.sqrt((v**2).sum(axis=-1, keepdims=True))
    return unit


def pressure(unit: Floats, normal: Floats) -> Floats:
    """Size of F - (F.n) n of eq 13 for a unit tension."""
    across = unit - (unit * normal).sum(axis=-1, keepdims=True) * normal
    size: Floats = np.sqrt((across**2).sum(axis=-1))
    return size


def crossed(a: Floats, b: Floats) -> Floats:
    """Vector product; np.cross takes several times as long on arrays of this size."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)
