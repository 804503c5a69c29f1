"""Quantiles and tests of a least-squares fit: Student and Fisher where the scatter is estimated from the residuals,
normal and chi-squared where it is known."""

from __future__ import annotations

import math


def pointwise_factor(level: float, dof: int, known: bool) -> float:
    """Half-width of the interval of one value, in its standard errors."""
    from scipy import special

    tail = 0.5 + 0.5 * level
    return float(special.ndtri(tail) if known else special.stdtrit(dof, tail))


def simultaneous_factor(level: float, unknowns: int, dof: int, known: bool) -> float:
    """Half-width of a band that holds the whole curve at once, in standard errors (Scheffé; Working and Hotelling)."""
    from scipy import special

    if known:
        return math.sqrt(special.chdtri(unknowns, 1.0 - level))
    return math.sqrt(unknowns * special.fdtri(unknowns, dof, level))


def p_of_drop(drop: float, unknowns: int, squares: float, dof: int, sigma: float | None) -> float:
    """Probability that chance alone lowers the sum of squares (N^2) by `drop` when `unknowns` more are fitted.

    `squares` and `dof` are those of the larger model. 1 where nothing is left to judge by.
    """
    from scipy import special

    drop = max(drop, 0.0)
    if sigma is not None:
        return float(special.chdtrc(unknowns, drop / sigma**2))
    if drop == 0.0 or dof < 1:
        return 1.0
    if squares == 0.0:
        return 0.0
    return float(special.fdtrc(unknowns, dof, (drop / unknowns) / (squares / dof)))


def p_of_scatter(squares: float, dof: int, sigma: float) -> float:
    """Probability that readings with the known scatter `sigma` give this sum of squares or more."""
    from scipy import special

    return float(special.chdtrc(dof, squares / sigma**2)) if dof else 1.0
