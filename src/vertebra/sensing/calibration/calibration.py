"""`Calibration`: how each sensor is mounted, how far its heading is off, its gyro bias; and the file of all that."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import DescriptionError, InputError, Problem, shown
from vertebra.files import read_start, write_file
from vertebra.robot.arguments import as_robot, floats, numbers
from vertebra.robot.reading import MAX_BYTES, parse_json, parse_yaml, yaml_text
from vertebra.robot.robot import RobotLike
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.wire.can import MOST_SENSORS


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """The constants of R_meas = Rz(heading) R_link mount and gyro_meas = mount^T omega_link + bias.

    What was not determined has the value of a perfect sensor (no rotation, no offset) and an infinite sigma. Headings
    are relative to the first sensor, whose own is zero: nothing on the robot shows the azimuth of the world. Mounts are
    relative to the joints where motion shows how these lie; otherwise the first sensor is assumed not to be turned
    about the vertical, its sigma about it is infinite, and the others are relative to it.
    """

    robot: str
    """Name of the robot."""
    sensors: NDArray[np.int64]
    """(m,) numbers of their links."""
    mounts: Floats
    """(m, 3, 3) sensor axes to link axes."""
    headings: Floats
    """(m,) offset about the vertical, rad."""
    gyro_biases: Floats
    """(m, 3) reading of the gyroscope at rest, sensor axes, rad/s."""
    mount_sigmas: Floats
    """(m, 3) standard deviations about the link's x, y and z, rad; infinite where not determined."""
    heading_sigmas: Floats
    """(m,) rad; infinite where not determined."""
    gyro_bias_sigmas: Floats
    """(m, 3) rad/s; infinite where not determined."""
    poses: tuple[str, ...] = ()
    """What it was made from: ``straight``, ``tilted``, ``motion``."""
    date: str = ""
    """ISO 8601, UTC."""
    quality: Mapping[str, float] = field(default_factory=dict)
    """How well the data fit: numbers by name with unit."""

    def __post_init__(self) -> None:
        sensors = numbers("sensors", self.sensors, "links")
        if sensors.ndim != 1 or not ((sensors >= 0) & (sensors == sensors.round())).all():
            raise InputError("sensors", f"must be numbers of links, not {shown(self.sensors)}")
        m = len(sensors)
        shapes = {
            "sensors": (m,), "mounts": (m, 3, 3), "headings": (m,), "gyro_biases": (m, 3),
            "mount_sigmas": (m, 3), "heading_sigmas": (m,), "gyro_bias_sigmas": (m, 3),
        }  # fmt: skip
        for name, shape in shapes.items():
            given = getattr(self, name)
            value: NDArray[Any] = (floats if "sigma" in name else numbers)(name, given, "rad, rad/s")
            if value.size != math.prod(shape) or ("sigma" in name and not (value >= 0.0).all()):
                raise InputError(name, f"must have shape {shape}, sigmas of 0 or more, not {shown(given)}")
            value = value.reshape(shape) if name != "sensors" else value.astype(np.int64)
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        for name in ("robot", "date"):
            if not isinstance(getattr(self, name), str):
                raise InputError(name, f"must be a text, not {shown(getattr(self, name))}")
        poses, quality = self.poses, self.quality
        if not isinstance(poses, tuple | list) or not all(isinstance(pose, str) for pose in poses):
            raise InputError("poses", f"must be texts, not {shown(poses)}")
        if not isinstance(quality, Mapping) or not all(isinstance(name, str) for name in quality):
            raise InputError("quality", f"must be numbers by name, not {shown(quality)}")
        kept = {name: float(numbers("quality", value, name)) for name, value in quality.items()}
        object.__setattr__(self, "poses", tuple(poses))
        object.__setattr__(self, "quality", MappingProxyType(kept))
        object.__setattr__(self, "date", self.date or datetime.now(UTC).isoformat(timespec="seconds"))

    @classmethod
    def identity(cls, robot: RobotLike) -> Calibration:
        """That of perfect sensors: nothing was determined, nothing is corrected."""
        robot = as_robot(robot)
        m = len(robot.sensor_links)
        blind = np.full((m, 3), np.inf)
        return cls(
            robot.name, robot.sensor_links, np.broadcast_to(np.eye(3), (m, 3, 3)), np.zeros(m), np.zeros((m, 3)),
            blind, blind[:, 0], blind,
        )  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write a file for `load_calibration` and for people: .yaml, .yml or .json."""
        if not isinstance(path, str | Path) or Path(path).suffix.lower() not in SUFFIXES:
            raise InputError(
                "path", f"must be the name of a file that ends in {', '.join(SUFFIXES)}, not {shown(path)}"
            )
        path = Path(path)
        record = calibration_record(self)
        if path.suffix.lower() == ".json":
            text = json.dumps(record, indent=2, allow_nan=False) + "\n"
        else:
            text = HEADER + yaml_text(record, width=120)
        try:
            write_file(path, text)
        except (OSError, ValueError) as error:
            raise InputError("path", f"{path} cannot be written: {error}") from None

    def __repr__(self) -> str:
        turns = np.degrees(np.arccos(np.clip((np.trace(self.mounts, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0)))
        about_z = self.mount_sigmas[1:, 2]
        known = len(about_z) and np.isfinite(about_z).all()
        worst = f"{np.degrees(about_z.max()):.2g} deg" if known else "not determined"
        return (
            f"Calibration of {self.robot!r}: {len(self.sensors)} sensors from {', '.join(self.poses) or 'no data'}, "
            f"mounts off by up to {turns.max(initial=0.0):.3g} deg, largest sigma of a mount about z {worst}"
        )


# What is determined, and what would determine the rest.


class Verdict(NamedTuple):
    """Whether one number of a calibration is determined."""

    sensor: int
    parameter: str
    """``mount x``, ``mount y``, ``mount z``, ``heading``, ``gyro bias x``, ..."""
    value: float
    """rad or rad/s."""
    sigma: float
    """rad or rad/s; infinite when not identifiable."""
    word: str
    """``determined``, ``by definition`` or ``not identifiable``."""
    remedy: str
    """What would determine it."""


def verdicts(calibration: Calibration) -> tuple[Verdict, ...]:
    """One per number, sensor by sensor."""
    rows = list[Verdict]()
    for i, sensor in enumerate(calibration.sensors.tolist()):
        turns = so3.log(calibration.mounts[i])
        named = [(f"mount {axis}", turns[k], calibration.mount_sigmas[i, k]) for k, axis in enumerate("xyz")]
        named.append(("heading", calibration.headings[i], calibration.heading_sigmas[i]))
        named += [
            (f"gyro bias {axis}", calibration.gyro_biases[i, k], calibration.gyro_bias_sigmas[i, k])
            for k, axis in enumerate("xyz")
        ]
        rows += [_verdict(calibration.poses, i, sensor, name, float(v), float(sigma)) for name, v, sigma in named]
    return tuple(rows)


def _verdict(poses: tuple[str, ...], i: int, sensor: int, name: str, value: float, sigma: float) -> Verdict:
    if np.isfinite(sigma):
        word = "by definition" if i == 0 and name == "heading" else "determined"
        return Verdict(sensor, name, value, sigma, word, "")
    return Verdict(sensor, name, value, sigma, "not identifiable", _remedy(poses, i, name))


def _remedy(poses: tuple[str, ...], i: int, name: str) -> str:
    if name.startswith("gyro"):
        return "send rates (frames 0x180 + sensor)"
    if i == 0:
        motion = "motion of pin, rolling, flexure or universal joints"
        return f"{motion}; until then the base sensor defines the azimuth" if "motion" not in poses else (
            "larger motion, unless all joints are balls; the base sensor defines the azimuth"
        )  # fmt: skip
    missing = [pose for pose in ("straight", "tilted", "motion") if pose not in poses]
    return {"tilted": "a pose tilted by about 30 deg", "motion": "30 s of motion"}.get(
        missing[0] if missing else "", "a larger tilt, or more motion"
    )


# The calibration file: YAML or JSON, in degrees.

VERSION = 1
SUFFIXES = (".yaml", ".yml", ".json")
HEADER = """\
# Calibration of orientation sensors: R_meas = Rz(heading) R_link mount, gyro_meas = mount^T omega_link + gyro_bias.
# mount_deg: rotation vector from sensor axes to link axes, components along the link's x, y, z.
# null in a sigma: the recordings do not determine this number; it is left at zero and means nothing.
"""
VECTORS = ("mount_deg", "mount_sigma_deg", "gyro_bias_deg_s", "gyro_bias_sigma_deg_s")
NUMBERS = ("heading_deg", "heading_sigma_deg")


def calibration_record(calibration: Calibration) -> dict[str, Any]:
    """The calibration as plain data, in degrees."""
    rows = []
    for i, sensor in enumerate(calibration.sensors):
        rows.append(
            {
                "sensor": int(sensor),
                "mount_deg": _degrees(so3.log(calibration.mounts[i])),
                "mount_sigma_deg": _degrees(calibration.mount_sigmas[i]),
                "heading_deg": _degrees(calibration.headings[i]),
                "heading_sigma_deg": _degrees(calibration.heading_sigmas[i]),
                "gyro_bias_deg_s": _degrees(calibration.gyro_biases[i]),
                "gyro_bias_sigma_deg_s": _degrees(calibration.gyro_bias_sigmas[i]),
            }
        )
    return {
        "vertebra_calibration": VERSION,
        "robot": calibration.robot,
        "date": calibration.date,
        "poses": list(calibration.poses),
        "quality": {name: float(f"{value:.6g}") for name, value in calibration.quality.items()},
        "sensors": rows,
    }


def _degrees(value: Any) -> Any:
    """Degrees to a millionth; None for infinity."""
    if np.ndim(value):
        return [_degrees(item) for item in value]
    return round(math.degrees(value), 6) + 0.0 if math.isfinite(value) else None


def load_calibration(path: str | Path) -> Calibration:
    """Read a calibration file; raises `DescriptionError` that lists every wrong field."""
    path = Path(path)
    parse = parse_json if path.suffix.lower() == ".json" else parse_yaml
    return read_record(parse(_text(path), str(path)), str(path))


def _text(path: Path) -> str:
    problem = ""
    try:
        content = read_start(path, MAX_BYTES)
        if len(content) <= MAX_BYTES:
            return content.decode("utf-8-sig")
        problem = f"larger than {MAX_BYTES} bytes; a calibration file is a few kilobytes"
    except UnicodeDecodeError:
        problem = "is not UTF-8 text"
    except (OSError, ValueError) as error:
        problem = f"cannot be read: {error}"
    raise DescriptionError([Problem("(file)", problem, "")], str(path))


def read_record(data: object, origin: str) -> Calibration:
    """A calibration from plain data, as `calibration_record` makes it."""
    fields = _Fields(origin)
    top = fields.mapping(data, "", ("vertebra_calibration", "robot", "date", "poses", "quality", "sensors"))
    if top.get("vertebra_calibration", VERSION) != VERSION:
        fields.report("vertebra_calibration", f"must be {VERSION}", top["vertebra_calibration"])
    robot, date = fields.text(top, "robot"), fields.text(top, "date")
    poses = fields.texts(top.get("poses", []), "poses")
    quality = fields.quality(top.get("quality", {}))
    rows = [fields.sensor(row, f"sensors[{i}]") for i, row in enumerate(fields.rows(top.get("sensors", ())))]
    numbers = [row["sensor"] for row in rows]
    if not fields.problems and numbers != sorted(set(numbers)):
        fields.report("sensors", "each sensor must be listed once, in rising order", numbers)
    fields.finish()
    column = {name: np.array([row[name] for row in rows]) for name in (*VECTORS, *NUMBERS)}
    return Calibration(
        robot, np.array(numbers), so3.exp(column["mount_deg"]), column["heading_deg"], column["gyro_bias_deg_s"],
        column["mount_sigma_deg"], column["heading_sigma_deg"], column["gyro_bias_sigma_deg_s"], poses, date, quality,
    )  # fmt: skip


class _Fields:
    """Reads fields one by one and collects all problems."""

    def __init__(self, origin: str) -> None:
        self.origin, self.problems = origin, list[Problem]()

    def report(self, path: str, message: str, found: object = "") -> None:
        self.problems.append(Problem(path or "(file)", message, reprlib.repr(found) if found != "" else ""))

    def finish(self) -> None:
        if self.problems:
            raise DescriptionError(self.problems, self.origin)

    def mapping(self, data: object, path: str, names: tuple[str, ...]) -> Mapping[str, Any]:
        """The fields of a mapping; unknown and missing ones are reported."""
        if not isinstance(data, Mapping):
            self.report(path, f"must be a mapping of the fields {', '.join(names)}", data)
            return {}
        at = f"{path}." if path else ""
        for name in data:
            if name not in names:
                self.report(f"{at}{name}", f"unknown field; the fields are {', '.join(names)}")
        for name in names:
            if name not in data:
                self.report(f"{at}{name}", "required field is missing")
        return data

    def text(self, data: Mapping[str, Any], name: str) -> str:
        value = data.get(name, "")
        if not isinstance(value, str):
            self.report(name, "must be a text; put it in quotes", value)
        return str(value)

    def texts(self, value: object, name: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.report(name, "must be a list of texts", value)
            return ()
        return tuple(value)

    def quality(self, value: object) -> dict[str, float]:
        if not isinstance(value, Mapping):
            self.report("quality", "must be a mapping of names to numbers", value)
            return {}
        return {str(name): self.number(item, f"quality.{name}") for name, item in value.items()}

    def rows(self, value: object) -> list[Any]:
        if isinstance(value, list) and value:
            return value
        if value != ():
            self.report("sensors", "must be a list with one entry per sensor", value)
        return []

    def sensor(self, row: object, path: str) -> dict[str, Any]:
        """One sensor in SI."""
        data = self.mapping(row, path, ("sensor", *VECTORS, *NUMBERS))
        result: dict[str, Any] = {"sensor": data.get("sensor", 0)}
        if type(result["sensor"]) is not int or not 0 <= result["sensor"] < MOST_SENSORS:
            self.report(f"{path}.sensor", f"must be a whole number from 0 to {MOST_SENSORS - 1}", result["sensor"])
        for name in VECTORS:
            result[name] = [math.radians(item) for item in self.vector(data, name, path)]
        for name in NUMBERS:
            found = self.number(data[name], f"{path}.{name}", "sigma" in name) if name in data else 0.0
            result[name] = math.radians(found)
        return result

    def vector(self, data: Mapping[str, Any], name: str, path: str) -> list[float]:
        value = data.get(name, [0.0, 0.0, 0.0])
        if not isinstance(value, list) or len(value) != 3:
            self.report(f"{path}.{name}", "must be a list of three numbers", value)
            return [0.0, 0.0, 0.0]
        return [self.number(item, f"{path}.{name}[{i}]", "sigma" in name) for i, item in enumerate(value)]

    def number(self, value: object, path: str, sigma: bool = False) -> float:
        """A finite number; a sigma may not be negative, and null stands for an infinite one."""
        if value is None and sigma:
            return math.inf
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not abs(value) < 1e9 or (sigma and value < 0):  # type: ignore[arg-type,operator]
            allowed = "a number of at least zero, or null" if sigma else "a finite number"
            self.report(path, f"must be {allowed}", value)
            return 0.0
        return float(value)  # type: ignore[arg-type]
