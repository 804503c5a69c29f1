"""`vertebra warmup`: kernels on disk before anybody asks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.mechanics.test_kernel_cache import kernels_in

from vertebra.mechanics import compiled
from vertebra.warmup import GROUPS

COMMAND = [sys.executable, "-m", "vertebra.cli.main", "warmup"]
NOT_COMPILED = {"grip_at", "in_range"}
"""Small ones, for a message that names a joint."""
POSE = ["locate_masses", "measure_segments", "point_jacobian", "walk_chain"]


def test_one_group_in_two_processes_at_once(tmp_path: Path) -> None:
    """The loser of the race only wastes time."""
    around = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    words, pipe = [*COMMAND, "kinematics"], subprocess.PIPE
    both = [subprocess.Popen(words, env=around, stdout=pipe, stderr=pipe, text=True) for _ in range(2)]
    for process in both:
        said, wrong = process.communicate(timeout=600)
        assert process.returncode == 0, wrong
        assert wrong == ""
        assert "kinematics" in said
        assert "ready after" in said
    assert kernels_in(tmp_path) == POSE
    written = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.kernel")}
    again = subprocess.run(words, env=around, capture_output=True, text=True, timeout=600)
    assert again.returncode == 0
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.kernel")} == written, "compiled once"


def test_a_group_that_does_not_exist(vertebra) -> None:
    ran = vertebra("warmup", "statistics")
    assert ran.code == 2
    assert "statics" in ran.err


def test_groups_match_the_progress_line() -> None:
    assert set(GROUPS) == set(compiled._GROUPS.values()) | {"papers", "spatial"}


MISSING = """
import sys
from pathlib import Path
from vertebra.mechanics.compiled import Inner, Kernel
from vertebra.warmup import GROUPS
for group in GROUPS.values():
    group()
source = Path(sys.modules["vertebra"].__file__).parent
code = "\\n".join(path.read_text() for path in source.rglob("*.py") if path.parent.name != "kernels")
for module in [module for module in sys.modules if module.startswith("vertebra.mechanics.kernels.")]:
    for name, value in vars(sys.modules[module]).items():
        if isinstance(value, Kernel) and not isinstance(value, Inner) and f"{name}(" in code and not value.signatures:
            print(name)
"""


def test_all_kernels_that_rooms_call_are_compiled() -> None:
    """Whoever adds a kernel calls it in `warmup`."""
    ran = subprocess.run([sys.executable, "-c", MISSING], capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    assert set(ran.stdout.split()) == NOT_COMPILED
