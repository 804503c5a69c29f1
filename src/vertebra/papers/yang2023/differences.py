"""How far apart the tips of a case are under two conditions, or under two closures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from vertebra.mechanics.problem import Closure
from vertebra.papers.yang2023.cases import CASES, Case
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape

Key = tuple[int, str, Closure]
"""Case, condition and closure: ``(16, "II", "virtual-work")``."""
Solved = Mapping[Key, Shape]

EFFECTS = {
    "friction": ("I", "II"),
    "constant": ("III", "II"),
    "others": ("IV", "II"),
    "payload": ("V", "II"),
}
"""What the difference between two conditions shows; the others are rods, cables and locks, and their weight."""


@dataclass(frozen=True)
class Spread:
    """Distances over some cases, mm."""

    mean: float
    largest: float
    case: int
    """Where it is largest."""


def cases_of(group: str) -> tuple[Case, ...]:
    """Those of one test of one prototype, such as ``B in-plane``, or of a whole prototype, ``B``."""
    return tuple(case for case in CASES if group in (case.group, case.prototype))


GROUPS = tuple(dict.fromkeys(case.group for case in CASES))


def distance(solved: Solved, one: Key, other: Key) -> float:
    """Between two tips, mm."""
    return float(np.linalg.norm(solved[one].tip - solved[other].tip)) * 1e3


def effect(solved: Solved, cases: Iterable[Case], conditions: tuple[str, str], closure: Closure) -> dict[int, float]:
    """Distance of the tips under two conditions by case, mm."""
    one, other = conditions
    return {case.number: distance(solved, (case.number, one, closure), (case.number, other, closure)) for case in cases}


def between_closures(solved: Solved, cases: Iterable[Case], condition: str) -> dict[int, float]:
    """Distance of the tips by virtual work and by the paper's closure, by case, mm."""
    return {
        case.number: distance(solved, (case.number, condition, "virtual-work"), (case.number, condition, "paper"))
        for case in cases
    }


def spread(distances: Mapping[int, float]) -> Spread:
    """Mean and largest."""
    case = max(distances, key=lambda number: distances[number])
    return Spread(float(np.mean(list(distances.values()))), distances[case], case)


def total_bend(shape: Shape) -> float:
    """Angle between the axes of the first and the last disc, rad: how far the robot is deflected."""
    axis: Floats = shape.frames[-1][:3, 2]
    return float(np.arctan2(np.hypot(axis[0], axis[1]), axis[2]))
