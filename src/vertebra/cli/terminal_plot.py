"""Curves in a terminal: one strip of block characters a curve, all to one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vertebra.robot.tables import Floats

EIGHTHS = " ▁▂▃▄▅▆▇█"
PLAIN = " .:-=+*#%"
"""The same nine levels for terminals that have no blocks."""
WIDTH, HEIGHT = 60, 3


def strips(curves: Mapping[str, Floats], unit: str, low: float, high: float, encoding: str | None = None) -> list[str]:
    """Lines of text; each curve fills from the bottom up to its largest value within every column, `low` to `high`."""
    levels = _levels(encoding)
    height = HEIGHT if levels is EIGHTHS else 1
    wide = max(len(name) for name in curves)
    lines: list[str] = []
    for name, values in curves.items():
        said = f"{values.min():.4g} to {values.max():.4g} {unit}"
        rows = _strip(values, low, high, height, levels)
        for place, row in enumerate(rows):
            last = place == len(rows) - 1
            lines.append(f"{name if last else '':<{wide}} |{row}|{' ' + said if last else ''}")
    return lines


def _strip(values: Floats, low: float, high: float, height: int, levels: str) -> Sequence[str]:
    import numpy as np

    span = high - low if high > low else 1.0
    parts = np.array_split(values, min(WIDTH, len(values)))
    # A value at the lower end still shows as the thinnest block, so that a cable is never taken for missing.
    filled = [max(1, round(8 * height * (float(part.max()) - low) / span)) for part in parts]
    columns = [[levels[min(max(fill - 8 * row, 0), 8)] for row in range(height)] for fill in filled]
    return ["".join(column[row] for column in columns) for row in reversed(range(height))]


def _levels(encoding: str | None) -> str:
    try:
        EIGHTHS.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return EIGHTHS
