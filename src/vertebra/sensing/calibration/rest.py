"""Poses at rest: what each sensor says on average, whether the robot was still, and its normal equations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vertebra.errors import PoseProblem
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.readings import Flags, Readings
from vertebra.sensing.calibration.unknowns import HEADING, Tolerances, Unknowns, correlation_length, far_heading

_FAR = 3.0
"""Headings beyond so many robust standard deviations from the median do not count."""
_LEAST_SPREAD = np.radians(0.05)


@dataclass(frozen=True, eq=False)
class StaticPose:
    """Averages of m sensors on SO(3), with tilt and heading apart, and what their gyroscopes say at rest."""

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


# Whether a recording at rest is one: sensors heard, long enough, nothing moved, tilted enough.

LEAST_REST, LEAST_SAMPLES = 3.0, 100
"""s, and readings of each sensor."""
BIN = 0.25
"""s; movement is looked for in means over so long."""
MOST_RATE = np.radians(0.5)
"""rad/s; a mean rate this far from that of the whole pose is a movement."""
MOST_LEAN = np.radians(0.2)
"""rad; so is a vertical this far from that of the whole pose."""
LEAST_TILT = np.radians(10.0)
MOST_DISAGREEMENT = np.radians(0.5)
"""rad; by so much the tilt that one sensor sees may differ from what most see."""


def heard_problems(
    pose: str, readings: Readings, robot: str, least: float = LEAST_REST, samples: int = LEAST_SAMPLES
) -> Iterator[PoseProblem]:
    """Sensors that are silent or said too little, and recordings that are too short."""
    counts = readings.seen.sum(axis=1)
    if not len(readings.times):
        yield PoseProblem(pose, "no answer of any sensor to a SYNC; record the bus with ids 0x080 and 0x100 to 0x27F")
        return
    others = f"; the recording has {_listed(readings.strangers)} instead" if readings.strangers else ""
    for sensor, count in zip(readings.sensors, counts, strict=True):
        if not count:
            remedy = f"check its node and cable, or whether this recording is of {robot}{others}"
            yield PoseProblem(pose, f"silent in the whole recording; {remedy}", sensor)
        elif count < samples:
            yield PoseProblem(pose, f"only {count} readings, {samples} are needed; record longer", sensor)
    if readings.duration < least:
        yield PoseProblem(pose, f"only {readings.duration:.3g} s long; record {least:g} s at least")


def _listed(sensors: Sequence[int]) -> str:
    return f"sensor{'s' if len(sensors) > 1 else ''} {', '.join(map(str, sensors))}"


def moved_problems(pose: str, readings: Readings) -> Iterator[PoseProblem]:
    """Sensors that turned during a pose at rest, by their rates or by the vertical."""
    for i, sensor in enumerate(readings.sensors):
        found = movement(readings, i)
        if found:
            yield PoseProblem(pose, f"{found} during a pose at rest; hold the robot still and record again", sensor)


def movement(readings: Readings, i: int, slack: float = 1.0) -> str:
    """How sensor i moved, in words; empty when it did not by more than `slack` times what is allowed at rest."""
    width = max(1, round(BIN / readings.period))
    rate = _spread(_bins(readings.gyros[i], readings.gyro_seen[i], width))
    lean = _spread(_bins(readings.rotations[i, :, 2], readings.seen[i], width))
    if rate > slack * MOST_RATE:
        return f"turned at {np.degrees(rate):.2g} deg/s"
    return f"leant by {np.degrees(lean):.2g} deg" if lean > slack * MOST_LEAN else ""


def _bins(values: Floats, seen: Flags, width: int) -> Floats:
    """Means over so many readings each, of bins that are at least half full."""
    count = len(values) // width
    shaped, flags = values[: count * width].reshape(count, width, 3), seen[: count * width].reshape(count, width)
    full = flags.sum(axis=1) >= max(1, width // 2)
    total = np.where(flags[..., None], shaped, 0.0).sum(axis=1)
    return np.asarray(total[full] / flags.sum(axis=1)[full, None])


def _spread(means: Floats) -> float:
    """How far the farthest mean is from the middle one."""
    return float(np.linalg.norm(means - np.median(means, axis=0), axis=1).max()) if len(means) else 0.0


def tilt_of(first: StaticPose, second: StaticPose) -> Floats:
    """(m,) angle between the verticals of two poses, as each sensor sees it, rad."""
    sines = np.linalg.norm(np.cross(first.ups, second.ups), axis=1)
    return np.asarray(np.arctan2(sines, (first.ups * second.ups).sum(axis=1)))


def tilt_problems(first: StaticPose, second: StaticPose, sensors: Sequence[int]) -> Iterator[PoseProblem]:
    """A tilt that is too small to tell mounts about the vertical, or that sensors do not share."""
    angles = tilt_of(first, second)
    middle = float(np.median(angles))
    if np.sin(middle) < np.sin(LEAST_TILT):
        found = f"the base is tilted by only {np.degrees(middle):.1f} deg from the straight pose"
        yield PoseProblem(second.name, f"{found}; tilt it by about 30 deg, 10 deg is the least")
    for sensor, angle in zip(sensors, angles, strict=True):
        if abs(angle - middle) > MOST_DISAGREEMENT:
            found = (
                f"turned by {np.degrees(angle):.2f} deg against gravity where most turned by {np.degrees(middle):.2f}"
            )
            remedy = "keep the robot in its fixture for both poses and the sensor tight on its link"
            yield PoseProblem(second.name, f"{found} deg; {remedy}", sensor)


def static_equations(
    unknowns: Unknowns, poses: Sequence[StaticPose], up: Floats, tolerances: Tolerances
) -> tuple[Floats, Floats]:
    """Information and slope in all unknowns: of the poses, the fixture and the level base.

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
            slopes[:, unknowns.sensor(i)][:, 4:] = -np.eye(3)
            trust = 1.0 / pose.gyro_sigmas[i] ** 2
            add(pose.gyros[i] - unknowns.biases[i], slopes, np.full(3, trust))
    for i in range(1, len(unknowns.mounts)):
        slopes = np.zeros((3, size))
        off = so3.log(unknowns.fixture[i])
        slopes[:, unknowns.fixed(i)] = so3.log_slope(off)
        add(off, slopes, np.full(3, 1.0 / tolerances.fixture**2))
    leaning = unknowns.bases[0] @ up
    slopes = np.zeros((2, size))
    slopes[:, unknowns.base(0)] = -so3.hat(leaning)[:2]
    add(leaning[:2], slopes, np.full(2, 1.0 / tolerances.level**2))
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
