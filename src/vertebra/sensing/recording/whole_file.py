"""A file that grows by whole blocks only: killed at any moment, it ends where a block ends."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from vertebra.errors import RecordingError


class WholeFile:
    """Appends blocks, each by one call of the operating system; takes back a block that did not fit on the disk."""

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
        """Add a block; afterwards it is with the operating system and survives the end of this process."""
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
