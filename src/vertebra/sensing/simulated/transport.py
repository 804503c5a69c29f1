"""The way of simulated frames to the host: how long it takes, and which are lost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.tables import Floats
from vertebra.sensing.simulated.sensor_model import SensorModel


class Transport:
    """Delays and losses, drawn one after the other from a seed; counts what was lost."""

    def __init__(self, model: SensorModel, seed: int) -> None:
        self._model = model
        self._rng = np.random.default_rng([seed, 5])
        self.sent = 0
        """Frames put on the bus, lost ones included."""
        self.dropped = 0
        """Frames that never arrived at the host."""
        self.unheard = 0
        """SYNCs that a node did not hear, so that it sent no answer."""

    def heard(self, count: int) -> NDArray[np.bool_]:
        """(count,) whether a node hears each of `count` SYNCs."""
        heard = self._arrives(count)
        self.unheard += int(count - heard.sum())
        return heard

    def arrivals(self, times: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Which of the frames sent at `times` arrive, and when, s."""
        arriving = np.flatnonzero(self._arrives(len(times)))
        self.sent += len(times)
        self.dropped += len(times) - len(arriving)
        fastest = self._model.latency - self._model.jitter
        delays = fastest + self._model.jitter * self._rng.standard_exponential(len(arriving))
        return arriving, times[arriving] + delays

    def _arrives(self, count: int) -> NDArray[np.bool_]:
        arrives: NDArray[np.bool_] = self._rng.random(count) >= self._model.drops
        return arrives
