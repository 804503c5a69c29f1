"""The file `rig.csv`: readings of a friction rig in the units people measure in.

theta_deg,load_g,force_N,direction
5,303.5,3.0571,pull
5,303.5,2.8914,release
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from vertebra.errors import CellProblem, InputError, MeasurementError
from vertebra.identify.measured_file import SIMULATED, file_error, is_number, read_text, split_cells
from vertebra.identify.rig_data import RigData, bent_side, checked_g, wrong_cells
from vertebra.identify.rig_law import Bent
from vertebra.robot.description import G

__all__ = ["COLUMNS", "RigData", "read_rig", "rig_csv"]

COLUMNS = ("theta_deg", "load_g", "force_N", "direction")
GRAVITY_COLUMN, BENT_COLUMN = "g_m_s2", "bent"
KNOWN = (*COLUMNS, GRAVITY_COLUMN, BENT_COLUMN)
NUMBERS = (*COLUMNS[:3], GRAVITY_COLUMN)
DIRECTIONS = {"pull": 1.0, "up": 1.0, "+1": 1.0, "1": 1.0, "release": -1.0, "down": -1.0, "-1": -1.0}


def read_rig(path: str | Path, *, g: float | None = None, bent: str | None = None) -> RigData:
    """Readings from a file with the columns theta_deg, load_g, force_N and direction (pull or release).

    `g` in m/s^2 is for files without a column g_m_s2; 9.8 when neither says. `bent` is the side of the cable that is
    at theta to the normal of the disc, payload or sensor, for files without a column bent; payload when neither says.
    Lines that begin with # are comments.
    """
    common, side, origin = checked_g(g), bent_side(bent or Bent.PAYLOAD), str(path)
    text = read_text(Path(path), origin)
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip(" ,\t") and line[0] != "#"]
    if not lines:
        raise file_error(origin, f"has no readings; write a header {','.join(COLUMNS)} and one row a reading")
    (number, header), *body = lines
    names = _header(header, number, origin)
    for name, column, value in (("g", GRAVITY_COLUMN, g), ("bent", BENT_COLUMN, bent)):
        if value is not None and column in names:
            raise InputError(name, f"{origin} has its own column {column}; leave one of the two out")
    if not body:
        raise file_error(origin, "has a header but no readings; write one row a reading")
    table = [(row, line, split_cells(cells)) for row, (line, cells) in enumerate(body, 1)]
    found = [_reading(row, line, cells, names, common) for row, line, cells in table]
    problems = [problem for _, wrong in found for problem in wrong]
    if BENT_COLUMN in names and not problems:
        side, problems = _common_side(table, names.index(BENT_COLUMN))
    if problems:
        raise MeasurementError(problems, origin)
    simulated = text.lower().startswith(SIMULATED)
    source = f"{Path(path).name}, {len(found)} {'simulated ' if simulated else ''}readings"
    theta, mass, force, direction, gravity = np.array([values for values, _ in found]).T
    return RigData(theta, mass, force, direction, gravity, side, source, simulated, tuple(_notes(names)))


def rig_csv(data: RigData) -> str:
    """The text of a rig file, with the digits to read the same readings back. Simulated ones say so in line 1."""
    text = io.StringIO()
    if data.simulated:
        text.write(f"{SIMULATED}: {' '.join(data.source.split())}\n")
    writer = csv.writer(text, lineterminator="\n")
    own_g, own_side = bool((data.g != G).any()), data.bent is not Bent.PAYLOAD
    writer.writerow([*COLUMNS, *[GRAVITY_COLUMN] * own_g, *[BENT_COLUMN] * own_side])
    lists = (data.theta, data.mass, data.force, data.direction, data.g)
    for theta, mass, force, direction, g in zip(*(values.tolist() for values in lists), strict=True):
        word = "pull" if direction > 0 else "release"
        cells = [f"{math.degrees(theta):.15g}", f"{mass * 1e3:.15g}", repr(force), word]
        writer.writerow([*cells, *[repr(g)] * own_g, *[str(data.bent)] * own_side])
    return text.getvalue()


def _header(text: str, line: int, origin: str) -> list[str]:
    names = split_cells(text)
    problems = [
        CellProblem(0, line, name, f"is missing; {_instead(name, names, text)}")
        for name in COLUMNS
        if name not in names
    ]
    twice = [name for name in KNOWN if names.count(name) > 1]
    problems += [CellProblem(0, line, name, "stands there twice; keep one") for name in twice]
    if problems:
        raise MeasurementError(problems[:1] if _other_separator(text) else problems, origin)
    return names


def _other_separator(text: str) -> bool:
    return "," not in text and (";" in text or "\t" in text)


def _instead(wanted: str, names: Iterable[str], text: str) -> str:
    """How to put a missing column right: a wrong separator, a wrong unit, or not there at all."""
    if _other_separator(text):
        return "separate columns by commas, and write numbers with a decimal point"
    stem, _, unit = wanted.partition("_")
    for name in names:
        if name.lower().startswith(stem):
            return f"found {name!r}: " + (f"give it in {unit} and name it {wanted}" if unit else f"name it {wanted}")
    return f"the header needs {', '.join(COLUMNS)}"


Values = tuple[float, float, float, float, float]


def _reading(
    row: int, line: int, cells: list[str], names: list[str], common_g: float
) -> tuple[Values, list[CellProblem]]:
    """One reading in SI, and what is wrong with it."""
    if len(cells) != len(names):
        more = "; write numbers with a decimal point" if len(cells) > len(names) else ""
        message = f"has {len(cells)} cells where the header has {len(names)}{more}"
        return (0.0,) * 5, [CellProblem(row, line, "", message)]
    cell = dict(zip(names, cells, strict=True))
    wrong = dict(_unreadable(cell))
    theta, load, force = (float(cell[name]) if name not in wrong else math.nan for name in NUMBERS[:3])
    g = float(cell[GRAVITY_COLUMN]) if GRAVITY_COLUMN in cell and GRAVITY_COLUMN not in wrong else common_g
    sign = DIRECTIONS.get(_word(cell["direction"]), math.nan)
    values = (math.radians(theta), load * 1e-3, force, sign, g)
    for column, message in wrong_cells(*values):
        wrong.setdefault(column, message)
    return values, [CellProblem(row, line, name, wrong[name]) for name in KNOWN if name in wrong]


def _common_side(table: Iterable[tuple[int, int, list[str]]], place: int) -> tuple[Bent, list[CellProblem]]:
    """The bent side, the same in every row: it belongs to the rig, not to a reading."""
    first = ""
    for row, line, cells in table:
        first = first or cells[place]
        if cells[place] != first or first not in set(Bent):
            message = f"must be {' or '.join(Bent)}, the same in every row, not {cells[place]!r}"
            return Bent.PAYLOAD, [CellProblem(row, line, BENT_COLUMN, message)]
    return Bent(first), []


def _unreadable(cell: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Cells that are no numbers, or no direction."""
    for name in NUMBERS:
        text = cell.get(name)
        if text is not None and not is_number(text):
            unit = "m/s^2" if name == GRAVITY_COLUMN else name.partition("_")[2]
            found = f"not {text!r}" if text else "but the cell is empty"
            yield name, f"must be a finite plain number in {unit}, {found}"
    if _word(cell["direction"]) not in DIRECTIONS:
        words = "pull (up, +1: the sensor pulls the payload up) or release (down, -1: the payload sinks)"
        yield "direction", f"must be {words}, not {cell['direction']!r}"


def _word(text: str) -> str:
    # Spreadsheets write a long minus, and 1.0 where a person wrote 1.
    return text.lower().replace("\N{MINUS SIGN}", "-").removesuffix(".0")


def _notes(names: Iterable[str]) -> Iterator[str]:
    extra = [name or "(no name)" for name in names if name not in KNOWN]
    if extra:
        yield f"columns not used: {', '.join(extra)}"
