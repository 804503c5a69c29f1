"""The contact of section II-C, eqs 12 to 16, found as in section II-D: Levenberg-Marquardt from random guesses.

Ours, since the text leaves it open: how guesses are drawn, what counts as converged, how many guesses there are before
a link is said to have no equilibrium, and that moments are weighed as forces at the ball's radius.

Whatever acts on a link, there is at most one contact with F_N > 0 (theory: the normal follows from M_t, and M_t up to
its sign from a quadratic). The other root has F_N < 0, a ball that pulls; guesses that end there are drawn again, as
the text does. The text also draws again unless M_c > 0. That cannot be about M_t, whose sign is that of the moment
along the force: with a load that twists the other way no guess would ever do. F_f may come out negative, with gamma
half a turn off; its size is what counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vertebra.robot.tables import Floats

TOLERANCE = 1e-10
"""Largest imbalance of a contact that counts as found, as a share of the force it carries."""
SEARCH = {"xtol": 1e-14, "ftol": 1e-14, "maxiter": 2000}
GUESSES = 60
"""At most; about half of all guesses end at the contact, the others mostly at the one that pulls."""


class LiteralContact(NamedTuple):
    """What link i-1 does to link i, the six unknowns; N, rad, N*m."""

    F_N: float
    F_f: float
    alpha: float
    beta: float
    gamma: float
    M_t: float


@dataclass
class ContactSearch:
    """The solver of one joint, with its random numbers and a count of what it took."""

    r_o: float
    """m"""
    rng: np.random.Generator
    guesses: int = 0
    """Random starts so far."""
    solves: int = 0
    """Contacts asked for so far."""

    def solve(self, applied: Floats, start: LiteralContact | None = None) -> LiteralContact | None:
        """The contact that balances `applied` (6,) N and N*m about the ball's centre; none when no guess led to one.

        `start`: try this one before any random guess (not in the paper).
        """
        from scipy.optimize import root

        self.solves += 1
        forces, arms = applied[:3].tolist(), (applied[3:] / self.r_o).tolist()
        wanted, size = (*forces, *arms), math.hypot(*forces)
        scale = max(size, 1e-12)

        def imbalance(x: Sequence[float]) -> list[float]:
            return [a + b for a, b in zip(contact_wrench(*x), wanted, strict=True)]

        for number in range(GUESSES + (start is not None)):
            if number == 0 and start is not None:
                guess = np.array([*start[:5], start.M_t / self.r_o])
            else:
                guess = self._guess(scale)
            found = root(imbalance, guess, method="lm", options=SEARCH)
            balanced = max(abs(value) for value in imbalance(found.x.tolist())) <= TOLERANCE * scale
            if balanced and found.x[0] > 0.0:
                F_N, F_f, alpha, beta, gamma, M_t = found.x.tolist()
                return LiteralContact(F_N, F_f, alpha, beta, gamma, M_t * self.r_o)
        return None

    def _guess(self, scale: float) -> Floats:
        self.guesses += 1
        draw = self.rng.uniform
        return np.array([
            draw(0.0, 2.0 * scale), draw(0.0, scale), draw(-0.5, 0.5) * math.pi, draw(-1.0, 1.0) * math.pi,
            draw(-1.0, 1.0) * math.pi, draw(-0.5, 0.5) * scale,
        ])  # fmt: skip


def contact_wrench(F_N: float, F_f: float, alpha: float, beta: float, gamma: float, M: float) -> tuple[float, ...]:
    """f_c of eq 14, then m_c of eq 15 with moments over r_o; `M` = M_t / r_o. All N.

    In the contact frame b_R_c = R_x(-beta) R_y(alpha - pi/2) of eq 12, whose x axis is the normal, the force is
    (F_N, -F_f cos gamma, F_f sin gamma) by eq 13 and the moment r_o x_c times it, plus M_t x_c.
    """
    sa, ca, sb, cb = math.sin(alpha), math.cos(alpha), math.sin(beta), math.cos(beta)
    along_y, along_z = -F_f * math.cos(gamma), F_f * math.sin(gamma)
    # Columns of b_R_c: (sa, ca sb, ca cb), (0, cb, -sb), (-ca, sa sb, sa cb).
    return (
        sa * F_N - ca * along_z,
        ca * sb * F_N + cb * along_y + sa * sb * along_z,
        ca * cb * F_N - sb * along_y + sa * cb * along_z,
        sa * M - ca * along_y,
        ca * sb * M - cb * along_z + sa * sb * along_y,
        ca * cb * M + sb * along_z + sa * cb * along_y,
    )


def slip_mode(contact: LiteralContact | None, mu: float, r_c: float) -> str:
    """Which limit a contact breaks: sliding, torsion (mu_m = mu r_c, eq 16), no contact at all, or nothing."""
    if contact is None:
        return "no contact"
    if abs(contact.F_f) > mu * contact.F_N:
        return "sliding"
    return "torsion" if abs(contact.M_t) > mu * r_c * contact.F_N else ""
