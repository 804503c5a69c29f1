"""The numbers printed in the paper: `tables/*.csv`, each of which says what its columns mean, and those of the text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vertebra.papers.paper import read_rows

FOLDER = Path(__file__).parent / "tables"

CONSTANT_FRICTION = 0.3
"""Coefficient of Condition III (section 6.2.1)."""
LARGEST_WITHOUT_FRICTION = 25.0
"""Errors of B without friction reach more than this, mm (section 6.2.1)."""
MEAN_WITH_CONSTANT_FRICTION, MEAN_WITH_DISCS_ONLY = 3.20, 7.25
"""Mean errors of B in plane under Conditions III and IV, mm (sections 6.2.1, 6.2.2)."""
DISCS_ONLY_PERCENT = 4.96
"""The latter in % of the length of B (section 6.2.2)."""
IMPROVEMENT = {"I": 89.69, "III": 69.38, "IV": 86.48}
"""By how much the full model is said to be better than each condition, % (sections 6.2.1, 6.2.2)."""
MASS_G = {"A": 14.40, "B": 25.41}
"""g (section 6.2.3)."""
PAYLOAD_MEAN = {"A": 0.61, "B": 1.13}
"""Mean errors of the payload tests, mm (section 6.2.3)."""
LARGEST_STRAIN = 0.015
"""Of the rods in all experiments (section 6.1)."""
TRAJECTORY_ERROR = 9.30
"""Largest error of prototype C on its trajectory, mm (section 6.3)."""


@dataclass(frozen=True)
class TipErrors:
    """A row of Table 6: errors of the tip in mm as mean, smallest and largest, and the same in % of the length."""

    test: str
    """in-plane or out-of-plane."""
    prototype: str
    mm: tuple[float, float, float]
    percent: tuple[float, float, float]

    @property
    def mean(self) -> float:
        """mm"""
        return self.mm[0]

    @property
    def largest(self) -> float:
        """mm"""
        return self.mm[2]


def rows_of(table: int) -> list[dict[str, str]]:
    """Table 4, 5 or 6 as texts."""
    return read_rows(FOLDER / f"table_{table}.csv")


def tip_errors() -> dict[tuple[str, str], TipErrors]:
    """Table 6 by test and prototype."""
    found = {}
    for row in rows_of(6):
        numbers = [float(text) for name, text in row.items() if name not in ("test", "prototype")]
        (a, b, c), (d, e, f) = numbers[:3], numbers[3:]
        found[row["test"], row["prototype"]] = TipErrors(row["test"], row["prototype"], (a, b, c), (d, e, f))
    return found
