"""The master of the network: sends SYNC at a steady rate."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from vertebra.errors import InputError, VertebraError
from vertebra.sensing.wire.bus import send
from vertebra.sensing.wire.can import SYNC, Frame, sync_data

if TYPE_CHECKING:
    from can import BusABC

FASTEST = 2000.0
"""Hz"""


class SyncMaster:
    """Sends SYNC `rate` times per second, in a thread of its own: ``with SyncMaster(bus, 100): ...``.

    SYNCs are paced from the start, so that delays do not add up; one that is late by a whole period is left out and
    counted in `missed`. The time in a SYNC is when it was sent, on the master's clock, which starts at 0.
    `on_sync` is called with every SYNC just before it is sent, for a bus that does not hear itself.
    """

    def __init__(
        self,
        bus: BusABC,
        rate: float,
        *,
        on_sync: Callable[[Frame], None] = lambda frame: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not 0 < rate <= FASTEST:
            raise InputError("rate", f"must be above 0 and at most {FASTEST:g} Hz, not {rate}")
        self.sent = self.missed = 0
        self.error: VertebraError | None = None
        """What ended the thread early, if anything."""
        self._bus, self._period, self._clock, self._on_sync = bus, 1 / rate, clock, on_sync
        self._started, self._slot = clock(), 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sync-master", daemon=True)

    @property
    def due(self) -> float:
        """When the next SYNC is due, s of the clock that was passed in."""
        return self._started + self._slot * self._period

    def beat(self) -> Frame | None:
        """Send a SYNC if one is due, and return it."""
        now = self._clock()
        if now < self.due:
            return None
        late = int((now - self.due) / self._period)
        self.missed += late
        self._slot += late + 1
        frame = Frame(SYNC, sync_data(self.sent, now - self._started))
        # Listeners that do not hear the bus go first: no answer may reach them before the SYNC.
        self._on_sync(frame)
        send(self._bus, frame)
        self.sent += 1
        return frame

    def close(self) -> None:
        """Stop the thread; raises the error that ended it early, if any."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        try:
            while not self._stop.wait(max(self.due - self._clock(), 0.0)):
                self.beat()
        except VertebraError as error:
            self.error = error

    def __enter__(self) -> SyncMaster:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
