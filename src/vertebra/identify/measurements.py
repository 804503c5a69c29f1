"""What all measurements share: arrays that are checked and read-only, rules for the columns of their files, the text of
such a file, and how a fitted robot file quotes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from vertebra.errors import InputError
from vertebra.robot.description import G
from vertebra.robot.reading import yaml_text
from vertebra.robot.robot import Robot
from vertebra.robot.table_file import Column, Table, table_text
from vertebra.robot.tables import Floats

LARGEST = 1e9
"""No mass, force, length or acceleration is larger, SI."""
MOST_REPEATS = 10_000
"""Of a simulated measurement."""


def rule(allowed: Callable[[float], bool], message: str, unit: float = 1.0) -> Callable[[float, int], str]:
    """The check of a column: unless a value is allowed, `message` with the value times `unit` in its braces."""
    return lambda value, _: "" if allowed(value) else message.format(unit * value)


FINITE = rule(lambda value: abs(value) < LARGEST, "must be a finite number")


def freeze(data: object, dimensions: Mapping[str, int], per: str) -> None:
    """Turn fields of a frozen dataclass into read-only arrays of the given dimensions, with one row per `per`."""
    for name, wanted in dimensions.items():
        try:
            array: Floats = np.array(getattr(data, name), dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(name, f"must be numbers, one row per {per}") from None
        array.flags.writeable = False
        object.__setattr__(data, name, array)
        if array.ndim != wanted or not len(array) or len(array) != len(getattr(data, next(iter(dimensions)))):
            raise InputError(name, f"must have one row per {per}, not shape {array.shape}")


def refuse_both(table: Table, path: str | Path, given: Mapping[str, tuple[object, str]]) -> None:
    """Refuse arguments that are given although the file has a column for them: {argument: (value, column)}."""
    for name, (value, column) in given.items():
        if value is not None and column in table.names:
            raise InputError(name, f"{path} has its own column {table.names[column]}; leave one of the two out")


LEAST_G = 1e-6
"""m/s^2; what hangs weighs nothing below."""


def checked_g(g: float | None) -> float:
    """The acceleration of gravity, m/s^2; 9.8 unless stated."""
    if g is None:
        return G
    if isinstance(g, bool) or not isinstance(g, int | float | np.floating) or not LEAST_G <= g < LARGEST:
        raise InputError("g", f"must be an acceleration of at least {LEAST_G:g} m/s^2, such as 9.81, not {g!r}")
    return float(g)


def measured_text(
    columns: Iterable[Column], numbers: Mapping[str, Floats], texts: Mapping[str, Sequence[str]], simulated: str
) -> str:
    """The text of a file of measurements, numbers in the units it is written in; NaN is an empty cell, and columns of
    nothing else are left out. `simulated` says how a computer made them, for line 1."""
    by_name = {column.name: column for column in columns}
    cells: dict[str, Sequence[str]] = {
        name: ["" if np.isnan(value) else f"{value:.15g}" for value in (column + 0.0).tolist()]
        for key, values in numbers.items()
        for name, column in zip(by_name[key].names, values.reshape(len(values), -1).T, strict=True)
    }
    kept = {name: column for name, column in {**cells, **texts}.items() if any(column)}
    return table_text(kept, zip(*kept.values(), strict=True), simulated)


def robot_file_text(robot: Robot, comments: Iterable[str]) -> str:
    """A robot file with comments at its head, one line each."""
    return "".join(f"# {one_line(comment)}\n" for comment in comments) + yaml_text(robot.to_mapping())


def one_line(text: str) -> str:
    """A text from a file name or an error, fit for a comment."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
