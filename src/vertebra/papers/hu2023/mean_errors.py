"""Distances between estimates and what the paper simulated or measured, and their means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vertebra.papers.hu2023.cases import EXPERIMENTS, MATERIALS, MOUNTS
from vertebra.papers.hu2023.published import Key, TipErrors, Values


class Evidence(NamedTuple):
    """What mean errors are worked out from."""

    estimates: Mapping[Key, Values]
    """The printed ones, or ours."""
    references: Mapping[Key, Values]
    """Printed simulations and measurements."""
    tips: Sequence[TipErrors]
    """Table 4, which prints errors only."""


def position_errors(evidence: Evidence, table: int, mount: str, weight: bool) -> dict[str, float]:
    """Distance of each item's estimated tip from the real one, mm; `weight`: the estimate with gravity."""
    errors = {}
    for item in _items(table):
        estimate, real = _pair(evidence, table, item, mount, weight)
        errors[item] = math.dist(*([point[f"{axis}_mm"] for axis in "xyz"] for point in (estimate, real)))
    return errors


def mean_position(evidence: Evidence, table: int, mount: str, weight: bool) -> float:
    """Mean over the items of a table, mm."""
    return _mean(list(position_errors(evidence, table, mount, weight).values()))


def position_of(evidence: Evidence, table: int, mount: str, weight: bool, item: str) -> float:
    """Of one item, mm."""
    return position_errors(evidence, table, mount, weight)[item]


def mean_angle(evidence: Evidence, table: int, weight: bool) -> float:
    """Mean size of the error of a bending angle over joints, items and both mounts, deg."""
    return _mean([mean_angle_on(evidence, table, mount, weight) for mount in MOUNTS])


def mean_angle_on(evidence: Evidence, table: int, mount: str, weight: bool) -> float:
    """The same on one mount, deg."""
    return _mean([abs(error) for row in _angle_errors(evidence, table, mount, weight) for error in row])


def mean_total_angle(evidence: Evidence, mount: str, weight: bool) -> float:
    """Mean size of the error of the sum of all bending angles, over the experiments of Table 3, deg."""
    return _mean([abs(sum(row)) for row in _angle_errors(evidence, 3, mount, weight)])


def mean_tip_error(evidence: Evidence, mount: str, weight: bool) -> float:
    """Mean of the printed errors of Table 4, mm."""
    rows = [row for row in evidence.tips if row.mount == mount]
    return _mean([row.with_gravity if weight else row.no_gravity for row in rows])


def pooled_reduction(evidence: Evidence) -> float:
    """How much smaller gravity makes the tip errors of all 24 experiments of Tables 3 and 4 together, %.

    One minus the sum of the errors with gravity over the sum of those without. The mean over the experiments of each
    one's own reduction would be 89.3 %, the mean over the four groups 91.3 %.
    """
    planar = [sum(sum(position_errors(evidence, 3, mount, w).values()) for mount in MOUNTS) for w in (True, False)]
    with_gravity = planar[0] + sum(row.with_gravity for row in evidence.tips)
    without = planar[1] + sum(row.no_gravity for row in evidence.tips)
    return 100.0 * (1.0 - with_gravity / without)


def _angle_errors(evidence: Evidence, table: int, mount: str, weight: bool) -> list[list[float]]:
    pairs = [_pair(evidence, table, item, mount, weight) for item in _items(table)]
    return [[estimate[name] - real[name] for name in real if name.startswith("theta")] for estimate, real in pairs]


def _pair(evidence: Evidence, table: int, item: str, mount: str, weight: bool) -> tuple[Values, Values]:
    """Estimate and what is real."""
    free: Key = (table, item if table == 3 else "any", "none")
    return evidence.estimates[(table, item, mount) if weight else free], evidence.references[table, item, mount]


def _items(table: int) -> tuple[str, ...]:
    return EXPERIMENTS if table == 3 else MATERIALS


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
