"""What a run in the loop is, and the files its processes share: set-up and truth."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from vertebra.errors import InputError
from vertebra.robot.robot import Robot, load
from vertebra.robot.tables import Floats
from vertebra.sensing.estimator import METHODS, Method
from vertebra.sensing.pairwise import require_universal
from vertebra.sensing.simulated.motion import Motion, SensorTruth, Truth, base_rotation
from vertebra.sensing.simulated.sensors import SensorModel

LONGEST = 3600.0
"""s; a run is kept in memory."""


@dataclass(frozen=True, eq=False)
class HilSetup:
    """One run in the loop; times in s of the master's clock."""

    robot: Robot
    motion: Motion
    """What the servos of the virtual robot are told; its physics decide what they do."""
    model: SensorModel
    url: str
    """Bus between the processes."""
    duration: float = 10.0
    """s"""
    seed: int = 0
    method: Method = "chain"
    """What the estimator beside the robot computes; the others are replayed afterwards."""
    base: Floats | None = None
    """(3, 3) base axes to world axes; None: as the robot's gravity says."""
    sync_rate: float = 100.0
    """Hz"""
    silent: Mapping[int, float] = field(default_factory=dict)
    """When which sensor fails, s."""

    def __post_init__(self) -> None:
        if not 0 < self.duration <= LONGEST:
            raise InputError("duration", f"must be above 0 and at most {LONGEST:g} s, not {self.duration}")
        if self.method not in METHODS:
            raise InputError("method", f"must be one of {', '.join(METHODS)}, not {self.method!r}")
        if self.method == "paper":
            require_universal(self.robot)
        if not 1 <= self.sync_rate <= 500:
            raise InputError("sync_rate", f"must be 1 to 500 Hz, not {self.sync_rate}")
        object.__setattr__(self, "base", base_rotation(self.robot, self.base))

    def to_text(self) -> str:
        """JSON."""
        plain = {
            "robot": self.robot.to_mapping(),
            "motion": self.motion.to_mapping(),
            "model": asdict(self.model),
            "base": np.asarray(self.base).tolist(),
            "silent": sorted(self.silent.items()),
        }
        same = ("url", "duration", "seed", "method", "sync_rate")
        return json.dumps(plain | {name: getattr(self, name) for name in same})

    @classmethod
    def from_text(cls, text: str) -> HilSetup:
        """The setup of `to_text`."""
        given = json.loads(text)
        given["robot"] = load(given["robot"])
        given["motion"] = Motion.from_mapping(given["motion"])
        given["model"]["disturbance"] = tuple(given["model"]["disturbance"])
        given["model"] = SensorModel(**given["model"])
        given["base"] = np.array(given["base"])
        given["silent"] = {int(sensor): float(time) for sensor, time in given["silent"]}
        return cls(**given)


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


def save_truth(path: Path, truth: Truth, sensors: SensorTruth, account: Account) -> None:
    """Write all at once: a reader never sees half a file. The truth never goes over the bus."""
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


def load_truth(path: Path, robot: Robot) -> tuple[Truth, SensorTruth, Account]:
    """What `save_truth` wrote."""
    with np.load(path) as file:
        arrays: dict[str, Floats] = {name: file[name] for name in file.files}
    truth = Truth(robot, *(arrays[name] for name in ("times", "angles", "twists", "frames", "base")))
    links = tuple(int(link) for link in arrays["sensors"])
    sensors = SensorTruth(links, arrays["mounts"], arrays["headings"], arrays["gyro_biases"])
    sent, dropped, unheard, ticks, overruns, worst = arrays["account"].tolist()
    return truth, sensors, Account(int(sent), int(dropped), int(unheard), int(ticks), int(overruns), worst)
