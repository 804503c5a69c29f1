"""How long things take, in a histogram of fixed size: a run of a week needs no more memory than one of a second."""

from __future__ import annotations

import math

import numpy as np

SHORTEST = 1e-5
"""s; the first bin holds everything shorter."""
PER_DECADE = 50
"""Bins; a percentile is right to 5 %."""
DECADES = 6
"""So that the last bin holds everything longer than 10 s."""


class LatencyHistogram:
    """Counts of durations in bins of equal ratio."""

    def __init__(self) -> None:
        self._counts = np.zeros(DECADES * PER_DECADE + 1, dtype=np.int64)
        self.longest = 0.0
        """s."""

    def add(self, seconds: float) -> None:
        """Count a duration."""
        place = math.ceil(math.log10(max(seconds, SHORTEST) / SHORTEST) * PER_DECADE)
        self._counts[min(place, len(self._counts) - 1)] += 1
        self.longest = max(self.longest, seconds)

    @property
    def count(self) -> int:
        """Durations counted."""
        return int(self._counts.sum())

    def percentile(self, percent: float) -> float:
        """Upper edge in s of the bin that this percentile falls into, never more than the longest; 0 without any."""
        if self.count == 0:
            return 0.0
        place = int(np.searchsorted(np.cumsum(self._counts), math.ceil(self.count * percent / 100)))
        if place == len(self._counts) - 1:
            return self.longest
        return min(SHORTEST * 10 ** (place / PER_DECADE), self.longest)
