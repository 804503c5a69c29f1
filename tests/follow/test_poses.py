"""Where links are and how they slide, and polylines in space."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from tests.follow.snakes import LENGTH, machine, random_commands
from tests.oracles.chain import frames as chain_frames

import vertebra as vb
from vertebra.follow.journey import SHARES, corner_cut, link_cuts
from vertebra.follow.plan import cycle_steps
from vertebra.follow.poses import (
    CHUNK,
    ball_centers,
    body_points,
    distances,
    farthest,
    head,
    point_ahead,
    slide_line,
    sliding_centers,
    sliding_frames,
    state_frames,
)
from vertebra.follow.state import after
from vertebra.follow.steps import (
    STRAIGHT,
    Advance,
    Bend,
    Loosen,
    Retract,
    Snake,
    Tighten,
    bend_of_vector,
    bend_toward,
    turned,
)

OUT, IN = Snake.OUTER, Snake.INNER


def out_by(commands, joints: int = 8):
    """Snakes with these bends, the inner one out as far. Forces are not checked: sharp bends would slip."""
    snakes = machine(joints, check=False)
    snakes.run(cycle_steps(snakes.pair, [Bend(*command) for command in commands]))
    return snakes


def slides(snakes):
    """Every state in which a snake can slide, with the step: forward and back, inner and outer."""
    full = snakes.state
    snakes.do(Loosen(IN))
    yield snakes.state, Retract(IN)
    snakes.run([Retract(IN)])
    yield snakes.state, Advance(IN)
    snakes.run([Tighten(IN), Loosen(OUT)])
    yield snakes.state, Retract(OUT)
    snakes.run([Retract(OUT)])
    yield snakes.state, Advance(OUT)
    assert len(full.outer) == len(snakes.state.outer) + 1


def test_links_outside_do_not_depend_on_those_inside() -> None:
    """The frames of the first links outside are those of a robot that has only these."""
    commands = random_commands(np.random.default_rng(0), 5)
    snakes = out_by(commands)
    size, azimuth = np.array(commands).T
    q = np.column_stack([size * np.cos(azimuth), size * np.sin(azimuth)])
    short = machine(5).pair.outer
    np.testing.assert_allclose(state_frames(snakes.pair, snakes.state, OUT)[3:], vb.Pose(short, q).frames, atol=1e-15)
    np.testing.assert_allclose(head(snakes.pair, snakes.state), vb.Pose(short, q).frames[-1, :3, 3], atol=1e-15)
    inside = state_frames(snakes.pair, snakes.state, OUT)[:4, :3, 3]
    np.testing.assert_allclose(inside, [[0, 0, -k * LENGTH] for k in (3, 2, 1, 0)], atol=1e-15)
    np.testing.assert_allclose(ball_centers(snakes.pair, snakes.state, IN)[0], 0, atol=1e-15)


def test_frames_against_the_independent_chain() -> None:
    snakes = out_by(random_commands(np.random.default_rng(1), 8, most=1.2))
    robot = snakes.pair.outer
    q = np.array([bend.vector for bend in snakes.state.outer]).reshape(-1)
    expected = np.array(chain_frames(robot, q))
    np.testing.assert_allclose(state_frames(snakes.pair, snakes.state, OUT), expected, atol=1e-12)


def test_bend_that_points_a_link_somewhere() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        rotation *= np.sign(np.linalg.det(rotation))
        direction = rng.normal(size=3)
        result = turned(rotation, bend_toward(rotation, direction))
        np.testing.assert_allclose(result[:, 2], direction / np.linalg.norm(direction), atol=1e-14)
        np.testing.assert_allclose(result @ result.T, np.eye(3), atol=1e-14)
    assert bend_toward(np.eye(3), np.array([0, 0, 2.0])) == STRAIGHT
    assert bend_toward(np.eye(3), np.array([0, 0, -2.0])).bend == pytest.approx(math.pi)
    assert bend_of_vector(0.0, 0.0) == STRAIGHT
    assert bend_of_vector(*Bend(0.3, -2.0).vector) == pytest.approx(Bend(0.3, -2.0))


@pytest.mark.parametrize("most", [0.0, 0.2, 1.0, math.pi / 2])
def test_sliding_keeps_the_links_whole_and_on_the_line(most: float) -> None:
    rng = np.random.default_rng(3)
    commands = [(most, azimuth) for _, azimuth in random_commands(rng, 6)]
    for state, step in slides(out_by(commands)):
        pair = machine(8).pair
        line = slide_line(pair, state)
        for share in (1e-9, 0.1, 0.3, 0.5, 0.77, 1 - 1e-9):
            centers = sliding_centers(pair, state, step, share)
            assert len(centers) == len(state.bends(step.snake)) + (2 if isinstance(step, Advance) else 1)
            np.testing.assert_allclose(np.linalg.norm(np.diff(centers, axis=0), axis=1), LENGTH, atol=1e-16)
            assert distances(centers, line).max() < 1e-16
            frames = sliding_frames(pair, state, step, share)
            np.testing.assert_allclose(frames[-len(centers) :, :3, 3], centers, atol=1e-14)
            np.testing.assert_allclose(np.linalg.norm(np.diff(frames[:, :3, 3], axis=0), axis=1), LENGTH, atol=1e-15)


@pytest.mark.parametrize("most", [0.0, 0.3, 1.2, math.pi / 2])
def test_at_both_ends_of_a_slide_links_are_on_vertices_exactly(most: float) -> None:
    rng = np.random.default_rng(4)
    commands = [(most, azimuth) for _, azimuth in random_commands(rng, 6)]
    snakes = out_by(commands)
    pair = snakes.pair
    for state, step in slides(snakes):
        vertices = slide_line(pair, state)[1:-1]  # without the ends of the guide and of the extension
        count = len(state.bends(step.snake))
        moved = count + (1 if isinstance(step, Advance) else -1)
        line = np.vstack([vertices, slide_line(pair, state)[-1:]])
        begin, end = sliding_centers(pair, state, step, 0.0), sliding_centers(pair, state, step, 1.0)
        for centers, links in ((begin, count), (end, moved)):
            # From the last link in the guide on, or from the entry on when one more is out.
            first = 1 if len(centers) == links + 1 else 0
            on_vertices = centers[: len(vertices) - first]
            assert (on_vertices == line[first : first + len(on_vertices)]).all(), "bit by bit"
        np.testing.assert_allclose(
            sliding_frames(pair, state, step, 0.0), state_frames(pair, state, step.snake), atol=2e-13
        )
        moved_to = after(pair, state, step)
        np.testing.assert_allclose(
            sliding_frames(pair, state, step, 1.0), state_frames(pair, moved_to, step.snake), atol=2e-13
        )


def test_sliding_is_continuous() -> None:
    """Between samples a hundredth of a link apart nothing moves by more than a few hundredths, orientation included."""
    snakes = out_by([(0.5, 0.3), (0.4, 2.0), (0.5, -1.0), (0.0, 0.0), (0.6, 1.5)])
    for state, step in slides(snakes):
        looks = np.array([sliding_frames(snakes.pair, state, step, k / 100) for k in range(101)])
        jumps = np.abs(np.diff(looks, axis=0))
        assert jumps[:, :, :3, 3].max() < 0.05 * LENGTH
        assert jumps[:, :, :3, :3].max() < 0.2


@pytest.mark.parametrize("phi", [0.01, 0.05, 0.2])
def test_one_corner_is_cut_by_a_quarter_of_link_times_angle(phi: float) -> None:
    """Exactly: the middle of a link astride a corner is (L/2) sin(phi/2) from both legs."""
    snakes = out_by([(0.0, 0.0), (0.0, 0.0), (phi, 0.7), (0.0, 0.0)])
    snakes.do(Loosen(OUT))
    state = snakes.state
    deviation, by_step = corner_cut(snakes.pair, [state], [Advance(OUT)])
    assert deviation.largest == by_step[0] == pytest.approx(LENGTH / 2 * math.sin(phi / 2), rel=1e-3)
    assert deviation.largest == pytest.approx(LENGTH * phi / 4, rel=5e-3)
    assert 0 < deviation.rms < deviation.largest


def test_a_sharp_corner_is_measured_where_it_is_cut_most() -> None:
    """Not half way along the slide: the legs of a right angle are unequally long then."""
    snakes = out_by([(0.0, 0.0), (math.pi / 2, 0.0), (0.0, 0.0)])
    snakes.do(Loosen(OUT))
    deviation, _ = corner_cut(snakes.pair, [snakes.state], [Advance(OUT)])
    assert deviation.largest == pytest.approx(LENGTH / 2 * math.sin(math.pi / 4), rel=2e-3)


def test_the_mean_of_the_cut_against_dense_sampling() -> None:
    snakes = out_by([(0.2, 0.3), (0.1, 2.0), (0.25, -1.0), (0.05, 0.0), (0.3, 1.5)])
    snakes.do(Loosen(OUT))
    state, step = snakes.state, Advance(OUT)
    line = slide_line(snakes.pair, state)
    looks = [sliding_centers(snakes.pair, state, step, k / SHARES) for k in range(1, SHARES)]
    off = np.array([distances(body_points(centers, 400), line) for centers in looks])
    deviation, _ = corner_cut(snakes.pair, [state], [step])
    assert deviation.rms == pytest.approx(math.sqrt((off**2).mean()), rel=2e-3)
    assert off.max() <= deviation.largest < 1.05 * off.max()
    for centers, sampled in zip(looks, off, strict=True):
        assert link_cuts(centers, line).max() == pytest.approx(sampled.max(), rel=1e-2)


def test_a_straight_snake_cuts_nothing() -> None:
    snakes = out_by([(0.0, 0.0)] * 3)
    snakes.do(Loosen(OUT))
    deviation, _ = corner_cut(snakes.pair, [snakes.state], [Advance(OUT), Tighten(OUT)])
    assert deviation.largest < 1e-17


def test_a_share_is_from_0_to_1() -> None:
    snakes = out_by([(0.1, 0.0)])
    snakes.do(Loosen(OUT))
    with pytest.raises(vb.InputError, match="from 0 to 1"):
        sliding_centers(snakes.pair, snakes.state, Advance(OUT), 1.5)


# Polylines.


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
