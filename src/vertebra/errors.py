"""Every error that Vertebra raises on purpose.

VertebraError
 +-- DescriptionError   a robot file or mapping is wrong: which fields, what was found, what is allowed
 +-- InputError         an argument of a call is wrong: which one, what is allowed
 +-- OutOfRange         a joint angle is outside the range of its joint: which joint, its angle, the limit
 +-- NoEquilibrium      a search for an equilibrium found none: the joint farthest from balance, the best try
 +-- Unstable           the equilibrium found is no minimum of the energy: the joint that gives way
 +-- Infeasible         no cable tensions do what was asked for: which joint or goal, by how much
 +-- Diverged           a simulation ran away: when, which joint, the trajectory so far
 +-- MeasurementError   measured data cannot be used: which rows and columns, what to write instead
 +-- RecordingError     a recording cannot be read or written: which file, where in it, what to do
 +-- BusError           a bus or serial line cannot be opened or fails: which one, what to do
 +-- PoseError          recordings give no calibration: which pose, sensor or joint, what to do
 +-- HilError           a run with a virtual robot failed: the last output of the process
 +-- ClusterError       the workers of a study cannot be used: which one, what to do
 +-- StudioError        the studio cannot open, or refuses a file: which setting or file, what to do
 +-- MissingPackage     an answer needs a package that is not installed: which one, and the extra that brings it

Errors of a solver carry its last result as ``result``.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self


class VertebraError(Exception):
    """Root of all errors raised by Vertebra; catch this one to catch them all."""

    _made_from: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *arguments: Any, **named: Any) -> Self:
        error = super().__new__(cls, *arguments)
        error._made_from = arguments, named
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        # Python would make the error anew from its message alone, which fits none of the constructors below.
        arguments, named = self._made_from
        return partial(type(self), **named), arguments


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def shown(value: object) -> str:
    """What was found, as messages quote it: short, on one line, and never an error of its own."""
    try:
        shape = getattr(value, "shape", ())
        if isinstance(shape, tuple) and shape:
            return f"an array of shape {shape}"
        return " ".join(_SHORT.repr(value).split())
    except Exception:  # a whole number of thousands of digits, or an object that cannot be printed
        return f"a value of type {type(value).__name__}"


@dataclass(frozen=True)
class Problem:
    """One wrong field of a robot description."""

    path: str
    """Where: ``sections[0].joint.radius``; ``(file)`` when the text itself cannot be read."""
    message: str
    """What is wrong and what is allowed."""
    found: str
    """What was there, shortened for display; empty for a missing field."""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" + (f" (found {self.found})" if self.found else "")


class DescriptionError(VertebraError):
    """A robot description that cannot become a robot; lists every problem."""

    def __init__(self, problems: Sequence[Problem], origin: str = "robot description") -> None:
        self.problems = tuple(problems)
        self.origin = origin
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__("\n".join([f"{origin}: {count}", *(f"  {problem}" for problem in self.problems)]))


class InputError(VertebraError, ValueError):
    """An argument that a call cannot work with: wrong shape, not finite, no such link."""

    def __init__(self, argument: str, message: str) -> None:
        self.argument, self.message = argument, message
        super().__init__(f"{argument}: {message}")


class OutOfRange(VertebraError):  # noqa: N818 - the name is part of the public surface
    """A joint angle that the joint cannot take.

    ``joint`` counts from 1 as in the robot file; ``angle`` and ``limit`` are in radians. ``result`` is the solver's
    answer that leaves the range; None when a caller passed the angle.
    """

    def __init__(self, joint: int, angle: float, limit: float, reason: str, result: Any = None) -> None:
        self.joint, self.angle, self.limit, self.reason, self.result = joint, angle, limit, reason, result
        super().__init__(
            f"joint {joint}: angle {math.degrees(angle):.6g} deg is outside +-{math.degrees(limit):.6g} deg; {reason}"
        )


class NoEquilibrium(VertebraError):  # noqa: N818
    """The search ended without an equilibrium.

    ``joint`` (from 1) is farthest from balance, by the torque ``moment``, N*m; ``result`` is the pose where the search
    ended.
    """

    def __init__(self, joint: int, moment: float, reason: str, result: Any = None) -> None:
        self.joint, self.moment, self.reason, self.result = joint, moment, reason, result
        super().__init__(f"no equilibrium found: joint {joint} is out of balance by {moment:.3g} N*m; {reason}")


class Unstable(VertebraError):  # noqa: N818
    """The equilibrium is unstable: a small push makes it collapse.

    ``joint`` (from 1) is where it gives way; ``result`` is the unstable shape.
    """

    def __init__(self, joint: int, reason: str, result: Any = None) -> None:
        self.joint, self.reason, self.result = joint, reason, result
        super().__init__(f"unstable equilibrium: the robot gives way from joint {joint} on; {reason}")


class Infeasible(VertebraError):  # noqa: N818
    """What was asked for is not possible within the bounds.

    ``joint`` (from 1; 0 when no single joint is to blame), ``constraint`` and ``amount`` say what fails by how much;
    ``result`` is the closest answer.
    """

    def __init__(self, joint: int, constraint: str, amount: float, message: str, result: Any = None) -> None:
        self.joint, self.constraint, self.amount, self.message, self.result = joint, constraint, amount, message, result
        super().__init__(message)


class Diverged(VertebraError):  # noqa: N818
    """A simulation ran away: angles or rates grew beyond all bounds.

    ``time`` in s is that of the last good state, ``joint`` (from 1) the first to leave; ``result`` is the trajectory so
    far.
    """

    def __init__(self, time: float, joint: int, reason: str, result: Any = None) -> None:
        self.time, self.joint, self.reason, self.result = time, joint, reason, result
        super().__init__(f"the simulation diverged after {time:.6g} s at joint {joint}; {reason}")


class CellProblem(NamedTuple):
    """One wrong cell, row or column of measured data."""

    row: int
    """Counted from 1; 0 for the header or the whole file."""
    line: int
    """Line of the file, counted from 1; 0 without a file."""
    column: str
    """As in the file, such as ``force_N``; empty for a whole row."""
    message: str
    """What is wrong and what to write instead."""

    def __str__(self) -> str:
        column = f"column {self.column}" if self.column else ""
        where = ", ".join(part for part in (row_name(self.row, self.line), column) if part)
        return f"{where}: {self.message}" if where else self.message


def row_name(row: int, line: int) -> str:
    """What messages call a row of measured data."""
    at = f"line {line}" if line else ""
    if not row:
        return at
    return f"row {row}" + (f" ({at})" if at else "")


MOST_SHOWN = 20
"""Problems of measured data beyond this number are only counted in a message."""


class MeasurementError(VertebraError, ValueError):
    """Measured data that cannot be used; lists every problem, `row` and `column` are those of the first."""

    def __init__(self, problems: Sequence[CellProblem], origin: str) -> None:
        self.problems, self.origin = tuple(problems), origin
        self.row, self.column = self.problems[0].row, self.problems[0].column
        shown = [str(problem) for problem in self.problems[:MOST_SHOWN]]
        if len(self.problems) > MOST_SHOWN:
            shown.append(f"and {len(self.problems) - MOST_SHOWN} more")
        super().__init__(f"{origin}: {shown[0]}" if len(shown) == 1 else "\n  ".join([f"{origin}:", *shown]))


class RecordingError(VertebraError):
    """A recording that cannot be read or written.

    ``path`` is the file; ``position`` where in it (a line of a text log, a byte of a binary one), None for the whole.
    """

    def __init__(self, path: str, message: str, position: int | None = None) -> None:
        self.path, self.message, self.position = path, message, position
        where = path if position is None else f"{path}, at {position}"
        super().__init__(f"{where}: {message}")


class BusError(VertebraError):
    """A bus or serial line that cannot be opened, or that failed while in use; ``bus`` is its URL or device."""

    def __init__(self, bus: str, message: str) -> None:
        self.bus, self.message = bus, message
        super().__init__(f"{bus}: {message}")


class PoseProblem(NamedTuple):
    """One thing that is wrong with a recording."""

    pose: str
    """``straight``, ``tilted`` or ``motion``."""
    message: str
    """What is wrong, and what to do about it."""
    sensor: int | None = None
    """Number of the sensor; None when it is not about one."""
    joint: int | None = None
    """Counted from 1; None when it is not about one."""

    def __str__(self) -> str:
        who = f", sensor {self.sensor}" if self.sensor is not None else ""
        who += f", joint {self.joint}" if self.joint is not None else ""
        return f"{self.pose}{who}: {self.message}"


class PoseError(VertebraError, ValueError):
    """Recordings that give no calibration; lists every problem, `pose`, `sensor` and `joint` are of the first."""

    def __init__(self, problems: Sequence[PoseProblem]) -> None:
        self.problems = tuple(problems)
        self.pose, _, self.sensor, self.joint = self.problems[0]
        lines = [str(problem) for problem in self.problems]
        super().__init__(lines[0] if len(lines) == 1 else "\n  ".join(["the recordings give no calibration:", *lines]))


class HilError(VertebraError):
    """A run with a virtual robot failed; the message has the last output of the process that failed."""


class ClusterError(VertebraError):
    """The workers of a study cannot be used; ``address`` is that of the scheduler or of the worker at fault."""

    def __init__(self, address: str, message: str) -> None:
        self.address, self.message = address, message
        super().__init__(f"{address}: {message}")


class StudioError(VertebraError):
    """The studio cannot open, or refuses a file; ``field`` is the setting (``port``, ``token``) or the file's name."""

    def __init__(self, field: str, message: str) -> None:
        self.field, self.message = field, message
        super().__init__(f"{field}: {message}")


EXTRAS = {
    "plotly": ("pages", "HTML pages"),
    "matplotlib": ("pictures", "Pictures"),
    "netCDF4": ("netcdf", "NetCDF files"),
    "distributed": ("cluster", "Studies on several processes or machines"),
    "cma": ("optimise", "Searches by CMA-ES"),
    "pymoo": ("optimise", "Searches for several objectives"),
    "viser": ("studio", "Pages of the studio"),
    "websockets": ("studio", "Pages of the studio"),
    "jax": ("jax", "Shapes as functions in JAX"),
    "torch": ("torch", "Shapes as functions in PyTorch"),
}
"""Packages that only some answers need: the extra that brings each, and what it is for."""


class MissingPackage(VertebraError, ImportError):  # noqa: N818
    """An answer needs a package that the plain installation leaves out."""

    def __init__(self, package: str) -> None:
        extra, what = EXTRAS[package]
        super().__init__(f'{what} need {package}; run: pip install "vertebra[{extra}]"')
        self.package = package
