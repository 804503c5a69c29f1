"""A pose at rest: each sensor's average on SO(3), with tilt and heading apart, and what its gyroscope says at rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.noise import Tolerances, correlation_length
from vertebra.sensing.calibration.readings import Flags, Readings

_FAR = 3.0
"""Headings beyond so many robust standard deviations from the median do not count."""
_LEAST_SPREAD = np.radians(0.05)


@dataclass(frozen=True, eq=False)
class StaticPose:
    """Averages of m sensors."""

    name: str
    rotations: Floats
    """(m, 3, 3) sensor axes to world axes."""
    tilt_sigmas: Floats
    """(m,) rad, of the average."""
    heading_sigmas: Floats
    """(m,) rad, of the average."""
    gyros: Floats
    """(m, 3) rad/s."""
    gyro_sigmas: Floats
    """(m,) rad/s, of the average; infinite without rates."""
    gyro_noises: Floats
    """(m,) rad/s, of a sample; infinite without rates."""
    tilt_noises: Floats
    """(m,) rad, of a sample."""
    heading_noises: Floats
    """(m,) rad, of a sample."""
    memory: tuple[float, float, float]
    """Samples that count as one: of tilt, heading, gyro."""

    @property
    def ups(self) -> Floats:
        """(m, 3) the vertical in sensor axes."""
        return self.rotations[:, 2, :]


def static_pose(name: str, readings: Readings, tolerances: Tolerances) -> StaticPose:
    """Average a recording at rest."""
    m, gyro_seen = len(readings.sensors), readings.gyro_seen
    gyros = np.stack([_means(readings.gyros[..., axis], gyro_seen) for axis in range(3)], axis=-1)
    # At rest all of a rate is bias.
    readings = readings.without_bias(gyros)
    means = np.stack([so3.mean_rotation(readings.rotations[i][readings.seen[i]]) for i in range(m)])
    # Noise about the vertical leaves the tilt of this mean alone, so only its heading needs a robust second look.
    off = so3.log(readings.rotations @ np.swapaxes(means, 1, 2)[:, None])
    tilts, headings = off[..., :2], off[..., 2]
    kept = _near_median(headings, _fallback(readings.heading_seen, readings.seen))
    seen = readings.seen
    both = np.concatenate([seen, seen])
    memory = (
        correlation_length(np.concatenate([tilts[..., 0], tilts[..., 1]]), both),
        correlation_length(headings, kept),
        correlation_length(np.concatenate(np.moveaxis(readings.gyros, -1, 0)), np.concatenate([gyro_seen] * 3)),
    )
    turn = _means(headings, kept)
    tilt_noises = np.sqrt(_means((tilts**2).mean(axis=-1), seen))
    heading_noises = np.sqrt(_means((headings - turn[:, None]) ** 2, kept))
    scatter = ((readings.gyros - gyros[:, None]) ** 2).mean(axis=-1)
    gyro_noises = np.where(gyro_seen.any(axis=1), np.sqrt(_means(scatter, gyro_seen)), np.inf)
    return StaticPose(
        name,
        so3.about_z(turn) @ means,
        np.hypot(tilt_noises * _shrink(memory[0], seen), tolerances.tilt),
        np.hypot(heading_noises * _shrink(memory[1], kept), tolerances.heading),
        gyros,
        gyro_noises * _shrink(memory[2], gyro_seen),
        gyro_noises,
        tilt_noises,
        heading_noises,
        memory,
    )


def _means(values: Floats, seen: Flags) -> Floats:
    return np.asarray(np.where(seen, values, 0.0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1))


def _shrink(memory: float, seen: Flags) -> Floats:
    """How much smaller the error of a mean is than the scatter about it, which itself lacks what the mean took."""
    share = np.minimum(memory / np.maximum(seen.sum(axis=1), 1), 0.5)
    return np.asarray(np.sqrt(share / (1.0 - share)))


def _fallback(wanted: Flags, other: Flags) -> Flags:
    """A sensor that is disturbed all the time still has a heading, if a poor one."""
    return np.where(wanted.any(axis=1, keepdims=True), wanted, other)


def _near_median(headings: Floats, seen: Flags) -> Flags:
    kept = seen.copy()
    for row, (values, good) in enumerate(zip(headings, seen, strict=True)):
        middle = np.median(values[good])
        spread = 1.4826 * np.median(np.abs(values[good] - middle))
        kept[row] &= np.abs(values - middle) <= _FAR * max(float(spread), _LEAST_SPREAD)
    return kept


def first_at_rest(readings: Readings) -> Readings:
    """With the average in place of each reading of the first sensor, whose link does not move.

    Its noise would pass for a motion of the base otherwise, and such a motion for knowledge of how the sensor is turned
    about the vertical.
    """
    pose = static_pose("motion", readings.only(0), Tolerances())
    rotations, gyros, ages = readings.rotations.copy(), readings.gyros.copy(), readings.ages.copy()
    rotations[0], gyros[0], ages[0] = pose.rotations[0], pose.gyros[0], 0.0
    return replace(readings, rotations=rotations, gyros=gyros, ages=ages)
