"""Compile kernels before they are needed and keep them on disk: for tests, containers and the workers of a cluster.

Nobody has to: what a call needs is compiled when it is first made.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed

import numpy as np

from vertebra.dynamics.allocation import allocate_tensions
from vertebra.dynamics.equations_of_motion import forward_dynamics, inverse_dynamics, mass_matrix
from vertebra.dynamics.simulate import simulate
from vertebra.errors import InputError
from vertebra.locked.best import best_tensions
from vertebra.locked.map import payload_map
from vertebra.locked.payload import payload
from vertebra.mechanics import compiled
from vertebra.mechanics.kinematics import Pose
from vertebra.papers.hu2023.literal import literal_robot, literal_shape
from vertebra.robot.robot import load
from vertebra.sensing.estimator import ShapeEstimator
from vertebra.statics.forward import shape_from_lengths, shape_from_tensions, shapes_from_tensions
from vertebra.statics.path import ShapePath
from vertebra.statics.tip import tensions_for_tip

PULL = [2.0, 2.0, 2.0, 2.0]


def _kinematics() -> None:
    robot = load("hu2023-prototype")
    pose = Pose(robot, np.zeros(robot.freedoms))
    pose.jacobian(), pose.masses


def _statics() -> None:
    robot = load("hu2023-prototype")
    shape = shape_from_tensions(robot, PULL)
    shapes_from_tensions(robot, [PULL]).shape(0)
    shape_from_lengths(robot, shape.lengths, stiffness_EA=1e4, check=False)
    tensions_for_tip(robot, shape.tip, check=False)


def _friction() -> None:
    robot, pull = load("yang2023-a"), [8.0, 8.0, 6.0, 6.0]
    path = ShapePath(robot)
    path.step(pull)
    path.follow([pull])
    shapes_from_tensions(robot, [pull]).shape(0)
    tensions_for_tip(robot, path.step(pull).tip, path=path, check=False)


def _payload() -> None:
    snake = load("cai2023")
    payload_map(snake, 0.0, 0.0, 35.0, directions=1)
    payload(snake, 0.0, 0.0, 35.0, (0.0, -1.0, 0.0))
    best_tensions(snake, (0.0, 0.0), (0.0, -1.0, 0.0), (30.0, 35.0))


def _dynamics() -> None:
    chain, rest = load("dantuono2023"), np.zeros(6)
    inverse_dynamics(chain, rest, rest, rest)
    mass_matrix(chain, rest)
    forward_dynamics(chain, rest, rest, tau=rest)


def _simulation() -> None:
    simulate(load("dantuono2023"), 20.0 * np.ones(4), duration=1e-3)


def _tensions() -> None:
    chain, rest = load("dantuono2023"), np.zeros(6)
    for method in ("shared", "per_link", "project"):
        allocate_tensions(chain, rest, method=method)


def _sensing() -> None:
    modules = load("lapusan2022")
    for estimator in (ShapeEstimator(modules), ShapeEstimator(modules, "pairwise")):
        for sensor in (0, 4):  # a gap, so that all of the pairwise method is called
            estimator.update(sensor, np.eye(3), 0.0, gyro=np.zeros(3))
        estimator.solve()


def _papers() -> None:
    robot = load("hu2023-prototype")
    literal_shape(literal_robot(robot), PULL, robot.gravity)


GROUPS: dict[str, Callable[[], None]] = {
    "simulation": _simulation,
    "tensions": _tensions,
    "friction": _friction,
    "statics": _statics,
    "payload": _payload,
    "sensing": _sensing,
    "dynamics": _dynamics,
    "kinematics": _kinematics,
    "papers": _papers,
}
"""Calls that need every kernel of a question; the longest first, so that no process ends up alone with it."""


def compile_group(name: str) -> float:
    """Call every kernel of a group once; returns the CPU time it took, s."""
    start = time.process_time()
    GROUPS[name]()
    return time.process_time() - start


def compile_groups(names: Iterable[str], processes: int | None = None) -> Iterator[tuple[str, float]]:
    """Compile the kernels of some groups, or of "all", side by side in processes of their own, one per core unless
    `processes` says otherwise; yields each group with the CPU time it took, s, as it is done."""
    asked = set(names)
    unknown = sorted(asked - set(GROUPS) - {"all"})
    if unknown:
        raise InputError("groups", f"there is no {unknown[0]!r}; known are all, {', '.join(sorted(GROUPS))}")
    chosen = [name for name in GROUPS if name in asked or "all" in asked]
    workers = min(compiled.thread_count(processes), len(chosen))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=compiled.be_quiet) as pool:
        futures = {pool.submit(compile_group, name): name for name in chosen}
        for future in as_completed(futures):
            yield futures[future], future.result()
