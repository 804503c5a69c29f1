"""Points ahead on a line and distances from it, against dense sampling."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from vertebra.follow.poses import CHUNK, body_points, distances, farthest, point_ahead


def dense(line: np.ndarray, count: int = 4000) -> np.ndarray:
    return np.vstack([a + np.linspace(0, 1, count)[:, None] * (b - a) for a, b in pairwise(line)])


def first_outside(line: np.ndarray, distance: float) -> np.ndarray | None:
    points = dense(line)
    outside = np.flatnonzero(np.linalg.norm(points - line[0], axis=1) >= distance)
    return points[outside[0]] if len(outside) else None


def test_first_point_ahead_against_dense_sampling() -> None:
    rng, found_some = np.random.default_rng(0), 0
    for _ in range(200):
        line = np.cumsum(rng.normal(size=(8, 3)), axis=0)
        distance = float(rng.uniform(0.3, 4.0))
        found, expected = point_ahead(line, 0, line[0], line[0], distance), first_outside(line, distance)
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            found_some += 1
            vertex, point = found
            assert np.linalg.norm(point - line[0]) == pytest.approx(distance, rel=1e-12)
            assert np.linalg.norm(point - expected) < 5e-3
            assert distances(point[None], line[vertex : vertex + 2])[0] < 1e-12
    assert found_some > 100


def test_doubling_back_takes_the_first_crossing() -> None:
    """Out by 0.9, back past the start, out again on the other side."""
    line = np.array([[0, 0, 0], [0.9, 0, 0], [-3.0, 0.1, 0], [5, 0, 0.0]])
    vertex, point = point_ahead(line, 0, line[0], line[0], 1.0)
    assert vertex == 1
    assert point[0] < 0


def test_walks_on_from_inside_a_segment() -> None:
    line = np.array([[0, 0, 0], [10.0, 0, 0]])
    start = np.array([3.0, 0, 0])
    _, point = point_ahead(line, 0, start, start, 2.0)
    np.testing.assert_allclose(point, [5, 0, 0], atol=1e-14)


def test_a_vertex_at_the_distance_is_hit_exactly_even_at_right_angles() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        line = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1.0]]) @ turn.T
        vertex, point = point_ahead(line, 0, line[0], line[0], float(np.linalg.norm(line[1])) * (1 + 3e-16))
        assert vertex == 1
        assert (point == line[1]).all()


def test_lines_of_many_points() -> None:
    line = np.column_stack([np.linspace(0, 10, 3 * CHUNK + 7), np.zeros((3 * CHUNK + 7, 2))])
    _, point = point_ahead(line, 0, line[0], line[0], 9.0)
    np.testing.assert_allclose(point, [9, 0, 0], atol=1e-12)
    off = distances(np.array([[9.0, 2.0, 0.0], [-3.0, 0.0, 4.0]]), line)
    np.testing.assert_allclose(off, [2, 5], rtol=1e-12)


def test_the_end_counts_with_slack_only() -> None:
    line = np.array([[0, 0, 0], [1 - 1e-10, 0, 0]])
    assert point_ahead(line, 0, line[0], line[0], 1.0) is None
    vertex, point = point_ahead(line, 0, line[0], line[0], 1.0, end_slack=1e-9)
    assert (vertex, point[0]) == (1, line[1, 0])


def test_distances_against_dense_sampling() -> None:
    rng = np.random.default_rng(2)
    line, points = np.cumsum(rng.normal(size=(6, 3)), axis=0), rng.normal(size=(40, 3)) * 2
    expected = np.linalg.norm(points[:, None] - dense(line)[None], axis=2).min(axis=1)
    np.testing.assert_allclose(distances(points, line), expected, atol=2e-3)
    assert (distances(points, line) <= expected + 1e-12).all()
    np.testing.assert_allclose(distances(points, line[:1]), np.linalg.norm(points - line[0], axis=1))


def test_points_along_a_body_and_the_farthest_one() -> None:
    centers = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0.0]])
    np.testing.assert_allclose(body_points(centers, 2), [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [2, 2, 0]])
    assert body_points(centers[:1], 4).shape == (1, 3)
    corner = np.array([[0, 0, 0], [0, 3, 0], [3, 3, 0.0]])
    chord = np.array([[0, 1.3, 0], [1.7, 3, 0]])  # at 45 degrees: its middle is farthest from both legs
    largest, off = farthest(chord, corner)
    assert largest == pytest.approx(0.85, rel=1e-3)
    assert off.max() <= largest
    assert len(off) == 17
