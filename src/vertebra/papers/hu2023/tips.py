"""Table 4: what can be checked although the paper prints only distances from tips that it does not print.

For a payload, let M be the measured tip (not printed), A our tip without gravity and B ours with it. If A and B are
the paper's, then |MA| and |MB| are the two printed errors, and the triangle M A B requires
| |MA| - |MB| | <= |AB| <= |MA| + |MB|. That is necessary, not sufficient: it cannot see an error of A and B that
keeps their distance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vertebra.papers.hu2023.cases import Solved
from vertebra.papers.hu2023.published import HALF_DIGIT, Key, tip_errors


@dataclass(frozen=True)
class TipCheck:
    """One payload on one mount; mm."""

    tip: int
    mount: str
    tensions: tuple[float, ...]
    """N"""
    no_gravity_error: float
    """Printed: the estimate without gravity against the measured tip."""
    with_gravity_error: float
    """Printed: the estimate with gravity against the measured tip."""
    no_gravity_tip: tuple[float, float, float]
    """Ours."""
    with_gravity_tip: tuple[float, float, float]
    """Ours."""

    @property
    def apart(self) -> float:
        """Distance of our two tips."""
        return math.dist(self.no_gravity_tip, self.with_gravity_tip)

    @property
    def least(self) -> float:
        """Smallest distance that the printed errors allow."""
        return abs(self.no_gravity_error - self.with_gravity_error) - 2 * HALF_DIGIT

    @property
    def most(self) -> float:
        """Largest distance that the printed errors allow."""
        return self.no_gravity_error + self.with_gravity_error + 2 * HALF_DIGIT

    @property
    def possible(self) -> bool:
        """Whether a measured tip exists that has both printed errors."""
        return self.least <= self.apart <= self.most


def tip_checks(solved: Mapping[Key, Solved]) -> Iterator[TipCheck]:
    """All 18, in printed order."""
    for row in tip_errors():
        free, loaded = (_tip_mm(solved[4, str(row.tip), mount]) for mount in ("none", row.mount))
        yield TipCheck(row.tip, row.mount, row.tensions, row.no_gravity, row.with_gravity, free, loaded)


def _tip_mm(solved: Solved) -> tuple[float, float, float]:
    x, y, z = (float(value) * 1e3 for value in solved.shape.tip)
    return x, y, z
