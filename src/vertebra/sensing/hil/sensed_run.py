"""All shapes that an estimator gave over a run, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vertebra.errors import InputError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.counters import Counters
from vertebra.sensing.estimator import Method, ShapeEstimator
from vertebra.sensing.network import SensorNetwork
from vertebra.sensing.sensed_shape import Integers, SensedShape
from vertebra.sensing.wire.can import Frame


@dataclass(frozen=True, eq=False, repr=False)
class SensedRun:
    """K shapes in the order in which they were found; SI, frames with the axes of the base."""

    method: str
    times: Floats
    """(K,) s of the master's clock that the shapes are for."""
    angles: Floats
    """(K, freedoms) rad."""
    frames: Floats
    """(K, links, 4, 4) m, axes of the base."""
    states: Integers
    """(K, sensors) `SensorState`."""
    latencies: Floats
    """(K,) s from the arrival of the frame that completed a cycle to the shape; empty for a replay."""

    def save(self, path: Path) -> None:
        """Write an npz file."""
        names = ("times", "angles", "frames", "states", "latencies")
        np.savez_compressed(path, method=np.array(self.method), **{name: getattr(self, name) for name in names})

    @classmethod
    def read(cls, path: Path) -> SensedRun:
        """What `save` wrote."""
        with np.load(path) as file:
            return cls(**({name: file[name] for name in file.files} | {"method": str(file["method"])}))

    def same_shapes(self, other: SensedRun) -> bool:
        """Whether every number of every shape is the same, to the last bit."""
        names = ("times", "angles", "frames", "states")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    def __repr__(self) -> str:
        return f"SensedRun({len(self.times)} shapes by {self.method})"


class ShapeLog:
    """Shapes as they come, kept for a `SensedRun`."""

    def __init__(self, method: str) -> None:
        self._method = method
        self._rows: list[tuple[float, Floats, Floats, Integers]] = []
        self._latencies: list[float] = []

    def add(self, shape: SensedShape, latency: float | None = None) -> None:
        """Keep a shape; `latency` in s of a live one."""
        self._rows.append((shape.time, shape.angles, shape.frames_in_base, shape.states))
        if latency is not None:
            self._latencies.append(latency)

    def run(self) -> SensedRun:
        """All of them."""
        if not self._rows:
            raise InputError("frames", "gave no shape; no orientation with a SYNC before it was among them")
        times, angles, frames, states = (np.array(column) for column in zip(*self._rows, strict=True))
        return SensedRun(self._method, times, angles, frames, states, np.array(self._latencies))


def replay(robot: Robot, frames: Iterable[Frame], method: Method, **options: Any) -> tuple[SensedRun, Counters]:
    """The shapes that `method` finds in frames, in their order; `options` are those of `ShapeEstimator`."""
    network = SensorNetwork(ShapeEstimator(robot, method, **options))
    log = ShapeLog(method)
    for frame in frames:
        shape = network.receive(frame)
        if shape is not None:
            log.add(shape)
    return log.run(), network.counters
