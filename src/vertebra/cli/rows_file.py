"""CSV files of rows to follow: tensions or places of the tip, one row a step, units in the names of the columns.

A column name without a unit is SI, as everywhere: `t1` is in N as `t1_N` is, and `x_mm` says that it is in mm.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vertebra.cli.answer import CommandError, say
from vertebra.cli.options import Quantity
from vertebra.errors import VertebraError

MAX_BYTES = 50_000_000
MOST_SHOWN = 20
"""Problems beyond this number are only counted in a message."""


@dataclass(frozen=True)
class Rows:
    """Numbers of a file, SI."""

    file: Path
    values: list[list[float]]
    """One list a row, in the order of the columns asked for."""
    lines: list[int]
    """Line of the file that each row stands in, counted from 1."""

    def name(self, row: int) -> str:
        """How a row, counted from 0, is called in messages."""
        return f"{self.file}, row {row + 1} (line {self.lines[row]})"


class RowError(CommandError):
    """A row that has no answer; `row` counts from 1, `cause` is the name of the solver's error."""

    def __init__(self, name: str, row: int, error: VertebraError) -> None:
        self.row, self.cause = row, type(error).__name__
        joint = getattr(error, "joint", None)
        if joint is not None:
            self.joint = joint
        super().__init__(f"{name}: {error}")


def read_rows(option: str, file: Path, columns: Sequence[str], quantity: Quantity) -> Rows:
    """Rows of `columns`, which may be in any order and have other columns beside them; # starts a comment."""
    text = _text(option, file)
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip(" ,;\t") and line[0] != "#"]
    header = ",".join(f"{name}_mm" if quantity.unit == "m" else name for name in columns)
    if len(lines) < 2:
        raise CommandError(f"{option} {file}: has no rows; write a header {header} and one row a step")
    (number, head), *body = lines
    names = _cells(head)
    if all(_is_number(name) for name in names):
        raise CommandError(f"{option} {file}: line {number} has numbers; name the columns first: {header}")
    places, factors = _places(f"{option} {file}", head, names, columns, quantity, header)
    values: list[list[float]] = []
    problems: list[str] = []
    for row, (line, cells) in enumerate(body, 1):
        found = _cells(cells)
        wrong = list(_problems(found, names, places))
        problems += [f"row {row} (line {line}){problem}" for problem in wrong]
        if not wrong:
            values.append([factor * float(found[place]) for place, factor in zip(places, factors, strict=True)])
    if problems:
        more = [f"and {len(problems) - MOST_SHOWN} more"] if len(problems) > MOST_SHOWN else []
        raise CommandError(f"{option} {file}: " + "\n  ".join([*problems[:MOST_SHOWN], *more]))
    return Rows(file, values, [line for line, _ in body])


def _text(option: str, file: Path) -> str:
    if file.stat().st_size > MAX_BYTES:
        raise CommandError(f"{option} {file}: is larger than {MAX_BYTES} bytes; leave rows out")
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise CommandError(f"{option} {file}: is not UTF-8 text; save the table as CSV") from None


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line]))]


def _places(
    origin: str, head: str, names: list[str], columns: Sequence[str], quantity: Quantity, header: str
) -> tuple[list[int], list[float]]:
    """Place of each column in the file, and its factor to SI."""
    if "," not in head and (";" in head or "\t" in head) and len(columns) > 1:
        raise CommandError(f"{origin}: separate columns by commas, and write numbers with a decimal point")
    places, factors = [], []
    for column in columns:
        found = [i for i, name in enumerate(names) if name == column or name.startswith(f"{column}_")]
        if len(found) != 1:
            what = f"column {column} is missing" if not found else f"column {column} stands there {len(found)} times"
            raise CommandError(f"{origin}: {what}; the header needs {header} (found {', '.join(names)})")
        places.append(found[0])
        factors.append(_factor(origin, names[found[0]], column, quantity))
    unused = [name or "(no name)" for i, name in enumerate(names) if i not in places]
    if unused:
        shown = ", ".join(unused[:8]) + (f" and {len(unused) - 8} more" if len(unused) > 8 else "")
        say(f"note: columns not used: {shown}")
    return places, factors


def _factor(origin: str, name: str, column: str, quantity: Quantity) -> float:
    from vertebra.robot.units import UnitError, to_si

    unit = name[len(column) + 1 :]
    try:
        return to_si(f"1 {unit}" if unit else 1.0, quantity.unit, quantity.example)
    except UnitError:
        wanted = f"give {column} in {quantity.unit}, or name it {column}_UNIT with a unit of {quantity.what}"
        raise CommandError(f"{origin}: column {name}: {unit!r} is no unit of {quantity.what}; {wanted}") from None


def _problems(cells: list[str], names: list[str], places: Sequence[int]) -> Iterator[str]:
    if len(cells) != len(names):
        more = "; write numbers with a decimal point" if len(cells) > len(names) else ""
        yield f" has {len(cells)} cells where the header has {len(names)}{more}"
        return
    for place in places:
        if not _is_number(cells[place]):
            yield f", column {names[place]}: must be a finite plain number, not {cells[place]!r}"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False
