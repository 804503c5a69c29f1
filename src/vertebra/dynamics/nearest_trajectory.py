"""Which trajectory that the cables can give is nearest to the one asked for?

With one tension a cable, a few cables cannot give many joints any motion. Among the motions that obey the equations at
every sample with tensions T within their bounds, the nearest one deviates from the wanted one by angles e of the least

    sum |e|^2 + SMOOTH^4 sum |d2e/dt2|^2 + TIE sum (T / highest bound)^2

The second sum is nothing to a motion that follows slowly, and keeps fast oscillations out: shaken at their own
frequency cables could push a robot a little further on average. The third decides between tensions that do equally
well. Both vanish or are below the digits of interest where the wanted motion is feasible.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.dynamics.motion_equations import MotionEquations
from vertebra.dynamics.problem import Moving, States, states
from vertebra.dynamics.trajectory_search import Wish, search
from vertebra.errors import InputError
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
    """(N, n) moments that the equations leave, N*m."""
    converged: bool
    """The equations hold to 1e-9 of the moment scale, and a further step would change no angle by more than 1e-6 rad,
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
    wish = _wish(MotionEquations(problem, positive("dt", dt)), wanted.q, low, high)
    angles, tensions, converged = search(wish)
    return _answer(wish.equations, angles, tensions, low, high, converged)


def _wish(equations: MotionEquations, q: Floats, low: Floats, high: Floats) -> Wish:
    from scipy.sparse import diags, eye, kron

    count, n = q.shape
    robot = equations.moving.robot
    levers = np.abs(robot.segments["offset"]).max(axis=1, initial=0.0)
    slack = np.zeros((count - 2, len(low)))
    scale = float(np.abs(equations.unbalanced(equations.motion(q), slack)).max() + (high * levers).sum())
    second = diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(count - 2, count)) * (SMOOTH / equations.dt) ** 2
    weight = kron(eye(count) + second.T @ second, eye(n), format="csc")
    return Wish(equations, q, low, high, float(high.max(initial=0.0)) or 1.0, scale or 1.0, weight)


def _answer(
    equations: MotionEquations, q: Floats, tensions: Floats, low: Floats, high: Floats, converged: bool
) -> NearestTrajectory:
    """With the two ends, where no central difference is: rates one-sided, tensions on a straight line, accelerations by
    the equations of motion. Each is as close to the motion as the differences elsewhere are."""
    dt, inner = equations.dt, equations.motion(q)
    pulls = np.concatenate([2.0 * tensions[:1] - tensions[1:2], tensions, 2.0 * tensions[-1:] - tensions[-2:-1]])
    pulls = np.clip(pulls, low, high)
    first = (-3.0 * q[0] + 4.0 * q[1] - q[2]) / (2.0 * dt)
    last = (3.0 * q[-1] - 4.0 * q[-2] + q[-3]) / (2.0 * dt)
    qd = np.concatenate([first[None], inner.qd, last[None]])
    ends = [0, -1]
    rises = equations.accelerations(q[ends], qd[ends], pulls[ends])
    qdd = np.concatenate([rises[:1], inner.qdd, rises[1:]])
    residual = equations.unbalanced(States(False, q, qd, qdd), pulls)
    return NearestTrajectory(q, qd, qdd, pulls, residual, converged)
