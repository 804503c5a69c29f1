"""`calibrate`: from recordings of a straight pose, a tilted pose and free motion to the constants of every sensor."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vertebra.errors import PoseProblem
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.calibration.identifiability import azimuth_known, determined
from vertebra.sensing.calibration.joint_constraints import gaps
from vertebra.sensing.calibration.motion_checks import (
    LEAST_MOTION,
    LEAST_SAMPLES,
    base_problems,
    bend_problems,
    bends,
    motion_problems,
    rest_problems,
)
from vertebra.sensing.calibration.motion_noise import heading_residuals, noise_stated, tilt_residuals, twisting
from vertebra.sensing.calibration.motion_system import Motion
from vertebra.sensing.calibration.noise import Tolerances
from vertebra.sensing.calibration.readings import Readings, read_readings
from vertebra.sensing.calibration.refusal import refuse
from vertebra.sensing.calibration.rest_checks import heard_problems, moved_problems, tilt_of, tilt_problems
from vertebra.sensing.calibration.result import Calibration
from vertebra.sensing.calibration.solve import Solution, Watch, relative_covariance, solve, start
from vertebra.sensing.calibration.static_pose import StaticPose, first_at_rest, static_pose
from vertebra.sensing.calibration.unknowns import Unknowns
from vertebra.sensing.wire.can import Frame

MOST_TIMES = 4000
"""SYNCs of the motion that are used; longer recordings are thinned."""


def calibrate(
    robot: Robot,
    straight: Iterable[Frame],
    tilted: Iterable[Frame] | None = None,
    motion: Iterable[Frame] | None = None,
    *,
    tolerances: Tolerances | None = None,
    watch: Watch | None = None,
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
    refuse(list(_raw_problems(robot, read)))
    poses = [static_pose(name, read[name], tolerances) for name in ("straight", "tilted") if name in read]
    if len(poses) > 1:
        refuse(list(tilt_problems(poses[0], poses[1], sensors)))
    up = level_up(robot)
    begin = start(poses, up)
    moving = _motion(robot, read.get("motion"), poses[0], begin)
    solution, held = solve(begin, poses, None, up, tolerances, hold_first=True), True
    refuse(list(rest_problems(solution, poses, sensors, float(robot.sensor_noise[2]))))
    if moving is not None:
        solution, held = solve(begin, poses, moving, up, tolerances, hold_first=False, watch=watch), False
        if not azimuth_known(solution, up):
            solution, held = solve(begin, poses, moving, up, tolerances, hold_first=True, watch=watch), True
        refuse(motion_problems(solution, sensors, tolerances))
    found = determined(solution, up, held)
    return Calibration(
        robot.name, np.array(sensors), found.mounts, found.headings, found.biases,
        found.mount_sigmas, found.heading_sigmas, found.bias_sigmas,
        poses=tuple(read), quality=_quality(read, poses, solution, up),
    )  # fmt: skip


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


def _motion(robot: Robot, readings: Readings | None, pose: StaticPose, begin: Unknowns) -> Motion | None:
    if readings is None:
        return None
    noise = noise_stated(robot, pose, readings.period)
    if robot.sensor_links[0] == 0:
        refuse(list(base_problems(readings)))
        readings = first_at_rest(readings)
    readings = readings.without_bias(begin.biases).thinned(MOST_TIMES)
    moving = Motion.start(readings, gaps(robot), noise, begin)
    refuse(list(bend_problems(moving)))
    return moving


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


def _motion_quality(solution: Solution, motion: Motion) -> dict[str, float]:
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
