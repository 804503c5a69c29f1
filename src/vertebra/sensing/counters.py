"""What has come over a network, counted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vertebra.sensing.sensed_shape import Integers


@dataclass(eq=False)
class Counters:
    """Frames by kind, and per sensor what became of its answers. Grow while frames come."""

    sensors: Integers
    """(sensors,) their numbers: those of their links."""
    frames: int = 0
    """All of them."""
    sync: int = 0
    angles: int = 0
    gyro: int = 0
    quaternion: int = 0
    heartbeat: int = 0
    unknown: int = 0
    """With an id that is not of this network, or of a sensor that the robot does not have."""
    malformed: int = 0
    """With a wrong length or impossible content."""
    no_sync: int = 0
    """Answers that no SYNC could be found for, so that their time is not known."""
    faults: int = 0
    """Answers in which a node says that its sensor does not work."""
    too_old: int = 0
    """Answers with a sample so old that its time is not known."""
    ignored_sync: int = 0
    """SYNCs that fit neither the clock nor each other."""
    received: Integers = field(init=False)
    """(sensors,) answers that came: angles, quaternions and rates."""
    lost: Integers = field(init=False)
    """(sensors,) answers missing between two that came."""
    duplicates: Integers = field(init=False)
    reordered: Integers = field(init=False)
    """(sensors,) answers that came after a later one; their loss had been counted and is taken back."""
    outliers: Integers = field(init=False)
    """(sensors,) orientations that jump and were not used."""

    def __post_init__(self) -> None:
        for name in ("received", "lost", "duplicates", "reordered", "outliers"):
            setattr(self, name, np.zeros(len(self.sensors), dtype=np.int64))

    def __repr__(self) -> str:
        return (
            f"Counters({self.frames} frames: {self.sync} SYNC, {self.angles} angles, {self.quaternion} quaternions, "
            f"{self.gyro} rates, {self.heartbeat} heartbeats, {self.unknown} unknown, {self.malformed} malformed; "
            f"lost {self.lost.sum()}, duplicates {self.duplicates.sum()}, outliers {self.outliers.sum()})"
        )
