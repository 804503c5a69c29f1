"""The bytes of BLF files (Vector's binary logging format): a header, then containers of compressed CAN messages."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta
from typing import BinaryIO

from vertebra.errors import RecordingError
from vertebra.sensing.recording.files import BILLION, from_ns, to_ns
from vertebra.sensing.wire.can import Frame

HEADER_SIZE = 144
_HEADER = struct.Struct("<4sI8B2Q2I8H8H")
"""LOGG, size of the header; writer and format versions; size of the file, of its unpacked objects; count of objects
(and of those read); start and end of the measurement as year, month, weekday, day, hour, minute, second, ms."""
_VERSIONS = (0, 0, 0, 0, 2, 6, 8, 1)
_OBJECT = struct.Struct("<4sHHII")
"""LOBJ, size of the object's header, its version, size of the object, its type."""
_CONTAINER = struct.Struct("<H6xI4x")
"""How it is packed, size of the unpacked objects."""
_STAMP = struct.Struct("<I4xQ")
"""Follows on _OBJECT inside containers: flags (unit of the time), time since the start of the measurement."""
_MESSAGE = struct.Struct("<HBBI8s")
"""Channel, flags, count of bytes, id, bytes."""
_WHOLE_MESSAGE = struct.Struct("<4sHHIIIHHQHBBI8s")

_CAN_MESSAGES = (1, 86)
_OTHER_FRAMES = (73, 100, 101)
"""Error frames and CAN FD: on the bus, but not ours."""
_PACKED = 10
_PLAIN, _DEFLATED = 0, 2
_TEN_MICROSECONDS, _NANOSECONDS = 1, 2
_REMOTE = 0x80
_YEAR_1990 = 631152000
_MOST_UNPACKED = 1 << 26
"""Bytes; containers of any writer are far smaller. A damaged one must not fill the memory."""


def start_of(first: float) -> int:
    """Start of a measurement whose first frame came at `first`, in ns; 0 for times that are no dates.

    A second or two early, so that frames with slightly older stamps than the first have a time of their own.
    """
    return (int(first) - 1) * BILLION if first > _YEAR_1990 + 2 else 0


def message(frame: Frame, start: int) -> bytes:
    """One CAN message; a stamp before `start` (the clock was set back) becomes `start`."""
    since = max(to_ns(frame.time) - start, 0)
    return _WHOLE_MESSAGE.pack(
        b"LOBJ", 32, 1, _WHOLE_MESSAGE.size, 1, _NANOSECONDS, 0, 0, since, 1, 0, len(frame.data), frame.id, frame.data
    )


def container(messages: bytes) -> bytes:
    """Messages packed as one object of the file."""
    packed = zlib.compress(messages, 1)
    size = _OBJECT.size + _CONTAINER.size + len(packed)
    head = _OBJECT.pack(b"LOBJ", _OBJECT.size, 1, size, _PACKED) + _CONTAINER.pack(_DEFLATED, len(messages))
    return head + packed + bytes(size % 4)


def header(size: int, unpacked: int, messages: int, start: int, end: int) -> bytes:
    """The head of a file of `size` bytes with times in ns; valid at every moment of a recording."""
    unpacked += HEADER_SIZE
    head = _HEADER.pack(
        b"LOGG", HEADER_SIZE, *_VERSIONS, size, unpacked, messages, 0, *_system_time(start), *_system_time(end)
    )
    return head.ljust(HEADER_SIZE, b"\0")


def container_overhead() -> int:
    """Bytes that a container adds to its unpacked messages in the account of the header."""
    return _OBJECT.size + _CONTAINER.size


class BlfReader:
    """Frames of a BLF file up to the last whole container."""

    def __init__(self, path: str, file: BinaryIO) -> None:
        self.path, self.file = path, file
        self.complete = True
        self.skipped = 0

    def __iter__(self) -> Iterator[Frame]:
        head = self.file.read(_HEADER.size)
        if not b"LOGG".startswith(head[:4]):
            raise RecordingError(self.path, "is no BLF file (it does not start with LOGG); name the right file", 0)
        if len(head) < _HEADER.size:
            self.complete = False
            return
        fields = _HEADER.unpack(head)
        start = _from_system_time(fields[14:22])
        self.file.seek(max(fields[1], _HEADER.size))
        rest = b""
        for position, objects in self._containers():
            rest = yield from self._messages(rest + objects, start, position)
        size = self.file.tell()
        # What is left over may be the padding behind the last message, no more than 3 bytes.
        if len(rest) > 3 or size < fields[10]:
            self.complete = False

    def _containers(self) -> Iterator[tuple[int, bytes]]:
        """Place and unpacked objects of each whole container."""
        while head := self.file.read(_OBJECT.size):
            position = self.file.tell() - len(head)
            if len(head) < _OBJECT.size:
                self.complete = False
                return
            signature, _, _, size, kind = _OBJECT.unpack(head)
            if signature != b"LOBJ" or size < _OBJECT.size:
                raise self._damaged(position, "no object starts here")
            body = self.file.read(size - _OBJECT.size)
            if len(body) < size - _OBJECT.size:
                self.complete = False
                return
            self.file.read(size % 4)
            if kind == _PACKED:
                yield position, self._unpacked(body, position)

    def _unpacked(self, body: bytes, position: int) -> bytes:
        if len(body) < _CONTAINER.size:
            raise self._damaged(position, "the container has no head")
        method, size = _CONTAINER.unpack_from(body)
        packed = body[_CONTAINER.size :]
        if method == _PLAIN:
            return packed
        if method != _DEFLATED or size > _MOST_UNPACKED:
            raise self._damaged(position, "the container is packed in an unknown way")
        unpack = zlib.decompressobj()
        try:
            objects = unpack.decompress(packed, size + 1)
        except zlib.error:
            raise self._damaged(position, "the container cannot be unpacked") from None
        if len(objects) != size or not unpack.eof:
            raise self._damaged(position, "the container holds another amount of data than it says")
        return objects

    def _messages(self, data: bytes, start: int, position: int) -> Generator[Frame, None, bytes]:
        """Frames of unpacked objects; returns the bytes of an object that goes on in the next container."""
        at = 0
        while True:
            found = data.find(b"LOBJ", at, at + 8)
            if found < 0:
                if len(data) - at >= 8:
                    raise self._damaged(position, "the container holds something else than objects")
                return data[at:]
            if len(data) - found < _OBJECT.size:
                return data[found:]
            _, head, _, size, kind = _OBJECT.unpack_from(data, found)
            if size < _OBJECT.size:
                raise self._damaged(position, "an object of the container has an impossible size")
            if len(data) - found < size:
                return data[found:]
            if kind in _CAN_MESSAGES:
                if not _OBJECT.size + _STAMP.size <= head <= size - _MESSAGE.size:
                    raise self._damaged(position, "a message of the container is too short")
                frame = _frame(data, found, head, start)
                if frame is not None:
                    yield frame
                else:
                    self.skipped += 1
            elif kind in _OTHER_FRAMES:
                self.skipped += 1
            at = found + size

    def _damaged(self, position: int, what: str) -> RecordingError:
        remedy = "what stands before it can be saved with `vertebra sense convert`"
        return RecordingError(self.path, f"the file is damaged at byte {position}: {what}; {remedy}", position)


def _frame(data: bytes, at: int, head: int, start: int) -> Frame | None:
    """The frame at `at`; None for what is no data frame with an 11-bit id."""
    flags, since = _STAMP.unpack_from(data, at + _OBJECT.size)
    _, message_flags, length, can_id, content = _MESSAGE.unpack_from(data, at + head)
    if can_id > 0x7FF or message_flags & _REMOTE:
        return None
    unit = 10_000 if flags == _TEN_MICROSECONDS else 1
    return Frame(can_id, content[: min(length, 8)], from_ns(start + since * unit))


def _system_time(nanoseconds: int) -> tuple[int, ...]:
    if nanoseconds < _YEAR_1990 * BILLION:
        return (0,) * 8
    t = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=nanoseconds // 1_000_000)
    return t.year, t.month, t.isoweekday() % 7, t.day, t.hour, t.minute, t.second, t.microsecond // 1000


def _from_system_time(fields: tuple[int, ...]) -> int:
    """Nanoseconds since 1970; 0 for what is no date."""
    year, month, _, day, hour, minute, second, ms = fields
    try:
        t = datetime(year, month, day, hour, minute, second, ms * 1000, tzinfo=UTC)
    except ValueError:
        return 0
    return max((t - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1) * 1_000_000, 0)
