"""A whole journey: on the path of the tip, back again exactly, and as snapshots for an animation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from tests.follow.snakes import LENGTH, inner, outer, random_commands

import vertebra as vb
from vertebra.follow.journey import Deviation, Journey, follow_the_leader, from_tip_path
from vertebra.follow.state import Lock, PairState
from vertebra.follow.steps import Advance, Loosen, Snake, Steer, Tighten

HELD = {"outer_tensions": 35.0, "inner_tensions": 60.0}


def journey(path=None, joints: int = 8, inner_joints: int | None = None, **more) -> Journey:
    inner_joints = joints if inner_joints is None else inner_joints
    return follow_the_leader(outer(joints), inner(inner_joints), path, **(HELD | more))


@pytest.fixture(scope="module")
def there_and_back() -> Journey:
    commands = random_commands(np.random.default_rng(0), 8)
    return journey(commands=commands, come_back=True, tip_load=(0.0, -0.1, 0.0))


@pytest.mark.parametrize("seed", range(5))
def test_bodies_stay_on_the_path_of_the_tip(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = journey(commands=random_commands(rng, int(rng.integers(1, 9)), most=0.35), come_back=True)
    assert found.tip_path_deviation.largest < 1e-12
    assert found.tip_path_deviations.shape == (len(found.states),)
    assert found.tip_path_deviations.max() == found.tip_path_deviation.largest


def test_every_place_is_where_the_head_was(there_and_back: Journey) -> None:
    """Without the code's own measure: the head of each cycle against the vertices of all later bodies."""
    heads = [np.zeros(3)]
    for state, place in zip(there_and_back.states, there_and_back.heads, strict=True):
        if state.lock is Lock.BOTH_RIGID and len(state.outer) == len(heads):
            heads.append(place)
    for state in there_and_back.states:
        if state.lock is not Lock.BOTH_RIGID:
            continue
        for robot, bends in ((outer(8), state.outer), (inner(8), state.inner)):
            padded = [(0.0, 0.0)] * (8 - len(bends)) + [bend.vector for bend in bends]
            centers = vb.Pose(robot, np.array(padded)).frames[8 - len(bends) :, :3, 3]
            np.testing.assert_allclose(centers - centers[0], np.array(heads)[: len(bends) + 1], atol=1e-14)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_measure_sees_a_body_that_strays(place: int) -> None:
    """States that no machine would reach: a joint that is already shared bends all the same."""
    found = journey(commands=[(0.1, 0.0)] * 3)
    last = found.states[-1]
    bent = tuple(bend._replace(bend=0.3) if k == place else bend for k, bend in enumerate(last.outer))
    strayed, by_state = from_tip_path(found.pair, [*found.states, PairState(Lock.BOTH_RIGID, bent, bent)])
    assert strayed.largest == by_state[-1] > 1e-3
    assert strayed.largest < 3 * 0.2 * LENGTH
    assert by_state[:-1].max() < 1e-12


def test_the_reverse_leads_back_exactly(there_and_back: Journey) -> None:
    states = there_and_back.states
    assert states[0] == states[-1] == PairState()
    half = len(states) // 2
    assert states[: half + 1] == states[: half - 1 : -1]
    assert len(there_and_back.commands) == 8


def test_a_loose_snake_is_held_by_the_other(there_and_back: Journey) -> None:
    for state, found in zip(there_and_back.states[1:], there_and_back.holdings, strict=True):
        assert (found is None) == (state.lock is Lock.BOTH_RIGID)
        if found is not None:
            assert found.rigid is state.rigid
            assert found.holds
            assert found.wanted == pytest.approx(0.1)
    assert there_and_back.holds
    margins = [found.margin for found in there_and_back.holdings if found is not None]
    weakest = there_and_back.holdings[there_and_back.weakest]
    assert weakest is not None
    assert weakest.margin == min(margins)


def test_an_arc_is_followed_to_the_height_of_its_chords() -> None:
    radius, angle = 0.08, np.linspace(0, 0.8, 4001)
    arc = radius * np.column_stack([1 - np.cos(angle), np.zeros_like(angle), np.sin(angle)])
    found = journey(arc)
    sagitta = radius - math.sqrt(radius**2 - (LENGTH / 2) ** 2)
    assert found.wanted_deviation is not None
    assert found.wanted_deviation.largest == pytest.approx(sagitta, rel=1e-3)
    assert found.wanted_deviation.rms == pytest.approx(sagitta * math.sqrt(8 / 15), rel=0.02)
    assert found.corner_cut.largest == pytest.approx(LENGTH**2 / (4 * radius), rel=0.02)
    assert found.plan is not None
    assert found.commands == found.plan.commands
    assert found.corner_cuts.max() == found.corner_cut.largest


def test_corner_cut_belongs_to_slides(there_and_back: Journey) -> None:
    for step, cut in zip(there_and_back.steps, there_and_back.corner_cuts, strict=True):
        if str(step).startswith(("loosen", "tighten", "steer")):
            assert cut == 0


def test_snapshots(there_and_back: Journey) -> None:
    snapshots = there_and_back.frames(3)
    moving = sum(str(step).startswith(("advance", "retract", "steer")) for step in there_and_back.steps)
    assert len(snapshots) == 1 + len(there_and_back.steps) + 2 * moving
    assert all(snapshot.outer.shape == snapshot.inner.shape == (9, 4, 4) for snapshot in snapshots)
    for before, after in pairwise(snapshots):
        assert (before.step, before.share) < (after.step, after.share)
        # A third of a link at a time; a little more where the far end swings round a corner.
        assert np.abs(before.outer[:, :3, 3] - after.outer[:, :3, 3]).max() < 0.4 * LENGTH
        assert np.abs(before.inner[:, :3, 3] - after.inner[:, :3, 3]).max() < 0.4 * LENGTH
    np.testing.assert_allclose(snapshots[0].outer, snapshots[-1].outer, atol=1e-15)
    ends = [snapshot for snapshot in snapshots if snapshot.share == 1.0]
    assert [snapshot.lock for snapshot in ends] == [state.lock for state in there_and_back.states]
    assert [snapshot.links_out for snapshot in ends] == [
        (len(state.outer), len(state.inner)) for state in there_and_back.states
    ]
    np.testing.assert_allclose([snapshot.outer[-1, :3, 3] for snapshot in ends], there_and_back.heads, atol=1e-15)
    assert snapshots[2].label == "2 of 112: advance outer"
    assert "33.3 % done, outer loose" in repr(snapshots[2])


def test_steering_is_shown_as_a_bend_that_grows() -> None:
    found = journey(steps=[Loosen("outer"), Advance("outer"), Steer(0.3, 1.0), Steer(0.3, 1.0 + math.pi)])
    turned = {}
    for snapshot in found.frames(3):
        x, y, _ = snapshot.outer[-1, :3, 2]
        turned[snapshot.step, round(3 * snapshot.share)] = (math.cos(1.0) * x + math.sin(1.0) * y, y)
    for share in (1, 2, 3):
        assert turned[3, share][0] == pytest.approx(math.sin(0.1 * share))
        assert turned[4, share][0] == pytest.approx(math.sin(0.3 - 0.2 * share))


def test_the_rigid_snake_stands_still(there_and_back: Journey) -> None:
    snapshots = there_and_back.frames(4)
    for before, after in pairwise(snapshots):
        if after.lock is Lock.OUTER_LOOSE:
            assert (before.inner == after.inner).all()
        elif after.lock is Lock.INNER_LOOSE:
            assert (before.outer == after.outer).all()


def test_one_snapshot_per_step(there_and_back: Journey) -> None:
    assert len(there_and_back.frames(1)) == 1 + len(there_and_back.steps)
    for count in (0, 1001):
        with pytest.raises(vb.InputError, match="samples_per_step: must be a whole number from 1 to 1,000"):
            there_and_back.frames(count)


def test_steps_are_played_again(there_and_back: Journey) -> None:
    again = journey(steps=there_and_back.steps, tip_load=(0.0, -0.1, 0.0))
    assert again.states == there_and_back.states
    assert [h and h.force for h in again.holdings] == [h and h.force for h in there_and_back.holdings]
    assert again.commands == there_and_back.commands


def test_a_journey_may_end_half_way() -> None:
    found = journey(steps=[Loosen("outer"), Advance("outer"), Steer(0.2, 1.0)])
    assert found.states[-1].lock is Lock.OUTER_LOOSE
    assert found.commands == ((0.2, 1.0),)
    assert found.weakest == 0
    assert journey(steps=[]).frames(2)[0].label == "start"
    assert journey(steps=[]).weakest == -1


def test_a_shorter_inner_snake() -> None:
    found = journey(commands=[(0.1, 0.0)] * 4, joints=8, inner_joints=3, come_back=True)
    assert max(len(state.inner) for state in found.states) == 3
    assert found.states[-1] == PairState()
    with pytest.raises(vb.Infeasible, match="the inner snake allows 4 links"):
        journey(commands=[(0.1, 0.0)] * 5, joints=8, inner_joints=3)


def test_what_does_not_hold() -> None:
    commands = [(0.1, 0.0)] * 6
    with pytest.raises(vb.Infeasible, match=r"^step \d+, "):
        journey(commands=commands, outer_tensions=0.3)
    found = journey(commands=commands, outer_tensions=0.3, check=False)
    assert not found.holds
    assert found.holdings[found.weakest].rigid is Snake.OUTER
    assert "DOES NOT HOLD" in repr(found)
    assert len(found.steps) == 42


def test_a_refused_step_is_named() -> None:
    with pytest.raises(vb.InputError, match="not possible: the inner snake is rigid already"):
        journey(steps=[Loosen("outer"), Tighten("inner")])


@pytest.mark.parametrize("given", [{}, {"path": [[0, 0, 0], [0, 0, 0.1]], "commands": [(0.1, 0)]}])
def test_exactly_one_of_path_commands_and_steps(given: dict) -> None:
    with pytest.raises(vb.InputError, match="give one of path, commands or steps"):
        journey(**given)


def test_what_is_printed(there_and_back: Journey) -> None:
    assert repr(there_and_back).startswith("Journey of 'outer' around 'inner': 8 links, 112 steps, corners cut by 0.")
    assert repr(there_and_back.pair) == "SnakePair('outer' around 'inner', 8.5 mm links)"
    assert repr(Deviation(1e-3, 5e-4)) == "Deviation(1 mm at most, 0.5 mm rms)"
    assert "holds" in repr(there_and_back.holdings[0])
