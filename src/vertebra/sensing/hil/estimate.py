"""The estimator as a process of its own: reads CAN frames from a bus, writes them and the shapes they give to files.

``python -m vertebra.sensing.hil.estimate setup.json sensed.npz frames.blf``; it prints "ready" once it listens.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.errors import InputError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.estimator import Method, ShapeEstimator
from vertebra.sensing.hil.virtual_robot import HilSetup
from vertebra.sensing.network import Counters, SensorNetwork
from vertebra.sensing.recording.raw_log import RawLogWriter
from vertebra.sensing.sensed_shape import Integers, SensedShape
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames
from vertebra.sensing.wire.bus import open_bus, receive
from vertebra.sensing.wire.can import Frame

if TYPE_CHECKING:
    from can import BusABC

READY = "ready"
QUIET = 1.0
"""s without a frame after which the run is over."""
PATIENCE = 30.0
"""s to wait for the first frame."""


def main(setup_file: str, sensed_file: str, frames_file: str) -> None:
    """The process."""
    setup = HilSetup.from_text(Path(setup_file).read_text("utf-8"))
    estimate = Estimate(setup)
    signal.signal(signal.SIGTERM, estimate.stop)
    warm_up(setup)
    gc.collect()
    gc.freeze()
    with open_bus(setup.url) as bus:
        print(READY, flush=True)
        estimate.listen(bus)
    with RawLogWriter(frames_file) as log:
        for frame in estimate.frames:
            log.write(frame)
    if estimate.frames:
        estimate.rows.run().save(Path(sensed_file))


class Estimate:
    """Listens until the bus falls quiet, or until it is told to stop."""

    def __init__(self, setup: HilSetup) -> None:
        self._network = SensorNetwork(ShapeEstimator(setup.robot, setup.method))
        self.rows = SensedRows(setup.method)
        self.frames: list[Frame] = []
        self._stopped = False

    def stop(self, *_: object) -> None:
        """End the run within a tenth of a second."""
        self._stopped = True

    def listen(self, bus: BusABC) -> None:
        """Keep every frame, and every shape with its latency since the arrival of its last frame."""
        heard = time.monotonic() + PATIENCE - QUIET
        while not self._stopped and time.monotonic() - heard < QUIET:
            frame = receive(bus, 0.1)
            if frame is None:
                continue
            heard = time.monotonic()
            self.frames.append(frame)
            shape = self._network.receive(frame)
            if shape is not None:
                self.rows.add(shape, time.time() - frame.time)


def warm_up(setup: HilSetup) -> None:
    """Compile or load all kernels before the first real frame."""
    still = simulated_frames(setup.robot, Motion.straight(setup.robot), SensorModel.ideal(), 0.05)
    sense_frames(setup.robot, still.frames, setup.method)


@dataclass(frozen=True, eq=False, repr=False)
class SensedRun:
    """K shapes in the order of estimation; SI, frames with the axes of the base."""

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
        """Whether all shapes are the same, bit for bit."""
        names = ("times", "angles", "frames", "states")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    def __repr__(self) -> str:
        return f"SensedRun({len(self.times)} shapes by {self.method})"


class SensedRows:
    """Collects the shapes of a `SensedRun` as they come."""

    def __init__(self, method: str) -> None:
        self._method = method
        self._rows: list[tuple[float, Floats, Floats, Integers]] = []
        self._latencies: list[float] = []

    def add(self, shape: SensedShape, latency: float | None = None) -> None:
        """Add a shape; `latency` in s for a live one."""
        self._rows.append((shape.time, shape.angles, shape.frames_in_base, shape.states))
        if latency is not None:
            self._latencies.append(latency)

    def run(self) -> SensedRun:
        """All shapes added so far."""
        if not self._rows:
            raise InputError("frames", "gave no shape; no orientation with a SYNC before it was among them")
        times, angles, frames, states = (np.array(column) for column in zip(*self._rows, strict=True))
        return SensedRun(self._method, times, angles, frames, states, np.array(self._latencies))


def sense_frames(robot: Robot, frames: Iterable[Frame], method: Method, **options: Any) -> tuple[SensedRun, Counters]:
    """The shapes that `method` finds in frames, taken in order; `options` are those of `ShapeEstimator`."""
    network = SensorNetwork(ShapeEstimator(robot, method, **options))
    rows = SensedRows(method)
    for frame in frames:
        shape = network.receive(frame)
        if shape is not None:
            rows.add(shape)
    return rows.run(), network.counters


if __name__ == "__main__":
    main(*sys.argv[1:])
