"""A program that is left open for days gives back what it no longer needs."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Names of glibc's settings (malloc.h)."""
_LARGE = 128 << 10
"""Bytes: what is freed beyond this goes back to the system. glibc starts here, but raises it with use."""


def give_back_freed_memory() -> None:
    """Let glibc return freed memory to the system, from one store for all threads; other systems stay as they are."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for setting, value in ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, _LARGE), (_TRIM_THRESHOLD, _LARGE)):
            mallopt(setting, value)
