"""The errors of every sample of every simulated sensor, drawn once for a whole run: the same seed, the same errors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.simulated.sensor_model import SensorModel
from vertebra.sensing.simulated.truth import SensorTruth

_RAMP = 0.2
"""Of a burst's duration: its rise, and its fall."""


class Measured(NamedTuple):
    """Samples of one sensor."""

    orientations: Floats
    """(K, 3, 3) sensor axes to world axes."""
    rates: Floats
    """(K, 3) rad/s, sensor axes."""
    disturbed: NDArray[np.bool_]
    """(K,) what the node knows of magnetic bursts."""


@dataclass(frozen=True, eq=False, repr=False)
class SensorErrors:
    """Row r is the r-th sensor. Sample k of a sensor is taken at phase + (k - 1) period of the master's clock."""

    constant: SensorTruth
    phases: Floats
    """(m,) s, below the period."""
    periods: Floats
    """(m,) s."""
    tilt: Floats
    """(m, K, 2) rad about the horizontal axes of the world."""
    heading: Floats
    """(m, K) rad about the vertical, bursts included."""
    disturbed: NDArray[np.bool_]
    """(m, K) flagged by the node."""
    gyro: Floats
    """(m, K, 3) rad/s."""

    @classmethod
    def draw(cls, links: Sequence[int], model: SensorModel, duration: float, seed: int) -> SensorErrors:
        """Errors for `duration` s of samples of the sensors on `links`."""
        rng = np.random.default_rng([seed, 3])
        m = len(links)
        periods = (1 + model.clock_drift * rng.standard_normal(m)) / model.rate
        count = math.ceil(duration / periods.min()) + 3
        phases = rng.uniform(0.0, periods)
        constant = SensorTruth(
            tuple(int(link) for link in links),
            so3.exp(model.mount * rng.standard_normal((m, 3))),
            model.heading_bias * rng.standard_normal(m),
            model.gyro_bias * rng.standard_normal((m, 3)),
        )
        step = 1 / model.rate
        tilt = model.tilt_noise * _wandering(rng, (m, 2, count), step, model.tilt_correlation).swapaxes(1, 2)
        heading = constant.headings[:, None] + model.heading_noise * _wandering(
            rng, (m, count), step, model.heading_correlation
        )
        gyro = model.gyro_noise * rng.standard_normal((m, count, 3))
        times = phases[:, None] + (np.arange(count) - 1) * periods[:, None]
        disturbed = np.zeros((m, count), np.bool_)
        for burst in _bursts(np.random.default_rng([seed, 4]), m, model, duration):
            _add(burst, times[burst.row], heading[burst.row], disturbed[burst.row])
        return cls(constant, phases, periods, tilt, heading, disturbed, gyro)

    def newest(self, row: int, times: Floats) -> NDArray[np.int64]:
        """(K,) number of the newest sample of a sensor at each time."""
        numbers: NDArray[np.int64] = np.floor((times - self.phases[row]) / self.periods[row]).astype(np.int64) + 1
        return numbers

    def times(self, row: int, numbers: NDArray[np.int64]) -> Floats:
        """(K,) s, when samples are taken."""
        taken: Floats = self.phases[row] + (numbers - 1) * self.periods[row]
        return taken

    def turned(self, rows: int | NDArray[np.int64], numbers: NDArray[np.int64]) -> Floats:
        """(K, 3, 3) rotation in the world of samples: tilt noise, then heading error."""
        tilt = np.zeros((len(numbers), 3))
        tilt[:, :2] = self.tilt[rows, numbers]
        turned: Floats = so3.about_z(self.heading[rows, numbers]) @ so3.exp(tilt)
        return turned

    def measure(self, row: int, numbers: NDArray[np.int64], rotations: Floats, rates: Floats) -> Measured:
        """What a sensor says of true rotations (K, 3, 3) and rates (K, 3, link axes) at its samples `numbers`."""
        mount = self.constant.mounts[row]
        orientations = self.turned(row, numbers) @ rotations @ mount
        turning = rates @ mount + self.constant.gyro_biases[row] + self.gyro[row, numbers]
        return Measured(orientations, turning, self.disturbed[row, numbers])

    def __repr__(self) -> str:
        return f"SensorErrors({self.gyro.shape[0]} sensors x {self.gyro.shape[1]} samples)"


class _Burst(NamedTuple):
    row: int
    start: float
    duration: float
    size: float
    flagged: bool


def _bursts(rng: np.random.Generator, m: int, model: SensorModel, duration: float) -> Iterator[_Burst]:
    """One after the other, each on a random sensor, with exponential pauses that leave the share asked for."""
    share, mean = model.disturbance_share, model.disturbance_duration
    if share == 0 or model.disturbance[1] == 0:
        return
    pause = mean * (1 - share) / share
    time = -mean * rng.random() if rng.random() < share else rng.exponential(pause)
    while time < duration:
        length = mean * rng.uniform(0.5, 1.5)
        size = rng.uniform(*model.disturbance) * rng.choice([-1.0, 1.0])
        yield _Burst(int(rng.integers(m)), time, length, size, bool(rng.random() < model.flagged))
        time += length + rng.exponential(pause)


def _add(burst: _Burst, times: Floats, heading: Floats, disturbed: NDArray[np.bool_]) -> None:
    inside = (times >= burst.start) & (times <= burst.start + burst.duration)
    edge = np.minimum(times - burst.start, burst.start + burst.duration - times)[inside]
    rise = np.minimum(edge / (_RAMP * burst.duration), 1.0)
    heading[inside] += burst.size * np.sin(np.pi / 2 * rise) ** 2
    disturbed[inside] |= burst.flagged


def _wandering(rng: np.random.Generator, shape: tuple[int, ...], step: float, memory: float) -> Floats:
    """Gauss-Markov noise of unit variance along the last axis; `memory` 0 is white."""
    white: Floats = rng.standard_normal(shape)
    if memory == 0:
        return white
    from scipy.signal import lfilter

    keep = math.exp(-step / memory)
    white[..., 1:] *= math.sqrt(1 - keep * keep)
    wandering: Floats = lfilter([1.0], [1.0, -keep], white, axis=-1)
    return wandering
