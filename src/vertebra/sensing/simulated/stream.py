"""Frames of a simulated sensor network: a whole run, or step by step for a robot simulated elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.robot.arguments import positive
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.simulated.motion import Motion, SensorTruth, Truth, base_rotation, chain_motion, world_frames
from vertebra.sensing.simulated.sensors import Measured, SensorErrors, SensorModel, Transport, payloads
from vertebra.sensing.wire.can import HEARTBEAT, SYNC, Frame, heartbeat_data, sync_data

START = 1.7e9
"""s (Unix); arrival time at the start of a simulated run. Far from the master's clock, so that mix-ups show."""


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """What a simulated network sent during a run, and the truth."""

    frames: list[Frame]
    """In order of arrival, SYNCs included."""
    truth: Truth
    sensors: SensorTruth
    sent: int
    """Frames put on the bus, lost ones included."""
    dropped: int
    """Frames lost on the way to the host."""
    unheard: int
    """SYNCs that nodes did not hear; they sent no answer."""

    def __repr__(self) -> str:
        return f"Simulation({len(self.frames)} frames of {self.sent} arrive, {self.truth!r})"


def simulated_frames(
    robot: Robot,
    motion: Motion,
    model: SensorModel,
    duration: float,
    seed: int = 0,
    *,
    base: ArrayLike | None = None,
    sync_rate: float = 100.0,
    silent: Mapping[int, float] | None = None,
) -> Simulation:
    """Every CAN frame of `duration` s in the order of arrival, with the truth. The same seed gives the same bits.

    `base` (3, 3): base axes to world axes (z up); default: as the robot's gravity says. `sync_rate` in Hz.
    `silent`: {sensor: time in s} of sensors that fail and send nothing from then on.
    """
    at = base_rotation(robot, base)
    times = np.arange(math.floor(positive("duration", duration) * positive("sync_rate", sync_rate)) + 1) / sync_rate
    twisting = Motion.twisting(len(robot.joints), model.twist, seed)
    errors = SensorErrors.draw(robot.sensor_links.tolist(), model, duration + model.sync_delay, seed)
    transport = Transport(model, seed)
    syncs = [sync_data(counter, time) for counter, time in enumerate(times.tolist())]
    frames = _sent(transport, SYNC, syncs, times)
    ends = _ends(robot, silent)
    for row, link in enumerate(robot.sensor_links.tolist()):
        latched = times[times < ends.get(link, math.inf)] + model.sync_delay
        frames += _heartbeats(transport, model, link, latched)
        counters = np.flatnonzero(transport.heard(len(latched)))
        numbers = errors.newest(row, latched[counters])
        taken = errors.times(row, numbers)
        links, rates = chain_motion(robot, motion, twisting, taken, link + 1)
        measured = errors.measure(row, numbers, at @ links[:, -1, :3, :3], rates[:, -1])
        for kind, data in payloads(model, measured, counters.tolist(), latched[counters] - taken):
            frames += _sent(transport, kind + link, data, latched[counters])
    frames.sort(key=attrgetter("time"))
    truth = _truth(robot, motion, twisting, times, at)
    return Simulation(frames, truth, errors.constant, transport.sent, transport.dropped, transport.unheard)


def _ends(robot: Robot, silent: Mapping[int, float] | None) -> dict[int, float]:
    """{sensor: time in s at which it falls silent}, checked."""
    ends = dict(silent or {})
    for sensor in ends:
        if sensor not in robot.sensor_links:
            known = ", ".join(map(str, robot.sensor_links))
            raise InputError("silent", f"{robot.name} has no sensor {sensor}; its sensors are on links {known}")
    return ends


def _sent(transport: Transport, can_id: int, data: list[bytes], times: Floats) -> list[Frame]:
    arriving, arrivals = transport.arrivals(times)
    return [Frame(can_id, data[i], START + t) for i, t in zip(arriving.tolist(), arrivals.tolist(), strict=True)]


def _heartbeats(transport: Transport, model: SensorModel, link: int, latched: Floats) -> list[Frame]:
    if model.heartbeat == 0 or not len(latched):
        return []
    times = np.arange(model.heartbeat, latched[-1], model.heartbeat)
    data = [heartbeat_data(time, 0, model.rate) for time in times.tolist()]
    return _sent(transport, HEARTBEAT + link, data, times)


def _truth(robot: Robot, motion: Motion, twisting: Motion, times: Floats, base: Floats) -> Truth:
    frames, _ = chain_motion(robot, motion, twisting, times, len(robot.links))
    return Truth(robot, times, motion.angles(times), twisting.angles(times), world_frames(base, frames), base)


class SimulatedSensors:
    """The sensors of a robot simulated elsewhere, for at most `duration` s: rotations in, CAN frames out.

    Feed the truth whenever `due` is reached, call `sync` when the master sends one, and put the frames on a bus at
    their times. All times, also those of the frames, are in s of the master's clock.
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
        self._ends = _ends(robot, silent)
        self._next = np.ones(len(self.links), np.int64)  # sample 0 is before the start
        self._held: list[tuple[float, Measured] | None] = [None] * len(self.links)
        self._next_heartbeat = model.heartbeat or math.inf
        self._count()

    @property
    def truth(self) -> SensorTruth:
        """The constant errors of the sensors."""
        return self._errors.constant

    @property
    def due(self) -> float:
        """s; when the next sensor samples."""
        return float(self._due.min())

    def feed(self, time: float, rotations: Floats, rates: Floats) -> None:
        """Truth at `time`: rotations (m, 3, 3) to the world and rates (m, 3) in link axes of the links with sensors.

        Sensors that are due take their sample now, stamped with `time`.
        """
        for row in np.flatnonzero(self._due <= time):
            number = self._next[row : row + 1]
            sample = self._errors.measure(int(row), number, rotations[row : row + 1], rates[row : row + 1])
            self._held[row] = (time, sample)
            self._next[row] += 1
        self._count()

    def sync(self, counter: int, time: float) -> list[Frame]:
        """Frames that arrive after a SYNC at `time`: the SYNC and the answers, with their arrival times."""
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
