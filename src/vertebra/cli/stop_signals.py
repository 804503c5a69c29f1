"""Ctrl-C and `kill` as a request to stop, for commands that have files to finish."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C or SIGTERM sets; the second interrupts immediately."""
    stop = threading.Event()
    names = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(name) for name in names]

    def restore() -> None:
        for name, handler in zip(names, before, strict=True):
            signal.signal(name, handler)

    def ask(_number: int, _frame: FrameType | None) -> None:
        # By a thread: a handler runs inside whatever it interrupts, which may hold the lock of the event itself.
        threading.Thread(target=stop.set, daemon=True).start()
        restore()

    for name in names:
        signal.signal(name, ask)
    try:
        yield stop
    finally:
        restore()
