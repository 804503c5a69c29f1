"""What is set in the Sense tab, with its widgets, and what they start from for a robot."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from vertebra.errors import InputError
from vertebra.robot.robot import Robot
from vertebra.sensing.estimator import METHODS
from vertebra.sensing.pairwise import require_universal
from vertebra.studio.form import Check, Choice, FileChoice, Number, Slider, Text
from vertebra.studio.tab import Settings

VIRTUAL, BUS, RECORDING = "Virtual robot", "Live bus", "Recording"
TILTS_DEG = {"upright": 0.0, "tilted by 45 deg": 45.0, "horizontal": 90.0}
"""Tilts of the virtual robot's base, besides that of the robot file."""
SPEEDS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
SUFFIXES = (".blf", ".log", ".csv", ".mcap")
"""Of recordings."""
WHOLE_BEND_DEG = 150.0
"""Bend of all joints of the virtual robot together, to begin with."""
BUSES = "socketcan://can0, udp_multicast://, slcan:///dev/ttyACM0, serial:///dev/ttyUSB0, virtual://name"
NO_FILE = ""


def usable_methods(robot: Robot) -> tuple[str, ...]:
    """Methods that can be used on a robot."""
    try:
        require_universal(robot)
    except InputError:
        return tuple(method for method in METHODS if method != "paper")
    return METHODS


def usual_bend(robot: Robot) -> float:
    """Degrees that each joint of the virtual robot bends at most, so that a long robot does not curl up."""
    return float(np.clip(round(2 * WHOLE_BEND_DEG / max(len(robot.joints), 1)) / 2, 2.0, 20.0))


def _sensors(robot: Robot) -> dict[int, str]:
    return {link: str(link) for link in robot.sensor_links.tolist()}


def _middle_sensor(robot: Robot) -> int:
    return int(robot.sensor_links[len(robot.sensor_links) // 2])


def is_virtual(settings: SenseSettings) -> bool:
    """Whether the source is the virtual robot."""
    return settings.source == VIRTUAL


def is_bus(settings: SenseSettings) -> bool:
    """Whether the source is a bus."""
    return settings.source == BUS


def is_recording(settings: SenseSettings) -> bool:
    """Whether the source is a recording."""
    return settings.source == RECORDING


class SenseSettings(Settings):
    """Where samples come from, how they become a shape, and what is wrong with the virtual robot."""

    source: Annotated[Literal["Virtual robot", "Live bus", "Recording"], Choice("Source")] = "Virtual robot"
    method: Annotated[Literal["chain", "pairwise", "paper"], Choice("Method", usable_methods)] = "chain"
    model: Annotated[Literal["ideal", "datasheet", "uncalibrated"], Choice("Sensors", shown=is_virtual)] = "datasheet"
    """Of the simulated sensors."""
    bend_deg: Annotated[
        float,
        Field(ge=1.0, le=60.0),
        Slider("Joints bend up to (deg)", step=0.5, first=usual_bend, shown=is_virtual),
    ] = 20.0
    """Largest angle of each joint of the virtual robot."""
    speed_deg_s: Annotated[float, Field(ge=1.0, le=180.0), Slider("Joint speed up to (deg/s)", shown=is_virtual)] = 30.0
    base: Annotated[
        Literal["as in the file", "upright", "tilted by 45 deg", "horizontal"], Choice("Base", shown=is_virtual)
    ] = "as in the file"
    sensor: Annotated[
        int,
        Field(ge=0, le=10_000),
        Choice("Faulty sensor, on link", _sensors, first=_middle_sensor, shown=is_virtual),
    ] = 1
    """Link of the sensor that something happens to."""
    silent: Annotated[bool, Check("Sensor silent", shown=is_virtual)] = False
    magnet: Annotated[bool, Check("Magnet nearby", shown=is_virtual)] = False
    magnet_deg: Annotated[
        float, Field(ge=-90.0, le=90.0), Slider("Heading error by magnet (deg)", shown=is_virtual)
    ] = 40.0
    """By how much a magnet turns its heading."""
    bus: Annotated[str, Field(max_length=200), Text("Bus", hint=BUSES, shown=is_bus)] = "socketcan://can0"
    sync_hz: Annotated[
        float,
        Field(ge=0.0, le=1000.0),
        Number("SYNC (Hz)", step=10.0, hint="0: another master of the bus sends it", shown=is_bus),
    ] = 0.0
    """SYNCs that the studio sends; 0 when another master does."""
    file: Annotated[
        str,
        Field(max_length=255),
        FileChoice("File", suffixes=SUFFIXES, no_files="(none in the folder)", shown=is_recording),
    ] = NO_FILE
    """Name of a recording in the studio's folder."""
    play_speed: Annotated[
        float,
        Field(ge=SPEEDS[0], le=SPEEDS[-1]),
        Choice("Speed", {speed: f"{speed:g} x" for speed in SPEEDS}, shown=is_recording),
    ] = 1.0
    calibration: Annotated[
        str,
        Field(max_length=255),
        FileChoice(
            "Calibration", suffixes=(".yaml", ".yml"), none="(none: perfect sensors)",
            shown=lambda s: not is_virtual(s),
        ),
    ] = NO_FILE  # fmt: skip
    """Name of a calibration file in the studio's folder; empty: perfect sensors."""
    sensor_frames: Annotated[bool, Check("Sensor frames")] = False
