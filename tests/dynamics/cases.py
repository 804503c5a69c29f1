"""Seeded random robots of mirror and universal joints with mass and inertia, and motions for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.statics.cases import any_direction

import vertebra as vb

KINDS = ("rolling", "flexure", "pin")
UNIVERSAL_MIXES = [
    ("universal",),
    ("rolling", "universal"),
    ("universal", "flexure", "pin"),
    ("pin", "universal", "rolling", "universal", "flexure"),
]


@dataclass(frozen=True)
class Moving:
    """One state of a robot and what acts on it."""

    robot: vb.Robot
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    gravity: np.ndarray
    loads: tuple[vb.Load, ...]

    @property
    def given(self) -> tuple[Any, ...]:
        """What `inverse_dynamics` and its oracles take after the robot."""
        return self.q, self.qd, self.qdd, self.gravity, self.loads

    def tau(self) -> np.ndarray:
        return vb.inverse_dynamics(self.robot, *self.given)


def random_joint(rng: np.random.Generator, kind: str, gap_mass: bool) -> dict[str, Any]:
    if kind == "rolling":
        return {"kind": kind, "radius": rng.uniform(0.01, 0.03), "limit": 1.6}
    if kind == "pin":
        return {"kind": kind, "length": rng.uniform(0.002, 0.02), "limit": 1.6}
    if kind == "universal":
        lower, order = rng.uniform(0.004, 0.04), str(rng.choice(["xy", "yx"]))
        return {"kind": kind, "lower": lower, "order": order, "stiffness": rng.uniform(0.1, 0.5), "limit": 1.6}
    mass = rng.uniform(1e-4, 3e-2) if gap_mass else 0.0
    joint = {"kind": kind, "length": rng.uniform(0.004, 0.02), "stiffness": rng.uniform(0.1, 0.5)}
    return {**joint, "mass": mass, "limit": 1.6}


def random_inertia(rng: np.random.Generator, mass: float, size: float) -> list[float]:
    """Principal moments that a body can have, all different."""
    squares = mass * rng.uniform(0.1, 1.0, 3) * size**2 / 12
    return (squares.sum() - squares).tolist()


def random_section(rng: np.random.Generator, kind: str, joints: int, gap_mass: bool) -> dict[str, Any]:
    length, mass = rng.uniform(0.01, 0.06), rng.uniform(5e-3, 0.1)
    link = {"length": length, "mass": mass, "inertia": random_inertia(rng, mass, length)}
    link["center_of_mass"] = [*rng.uniform(-0.3, 0.3, 2) * length, rng.uniform(0.2, 0.8) * length]
    section: dict[str, Any] = {"joints": joints, "joint": random_joint(rng, kind, gap_mass), "link": link}
    if kind != "universal":
        section["azimuth"] = rng.uniform(-np.pi, np.pi, rng.integers(1, 4)).tolist()
    if rng.uniform() < 0.8:
        section["cables"] = {
            "azimuth": rng.uniform(-np.pi, np.pi, rng.integers(1, 5)).tolist(),
            "radius": rng.uniform(0.003, 0.009),
            "lock_mass": rng.choice([0.0, rng.uniform(1e-3, 2e-2)]),
            "linear_density": rng.uniform(0.01, 1.0) if gap_mass else 0.0,
        }
    return section


def random_robot(
    rng: np.random.Generator, joints: int, kinds: tuple[str, ...] | None = None, gap_mass: bool = False
) -> vb.Robot:
    """One to three sections of any kinds, about equally long; `gap_mass`: rods and cables with mass in the gaps."""
    kinds = tuple(rng.choice(KINDS, rng.integers(1, 4))) if kinds is None else kinds
    shares = np.array_split(np.arange(joints), len(kinds))
    sections = [
        random_section(rng, str(kind), len(share), gap_mass)
        for kind, share in zip(kinds, shares, strict=True)
        if len(share)
    ]
    size = {"base": {"length": rng.uniform(0.0, 0.05)}, "tip": {"length": rng.uniform(-0.003, 0.03)}}
    return vb.load({"vertebra": 1, "name": "random", "sections": sections, **size})


def random_loads(rng: np.random.Generator, robot: vb.Robot, count: int) -> tuple[vb.Load, ...]:
    """On any link, the base included, at any point or the default one."""
    return tuple(
        vb.Load(
            force=tuple(rng.normal(0.0, 2.0, 3)),
            moment=tuple(rng.normal(0.0, 0.1, 3)),
            link=int(rng.integers(-len(robot.links), len(robot.links))),
            point=tuple(rng.normal(0.0, 0.02, 3)) if rng.uniform() < 0.7 else None,
        )
        for _ in range(count)
    )


def random_moving(rng: np.random.Generator, robot: vb.Robot, loads: int = 3, bend: float = 1.2) -> Moving:
    """Any pose, rates of radians and accelerations of tens of radians, gravity in any direction."""
    n = robot.freedoms
    q = rng.uniform(-bend, bend, n)
    while faces_cross(robot, q):
        q *= 0.8
    return Moving(
        robot, q, rng.normal(0.0, 3.0, n), rng.normal(0.0, 30.0, n), 9.8 * any_direction(rng),
        random_loads(rng, robot, int(rng.integers(0, loads + 1))),
    )  # fmt: skip


def faces_cross(robot: vb.Robot, q: np.ndarray) -> bool:
    """Whether a joint is bent so far that a cable segment would have a negative length, and a negative mass."""
    try:
        _ = vb.Pose(robot, q).cable_segments
    except vb.OutOfRange:
        return True
    return False


UNIVERSAL = {"kind": "universal", "order": "xy", "lower": "8 mm", "stiffness": 0.05}
BACKBONE = {"kind": "backbone", "length": "20 mm", "stiffness": 0.2, "mass": "0.3 g"}
PLATE = {"length": "14 mm", "mass": "6 g", "center_of_mass": ["1 mm", "-0.5 mm", "6 mm"], "inertia": [5e-7, 6e-7, 4e-7]}


def spatial_robot(*joints: dict[str, Any], gap_mass: bool = False, **about: Any) -> vb.Robot:
    """A section of two joints for each of those given, with four cables to the end of each section."""
    cables = {"radius": "7 mm", "linear_density": 0.2 if gap_mass else 0.0}
    sections = [
        {"joints": 2, "joint": joint, "link": PLATE,
         "cables": cables | {"azimuth": [f"{angle + 25 * i} deg" for angle in (10, 100, 190, 280)]}}
        | ({} if joint["kind"] in ("universal", "backbone") else {"azimuth": ["15 deg", "100 deg"]})
        for i, joint in enumerate(joints)
    ]  # fmt: skip
    size = {"base": {"length": "5 mm"}, "tip": {"length": "3 mm"}}
    return vb.load({"vertebra": 1, "name": "spatial", "sections": sections, **size, **about})


SPATIAL = {
    "universal": (UNIVERSAL,),
    "backbone": (BACKBONE,),
    "backbone-twist": (BACKBONE | {"torsion": 0.1},),
    "mixed": (UNIVERSAL | {"order": "yx"}, {"kind": "rolling", "radius": "15 mm"}, BACKBONE | {"torsion": 0.1}),
}
"""Joints of `spatial_robot` by what they show."""


def with_inertia(name: str) -> vb.Robot:
    """A preset whose links have inertia."""
    return vb.load(name).fill_inertia()


def worst(value: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference relative to the largest value expected."""
    return float(np.abs(np.asarray(value) - expected).max() / np.abs(expected).max())
