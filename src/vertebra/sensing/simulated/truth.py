"""What really happened, for comparing with what was sensed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing import so3


@dataclass(frozen=True, eq=False, repr=False)
class SensorTruth:
    """The constant errors of simulated sensors: R_meas = Rz(heading) R M, gyro_meas = M^T omega + bias."""

    sensors: tuple[int, ...]
    """(m,) links that carry a sensor."""
    mounts: Floats
    """(m, 3, 3) M: sensor axes to link axes."""
    headings: Floats
    """(m,) rad."""
    gyro_biases: Floats
    """(m, 3) rad/s, sensor axes."""

    def __repr__(self) -> str:
        return f"SensorTruth(sensors {', '.join(map(str, self.sensors))})"


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """The true motion of a simulated robot, at the times of all SYNCs of the master."""

    robot: Robot
    times: Floats
    """(N,) s of the master's clock."""
    angles: Floats
    """(N, freedoms) rad."""
    twists: Floats
    """(N, joints) rad; what each joint twisted."""
    frames: Floats
    """(N, links, 4, 4) frames of the links in the world, m, with the twist; the world's z is up."""
    base: Floats
    """(3, 3) base axes to world axes."""

    @property
    def frames_in_base(self) -> Floats:
        """(N, links, 4, 4) m."""
        return _turned(self.base.T, self.frames)

    def frames_at(self, times: ArrayLike) -> Floats:
        """(K, links, 4, 4) in the world at any times within the run, turned evenly between two SYNCs."""
        wanted = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if wanted.size and not (self.times[0] <= wanted.min() and wanted.max() <= self.times[-1]):
            raise InputError("times", f"must lie within {self.times[0]:g} to {self.times[-1]:g} s")
        row = np.minimum(np.searchsorted(self.times, wanted, side="right") - 1, len(self.times) - 2)
        share = ((wanted - self.times[row]) / (self.times[row + 1] - self.times[row]))[:, None, None]
        before, after = self.frames[row], self.frames[row + 1]
        result: Floats = before + share[..., None] * (after - before)
        turned = so3.log(np.swapaxes(before[..., :3, :3], -1, -2) @ after[..., :3, :3])
        result[..., :3, :3] = before[..., :3, :3] @ so3.exp(share * turned)
        return result

    def shape_at(self, time: float) -> Floats:
        """(links, 4, 4) frames of the links in the world at one time."""
        shape: Floats = self.frames_at(time)[0]
        return shape

    def __repr__(self) -> str:
        span = f"{self.times[0]:g} to {self.times[-1]:g} s" if len(self.times) else "empty"
        return f"Truth({self.robot.name!r}, {len(self.times)} times, {span})"


def world_frames(base: Floats, frames: Floats) -> Floats:
    """Frames of the base turned into the world."""
    return _turned(base, frames)


def _turned(rotation: Floats, frames: Floats) -> Floats:
    result = frames.copy()
    result[..., :3, :] = rotation @ frames[..., :3, :]
    return result
