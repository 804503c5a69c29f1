"""Tensions and lengths that lead the tip along a path: continuous, as fast as they say, and read by simulations."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from tests.robots import smooth
from tests.statics.kinds import any_robot

import vertebra as vb
from vertebra.errors import Infeasible, InputError


def circle(robot: vb.Robot, tensions: np.ndarray, count: int = 25) -> np.ndarray:
    """Tips that tensions around some others give, a closed loop."""
    turn = np.linspace(0.0, 2.0 * np.pi, count)[:, None] + np.pi / 2 * np.arange(len(tensions))
    rows = tensions * (1.0 + 0.15 * np.cos(turn))
    return vb.shapes_from_tensions(robot, rows, friction=0.0, check=True).tip


ROBOTS = {
    "rolling": (smooth("hu2023-prototype"), np.array([5.0, 4.0, 4.0, 6.0])),
    "backbone": (any_robot(np.random.default_rng(2), 4, ("backbone",)), np.array([4.0, 2.0, 3.0, 3.0])),
    "universal": (any_robot(np.random.default_rng(1), 8, ("universal",)), 0.3 + 0.3 * (np.arange(8) % 3)),
    "twelve cables": (smooth("yang2023-c"), 2.0 + np.arange(12) % 3),
}
every_robot = pytest.mark.parametrize("name", ROBOTS)


@every_robot
def test_tensions_change_little_by_little(name: str) -> None:
    robot, tensions = ROBOTS[name]
    tips = circle(robot, tensions)
    times = 0.1 * np.arange(len(tips))
    path = vb.tensions_for_tips(robot, tips, times)
    assert all(path.reached)
    assert path.error.max() < 1e-6
    assert path.jumps == ()
    assert path.kkt.max() < 1e-6
    # Twice as many rows halve the largest change.
    fine = vb.tensions_for_tips(robot, circle(robot, tensions, 49), np.linspace(0.0, times[-1], 49))
    coarse_step, fine_step = (float(np.abs(np.diff(walk.tensions, axis=0)).max()) for walk in (path, fine))
    assert fine_step < 0.7 * coarse_step
    # A closed path ends where it began.
    np.testing.assert_allclose(path.tensions[-1], path.tensions[0], rtol=0, atol=1e-5 * path.tensions.max())
    # Rates by central differences, and both commands give the shapes.
    middle = (path.tensions[2:] - path.tensions[:-2]) / 0.2
    np.testing.assert_allclose(path.tension_rates[1:-1], middle, rtol=1e-9, atol=1e-12)
    middle = (path.lengths[2:] - path.lengths[:-2]) / 0.2
    np.testing.assert_allclose(path.length_rates[1:-1], middle, rtol=1e-9, atol=1e-12)
    for row in (3, 11):
        pulled = vb.shape_from_tensions(robot, path.tensions[row], start=path.angles[row])
        held = vb.shape_from_lengths(robot, path.lengths[row], start=path.angles[row])
        for shape in (pulled, held):
            np.testing.assert_allclose(shape.tip, tips[row], rtol=0, atol=1e-6)


def test_with_friction_the_history_is_followed() -> None:
    robot = vb.load("yang2023-b")
    pulls = np.array([9.0, 7.0, 6.0, 7.0]) + 0.5 * np.arange(6)[:, None] * [1.0, 0.0, -0.5, 0.2]
    tips = vb.ShapePath(robot).follow(pulls).tip
    path = vb.tensions_for_tips(robot, tips, lower=2.0, upper=30.0)
    walk = vb.ShapePath(robot).follow(path.tensions)
    np.testing.assert_allclose(walk.tip, tips, rtol=0, atol=1e-6)
    assert all(path.reached)


def test_a_jump_is_named_with_its_row_and_reason() -> None:
    """From one place straight to another that only other tensions give: halving the way does not help."""
    robot = smooth("hu2023-prototype")
    ends = [vb.shape_from_tensions(robot, pull).tip for pull in ([9.0, 1.0, 1.0, 1.0], [1.0, 1.0, 9.0, 1.0])]
    path = vb.tensions_for_tips(robot, ends, lower=1.0, upper=12.0)
    assert all(path.reached)
    (jump,) = path.jumps
    assert jump.row == 2
    assert jump.change == np.abs(path.tensions[1] - path.tensions[0]).max()
    assert "lead no further" in jump.reason
    assert "1 jumps" in repr(path)


def test_a_path_is_gone_on_from_where_it_is() -> None:
    robot, tensions = ROBOTS["rolling"]
    tips = circle(robot, tensions, 9)
    path = vb.ShapePath(robot)
    path.step([6.0, 6.0, 3.0, 8.0])
    state = path.save()
    found = vb.tensions_for_tips(robot, tips, path=path)
    assert path.save() is state
    assert all(found.reached)
    # From other tensions to the least ones of the first row is a way of its own; the rows that follow are as from rest.
    np.testing.assert_allclose(found.tensions, vb.tensions_for_tips(robot, tips).tensions, rtol=1e-5)
    np.testing.assert_allclose(path.follow(found.tensions).tip, tips, rtol=0, atol=1e-6)
    with pytest.raises(InputError, match="path: has its own gravity"):
        vb.tensions_for_tips(robot, tips, path=path, gravity="wall")


def test_the_last_link_points_one_way_on_the_whole_path() -> None:
    robot, tensions = ROBOTS["twelve cables"]
    middle = vb.shape_from_tensions(robot, tensions)
    axis, size = middle.frames[-1, :3, 2], 0.01 * robot.length
    tips = middle.tip + size * np.array([[0.0, 0, 0], [0.5, 0, 0], [1, 0.5, 0], [1, 1, 0]])
    path = vb.tensions_for_tips(robot, tips, axis=axis)
    assert all(path.reached)
    assert path.jumps == ()
    for row in range(len(tips)):
        shape = vb.shape_from_tensions(robot, path.tensions[row], start=path.angles[row])
        np.testing.assert_allclose(shape.tip, tips[row], rtol=0, atol=1e-6)
        np.testing.assert_allclose(shape.frames[-1, :3, 2], axis, rtol=0, atol=1e-5)


def test_a_row_out_of_reach_is_refused_with_the_path_so_far() -> None:
    robot, tensions = ROBOTS["rolling"]
    tips = circle(robot, tensions, 5)
    tips[3] *= 1.5
    with pytest.raises(Infeasible, match=r"row 4: the tip gets within .* what stops it") as caught:
        vb.tensions_for_tips(robot, tips, upper=20.0)
    assert len(caught.value.result) == 4
    assert caught.value.result.reached == (True, True, True, False)
    loose = vb.tensions_for_tips(robot, tips, upper=20.0, check=False)
    assert loose.reached == (True, True, True, False, True)
    # A place out of reach is no jump: its nearest tensions are where the last ones lead.
    still = vb.tensions_for_tips(robot, [tips[3], tips[3], 1.001 * tips[3]], upper=20.0, check=False)
    assert still.reached == (False, False, False)
    assert still.jumps == ()
    with pytest.raises(InputError, match=r"tips: row 2: tip .* Give m"):
        vb.tensions_for_tips(robot, [tips[0], 1e3 * tips[0]])


def test_simulations_and_controllers_read_the_path(tmp_path: Path) -> None:
    robot, tensions = ROBOTS["rolling"]
    path = vb.tensions_for_tips(robot, circle(robot, tensions, 9), 0.05 * np.arange(9))
    np.testing.assert_allclose(path.tensions_at(0.075), 0.5 * (path.tensions[1] + path.tensions[2]))
    np.testing.assert_allclose(path.lengths_at(9.0), path.lengths[-1])
    run = vb.simulate(
        robot.fill_inertia(), path.tensions_at, duration=6.0, dt=5e-3, q0=path.angles[0], damping=1e-3,
        integrator="implicit",
    )  # fmt: skip
    # The last tensions stay, and the damped robot comes to rest where the path ends.
    np.testing.assert_allclose(run["tip"].to_numpy()[-1], path.tip[-1], rtol=0, atol=1e-3 * robot.length)
    path.to_csv(tmp_path / "pulls.csv")
    with (tmp_path / "pulls.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:5] == ["time_s", "t1_N", "t2_N", "t3_N", "t4_N"]
    np.testing.assert_array_equal([float(row["t2_N"]) for row in rows], path.tensions[:, 1])
    np.testing.assert_allclose([float(row["length1_mm"]) for row in rows], 1e3 * path.lengths[:, 0])


@pytest.mark.parametrize(
    ("tips", "times", "field"),
    [([0.0, 0.0, 0.1], None, "tips"), (np.zeros((0, 3)), None, "tips"), ([[0, 0, 0.1]] * 2, [0.0, 0.0], "times"),
     ([[0, 0, 0.1]] * 2, [0.0], "times"), ([[0, 0, np.nan]], None, "tips")],
)  # fmt: skip
def test_wrong_paths_are_refused(tips, times, field: str) -> None:
    with pytest.raises(InputError, match=field):
        vb.tensions_for_tips(smooth("hu2023-prototype"), tips, times)
