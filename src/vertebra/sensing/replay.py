"""A recording through the same network as the live bus: the same frames give the same shapes, bit for bit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from vertebra.errors import InputError
from vertebra.sensing.live import Update
from vertebra.sensing.network import SensorNetwork
from vertebra.sensing.recording.raw_log import LogReader

if TYPE_CHECKING:
    from vertebra.sensing.estimator import ShapeEstimator
    from vertebra.sensing.sensed_shape import SensedShape


class Replay:
    """Final shapes of a recording; iterate once.

    `speed`: 1 for as fast as it was recorded, 2 for twice as fast; None for as fast as possible. `estimator` should be
    new: what it has seen before changes what it says.
    """

    def __init__(
        self,
        path: str | Path,
        estimator: ShapeEstimator,
        speed: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if speed is not None and not (math.isfinite(speed) and speed > 0):
            raise InputError("speed", f"must be a positive number, or None for as fast as possible, not {speed!r}")
        self.reader = LogReader(path)
        """Says after the last shape whether the recording was cut off."""
        self.network = SensorNetwork(estimator)
        self._speed, self._clock, self._sleep = speed, clock, sleep

    def __iter__(self) -> Iterator[Update]:
        began, first = self._clock(), None
        for frame in self.reader:
            if self._speed is not None:
                first = frame.time if first is None else first
                ahead = (frame.time - first) / self._speed - (self._clock() - began)
                if ahead > 0:
                    self._sleep(ahead)
            shape = self.network.receive(frame)
            if shape is not None:
                yield Update(shape, frame.time, True)


def replay(path: str | Path, estimator: ShapeEstimator, speed: float | None = None) -> Iterator[SensedShape]:
    """Shapes of a recording (.blf, .log or .csv), one a cycle; see `Replay`.

    Raises RecordingError at a damaged place, after the shapes before it.
    """
    return (update.shape for update in Replay(path, estimator, speed))
