"""Whether a recording at rest is one: sensors heard, long enough, nothing moved, tilted enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vertebra.errors import PoseProblem
from vertebra.robot.tables import Floats
from vertebra.sensing.calibration.readings import Flags, Readings
from vertebra.sensing.calibration.static_pose import StaticPose

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
