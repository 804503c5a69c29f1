"""Our results for all cases: cells, tips, the paper's iteration beside Newton's method, and mean errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vertebra.papers.hu2023.cases import (
    EXPERIMENTS,
    MATERIALS,
    MOUNTS,
    Cell,
    Solved,
    TipCheck,
    cases,
    compared_cells,
    solve,
    tip_cases,
    tip_checks,
)
from vertebra.papers.hu2023.literal import LiteralShape, literal_robot, literal_shape
from vertebra.papers.hu2023.published import Key, TipErrors, Values

TIGHT = 1e-15
"""m, tolerance on the tip when the paper's iteration is compared with Newton's method: a few units of round-off."""


@dataclass(frozen=True)
class IterationCount:
    """How long the paper's method and ours take on one case, and how far they agree."""

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


def iteration_counts(solved: Iterable[Solved]) -> Iterator[IterationCount]:
    """One per case."""
    for ours in solved:
        robot, tensions, gravity = literal_robot(ours.shape.robot), ours.case.tensions, ours.shape.gravity
        tight = literal_shape(robot, tensions, gravity, omega=0.5, tolerance=TIGHT)
        halving, one, half = (
            _sweeps(literal_shape(robot, tensions, gravity, omega=omega)) for omega in (None, 1.0, 0.5)
        )
        difference = float(np.abs(tight.angles - ours.shape.angles).max()) if tight.converged else float("nan")
        yield IterationCount(ours.case.name, ours.shape.iterations, halving, one, half, difference)


def _sweeps(shape: LiteralShape) -> int | None:
    return shape.sweeps if shape.converged else None


# Distances between estimates and what the paper simulated or measured, and their means.


class Evidence(NamedTuple):
    """What mean errors are worked out from."""

    estimates: Mapping[Key, Values]
    """The printed ones, or ours."""
    references: Mapping[Key, Values]
    """Printed simulations and measurements."""
    tips: Sequence[TipErrors]
    """Table 4, which prints errors only."""


def position_errors(evidence: Evidence, table: int, mount: str, weight: bool) -> dict[str, float]:
    """Distance of each item's estimated tip from its reference, mm; `weight`: the estimate with gravity."""
    errors = {}
    for item in items_of(table):
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
    """Mean absolute error of the bending angles over joints, items and both mounts, deg."""
    by_mount = [
        [abs(error) for row in _angle_errors(evidence, table, mount, weight) for error in row] for mount in MOUNTS
    ]
    return _mean([_mean(errors) for errors in by_mount])


def mean_total_angle(evidence: Evidence, mount: str, weight: bool) -> float:
    """Mean absolute error of the sum of all bending angles, over the experiments of Table 3, deg."""
    return _mean([abs(sum(row)) for row in _angle_errors(evidence, 3, mount, weight)])


def mean_tip_error(evidence: Evidence, mount: str, weight: bool) -> float:
    """Mean of the printed errors of Table 4, mm."""
    rows = [row for row in evidence.tips if row.mount == mount]
    return _mean([row.with_gravity if weight else row.no_gravity for row in rows])


def pooled_reduction(evidence: Evidence) -> float:
    """How much smaller the tip errors of all 24 experiments of Tables 3 and 4 get by taking gravity into account, %.

    One minus the sum of the errors with gravity over the sum of those without. The mean over the experiments of each
    one's own reduction would be 89.3 %, the mean over the four groups 91.3 %.
    """
    planar = [sum(sum(position_errors(evidence, 3, mount, w).values()) for mount in MOUNTS) for w in (True, False)]
    with_gravity = planar[0] + sum(row.with_gravity for row in evidence.tips)
    without = planar[1] + sum(row.no_gravity for row in evidence.tips)
    return 100.0 * (1.0 - with_gravity / without)


def _angle_errors(evidence: Evidence, table: int, mount: str, weight: bool) -> list[list[float]]:
    pairs = [_pair(evidence, table, item, mount, weight) for item in items_of(table)]
    return [[estimate[name] - real[name] for name in real if name.startswith("theta")] for estimate, real in pairs]


def _pair(evidence: Evidence, table: int, item: str, mount: str, weight: bool) -> tuple[Values, Values]:
    """The estimate, and what the paper compares it with."""
    free: Key = (table, item if table == 3 else "any", "none")
    return evidence.estimates[(table, item, mount) if weight else free], evidence.references[table, item, mount]


def items_of(table: int) -> tuple[str, ...]:
    """Experiments of Table 3, materials of Tables 1 and 2."""
    return EXPERIMENTS if table == 3 else MATERIALS


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


# Everything that is compared.


@dataclass(frozen=True, eq=False)
class Results:
    """Our results beside the published ones."""

    solved: Mapping[Key, Solved]
    """Our shape of every case."""
    cells: tuple[Cell, ...]
    """Every estimated cell of those cases in Tables 1 to 3."""
    tips: tuple[TipCheck, ...] = ()
    """Every payload and mount of Table 4."""
    iteration_counts: tuple[IterationCount, ...] = ()
    """The paper's algorithm against ours on every case."""

    @property
    def equal(self) -> int:
        """Estimated cells that we reproduce to the printed digit."""
        return sum(cell.equal for cell in self.cells)


def results() -> Results:
    """Solve every case of the paper."""
    solved = {case.key: solve(case) for case in (*cases(), *tip_cases())}
    return Results(
        solved, tuple(compared_cells(solved)), tuple(tip_checks(solved)), tuple(iteration_counts(solved.values()))
    )


def experiment_results() -> Results:
    """Only the prototype on the ground, with and without its weight: the three experiments of Table 3."""
    wanted = [case for case in cases() if case.key[0] == 3 and case.key[2] in ("none", "ground")]
    solved = {case.key: solve(case) for case in wanted}
    return Results(solved, tuple(compared_cells(solved)))
