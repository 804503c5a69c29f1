"""Time to a first answer in a new process: with nothing compiled, and with the kernels on disk."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

from benchmarks.report import Row

FIRST_ANSWER = """
import time
import vertebra as vb
robot = vb.load("hu2023-prototype")
pose = [0.1] * robot.freedoms
vb.frames(robot, pose), vb.jacobian(robot, pose), vb.cable_lengths(robot, pose), vb.masses(robot, pose)
print(time.process_time())
"""


def _cpu_seconds(cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    out = subprocess.run(
        [sys.executable, "-c", FIRST_ANSWER], env=environment, capture_output=True, text=True, check=True
    )
    return float(out.stdout)


def rows() -> list[Row]:
    colds, warms = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as cache:
            colds.append(_cpu_seconds(cache))
            warms.extend(_cpu_seconds(cache) for _ in range(3))
    cold, warm = statistics.median(colds), statistics.median(warms)
    what = "import and first call of every kernel"
    return [
        Row(what, "CPU seconds, nothing compiled", cold, 15.0, "", at_most=True),
        Row(what, "CPU seconds, kernels on disk", warm, 1.0, "", at_most=True),
        Row(what, "second process / first", warm / cold, 0.1, "", at_most=True),
    ]
