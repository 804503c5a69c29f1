"""Gauss-Newton on all recordings at once: where to start, when to stop, and what the recordings determine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.calibration import Calibration
from vertebra.sensing.calibration.moving import RecordedMotion, noise_found
from vertebra.sensing.calibration.rest import StaticPose, static_equations
from vertebra.sensing.calibration.unknowns import BIAS, EACH, HEADING, Tolerances, Unknowns

MOUNT_PRIOR = np.radians(30.0)
HEADING_PRIOR = np.radians(30.0)
BIAS_PRIOR = np.radians(10.0)
"""rad and rad/s; so little is known beforehand that only what no data tell stays where it started."""
_HELD = 1e-7
"""rad; standard deviation of what is held by definition."""
_STEPS, _SETTLED = 15, 0.01
"""A step that moves nothing by more than a hundredth of its standard deviation is the last."""
_DOUBTING = 6
"""Steps after which it is settled which headings are disturbed: to ask again and again may not end."""

Progress = Callable[[int, float], None]
"""Told after each step: its number, the largest move in standard deviations."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Unknowns with the least misfit."""

    unknowns: Unknowns
    covariance: Floats
    """(size, size) of their changes."""
    motion: RecordedMotion | None
    """With the states of the links."""
    steps: int
    converged: bool


def start(poses: Sequence[StaticPose], up: Floats) -> Unknowns:
    """From the verticals alone: exact for the mounts when there are two poses, without a turn about `up` for one."""
    m = len(poses[0].rotations)
    first = so3.shortest_turn(poses[0].ups[0], up)
    mounts = np.stack([first] + [so3.shortest_turn(one, up) for one in poses[0].ups[1:]])
    if len(poses) > 1:
        leaning = first @ poses[1].ups[0]
        for i in range(1, m):
            matrix = np.outer(up, poses[0].ups[i]) + np.outer(leaning, poses[1].ups[i])
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
    watch: Progress | None = None,
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
        if watch is not None:
            watch(step, size)
        if size < _SETTLED and (learned or motion is None):
            return Solution(unknowns, covariance, motion, step + 1, True)
    return Solution(unknowns, covariance, motion, _STEPS, False)


def _inverse(information: Floats) -> Floats:
    # Unknowns in rad and rad/s differ by orders of magnitude in what is known of them.
    scale = 1.0 / np.sqrt(np.diag(information))
    inverse = np.linalg.inv(information * np.outer(scale, scale))
    return np.asarray(0.5 * (inverse + inverse.T) * np.outer(scale, scale))


def _add_prior(
    unknowns: Unknowns, begin: Unknowns, up: Floats, hold_first: bool, information: Floats, slope: Floats
) -> None:
    """What is known beforehand, about the start; the first heading is zero by definition."""
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


# What the recordings determine: posterior standard deviations, and the poses that would tell the rest.

MOUNT_BLIND = np.radians(3.0)
HEADING_BLIND = np.radians(5.0)
BIAS_BLIND = np.radians(0.5)
"""rad and rad/s; what is less sure than this is not determined. Beforehand, it is ten times as unsure or more."""
AZIMUTH_BLIND = np.radians(1.0)
"""rad; the azimuth of the joints is only worth fitting if it is known better than a sensor can be glued on."""
_SAME = 0.995
_PART = 0.1
"""An axis with more than this part of an undetermined direction is not determined."""


class Determined(NamedTuple):
    """Constants with what is not determined taken out."""

    mounts: Floats
    headings: Floats
    biases: Floats
    mount_sigmas: Floats
    heading_sigmas: Floats
    bias_sigmas: Floats


def azimuth_known(solution: Solution, up: Floats) -> bool:
    """Whether the motion tells how any sensor is turned about the vertical of the straight pose against the joints."""
    m = len(solution.unknowns.mounts)
    return any(up @ sensor_covariance(solution, i)[:3, :3] @ up < AZIMUTH_BLIND**2 for i in range(m))


def determined(solution: Solution, up: Floats, first_held: bool) -> Determined:
    """Values and standard deviations; infinite, and the value of a perfect sensor, where nothing is known."""
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
    # What a single pose leaves open is the turn about the vertical; noise tips the direction by a little.
    lost = [*blind, *(up if abs(direction @ up) > _SAME else direction for direction in found)]
    known = values <= MOUNT_BLIND**2
    sigmas = np.sqrt((directions[:, known] ** 2 * values[known]).sum(axis=1))
    for direction in lost:
        sigmas[np.abs(direction) > _PART] = np.inf
    return sigmas, lost


def _without(mount: Floats, lost: list[Floats]) -> Floats:
    """The mount without its turn about an undetermined direction; nothing is left of one with several."""
    if not lost:
        return mount
    if len(lost) > 1:
        return np.eye(3)
    w, xyz = so3.quaternion(mount)
    return np.asarray(so3.exp(-2.0 * np.arctan2(xyz @ lost[0], w) * lost[0]) @ mount)


class Verdict(NamedTuple):
    """Of one number of a calibration."""

    sensor: int
    parameter: str
    """``mount x``, ``mount y``, ``mount z``, ``heading``, ``gyro bias x``, ..."""
    value: float
    """rad or rad/s."""
    sigma: float
    """rad or rad/s; infinite when not identifiable."""
    word: str
    """``determined``, ``by definition`` or ``not identifiable``."""
    remedy: str
    """What would determine it."""


def verdicts(calibration: Calibration) -> tuple[Verdict, ...]:
    """One for each number, sensor by sensor."""
    rows = list[Verdict]()
    for i, sensor in enumerate(calibration.sensors.tolist()):
        turns = so3.log(calibration.mounts[i])
        named = [(f"mount {axis}", turns[k], calibration.mount_sigmas[i, k]) for k, axis in enumerate("xyz")]
        named.append(("heading", calibration.headings[i], calibration.heading_sigmas[i]))
        named += [
            (f"gyro bias {axis}", calibration.gyro_biases[i, k], calibration.gyro_bias_sigmas[i, k])
            for k, axis in enumerate("xyz")
        ]
        rows += [_verdict(calibration.poses, i, sensor, name, float(v), float(sigma)) for name, v, sigma in named]
    return tuple(rows)


def _verdict(poses: tuple[str, ...], i: int, sensor: int, name: str, value: float, sigma: float) -> Verdict:
    if np.isfinite(sigma):
        word = "by definition" if i == 0 and name == "heading" else "determined"
        return Verdict(sensor, name, value, sigma, word, "")
    return Verdict(sensor, name, value, sigma, "not identifiable", _remedy(poses, i, name))


def _remedy(poses: tuple[str, ...], i: int, name: str) -> str:
    if name.startswith("gyro"):
        return "send rates (frames 0x180 + sensor)"
    if i == 0:
        motion = "motion of pin, rolling, flexure or universal joints"
        return f"{motion}; until then the base sensor defines the azimuth" if "motion" not in poses else (
            "larger motion, unless all joints are balls; the base sensor defines the azimuth"
        )  # fmt: skip
    missing = [pose for pose in ("straight", "tilted", "motion") if pose not in poses]
    return {"tilted": "a pose tilted by about 30 deg", "motion": "30 s of motion"}.get(
        missing[0] if missing else "", "a larger tilt, or more motion"
    )
