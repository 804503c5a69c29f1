"""How stiff is the tip, in which direction, and how does cable tension change it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vertebra.errors import InputError
from vertebra.mechanics.problem import Closure, Load, Problem
from vertebra.robot.arguments import numbers, vector
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.statics.forward import Shapes, shapes_from_tensions
from vertebra.statics.shape import Shape

RIGID = 1e-12
"""A principal compliance below this part of the largest is none: the tip cannot move that way to first order."""


@dataclass(frozen=True, eq=False, repr=False)
class TipStiffness:
    """Principal stiffnesses of the tip against forces: axes of the stiffness ellipsoid."""

    stiffness: Floats
    """(3,) N/m, softest first; infinite where the tip cannot move to first order, as along a straight robot."""
    directions: Floats
    """(3, 3) unit vectors, one row each, world axes."""
    compliance: Floats
    """(3, 3) m/N, the symmetric part."""

    def along(self, direction: ArrayLike) -> float:
        """Force along a direction per displacement along it, N/m; the tip may move sideways as well."""
        unit = vector("direction", direction, "any unit")
        if not unit.any():
            raise InputError("direction", "must not be all zero")
        unit /= np.linalg.norm(unit)
        give = float(unit @ self.compliance @ unit)
        return 1.0 / give if give > RIGID * float(np.abs(self.compliance).max()) else np.inf

    def __repr__(self) -> str:
        values = ", ".join(f"{value:.4g}" for value in self.stiffness)
        return f"TipStiffness({values} N/m)"


def tip_stiffness(shape: Shape) -> TipStiffness:
    """Principal stiffnesses of the tip of a stable shape."""
    shape.require_solved()
    compliance = 0.5 * (shape.compliance[:3, :3] + shape.compliance[:3, :3].T)
    values, vectors = np.linalg.eigh(compliance)
    return TipStiffness(_inverse(values[::-1]), vectors.T[::-1].copy(), compliance)


def _inverse(compliances: NDArray[np.floating]) -> Floats:
    """1 / c along the last axis, infinite where c is round-off."""
    floor = RIGID * np.abs(compliances).max(axis=-1, keepdims=True)
    moves = compliances > floor
    result: Floats = np.where(moves, 1.0 / np.where(moves, compliances, 1.0), np.inf)
    return result


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
    robot: Robot,
    common: ArrayLike,
    *,
    extra: ArrayLike | None = None,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    start: ArrayLike | None = None,
) -> StiffnessCurve:
    """Tip stiffness for each common tension (N,), N, on top of which every cable pulls `extra` (cables,), N.

    A standing robot that has buckled shows the stiffness of its bent shape.
    """
    Problem.of(robot, gravity, loads, friction, closure)  # refuses a wrong robot before its cables are counted
    tensions = numbers("common", common, "N")
    if tensions.ndim != 1 or len(tensions) == 0:
        raise InputError("common", f"must be a list of tensions in N, not an array of shape {tensions.shape}")
    more = np.zeros(len(robot.cables)) if extra is None else numbers("extra", extra, "N")
    if more.shape != (len(robot.cables),):
        raise InputError("extra", f"must be {len(robot.cables)} numbers in N, one a cable, not {more.shape}")
    shapes = shapes_from_tensions(
        robot, tensions[:, None] + more, gravity=gravity, loads=loads, friction=friction, closure=closure, start=start
    )
    stiffness = np.zeros((len(tensions), 3))
    solved = shapes.solved
    linear = shapes.compliance[solved][:, :3, :3]
    values = np.linalg.eigvalsh(0.5 * (linear + linear.transpose(0, 2, 1)))
    stiffness[solved] = _inverse(values[:, ::-1])
    return StiffnessCurve(tensions, stiffness, solved, shapes)
