"""What the migration of contact points, left out of (5) and (11), does to the joint moments.

Two surfaces that roll touch at another point all the time. The point of the link that touches stands still, but it
does accelerate: R/2 theta_d^2 along the normal. Both sides here are the paper's own equations, with it and without.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vertebra.papers.dantuono2023.cases import AMPLITUDE, CASES, DURATION, FREQUENCY, Case, motion, snake
from vertebra.papers.dantuono2023.literal_balance import literal_balance
from vertebra.robot.tables import Floats

FAST = 2.0
"""rad/s"""
RATES = tuple(np.geomspace(0.05, 4.0, 9).tolist())
"""rad/s, of the plot."""
INSTANTS = 64
"""Of one period."""
POSES, SPREAD = 200, math.radians(20.0)
"""Random poses: how many, and the largest angle, rad."""


@dataclass(frozen=True, eq=False)
class Migration:
    """One motion."""

    case: Case
    time: Floats
    """(N,) s"""
    missing: Floats
    """(N, 6) moments that are missing without it, N*m."""
    moments: Floats
    """(N, 6) with it, N*m."""
    by_rate: Floats
    """(len(RATES),) share of the largest moment, in the pose of largest angles with all moving joints at that rate."""

    @property
    def share(self) -> float:
        """Largest missing moment over the largest moment."""
        return _share(self.missing, self.moments)

    def at(self, rate: float) -> float:
        """`by_rate` at any rate, rad/s."""
        return _share_at(self.case, rate)


@dataclass(frozen=True)
class RandomPoses:
    """200 poses with angles up to 20 deg, all joints at 2 rad/s one way or the other."""

    mean: float
    """Share of the largest moment."""
    largest: float


def migrations(cases: Sequence[Case] = tuple(CASES.values())) -> tuple[Migration, ...]:
    """Every motion at its own speed, and its pose of largest angles at any."""
    found = []
    for case in cases:
        moves = motion(case, np.linspace(0.0, DURATION, INSTANTS + 1))
        pairs = [_with_and_without(*row) for row in zip(moves.q, moves.qd, moves.qdd, strict=True)]
        right, printed = (np.array(side) for side in zip(*pairs, strict=True))
        shares = np.array([_share_at(case, rate) for rate in RATES])
        found.append(Migration(case, moves.time, right - printed, right, shares))
    return tuple(found)


def random_poses() -> RandomPoses:
    """What it is in bent shapes that move fast."""
    rng, shares = np.random.default_rng(2023), []
    for _ in range(POSES):
        right, printed = _with_and_without(
            rng.uniform(-SPREAD, SPREAD, 6), FAST * rng.choice([-1.0, 1.0], 6), np.zeros(6)
        )  # fmt: skip
        shares.append(_share(right - printed, right))
    return RandomPoses(float(np.mean(shares)), float(np.max(shares)))


def _share_at(case: Case, rate: float) -> float:
    right, printed = _with_and_without(AMPLITUDE * case.moving, rate * case.moving, np.zeros(6))
    return _share(right - printed, right)


def _with_and_without(q: Floats, qd: Floats, qdd: Floats) -> tuple[Floats, Floats]:
    robot = snake()
    right, printed = (literal_balance(robot, q, qd, qdd, migration=there).tau for there in (True, False))
    return right, printed


def _share(missing: Floats, moments: Floats) -> float:
    return float(np.abs(missing).max() / np.abs(moments).max())


def own_rate() -> float:
    """Largest joint rate of the paper's motions, rad/s."""
    return AMPLITUDE * FREQUENCY
