"""Files of recordings: written in whole blocks, flushed on a timer, stamped in Unix time."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

from vertebra.errors import RecordingError

BILLION = 1_000_000_000


def to_ns(time: float) -> int:
    """Nanoseconds since 1970.

    Whole seconds are split off first: `time * 1e9` would round today's times to 256 ns and not come back as given.
    """
    seconds = int(time)
    return seconds * BILLION + round((time - seconds) * BILLION)


def from_ns(nanoseconds: int) -> float:
    """Seconds since 1970; returns exactly the float that `to_ns` was given, for times after 1970-04."""
    seconds, rest = divmod(nanoseconds, BILLION)
    return seconds + rest / BILLION


FLUSH_EVERY = 0.25
"""Seconds; twice as often as the half second that recordings promise."""


class TimedFlush:
    """Calls `flush` every `period` seconds in a thread of its own until `stop`: a quiet bus leaves nothing in memory.

    `flush` must not raise; its owner keeps an error and raises it later, in the caller's thread.
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
        """End the thread; `flush` is not called after this returns."""
        self._stopped.set()
        self._thread.join()


class WholeFile:
    """A file that grows by whole blocks only, so that it ends at the end of a block whenever its writer is killed.

    Each block is one system call; a block that does not fit on the disk is removed again.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.size = 0
        try:
            # O_BINARY exists on Windows only.
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
            self._descriptor: int | None = os.open(self.path, flags, 0o666)
        except OSError as error:
            raise self._failed(error) from None

    def append(self, block: bytes) -> None:
        """Add a block; it then belongs to the operating system and survives the end of this process."""
        descriptor = self._open()
        try:
            written = os.write(descriptor, block)
            while written < len(block):
                written += os.write(descriptor, memoryview(block)[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, self.size)
                os.lseek(descriptor, self.size, os.SEEK_SET)
            raise self._failed(error) from None
        self.size += len(block)

    def rewrite_head(self, block: bytes) -> None:
        """Put `block` over the first bytes of the file."""
        descriptor = self._open()
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, block)
            os.lseek(descriptor, self.size, os.SEEK_SET)
        except OSError as error:
            raise self._failed(error) from None

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def _open(self) -> int:
        if self._descriptor is None:
            raise RecordingError(self.path, "the recording is closed; open a new one")
        return self._descriptor

    def _failed(self, error: OSError) -> RecordingError:
        return RecordingError(self.path, f"cannot be written ({error.strerror}); make room or choose another place")
