"""Planar equilibrium of a robot of flexures as an elastica: every rod is many small hinges, of any curvature.

The two rods of a flexure are one inextensible planar rod of their common bending stiffness; discs are rigid; cables run
straight between the holes of neighbouring discs and pull without friction. Joints that bend out of the plane are rigid
straight pieces of their length. Nothing here assumes arcs or mirror symmetry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vertebra.robot.robot import Robot

Array = np.ndarray
STEP = 1e-30


@dataclass(frozen=True)
class Rest:
    """Where the elastica comes to rest."""

    tip: Array
    """(3,) m"""
    angles: Array
    """(n,) rad between neighbouring discs."""
    residual: float
    """N*m, largest imbalance of a hinge."""
    stable: bool
    """Whether the stiffness is positive definite."""


class Points:
    """Points fixed to pieces of the body: number of the piece, (x, z) from its start in its own axes."""

    def __init__(self, pieces: int, piece: list[int], x: list[float], z: list[float]) -> None:
        self.piece, self.x, self.z = np.array(piece, int), np.array(x, float), np.array(z, float)
        self.gather = (self.piece[:, None] == np.arange(pieces)).astype(complex)

    def sums(self, values: Array) -> Array:
        """(..., pieces) of values (..., points) by piece."""
        return values @ (self.gather if np.iscomplexobj(values) else self.gather.real)


class PlanarBody:
    """The body as straight pieces; hinge m turns every piece from `turns[m]` on. World axes x and z."""

    def __init__(self, robot: Robot, hinges: int) -> None:
        axis = np.abs(robot.joints["axis_y"])
        assert np.isin(axis, (0.0, 1.0)).all(), "joints must bend in the plane or across it"
        self.robot, lengths, masses, spring, self.turns, self.link_piece = robot, [], [], [], [], []
        for link in range(len(robot.links)):
            self.link_piece.append(len(lengths))
            lengths.append(float(robot.links["reach"][link]))
            masses.append(0.0)
            if link == len(robot.joints):
                break
            joint = robot.joints[link]
            size = float(joint["size"])
            parts = [size]
            if axis[link]:
                # Hinges in the middle of equal elements: k L / (L / N) each.
                parts = [size / hinges / 2, *[size / hinges] * (hinges - 1), size / hinges / 2]
                self.turns += range(len(lengths) + 1, len(lengths) + len(parts))
                spring += [float(joint["stiffness"]) * hinges] * hinges
            lengths += parts
            masses += [float(joint["mass"]) * part / size for part in parts]
        self.lengths, self.spring, self.in_plane = np.array(lengths), np.array(spring), axis > 0
        count = len(lengths)
        com, cables, segments = robot.links["center_of_mass"], robot.cables, robot.segments
        links = self.link_piece
        self.weights = Points(
            count,
            [*range(count), *links[1:], *(links[last] for last in cables["last_link"])],
            [*np.zeros(count), *com[1:, 0], *cables["x"]],
            [*self.lengths / 2, *com[1:, 2], *cables["end"]],
        )
        self.masses = np.array([*masses, *robot.links["mass"][1:], *cables["lock_mass"]])
        pairs = [(k, j) for k in range(len(cables)) for j in range(cables["last_link"][k])]
        x = [cables["x"][k] for k, _ in pairs]
        self.of_cable = np.array([k for k, _ in pairs])
        self.exits = Points(count, [links[j] for _, j in pairs], x, [segments["exit"][p] for p in pairs])
        self.entries = Points(count, [links[j + 1] for _, j in pairs], x, [segments["entry"][p] for p in pairs])
        self.tip = Points(count, [links[-1]], [robot.tip_point[0]], [robot.tip_point[2]])

    def headings(self, hinge: Array) -> Array:
        """(..., pieces) rad from z toward x."""
        turn = np.zeros((*hinge.shape[:-1], len(self.lengths)), hinge.dtype)
        turn[..., self.turns] = hinge
        return np.cumsum(turn, axis=-1)

    def place(self, heading: Array, points: Points) -> Array:
        """(..., points, 2) world x and z."""
        sin, cos = np.sin(heading), np.cos(heading)
        ends = np.cumsum(np.stack([self.lengths * sin, self.lengths * cos], axis=-1), axis=-2)
        starts = np.concatenate([np.zeros_like(ends[..., :1, :]), ends[..., :-1, :]], axis=-2)
        s, c = sin[..., points.piece], cos[..., points.piece]
        local = np.stack([points.x * c + points.z * s, points.z * c - points.x * s], axis=-1)
        return starts[..., points.piece, :] + local

    def work(self, heading: Array, points: Points, force: Array) -> Array:
        """(..., pieces) work of forces (..., points, 2) per heading of each piece."""
        sin, cos = np.sin(heading), np.cos(heading)
        s, c = sin[..., points.piece], cos[..., points.piece]
        turning = force[..., 0] * (points.z * c - points.x * s) - force[..., 1] * (points.x * c + points.z * s)
        on_piece = points.sums(np.swapaxes(force, -1, -2))
        beyond = np.cumsum(on_piece[..., ::-1], axis=-1)[..., ::-1] - on_piece
        return points.sums(turning) + self.lengths * (beyond[..., 0, :] * cos - beyond[..., 1, :] * sin)


def imbalance(body: PlanarBody, hinge: Array, tensions: Array, gravity: Array, tip_force: Array) -> Array:
    """(..., hinges) N*m: slope of the energy, with the mass of cables that of their current length, held."""
    heading = body.headings(hinge)
    start, end = body.place(heading, body.exits), body.place(heading, body.entries)
    length = np.sqrt(((end - start) ** 2).sum(axis=-1, keepdims=True))
    pull = tensions[body.of_cable][:, None] * (end - start) / length
    half_weight = body.robot.cables["linear_density"][body.of_cable][:, None] * length / 2 * gravity
    work = body.work(heading, body.exits, pull + half_weight) + body.work(heading, body.entries, half_weight - pull)
    work = work + body.work(
        heading, body.weights, np.broadcast_to(body.masses[:, None] * gravity, (len(body.masses), 2))
    )
    work = work + body.work(heading, body.tip, tip_force[None, :])
    turning = np.cumsum(work[..., ::-1], axis=-1)[..., ::-1]
    return body.spring * hinge - turning[..., body.turns]


def elastica(robot: Robot, tensions: Array, tip_force: Array = (0.0, 0.0, 0.0), hinges: int = 24) -> Rest:
    """Newton's method from straight, with the Jacobian by complex steps and backtracking on the residual."""
    force, g = np.asarray(tip_force, float), robot.gravity
    assert g[1] == 0.0, "gravity must lie in the plane"
    assert force[1] == 0.0, "the force must lie in the plane"
    body = PlanarBody(robot, hinges)
    given = np.asarray(tensions, float), g[[0, 2]], force[[0, 2]]
    hinge = np.zeros(len(body.spring))
    now = imbalance(body, hinge, *given)
    for _ in range(60):
        if np.abs(now).max() < 1e-15:
            break
        slope = jacobian(body, hinge, given)
        step = -np.linalg.solve(slope, now)
        share = min(1.0, 0.3 / (np.abs(step).max() * hinges))
        while share > 1e-3:
            then = imbalance(body, hinge + share * step, *given)
            if np.linalg.norm(then) < np.linalg.norm(now):
                break
            share /= 2
        else:
            break
        hinge, now = hinge + share * step, then
    slope = jacobian(body, hinge, given)
    heading = body.headings(hinge)
    x, z = body.place(heading, body.tip)[0]
    bend = np.diff(heading[body.link_piece]) * np.where(body.in_plane, robot.joints["axis_y"], 1.0)
    stable = bool(np.linalg.eigvalsh((slope + slope.T) / 2).min() > 0)
    return Rest(np.array([x, 0.0, z]), bend, float(np.abs(now).max()), stable)


def jacobian(body: PlanarBody, hinge: Array, given: tuple[Array, ...]) -> Array:
    return imbalance(body, hinge + 1j * STEP * np.eye(len(hinge)), *given).imag.T / STEP
