"""The numbers printed in the paper, and the largest payloads that follow from them.

No payload is printed. But Tables I and II give errors twice, in N and in % of the largest payload of the shape, so
their quotient is that payload, as far as rounding lets it be known.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vertebra.papers.paper import read_rows

FOLDER = Path(__file__).parent / "tables"
HALF_DIGIT = 0.005
"""All entries of both tables have two decimals."""

GAINS = {"straight": 35.50, "vertical S": 24.51}
"""By how much, at most, the payload grows when T1 is 5 N less than T2 and T3, % (section III-C)."""
FORCE_STEP = 0.05
"""By which the paper's method loads a link, N (section II-D)."""
MEAN_BELOW = {"abstract": 0.19, "III-B": 0.20}
LARGEST_BELOW = {"abstract": 0.36, "III-B": 0.36}
"""Errors over all experiments with equal tensions are said to stay below this, N."""
MEAN_PERCENT_BELOW, LARGEST_PERCENT_BELOW = 6.5, 16.0
"""And below this, % of the largest payload (section III-B)."""
SCATTER = 0.50
"""Measured payloads of one set of tensions differ by as much, N (section III-B)."""


class Range(NamedTuple):
    """All values from `low` to `high`."""

    low: float
    high: float

    def miss(self, value: float) -> float:
        """How far a value is outside: negative below, positive above, 0 inside."""
        return min(value - self.low, 0.0) + max(value - self.high, 0.0)

    def both(self, other: Range) -> Range:
        """What lies in both ranges."""
        return Range(max(self.low, other.low), min(self.high, other.high))

    @property
    def text(self) -> str:
        """Rounded outward would hide a miss and inward would make one, so to three digits."""
        return f"{self.low:.3f}-{self.high:.3f}"


@dataclass(frozen=True)
class ErrorRow:
    """A row of Table I or II."""

    table: int
    shape: str
    mean: float
    """N"""
    mean_percent: float
    """% of the largest payload."""
    largest: float
    """N"""
    largest_percent: float
    """% of the largest payload."""

    @property
    def implied(self) -> Range:
        """Largest payload of the shape, N, that both pairs of printed numbers allow."""
        return whole(self.mean, self.mean_percent).both(whole(self.largest, self.largest_percent))


def whole(part: float, percent: float) -> Range:
    """What `part` is `percent` of, when both are rounded to two decimals."""
    return Range(
        100.0 * (part - HALF_DIGIT) / (percent + HALF_DIGIT), 100.0 * (part + HALF_DIGIT) / (percent - HALF_DIGIT)
    )


def error_rows() -> dict[tuple[int, str], ErrorRow]:
    """Both tables by table number and shape."""
    rows = {}
    for table in (1, 2):
        for row in read_rows(FOLDER / f"table_{table}.csv"):
            shape, *numbers = row.values()
            rows[table, shape] = ErrorRow(table, shape, *map(float, numbers))
    return rows
