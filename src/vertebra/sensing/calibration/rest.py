"""Poses at rest: the average reading of each sensor, and the normal equations that follow for the unknowns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.readings import Flags, Readings

EACH = 7
"""Changes of one sensor: mount about link x, y, z; heading; gyro bias x, y, z."""
HEADING = 3
BIAS = slice(4, 7)


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Constants of m sensors, and what is found along with them."""

    mounts: Floats
    """(m, 3, 3); a change turns link axes: exp(change) M."""
    headings: Floats
    """(m,) rad."""
    biases: Floats
    """(m, 3) rad/s."""
    fixture: Floats
    """(m, 3, 3) how the fixture holds each link against the first: a straight robot has identities."""
    bases: Floats
    """(poses, 3, 3) the first link in each pose at rest, to world axes; a change turns world axes."""

    @property
    def size(self) -> int:
        """Length of the vector of changes."""
        return 10 * len(self.mounts) - 3 + 3 * len(self.bases)

    def sensor(self, i: int) -> slice:
        """Position of the changes of sensor i."""
        return slice(EACH * i, EACH * (i + 1))

    def fixed(self, i: int) -> slice:
        """Position of the changes of fixture i; the first link has none."""
        start = EACH * len(self.mounts) + 3 * (i - 1)
        return slice(start, start + 3)

    def base(self, pose: int) -> slice:
        """Position of the changes of a pose's first link."""
        start = 10 * len(self.mounts) - 3 + 3 * pose
        return slice(start, start + 3)

    def changed(self, change: Floats) -> Unknowns:
        """The unknowns after a small change."""
        m = len(self.mounts)
        own = change[: EACH * m].reshape(m, EACH)
        fixture = np.concatenate([np.zeros((1, 3)), change[EACH * m : 10 * m - 3].reshape(m - 1, 3)])
        return Unknowns(
            so3.exp(own[:, :3]) @ self.mounts,
            self.headings + own[:, HEADING],
            self.biases + own[:, BIAS],
            so3.exp(fixture) @ self.fixture,
            so3.exp(change[10 * m - 3 :].reshape(-1, 3)) @ self.bases,
        )


@dataclass(frozen=True)
class Tolerances:
    """Standard deviations, rad, that no recording can show: of the fixture, and of errors that averaging leaves.

    Defaults are assumed for a careful bench, not measured.
    """

    fixture: float = math.radians(0.05)
    """How parallel the fixture holds the platforms, about each axis."""
    level: float = math.radians(0.1)
    """How level the base stands in the straight pose."""
    tilt: float = math.radians(0.02)
    """Part of a sensor's tilt error that stays for a whole pose."""
    heading: float = math.radians(0.5)
    """Part of a sensor's heading error that stays for a whole pose."""


# Averages, and how correlated the averaged samples are.

_FAR = 3.0
"""Headings beyond this many robust standard deviations from the median do not count."""
_LEAST_SPREAD = np.radians(0.05)
_NO_MEMORY = 0.05
"""A correlation below this counts as none."""
_ITERATIONS, _MOST_TAKEN = 4, 0.5


@dataclass(frozen=True, eq=False)
class StaticPose:
    """Average orientations of m sensors, with tilt and heading apart, and the readings of their gyroscopes at rest."""

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
    # At rest the whole rate is bias.
    readings = readings.without_bias(gyros)
    means = np.stack([so3.mean_rotation(readings.rotations[i][readings.seen[i]]) for i in range(m)])
    # Noise about the vertical does not change the tilt of this mean, so only its heading needs a robust second pass.
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
    """Ratio of the error of a mean to the scatter about it, which is itself too small by the error of the mean."""
    share = np.minimum(memory / np.maximum(seen.sum(axis=1), 1), 0.5)
    return np.asarray(np.sqrt(share / (1.0 - share)))


def _fallback(wanted: Flags, other: Flags) -> Flags:
    """`other` for sensors that have none `wanted`: one that is always disturbed still has a heading, if a poor one."""
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

    Otherwise its noise would look like motion of the base, and such motion like information on how the sensor is turned
    about the vertical.
    """
    pose = static_pose("motion", readings.only(0), Tolerances())
    rotations, gyros, ages = readings.rotations.copy(), readings.gyros.copy(), readings.ages.copy()
    rotations[0], gyros[0], ages[0] = pose.rotations[0], pose.gyros[0], 0.0
    return replace(readings, rotations=rotations, gyros=gyros, ages=ages)


def tilt_of(first: StaticPose, second: StaticPose) -> Floats:
    """(m,) angle between the verticals of two poses, as each sensor sees it, rad."""
    sines = np.linalg.norm(np.cross(first.ups, second.ups), axis=1)
    return np.asarray(np.arctan2(sines, (first.ups * second.ups).sum(axis=1)))


def correlation_length(series: Floats, seen: Flags) -> float:
    """Samples that count as one: 1 for white noise. Pools rows of (rows, K), each about its own mean.

    That mean removes part of a slow wander: a correlation found about it is too small by (1 - rho) length / count,
    which is added back, iterating on the length.
    """
    count = seen.sum(axis=1, keepdims=True)
    mean = np.where(seen, series, 0.0).sum(axis=1, keepdims=True) / np.maximum(count, 1)
    centred = np.where(seen, series - mean, 0.0)
    # Bursts must not pass for correlation.
    spread = 1.5 * np.median(np.abs(centred[seen])) if seen.any() else 0.0
    centred = np.clip(centred, -3 * spread, 3 * spread)
    most, length = float(count.mean()), 1.0
    for _ in range(_ITERATIONS):
        length = _summed(centred, seen, min(length / max(most, 1.0), _MOST_TAKEN))
    return length


def _summed(centred: Floats, seen: Flags, taken: float) -> float:
    """1 + 2 sum of correlations, corrected for the share `taken` of their distance from 1."""
    power = (centred**2).sum() / max(int(seen.sum()), 1)
    total, lag = 1.0, 1
    while power > 0.0 and lag < centred.shape[1] // 3:
        pairs = int((seen[:, lag:] & seen[:, :-lag]).sum())
        rho = (centred[:, lag:] * centred[:, :-lag]).sum() / max(pairs, 1) / power
        rho += taken * (1.0 - rho)
        if rho < _NO_MEMORY + taken:
            break
        # Long correlations are summed in growing strides.
        stride = max(1, lag // 8)
        total += 2 * stride * rho
        lag += stride
    return float(total)


# Normal equations.

_LOSES_WEIGHT = 2.4
"""Standard deviations; a heading that is off by more loses most of its weight (Cauchy)."""


def far_heading(off: Floats, spread: Floats | float) -> Floats:
    """Divisor for the weight of a heading that is off by `off` rad: 1 at zero."""
    return np.asarray(1.0 + (off / (_LOSES_WEIGHT * spread)) ** 2)


def static_equations(
    unknowns: Unknowns, poses: Sequence[StaticPose], up: Floats, tolerances: Tolerances
) -> tuple[Floats, Floats]:
    """Information and slope in all unknowns from the poses, the fixture and the level base.

    `up`: the vertical in base axes when the base is level (first pose).
    """
    size = unknowns.size
    information, slope = np.zeros((size, size)), np.zeros(size)

    def add(residuals: Floats, slopes: Floats, weights: Floats) -> None:
        nonlocal information, slope
        information += slopes.T @ (weights[:, None] * slopes)
        slope += slopes.T @ (weights * residuals)

    for number, pose in enumerate(poses):
        for i in range(len(unknowns.mounts)):
            add(*_orientation(unknowns, number, pose, i))
            slopes = np.zeros((3, size))
            slopes[:, unknowns.sensor(i)][:, BIAS] = -np.eye(3)
            trust = 1.0 / pose.gyro_sigmas[i] ** 2
            add(pose.gyros[i] - unknowns.biases[i], slopes, np.full(3, trust))
    for i in range(1, len(unknowns.mounts)):
        slopes = np.zeros((3, size))
        off = so3.log(unknowns.fixture[i])
        slopes[:, unknowns.fixed(i)] = so3.log_slope(off)
        add(off, slopes, np.full(3, 1.0 / tolerances.fixture**2))
    vertical = unknowns.bases[0] @ up
    slopes = np.zeros((2, size))
    slopes[:, unknowns.base(0)] = -so3.hat(vertical)[:2]
    add(vertical[:2], slopes, np.full(2, 1.0 / tolerances.level**2))
    return information, slope


def _orientation(unknowns: Unknowns, number: int, pose: StaticPose, i: int) -> tuple[Floats, Floats, Floats]:
    turn = so3.about_z(unknowns.headings[i])
    link = turn @ unknowns.bases[number] @ unknowns.fixture[i]
    off = so3.log(pose.rotations[i] @ (link @ unknowns.mounts[i]).T)
    slope = -so3.log_slope(off).T
    slopes = np.zeros((3, unknowns.size))
    own = slopes[:, unknowns.sensor(i)]
    own[:, :3], own[:, HEADING] = slope @ link, slope[:, 2]
    slopes[:, unknowns.base(number)] = slope @ turn
    if i:
        slopes[:, unknowns.fixed(i)] = slope @ turn @ unknowns.bases[number]
    tilt = 1.0 / pose.tilt_sigmas[i] ** 2
    spread = np.maximum(pose.heading_sigmas[i], pose.heading_noises[i])
    heading = 1.0 / pose.heading_sigmas[i] ** 2 / far_heading(off[2], spread)
    return off, slopes, np.array([tilt, tilt, heading])


def static_headings_off(unknowns: Unknowns, pose: StaticPose, number: int) -> Floats:
    """(m,) how far each heading is from what the fit says, rad."""
    said = so3.about_z(-unknowns.headings) @ pose.rotations @ np.swapaxes(unknowns.mounts, 1, 2)
    links = unknowns.bases[number] @ unknowns.fixture
    return np.asarray(so3.log(said @ np.swapaxes(links, 1, 2))[:, 2])
