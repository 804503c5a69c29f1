"""A virtual robot for as long as somebody looks: simulated sensors on a moving robot, SYNC by SYNC, and the truth."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.simulated.motion import Motion, chain_motion, world_frames
from vertebra.sensing.simulated.sensors import Measured, SensorErrors, SensorModel, Transport, payloads
from vertebra.sensing.wire.can import SYNC, Frame, sync_data

SYNC_RATE = 100.0
"""Hz."""
REPEAT = 60.0
"""s of sensor errors that are drawn; they begin again after that."""
MAGNET_SPEED = math.radians(90.0)
"""rad/s: how fast a magnet is brought near and taken away."""


class Mishap(NamedTuple):
    """What happens to one sensor of the virtual robot."""

    link: int
    silent: bool = False
    """It sends nothing."""
    heading: float = 0.0
    """rad by which a magnet turns its heading; its node does not notice."""


class VirtualNetwork:
    """The frames that a network of simulated sensors sends, one SYNC after the other, without end."""

    def __init__(
        self, robot: Robot, motion: Motion, model: SensorModel, base: Floats, *, seed: int = 0, repeat: float = REPEAT
    ) -> None:
        """`base` (3, 3): base axes to world axes. `repeat`: s after which the errors of the sensors begin again."""
        self.robot, self._motion, self._model, self._base = robot, motion, model, base
        self._links: list[int] = robot.sensor_links.tolist()
        self._rows = np.arange(len(self._links))
        self._twisting = Motion.twisting(len(robot.joints), model.twist, seed)
        self._errors = SensorErrors.draw(self._links, model, repeat + model.sync_delay, seed)
        self._transport = Transport(model, seed)
        self._pulled = np.zeros(len(self._links))
        self._count = 0

    def true_frames(self, time: float) -> Floats:
        """(n+1, 4, 4) of the links with the axes of the base at `time` s of the SYNC clock, m."""
        frames, _ = chain_motion(self.robot, self._motion, self._twisting, np.array([time]), len(self.robot.links))
        return np.asarray(frames[0])

    def cycle(self, mishap: Mishap | None = None) -> list[Frame]:
        """Frames that the next SYNC sets off and that arrive, in that order; times in s of the SYNC clock."""
        counter, self._count = self._count, self._count + 1
        time = counter / SYNC_RATE
        frames = self._sent([SYNC], [sync_data(counter, time)], time)
        latched = time + self._model.sync_delay
        heard = self._transport.heard(len(self._links))
        if mishap is not None and mishap.silent and mishap.link in self._links:
            heard[self._links.index(mishap.link)] = False
        measured, ages = self._measured(latched, mishap)
        for kind, data in payloads(self._model, measured, [counter] * len(self._links), ages):
            ids = [kind + link for link, answers in zip(self._links, heard, strict=True) if answers]
            frames += self._sent(ids, [one for one, answers in zip(data, heard, strict=True) if answers], latched)
        return sorted(frames, key=lambda frame: frame.time)

    def _measured(self, latched: float, mishap: Mishap | None) -> tuple[Measured, Floats]:
        """The newest sample of every sensor at `latched` s, and how old each is, s."""
        errors, rows = self._errors, self._rows
        numbers = np.floor((latched - errors.phases) / errors.periods).astype(np.int64) + 1
        taken = errors.phases + (numbers - 1) * errors.periods
        frames, rates = chain_motion(self.robot, self._motion, self._twisting, taken, len(self.robot.links))
        rotations = world_frames(self._base, frames)[rows, self._links, :3, :3]
        samples, constant = numbers % errors.gyro.shape[1], errors.constant
        turned = so3.about_z(self._pull(mishap)) @ errors.turned(rows, samples)
        turning = (rates[rows, self._links][:, None] @ constant.mounts)[:, 0]
        gyro = turning + constant.gyro_biases + errors.gyro[rows, samples]
        return Measured(turned @ rotations @ constant.mounts, gyro, errors.disturbed[rows, samples]), latched - taken

    def _pull(self, mishap: Mishap | None) -> Floats:
        """(sensors,) rad by which magnets turn headings now; they come and go smoothly."""
        wanted = np.zeros(len(self._links))
        if mishap is not None and mishap.link in self._links:
            wanted[self._links.index(mishap.link)] = mishap.heading
        step = MAGNET_SPEED / SYNC_RATE
        self._pulled += np.clip(wanted - self._pulled, -step, step)
        return self._pulled

    def _sent(self, ids: list[int], data: list[bytes], time: float) -> list[Frame]:
        arriving, arrivals = self._transport.arrivals(np.full(len(ids), time))
        return [Frame(ids[i], data[i], at) for i, at in zip(arriving.tolist(), arrivals.tolist(), strict=True)]
