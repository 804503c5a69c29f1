"""Recordings of shapes: what they keep of a shape, as MCAP files with Foxglove's messages, and as CSV tables.

An MCAP file is readable even if its writer is killed. Its topics: /tf (world to link0, link1, ..., tip), /joints, /tip,
/estimate (angles, standard deviations, residuals), /health and /log.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from vertebra.errors import InputError
from vertebra.robot.table_file import TIME, TIP, angle_columns, column_names, spread_columns
from vertebra.robot.tables import Floats
from vertebra.sensing.recording.files import BILLION, Block, BlockWriter, WholeFile, from_ns, to_ns
from vertebra.sensing.sensed_shape import SensorHealth, sensor_health, unknown_angles
from vertebra.sensing.so3 import quaternion

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot
    from vertebra.sensing.sensed_shape import SensedShape

HEALTH_EVERY = 1.0
"""s between messages about the sensors when nothing changes."""
_LARGEST_CHUNK = 1 << 18
"""Bytes of messages after which a chunk is written without waiting for the timer."""
_LATEST, _LONGEST = 1e10, 4e9
"""s; latest arrival and largest time of a shape. Their sum is a time that MCAP can hold, until the year 2554."""
_MOST_ROWS = 500
"""Rows of a table that are written together."""
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


class DerivedLogWriter(BlockWriter):
    """Writes shapes to a new MCAP file; the operating system has them within a quarter of a second.

    `contents`: from `robot_contents`. A context manager. May be used by one thread at a time. Messages carry the time
    of the SYNC clock plus a constant offset to Unix time, taken from the first shape and kept in the metadata `clock`.
    `overwrite=False` refuses a name that exists; a file that another recorder is writing is refused in any case.
    """

    items = "shapes"

    def __init__(self, path: str | Path, contents: Mapping[str, Any], *, overwrite: bool = True) -> None:
        self._contents = contents
        self._make = MessageMaker(list(contents["joints"]))
        self._offset: int | None = None
        self._states: tuple[str, ...] = ()
        self._health_at = 0.0
        self._stream = McapStream()
        self._writer = mcap_writer(self._stream, _LARGEST_CHUNK)
        self._packed = 0
        super().__init__(path, overwrite)

    @property
    def shapes(self) -> int:
        """Shapes in the file."""
        return self._written

    def _begin(self) -> bytes:
        self._writer.start(profile="", library="vertebra")
        self._describe(self._contents)
        self._channels = self._register()
        return self._stream.take()

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
        """Add a shape; RecordingError if it is lost, because the disk is full and too much is waiting in memory."""
        if not (abs(shape.time) < _LONGEST and 0.0 <= shape.arrival < _LATEST):
            what = f"needs a time within {_LONGEST:g} s and an arrival since 1970"
            raise InputError("shape", f"{what}, not {shape.time!r} and {shape.arrival!r}")
        with self._lock:
            offset = to_ns(shape.arrival) - to_ns(shape.time) if self._offset is None else self._offset
            ns = max(to_ns(shape.time) + offset, 0)
            messages = {
                "/tf": self._make.transforms(shape, ns),
                "/joints": self._make.joints(shape, ns),
                "/tip": self._make.tip(shape, ns),
                "/estimate": estimate_json(shape),
            }
            self._admit()
            if self._offset is None:
                self._offset = offset
                self._writer.add_metadata("clock", {"sync_to_unix_offset_s": repr(from_ns(offset))})
            for topic, data in messages.items():
                self._add(topic, data, ns)
            self._write_health(shape, ns)

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
        self._writer.add_message(self._channels[topic], ns, data, ns, self._given - 1)

    def _pack(self) -> Iterable[Block]:
        _end_chunk(self._writer)
        shapes, self._packed = self._given - self.lost - self._packed, self._given - self.lost
        data = self._stream.take()
        return [Block(data, shapes)] if data else []

    def _end(self) -> bytes:
        self._writer.finish()
        return self._stream.take()


class McapStream:
    """What an MCAP writer writes to: collects whole records until they are taken."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._taken = self.size = 0
        """Bytes taken; bytes to take."""

    def write(self, data: bytes) -> int:
        """Add bytes."""
        self._waiting.append(data)
        self.size += len(data)
        return len(data)

    def tell(self) -> int:
        """Bytes written so far."""
        return self._taken + self.size

    def take(self) -> bytes:
        """Everything that was not taken yet."""
        data, self._waiting = b"".join(self._waiting), []
        self._taken, self.size = self.tell(), 0
        return data


def mcap_writer(stream: McapStream, chunk_size: int = 1 << 20) -> Any:
    """The MCAP library's writer; InputError if it is not installed."""
    try:
        from mcap.writer import Writer
    except ImportError:
        raise missing("mcap") from None
    return Writer(cast(IO[Any], stream), chunk_size=chunk_size)


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
    """A CSV table with a row per shape: time, angles in degrees, tip in mm, standard deviations, and whether the shape
    is settled. A context manager."""

    def __init__(self, path: str | Path, robot: Robot, *, overwrite: bool = True) -> None:
        """`time_s` is the SYNC clock, the tip is in world axes."""
        self._file, self._rows, self._robot = WholeFile(path, overwrite), list[str](), robot
        angles = angle_columns(robot.freedom_names)
        self._write([*column_names(TIME, angles, TIP, spread_columns(TIP), spread_columns(angles)), "settled"])

    def add(self, time: float, angles: Floats, sigmas: Floats, tip: Floats, covariance: Floats) -> None:
        """Add a shape, SI. Standard deviations that are not known are left empty."""
        spread = np.sqrt(np.diagonal(covariance)[:3]) * 1e3
        numbers = [*np.degrees(angles), *tip * 1e3, *spread, *np.degrees(sigmas)]
        cells = (f"{value:.9g}" if np.isfinite(value) else "" for value in numbers)
        self._write([f"{time:.6f}", *cells, str(not unknown_angles(self._robot, sigmas))])

    def _write(self, cells: Iterable[str]) -> None:
        self._rows.append(",".join(cells) + "\n")
        if len(self._rows) >= _MOST_ROWS:
            self._flush()

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        self._file.append("".join(rows).encode())

    def __enter__(self) -> ShapesCsv:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._flush()
        finally:
            self._file.close()
