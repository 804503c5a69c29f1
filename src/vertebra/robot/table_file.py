"""Table files (CSV): columns declared once, one reader for every file that people bring, one writer for ours.

    time_s,q1_deg,q2_deg
    0.00,0.0,0.0
    0.01,0.1,-0.2

The first line names the columns, in any order; a name ends in its unit, and any unit of the right dimension will do
(`t1_mN`, `q1_rad`). Commas, semicolons or tabs separate cells; lines that begin with # are comments, and a file that
begins with ``# simulated`` was made by a computer. Every fault in the header is listed, and so is every wrong cell.
Columns that a reader does not need are ignored and noted, since measured files carry remarks; but a name that looks
like a misspelt column is refused.
"""

from __future__ import annotations

import csv
import difflib
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from vertebra.errors import CellProblem, MeasurementError
from vertebra.files import read_start
from vertebra.robot.tables import Floats
from vertebra.robot.units import UnitError, unit_factor

SIMULATED = "# simulated"
"""How the first line of a file of simulated data begins."""
PIECE = 1_000_000
"""Letters of a long table that are made at a time."""
MAX_BYTES = 50_000_000
SEPARATORS = ",;\t"
CLOSE = 0.8
"""Names this similar to a column (1 is equal, letter case aside) are taken for a typing error."""
MOST_NAMED = 8
"""Columns beyond this number are only counted in a message."""
QUANTITIES = {
    "s": "time", "m": "length", "kg": "mass", "N": "force", "rad": "angle", "rad_s": "angular velocity",
    "rad_s2": "angular acceleration", "m_s2": "acceleration", "Nm": "torque",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a file, or several that belong together: x, y and z; t1 to t4."""

    name: str
    """Its key in `Table.values`; also its name in the file, unless `parts` are given or it is numbered."""
    unit: str = ""
    """SI unit of the values that are read, spelt as in a column name (N, m_s2); empty for numbers without a unit."""
    written: str = ""
    """The unit in recommended names (deg, mm); the SI unit unless stated."""
    count: int | None = None
    """Number of numbered columns name1, name2, ...; None for a name without a number."""
    labels: tuple[str, ...] = ()
    """What stands in place of the numbers, where joints have several freedoms: 1a, 1b, 2a."""
    parts: tuple[str, ...] = ()
    """Names, without units, of columns that belong together."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Other names that files may use, with the name they stand for."""
    needed: bool = True
    """Whether a file without it is refused."""
    partial: bool = False
    """Whether some of its parts may be missing; they are then NaN."""
    bare: bool = False
    """Whether a name may come without a unit; its numbers are then SI."""
    blank: bool = False
    """Whether cells may be empty; they are then NaN."""
    instead: str = ""
    """The column that says the same in another way; a file has one of the two."""
    increasing: bool = False
    """Whether every row must be above the one before."""
    words: Mapping[str, float] | None = None
    """Words that cells may hold, in lower case, and the numbers that they stand for."""
    text: bool = False
    """Whether cells are texts of any kind, found in `Table.texts`."""
    check: Callable[[float, int], str] | None = None
    """What is wrong with a value in SI, given its part counted from 0; an empty text if nothing is."""
    why: str = ""
    """Why it is needed or what it must be, for messages."""

    @property
    def stems(self) -> tuple[str, ...]:
        """The names of its parts without units."""
        if self.count is not None:
            return tuple(f"{self.name}{label}" for label in self.labels or range(1, self.count + 1))
        return self.parts or (self.name,)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its parts as we write them."""
        unit = self.written or self.unit
        return tuple(f"{stem}_{unit}" if unit else stem for stem in self.stems)

    @property
    def spoken(self) -> str:
        """Its names in a sentence."""
        return ", ".join(self.names) if len(self.names) <= 3 else f"{self.names[0]} to {self.names[-1]}"

    def matched(self, name: str) -> tuple[int, str] | None:
        """Which part, counted from 0, a name in a file means, and its unit; None if it means another column.

        Numbered parts that the robot does not have count too.
        """
        if self.labels:
            found = re.fullmatch(rf"{self.name}(\d{{1,6}}[a-c]?)(?:_(.+))?", name)
            return found and (self.labels.index(found[1]) if found[1] in self.labels else -1, found[2] or "")
        if self.count is not None:
            found = re.fullmatch(rf"{self.name}(\d{{1,6}})(?:_(.+))?", name)
            return found and (int(found[1]) - 1, found[2] or "")
        for stem in (*self.also, *self.stems):
            if name == stem or (self.unit and name.startswith(f"{stem}_")):
                return self.stems.index(self.also.get(stem, stem)), name[len(stem) + 1 :]
        return None

    def factor(self, unit: str) -> float | None:
        """From a unit in a column name to SI; None where this column cannot have it."""
        if not unit:
            return 1.0 if self.bare or not self.unit else None
        return _factor(unit, self.unit)


# The common set of columns: what one command writes, the next one reads.

TIME = Column(name="time", unit="s", also={"t": "time"}, increasing=True, why="give the time of each row in s")
TIP = Column(
    name="tip",
    unit="m",
    written="mm",
    parts=("x", "y", "z"),
    also={"tip_x": "x", "tip_y": "y", "tip_z": "z"},
    bare=True,
)
"""Place of the tip, or any other point; plain x, y, z are in m."""


Freedoms = int | Sequence[str]
"""How many joints a robot has, or the names of its coordinates where joints have several: `Robot.freedom_names`."""


def angle_columns(joints: Freedoms) -> Column:
    """q1_deg, q2_deg, ...: joint angles; q1a_deg, q1b_deg, ... where joints have several freedoms."""
    return _joint_columns("q", "rad", "deg", joints)


def rate_columns(joints: Freedoms) -> Column:
    """qd1_deg_s, ...: joint speeds."""
    return _joint_columns("qd", "rad_s", "deg_s", joints)


def acceleration_columns(joints: Freedoms) -> Column:
    """qdd1_deg_s2, ...: joint accelerations."""
    return _joint_columns("qdd", "rad_s2", "deg_s2", joints)


def torque_columns(name: str, joints: Freedoms) -> Column:
    """tau1_Nm, ...: joint torques; `name` is tau (of cables and springs), needed (of cables), stop (of
    joint stops) or residual."""
    return _joint_columns(name, "Nm", "", joints)


def _joint_columns(name: str, unit: str, written: str, joints: Freedoms) -> Column:
    names = () if isinstance(joints, int) else tuple(joints)
    count = joints if isinstance(joints, int) else len(names)
    if all(label.isdecimal() for label in names):
        return Column(name=name, unit=unit, written=written, count=count, why=f"the robot has {count} joints")
    joints_of = len({label.rstrip("abc") for label in names})
    why = f"the robot has {joints_of} joint{'' if joints_of == 1 else 's'} with {count} angles"
    return Column(name=name, unit=unit, written=written, count=count, labels=names, why=why)


def tension_columns(cables: int) -> Column:
    """t1_N, t2_N, ...: cable tensions at the base; plain t1, t2, ... are also in N."""
    why = f"the robot has {cables} cables; every cable needs its tension, 0 where it is slack"
    return Column(name="t", unit="N", count=cables, bare=True, check=_pull, why=why)


def length_columns(cables: int) -> Column:
    """length1_mm, ...: cable lengths."""
    return Column(name="length", unit="m", written="mm", count=cables, why=f"the robot has {cables} cables")


def spread_columns(of: Column) -> Column:
    """q1_sigma_deg, x_sigma_mm, ...: standard deviations of other columns."""
    parts = tuple(f"{stem}_sigma" for stem in of.stems)
    return Column(name=f"{of.name}_sigma", unit=of.unit, written=of.written, parts=parts)


def _pull(tension: float, _: int) -> str:
    if 0.0 <= tension < 1e9:
        return ""
    return f"must be a tension of 0 N or more, not {tension:g}; a cable cannot push"


OURS = re.compile(
    r"row|reached|feasible|settled|status|(time|t)_s|q\d+[abc]?(_sigma)?_deg|qd\d+[abc]?_deg_s|qdd\d+[abc]?_deg_s2"
    r"|t\d+(_N)?|length\d+_mm|(wanted_|tip_)?[xyz](_sigma)?_mm|error_mm|(tau|needed|residual|stop)\d+[abc]?_Nm"
    r"|cable\d+_joint\d+_N|contact\d+_N"
    r"|friction_use\d+|[a-z_]+_mJ|.+_true"
)
"""Columns of files that we write: never taken for misspelt names."""


def column_names(*columns: Column) -> list[str]:
    """The header of a file with these columns."""
    return [name for column in columns for name in column.names]


# Writing.


def table_text(columns: Iterable[str], rows: Iterable[Sequence[object]], simulated: str = "") -> str:
    """A table as text, numbers with the digits to read the same ones back; None is an empty cell.

    `simulated` says how a computer made the data, for the first line.
    """
    return "".join(table_pieces(columns, rows, simulated))


def table_pieces(columns: Iterable[str], rows: Iterable[Sequence[object]], simulated: str = "") -> Iterator[str]:
    """The same text, some rows at a time, for tables that are long."""
    text = io.StringIO()
    if simulated:
        text.write(f"{SIMULATED}: {' '.join(simulated.split())}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(row)
        if text.tell() > PIECE:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


# Reading.


@dataclass(frozen=True, eq=False)
class Table:
    """Contents of a file, SI. Columns that the file does not have are absent."""

    values: Mapping[str, Floats]
    """(N,) by the name of a column, (N, parts) of one with several parts or with numbers."""
    texts: Mapping[str, tuple[str, ...]]
    """(N,) cells of a column of texts."""
    lines: tuple[int, ...]
    """(N,) line of the file that each row is in, counted from 1."""
    origin: str
    simulated: bool
    """Whether the file says that a computer made it."""
    unused: tuple[str, ...]
    """Columns that were not read."""
    names: Mapping[str, str]
    """Names in the file, by the names that we would write."""

    @property
    def time(self) -> Floats:
        """(N,) s."""
        return self.values["time"]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about the file."""
        return (f"columns not used: {_listed(self.unused)}",) if self.unused else ()

    def get(self, name: str, default: float) -> Floats:
        """(N,) values of a column, with `default` where the file says nothing."""
        values = self.values.get(name)
        return np.full(len(self), default) if values is None else np.where(np.isnan(values), default, values)

    def as_written(self, error: MeasurementError, also: Mapping[str, str] | None = None) -> MeasurementError:
        """The same error with the names that columns have in the file; `also` are names for ones it does not have."""
        names = {**(also or {}), **self.names}
        problems = [problem._replace(column=names.get(problem.column, problem.column)) for problem in error.problems]
        return MeasurementError(list(dict.fromkeys(problems)), self.origin)

    def __len__(self) -> int:
        return len(self.lines)


def file_error(origin: str, message: str, line: int = 0) -> MeasurementError:
    """An error of the file as a whole, or of its header."""
    return MeasurementError([CellProblem(0, line, "", message)], origin)


def read_text(path: str | Path, origin: str) -> str:
    """The whole file, at most 50 MB of UTF-8."""
    try:
        content = read_start(path, MAX_BYTES)
        if len(content) > MAX_BYTES:
            raise file_error(origin, f"is larger than {MAX_BYTES} bytes; leave rows out")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise file_error(origin, "is not UTF-8 text; save the table as CSV") from None
    except OSError as error:
        raise file_error(origin, f"cannot be read: {error.strerror or error}") from None


def read_table(
    path: str | Path, columns: Sequence[Column], *, per: str = "row", origin: str = "", most: int | None = None
) -> Table:
    """The declared columns of a file. `per` is what a row stands for and `origin` the file's name, for messages;
    `most` limits the rows."""
    origin = origin or str(path)
    return parse_table(read_text(path, origin), columns, origin, per=per, most=most)


def parse_table(
    text: str, columns: Sequence[Column], origin: str, *, per: str = "row", most: int | None = None
) -> Table:
    """`read_table` from a text."""
    blank = " " + SEPARATORS
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip(blank) and line[0] != "#"]
    header = _example(columns)
    if not lines:
        raise file_error(origin, f"has no rows; write a header {header} and one row per {per}")
    (number, head), *body = lines
    separator = max(SEPARATORS, key=head.count)
    try:
        names, *cells = ([cell.strip() for cell in row] for row in _split((line for _, line in lines), separator))
    except csv.Error as error:
        raise file_error(origin, f"is no table: {error}") from None
    if all(_number(name) is not None for name in names):
        raise file_error(origin, f"has numbers where the column names should be; write {header}", number)
    places = _Header(names, columns).places(number, origin, header)
    if not body:
        raise file_error(origin, f"has a header but no rows; write one row per {per}")
    if most is not None and len(body) > most:
        raise file_error(origin, f"has more than {most} rows; leave some out")
    used = {place.index for place in places}
    return Table(
        *_read_cells(columns, names, places, cells, [i for i, _ in body], origin, separator),
        tuple(i for i, _ in body),
        origin,
        text.lower().startswith(SIMULATED),
        tuple(name or "(no name)" for i, name in enumerate(names) if i not in used),
        {place.column.names[place.part]: names[place.index] for place in places},
    )


def wrong_values(
    columns: Iterable[Column], values: Mapping[str, Floats], lines: Sequence[int] = ()
) -> Iterator[CellProblem]:
    """What the checks of columns say about arrays, SI: the same as about a file. NaN is an empty cell."""
    found = []
    for column in columns:
        if column.check is None or column.name not in values:
            continue
        table = values[column.name].reshape(len(values[column.name]), -1)
        for row, part in np.ndindex(*table.shape):
            value = float(table[row, part])
            if not (column.blank and math.isnan(value)) and (message := column.check(value, part)):
                found.append(CellProblem(row + 1, lines[row] if lines else 0, column.names[part], message))
    yield from sorted(found, key=lambda problem: problem.row)


@dataclass(frozen=True)
class _Place:
    """Where a part of a column is in a row."""

    index: int
    column: Column
    part: int
    factor: float


class _Header:
    """The first line of a file, sorted into columns; `problems` are what is wrong with it."""

    def __init__(self, names: Sequence[str], columns: Sequence[Column]) -> None:
        self.names, self.columns = names, columns
        self.found: dict[tuple[str, int], _Place] = {}
        self.tried: set[tuple[str, int]] = set()
        """Parts that are there under a wrong name, so not missing."""
        self.unknown: list[str] = []
        self.problems: list[tuple[str, str]] = []
        for index, name in enumerate(names):
            self._sort(index, name)

    def places(self, line: int, origin: str, header: str) -> list[_Place]:
        """Where every column is, in the order of the file; or an error that lists everything wrong."""
        self._refuse_misspelt()
        for column in self.columns:
            self.problems += self._missing(column, header)
        if self.problems:
            raise MeasurementError([CellProblem(0, line, *problem) for problem in self.problems], origin)
        return sorted(self.found.values(), key=lambda place: place.index)

    def _sort(self, index: int, name: str) -> None:
        meant = [(column, *match) for column in self.columns if (match := column.matched(name)) is not None]
        fitting = [(column, part, f) for column, part, unit in meant if (f := column.factor(unit)) is not None]
        if fitting:
            column, part, factor = fitting[0]
            if not 0 <= part < len(column.stems):
                self._refuse(name, f"{column.why}; give {column.spoken}" if column.names else "there is no such column")
            elif (key := (column.name, part)) in self.found:
                self._refuse(column.names[part], "appears twice; keep one")
            else:
                self.found[key] = _Place(index, column, part, factor)
        elif OURS.fullmatch(name):
            pass
        elif meant:
            column, part, unit = meant[0]
            self.tried.add((column.name, part))
            what = f"{unit!r} is not a unit of {QUANTITIES.get(column.unit, column.unit)}" if unit else "has no unit"
            units = " or ".join(dict.fromkeys(f"_{unit}" for unit in (column.written, column.unit) if unit))
            self._refuse(name, f"{what}; let the name end in {units}")
        else:
            self.unknown.append(name)

    def _refuse(self, name: str, message: str) -> None:
        if (name, message) not in self.problems:
            self.problems.append((name, message))

    def _refuse_misspelt(self) -> None:
        """Unknown names that are close to a column which the file does not have."""
        absent = {
            spelt.casefold(): (column, part)
            for column in self.columns
            for part, stem in enumerate(column.stems)
            for word in (stem, *(other for other, meant in column.also.items() if meant == stem))
            for spelt in (column.names[part].replace(stem, word, 1), word)
            if (column.name, part) not in self.found
        }
        for name in self.unknown:
            close = difflib.get_close_matches(name.casefold(), absent, n=1, cutoff=CLOSE)
            for column, part in [absent[spelt] for spelt in close] or _abbreviated(name, absent.values()):
                self.tried.add((column.name, part))
                self._refuse(name, f"is not a known column; is it {column.names[part]}?")

    def _has(self, name: str) -> bool:
        return any(name == key for key, _ in (*self.found, *self.tried))

    def _missing(self, column: Column, header: str) -> Iterator[tuple[str, str]]:
        """Missing parts of a column, or one too many of two that say the same."""
        if not column.stems:
            return
        if self._has(column.name):
            if self._has(column.instead):
                other = next(one for one in self.columns if one.name == column.instead)
                if self.columns.index(column) > self.columns.index(other):
                    yield column.names[0], f"give {column.spoken} or {other.spoken}, not both"
                return
            keys = [(column.name, part) for part in range(len(column.stems))]
            why = column.why or f"give all of {column.spoken}"
            rest = "" if column.needed else f", or leave out all of {column.spoken}"
            for name, key in zip(column.names, keys, strict=True):
                if key not in self.found and key not in self.tried and not column.partial:
                    yield name, f"is missing; {why}{rest}"
        elif column.needed and not self._has(column.instead):
            why = column.why if column.why and not (column.words or column.text) else f"the header needs {header}"
            yield column.names[0], f"is missing; {why} (found {_listed(self.names)})"


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence; those beyond `MOST_NAMED` are counted."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _abbreviated(name: str, columns: Iterable[tuple[Column, int]]) -> list[tuple[Column, int]]:
    """The column that a name such as az_deg shortens: its beginning, two letters or more, and a unit that fits."""
    stem, _, unit = name.partition("_")
    fitting = ((column, part) for column, part in columns if unit and column.unit and column.factor(unit) is not None)
    return [(column, part) for column, part in fitting
            if len(stem) > 1 and column.stems[part].casefold().startswith(stem.casefold())][:1]  # fmt: skip


def _read_cells(
    columns: Sequence[Column], names: Sequence[str], places: Sequence[_Place], cells: Sequence[Sequence[str]],
    lines: Sequence[int], origin: str, separator: str,
) -> tuple[dict[str, Floats], dict[str, tuple[str, ...]]]:  # fmt: skip
    """Numbers and texts of all columns; or an error that names every wrong cell."""
    problems: list[CellProblem] = []
    table = np.full((len(cells), len(names)), np.nan)
    for row, (line, found) in enumerate(zip(lines, cells, strict=True)):
        if len(found) != len(names):
            point = "; write numbers with a decimal point" if len(found) > len(names) and separator == "," else ""
            count = f"{len(found)} cell{'' if len(found) == 1 else 's'}"
            message = f"has {count} where the header has {len(names)}{point}"
            problems.append(CellProblem(row + 1, line, "", message))
            continue
        for place in places:
            if place.column.text:
                continue
            value = _value(found[place.index], place)
            if isinstance(value, str):
                problems.append(CellProblem(row + 1, line, names[place.index], value))
            else:
                table[row, place.index] = value
    for place in places:
        if place.column.increasing:
            problems += _not_increasing(table[:, place.index], lines, names[place.index], place.column.unit)
    if problems:
        raise MeasurementError(sorted(problems, key=lambda problem: problem.row), origin)
    values: dict[str, Floats] = {}
    for column in columns:
        own = {place.part: place.index for place in places if place.column is column}
        if (own or not column.stems) and not column.text:
            blank = np.full(len(table), np.nan)
            parts = [table[:, own[part]] if part in own else blank for part in range(len(column.stems))]
            several = column.count is not None or len(column.parts) > 1
            values[column.name] = np.array(parts).reshape(-1, len(table)).T.copy() if several else parts[0]
    texts = {p.column.name: tuple(found[p.index] for found in cells) for p in places if p.column.text}
    return values, texts


def _value(text: str, place: _Place) -> float | str:
    """The SI value of a cell, or what is wrong with it."""
    column = place.column
    if not text and column.blank:
        return math.nan
    if column.words is not None:
        # Spreadsheets write a long minus, and 1.0 where a person wrote 1.
        number = column.words.get(text.lower().replace("\N{MINUS SIGN}", "-").removesuffix(".0"))
        return number if number is not None else f"must be {column.why}, not {text!r}"
    number = _number(text)
    if number is None:
        if not text:
            return "must be a finite plain number, but the cell is empty" + (f"; {column.why}" if column.why else "")
        point = "; write it with a decimal point" if _number(text.replace(",", ".")) is not None else ""
        return f"must be a finite plain number, not {text!r}{point}"
    value = place.factor * number
    if not math.isfinite(value):
        return f"must be a finite plain number, and {text!r} is too large"
    return (column.check(value, place.part) if column.check is not None else "") or value


def _not_increasing(values: Floats, lines: Sequence[int], name: str, unit: str) -> Iterator[CellProblem]:
    for row in range(1, len(values)):
        if values[row] <= values[row - 1]:
            message = f"{values[row]:g} {unit} does not come after {values[row - 1]:g} {unit} of the row before"
            yield CellProblem(row + 1, lines[row], name, f"{message}; sort the rows, without repeats")


def _split(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    # Line by line: a lone quotation mark must not swallow the lines after it.
    return (next(csv.reader([line], delimiter=separator)) for line in lines)


def _number(text: str) -> float | None:
    """One finite plain number; None if the text is anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def _example(columns: Iterable[Column]) -> str:
    """A header to copy: columns that are needed."""
    names = (column.names for column in columns if column.needed)
    return ",".join(",".join(found) if len(found) <= 3 else f"{found[0]},{found[1]},..." for found in names)


@lru_cache
def _factor(unit: str, si: str) -> float | None:
    try:
        return float(unit_factor(_unit_text(unit), _unit_text(si)))
    except UnitError:
        return None


def _unit_text(name: str) -> str:
    """A unit as in `robot.units`, from one in a column name: deg_s2 is deg/s^2, Nm is N*m."""
    powers = re.sub(r"([a-z])(\d)", r"\1^\2", name)
    return re.sub(r"N(m|cm|mm)\b", r"N*\1", powers.replace("_", "/"))
