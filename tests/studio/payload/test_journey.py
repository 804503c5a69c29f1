"""What the Payload tab computes in a process of its own is what the library's own calls give."""

import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import vertebra as vb
from vertebra.errors import DescriptionError, InputError
from vertebra.locked.best import WORST
from vertebra.studio.payload.journey import (
    MOST_FRAMES,
    carried,
    chosen_pictures,
    example_inner,
    example_path,
    follow,
    journey_text,
)
from vertebra.studio.payload.model import find_best
from vertebra.studio.payload.settings import EXAMPLE_PATHS, SAME_INNER, PayloadSettings

EXAMPLES = Path(__file__).parents[3] / "examples"
PULL = (35.0, 35.0, 35.0)


def quiet(share):
    assert 0.0 <= share <= 1.0


@pytest.fixture(scope="module")
def robot():
    return vb.load("cai2023")


BEST = PayloadSettings(form="arc", bend_deg=4.0, tensions=PULL, least=5.0, most=40.0, link=12)


def test_best_tensions(robot):
    found = pickle.loads(pickle.dumps(find_best(robot, BEST, robot.gravity, report=quiet)))
    expected = vb.best_tensions(robot, vb.BallShape.arc(robot, math.radians(4.0)), (0, -1, 0), (5.0, 40.0), 12)
    assert np.array_equal(found.tensions, expected.tensions)
    assert (found.payload.force, found.gain) == (expected.payload.force, expected.gain)


@pytest.mark.parametrize(("goal", "aim"), [("this direction", [0.0, -1.0, 0.0]), ("worst direction", WORST)])
def test_what_the_best_tensions_are_asked_to_hold(robot, monkeypatch, goal, aim):
    asked = []
    monkeypatch.setattr("vertebra.studio.payload.model.best_tensions", lambda *what, **more: asked.append(what[2:]))
    find_best(robot, BEST.model_copy(update={"goal": goal}), robot.gravity, report=quiet)
    ((direction, bounds, link),) = asked
    assert (np.asarray(direction).tolist(), bounds, link) == (aim, (5.0, 40.0), 12)


def test_best_tensions_between_wrong_bounds(robot):
    settings = PayloadSettings(form="straight", tensions=PULL, least=5.0, most=4.0)
    with pytest.raises(InputError, match="below its lower bound"):
        find_best(robot, settings, robot.gravity, report=quiet)


def test_journey_of_examples(robot):
    settings = PayloadSettings(tensions=PULL, inner_tension=70.0, tip_load=0.3, toward="-y", come_back=True)
    played = pickle.loads(pickle.dumps(follow(robot, settings, robot.gravity, None, None, report=quiet)))
    expected = vb.follow_the_leader(
        robot, example_inner(robot), example_path(robot, EXAMPLE_PATHS[0]), outer_tensions=PULL, inner_tensions=70.0,
        tip_load=(0, -0.3, 0), come_back=True, check=False,
    )  # fmt: skip
    journey = played.journey
    assert journey.states == expected.states
    forces = [None if found is None else found.force for found in expected.holdings]
    assert [None if found is None else found.force for found in journey.holdings] == forces
    assert played.pictures[0].step == 0
    assert played.pictures[-1].step == len(journey.steps)
    steps, ((name, loads), (_, wanted)) = carried(journey)
    assert steps.tolist() == [step for step, force in enumerate(forces, 1) if force is not None]
    finite = [force for force in forces if force is not None and math.isfinite(force)]
    assert [load for load in loads if load <= max(finite)] == finite
    assert ("no limit" in name) == (len(finite) < len(loads))
    assert set(wanted) == {0.3}
    snapshot = next(snapshot for snapshot in played.pictures if snapshot.step == journey.weakest + 1)
    page = journey_text(journey, snapshot)
    assert f'data-value="payload-carries">{journey.holdings[journey.weakest].force:.4g} N<' in page
    assert 'data-state="good"' in page


def test_journey_from_files(robot):
    settings = PayloadSettings(tensions=PULL, inner_tension=60.0)
    inner, path = EXAMPLES / "harp-inner.yaml", EXAMPLES / "follow-path.csv"
    journey = follow(robot, settings, robot.gravity, inner, path, report=quiet).journey
    assert (journey.pair.inner.name, len(journey.commands)) == ("harp-inner", 18)


def test_journey_continues_where_nothing_holds(robot):
    settings = PayloadSettings(tensions=(0.5,) * 3, inner=SAME_INNER, inner_tension=0.5)
    played = follow(robot, settings, robot.gravity, None, None, report=quiet)
    assert not played.journey.holds
    snapshot = next(snapshot for snapshot in played.pictures if snapshot.step == played.journey.weakest + 1)
    assert 'data-state="bad"' in journey_text(played.journey, snapshot)


def test_a_bad_robot_file_is_reported_by_name(robot, tmp_path):
    file = tmp_path / "inner.yaml"
    file.write_text("vertebra: 1\nname: x\n")
    with pytest.raises(DescriptionError, match=r"inner\.yaml") as error:
        follow(robot, PayloadSettings(tensions=PULL), robot.gravity, file, None, report=quiet)
    assert str(tmp_path) not in str(error.value)


def test_pictures_are_thinned(robot, monkeypatch):
    settings = PayloadSettings(tensions=PULL, inner_tension=70.0)
    journey = follow(robot, settings, robot.gravity, None, None, report=quiet).journey
    links = len(journey.pair.outer.links) + len(journey.pair.inner.links)
    assert len(chosen_pictures(journey)) * links <= MOST_FRAMES
    monkeypatch.setattr("vertebra.studio.payload.journey.MOST_FRAMES", 50 * links)
    few = chosen_pictures(journey)
    assert len(few) == 50
    assert (few[0].step, few[-1].step) == (0, len(journey.steps))
