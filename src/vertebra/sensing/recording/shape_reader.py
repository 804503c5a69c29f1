"""Reads recordings of shapes, whole or cut off, and copies what is whole into a proper file."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from vertebra.errors import RecordingError
from vertebra.robot.tables import Floats
from vertebra.sensing.recording.shape_log import missing


@dataclass(frozen=True, eq=False, repr=False)
class RecordedShapes:
    """Shapes of a recording, one row per shape; NaN where the estimator had no finite number."""

    robot: dict[str, Any]
    """The robot file as a mapping for `vertebra.load`; empty if the recording has none."""
    clock_offset: float
    """s to add to `times` for Unix time."""
    times: Floats
    """(N,) s of the SYNC clock."""
    angles: Floats
    """(N, freedoms) rad."""
    angle_sigmas: Floats
    """(N, freedoms) rad."""
    tips: Floats
    """(N, 3) m, world axes."""
    tip_rotations: Floats
    """(N, 3, 3) tip axes to world axes."""
    tip_covariances: Floats
    """(N, 6, 6), position before rotation, world axes; m^2, m rad, rad^2."""
    heading_residuals: Floats
    """(N, sensors) rad."""
    tilt_residuals: Floats
    """(N, sensors) rad."""
    complete: bool
    """False: the file was cut off; these are the shapes before that."""

    def __repr__(self) -> str:
        end = "" if self.complete else ", cut off"
        return f"RecordedShapes({len(self.times)} shapes of {self.angles.shape[1]} angles{end})"


_COLUMNS = {
    "angles": ("angles_rad", (-1,)),
    "angle_sigmas": ("angle_sigmas_rad", (-1,)),
    "tips": ("tip_m", (3,)),
    "tip_rotations": ("tip_rotation", (3, 3)),
    "tip_covariances": ("tip_covariance", (6, 6)),
    "heading_residuals": ("heading_residuals_rad", (-1,)),
    "tilt_residuals": ("tilt_residuals_rad", (-1,)),
}


def read_shapes(path: str | Path) -> RecordedShapes:
    """Shapes of an MCAP recording, up to the last whole chunk; RecordingError for a damaged file."""
    records = McapRecords(path)
    rows: list[dict[str, Any]] = []
    robot: dict[str, Any] = {}
    offset, topics = 0.0, dict[int, str]()
    try:
        for kind, record in records:
            if kind == "Channel":
                topics[record.id] = record.topic
            elif kind == "Message" and topics.get(record.channel_id) == "/estimate":
                rows.append(json.loads(record.data))
            elif kind == "Attachment" and record.name == "robot.json":
                robot = json.loads(record.data)
            elif kind == "Metadata" and record.name == "clock":
                offset = float(record.metadata["sync_to_unix_offset_s"])
        arrays = {name: _column(rows, key, form) for name, (key, form) in _COLUMNS.items()}
        times = np.array([row["time_s"] for row in rows], dtype=np.float64)
    except (ValueError, KeyError, TypeError) as error:
        raise RecordingError(str(path), f"has an estimate that cannot be read ({error}); record it again") from None
    return RecordedShapes(robot, offset, times, **arrays, complete=records.complete)


def _column(rows: list[dict[str, Any]], key: str, form: tuple[int, ...]) -> Floats:
    if not rows:
        return np.zeros((0, *(0 if size < 0 else size for size in form)))
    return np.array([row[key] for row in rows], dtype=np.float64).reshape(len(rows), *form)


class Copied(NamedTuple):
    """What `copy_mcap` did."""

    messages: int
    complete: bool
    """False: the source was cut off."""
    fault: RecordingError | None
    """Where the source is damaged; everything before was copied."""


def copy_mcap(source: str | Path, target: str | Path) -> Copied:
    """Copy all whole records of `source` into a proper, indexed file."""
    try:
        from mcap.writer import Writer
    except ImportError:
        raise missing("mcap") from None
    records, fault = McapRecords(source), None
    with open(target, "wb") as file:
        writer = Writer(file)
        writer.start(library="vertebra")
        copy = _Copy(writer)
        try:
            for kind, record in records:
                copy.add(kind, record)
        except RecordingError as error:
            fault = error
        writer.finish()  # type: ignore[no-untyped-call]
    return Copied(copy.messages, records.complete, fault)


class _Copy:
    """Adds records to a writer, under the numbers that the writer assigns."""

    def __init__(self, writer: Any) -> None:
        self.messages = 0
        self._writer = writer
        self._schemas, self._channels = dict[int, int](), dict[int, int]()

    def add(self, kind: str, record: Any) -> None:
        writer = self._writer
        if kind == "Schema":
            self._schemas[record.id] = writer.register_schema(record.name, record.encoding, record.data)
        elif kind == "Channel":
            schema = self._schemas.get(record.schema_id, 0)
            self._channels[record.id] = writer.register_channel(
                record.topic, record.message_encoding, schema, record.metadata
            )
        elif kind == "Message" and record.channel_id in self._channels:
            channel = self._channels[record.channel_id]
            writer.add_message(channel, record.log_time, record.data, record.publish_time, record.sequence)
            self.messages += 1
        elif kind == "Metadata":
            writer.add_metadata(record.name, record.metadata)
        elif kind == "Attachment":
            writer.add_attachment(record.create_time, record.log_time, record.name, record.media_type, record.data)


_MAGIC = b"\x89MCAP0\r\n"
_HEAD = struct.Struct("<BQ")
"""Kind of a record, and the number of bytes that follow."""
_FOOTER, _MESSAGE, _CHUNK, _DATA_END = 0x02, 0x05, 0x06, 0x0F
_LARGEST_CHUNK = 1 << 28
"""Bytes; a damaged size must not fill the memory."""


class McapRecords:
    """Records of an MCAP file with the name of their kind, until its end or until it is cut off; iterate once."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.complete = False
        """True once the end of the file has been read."""

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        parse = _parser()
        try:
            file = open(self.path, "rb")  # noqa: SIM115 - the message needs the error of this call alone
        except OSError as error:
            raise RecordingError(self.path, f"cannot be read ({error.strerror}); name a recording") from None
        with file:
            magic = file.read(len(_MAGIC))
            if not _MAGIC.startswith(magic):
                raise RecordingError(self.path, "is not an MCAP recording; name the right file", 0)
            for opcode, content in _whole_records(file):
                if opcode == _FOOTER:
                    self.complete = file.read() == _MAGIC
                    return
                try:
                    records = parse(opcode, content)
                except Exception as error:  # the MCAP library raises various errors on damaged bytes
                    raise self._damaged(file.tell(), error) from None
                for record in records:
                    yield type(record).__name__, record

    def _damaged(self, position: int, error: Exception) -> RecordingError:
        remedy = "what is before it can be saved with `vertebra sense convert`"
        what = f"is damaged before byte {position} ({str(error) or type(error).__name__})"
        return RecordingError(self.path, f"{what}; {remedy}", position)


def _whole_records(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Records up to the first incomplete one, without the summary."""
    size, in_data = os.fstat(file.fileno()).st_size, True
    while len(head := file.read(_HEAD.size)) == _HEAD.size:
        opcode, length = _HEAD.unpack(head)
        if length > size - file.tell():
            return
        in_data = in_data and opcode != _DATA_END
        if in_data or opcode == _FOOTER:
            yield opcode, file.read(length)
        else:
            file.seek(length, os.SEEK_CUR)


def _parser() -> Callable[[int, bytes], list[Any]]:
    """A function from the bytes of a record to a list of records: several for a chunk, none for kinds not needed."""
    try:
        from mcap import records as kinds
        from mcap.data_stream import ReadDataStream
        from mcap.stream_reader import breakup_chunk
    except ImportError:
        raise missing("mcap") from None
    plain: dict[int, Any] = {3: kinds.Schema, 4: kinds.Channel, 6: kinds.Chunk, 9: kinds.Attachment, 12: kinds.Metadata}

    def parse(opcode: int, content: bytes) -> list[Any]:
        stream = ReadDataStream(BytesIO(content))
        if opcode == _MESSAGE:
            return [kinds.Message.read(stream, len(content))]
        if opcode not in plain:
            return []
        record = plain[opcode].read(stream)
        if opcode != _CHUNK:
            return [record]
        if record.uncompressed_size > _LARGEST_CHUNK:
            raise ValueError("a chunk has an impossible size")
        return list(breakup_chunk(record, validate_crc=True))

    return parse
