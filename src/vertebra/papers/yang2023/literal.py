"""The paper's own method for the shape of its robots: Levenberg-Marquardt on the balance of all joints, from zero.

It is slow and its derivatives are differences; it is here to check `vertebra.shape_from_tensions`, and to be compared
with it. Nothing in it comes from `vertebra.mechanics`. `literal_lm` is the method as published; `literal_angles` goes
on from there to round-off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import InputError
from vertebra.papers.yang2023.literal_balance import cable_tensions, locate, paper_moments, virtual_work
from vertebra.papers.yang2023.literal_robot import History, LiteralRobot
from vertebra.robot.tables import Floats

__all__ = ["Closure", "History", "LiteralRobot", "LiteralShape", "literal_angles", "literal_lm", "literal_residual"]

Closure = Literal["paper", "virtual-work"]
BALANCES = {"paper": paper_moments, "virtual-work": virtual_work}
DIFFERENCE = 1e-6
"""rad, of central differences, where the ramp is not narrower."""


@dataclass(frozen=True, eq=False)
class LiteralShape:
    """What a search ended with."""

    angles: Floats
    """(n,) rad"""
    tip: Floats
    """(3,) m, world axes."""
    tensions_along: Floats
    """(c, n) N, in the gap of each joint."""
    residual: float
    """N*m, largest imbalance of a joint."""
    evaluations: int
    """Poses at which the balance was computed, those of differences included."""
    converged: bool
    """Whether the residual is within the tolerance asked for."""
    history: History
    """Slip and change of length of the cables; give it to the next step of a path."""

    def __repr__(self) -> str:
        x, y, z = self.tip * 1e3
        state = "converged" if self.converged else "NOT converged"
        return f"LiteralShape({state} after {self.evaluations} evaluations, tip ({x:.2f}, {y:.2f}, {z:.2f}) mm)"


def literal_residual(
    robot: LiteralRobot, q: ArrayLike, tensions: ArrayLike, closure: Closure, history: History | None = None
) -> Floats:
    """(..., n) N*m at poses (..., n) rad: bending moment of each joint less the moment of all that acts beyond it."""
    pose = np.asarray(q, dtype=np.float64)
    at = locate(robot, pose)
    along, _ = cable_tensions(robot, pose, at, np.asarray(tensions, dtype=np.float64), history or robot.fresh())
    residual: Floats = robot.stiffness * pose - BALANCES[closure](robot, pose, at, along)
    return residual


class Balance:
    """The residual of one question as a function of the pose, with a count of the poses asked for."""

    def __init__(self, robot: LiteralRobot, tensions: ArrayLike, closure: Closure, history: History | None) -> None:
        self.robot, self.closure, self.history, self.evaluations = robot, closure, history, 0
        self.pull = np.array(tensions, dtype=np.float64)
        if self.pull.shape != (len(robot.last),) or not (np.isfinite(self.pull) & (self.pull >= 0.0)).all():
            raise InputError("tensions", f"must be {len(robot.last)} numbers of 0 N or more, one a cable")
        if closure not in BALANCES:
            raise InputError("closure", f"must be {' or '.join(BALANCES)}, not {closure!r}")

    def __call__(self, q: Floats) -> Floats:
        self.evaluations += q.size // q.shape[-1]
        return literal_residual(self.robot, q, self.pull, self.closure, self.history)

    def jacobian(self, q: Floats) -> Floats:
        """(n, n) by central differences, all poses in one call."""
        robot = self.robot
        ramp = float(robot.presliding.min() / np.abs(robot.near[..., :2]).max())
        step = min(DIFFERENCE, 0.01 * ramp)
        steps = step * np.eye(len(q))
        ahead, behind = self(np.stack([q + steps, q - steps]))
        slopes: Floats = ((ahead - behind) / (2 * step)).T
        return slopes

    def shape(self, q: Floats, tolerance: float) -> LiteralShape:
        """The result at a pose; `tolerance` in rad of the softest joint."""
        robot = self.robot
        at = locate(robot, q)
        along, history = cable_tensions(robot, q, at, self.pull, self.history or robot.fresh())
        worst = float(np.abs(self(q)).max())
        close = worst <= tolerance * float(robot.stiffness.min())
        return LiteralShape(q, at.tip, along, worst, self.evaluations, close, history)


def literal_lm(
    robot: LiteralRobot, tensions: ArrayLike, closure: Closure = "paper", tolerance: float = 1e-8
) -> LiteralShape:
    """The method of the paper's Table 3 and no more: SciPy's Levenberg-Marquardt with its own differences, from zero.

    `tensions`: (c,) N at the actuators. `tolerance`: of the search, and what the residual must reach (rad).
    """
    balance = Balance(robot, tensions, closure, None)
    found = _least_squares(balance, np.zeros(len(robot.axes)), tolerance)
    return balance.shape(found, tolerance)


def literal_angles(
    robot: LiteralRobot,
    tensions: ArrayLike,
    closure: Closure = "paper",
    history: History | None = None,
    start: ArrayLike | None = None,
    tolerance: float = 1e-12,
) -> LiteralShape:
    """The shape to round-off: Levenberg-Marquardt from zero (or `start`, rad), then Newton's steps by differences.

    `tensions`: (c,) N at the actuators. `history`: of an earlier shape. `tolerance`: imbalance in rad of the softest
    joint. Differences are kept well inside the ramp of the slip direction; with coarser ones the search may stall.
    """
    balance = Balance(robot, tensions, closure, history)
    first = np.zeros(len(robot.axes)) if start is None else np.array(start, dtype=np.float64)
    q = _polished(balance, _least_squares(balance, first, 1e-15, jac=balance.jacobian))
    return balance.shape(q, tolerance)


def _least_squares(balance: Balance, start: Floats, tolerance: float, **options: Any) -> Floats:
    from scipy.optimize import least_squares

    result = least_squares(balance, start, method="lm", xtol=tolerance, ftol=tolerance, gtol=tolerance, **options)
    angles: Floats = result.x
    return angles


def _polished(balance: Balance, q: Floats) -> Floats:
    """Newton's steps for as long as they help."""
    now = balance(q)
    for _ in range(20):
        moved = q - np.linalg.solve(balance.jacobian(q), now)
        then = balance(moved)
        if not np.abs(then).max() < np.abs(now).max():
            break
        q, now = moved, then
    return q
