"""CSV files with a column of times and groups of numbered columns, such as t_s,q1_deg,q2_deg: one row a moment."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vertebra.errors import CellProblem, MeasurementError
from vertebra.robot.csv_cells import file_error, is_number, read_text, split_cells
from vertebra.robot.tables import Floats

TIME = "t_s"
DEGREE = math.pi / 180.0
_MEANS_TIME = re.compile(r"(t|time)(_.*)?", re.IGNORECASE)


class Group(NamedTuple):
    """Columns ``prefix1_unit``, ``prefix2_unit``, ... that belong together; all of them, or none."""

    prefix: str
    size: int
    units: Mapping[str, float]
    """Units that a name may end in, with their factors to SI; the first one is the one to recommend."""
    owner: str
    """What has one of them each: joint, cable."""
    needed: bool = True

    def name(self, number: int) -> str:
        """The recommended name of a column, counted from 1."""
        return f"{self.prefix}{number}_{next(iter(self.units))}"


@dataclass(frozen=True, eq=False)
class TimedTable:
    """The numbers of a file, SI."""

    time: Floats
    """(N,) s, each later than the one before."""
    values: Mapping[str, Floats]
    """(N, count) by the prefix of the group; a group that the file does not have is absent."""
    columns: Mapping[str, tuple[str, ...]]
    """Names in the file, by the prefix of the group."""
    lines: tuple[int, ...]
    """Line of the file that each row stands in, counted from 1."""
    origin: str
    unused: tuple[str, ...]
    """Columns that nothing was read from."""


def read_timed_table(path: str | Path, groups: Sequence[Group]) -> TimedTable:
    """Rows of `path`; columns may stand in any order, lines that begin with # are comments."""
    origin = str(path)
    text = read_text(Path(path), origin)
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip(" ,;\t") and line[0] != "#"]
    header = ",".join([TIME, *(f"{group.name(1)},..." for group in groups if group.needed)])
    if len(lines) < 2:
        raise file_error(origin, f"has no rows; write a header {header} and one row a moment")
    (number, head), *body = lines
    names = split_cells(head)
    if "," not in head and (";" in head or "\t" in head):
        raise file_error(origin, "separate columns by commas, and write numbers with a decimal point", number)
    if all(is_number(name) for name in names):
        raise file_error(origin, f"has numbers where the names of columns should be; write {header}", number)
    places = _places(names, groups, number, origin)
    cells = _numbers(body, names, [names.index(TIME), *_used(places)], origin)
    time = cells[names.index(TIME)]
    _check_order(time, [line for line, _ in body], origin)
    values = {
        group.prefix: np.column_stack([factor * cells[place] for place, factor in places[group.prefix]])
        for group in groups
        if group.prefix in places
    }
    columns = {prefix: tuple(names[place] for place, _ in found) for prefix, found in places.items()}
    known = {TIME, *(name for group in columns.values() for name in group)}
    unused = tuple(name or "(no name)" for name in names if name not in known)
    return TimedTable(time, values, columns, tuple(line for line, _ in body), origin, unused)


Places = dict[str, list[tuple[int, float]]]
"""Place in the row and factor to SI of every column, by the prefix of its group."""


def _used(places: Places) -> Iterator[int]:
    yield from (place for group in places.values() for place, _ in group)


def _places(names: list[str], groups: Sequence[Group], line: int, origin: str) -> Places:
    """Where every column stands, or an error that names all that are missing, doubled or unknown."""
    problems = [*_time_problems(names)]
    places: Places = {}
    for group in groups:
        pattern = re.compile(rf"{group.prefix}(\d+)(?:_(.*))?")
        found = {i: match for i, name in enumerate(names) if (match := pattern.fullmatch(name))}
        if not found and not group.needed:
            continue
        wrong = [*_group_problems(group, names, found)]
        problems += wrong
        if not wrong:
            by_number = {int(match[1]): (i, group.units[match[2]]) for i, match in found.items()}
            places[group.prefix] = [by_number[number] for number in range(1, group.size + 1)]
    if problems:
        raise MeasurementError([CellProblem(0, line, name, message) for name, message in problems], origin)
    return places


def _time_problems(names: list[str]) -> Iterator[tuple[str, str]]:
    if names.count(TIME) > 1:
        yield TIME, "stands there twice; keep one"
    elif TIME not in names:
        close = [name for name in names if _MEANS_TIME.fullmatch(name)]
        hint = f"found {close[0]!r}: give it in s and name it {TIME}" if close else "give the time of each row in s"
        yield TIME, f"is missing; {hint}"


def _group_problems(group: Group, names: list[str], found: dict[int, re.Match[str]]) -> Iterator[tuple[str, str]]:
    units = " or ".join(f"_{unit}" for unit in group.units)
    seen: dict[int, int] = {}
    for i, match in found.items():
        number = int(match[1])
        seen[number] = seen.get(number, 0) + 1
        if not 1 <= number <= group.size:
            yield names[i], f"this robot has {group.name(1)} to {group.name(group.size)}"
        elif match[2] not in group.units:
            what = f"the unit {match[2]!r} is not known" if match[2] else "has no unit"
            yield names[i], f"{what}; let the name end in {units}"
    for number in range(1, group.size + 1):
        if number not in seen:
            each = "" if group.needed else f", or leave out all columns of {group.prefix}"
            yield group.name(number), f"is missing; the robot has {group.size} {group.owner}s{each}"
        elif seen[number] > 1:
            yield group.name(number), "stands there twice; keep one"


def _numbers(body: list[tuple[int, str]], names: list[str], used: list[int], origin: str) -> dict[int, Floats]:
    """The numbers of the used columns, by place; or an error that names every wrong cell."""
    problems: list[CellProblem] = []
    rows: list[list[float]] = []
    for row, (line, text) in enumerate(body, 1):
        cells = split_cells(text)
        if len(cells) != len(names):
            more = "; write numbers with a decimal point" if len(cells) > len(names) else ""
            what = f"has {len(cells)} cells where the header has {len(names)}{more}"
            problems.append(CellProblem(row, line, "", what))
            continue
        for place in used:
            if not is_number(cells[place]):
                found = f"not {cells[place]!r}" if cells[place] else "but the cell is empty"
                problems.append(CellProblem(row, line, names[place], f"must be a finite plain number, {found}"))
        if not problems:
            rows.append([float(cells[place]) for place in used])
    if problems:
        raise MeasurementError(problems, origin)
    return dict(zip(used, np.array(rows).T, strict=True))


def _check_order(time: Floats, lines: list[int], origin: str) -> None:
    later = np.diff(time) > 0.0
    if not later.all():
        i = int(np.argmin(later)) + 1
        message = f"{time[i]:g} s does not come after {time[i - 1]:g} s of the row before; sort rows, keep one a moment"
        raise MeasurementError([CellProblem(i + 1, lines[i], TIME, message)], origin)
