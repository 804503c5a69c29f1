"""Simulated sensors: their error model, the errors drawn for a run, and the transport of their frames."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import InputError
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.simulated.motion import SensorTruth
from vertebra.sensing.wire.can import ANGLES, DISTURBED, GYRO, QUATERNION, angles_data, gyro_data, quaternion_data

_DEGREE = math.pi / 180


@dataclass(frozen=True)
class SensorModel:
    """A network of orientation sensors (AHRS), SI and rad. By default: white noise and nothing else.

    Correlated noise is a Gauss-Markov process with the given standard deviation and correlation time.
    """

    rate: float = 100.0
    """Hz; samples of each sensor, on its own clock with its own phase."""
    tilt_noise: float = 0.06 * _DEGREE
    """rad; standard deviation about the world's x and y, each."""
    tilt_correlation: float = 0.0
    """s; 0 is white."""
    heading_noise: float = 1.5 * _DEGREE
    """rad; standard deviation about the vertical."""
    heading_correlation: float = 0.0
    """s; 0 is white."""
    heading_bias: float = 0.0
    """rad; standard deviation of the constant heading error of each sensor."""
    disturbance: tuple[float, float] = (0.0, 0.0)
    """rad; smallest and largest heading error of a magnetic burst, either sign. It rises and falls smoothly."""
    disturbance_share: float = 0.0
    """Share of the time during which one random sensor of the network is disturbed."""
    disturbance_duration: float = 1.0
    """s; mean duration of a burst, which lasts 0.5 to 1.5 times this."""
    flagged: float = 0.0
    """Probability that the node reports a burst in its status bits."""
    gyro_noise: float = 0.0
    """rad/s; standard deviation of each axis, white."""
    gyro_bias: float = 0.0
    """rad/s; standard deviation of the constant error of each axis."""
    latency: float = 0.0
    """s; mean time from a SYNC or an answer being sent to its arrival at the host."""
    jitter: float = 0.0
    """s; standard deviation of that time (exponential, at most `latency`)."""
    sync_delay: float = 0.0
    """s; from the master's time stamp of a SYNC to the nodes' latch. The protocol cannot measure it."""
    clock_drift: float = 0.0
    """Standard deviation of the relative error of a sensor's own clock."""
    drops: float = 0.0
    """Probability that a frame is lost: each answer, each SYNC on its way to the host, and to each node."""
    mount: float = 0.0
    """rad; standard deviation of the mounting error about each axis of a sensor."""
    twist: float = 0.0
    """rad; root mean square of the slow twist of each joint, for a torsionally soft robot."""
    gyro: bool = True
    """Send rates too."""
    quaternions: bool = False
    """Send quaternions instead of roll, pitch, yaw."""
    heartbeat: float = 1.0
    """s between heartbeats of a node; 0 for none."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            numbers = value if isinstance(value, tuple) else (value,)
            if not all(math.isfinite(number) and number >= 0 for number in numbers):
                raise InputError(item.name, f"must be finite and not negative, not {value!r}")
        for name in ("rate", "disturbance_duration"):
            if getattr(self, name) == 0:
                raise InputError(name, "must be above 0")
        for name in ("disturbance_share", "flagged", "drops"):
            if getattr(self, name) > 1:
                raise InputError(name, f"is a share or a probability, 0 to 1, not {getattr(self, name)!r}")
        if self.disturbance_share > 0.9:
            raise InputError("disturbance_share", "leaves too little time between bursts; at most 0.9")
        if len(self.disturbance) != 2 or self.disturbance[0] > self.disturbance[1]:
            raise InputError("disturbance", f"is the smallest and the largest burst, not {self.disturbance!r}")
        if self.jitter > self.latency:
            raise InputError("jitter", "must not exceed the latency: no frame arrives before it is sent")

    @classmethod
    def ideal(cls, **changes: Any) -> SensorModel:
        """No error but the resolution of the frames; every sensor still samples at its own phase."""
        return cls(**({"tilt_noise": 0.0, "heading_noise": 0.0} | changes))

    @classmethod
    def datasheet(cls, **changes: Any) -> SensorModel:
        """A calibrated network of small AHRS modules in a building with iron in it; assumed numbers, none fitted.

        Tilt 0.06 deg behind a 20 Hz filter (correlation time 8 ms). Heading 1.5 deg that wanders over 1 s, as it does
        when gyro and magnetometer are fused. Bursts of 5 to 20 deg for about a second on one sensor, 10 % of the time,
        half of them flagged. Gyro 0.1 deg/s noise and bias. Frames take 3 +- 1 ms, one in ten is lost.
        """
        return cls(
            **{
                "tilt_correlation": 8e-3,
                "heading_correlation": 1.0,
                "disturbance": (5 * _DEGREE, 20 * _DEGREE),
                "disturbance_share": 0.1,
                "flagged": 0.5,
                "gyro_noise": 0.1 * _DEGREE,
                "gyro_bias": 0.1 * _DEGREE,
                "latency": 3e-3,
                "jitter": 1e-3,
                "sync_delay": 0.13e-3,
                "clock_drift": 50e-6,
                "drops": 0.1,
                **changes,
            }
        )

    @classmethod
    def uncalibrated(cls, **changes: Any) -> SensorModel:
        """`datasheet` before calibration: mounts 1 deg, headings 3 deg, gyro bias 0.5 deg/s off."""
        given = {"mount": 1 * _DEGREE, "heading_bias": 3 * _DEGREE, "gyro_bias": 0.5 * _DEGREE}
        return cls.datasheet(**(given | changes))


_RAMP = 0.2
"""Rise and fall of a burst, each as a share of its duration."""


class Measured(NamedTuple):
    """Samples of one sensor."""

    orientations: Floats
    """(K, 3, 3) sensor axes to world axes."""
    rates: Floats
    """(K, 3) rad/s, sensor axes."""
    disturbed: NDArray[np.bool_]
    """(K,) whether the node reports a magnetic burst."""


@dataclass(frozen=True, eq=False, repr=False)
class SensorErrors:
    """Errors of every sample, drawn once for a whole run: the same seed, the same errors. Row r is the r-th sensor.

    Sample k of a sensor is taken at phase + (k - 1) period of the master's clock.
    """

    constant: SensorTruth
    phases: Floats
    """(m,) s, less than the period."""
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
        """What a sensor measures of true rotations (K, 3, 3) and rates (K, 3, link axes) at its samples `numbers`."""
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
    """One after the other, each on a random sensor, with exponential pauses that give the share asked for."""
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
    """Gauss-Markov noise of unit variance along the last axis; `memory`: correlation time, 0 for white noise."""
    white: Floats = rng.standard_normal(shape)
    if memory == 0:
        return white
    from scipy.signal import lfilter

    keep = math.exp(-step / memory)
    white[..., 1:] *= math.sqrt(1 - keep * keep)
    wandering: Floats = lfilter([1.0], [1.0, -keep], white, axis=-1)
    return wandering


Payloads = list[tuple[int, list[bytes]]]
"""Per kind of frame (ANGLES, ...), one payload per sample."""


def payloads(model: SensorModel, measured: Measured, counters: Sequence[int], ages: Floats) -> Payloads:
    """What a node sends for samples that answer the SYNCs `counters`, `ages` s old at them."""
    status = [DISTURBED if disturbed else 0 for disturbed in measured.disturbed.tolist()]
    tails = list(zip(counters, status, ages.tolist(), strict=True))
    kinds: Payloads = []
    if model.quaternions:
        values = np.column_stack(so3.quaternion(measured.orientations)).tolist()
        kinds.append((QUATERNION, [quaternion_data(q, *tail) for q, tail in zip(values, tails, strict=True)]))
    else:
        values = so3.roll_pitch_yaw(measured.orientations).tolist()
        kinds.append((ANGLES, [angles_data(angles, *tail) for angles, tail in zip(values, tails, strict=True)]))
    if model.gyro:
        values = measured.rates.tolist()
        kinds.append((GYRO, [gyro_data(rates, *tail) for rates, tail in zip(values, tails, strict=True)]))
    return kinds


class Transport:
    """Delays and losses of frames on their way to the host, drawn in sequence from a seed; counts what was lost."""

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
