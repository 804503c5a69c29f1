"""Which variables does the variance of an output come from? Sobol indices of first and total order: the points at which
a function has to be computed, and what its values there say.

Of independent variables, the first-order index of one is the share of the variance that vanishes on average where it is
known exactly; the total index is the share that remains where all others are. Without interactions they are equal and
their sum is 1.

Two sets of points A and B, and for each variable i the points AB_i: those of A with the i-th column of B. Estimators:
V_i = mean B (AB_i - A) for the first order (Saltelli et al. 2010), T_i = mean (A - AB_i)^2 / 2 for the total
(Jansen 1999), both of centred values and divided by the variance of A and B together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vertebra.robot.tables import Floats

RESAMPLES = 500
"""Of the base rows, from which the confidence intervals follow."""
BLOCK = 2**20
"""Numbers of resampled rows that are held at a time."""
NO_VARIANCE = 1e-10
"""Times the largest value: a standard deviation that is round-off of the computation."""


def mixed_points(base: Floats) -> Floats:
    """(n, v + 2, v) points from base rows (n, 2 v) with numbers between 0 and 1: in each row A, B and then AB of every
    variable."""
    a, b = np.split(base, 2, axis=1)
    variables = a.shape[1]
    points = np.repeat(a[:, None, :], variables + 2, axis=1)
    points[:, 1] = b
    for i in range(variables):
        points[:, i + 2, i] = b[:, i]
    return points


@dataclass(frozen=True, eq=False, repr=False)
class SobolIndices:
    """Shares of variables in the variance of one output, with intervals of confidence."""

    first: Floats
    """(v,) of the variable alone; as an estimate it may fall slightly below 0."""
    total: Floats
    """(v,) together with all interactions that it takes part in."""
    first_bounds: Floats
    """(v, 2) lower and upper, by resampling base rows; wide for evenly spread points, which do better than random."""
    total_bounds: Floats
    """(v, 2)"""

    @property
    def interactions(self) -> float:
        """Share of the variance that no variable has alone, 0 to 1."""
        return float(np.clip(1.0 - self.first.sum(), 0.0, 1.0))

    def __repr__(self) -> str:
        each = (f"{first:.3f}/{total:.3f}" for first, total in zip(self.first, self.total, strict=True))
        return f"SobolIndices(first/total {', '.join(each)})"


def varies(values: Floats, size: float = 0.0) -> bool:
    """Whether values (n,) differ by more than round-off, theirs or that of numbers as large as `size`, which they are
    the difference of."""
    return float(values.std()) > NO_VARIANCE * max(size, float(np.abs(values).max()))


def sobol_indices(values: Floats, confidence: float, seed: int) -> SobolIndices:
    """Indices from the values (n, v + 2) of an output that varies, at the points of `mixed_points`.

    `confidence`: of the intervals, such as 0.95; `seed`: of the resampling.
    """
    parts = _products(values)
    first, total = _indices(parts.mean(axis=0))
    rng, n = np.random.default_rng(seed), len(values)
    resampled, block = list[Floats](), max(1, BLOCK // n)
    for start in range(0, RESAMPLES, block):
        rows = min(block, RESAMPLES - start)
        drawn = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
        # Not a product of matrices, whose last bits depend on the number of threads.
        resampled.append(np.einsum("rn,nk->rk", times / n, parts))
    tails = [0.5 * (1.0 - confidence), 0.5 * (1.0 + confidence)]
    firsts, totals = (np.quantile(found, tails, axis=0).T for found in _indices(np.concatenate(resampled)))
    return SobolIndices(first, total, firsts, totals)


def total_indices(values: Floats) -> Floats:
    """(v,) of the total order alone, without confidence."""
    return _indices(_products(values).mean(axis=0))[1]


def _products(values: Floats) -> Floats:
    """(n, 2 + 2 v) what the indices are ratios of means of: A and B, their squares, V_i, T_i."""
    # The estimator of first order is far less uncertain for values about zero; their scale cancels.
    centred = (values - values.mean()) / values.std()
    a, b, mixed = centred[:, :1], centred[:, 1:2], centred[:, 2:]
    return np.hstack([0.5 * (a + b), 0.5 * (a**2 + b**2), b * (mixed - a), 0.5 * (a - mixed) ** 2])


def _indices(means: Floats) -> tuple[Floats, Floats]:
    """(..., v) first and total order."""
    mean, square, products = means[..., :1], means[..., 1:2], means[..., 2:]
    variance = square - mean**2
    first, total = np.split(products / np.where(variance > 0.0, variance, np.inf), 2, axis=-1)
    return first, total
