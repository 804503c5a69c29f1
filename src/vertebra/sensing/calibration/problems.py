"""What is wrong with recordings that give no calibration: silent sensors, wrong or missing movement, misfits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vertebra.errors import PoseProblem
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.moving import RecordedMotion
from vertebra.sensing.calibration.readings import Flags, Readings
from vertebra.sensing.calibration.rest import StaticPose, Tolerances, Unknowns, static_headings_off, tilt_of

LEAST_REST, LEAST_SAMPLES = 3.0, 100
"""s, and readings of each sensor."""
BIN = 0.25
"""s; movement is looked for in means over this time."""
MOST_RATE = np.radians(0.5)
"""rad/s; a mean rate further than this from that of the whole pose is movement."""
MOST_TILTED = np.radians(0.2)
"""rad; so is a vertical further than this from that of the whole pose."""
LEAST_TILT = np.radians(10.0)
"""rad; of the tilted pose against the straight one."""
MOST_DISAGREEMENT = np.radians(0.5)
"""rad; how much the tilt that one sensor sees may differ from what most see."""


def heard_problems(
    pose: str, readings: Readings, robot: str, least: float = LEAST_REST, samples: int = LEAST_SAMPLES
) -> Iterator[PoseProblem]:
    """Sensors with no or too few readings, and recordings that are too short."""
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
    """How sensor i moved, in words; empty if by no more than `slack` times what is allowed at rest."""
    width = max(1, round(BIN / readings.period))
    rate = _spread(_bins(readings.gyros[i], readings.gyro_seen[i], width))
    tilt = _spread(_bins(readings.rotations[i, :, 2], readings.seen[i], width))
    if rate > slack * MOST_RATE:
        return f"turned at {np.degrees(rate):.2g} deg/s"
    return f"tilted by {np.degrees(tilt):.2g} deg" if tilt > slack * MOST_TILTED else ""


def _bins(values: Floats, seen: Flags, width: int) -> Floats:
    """Means over bins of `width` readings, of those bins that are at least half full."""
    count = len(values) // width
    shaped, flags = values[: count * width].reshape(count, width, 3), seen[: count * width].reshape(count, width)
    full = flags.sum(axis=1) >= max(1, width // 2)
    total = np.where(flags[..., None], shaped, 0.0).sum(axis=1)
    return np.asarray(total[full] / flags.sum(axis=1)[full, None])


def _spread(means: Floats) -> float:
    """Largest distance of a mean from the median."""
    return float(np.linalg.norm(means - np.median(means, axis=0), axis=1).max()) if len(means) else 0.0


def tilt_problems(first: StaticPose, second: StaticPose, sensors: Sequence[int]) -> Iterator[PoseProblem]:
    """A tilt that is too small to determine mounts about the vertical, or on which the sensors disagree."""
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


# Whether a motion determines anything, and whether it fits the robot.

LEAST_MOTION, LEAST_MOTION_SAMPLES = 10.0, 500
"""s, and readings of each sensor."""
LEAST_BEND = np.radians(6.0)
"""rad; from one side to the other, without the outermost tenth of the readings."""
FAR = 4.0
"""Standard deviations of a heading beyond which it is disturbed."""
MOST_DISTURBED = 0.3
"""Share of a sensor's headings."""
MOST_TILT = 3.0
"""Root mean square of the tilt residuals of a sensor, in standard deviations."""
MOST_TWIST = np.radians(3.0)
"""rad/s; root mean square of the rate that a joint forbids."""
SHAKING = 5.0
"""How much more than at rest the base may move while the joints do."""
MOST_FIXTURE = np.radians(0.5)
"""rad; how far the motion may put a link from where the fixture held it."""
CHECK_ROBOT = "check kind, order and azimuth of the joints in the robot file, and which sensor is on which link"


def base_problems(readings: Readings) -> Iterator[PoseProblem]:
    """A base that moved."""
    found = movement(readings, 0, SHAKING)
    if found:
        yield PoseProblem("motion", f"the base {found}; fix it while the joints move", readings.sensors[0])


def bend_problems(motion: RecordedMotion) -> Iterator[PoseProblem]:
    """Joints that hardly moved."""
    for gap, spans in zip(motion.gaps, bends(motion), strict=True):
        for axis, span in zip(gap.axes, spans, strict=True):
            if span < LEAST_BEND:
                about = f"({axis[0]:.2g}, {axis[1]:.2g}, 0)"
                found = f"bent by only {np.degrees(span):.1f} deg about {about} from one side to the other"
                yield PoseProblem("motion", f"{found}; move it by 20 deg or more", joint=gap.joints[0])


def bends(motion: RecordedMotion) -> tuple[Floats, ...]:
    """Per gap, how far it bent about each of its axes, rad; empty where it forbids nothing."""
    found = list[Floats]()
    for i, gap in enumerate(motion.gaps):
        both = motion.readings.seen[i] & motion.readings.seen[i + 1]
        turns = so3.log(np.swapaxes(motion.rotations[i, both], 1, 2) @ motion.rotations[i + 1, both]) @ gap.axes.T
        found.append(np.diff(np.percentile(turns, [5, 95], axis=0), axis=0)[0] if len(turns) else np.zeros(0))
    return tuple(found)


def rest_problems(
    unknowns: Unknowns, poses: Sequence[StaticPose], sensors: Sequence[int], heading: float
) -> Iterator[PoseProblem]:
    """Headings that differ from pose to pose; `heading` is their stated standard deviation, rad."""
    for number, pose in enumerate(poses):
        for sensor, off in zip(sensors, static_headings_off(unknowns, pose, number), strict=True):
            if abs(off) > FAR * heading:
                found = f"its heading is {np.degrees(off):+.1f} deg off what the other poses say"
                remedy = "take magnets and iron away from it, or mark it as disturbed, and record again"
                yield PoseProblem(pose.name, f"{found}; {remedy}", sensor)


def motion_problems(
    unknowns: Unknowns, motion: RecordedMotion, sensors: Sequence[int], tolerances: Tolerances
) -> list[PoseProblem]:
    """What in the motion does not fit: the joints, else the sensors, else the fixture."""
    return (
        list(_forbidden(unknowns, motion))
        or list(_misfits(unknowns, motion, sensors))
        or list(_fixture(unknowns, sensors, tolerances))
    )


def _forbidden(unknowns: Unknowns, motion: RecordedMotion) -> Iterator[PoseProblem]:
    data = motion.readings
    for i, rates in enumerate(motion.twist_rates(unknowns)):
        both = data.gyro_seen[i] & data.seen[i] & data.gyro_seen[i + 1] & data.seen[i + 1]
        rms = float(np.sqrt((rates[:, both] ** 2).mean())) if rates.size and both.any() else 0.0
        if rms > MOST_TWIST:
            found = f"does at {np.degrees(rms):.2g} deg/s what its kind forbids"
            yield PoseProblem("motion", f"{found}; {CHECK_ROBOT}", joint=motion.gaps[i].joints[0])


def _misfits(unknowns: Unknowns, motion: RecordedMotion, sensors: Sequence[int]) -> Iterator[PoseProblem]:
    data = motion.readings
    off = motion.orientation_residuals(unknowns)
    for i, sensor in enumerate(sensors):
        rms = float(np.sqrt((off[i, :, :2][data.seen[i]] ** 2).mean()))
        if rms > MOST_TILT * np.sqrt(motion.noise.tilt):
            found = f"its tilt does not fit the joints: {np.degrees(rms):.2g} deg in the mean"
            yield PoseProblem("motion", f"{found}; check that it is tight on its link; {CHECK_ROBOT}", sensor)
        used = data.seen[i] & data.heading_seen[i]
        far = float((np.abs(off[i, used, 2]) > FAR * np.sqrt(motion.noise.heading)).mean()) if used.any() else 0.0
        if far > MOST_DISTURBED:
            found = f"{100 * far:.0f} % of its headings are disturbed"
            yield PoseProblem("motion", f"{found}; take magnets and iron away from it", sensor)


def _fixture(unknowns: Unknowns, sensors: Sequence[int], tolerances: Tolerances) -> Iterator[PoseProblem]:
    most = max(MOST_FIXTURE, 6 * tolerances.fixture)
    for sensor, turn in zip(sensors, np.linalg.norm(so3.log(unknowns.fixture), axis=1), strict=True):
        if turn > most:
            found = f"motion and fixture disagree by {np.degrees(turn):.2f} deg on how its link lies"
            yield PoseProblem("straight", f"{found}; check that the fixture holds all links parallel", sensor)
