"""Promises about the compiled code itself."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from tests import robots

import vertebra as vb
from vertebra.mechanics.cables import measure_segments
from vertebra.mechanics.chain import frames_and_jacobian
from vertebra.mechanics.masses import locate_masses


@pytest.mark.parametrize("robot", robots.every_robot(), ids=lambda robot: robot.name)
def test_kernels_allocate_nothing(robot):
    n, f, c = len(robot.joints), robot.freedoms, len(robot.cables)
    q = np.full(f, 0.1)
    tables = (robot.joints, robot.links, robot.cables, robot.segments, q)
    frames, axes, centres, jacobian = np.empty((n + 1, 4, 4)), np.empty((f, 3)), np.empty((f, 3)), np.empty((6, f))
    lengths, first, second, cross = np.empty((c, n)), np.empty((c, f)), np.empty((c, f)), np.empty((c, n))
    places = np.empty((n + 1, 3)), np.empty((n, 3)), np.empty((c, n)), np.empty((c, n, 3)), np.empty((c, 3))
    calls = [
        (
            frames_and_jacobian,
            (robot.joints, robot.links, robot.origin, q, n, robot.tip_point, frames, axes, centres, jacobian),
        ),
        (measure_segments, (*tables, lengths, first, second, cross)),
        (locate_masses, (*tables, frames, lengths, *places)),
    ]
    handed_over = sum(isinstance(argument, np.ndarray) for _, arguments in calls for argument in arguments)

    def call():
        for function, arguments in calls:
            function(*arguments)

    call()
    enabled = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        call()
        after = rtsys.get_allocation_stats()
    finally:
        if not enabled:
            _nrt_python.memsys_disable_stats()
    # Each array handed over costs one small header; nothing is allocated inside, however long the robot.
    assert after.alloc - before.alloc == handed_over


def test_one_compiled_version_of_each_kernel_serves_all_robots():
    for robot in robots.every_robot():
        q = np.zeros(robot.freedoms)
        vb.masses(robot, q)
        vb.jacobian(robot, list(q), link=1)
        vb.jacobian(robot, q, point=(0, 0, 0.01))
        frozen = q.copy()
        frozen.flags.writeable = False
        vb.jacobian(robot, frozen)
    for function in (frames_and_jacobian, measure_segments, locate_masses):
        assert len(function.signatures) == 1
