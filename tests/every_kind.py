"""Random robots of every joint kind but ball, alone and mixed, with what acts on them: springs hold those that cables
alone do not."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.robot.tables import BACKBONE, UNIVERSAL

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


def random_section(
    rng: np.random.Generator, kind: str, joints: int, gap_mass: bool, friction: Any, round_links: bool
) -> Mapping:
    length, mass = rng.uniform(0.01, 0.02), rng.uniform(2e-3, 8e-3)
    squares = mass * rng.uniform(0.1, 1.0, 3) * length**2 / 12
    if round_links:
        squares[1] = squares[0]
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
    rng: np.random.Generator,
    kinds: tuple[str, ...],
    *,
    joints: int = 2,
    gap_mass: bool = True,
    friction: Any = None,
    round_links: bool = False,
) -> vb.Robot:
    """One section of `joints` joints per kind, in this order; `round_links`: inertia the same about x and y."""
    sections = [random_section(rng, kind, joints, gap_mass, friction, round_links) for kind in kinds]
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


# The same robot seen from another side.


def about_z(angle: float, vector: Any) -> np.ndarray:
    """(3,) a vector turned about z."""
    x, y, z = np.asarray(vector, float)
    return np.array([math.cos(angle) * x - math.sin(angle) * y, math.sin(angle) * x + math.cos(angle) * y, z])


def turned(question: Question, angle: float) -> Question:
    """Robot, gravity and loads turned about the robot's axis: by quarter turns where it has universal joints."""
    mapping = question.robot.to_mapping()
    odd = round(angle / (math.pi / 2)) % 2 == 1
    for section in mapping["sections"]:
        joint, link = section["joint"], section["link"]
        if joint["kind"] == "universal" and odd:
            joint["order"] = joint["order"][::-1]
        for place in (section, section.get("cables", {})):
            if place.get("azimuth"):
                place["azimuth"] = [azimuth + angle for azimuth in place["azimuth"]]
        link["center_of_mass"] = about_z(angle, link["center_of_mass"]).tolist()
    loads = tuple(
        vb.Load(about_z(angle, load.force), about_z(angle, load.moment), load.link,
                None if load.point is None else about_z(angle, load.point))
        for load in question.loads
    )  # fmt: skip
    return replace(question, robot=vb.load(mapping), gravity=about_z(angle, question.gravity), loads=loads)


def turned_angles(robot: vb.Robot, q: np.ndarray, angle: float) -> np.ndarray:
    """Coordinates of a pose, or torques on them, of `robot` turned about its axis."""
    out = np.array(q, float)
    for joint in robot.joints:
        first = joint["first"]
        if joint["kind"] == BACKBONE:
            out[first : first + 2] = about_z(angle, [*q[first : first + 2], 0.0])[:2]
        if joint["kind"] == UNIVERSAL:
            # An axis that was y or x, turned, is y or x again, or the opposite of one.
            axes = np.eye(3)[[1, 0]] if joint["axis_y"] == 1.0 else np.eye(3)[:2]
            out[first : first + 2] *= [round(about_z(angle, axis).sum()) for axis in axes]
    return out


def mirrored(question: Question) -> Question:
    """Robot, gravity and loads in the mirror y = 0."""
    mapping = question.robot.to_mapping()
    flip, spin = np.array([1.0, -1.0, 1.0]), np.array([-1.0, 1.0, -1.0])
    for section in mapping["sections"]:
        for place in (section, section.get("cables", {})):
            if place.get("azimuth"):
                place["azimuth"] = [-azimuth for azimuth in place["azimuth"]]
        section["link"]["center_of_mass"] = (flip * section["link"]["center_of_mass"]).tolist()
    loads = tuple(
        vb.Load(flip * load.force, spin * load.moment, load.link, None if load.point is None else flip * load.point)
        for load in question.loads
    )
    return replace(question, robot=vb.load(mapping), gravity=flip * question.gravity, loads=loads)


def mirrored_angles(robot: vb.Robot, q: np.ndarray) -> np.ndarray:
    """Coordinates of a pose, or torques on them, in that mirror."""
    out = np.array(q, float)
    for joint in robot.joints:
        first = joint["first"]
        if joint["kind"] == BACKBONE:
            out[first + 1 : first + joint["freedoms"]] *= -1.0
        if joint["kind"] == UNIVERSAL:
            out[first + (joint["axis_y"] == 1.0)] *= -1.0
    return out
