"""External loads: forces and moments on links, as a user states them and as kernels read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.robot.arguments import link_index, link_point, vector
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Table

LOAD = np.dtype(
    [
        ("link", np.int64),
        ("point", np.float64, (3,)),  # in the link's frame, m
        ("force", np.float64, (3,)),  # world axes, N
        ("moment", np.float64, (3,)),  # world axes, N*m
    ]
)
"""One load; rows stand in order of their links."""

_NONE: Table = np.zeros(0, LOAD)


@dataclass(frozen=True)
class Load:
    """A dead load: force and moment keep their direction in the world, however the link turns.

    A force has an energy; a moment on a link that can turn about several axes has none, so the order of rotations
    matters to its work. Solvers use the exact, unsymmetric stiffness for it.
    """

    force: ArrayLike = (0.0, 0.0, 0.0)
    """(3,) world axes, N."""
    moment: ArrayLike = (0.0, 0.0, 0.0)
    """(3,) world axes, N*m."""
    link: int = -1
    """0 is the base, 1 the link distal of the first joint, -1 the last."""
    point: ArrayLike | None = None
    """(3,) where the force acts, in the link's frame, m. Default: the tip on the last link, else the centre of mass."""

    def __post_init__(self) -> None:
        for name, unit in (("force", "N"), ("moment", "N*m"), ("point", "m")):
            value = getattr(self, name)
            if value is not None or name != "point":
                object.__setattr__(self, name, tuple(vector(f"load {name}", value, unit).tolist()))


def load_tuple(loads: Iterable[Load] | Load) -> tuple[Load, ...]:
    """One load or many, checked."""
    try:
        result = (loads,) if isinstance(loads, Load) else tuple(loads)
    except TypeError:
        raise InputError("loads", f"must be a list of Load objects, not {loads!r}") from None
    for load in result:
        if not isinstance(load, Load):
            raise InputError("loads", f"must be Load objects such as Load(force=(0, 0, -1)), not {type(load).__name__}")
    return result


def load_table(robot: Robot, loads: Sequence[Load]) -> Table:
    """Loads as kernels read them: sorted by link, with every point filled in."""
    if len(loads) == 0:
        return _NONE
    rows: list[tuple[Any, ...]] = []
    for load in loads:
        link = link_index(robot, load.link)
        rows.append((link, link_point(robot, link, load.point), load.force, load.moment))
    return np.array(sorted(rows, key=lambda row: row[0]), dtype=LOAD)
