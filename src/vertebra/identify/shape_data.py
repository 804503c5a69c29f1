"""Measured shapes, checked: cable tensions, and where the tip was or how far joints were bent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vertebra.errors import CellProblem, InputError, MeasurementError, VertebraError, row_name
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
