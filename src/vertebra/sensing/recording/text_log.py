"""Lines of text recordings: `candump -l` logs, and CSV tables with columns time_s, id, data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from vertebra.errors import RecordingError
from vertebra.sensing.recording.unix_time import BILLION, from_ns, to_ns
from vertebra.sensing.wire.can import Frame

CSV_HEADER = b"time_s,id,data\n"
_CANDUMP = re.compile(rb"\((\d{1,11})\.(\d{1,9})\) \S+ ([0-9A-Fa-f]+)#(\S*)(?: [RT])?\s*")
_CSV = re.compile(rb"(\d{1,11})\.(\d{1,9}),([0-9A-Fa-f]+),([0-9A-Fa-f]*)\s*")
_DATA = re.compile(rb"(?:[0-9A-Fa-f]{2}){0,8}")
_LONGEST = 512
"""Bytes; a longer line is none of a recording. (CAN FD lines have about 180.)"""


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
