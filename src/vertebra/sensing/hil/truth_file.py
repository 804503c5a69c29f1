"""The truth of a virtual robot as a file: it never goes over the bus."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.simulated.truth import SensorTruth, Truth


@dataclass(frozen=True)
class Account:
    """How the virtual robot fared as a real-time process."""

    sent: int
    """Frames that the sensor model made, lost ones included."""
    dropped: int
    """Frames that the sensor model lost; they never came onto the bus."""
    unheard: int
    """SYNCs that nodes did not hear."""
    ticks: int
    """Steps of real time."""
    overruns: int
    """Ticks that began more than 5 ms late."""
    worst: float
    """s; the largest lateness of a tick."""

    @property
    def on_bus(self) -> int:
        """Frames put onto the bus."""
        return self.sent - self.dropped


def save(path: Path, truth: Truth, sensors: SensorTruth, account: Account) -> None:
    """Write all at once: a reader never sees half a file."""
    partial = path.with_suffix(".partial.npz")
    np.savez_compressed(
        partial,
        times=truth.times,
        angles=truth.angles,
        twists=truth.twists,
        frames=truth.frames,
        base=truth.base,
        sensors=np.array(sensors.sensors),
        mounts=sensors.mounts,
        headings=sensors.headings,
        gyro_biases=sensors.gyro_biases,
        account=np.array(
            [account.sent, account.dropped, account.unheard, account.ticks, account.overruns, account.worst]
        ),
    )
    os.replace(partial, path)


def load(path: Path, robot: Robot) -> tuple[Truth, SensorTruth, Account]:
    """What `save` wrote."""
    with np.load(path) as file:
        arrays: dict[str, Floats] = {name: file[name] for name in file.files}
    truth = Truth(robot, *(arrays[name] for name in ("times", "angles", "twists", "frames", "base")))
    links = tuple(int(link) for link in arrays["sensors"])
    sensors = SensorTruth(links, arrays["mounts"], arrays["headings"], arrays["gyro_biases"])
    sent, dropped, unheard, ticks, overruns, worst = arrays["account"].tolist()
    return truth, sensors, Account(int(sent), int(dropped), int(unheard), int(ticks), int(overruns), worst)
