"""Random robots of every joint kind but ball, alone and mixed, with what acts on them: springs hold those that cables
alone do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.robot.tables import BACKBONE

Mapping = dict[str, Any]
KINDS = ("rolling", "flexure", "pin", "universal-yx", "universal-xy", "backbone", "backbone-twisting")
SEVERAL = KINDS[3:]
"""Kinds with several freedoms."""
BACKBONES = KINDS[5:]


def random_joint(rng: np.random.Generator, kind: str, gap_mass: bool) -> Mapping:
    """Springs of some 0.5 N*m/rad; `gap_mass`: rods with mass."""
    name, _, variant = kind.partition("-")
    joint: Mapping = {
        "kind": name,
        "limit": 1.5,
        "stiffness": rng.uniform(0.3, 0.6),
        "damping": rng.uniform(1e-3, 3e-3),
    }
    if name == "rolling":
        return joint | {"radius": rng.uniform(0.014, 0.022)}
    if name == "universal":
        return joint | {"lower": rng.uniform(0.006, 0.012), "order": variant}
    if name in ("flexure", "backbone") and gap_mass:
        joint["mass"] = rng.uniform(5e-4, 4e-3)
    if variant == "twisting":
        joint["torsion"] = rng.uniform(0.2, 0.6)
    return joint | {"length": rng.uniform(0.012, 0.02)}


def random_section(rng: np.random.Generator, kind: str, joints: int, gap_mass: bool, friction: Any = None) -> Mapping:
    length, mass = rng.uniform(0.01, 0.02), rng.uniform(2e-3, 8e-3)
    squares = mass * rng.uniform(0.1, 1.0, 3) * length**2 / 12
    link: Mapping = {"length": length, "mass": mass, "inertia": (squares.sum() - squares).tolist()}
    link["center_of_mass"] = [*rng.uniform(-0.1, 0.1, 2) * length, rng.uniform(0.3, 0.7) * length]
    section: Mapping = {"joints": joints, "joint": random_joint(rng, kind, gap_mass), "link": link}
    if kind in KINDS[:3]:
        section["azimuth"] = rng.uniform(-np.pi, np.pi, 3).tolist()
    ring = rng.uniform(-np.pi, np.pi) + 2 * np.pi * np.arange(3) / 3 + rng.uniform(-0.2, 0.2, 3)
    section["cables"] = {"radius": rng.uniform(0.003, 0.005), "azimuth": ring.tolist()}
    if gap_mass:
        section["cables"] |= {"linear_density": rng.uniform(0.01, 0.1), "lock_mass": rng.uniform(1e-4, 1e-3)}
    if friction is not None:
        section["cables"]["friction"] = friction
    return section


def random_robot(
    rng: np.random.Generator, kinds: tuple[str, ...], *, joints: int = 2, gap_mass: bool = True, friction: Any = None
) -> vb.Robot:
    """One section of `joints` joints per kind, in this order."""
    sections = [random_section(rng, kind, joints, gap_mass, friction) for kind in kinds]
    size = {"base": {"length": rng.uniform(0.005, 0.02)}, "tip": {"length": rng.uniform(0.0, 0.01)}}
    return vb.load({"vertebra": 1, "name": "+".join(kinds), "gravity": [0, 0, 0], "sections": sections, **size})


@dataclass(frozen=True)
class Question:
    """A robot, a pose near straight, and what acts on it."""

    robot: vb.Robot
    q: np.ndarray
    tensions: np.ndarray
    gravity: np.ndarray
    loads: tuple[vb.Load, ...]

    @property
    def given(self) -> tuple[Any, ...]:
        """What the oracles take after the robot and its pose."""
        return self.tensions, self.gravity, self.loads

    @property
    def field(self) -> Mapping:
        return {"gravity": self.gravity, "loads": self.loads}

    def shape(self, **options: Any) -> vb.Shape:
        return vb.shape_from_tensions(self.robot, self.tensions, **self.field, **options)


def random_question(seed: Any, kinds: tuple[str, ...], *, moment: bool = False, **robot: Any) -> Question:
    """Loads and tensions that springs of this size bear."""
    rng = np.random.default_rng(seed)
    made = random_robot(rng, kinds, **robot)
    direction = rng.normal(size=3)
    loads = [vb.Load(force=tuple(rng.normal(0.0, 0.05, 3)))]
    twist = rng.normal(0.0, 2e-3, 3) if moment else np.zeros(3)
    loads.append(vb.Load(tuple(rng.normal(0.0, 0.1, 3)), tuple(twist), 1, tuple(rng.normal(0.0, 0.01, 3))))
    return Question(
        made, rng.uniform(-0.5, 0.5, made.freedoms), rng.uniform(0.5, 3.0, len(made.cables)),
        3.0 * direction / np.linalg.norm(direction), tuple(loads),
    )  # fmt: skip


def turned(robot: vb.Robot, angle: float) -> vb.Robot:
    """The robot turned about its axis; it must have no universal joints, whose axes are x and y."""
    mapping = robot.to_mapping()
    cos, sin = np.cos(angle), np.sin(angle)
    for section in mapping["sections"]:
        assert section["joint"]["kind"] != "universal"
        if section.get("azimuth"):
            section["azimuth"] = [azimuth + angle for azimuth in section["azimuth"]]
        if section.get("cables"):
            section["cables"]["azimuth"] = [azimuth + angle for azimuth in section["cables"]["azimuth"]]
        link = section["link"]
        if "center_of_mass" in link:
            x, y, z = link["center_of_mass"]
            link["center_of_mass"] = [cos * x - sin * y, sin * x + cos * y, z]
    return vb.load(mapping)


def turned_angles(robot: vb.Robot, q: np.ndarray, angle: float) -> np.ndarray:
    """Coordinates of a pose turned about the robot's axis: bend vectors turn, angles and twists stay."""
    out = np.array(q, float)
    cos, sin = np.cos(angle), np.sin(angle)
    for first in robot.joints["first"][robot.joints["kind"] == BACKBONE]:
        x, y = q[..., first].copy(), q[..., first + 1].copy()
        out[..., first], out[..., first + 1] = cos * x - sin * y, sin * x + cos * y
    return out
