"""How uncertain is any quantity of a robot when its numbers are, and which of them matter? Thousands of robots, each
with its own numbers drawn from their distributions, and how far first order would have said the same."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.derivatives.sensitivity import text_table
from vertebra.errors import InputError
from vertebra.robot.arguments import flag, folder, function, number, positive_count
from vertebra.robot.tables import Floats
from vertebra.robot.units import quantity_text
from vertebra.studies.engine import open_engine
from vertebra.studies.gradients import Gradient, gradient
from vertebra.studies.quantities import Column, Outcome, message_of
from vertebra.studies.sobol_indices import (
    SobolIndices,
    mixed_points,
    sobol_indices,
    total_indices,
    varies,
)
from vertebra.studies.study import Study
from vertebra.studies.variables import MOST_ROWS, MOST_SAMPLES, Variable

if TYPE_CHECKING:
    import xarray

QUANTILES = (0.025, 0.25, 0.5, 0.75, 0.975)
LEAST_COUNT = 16
"""Base rows, of which fewer say nothing."""
MOST_NUMBERS = 200_000_000
"""Of all rows, variables and results together, that are held at a time."""
MOST_LOST = 0.1
"""Of the base rows, that may have no answer before indices mislead: what is left is no longer independent."""
AGREES = 0.05
"""Of a standard deviation, by which first order may differ."""
NAMED_SHARE = 0.9
"""Of the variance, that the sentence names the causes of; three at most."""
LEAST_SHARE = 0.01
"""Of the variance, below which a cause is not named."""
MOST_RANKED = 3
"""Variables that the first sentence names."""
MOST_TOGETHER = 3
"""Columns of the table of indices side by side."""


class FirstOrder(NamedTuple):
    """What derivatives at the mean of every variable say of one column."""

    value: float
    """There, SI."""
    deviation: float
    """Standard deviation, SI: the root of the sum of (slope times deviation of the variable) squared."""
    shares: Floats
    """(v,) of the variables in this variance, 0 to 1."""


class Convergence(NamedTuple):
    """What the first base rows alone would have said of one column."""

    rows: NDArray[np.int64]
    """(k,) how many."""
    mean: Floats
    """(k,) SI."""
    deviation: Floats
    """(k,) SI."""
    total: Floats | None
    """(k, v) total indices; none where there are none of all rows."""


@dataclass(frozen=True, eq=False, repr=False)
class ColumnUncertainty:
    """The distribution of one column, and what it comes from."""

    name: str
    """Such as ``tip.z``."""
    unit: str
    """SI; empty for none."""
    values: Floats
    """(n,) independent values, SI."""
    missing: int
    """Rows beside these without a value."""
    size: float
    """Largest number that its values are computed with, SI: what is 1e-10 of it is round-off."""
    mean: float
    deviation: float
    """Standard deviation, SI."""
    mean_bounds: tuple[float, float]
    """Confidence interval, SI."""
    deviation_bounds: tuple[float, float]
    """Confidence interval, SI."""
    skewness: float
    """0 for a symmetric distribution, above it with a longer tail of large values."""
    indices: SobolIndices | None
    """Shares of the variables in the variance."""
    without_indices: str
    """Why there are none; empty where there are."""
    first_order: FirstOrder | None
    without_first_order: str
    """Why there is none; empty where there is."""
    convergence: Convergence

    @property
    def quantiles(self) -> Floats:
        """(5,) at `QUANTILES`: 2.5, 25, 50, 75 and 97.5 %, SI."""
        found: Floats = np.quantile(self.values, QUANTILES)
        return found

    @property
    def extremes(self) -> tuple[float, float]:
        """Least and largest value, SI."""
        return float(self.values.min()), float(self.values.max())

    @property
    def is_constant(self) -> bool:
        """Whether nothing but round-off varies."""
        return not varies(self.values, self.size)

    def histogram(self, bins: int | None = None) -> tuple[NDArray[np.int64], Floats]:
        """(k,) how many values lie in each bin, and (k + 1,) their edges, SI; by default as many bins as the number of
        values bears."""
        if bins is None:
            bins = int(np.clip(2.0 * len(self.values) ** (1 / 3), 8, 60))
        low, high = self.extremes
        # Bins narrower than the spacing of floats are refused by numpy.
        counts, edges = np.histogram(self.values, bins if not self.is_constant else 1, range=(low, high))
        return counts, edges

    def text(self, value: float, digits: int = 4) -> str:
        """A value with its unit, as people read it: no digits that mean nothing beside the deviation."""
        if not self.is_constant:
            least = 10.0 ** (math.floor(math.log10(self.deviation)) - 3)
            value = round(value / least) * least
        return quantity_text(value, self.unit, digits)

    @property
    def agrees(self) -> bool | None:
        """Whether first order gives the same standard deviation; None where it gives none."""
        if self.first_order is None:
            return None
        low, high = self.deviation_bounds
        found = self.first_order.deviation
        return low <= found <= high or abs(found - self.deviation) <= AGREES * self.deviation

    def __repr__(self) -> str:
        return f"ColumnUncertainty({self.name}: {self.text(self.mean)} +- {self.text(self.deviation, 3)})"


class Failure(NamedTuple):
    """Rows without an answer for the same reason."""

    rows: int
    message: str
    """That of the first of them."""


@dataclass(frozen=True, eq=False, repr=False)
class Uncertainty:
    """Distributions of the columns of a study, and the shares of its variables."""

    study: Study
    count: int
    """Base rows."""
    computed: int
    """Rows that were computed: with indices, as many per base row as there are variables, and two."""
    confidence: float
    """Of all intervals, such as 0.95."""
    columns: tuple[ColumnUncertainty, ...]
    """In the order of the study; those without a number in any row are missing, and a note says so."""
    samples: Floats
    """(n, v) values of the variables, SI: the rows that distributions are taken from, independent of each other."""
    results: Floats
    """(n, m) of all columns of the study there, SI; NaN where there is no answer."""
    failures: tuple[Failure, ...]
    """Most frequent first."""
    lost: int
    """Base rows that count for no index, since one of their rows or more has no answer."""
    notes: tuple[str, ...]
    """What is good to know."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """What varies."""
        return self.study.variables

    @property
    def failed(self) -> int:
        """Rows without an answer."""
        return sum(failure.rows for failure in self.failures)

    def __getitem__(self, name: str) -> ColumnUncertainty:
        for column in self.columns:
            if column.name == name:
                return column
        raise InputError("name", f"no column {name!r}; there are {', '.join(column.name for column in self.columns)}")

    def covariance(self) -> Floats:
        """(m, m) of `columns` with each other, SI, from the rows that have all of them."""
        found: Floats = np.cov(self._together(), rowvar=False, ddof=1).reshape(len(self.columns), -1)
        return found

    def correlation(self) -> Floats:
        """(m, m) of `columns` with each other, -1 to 1; 0 for a column that does not vary."""
        covariance, constant = self.covariance(), np.array([column.is_constant for column in self.columns])
        size = np.where(constant, np.inf, np.sqrt(np.diag(covariance)))
        found: Floats = np.clip(covariance / np.outer(size, size), -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
        return found

    def _together(self) -> Floats:
        there = [name.name for name in self.study.columns]
        part = self.results[:, [there.index(column.name) for column in self.columns]]
        return part[np.isfinite(part).all(axis=1)]

    # In words.

    def sentences(self) -> tuple[str, ...]:
        """The answer in plain words: which variables matter, what was computed, and for each column how uncertain it is
        and why."""
        said = self._ranking(), self._what(), *(self._about(column) for column in self.columns)
        return tuple(sentence for sentence in said if sentence)

    def _ranking(self) -> str:
        """Which variables matter most, each with the column of which it has the largest share."""
        known = [column for column in self.columns if not column.is_constant and _shares(column) is not None]
        if not known:
            return ""
        shares = np.array([_shares(column) for column in known])
        named, least = list[str](), list[str]()
        for row in self.ranked():
            worst = int(shares[:, row].argmax())
            if shares[worst, row] < LEAST_SHARE:
                least.append(self.variables[row].name)
            elif len(named) < MOST_RANKED:
                of = "of the variance of " if not named else "of "
                named.append(f"{self.variables[row].name} ({100 * shares[worst, row]:.0f} % {of}{known[worst].name})")
        said = f"What matters most is {', then '.join(named)}." if named else ""
        if not least:
            return said
        listed = listed_names(least)
        return f"{said} Of no quantity does even 1 % come from {listed}.".strip()

    def _what(self) -> str:
        varied = "1 variable" if len(self.variables) == 1 else f"{len(self.variables)} variables"
        said = f"{self.computed:,} robots computed with {varied} drawn at random"
        if not self.failed:
            return f"{said}; all have an answer."
        why = "; ".join(f"{failure.rows:,} times: {failure.message}" for failure in self.failures[:3])
        more = sum(failure.rows for failure in self.failures[3:])
        return f"{said}; {self.failed:,} have no answer ({why}{f'; {more:,} for other reasons' if more else ''})."

    def _about(self, column: ColumnUncertainty) -> str:
        name = column.name
        if column.is_constant:
            return f"{name} is {column.text(column.mean)} in all of them: none of the variables moves it."
        low, high = column.quantiles[0], column.quantiles[-1]
        said = [
            f"{name} is {column.text(column.mean)} with a standard deviation of {column.text(column.deviation, 3)}; "
            f"95 % lie between {column.text(low)} and {column.text(high)}.",
            self._why(column),
            self._first_order(column),
        ]
        return " ".join(part for part in said if part)

    def _why(self, column: ColumnUncertainty) -> str:
        found, first = column.indices, column.first_order
        if found is not None:
            named = self._named(found.first, "alone")
            # Sums of uncertain shares are uncertain: what may be chance is not called an interaction.
            chance = float(np.linalg.norm(np.ptp(found.first_bounds, axis=1)) / 2)
            share = found.interactions
            if share > max(chance, LEAST_SHARE):
                return f"{named or 'No variable matters alone'}; interactions add {100 * share:.0f} %."
            return f"{named}; interactions add nothing that shows." if named else ""
        if first is not None and first.deviation > 0.0:
            return f"To first order, {self._named(first.shares, '')}."
        return ""

    def _named(self, shares: Floats, alone: str) -> str:
        named, covered = list[str](), 0.0
        for row in np.argsort(-shares, kind="stable")[:3].tolist():
            if covered < NAMED_SHARE and shares[row] >= LEAST_SHARE:
                of = f"of the variance comes from {self.variables[row].name} {alone}".rstrip()
                named.append(f"{100 * shares[row]:.0f} % {of if not named else f'from {self.variables[row].name}'}")
                covered += float(shares[row])
        return listed_names(named) if named else ""

    def _first_order(self, column: ColumnUncertainty) -> str:
        first = column.first_order
        if first is None:
            return f"First order says nothing: {column.without_first_order}." if column.without_first_order else ""
        said = f"{column.text(first.deviation, 3)}"
        if column.agrees:
            return f"First order agrees ({said})."
        ratio = first.deviation / column.deviation - 1.0
        much = f"{100 * abs(ratio):.0f} % {'more' if ratio > 0 else 'less'}"
        return f"First order says {said}, {much}: within this spread the answer is not a straight line."

    def rows(self) -> list[tuple[str, ...]]:
        """A table of the columns for people, headers first."""
        lines: list[tuple[str, ...]] = [("quantity", "mean", "deviation", "2.5 %", "97.5 %", "first order")]
        for column in self.columns:
            low, *_, high = (column.text(value) for value in column.quantiles)
            first = "-" if column.first_order is None else column.text(column.first_order.deviation, 3)
            deviation = column.text(0.0 if column.is_constant else column.deviation, 3)
            lines.append((column.name, column.text(column.mean), deviation, low, high, first))
        return lines

    def index_rows(self) -> list[list[tuple[str, ...]]]:
        """Tables of the shares of variables for people, headers first, a few columns each: first order and total, %.
        The variables that matter most come first."""
        shown = [column for column in self.columns if column.indices is not None]
        tables = []
        for start in range(0, len(shown), MOST_TOGETHER):
            part = shown[start : start + MOST_TOGETHER]
            lines: list[tuple[str, ...]] = [("variable", "deviation", *(column.name for column in part))]
            for row in self.ranked():
                cells = (_shares_text(column.indices, row) for column in part if column.indices is not None)
                variable = self.variables[row]
                lines.append((variable.name, quantity_text(moments(variable)[1], variable.unit, 3), *cells))
            tables.append(lines)
        return tables

    def ranked(self) -> list[int]:
        """Rows of the variables, those with the largest share in the variance of any column first."""
        size = np.zeros(len(self.variables))
        for column in self.columns:
            shares = _shares(column)
            size = size if shares is None or column.is_constant else np.maximum(size, shares)
        order: list[int] = np.argsort(-size, kind="stable").tolist()
        return order

    def __repr__(self) -> str:
        tables = [text_table(rows, left={0}) for rows in (self.rows(), *self.index_rows())]
        return "\n\n".join(["\n".join(self.sentences()), *tables, *(f"note: {note}" for note in self.notes)])

    def to_dataset(self) -> xarray.Dataset:
        """Everything, SI: coordinates `variable_unit` and `column_unit` have the units. NaN where a column has no
        indices or no first order; its `notes` say why."""
        import xarray

        names, m, v = [column.name for column in self.columns], len(self.columns), len(self.variables)
        first, total = np.full((2, m, v), np.nan)
        bounds, shares = np.full((2, m, v, 2), np.nan), np.full((m, v), np.nan)
        linear = np.full(m, np.nan)
        for row, column in enumerate(self.columns):
            if (found := column.indices) is not None:
                first[row], total[row] = found.first, found.total
                bounds[:, row] = found.first_bounds, found.total_bounds
            if column.first_order is not None:
                linear[row], shares[row] = column.first_order.deviation, column.first_order.shares
        of = [name.name for name in self.study.columns]
        results = self.results[:, [of.index(name) for name in names]]
        one, each = ("column",), ("column", "variable")
        confidence = f"{100 * self.confidence:g} % confidence interval"

        def per_column(name: str, meaning: str) -> tuple[tuple[str, ...], list[Any], dict[str, str]]:
            return one, [getattr(column, name) for column in self.columns], {"long_name": meaning}

        return xarray.Dataset(
            {
                "samples": (("row", "variable"), self.samples, {"long_name": "values of the variables"}),
                "results": (("row", "column"), results, {"long_name": "independent results"}),
                "mean": per_column("mean", "mean"),
                "deviation": per_column("deviation", "standard deviation"),
                "skewness": per_column("skewness", "skewness"),
                "mean_bounds": (("column", "bound"), [c.mean_bounds for c in self.columns], {"long_name": confidence}),
                "deviation_bounds": (
                    ("column", "bound"), [c.deviation_bounds for c in self.columns], {"long_name": confidence}
                ),
                "quantiles": (("column", "quantile"), [c.quantiles for c in self.columns], {"long_name": "quantiles"}),
                "covariance": (("column", "column_2"), self.covariance(), {"long_name": "covariance"}),
                "first_index": (each, first, {"long_name": "Sobol index of first order", "units": "1"}),
                "total_index": (each, total, {"long_name": "Sobol index of total order", "units": "1"}),
                "first_index_bounds": ((*each, "bound"), bounds[0], {"long_name": confidence, "units": "1"}),
                "total_index_bounds": ((*each, "bound"), bounds[1], {"long_name": confidence, "units": "1"}),
                "first_order_deviation": (one, linear, {"long_name": "standard deviation to first order"}),
                "first_order_share": (each, shares, {"long_name": "share of the variance, first order", "units": "1"}),
            },
            {
                "variable": [variable.name for variable in self.variables],
                "variable_unit": ("variable", [variable.unit for variable in self.variables]),
                "column": names,
                "column_2": names,
                "column_unit": ("column", [column.unit for column in self.columns]),
                "quantile": list(QUANTILES),
                "bound": ["lower", "upper"],
            },
            {
                "study": self.study.name, "robot": self.study.robot.name, "notes": "\n".join(self.notes),
                "base_rows": self.count, "computed_rows": self.computed, "failed_rows": self.failed,
                "lost_base_rows": self.lost, "confidence": self.confidence, "method": self.study.samples.method,
                "seed": self.study.samples.seed,
            },
        )  # fmt: skip


def _shares(column: ColumnUncertainty) -> Floats | None:
    """(v,) of the variables in the variance of a column: total indices, else to first order."""
    if column.indices is not None:
        return column.indices.total
    return None if column.first_order is None else column.first_order.shares


def listed_names(names: Sequence[str], most: int = 6) -> str:
    """Such as ``a, b and c``, or ``a, b and 5 more``."""
    shown = list(names if len(names) <= most else names[: most - 1])
    more = [f"{len(names) - len(shown)} more"] if len(shown) < len(names) else []
    *before, last = shown + more
    return f"{', '.join(before)} and {last}" if before else last


def _shares_text(found: SobolIndices, row: int) -> str:
    first, total = (max(0.0, 100.0 * float(index[row])) for index in (found.first, found.total))
    return f"{first:.0f} / {total:.0f} %"


def moments(variable: Variable) -> tuple[float, float]:
    """Mean and standard deviation of a variable, SI; `InputError` where it has no distribution."""
    if not variable.is_sampled or variable.mean is None or variable.deviation is None:
        raise InputError(
            "study", f"vary.{variable.name}: a list, a grid or a choice is no distribution; write {{deviation: 2 %}} "
            "for a normal one or {from: ..., to: ...} without a count for a uniform one, or ask vb.sweep"
        )  # fmt: skip
    return variable.mean, variable.deviation


def monte_carlo(
    study: str | Path | Mapping[str, Any] | Study,
    *,
    count: int | None = None,
    indices: bool = True,
    confidence: float = 0.95,
    workers: int | None = None,
    scheduler: str | None = None,
    store: str | Path | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> Uncertainty:
    """Distributions of the quantities of a study whose `vary` has distributions, and which variables matter.

    `study`: a file, its mapping or a `Study`; a range counts as uniform. `count`: base rows, by default those of the
    study's `samples`; powers of two suit its method "sobol". `indices`: also Sobol indices, for which each base row
    takes as many robots as there are variables, and two; else one. `confidence`: of all intervals, 0.5 to 0.999.

    `workers`: local processes, `scheduler`: the address of a Dask scheduler; by default this process. `store`: a folder
    in which results are kept as they come, so that a run that was stopped goes on. `progress` is told (done, all).
    """
    asked = Study.read(study)
    if not asked.variables:
        raise InputError("study", "`vary` is empty; give at least one field a distribution, such as {deviation: 2 %}")
    means = [moments(variable)[0] for variable in asked.variables]
    n = positive_count("count", asked.samples.count if count is None else count, MOST_SAMPLES)
    if n < LEAST_COUNT:
        raise InputError("count", f"must be {LEAST_COUNT} or more, not {n}: fewer rows say nothing")
    number("confidence", confidence, "1", 0.5, 0.999)
    kept = folder("store", store)
    function("progress", progress, "done", "total")
    _require_room(asked, n, flag("indices", indices))
    points = _points(asked, n, indices)
    v, width = len(asked.variables), points.shape[1]
    values = np.empty((n * width + 1, v))
    for i, variable in enumerate(asked.variables):
        values[:-1, i] = variable.quantiles(points[..., i].ravel())
        values[-1, i] = round(means[i]) if variable.whole else means[i]  # where first order is taken
    with open_engine(workers=workers, scheduler=scheduler) as engine:
        outcome = engine.run(asked, values, store=kept, progress=progress)
    return _uncertainty(asked, confidence, values, outcome, n, width)


def _require_room(study: Study, count: int, indices: bool) -> None:
    """That all rows fit into memory, before any of them is made."""
    v = len(study.variables)
    rows = count * (v + 2 if indices else 1)
    if rows > MOST_ROWS or rows * (v + len(study.columns)) > MOST_NUMBERS:
        remedy = ", or leave out the indices" if indices else ""
        raise InputError("count", f"{count:,} base rows with {v:,} variables are {rows:,} robots, too many to hold; "
                         f"take fewer base rows{remedy}")  # fmt: skip


def _points(study: Study, count: int, indices: bool) -> Floats:
    """(count, rows per base row, variables) between 0 and 1."""
    samples, v = study.samples.model_copy(update={"count": count}), len(study.variables)
    return mixed_points(samples.draw(2 * v)) if indices else samples.draw(v)[:, None, :]


def _uncertainty(
    study: Study, confidence: float, values: Floats, outcome: Outcome, count: int, width: int
) -> Uncertainty:
    m, v = len(study.columns), len(study.variables)
    results = outcome.results[:-1].reshape(count, width, m)
    failures = _failures(outcome, len(values) - 1)
    if (outcome.status[:-1] != 0).all():
        raise InputError("study", f"none of its {len(values) - 1:,} robots has an answer: {failures[0].message}")
    solved = (outcome.status[:-1] == 0).reshape(count, width).all(axis=1)
    independent = min(width, 2)  # A and B
    derivatives = gradient(study, values[-1])
    notes, columns = list[str](), list[ColumnUncertainty]()
    for k, column in enumerate(study.columns):
        part = results[:, :, k]
        if np.isfinite(part[:, :independent]).sum() < LEAST_COUNT:
            notes.append(f"{column.name}: has too few numbers to speak of a distribution; it is left out")
            continue
        first, reason = _first_order(study, derivatives, k, float(outcome.results[-1, k]))
        columns.append(
            _spread(
                column, part, independent, confidence, study.samples.seed, _size(study, column, results), first, reason
            )
        )
    if not columns:
        raise InputError("study", f"no quantity has a number in {LEAST_COUNT} rows or more; try a larger count")
    if study.samples.method == "sobol" and count & (count - 1):
        notes.append(f"points of the method sobol are even in powers of two: {1 << count.bit_length()} instead of "
                     f"{count} rows")  # fmt: skip
    notes += dict.fromkeys(f"no indices: {c.without_indices}" for c in columns if c.without_indices and width > 1)
    if failures:
        notes.append("distributions are those of the robots that have an answer")
    rows = np.reshape(values[:-1], (count, width, v))[:, :independent].reshape(-1, v)
    return Uncertainty(
        study, count, count * width, confidence, tuple(columns), rows, results[:, :independent].reshape(-1, m),
        failures, int((~solved).sum()) if width > 1 else 0, tuple(notes),
    )  # fmt: skip


def _size(study: Study, column: Column, results: Floats) -> float:
    """Of the largest number of the quantity that a column belongs to; a position is as uncertain as the robot is long,
    even where it is zero."""
    same = [other.quantity == column.quantity for other in study.columns]
    numbers = np.abs(results[..., same])
    found = float(numbers[np.isfinite(numbers)].max(initial=0.0))
    return max(found, study.robot.length) if column.unit == "m" else found


def _spread(
    column: Column, part: Floats, independent: int, confidence: float, seed: int, size: float,
    first: FirstOrder | None, reason: str,
) -> ColumnUncertainty:  # fmt: skip
    """One column from its results (count, rows per base row)."""
    whole: NDArray[np.bool_] = np.asarray(np.isfinite(part).all(axis=1), np.bool_)
    pooled = part[:, :independent]
    values = pooled[np.isfinite(pooled)]
    mean, deviation, skewness, mean_error, deviation_error = _statistics(values, size)
    z = NormalDist().inv_cdf(0.5 * (1.0 + confidence))
    indices, without = None, ""
    if part.shape[1] > 1:
        without = _no_indices(column.name, whole, varies(values, size))
        indices = None if without else sobol_indices(part[whole], confidence, seed)
    return ColumnUncertainty(
        column.name, column.unit, values, pooled.size - len(values), size, mean, deviation,
        (mean - z * mean_error, mean + z * mean_error),
        (max(0.0, deviation - z * deviation_error), deviation + z * deviation_error), skewness,
        indices, without, first, reason if first is None else "",
        _convergence(part, whole, independent, indices is not None),
    )  # fmt: skip


def _statistics(values: Floats, size: float) -> tuple[float, float, float, float, float]:
    """Mean, standard deviation, skewness, and the standard errors of the first two, as if drawn at random."""
    n, mean = len(values), float(values.mean())
    off = values - mean
    variance, third, fourth = (float((off**power).mean()) for power in (2, 3, 4))
    if not varies(values, size):
        return mean, math.sqrt(variance), 0.0, 0.0, 0.0
    deviation = math.sqrt(variance * n / (n - 1))
    deviation_error = math.sqrt(max(0.0, fourth - variance**2) / n) / (2.0 * deviation)
    return mean, deviation, third / variance**1.5, deviation / math.sqrt(n), deviation_error


def _no_indices(name: str, whole: NDArray[np.bool_], moves: bool) -> str:
    """Why a column has no indices; empty where it can have them."""
    lost = int((~whole).sum())
    if lost > MOST_LOST * len(whole) or len(whole) - lost < LEAST_COUNT:
        return (
            f"{name} has no number somewhere in {lost:,} of {len(whole):,} base rows, and what is left would mislead; "
            "narrow the distributions until more robots have an answer"
        )
    return "" if moves else f"{name} does not vary"


def _convergence(part: Floats, whole: NDArray[np.bool_], independent: int, indices: bool) -> Convergence:
    count = len(part)
    sizes = sorted({*(2**k for k in range(4, count.bit_length()) if 2**k < count), count})
    rows, means, deviations, totals = list[int](), list[float](), list[float](), list[Floats]()
    for size in sizes:
        pooled, kept = part[:size, :independent], part[:size][whole[:size]]
        values = pooled[np.isfinite(pooled)]
        if len(values) < 2 or (indices and (len(kept) < 2 or not varies(kept[:, :2]))):
            continue
        rows.append(size)
        means.append(float(values.mean()))
        deviations.append(float(values.std(ddof=1)))
        if indices:
            totals.append(total_indices(kept))
    return Convergence(np.array(rows), np.array(means), np.array(deviations), np.array(totals) if indices else None)


_NUMBERS = re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?")


def _failures(outcome: Outcome, rows: int) -> tuple[Failure, ...]:
    """Rows without an answer, by their message but for the numbers in it."""
    found = dict[str, list[str]]()
    for row in np.flatnonzero(outcome.status[:rows] != 0).tolist():
        message = message_of(int(outcome.status[row]), outcome.messages, row)
        found.setdefault(_NUMBERS.sub("#", message), []).append(message)
    return tuple(sorted((Failure(len(same), same[0]) for same in found.values()), key=lambda failure: -failure.rows))


def _first_order(study: Study, found: Gradient, column: int, value: float) -> tuple[FirstOrder | None, str]:
    """What the derivatives at the mean of every variable say, and why they say nothing."""
    if found.reasons[column] or not math.isfinite(value):
        return None, found.reasons[column] or "it has no value at the mean of every variable"
    effects = np.array([moments(variable)[1] for variable in study.variables]) * found.slopes[column]
    deviation = float(np.linalg.norm(effects))
    return FirstOrder(value, deviation, (effects / deviation) ** 2 if deviation > 0.0 else np.zeros(len(effects))), ""
