"""Files of recordings: one writer each, written in whole blocks, flushed on a timer, stamped in Unix time."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

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
MOST_WAITING = 64 << 20
"""Bytes that wait in memory for a disk that takes nothing; what comes after them is lost, and counted."""


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
    """A new file that grows by whole blocks only, so that it ends at the end of a block whenever its writer is killed.

    A block that does not fit on the disk is removed again. The kernel locks the file while it is open, so that it has
    one writer only; the lock ends with its process, however that ends.
    """

    def __init__(self, path: str | Path, overwrite: bool = True) -> None:
        """`overwrite`: replace a file of this name, unless another writer has it open."""
        self.path = str(path)
        self.size = 0
        # O_BINARY exists on Windows only.
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._descriptor: int | None = None
        try:
            self._is_new = True
            try:
                self._descriptor = os.open(self.path, flags | os.O_EXCL, 0o666)
            except FileExistsError:
                if not overwrite:
                    raise RecordingError(self.path, "exists; choose another name, or ask to overwrite it") from None
                self._is_new = False
                self._descriptor = os.open(self.path, flags, 0o666)
            _lock(self._descriptor)
            if not os.path.samestat(os.fstat(self._descriptor), os.stat(self.path)):
                raise FileNotFoundError(errno.ENOENT, "it was removed while it was opened")
            os.ftruncate(self._descriptor, 0)
        except BlockingIOError:
            self.close()
            what = "is being written by another recorder; stop that one, or choose another name"
            raise RecordingError(self.path, what) from None
        except OSError as error:
            self.close()
            raise self._failed(error) from None

    def append(self, block: bytes) -> None:
        """Add a block; it then belongs to the operating system and survives the end of this process."""
        descriptor, written = self._open(), 0
        try:
            os.lseek(descriptor, self.size, os.SEEK_SET)
            while written < len(block):
                written += os.write(descriptor, memoryview(block)[written:] if written else block)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, self.size)
            raise self._failed(error) from None
        self.size += len(block)

    def rewrite_head(self, block: bytes) -> None:
        """Put `block` over the first bytes of the file."""
        descriptor = self._open()
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, block)
        except OSError as error:
            raise self._failed(error) from None

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            try:
                os.close(descriptor)
            except OSError as error:  # where a network's disk reports that it is full
                raise self._failed(error) from None

    def discard(self) -> None:
        """Close the file, and remove it if it did not exist before."""
        with contextlib.suppress(OSError, RecordingError):
            if self._is_new:
                os.unlink(self.path)
            self.close()

    def _open(self) -> int:
        if self._descriptor is None:
            raise RecordingError(self.path, CLOSED)
        return self._descriptor

    def _failed(self, error: OSError) -> RecordingError:
        return RecordingError(self.path, f"cannot be written ({error.strerror}); make room or choose another place")


CLOSED = "the recording is closed; open a new one"


def _lock(descriptor: int) -> None:
    """Lock a file against other writers; BlockingIOError if there is one. Windows has no such locks."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Block(NamedTuple):
    """Bytes that go to a file together."""

    data: bytes
    items: int
    """Frames or shapes in it."""
    head: bytes = b""
    """New first bytes of the file once `data` is in it."""


class ClosedAtTheEnd:
    """What a `with` block closes; an error of the block itself is not hidden by one of closing."""

    def close(self) -> object:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self.close()
        else:
            with contextlib.suppress(RecordingError):
                self.close()


class BlockWriter(ClosedAtTheEnd):
    """Writes frames or shapes to a new file in blocks: those who make the blocks inherit from this.

    Each block is made once and written once, in order. What the disk does not take waits in memory, up to
    `MOST_WAITING`, and is written as soon as there is room. A context manager.
    """

    items = "frames"
    """What is written, for messages."""

    def __init__(self, path: str | Path, overwrite: bool) -> None:
        self.path = str(path)
        self.lost = 0
        """Refused because too much was waiting."""
        self.fault: RecordingError | None = None
        """Why the disk takes nothing at present."""
        self._given = self._written = 0
        self._blocks: deque[Block] = deque()
        self._size = 0
        self._head = b""
        self._lock = threading.Lock()
        self._closed = False
        self._file = WholeFile(path, overwrite)
        try:
            self._file.append(self._begin())
        except BaseException:
            self._file.discard()
            raise
        self._timer = TimedFlush(self._timed_flush)

    def _begin(self) -> bytes:
        """First bytes of the file."""
        raise NotImplementedError

    def _pack(self) -> Iterable[Block]:
        """Everything given since the last call."""
        raise NotImplementedError

    def _end(self) -> bytes:
        """Last bytes of the file."""
        return b""

    @property
    def waiting(self) -> int:
        """In memory, and not yet in the file."""
        return self._given - self._written - self.lost

    def _admit(self) -> None:
        """Count one more; RecordingError if the writer is closed or too much is waiting. Call with the lock."""
        if self._closed:
            raise RecordingError(self.path, CLOSED)
        self._given += 1
        if self.fault is not None and self._size >= MOST_WAITING:
            self.lost += 1
            what = f"{MOST_WAITING >> 20} MB are waiting in memory, and {self.lost} {self.items} are lost"
            raise RecordingError(self.path, f"{self.fault.message}; {what}")

    def _keep(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            self._blocks.append(block)
            self._size += len(block.data)

    def _write(self) -> None:
        """Write all blocks, or as many as the disk takes; `fault` then says why it took no more."""
        try:
            while self._blocks or self._head:
                if self._head:
                    self._file.rewrite_head(self._head)
                    self._head = b""
                if self._blocks:
                    block = self._blocks[0]
                    self._file.append(block.data)
                    self._blocks.popleft()
                    self._size -= len(block.data)
                    self._written += block.items
                    self._head = block.head
        except RecordingError as error:
            self.fault = error
        else:
            self.fault = None

    def _timed_flush(self) -> None:
        with self._lock:
            self._keep(self._pack())
            self._write()

    def flush(self) -> None:
        """Write everything now; RecordingError if that fails."""
        if self._closed:
            raise RecordingError(self.path, CLOSED)
        self._timed_flush()
        if self.fault is not None:
            raise self.fault

    def close(self) -> None:
        """Write the rest and close the file; RecordingError if anything is missing. A second call does nothing."""
        if self._closed:
            return
        self._timer.stop()
        with self._lock:
            self._closed = True
            self._keep(self._pack())
            self._keep([Block(self._end(), 0)])
            self._write()
            try:
                self._file.close()
            except RecordingError as error:
                self.fault = error
        missing = f"{self.lost + self.waiting} of {self._given} {self.items} are not in the file"
        if self.fault is not None:
            raise RecordingError(self.path, f"{self.fault.message}; {missing}")
        if self.lost:
            raise RecordingError(self.path, f"{missing}: the disk was full for too long; record to a larger one")

    def discard(self) -> None:
        """Close the file without what is waiting, and remove it if it did not exist before."""
        self._timer.stop()
        with self._lock:
            self._closed = True
            self._file.discard()


LARGEST_BLOCK = 64 << 20
"""Bytes of a container, chunk, object or record of a file, packed or not; a larger one is refused."""
MOST_TIMES = 100
"""How many times its size a file may have unpacked; recordings have about ten times."""
ALWAYS_UNPACKED = 16 << 20
"""Bytes that any file may have unpacked."""


class UnpackBudget:
    """Refuses files that unpack to far more than recordings do, so that reading takes no more time than their size."""

    def __init__(self) -> None:
        self._taken = 0

    def take(self, claimed: int, read: int) -> None:
        """Before `claimed` more bytes are unpacked, `read` bytes into the file; ValueError if they are too many."""
        if claimed > LARGEST_BLOCK:
            raise ValueError(f"a block claims {claimed} bytes unpacked; at most {LARGEST_BLOCK} are possible")
        self._taken += claimed
        if self._taken > ALWAYS_UNPACKED + MOST_TIMES * read:
            what = f"its first {read} bytes claim {self._taken} bytes unpacked"
            raise ValueError(f"{what}, more than {ALWAYS_UNPACKED >> 20} MiB and {MOST_TIMES} times their size")
