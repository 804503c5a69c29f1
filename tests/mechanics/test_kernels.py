"""Promises about the compiled code itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

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
    frames, twists, jacobian = np.empty((n + 1, 4, 4)), np.empty((f, 6)), np.empty((6, f))
    lengths, first, second, cross = np.empty((c, n)), np.empty((c, f)), np.empty((c, f)), np.empty((c, n))
    places = np.empty((n + 1, 3)), np.empty((n, 3)), np.empty((c, n)), np.empty((c, n, 3)), np.empty((c, 3))
    calls = [
        (
            frames_and_jacobian,
            (robot.joints, robot.links, robot.origin, q, n, robot.tip_point, frames, twists, jacobian),
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


def test_a_kernel_is_stale_when_any_kernel_file_changes(tmp_path):
    # numba alone looks only at the file of the function itself, not at the files of the functions it calls.
    package = tmp_path / "vertebra"
    shutil.copytree(Path(vb.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    code = "import vertebra as vb; print(vb.frames(vb.load('hu2023-planar'), [0.3] * 5)[-1, 0, 3])"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)

    def answer():
        out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return float(out.stdout)

    before = answer()
    law = package / "mechanics" / "joints.py"
    law.write_text(law.read_text().replace("s = size * sin_half", "s = 2.0 * size * sin_half"))
    assert answer() != before
