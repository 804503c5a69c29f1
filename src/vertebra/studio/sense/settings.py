"""What is set in the Sense tab."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vertebra.studio.tab import Settings

VIRTUAL, BUS, RECORDING = "Virtual robot", "Live bus", "Recording"
SOURCES = (VIRTUAL, BUS, RECORDING)
MODELS = ("ideal", "datasheet", "uncalibrated")
TILTS_DEG = {"upright": 0.0, "tilted by 45 deg": 45.0, "horizontal": 90.0}
"""How the base of the virtual robot leans, beside the way that the robot file says."""
AS_IN_FILE = "as in the file"
BASES = (AS_IN_FILE, *TILTS_DEG)
SPEEDS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
MOST_BEND_DEG, MOST_SPEED_DEG, MOST_MAGNET_DEG, FASTEST_SYNC = 60.0, 180.0, 90.0, 1000.0
NO_FILE = ""


class SenseSettings(Settings):
    """Where samples come from, how they become a shape, and what is wrong with the virtual robot."""

    source: Literal["Virtual robot", "Live bus", "Recording"] = "Virtual robot"
    method: Literal["chain", "pairwise", "paper"] = "chain"
    model: Literal["ideal", "datasheet", "uncalibrated"] = "datasheet"
    """Of the simulated sensors."""
    bend_deg: Annotated[float, Field(ge=1.0, le=MOST_BEND_DEG)] = 20.0
    """How far each joint of the virtual robot goes, at most."""
    speed_deg_s: Annotated[float, Field(ge=1.0, le=MOST_SPEED_DEG)] = 30.0
    base: Literal["as in the file", "upright", "tilted by 45 deg", "horizontal"] = "as in the file"
    sensor: Annotated[int, Field(ge=0, le=10_000)] = 1
    """Link of the sensor that something happens to."""
    silent: bool = False
    magnet: bool = False
    magnet_deg: Annotated[float, Field(ge=-MOST_MAGNET_DEG, le=MOST_MAGNET_DEG)] = 40.0
    """By how much a magnet turns its heading."""
    bus: Annotated[str, Field(max_length=200)] = "socketcan://can0"
    sync_hz: Annotated[float, Field(ge=0.0, le=FASTEST_SYNC)] = 0.0
    """SYNCs that the studio sends; 0 when another master does."""
    file: Annotated[str, Field(max_length=255)] = NO_FILE
    """Name of a recording in the studio's folder."""
    play_speed: Annotated[float, Field(ge=SPEEDS[0], le=SPEEDS[-1])] = 1.0
    calibration: Annotated[str, Field(max_length=255)] = NO_FILE
    """Name of a calibration file in the studio's folder; empty: perfect sensors."""
    sensor_frames: bool = False
