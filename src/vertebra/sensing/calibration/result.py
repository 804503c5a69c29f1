"""`Calibration`: how each sensor sits on its link, how its heading is off, what its gyroscope says at rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """The constants of R_meas = Rz(heading) R_link mount and gyro_meas = mount^T omega_link + bias.

    What was not determined has the value of a perfect sensor (no rotation, no offset) and an infinite sigma. Headings
    are relative to the first sensor, whose own is zero: nothing on the robot tells the azimuth of the world. Mounts are
    against the joints where motion tells how these lie; otherwise the first sensor is taken not to be turned about the
    vertical, its sigma about it is infinite, and the others are relative to it.
    """

    robot: str
    """Name of the robot."""
    sensors: NDArray[np.int64]
    """(m,) numbers of the sensors: those of their links."""
    mounts: Floats
    """(m, 3, 3) turn the axes of the sensor to those of the link."""
    headings: Floats
    """(m,) offset about the vertical, rad."""
    gyro_biases: Floats
    """(m, 3) what the gyroscope says at rest, sensor axes, rad/s."""
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
    """Numbers that tell how well the data fit, by name with unit."""

    def __post_init__(self) -> None:
        m = len(self.sensors)
        shapes = {
            "sensors": (m,), "mounts": (m, 3, 3), "headings": (m,), "gyro_biases": (m, 3),
            "mount_sigmas": (m, 3), "heading_sigmas": (m,), "gyro_bias_sigmas": (m, 3),
        }  # fmt: skip
        for name, shape in shapes.items():
            kind = np.int64 if name == "sensors" else np.float64
            value = np.array(getattr(self, name), dtype=kind).reshape(shape)
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "quality", MappingProxyType(dict(self.quality)))
        object.__setattr__(self, "date", self.date or datetime.now(UTC).isoformat(timespec="seconds"))

    @classmethod
    def identity(cls, robot: Robot) -> Calibration:
        """Of perfect sensors: nothing was determined, nothing is changed."""
        m = len(robot.sensor_links)
        blind = np.full((m, 3), np.inf)
        return cls(
            robot.name, robot.sensor_links, np.broadcast_to(np.eye(3), (m, 3, 3)), np.zeros(m), np.zeros((m, 3)),
            blind, blind[:, 0], blind,
        )  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write a file that `load_calibration` reads and people can: .yaml, .yml or .json."""
        from vertebra.sensing.calibration.file import write_calibration

        write_calibration(self, Path(path))

    def __repr__(self) -> str:
        turns = np.degrees(np.arccos(np.clip((np.trace(self.mounts, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0)))
        yaw = self.mount_sigmas[1:, 2]
        worst = f"{np.degrees(yaw.max()):.2g} deg" if len(yaw) and np.isfinite(yaw).all() else "not determined"
        return (
            f"Calibration of {self.robot!r}: {len(self.sensors)} sensors from {', '.join(self.poses) or 'no data'}, "
            f"mounts off by up to {turns.max(initial=0.0):.3g} deg, largest sigma of a mount's yaw {worst}"
        )
