"""What could make errors of the size that the tracker showed: one cause at a time, simulated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vertebra.papers.lapusan2022.cases import DURATION, SEED, motion, python_robot
from vertebra.papers.lapusan2022.equations import CORRECTED, PRINTED, platforms
from vertebra.papers.lapusan2022.growth import disturbed
from vertebra.papers.lapusan2022.tip_errors import mean_absolute
from vertebra.papers.lapusan2022.true_poses import true_platforms
from vertebra.robot.tables import Floats
from vertebra.sensing import so3

SAMPLES, DRAWS = 240, 20
MOUNT, HEADING, TWIST, ALIGNMENT = 0.3, 2.0, 0.5, 0.5
"""deg; assumed sizes."""
LENGTH = 0.05
"""Share by which modules are longer than thought; assumed."""
Change = Callable[[Floats, np.random.Generator], Floats]


@dataclass(frozen=True, eq=False)
class Cause:
    """What one cause alone does, in the motion of the tracker test on a level base."""

    name: str
    mae: Floats
    """(6,) mm and deg: mean absolute errors of the end effector, mean of `DRAWS` draws."""


def causes() -> tuple[Cause, ...]:
    """The equations as printed with perfect sensors; then one error at a time with the equations put right."""
    times = np.linspace(0.0, DURATION, SAMPLES, endpoint=False)
    true = true_platforms(python_robot(), motion("tracker").angles(times))
    seen = true[..., :3, :3]
    printed = platforms(seen, python_robot(), PRINTED)[:, -1]
    return (
        Cause("equations as printed, perfect sensors", mean_absolute(printed, true[:, -1])),
        _sensed("white noise of the stated precision", true, disturbed),
        _sensed(f"mounts off by {MOUNT:g} deg about each axis, each sensor", true, _mounts),
        _sensed(f"headings off by {HEADING:g} deg, each sensor", true, _headings),
        _sensed(f"joints twist by {TWIST:g} deg, each", true, _twists, moves=True),
        Cause(f"modules {100 * LENGTH:g} % longer than thought", mean_absolute(_longer(true[:, -1]), true[:, -1])),
        _aligned(f"frame of the tracker off by {ALIGNMENT:g} deg about each axis", true[:, -1]),
    )


def _sensed(name: str, true: Floats, change: Change, moves: bool = False) -> Cause:
    """Change orientations, estimate with the equations put right; `moves`: the change is real, not of the sensor."""
    rng, found = np.random.default_rng([SEED, 7]), []
    for _ in range(DRAWS):
        changed = change(true[..., :3, :3], rng)
        tips = platforms(changed, python_robot(), CORRECTED)[:, -1]
        found.append(mean_absolute(tips, _rebuilt(true, changed)[:, -1] if moves else true[:, -1]))
    return Cause(name, np.mean(found, axis=0))


def _rebuilt(true: Floats, rotations: Floats) -> Floats:
    """Platforms whose orientations are really these: each platform in line with the axes of the two at its joint."""
    robot = python_robot()
    d1, d2 = robot.joints["size"], robot.links["length"][1:]
    out = true.copy()
    out[..., :3, :3] = rotations
    steps = rotations[:, :-1, :, 2] * d1[:, None] + rotations[:, 1:, :, 2] * d2[:, None]
    out[:, 1:, :3, 3] = np.cumsum(steps, axis=1)
    return out


def _mounts(rotations: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(rotations @ so3.exp(rng.normal(0.0, math.radians(MOUNT), (rotations.shape[1], 3))))


def _headings(rotations: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(so3.about_z(rng.normal(0.0, math.radians(HEADING), (rotations.shape[1],))) @ rotations)


def _twists(rotations: Floats, rng: np.random.Generator) -> Floats:
    """Every platform turned about its own axis by the sum of the twists below it; the base stays."""
    twists = np.concatenate([[0.0], rng.normal(0.0, math.radians(TWIST), rotations.shape[1] - 1)])
    relative = np.swapaxes(rotations[:, :-1], -1, -2) @ rotations[:, 1:]
    out = rotations.copy()
    for j in range(1, rotations.shape[1]):
        out[:, j] = out[:, j - 1] @ relative[:, j - 1] @ so3.about_z(twists[j : j + 1])[0]
    return out


def _longer(tips: Floats) -> Floats:
    """The robot is longer than the estimator thinks: seen from the truth, the estimate is short."""
    out = tips.copy()
    out[:, :3, 3] /= 1.0 + LENGTH
    return out


def _aligned(name: str, tips: Floats) -> Cause:
    rng, found = np.random.default_rng([SEED, 8]), []
    for _ in range(DRAWS):
        seen = tips.copy()
        seen[:, :3] = so3.exp(rng.normal(0.0, math.radians(ALIGNMENT), 3)) @ tips[:, :3]
        found.append(mean_absolute(tips, seen))
    return Cause(name, np.mean(found, axis=0))
