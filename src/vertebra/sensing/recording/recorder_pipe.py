"""What goes through the pipe from the process that senses to the process that records.

Blocks: one letter for the kind, uint32 size, content. The first block says what to write, the last is the end; without
it the other process has died. Back come lines of JSON with the counters.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from vertebra.sensing.wire.can import Frame

TASK, FRAMES, SHAPE, END = b"T", b"F", b"S", b"E"
_HEAD = struct.Struct("<cI")
_FRAME = struct.Struct("<HBd8s")
"""Id, count of bytes, arrival in s (Unix), bytes."""


def block(kind: bytes, content: bytes = b"") -> bytes:
    """A block for the pipe."""
    return _HEAD.pack(kind, len(content)) + content


def read_blocks(pipe: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Whole blocks until the pipe closes."""
    while len(head := pipe.read(_HEAD.size)) == _HEAD.size:
        kind, size = _HEAD.unpack(head)
        content = pipe.read(size)
        if len(content) < size:
            return
        yield kind, content


def frames_to_bytes(frames: Iterable[Frame]) -> bytes:
    """Frames one behind the other."""
    pack = _FRAME.pack
    return b"".join([pack(frame.id, len(frame.data), frame.time, frame.data) for frame in frames])


def frames_from_bytes(data: bytes) -> Iterator[Frame]:
    """The reverse of `frames_to_bytes`."""
    for can_id, length, time, content in _FRAME.iter_unpack(data):
        yield Frame(can_id, content[:length], time)
