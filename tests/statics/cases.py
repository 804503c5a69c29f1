"""Seeded random robots that a person could build, with tensions, gravity and loads that they can bear."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.robot.description import MOUNTS
from vertebra.statics import Shape


@dataclass(frozen=True)
class Case:
    """One question for a solver."""

    robot: vb.Robot
    tensions: np.ndarray
    gravity: Any
    """Whatever the solver takes: None, a mount, a vector."""
    loads: tuple[vb.Load, ...]

    def solve(self, **options: Any) -> Shape:
        return vb.shape_from_tensions(self.robot, self.tensions, gravity=self.gravity, loads=self.loads, **options)

    @property
    def given(self) -> tuple[Any, ...]:
        """What the oracles take after the robot and its pose."""
        return self.tensions, self.field, self.loads

    @property
    def field(self) -> np.ndarray:
        """(3,) m/s^2."""
        if self.gravity is None:
            return self.robot.gravity
        return np.array(MOUNTS[self.gravity] if isinstance(self.gravity, str) else self.gravity)

    def loaded(self, *extra: vb.Load) -> Case:
        return replace(self, loads=(*self.loads, *extra))

    def snippet(self) -> str:
        """Python that asks the same question again."""
        loads = ", ".join(repr(load) for load in self.loads)
        return (
            f"vb.shape_from_tensions(vb.load({self.robot.to_mapping()!r}), {self.tensions.tolist()}, "
            f"gravity={self.field.tolist()}, loads=[{loads}])"
        )


def small_motion(moved: Shape, shape: Shape) -> np.ndarray:
    """(6,) small motion of the tip from `shape` to `moved`: displacement in m, rotation in rad, to second order."""
    R = moved.frames[-1, :3, :3] @ shape.frames[-1, :3, :3].T
    turn = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    return np.concatenate([moved.tip - shape.tip, turn])


def any_direction(rng: np.random.Generator) -> np.ndarray:
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def _joint(rng: np.random.Generator, kind: str, gap_mass: bool) -> dict[str, Any]:
    if kind == "rolling":
        return {"kind": kind, "radius": rng.uniform(0.008, 0.022)}
    if kind == "pin":
        return {"kind": kind, "length": rng.uniform(0.002, 0.01), "limit": 2.9}
    if kind == "universal":
        order, stiffness = str(rng.choice(["xy", "yx"])), rng.uniform(0.4, 1.0)
        return {"kind": kind, "lower": rng.uniform(0.004, 0.02), "order": order, "stiffness": stiffness}
    mass = {"mass": rng.uniform(1e-4, 6e-4)} if gap_mass else {}
    return {"kind": kind, "length": rng.uniform(0.004, 0.009), "stiffness": rng.uniform(0.1, 0.5), **mass}


def _section(
    rng: np.random.Generator, kind: str, joints: int, twist: float, gap_mass: bool, cables: bool
) -> dict[str, Any]:
    first = rng.uniform(-np.pi, np.pi)
    section: dict[str, Any] = {
        "joints": joints,
        "joint": _joint(rng, kind, gap_mass),
        "azimuth": [first, first + twist],
        "link": {"length": rng.uniform(0.008, 0.02), "mass": rng.uniform(1e-3, 6e-3)},
    }
    if kind == "universal":
        del section["azimuth"]
    if cables:
        around = rng.uniform(-np.pi, np.pi) + 2 * np.pi * np.arange(4) / 4 + rng.uniform(-0.3, 0.3, 4)
        section["cables"] = {
            "azimuth": around.tolist(),
            "radius": rng.uniform(0.0025, 0.0045),
            "lock_mass": rng.uniform(0.0, 1e-3),
            "linear_density": rng.uniform(0.0, 4e-3) if gap_mass else 0.0,
        }
    return section


def random_robot(
    rng: np.random.Generator, kinds: tuple[str, ...], joints: int, *, twist: float | None = None, gap_mass: bool = True
) -> vb.Robot:
    """Sections of the given kinds, about equally long; pins hang free at the end, without cables of their own."""
    twist = rng.uniform(0, np.pi / 2) if twist is None else twist
    shares = np.array_split(np.arange(joints), len(kinds))
    sections = [
        _section(rng, kind, len(share), twist, gap_mass, kind != "pin")
        for kind, share in zip(kinds, shares, strict=True)
        if len(share)
    ]
    size = {"base": {"length": rng.uniform(0.0, 0.03)}, "tip": {"length": rng.uniform(-0.003, 0.01)}}
    return vb.load({"vertebra": 1, "name": "-".join(kinds), "sections": sections, **size})


def tip_load(robot: vb.Robot, rng: np.random.Generator, share: float) -> vb.Load:
    """A force at the tip of a share of the robot's weight."""
    return vb.Load(force=tuple(share * 9.8 * robot.mass * any_direction(rng)))


def bearing_tensions(robot: vb.Robot, rng: np.random.Generator, safety: float, spread: float = 0.3) -> np.ndarray:
    """Common tension that outweighs what weights could do to a straight robot, and differences between the cables."""
    rolling = robot.joints["radius"][robot.joints["kind"] == 0]
    arm = rolling.min() if len(rolling) else 0.02
    burden = 9.8 * robot.mass * robot.length / 2
    common = safety * 2 * burden / (arm * max(len(robot.cables), 1))
    # A long robot would roll itself up: smaller differences the more joints there are.
    spread = min(spread, 3.0 / len(robot.joints))
    return common * (1 + spread * rng.uniform(-1, 1, len(robot.cables)))


def random_case(
    rng: np.random.Generator,
    kinds: tuple[str, ...],
    joints: int,
    *,
    loads: int = 1,
    safety: float | None = None,
    **robot: Any,
) -> Case:
    made = random_robot(rng, kinds, joints, **robot)
    # Pins hold nothing: they must hang, and have only the weight beyond them against a load.
    hanging = "pin" in kinds
    gravity = np.array([1.0, -0.5, 9.7]) if hanging else 9.8 * any_direction(rng)
    share = 0.02 if hanging else 0.5
    tensions = bearing_tensions(made, rng, rng.uniform(1.0, 4.0) if safety is None else safety)
    return Case(made, tensions, gravity, tuple(tip_load(made, rng, share) for _ in range(loads)))
