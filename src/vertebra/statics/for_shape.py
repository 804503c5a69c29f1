"""Which tensions hold this shape?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import Infeasible, InputError, OutOfRange, Unstable
from vertebra.mechanics.columns import TAU
from vertebra.mechanics.kinematics import measure
from vertebra.mechanics.loads import Load
from vertebra.mechanics.newton import SCALE, SETTLED, STALLED, inspect
from vertebra.mechanics.problem import NO_CABLES, Closure, Problem
from vertebra.robot.arguments import coordinates, positive
from vertebra.robot.friction import Friction
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.robot.tension_bounds import tension_bounds
from vertebra.statics.least_tensions import Smallest, least_squares
from vertebra.statics.shape import Shape, build_shape, narrower_limit


@dataclass(frozen=True, eq=False, repr=False)
class HoldingTensions:
    """The tensions that come closest to holding a shape."""

    tensions: Floats
    """(cables,) N, within the bounds."""
    residual: Floats
    """(n,) joint moment that they leave out of balance, N*m."""
    infeasible: tuple[int, ...]
    """Joints that they do not hold, counted from 1."""
    feasible: bool
    """Every joint is held."""
    stable: bool
    """The shape resists every small displacement."""
    shape: Shape
    """The wanted shape under these tensions; `converged` only when feasible."""

    def __repr__(self) -> str:
        pulls = ", ".join(f"{tension:.4g}" for tension in self.tensions)
        if self.feasible:
            return f"HoldingTensions({pulls} N, {'stable' if self.stable else 'unstable'})"
        joints = ", ".join(str(joint) for joint in self.infeasible[:8]) + (", ..." if len(self.infeasible) > 8 else "")
        return f"HoldingTensions({pulls} N, does not hold joint {joints})"


def tensions_for_shape(
    robot: Robot,
    angles: ArrayLike,
    *,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    minimise: Smallest = "norm",
    tolerance: float = 1e-6,
    check: bool = True,
) -> HoldingTensions:
    """Cable tensions that hold given joint angles (n,) rad, with the least moments out of balance.

    `lower`, `upper`: bounds in N, one or one a cable; default pretension and max_tension of the robot file. Where
    several tensions do equally well, `minimise` their "norm" or their "sum". A few cables cannot hold any shape of
    many joints: a joint counts as held when its moment is balanced to `tolerance` of the moment scale. Cables that rub
    (`friction`, `closure` as in `shape_from_tensions`) are taken to have been pulled from the straight robot.

    With `check`, raises `Infeasible` naming the joint farthest from balance, `Unstable`, or `OutOfRange` for an angle
    past its limit, each with the `result`.
    """
    problem = Problem.of(robot, gravity, loads, friction, closure)
    q = coordinates(robot, angles).copy()
    low, high = tension_bounds(robot, lower, upper)
    tolerance = positive("tolerance", tolerance)
    if minimise not in ("norm", "sum"):
        raise InputError("minimise", f"must be norm or sum, not {minimise!r}")
    if not (np.abs(q) < np.pi).all():
        row = int(np.argmin(np.abs(q) < np.pi))
        raise InputError("angles", f"joint {row + 1} is at {q[row]:.6g} rad; must be finite and within +-pi")
    work = problem.workspace()

    def moments(tensions: Floats) -> Floats:
        inspect(*problem.system, tensions, NO_CABLES, NO_CABLES, work.friction, q, *work.scratch[1:])
        return work.state[:, TAU].copy()

    slack = moments(np.zeros(len(low)))
    # (n, cables): moment of each joint per newton of each cable, negated.
    pulls = measure(robot, q).first.T if work.friction is None else work.friction.arms.T
    tensions = least_squares(pulls, -slack, low, high, minimise)
    residual = moments(tensions)
    held = np.abs(residual) <= tolerance * work.report[SCALE]
    feasible = bool(held.all())
    shape = build_shape(problem, SETTLED if feasible else STALLED, tensions, q, work, by_length=False)
    stable = not np.isinf(shape.compliance).any() if feasible else False
    joints = tuple((np.flatnonzero(~held) + 1).tolist())
    result = HoldingTensions(tensions, residual, joints, feasible, stable, shape)
    if check:
        _require(result, q)
    return result


def _require(result: HoldingTensions, q: Floats) -> None:
    robot = result.shape.robot
    if result.shape.out_of_range:
        row = result.shape.out_of_range[0] - 1
        limit, reason = float(robot.joints["limit"][row]), "ask for an angle within the limit of the joint"
        if abs(q[row]) <= limit:
            limit, reason = narrower_limit(result.shape, row)
        raise OutOfRange(row + 1, float(q[row]), limit, reason, result)
    if not result.feasible:
        joint = int(np.argmax(np.abs(result.residual))) + 1
        amount = float(result.residual[joint - 1])
        raise Infeasible(
            joint, "moment balance", amount,
            f"no tensions within the bounds hold this shape: {len(result.infeasible)} of {len(q)} joints are out of "
            f"balance, most of all joint {joint} by {amount:.3g} N*m; ask for a shape nearer to one that cables give, "
            "or widen the bounds", result,
        )  # fmt: skip
    if not result.stable:
        raise Unstable(result.shape.weakest, "raise the lower bound of the tensions", result)
