"""`calibrate`: from recordings of a straight pose, a tilted pose and free motion to the constants of every sensor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from vertebra.errors import PoseError, PoseProblem
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.calibration import Calibration
from vertebra.sensing.calibration.moving import (
    RecordedMotion,
    gaps,
    heading_residuals,
    noise_stated,
    tilt_residuals,
    twisting,
)
from vertebra.sensing.calibration.readings import Readings, read_readings
from vertebra.sensing.calibration.rest import (
    StaticPose,
    first_at_rest,
    heard_problems,
    moved_problems,
    movement,
    static_headings_off,
    static_pose,
    tilt_of,
    tilt_problems,
)
from vertebra.sensing.calibration.solve import (
    Progress,
    Solution,
    azimuth_known,
    determined,
    relative_covariance,
    solve,
    start,
)
from vertebra.sensing.calibration.unknowns import Tolerances, Unknowns
from vertebra.sensing.wire.can import Frame

MOST_TIMES = 4000
"""SYNCs of the motion that are used; longer recordings are thinned."""
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


def calibrate(
    robot: Robot,
    straight: Iterable[Frame],
    tilted: Iterable[Frame] | None = None,
    motion: Iterable[Frame] | None = None,
    *,
    tolerances: Tolerances | None = None,
    watch: Progress | None = None,
) -> Calibration:
    """Mount, heading offset and gyro bias of every sensor, each with its standard deviation.

    `straight`: at rest, all links parallel, the base as its robot file stands to gravity. `tilted`: the same with the
    base tilted by about 30 deg about any horizontal axis. `motion`: about 30 s of moving every joint, with the base
    fixed. Each a recording of CAN frames. What they do not determine is left at zero with an infinite sigma.
    `PoseError` for recordings that give no calibration.
    """
    tolerances = tolerances or Tolerances()
    sensors = robot.sensor_links.tolist()
    recorded = {"straight": straight, "tilted": tilted, "motion": motion}
    read = {name: read_readings(frames, sensors) for name, frames in recorded.items() if frames is not None}
    _require_none(_raw_problems(robot, read))
    poses = [static_pose(name, read[name], tolerances) for name in ("straight", "tilted") if name in read]
    if len(poses) > 1:
        _require_none(tilt_problems(poses[0], poses[1], sensors))
    up = level_up(robot)
    begin = start(poses, up)
    moving = _motion(robot, read.get("motion"), poses[0], begin)
    solution, held = solve(begin, poses, None, up, tolerances, hold_first=True), True
    _require_none(rest_problems(solution, poses, sensors, float(robot.sensor_noise[2])))
    if moving is not None:
        solution, held = solve(begin, poses, moving, up, tolerances, hold_first=False, watch=watch), False
        if not azimuth_known(solution, up):
            solution, held = solve(begin, poses, moving, up, tolerances, hold_first=True, watch=watch), True
        _require_none(motion_problems(solution, sensors, tolerances))
    found = determined(solution, up, held)
    return Calibration(
        robot.name, np.array(sensors), found.mounts, found.headings, found.biases,
        found.mount_sigmas, found.heading_sigmas, found.bias_sigmas,
        poses=tuple(read), quality=_quality(read, poses, solution, up),
    )  # fmt: skip


def _require_none(problems: Iterable[PoseProblem]) -> None:
    found = list(problems)
    if found:
        raise PoseError(found)


def level_up(robot: Robot) -> Floats:
    """(3,) the vertical in base axes when the robot stands as its file says; along the robot without gravity."""
    strength = float(np.linalg.norm(robot.gravity))
    return -robot.gravity / strength if strength else np.array([0.0, 0.0, 1.0])


def _raw_problems(robot: Robot, read: dict[str, Readings]) -> Iterable[PoseProblem]:
    for name, readings in read.items():
        least = (LEAST_MOTION, LEAST_SAMPLES) if name == "motion" else ()
        unheard = list(heard_problems(name, readings, robot.name, *least))
        yield from unheard
        if name != "motion" and not unheard:
            yield from moved_problems(name, readings)


def _motion(robot: Robot, readings: Readings | None, pose: StaticPose, begin: Unknowns) -> RecordedMotion | None:
    if readings is None:
        return None
    noise = noise_stated(robot, pose, readings.period)
    if robot.sensor_links[0] == 0:
        _require_none(base_problems(readings))
        readings = first_at_rest(readings)
    readings = readings.without_bias(begin.biases).thinned(MOST_TIMES)
    moving = RecordedMotion.start(readings, gaps(robot), noise, begin)
    _require_none(bend_problems(moving))
    return moving


def base_problems(readings: Readings) -> Iterator[PoseProblem]:
    """A base that moved along."""
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
    """For each gap, how far it bent about each of its axes, rad; empty where everything is possible."""
    found = list[Floats]()
    for i, gap in enumerate(motion.gaps):
        both = motion.readings.seen[i] & motion.readings.seen[i + 1]
        turns = so3.log(np.swapaxes(motion.rotations[i, both], 1, 2) @ motion.rotations[i + 1, both]) @ gap.axes.T
        found.append(np.diff(np.percentile(turns, [5, 95], axis=0), axis=0)[0] if len(turns) else np.zeros(0))
    return tuple(found)


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


def _forbidden(solution: Solution, motion: RecordedMotion) -> Iterator[PoseProblem]:
    data = motion.readings
    for i, rates in enumerate(motion.twist_rates(solution.unknowns)):
        both = data.gyro_seen[i] & data.seen[i] & data.gyro_seen[i + 1] & data.seen[i + 1]
        rms = float(np.sqrt((rates[:, both] ** 2).mean())) if rates.size and both.any() else 0.0
        if rms > MOST_TWIST:
            found = f"does at {np.degrees(rms):.2g} deg/s what its kind forbids"
            yield PoseProblem("motion", f"{found}; {CHECK_ROBOT}", joint=motion.gaps[i].joints[0])


def _misfits(solution: Solution, motion: RecordedMotion, sensors: Sequence[int]) -> Iterator[PoseProblem]:
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


def _quality(read: dict[str, Readings], poses: list[StaticPose], solution: Solution, up: Floats) -> dict[str, float]:
    """Numbers for the file."""
    quality = {f"{name}_s": readings.duration for name, readings in read.items()}
    quality["rest_tilt_noise_deg"] = float(np.degrees(np.median(poses[0].tilt_noises)))
    quality["rest_heading_noise_deg"] = float(np.degrees(np.median(poses[0].heading_noises)))
    if np.isfinite(poses[0].gyro_noises).all():
        quality["rest_gyro_noise_deg_s"] = float(np.degrees(np.median(poses[0].gyro_noises)))
    if len(poses) > 1:
        quality["tilt_deg"] = float(np.degrees(np.median(tilt_of(poses[0], poses[1]))))
        relative = [up @ relative_covariance(solution, i) @ up for i in range(1, len(poses[0].rotations))]
        quality["relative_yaw_sigma_deg"] = float(np.degrees(np.sqrt(max(relative, default=0.0))))
    if solution.motion is not None:
        quality |= _motion_quality(solution, solution.motion)
    return quality


def _motion_quality(solution: Solution, motion: RecordedMotion) -> dict[str, float]:
    seen, used = motion.readings.seen, motion.readings.seen & motion.readings.heading_seen
    excess, _ = twisting(motion, solution.unknowns)
    spans = [float(span) for spans in bends(motion) for span in spans]
    found = {
        "motion_tilt_rms_deg": np.sqrt((tilt_residuals(motion, solution.unknowns)[seen] ** 2).mean()),
        "motion_heading_rms_deg": np.sqrt((heading_residuals(motion, solution.unknowns)[used] ** 2).mean()),
        "twist_rate_deg_s": excess or 0.0,
        "least_bend_deg": min(spans, default=0.0),
    }
    return {name: float(np.degrees(value)) for name, value in found.items()}
