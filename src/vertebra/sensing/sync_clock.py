"""Time stamps from SYNC frames: the one clock that all nodes of a network share."""

from __future__ import annotations

from vertebra.sensing.wire.can import Sync

REMEMBERED = 16
"""SYNCs that the 4 bits in an answer can tell apart."""
AHEAD = 7
"""An answer up to so many SYNCs ahead of the last one is to a SYNC that was lost; beyond, it is an old answer."""
LONGEST_PERIOD = 5.0
"""s."""
AGREEING = 3
"""SYNCs that must agree with each other before the clock jumps: a single one may be damaged."""
TOLERANCE = 0.5
"""Of a period: by so much a SYNC may be early or late."""


class SyncClock:
    """Turns the counter and age in an answer into the time of the sample, s of the master's clock.

    Counts SYNCs through the wrap of their counter, fills in those that were lost, ignores damaged ones, and goes on
    after a restart of the master without ever running backwards.
    """

    def __init__(self) -> None:
        self.count = -1
        """SYNCs since the start, lost ones included; -1 before the first."""
        self.time = 0.0
        """s, of the last SYNC."""
        self.period = 0.0
        """s between SYNCs; 0 until two have come."""
        self.ignored = 0
        """SYNCs that fit neither the clock nor each other, and repeated ones."""
        self._counter = 0
        self._shift = 0.0
        self._counts = [-1] * REMEMBERED
        self._times = [0.0] * REMEMBERED
        self._doubtful: list[Sync] = []

    def receive(self, sync: Sync) -> bool:
        """Take a SYNC; False when it is ignored."""
        if self.count < 0:
            self._accept(sync, 0)
            return True
        ahead = (sync.counter - self._counter) & 0xFFFF
        if self._fits(ahead, sync.time + self._shift - self.time):
            self._accept(sync, self.count + ahead)
            self._doubtful.clear()
            return True
        if ahead != 0 and self._agrees(sync):
            self._jump()
            return True
        self.ignored += 1
        return False

    def resolve(self, counter: int) -> int:
        """Which SYNC an answer with these 4 bits belongs to, by `count`."""
        ahead = (counter - self._counter) % REMEMBERED
        return self.count + (ahead if ahead <= AHEAD else ahead - REMEMBERED)

    def time_of(self, count: int) -> float | None:
        """When SYNC number `count` was sent, s; None when nobody knows: lost before the period was known."""
        if count < 0:
            return None
        slot = count % REMEMBERED
        if self._counts[slot] == count:
            return self._times[slot]
        if self.period == 0.0:
            return None
        return self.time + (count - self.count) * self.period

    def _fits(self, ahead: int, elapsed: float) -> bool:
        if not 0 < ahead <= 0x7FFF or elapsed <= 0.0:
            return False
        if self.period == 0.0:
            return elapsed / ahead <= LONGEST_PERIOD
        return abs(elapsed - ahead * self.period) <= TOLERANCE * self.period + 0.01 * elapsed

    def _accept(self, sync: Sync, count: int) -> None:
        time = sync.time + self._shift
        if self.count >= 0:
            self.period = (time - self.time) / (count - self.count)
        self.count, self.time, self._counter = count, time, sync.counter
        self._counts[count % REMEMBERED], self._times[count % REMEMBERED] = count, time

    def _agrees(self, sync: Sync) -> bool:
        """Whether this SYNC makes a row of agreeing ones with those before it that did not fit the clock."""
        if self._doubtful:
            last = self._doubtful[-1]
            steps, elapsed = (sync.counter - last.counter) & 0xFFFF, sync.time - last.time
            if not (0 < steps <= AHEAD and 0.0 < elapsed <= steps * LONGEST_PERIOD):
                self._doubtful.clear()
        self._doubtful.append(sync)
        return len(self._doubtful) >= AGREEING

    def _jump(self) -> None:
        """The master has restarted or changed its rate: carry on from here, forwards."""
        first, last = self._doubtful[0], self._doubtful[-1]
        self.period = (last.time - first.time) / ((last.counter - first.counter) & 0xFFFF)
        steps = (last.counter - self._counter) & 0xFFFF
        elapsed = last.time + self._shift - self.time
        if steps <= 0x7FFF and 0.0 < elapsed <= LONGEST_PERIOD * steps:
            count = self.count + steps
        else:
            count = self.count + 1
            self._shift = self.time + self.period - last.time
        self._doubtful.clear()
        period = self.period
        self._accept(last, count)
        self.period = period
