"""Compile kernels before they are needed and keep them on disk: for tests, containers and the workers of a cluster.

Nobody has to: what a call needs is compiled when it is first made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import vertebra as vb
from vertebra.errors import InputError

PULL = [2.0, 2.0, 2.0, 2.0]
UPRIGHT = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def _kinematics() -> None:
    _pose(vb.load("hu2023-prototype"))


def _pose(robot: vb.Robot) -> None:
    pose = vb.Pose(robot, [0.0] * robot.freedoms)
    pose.jacobian(), pose.masses


def _statics() -> None:
    _shapes(vb.load("hu2023-prototype"), PULL)


def _shapes(robot: vb.Robot, pull: list[float]) -> None:
    shape = vb.shape_from_tensions(robot, pull)
    shape.tension_margin()
    turning = [vb.Load(moment=(1e-3, 0.0, 0.0))]  # has no energy
    vb.shape_from_tensions(robot, pull, loads=turning).tension_margin()
    vb.shapes_from_tensions(robot, [pull]).shape(0)
    vb.sensitivity(shape, by="tensions")
    vb.shapes_from_tensions(robot, [pull], loads=turning)
    vb.shape_from_lengths(robot, shape.lengths, stiffness_EA=1e4, check=False)
    vb.tensions_for_tip(robot, shape.tip, check=False)


def _friction() -> None:
    _path(vb.load("yang2023-a"), [8.0, 8.0, 6.0, 6.0])


def _path(robot: vb.Robot, pull: list[float], friction: float | None = None) -> None:
    path = vb.ShapePath(robot, friction=friction)
    vb.sensitivity(path.step(pull), by="tensions")
    path.follow([pull])
    vb.shapes_from_tensions(robot, [pull], friction=friction).shape(0)
    vb.tensions_for_tip(robot, path.step(pull).tip, path=path, check=False)


def _payload() -> None:
    from vertebra.locked import payload_gradient

    snake = vb.load("cai2023")
    vb.payload_map(snake, 0.0, 0.0, 35.0, directions=1)
    payload_gradient(vb.payload(snake, 0.0, 0.0, 35.0, (0.0, -1.0, 0.0)))
    vb.best_tensions(snake, (0.0, 0.0), (0.0, -1.0, 0.0), (30.0, 35.0))


def _dynamics() -> None:
    _motion(vb.load("dantuono2023"))


def _motion(robot: vb.Robot) -> None:
    rest = [0.0] * robot.freedoms
    vb.inverse_dynamics(robot, rest, rest, rest)
    vb.mass_matrix(robot, rest)
    vb.forward_dynamics(robot, rest, rest, tau=rest)


def _simulation() -> None:
    vb.simulate(vb.load("dantuono2023"), [20.0] * 4, duration=1e-3, friction=0.0, sensitivities=["gravity"])


def _tensions() -> None:
    _allocation(vb.load("dantuono2023"))


def _allocation(robot: vb.Robot) -> None:
    for method in ("shared", "per_link", "project"):
        vb.allocate_tensions(robot, [0.0] * robot.freedoms, method=method)


def _sensing() -> None:
    modules = vb.load("lapusan2022")
    for estimator in (vb.ShapeEstimator(modules), vb.ShapeEstimator(modules, "pairwise")):
        for sensor in (0, 4):  # a gap, so that all of the pairwise method is called
            estimator.update(sensor, UPRIGHT, 0.0, gyro=[0.0] * 3)
        estimator.solve()


def _spatial() -> None:
    """The same for joints with several freedoms, whose kernels are compiled by themselves."""
    section = {
        "joints": 2,
        "joint": {"kind": "backbone", "length": 0.02, "stiffness": 0.1, "damping": 1e-3},
        "link": {"length": 0.01, "mass": 1e-3, "inertia": [1e-7, 1e-7, 1e-7]},
        "cables": {"radius": 0.005, "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"], "max_tension": 9.0},
    }
    robot = vb.load({"vertebra": 1, "name": "rod", "sections": [section]})
    _pose(robot)
    _shapes(robot, PULL)
    _path(robot, PULL, 0.1)
    _motion(robot)
    vb.simulate(robot, PULL, duration=1e-3, sensitivities=["gravity"])
    _allocation(robot)


def _papers() -> None:
    from vertebra.papers.hu2023.literal import literal_robot, literal_shape

    robot = vb.load("hu2023-prototype")
    literal_shape(literal_robot(robot), PULL, robot.gravity)


GROUPS: dict[str, Callable[[], None]] = {
    "spatial": _spatial,
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
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    from vertebra.mechanics import compiled

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
