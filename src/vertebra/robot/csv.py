"""Tables that people write, as text: a file in, cells out, and an error that says where."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from vertebra.errors import CellProblem, MeasurementError

SIMULATED = "# simulated"
"""How the first line of a file of simulated data begins."""
MAX_BYTES = 50_000_000


def file_error(origin: str, message: str, line: int = 0, column: str = "") -> MeasurementError:
    """An error of the file as a whole, or of its header."""
    return MeasurementError([CellProblem(0, line, column, message)], origin)


def read_text(path: Path, origin: str) -> str:
    """The whole file, at most 50 MB of UTF-8."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise file_error(origin, f"is larger than {MAX_BYTES} bytes; leave rows out")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise file_error(origin, "is not UTF-8 text; save the table as CSV") from None
    except OSError as error:
        raise file_error(origin, f"cannot be read: {error.strerror or error}") from None


def split_cells(line: str) -> list[str]:
    """The cells of one line."""
    return [cell.strip() for cell in next(csv.reader([line]))]


def is_number(text: str) -> bool:
    """Whether a cell holds one finite plain number."""
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False
