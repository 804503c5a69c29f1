"""Waiting for what another thread or process does: until it is seen, with a deadline that a busy computer keeps."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil

DEADLINE = 120.0
"""s; far more than anything takes, so that only what never happens fails."""


def wait_until(condition: Callable[[], object], what: str = "the condition") -> None:
    """Look again and again until `condition` holds."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"waited {DEADLINE:g} s in vain for {what}"
        time.sleep(0.01)


def runs(process: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class SetClock:
    """Stands in for the module `time` of the code under test: passes only when the test or a sleep moves it."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def monotonic(self) -> float:
        return self.now

    time = monotonic

    def sleep(self, seconds: float) -> None:
        self.now += seconds
