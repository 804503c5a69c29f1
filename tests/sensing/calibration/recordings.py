"""Simulated recordings of the three poses of a calibration, of sensors with known constants."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import vertebra as vb
from vertebra.sensing import so3
from vertebra.sensing.calibration.calibrate import calibrate
from vertebra.sensing.calibration.rest import Tolerances
from vertebra.sensing.simulated.motion import Motion, SensorTruth, base_rotation
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import Simulation, simulated_frames
from vertebra.sensing.wire.can import (
    ANGLE_STEP,
    ANGLES,
    GYRO,
    RATE_STEP,
    Frame,
    angles_data,
    decode_angles,
    decode_gyro,
    gyro_data,
    kind_and_node,
)

DEGREE = np.pi / 180
DATASHEET = SensorModel.datasheet(gyro_bias=0.0)


class Poses(NamedTuple):
    truth: SensorTruth
    straight: list[Frame]
    tilted: list[Frame]
    motion: list[Frame]
    moving: Simulation
    """The motion as perfectly mounted sensors send it, with the true shapes."""


def constants(robot, seed, mount=3.0, heading=6.0, bias=0.5):
    """Standard deviations in deg and deg/s."""
    rng, m = np.random.default_rng([seed, 77]), len(robot.sensor_links)
    return SensorTruth(
        tuple(robot.sensor_links.tolist()),
        so3.exp(mount * DEGREE * rng.standard_normal((m, 3))),
        heading * DEGREE * rng.standard_normal(m),
        bias * DEGREE * rng.standard_normal((m, 3)),
    )


def mounted(frames, truth, seed=0):
    """The same frames from sensors that are mounted and biased as `truth` says: R_meas = Rz R M, gyro = M^T w + b."""
    rng, out = np.random.default_rng([seed, 79]), list(frames)
    row = {sensor: i for i, sensor in enumerate(truth.sensors)}
    found = [(place, *kind_and_node(frame.id)) for place, frame in enumerate(frames)]
    for kind, step, decode, encode in (
        (ANGLES, ANGLE_STEP, decode_angles, angles_data), (GYRO, RATE_STEP, decode_gyro, gyro_data)
    ):  # fmt: skip
        places = [place for place, which, _ in found if which == kind]
        i = np.array([row[node] for _, which, node in found if which == kind])
        samples = [decode(frames[place].data) for place in places]
        values = np.array([sample.values for sample in samples])
        if kind == ANGLES:
            upright = Rotation.from_euler("z", truth.headings[i, None]) * Rotation.from_euler("xyz", values)
            changed = (upright * Rotation.from_matrix(truth.mounts[i])).as_euler("xyz")
        else:
            changed = np.einsum("kba,kb->ka", truth.mounts[i], values) + truth.gyro_biases[i]
        # Half a count of noise keeps the second rounding from adding a bias of its own.
        changed += step * rng.uniform(-0.5, 0.5, changed.shape)
        for place, sample, value in zip(places, samples, changed, strict=True):
            out[place] = frames[place]._replace(data=encode(value, sample.counter, sample.status, sample.age))
    return out


def variant(name, joints=None, links=None):
    """A preset with another number of joints, or sensors on some links only."""
    mapping = vb.load(name).to_mapping()
    if joints is not None:
        mapping["sections"] = [mapping["sections"][0] | {"joints": joints}]
    if links is not None:
        mapping["sensors"] = {"links": links}
    else:
        mapping.pop("sensors", None)
    return vb.load(mapping)


def poses(robot, seed, model=DATASHEET, *, rest=10.0, moving=30.0, tilt=30.0, amplitude=0.35, sync_rate=100.0):
    """Straight, tilted by `tilt` deg about a random horizontal axis, and a random motion."""
    truth = constants(robot, seed)
    base, still = base_rotation(robot, None), Motion.straight(robot)
    rng = np.random.default_rng([seed, 78])
    azimuth = rng.uniform(0, 2 * np.pi)
    lean = so3.exp(tilt * DEGREE * np.array([np.cos(azimuth), np.sin(azimuth), 0.0])) @ base
    straight = simulated_frames(robot, still, model, rest, 10 * seed + 1, base=base, sync_rate=sync_rate)
    tilted = simulated_frames(robot, still, model, rest, 10 * seed + 2, base=lean, sync_rate=sync_rate)
    motion = Motion.wander(robot, seed, amplitude=amplitude)
    run = simulated_frames(robot, motion, model, moving, 10 * seed + 3, base=base, sync_rate=sync_rate)
    parts = [mounted(part.frames, truth, seed) for part in (straight, tilted, run)]
    return Poses(truth, *parts, run)


@cache
def lapusan(seed):
    """Of the preset, once."""
    return poses(vb.load("lapusan2022"), seed)


EXACT = Tolerances(1e-6, 1e-6, 0.0, 0.0)
"""A perfect fixture, as the simulated one is: what is left is the noise of the sensors."""


@cache
def calibrated(seed):
    """The preset from all three poses, once."""
    data = lapusan(seed)
    return calibrate(vb.load("lapusan2022"), data.straight, data.tilted, data.motion)


def mount_errors(calibration, truth):
    """(m, 3) rotation vectors in link axes, deg."""
    return np.degrees(so3.log(calibration.mounts @ np.swapaxes(truth.mounts, 1, 2)))
