"""Fair timing on a noisy machine: one pinned core, warm-up, median of seven rounds that alternate."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

ROUNDS = 7
ROUND_SECONDS = 0.05


def pin_to_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def _calls_per_round(call: Callable[[], object]) -> int:
    call()
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    return max(1, int(ROUND_SECONDS / max(once, 1e-7)))


def medians(*calls: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Seconds per call of each; rounds alternate between the calls, so that noise falls on all of them."""
    counts = [_calls_per_round(call) for call in calls]
    rounds: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, count, times in zip(calls, counts, rounds, strict=True):
            start = clock()
            for _ in range(count):
                call()
            times.append((clock() - start) / count)
    return [statistics.median(times) for times in rounds]
