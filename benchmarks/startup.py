"""Time to a first answer in a new process: with nothing compiled, and with the kernels on disk.

The reference is a numba function that does nothing, compiled and on disk: no process that uses numba is faster.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.report import Row

FIRST_ANSWER = """
import time
import vertebra as vb
robot = vb.load("hu2023-prototype")
pose = [0.1] * robot.freedoms
vb.Pose(robot, pose).jacobian(), vb.Pose(robot, pose).masses
print(time.process_time())
"""

NOTHING = """
import time
import numba
import numpy

@numba.njit(cache=True)
def nothing(x):
    return x[0]

nothing(numpy.zeros(1))
print(time.process_time())
"""


def _cpu_seconds(script: Path, cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    out = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True)
    return float(out.stdout)


def rows() -> list[Row]:
    colds, warms, floors = [], [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            answer, nothing = Path(folder) / "answer.py", Path(folder) / "nothing.py"
            answer.write_text(FIRST_ANSWER)
            nothing.write_text(NOTHING)
            colds.append(_cpu_seconds(answer, folder))
            _cpu_seconds(nothing, folder)
            for _ in range(3):
                warms.append(_cpu_seconds(answer, folder))
                floors.append(_cpu_seconds(nothing, folder))
    cold, warm, floor = (statistics.median(times) for times in (colds, warms, floors))
    what = "first answer in a new process"
    return [
        Row(what, "CPU seconds, nothing compiled", cold, 15.0, "", at_most=True),
        Row(what, "CPU seconds, kernels on disk", warm, 1.0, "", at_most=True),
        Row(what, "second process / first", warm / cold, 0.1, "", at_most=True),
        Row(what, "second process / empty numba call", warm / floor, None, f"{floor:.2f} s empty"),
    ]
