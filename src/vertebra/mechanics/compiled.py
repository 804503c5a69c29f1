"""How kernels are compiled, and how batches of calls run on threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, TypeVar

from numba import njit

from vertebra.robot.arguments import positive_count

# cache: compiled once for a machine and kept on disk. numpy error model: x/0 is inf, not an exception, which keeps
# loops free of branches; kernels guard the places where it can happen. nogil: batches run on threads.
# No fastmath: the same inputs give the same bits. _nrt=False: kernels own no memory, so references need not be
# counted, which took half the time of a small robot; a kernel that allocates does not compile.
_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False}

_ONLY_FOR_KERNELS: dict[str, Any] = {"no_cpython_wrapper": True}


def _sources() -> tuple[tuple[str, float, int], ...]:
    """Name, time and size of every file that can change what a kernel does: the kernels and the tables they read."""
    here = Path(__file__).parent
    files = sorted([*here.rglob("*.py"), here.parent / "robot" / "tables.py"])
    return tuple((file.name, file.stat().st_mtime, file.stat().st_size) for file in files)


SOURCES = _sources()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function with numba on first use, and keep it on disk until any kernel file changes."""
    return _stamped(njit(**_OPTIONS)(function))


def inner(function: Callable[..., Any]) -> Any:
    """`kernel` for a function that only kernels call: the wrapper for Python takes longer to compile than a small one
    itself."""
    return _stamped(njit(**_OPTIONS, **_ONLY_FOR_KERNELS)(function))


def inlined(function: Callable[..., Any]) -> Any:
    """`kernel` for the inner functions of a hot loop, which become part of their callers."""
    return _stamped(njit(forceinline=True, **_OPTIONS)(function))


def merged(function: Callable[..., Any]) -> Any:
    """`kernel` for a function with one caller: compiled as part of it, which saves compiling it twice."""
    return _stamped(njit(inline="always", **_OPTIONS)(function))


def _stamped(dispatcher: Any) -> Any:
    # numba itself looks only at the file of the function, so an edited joint law would leave every kernel that calls
    # it as it was. A test edits one and expects another answer.
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = SOURCES
        if hasattr(cache_file, "_load_index"):
            cache_file._load_index = _readable(cache_file._load_index)
    return dispatcher


def _readable(load_index: Callable[[], dict[Any, Any]]) -> Callable[[], dict[Any, Any]]:
    """An index that cannot be read counts as empty: one of an older version names classes that have moved since."""

    def load() -> dict[Any, Any]:
        try:
            return load_index()
        except Exception:  # whatever unpickling raises
            return {}

    return load


# Batches on threads: kernels release the interpreter, so pieces of a batch run side by side.

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
