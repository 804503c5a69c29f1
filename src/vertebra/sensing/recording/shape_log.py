"""Recordings of shapes: what they keep of a shape, as MCAP files with Foxglove's messages, and as CSV tables.

An MCAP file is readable even if its writer is killed. Its topics: /tf (world to link0, link1, ..., tip), /joints, /tip,
/estimate (angles, standard deviations, residuals), /health and /log.
"""

from __future__ import annotations

import json
import math
import platform
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TextIO

import numpy as np

from vertebra.errors import InputError, RecordingError
from vertebra.robot.table_file import TIME, TIP, angle_columns, column_names, spread_columns
from vertebra.robot.tables import Floats
from vertebra.sensing.recording.files import BILLION, TimedFlush, WholeFile, from_ns, to_ns
from vertebra.sensing.sensed_shape import SensorHealth, sensor_health
from vertebra.sensing.so3 import quaternion

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot
    from vertebra.sensing.sensed_shape import SensedShape

HEALTH_EVERY = 1.0
"""s between messages about the sensors when nothing changes."""
_LARGEST_CHUNK = 1 << 18
"""Bytes of messages after which a chunk is written without waiting for the timer."""
WORLD = "world"


class Layout(NamedTuple):
    """Sizes of the arrays in a robot's shapes."""

    freedoms: int
    links: int
    """Base included."""
    sensors: tuple[int, ...]
    """Their links."""

    @classmethod
    def of(cls, robot: Robot) -> Layout:
        """The layout of a robot's shapes."""
        return cls(robot.freedoms, len(robot.joints) + 1, tuple(robot.sensor_links.tolist()))


@dataclass(frozen=True, eq=False, repr=False)
class ShapeRecord:
    """A sensed shape as recordings keep it; world axes, SI."""

    time: float
    """s of the SYNC clock."""
    arrival: float
    """s (Unix) when the frame that completed this shape came."""
    angles: Floats
    """(freedoms,) rad."""
    angle_sigmas: Floats
    """(freedoms,) rad."""
    frames: Floats
    """(links, 4, 4)"""
    tip_frame: Floats
    """(4, 4)"""
    covariance: Floats
    """(6, 6) of the tip: m^2, m rad, rad^2."""
    heading_residuals: Floats
    """(sensors,) rad."""
    tilt_residuals: Floats
    """(sensors,) rad."""
    health: tuple[SensorHealth, ...]

    def __repr__(self) -> str:
        return f"ShapeRecord(t = {self.time:.3f} s, tip {np.round(self.tip_frame[:3, 3] * 1e3, 2)} mm)"


def packed(shape: SensedShape, arrival: float) -> bytes:
    """A shape as float64 numbers in the order of the fields of ShapeRecord; `arrival` in s (Unix)."""
    parts = (
        (shape.time, arrival), shape.angles, shape.angle_sigmas, shape.frames, shape.tip_frame, shape.covariance,
        shape.heading_residuals, shape.tilt_residuals, shape.states, shape.ages, shape.samples, shape.outliers,
        shape.weights,
    )  # fmt: skip
    return np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in parts]).tobytes()


def unpacked(data: bytes, layout: Layout) -> ShapeRecord:
    """The reverse of `packed`."""
    freedoms, links, sensors = layout.freedoms, layout.links, len(layout.sensors)
    shapes = (
        (2,), (freedoms,), (freedoms,), (links, 4, 4), (4, 4), (6, 6), (sensors,), (sensors,),
        (sensors,), (sensors,), (sensors,), (sensors,), (sensors, 2),
    )  # fmt: skip
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    parts = [part.reshape(shape) for part, shape in zip(np.split(np.frombuffer(data), ends), shapes, strict=True)]
    (time, arrival), angles, sigmas, frames, tip, covariance, headings, tilts, *health = (parts[0].tolist(), *parts[1:])
    return ShapeRecord(
        time, arrival, angles, sigmas, frames, tip, covariance, headings, tilts, sensor_health(layout.sensors, *health)
    )


def record(shape: SensedShape, arrival: float) -> ShapeRecord:
    """A shape as recordings keep it; `arrival` in s (Unix)."""
    return unpacked(packed(shape, arrival), Layout.of(shape.robot))


class DerivedLogWriter:
    """Writes shapes to a new MCAP file; the operating system has them within a quarter of a second.

    `contents`: from `robot_contents`. A context manager. May be used by one thread at a time. Messages carry the time
    of the SYNC clock plus a constant offset to Unix time, taken from the first shape and kept in the metadata `clock`.
    """

    def __init__(self, path: str | Path, contents: Mapping[str, Any]) -> None:
        self.path = str(path)
        self.shapes = 0
        """Shapes given to `write` so far."""
        self._make = MessageMaker(list(contents["joints"]))
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
        self._timer = TimedFlush(self._timed_flush)

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
        for topic, (name, schema) in JSON_SCHEMAS.items():
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
            self._add("/estimate", estimate_json(shape), ns)
            self._write_health(shape, ns)
            self.shapes += 1

    def _write_health(self, shape: ShapeRecord, ns: int) -> None:
        states = tuple(row.state for row in shape.health)
        if states == self._states and abs(shape.time - self._health_at) < HEALTH_EVERY:
            return
        self._add("/health", health_json(shape.health), ns)
        before = self._states or ("",) * len(states)
        for row, old in zip(shape.health, before, strict=True):
            if row.state != old:
                text = f"sensor {row.sensor}: {row.state}" + (f" (was {old})" if old else "")
                self._add("/log", self._make.log(text, row.state != "ok", ns), ns)
        self._states, self._health_at = states, shape.time

    def _add(self, topic: str, data: bytes, ns: int) -> None:
        self._writer.add_message(self._channels[topic], ns, data, ns, self.shapes)

    def flush(self) -> None:
        """Write everything now; RecordingError if that fails."""
        self._timed_flush()
        if self._fault is not None:
            raise self._fault

    def _timed_flush(self) -> None:
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
        self._timer.stop()
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
    """The stream of the MCAP writer; collects whole records and writes them in one block."""

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
        raise missing("mcap") from None
    return Writer(stream, chunk_size=_LARGEST_CHUNK)


def _end_chunk(writer: Any) -> None:
    """Close the chunk that messages are collected in.

    The MCAP library closes chunks by size only, and a chunk per message would make an index larger than the data; so
    this calls what the library itself calls when a chunk is full.
    """
    writer._Writer__finalize_chunk()


def robot_contents(robot: Robot, calibration: str | None = None) -> dict[str, Any]:
    """What a recording holds about the robot, as plain data: names of joints, attached files, versions, `layout`."""
    files = {"robot.json": json.dumps(robot.to_mapping(), indent=2, allow_nan=False), "robot.urdf": robot.to_urdf()}
    if calibration is not None:
        files["calibration.yaml"] = calibration
    about = {
        "robot": robot.name,
        "vertebra": version("vertebra"),
        "numpy": version("numpy"),
        "python": platform.python_version(),
        "sensors": ", ".join(map(str, robot.sensor_links.tolist())),
    }
    return {"joints": joint_names(robot), "files": files, "about": about, "layout": Layout.of(robot)}


def joint_names(robot: Robot) -> list[str]:
    """One name per freedom, as in the robot's URDF: joint3, or joint3_a and joint3_b for two axes."""
    names = []
    for number, count in enumerate(robot.joints["freedoms"].tolist(), 1):
        names += [f"joint{number}"] if count == 1 else [f"joint{number}_{axis}" for axis in "abc"[:count]]
    return names


class MessageMaker:
    """Encodes the messages of a shape; `ns` is their time since 1970."""

    def __init__(self, joints: list[str]) -> None:
        self._joints = joints
        self._foxglove = foxglove_messages()

    def schemas(self) -> dict[str, Any]:
        """Schemas of the protobuf messages, by topic."""
        foxglove = self._foxglove
        kinds = {
            "/tf": foxglove.FrameTransforms,
            "/joints": foxglove.JointStates,
            "/tip": foxglove.PoseInFrame,
            "/log": foxglove.Log,
        }
        return {topic: kind.get_schema() for topic, kind in kinds.items()}

    def transforms(self, shape: ShapeRecord, ns: int) -> bytes:
        """World to every link and to the tip."""
        foxglove, stamp = self._foxglove, self._stamp(ns)
        names = [*(f"link{i}" for i in range(len(shape.frames))), "tip"]
        w, xyz = quaternion(shape.frames[:, :3, :3])
        tip_w, tip_xyz = quaternion(shape.tip_frame[:3, :3])
        places = [*shape.frames[:, :3, 3].tolist(), shape.tip_frame[:3, 3].tolist()]
        turns = zip([*w.tolist(), float(tip_w)], [*xyz.tolist(), tip_xyz.tolist()], strict=True)
        transforms = [
            foxglove.FrameTransform(
                timestamp=stamp, parent_frame_id=WORLD, child_frame_id=name,
                translation=foxglove.Vector3(x=x, y=y, z=z), rotation=foxglove.Quaternion(x=a, y=b, z=c, w=s),
            )
            for name, (x, y, z), (s, (a, b, c)) in zip(names, places, turns, strict=True)
        ]  # fmt: skip
        return bytes(foxglove.FrameTransforms(transforms=transforms).encode())

    def joints(self, shape: ShapeRecord, ns: int) -> bytes:
        """Angle of every freedom, rad."""
        foxglove = self._foxglove
        named = zip(self._joints, shape.angles.tolist(), strict=True)
        states = [foxglove.JointState(name=name, position=angle) for name, angle in named]
        return bytes(foxglove.JointStates(timestamp=self._stamp(ns), joints=states).encode())

    def tip(self, shape: ShapeRecord, ns: int) -> bytes:
        """Pose of the tip in the world."""
        foxglove = self._foxglove
        x, y, z = shape.tip_frame[:3, 3].tolist()
        w, (a, b, c) = (part.tolist() for part in quaternion(shape.tip_frame[:3, :3]))
        pose = foxglove.Pose(
            position=foxglove.Vector3(x=x, y=y, z=z), orientation=foxglove.Quaternion(x=a, y=b, z=c, w=w)
        )
        return bytes(foxglove.PoseInFrame(timestamp=self._stamp(ns), frame_id=WORLD, pose=pose).encode())

    def log(self, text: str, warning: bool, ns: int) -> bytes:
        """A line of the log."""
        level = self._foxglove.LogLevel.Warning if warning else self._foxglove.LogLevel.Info
        return bytes(self._foxglove.Log(timestamp=self._stamp(ns), level=level, message=text, name="vertebra").encode())

    def _stamp(self, ns: int) -> Any:
        return self._foxglove.Timestamp(*divmod(ns, BILLION))


def foxglove_messages() -> Any:
    """Foxglove's module of messages; InputError if it is not installed."""
    try:
        from foxglove import messages
    except ImportError:
        raise missing("foxglove-sdk") from None
    return messages


def missing(package: str) -> InputError:
    """The error for a package that is not installed."""
    return InputError("mcap", f'recordings of shapes need {package}; run: pip install "vertebra[sense]"')


def estimate_json(shape: ShapeRecord) -> bytes:
    """The whole estimate, with all digits."""
    return _json(
        {
            "time_s": shape.time,
            "arrival_s": shape.arrival,
            "angles_rad": shape.angles.tolist(),
            "angle_sigmas_rad": shape.angle_sigmas.tolist(),
            "tip_m": shape.tip_frame[:3, 3].tolist(),
            "tip_rotation": shape.tip_frame[:3, :3].ravel().tolist(),
            "tip_covariance": shape.covariance.ravel().tolist(),
            "heading_residuals_rad": shape.heading_residuals.tolist(),
            "tilt_residuals_rad": shape.tilt_residuals.tolist(),
        }
    )


def health_json(rows: tuple[SensorHealth, ...]) -> bytes:
    """States of the sensors."""
    return _json({"sensors": [row._asdict() for row in rows]})


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(_finite(value), separators=(",", ":")).encode()


def _finite(value: Any) -> Any:
    """JSON has no infinity: the standard deviation of what no sensor determines becomes null."""
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _numbers(text: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": ["number", "null"]}, "description": text}


def _number(text: str) -> dict[str, Any]:
    return {"type": ["number", "null"], "description": text}


JSON_SCHEMAS = {
    "/estimate": (
        "vertebra.Estimate",
        _object(
            time_s=_number("Time of the estimate on the SYNC clock"),
            arrival_s=_number("Unix time when the frame came that made it"),
            angles_rad=_numbers("Joint coordinates in the order of /joints"),
            angle_sigmas_rad=_numbers("Standard deviations of the joint coordinates"),
            tip_m=_numbers("Place of the tip in the world"),
            tip_rotation=_numbers("Tip axes to world axes, row by row"),
            tip_covariance=_numbers("6 x 6 row by row, place before rotation, world axes"),
            heading_residuals_rad=_numbers("Heading of each sensor against the shape"),
            tilt_residuals_rad=_numbers("Tilt of each sensor against the shape"),
        ),
    ),
    "/health": (
        "vertebra.Health",
        _object(
            sensors={
                "type": "array",
                "items": _object(
                    sensor={"type": "integer", "description": "Number of the sensor's link"},
                    state={"type": "string", "description": "ok, silent, stale, outlier, disturbed or fault"},
                    age=_number("s since the newest sample; null if there never was one"),
                    samples={"type": "integer", "description": "Samples used so far"},
                    outliers={"type": "integer", "description": "Samples refused so far"},
                    heading_weight=_number("0 (not used) to 1"),
                    tilt_weight=_number("0 (not used) to 1"),
                ),
            }
        ),
    ),
}
"""Topic: name of the message, JSON schema."""


class ShapesCsv:
    """A CSV table with a row per shape: time, angles in degrees, tip in mm, standard deviations. A context manager."""

    def __init__(self, path: str | Path, freedoms: int) -> None:
        """`time_s` is the SYNC clock, the tip is in world axes."""
        self._file: TextIO = open(path, "w", encoding="utf-8", newline="\n")  # noqa: SIM115
        angles = angle_columns(freedoms)
        self._write(column_names(TIME, angles, TIP, spread_columns(TIP), spread_columns(angles)))

    def add(self, time: float, angles: Floats, sigmas: Floats, tip: Floats, covariance: Floats) -> None:
        """Add a shape, SI. Standard deviations that are not known are left empty."""
        spread = np.sqrt(np.diagonal(covariance)[:3]) * 1e3
        numbers = [*np.degrees(angles), *tip * 1e3, *spread, *np.degrees(sigmas)]
        self._write([f"{time:.6f}", *(f"{value:.9g}" if np.isfinite(value) else "" for value in numbers)])

    def _write(self, cells: Iterable[str]) -> None:
        self._file.write(",".join(cells) + "\n")

    def __enter__(self) -> ShapesCsv:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
