"""How much joints twist and headings wander, as the motion itself shows it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.calibration.motion_system import Motion, MotionNoise
from vertebra.sensing.calibration.noise import correlation_length
from vertebra.sensing.calibration.readings import Flags
from vertebra.sensing.calibration.static_pose import StaticPose
from vertebra.sensing.calibration.unknowns import Unknowns

_SLOW = 2 * math.pi * 0.3
"""rad/s; the pace at which joints are taken to twist until the motion shows it."""
_STIFFEST = math.radians(0.02), math.radians(0.005)
"""rad, rad/s; no joint is trusted to twist less."""
_SHORTEST_MEMORY = 1.0
"""s; headings of a moving robot are taken to repeat their errors for at least so long."""
_STAYS = 1.0
"""s; a joint that twists at some rate is taken to get as far as that rate carries it in this time."""


def noise_stated(robot: Robot, pose: StaticPose, period: float) -> MotionNoise:
    """From the robot file, and what the sensors did at rest with `period` s between readings."""
    tilt_memory, heading_memory, gyro_memory = pose.memory
    tilt = max(float(robot.sensor_noise[:2].max()), float(np.median(pose.tilt_noises)))
    heading = max(float(robot.sensor_noise[2]), float(np.median(pose.heading_noises)))
    twist = max(robot.sensor_twist, _STIFFEST[0])
    return MotionNoise(
        tilt=tilt**2 * tilt_memory,
        heading=heading**2,
        heading_memory=max(heading_memory * period, _SHORTEST_MEMORY),
        gyro=pose.gyro_noises**2 * gyro_memory,
        gyro_spread=pose.gyro_noises,
        twist=twist**2,
        twist_rate=(_SLOW * twist) ** 2,
    )


def noise_found(motion: Motion, unknowns: Unknowns) -> MotionNoise:
    """With the twisting of the joints as found in the motion so far."""
    noise = motion.noise
    excess, memory = twisting(motion, unknowns)
    if excess is None:
        return noise
    rate = max(excess, _STIFFEST[1])
    twist = min(math.sqrt(noise.twist), max(rate * _STAYS, _STIFFEST[0]))
    # One thing that a joint forbids only ties headings together; two also tell of mounts, and memory counts.
    repeats = memory if any(len(gap.constants) > 1 for gap in motion.gaps) else 1.0
    return replace(noise, twist=twist**2 * repeats, twist_rate=rate**2 * memory)


def twisting(motion: Motion, unknowns: Unknowns) -> tuple[float | None, float]:
    """Standard deviation of forbidden rates beyond the noise of the gyroscopes, rad/s, and their memory in samples."""
    data, rows, flags, expected = motion.readings, list[Floats](), list[Flags](), list[float]()
    power = np.where(np.isfinite(motion.noise.gyro_spread), motion.noise.gyro_spread, 0.0) ** 2
    for i, rates in enumerate(motion.twist_rates(unknowns)):
        both = data.gyro_seen[i] & data.seen[i] & data.gyro_seen[i + 1] & data.seen[i + 1]
        for row in rates if both.any() else ():
            rows.append(row)
            flags.append(both)
            expected.append(float(power[i] + power[i + 1]))
    if not rows:
        return None, 1.0
    series, seen = np.array(rows), np.array(flags)
    found = (np.where(seen, series, 0.0) ** 2).sum(axis=1) / seen.sum(axis=1)
    return math.sqrt(max(float((found - expected).mean()), 0.0)), correlation_length(series, seen)


def heading_residuals(motion: Motion, unknowns: Unknowns) -> Floats:
    """(m, K) rad."""
    every = slice(None)
    return np.stack([motion.sensor(i, unknowns, every)[0].residuals[:, 2] for i in range(len(unknowns.mounts))])


def tilt_residuals(motion: Motion, unknowns: Unknowns) -> Floats:
    """(m, K, 2) rad."""
    every = slice(None)
    return np.stack([motion.sensor(i, unknowns, every)[0].residuals[:, :2] for i in range(len(unknowns.mounts))])
