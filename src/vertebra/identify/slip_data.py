"""Slip tests of two links, checked: tensions of the cables, and the load that made the link slip."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import CellProblem, InputError, MeasurementError, row_name
from vertebra.robot.tables import Floats

Rows = NDArray[np.intp]
LARGEST = 1e9
"""No tension, force or place is larger, SI."""
LISTS = {"tensions": 2, "force": 1, "bend": 1, "azimuth": 1, "direction": 2, "point": 2, "step": 1, "held": 1}
"""Lists of a slip test and their dimensions."""
RECORDED = {"slipped": 0.0, "held": 1.0}
"""Which load of a test is written down: the first one that slipped, or the last one that held."""
DECIMALS = 9
"""Tests whose settings agree to this many decimals (SI) are repeats of each other."""


@dataclass(frozen=True, eq=False, repr=False)
class SlipData:
    """Slip tests of two links, one row each, SI: a clamped one, and one that cables hold on its ball."""

    tensions: Floats
    """(n, cables) N."""
    force: Floats
    """(n,) N: the load as written down, above 0."""
    bend: Floats
    """(n,) rad: bend of the joint."""
    azimuth: Floats
    """(n,) rad: where it bends to."""
    direction: Floats
    """(n, 3) of the load, in the world frame; unit vectors."""
    point: Floats
    """(n, 3) m: where the load acts, in the frame of the held link."""
    step: Floats
    """(n,) N: by how much the load grew from one trial to the next; 0 for a load that grows smoothly."""
    held: Floats
    """(n,) 1 where `force` is the last load that held, 0 where it is the first one that slipped."""
    lines: tuple[int, ...] = ()
    """(n,) line of the file; 0 without one."""
    source: str = "slip tests"
    """Where they come from, in words."""
    simulated: bool = False
    """Whether a computer made them."""
    notes: tuple[str, ...] = ()
    """What a person should know about the file, such as columns that were left aside."""

    def __post_init__(self) -> None:
        for name, dimensions in LISTS.items():
            array = _frozen(name, getattr(self, name))
            if array.ndim != dimensions or len(array) != len(self.force) or not len(array):
                raise InputError(name, f"must have one row a slip test, not shape {array.shape}")
            object.__setattr__(self, name, array)
        if self.direction.shape[1] != 3 or self.point.shape[1] != 3 or not self.tensions.shape[1]:
            raise InputError("slips", "directions and points have three coordinates, and one cable or more pulls")
        object.__setattr__(self, "lines", tuple(self.lines) or (0,) * len(self))
        if len(self.lines) != len(self):
            raise InputError("lines", f"must have one entry a slip test, not {len(self.lines)}")
        problems = [
            CellProblem(row + 1, self.lines[row], column, message)
            for row in range(len(self))
            for column, message in self._wrong_cells(row)
        ]
        if problems:
            raise MeasurementError(problems, self.source)
        unit = self.direction / np.linalg.norm(self.direction, axis=1, keepdims=True)
        unit.flags.writeable = False
        object.__setattr__(self, "direction", unit)

    def _wrong_cells(self, row: int) -> Iterator[tuple[str, str]]:
        tensions, force, step = self.tensions[row].tolist(), float(self.force[row]), float(self.step[row])
        for k, tension in enumerate(tensions, 1):
            if not 0.0 <= tension < LARGEST:
                yield f"t{k}_N", f"must be a tension of 0 N or more, not {tension:g}; a cable cannot push"
        if not any(tensions):
            yield "t1_N", "no cable pulls: without any tension nothing presses the links together; leave the row out"
        if not 0.0 < force < LARGEST:
            yield "slip_force_N", f"must be a load above 0 N, not {force:g}; its direction stands in dx, dy, dz"
        if not 0.0 <= step < LARGEST:
            yield "step_N", f"must be a step of the load of 0 N or more, not {step:g}"
        elif not self.held[row] and 0.0 < force < 0.5 * step:
            yield "step_N", f"a load that slipped at {force:g} N cannot have grown in steps of {step:g} N"
        if self.held[row] not in RECORDED.values():
            yield "recorded", "must be 1 where the load is the last that held, 0 where it is the first that slipped"
        for column, angle in (("bend_deg", self.bend[row]), ("azimuth_deg", self.azimuth[row])):
            if not abs(angle) <= 4 * math.pi:
                yield column, "must be an angle in degrees"
        for column, values in (("dx", self.direction[row]), ("px_mm", self.point[row])):
            if not (np.abs(values) < LARGEST).all():
                yield column, "must be finite numbers"
        if not np.linalg.norm(self.direction[row]) > 0.0:
            yield "dx", "dx, dy, dz are all zero; give the direction of the load, such as 0,-1,0"

    @property
    def slip_force(self) -> Floats:
        """(n,) N: the middle of where the slip can have been: between the last load that held and the first that
        slipped."""
        return self.force + (self.held - 0.5) * self.step

    @property
    def settings(self) -> tuple[Rows, Rows]:
        """First row of each setting, and the setting of each row, (n,). Repeats have the same
        joint, cables and load."""
        keys = np.column_stack([self.tensions, self.bend, self.azimuth, self.direction, self.point])
        _, first, cell = np.unique(keys.round(DECIMALS) + 0.0, axis=0, return_index=True, return_inverse=True)
        # In the order of the file, not of the numbers.
        order = np.argsort(first)
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        return first[order], place[cell.ravel()]

    def name(self, row: int) -> str:
        """How a row, counted from 0, is called in messages."""
        return row_name(row + 1, self.lines[row])

    def __len__(self) -> int:
        return len(self.force)

    def __repr__(self) -> str:
        made = "simulated " if self.simulated else ""
        settings = len(self.settings[0])
        return f"SlipData: {len(self)} {made}slip tests at {settings} settings, from {self.source}"


def _frozen(name: str, values: object) -> Floats:
    try:
        array: Floats = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(name, "must be numbers, one row a slip test") from None
    array.flags.writeable = False
    return array
