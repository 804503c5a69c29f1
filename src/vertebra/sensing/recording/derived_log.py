"""Recordings of shapes: MCAP files with Foxglove's messages, readable after a kill of the writer.

Topics: /tf (world to link0, link1, ..., tip), /joints, /tip, /estimate (angles, spreads, residuals), /health and /log.
"""

from __future__ import annotations

import json
import platform
import threading
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from vertebra.errors import RecordingError
from vertebra.sensing.recording import derived_messages as messages
from vertebra.sensing.recording.shape_record import Layout, ShapeRecord
from vertebra.sensing.recording.timed_flush import TimedFlush
from vertebra.sensing.recording.unix_time import from_ns, to_ns
from vertebra.sensing.recording.whole_file import WholeFile

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot

HEALTH_EVERY = 1.0
"""s between states of the sensors when nothing changes."""
_LARGEST_CHUNK = 1 << 18
"""Bytes of messages after which a chunk is written without waiting for the clock."""


def robot_contents(robot: Robot, calibration: str | None = None) -> dict[str, Any]:
    """What a recording says about the robot, as plain data: names of joints, attached files, versions, `layout`."""
    from vertebra.robot.export.urdf import to_urdf

    files = {"robot.json": json.dumps(robot.to_mapping(), indent=2, allow_nan=False), "robot.urdf": to_urdf(robot)}
    if calibration is not None:
        files["calibration.yaml"] = calibration
    about = {
        "robot": robot.name,
        "vertebra": version("vertebra"),
        "numpy": version("numpy"),
        "python": platform.python_version(),
        "sensors": ", ".join(map(str, robot.sensor_links.tolist())),
    }
    return {"joints": messages.joint_names(robot), "files": files, "about": about, "layout": Layout.of(robot)}


class DerivedLogWriter:
    """Writes shapes to a new MCAP file; what was written is with the operating system within a quarter of a second.

    `contents`: as `robot_contents` gives it. A context manager. May be used by one thread at a time. Times of messages
    are those of the SYNC clock, moved to Unix time by one offset, that of the first shape, which stands in the metadata
    `clock`.
    """

    def __init__(self, path: str | Path, contents: Mapping[str, Any]) -> None:
        self.path = str(path)
        self.shapes = 0
        """Shapes given to `write` so far."""
        self._make = messages.MessageMaker(list(contents["joints"]))
        self._lock = threading.Lock()
        self._fault: RecordingError | None = None
        self._offset: int | None = None
        self._states: tuple[str, ...] = ()
        self._health_at = 0.0
        self._stream = _Blocks(self.path)
        self._writer = _new_writer(self._stream)
        self._writer.start(profile="", library="vertebra")
        self._describe(contents)
        self._channels = self._register()
        self._stream.flush()
        self._clock = TimedFlush(self._flush_by_the_clock)

    def _describe(self, contents: Mapping[str, Any]) -> None:
        self._writer.add_metadata("vertebra", dict(contents["about"]))
        for name, text in contents["files"].items():
            kind = {"json": "application/json", "yaml": "application/yaml"}.get(name.rpartition(".")[2], "text/xml")
            self._writer.add_attachment(0, 0, name, kind, text.encode())

    def _register(self) -> dict[str, int]:
        channels = {}
        for topic, schema in self._make.schemas().items():
            number = self._writer.register_schema(schema.name, schema.encoding, schema.data)
            channels[topic] = self._writer.register_channel(topic, "protobuf", number)
        for topic, (name, schema) in messages.JSON_SCHEMAS.items():
            number = self._writer.register_schema(name, "jsonschema", json.dumps({"title": name} | schema).encode())
            channels[topic] = self._writer.register_channel(topic, "json", number)
        return channels

    def write(self, shape: ShapeRecord) -> None:
        """Add a shape."""
        with self._lock:
            if self._offset is None:
                self._offset = to_ns(shape.arrival) - to_ns(shape.time)
                self._writer.add_metadata("clock", {"sync_to_unix_offset_s": repr(from_ns(self._offset))})
            ns = max(to_ns(shape.time) + self._offset, 0)
            self._add("/tf", self._make.transforms(shape, ns), ns)
            self._add("/joints", self._make.joints(shape, ns), ns)
            self._add("/tip", self._make.tip(shape, ns), ns)
            self._add("/estimate", messages.estimate_json(shape), ns)
            self._write_health(shape, ns)
            self.shapes += 1

    def _write_health(self, shape: ShapeRecord, ns: int) -> None:
        states = tuple(row.state for row in shape.health)
        if states == self._states and abs(shape.time - self._health_at) < HEALTH_EVERY:
            return
        self._add("/health", messages.health_json(shape.health), ns)
        before = self._states or ("",) * len(states)
        for row, old in zip(shape.health, before, strict=True):
            if row.state != old:
                text = f"sensor {row.sensor}: {row.state}" + (f" (was {old})" if old else "")
                self._add("/log", self._make.log(text, row.state != "ok", ns), ns)
        self._states, self._health_at = states, shape.time

    def _add(self, topic: str, data: bytes, ns: int) -> None:
        self._writer.add_message(self._channels[topic], ns, data, ns, self.shapes)

    def flush(self) -> None:
        """Hand everything over to the operating system now; RecordingError if it cannot be written."""
        self._flush_by_the_clock()
        if self._fault is not None:
            raise self._fault

    def _flush_by_the_clock(self) -> None:
        with self._lock:
            _end_chunk(self._writer)
            self._try_to_write()

    def _try_to_write(self) -> None:
        try:
            self._stream.flush()
        except RecordingError as error:
            self._fault = error
        else:
            self._fault = None

    def close(self) -> None:
        """Write the rest and the index, and close the file; a second call does nothing."""
        self._clock.stop()
        if self._stream.closed:
            return
        self._writer.finish()
        self._try_to_write()
        self._stream.close()
        if self._fault is not None:
            raise self._fault

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class _Blocks:
    """The stream that the MCAP writer writes to; collects whole records, hands them over in one block."""

    def __init__(self, path: str) -> None:
        self._file = WholeFile(path)
        self._waiting: list[bytes] = []
        self._size = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        self._waiting.append(data)
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        if self._waiting:
            self._file.append(b"".join(self._waiting))
            self._waiting = []

    def close(self) -> None:
        self.closed = True
        self._file.close()


def _new_writer(stream: Any) -> Any:
    try:
        from mcap.writer import Writer
    except ImportError:
        raise messages.missing("mcap") from None
    return Writer(stream, chunk_size=_LARGEST_CHUNK)


def _end_chunk(writer: Any) -> None:
    """Close the chunk that messages are collected in.

    The MCAP library closes chunks by size only, and a chunk a message would make an index larger than the data; so this
    calls what the library calls itself when a chunk is full.
    """
    writer._Writer__finalize_chunk()
