"""Least squares within bounds: against SciPy, and where a search ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares, lsq_linear

from vertebra.errors import InputError
from vertebra.identify.statistics import Linear, bounded_step, minimise


class Curve:
    """Residuals of an exponential with an edge beyond which it cannot be evaluated."""

    def __init__(self, x: np.ndarray, y: np.ndarray, edge: float = np.inf) -> None:
        self.x, self.y, self.edge = x, y, edge

    def __call__(self, values: np.ndarray) -> Curve:
        if values[1] > self.edge:
            raise InputError("values", "beyond the edge")
        point = Curve(self.x, self.y, self.edge)
        point.values, point.residuals = values, values[0] * np.exp(values[1] * self.x) + values[2] - self.y
        return point

    @staticmethod
    def slopes(point: Curve) -> np.ndarray:
        a, b, _ = point.values
        grow = np.exp(b * point.x)
        return np.column_stack([grow, a * point.x * grow, np.ones_like(point.x)])


@pytest.mark.parametrize("high", [[5, 2, 5], [5, 0.7, 5], [1.2, 0.7, 5], [1.0, 2, 0.1]])
def test_bounded_search_agrees_with_scipy(high: list[float]) -> None:
    x = np.linspace(0, 2, 30)
    curve = Curve(x, 1.5 * np.exp(0.9 * x) + 0.3 + 0.05 * np.sin(40 * x))
    start, low, high = np.array([0.5, 0.1, 0.0]), np.array([0.0, -1.0, -1.0]), np.array(high, dtype=float)
    found = minimise(curve, Curve.slopes, start, low, high, np.ones(3))
    wanted = least_squares(lambda v: curve(v).residuals, start, bounds=(low, high), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert found.converged
    np.testing.assert_allclose(found.values, wanted.x, atol=1e-5)
    assert 0.5 * found.point.residuals @ found.point.residuals <= wanted.cost * (1 + 1e-9)
    np.testing.assert_array_equal(found.held == 1, np.isclose(found.values, high, atol=0, rtol=1e-12))


def test_search_that_stops_at_an_edge_reports_it() -> None:
    x = np.linspace(0, 2, 30)
    curve = Curve(x, 1.5 * np.exp(0.9 * x) + 0.3, edge=0.6)
    low, high = np.array([0.0, -1.0, -1.0]), np.array([5.0, 2.0, 5.0])
    found = minimise(curve, Curve.slopes, np.array([0.5, 0.1, 0.0]), low, high, np.ones(3))
    assert not found.converged
    assert "beyond the edge" in found.reason
    assert found.values[1] <= 0.6
    few = minimise(Curve(x, curve.y), Curve.slopes, np.array([0.5, 0.1, 0.0]), low, high, np.ones(3), most=2)
    assert (few.converged, few.iterations) == (False, 2)


def test_steps_are_the_best_ones_within_bounds() -> None:
    random = np.random.default_rng(0)
    slopes, residuals, scale = random.normal(size=(20, 3)), random.normal(size=20), np.ones(3)
    free = bounded_step(Linear(slopes, residuals, scale, np.full(3, -9.0), np.full(3, 9.0), np.zeros(3, bool)), 0.0)
    for column in range(3):
        low, high = np.full(3, -9.0), np.full(3, 9.0)
        (high if free[column] > 0 else low)[column] = 0.3 * free[column]
        found = bounded_step(Linear(slopes, residuals, scale, low, high, np.zeros(3, bool)), 0.0)
        np.testing.assert_allclose(found, lsq_linear(slopes, -residuals, (low, high), tol=1e-14).x, rtol=1e-9)
        assert np.abs(found - np.clip(free, low, high)).max() > 1e-3, "the others move too"


class Kink:
    """Two straight lines that meet, and a curve that leaves a residual: the least sum of squares is at the corner."""

    def __init__(self, offset: float) -> None:
        self.offset = offset

    def __call__(self, values: np.ndarray) -> Kink:
        point = Kink(self.offset)
        point.values, point.residuals = values, np.array([abs(values[0] - 0.3) + self.offset, 1.0, 1.0])
        return point

    @staticmethod
    def slopes(point: Kink) -> np.ndarray:
        return np.array([[np.sign(point.values[0] - 0.3) or 1.0], [0.0], [0.0]])


@pytest.mark.parametrize(("offset", "converged"), [(1e-3, True), (0.5, False)])
def test_corner_is_a_minimum_only_where_it_hardly_matters(offset: float, converged: bool) -> None:
    found = minimise(Kink(offset), Kink.slopes, np.array([1.0]), np.array([-5.0]), np.array([5.0]), np.ones(1))
    assert found.values[0] == pytest.approx(0.3, abs=1e-6)
    assert found.converged is converged
    assert "corner" in found.reason
