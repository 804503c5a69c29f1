"""The same Newton's method in C: compiles `c_newton.c` with the system's compiler and calls it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from vertebra.mechanics.problem import Problem
from vertebra.robot.tables import CABLE, JOINT, LINK, SEGMENT

FLAGS = ("-O3", "-march=native", "-fno-tree-slp-vectorize")
"""No -ffast-math; the compiler's default contracts a * b + c, which numba does not."""
SIZES = {JOINT: 144, LINK: 104, CABLE: 128, SEGMENT: 32}
"""Bytes of the structs in `c_newton.c`."""


def compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc")


def compile_library() -> ctypes.CDLL:
    """Build in a folder that is gone once the library is loaded."""
    for table, size in SIZES.items():
        if table.itemsize != size:
            raise TypeError(f"a table has rows of {table.itemsize} bytes, the C code expects {size}; update c_newton.c")
    source = Path(__file__).with_name("c_newton.c")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        target = Path(folder) / "c_newton.so"
        command = [str(compiler()), *FLAGS, "-std=c11", "-shared", "-fPIC", str(source), "-o", str(target), "-lm"]
        subprocess.run(command, check=True)
        library = ctypes.CDLL(str(target))
    library.find_shape_repeatedly.restype = library.size_of_state.restype = ctypes.c_int64
    return library


def repeated_solve(library: ctypes.CDLL, problem: Problem, tensions: np.ndarray, q: np.ndarray) -> Callable[[int], int]:
    """A call that solves a case so many times, writes the angles to `q` and returns the iterations of one solve."""
    robot = problem.robot
    joints, cables = len(robot.joints), len(robot.cables)
    scratch = np.empty(joints), np.empty((joints, library.size_of_state() // 8))
    arrays = robot.joints, robot.links, robot.cables, robot.segments, problem.gravity, tensions, q, *scratch
    for array in arrays:
        assert array.flags.c_contiguous
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    counts = ctypes.c_int64(joints), ctypes.c_int64(cables)

    def solve(times: int, _alive: object = arrays) -> int:
        iterations: int = library.find_shape_repeatedly(ctypes.c_int64(times), *counts, *pointers)
        if iterations < 0:
            raise ArithmeticError("the C solver found no stable equilibrium")
        return iterations

    return solve
