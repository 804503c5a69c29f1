"""Modes, eigenvalues and stability of M x'' + G x' + K x = 0."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.robot.tables import Floats

SYMMETRIC = 1e-11
"""A stiffness whose two halves differ by less than this part of its largest entry has an energy."""
STILL = 1e-7
"""An eigenvalue below this part of the largest is none: the square root of round-off in a stiffness."""
GROWS = 1e-11
"""A real part above this part of the largest eigenvalue is growth, not round-off."""


class Modes(NamedTuple):
    """Natural modes without damping."""

    frequencies: Floats
    """(n,) Hz."""
    growth: Floats
    """(n,) 1/s."""
    shapes: NDArray[Any]
    """(n, n) one a column."""


def natural_modes(M: Floats, K: Floats) -> Modes:
    """Of K v = -s^2 M v with v^H M v = 1: growing modes first, then by frequency."""
    from scipy.linalg import solve_triangular

    L = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
    squares, shapes = _own(_normalised(L, K))
    order = np.lexsort((squares.imag, squares.real))
    shapes = solve_triangular(L, shapes[:, order], trans="T", lower=True)
    largest = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=0)[None], axis=0)
    # V is of unit length in coordinates where M is one, which is v^H M v = 1.
    shapes = shapes * (np.abs(largest) / largest)
    rates = np.sqrt(-squares[order])
    return Modes(np.abs(rates.imag) / (2.0 * np.pi), np.abs(rates.real), shapes)


def eigenvalues_of(M: Floats, K: Floats, G: Floats) -> NDArray[np.complex128]:
    """(2n,) 1/s, slowest first."""
    L = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
    stiffness, losses = _normalised(L, K), _normalised(L, G)
    if losses.any():
        # In units of time in which the fastest mode takes about one, so that no digits are lost.
        pace = float(np.sqrt(np.abs(stiffness).sum(axis=1).max())) or 1.0
        n = len(M)
        whole = np.block([[np.zeros((n, n)), np.eye(n)], [-stiffness / pace**2, -losses / pace]])
        values = pace * np.linalg.eigvals(whole).astype(np.complex128)
    else:
        rates = np.sqrt(-_own(stiffness)[0])
        values = np.concatenate([rates, -rates])
    ordered: NDArray[np.complex128] = values[np.lexsort((values.imag, values.real, np.abs(values)))]
    return ordered


def is_stable(values: NDArray[np.complex128]) -> bool:
    """No eigenvalue grows, and none is zero."""
    sizes = np.abs(values)
    return bool((values.real <= GROWS * sizes.max()).all() and (sizes > STILL * sizes.max()).all())


def _normalised(L: Floats, K: Floats) -> Floats:
    """L^-1 K L^-T: in coordinates where the mass matrix L L^T is one."""
    from scipy.linalg import solve_triangular

    half = solve_triangular(L, K, lower=True)
    whole: Floats = solve_triangular(L, half.T, lower=True).T
    return whole


def _own(S: Floats) -> tuple[NDArray[np.complex128], NDArray[Any]]:
    """Eigenvalues and vectors; real ones where S is symmetric up to round-off."""
    if np.abs(S - S.T).max() <= SYMMETRIC * np.abs(S).max():
        values, vectors = np.linalg.eigh(0.5 * (S + S.T))
    else:
        values, vectors = np.linalg.eig(S)
    return values.astype(np.complex128), vectors
