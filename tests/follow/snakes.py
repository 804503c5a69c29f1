"""Two small concentric snakes, and what is often asked of them."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

import vertebra as vb
from vertebra.follow.journey import FollowTheLeader

LENGTH = 8.5e-3
DOWN = (0.0, -9.8, 0.0)


@cache
def snake(name: str, joints: int, radius: float, mass: float, limit: float = 90.0, length: float = LENGTH) -> vb.Robot:
    """A snake with `radius` in mm, `mass` of a link in g and `limit` in deg."""
    ball = {"kind": "ball", "radius": f"{radius} mm", "ring_radius": f"{0.85 * radius} mm", "friction": 0.58}
    return vb.load(
        {
            "vertebra": 1,
            "name": name,
            "gravity": list(DOWN),
            "sections": [
                {
                    "joints": joints,
                    "joint": {**ball, "limit": f"{limit} deg"},
                    "link": {"length": length, "channel": f"{radius / 2} mm", "mass": f"{mass} g"},
                    "cables": {"radius": f"{0.7 * radius} mm", "azimuth": ["-90 deg", "30 deg", "150 deg"]},
                }
            ],
        }
    )


def outer(joints: int = 8, **more: Any) -> vb.Robot:
    return snake("outer", joints, 6.35, 1.42, **more)


def inner(joints: int = 8, **more: Any) -> vb.Robot:
    return snake("inner", joints, 3.2, 0.5, **more)


def machine(joints: int = 8, inner_joints: int | None = None, **more: Any) -> FollowTheLeader:
    """Snakes that hold, unless other tensions are given."""
    given = {"outer_tensions": 35.0, "inner_tensions": 60.0} | more
    return FollowTheLeader(outer(joints), inner(joints if inner_joints is None else inner_joints), **given)


def random_commands(rng: np.random.Generator, count: int, most: float = 0.3) -> list[tuple[float, float]]:
    """Bends up to `most` rad, toward anywhere."""
    return [(float(rng.uniform(0.0, most)), float(rng.uniform(-math.pi, math.pi))) for _ in range(count)]
