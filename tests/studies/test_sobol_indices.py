"""Sobol indices: of functions whose indices are known exactly, and beside SALib on the same values."""

from __future__ import annotations

import numpy as np
import pytest

from vertebra.studies.sobol_indices import mixed_points, sobol_indices, total_indices, varies
from vertebra.studies.variables import Samples

METHODS = ("sobol", "latin-hypercube", "random")

ISHIGAMI_FIRST, ISHIGAMI_TOTAL = (0.3139, 0.4424, 0.0), (0.5576, 0.4424, 0.2437)


def ishigami(places: np.ndarray) -> np.ndarray:
    """With a = 7 and b = 0.1; places between 0 and 1 stand for angles between -pi and pi."""
    x, y, z = np.moveaxis(np.pi * (2.0 * places - 1.0), -1, 0)
    return np.sin(x) + 7.0 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x)


def points(method: str, count: int, variables: int, seed: int) -> np.ndarray:
    return mixed_points(Samples(method=method, count=count, seed=seed).draw(2 * variables))


def test_mixed_points_take_one_column_of_b() -> None:
    mixed = points("sobol", 64, 3, 0)
    assert mixed.shape == (64, 5, 3)
    a, b = mixed[:, 0], mixed[:, 1]
    assert (a != b).all()
    for i in range(3):
        others = [j for j in range(3) if j != i]
        np.testing.assert_array_equal(mixed[:, i + 2, i], b[:, i])
        np.testing.assert_array_equal(mixed[:, i + 2, others], a[:, others])
    np.testing.assert_array_equal(np.hstack([a, b]), Samples(count=64).draw(6))


@pytest.mark.parametrize("method", METHODS)
def test_ishigami(method: str) -> None:
    # 18 intervals are compared here, so some of 95 % miss by chance: four standard errors. How often an interval holds
    # what it should is the next test.
    found = sobol_indices(ishigami(points(method, 4096, 3, 0)), 0.6827, 1)
    for index, bounds, known in (
        (found.first, found.first_bounds, ISHIGAMI_FIRST), (found.total, found.total_bounds, ISHIGAMI_TOTAL)
    ):  # fmt: skip
        error = np.ptp(bounds, axis=1) / 2
        assert (np.abs(index - known) < 4.0 * error).all()
        assert (error < 0.025).all()
    assert found.interactions == pytest.approx(1.0 - found.first.sum())
    assert repr(found) == "SobolIndices(first/total " + ", ".join(
        f"{first:.3f}/{total:.3f}" for first, total in zip(found.first, found.total, strict=True)
    ) + ")"  # fmt: skip


def test_even_points_are_closer_than_their_intervals_say() -> None:
    found = sobol_indices(ishigami(points("sobol", 4096, 3, 0)), 0.95, 1)
    for bounds, known in ((found.first_bounds, ISHIGAMI_FIRST), (found.total_bounds, ISHIGAMI_TOTAL)):
        assert (bounds[:, 0] < known).all()
        assert (known < bounds[:, 1]).all()


def test_confidence_covers_as_often_as_it_says() -> None:
    """Of 200 designs drawn at random, about 90 % of the intervals hold the exact index."""
    held = np.zeros((2, 3))
    for seed in range(200):
        found = sobol_indices(ishigami(points("random", 256, 3, seed)), 0.90, seed)
        for row, (bounds, known) in enumerate(
            ((found.first_bounds, ISHIGAMI_FIRST), (found.total_bounds, ISHIGAMI_TOTAL))
        ):
            held[row] += (bounds[:, 0] < known) & (known < bounds[:, 1])
    assert (held / 200 > 0.82).all()
    assert (held / 200 < 0.97).all()


def test_of_a_linear_function_they_are_the_shares_of_variance() -> None:
    slopes = np.array([3.0, -2.0, 1.0, 0.0])
    found = sobol_indices(100.0 + points("sobol", 4096, 4, 2) @ slopes, 0.95, 0)
    shares = slopes**2 / (slopes**2).sum()
    np.testing.assert_allclose(found.first, shares, atol=2e-3)
    np.testing.assert_allclose(found.total, shares, atol=2e-3)
    assert found.total[3] == 0.0
    np.testing.assert_array_equal(found.first_bounds[3], 0.0)


def test_the_same_values_give_what_salib_finds() -> None:
    from SALib.analyze import sobol

    values = 1e3 + 1e-3 * ishigami(points("sobol", 512, 3, 7))
    ours = sobol_indices(values, 0.95, 3)
    names = {"num_vars": 3, "names": ["x", "y", "z"], "bounds": [[0, 1]] * 3}
    order = [0, 2, 3, 4, 1]  # A, AB of each, B
    theirs = sobol.analyze(names, values[:, order].ravel(), calc_second_order=False, num_resamples=2000, seed=5)
    np.testing.assert_allclose(ours.first, theirs["S1"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.total, theirs["ST"], rtol=1e-9)
    np.testing.assert_array_equal(total_indices(values), ours.total)
    # Theirs is a normal interval of another resampling, ours the quantiles themselves.
    np.testing.assert_allclose(np.ptp(ours.first_bounds, axis=1) / 2, theirs["S1_conf"], rtol=0.12)
    np.testing.assert_allclose(np.ptp(ours.total_bounds, axis=1) / 2, theirs["ST_conf"], rtol=0.12)


def test_a_seed_repeats_bit_for_bit() -> None:
    values = ishigami(points("sobol", 256, 3, 0))
    one, same, other = (sobol_indices(values, 0.95, seed) for seed in (4, 4, 5))
    for name in ("first", "total", "first_bounds", "total_bounds"):
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    np.testing.assert_array_equal(one.first, other.first)
    assert not np.array_equal(one.first_bounds, other.first_bounds)


def test_blocks_of_resamples_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = ishigami(points("sobol", 256, 3, 0))
    whole = sobol_indices(values, 0.95, 0)
    monkeypatch.setattr("vertebra.studies.sobol_indices.BLOCK", 256 * 7)
    np.testing.assert_allclose(sobol_indices(values, 0.95, 0).total_bounds, whole.total_bounds, rtol=1e-12)


def test_round_off_is_no_variance() -> None:
    assert not varies(np.zeros(5))
    assert not varies(0.12 + 1e-15 * np.arange(5))
    assert varies(0.12 + 1e-9 * np.arange(5))
    assert varies(np.array([-1.0, 1.0]))
