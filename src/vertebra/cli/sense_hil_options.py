"""What `vertebra sense hil` understands: sensor profiles with changes, failing sensors, a tilted base."""

from __future__ import annotations

import math
import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from vertebra.cli import statics_options as read
from vertebra.cli.dynamics_options import one_time
from vertebra.cli.output import CommandError

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot
    from vertebra.robot.tables import Floats
    from vertebra.sensing.simulated.sensors import SensorModel

SPEED = read.Quantity("rad/s", "30 deg/s", "speed")
_KILL = re.compile(r"\s*(\d+)\s*@\s*(.+)")


class ProfileName(StrEnum):
    """Sensors to begin with."""

    IDEAL = "ideal"
    DATASHEET = "datasheet"
    UNCALIBRATED = "uncalibrated"


def sensor_model(
    profile: ProfileName, noise: str | None, drops: float | None, twist: str | None, quaternions: bool
) -> SensorModel:
    """The profile with what was asked for on top."""
    from vertebra.sensing.simulated.sensors import SensorModel

    changes: dict[str, Any] = {"quaternions": quaternions}
    if noise is not None:
        values = read.quantities("--noise", noise, read.ANGLE)
        if len(values) != 2:
            raise CommandError(f'--noise {noise!r}: give tilt and heading, such as "0.06, 1.5 deg"')
        changes |= {"tilt_noise": values[0], "heading_noise": values[1]}
    if drops is not None:
        changes["drops"] = drops
    if twist is not None:
        changes["twist"] = one_angle("--twist", twist)
    made: SensorModel = getattr(SensorModel, profile.value)(**changes)
    return made


def failures(texts: list[str] | None, robot: Robot) -> dict[int, float]:
    """{sensor: time in s} of "SENSOR@TIME"."""
    found: dict[int, float] = {}
    for text in texts or ():
        parts = _KILL.fullmatch(text)
        if parts is None:
            raise CommandError(f'--kill {text!r}: write the sensor, @ and when, such as "3@5 s"')
        sensor = int(parts[1])
        if sensor not in robot.sensor_links:
            known = ", ".join(map(str, robot.sensor_links))
            raise CommandError(f"--kill {text!r}: {robot.name} has no sensor {sensor}; its sensors are {known}")
        found[sensor] = one_time("--kill", parts[2])
    return found


def base(text: str | None) -> Floats | None:
    """(3, 3) a base tipped by so much from upright; None: as the robot's gravity says."""
    if text is None:
        return None
    from vertebra.sensing.simulated.motion import tilted_base

    return tilted_base(one_angle("--base", text))


def one_angle(option: str, text: str) -> float:
    """rad"""
    values = read.quantities(option, text, read.ANGLE)
    if len(values) != 1 or not math.isfinite(values[0]):
        raise CommandError(f'{option} {text!r}: give one angle, such as "60 deg"')
    return values[0]
