"""Where a path of shapes is, and the shapes along it, as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vertebra.errors import InputError
from vertebra.mechanics.loads import Load
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


@dataclass(frozen=True, eq=False, repr=False)
class PathState:
    """Where a path is: enough to go on from there. Plain numbers that do not change, made by `ShapePath.save`."""

    angles: Floats
    """(n,) rad."""
    history: Floats
    """(3, cables, n): slip direction; slip since the straight robot, m; friction at full slip, N."""
    command: Floats
    """(cables,) the last tensions in N, or lengths without tension in m."""
    by_length: bool
    """What `command` is."""
    gravity: Floats
    """(3,) m/s^2."""
    loads: tuple[Load, ...]
    friction_work: float
    """J."""
    steps: int
    """Committed so far."""

    def __post_init__(self) -> None:
        for name in ("angles", "history", "command", "gravity"):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.flags.writeable:
                array = np.array(array, dtype=np.float64)
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    def to_mapping(self) -> dict[str, Any]:
        """For JSON; `PathState.of` reads it."""
        loads = [asdict(load) for load in self.loads]
        return {
            "angles": self.angles.tolist(), "history": self.history.tolist(), "command": self.command.tolist(),
            "by_length": self.by_length, "gravity": self.gravity.tolist(), "loads": loads,
            "friction_work": self.friction_work, "steps": self.steps,
        }  # fmt: skip

    @classmethod
    def of(cls, mapping: Mapping[str, Any]) -> PathState:
        """The state that `to_mapping` wrote."""
        try:
            angles, history, command, gravity = (
                np.array(mapping[name], dtype=np.float64) for name in ("angles", "history", "command", "gravity")
            )
            loads = tuple(Load(**load) for load in mapping["loads"])
            spent, steps = float(mapping["friction_work"]), int(mapping["steps"])
            return cls(angles, history, command, bool(mapping["by_length"]), gravity, loads, spent, steps)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError("state", f"is not what PathState.to_mapping wrote: {error!r}") from None

    def __repr__(self) -> str:
        return f"PathState after {self.steps} steps, {self.friction_work * 1e3:.4g} mJ against friction"


@dataclass(frozen=True, eq=False, repr=False)
class Walk:
    """Shapes along a row of tensions, one row each, SI."""

    robot: Robot
    tensions: Floats
    """(N, cables) N."""
    angles: Floats
    """(N, n) rad."""
    tip: Floats
    """(N, 3) m."""
    lengths: Floats
    """(N, cables) m."""
    friction_work: Floats
    """(N,) done against cable friction since the path began, J."""
    iterations: Floats
    """(N,) Newton steps."""

    def __len__(self) -> int:
        return len(self.tensions)

    def __repr__(self) -> str:
        spent = self.friction_work[-1] * 1e3
        return f"Walk of {self.robot.name!r}: {len(self)} shapes, {spent:.4g} mJ against friction since the path began"
