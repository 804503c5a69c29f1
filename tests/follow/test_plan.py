"""Bends for wanted paths: lines, arcs, helices, corners, and paths that cannot be followed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.follow.snakes import LENGTH, inner, machine, outer

import vertebra as vb
from vertebra.follow.pair import snake_pair
from vertebra.follow.plan import checked_commands, plan_path
from vertebra.follow.poses import distances
from vertebra.follow.steps import Bend

L = LENGTH


@pytest.fixture(scope="module")
def pair():
    return machine(19).pair


def walked(commands) -> np.ndarray:
    """Vertices of a chain with these bends, by the frames of a robot of that many joints."""
    q = np.array([Bend(*command).vector for command in commands])
    return vb.Pose(outer(len(commands)), q).frames[:, :3, 3]


def assert_follows(plan, path: np.ndarray, tolerance: float = 1e-14) -> None:
    """Vertices are on the path, a link apart, in order, and where the bends lead."""
    np.testing.assert_allclose(walked(plan.commands), plan.vertices, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(np.diff(plan.vertices, axis=0), axis=1), L, atol=1e-15)
    assert distances(plan.vertices, path).max() < tolerance
    assert (np.diff(plan.along) >= L * (1 - 1e-9)).all()


def test_a_straight_line(pair) -> None:
    path = np.array([[0, 0, 0], [0, 0, 10 * L]])
    plan = plan_path(pair, path)
    assert plan.commands == (Bend(0.0, 0.0),) * 10
    assert plan.leftover == 0
    assert_follows(plan, path)
    assert plan_path(pair, np.linspace(0, 1, 57)[:, None] * path[1]).commands == plan.commands


def test_a_slanted_line_bends_at_the_entry_only(pair) -> None:
    path = np.array([[0, 0, 0], [0.6, 0.0, 0.8]]) * 5.5 * L
    plan = plan_path(pair, path)
    assert plan.commands[0] == pytest.approx((math.asin(0.6), 0.0))
    assert max(bend.bend for bend in plan.commands[1:]) < 1e-14
    assert len(plan.commands) == 5
    assert plan.leftover == pytest.approx(0.5 * L)


def test_an_arc_has_equal_bends(pair) -> None:
    """Chords of a circle: half a bend at the entry, where the path begins along z, then 2 asin(L / 2R)."""
    radius, angle = 0.08, np.linspace(0, 1.8, 40_001)
    arc = radius * np.column_stack([np.zeros_like(angle), 1 - np.cos(angle), np.sin(angle)])
    plan = plan_path(pair, arc)
    step = 2 * math.asin(L / (2 * radius))
    assert len(plan.commands) == int(1.8 / step)
    assert plan.commands[0] == pytest.approx((step / 2, math.pi / 2), abs=1e-7)
    for bend in plan.commands[1:]:
        assert bend == pytest.approx((step, math.pi / 2), abs=1e-7)
    assert plan.leftover == pytest.approx(radius * (1.8 - len(plan.commands) * step), abs=1e-8)
    assert_follows(plan, arc)


def test_a_helix_has_equal_bends_and_steadily_turning_azimuths(pair) -> None:
    turn = np.linspace(0, 5.0, 60_001)
    helix = np.column_stack([0.02 * (np.cos(turn) - 1), 0.02 * np.sin(turn), 0.018 * turn])
    plan = plan_path(pair, helix)
    assert_follows(plan, helix)
    bends = np.array([bend.bend for bend in plan.commands[1:]])
    assert np.ptp(bends) < 1e-5
    assert bends[0] > 0.2
    turning = np.diff(np.unwrap([bend.azimuth for bend in plan.commands[1:]]))
    assert np.ptp(turning) < 1e-4
    assert abs(turning[0]) > 0.05


def test_corners_are_taken_by_links_astride(pair) -> None:
    path = np.array([[0, 0, 0], [0, 0, 3.5], [2.2, 0, 3.5], [2.2, 1.9, 4.0], [2.2, 2.0, 6.0]]) * L
    plan = plan_path(pair, path)
    assert_follows(plan, path)
    assert max(bend.bend for bend in plan.commands) < math.pi / 2


def test_a_right_angle_at_a_vertex_of_the_snake(pair) -> None:
    """The sharpest corner that links can slide round, at the very limit of the joints."""
    path = np.array([[0, 0, 0], [0, 0, 3], [2, 0, 3], [2, 2, 3.0]]) * L
    plan = plan_path(pair, path)
    np.testing.assert_allclose(
        [bend.bend for bend in plan.commands], [0, 0, 0, math.pi / 2, 0, math.pi / 2, 0], atol=1e-9
    )
    assert_follows(plan, path, 1e-9)
    assert plan.leftover == 0


def test_a_path_that_doubles_back_within_a_link(pair) -> None:
    """A small detour that never gets a link away is skipped; the path goes on behind it."""
    path = np.array([[0, 0, 0], [0, 0, 2.5], [0, 0.3, 2.2], [0, 0.1, 2.6], [0, 0, 6.0]]) * L
    plan = plan_path(pair, path)
    assert_follows(plan, path)
    assert len(plan.commands) == 6
    assert plan.along[-1] > 6 * L


def test_what_is_left_at_the_end_is_reported(pair) -> None:
    plan = plan_path(pair, [[0, 0, 0], [0, 0, 3.7 * L]])
    assert (len(plan.commands), plan.leftover) == (3, pytest.approx(0.7 * L))
    assert "left over" in repr(plan)
    exact = plan_path(pair, [[0, 0, 0], [0, 0, 3 * L * (1 - 1e-11)]])
    assert (len(exact.commands), exact.leftover) == (3, 0)


def test_repeated_points_do_no_harm(pair) -> None:
    path = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 2], [0, 0, 2], [0, 1, 4.0]]) * L
    assert plan_path(pair, path).commands == plan_path(pair, path[[0, 2, 4]]).commands


def test_a_bend_beyond_the_limit_names_the_place(pair) -> None:
    tight = snake_pair(outer(8, limit=30.0), inner(8), 35, 60)
    path = np.array([[0, 0, 0], [0, 0, 3], [4, 0, 3.0]]) * L
    with pytest.raises(vb.OutOfRange) as caught:
        plan_path(tight, path)
    error = caught.value
    assert error.joint == 4
    assert math.degrees(error.angle) == pytest.approx(90)
    assert math.degrees(error.limit) == pytest.approx(30)
    assert "at place 4, 25.50 mm along the path" in str(error)
    with pytest.raises(vb.OutOfRange, match="at place 1, at the entry"):
        plan_path(tight, np.array([[0, 0, 0], [0, 1, 1.0]]))


def test_turning_back_on_itself_is_too_sharp(pair) -> None:
    with pytest.raises(vb.OutOfRange) as caught:
        plan_path(pair, np.array([[0, 0, 0], [0, 0, 3], [0, 0, -3.0]]) * L)
    assert caught.value.angle == pytest.approx(math.pi)
    with pytest.raises(vb.OutOfRange):
        plan_path(pair, np.array([[0, 0, 0], [0, 0, -3.0]]) * L)


def test_a_path_that_is_too_long_names_the_missing_links() -> None:
    short = machine(5).pair
    with pytest.raises(vb.Infeasible, match=r"3 links are missing. The outer snake allows 5 links, 42.5 mm") as caught:
        plan_path(short, np.array([[0, 0, 0], [0, 0, 8.4]]) * L)
    assert (caught.value.constraint, caught.value.amount, caught.value.joint) == ("reach", 3, 0)
    with pytest.raises(vb.Infeasible, match=r"1 link is missing. The inner snake allows 3 links"):
        plan_path(machine(5, 2).pair, np.array([[0, 0, 0], [0, 0, 4.0]]) * L)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ([[0, 0, 0]], "two or more points"),
        ([[0, 0], [0, 1]], r"not an array of shape \(2, 2\)"),
        ([[0, 0, 0], [0, 0, math.nan]], "finite"),
        ([[0, 0, 0.001], [0, 0, 0.1]], "first point is 1 mm away"),
        ([[0, 0, 0], [0, 0, 0]], "no length"),
        ([[0, 0, 0], [0, 0, 0.004]], "less than one link"),
        ("abc", "numbers in m"),
    ],
)
def test_bad_paths(pair, path, words: str) -> None:
    with pytest.raises(vb.InputError, match=words) as caught:
        plan_path(pair, path)
    assert caught.value.argument == "path"


def test_a_start_slightly_off_the_entry_is_corrected(pair) -> None:
    assert plan_path(pair, [[1e-6, 0, 0], [0, 0, 2 * L]]).commands == (Bend(0.0, 0.0),) * 2


@pytest.mark.parametrize(
    ("commands", "error", "words"),
    [
        ([], vb.InputError, "one or more"),
        (5, vb.InputError, "pairs of bend and azimuth"),
        ([(0.1, 0.0), (0.1,)], vb.InputError, "command 2 must be a bend and an azimuth"),
        ([(0.1, math.inf)], vb.InputError, "finite"),
        ([(0.1, 0.0), (5.0, 0.0)], vb.OutOfRange, "command 2 bends too far; angles are in rad"),
        ([(0.1, 0.0)] * 20, vb.Infeasible, "20 commands are 1 too many: the outer snake allows 19"),
    ],
)
def test_bad_commands(pair, commands, error, words: str) -> None:
    with pytest.raises(error, match=words):
        checked_commands(pair, commands)
