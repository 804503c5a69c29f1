"""Which sensors have answered which SYNC: lost, repeated and late answers, and whether a cycle is complete."""

from __future__ import annotations

from vertebra.sensing.counters import Counters

PATIENCE = 25
"""SYNCs: a sensor that has not answered for so long is no longer waited for."""
REMEMBERED = 64
"""SYNCs back, to tell a repeated answer from a late one."""


class Answers:
    """The answers of one kind, orientations or rates. `expected`: waited for before they first come."""

    def __init__(self, sensors: int, *, expected: bool) -> None:
        self._last = [-1] * sensors
        self._begin = [-1] * sensors
        self._heard = [0] * sensors  # bit k: has answered SYNC `last - k`
        self._expected = expected
        self._first = -1
        self._count = -1
        self._awaited: list[int] = []

    def note(self, row: int, count: int, counters: Counters) -> bool:
        """File an answer of sensor `row` to SYNC number `count`; False when it is a repeated one."""
        if self._first < 0:
            self._first = count
        ahead = count - self._last[row]
        if self._last[row] < 0 or ahead > 0:
            if self._last[row] >= 0:
                counters.lost[row] += ahead - 1
            else:
                self._begin[row] = count
            self._heard[row] = (self._heard[row] << min(ahead, REMEMBERED) | 1) & (1 << REMEMBERED) - 1
            self._last[row] = count
            return True
        if -ahead < REMEMBERED:
            if self._heard[row] >> -ahead & 1:
                counters.duplicates[row] += 1
                return False
            self._heard[row] |= 1 << -ahead
            counters.lost[row] -= count > self._begin[row]
        counters.reordered[row] += 1
        return True

    def complete(self, count: int) -> bool:
        """Whether all sensors that are alive have answered SYNC number `count`, the newest."""
        if count != self._count:
            if count < self._count:
                return False
            self._count, self._awaited = count, self._alive(count)
        last, awaited = self._last, self._awaited
        while awaited and last[awaited[-1]] >= count:
            awaited.pop()
        return not awaited

    def _alive(self, count: int) -> list[int]:
        oldest = max(count - PATIENCE, 0)
        starting = self._expected and count - self._first < PATIENCE
        return [row for row, last in enumerate(self._last) if last >= oldest or (starting and last < 0)]
