"""Both motions with simulated sensors, through the CAN network and the estimator."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import vertebra as vb
from vertebra.papers.lapusan2022.cases import DURATION, METHODS, Method, motion, python_robot
from vertebra.papers.lapusan2022.equations import poses_mm_deg
from vertebra.papers.lapusan2022.growth import stated_noise
from vertebra.papers.lapusan2022.published import LOOP_RATE, SENSOR_RATE, TESTS
from vertebra.papers.lapusan2022.tip_errors import TipError, differences, distances_mm, mean_absolute, tip_error
from vertebra.papers.lapusan2022.true_poses import true_platforms
from vertebra.robot.tables import Floats
from vertebra.sensing.simulated.sensors import SensorModel
from vertebra.sensing.simulated.stream import Simulation, simulated_frames

SEEDS = (1, 2, 3)
USED = {"hil": ("stated", "datasheet"), "tracker": ("stated", "bursts", "datasheet")}
"""Models of the sensors by motion."""
BURSTS = (math.radians(5.0), math.radians(20.0))
MODELS = {
    "stated": "white noise of the stated precision, 0.05 deg about x and y and 1 deg about z, and nothing else",
    "bursts": "the same and magnetic bursts of 5 to 20 deg on one heading, a tenth of the time, not flagged",
    "datasheet": "wandering headings, magnetic bursts of 5 to 20 deg, gyro errors, clocks, one frame in ten lost",
}


@dataclass(frozen=True, eq=False)
class Run:
    """One motion with one set of simulated sensors and one method."""

    test: str
    model: str
    method: str
    seed: int
    times: Floats
    """(N,) s"""
    errors: Floats
    """(N, 6) of the tip in the base: x, y, z in mm and alpha, beta, gamma in deg."""
    distances: Floats
    """(N,) mm"""
    mae: Floats
    """(6,) mean absolute errors, mm and deg."""
    tip: TipError

    def __repr__(self) -> str:
        return f"Run({self.test}, {self.model}, {self.method}, seed {self.seed}: {self.tip.mean_mm:.3f} mm)"


def sensor_model(name: str) -> SensorModel:
    """One of `MODELS`."""
    if name == "datasheet":
        return SensorModel.datasheet(rate=SENSOR_RATE)
    tilt, _, heading = stated_noise()
    calm = SensorModel(rate=SENSOR_RATE, tilt_noise=float(tilt), heading_noise=float(heading))
    return calm if name == "stated" else replace(calm, disturbance=BURSTS, disturbance_share=0.1)


def runs() -> Iterator[Run]:
    """Every motion, model, seed and method."""
    robot = python_robot()
    for test in TESTS:
        for model in USED[test]:
            for seed in SEEDS:
                simulated = simulated_frames(
                    robot, motion(test), sensor_model(model), DURATION, seed, base=np.eye(3), sync_rate=LOOP_RATE
                )
                yield from (_run(test, model, method, seed, simulated) for method in METHODS.values())


def _run(test: str, model: str, method: Method, seed: int, simulated: Simulation) -> Run:
    times, found = sensed_tips(simulated, method)
    true = true_platforms(simulated.truth.robot, motion(test).angles(times))[:, -1]
    return Run(
        test, model, method.name, seed, times, differences(found, true), distances_mm(found, true),
        mean_absolute(found, true), tip_error(found, true),
    )  # fmt: skip


def sensed_tips(simulated: Simulation, method: Method) -> tuple[Floats, Floats]:
    """Times (N,) s and poses of the tip in the base (N, 4, 4) m, a shape whenever the network has one."""
    from vertebra.sensing.network import SensorNetwork

    network = SensorNetwork(vb.ShapeEstimator(simulated.truth.robot, method.estimator, twist=method.twist))
    shapes = [shape for frame in simulated.frames if (shape := network.receive(frame)) is not None]
    return np.array([shape.time for shape in shapes]), np.array([shape.tip_frame_in_base for shape in shapes])


def ranges(test: str) -> Floats:
    """(6,) mm and deg: how far the tip of our motion goes."""
    angles = motion(test).angles(np.arange(0.0, DURATION, 1.0 / LOOP_RATE))
    return np.asarray(np.ptp(poses_mm_deg(true_platforms(python_robot(), angles)[:, -1]), axis=0))
