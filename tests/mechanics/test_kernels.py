"""Promises about the compiled code itself."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from numba.core.errors import NumbaError
from numba.core.runtime import _nrt_python, rtsys
from tests import robots

import vertebra as vb
from vertebra.locked import best as pushes
from vertebra.locked import chain as locked_chain
from vertebra.locked import gradient as locked_gradient
from vertebra.locked import map as payload_map
from vertebra.locked import payload as limit
from vertebra.locked import payload_gradient
from vertebra.mechanics.compiled import kernel
from vertebra.mechanics.kernels.cables import measure_segments
from vertebra.mechanics.kernels.describe import describe_shape, find_shapes, find_tip, locate_masses
from vertebra.mechanics.kernels.joints import point_jacobian, walk_chain
from vertebra.mechanics.kernels.lanes import find_shapes_in_lanes
from vertebra.mechanics.kernels.newton import find_shape, inspect_pose
from vertebra.mechanics.problem import Problem
from vertebra.robot.tables import PIN
from vertebra.statics import forward as from_lengths
from vertebra.statics import forward as from_tensions
from vertebra.statics import hold as for_shape
from vertebra.statics import shape
from vertebra.statics import tip_search as for_tip
from vertebra.statics.branches import joint_stiffness


def assert_no_allocation_inside(calls):
    """Not even the headers that numba otherwise keeps of the arrays handed over."""

    def call():
        return [function(*arguments) for function, arguments in calls]

    call()
    enabled = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        answers = call()
        after = rtsys.get_allocation_stats()
    finally:
        if not enabled:
            _nrt_python.memsys_disable_stats()
    assert after.alloc == before.alloc
    return answers


@pytest.mark.parametrize("robot", robots.every_robot(), ids=lambda robot: robot.name)
def test_kernels_allocate_nothing(robot):
    n, f, c = len(robot.joints), robot.freedoms, len(robot.cables)
    q = np.full(f, 0.1)
    tables = (robot.joints, robot.links, robot.cables, robot.segments, q)
    frames, twists, jacobian = np.empty((n + 1, 4, 4)), np.empty((f, 6)), np.empty((6, f))
    lengths, first, second, cross = np.empty((c, n)), np.empty((c, f)), np.empty((c, f)), np.empty((c, n))
    places = np.empty((n + 1, 3)), np.empty((n, 3)), np.empty((c, n)), np.empty((c, n, 3)), np.empty((c, 3))
    calls = [
        (walk_chain, (robot.joints, robot.links, robot.origin, q, frames, twists)),
        (point_jacobian, (robot.joints, frames, twists, n, robot.tip_point, jacobian)),
        (measure_segments, (*tables, lengths, first, second, cross)),
        (locate_masses, (*tables, frames, lengths, *places)),
    ]
    assert_no_allocation_inside(calls)


def mirror_robots():
    return [robot for robot in robots.every_robot() if robot.joints["kind"].max() <= PIN]


TURNING = vb.Load(moment=(0.0, 0.0, 1e-3))
SOLVERS = {
    "find_shape": (from_tensions, lambda robot, pull, given: vb.shape_from_tensions(robot, pull, **given)),
    "describe_shape": (shape, lambda robot, pull, given: vb.shape_from_tensions(robot, pull, **given)),
    "find_shapes": (from_tensions, lambda robot, pull, given: by_single_rows(robot, [pull] * 5, given)),
    "find_shapes_in_lanes": (from_tensions, lambda robot, pull, given: in_lanes(robot, [pull] * 5, given)),
    "inspect_pose": (
        for_shape,
        lambda robot, pull, given: vb.tensions_for_shape(robot, np.zeros(robot.freedoms), **given),
    ),
    "find_tip": (for_tip, lambda robot, pull, given: lift_tip(robot, pull, given)),
}


def by_single_rows(robot, rows, given):
    vb.shapes_from_tensions(robot, rows, **given | {"loads": (*given["loads"], TURNING)})


def in_lanes(robot, rows, given):
    loads = tuple(load for load in given["loads"] if load is not TURNING)
    vb.shapes_from_tensions(robot, rows, gravity=(0, 0, 0), friction=0, **given | {"loads": loads})


def lift_tip(robot, pull, given):
    tip = vb.shape_from_tensions(robot, pull, **given).tip
    vb.tensions_for_tip(robot, tip, lower=0.99 * pull, upper=1.01 * pull, **given)


def elastic_shape(robot, pull):
    rest = vb.Pose(robot, np.zeros(robot.freedoms)).cable_lengths / (1.0 + pull / 1e4)
    return vb.shape_from_lengths(robot, rest, stiffness_EA=1e4, check=False)


def recorded_call(module, name, monkeypatch, ask):
    """A kernel and the arguments with which the solvers themselves call it."""
    kernel, calls = getattr(module, name), []

    def record(*arguments):
        calls.append(arguments)
        return kernel(*arguments)

    monkeypatch.setattr(module, name, record)
    ask()
    monkeypatch.undo()
    return kernel, calls[-1]


@pytest.mark.parametrize("loads", [(), (vb.Load(force=(0.01, 0.0, 0.0)), TURNING)], ids=["plain", "turned"])
@pytest.mark.parametrize(
    ("robot", "name"),
    # The free pins of the mix have no stable shape from which a search for the tip could start.
    [(r, name) for r in mirror_robots() for name in SOLVERS if (r.name, name) != ("mirror-mix", "find_tip")],
    ids=lambda value: getattr(value, "name", value),
)
def test_solvers_allocate_nothing(robot, name, loads, monkeypatch):
    module, ask = SOLVERS[name]
    pull, given = np.full(len(robot.cables), 20.0), {"loads": loads, "check": False}
    assert_no_allocation_inside([recorded_call(module, name, monkeypatch, lambda: ask(robot, pull, given))])


@pytest.mark.parametrize("robot", mirror_robots(), ids=lambda robot: robot.name)
def test_solver_by_lengths_allocates_nothing(robot, monkeypatch):
    pull = np.full(len(robot.cables), 20.0)
    call = recorded_call(from_lengths, "find_shape", monkeypatch, lambda: elastic_shape(robot, pull))
    assert_no_allocation_inside([call])


@kernel
def allocating(count):
    return np.zeros(count).sum()


def test_a_kernel_that_allocates_does_not_compile():
    with pytest.raises(NumbaError, match="zeros"):
        allocating(3)


def test_one_compiled_version_of_each_kernel_serves_all_robots():
    for robot in robots.every_robot():
        q = np.zeros(robot.freedoms)
        _ = vb.Pose(robot, q).masses
        vb.Pose(robot, list(q)).jacobian(link=1)
        vb.Pose(robot, q).jacobian(point=(0, 0, 0.01))
        frozen = q.copy()
        frozen.flags.writeable = False
        vb.Pose(robot, frozen).jacobian()
    for function in (walk_chain, point_jacobian, measure_segments, locate_masses):
        assert len(function.signatures) == 1


def read_only(values):
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array


def test_two_compiled_versions_of_each_solver_serve_all_questions():
    # One without cable friction, one with.
    for robot in mirror_robots():
        n, c = len(robot.joints), len(robot.cables)
        pull, q = [20.0] * c, np.full(n, 0.01)
        for tensions in (pull, tuple(pull), np.array(pull), read_only(pull), np.full(2 * c, 20)[::2]):
            vb.shape_from_tensions(robot, tensions, check=False)
        for gravity in (None, "wall", (0, 0, -9.8), read_only([0, 0, 0])):
            for start in (None, q, q.tolist(), read_only(q), np.asfortranarray(np.tile(q, (2, 1)))[0]):
                vb.shape_from_tensions(robot, pull, gravity=gravity, start=start, check=False)
        for loads in ([], (TURNING,), TURNING, [vb.Load(force=(0.1, 0, 0), link=1), TURNING]):
            lengths = vb.shape_from_tensions(robot, pull, loads=loads, check=False).lengths
            joint_stiffness(Problem.of(robot, None, loads), q, np.array(pull))
        rows = np.tile(np.array(pull)[:, None], 3)
        for tensions in (rows.T, rows.T.tolist(), read_only(rows.T), rows.T[::-1], np.asfortranarray(rows.T)):
            batch = vb.shapes_from_tensions(robot, tensions, threads=1)
        for start in (None, read_only(q)):
            vb.shapes_from_tensions(robot, rows.T, start=start, loads=TURNING, threads=1)
        vb.shapes_from_tensions(robot, rows.T, start=read_only(q), threads=1)
        vb.shapes_from_tensions(robot, rows.T, start=np.tile(q, (3, 1)), threads=2)
        batch.shape(1)
        vb.tensions_for_shape(robot, read_only(q), check=False)
        vb.shape_from_lengths(robot, read_only(lengths), stiffness_EA=1e4, start=read_only(q), check=False)
        vb.shape_from_lengths(robot, lengths.tolist(), check=False)
    robot = vb.load("hu2023-planar")
    for bounds in ({}, {"lower": read_only([0.5] * 4), "upper": 9}):
        for start in (None, read_only(np.zeros(5))):
            vb.tensions_for_tip(robot, (0.01, 0.0, 0.06), start=start, check=False, **bounds)
    robot = vb.load("yang2023-a")
    curve = vb.FrictionLaw.of(math.sin)
    for law in (0.3, curve, [0.1, 0.2, curve, vb.FrictionLaw.table([0.0, 1.0], [0.1, 0.2])]):
        path = vb.ShapePath(robot, friction=law, loads=[TURNING])
        path.step([5.0] * 4)
        path.follow(read_only(np.full((3, 4), 6.0)))
        path.restore(path.save())
        vb.tensions_for_tip(robot, path.step([7, 6, 6, 6], loads=[]).tip, path=path)
        path.step(shortenings=[1e-4] * 4)
    vb.shape_from_tensions(robot, [5] * 4, friction=0, closure="paper")
    for function in (find_shape, describe_shape, inspect_pose, find_shapes, find_tip):
        # Other tests may have asked about joints with several freedoms, for which there are two more.
        mirror = [types for types in function.signatures if "Spatial" not in str(types)]
        assert len(mirror) == 2, function.__name__
    assert len(find_shapes_in_lanes.signatures) == 1


SNAKE = vb.load("cai2023")
PAYLOADS = {
    "lay_out_locked_chain": locked_chain,
    "sum_supply": locked_chain,
    "point_of_link": locked_chain,
    "find_payload": limit,
    "differentiate_limit": locked_gradient,
    "map_limits": payload_map,
    "least_limits": pushes,
    "joint_limits": pushes,
}


def ask_for_payloads(bends=0.05, tensions=35.0, direction=(0, -1, 0), **given):
    payload_gradient(vb.payload(SNAKE, bends, 0.0, tensions, direction, **given))
    vb.payload_map(SNAKE, bends, 0.0, tensions, [direction], threads=1, **given)


@pytest.mark.parametrize("name", PAYLOADS)
def test_payload_kernels_allocate_nothing(name, monkeypatch):
    def ask():
        ask_for_payloads()
        vb.best_tensions(SNAKE, (0.05, 0.0), (0, -1, 0), (30, 35))

    assert_no_allocation_inside([recorded_call(PAYLOADS[name], name, monkeypatch, ask)])


def test_one_compiled_version_of_each_payload_kernel_serves_all_questions():
    bends = np.full(19, 0.05)
    for bent in (0, 0.05, bends.tolist(), read_only(bends), np.tile(bends, 2)[::2], bends.astype(np.float32)):
        ask_for_payloads(bends=bent)
    for tensions in (35, (30, 35, 35), read_only([30, 35, 35]), np.array([30, 35, 35])):
        ask_for_payloads(tensions=tensions)
    for gravity in (None, "ceiling", (0, 0, -9.8), read_only([0, 0, 0])):
        ask_for_payloads(gravity=gravity, loads=[vb.Load(force=(0.1, 0, 0), link=3)], socket_limit=1.0)
    ask_for_payloads(
        direction=read_only([0, 0, 1]), friction=0.1, guided=3, moment_per_force=(0, 0, 1), point=(0, 0, 0)
    )
    vb.payload(SNAKE, 0, 0, 35, (0, 1, 0), link=3, point=read_only([0, 0, 1e-3]), socket_limit=np.full(19, 0.9))
    vb.payload_map(SNAKE, np.tile(bends, (3, 1)), 0, [[35, 35, 35]] * 3, np.eye(3), links=[2, -1], threads=2)
    payload_gradient(vb.best_tensions(SNAKE, (bends, bends), "worst", (30, 35)).payload)
    payload_gradient(pickle.loads(pickle.dumps(vb.payload(SNAKE, 0.05, 0.0, 35, moment=(0, 0, 1), socket_limit=1.0))))
    for name, module in PAYLOADS.items():
        assert len(getattr(module, name).signatures) == 1, name
