"""The shape of a robot as its sensors give it: the result of every estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

Integers = NDArray[np.int64]


class SensorState(IntEnum):
    """State of a sensor; the worst that applies."""

    OK = 0
    DISTURBED = 1
    """Its heading contradicts the other sensors, or its node reports a magnetic disturbance."""
    OUTLIER = 2
    """Its last samples jump or contradict each other, or its tilt contradicts the other sensors."""
    STALE = 3
    """It has been heard, but not lately."""
    FAULT = 4
    """Its node reports that the sensor does not work."""
    SILENT = 5
    """It has never been heard."""


class SensorHealth(NamedTuple):
    """State of one sensor at the time of an estimate."""

    sensor: int
    """Number of its link."""
    state: str
    """"ok", "disturbed", "outlier", "stale", "fault" or "silent"."""
    age: float
    """s since its last accepted sample; infinite when silent."""
    samples: int
    """Accepted so far."""
    outliers: int
    """Refused so far."""
    heading_weight: float
    """1: its heading counts in full; towards 0: it contradicts the others."""
    tilt_weight: float
    reason: str = ""
    """Why it is not ok, in words; empty when it is, and in recordings of shapes, which keep the state alone."""


def sensor_health(
    links: Sequence[int], states: ArrayLike, ages: ArrayLike, samples: ArrayLike, outliers: ArrayLike, weights: Floats,
    *, reasons: Sequence[str] = (),
) -> tuple[SensorHealth, ...]:  # fmt: skip
    """One entry per sensor, from the arrays of a `SensedShape`."""
    columns = (np.asarray(column).tolist() for column in (states, ages, samples, outliers, weights))
    return tuple(
        SensorHealth(link, SensorState(int(state)).name.lower(), age, int(count), int(jumps), heading, tilt, why)
        for link, state, age, count, jumps, (tilt, heading), why in zip(
            links, *columns, reasons or [""] * len(links), strict=True
        )
    )


UNSETTLED = 0.15
"""Standard deviation of an angle, as a share of the joint's limit, from which the sensors do not determine it: less
than what two joints have that share a bend across a silent link."""


def unknown_angles(robot: Robot, angle_sigmas: Floats) -> list[int]:
    """Rows of the angles that the sensors do not determine, as before all of them were heard."""
    limits = np.repeat(robot.joints["limit"], robot.joints["freedoms"])
    two_sensors = math.sqrt(2.0) * float(robot.sensor_noise.max())
    return [int(row) for row in np.flatnonzero(~(angle_sigmas < np.maximum(UNSETTLED * limits, 3.0 * two_sensors)))]


class Evidence(NamedTuple):
    """What a shape was found from, as `vertebra.sensitivity` needs it."""

    said: Floats
    """What all sensors have said: the memory of (sensors,) rows of `vertebra.mechanics.layout.SENSOR`."""
    gyro: bool
    stale_after: float
    """s."""
    straight: Floats
    """(n,) prior information that a joint's angles are zero, 1/rad^2; of the method "chain"."""
    gate: float
    twist: float
    """Standard deviation of a joint's twist, rad."""
    base_known: bool
    own_noise: bool
    """Whether the noise is that of the robot file."""
    own_twist: bool
    """Whether the twist is."""


@dataclass(frozen=True, eq=False, repr=False)
class SensedShape:
    """A robot as its sensors see it, SI. World: that of the sensors, z up; the base stands at its origin."""

    robot: Robot
    method: str
    time: float
    """s, by the clock of the samples."""
    angles: Floats
    """(freedoms,) rad."""
    joint_twists: Floats
    """(n,) rad: twist of each joint about the axis of the link after it."""
    base: Floats
    """(3, 3) orientation of the base in the world."""
    frames: Floats
    """(n+1, 4, 4) frames of the links, m."""
    platforms: Floats
    """(n+1, 4, 4) the same at the far face of each link, where the next joint starts."""
    tip_frame: Floats
    """(4, 4) frame of the last link at the tip point."""
    covariance: Floats
    """(6, 6) of the tip: linear rows and columns first, world axes, m^2, m*rad, rad^2."""
    platform_covariances: Floats
    """(n+1, 6, 6) the same for every platform."""
    angle_sigmas: Floats
    """(freedoms,) standard deviations of the angles, rad."""
    heading_residuals: Floats
    """(sensors,) measured minus estimated heading, rad; 0 for a sensor that has not been heard."""
    tilt_residuals: Floats
    """(sensors,) angle between measured and estimated vertical, rad."""
    iterations: int
    converged: bool
    states: Integers
    """(sensors,) `SensorState`."""
    ages: Floats
    """(sensors,) s since the last accepted sample; infinite before the first."""
    samples: Integers
    """(sensors,) accepted so far."""
    outliers: Integers
    """(sensors,) refused so far."""
    weights: Floats
    """(sensors, 2) of tilt and heading in the fit, 0 to 1."""
    reasons: tuple[str, ...] = ()
    """(sensors,) why a sensor is not ok, in words."""
    evidence: Evidence | None = None
    """What it was found from."""

    @property
    def settled(self) -> bool:
        """Whether the sensors determine every angle; not so in the first shapes, until all sensors were heard."""
        return not unknown_angles(self.robot, self.angle_sigmas)

    @property
    def tip(self) -> Floats:
        """(3,) m."""
        return self.tip_frame[:3, 3].copy()

    @property
    def frames_in_base(self) -> Floats:
        """(n+1, 4, 4) frames of the links with the axes of the base: those of `vertebra.frames`."""
        return self._in_base(self.frames)

    @property
    def platforms_in_base(self) -> Floats:
        """(n+1, 4, 4)."""
        return self._in_base(self.platforms)

    @property
    def tip_frame_in_base(self) -> Floats:
        """(4, 4)."""
        return self._in_base(self.tip_frame)

    @property
    def tip_in_base(self) -> Floats:
        """(3,) m."""
        return self.tip_frame_in_base[:3, 3].copy()

    @property
    def health(self) -> tuple[SensorHealth, ...]:
        """One entry per sensor."""
        return sensor_health(
            self.robot.sensor_links.tolist(), self.states, self.ages, self.samples, self.outliers, self.weights,
            reasons=self.reasons,
        )  # fmt: skip

    def _in_base(self, frames: Floats) -> Floats:
        turned = frames.copy()
        turned[..., :3, :] = self.base.T @ frames[..., :3, :]
        return turned

    def __repr__(self) -> str:
        x, y, z = self.tip * 1e3
        sigma = float(np.sqrt(np.trace(self.covariance[:3, :3]))) * 1e3
        poor = [f"{health.sensor} {health.state}" for health in self.health if health.state != "ok"]
        rest = f"; sensors: {', '.join(poor)}" if poor else ""
        return (
            f"SensedShape of {self.robot.name!r} by {self.method} at {self.time:.3f} s: "
            f"tip ({x:.2f}, {y:.2f}, {z:.2f}) +- {sigma:.2f} mm{rest}"
        )
