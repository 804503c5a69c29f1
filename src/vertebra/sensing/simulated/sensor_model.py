"""What is wrong with the sensors of a simulated network: noise, disturbed headings, clocks, transport, mounting."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from vertebra.errors import InputError

_DEGREE = math.pi / 180


@dataclass(frozen=True)
class SensorModel:
    """A network of orientation sensors (AHRS), SI and rad. As it stands: white noise and nothing else.

    Noise of a Gauss-Markov process has the given standard deviation and loses its memory over the correlation time.
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
    """Share of the time during which one sensor of the network, a random one, is disturbed."""
    disturbance_duration: float = 1.0
    """s; mean duration of a burst (half of it to one and a half times)."""
    flagged: float = 0.0
    """Probability that the node tells of a burst in its status bits."""
    gyro_noise: float = 0.0
    """rad/s; standard deviation of each axis, white."""
    gyro_bias: float = 0.0
    """rad/s; standard deviation of the constant error of each axis."""
    latency: float = 0.0
    """s; mean time from a SYNC or an answer being sent to its arrival at the host."""
    jitter: float = 0.0
    """s; standard deviation of that time (exponential, at most `latency`)."""
    sync_delay: float = 0.0
    """s; from the master's stamp of a SYNC to the nodes' latch. The protocol cannot see it."""
    clock_drift: float = 0.0
    """Standard deviation of the relative error of a sensor's own clock."""
    drops: float = 0.0
    """Probability that a frame is lost: each answer, each SYNC on its way to the host, and to each node."""
    mount: float = 0.0
    """rad; standard deviation of the mounting error about each axis of a sensor."""
    twist: float = 0.0
    """rad; root mean square of what each joint twists: a torsionally soft robot, moving slowly."""
    gyro: bool = True
    """Send rates too."""
    quaternions: bool = False
    """Send quaternions in place of roll, pitch, yaw."""
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
        """No error but the resolution of the wire; every sensor keeps its own phase."""
        return cls(**({"tilt_noise": 0.0, "heading_noise": 0.0} | changes))

    @classmethod
    def datasheet(cls, **changes: Any) -> SensorModel:
        """A calibrated network of small AHRS modules in a building with iron in it; assumed numbers, none fitted.

        Tilt 0.06 deg behind a filter of 20 Hz (memory 8 ms). Heading 1.5 deg that wanders over 1 s, as it does when
        gyro and magnetometer are fused. Bursts of 5 to 20 deg for about a second on one sensor, 10 % of the time, half
        of them flagged. Gyro 0.1 deg/s noise and bias. Frames take 3 +- 1 ms, one in ten is lost.
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
