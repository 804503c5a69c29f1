"""What a link or an upload may ask for: robots and computations beyond the limits are refused before they start."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.studio.whole_studio import Running, running

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.robot.robot import Robot
from vertebra.studio import limits
from vertebra.studio import state as states
from vertebra.studio.limits import MOST_CABLES, MOST_JOINTS, check_sensed, checked_steps, is_small, most_steps
from vertebra.studio.motion.model import plan_motion, start_from
from vertebra.studio.motion.settings import MotionSettings
from vertebra.studio.state import RobotSource, State, file_robot, from_link, to_link

pytest.importorskip("viser")
PROTOTYPE: dict[str, Any] = vb.load("hu2023-prototype").to_mapping()


def described(joints: int, cables: int = 4, sections: int = 1) -> str:
    """A robot file of `sections` equal runs of joints, each with its own cables."""
    section = PROTOTYPE["sections"][0]
    around = section["cables"] | {"azimuth": [6.28 * k / cables for k in range(cables)]}
    one = section | {"joints": joints // sections, "cables": around}
    return json.dumps(PROTOTYPE | {"sections": [one] * sections})


def source(joints: int, cables: int = 4, sections: int = 1) -> RobotSource:
    return RobotSource(name="long.json", text=described(joints, cables, sections))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("files")) as page:
        yield page


@pytest.fixture
def unbuilt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the tables of a robot may be built."""

    def build(self: Robot) -> None:
        raise AssertionError("a robot beyond the limits was built")

    monkeypatch.setattr(Robot, "__post_init__", build)


TOO_LARGE = {
    "joints": ((10_000, 4, 1), "has 10000 joints; the studio takes robots of up to 500"),
    "joints of all sections": ((600, 4, 6), "has 600 joints"),
    "cables": ((40, 30, 4), "has 120 cables; the studio takes robots of up to 100"),
    "joints times cables": ((500, 64, 1), "has 32000 joints times cables; the studio takes robots of up to 20000"),
}


@pytest.mark.parametrize("case", TOO_LARGE)
@pytest.mark.usefixtures("unbuilt")
def test_a_link_or_file_of_a_robot_beyond_the_limits_is_refused_before_it_is_built(page: Running, case: str) -> None:
    size, words = TOO_LARGE[case]
    before = page.state
    page.studio.open_link(to_link(State(robot=source(*size))))
    page.settle()
    assert "vb-error" in page.status
    assert words in page.status
    assert "vertebra shape" in page.status, "the remedy"
    upload = SimpleNamespace(name="long.json", content=described(*size).encode())
    error = page.do(lambda: page.studio._uploaded(upload))
    assert isinstance(error, StudioError)
    assert words in str(error)
    assert page.state == before


def test_the_link_that_stalled_the_studio_is_a_short_one() -> None:
    """A few hundred characters are enough for ten thousand joints."""
    link = to_link(State(robot=source(10_000)))
    assert len(link) < 1000
    with pytest.raises(StudioError, match="has 10000 joints"):
        states.robot_of(from_link(link).robot)


def test_the_largest_robots_are_taken() -> None:
    for size in ((MOST_JOINTS, 40, 1), (200, MOST_CABLES // 2, 2)):
        robot, _ = file_robot("long.json", described(*size).encode())
        assert not is_small(robot)
    for name in vb.presets():
        assert is_small(vb.load(name)), "answered at once"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"duration": 60.0, "step_ms": 0.01}, "6000000 steps of 0.01 ms are too many"),
        ({"source": "sway", "period": 60.0}, "2001 instants are too many"),
    ],
)
def test_settings_that_ask_for_too_much_are_refused_before_anything_changes(
    page: Running, settings: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_PLANNING", 1e5)
    before = page.state

    def choose(*_: Any) -> None:
        raise AssertionError("the robot of a refused state was chosen")

    monkeypatch.setattr(page.studio, "choose_robot", choose)
    other = RobotSource(name="yang2023-b")
    error = page.do(lambda: page.studio.restore(State(robot=other, mode="motion", tabs={"motion": settings})))
    assert isinstance(error, StudioError)
    assert error.field.startswith("tabs.motion.")
    assert words in str(error)
    assert "the command line has no such limit" in str(error)
    assert page.state == before


def test_longer_robots_are_simulated_for_fewer_steps() -> None:
    short = vb.load("hu2023-prototype")
    long, _ = file_robot("long.json", described(500, 40).encode())
    assert most_steps(short) == 2_000_000
    assert most_steps(long) == 400_000
    assert checked_steps(short, 2.0, 1e-6, "duration") == 2_000_000
    for robot, dt in ((short, 0.999e-6), (long, 4.9e-6)):
        with pytest.raises(StudioError, match="Simulate a shorter time") as caught:
            checked_steps(robot, 2.0, dt, "duration")
        assert caught.value.field == "duration"


def test_a_trajectory_of_too_many_instants_is_refused_before_tensions_are_sought(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    robot = vb.load("dantuono2023")
    monkeypatch.setattr(limits, "MOST_PLANNING", 1e5)
    start = start_from(None, robot)
    with pytest.raises(StudioError, match=r"up to 73 .* 6 joints and 4 cables"):
        plan_motion(robot, start, MotionSettings(source="sway"), None, report=lambda share: None)


def test_more_sensors_than_can_be_simulated_in_real_time_are_refused(tmp_path: Path) -> None:
    few = json.loads(described(300)) | {"sensors": {"links": list(range(0, 120, 4))}}
    many = json.loads(described(300)) | {"sensors": {"links": list(range(120))}}
    check_sensed(vb.load(few))
    with pytest.raises(StudioError, match="120 sensors on 301 links are too many"):
        check_sensed(vb.load(many))
