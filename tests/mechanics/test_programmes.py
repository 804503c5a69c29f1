"""The nearest point of a polyhedron and linear programmes on it, against general solvers and their own proofs."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy.optimize import linprog, lsq_linear

from vertebra.mechanics.kernels.programmes import (
    EMPTY,
    FOUND,
    ActiveSet,
    Polyhedron,
    least_cost,
    nearest_point,
    rebuild_factors,
)
from vertebra.mechanics.layout import ACTIVE_SIDE, ACTIVE_WHICH, WORK_POINT, WORK_ROWS, WORK_U

COUNT = 3000 if os.environ.get("VERTEBRA_SOAK") == "1" else 300


class Problem:
    """low <= x <= high for the first n limits, low <= G x <= high for the others."""

    def __init__(self, G, low, high):
        self.rows, self.n = G.shape
        length = np.linalg.norm(G, axis=1)
        length[length == 0.0] = 1.0
        scale = np.concatenate([np.ones(self.n), length])
        self.G, self.low, self.high = np.ascontiguousarray(G / length[:, None]), low / scale, high / scale
        self.x, self.active = np.zeros(self.n), np.zeros((2, self.n + 1), np.int64)
        self.work = np.zeros((WORK_ROWS, self.n + 1))
        mark = np.zeros(self.n + self.rows, np.int64)
        square = np.zeros((self.n, self.n)), np.zeros((self.n, self.n))
        self.given = Polyhedron(int(self.n), int(self.rows), self.G, self.low, self.high)
        self.factors = ActiveSet(*square, self.active, mark, self.work)

    def nearest(self, point):
        rebuild_factors(self.given, self.factors)
        self.work[WORK_POINT, : self.n] = point
        return nearest_point(self.given, 1e-10, self.x, self.factors)

    def least_cost(self, cost):
        return least_cost(self.given, cost, 100.0, self.x, self.factors)

    def normals(self):
        """Normals of the active constraints, pointing into the polyhedron, and their multipliers."""
        count = self.active[ACTIVE_WHICH, -1]
        every = np.vstack([np.eye(self.n), self.G])
        normals = every[self.active[ACTIVE_WHICH, :count]].T * self.active[ACTIVE_SIDE, :count]
        return normals.T, self.work[WORK_U, :count]

    def worst(self):
        values = np.concatenate([self.x, self.G @ self.x])
        return max(float((self.low - values).max()), float((values - self.high).max()), 0.0)

    def linprog(self, cost):
        rows, limits = np.vstack([self.G, -self.G]), np.concatenate([self.high[self.n :], -self.low[self.n :]])
        finite = np.isfinite(limits)
        options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        bounds = np.stack([self.low[: self.n], self.high[: self.n]], axis=1)
        return linprog(cost, A_ub=rows[finite], b_ub=limits[finite], bounds=bounds, method="highs-ds", options=options)


def random_polyhedron(rng):
    """With parallel and repeated rows, equations, touching limits; now and then without a point."""
    n, rows = rng.integers(1, 13), rng.integers(1, 7)
    G = rng.normal(size=(rows, n))
    if rng.random() < 0.4:
        G = np.round(G)
    if rows > 2 and rng.random() < 0.3:
        G[1] = -2.0 * G[0]
    inside = rng.uniform(5.0, 100.0, n)
    low, high = np.full(n + rows, -np.inf), np.full(n + rows, np.inf)
    low[:n], high[:n] = 5.0, 100.0
    for row in range(rows):
        value, kind = G[row] @ inside, rng.random()
        value += 300.0 * (rng.random() < 0.03)
        if kind < 0.3:
            low[n + row] = high[n + row] = value
        elif kind < 0.6:
            low[n + row] = value - rng.choice([0.0, 1.0, 10.0])
        else:
            high[n + row] = value
    return Problem(G, low, high)


def test_nearest_points_prove_themselves():
    """x is the nearest point iff x - p is a sum of normals of touched constraints, none with a negative weight."""
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(COUNT):
        polyhedron = random_polyhedron(rng)
        point = rng.normal(0.0, 200.0, polyhedron.n)
        status = polyhedron.nearest(point)
        exists = polyhedron.linprog(np.zeros(polyhedron.n)).status == 0
        assert (status == FOUND) == exists
        if status == FOUND:
            found += 1
            normals, weights = polyhedron.normals()
            assert polyhedron.worst() <= 1e-10
            np.testing.assert_allclose(polyhedron.x - point, weights @ normals, atol=1e-9)
            sides = polyhedron.active[ACTIVE_WHICH, : len(weights)]
            fixed = polyhedron.low[sides] == polyhedron.high[sides]
            assert (weights[~fixed] >= 0.0).all()
    assert found > COUNT // 2


def test_a_box_clips():
    rng = np.random.default_rng(2)
    low, high = np.array([-1.0, 0.0, 2.0, 3.0]), np.array([1.0, 5.0, 2.0, np.inf])
    box = Problem(np.empty((0, 4)), low, high)
    for point in rng.normal(0.0, 5.0, (50, 4)):
        assert box.nearest(point) == FOUND
        np.testing.assert_array_equal(box.x, np.clip(point, low, high))


def test_against_bounded_least_squares():
    rng = np.random.default_rng(3)
    for _ in range(50):
        normal, level = rng.normal(size=5), rng.normal()
        limits = np.append(np.full(5, -1.0), level), np.append(np.full(5, 1.0), level)
        plane, point = Problem(normal[None], *limits), rng.normal(0.0, 3.0, 5)
        if plane.nearest(point) == FOUND:
            heavy = lsq_linear(
                np.vstack([np.eye(5), 1e4 * normal]), np.append(point, 1e4 * level), (-1.0, 1.0), "bvls", tol=1e-14
            )
            np.testing.assert_allclose(plane.x, heavy.x, atol=1e-6)


def test_least_cost_is_that_of_linprog_and_the_smallest_point_of_it():
    rng = np.random.default_rng(4)
    empty = 0
    for _ in range(COUNT):
        polyhedron = random_polyhedron(rng)
        cost = np.ones(polyhedron.n) if rng.random() < 0.6 else np.round(rng.normal(size=polyhedron.n), 1)
        status, oracle = polyhedron.least_cost(cost), polyhedron.linprog(cost)
        assert (status == FOUND) == (oracle.status == 0)
        if status != FOUND:
            empty += 1
            continue
        assert polyhedron.worst() <= 1e-10
        assert cost @ polyhedron.x == pytest.approx(oracle.fun, abs=1e-8)
        assert np.linalg.norm(polyhedron.x) <= np.linalg.norm(oracle.x) + 1e-8
    assert empty > 0


def test_ties_are_broken_by_the_least_squares():
    # x + y = 10 costs the same everywhere; z is free to be zero.
    tie = Problem(np.array([[1.0, 1.0, 0.0]]), np.array([0.0, 0.0, -5.0, 10.0]), np.array([9.0, 9.0, 5.0, 10.0]))
    assert tie.least_cost(np.array([1.0, 1.0, 0.0])) == FOUND
    np.testing.assert_allclose(tie.x, [5.0, 5.0, 0.0], atol=1e-12)


def test_the_smallest_optimum_is_found_down_a_slope_that_is_all_but_level():
    # From zero, the way to x = 100 begins at x + z = 10 with a z that the end has no need of.
    slope = Problem(
        np.array([[1.0, 0.0, 1.0]]), np.array([0.0, 0.0, 0.0, 10.0]), np.array([100.0, 100.0, 100.0, np.inf])
    )
    assert slope.least_cost(np.array([-1e-4, 1.0, 0.0])) == FOUND
    np.testing.assert_allclose(slope.x, [100.0, 0.0, 0.0], atol=1e-9)


def test_a_start_from_another_problem_changes_nothing():
    rng = np.random.default_rng(5)
    G = rng.normal(size=(4, 6))
    low, high = np.append(np.full(6, 5.0), np.full(4, -np.inf)), np.full(10, 100.0)
    high[6:] = G @ rng.uniform(5.0, 100.0, 6)
    warm = Problem(G, low, high)
    for step in range(100):
        cost = np.sin(0.05 * step + np.arange(6.0))
        cold = Problem(G, low, high)
        assert warm.least_cost(cost) == cold.least_cost(cost) == FOUND
        np.testing.assert_allclose(warm.x, cold.x, atol=1e-9)


@pytest.mark.parametrize(
    ("row", "low", "high"), [([0.0, 0.0], 1.0, 2.0), ([1.0, 1.0], 30.0, np.inf), ([1.0, -1.0], -np.inf, -11.0)]
)
def test_a_polyhedron_without_a_point_is_reported_empty(row, low, high):
    none = Problem(np.array([row]), np.array([0.0, 0.0, low]), np.array([10.0, 10.0, high]))
    assert none.nearest(np.zeros(2)) == EMPTY
    assert none.least_cost(np.ones(2)) == EMPTY
