"""The one thread that changes the studio's state: events of all windows queue up here, newest first to count.

A control that moves faster than its answer is computed does not pile up work: of waiting events with one key only the
newest is kept. So the page never waits for more than the answer in hand and the last one asked for.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

LOG = logging.getLogger("vertebra.studio")
Work = Callable[[], None]


class Loop:
    """Runs posted work one piece at a time; what fails is told to `failed`, and the loop goes on."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._waiting: dict[object, Work] = {}
        self._busy = False
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="studio", daemon=True)
        self._thread.start()

    def post(self, key: object, work: Work) -> None:
        """Run `work` soon, in the place of waiting work of the same key, which is forgotten."""
        with self._changed:
            if self._closed:
                return
            self._waiting[key] = work
            self._changed.notify_all()

    def settle(self, timeout: float) -> bool:
        """Wait until nothing waits or runs; False when that takes longer than `timeout` s."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout)

    def close(self) -> None:
        """Finish the piece in hand and stop."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                work = self._waiting.pop(next(iter(self._waiting)))
                self._busy = True
            try:
                work()
            except Exception as error:  # whatever it is, the page lives on
                self._tell(error)

    def _tell(self, error: Exception) -> None:
        try:
            self._failed(error)
        except Exception:
            LOG.exception("the message of an error could not be shown: %r", error)
