"""How much of the joint moments is weight, and how much is motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import vertebra as vb
from vertebra.papers.dantuono2023.cases import CASES, motion, snake, times


@dataclass(frozen=True)
class WeightShare:
    """Largest joint moments of all three motions, N*m."""

    all: float
    motion: float
    """The same motions without gravity."""


def weight_share() -> WeightShare:
    """By inverse dynamics with gravity and without."""
    robot, largest = snake(), []
    for gravity in (None, np.zeros(3)):
        moves = [motion(case, times()) for case in CASES.values()]
        largest.append(max(float(np.abs(vb.inverse_dynamics(robot, m.q, m.qd, m.qdd, gravity)).max()) for m in moves))
    return WeightShare(*largest)
