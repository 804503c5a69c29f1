"""Rest of a robot of backbone joints as an elastic rod of any curvature, twice, and neither with arcs.

`divided_rod` cuts the rod between neighbouring discs into many short pieces with hinges that bend any way and twist;
discs are rigid and cables run straight from disc to disc, as in the robot. `cosserat_rod` is what the robot comes to
with ever more discs, of no thickness: the boundary value problem of an inextensible, unshearable rod with cables all
along it, solved by shooting. Rods of joints that do not twist are infinitely stiff in torsion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from tests.oracles.any_chain import integrals
from tests.oracles.chain import STEP

from vertebra.robot.robot import Robot

Array = np.ndarray
NOTHING = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Rest:
    """Where the rod comes to rest."""

    tip: Array
    """(3,) m."""
    turn: Array
    """(3, 3) axes of the tip."""
    lengths: Array
    """(cables,) m, from the first disc to the last."""
    residual: float
    """N*m, largest imbalance."""
    softest: float
    """N*m/rad, least eigenvalue of the stiffness; NaN where it was not asked for."""


def newton(imbalance, start: Array, scale: float, cap: float) -> tuple[Array, Array, Array]:
    """Root, imbalance and slope by Newton's method with complex steps, no coordinate moved by more than `cap`."""
    x = start
    for _ in range(100):
        both = imbalance(x + 1j * STEP * np.vstack([np.zeros(len(x)), np.eye(len(x))]))
        now, slope = both[0].real, both[1:].imag.T / STEP
        if np.abs(now).max() < 1e-13 * scale:
            break
        step = -np.linalg.solve(slope, now)
        x = x + step * min(1.0, cap / np.abs(step).max())
        if np.abs(step).max() < 1e-14 * cap:
            break
    return x, now, slope


# Divided -----------------------------------------------------------------------------------------------------------


class DividedRod:
    """Pieces with a hinge in the middle of each; the coordinates of a hinge are its rotation vector."""

    def __init__(self, robot: Robot, parts: int) -> None:
        assert (robot.joints["freedoms"] == robot.joints["freedoms"][0]).all()
        self.robot, self.parts = robot, parts
        self.turning = int(robot.joints["freedoms"][0])
        spring = np.stack([robot.joints["stiffness"]] * 2 + [robot.joints["torsion"]], axis=-1)[:, : self.turning]
        self.spring = np.repeat(spring * parts, parts, axis=0).ravel()

    def vectors(self, x: Array) -> Array:
        """(..., hinges, 3) rotation vectors."""
        w = x.reshape(*x.shape[:-1], -1, self.turning)
        return np.concatenate([w, np.zeros((*w.shape[:-1], 3 - self.turning))], axis=-1)

    def walk(self, x: Array) -> tuple[list[Array], ...]:
        """Axes and origins of the discs, and of each hinge the axes before it, its place and its left Jacobian."""
        w = self.vectors(x)
        turns, spins, _ = integrals(w, 20)
        R = np.broadcast_to(np.eye(3), (*x.shape[:-1], 3, 3)).astype(complex)
        p = np.zeros((*x.shape[:-1], 3), complex)
        discs, origins, axes, places = [R], [p], [], []
        for j, joint in enumerate(self.robot.joints):
            half = joint["size"] / self.parts / 2
            p = p + self.robot.links["reach"][j] * R[..., 2]
            for part in range(self.parts):
                p = p + half * R[..., 2]
                axes.append(R)
                places.append(p)
                R = R @ turns[..., j * self.parts + part, :, :]
                p = p + half * R[..., 2]
            discs.append(R)
            origins.append(p)
        return discs, origins, axes, places, spins

    def imbalance(self, x: Array, tensions: Array, gravity: Array, force: Array, moment: Array) -> Array:
        robot, parts = self.robot, self.parts
        discs, origins, axes, places, spins = self.walk(x)
        count = len(robot.joints)

        def spot(link, point):
            return origins[link] + np.einsum("...ij,j->...i", discs[link], point)

        # Force and moment about the world's origin on every disc, then sums of what lies beyond each hinge.
        pushes = [np.zeros_like(origins[0]) for _ in range(count + 1)]
        turns = [np.zeros_like(origins[0]) for _ in range(count + 1)]

        def act(link, at, pull):
            pushes[link] = pushes[link] + pull
            turns[link] = turns[link] + np.cross(at, pull)

        for k, cable in enumerate(robot.cables):
            for j in range(cable["last_link"]):
                start = spot(j, [cable["x"], cable["y"], robot.segments[k, j]["exit"]])
                end = spot(j + 1, [cable["x"], cable["y"], robot.segments[k, j]["entry"]])
                pull = tensions[k] * (end - start) / np.sqrt(((end - start) ** 2).sum(axis=-1, keepdims=True))
                act(j, start, pull)
                act(j + 1, end, -pull)
        for link in range(1, count + 1):
            act(link, spot(link, robot.links["center_of_mass"][link]), robot.links["mass"][link] * gravity)
        act(count, spot(count, robot.tip_point), force)
        turns[count] = turns[count] + moment
        out = []
        push, turn = np.zeros_like(origins[0]), np.zeros_like(origins[0])
        for j in range(count - 1, -1, -1):
            push, turn = push + pushes[j + 1], turn + turns[j + 1]
            weight = robot.joints[j]["mass"] / parts * gravity
            half = robot.joints[j]["size"] / parts / 2
            for hinge in range((j + 1) * parts - 1, j * parts - 1, -1):
                # The halves of a piece before and after its hinge hang at their middles.
                after = discs[j + 1] if hinge == (j + 1) * parts - 1 else axes[hinge + 1]
                far = places[hinge] + half / 2 * after[..., 2]
                push, turn = push + weight / 2, turn + np.cross(far, weight / 2)
                about = turn - np.cross(places[hinge], push)
                local = np.einsum("...ji,...j->...i", axes[hinge] @ spins[..., hinge, :, :], about)
                out.append(local[..., : self.turning])
                near = places[hinge] - half / 2 * axes[hinge][..., 2]
                push, turn = push + weight / 2, turn + np.cross(near, weight / 2)
        return self.spring * x - np.stack(out[::-1], axis=-2).reshape(x.shape)


def divided_rod(
    robot: Robot,
    tensions: Sequence[float],
    gravity: Sequence[float] = NOTHING,
    force: Sequence[float] = NOTHING,
    moment: Sequence[float] = NOTHING,
    parts: int = 8,
) -> Rest:
    rod = DividedRod(robot, parts)
    given = tuple(np.asarray(value, float) for value in (tensions, gravity, force, moment))
    x, left, slope = newton(
        lambda x: rod.imbalance(x, *given), np.zeros(len(rod.spring)), rod.spring.max() / parts, 0.3 / parts
    )
    discs, origins, *_ = rod.walk(x)
    lengths = []
    for k, cable in enumerate(robot.cables):
        holes = [
            [origins[i] + discs[i] @ [cable["x"], cable["y"], robot.segments[k, j][side]]
             for i, side in ((j, "exit"), (j + 1, "entry"))]
            for j in range(cable["last_link"])
        ]  # fmt: skip
        lengths.append(sum(np.linalg.norm(end - start) for start, end in holes))
    tip = origins[-1] + discs[-1] @ robot.tip_point
    softest = float(np.linalg.eigvalsh((slope + slope.T) / 2).min())
    return Rest(tip.real, discs[-1].real, np.array(lengths), float(np.abs(left).max()), softest)


# Continuous --------------------------------------------------------------------------------------------------------


class ContinuousRod:
    """Along the arc: place, axes, and the moment M that all loads beyond a cut have about it.

    A cut passes M on through the rod, K u, and through the cables, whose pull T t acts at r; t is the direction of a
    line at r along a rod of curvature u: K u = R^T M - sum T r x t.
    """

    def __init__(self, robot: Robot, tensions: Array) -> None:
        joints = robot.joints
        assert len(np.unique(joints["size"])) == 1
        piece = float(joints["size"][0])
        self.length, self.tensions = piece * len(joints), tensions
        self.freedoms = int(joints["freedoms"][0])
        self.stiffness = piece * np.array([joints["stiffness"][0]] * 2 + [joints["torsion"][0]])[: self.freedoms]
        self.holes = np.stack([robot.cables["x"], robot.cables["y"], 0 * robot.cables["x"]], axis=-1)
        self.ends = piece * robot.cables["last_link"]
        self.density = float(joints["mass"][0]) / piece

    def curvature(self, moment: Array, start: Array, cables: Array) -> Array:
        """(..., 3) u of local moments, by Newton's method from a guess."""
        u, n = start, self.freedoms
        r, T = self.holes[cables], self.tensions[cables]
        cross = np.swapaxes(np.cross(np.eye(3), r[:, None, :]), -1, -2)  # d(u x r) / du
        for _ in range(30):
            v = np.array([0.0, 0.0, 1.0]) + np.cross(u[..., None, :], r)
            size = np.sqrt((v**2).sum(axis=-1, keepdims=True))
            t = v / size
            left = (T[:, None] * np.cross(r, t)).sum(axis=-2) - moment
            left[..., :n] += self.stiffness * u[..., :n]
            dt = (cross - t[..., :, None] * np.einsum("...i,...ij->...j", t, cross)[..., None, :]) / size[..., None]
            slope = (T[:, None, None] * np.swapaxes(np.cross(r[:, None, :], np.swapaxes(dt, -1, -2)), -1, -2)).sum(
                axis=-3
            )
            slope[..., range(n), range(n)] += self.stiffness
            step = np.linalg.solve(slope[..., :n, :n], -left[..., :n, None])[..., 0]
            u = u.copy()
            u[..., :n] += step
            if np.abs(step).max() < 1e-9 * (1.0 / self.length + np.abs(u).max()):
                break
        return u

    def rise(self, s: float, state: tuple[Array, ...], u0: Array, load: tuple[Array, Array], cables: Array):
        _, R, M, _ = state
        gravity, force = load
        u = self.curvature(np.einsum("...ji,...j->...i", R, M), u0, cables)
        v = np.array([0.0, 0.0, 1.0]) + np.cross(u[..., None, :], self.holes)
        grow = np.where(cables, np.sqrt((v**2).sum(axis=-1)), 0.0)
        U = np.zeros((*u.shape[:-1], 3, 3), complex)
        U[..., 0, 1], U[..., 0, 2], U[..., 1, 2] = -u[..., 2], u[..., 1], -u[..., 0]
        U = U - np.swapaxes(U, -1, -2)
        inner = force + (self.length - s) * self.density * gravity
        return u, (R[..., 2], R @ U, -np.cross(R[..., 2], inner), grow)

    def shoot(self, first: Array, load: tuple[Array, Array], steps: int) -> tuple[Array, ...]:
        """State at the tip for moments at the clamp: classical Runge-Kutta steps between the ends of cables."""
        shape = first.shape[:-1]
        state = (np.zeros((*shape, 3), complex), np.broadcast_to(np.eye(3), (*shape, 3, 3)).astype(complex),
                 first.astype(complex), np.zeros((*shape, len(self.holes)), complex))  # fmt: skip
        stops = np.unique(np.concatenate([[0.0, self.length], self.ends]))
        u = np.zeros((*shape, 3), complex)
        for low, high in pairwise(stops):
            cables = self.ends > 0.5 * (low + high)
            h = (high - low) / steps
            for step in range(steps):
                s, total = low + step * h, [0.0 * part for part in state]
                at = rises = state
                for part, weight in ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6)):
                    if part:
                        at = tuple(now + part * h * rise for now, rise in zip(state, rises, strict=True))
                    u, rises = self.rise(s + part * h, at, u, load, cables)
                    total = [sums + weight * rise for sums, rise in zip(total, rises, strict=True)]
                state = tuple(now + h * sums for now, sums in zip(state, total, strict=True))
        return state


def cosserat_rod(
    robot: Robot,
    tensions: Sequence[float],
    gravity: Sequence[float] = NOTHING,
    force: Sequence[float] = NOTHING,
    moment: Sequence[float] = NOTHING,
    steps: int = 40,
    ramps: int = 2,
) -> Rest:
    """Loads grow in `ramps` stages, so that the shape is the one that the straight rod bends into."""
    gravity, force, moment = (np.asarray(value, float) for value in (gravity, force, moment))
    rod = ContinuousRod(robot, np.asarray(tensions, float))
    scale = rod.stiffness.max() / rod.length
    first = moment.copy()
    for stage in range(1, ramps + 1):
        share = stage / ramps
        load = share * gravity, share * force
        first, left, _ = newton(
            lambda x: rod.shoot(x, load, steps)[2] - share * moment, first, scale, scale  # noqa: B023
        )  # fmt: skip
    p, R, _, grown = rod.shoot(first[None], (gravity, force), steps)
    return Rest(p[0].real, R[0].real, grown[0].real, float(np.abs(left).max()), float("nan"))
