"""Tables of a paper as CSV files, and our rows as CSV text. Units are in the names of the columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


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
