"""Batches on threads: kernels release the interpreter, so pieces of a batch run side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, TypeVar

from vertebra.robot.arguments import positive_count

Piece = TypeVar("Piece")


def thread_count(threads: int | None) -> int:
    """As given, or one for each core that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return positive_count("threads", threads)


def run_pieces(
    solve: Callable[[Piece], int],
    pieces: Sequence[Piece],
    threads: int,
    count: int,
    progress: Callable[[int, int], Any] | None,
) -> None:
    """Solve all pieces; each returns how many of `count` it did. An interrupt or a failing `progress` stops before
    the next piece."""
    done = 0
    if threads == 1 or len(pieces) <= 1:
        for piece in pieces:
            done += solve(piece)
            if progress is not None:
                progress(done, count)
        return
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(solve, piece) for piece in pieces]
        try:
            for future in as_completed(futures):
                done += future.result()
                if progress is not None:
                    progress(done, count)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
