"""Small dense systems inside kernels, against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest

from vertebra.mechanics.kernels.algebra import factor_dense, solve_dense


def solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    factors, order, x = matrix.copy(), np.empty(len(matrix), np.int64), right.copy()
    assert factor_dense(factors, order)
    solve_dense(factors, order, x)
    return x


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 20, 60])
def test_solution_of_random_systems(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(20):
        matrix, right = rng.normal(size=(size, size)), rng.normal(size=size)
        expected = np.linalg.solve(matrix, right)
        apart = 1e-13 * np.linalg.cond(matrix) * np.abs(expected).max()
        np.testing.assert_allclose(solved(matrix, right), expected, rtol=0, atol=apart)


@pytest.mark.parametrize("size", [2, 4, 7])
def test_rows_in_any_order(size: int) -> None:
    """A permutation with tiny diagonals needs an exchange in every column."""
    rng = np.random.default_rng(size)
    for _ in range(20):
        matrix = rng.permutation(np.eye(size)) + 1e-3 * rng.normal(size=(size, size))
        right = rng.normal(size=size)
        np.testing.assert_allclose(solved(matrix, right), np.linalg.solve(matrix, right), rtol=0, atol=1e-13)


def test_singular_systems_are_reported() -> None:
    order = np.empty(3, np.int64)
    assert not factor_dense(np.zeros((3, 3)), order)
    assert not factor_dense(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 0.0, 1.0]]), order)
