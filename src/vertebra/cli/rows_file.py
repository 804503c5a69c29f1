"""CSV files of rows to follow: tensions or places of the tip, one row per step, units in the names of the columns.

A column name without a unit is SI, as everywhere: `t1` is in N as `t1_N` is, and `x_mm` says that it is in mm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vertebra.cli.answer import CommandError, say
from vertebra.errors import MeasurementError, VertebraError

if TYPE_CHECKING:
    from vertebra.robot.table_file import Column, Table


@dataclass(frozen=True)
class Rows:
    """Numbers of a file, SI."""

    file: Path
    values: list[list[float]]
    """One list per row, in the order of the columns asked for."""
    lines: tuple[int, ...]
    """Line of the file that each row is in, counted from 1."""

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


def read_rows(option: str, file: Path, *columns: Column) -> Rows:
    """Rows of these columns, which may be in any order and have others beside them."""
    import numpy as np

    table = read_columns(option, file, columns)
    values = np.column_stack([table.values[column.name] for column in columns])
    return Rows(file, values.tolist(), table.lines)


def read_columns(option: str, file: Path, columns: Sequence[Column], per: str = "step") -> Table:
    """The declared columns of a file that an option names; columns that are not used are noted on stderr."""
    from vertebra.robot.table_file import read_table

    try:
        table = read_table(file, columns, per=per, origin=f"{option} {file}")
    except MeasurementError as error:
        raise CommandError(str(error)) from None
    for note in table.notes:
        say(f"note: {note}")
    return table
