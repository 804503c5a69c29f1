"""Random ball-joint robots and questions about their payload: what the preset does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.oracles.ball_chain import Snake

import vertebra as vb
from vertebra.locked import Payload

Mapping = dict[str, Any]
SHAPES = ("straight", "vertical S", "horizontal S", "spiral")
BEND = np.deg2rad(2.85)


def changed(robot: vb.Robot, **parts: Mapping) -> vb.Robot:
    """The robot with other values in every section: joint={...}, link={...}, cables={...}, or whole fields."""
    mapping = robot.to_mapping()
    for name, values in parts.items():
        if name in ("joint", "link", "cables"):
            for section in mapping["sections"]:
                if section.get(name) is not None:
                    section[name] = {**section[name], **values}
        else:
            mapping[name] = values
    return vb.load(mapping)


def short(joints: int, **parts: Mapping) -> vb.Robot:
    """Cai's snake with fewer joints."""
    mapping = vb.load("cai2023").to_mapping()
    mapping["sections"][0]["joints"] = joints
    return changed(vb.load(mapping), **parts)


def shape_of(robot: vb.Robot, name: str) -> vb.BallShape:
    """The four shapes of Cai 2023 (theory 8); the load hangs toward -y."""
    if name == "straight":
        return vb.BallShape.straight(robot)
    if name == "spiral":
        return vb.BallShape.spiral(robot, np.deg2rad(8.0), -np.pi / 2, np.pi / 2)
    return vb.BallShape.s_curve(robot, BEND, np.pi / 2 if name == "vertical S" else 0.0)


@dataclass
class Question:
    """Arguments of `payload`."""

    robot: vb.Robot
    bends: Any
    azimuths: Any
    tensions: Any
    direction: Any
    link: int = -1
    point: Any = None
    moment_per_force: Any = None
    gravity: Any = None
    loads: tuple[vb.Load, ...] = ()
    friction: Any = None

    def ask(self, **changes: Any) -> Payload:
        return vb.payload(**{**self.__dict__, **changes})

    @property
    def unit(self) -> Any:
        return np.asarray(self.direction) / np.linalg.norm(self.direction)

    def snake(self) -> Snake:
        """The same for the oracle."""
        friction = 0.0 if self.friction is None else self.friction
        return Snake(self.robot, self.bends, self.azimuths, self.tensions, self.gravity, self.loads, friction)

    def place(self) -> tuple[Any, ...]:
        couple = np.zeros(3) if self.moment_per_force is None else self.moment_per_force
        return self.direction, self.link, self.point, couple


def robot(rng: np.random.Generator, joints: int | None = None) -> vb.Robot:
    """One to three sections with cables of their own, or without; up to nine joints."""
    scale = 10.0 ** rng.uniform(-1, 1)
    sections: list[Mapping] = []
    counts = [joints] if joints else rng.integers(1, 4, rng.integers(1, 4))
    for i, count in enumerate(counts):
        radius, length = scale * rng.uniform(4e-3, 8e-3), scale * rng.uniform(6e-3, 12e-3)
        ring = radius * rng.uniform(0.3, 1.0)
        joint = {"kind": "ball", "radius": radius, "ring_radius": ring, "friction": rng.uniform(0.1, 0.9)}
        link: Mapping = {"length": length, "channel": length * rng.uniform(0.1, 0.6), "mass": 1e-3 * rng.uniform(0, 3)}
        if rng.random() < 0.5:
            link["center_of_mass"] = (scale * rng.uniform(-2e-3, 2e-3, 3)).tolist()
        section: Mapping = {"joints": int(count), "joint": joint, "link": link}
        if rng.random() < 0.8 or i == len(counts) - 1:
            section["cables"] = {
                "radius": scale * rng.uniform(2e-3, 6e-3),
                "azimuth": rng.uniform(-np.pi, np.pi, rng.integers(1, 5)).tolist(),
                "linear_density": float(rng.choice([0.0, 2e-3])),
                "lock_mass": float(rng.choice([0.0, 5e-4])),
            }
        sections.append(section)
    ends = {"base": {"length": scale * rng.uniform(0, 0.02)}, "tip": {"length": scale * rng.uniform(-0.005, 0.02)}}
    gravity = (9.8 * rng.normal(size=3)).tolist()
    return vb.load({"vertebra": 1, "name": "random", "gravity": gravity, "sections": sections, **ends})


def question(rng: np.random.Generator, joints: int | None = None) -> Question:
    """Some hold, some slip unloaded, some carry anything."""
    it = robot(rng, joints)
    n, cables = len(it.joints), len(it.cables)
    bends = rng.uniform(-1, 1, n) * rng.choice([0.0, 0.02, 0.1, 0.4])
    pull = rng.uniform(5, 60) * rng.uniform(0.6, 1.0, cables) * (rng.random(cables) < 0.95)
    scale = float(it.joints["radius"].mean())
    out = Question(it, bends, rng.uniform(-np.pi, np.pi, n), pull, rng.normal(size=3))
    if rng.random() < 0.6:
        out.link = int(rng.integers(1, n + 1))
    if rng.random() < 0.5:
        out.point = 2 * scale * rng.normal(size=3)
    if rng.random() < 0.4:
        out.moment_per_force = scale * rng.normal(size=3)
    if rng.random() < 0.5:
        out.gravity = rng.normal(size=3) * rng.choice([0.0, 1.0, 9.8])
    if rng.random() < 0.4:
        out.loads = tuple(
            vb.Load(
                force=0.2 * rng.normal(size=3),
                moment=0.1 * scale * rng.normal(size=3),
                link=int(rng.integers(-n - 1, n + 1)),
                point=None if rng.random() < 0.5 else scale * rng.normal(size=3),
            )
            for _ in range(rng.integers(1, 4))
        )
    if rng.random() < 0.4:
        out.friction = rng.uniform(0, 0.4, cables).tolist()
    return out


def scaled_load(load: vb.Load, force: float, length: float = 1.0) -> vb.Load:
    point = None if load.point is None else length * np.array(load.point)
    return vb.Load(force * np.array(load.force), force * length * np.array(load.moment), load.link, point)
