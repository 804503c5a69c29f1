"""Shape sensing: the estimator against the published formula, growth with the number of modules, replay speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import vertebra as vb
from benchmarks.literal_sensing import chain_many, literal_many, literal_scratch
from benchmarks.report import Row
from benchmarks.timing import medians
from vertebra.mechanics.kernels.sensor_intake import UNKNOWN_RATE
from vertebra.robot.robot import Robot
from vertebra.sensing.estimator import ChainScratch, Fitted, ShapeEstimator
from vertebra.sensing.network import SensorNetwork
from vertebra.sensing.simulated.motion import Motion
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import simulated_frames

SIZE = 0.042
SNAPSHOTS = 20
PUBLISHED_SECONDS = 0.05
"""What the paper's board takes for one shape at most."""


def rows() -> list[Row]:
    return [*against_literal(), growth(), *replayed()]


def of_size(modules: int) -> Robot:
    section = {"joints": modules, "joint": {"kind": "universal", "lower": SIZE}, "link": {"length": SIZE}}
    return vb.load({"vertebra": 1, "name": f"{modules} modules", "sections": [section]})


def snapshots(robot: Robot, count: int) -> np.ndarray:
    """(count, n+1, 3) angles of a robot that moves slowly, with the noise of its sensors."""
    rng = np.random.default_rng(1)
    start, speed = rng.uniform(-0.3, 0.3, robot.freedoms), rng.uniform(-0.5, 0.5, robot.freedoms)
    angles = np.empty((count, len(robot.links), 3))
    for k in range(count):
        r = vb.Pose(robot, start + 0.01 * k * speed).frames[:, :3, :3]
        roll, pitch = np.arctan2(r[:, 2, 1], r[:, 2, 2]), -np.arcsin(r[:, 2, 0])
        angles[k] = np.stack([roll, pitch, np.arctan2(r[:, 1, 0], r[:, 0, 0])], axis=1)
    return angles + rng.normal(size=angles.shape) * robot.sensor_noise


def both(modules: int) -> tuple[Callable[[], float], Callable[[], float]]:
    """The formula and the estimator on the same snapshots, each in one compiled call."""
    robot = of_size(modules)
    angles = snapshots(robot, SNAPSHOTS)
    rotations, frames, poses = literal_scratch(modules)
    estimator, fit, found = ShapeEstimator(robot), ChainScratch(robot), Fitted(modules)
    table = estimator._table
    table["time"] = 0.0
    least, soft = 1.0 / (UNKNOWN_RATE * estimator.stale_after) ** 2, estimator.twist**2
    base, q, twist, two = np.eye(3), np.zeros(robot.freedoms), np.zeros(modules), np.empty((2, 3, 3))

    def literal() -> float:
        return float(literal_many(angles, SIZE, SIZE, rotations, frames, poses))

    def ours() -> float:
        return float(
            chain_many(
                angles, robot.joints, robot.links, robot.origin, fit.points, table, two, estimator.stale_after, least,
                estimator.gate, soft, np.zeros(modules), base, q, twist, fit.measured, fit.information, found.frames,
                fit.axes, fit.factors, fit.scratch, found.residuals, found.weights, found.variances, found.covariances,
            )
        )  # fmt: skip

    return literal, ours


def against_literal() -> list[Row]:
    found = []
    for modules in (4, 20):
        literal, ours = (seconds / SNAPSHOTS for seconds in medians(*both(modules)))
        what = f"shape from {modules + 1} orientations, {modules} modules"
        detail = f"{ours * 1e6:.1f} us, formula {literal * 1e6:.1f} us"
        limit = 6.0 if modules == 20 else None
        found.append(Row(what, "ours with covariance / published formula", ours / literal, limit, detail, at_most=True))
    robot = of_size(20)
    angles, estimator = snapshots(robot, SNAPSHOTS), ShapeEstimator(robot)

    def public() -> None:
        for row in angles:
            now = max(estimator.time, 0.0) + 0.01
            for sensor, values in enumerate(row):
                estimator.update(sensor, values, now)
            estimator.solve()

    (seconds,) = medians(public)
    seconds /= SNAPSHOTS
    what = "the same, 20 modules, 21 calls of update and one of solve"
    found.append(Row(what, "ours / published 50 ms", seconds / PUBLISHED_SECONDS, None, f"{seconds * 1e6:.0f} us"))
    return found


def growth() -> Row:
    sizes = (4, 20, 50, 200)
    times = [medians(both(modules)[1])[0] / SNAPSHOTS for modules in sizes]
    exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    return Row("shape from orientations, 4 to 200 modules", "exponent of time", exponent, 1.2, "", at_most=True)


def replayed() -> list[Row]:
    """Every frame of 102 sensors decoded and solved, against the time that it took to record."""
    robot, duration, found = of_size(101), 5.0, []
    quiet = Motion.wander(robot, 1, amplitude=0.05)
    for gyro, what, goal in ((False, "angles", 10.0), (True, "angles and rates", None)):
        frames = simulated_frames(robot, quiet, replace(SensorModel.datasheet(), gyro=gyro), duration, 1).frames
        network = SensorNetwork(ShapeEstimator(robot))
        start = time.perf_counter()
        shapes = sum(network.receive(frame) is not None for frame in frames)
        taken = time.perf_counter() - start
        detail = f"{len(frames)} frames, {shapes} shapes, {taken / len(frames) * 1e6:.1f} us a frame"
        title = f"replay of 102 sensors, {what} at 100 Hz"
        found.append(Row(title, "recorded time / ours", duration / taken, goal, detail))
    return found
