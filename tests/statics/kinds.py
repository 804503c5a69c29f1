"""Random robots of every kind of joint that statics knows, springs where cables alone would hold nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

import vertebra as vb

KINDS = ("rolling", "flexure", "universal", "backbone")


def joint(rng: np.random.Generator, kind: str) -> dict[str, Any]:
    if kind == "rolling":
        return {"kind": kind, "radius": rng.uniform(0.008, 0.016)}
    if kind == "universal":
        order = str(rng.choice(["xy", "yx"]))
        return {"kind": kind, "order": order, "lower": rng.uniform(0.003, 0.006), "stiffness": rng.uniform(0.1, 0.3)}
    return {"kind": kind, "length": rng.uniform(0.006, 0.012), "stiffness": rng.uniform(0.1, 0.3)}


def any_robot(rng: np.random.Generator, cables: int, kinds: tuple[str, ...] = KINDS) -> vb.Robot:
    """A section per four cables, each of a kind of its own, 8 to 16 joints in all; weight of a few grams a link."""
    sections = []
    count = cables // 4
    total = int(rng.integers(8, 17))
    for share in np.array_split(np.arange(total), count):
        kind = str(rng.choice(kinds))
        turn = rng.uniform(-np.pi, np.pi)
        around = rng.uniform(-np.pi, np.pi) + 0.5 * np.pi * np.arange(4) + rng.uniform(-0.2, 0.2, 4)
        sections.append(
            {
                "joints": len(share),
                "joint": joint(rng, kind),
                **({} if kind in ("universal", "backbone") else {"azimuth": [turn, turn + 0.5 * np.pi]}),
                "link": {"length": rng.uniform(0.008, 0.016), "mass": rng.uniform(1e-3, 4e-3)},
                "cables": {"azimuth": around.tolist(), "radius": rng.uniform(0.003, 0.006)},
            }
        )
    mount = str(rng.choice(["ground", "ceiling", "wall"]))
    size = {"base": {"length": 0.01}, "tip": {"length": 0.005}}
    return vb.load({"vertebra": 1, "name": f"{cables} cables", "gravity": mount, "sections": sections, **size})
