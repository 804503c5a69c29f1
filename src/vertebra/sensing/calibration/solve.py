"""Gauss-Newton on all recordings at once: where to start, what to repeat, when to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vertebra.robot.tables import Floats
from vertebra.sensing import so3
from vertebra.sensing.calibration.motion_noise import noise_found
from vertebra.sensing.calibration.motion_system import Motion
from vertebra.sensing.calibration.noise import Tolerances
from vertebra.sensing.calibration.static_pose import StaticPose
from vertebra.sensing.calibration.static_rows import static_equations
from vertebra.sensing.calibration.unknowns import EACH, HEADING, Unknowns

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

Watch = Callable[[int, float], None]
"""Told after each step: its number, the largest move in standard deviations."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Unknowns with the least misfit."""

    unknowns: Unknowns
    covariance: Floats
    """(size, size) of their changes."""
    motion: Motion | None
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
    motion: Motion | None,
    up: Floats,
    tolerances: Tolerances,
    hold_first: bool,
    watch: Watch | None = None,
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
