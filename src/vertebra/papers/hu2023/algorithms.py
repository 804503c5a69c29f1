"""The paper's iteration against Newton's method, on every case of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from vertebra.papers.hu2023.cases import Solved
from vertebra.papers.hu2023.literal import LiteralShape, literal_robot, literal_shape

TIGHT = 1e-15
"""Tolerance on the tip with which the two are compared, m: a few units of round-off."""


@dataclass(frozen=True)
class Race:
    """Both methods on one case."""

    case: str
    newton: int
    """Newton iterations."""
    halving: int | None
    """Sweeps of the paper's schedule (omega from 1, halved when it fails) to 1e-12 m; none when it did not converge."""
    kept_at_one: int | None
    """Sweeps to 1e-12 m with omega kept at 1; none when it did not converge."""
    kept_at_half: int | None
    """Sweeps to 1e-12 m with omega kept at 0.5; none when it did not converge."""
    difference: float
    """Largest difference of an angle, rad: Newton against omega 0.5 to a tight tolerance; NaN without convergence."""


def races(solved: Iterable[Solved]) -> Iterator[Race]:
    """One race a case."""
    for ours in solved:
        robot, tensions, gravity = literal_robot(ours.shape.robot), ours.case.tensions, ours.shape.gravity
        tight = literal_shape(robot, tensions, gravity, omega=0.5, tolerance=TIGHT)
        halving, one, half = (
            _sweeps(literal_shape(robot, tensions, gravity, omega=omega)) for omega in (None, 1.0, 0.5)
        )
        difference = float(np.abs(tight.angles - ours.shape.angles).max()) if tight.converged else float("nan")
        yield Race(ours.case.name, ours.shape.iterations, halving, one, half, difference)


def _sweeps(shape: LiteralShape) -> int | None:
    return shape.sweeps if shape.converged else None
