"""Vertebra: one robot file for the shape, payload, motion and sensing of cable-driven snake-like robots.

>>> import vertebra as vb
>>> robot = vb.load("hu2023-prototype")
>>> vb.frames(robot, [0.1] * robot.freedoms).shape
(12, 4, 4)
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

# Names are imported on first use, so that `import vertebra` and `vertebra --help` load neither numba nor plotting. The
# stub beside this file lists them, once for type checkers and for us.
_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOMES = {name.name: str(line.module) for line in _STUB.body if isinstance(line, ast.ImportFrom) for name in line.names}
__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vertebra' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
