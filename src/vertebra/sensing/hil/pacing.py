"""Real time: ticks at absolute deadlines, so that lateness never adds up, and an account of it."""

from __future__ import annotations

import time
from collections.abc import Iterator

from vertebra.errors import InputError

LATE = 5e-3
"""s; later than this a tick is an overrun. Ordinary systems wake a process a millisecond late now and then."""


class Pacer:
    """Ticks of `period` s from `start` (monotonic clock) on; counts those that began too late."""

    def __init__(self, period: float, start: float) -> None:
        if not period > 0:
            raise InputError("period", f"must be above 0 s, not {period}")
        self._period, self._start = period, start
        self.overruns = 0
        """Ticks that began later than LATE."""
        self.worst = 0.0
        """s; the largest lateness."""

    def ticks(self, count: int) -> Iterator[int]:
        """0, 1, ..., count - 1, each at its time or as soon after it as possible."""
        for tick in range(count):
            late = time.monotonic() - (self._start + tick * self._period)
            if late < 0:
                time.sleep(-late)
            self.worst = max(self.worst, late)
            self.overruns += late > LATE
            yield tick
