"""Measured shapes: checked, and read from a file in the units people measure in."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vertebra.errors import CellProblem, InputError, MeasurementError, VertebraError, row_name
from vertebra.identify.rig import checked_g
from vertebra.mechanics.problem import Problem
from vertebra.robot.csv import SIMULATED, file_error, is_number, read_text, split_cells
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

LARGEST = 1e9
"""No tension, mass or place is larger, SI."""


class UnsolvedRow(VertebraError):  # noqa: N818 - like the errors of the solvers
    """A row whose shape cannot be predicted; ``cause`` is the error of the solver."""

    def __init__(self, row: int, line: int, cause: VertebraError) -> None:
        self.row, self.line, self.cause = row, line, cause
        super().__init__(
            f"{row_name(row, line)}: {cause}. The row has no shape with these parameters: start from other values "
            "(NAME=START), or leave it out"
        )

    def __reduce__(self) -> tuple[type[UnsolvedRow], tuple[int, int, VertebraError]]:
        return type(self), (self.row, self.line, self.cause)


@dataclass(frozen=True, eq=False, repr=False)
class ShapeData:
    """Measured shapes of one robot, one row each, SI. NaN stands for what was not measured."""

    tensions: Floats
    """(N, cables) N."""
    tips: Floats
    """(N, 3) m."""
    angles: Floats
    """(N, n) rad."""
    payload: Floats
    """(N,) kg hung from the tip."""
    weight: Floats
    """(N,) how much a row counts; 1 is usual."""
    sigma_tip: Floats
    """(N,) standard deviation of each coordinate of the tip, m; NaN where not stated."""
    sigma_angle: Floats
    """(N,) standard deviation of each angle, rad; NaN where not stated."""
    sequence: tuple[str, ...]
    """(N,) rows of the same name are successive steps of one path; an empty name is a row by itself."""
    lines: tuple[int, ...]
    """(N,) line of the file; 0 without one."""
    source: str = "measured shapes"
    """Where they come from, in words."""
    simulated: bool = False
    """Whether a computer made them."""
    notes: tuple[str, ...] = ()
    """What a person should know about the file, such as columns that were left aside."""

    def __post_init__(self) -> None:
        for name in ("tensions", "tips", "angles", "payload", "weight", "sigma_tip", "sigma_angle"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        count = len(self.tensions)
        shapes = {"tensions": 2, "tips": 2, "angles": 2, "payload": 1, "weight": 1, "sigma_tip": 1, "sigma_angle": 1}
        for name, dimensions in shapes.items():
            array = getattr(self, name)
            if array.ndim != dimensions or len(array) != count or not count:
                raise InputError(name, f"must have one row a shape, not shape {array.shape}")
        if self.tips.shape[1] != 3 or len(self.sequence) != count or len(self.lines) != count:
            raise InputError("shapes", "tips have three coordinates; sequence and lines one entry a shape")
        problems = list(self._problems())
        if problems:
            raise MeasurementError(problems, self.source)

    def _problems(self) -> Iterator[CellProblem]:
        for row in range(len(self)):
            for column, message in self._wrong_cells(row):
                yield CellProblem(row + 1, self.lines[row], column, message)

    def _wrong_cells(self, row: int) -> Iterator[tuple[str, str]]:
        for k, tension in enumerate(self.tensions[row].tolist(), 1):
            if not 0.0 <= tension < LARGEST:
                yield f"t{k}", f"must be a tension of 0 N or more, not {tension:g}; a cable cannot push"
        if not 0.0 <= self.payload[row] < LARGEST:
            yield "payload_g", f"must be a mass of 0 g or more, not {1e3 * self.payload[row]:g}"
        if not 0.0 < self.weight[row] < LARGEST:
            yield "weight", f"must be above 0, not {self.weight[row]:g}; leave rows out that do not count"
        for column, value in (("sigma_mm", self.sigma_tip[row]), ("sigma_deg", self.sigma_angle[row])):
            if not (np.isnan(value) or 0.0 < value < LARGEST):
                yield column, "must be a standard deviation above 0"
        for columns, values in ((("x_mm", "y_mm", "z_mm"), self.tips[row]), (None, self.angles[row])):
            for i in np.flatnonzero(np.isinf(values) | (np.abs(values) >= LARGEST)).tolist():
                yield columns[i] if columns else f"q{i + 1}_deg", "must be a finite number"
        if np.isnan(self.tips[row]).all() and np.isnan(self.angles[row]).all():
            yield "", "has neither a tip nor a joint angle; give x_mm, y_mm, z_mm or q1_deg, q2_deg, ..."

    @property
    def has_tips(self) -> bool:
        return bool(np.isfinite(self.tips).any())

    @property
    def has_angles(self) -> bool:
        return bool(np.isfinite(self.angles).any())

    @property
    def paths(self) -> list[list[int]]:
        """Rows that follow each other, in order; a row by itself is a path of one."""
        found: dict[object, list[int]] = {}
        for row, name in enumerate(self.sequence):
            found.setdefault(name or row, []).append(row)
        return list(found.values())

    def __len__(self) -> int:
        return len(self.tensions)

    def __repr__(self) -> str:
        made = "simulated " if self.simulated else ""
        what = " and ".join(["tips"] * self.has_tips + ["joint angles"] * self.has_angles)
        return f"ShapeData: {len(self)} {made}shapes with {what}, from {self.source}"


# The file of measured shapes: one row a shape, in the units people measure in.
#
# t1,t2,t3,t4,x_mm,y_mm,z_mm 2,2,8,8,-57.95,0.00,130.97

TIP = ("x_mm", "y_mm", "z_mm")
PAYLOAD, WEIGHT, SIGMA_TIP, SIGMA_ANGLE, SEQUENCE = "payload_g", "weight", "sigma_mm", "sigma_deg", "sequence"
_PULLED = re.compile(r"([tm])(\d+)(_kg)?")
_ANGLE = re.compile(r"q(\d+)_deg")


def read_shapes(path: str | Path, robot: Robot, *, g: float | None = None) -> ShapeData:
    """Measured shapes of `robot` from a CSV file.

    Columns: the tension of every cable in N, t1, t2, ..., or the mass hung from it, m1_kg, m2_kg, ... (times `g` in
    m/s^2, 9.8 unless stated); of the tip x_mm, y_mm, z_mm and of joints q1_deg, q2_deg, ..., any of them, an empty
    cell where nothing was measured. Optional: payload_g at the tip, weight, sigma_mm, sigma_deg, sequence. Lines that
    begin with # are comments.
    """
    Problem.of(robot, None, ())  # refuses robots that have no statics, before their cables are counted
    origin = str(path)
    text = read_text(Path(path), origin)
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip(" ,\t") and line[0] != "#"]
    if not lines:
        raise file_error(origin, "has no shapes; write a header such as t1,t2,t3,t4,x_mm,y_mm,z_mm and one row a shape")
    (number, header), *body = lines
    names = split_cells(header)
    if not body:
        raise file_error(origin, "has a header but no shapes; write one row a shape")
    layout = _layout(names, header, number, origin, robot, g)
    table = np.full((len(body), len(names)), np.nan)
    problems: list[CellProblem] = []
    words: list[str] = []
    for row, (line, cells) in enumerate(body):
        values = split_cells(cells)
        problems += _read_row(row, line, values, layout, table)
        words.append(values[names.index(SEQUENCE)] if SEQUENCE in names and len(values) == len(names) else "")
    if problems:
        raise MeasurementError(problems, origin)
    simulated = text.lower().startswith(SIMULATED)
    source = f"{Path(path).name}, {len(body)} {'simulated' if simulated else 'measured'} shapes"
    numbers = tuple(line for line, _ in body)
    data = layout.columns(table)
    return ShapeData(**data, sequence=tuple(words), lines=numbers, source=source, simulated=simulated,
                     notes=tuple(layout.notes()))  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Which column of a file holds what."""

    names: list[str]
    robot: Robot
    pull: tuple[str, ...]
    """Columns of tensions or masses, one a cable."""
    g: float
    """From these columns to N."""

    @property
    def known(self) -> tuple[str, ...]:
        angles = [f"q{j + 1}_deg" for j in range(len(self.robot.joints))]
        return (*self.pull, *TIP, *angles, PAYLOAD, WEIGHT, SIGMA_TIP, SIGMA_ANGLE, SEQUENCE)

    @property
    def numbers(self) -> set[str]:
        return set(self.known) - {SEQUENCE}

    def columns(self, table: Floats) -> dict[str, Floats]:
        """The table in SI."""

        def column(name: str, default: float = math.nan) -> Floats:
            if name not in self.names:
                return np.full(len(table), default)
            values = table[:, self.names.index(name)]
            return values if math.isnan(default) else np.where(np.isnan(values), default, values)

        angles = [column(f"q{j + 1}_deg") for j in range(len(self.robot.joints))]
        return {
            "tensions": self.g * np.column_stack([column(name) for name in self.pull]),
            "tips": 1e-3 * np.column_stack([column(name) for name in TIP]),
            "angles": np.radians(np.column_stack(angles)),
            "payload": 1e-3 * column(PAYLOAD, 0.0),
            "weight": column(WEIGHT, 1.0),
            "sigma_tip": 1e-3 * column(SIGMA_TIP),
            "sigma_angle": np.radians(column(SIGMA_ANGLE)),
        }

    def notes(self) -> Iterator[str]:
        extra = [name or "(no name)" for name in self.names if name not in self.known]
        if extra:
            yield f"columns not used: {', '.join(extra)}"


def shape_csv(data: ShapeData) -> str:
    """The text of a file of shapes, with the digits to read the same shapes back. Simulated ones say so in line 1."""
    angles = np.degrees(data.angles)
    columns: dict[str, list[str]] = {}
    for k in range(data.tensions.shape[1]):
        columns[f"t{k + 1}"] = _texts(data.tensions[:, k])
    for axis, name in enumerate(TIP):
        columns[name] = _texts(1e3 * data.tips[:, axis])
    for j in range(angles.shape[1]):
        columns[f"q{j + 1}_deg"] = _texts(angles[:, j])
    columns[PAYLOAD] = _texts(1e3 * data.payload) if data.payload.any() else []
    columns[WEIGHT] = _texts(data.weight) if (data.weight != 1.0).any() else []
    columns[SIGMA_TIP], columns[SIGMA_ANGLE] = _texts(1e3 * data.sigma_tip), _texts(np.degrees(data.sigma_angle))
    columns[SEQUENCE] = list(data.sequence)
    kept = {name: cells for name, cells in columns.items() if any(cells)}
    text = io.StringIO()
    if data.simulated:
        text.write(f"{SIMULATED}: {' '.join(data.source.split())}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(kept)
    writer.writerows(zip(*kept.values(), strict=True))
    return text.getvalue()


def _texts(values: Floats) -> list[str]:
    return ["" if math.isnan(value) else f"{value:.15g}" for value in values.tolist()]


def _layout(names: list[str], header: str, line: int, origin: str, robot: Robot, g: float | None) -> Layout:
    """What the columns are, or an error that names every column that cannot be."""
    count = len(robot.cables)
    by_mass = any((found := _PULLED.fullmatch(name)) and found[1] == "m" and found[3] for name in names)
    pull = tuple(f"m{k}_kg" if by_mass else f"t{k}" for k in range(1, count + 1))
    layout = Layout(names, robot, pull, checked_g(g) if by_mass else 1.0)
    problems = [
        CellProblem(0, line, name, f"is missing; {_instead(name, names, header, robot)}")
        for name in pull
        if name not in names
    ]
    problems += [CellProblem(0, line, name, "stands there twice; keep one") for name in layout.known
                 if names.count(name) > 1]  # fmt: skip
    for name in names:
        if name in layout.known:
            continue
        if _PULLED.fullmatch(name):
            message = f"{robot.name} has {count} cables; give {pull[0]} to {pull[-1]}" if pull else "no cables"
            if by_mass and name.startswith("t"):
                message = "give tensions t1, t2, ... or hung masses m1_kg, m2_kg, ..., not both"
            problems.append(CellProblem(0, line, name, message))
        elif _ANGLE.fullmatch(name):
            problems.append(CellProblem(0, line, name, f"{robot.name} has {len(robot.joints)} joints, counted from 1"))
    if not problems and not set(names) & {*TIP, *(name for name in names if _ANGLE.fullmatch(name))}:
        message = "has nothing measured; give the tip as x_mm, y_mm, z_mm, or joint angles q1_deg, q2_deg, ..."
        raise file_error(origin, message, line)
    if problems:
        raise MeasurementError(problems, origin)
    if g is not None and not by_mass:
        raise InputError("g", f"{origin} has tensions in N; g belongs to hung masses m1_kg, m2_kg, ...")
    return layout


def _instead(wanted: str, names: list[str], header: str, robot: Robot) -> str:
    if ";" in header or "\t" in header:
        return "separate columns by commas, and write numbers with a decimal point"
    close = [name for name in names if re.match(rf"{wanted.partition('_')[0]}(?!\d)", name, re.IGNORECASE)]
    if close:
        return f"found {close[0]!r}: name it {wanted} and give it in {'kg' if wanted.endswith('_kg') else 'N'}"
    return f"{robot.name} has {len(robot.cables)} cables, and each needs its column"


def _read_row(row: int, line: int, values: list[str], layout: Layout, table: Floats) -> Iterator[CellProblem]:
    """Fill a row of the table; yields what is wrong with it."""
    names = layout.names
    if len(values) != len(names):
        more = "; write numbers with a decimal point" if len(values) > len(names) else ""
        message = f"has {len(values)} cells where the header has {len(names)}{more}"
        yield CellProblem(row + 1, line, "", message)
        return
    for column, (name, text) in enumerate(zip(names, values, strict=True)):
        if name not in layout.numbers:
            continue
        if text and not is_number(text):
            yield CellProblem(row + 1, line, name, f"must be a finite plain number, not {text!r}")
        elif text:
            table[row, column] = float(text)
        elif name in layout.pull:
            yield CellProblem(row + 1, line, name, "is empty; every cable needs its tension, 0 where it is slack")
