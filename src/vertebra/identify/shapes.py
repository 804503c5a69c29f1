"""Measured shapes: checked, and read from a file in the units people measure in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from vertebra.errors import CellProblem, InputError, MeasurementError, VertebraError, row_name
from vertebra.identify.rig import checked_g
from vertebra.mechanics.problem import Problem
from vertebra.robot.robot import Robot
from vertebra.robot.table_file import (
    TIP,
    Column,
    angle_columns,
    file_error,
    read_table,
    table_text,
    tension_columns,
    wrong_values,
)
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
        columns = shape_columns(self.tensions.shape[1], self.angles.shape[1])
        values = {"t": self.tensions, "tip": self.tips, "q": self.angles, "payload": self.payload,
                  "weight": self.weight, "sigma_tip": self.sigma_tip, "sigma_angle": self.sigma_angle}  # fmt: skip
        yield from wrong_values(columns, values, self.lines)
        for row in np.flatnonzero(np.isnan(self.tips).all(axis=1) & np.isnan(self.angles).all(axis=1)).tolist():
            message = "has neither a tip nor a joint angle; give x_mm, y_mm, z_mm or q1_deg, q2_deg, ..."
            yield CellProblem(row + 1, self.lines[row], "", message)

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


# The file of measured shapes: one row per shape, in the units people measure in.
#
# t1_N,t2_N,t3_N,t4_N,x_mm,y_mm,z_mm
# 2,2,8,8,-57.95,0.00,130.97


def shape_columns(cables: int, joints: int) -> tuple[Column, ...]:
    """Columns of the file for a robot; the tip and the angles may be measured in part."""
    # A measured coordinate without a unit would rather be in mm than in m.
    tensions, option = tension_columns(cables), partial(Column, needed=False, blank=True)
    return (
        Column(name="m", unit="kg", count=cables, needed=False, instead="t", check=_wrong_mass, why=tensions.why),
        replace(tensions, instead="m"),
        replace(TIP, bare=False, needed=False, partial=True, blank=True, check=_not_finite),
        replace(angle_columns(joints), needed=False, partial=True, blank=True, check=_not_finite),
        option(name="payload", unit="kg", written="g", check=_wrong_mass),
        option(name="weight", check=_wrong_weight),
        option(name="sigma_tip", unit="m", written="mm", parts=("sigma",), check=_wrong_sigma),
        option(name="sigma_angle", unit="rad", written="deg", parts=("sigma",), check=_wrong_sigma),
        Column(name="sequence", text=True, needed=False),
    )


def _wrong_mass(mass: float, _: int) -> str:
    return "" if 0.0 <= mass < LARGEST else f"must be a mass of 0 g or more, not {1e3 * mass:g}"


def _wrong_weight(weight: float, _: int) -> str:
    return "" if 0.0 < weight < LARGEST else f"must be above 0, not {weight:g}; leave rows out that do not count"


def _wrong_sigma(sigma: float, _: int) -> str:
    return "" if 0.0 < sigma < LARGEST else "must be a standard deviation above 0"


def _not_finite(value: float, _: int) -> str:
    return "" if abs(value) < LARGEST else "must be a finite number"


def read_shapes(path: str | Path, robot: Robot, *, g: float | None = None) -> ShapeData:
    """Measured shapes of `robot` from a CSV file.

    Columns: the tension of every cable, t1_N, t2_N, ..., or the mass hung from it, m1_kg, m2_kg, ... (times `g` in
    m/s^2, 9.8 unless stated); of the tip x_mm, y_mm, z_mm and of joints q1_deg, q2_deg, ..., any of them, an empty
    cell where nothing was measured. Optional: payload_g at the tip, weight, sigma_mm, sigma_deg, sequence.
    """
    Problem.of(robot, None, ())  # refuses robots that have no statics, before their cables are counted
    joints = len(robot.joints)
    table = read_table(path, shape_columns(len(robot.cables), joints), per="shape")
    if "tip" not in table.values and "q" not in table.values:
        message = "has nothing measured; give the tip as x_mm, y_mm, z_mm, or joint angles q1_deg, q2_deg, ..."
        raise file_error(table.origin, message)
    if g is not None and "t" in table.values:
        raise InputError("g", f"{path} has tensions; g belongs to hung masses m1_kg, m2_kg, ...")
    blank = np.full((len(table), max(3, joints)), np.nan)
    try:
        return ShapeData(
            tensions=table.values["t"] if "t" in table.values else checked_g(g) * table.values["m"],
            tips=table.values.get("tip", blank[:, :3]),
            angles=table.values.get("q", blank[:, :joints]),
            payload=table.get("payload", 0.0),
            weight=table.get("weight", 1.0),
            sigma_tip=table.get("sigma_tip", math.nan),
            sigma_angle=table.get("sigma_angle", math.nan),
            sequence=table.texts.get("sequence", ("",) * len(table)),
            lines=table.lines,
            source=f"{Path(path).name}, {len(table)} {'simulated' if table.simulated else 'measured'} shapes",
            simulated=table.simulated,
            notes=table.notes,
        )
    except MeasurementError as error:
        raise table.as_written(error) from None


def shape_csv(data: ShapeData) -> str:
    """The text of a file of shapes, with the digits to read the same shapes back. Simulated ones say so in line 1."""
    columns = {column.name: column for column in shape_columns(data.tensions.shape[1], data.angles.shape[1])}
    numbers = {
        "t": data.tensions,
        "tip": 1e3 * data.tips,
        "q": np.degrees(data.angles),
        "payload": 1e3 * data.payload if data.payload.any() else None,
        "weight": data.weight if (data.weight != 1.0).any() else None,
        "sigma_tip": 1e3 * data.sigma_tip,
        "sigma_angle": np.degrees(data.sigma_angle),
    }
    cells = {
        name: ["" if math.isnan(value) else f"{value:.15g}" for value in column.tolist()]
        for key, values in numbers.items()
        if values is not None
        for name, column in zip(columns[key].names, values.reshape(len(data), -1).T, strict=True)
    }
    kept = {name: column for name, column in (cells | {"sequence": list(data.sequence)}).items() if any(column)}
    return table_text(kept, zip(*kept.values(), strict=True), data.source if data.simulated else "")
