"""What a recording keeps of a sensed shape: its form in bytes between two processes, and its row in a CSV table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

import numpy as np

from vertebra.robot.table_file import TIME, TIP, angle_columns, column_names, spread_columns
from vertebra.robot.tables import Floats
from vertebra.sensing.sensed_shape import SensorHealth, sensor_health

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot
    from vertebra.sensing.sensed_shape import SensedShape


class Layout(NamedTuple):
    """What the numbers of a robot's shapes belong to."""

    freedoms: int
    links: int
    """Base included."""
    sensors: tuple[int, ...]
    """Their links."""

    @classmethod
    def of(cls, robot: Robot) -> Layout:
        """That of a robot."""
        return cls(robot.freedoms, len(robot.joints) + 1, tuple(robot.sensor_links.tolist()))


@dataclass(frozen=True, eq=False, repr=False)
class ShapeRecord:
    """A sensed shape as recordings keep it; world axes, SI."""

    time: float
    """s of the SYNC clock."""
    arrival: float
    """s (Unix) when the frame came that made this shape."""
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


# Sensed shapes as a CSV table: the time, angles in degrees, the tip in mm, and their standard deviations.


def columns(freedoms: int) -> list[str]:
    """Names of the columns; time_s is the SYNC clock, the tip is in world axes."""
    angles = angle_columns(freedoms)
    return column_names(TIME, angles, TIP, spread_columns(TIP), spread_columns(angles))


def row(time: float, angles: Floats, sigmas: Floats, tip: Floats, covariance: Floats) -> str:
    """One line; all arguments SI. An unknown spread is left empty."""
    spread = np.sqrt(np.diagonal(covariance)[:3]) * 1e3
    numbers = [*np.degrees(angles), *tip * 1e3, *spread, *np.degrees(sigmas)]
    return ",".join([f"{time:.6f}", *(f"{value:.9g}" if np.isfinite(value) else "" for value in numbers)])


class ShapesCsv:
    """A table that grows; a context manager."""

    def __init__(self, path: str | Path, freedoms: int) -> None:
        self._file: TextIO = open(path, "w", encoding="utf-8", newline="\n")  # noqa: SIM115
        self._write([",".join(columns(freedoms))])

    def add(self, time: float, angles: Floats, sigmas: Floats, tip: Floats, covariance: Floats) -> None:
        """Add a shape, SI."""
        self._write([row(time, angles, sigmas, tip, covariance)])

    def _write(self, lines: Iterable[str]) -> None:
        self._file.writelines(f"{line}\n" for line in lines)

    def __enter__(self) -> ShapesCsv:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
