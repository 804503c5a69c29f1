"""BLF recordings (Vector's binary logging format), packed and read by python-can; they survive a kill of the writer.

python-can's own file has its date only once it is closed, and gets its frames 128 kB at a time: killed after 8000
frames, it held 5461, dated 1970. So here it packs each batch in memory, and the file gets batch and header together.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from types import ModuleType
from typing import BinaryIO

from vertebra.errors import InputError, RecordingError
from vertebra.sensing.recording.files import WholeFile
from vertebra.sensing.wire.can import Frame

_HEADER_SIZE = 144
_FILE_SIZE = struct.Struct("<Q")
_FILE_SIZE_AT = 16
"""Where the header says how long the file is."""
_YEAR_1990 = 631152000
"""s (Unix); older times have no date in a header."""
_MOST_MESSAGES = 1 << 20
"""In a container; the largest hold some thousand. python-can gives the same message for ever where a size reads 0."""


class BlfLog:
    """Appends frames to a new file."""

    def __init__(self, file: WholeFile) -> None:
        self.file = file
        self._can = _python_can()
        self._header = self._new_header(0.0)
        file.append(self._header)

    def append(self, frames: Sequence[Frame]) -> None:
        """Write the frames, then the header that counts them."""
        if self.file.size == _HEADER_SIZE:
            # Before the first frames: alone in the file, their times would have no date.
            self._header = self._new_header(_start(frames[0].time))
            self.file.rewrite_head(self._header)
        memory = _Memory(self._header)
        writer = self._can.BLFWriter(memory, append=True, compression_level=1)
        for frame in frames:
            # python-can cuts times to whole nanoseconds: half of one makes that rounding.
            writer(self._can.Message(frame.time + 0.5e-9, frame.id, is_extended_id=False, data=frame.data))
        writer.stop()
        self.file.append(memory.getvalue()[_HEADER_SIZE:])
        _FILE_SIZE.pack_into(memory.getbuffer(), _FILE_SIZE_AT, self.file.size)
        self._header = memory.getvalue()[:_HEADER_SIZE]
        self.file.rewrite_head(self._header)

    def _new_header(self, start: float) -> bytes:
        """The file of a measurement that starts at `start` in s (Unix) and has no frames yet."""
        memory = _Memory()
        writer = self._can.BLFWriter(memory)
        writer.start_timestamp = start
        writer.stop()
        return memory.getvalue()


class BlfReader:
    """Frames of a BLF file, whole or cut off."""

    def __init__(self, path: str, file: BinaryIO) -> None:
        self.path, self.file = path, file
        self.complete = True
        self.skipped = 0

    def __iter__(self) -> Iterator[Frame]:
        if not b"LOGG".startswith(self.file.read(4)):
            raise RecordingError(self.path, "is no BLF file (it does not start with LOGG); name the right file", 0)
        self.file.seek(0)
        can, size = _python_can(), os.fstat(self.file.fileno()).st_size
        container, messages = 0, 0
        try:
            log = can.BLFReader(self.file)
            self.complete = size == log.file_size
            container = self.file.tell()
            for message in log:
                if self.file.tell() != container:
                    container, messages = self.file.tell(), 0
                messages += 1
                if messages > _MOST_MESSAGES:
                    raise ValueError("an object of the container has an impossible size")
                other = message.is_extended_id or message.is_remote_frame or message.is_error_frame or message.is_fd
                if other or message.arbitration_id > 0x7FF:
                    self.skipped += 1
                else:
                    yield Frame(message.arbitration_id, bytes(message.data[:8]), message.timestamp)
        except (can.io.blf.BLFParseError, zlib.error, struct.error, ValueError) as error:
            if isinstance(error, struct.error) and self.file.tell() == size:
                self.complete = False
                return
            remedy = "what stands before it can be saved with `vertebra sense convert`"
            what = f"the file is damaged at byte {container}: {error or 'no object starts here'}; {remedy}"
            raise RecordingError(self.path, what, container) from None


class _Memory(BytesIO):
    """Stays open when python-can's writer closes it."""

    def close(self) -> None:
        pass


def _start(first: float) -> float:
    """Start of a measurement whose first frame came at `first`, in s (Unix); 0 for times that are no dates.

    A second or two early, so that frames with slightly older stamps than the first have a time of their own.
    """
    return float(int(first) - 1) if first > _YEAR_1990 + 2 else 0.0


def _python_can() -> ModuleType:
    try:
        import can
    except ImportError:
        raise InputError("blf", 'BLF recordings need python-can; run: pip install "vertebra[sense]"') from None
    return can
