"""Which trajectory that the cables can give is nearest to the one asked for?

With one tension per cable, a few cables cannot give every motion of many joints. Among the motions that satisfy the
equations of motion at every sample with tensions T within their bounds, the nearest one has the smallest

    sum |e|^2 + SMOOTH^4 sum |d2e/dt2|^2 + TIE sum (T / highest bound)^2

where e are the deviations of the angles from the wanted ones. The second sum is negligible for slow changes and keeps
fast oscillations out, with which cables could push a robot a little further on average. The third decides between
tensions that do equally well. Where the wanted motion is feasible, both are zero or too small to matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.dynamics.equations_of_motion import (
    angle_derivatives,
    mass_matrices_at,
    rate_derivatives,
    required_torques,
)
from vertebra.dynamics.problem import Moving, States, states
from vertebra.errors import InputError
from vertebra.mechanics.kinematics import measure
from vertebra.robot.arguments import positive
from vertebra.robot.tables import Floats

SMOOTH = 0.1
"""s; deviations that come and go faster than this count much more."""
LEAST_SAMPLES = 5


class NearestTrajectory(NamedTuple):
    """A motion that the cables can give, N samples of n joints."""

    q: Floats
    """(N, n) rad."""
    qd: Floats
    """(N, n) rad/s: central differences of q; one-sided at the ends."""
    qdd: Floats
    """(N, n) rad/s^2: central differences of q; at the ends those of the equations of motion."""
    tensions: Floats
    """(N, cables) N, within the bounds."""
    residual: Floats
    """(N, n) torques that the equations leave, N*m."""
    converged: bool
    """The equations hold to 1e-9 of the torque scale, and a further step would change no angle by more than 1e-6 rad,
    or that sum by no more than 1e-9 of it. Otherwise the motion is feasible as far as `residual` says, but perhaps not
    the nearest."""


def nearest_trajectory(
    problem: Moving, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, low: Floats, high: Floats, dt: float | None
) -> NearestTrajectory:
    """The feasible trajectory nearest to angles `q` (N, n) in rad at time steps of `dt` s, N of 5 or more.

    `low`, `high`: (cables,) bounds of the tensions, N. Rates and accelerations of the wanted motion are taken from its
    angles by the same central differences as those of the answer; `qd` and `qdd` are only checked. Joint limits are not
    looked at. A search that fails returns where it ended, `converged` false.
    """
    wanted = states(problem.robot, q, qd, qdd)
    if wanted.single or len(wanted.q) < LEAST_SAMPLES:
        count = 1 if wanted.single else len(wanted.q)
        raise InputError("q", f"must have {LEAST_SAMPLES} samples or more to find a trajectory near it, not {count}")
    if dt is None:
        raise InputError("dt", "give the time step of the samples in s")
    if not np.isfinite(high).all():
        raise InputError("upper", "must be finite, in N; give max_tension of the cables in the robot file")
    goal = _goal(MotionEquations(problem, positive("dt", dt)), wanted.q, low, high)
    angles, tensions, converged = search(goal)
    return _answer(goal.equations, angles, tensions, low, high, converged)


def _goal(equations: MotionEquations, q: Floats, low: Floats, high: Floats) -> Goal:
    from scipy.sparse import diags, eye, kron

    count, n = q.shape
    robot = equations.moving.robot
    levers = np.abs(robot.segments["offset"]).max(axis=1, initial=0.0)
    slack = np.zeros((count - 2, len(low)))
    scale = float(np.abs(equations.unbalanced(equations.motion(q), slack)).max() + (high * levers).sum())
    second = diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(count - 2, count)) * (SMOOTH / equations.dt) ** 2
    weight = kron(eye(count) + second.T @ second, eye(n), format="csc")
    return Goal(equations, q, low, high, float(high.max(initial=0.0)) or 1.0, scale or 1.0, weight)


def _answer(
    equations: MotionEquations, q: Floats, tensions: Floats, low: Floats, high: Floats, converged: bool
) -> NearestTrajectory:
    """Adds the two ends, which have no central differences: rates are one-sided there, tensions extrapolated linearly,
    accelerations those of the equations of motion. All are as accurate as the differences elsewhere."""
    dt, inner = equations.dt, equations.motion(q)
    pulls = np.concatenate([2.0 * tensions[:1] - tensions[1:2], tensions, 2.0 * tensions[-1:] - tensions[-2:-1]])
    pulls = np.clip(pulls, low, high)
    first = (-3.0 * q[0] + 4.0 * q[1] - q[2]) / (2.0 * dt)
    last = (3.0 * q[-1] - 4.0 * q[-2] + q[-3]) / (2.0 * dt)
    qd = np.concatenate([first[None], inner.qd, last[None]])
    ends = [0, -1]
    accelerations = equations.accelerations(q[ends], qd[ends], pulls[ends])
    qdd = np.concatenate([accelerations[:1], inner.qdd, accelerations[1:]])
    residual = equations.unbalanced(States(False, q, qd, qdd), pulls)
    return NearestTrajectory(q, qd, qdd, pulls, residual, converged)


# Equations of motion of sampled angles, rates and accelerations by central differences, and their derivatives.


@dataclass(frozen=True, eq=False)
class MotionEquations:
    """M qdd + bias + k q + sum_k T_k l_k' = 0 at the N - 2 samples that have neighbours."""

    moving: Moving
    dt: float
    """Time step, s."""

    def motion(self, q: Floats) -> States:
        """Of (N, n) angles in rad, at the samples between the ends."""
        before, at, after = q[:-2], np.ascontiguousarray(q[1:-1]), q[2:]
        return States(False, at, (after - before) / (2.0 * self.dt), (after - 2.0 * at + before) / self.dt**2)

    def unbalanced(self, motion: States, tensions: Floats) -> Floats:
        """(N, n) torques that the equations leave, N*m, of N states under tensions (N, cables)."""
        arms, _ = cable_arms(self.moving, motion.q)
        left: Floats = self._free(motion) + np.einsum("ijk,ik->ij", arms, tensions)
        return left

    def _free(self, motion: States) -> Floats:
        """The same without cables."""
        springs = self.moving.robot.joints["stiffness"] * motion.q
        free: Floats = required_torques(self.moving, motion, False)[0] + springs
        return free

    def accelerations(self, q: Floats, qd: Floats, tensions: Floats) -> Floats:
        """(N, n) rad/s^2 with which the equations hold at angles and rates (N, n)."""
        still = States(False, q, qd, np.zeros_like(q))
        left = self.unbalanced(still, tensions)
        masses = mass_matrices_at(self.moving, q)
        return np.asarray(-np.linalg.solve(masses, left[:, :, None])[:, :, 0], dtype=np.float64)

    def derivatives(self, q: Floats, tensions: Floats) -> tuple[Any, Any, Floats]:
        """Sparse matrices of the derivatives in all angles, ((N-2) n, N n), and all tensions, ((N-2) n, (N-2) c), and
        the torques without cables (N-2, n): the equations are linear in the tensions."""
        from scipy.sparse import block_diag, bsr_matrix

        motion = self.motion(q)
        m, n = motion.q.shape
        arms, curves = cable_arms(self.moving, motion.q)
        own = np.arange(n)
        stiff = angle_derivatives(self.moving, motion, order=2)
        stiff[:, own, own] += self.moving.robot.joints["stiffness"] + np.einsum("ijk,ik->ij", curves, tensions)
        inertia = mass_matrices_at(self.moving, motion.q) / self.dt**2
        losses = rate_derivatives(self.moving, motion) / (2.0 * self.dt)
        blocks = np.stack([inertia - losses, stiff - 2.0 * inertia, inertia + losses], axis=1).reshape(3 * m, n, n)
        columns = (np.arange(m)[:, None] + np.arange(3)).reshape(-1)
        in_angles = bsr_matrix((blocks, columns, 3 * np.arange(m + 1)), shape=(m * n, (m + 2) * n))
        in_tensions = block_diag(list(arms), format="csc")
        return in_angles.tocsc(), in_tensions, self._free(motion)


def cable_arms(moving: Moving, q: Floats) -> tuple[Floats, Floats]:
    """(N, n, cables) each: derivative of every cable's length in every angle, m/rad, and the second derivative."""
    segments = [measure(moving.robot, row) for row in q]
    return np.array([one.first.T for one in segments]), np.array([one.second.T for one in segments])


# The search for the nearest feasible trajectory: sequential quadratic programming.
#
# Each step solves a programme with the exact objective and linearised equations, and is shortened until the sum of
# the objective and the weighted torques out of balance falls.

TIE = 1e-8
"""rad^2; full tension of a cable counts as much as a deviation of 0.1 mrad of a joint."""
BALANCED = 1e-9
"""Of the torque scale: the equations hold."""
SETTLED = 1e-6
"""rad; steps below this change nothing of interest."""
SAME = 1e-9
"""Of the objective: a change that is none."""
MOST_STEPS = 100
MOST_CAUTION = 1e4
MOST_RESTORED = 6
FARTHEST = 3.1
"""rad; steps stay within the half turn at which joint laws end."""
LONGEST, SHORTEST = 0.7, 1e-4
"""rad of a step; least fraction of one."""


class Goal(NamedTuple):
    """What is asked for, fixed during the search."""

    equations: MotionEquations
    q: Floats
    low: Floats
    high: Floats
    unit: float
    """The highest tension, N."""
    scale: float
    """Of the torques, N*m."""
    weight: Any
    """Sparse: the objective is e W e for the deviation e of the angles."""

    def objective(self, q: Floats, tensions: Floats) -> float:
        e = (q - self.q).reshape(-1)
        return float(e @ (self.weight @ e) + TIE * ((tensions / self.unit) ** 2).sum())

    def unbalanced(self, q: Floats, tensions: Floats) -> Floats:
        """(N-2, n) as parts of the torque scale."""
        return self.equations.unbalanced(self.equations.motion(q), tensions) / self.scale


def search(goal: Goal) -> tuple[Floats, Floats, bool]:
    """Angles (N, n), tensions (N-2, cables) and whether they are the answer."""
    q, tensions = goal.q.copy(), np.tile(0.5 * (goal.low + goal.high), (len(goal.q) - 2, 1))
    penalty, caution, before, left, settled = 0.0, 0.0, np.inf, goal.unbalanced(q, tensions), False
    for _ in range(MOST_STEPS):
        found = _programme(goal, q, tensions, caution)
        if found is None:
            break
        step, pulls, multipliers = found
        longest = float(np.abs(step).max())
        # Multipliers far from the answer say little about those near it.
        penalty = max(0.5 * penalty, 1.5 * float(np.abs(multipliers).max(initial=0.0)))
        taken = _shortened(goal, q, tensions, left, step, pulls, penalty)
        if taken is None:
            caution = max(4.0 * caution, 1.0)
            if caution > MOST_CAUTION:
                break
            continue
        start = goal.objective(q, tensions)
        q, tensions, left = taken
        # The curvature of the equations is not in the programmes: where it is large, steps overshoot or do not get
        # shorter, and caution, which pulls each answer towards where it started, makes up for it.
        caution = max(2.0 * caution, 0.5) if longest > 0.7 * before else 0.3 * caution
        before = longest
        stays = abs(goal.objective(q, tensions) - start) <= SAME * start
        settled = longest <= SETTLED or (stays and float(np.abs(left).max()) <= BALANCED)
        if settled:
            break
    q, left = _restored(goal, q, tensions)
    return q, tensions, settled and float(np.abs(left).max()) <= BALANCED


def _shortened(
    goal: Goal, q: Floats, tensions: Floats, left: Floats, step: Floats, pulls: Floats, penalty: float
) -> tuple[Floats, Floats, Floats] | None:
    """Angles, tensions and torques out of balance after as much of the step as lowers the merit."""
    longest = float(np.abs(step).max())
    fraction = min(1.0, LONGEST / longest) if longest else 1.0
    start, worst = goal.objective(q, tensions) + penalty * float(np.abs(left).sum()), float(np.abs(left).max())
    correct: Callable[[Floats], Floats] | None = None
    while fraction > SHORTEST:
        angles, rest = q + fraction * step, left
        mixed = np.clip(tensions + fraction * (pulls - tensions), goal.low, goal.high)
        for corrected in (False, True):
            if corrected:
                # The equations bend away from the step: go back to them, at least to second order.
                correct = correct or _corrector(goal, q, tensions)
                angles = angles + correct(rest - (1.0 - fraction) * left)
            if np.abs(angles).max() >= FARTHEST:
                break
            rest = goal.unbalanced(angles, mixed)
            merit = goal.objective(angles, mixed) + penalty * float(np.abs(rest).sum())
            # Near the answer merits differ by round-off, and steps are safe.
            safe = longest < 10.0 * SETTLED and float(np.abs(rest).max()) <= max(worst, BALANCED)
            if merit < start or safe:
                return angles, mixed, rest
        fraction *= 0.5
    return None


def _corrector(goal: Goal, q: Floats, tensions: Floats) -> Callable[[Floats], Floats]:
    """From torques out of balance (parts of the scale) to the smallest change of the angles that takes them away."""
    from scipy.sparse import bmat
    from scipy.sparse.linalg import splu

    slopes = goal.equations.derivatives(q, tensions)[0] / goal.scale
    both = splu(bmat([[goal.weight, slopes.T], [slopes, None]], format="csc"))

    def change(left: Floats) -> Floats:
        found = both.solve(np.concatenate([np.zeros(q.size), -left.reshape(-1)]))
        return np.asarray(found[: q.size].reshape(q.shape), dtype=np.float64)

    return change


def _restored(goal: Goal, q: Floats, tensions: Floats) -> tuple[Floats, Floats]:
    """The last digits of the equations, which the programmes leave: the nearest angles at which they hold with these
    tensions, and what is left."""
    left = goal.unbalanced(q, tensions)
    for _ in range(MOST_RESTORED):
        if np.abs(left).max() <= 0.01 * BALANCED:
            break
        step = _corrector(goal, q, tensions)(left)
        if not np.abs(q + step).max() < FARTHEST:
            break
        better = goal.unbalanced(q + step, tensions)
        if not np.abs(better).max() < 0.5 * np.abs(left).max():
            break
        q, left = q + step, better
    return q, left


def _programme(goal: Goal, q: Floats, tensions: Floats, caution: float) -> tuple[Floats, Floats, Floats] | None:
    """Step of the angles (N, n), new tensions (N-2, cables) and the multipliers of the equations, ((N-2) n,)."""
    import clarabel
    from scipy.sparse import block_diag, eye, hstack, triu, vstack

    in_angles, in_tensions, free = goal.equations.derivatives(q, tensions)
    rows, pulls = in_tensions.shape
    unit, scale = goal.unit, goal.scale
    equations = hstack([in_angles / scale, in_tensions * (unit / scale)])
    select = hstack([0.0 * eye(pulls, q.size), eye(pulls)], format="csr")
    low, high = (np.tile(bound / unit, len(free)) for bound in (goal.low, goal.high))
    fixed, open_ = low == high, low < high
    matrix = vstack([equations, select[fixed], select[open_], -select[open_]], format="csc")
    right = np.concatenate([-free.reshape(-1) / scale, low[fixed], high[open_], -low[open_]])
    cones = [clarabel.ZeroConeT(rows + int(fixed.sum())), clarabel.NonnegativeConeT(2 * int(open_.sum()))]
    objective = 2.0 * block_diag([(1.0 + caution) * goal.weight, TIE * (1.0 + caution) * eye(pulls)], format="csc")
    pull = tensions.reshape(-1) / unit
    slope = np.concatenate([2.0 * (goal.weight @ (q - goal.q).reshape(-1)), -2.0 * TIE * caution * pull])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(triu(objective, format="csc"), slope, matrix, right, cones, settings)
    solution = solver.solve()
    if solution.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        return None
    x, multipliers = np.array(solution.x), np.array(solution.z)[:rows]
    found = np.clip(unit * x[q.size :].reshape(tensions.shape), goal.low, goal.high)
    return x[: q.size].reshape(q.shape), found, multipliers
