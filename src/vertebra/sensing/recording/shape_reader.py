"""Reads recordings of shapes, whole or cut off, and copies what is whole into a proper file."""

from __future__ import annotations

import json
import math
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from vertebra.errors import RecordingError
from vertebra.robot.tables import Floats
from vertebra.sensing.recording.files import LARGEST_BLOCK, UnpackBudget, WholeFile
from vertebra.sensing.recording.shape_log import McapStream, mcap_writer, missing


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
    times: list[float] = []
    columns: dict[str, list[Floats]] = {name: [] for name in _COLUMNS}
    robot: dict[str, Any] = {}
    offset, topics = 0.0, dict[int, str]()
    try:
        for kind, record in records:
            if kind == "Channel":
                topics[record.id] = record.topic
            elif kind == "Message" and topics.get(record.channel_id) == "/estimate":
                row = read_json(record.data)
                times.append(_finite(row["time_s"]))
                for name, (key, form) in _COLUMNS.items():
                    columns[name].append(np.array(row[key], dtype=np.float64).reshape(form))
            elif kind == "Attachment" and record.name == "robot.json":
                robot = read_json(record.data)
            elif kind == "Metadata" and record.name == "clock":
                offset = _finite(record.metadata["sync_to_unix_offset_s"])
        arrays = {name: _stacked(columns[name], form) for name, (_, form) in _COLUMNS.items()}
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        reason = str(error) or type(error).__name__
        raise RecordingError(str(path), f"has an estimate that cannot be read ({reason}); record it again") from None
    return RecordedShapes(robot, offset, np.array(times, dtype=np.float64), **arrays, complete=records.complete)


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"a time is {value!r}")
    return number


def _stacked(rows: list[Floats], form: tuple[int, ...]) -> Floats:
    return np.stack(rows) if rows else np.zeros((0, *(0 if size < 0 else size for size in form)))


def read_json(data: bytes) -> dict[str, Any]:
    """The object in a JSON message or attachment; ValueError for anything else, however large or deep it is."""
    if len(data) > LARGEST_JSON:
        raise ValueError(f"a JSON text has {len(data)} bytes; at most {LARGEST_JSON} are read")
    try:
        found = json.loads(data)
    except RecursionError:
        raise ValueError("a JSON text is nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError(f"a JSON text is not an object: {data[:30]!r}")
    return found


class Copied(NamedTuple):
    """What `copy_mcap` did."""

    messages: int
    complete: bool
    """False: the source was cut off."""
    fault: RecordingError | None
    """Where the source is damaged; everything before was copied."""


def copy_mcap(source: str | Path, target: str | Path, *, overwrite: bool = True) -> Copied:
    """Copy all whole records of `source` into a proper, indexed file."""
    stream, records, fault = McapStream(), McapRecords(source), None
    writer = mcap_writer(stream)
    file = WholeFile(target, overwrite)
    try:
        writer.start(library="vertebra")
        copy = _Copy(writer)
        try:
            for kind, record in records:
                copy.add(kind, record)
                if stream.size > 1 << 20:
                    file.append(stream.take())
        except RecordingError as error:
            if error.path != records.path:
                raise
            fault = error
        writer.finish()
        file.append(stream.take())
    finally:
        file.close()
    return Copied(copy.messages, records.complete, fault)


class _Copy:
    """Adds records to a writer, under the numbers that the writer assigns."""

    def __init__(self, writer: Any) -> None:
        self.messages = 0
        self._writer = writer
        self._schemas, self._channels = dict[int, int](), dict[int, int]()

    def add(self, kind: str, record: Any) -> None:
        writer = self._writer
        # A file may repeat them in each chunk.
        if kind == "Schema" and record.id not in self._schemas:
            self._schemas[record.id] = writer.register_schema(record.name, record.encoding, record.data)
        elif kind == "Channel" and record.id not in self._channels:
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
_MESSAGE_HEAD = struct.Struct("<HIQQ")
"""Channel, sequence, log time, publish time."""
LARGEST_JSON = 4 << 20
"""Bytes of a JSON message or attachment that are read; the shape of a thousand joints has 0.2 MB."""


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
            try:
                for opcode, content in _whole_records(file):
                    if opcode == _FOOTER:
                        self.complete = file.read(len(_MAGIC) + 1) == _MAGIC
                        return
                    for record in parse(opcode, content, file.tell()):
                        yield type(record).__name__, record
            except Exception as error:  # the MCAP library raises various errors on damaged bytes
                raise self._damaged(file.tell(), error) from None

    def _damaged(self, position: int, error: Exception) -> RecordingError:
        remedy = "what is before it can be saved with `vertebra sense convert`"
        what = f"is damaged before byte {position} ({str(error) or type(error).__name__})"
        return RecordingError(self.path, f"{what}; {remedy}", position)


def _whole_records(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Records up to the first incomplete one, without those that index others."""
    size, in_data = os.fstat(file.fileno()).st_size, True
    while len(head := file.read(_HEAD.size)) == _HEAD.size:
        opcode, length = _HEAD.unpack(head)
        if length > size - file.tell():
            return
        in_data = in_data and opcode != _DATA_END
        if opcode == _FOOTER or (in_data and opcode in _NEEDED):
            if length > LARGEST_BLOCK:
                raise ValueError(f"a record claims {length} bytes; at most {LARGEST_BLOCK} are possible")
            yield opcode, file.read(length)
        else:
            file.seek(length, os.SEEK_CUR)


_NEEDED = {3: "Schema", 4: "Channel", _MESSAGE: "Message", _CHUNK: "Chunk", 9: "Attachment", 12: "Metadata"}


def _parser() -> Callable[[int, bytes, int], Iterator[Any]]:
    """A function from the bytes of a record, and how far into the file it ends, to records: several for a chunk."""
    try:
        from mcap import records as kinds
        from mcap.data_stream import ReadDataStream
    except ImportError:
        raise missing("mcap") from None
    budget = UnpackBudget()

    def parse(opcode: int, content: bytes, position: int) -> Iterator[Any]:
        if opcode == _MESSAGE:
            channel, sequence, log_time, publish_time = _MESSAGE_HEAD.unpack_from(content)
            yield kinds.Message(channel, log_time, content[_MESSAGE_HEAD.size :], publish_time, sequence)
            return
        record = getattr(kinds, _NEEDED[opcode]).read(ReadDataStream(BytesIO(content)))
        if opcode != _CHUNK:
            yield record
            return
        budget.take(record.uncompressed_size, position)
        for inner, data in _split(_unpacked(record)):
            if inner in (3, 4, _MESSAGE):
                yield from parse(inner, data, position)

    return parse


def _unpacked(chunk: Any) -> bytes:
    """Records in a chunk; ValueError if they are not what it claims."""
    claimed = chunk.uncompressed_size
    if chunk.compression == "zstd":
        from zstandard import ZstdDecompressor

        # One that is larger than claimed is not unpacked further.
        with ZstdDecompressor(max_window_size=LARGEST_BLOCK).stream_reader(chunk.data) as stream:
            data = stream.read(claimed + 1)
    elif chunk.compression == "lz4":
        from lz4.frame import LZ4FrameDecompressor

        data = LZ4FrameDecompressor().decompress(chunk.data, claimed + 1)
    elif not chunk.compression:
        data = chunk.data
    else:
        raise ValueError(f"a chunk is packed by {chunk.compression!r}, which is not known")
    if len(data) != claimed:
        has = f"{len(data)}" if len(data) < claimed else "more"
        raise ValueError(f"a chunk claims {claimed} bytes unpacked and has {has}")
    if chunk.uncompressed_crc and zlib.crc32(data) != chunk.uncompressed_crc:
        raise ValueError("the checksum of a chunk is wrong")
    return bytes(data)


def _split(data: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position < len(data):
        opcode, length = _HEAD.unpack_from(data, position)
        position += _HEAD.size
        if length > len(data) - position:
            raise ValueError(f"a record in a chunk claims {length} bytes; the chunk has {len(data) - position}")
        yield opcode, data[position : position + length]
        position += length
