"""Which tensions hold this shape?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import Infeasible, InputError, OutOfRange, Unstable
from vertebra.mechanics.kernels.newton import SETTLED, STALLED, inspect_pose
from vertebra.mechanics.kinematics import directions_at_stops, measure
from vertebra.mechanics.layout import REPORT_SCALE, STATE_TAU
from vertebra.mechanics.problem import NO_CABLES, Closure, Load, Problem
from vertebra.robot.arguments import as_robot, coordinates, flag, positive, tension_bounds, word
from vertebra.robot.friction import Friction
from vertebra.robot.robot import RobotLike
from vertebra.robot.tables import Floats
from vertebra.statics.shape import Shape, build_shape, limit_passed


@dataclass(frozen=True, eq=False, repr=False)
class HoldingTensions:
    """The tensions that come closest to holding a shape."""

    tensions: Floats
    """(cables,) N, within the bounds."""
    residual: Floats
    """(n,) joint torque that they leave out of balance, N*m."""
    infeasible: tuple[int, ...]
    """Joints that they do not hold, counted from 1."""
    feasible: bool
    """They hold every joint."""
    stable: bool
    """The shape resists every small displacement."""
    shape: Shape
    """The wanted shape under these tensions; `converged` only when feasible."""

    def __repr__(self) -> str:
        pulls = ", ".join(f"{tension:.4g}" for tension in self.tensions)
        if self.feasible:
            return f"HoldingTensions({pulls} N, {'stable' if self.stable else 'unstable'})"
        more = f" and {len(self.infeasible) - 8} more" if len(self.infeasible) > 8 else ""
        joints = ", ".join(str(joint) for joint in self.infeasible[:8]) + more
        return f"HoldingTensions({pulls} N, does not hold joint {joints})"


def tensions_for_shape(
    robot: RobotLike,
    angles: ArrayLike,
    *,
    gravity: str | ArrayLike | None = None,
    loads: Sequence[Load] | None = (),
    friction: Friction | None = None,
    closure: Closure = "virtual-work",
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    minimise: Smallest = "norm",
    tolerance: float = 1e-6,
    check: bool = True,
) -> HoldingTensions:
    """Cable tensions that hold given joint angles (n,) rad, with the least torques out of balance.

    `lower`, `upper`: bounds in N, one or one per cable; default pretension and max_tension of the robot file. Where
    several tensions do equally well, `minimise` their "norm" or their "sum". A few cables cannot hold any shape of
    many joints: a joint counts as held when its torque is balanced to `tolerance` of the torque scale. Cables with
    friction (`friction`, `closure` as in `shape_from_tensions`) are assumed to have been pulled from the straight
    robot. Joints with rigid stops may rest on them.

    With `check`, raises `Infeasible` naming the joint farthest from balance, `Unstable`, or `OutOfRange` for an angle
    past its limit, each with the `result`.
    """
    robot = as_robot(robot)
    check = flag("check", check)
    problem = Problem.of(robot, gravity, loads, friction, closure)
    q = coordinates(robot, angles).copy()
    low, high = tension_bounds(robot, lower, upper)
    tolerance = positive("tolerance", tolerance)
    word("minimise", minimise, ("norm", "sum"))
    if not (np.abs(q) < np.pi).all():
        freedom = int(np.argmin(np.abs(q) < np.pi))
        where = f"joint {robot.joint_of(freedom)} is at {q[freedom]:.6g} rad"
        raise InputError("angles", f"{where}; must be finite and within +-pi")
    work = problem.workspace()

    def torques(tensions: Floats, stops: bool) -> Floats:
        inspect_pose(*problem.system, tensions, NO_CABLES, NO_CABLES, work.friction, stops, q, *work.scratch[1:])
        return work.state[:, STATE_TAU].copy()

    slack = torques(np.zeros(len(low)), stops=False)
    # (n, cables): torque on each joint per newton of each cable, negated.
    pulls = measure(robot, q).first.T if work.friction is None else work.friction.arms(robot.joints).T
    tensions = _with_stops(pulls, slack, directions_at_stops(robot, q), low, high, minimise)
    residual = torques(tensions, stops=True)
    held = np.abs(residual) <= tolerance * work.report[REPORT_SCALE]
    feasible = bool(held.all())
    shape = build_shape(problem, SETTLED if feasible else STALLED, tensions, q, work)
    stable = not np.isinf(shape.compliance).any() if feasible else False
    joints = tuple(sorted({robot.joint_of(int(freedom)) for freedom in np.flatnonzero(~held)}))
    result = HoldingTensions(tensions, residual, joints, feasible, stable, shape)
    if check:
        _require(result, q)
    return result


def _with_stops(pulls: Floats, slack: Floats, stops: Floats, low: Floats, high: Floats, minimise: Smallest) -> Floats:
    """Tensions that balance what stops do not: a stop takes whatever presses on it, but it cannot pull."""
    count, together = stops.shape[1], low
    if count:
        # Torques of stops as further unknowns, so small in their unit that they hardly count in the norm or the sum.
        unit = 1e3 * float(np.abs(pulls).max(initial=0.0)) or 1.0
        most = np.append(high, np.full(count, np.inf))
        found = least_squares(np.hstack([pulls, unit * stops]), -slack, np.append(low, np.zeros(count)), most, minimise)
        together, stops = found[: len(low)], stops[:, found[len(low) :] > 0.0]
    # Those that press known, they do not count at all.
    rest = stops @ stops.T
    alone = least_squares(pulls - rest @ pulls, rest @ slack - slack, low, high, minimise)
    return alone if not count or not (stops.T @ (slack + pulls @ alone) > 0.0).any() else together


def _require(result: HoldingTensions, q: Floats) -> None:
    if result.shape.out_of_range:
        row = result.shape.out_of_range[0] - 1
        limit, reason = limit_passed(result.shape, row, "ask for an angle within the limit of the joint")
        raise OutOfRange(row + 1, result.shape.robot.bend_of(q, row), limit, reason, result)
    if not result.feasible:
        freedom = int(np.argmax(np.abs(result.residual)))
        joint, amount = result.shape.robot.joint_of(freedom), float(result.residual[freedom])
        raise Infeasible(
            joint, "moment balance", amount,
            f"no tensions within the bounds hold this shape: {len(result.infeasible)} of "
            f"{len(result.shape.robot.joints)} joints are out of "
            f"balance, most of all joint {joint} by {amount:.3g} N*m; ask for a shape closer to one that cables give, "
            "or widen the bounds", result,
        )  # fmt: skip
    if not result.stable:
        raise Unstable(result.shape.weakest, "raise the lower bound of the tensions", result)


# Tensions within bounds that come closest to a goal, and the smallest of many equally good ones.

Smallest = Literal["norm", "sum"]

RANK = 1e-9
"""Combinations of tensions whose effect is below this fraction of the largest have none: at bounds, larger tensions
would be paid for torques that nobody measures."""


def least_squares(A: Floats, b: Floats, low: Floats, high: Floats, minimise: Smallest) -> Floats:
    """T within the bounds with the least |A T - b|, and among those the one of least norm or least sum."""
    from scipy.optimize import lsq_linear

    loose = high > low
    if not loose.all():
        # Cables whose bounds are equal leave a smaller problem.
        answer = low.copy()
        if loose.any():
            remaining = b - A @ np.where(loose, 0.0, low)
            answer[loose] = least_squares(A[:, loose], remaining, low[loose], high[loose], minimise)
        return answer
    size = float(np.abs(A).max(initial=0.0))
    if size == 0.0:
        return low.copy()
    # Solvers have tolerances of their own: what they see is in units of the problem.
    unit = max(float(np.abs(b).max(initial=0.0)) / size, float(low.max())) or 1.0
    least, most = low / unit, high / unit
    left, values, vectors = np.linalg.svd(A / size)
    rank = int((values > RANK * values[0]).sum())
    free = vectors[rank:].T
    # Full rank by a slight pull towards zero where the torques do not depend on the tensions.
    rows = np.vstack([values[:rank, None] * vectors[:rank], 1e-7 * free.T])
    target = np.concatenate([left[:, :rank].T @ (b / (size * unit)), np.zeros(free.shape[1])])
    best: Floats = lsq_linear(rows, target, bounds=(least, most), method="bvls", tol=1e-15, max_iter=100 * len(low)).x
    best = np.clip(best, least, most)
    if free.shape[1] > 0:
        other = (_least_norm if minimise == "norm" else _least_sum)(best, free, least, most)
        # Where bounds leave hardly any choice, round-off can spoil the search among equals.
        if np.abs(A @ (other - best)).max() <= 1e-9 * size * float(best.max()):
            best = other
    round_off = 1e-12 * float(best.max())
    return np.where(best - least <= round_off, low, np.where(most - best <= round_off, high, unit * best))


def _least_norm(point: Floats, free: Floats, low: Floats, high: Floats) -> Floats:
    """Least norm of point + free y within the bounds: a least-distance problem, as non-negative least squares."""
    from scipy.optimize import nnls

    fixed = point - free @ (free.T @ point)
    bounded = np.isfinite(high)
    G = np.vstack([free, -free[bounded]])
    h = np.concatenate([low - fixed, fixed[bounded] - high[bounded]])
    if (h <= 0.0).all():
        return fixed
    scale = float(np.abs(h).max())
    E = np.vstack([G.T, h / scale])
    target = np.zeros(len(E))
    target[-1] = 1.0
    u, _ = nnls(E, target)
    r = E @ u - target
    y = -scale * r[:-1] / r[-1] if r[-1] != 0.0 else free.T @ point
    return np.clip(fixed + free @ y, low, high)


def _least_sum(point: Floats, free: Floats, low: Floats, high: Floats) -> Floats:
    from scipy.optimize import linprog

    bounded = np.isfinite(high)
    rows = np.vstack([-free, free[bounded]])
    limits = np.concatenate([point - low, (high - point)[bounded]])
    answer = linprog(free.sum(axis=0), A_ub=rows, b_ub=limits, bounds=(None, None), method="highs")
    # The starting point itself is feasible, so only round-off can leave the programme without an answer.
    shift: Floats = free @ answer.x if answer.status == 0 else np.zeros(len(point))
    return np.clip(point + shift, low, high)
