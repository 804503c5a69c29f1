"""All frames of a simulated sensor network over a run, without waiting for it."""

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
from vertebra.sensing.simulated.bases import base_rotation
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.payloads import payloads
from vertebra.sensing.simulated.sensor_errors import SensorErrors
from vertebra.sensing.simulated.sensor_model import SensorModel
from vertebra.sensing.simulated.transport import Transport
from vertebra.sensing.simulated.true_chain import chain_motion
from vertebra.sensing.simulated.truth import SensorTruth, Truth, world_frames
from vertebra.sensing.wire.can import HEARTBEAT, SYNC, Frame, heartbeat_data, sync_data

START = 1.7e9
"""s (Unix); arrival time of a simulated run's beginning. Far from the master's clock, so that nobody mixes the two."""


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """What a simulated network sent during a run, and what really happened."""

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
    ends = ends_of(robot, silent)
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


def ends_of(robot: Robot, silent: Mapping[int, float] | None) -> dict[int, float]:
    """When which sensor falls silent, checked."""
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
