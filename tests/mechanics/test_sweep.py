"""The Newton step in O(n) against dense linear algebra on random matrices of the same make."""

from __future__ import annotations

import numpy as np
import pytest

from vertebra.mechanics import layout as columns
from vertebra.mechanics.kernels.sweep import (
    NONE,
    bend_from,
    eliminate_narrow,
    eliminate_wide,
    substitute_narrow,
    substitute_wide,
    tip_response,
)
from vertebra.mechanics.layout import WIDE_PLANES, WIDE_U, WIDE_U_LOW, WIDE_V, WIDE_V_LOW

SIZES = [1, 2, 3, 7, 12, 40, 200]


def empty_state(n):
    # NaN where the sweep must not look.
    state = np.full((n, columns.STATE_WIDTH), np.nan)
    state[:, columns.STATE_TENSION_LEVER] = state[:, columns.STATE_SIZE] = 0.0
    return state


def narrow_problem(n, seed, definite):
    """State and the symmetric matrix that it stands for: H_ij = a_i . b_j above the diagonal."""
    rng = np.random.default_rng([n, seed])
    a, b = rng.normal(size=(2, n, 3))
    H = np.triu(a @ b.T, 1)
    H += H.T
    own = rng.normal(size=n)
    if definite:
        own += 2.0 - min(np.linalg.eigvalsh(H)[0], 0.0) - own.min()
    np.fill_diagonal(H, own)
    state = empty_state(n)
    state[:, columns.STATE_AXIS : columns.STATE_AXIS + 3] = a
    state[:, columns.STATE_UPPER : columns.STATE_UPPER + 3] = b
    state[:, columns.STATE_OWN], state[:, columns.STATE_TAU] = own, rng.normal(size=n)
    return state, H


def wide_problem(n, d, seed, definite, alike=False):
    """State, factors and the matrix: H_ij = u_i . v_j and H_ji = u_i . v'_j for i < j."""
    rng = np.random.default_rng([n, d, seed])
    wide = np.full((WIDE_PLANES, n, d), np.nan)
    wide[WIDE_U], wide[WIDE_V], wide[WIDE_U_LOW], wide[WIDE_V_LOW] = rng.normal(size=(4, n, d))
    if alike:
        wide[WIDE_U_LOW] = wide[WIDE_U]
    H = np.triu(wide[WIDE_U] @ wide[WIDE_V].T, 1) + np.tril(wide[WIDE_V_LOW] @ wide[WIDE_U_LOW].T, -1)
    own = 0.1 + 0.6 * np.abs(H + H.T).sum(axis=1) if definite else rng.normal(size=n)
    np.fill_diagonal(H, own)
    state = empty_state(n)
    state[:, columns.STATE_OWN], state[:, columns.STATE_TAU] = own, rng.normal(size=n)
    return state, wide, H


def scratch(d, right=6):
    return np.full((2 * d + 2, max(d, 6, right)), np.nan)


def dense_pivots(H):
    """Elimination from the last row up: Schur complement of each row on those beyond it."""
    n = len(H)
    pivots = np.empty(n)
    for j in range(n):
        beyond = H[j + 1 :, j + 1 :]
        pivots[j] = H[j, j] - H[j, j + 1 :] @ np.linalg.solve(beyond, H[j + 1 :, j]) if j + 1 < n else H[j, j]
    return pivots


def first_weak(H):
    """Row nearest the end from which H does not resist, by signs of dense eigenvalues; NONE when it does."""
    for j in range(len(H) - 1, -1, -1):
        if np.linalg.eigvalsh(0.5 * (H[j:, j:] + H[j:, j:].T))[0] <= 0.0:
            return j
    return NONE


def close(found, expected, tolerance=1e-10):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", SIZES)
def test_narrow_step_is_that_of_a_dense_solve(n, seed):
    state, H = narrow_problem(n, seed, definite=True)
    assert eliminate_narrow(state, None, 0.0) == NONE
    substitute_narrow(state, None)
    close(state[:, columns.STATE_STEP], -np.linalg.solve(H, state[:, columns.STATE_TAU]))
    if n < 100:
        close(state[:, columns.STATE_PIVOT], dense_pivots(H))


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_narrow_sweep_finds_the_joint_that_gives_way(n, seed):
    state, H = narrow_problem(n, seed, definite=False)
    weak = eliminate_narrow(state, None, 0.0)
    assert weak == first_weak(H)
    beyond = slice(weak + 1, n)
    if weak + 1 < n:
        close(state[beyond, columns.STATE_PIVOT], dense_pivots(H[beyond, beyond]), 1e-8)
    assert (state[:, columns.STATE_PIVOT] > 0.0).all()


@pytest.mark.parametrize("seed", range(30))
def test_modified_step_is_a_dense_step_with_a_larger_diagonal(seed):
    # Every stand-in pivot must be one number added to the diagonal, or the step would not go downhill.
    state, H = narrow_problem(12, seed, definite=False)
    eliminate_narrow(state, None, 0.0)
    substitute_narrow(state, None)
    modified = H.copy()
    for j in range(11, -1, -1):
        raw = dense_pivots(modified[j:, j:])[0]
        added = state[j, columns.STATE_PIVOT] - raw
        if raw > 0.0:
            assert added == pytest.approx(0.0, abs=1e-8 * max(raw, 1.0))
        else:
            assert added > 0.0
        modified[j, j] += added
    assert np.linalg.eigvalsh(modified)[0] > 0.0
    close(state[:, columns.STATE_STEP], -np.linalg.solve(modified, state[:, columns.STATE_TAU]), 1e-7)
    assert state[:, columns.STATE_STEP] @ state[:, columns.STATE_TAU] < 0.0


@pytest.mark.parametrize("shift", [0.5, 7.0])
def test_a_shift_is_a_spring_on_every_joint(shift):
    state, H = narrow_problem(12, 3, definite=True)
    eliminate_narrow(state, None, shift)
    substitute_narrow(state, None)
    close(state[:, columns.STATE_STEP], -np.linalg.solve(H + shift * np.eye(12), state[:, columns.STATE_TAU]))
    state, wide, H = wide_problem(12, 5, 3, definite=True, alike=True)
    memory = scratch(5)
    for symmetric_part, matrix in ((False, H), (True, 0.5 * (H + H.T))):
        eliminate_wide(state, None, wide, memory, shift, symmetric_part)
        substitute_wide(state, None, wide, memory, NONE)
        close(state[:, columns.STATE_STEP], -np.linalg.solve(matrix + shift * np.eye(12), state[:, columns.STATE_TAU]))


@pytest.mark.parametrize("seed", range(10))
def test_a_shift_beyond_the_softest_eigenvalue_leaves_no_weak_joint(seed):
    state, H = narrow_problem(9, seed, definite=False)
    softest = np.linalg.eigvalsh(H)[0]
    assert softest < 0.0
    assert eliminate_narrow(state, None, -1.001 * softest) == NONE
    assert eliminate_narrow(state, None, -0.999 * softest) != NONE


def indefinite(n, seeds, make):
    """The first problems that are not positive definite but whose last rows are."""
    for seed in seeds:
        problem = make(n, seed)
        if first_weak(problem[-1]) not in (NONE, n - 1):
            yield problem


def test_bend_from_has_the_curvature_of_the_weak_pivot():
    tried = 0
    for state, H in indefinite(9, range(60), lambda n, seed: narrow_problem(n, seed, definite=False)):
        weak = eliminate_narrow(state, None, 0.0)
        bend_from(state, None, weak)
        x = state[:, columns.STATE_STEP]
        assert (x[:weak] == 0.0).all()
        assert x[weak] == 1.0
        assert x @ H @ x == pytest.approx(dense_pivots(H[weak:, weak:])[0], rel=1e-7)
        assert x @ H @ x < 0.0
        tried += 1
    assert tried >= 10


def test_a_flat_direction_counts_as_weak():
    # Two joints in series with the same axis, of which only the difference is held: singular to the last bit or nearly.
    for error in (0.0, 1e-14, -1e-14):
        state = empty_state(2)
        state[:, columns.STATE_AXIS : columns.STATE_AXIS + 3] = (0.0, 1.0, 0.0)
        state[:, columns.STATE_UPPER : columns.STATE_UPPER + 3] = (0.0, -2.0, 0.0)
        state[:, columns.STATE_OWN], state[:, columns.STATE_TAU] = (2.0 + error, 2.0), (0.0, 0.0)
        assert eliminate_narrow(state, None, 0.0) == 0
        assert (state[:, columns.STATE_PIVOT] > 0.0).all()
    state[0, columns.STATE_OWN] = 2.0 + 1e-9
    assert eliminate_narrow(state, None, 0.0) == NONE


@pytest.mark.parametrize("d", [4, 5, 8, 16])
@pytest.mark.parametrize("n", SIZES)
def test_wide_step_is_that_of_a_dense_solve(n, d):
    for seed in range(2):
        state, wide, H = wide_problem(n, d, seed, definite=True)
        memory = scratch(d)
        assert eliminate_wide(state, None, wide, memory, 0.0, False) == NONE
        substitute_wide(state, None, wide, memory, NONE)
        close(state[:, columns.STATE_STEP], -np.linalg.solve(H, state[:, columns.STATE_TAU]))
        if n < 100:
            close(state[:, columns.STATE_PIVOT], dense_pivots(H))


@pytest.mark.parametrize("n", [1, 5, 40])
def test_wide_sweep_of_the_symmetric_part(n):
    state, wide, H = wide_problem(n, 5, 0, definite=True, alike=True)
    memory = scratch(5)
    assert eliminate_wide(state, None, wide, memory, 0.0, True) == NONE
    substitute_wide(state, None, wide, memory, NONE)
    symmetric = 0.5 * (H + H.T)
    assert n == 1 or np.abs(H - symmetric).max() > 0.1
    close(state[:, columns.STATE_STEP], -np.linalg.solve(symmetric, state[:, columns.STATE_TAU]))


@pytest.mark.parametrize("seed", range(30))
def test_wide_sweep_of_the_symmetric_part_tells_what_resists(seed):
    state, wide, H = wide_problem(8, 4, seed, definite=False, alike=True)
    state[:, columns.STATE_OWN] += 2.0 + 0.2 * seed
    np.fill_diagonal(H, state[:, columns.STATE_OWN])
    assert eliminate_wide(state, None, wide, scratch(4), 0.0, True) == first_weak(H)


def test_wide_bend_has_the_curvature_of_the_weak_pivot():
    tried = 0

    def make(n, seed):
        state, wide, H = wide_problem(n, 4, seed, definite=False)
        state[:, columns.STATE_OWN] += 3.0
        np.fill_diagonal(H, state[:, columns.STATE_OWN])
        return state, wide, H

    for state, wide, H in indefinite(9, range(100), make):
        memory = scratch(4)
        weak = eliminate_wide(state, None, wide, memory, 0.0, False)
        if weak == NONE:
            continue
        substitute_wide(state, None, wide, memory, weak)
        x = state[:, columns.STATE_STEP]
        assert (x[:weak] == 0.0).all()
        assert x[weak] == 1.0
        assert x @ H @ x == pytest.approx(dense_pivots(H[weak:, weak:])[0], rel=1e-7)
        assert x @ H @ x < 0.0
        tried += 1
    assert tried >= 10


def tip_jacobian(state, tip):
    a, centre = (
        state[:, columns.STATE_AXIS : columns.STATE_AXIS + 3],
        state[:, columns.STATE_CENTRE : columns.STATE_CENTRE + 3],
    )
    return np.vstack([np.cross(a, tip - centre).T, a.T])


@pytest.mark.parametrize("m", [1, 4, 6, 13])
@pytest.mark.parametrize("n", SIZES)
def test_tip_response_after_the_narrow_sweep(n, m):
    rng = np.random.default_rng([n, m])
    state, H = narrow_problem(n, m, definite=True)
    state[:, columns.STATE_CENTRE : columns.STATE_CENTRE + 3] = rng.normal(size=(n, 3))
    tip, right, response = rng.normal(size=3), rng.normal(size=(n, m)), np.full((6, m), np.nan)
    eliminate_narrow(state, None, 0.0)
    tip_response(state, None, np.full((5, n, 4), np.nan), tip, True, right, scratch(4, m), response)
    close(response, tip_jacobian(state, tip) @ np.linalg.solve(H, right))


@pytest.mark.parametrize(("d", "m"), [(4, 4), (4, 6), (8, 4), (12, 9)])
@pytest.mark.parametrize("n", [1, 2, 12, 60])
def test_tip_response_after_the_wide_sweep(n, d, m):
    rng = np.random.default_rng([n, d, m])
    state, wide, H = wide_problem(n, d, m, definite=True)
    state[:, columns.STATE_AXIS : columns.STATE_AXIS + 3] = rng.normal(size=(n, 3))
    state[:, columns.STATE_CENTRE : columns.STATE_CENTRE + 3] = rng.normal(size=(n, 3))
    tip, right, response, memory = rng.normal(size=3), rng.normal(size=(n, m)), np.full((6, m), np.nan), scratch(d, m)
    eliminate_wide(state, None, wide, memory, 0.0, False)
    tip_response(state, None, wide, tip, False, right, memory, response)
    close(response, tip_jacobian(state, tip) @ np.linalg.solve(H, right))
