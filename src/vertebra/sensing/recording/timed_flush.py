"""Flushing by the clock: a quiet bus must not keep the last frames in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable

FLUSH_EVERY = 0.25
"""Seconds; twice as often as the half second that recordings promise."""


class TimedFlush:
    """Calls `flush` every `period` seconds in a thread of its own until `stop`.

    `flush` must not raise; it keeps what went wrong and raises it where the owner can hear it.
    """

    def __init__(self, flush: Callable[[], None], period: float = FLUSH_EVERY) -> None:
        self._flush, self._period = flush, period
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="flush", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.wait(self._period):
            self._flush()

    def stop(self) -> None:
        """No call of `flush` after this one returns."""
        self._stopped.set()
        self._thread.join()
