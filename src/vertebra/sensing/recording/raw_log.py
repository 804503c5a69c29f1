"""Recordings of frames as they came: .blf (Vector), .log (`candump -l`) and .csv; they survive a kill of the writer.

Identifiers, data and order come back bit for bit. Arrival times come back bit for bit from .blf and .csv, and to the
microsecond from .log.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol, Self

from vertebra.errors import InputError, RecordingError
from vertebra.sensing.recording.blf import BlfLog, BlfReader
from vertebra.sensing.recording.files import BILLION, TimedFlush, WholeFile, from_ns, to_ns
from vertebra.sensing.wire.can import Frame

RAW_SUFFIXES = (".blf", ".log", ".csv")
_LATEST = 1e10
"""Seconds since 1970 that frames may carry: until the year 2286."""
_MOST_WAITING = 4000
"""Frames that are written without waiting for the clock."""


class RawLogWriter:
    """Writes frames to a new file; what was written is with the operating system within a quarter of a second.

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
        self._clock = TimedFlush(self._flush_by_the_clock)

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
        """Hand everything over to the operating system now; RecordingError if it cannot be written."""
        with self._lock:
            self._write_waiting()
            if self._fault is not None:
                raise self._fault

    def _flush_by_the_clock(self) -> None:
        with self._lock:
            self._write_waiting()

    def _write_waiting(self) -> None:
        """A failed disk may recover: what could not be written waits for the next time."""
        if self._waiting:
            try:
                self._log.append(self._waiting)
            except RecordingError as error:
                self._fault = error
            else:
                self._fault, self._waiting = None, []

    def close(self) -> None:
        """Write the rest and close the file; a second call does nothing."""
        self._clock.stop()
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
        """False once the end of the file was found to be cut off; valid after the last frame."""
        self.skipped = 0
        """Frames of the file that are none of ours: 29-bit ids, remote, error and CAN FD frames."""

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

    Use `LogReader` to learn whether the file was cut off. A damaged place raises RecordingError after the frames before
    it were given.
    """
    return iter(LogReader(path))


def raw_suffix(path: str | Path) -> str:
    """The suffix of a recording of frames, or an error that names the possible ones."""
    suffix = Path(path).suffix.lower()
    if suffix not in RAW_SUFFIXES:
        raise RecordingError(str(path), f"the name of a recording of frames must end in {', '.join(RAW_SUFFIXES)}")
    return suffix


CSV_HEADER = b"time_s,id,data\n"
_CANDUMP = re.compile(rb"\((\d{1,11})\.(\d{1,9})\) \S+ ([0-9A-Fa-f]+)#(\S*)(?: [RT])?\s*")
_CSV = re.compile(rb"(\d{1,11})\.(\d{1,9}),([0-9A-Fa-f]+),([0-9A-Fa-f]*)\s*")
_DATA = re.compile(rb"(?:[0-9A-Fa-f]{2}){0,8}")
_LONGEST = 512
"""Bytes; a longer line is none of a recording. (CAN FD lines have about 180.)"""


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
    """One line; can-utils know microseconds, so the time is rounded to them."""
    seconds, microseconds = divmod((to_ns(frame.time) + 500) // 1000, 1_000_000)
    return b"(%010d.%06d) can0 %03X#%s\n" % (seconds, microseconds, frame.id, frame.data.hex().upper().encode())


def csv_line(frame: Frame) -> bytes:
    """One row; nanoseconds, because the time of a frame has a finer grain than microseconds."""
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
            # A last line without its end is whole only if its 8 bytes are.
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
        return RecordingError(self.path, f"line {line} is none of a {kind}; write {form}, or name the right file", line)
