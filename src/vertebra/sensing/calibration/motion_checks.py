"""Whether a motion moved every joint enough, and whether what was fitted agrees with what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vertebra.errors import PoseProblem
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.motion_noise import heading_residuals, tilt_residuals
from vertebra.sensing.calibration.motion_system import Motion
from vertebra.sensing.calibration.noise import Tolerances
from vertebra.sensing.calibration.readings import Readings
from vertebra.sensing.calibration.rest_checks import movement
from vertebra.sensing.calibration.solve import Solution
from vertebra.sensing.calibration.static_pose import StaticPose
from vertebra.sensing.calibration.static_rows import static_headings_off

LEAST_MOTION, LEAST_SAMPLES = 10.0, 500
"""s, and readings of each sensor."""
LEAST_BEND = np.radians(6.0)
"""rad; from one side to the other, without the outermost tenth of the readings."""
FAR = 4.0
"""Standard deviations of a heading beyond which it is disturbed."""
MOST_DISTURBED = 0.3
"""Share of the headings of a sensor."""
MOST_TILT = 3.0
"""Root mean square of the tilt residuals of a sensor, in standard deviations."""
MOST_TWIST = np.radians(3.0)
"""rad/s, root mean square of what a joint should not do."""
SHAKING = 5.0
"""Times as much as at rest a base may shake while the robot on it moves."""
MOST_FIXTURE = np.radians(0.5)
CHECK_ROBOT = "check kind, order and azimuth of the joints in the robot file, and which sensor is on which link"


def bends(motion: Motion) -> tuple[Floats, ...]:
    """For each gap, how far it bent about each of its axes, rad; empty where everything is possible."""
    found = list[Floats]()
    for i, gap in enumerate(motion.gaps):
        both = motion.readings.seen[i] & motion.readings.seen[i + 1]
        turns = so3.log(np.swapaxes(motion.rotations[i, both], 1, 2) @ motion.rotations[i + 1, both]) @ gap.axes.T
        found.append(np.diff(np.percentile(turns, [5, 95], axis=0), axis=0)[0] if len(turns) else np.zeros(0))
    return tuple(found)


def base_problems(readings: Readings) -> Iterator[PoseProblem]:
    """A base that moved along."""
    found = movement(readings, 0, SHAKING)
    if found:
        yield PoseProblem("motion", f"the base {found}; fix it while the joints move", readings.sensors[0])


def bend_problems(motion: Motion) -> Iterator[PoseProblem]:
    """Joints that hardly moved."""
    for gap, spans in zip(motion.gaps, bends(motion), strict=True):
        for axis, span in zip(gap.axes, spans, strict=True):
            if span < LEAST_BEND:
                about = f"({axis[0]:.2g}, {axis[1]:.2g}, 0)"
                found = f"bent by only {np.degrees(span):.1f} deg about {about} from one side to the other"
                yield PoseProblem("motion", f"{found}; move it by 20 deg or more", joint=gap.joints[0])


def rest_problems(
    solution: Solution, poses: Sequence[StaticPose], sensors: Sequence[int], heading: float
) -> Iterator[PoseProblem]:
    """Headings that differ from pose to pose; `heading` is their stated standard deviation, rad."""
    for number, pose in enumerate(poses):
        for sensor, off in zip(sensors, static_headings_off(solution.unknowns, pose, number), strict=True):
            if abs(off) > FAR * heading:
                found = f"its heading is {np.degrees(off):+.1f} deg off what the other poses say"
                remedy = "take magnets and iron away from it, or mark it as disturbed, and record again"
                yield PoseProblem(pose.name, f"{found}; {remedy}", sensor)
    if not solution.converged:
        yield PoseProblem("straight", "the fit does not settle; record the poses at rest again")


def motion_problems(solution: Solution, sensors: Sequence[int], tolerances: Tolerances) -> list[PoseProblem]:
    """What in the motion does not fit: the joints, or else the sensors, or else the fixture, which is blamed last."""
    motion = solution.motion
    if motion is None:
        return []
    problems = list(_forbidden(solution, motion)) or list(_misfits(solution, motion, sensors))
    problems = problems or list(_fixture(solution, sensors, tolerances))
    if not problems and not solution.converged:
        problems.append(PoseProblem("motion", "the fit does not settle; record the motion again"))
    return problems


def _forbidden(solution: Solution, motion: Motion) -> Iterator[PoseProblem]:
    data = motion.readings
    for i, rates in enumerate(motion.twist_rates(solution.unknowns)):
        both = data.gyro_seen[i] & data.seen[i] & data.gyro_seen[i + 1] & data.seen[i + 1]
        rms = float(np.sqrt((rates[:, both] ** 2).mean())) if rates.size and both.any() else 0.0
        if rms > MOST_TWIST:
            found = f"does at {np.degrees(rms):.2g} deg/s what its kind forbids"
            yield PoseProblem("motion", f"{found}; {CHECK_ROBOT}", joint=motion.gaps[i].joints[0])


def _misfits(solution: Solution, motion: Motion, sensors: Sequence[int]) -> Iterator[PoseProblem]:
    data = motion.readings
    tilts, headings = tilt_residuals(motion, solution.unknowns), heading_residuals(motion, solution.unknowns)
    for i, sensor in enumerate(sensors):
        rms = float(np.sqrt((tilts[i][data.seen[i]] ** 2).mean()))
        if rms > MOST_TILT * np.sqrt(motion.noise.tilt):
            found = f"its tilt does not fit the joints: {np.degrees(rms):.2g} deg in the mean"
            yield PoseProblem("motion", f"{found}; check that it is tight on its link; {CHECK_ROBOT}", sensor)
        used = data.seen[i] & data.heading_seen[i]
        far = float((np.abs(headings[i][used]) > FAR * np.sqrt(motion.noise.heading)).mean()) if used.any() else 0.0
        if far > MOST_DISTURBED:
            found = f"{100 * far:.0f} % of its headings are disturbed"
            yield PoseProblem("motion", f"{found}; take magnets and iron away from it", sensor)


def _fixture(solution: Solution, sensors: Sequence[int], tolerances: Tolerances) -> Iterator[PoseProblem]:
    most = max(MOST_FIXTURE, 6 * tolerances.fixture)
    for sensor, turn in zip(sensors, np.linalg.norm(so3.log(solution.unknowns.fixture), axis=1), strict=True):
        if turn > most:
            found = f"motion and fixture disagree by {np.degrees(turn):.2f} deg on how its link lies"
            yield PoseProblem("straight", f"{found}; check that the fixture holds all links parallel", sensor)
