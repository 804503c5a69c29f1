"""Recordings of frames as they came: .blf (Vector), .log (`candump -l`) and .csv; readable if the writer is killed.

Identifiers, data and order come back bit for bit. Arrival times come back bit for bit from .blf and .csv, and to the
microsecond from .log.
"""

from __future__ import annotations

import os
import re
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from types import ModuleType, TracebackType
from typing import BinaryIO, Protocol, Self

from vertebra.errors import InputError, RecordingError
from vertebra.sensing.recording.files import BILLION, TimedFlush, WholeFile, from_ns, to_ns
from vertebra.sensing.wire.can import Frame

RAW_SUFFIXES = (".blf", ".log", ".csv")
_LATEST = 1e10
"""Seconds since 1970 that frames may carry: until the year 2286."""
_MOST_WAITING = 4000
"""Frames after which a batch is written without waiting for the timer."""


class RawLogWriter:
    """Writes frames to a new file; the operating system has them within a quarter of a second.

    A context manager. May be used by one thread at a time.
    """

    def __init__(self, path: str | Path) -> None:
        suffix = raw_suffix(path)
        self.path = str(path)
        self.frames = 0
        """Frames given to `write` so far."""
        self._waiting: list[Frame] = []
        self._lock = threading.Lock()
        self._fault: RecordingError | None = None
        file = WholeFile(path)
        self._log: _Log = BlfLog(file) if suffix == ".blf" else _TextLog(file, csv=suffix == ".csv")
        self._timer = TimedFlush(self._timed_flush)

    def write(self, frame: Frame) -> None:
        """Add a frame; InputError for one that no classic CAN bus carries."""
        if not (0 <= frame.id <= 0x7FF and len(frame.data) <= 8 and 0.0 <= frame.time < _LATEST):
            raise InputError("frame", f"needs an 11-bit id, at most 8 bytes and a time since 1970, not {frame!r}")
        with self._lock:
            self._waiting.append(frame)
            self.frames += 1
        if len(self._waiting) >= _MOST_WAITING:
            self.flush()

    def flush(self) -> None:
        """Write everything now; RecordingError if that fails."""
        with self._lock:
            self._write_waiting()
            if self._fault is not None:
                raise self._fault

    def _timed_flush(self) -> None:
        with self._lock:
            self._write_waiting()

    def _write_waiting(self) -> None:
        """A disk may recover: frames that could not be written wait for the next attempt."""
        if self._waiting:
            try:
                self._log.append(self._waiting)
            except RecordingError as error:
                self._fault = error
            else:
                self._fault, self._waiting = None, []

    def close(self) -> None:
        """Write the rest and close the file; a second call does nothing."""
        self._timer.stop()
        try:
            self.flush()
        finally:
            self._log.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class LogReader:
    """Reads a recording; iterate over it once."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.suffix = raw_suffix(path)
        self.complete = True
        """False if the file turned out to be cut off; valid after the last frame."""
        self.skipped = 0
        """Frames that are not of this network: 29-bit ids, remote, error and CAN FD frames."""

    def __iter__(self) -> Iterator[Frame]:
        try:
            file = open(self.path, "rb")  # noqa: SIM115 - the message needs the error of this call alone
        except OSError as error:
            raise RecordingError(self.path, f"cannot be read ({error.strerror}); name a recording") from None
        with file:
            reader = (
                BlfReader(self.path, file)
                if self.suffix == ".blf"
                else TextLogReader(self.path, file, csv=self.suffix == ".csv")
            )
            yield from reader
        self.complete, self.skipped = reader.complete, reader.skipped


def read_frames(path: str | Path) -> Iterator[Frame]:
    """Frames of a recording in the order in which they came, up to the last whole container or line.

    Use `LogReader` to learn whether the file was cut off. A damaged file raises RecordingError
    after the frames before the damage.
    """
    return iter(LogReader(path))


def raw_suffix(path: str | Path) -> str:
    """The suffix of a recording of frames; RecordingError for any other."""
    suffix = Path(path).suffix.lower()
    if suffix not in RAW_SUFFIXES:
        raise RecordingError(str(path), f"the name of a recording of frames must end in {', '.join(RAW_SUFFIXES)}")
    return suffix


CSV_HEADER = b"time_s,id,data\n"
_CANDUMP = re.compile(rb"\((\d{1,11})\.(\d{1,9})\) \S+ ([0-9A-Fa-f]+)#(\S*)(?: [RT])?\s*")
_CSV = re.compile(rb"(\d{1,11})\.(\d{1,9}),([0-9A-Fa-f]+),([0-9A-Fa-f]*)\s*")
_DATA = re.compile(rb"(?:[0-9A-Fa-f]{2}){0,8}")
_LONGEST = 512
"""Bytes; a longer line is not from a recording. (CAN FD lines have about 180.)"""


class _Log(Protocol):
    file: WholeFile

    def append(self, frames: list[Frame]) -> None: ...


class _TextLog:
    def __init__(self, file: WholeFile, csv: bool) -> None:
        self.file = file
        self._line = csv_line if csv else candump_line
        if csv:
            file.append(CSV_HEADER)

    def append(self, frames: list[Frame]) -> None:
        self.file.append(b"".join(map(self._line, frames)))


def candump_line(frame: Frame) -> bytes:
    """One line; can-utils has microseconds, so the time is rounded to them."""
    seconds, microseconds = divmod((to_ns(frame.time) + 500) // 1000, 1_000_000)
    return b"(%010d.%06d) can0 %03X#%s\n" % (seconds, microseconds, frame.id, frame.data.hex().upper().encode())


def csv_line(frame: Frame) -> bytes:
    """One row; in nanoseconds, because the time of a frame is finer than microseconds."""
    seconds, nanoseconds = divmod(to_ns(frame.time), BILLION)
    return b"%d.%09d,%03X,%s\n" % (seconds, nanoseconds, frame.id, frame.data.hex().upper().encode())


class TextLogReader:
    """Frames of a text recording up to the last whole line."""

    def __init__(self, path: str, file: BinaryIO, csv: bool) -> None:
        self.path, self.file, self.csv = path, file, csv
        self.complete = True
        self.skipped = 0

    def __iter__(self) -> Iterator[Frame]:
        pattern = _CSV if self.csv else _CANDUMP
        for number, line in enumerate(self._lines(), 1):
            if (self.csv and number == 1 and line.strip() == CSV_HEADER.strip()) or not line.strip():
                continue
            found = pattern.fullmatch(line)
            whole = line.endswith(b"\n")
            if found is None and whole:
                raise self._wrong(number)
            # A last line without a newline counts only if all 8 data bytes are there.
            if found is None or (not whole and len(found[4]) != 16):
                self.complete = False
                return
            seconds, fraction, can_id, data = found.groups()
            if int(can_id, 16) > 0x7FF or len(can_id) > 3 or data[:1] in (b"R", b"r", b"#"):
                self.skipped += 1
                continue
            if not _DATA.fullmatch(data):
                raise self._wrong(number)
            nanoseconds = int(seconds) * BILLION + int(fraction.ljust(9, b"0"))
            yield Frame(int(can_id, 16), bytes.fromhex(data.decode()), from_ns(nanoseconds))

    def _lines(self) -> Iterator[bytes]:
        number = 0
        while line := self.file.readline(_LONGEST):
            number += 1
            if len(line) == _LONGEST and not line.endswith(b"\n"):
                raise self._wrong(number)
            yield line

    def _wrong(self, line: int) -> RecordingError:
        form = "1700000000.123456,100,0102030405060708" if self.csv else "(1700000000.123456) can0 100#0102030405060708"
        kind = "CSV table of frames" if self.csv else "candump log"
        what = f"line {line} is not a line of a {kind}; write {form}, or name the right file"
        return RecordingError(self.path, what, line)


# BLF files are packed and read by python-can. A file that it writes itself gets its date only when closed, and its
# frames 128 kB at a time: killed after 8000 frames, it held 5461, dated 1970. So here it packs each batch in memory,
# and batch and header are written to the file together.

_HEADER_SIZE = 144
_FILE_SIZE = struct.Struct("<Q")
_FILE_SIZE_AT = 16
"""Byte of the header where the length of the file is."""
_YEAR_1990 = 631152000
"""s (Unix); a header cannot hold earlier dates."""
_MOST_MESSAGES = 1 << 20
"""In a container; the largest hold a few thousand. python-can repeats one message for ever where a size reads 0."""


class BlfLog:
    """Appends frames to a new file."""

    def __init__(self, file: WholeFile) -> None:
        self.file = file
        self._can = _python_can()
        self._header = self._new_header(0.0)
        file.append(self._header)

    def append(self, frames: Sequence[Frame]) -> None:
        """Write the frames, then a header that counts them."""
        if self.file.size == _HEADER_SIZE:
            # Before the first frames, so that a kill in between does not leave them without a date.
            self._header = self._new_header(_start(frames[0].time))
            self.file.rewrite_head(self._header)
        memory = _Memory(self._header)
        writer = self._can.BLFWriter(memory, append=True, compression_level=1)
        for frame in frames:
            # python-can truncates times to whole nanoseconds; adding half of one rounds them.
            writer(self._can.Message(frame.time + 0.5e-9, frame.id, is_extended_id=False, data=frame.data))
        writer.stop()
        self.file.append(memory.getvalue()[_HEADER_SIZE:])
        _FILE_SIZE.pack_into(memory.getbuffer(), _FILE_SIZE_AT, self.file.size)
        self._header = memory.getvalue()[:_HEADER_SIZE]
        self.file.rewrite_head(self._header)

    def _new_header(self, start: float) -> bytes:
        """Header of a recording that starts at `start` in s (Unix) and has no frames yet."""
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
            raise RecordingError(self.path, "is not a BLF file (it does not start with LOGG); name the right file", 0)
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
            remedy = "what is before it can be saved with `vertebra sense convert`"
            what = f"the file is damaged at byte {container}: {error or 'no object starts here'}; {remedy}"
            raise RecordingError(self.path, what, container) from None


class _Memory(BytesIO):
    """Stays open when python-can's writer closes it."""

    def close(self) -> None:
        pass


def _start(first: float) -> float:
    """Start of a recording whose first frame came at `first`, in s (Unix); 0 for times too early for a header.

    A second or two early, so that frames stamped slightly before the first keep their time.
    """
    return float(int(first) - 1) if first > _YEAR_1990 + 2 else 0.0


def _python_can() -> ModuleType:
    try:
        import can
    except ImportError:
        raise InputError("blf", 'BLF recordings need python-can; run: pip install "vertebra[sense]"') from None
    return can
