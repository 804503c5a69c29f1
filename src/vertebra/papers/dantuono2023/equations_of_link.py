"""How many unknowns and equations a link has, and what is left open: section 3.4."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vertebra.papers.dantuono2023.cases import CASES, motion, snake
from vertebra.papers.dantuono2023.literal import MIN_CONTACT_FORCE, link_programme
from vertebra.papers.dantuono2023.literal_balance import literal_balance
from vertebra.papers.dantuono2023.literal_programme import CONTACT_UNKNOWNS, solve
from vertebra.robot.tables import Floats

INSTANT = 2.0
"""s, in the 3D motion."""


@dataclass(frozen=True)
class EquationCount:
    """Of every link alike."""

    unknowns: int
    equations: int
    zeroed: int
    """Unknowns that (32) and (33) set to zero."""
    free: int
    """Dimension of what the balances leave of the rest."""
    free_tensions: int
    """Dimension of the tensions among it: three of four may be chosen."""
    without_friction: bool
    """Whether any link can be balanced with a friction coefficient of zero."""


def equation_count() -> EquationCount:
    """Counted at one instant of the 3D motion, for every link."""
    moves = motion(CASES["3d"], np.array([INSTANT]))
    balance = literal_balance(snake(), moves.q[0], moves.qd[0], moves.qdd[0], migration=True)
    counts, held = set(), False
    for row in range(len(balance.motions)):
        found = link_programme(balance, row, np.inf, MIN_CONTACT_FORCE)
        kept = found.low != found.high
        null = _null_space(found.A[:, kept])
        tensions = null[np.flatnonzero(kept) >= CONTACT_UNKNOWNS]
        rank = int(np.linalg.matrix_rank(tensions, tol=1e-9))
        counts.add((found.A.shape[1], int(np.linalg.matrix_rank(found.A)), found.fixed, found.free, rank))
        held = held or solve(link_programme(balance, row, np.inf, MIN_CONTACT_FORCE, mu=0.0)) is not None
    (count,) = counts
    return EquationCount(*count, held)


def _null_space(A: Floats) -> Floats:
    """Columns that span what `A` maps to zero."""
    _, sizes, rows = np.linalg.svd(A)
    return np.asarray(rows[int((sizes > 1e-9 * sizes[0]).sum()) :].T)
