"""Printed numbers: how papers round them, and tables as CSV files whose column names have the units."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def fixed(value: float, decimals: int = 2) -> str:
    """So many digits after the point, without a minus sign in front of zero."""
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0.0 else text


def rounds_to(value: float, printed: float, decimals: int = 2) -> bool:
    """Whether `value` rounds to the printed number; an exact half may go either way."""
    return abs(value - printed) <= 0.5 * 10.0**-decimals + 1e-9


def decimals(printed: float) -> int:
    """Digits after the point of a number as it is printed."""
    return len(f"{printed:.10f}".rstrip("0").split(".")[1])


# Tables of a paper as CSV files, and our rows as CSV text. Units are in the names of the columns.


def read_rows(path: Path) -> list[dict[str, str]]:
    """Rows of a file by column name; lines that start with # say what the columns mean."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with the same keys, one line each, under a line of names; numbers at full precision."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
