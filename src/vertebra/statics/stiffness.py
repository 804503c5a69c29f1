"""How does cable tension change the stiffness of the tip?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError
from vertebra.mechanics.problem import Closure, Load, Problem
from vertebra.robot.arguments import as_robot, numbers, one_per_cable
from vertebra.robot.friction import Friction
from vertebra.robot.robot import RobotLike
from vertebra.robot.tables import Floats
from vertebra.statics.forward import Shapes, shapes_from_tensions
from vertebra.statics.shape import principal_stiffnesses


@dataclass(frozen=True, eq=False, repr=False)
class StiffnessCurve:
    """Tip stiffness against the common tension of all cables."""

    common: Floats
    """(N,) N."""
    stiffness: Floats
    """(N, 3) principal stiffnesses, N/m, softest first; 0 where no stable shape was found."""
    solved: NDArray[np.bool_]
    """(N,)"""
    shapes: Shapes
    """The shapes themselves."""

    def __repr__(self) -> str:
        first, last = self.stiffness[0, 0], self.stiffness[-1, 0]
        return (
            f"StiffnessCurve of {self.shapes.robot.name!r}: softest {first:.4g} N/m at {self.common[0]:g} N "
            f"to {last:.4g} N/m at {self.common[-1]:g} N"
        )


def stiffness_curve(
    robot: RobotLike,
    common: ArrayLike,
    *,
    extra: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    start: ArrayLike | None = None,
) -> StiffnessCurve:
    """Tip stiffness for each common tension (N,), N, to which `extra` (cables,), N, is added.

    A standing robot that has buckled shows the stiffness of its bent shape.
    """
    robot = as_robot(robot)
    Problem.of(robot, gravity, loads, friction, closure)  # refuses a wrong robot before its cables are counted
    tensions = numbers("common", common, "N")
    if tensions.ndim != 1 or len(tensions) == 0:
        raise InputError("common", f"must be a list of tensions in N, not an array of shape {tensions.shape}")
    more = one_per_cable("extra", 0.0 if extra is None else extra, "N", robot)
    shapes = shapes_from_tensions(
        robot, tensions[:, None] + more, gravity=gravity, loads=loads, friction=friction, closure=closure, start=start
    )
    stiffness = np.zeros((len(tensions), 3))
    solved = shapes.solved
    linear = shapes.compliance[solved][:, :3, :3]
    values = np.linalg.eigvalsh(0.5 * (linear + linear.transpose(0, 2, 1)))
    stiffness[solved] = principal_stiffnesses(values[:, ::-1])
    return StiffnessCurve(tensions, stiffness, solved, shapes)
