"""Friction-locked snakes of ball joints in plain NumPy, link by link from the robot file.

Nothing here uses the kernels or their tables. Frames are products of SciPy rotations; every link is cut free and its
forces summed from the tip down; limits come from a dense scan over the load.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from tests.oracles.ball_contact import Array, normal
from tests.oracles.ball_scan import Wrenches, first_slip

import vertebra as vb


@dataclass
class Snake:
    """A ball-joint robot in one shape, read from its file."""

    robot: vb.Robot
    bends: Any
    azimuths: Any
    tensions: Any
    gravity: Any = None
    loads: tuple[vb.Load, ...] = ()
    friction: Any = 0.0
    """Coefficient of the cables in their holes: one number or function of the bend at a hole, or one per cable."""
    frames: list[tuple[Array, Array]] = field(init=False)
    """Rotation and origin of every link."""

    def __post_init__(self) -> None:
        self.file = self.robot.to_mapping()
        self.sections = [s for s in self.file["sections"] for _ in range(s["joints"])]
        n = len(self.sections)
        self.bends, self.azimuths = (np.broadcast_to(np.asarray(x, float), n) for x in (self.bends, self.azimuths))
        self.gravity = np.asarray(self.file["gravity"] if self.gravity is None else self.gravity, float)
        R, at = Rotation.identity(), np.array([0.0, 0.0, self.file["base"]["length"]])
        self.frames = [(R.as_matrix(), at)]
        for bend, azimuth, section in zip(self.bends, self.azimuths, self.sections, strict=True):
            R = R * Rotation.from_rotvec(bend * np.array([-np.sin(azimuth), np.cos(azimuth), 0.0]))
            at = at + R.apply([0.0, 0.0, section["link"]["length"]])
            self.frames.append((R.as_matrix(), at))
        self.cables = []
        ends = itertools.accumulate(s["joints"] for s in self.file["sections"])
        for section, end in zip(self.file["sections"], ends, strict=True):
            cables = section.get("cables")
            for azimuth in cables["azimuth"] if cables else ():
                hole = cables["radius"] * np.array([np.cos(azimuth), np.sin(azimuth)])
                self.cables.append((hole, end, cables.get("linear_density", 0.0), cables.get("lock_mass", 0.0)))
        self.tensions = np.broadcast_to(np.asarray(self.tensions, float), len(self.cables))

    def place(self, link: int, point: Any) -> Array:
        R, at = self.frames[link]
        return np.asarray(at + R @ np.asarray(point, float))

    def channel(self, link: int) -> float:
        """z of a link's exit holes; the base has those of the first link."""
        return float(self.sections[max(link - 1, 0)]["link"]["channel"])

    def default_point(self, link: int) -> Array:
        if link == len(self.sections):
            return np.array([0.0, 0.0, self.file["tip"]["length"]])
        if link == 0:
            return np.zeros(3)
        return np.asarray(self.sections[link - 1]["link"].get("center_of_mass", np.zeros(3)), float)

    def tension(self, cable: int, joint: int) -> float:
        """N in the gap of a joint (from 1): each hole on the way turns the cable by half a bend and takes its part."""
        law = self.friction[cable] if isinstance(self.friction, list | tuple) else self.friction
        pull = float(self.tensions[cable])
        for passed in range(1, joint + 1):
            half = abs(self.bends[passed - 1]) / 2
            mu = law(half) if callable(law) else law
            holes = 1 if passed == joint else 2
            pull *= np.exp(-mu * half) ** holes
        return pull

    def hole(self, cable: int, link: int, z: float) -> Array:
        x, y = self.cables[cable][0]
        return self.place(link, (x, y, z))

    def gap(self, cable: int, joint: int) -> tuple[Array, Array]:
        """Where the cable leaves the link before a joint and enters the link after it."""
        return self.hole(cable, joint - 1, self.channel(joint - 1)), self.hole(cable, joint, 0.0)

    def forces_on(self, link: int) -> list[tuple[Array, Array]]:
        """Force and point of everything but contacts and the load that acts on one link."""
        section = self.sections[link - 1]
        body = section["link"]
        forces = [(body.get("mass", 0.0) * self.gravity, self.place(link, self.default_com(link)))]
        for k, (_, end, density, lock) in enumerate(self.cables):
            if link > end:
                continue
            leaving, entering = self.gap(k, link)
            run = entering - leaving
            length = np.linalg.norm(run)
            forces.append((-self.tension(k, link) * run / length, entering))
            forces.append((0.5 * density * length * self.gravity, entering))
            if link == end:
                forces.append((lock * self.gravity, self.hole(k, link, self.channel(link))))
            else:
                leaving, entering = self.gap(k, link + 1)
                run = entering - leaving
                length = np.linalg.norm(run)
                forces.append((self.tension(k, link + 1) * run / length, leaving))
                forces.append((0.5 * density * length * self.gravity, leaving))
        return forces

    def default_com(self, link: int) -> Array:
        return np.asarray(self.sections[link - 1]["link"].get("center_of_mass", np.zeros(3)), float)

    def supplies(
        self, load: float, direction: Any, link: int = -1, point: Any = None, couple: Any = (0, 0, 0)
    ) -> tuple[Array, Array]:
        """(n, 3) force and moment about the ball's centre that every contact supplies, link by link from the tip."""
        n = len(self.sections)
        loaded = link % (n + 1)
        spot = self.default_point(loaded) if point is None else point
        f, m = np.zeros((n, 3)), np.zeros((n, 3))
        next_f, next_m = np.zeros(3), np.zeros(3)
        for i in range(n, 0, -1):
            centre, next_centre = self.frames[i - 1][1], self.frames[i][1]
            forces, moments = self.forces_on(i), np.zeros(3)
            if i == loaded:
                forces.append((load * np.asarray(direction, float), self.place(i, spot)))
                moments = moments + load * np.asarray(couple, float)
            for dead in self.loads:
                if dead.link % (n + 1) == i:
                    at = self.default_point(i) if dead.point is None else dead.point
                    forces.append((np.asarray(dead.force, float), self.place(i, at)))
                    moments = moments + np.asarray(dead.moment, float)
            # The next link pushes back on this one's ball.
            forces.append((-next_f, next_centre))
            moments = moments - next_m
            next_f = -sum(force for force, _ in forces)
            next_m = -moments - sum(np.cross(at - centre, force) for force, at in forces)
            f[i - 1], m[i - 1] = next_f, next_m
        return f, m

    def wrenches(self, direction: Any, link: int = -1, point: Any = None, couple: Any = (0, 0, 0)) -> Wrenches:
        d = np.asarray(direction, float)
        d = d / np.linalg.norm(d)
        f0, m0 = self.supplies(0.0, d, link, point, couple)
        f1, m1 = self.supplies(1.0, d, link, point, couple)
        joints = [section["joint"] for section in self.sections]
        mu, radius, ring = (np.array([j[name] for j in joints]) for name in ("friction", "radius", "ring_radius"))
        return Wrenches(f0, m0, f0 - f1, m0 - m1, mu, radius, ring)

    def limits(self, direction: Any, link: int = -1, point: Any = None, couple: Any = (0, 0, 0)) -> Array:
        """(n,) load at which each joint slips, by the scan."""
        return first_slip(self.wrenches(direction, link, point, couple))

    def rim_angle(self, w: Wrenches, joint: int, load: float) -> float:
        """rad between the contact normal of a joint (from 1) and the axis of the link whose socket it is."""
        f, m = (np.asarray(x[joint - 1], float) for x in w.at(np.full(len(w), load)))
        n = normal(f, m, float(w.radius[joint - 1]))
        return float(np.arccos(np.clip(n @ self.frames[joint][0][:, 2], -1, 1)))
