"""Shapes that a known robot would show: for planning measurements, and for testing what is fitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.identify.choices import Choice, apply_all, unknowns
from vertebra.identify.setup import Setup
from vertebra.identify.shape_data import ShapeData
from vertebra.identify.shape_model import ShapeModel
from vertebra.mechanics.problem import Closure
from vertebra.robot.robot import Robot


def simulate_shapes(
    robot: Robot,
    tensions: ArrayLike,
    values: Mapping[str, float] | None = None,
    *,
    noise_tip: float = 0.0,
    noise_angle: float = 0.0,
    seed: int = 0,
    tips: bool = True,
    joints: Iterable[int] | None = None,
    payload: ArrayLike = 0.0,
    sequence: Sequence[str] | None = None,
    gravity: str | ArrayLike | None = None,
    closure: Closure = "virtual-work",
) -> ShapeData:
    """Simulated shapes under rows of tensions (N, cables), N, of a robot whose parameters have other `values`.

    `noise_tip` in m and `noise_angle` in rad: standard deviation of normal noise on every coordinate and angle.
    `joints`: which angles are measured, counted from 1; default all without `tips`, none with them. `payload` in kg,
    one or one a row. `sequence`: names of paths, one a row; default every row by itself.
    """
    pull = np.array(tensions, dtype=np.float64)
    n, c = len(robot.joints), len(robot.cables)
    if pull.ndim != 2 or pull.shape[1] != c:
        raise InputError("tensions", f"must have shape (N, {c}) for {robot.name}, not {pull.shape}")
    count = len(pull)
    setup = Setup.of(robot, gravity, closure)
    if values:
        asked = unknowns(setup, [Choice(name, start=value) for name, value in values.items()])
        setup = apply_all(setup, [item.parameter for item in asked], np.array([item.start for item in asked]))
    blank = np.full(count, np.nan)
    data = ShapeData(
        pull, np.zeros((count, 3)), np.full((count, n), np.nan), np.broadcast_to(payload, count), np.ones(count),
        blank, blank, tuple(sequence or [""] * count), (0,) * count,
    )  # fmt: skip
    seen = ShapeModel(setup, data, ()).predict(np.empty(0)).seen
    random = np.random.default_rng(seed)
    places = seen[:, :3] + random.normal(0.0, 1.0, (count, 3)) * noise_tip
    angles = seen[:, 3:] + random.normal(0.0, 1.0, (count, n)) * noise_angle
    measured = list(joints) if joints is not None else [] if tips else list(range(1, n + 1))
    if not all(1 <= joint <= n for joint in measured):
        raise InputError("joints", f"must be from 1 to {n}")
    kept = np.isin(np.arange(1, n + 1), measured)
    noise = " and ".join(
        [f"{1e3 * noise_tip:g} mm"] * tips + [f"{np.degrees(noise_angle):g} deg"] * bool(kept.any())
    )  # fmt: skip
    return ShapeData(
        pull, places if tips else np.full((count, 3), np.nan), np.where(kept, angles, np.nan), data.payload,
        data.weight, blank, blank, data.sequence, data.lines,
        f"{count} simulated shapes of {robot.name} with {noise} of noise, seed {seed}", simulated=True,
    )  # fmt: skip
