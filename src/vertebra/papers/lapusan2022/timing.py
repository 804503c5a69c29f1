"""How long a shape takes here, beside the paper's equations."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import vertebra as vb
from vertebra.papers.lapusan2022.cases import poses, python_robot
from vertebra.papers.lapusan2022.equations import PRINTED, platforms, roll_pitch_yaw
from vertebra.papers.lapusan2022.true_poses import true_platforms
from vertebra.robot.tables import Floats

ROUNDS = 7
SHAPES = 200


@dataclass(frozen=True)
class Timing:
    """Median times of one shape on this machine, s."""

    printed: float
    """(3) to (6) in NumPy, one pose at a time."""
    chain: float
    """Five samples filed and the chain solved, covariance included."""


def timing() -> Timing:
    """Measured; different each time."""
    robot = python_robot()
    seen = true_platforms(robot, poses(count=SHAPES))[..., :3, :3]
    angles = np.stack(roll_pitch_yaw(seen), axis=-1)
    estimator = vb.ShapeEstimator(robot)
    clock = iter(range(10**9))

    def chain(angles: Floats) -> None:
        now = 0.01 * next(clock)
        for sensor, three in enumerate(angles):
            estimator.update(sensor, three, now)
        estimator.solve()

    return Timing(_median(lambda one: platforms(one[None], robot, PRINTED), seen), _median(chain, angles))


def _median(work: Callable[[Floats], object], seen: Floats) -> float:
    work(seen[0])
    spent = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for one in seen:
            work(one)
        spent.append((time.perf_counter() - start) / len(seen))
    return float(np.median(spent))
