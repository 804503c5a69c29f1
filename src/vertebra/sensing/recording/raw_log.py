"""Recordings of frames as they came: .blf (Vector), .log (`candump -l`) and .csv; readable if the writer is killed.

Identifiers, data and order come back bit for bit. Arrival times come back bit for bit from .blf and .csv, and to the
microsecond from .log.
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, Protocol

from vertebra.errors import InputError, RecordingError
from vertebra.sensing.recording.files import (
    BILLION,
    LARGEST_BLOCK,
    Block,
    BlockWriter,
    UnpackBudget,
    from_ns,
    to_ns,
)
from vertebra.sensing.wire.can import Frame

RAW_SUFFIXES = (".blf", ".log", ".csv")
_LATEST = 1e10
"""Seconds since 1970 that frames may carry: until the year 2286."""
_MOST_FRAMES = 4000
"""Frames after which a batch is written without waiting for the timer."""


class RawLogWriter(BlockWriter):
    """Writes frames to a new file; the operating system has them within a quarter of a second.

    A context manager. May be used by one thread at a time. `overwrite=False` refuses a name that exists; a file that
    another recorder is writing is refused in any case.
    """

    def __init__(self, path: str | Path, *, overwrite: bool = True) -> None:
        suffix = raw_suffix(path)
        self._log: _Log = BlfLog() if suffix == ".blf" else _TextLog(csv=suffix == ".csv")
        self._waiting: list[Frame] = []
        super().__init__(path, overwrite)

    @property
    def frames(self) -> int:
        """Frames in the file."""
        return self._written

    def write(self, frame: Frame) -> None:
        """Add a frame; InputError for one that no classic CAN bus carries.

        RecordingError if it is lost, because the disk is full and as much as may be is waiting in memory.
        """
        require_classic(frame)
        with self._lock:
            self._admit()
            self._waiting.append(frame)
            if len(self._waiting) >= _MOST_FRAMES:
                self._keep(self._pack())
                if self.fault is None:
                    self._write()

    def _begin(self) -> bytes:
        return self._log.begin()

    def _pack(self) -> Iterable[Block]:
        frames, self._waiting = self._waiting, []
        return self._log.pack(frames) if frames else ()


def require_classic(frame: Frame) -> None:
    """Refuse a frame that no classic CAN bus carries."""
    if not (0 <= frame.id <= 0x7FF and len(frame.data) <= 8 and 0.0 <= frame.time < _LATEST):
        raise InputError("frame", f"needs an 11-bit id, at most 8 bytes and a time since 1970, not {frame!r}")


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
    """Frames to the bytes of a file."""

    def begin(self) -> bytes: ...

    def pack(self, frames: Sequence[Frame]) -> list[Block]: ...


class _TextLog:
    def __init__(self, csv: bool) -> None:
        self._first, self._line = (CSV_HEADER, csv_line) if csv else (b"", candump_line)

    def begin(self) -> bytes:
        return self._first

    def pack(self, frames: Sequence[Frame]) -> list[Block]:
        return [Block(b"".join(map(self._line, frames)), len(frames))]


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


# BLF files are packed by python-can. A file that it writes itself gets its date only when closed, and its
# frames 128 kB at a time: killed after 8000 frames, it held 5461, dated 1970. So here it packs each batch in memory,
# and batch and header are written to the file together.

_HEADER_SIZE = 144
_FILE_SIZE = struct.Struct("<Q")
_FILE_SIZE_AT = 16
"""Byte of the header where the length of the file is."""
_YEAR_1990 = 631152000
"""s (Unix); a header cannot hold earlier dates."""
_FILE_HEAD = struct.Struct("<4sL8xQ16x8H")
"""LOGG, bytes of the header, of the file; date of the start: year, month, weekday, day, hour, minute, second, ms."""
_OBJECT = struct.Struct("<4sHHLL")
"""LOBJ, bytes of the object's header, its version, bytes of the object, its kind."""
_CONTAINER = struct.Struct("<H6xL4x")
"""How it is packed (0: not at all, 2: zlib), bytes unpacked."""
_STAMPS = {1: struct.Struct("<L4xQ"), 2: struct.Struct("<L4xQ8x")}
"""By version of the object's header. Unit of time (1: 10 us, else ns), time since the start."""
_CAN, _LOG_CONTAINER, _CAN_ERROR, _CAN_2, _CAN_FD, _CAN_FD_64 = 1, 10, 73, 86, 100, 101
_CLASSIC = struct.Struct("<2xBBL8s")
"""Flags, bytes, id, data."""
_LAYOUTS = {
    _CAN: _CLASSIC,
    _CAN_2: _CLASSIC,
    _CAN_ERROR: struct.Struct("<"),
    _CAN_FD: struct.Struct("<2xBxL5xBB5x"),  # flags, id, CAN FD flags, bytes; then data
    _CAN_FD_64: struct.Struct("<2xBxL4xL19xB4x"),  # bytes, id, flags, end of the data if not the object's; then data
}
"""Of the kinds of objects that are frames."""


class BlfLog:
    """Packs the frames of a new file, in the order in which they are written."""

    def __init__(self) -> None:
        self._can = _python_can()
        self._header = self._new_header(0.0)
        self._size = 0

    def begin(self) -> bytes:
        """The header of an empty file."""
        self._size = len(self._header)
        return self._header

    def pack(self, frames: Sequence[Frame]) -> list[Block]:
        """The frames, with a header that counts them."""
        blocks = []
        if self._size == _HEADER_SIZE:
            # Before the first frames, so that a kill in between does not leave them without a date.
            self._header = self._new_header(_start(frames[0].time))
            blocks.append(Block(b"", 0, self._header))
        memory = _Memory(self._header)
        writer = self._can.BLFWriter(memory, append=True, compression_level=1)
        for frame in frames:
            # python-can truncates times to whole nanoseconds; adding half of one rounds them.
            writer(self._can.Message(frame.time + 0.5e-9, frame.id, is_extended_id=False, data=frame.data))
        writer.stop()
        data = memory.getvalue()[_HEADER_SIZE:]
        self._size += len(data)
        _FILE_SIZE.pack_into(memory.getbuffer(), _FILE_SIZE_AT, self._size)
        self._header = memory.getvalue()[:_HEADER_SIZE]
        return [*blocks, Block(data, len(frames), self._header)]

    def _new_header(self, start: float) -> bytes:
        """Header of a recording that starts at `start` in s (Unix) and has no frames yet."""
        memory = _Memory()
        writer = self._can.BLFWriter(memory)
        writer.start_timestamp = start
        writer.stop()
        return memory.getvalue()


class BlfReader:
    """Frames of a BLF file, whole or cut off.

    Not python-can's reader, which takes every size that a file claims as it is: a megabyte may fill the memory, and an
    object of size 0 never ends.
    """

    def __init__(self, path: str, file: BinaryIO) -> None:
        self.path, self.file = path, file
        self.complete = True
        self.skipped = 0
        self._start = 0.0
        self._at = 0
        self._budget = UnpackBudget()

    def __iter__(self) -> Iterator[Frame]:
        size, head = os.fstat(self.file.fileno()).st_size, self.file.read(_FILE_HEAD.size)
        if not b"LOGG".startswith(head[:4]):
            raise RecordingError(self.path, "is not a BLF file (it does not start with LOGG); name the right file", 0)
        if len(head) < _FILE_HEAD.size:
            self.complete = False
            return
        _, header, file_size, *date = _FILE_HEAD.unpack(head)
        if not _FILE_HEAD.size <= header <= LARGEST_BLOCK:
            raise self._damaged(f"its header claims {header} bytes")
        self._start, self.complete = _timestamp(date), size == file_size
        self.file.seek(header)
        objects = bytearray()
        for container in self._containers():
            objects += container
            used = 0
            for begin, end in self._objects(objects):
                used = end
                frame = self._frame(objects, begin, end)
                if frame is not None:
                    yield frame
            del objects[:used]
        self.complete = self.complete and b"LOBJ" not in objects[:8]

    def _containers(self) -> Iterator[bytes]:
        """Unpacked contents up to the end of the file; of a container that is cut off, what is there."""
        while True:
            self._at = self.file.tell()
            head = self.file.read(_OBJECT.size)
            if len(head) < _OBJECT.size:
                self.complete = self.complete and not head
                return
            signature, _, _, size, kind = _OBJECT.unpack(head)
            if signature != b"LOBJ":
                raise self._damaged("no object starts here")
            body = self.file.read(self._checked(size) - _OBJECT.size)
            whole = len(body) == size - _OBJECT.size
            self.file.read(size % 4)
            if kind == _LOG_CONTAINER:
                yield self._unpacked(body, whole)
            if not whole:
                self.complete = False
                return

    def _unpacked(self, body: bytes, whole: bool) -> bytes:
        if len(body) < _CONTAINER.size:
            if whole:
                raise self._damaged("a container ends before its content")
            return b""
        method, size = _CONTAINER.unpack_from(body)
        if method == 0:
            return body[_CONTAINER.size :]
        if method != 2:
            raise self._damaged(f"a container is packed by method {method}, which is not known")
        try:
            self._budget.take(size, self.file.tell())
            unpack = zlib.decompressobj()
            content = unpack.decompress(body[_CONTAINER.size :], size + 1)
        except (ValueError, zlib.error) as error:
            raise self._damaged(str(error)) from None
        if len(content) > size:
            raise self._damaged(f"a container claims {size} bytes unpacked and has more")
        if whole and not unpack.eof:
            raise self._damaged("a container ends before its content")
        return content

    def _objects(self, data: bytearray) -> Iterator[tuple[int, int]]:
        """Where the whole objects in `data` begin and end; the last may go on in the next container."""
        end = 0
        while True:
            # Objects are padded to whole words, in more than one way.
            begin = data.find(b"LOBJ", end, end + 8)
            if begin < 0 and end + 8 <= len(data):
                raise self._damaged("no object starts here")
            if begin < 0 or begin + _OBJECT.size > len(data):
                return
            end = begin + self._checked(_OBJECT.unpack_from(data, begin)[3])
            if end > len(data):
                return
            yield begin, end

    def _checked(self, size: int) -> int:
        if not _OBJECT.size <= size <= LARGEST_BLOCK:
            allowed = f"{_OBJECT.size} to {LARGEST_BLOCK} are possible"
            raise self._damaged(f"an object has an impossible size: it claims {size} bytes, {allowed}")
        return size

    def _frame(self, data: bytearray, begin: int, end: int) -> Frame | None:
        """The frame in an object; None for other objects. Frames that are not of this network are counted."""
        _, header, version, _, kind = _OBJECT.unpack_from(data, begin)
        stamp, layout = _STAMPS.get(version), _LAYOUTS.get(kind)
        if stamp is None or layout is None:
            return None
        at = begin + _OBJECT.size + stamp.size
        if at + layout.size > end:
            raise self._damaged("an object is too short for a frame")
        fields = layout.unpack_from(data, at)
        at += layout.size
        if kind == _CAN_ERROR:
            other, can_id, content = True, 0, b""
        elif kind == _CAN_FD:
            flags, can_id, fd, length = fields
            other, content = flags & 0x80 or fd & 0x1, bytes(data[at : min(at + length, end)]).ljust(length, b"\0")
        elif kind == _CAN_FD_64:
            length, can_id, flags, extended = fields
            until = begin + _OBJECT.size + stamp.size + (extended or end - begin) - header
            other, content = flags & 0x1010, bytes(data[at : min(at + length, until, end)]).ljust(length, b"\0")
        else:
            flags, length, can_id, content = fields
            other, content = flags & 0x80, content[:length]
        # Bits 29 and 30 of the id mean nothing; bit 31 marks a 29-bit id.
        can_id &= 0x9FFFFFFF
        if other or can_id > 0x7FF:
            self.skipped += 1
            return None
        units, ticks = stamp.unpack_from(data, begin + _OBJECT.size)
        # Whole numbers are divided exactly; a float could not hold the nanoseconds of more than 104 days.
        return Frame(can_id, content[:8], ticks / (100_000 if units == 1 else BILLION) + self._start)

    def _damaged(self, what: str) -> RecordingError:
        remedy = "what is before it can be saved with `vertebra sense convert`"
        return RecordingError(self.path, f"the file is damaged at byte {self._at}: {what}; {remedy}", self._at)


class _Memory(BytesIO):
    """Stays open when python-can's writer closes it."""

    def close(self) -> None:
        pass


def _start(first: float) -> float:
    """Start of a recording whose first frame came at `first`, in s (Unix); 0 for times too early for a header.

    A second or two early, so that frames stamped slightly before the first keep their time.
    """
    return float(int(first) - 1) if first > _YEAR_1990 + 2 else 0.0


def _timestamp(date: Sequence[int]) -> float:
    """s (Unix) of a date in a header; 0 without one."""
    year, month, _, day, hour, minute, second, milliseconds = date
    try:
        return datetime(year, month, day, hour, minute, second, milliseconds * 1000, tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0


def _python_can() -> ModuleType:
    try:
        import can
    except ImportError:
        raise InputError("blf", 'BLF recordings need python-can; run: pip install "vertebra[sense]"') from None
    return can
