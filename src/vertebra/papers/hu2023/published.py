"""The numbers printed in the paper, from `tables/*.csv`; each file says what its columns mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vertebra.papers.paper import read_rows

FOLDER = Path(__file__).parent / "tables"

HALF_DIGIT = 0.005
"""A printed cell is this close to what was rounded, deg or mm."""

Key = tuple[int, str, str]
"""Table, item and mount: ``(1, "steel", "ground")``, ``(3, "2", "ceiling")``.

Without gravity the mount is "none", and the item of Tables 1 and 2 "any", since the material does not matter then.
"""
Values = dict[str, float]
"""Quantity (``theta2_deg``, ``x_mm``, with its unit in its name) and value."""


@dataclass(frozen=True)
class Column:
    """One column of Tables 1 to 3."""

    key: Key
    source: str
    """estimate, no_gravity (estimate), simulation or measured."""
    values: tuple[tuple[str, float], ...]
    """Quantity and value, in printed order."""
    tensions: tuple[float, ...]
    """N; empty where the table has one set for all its columns."""

    @property
    def estimated(self) -> bool:
        """Whether the paper's model gave the values."""
        return self.source in ("estimate", "no_gravity")


@dataclass(frozen=True)
class TipErrors:
    """One payload on one mount in Table 4: distances of the estimated tips from the measured one."""

    tip: int
    mount: str
    tensions: tuple[float, ...]
    """N"""
    no_gravity: float
    """Of the estimate without gravity, mm."""
    with_gravity: float
    """Of the estimate with gravity, mm."""


def columns() -> tuple[Column, ...]:
    """All columns of Tables 1 to 3."""
    return tuple(_column(table, row) for table in (1, 2, 3) for row in _rows(table))


def tip_errors() -> tuple[TipErrors, ...]:
    """All of Table 4."""
    return tuple(
        TipErrors(
            int(row["item"]),
            row["mount"],
            _tensions(row),
            float(row["no_gravity_error_mm"]),
            float(row["estimate_error_mm"]),
        )
        for row in _rows(4)
    )


def estimates() -> dict[Key, Values]:
    """What the paper's model gave, by column."""
    return {column.key: dict(column.values) for column in columns() if column.estimated}


def references() -> dict[Key, Values]:
    """What the paper compares its estimates with, by column: ADAMS in Tables 1 and 2, measurements in Table 3."""
    return {column.key: dict(column.values) for column in columns() if not column.estimated}


def _rows(table: int) -> list[dict[str, str]]:
    return read_rows(FOLDER / f"table_{table}.csv")


def _column(table: int, row: dict[str, str]) -> Column:
    values = tuple((name, float(text)) for name, text in row.items() if name.endswith(("_deg", "_mm")))
    return Column((table, row["item"], row["mount"]), row["source"], values, _tensions(row))


def _tensions(row: dict[str, str]) -> tuple[float, ...]:
    return tuple(float(text) for name, text in row.items() if name.endswith("_N"))
