"""Simulated sensors that somebody else's robot drives, step by step: true rotations in, CAN frames out."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.simulated.payloads import payloads
from vertebra.sensing.simulated.sensor_errors import Measured, SensorErrors
from vertebra.sensing.simulated.sensor_model import SensorModel
from vertebra.sensing.simulated.stream import ends_of
from vertebra.sensing.simulated.transport import Transport
from vertebra.sensing.simulated.truth import SensorTruth
from vertebra.sensing.wire.can import HEARTBEAT, SYNC, Frame, heartbeat_data, sync_data


class SimulatedSensors:
    """The sensors of a robot for at most `duration` s.

    Feed the truth whenever `due` has come, call `sync` with the beat of the master, and put the frames on a bus at
    their times. All times are in s of the master's clock, those of the frames too.
    """

    def __init__(
        self,
        robot: Robot,
        model: SensorModel,
        duration: float,
        seed: int = 0,
        *,
        silent: Mapping[int, float] | None = None,
    ) -> None:
        self.links: list[int] = robot.sensor_links.tolist()
        self.transport = Transport(model, seed)
        self._model = model
        self._errors = SensorErrors.draw(self.links, model, duration, seed)
        self._ends = ends_of(robot, silent)
        self._next = np.ones(len(self.links), np.int64)  # sample 0 is before the beginning
        self._held: list[tuple[float, Measured] | None] = [None] * len(self.links)
        self._next_heartbeat = model.heartbeat or math.inf
        self._count()

    @property
    def truth(self) -> SensorTruth:
        """The constant errors of the sensors."""
        return self._errors.constant

    @property
    def due(self) -> float:
        """s; when the next sensor wants to sample."""
        return float(self._due.min())

    def feed(self, time: float, rotations: Floats, rates: Floats) -> None:
        """Truth at `time`: rotations (m, 3, 3) to the world and rates (m, 3) in link axes of the links with sensors.

        Sensors that are due take their sample now, and know that it is of now.
        """
        for row in np.flatnonzero(self._due <= time):
            number = self._next[row : row + 1]
            sample = self._errors.measure(int(row), number, rotations[row : row + 1], rates[row : row + 1])
            self._held[row] = (time, sample)
            self._next[row] += 1
        self._count()

    def sync(self, counter: int, time: float) -> list[Frame]:
        """Frames that a SYNC at `time` sets off and that arrive, with their arrival times: itself, and the answers."""
        frames = self._sent(SYNC, sync_data(counter, time), time)
        latched = time + self._model.sync_delay
        beat = time >= self._next_heartbeat
        self._next_heartbeat += self._model.heartbeat if beat else 0.0
        for row, link in enumerate(self.links):
            held = self._held[row]
            if time >= self._ends.get(link, math.inf) or held is None:
                continue
            if beat:
                frames += self._sent(HEARTBEAT + link, heartbeat_data(time, 0, self._model.rate), time)
            if self.transport.heard(1)[0]:
                age = np.array([latched - held[0]])
                for kind, data in payloads(self._model, held[1], [counter], age):
                    frames += self._sent(kind + link, data[0], latched)
        return frames

    def _count(self) -> None:
        self._due = self._errors.phases + (self._next - 1) * self._errors.periods

    def _sent(self, can_id: int, data: bytes, time: float) -> list[Frame]:
        _, arrivals = self.transport.arrivals(np.array([time]))
        return [Frame(can_id, data, float(arrival)) for arrival in arrivals]
