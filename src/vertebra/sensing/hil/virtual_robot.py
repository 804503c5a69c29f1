"""The virtual robot, a process of its own: physics and sensors in real time, CAN frames on a bus, the truth in a file.

``python -m vertebra.sensing.hil.virtual_robot setup.json truth.npz``
"""

from __future__ import annotations

import gc
import heapq
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing.hil.pacing import Pacer
from vertebra.sensing.hil.physics import VirtualBody
from vertebra.sensing.hil.setup import HilSetup
from vertebra.sensing.hil.truth_file import Account, save
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SimulatedSensors
from vertebra.sensing.simulated.true_chain import twisted
from vertebra.sensing.simulated.truth import Truth, world_frames
from vertebra.sensing.wire.bus import open_bus, send
from vertebra.sensing.wire.can import Frame

if TYPE_CHECKING:
    from can import BusABC

TICK = 1e-3
"""s; samples are taken, and frames put onto the bus, at whole ticks."""


class VirtualRobot:
    """Body, sensors and truth, moved tick by tick; `tick` gives the frames that are due on the bus."""

    def __init__(self, setup: HilSetup) -> None:
        self._setup = setup
        self._base = np.asarray(setup.base)
        self._body = VirtualBody(setup.robot, setup.motion, self._base)
        self._twisting = Motion.twisting(len(setup.robot.joints), setup.model.twist, setup.seed)
        self.sensors = SimulatedSensors(
            setup.robot, setup.model, setup.duration + TICK, setup.seed, silent=setup.silent
        )
        self._waiting: list[tuple[float, int, Frame]] = []
        self._queued = self._syncs = 0
        self._past: list[tuple[float, Floats, Floats, Floats]] = []

    def tick(self, number: int) -> list[Frame]:
        """Move to `number` ticks and return the frames that the bus carries by then."""
        now = number * TICK
        self._body.advance(now)
        sync = now >= self._syncs / self._setup.sync_rate
        if sync or now >= self.sensors.due:
            frames, rates = self._look(now)
            if now >= self.sensors.due:
                self.sensors.feed(now, frames[self.sensors.links, :3, :3], rates[self.sensors.links])
            if sync:
                self._past.append((now, self._body.angles(), self._twisting.angles(now), frames))
                self._queue(self.sensors.sync(self._syncs, now))
                self._syncs += 1
        return self._due(now)

    def truth(self) -> Truth:
        """What happened so far."""
        times, angles, twists, frames = (np.array(column) for column in zip(*self._past, strict=True))
        return Truth(self._setup.robot, times, angles, twists, frames, self._base)

    def _look(self, now: float) -> tuple[Floats, Floats]:
        """Frames in the world and rates in link axes of all links, twist included."""
        frames, rates = self._body.look()
        twists, twist_rates = self._twisting.angles(now)[None], self._twisting.rates(now)[None]
        soft, soft_rates = twisted(frames[None], rates[None], twists, twist_rates)
        return world_frames(self._base, soft[0]), soft_rates[0]

    def _queue(self, frames: list[Frame]) -> None:
        for frame in frames:
            heapq.heappush(self._waiting, (frame.time, self._queued, frame))
            self._queued += 1

    def _due(self, now: float) -> list[Frame]:
        due = []
        while self._waiting and self._waiting[0][0] <= now:
            due.append(heapq.heappop(self._waiting)[2])
        return due

    def rest(self) -> list[Frame]:
        """Frames that are still on their way."""
        return self._due(np.inf)


def run(setup: HilSetup, bus: BusABC, truth_file: Path) -> None:
    """Move for the whole duration in real time, then write the truth."""
    robot = VirtualRobot(setup)
    gc.collect()
    gc.freeze()
    pacer = Pacer(TICK, time.monotonic() + 2 * TICK)
    ticks = round(setup.duration / TICK) + 1
    for tick in pacer.ticks(ticks):
        for frame in robot.tick(tick):
            send(bus, frame)
    for frame in robot.rest():
        send(bus, frame)
    transport = robot.sensors.transport
    counts = transport.sent, transport.dropped, transport.unheard
    save(truth_file, robot.truth(), robot.sensors.truth, Account(*counts, ticks, pacer.overruns, pacer.worst))


def main(setup_file: str, truth_file: str) -> None:
    """The process."""
    setup = HilSetup.from_text(Path(setup_file).read_text("utf-8"))
    with open_bus(setup.url) as bus:
        run(setup, bus, Path(truth_file))


if __name__ == "__main__":
    main(*sys.argv[1:])
