"""Vertebra: one robot file for the shape, payload, motion and sensing of cable-driven snake-like robots.

>>> import vertebra as vb
>>> robot = vb.load("hu2023-prototype")
>>> vb.Pose(robot, [0.1] * robot.freedoms).frames.shape
(12, 4, 4)
"""

from __future__ import annotations

from typing import Any

from vertebra.names import old_name, public_names

__version__ = "0.1.0"

_get, _, _names = public_names(__name__, __file__)
# `from vertebra import *` leaves a user's own `jax` and `torch` alone.
__all__ = [*(name for name in _names if name not in ("jax", "torch")), "__version__"]


def __getattr__(name: str) -> Any:
    if name in _names or name.startswith("_"):
        return _get(name)
    return old_name(name)


def __dir__() -> list[str]:
    return sorted([*_names, "__version__"])
