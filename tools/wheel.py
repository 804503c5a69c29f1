"""Build a wheel that brings its kernels along: `python -m tools.wheel dist`, or `make wheel`.

The kernels are compiled for the processors of the last ten years, not only for this one, and found by what the sources
say, not by their time. Another Python, numba or platform compiles for itself, as a plain installation does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from vertebra.mechanics.kernel_cache import PORTABLE, sources_stamp

ROOT = Path(__file__).parents[1]


def build(into: Path, groups: Sequence[str] = ("all",)) -> Path:
    """The wheel with the kernels of these groups; returns its path."""
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        target = {"NUMBA_CACHE_DIR": folder, "NUMBA_CPU_NAME": PORTABLE, "NUMBA_CPU_FEATURES": ""}
        code = "from vertebra.cli.main import run; run()"
        subprocess.run([sys.executable, "-c", code, "warmup", *groups], env=os.environ | target, check=True)
        kernels = Path(folder) / "vertebra" / sources_stamp()
        built = Path(folder) / "wheel"
        subprocess.run(
            [
                sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "wheel", "--no-deps",
                "--no-build-isolation", "--wheel-dir", str(built), str(ROOT),
            ],
            env=os.environ | {"VERTEBRA_KERNELS": str(kernels)},
            check=True,
        )  # fmt: skip
        [wheel] = built.glob("*.whl")
        return wheel.replace(into / wheel.name)


if __name__ == "__main__":
    wheel = build(Path(sys.argv[1]))
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
