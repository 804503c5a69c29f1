"""`calibrate`: from recordings of a straight pose, a tilted pose and free motion to the constants of every sensor, by
Gauss-Newton on all recordings together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from vertebra.errors import PoseError, PoseProblem
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.calibration import Calibration
from vertebra.sensing.calibration.moving import (
    RecordedMotion,
    gaps,
    noise_found,
    noise_stated,
    twisting,
)
from vertebra.sensing.calibration.problems import (
    LEAST_MOTION,
    LEAST_MOTION_SAMPLES,
    base_problems,
    bend_problems,
    bends,
    heard_problems,
    motion_problems,
    moved_problems,
    rest_problems,
    tilt_problems,
)
from vertebra.sensing.calibration.readings import Readings, read_readings
from vertebra.sensing.calibration.rest import (
    BIAS,
    EACH,
    HEADING,
    StaticPose,
    Tolerances,
    Unknowns,
    first_at_rest,
    static_equations,
    static_pose,
    tilt_of,
)
from vertebra.sensing.wire.can import Frame

MOST_TIMES = 4000
"""SYNCs of the motion that are used; longer recordings are thinned."""
MOUNT_PRIOR = np.radians(30.0)
HEADING_PRIOR = np.radians(30.0)
BIAS_PRIOR = np.radians(10.0)
"""rad and rad/s; so weak that only what no data determine stays at its start."""
_HELD = 1e-7
"""rad; standard deviation of what is fixed by definition."""
_STEPS, _SETTLED = 15, 0.01
"""Most iterations; the fit has converged when no unknown moves by more than this share of its standard deviation."""
_DOUBTING = 6
"""Iterations that may change which headings count as disturbed; more of them may never converge."""


def calibrate(
    robot: Robot,
    straight: Iterable[Frame],
    tilted: Iterable[Frame] | None = None,
    motion: Iterable[Frame] | None = None,
    *,
    tolerances: Tolerances | None = None,
) -> Calibration:
    """Mount, heading offset and gyro bias of every sensor, each with its standard deviation.

    Each argument is a recording of CAN frames. `straight`: at rest, all links parallel, gravity as in the robot file.
    `tilted`: the same with the base tilted by about 30 deg about any horizontal axis. `motion`: about 30 s of moving
    every joint, with the base fixed. What they do not determine is left at zero with an infinite sigma.
    Raises `PoseError` for recordings that give no calibration.
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
    _require_none(rest_problems(solution.unknowns, poses, sensors, float(robot.sensor_noise[2])))
    _require_settled(solution, "straight", "the poses at rest")
    if moving is not None:
        solution, held = solve(begin, poses, moving, up, tolerances, hold_first=False), False
        if not azimuth_known(solution, up):
            solution, held = solve(begin, poses, moving, up, tolerances, hold_first=True), True
        if solution.motion is not None:
            _require_none(motion_problems(solution.unknowns, solution.motion, sensors, tolerances))
        _require_settled(solution, "motion", "the motion")
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


def _require_settled(solution: Solution, pose: str, recorded: str) -> None:
    if not solution.converged:
        raise PoseError([PoseProblem(pose, f"the fit does not converge; record {recorded} again")])


def level_up(robot: Robot) -> Floats:
    """(3,) the vertical in base axes when the robot stands as its file says; z for a robot without gravity."""
    strength = float(np.linalg.norm(robot.gravity))
    return -robot.gravity / strength if strength else np.array([0.0, 0.0, 1.0])


def _raw_problems(robot: Robot, read: dict[str, Readings]) -> Iterable[PoseProblem]:
    for name, readings in read.items():
        least = (LEAST_MOTION, LEAST_MOTION_SAMPLES) if name == "motion" else ()
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


def _quality(read: dict[str, Readings], poses: list[StaticPose], solution: Solution, up: Floats) -> dict[str, float]:
    """Quality numbers for the file, by name with unit."""
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
    off = motion.orientation_residuals(solution.unknowns)
    found = {
        "motion_tilt_rms_deg": np.sqrt((off[..., :2][seen] ** 2).mean()),
        "motion_heading_rms_deg": np.sqrt((off[..., 2][used] ** 2).mean()),
        "twist_rate_deg_s": excess or 0.0,
        "least_bend_deg": min(spans, default=0.0),
    }
    return {name: float(np.degrees(value)) for name, value in found.items()}


# Gauss-Newton: where to start, and when to stop.


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of the fit."""

    unknowns: Unknowns
    covariance: Floats
    """(size, size) of their changes."""
    motion: RecordedMotion | None
    """With the states of the links as fitted."""
    steps: int
    converged: bool


def start(poses: Sequence[StaticPose], up: Floats) -> Unknowns:
    """Start from the verticals alone: mounts are exact with two poses and have no turn about `up` with one."""
    m = len(poses[0].rotations)
    mounts = np.stack([so3.shortest_turn(vertical, up) for vertical in poses[0].ups])
    first = mounts[0]
    if len(poses) > 1:
        tilted_up = first @ poses[1].ups[0]
        for i in range(1, m):
            matrix = np.outer(up, poses[0].ups[i]) + np.outer(tilted_up, poses[1].ups[i])
            mounts[i] = so3.nearest_rotation(matrix)
    said = poses[0].rotations @ np.swapaxes(mounts, 1, 2)
    headings = so3.log(said @ said[0].T)[:, 2]
    bases = np.stack([pose.rotations[0] @ first.T for pose in poses])
    biases = np.mean([pose.gyros for pose in poses], axis=0)
    return Unknowns(mounts, headings, biases, np.tile(np.eye(3), (m, 1, 1)), bases)


def solve(
    begin: Unknowns,
    poses: Sequence[StaticPose],
    motion: RecordedMotion | None,
    up: Floats,
    tolerances: Tolerances,
    hold_first: bool,
) -> Solution:
    """Fit; `hold_first` defines the azimuth of the base by its sensor: its mount does not turn about `up`."""
    unknowns, learned = begin, False
    for step in range(_STEPS):
        if motion is not None:
            motion = motion.relaxed(unknowns)
            if step < _DOUBTING:
                motion = motion.doubted(unknowns)
            if step and not learned:
                motion, learned = replace(motion, noise=noise_found(motion, unknowns)), True
        information, slope = static_equations(unknowns, poses, up, tolerances)
        _add_prior(unknowns, begin, up, hold_first, information, slope)
        if motion is not None:
            more, steeper, wander = motion.normal_equations(unknowns)
            information[: len(more), : len(more)] += more
            slope[: len(more)] += steeper
        covariance = _inverse(information)
        change = -covariance @ slope
        unknowns = unknowns.changed(change)
        if motion is not None:
            motion = motion.wandered(wander, change[: EACH * len(unknowns.mounts)])
        size = float(np.max(np.abs(change) / np.sqrt(np.diag(covariance))))
        if size < _SETTLED and (learned or motion is None):
            return Solution(unknowns, covariance, motion, step + 1, True)
    return Solution(unknowns, covariance, motion, _STEPS, False)


def _inverse(information: Floats) -> Floats:
    # Scaled, because the information on the unknowns differs by orders of magnitude.
    scale = 1.0 / np.sqrt(np.diag(information))
    inverse = np.linalg.inv(information * np.outer(scale, scale))
    return np.asarray(0.5 * (inverse + inverse.T) * np.outer(scale, scale))


def _add_prior(
    unknowns: Unknowns, begin: Unknowns, up: Floats, hold_first: bool, information: Floats, slope: Floats
) -> None:
    """Add the prior about the start; the first heading is zero by definition."""
    turned = so3.log(unknowns.mounts @ np.swapaxes(begin.mounts, 1, 2))
    for i in range(len(unknowns.mounts)):
        at = unknowns.sensor(i)
        trust = np.repeat([MOUNT_PRIOR, HEADING_PRIOR, BIAS_PRIOR], [3, 1, 3]) ** -2.0
        turn = unknowns.headings[i] - begin.headings[i]
        off = np.concatenate([turned[i], [turn], unknowns.biases[i] - begin.biases[i]])
        if i == 0:
            trust[HEADING] = _HELD**-2.0
        information[at, at] += np.diag(trust)
        slope[at] += trust * off
    if hold_first:
        information[:3, :3] += np.outer(up, up) / _HELD**2
        slope[:3] += up * (up @ turned[0]) / _HELD**2


def sensor_covariance(solution: Solution, i: int) -> Floats:
    """(7, 7) of mount, heading and bias of sensor i."""
    at = solution.unknowns.sensor(i)
    return np.array(solution.covariance[at, at])


def relative_covariance(solution: Solution, i: int) -> Floats:
    """(3, 3) of the mount of sensor i against that of the first."""
    at, cov = EACH * i, solution.covariance
    own, first, both = cov[at : at + 3, at : at + 3], cov[:3, :3], cov[at : at + 3, :3]
    return np.asarray(own + first - both - both.T)


# What the recordings determine, by posterior standard deviations.

MOUNT_BLIND = np.radians(3.0)
HEADING_BLIND = np.radians(5.0)
BIAS_BLIND = np.radians(0.5)
"""rad and rad/s; anything with a larger standard deviation is not determined. Those of the priors are far larger."""
AZIMUTH_BLIND = np.radians(1.0)
"""rad; the azimuth of the joints is only worth fitting if it comes out better than a sensor can be glued on."""
_SAME = 0.995
"""Cosine above which an undetermined direction counts as the vertical."""
_PART = 0.1
"""An axis along which an undetermined direction has a larger component than this is not determined."""


class Determined(NamedTuple):
    """Constants of the sensors, without what is not determined."""

    mounts: Floats
    headings: Floats
    biases: Floats
    mount_sigmas: Floats
    heading_sigmas: Floats
    bias_sigmas: Floats


def azimuth_known(solution: Solution, up: Floats) -> bool:
    """Whether the motion shows how any sensor is turned about the vertical of the straight pose against the joints."""
    m = len(solution.unknowns.mounts)
    return any(up @ sensor_covariance(solution, i)[:3, :3] @ up < AZIMUTH_BLIND**2 for i in range(m))


def determined(solution: Solution, up: Floats, first_held: bool) -> Determined:
    """Values and standard deviations; infinite, with the value of a perfect sensor, where nothing is known."""
    unknowns = solution.unknowns
    m = len(unknowns.mounts)
    mounts, headings, biases = unknowns.mounts.copy(), unknowns.headings.copy(), unknowns.biases.copy()
    mount_sigmas, heading_sigmas, bias_sigmas = np.empty((m, 3)), np.empty(m), np.empty((m, 3))
    for i in range(m):
        covariance = sensor_covariance(solution, i)
        blind = [up] if i == 0 and first_held else []
        mount_sigmas[i], lost = _axes(covariance[:3, :3], blind, up)
        mounts[i] = _without(mounts[i], lost)
        heading_sigmas[i] = np.sqrt(covariance[HEADING, HEADING]) if i else 0.0
        bias_sigmas[i] = np.sqrt(np.diag(covariance)[BIAS])
    heading_sigmas[heading_sigmas > HEADING_BLIND] = np.inf
    headings[np.isinf(heading_sigmas)] = headings[0] = 0.0
    bias_sigmas[bias_sigmas > BIAS_BLIND] = np.inf
    biases[np.isinf(bias_sigmas)] = 0.0
    return Determined(mounts, headings, biases, mount_sigmas, heading_sigmas, bias_sigmas)


def _axes(covariance: Floats, blind: list[Floats], up: Floats) -> tuple[Floats, list[Floats]]:
    """Standard deviations about x, y, z, infinite along undetermined directions; and those directions."""
    values, directions = np.linalg.eigh(covariance)
    found = directions.T[values > MOUNT_BLIND**2]
    # A single pose leaves the turn about the vertical open; noise tilts that direction a little.
    lost = [*blind, *(up if abs(direction @ up) > _SAME else direction for direction in found)]
    known = values <= MOUNT_BLIND**2
    sigmas = np.sqrt((directions[:, known] ** 2 * values[known]).sum(axis=1))
    for direction in lost:
        sigmas[np.abs(direction) > _PART] = np.inf
    return sigmas, lost


def _without(mount: Floats, lost: list[Floats]) -> Floats:
    """The mount without its turn about an undetermined direction; identity if there are several."""
    if not lost:
        return mount
    if len(lost) > 1:
        return np.eye(3)
    w, xyz = so3.quaternion(mount)
    return np.asarray(so3.exp(-2.0 * np.arctan2(xyz @ lost[0], w) * lost[0]) @ mount)
