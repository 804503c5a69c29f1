"""One sensed shape as the page shows it, with the axes of the base; many of them as arrays; and how far off it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.hil.score import Score
from vertebra.sensing.sensed_shape import Integers, SensedShape

NOT_KNOWN = -1
"""Answers lost, where a recording does not say."""


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """SI, axes of the base."""

    time: float
    """s of the SYNC clock."""
    frames: Floats
    """(n+1, 4, 4) of the links, m."""
    base: Floats
    """(3, 3) base axes to world axes, whose z is up."""
    tip: Floats
    """(3,) m."""
    covariance: Floats
    """(3, 3) of the tip's place, m^2; not finite where no sensor tells."""
    angles: Floats
    """(freedoms,) rad."""
    angle_sigmas: Floats
    """(freedoms,) rad; not finite where no sensor tells."""
    headings: Floats
    """(sensors,) measured less estimated heading, rad."""
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
    lost: Integers
    """(sensors,) answers missing between two that came; NOT_KNOWN in a recording of shapes."""

    @property
    def sigmas(self) -> Floats:
        """(3,) m; standard deviations of the tip along x, y, z."""
        return np.asarray(np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0)))

    @property
    def gravity(self) -> Floats:
        """(3,) m/s^2 as the sensed base stands."""
        return np.asarray(self.base.T @ [0.0, 0.0, -9.80665])

    def __repr__(self) -> str:
        return f"Look(t = {self.time:.3f} s, tip {np.round(1e3 * self.tip, 2)} mm)"


def snapshot_of(shape: SensedShape, lost: Integers) -> Snapshot:
    """What the page shows of a shape."""
    turn = shape.base.T
    return Snapshot(
        time=shape.time, frames=shape.frames_in_base, base=shape.base, tip=shape.tip_in_base,
        covariance=turn @ shape.covariance[:3, :3] @ turn.T, angles=shape.angles, angle_sigmas=shape.angle_sigmas,
        headings=shape.heading_residuals, states=shape.states, ages=shape.ages, samples=shape.samples,
        outliers=shape.outliers, weights=shape.weights, lost=lost.copy(),
    )  # fmt: skip


class Snapshots:
    """Looks one after the other, as arrays: small to send between processes."""

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self._columns = {
            item.name: np.array([getattr(snapshot, item.name) for snapshot in snapshots]) for item in fields(Snapshot)
        }

    def __len__(self) -> int:
        return len(self._columns["time"])

    def __getitem__(self, row: int) -> Snapshot:
        columns = {name: column[row] for name, column in self._columns.items()}
        return Snapshot(**columns | {"time": float(columns["time"])})

    @property
    def times(self) -> Floats:
        """(K,) s since the first, never falling, also where the master of the bus was started anew."""
        times = self._columns["time"]
        return np.asarray(np.maximum.accumulate(times) - times[0])

    @property
    def tips(self) -> Floats:
        """(K, 3) m."""
        return self._columns["tip"]

    def rates(self, row: int, window: float) -> Floats:
        """(sensors,) samples a second over the last `window` s."""
        times, samples = self.times, self._columns["samples"]
        first = int(np.searchsorted(times, times[row] - window))
        span = float(times[row] - times[first])
        return np.asarray((samples[row] - samples[first]) / span if span > 0 else np.zeros(samples.shape[1]))


def measured_turns(robot: Robot, snapshot: Snapshot) -> Floats:
    """(sensors, 4, 4) frames of the links with sensors, turned about the vertical as their headings say, m.

    Tilts are as estimated: they are off by far less than anybody could see.
    """
    frames = snapshot.frames[robot.sensor_links].copy()
    about_up = snapshot.base.T @ so3.about_z(snapshot.headings) @ snapshot.base
    frames[:, :3, :3] = about_up @ frames[:, :3, :3]
    return frames


def errors_of(robot: Robot, snapshot: Snapshot, true_frames: Floats) -> tuple[float, float]:
    """Distance of the tip, m, and angle of the last link, rad, from the truth (n+1, 4, 4) in the base."""
    one = np.zeros((1, robot.freedoms))
    found = Score(robot, "", np.array([snapshot.time]), one, one, true_frames[None], snapshot.frames[None])
    return float(found.tip_errors[0]), float(found.platform_turns[0, -1])
