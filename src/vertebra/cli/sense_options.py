"""Options that the commands of `vertebra sense` share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from vertebra.cli.answer import CommandError, require_suffix
from vertebra.cli.options import one_time
from vertebra.sensing.recording.raw_log import RAW_SUFFIXES

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot
    from vertebra.sensing.calibration.calibration import Calibration
    from vertebra.sensing.estimator import ShapeEstimator

RAW_FILES = RAW_SUFFIXES
SHAPE_FILES = (".mcap",)


class MethodName(StrEnum):
    """How the shape is made of the orientations."""

    CHAIN = "chain"
    PAIRWISE = "pairwise"
    PAPER = "paper"


BusOption = Annotated[
    str,
    typer.Option("--bus", help="URL: socketcan://can0, udp_multicast://, slcan:///dev/ttyACM0, virtual://name."),
]
RobotOption = Annotated[str, typer.Option("--robot", help="Preset name or path of a robot file.")]
CalibrationOption = Annotated[
    Path | None, typer.Option("--calibration", help="File of `vertebra sense calibrate`; default: perfect sensors.")
]
MethodOption = Annotated[
    MethodName,
    typer.Option("--method", help="chain: all sensors together; pairwise: joint by joint; paper: Lapusan 2022."),
]
McapOption = Annotated[Path | None, typer.Option("--mcap", help="Record shapes to this .mcap file (Foxglove).")]
DurationOption = Annotated[
    str | None, typer.Option("--duration", help='How long, such as "60 s"; default: until Ctrl-C.')
]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]


class Sensing(NamedTuple):
    """A robot and what is needed to estimate its shape."""

    robot: Robot
    method: MethodName
    calibration: Calibration | None
    calibration_text: str | None

    def estimator(self) -> ShapeEstimator:
        """A new one."""
        from vertebra.sensing.estimator import ShapeEstimator

        return ShapeEstimator(self.robot, self.method.value, calibration=self.calibration)


def sensing(robot: str, method: MethodName, calibration: Path | None) -> Sensing:
    """The robot with its calibration, checked, and compiled code loaded: nothing slow is left for the first frame."""
    import vertebra

    model = vertebra.load(robot)
    found, text = None, None
    if calibration is not None:
        from vertebra.sensing.calibration.calibration import load_calibration

        found, text = load_calibration(calibration), calibration.read_text(encoding="utf-8-sig")
    chosen = Sensing(model, method, found, text)
    trial = chosen.estimator()
    for sensor in model.sensor_links.tolist():
        trial.update(sensor, [1.0, 0.0, 0.0, 0.0], 0.0, gyro=[0.0, 0.0, 0.0])
    trial.solve()
    return chosen


def new_file(option: str, path: Path | None, suffixes: tuple[str, ...], overwrite: bool) -> None:
    """Refuse a wrong suffix, and a file that exists: a recording cannot be made again."""
    if path is None:
        return
    require_suffix(path, suffixes, option)
    if path.exists() and not overwrite:
        raise CommandError(f"{option} {path}: exists; choose another name or add --overwrite")


def duration_seconds(text: str | None) -> float | None:
    """Seconds of --duration; None without end."""
    return None if text is None else one_time("--duration", text)
