"""Time to a first answer in a new process: compiling what each question needs, with it on disk, and out of a wheel.

All are processor seconds of a process of its own. The references are the same kernels compiled as numba does it, each
function on its own, and a numba function that does nothing, compiled and on disk: no process that uses numba is faster.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.wheel import build

from benchmarks.report import Row

SHAPE = "vb.shape_from_tensions('hu2023-prototype', [0.98, 0.98, 0.98, 3.92])"
CHAIN = "chain, rest = vb.load('dantuono2023'), np.zeros(6)"
DEMO = (
    "import sys; sys.argv[1:] = ['papers', 'hu2023', '--experiments', '--out', 'demo.html', '--json']\n"
    "from contextlib import redirect_stdout\n"
    "from vertebra.cli.main import run\n"
    "try:\n    with redirect_stdout(open('demo.txt', 'w')): run()\n"
    "except SystemExit: pass"
)
PATH = "path = vb.ShapePath('yang2023-a'); path.step([8, 8, 6, 6]); path.follow([[8, 8, 6, 6]])"
ALLOCATE = "[vb.allocate_tensions(chain, rest, method=m) for m in ('shared', 'per_link', 'project')]"
INVERSE = "vb.inverse_dynamics(chain, rest, rest, rest), vb.mass_matrix(chain, rest)"
WARM = "from vertebra.warmup import GROUPS, compile_group"

QUESTIONS = {
    "kinematics": (f"{WARM}; compile_group('kinematics')", 5.4),
    "shape": (SHAPE, 16.8),
    "demo": (DEMO, 13.0),
    "payload": (f"{WARM}; compile_group('payload')", 11.4),
    "friction": (PATH, 19.2),
    "inverse dynamics": (f"{CHAIN}; {INVERSE}", 9.0),
    "simulate": (f"{CHAIN}; vb.simulate(chain, [20.0] * 4, duration=1e-3)", 30.0),
    "allocation": (f"{CHAIN}; {ALLOCATE}", 20.4),
    "sensing": (f"{WARM}; compile_group('sensing')", 8.4),
    "all": (f"{WARM}; [compile_group(name) for name in GROUPS if name != 'spatial']", 95.0),
    "all, universal and backbone joints": (f"{WARM}; compile_group('spatial')", 95.0),
}
"""What is asked, and the most that compiling it may take, CPU seconds: about 60 % of what it took at first."""

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


def _cpu_seconds(script: str, folder: str, **environment: str) -> float:
    """Of a process that has the empty `folder` for its kernels and files."""
    file = Path(folder) / "script.py"
    file.write_text(script)
    around = os.environ | {"NUMBA_CACHE_DIR": folder} | environment
    out = subprocess.run(
        [sys.executable, str(file)], env=around, cwd=folder, capture_output=True, text=True, check=True
    )  # fmt: skip
    return float(out.stdout.split()[-1])


def _question(script: str) -> str:
    return f"import time\nimport numpy as np\nimport vertebra as vb\n{script}\nprint(time.process_time())\n"


def rows() -> list[Row]:
    return [*_compiling(), *_compiled(), _from_wheel()]


def _compiling() -> list[Row]:
    found = []
    for name, (script, most) in QUESTIONS.items():
        what = f"first answer, nothing compiled: {name}"
        ours = _cold(script)
        found.append(Row(what, "CPU seconds", ours, most, "", at_most=True))
        if name == "shape":
            plain = _cold(script, VERTEBRA_PLAIN_NUMBA="1")
            found.append(
                Row(what, "ours / each function on its own", ours / plain, 0.6, f"{plain:.1f} s", at_most=True)
            )
    return found


def _cold(script: str, **environment: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return _cpu_seconds(_question(script), folder, **environment)


def _compiled() -> list[Row]:
    warms, floors = [], []
    with tempfile.TemporaryDirectory() as folder:
        cold = _cpu_seconds(_question(SHAPE), folder)
        _cpu_seconds(NOTHING, folder)
        for _ in range(5):
            warms.append(_cpu_seconds(_question(SHAPE), folder))
            floors.append(_cpu_seconds(NOTHING, folder))
    warm, floor = statistics.median(warms), statistics.median(floors)
    what = "first answer in a new process, kernels on disk"
    return [
        Row(what, "CPU seconds", warm, 0.7, "", at_most=True),
        Row(what, "second process / first", warm / cold, 0.1, "", at_most=True),
        Row(what, "second process / empty numba call", warm / floor, None, f"{floor:.2f} s empty"),
    ]


def _from_wheel() -> Row:
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        wheel = build(Path(folder), ["statics"])
        install = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps"]
        subprocess.run([*install, "--target", str(site), str(wheel)], check=True, capture_output=True)
        times = []
        for number in range(3):
            empty = Path(folder) / str(number)
            empty.mkdir()
            times.append(_cpu_seconds(_question(SHAPE), str(empty), PYTHONPATH=str(site)))
    return Row(
        "first shape out of a wheel with kernels", "CPU seconds", statistics.median(times), 1.5, "", at_most=True
    )
