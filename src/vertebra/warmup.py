"""Compile all kernels and keep them on disk, so that a user's first answer does not wait: part of set-up."""

from __future__ import annotations

import time

import numpy as np

from vertebra.dynamics.allocation import allocate_tensions
from vertebra.dynamics.equations_of_motion import forward_dynamics, inverse_dynamics, mass_matrix
from vertebra.dynamics.simulate import simulate
from vertebra.locked.best import best_tensions
from vertebra.locked.map import payload_map
from vertebra.locked.payload import payload
from vertebra.mechanics.kinematics import Pose
from vertebra.papers.hu2023.literal import literal_robot, literal_shape
from vertebra.robot.robot import load
from vertebra.sensing.estimator import ShapeEstimator
from vertebra.statics.forward import shape_from_lengths, shape_from_tensions, shapes_from_tensions
from vertebra.statics.path import ShapePath
from vertebra.statics.tip import tensions_for_tip


def compile_kernels() -> float:
    """Call every kernel once; returns the CPU time it took, s."""
    start = time.process_time()
    robot = load("hu2023-prototype")
    straight = np.zeros(robot.freedoms)
    pose = Pose(robot, straight)
    pose.jacobian(), pose.masses
    shape = shape_from_tensions(robot, [2.0, 2.0, 2.0, 2.0])
    shapes_from_tensions(robot, [[2.0, 2.0, 2.0, 2.0]]).shape(0)
    shape_from_lengths(robot, shape.lengths, stiffness_EA=1e4, check=False)
    tensions_for_tip(robot, shape.tip, check=False)
    rough, pull = load("yang2023-a"), [8.0, 8.0, 6.0, 6.0]
    path = ShapePath(rough)
    path.step(pull)
    path.follow([pull])
    shapes_from_tensions(rough, [pull]).shape(0)
    tensions_for_tip(rough, path.step(pull).tip, path=path, check=False)
    snake = load("cai2023")
    payload_map(snake, 0.0, 0.0, 35.0, directions=1)
    payload(snake, 0.0, 0.0, 35.0, (0.0, -1.0, 0.0))
    best_tensions(snake, (0.0, 0.0), (0.0, -1.0, 0.0), (30.0, 35.0))
    chain, rest = load("dantuono2023"), np.zeros(6)
    inverse_dynamics(chain, rest, rest, rest)
    mass_matrix(chain, rest)
    forward_dynamics(chain, rest, rest, tau=rest)
    simulate(chain, 20.0 * np.ones(4), duration=1e-3)
    allocate_tensions(chain, rest)
    allocate_tensions(chain, rest, method="per_link")
    allocate_tensions(chain, rest, method="project")
    modules = load("lapusan2022")
    for estimator in (ShapeEstimator(modules), ShapeEstimator(modules, "pairwise")):
        for sensor in (0, 4):  # a gap, so that all of the pairwise method is called
            estimator.update(sensor, np.eye(3), 0.0, gyro=np.zeros(3))
        estimator.solve()
    literal_shape(literal_robot(robot), [2.0, 2.0, 2.0, 2.0], robot.gravity)
    return time.process_time() - start


if __name__ == "__main__":
    print("Compiling the kernels (once; they are kept on disk) ...", flush=True)
    print(f"Kernels ready after {compile_kernels():.1f} s.")
