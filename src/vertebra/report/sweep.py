"""The answer of a sweep: what varied, what came of it and what moved it most, in words, tables and pictures that are
chosen by what varied."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.report.document import (
    MOTION_FILES,
    Facts,
    Figures,
    Listing,
    Report,
    Rows,
    Section,
    Sentences,
    significant,
)
from vertebra.report.panels import Panel, Series, finish, matrix_figure, spread
from vertebra.report.robot import robot_tables
from vertebra.report.scene import cable_style
from vertebra.robot.tables import Floats
from vertebra.robot.units import axis_title, quantity_text, shown_unit
from vertebra.studies.quantities import ROW_STATUS, Column
from vertebra.studies.study import Study
from vertebra.studies.variables import Variable

if TYPE_CHECKING:
    import xarray

SWEEP_FILES = MOTION_FILES
MOST_SAID = 8
"""Columns that sentences are about."""
MOST_WHERE = 4
"""Variables that say where a row is."""
MOST_MESSAGES = 10
MOST_PICTURED = 6
"""Columns, or quantities, that are drawn."""
MOST_LINES = 6
"""Curves of one plot."""
MOST_MAPS = 4
"""Maps of one column, side by side."""
MOST_SCATTERED = 4
"""Variables, and columns, of plots with a point per row."""
CURVE_POINTS, MAP_CELLS, SCATTER_POINTS = 30_000, 120_000, 12_000
"""Of all curves, maps or scatter plots of a page, which they keep to about a megabyte."""
NOISE = 1e-9
"""Part of the largest number of a quantity below which its parts only have rounding errors."""
STEEP = 300.0
"""Curves whose largest value is so many times the least have a logarithmic scale."""
FAR_OFF = 4.0
"""Values this many times beyond those of most rows do not stretch the colours of a map."""
FEW = 60
"""Points that are told apart without being moved to the side."""
BINS = 24
"""Of a drawn variable, to tell how far it moves a quantity."""
THIRDS = (("lowest third", "#56B4E9"), ("middle third", "#E69F00"), ("highest third", "#D55E00"))
NO_ANSWER, NO_ANSWER_COLOUR = "no answer", "#b2182b"
Ints = NDArray[np.int64]


def sweep_report(study: Study, dataset: xarray.Dataset) -> Report:
    """What came of every row of a study, from the Dataset of `sweep`."""
    swept = Swept(study, dataset)

    def page() -> Iterator[Section]:
        yield Sentences("Summary", lead(swept), tuple(sentences(swept)))
        yield from figures(swept)
        yield from tables(swept)
        yield Listing("Study", study.text)
        yield from robot_tables(study.robot)

    def shown() -> Iterator[Facts | Sentences]:
        yield Sentences(study.name, lead(swept), tuple(sentences(swept)))
        yield from tables(swept)

    missing = without_answer(swept)
    return Report(
        f"{study.name}: sweep of {study.robot.name}",
        record=lambda: sweep_record(swept),
        tables=shown,
        warnings=(missing,) if 0 < swept.failed < swept.count else (),
        failures=(missing,) if swept.failed == swept.count else (),
        page=page,
        picture=lambda: lambda: sweep_still(swept),
        rows=lambda: row_table(swept),
        dataset=lambda: dataset,
    )


def study_report(study: Study) -> Report:
    """What a study would compute."""
    sampled = any(one.is_sampled for one in study.variables)
    facts = [("robot", study.robot.name), ("rows", f"{study.rows:,}")]
    facts += [("held by", study.plan.held)] if study.plan.held != "nothing" else []
    if sampled:
        drawn = study.samples
        facts += [("draws", f"{drawn.count:,}, {drawn.method}, seed {drawn.seed}")]
    asked = tuple(
        (one.columns[0].quantity, _in_unit(one.columns[0].unit), ", ".join(column.label for column in one.columns[:12])
         + (f", ... ({len(one.columns)})" if len(one.columns) > 12 else ""), one.quantity.what)
        for one in study.asked
    )  # fmt: skip
    record = {
        "study": study.name, "robot": study.robot.name, "rows": study.rows, "held_by": study.plan.held,
        "samples": study.samples.model_dump() if sampled else None, "key": study.key,
        "variables": [variable_record(one) for one in study.variables],
        "columns": [{"name": column.name, "unit": column.unit} for column in study.columns],
    }  # fmt: skip
    return Report(
        study.name,
        record=lambda: record,
        tables=lambda: [
            Facts(study.name, ("", ""), tuple(facts)),
            *variable_table(study),
            Facts("Quantities", ("quantity", "unit", "parts", "what it is"), asked),
        ],
    )


# What is read from the Dataset.


class Summary(NamedTuple):
    """One column over all rows, SI."""

    column: Column
    missing: int
    """Rows without a number."""
    unlimited: int
    """Rows in which it is infinite."""
    least: float
    """Over all rows that have a number; NaN where none has."""
    largest: float
    least_row: int
    largest_row: int
    mean: float
    """Of finite numbers, as are the next two."""
    deviation: float
    """Standard deviation."""
    shares: tuple[float, ...]
    """Of its variance, what goes with each active variable alone; NaN where it has none."""
    noise: float
    """Numbers below are rounding errors."""

    @property
    def is_constant(self) -> bool:
        """Whether no variable moves it, but for rounding errors."""
        return not self.largest - self.least > self.noise

    def text(self, value: float) -> str:
        """A number of this column with its unit."""
        return quantity_text(0.0 if abs(value) <= 1e-3 * self.noise else value, self.column.unit, 5)


@dataclass(frozen=True, eq=False)
class Swept:
    """A study and the rows that were computed."""

    study: Study
    dataset: xarray.Dataset

    @cached_property
    def count(self) -> int:
        """Of rows."""
        return int(self.dataset.sizes["row"])

    @cached_property
    def status(self) -> NDArray[np.int8]:
        """(n,) codes of ROW_STATUS."""
        return np.asarray(self.dataset["status"].to_numpy())

    @cached_property
    def failed(self) -> int:
        """Rows without an answer."""
        return int(np.count_nonzero(self.status))

    @cached_property
    def active(self) -> tuple[int, ...]:
        """Variables with more than one value."""
        return tuple(
            place
            for place, one in enumerate(self.study.variables)
            if (self.study.samples.count > 1 if one.is_sampled else len(np.unique(one.points)) > 1)
        )

    def values(self, place: int) -> Floats:
        """(n,) of a variable, SI; of words their index."""
        return np.asarray(self.dataset[self.study.variables[place].name].to_numpy(), np.float64)

    def results(self, place: int) -> Floats:
        """(n,) of a column, SI; NaN where a row has no answer."""
        column = self.study.columns[place]
        data = self.dataset[column.quantity.replace(" ", "_")]
        if not column.label:
            return np.asarray(data.to_numpy())
        labels = [one.label for one in self.study.columns if one.quantity == column.quantity]
        return np.asarray(data.to_numpy()[:, labels.index(column.label)])

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """Of all columns."""
        groups = [_groups(self.study.variables[place], self.values(place)) for place in self.active]
        largest = dict[str, float]()
        for place, column in enumerate(self.study.columns):
            known = np.abs(self.results(place))
            known = known[np.isfinite(known)]
            largest[column.quantity] = max(largest.get(column.quantity, 0.0), float(known.max(initial=0.0)))
        return tuple(
            _summary(column, self.results(place), groups, NOISE * largest[column.quantity])
            for place, column in enumerate(self.study.columns)
        )

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Points of every variable where none is drawn: rows are all combinations, the first variable slowest."""
        return tuple(len(one.points) for one in self.study.variables)

    def where(self, row: int, names: Sequence[int] | None = None) -> str:
        """The values of a row, of the variables that matter most."""
        places = list(self.active if names is None else names)
        if not places:
            return ""
        ranked = sorted(places, key=lambda place: -self._weight[place])[:MOST_WHERE]
        parts = [
            f"{self.study.variables[place].name} = {self.study.variables[place].text(self.values(place)[row])}"
            for place in places
            if place in ranked
        ]
        return ", ".join(parts) + (", ..." if len(places) > MOST_WHERE else "")

    @cached_property
    def _weight(self) -> dict[int, float]:
        """How much each active variable moves all columns, together."""
        weight = dict.fromkeys(self.active, 0.0)
        for summary in self.summaries:
            if not summary.is_constant and not any(map(math.isnan, summary.shares)):
                for place, share in zip(self.active, summary.shares, strict=True):
                    weight[place] += share
        return weight

    @cached_property
    def ranked(self) -> tuple[int, ...]:
        """Active variables, those that move most first."""
        return tuple(sorted(self.active, key=lambda place: -self._weight[place]))

    @cached_property
    def pictured(self) -> tuple[int, ...]:
        """Columns that are drawn: of each quantity the first that moves, then the second, ..."""
        turn, order = Counter[str](), list[tuple[int, int]]()
        for place, summary in enumerate(self.summaries):
            if not summary.is_constant and summary.missing + summary.unlimited < self.count:
                turn[summary.column.quantity] += 1
                order.append((turn[summary.column.quantity], place))
        return tuple(sorted(place for _, place in sorted(order)[:MOST_PICTURED]))

    @cached_property
    def messages(self) -> list[tuple[int, str, int]]:
        """Why rows have no answer: how many, what was said, and the first of these rows; the most frequent first."""
        numbers = np.asarray(self.dataset["message"].to_numpy())
        texts = self.dataset["messages"].to_numpy()
        found, first, count = np.unique(numbers, return_index=True, return_counts=True)
        listed = [
            (int(rows), str(texts[number]), int(row))
            for number, row, rows in zip(found, first, count, strict=True)
            if number
        ]
        return sorted(listed, key=lambda one: -one[0])


class _Groups(NamedTuple):
    """Rows with about the same value of a variable."""

    number: Ints
    """(n,)"""
    groups: int
    binned: bool
    """Whether values of a group differ, so that means of groups have noise."""


def _groups(variable: Variable, values: Floats) -> _Groups:
    known, number = np.unique(values, return_inverse=True)
    if not variable.is_sampled or (variable.whole and variable.upper - variable.lower < BINS):
        return _Groups(number, len(known), variable.is_sampled)
    bins = max(2, min(BINS, int(math.sqrt(len(known)) / 2)))
    return _Groups(number * bins // len(known), bins, True)


def _summary(column: Column, values: Floats, groups: Sequence[_Groups], noise: float) -> Summary:
    known = ~np.isnan(values)
    finite = np.isfinite(values)
    missing, unlimited = int(len(values) - known.sum()), int(known.sum() - finite.sum())
    if missing == len(values):
        none = math.nan
        return Summary(column, missing, 0, none, none, -1, -1, none, none, (none,) * len(groups), noise)
    low = int(np.nanargmin(values))
    high = int(np.nanargmax(values))
    y = values[finite]
    mean, deviation = (float(y.mean()), float(y.std())) if len(y) else (math.nan, math.nan)
    moved = len(y) > 0 and float(np.ptp(y)) > noise
    shares = tuple(_share(y, one, finite) if moved else math.nan for one in groups)
    return Summary(
        column, missing, unlimited, float(values[low]), float(values[high]), low, high, mean, deviation, shares, noise
    )


def _share(y: Floats, groups: _Groups, kept: NDArray[np.bool_]) -> float:
    """Variance of the means of groups, as a part of the variance of all; noise of the means is taken off."""
    number = groups.number[kept]
    rows = np.bincount(number, minlength=groups.groups)
    off = y - y.mean()
    means = np.bincount(number, off, groups.groups)[rows > 0] / rows[rows > 0]
    total, between = float(off @ off), float((rows[rows > 0] * means**2).sum())
    there = len(means)
    if groups.binned and len(y) > there:
        between -= (total - between) * (there - 1) / (len(y) - there)
    return min(max(between / total, 0.0), 1.0)


# Words.


def _in_unit(unit: str) -> str:
    return shown_unit(unit)[0].removesuffix("1")


def lead(swept: Swept) -> str:
    """How many rows there are of what."""
    study = swept.study
    listed = [one.name for one in study.variables if not one.is_sampled]
    drawn = [one.name for one in study.variables if one.is_sampled]
    rows = f"{swept.count:,} row{'s' if swept.count != 1 else ''} of {study.robot.name}"
    how = []
    if listed:
        how.append(f"every combination of {_listed(listed)}" if len(listed) > 1 else f"every value of {listed[0]}")
    if drawn:
        draws = f"{study.samples.count:,} draws ({study.samples.method}) of {_listed(drawn)}"
        how.append(f"each with {draws}" if listed else draws)
    return f"{rows}: {', '.join(how)}." if how else f"{rows}, in which nothing varies."


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_SAID:
        return f"{len(names)} variables"
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]


def sentences(swept: Swept) -> Iterator[str]:
    """What came of it: how many rows have an answer, and each column's range."""
    if swept.failed == swept.count:
        return
    if swept.count > 1:
        answered = swept.count - swept.failed
        yield (
            "Every row has an answer."
            if not swept.failed
            else f"{answered:,} row{'s have' if answered > 1 else ' has'} an answer."
        )
    moving = [one for one in swept.summaries if not one.is_constant]
    for summary in moving[:MOST_SAID]:
        yield _range_sentence(swept, summary)
    if len(moving) > MOST_SAID:
        yield f"{len(moving) - MOST_SAID} more columns are in the table."
    still = [one for one in swept.summaries if one.is_constant and one.missing < swept.count]
    if still and swept.active:
        said = [f"{one.column.name} ({one.text(one.least)})" for one in still]
        yield f"Nothing that varies moves {_listed(said)}."
    elif still:
        said = [one.text(one.least) if math.isfinite(one.least) else "infinite" for one in still]
        yield from (f"{one.column.name} is {text}." for one, text in zip(still[:MOST_SAID], said, strict=False))


def _range_sentence(swept: Swept, summary: Summary) -> str:
    low, high = swept.where(summary.least_row), swept.where(summary.largest_row)
    least, largest = summary.text(summary.least), summary.text(summary.largest)
    text = f"{summary.column.name} ranges from {least} at {low} to {largest} at {high}"
    if summary.unlimited:
        text += f"; it is infinite in {summary.unlimited:,} row{'s' if summary.unlimited > 1 else ''}"
    if len(swept.active) > 1 and not math.isnan(summary.shares[0]):
        share, together = max(summary.shares), 1.0 - sum(summary.shares)
        name = swept.study.variables[swept.active[summary.shares.index(share)]].name
        if share > together:
            text += f"; {name} moves it most ({100 * share:.0f} % of the variance)"
        else:
            text += f"; variables move it mostly together ({100 * together:.0f} % of the variance)"
    return text + "."


def without_answer(swept: Swept) -> str:
    """How many rows have none, and why."""
    what = "none" if swept.failed == swept.count else f"{swept.failed:,}"
    head = f"{what} of {swept.count:,} rows {'has' if what in ('none', '1') else 'have'} "
    head += "an answer" if what == "none" else "no answer"
    said = [f"{rows:,} rows: {text}" if rows > 1 else f"1 row: {text}" for rows, text, _ in swept.messages[:2]]
    more = len(swept.messages) - len(said)
    return "; ".join([head, *said]) + (f"; and {more} other reasons" if more else "")


# Tables.


def variable_table(study: Study) -> Iterator[Facts]:
    """What varies, and how."""
    if study.variables:
        rows = tuple((one.name, _spread_text(one)) for one in study.variables)
        yield Facts("What varies", ("variable", "values"), rows)


def _spread_text(one: Variable) -> str:
    if one.labels:
        return ", ".join(one.labels[:12]) + (f", ... ({len(one.labels)})" if len(one.labels) > 12 else "")
    if one.kind in ("grid", "list"):
        if len(one.points) == 1:
            return one.text(float(one.points[0]))
        return f"{len(one.points):,} values from {one.text(one.lower)} to {one.text(one.upper)}"
    if one.kind == "range":
        what = "whole numbers drawn" if one.whole else "drawn"
        return f"{what} evenly from {one.text(one.lower)} to {one.text(one.upper)}"
    text = f"mean {one.text(one.mean or 0.0)}, standard deviation {one.text(one.deviation or 0.0)}"
    ends = [f"{word} {one.text(end)}" for word, end in (("from", one.lower), ("to", one.upper)) if math.isfinite(end)]
    return ", ".join([text, " ".join(ends)]) if ends else text


def tables(swept: Swept) -> Iterator[Facts]:
    """What varied, the columns, what moves them, and why rows failed."""
    yield from variable_table(swept.study)
    if swept.failed < swept.count:
        yield Facts("Quantities", ("quantity", "unit", "least", "mean", "largest", "deviation"), tuple(
            (one.column.name, _in_unit(one.column.unit), *(_number(one, x) for x in (one.least, one.mean, one.largest)),
             _number(one, one.deviation))
            for one in swept.summaries
        ))  # fmt: skip
        yield from _share_table(swept)
    if swept.messages:
        rows = tuple((f"{count}", text, swept.where(row)) for count, text, row in swept.messages[:MOST_MESSAGES])
        more = len(swept.messages) - len(rows)
        title = "Rows without an answer" + (
            f" (the first {len(rows)} of {len(swept.messages)} reasons)" if more else ""
        )
        yield Facts(title, ("rows", "why", "such as at"), rows)


def _number(summary: Summary, value: float) -> str:
    if math.isnan(value):
        return "-"
    value = 0.0 if abs(value) <= 1e-3 * summary.noise else value
    if math.isinf(value):
        return "infinite"
    return significant(value / shown_unit(summary.column.unit)[1], digits=6)


def _share_table(swept: Swept) -> Iterator[Facts]:
    shown = swept.ranked[:MOST_SAID]
    moving = [one for one in swept.summaries if not one.is_constant and not any(map(math.isnan, one.shares))]
    if len(swept.active) > 1 and moving:
        at = [swept.active.index(place) for place in shown]
        names = [swept.study.variables[place].name for place in shown]
        rows = tuple(
            (one.column.name, *(f"{100 * one.shares[i]:.1f}" for i in at),
             f"{100 * max(0.0, 1.0 - sum(one.shares)):.1f}")
            for one in moving
        )  # fmt: skip
        title = "Share of the variance that goes with each variable alone [%]"
        yield Facts(title, ("quantity", *names, "together"), rows)


# Files.


def variable_record(one: Variable) -> dict[str, Any]:
    """As JSON, SI."""
    record: dict[str, Any] = {"name": one.name, "unit": one.unit, "kind": one.kind}
    if one.labels:
        return record | {"values": list(one.labels)}
    record |= {"lower": one.lower, "upper": one.upper}
    if one.is_sampled:
        return record | {"mean": one.mean, "deviation": one.deviation}
    return record | {"count": len(one.points)}


def sweep_record(swept: Swept) -> dict[str, Any]:
    """As JSON, SI: what varied, and each column over all rows; the rows themselves are in .csv and .nc files."""
    study = swept.study
    names = [study.variables[place].name for place in swept.active]
    return {
        "study": study.name, "robot": study.robot.name, "key": study.key, "rows": swept.count,
        "failed": swept.failed,
        "samples": study.samples.model_dump() if any(one.is_sampled for one in study.variables) else None,
        "variables": [variable_record(one) for one in study.variables],
        "columns": [
            {
                "name": one.column.name, "unit": one.column.unit, "missing": one.missing, "unlimited": one.unlimited,
                "least": _end_record(swept, one.least, one.least_row),
                "largest": _end_record(swept, one.largest, one.largest_row),
                "mean": one.mean, "deviation": one.deviation,
                "shares": {} if one.is_constant else dict(zip(names, one.shares, strict=True)),
            }
            for one in swept.summaries
        ],
        "failures": [
            {"rows": count, "message": text, "first_row": row, "at": _row_record(swept, row)}
            for count, text, row in swept.messages
        ],
    }  # fmt: skip


def _end_record(swept: Swept, value: float, row: int) -> dict[str, Any] | None:
    return None if row < 0 else {"value": value, "row": row, "at": _row_record(swept, row)}


def _row_record(swept: Swept, row: int) -> dict[str, Any]:
    return {
        one.name: one.labels[int(value)] if one.labels else value
        for place, one in enumerate(swept.study.variables)
        for value in (float(swept.values(place)[row]),)
    }


def row_table(swept: Swept, at_once: int = 10_000) -> Rows:
    """Every row: variables, then columns, SI, and how it ended; an empty cell where there is no number."""
    study = swept.study
    named = [*((one.name, one.unit) for one in study.variables), *((one.name, one.unit) for one in study.columns)]
    texts = swept.dataset["messages"].to_numpy().tolist()

    def rows() -> Iterator[list[Any]]:
        columns: list[Floats] = [swept.values(place) for place in range(len(study.variables))]
        columns += [swept.results(place) for place in range(len(study.columns))]
        said = np.asarray(swept.dataset["message"].to_numpy())
        for first in range(0, swept.count, at_once):
            part = slice(first, first + at_once)
            listed = [column[part].tolist() for column in columns]
            for place, one in enumerate(study.variables):
                if one.labels:
                    listed[place] = [one.labels[int(value)] for value in listed[place]]
            for row in zip(*listed, swept.status[part].tolist(), said[part].tolist(), strict=True):
                *numbers, status, message = row
                yield [*(None if x != x else x for x in numbers), ROW_STATUS[status], texts[message]]

    return Rows([*(f"{name}_{unit}".rstrip("_") for name, unit in named), "status", "message"], rows())


# Pictures.


class Map(NamedTuple):
    """One column over two variables."""

    column: Summary
    across: Variable
    up: Variable
    x: Floats
    """(w,) SI, ascending."""
    y: Floats
    """(h,)"""
    z: Floats
    """(h, w) SI; NaN where there is no answer."""
    where: str
    """What else is fixed, and at what."""
    ends: tuple[tuple[str, float, float], ...]
    """Name, x and y of the least and the largest, where they are on this map."""
    colours: tuple[float, float]
    """SI, where they end, in all maps of the column."""


class Pictures(NamedTuple):
    """What is drawn, and what to say about it."""

    kind: str
    title: str
    caption: str
    panels: tuple[Panel, ...] = ()
    maps: tuple[Map, ...] = ()
    columns: int = 2


def pictures(swept: Swept) -> Pictures | None:
    """Chosen by what varies: curves over one number, maps over two, and a point per row over anything else."""
    variables, active = swept.study.variables, swept.active
    if not active or not swept.pictured:
        return None
    numbers = sorted(
        (place for place in active if not variables[place].labels), key=lambda place: -len(variables[place].points)
    )
    if not any(variables[place].is_sampled for place in active):
        rest = math.prod(swept.shape[place] for place in active if place not in numbers[:1])
        if numbers and rest <= MOST_LINES:
            return curves(swept, numbers[0])
        if len(numbers) >= 2 and len(active) <= 3:
            return maps(swept, numbers[1], numbers[0])
    return scatter(swept)


def _drawn_note(drawn: int, of: int, what: str) -> str:
    return f" {drawn:,} of {of:,} {what} are drawn, evenly spread." if drawn < of else ""


def _left_out(swept: Swept) -> str:
    moving = sum(not one.is_constant for one in swept.summaries)
    return f" {len(swept.pictured)} of {moving} columns are drawn." if len(swept.pictured) < moving else ""


def _is_log(one: Variable) -> bool:
    points = np.sort(one.points)
    if len(points) < 3 or points[0] <= 0.0 or points[-1] < 20.0 * points[0]:
        return False
    steps = np.diff(np.log(points))
    return bool(np.ptp(steps) < 0.2 * steps.mean())


def _shown_axis(one: Variable, values: Floats) -> Floats:
    return values if one.labels else values / shown_unit(one.unit)[1]


def _combinations(swept: Swept, places: Sequence[int]) -> list[tuple[tuple[int, ...], str]]:
    """Indices of the points of some variables, all combinations, and what each is called."""
    variables = swept.study.variables
    found = []
    for index in np.ndindex(*(swept.shape[place] for place in places)):
        texts = [
            f"{variables[place].name} = {variables[place].text(float(variables[place].points[i]))}"
            for place, i in zip(places, index, strict=True)
        ]
        found.append((index, ", ".join(texts)))
    return found


def _part(swept: Swept, column: int, axes: Sequence[int], places: Sequence[int], index: tuple[int, ...]) -> Floats:
    """A column over the points of `axes`, in this order, with the variables `places` at a point of theirs."""
    cube = swept.results(column).reshape(swept.shape)
    at: list[Any] = [0] * len(swept.shape)
    for place, i in zip(places, index, strict=True):
        at[place] = i
    for place in axes:
        at[place] = slice(None)
    found: Floats = cube[tuple(at)]
    return found if list(axes) == sorted(axes) else found.T


def curves(swept: Swept, across: int) -> Pictures:
    """Each column over one variable, a curve per value of the others; or the parts of each quantity in one plot."""
    study, one = swept.study, swept.study.variables[across]
    others = [place for place in swept.active if place != across]
    order = np.argsort(one.points, kind="stable")
    combinations = _combinations(swept, others)
    if others:
        plots = [
            (axis_title(study.columns[place].name, study.columns[place].unit), [place]) for place in swept.pictured
        ]
    else:
        by_quantity: dict[str, list[int]] = {}
        for place, column in enumerate(study.columns):
            if any(study.columns[drawn].quantity == column.quantity for drawn in swept.pictured):
                by_quantity.setdefault(column.quantity, []).append(place)
        plots = [
            (axis_title(name, study.columns[places[0]].unit), places[:MOST_LINES])
            for name, places in by_quantity.items()
        ]
    lines = sum(len(places) for _, places in plots) * len(combinations)
    kept = spread(len(order), max(2, CURVE_POINTS // lines))
    x = _shown_axis(one, one.points[order][kept])
    panels = []
    for title, places in plots:
        size, series = shown_unit(study.columns[places[0]].unit)[1], list[Series]()
        lost = np.zeros(len(x), np.bool_)
        for index, words in combinations:
            for place in places:
                y = _part(swept, place, [across], others, index)[order][kept] / size
                name = words or study.columns[place].label
                colour, dash = cable_style(len(series))
                few = "circle" if len(x) <= 30 else ""
                series.append(Series(name, x, _no_infinity(y), colour, dash, few, size=5))
                lost |= np.isnan(y)
        log = ("x" if _is_log(one) else "") + ("y" if _is_steep(series) else "")
        panels.append(Panel("", axis_title(one.name, one.unit), title, _with_failures(series, lost), log=log))
    caption = "A curve per " + ("value of what else varies." if others else "part of each quantity.")
    caption += f" {NO_ANSWER.capitalize()}: a red cross at the bottom." if swept.failed else ""
    caption += _drawn_note(len(kept), len(order), "points of each curve")
    return Pictures("curves", "Curves", caption + (_left_out(swept) if others else ""), tuple(panels))


def _no_infinity(y: Floats) -> Floats:
    return np.where(np.isinf(y), np.nan, y)


def _is_steep(series: Sequence[Series]) -> bool:
    """Whether only a logarithmic scale shows all of the curves."""
    every = np.concatenate([one.y for one in series])
    every = every[np.isfinite(every)]
    return bool(len(every) and every.min() > 0.0 and every.max() > STEEP * every.min())


def _with_failures(series: list[Series], lost: NDArray[np.bool_]) -> tuple[Series, ...]:
    """The curves, and a mark at the bottom wherever one of them has no number."""
    every = np.concatenate([one.y for one in series])
    every = every[np.isfinite(every)]
    if not lost.any() or not len(every):
        return tuple(series)
    x = np.asarray(series[0].x)[lost]
    return (*series, Series(NO_ANSWER, x, np.full(len(x), every.min()), NO_ANSWER_COLOUR, "", "x", size=6))


def maps(swept: Swept, up: int, across: int) -> Pictures:
    """Each column over two variables; side by side for some values of what else varies."""
    study = swept.study
    others = [place for place in swept.active if place not in (up, across)]
    combinations = _combinations(swept, others)
    shown = [combinations[i] for i in spread(len(combinations), MOST_MAPS)]
    side = max(8, int(math.sqrt(MAP_CELLS / (len(shown) * len(swept.pictured)))))
    orders = [np.argsort(study.variables[place].points, kind="stable") for place in (up, across)]
    kept = [order[spread(len(order), side)] for order in orders]
    points = [study.variables[place].points[order] for place, order in zip((up, across), kept, strict=True)]
    found = []
    for place in swept.pictured:
        summary = swept.summaries[place]
        values = swept.results(place)
        colours = _colour_range(values[np.isfinite(values)])
        for index, words in shown:
            z = _no_infinity(_part(swept, place, [up, across], others, index)[np.ix_(*kept)])
            ends = []
            for name, row in (("least", summary.least_row), ("largest", summary.largest_row)):
                there = all(
                    swept.values(other)[row] == study.variables[other].points[i]
                    for other, i in zip(others, index, strict=True)
                )
                if there and math.isfinite(values[row]):
                    ends.append((name, float(swept.values(across)[row]), float(swept.values(up)[row])))
            found.append(
                Map(summary, study.variables[across], study.variables[up], points[1], points[0], z, words,
                    tuple(ends), colours)
            )  # fmt: skip
    caption = "Triangles mark the least (pointing down) and the largest value."
    if any(one.colours != (one.column.least, one.column.largest) for one in found):
        caption += " Colours end where a few cells lie far off."
    caption += " Empty cells have no answer." if swept.failed else ""
    caption += (
        _drawn_note(len(shown), len(combinations), f"values of {study.variables[others[0]].name}") if others else ""
    )
    caption += _drawn_note(math.prod(map(len, kept)), math.prod(map(len, orders)), "cells of each map")
    columns = len(shown) if others else 2
    return Pictures("maps", "Maps", caption + _left_out(swept), maps=tuple(found), columns=columns)


def _colour_range(values: Floats) -> tuple[float, float]:
    least, low, high, largest = np.quantile(values, (0.0, 0.02, 0.98, 1.0)).tolist()
    return (least, largest) if largest - least <= FAR_OFF * (high - low) or high == low else (low, high)


def scatter(swept: Swept) -> Pictures:
    """Columns against the variables that move them most, a point per row, coloured by words or by the first column."""
    study = swept.study
    shown, columns = swept.ranked[:MOST_SCATTERED], swept.pictured[:MOST_SCATTERED]
    rows = np.flatnonzero(swept.status == 0)
    kept = rows[spread(len(rows), SCATTER_POINTS // (len(shown) * len(columns)))]
    words = [place for place in swept.ranked if 1 < len(study.variables[place].labels) <= MOST_LINES]
    if words:
        one = study.variables[words[0]]
        chosen = swept.values(words[0])[kept]
        groups = [
            (f"{one.name} = {label}", cable_style(i)[0], chosen == i) for i, label in enumerate(one.labels)
        ]  # fmt: skip
    else:
        first = swept.results(columns[0])
        low, high = np.nanquantile(_no_infinity(first[rows]), (1 / 3, 2 / 3))
        third = (first[kept] > low).astype(np.int64) + (first[kept] > high)
        groups = [
            (f"{study.columns[columns[0]].name} in its {name}", colour, third == i)
            for i, (name, colour) in enumerate(THIRDS)
        ]
    panels, size = [], 7 if len(kept) <= FEW else 4
    for place in columns:
        column, y = study.columns[place], _no_infinity(swept.results(place)[kept])
        for across in shown:
            one = study.variables[across]
            x: Any = _shown_axis(one, swept.values(across)[kept])
            if len(kept) > FEW and (one.labels or 0 < len(one.points) <= 12):
                x = x + _jitter(one, kept)
            series = tuple(
                Series(name, x[among], y[among] / shown_unit(column.unit)[1], colour, "", "circle", size=size)
                for name, colour, among in groups
                if among.any()
            )
            panels.append(
                Panel("", axis_title(one.name, one.unit), axis_title(column.name, column.unit), series,
                      columns=one.labels if len(one.labels) <= 12 else ())
            )  # fmt: skip
    caption = "A point per row that has an answer, coloured by " + (
        f"{study.variables[words[0]].name}." if words else f"{study.columns[columns[0]].name}."
    )
    caption += _drawn_note(len(kept), len(rows), "rows")
    left = [f"{len(shown)} of {len(swept.active)} variables"] if len(shown) < len(swept.active) else []
    moving = sum(not one.is_constant for one in swept.summaries)
    left += [f"{len(columns)} of {moving} columns"] if len(columns) < moving else []
    caption += f" {' and '.join(left)} are drawn.".replace("  ", " ") if left else ""
    return Pictures("points", "Row by row", caption, tuple(panels), columns=min(len(shown), 4))


def _jitter(one: Variable, rows: Ints) -> Floats:
    """Sideways, so that points of the same value are told apart; the same for the same rows."""
    step = 1.0 if one.labels else float(np.diff(np.unique(one.points)).min()) / shown_unit(one.unit)[1]
    jitter: Floats = 0.4 * step * (np.mod(rows * 0.6180339887498949, 1.0) - 0.5)
    return jitter


def figures(swept: Swept) -> Iterator[Figures]:
    """Of a page."""
    drawn = pictures(swept)
    if drawn is None:
        return
    if drawn.panels:
        count = min(drawn.columns, len(drawn.panels))
        if drawn.kind == "points":
            height, figures = f"{5 + 11 * len(drawn.panels) // count}rem", lambda: [matrix_figure(drawn.panels, count)]
            yield Figures(drawn.kind, figures, height, drawn.title, drawn.caption)
        else:
            yield Figures(drawn.kind, drawn.panels, "24rem", drawn.title, drawn.caption, columns=count)
    else:
        count = min(drawn.columns, len(drawn.maps))
        yield Figures(
            drawn.kind, lambda: [map_figure(one) for one in drawn.maps], "24rem" if count < 3 else "20rem", drawn.title,
            drawn.caption, columns=count,
        )  # fmt: skip


def _map_values(one: Map) -> tuple[Floats, Floats, Floats, float]:
    """x, y and z as people read them, and the size of the unit of z."""
    size = shown_unit(one.column.column.unit)[1]
    return _shown_axis(one.across, one.x), _shown_axis(one.up, one.y), one.z / size, size


MARKERS = {"least": ("triangle-down", "v"), "largest": ("triangle-up", "^")}
"""Of plotly and of matplotlib."""


def map_figure(one: Map) -> Any:
    """The plotly figure."""
    from vertebra.report.plotly import go

    x, y, z, size = _map_values(one)
    column = one.column.column
    unit = _in_unit(column.unit)
    figure = go.Figure(
        go.Heatmap(
            x=x.astype(np.float32), y=y.astype(np.float32), z=z.astype(np.float32), colorscale="Viridis",
            zmin=one.colours[0] / size, zmax=one.colours[1] / size, name=column.name,
            colorbar={"title": {"text": unit, "side": "right"}, "thickness": 14},
            hovertemplate=f"{one.across.name} %{{x:.5g}} {_in_unit(one.across.unit)}<br>{one.up.name} %{{y:.5g}} "
            f"{_in_unit(one.up.unit)}<br>{column.name} %{{z:.5g}} {unit}<extra></extra>",
        )
    )  # fmt: skip
    for name, across, up in one.ends:
        value = one.column.least if name == "least" else one.column.largest
        place = _shown_axis(one.across, np.array([across])), _shown_axis(one.up, np.array([up]))
        figure.add_scatter(
            x=place[0], y=place[1], mode="markers", name=name, showlegend=False, cliponaxis=False,
            marker={"symbol": MARKERS[name][0], "size": 13, "color": "#ffffff",
                    "line": {"color": "#d55e00", "width": 2}},
            hovertemplate=f"{name}: {one.column.text(value)}<extra></extra>",
        )  # fmt: skip
    finish(figure, axis_title(one.across.name, one.across.unit), axis_title(one.up.name, one.up.unit))
    title = f"{axis_title(column.name, column.unit)}" + (f"<br>{one.where}" if one.where else "")
    figure.update_layout(
        title={"text": title, "x": 0.5, "font": {"size": 14}}, margin={"l": 60, "r": 12, "t": 52, "b": 52}
    )
    for update, variable, at in ((figure.update_xaxes, one.across, x), (figure.update_yaxes, one.up, y)):
        if _is_log(variable):
            update(type="log")
        else:  # no room around the cells, though markers are on their edges
            update(range=[1.5 * at[0] - 0.5 * at[1], 1.5 * at[-1] - 0.5 * at[-2]])
    return figure


def sweep_still(swept: Swept) -> Any:
    """The matplotlib figure."""
    from vertebra.report.panels import panel_still
    from vertebra.report.still import plot_grid

    title, drawn = f"{swept.study.name}: sweep of {swept.study.robot.name}", pictures(swept)
    if drawn is None:
        figure, grid = plot_grid(1, 1, title)
        said = "no row has an answer" if swept.failed == swept.count else "nothing that varies moves any quantity"
        grid[0, 0].text(0.5, 0.5, said, ha="center")
        grid[0, 0].set_axis_off()
        return figure
    if drawn.panels:
        return panel_still(drawn.panels, title, min(drawn.columns, len(drawn.panels)))
    columns = min(drawn.columns, len(drawn.maps))
    figure, grid = plot_grid(math.ceil(len(drawn.maps) / columns), columns, title)
    for place, axes in enumerate(grid.flat):
        if place < len(drawn.maps):
            _still_map(figure, axes, drawn.maps[place])
        else:
            axes.set_axis_off()
    return figure


def _still_map(figure: Any, axes: Any, one: Map) -> None:
    x, y, z, size = _map_values(one)
    column = one.column.column
    axes.grid(False)
    mesh = axes.pcolormesh(
        x,
        y,
        z,
        shading="nearest",
        cmap="viridis",
        vmin=one.colours[0] / size,
        vmax=one.colours[1] / size,
        rasterized=True,
    )
    figure.colorbar(mesh, ax=axes, label=_in_unit(column.unit))
    for name, across, up in one.ends:
        place = _shown_axis(one.across, np.array([across])), _shown_axis(one.up, np.array([up]))
        axes.plot(
            *place, MARKERS[name][1], markersize=10, markerfacecolor="white", markeredgecolor="#d55e00",
            markeredgewidth=1.8, clip_on=False, zorder=5,
        )  # fmt: skip
    axes.set(xlabel=axis_title(one.across.name, one.across.unit), ylabel=axis_title(one.up.name, one.up.unit))
    axes.set_title("\n".join(filter(None, (axis_title(column.name, column.unit), one.where))))
    if _is_log(one.across):
        axes.set_xscale("log")
    if _is_log(one.up):
        axes.set_yscale("log")
