"""The Payload tab in a running studio, without a window: what its controls do, robot by robot."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studio.whole_studio import Acting

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.studio.payload.settings import PayloadSettings, most_bend
from vertebra.studio.state import RobotSource

pytest.importorskip("viser")
EXAMPLES = Path(__file__).parents[3] / "examples"
PATIENCE = 60.0
FULL = PayloadSettings(
    form="spiral", bend_deg=6.0, from_deg=-30.0, to_deg=120.0, azimuth_deg=20.0, tensions=(10.0, 120.0, 33.3), link=9,
    toward="azimuth and elevation", load_azimuth_deg=40.0, load_elevation_deg=-10.0, mount="wall", body=False,
    goal="worst direction", least=3.0, most=50.0, inner="harp-inner.yaml", path="follow-path.csv", inner_tension=66.0,
    tip_load=0.25, come_back=True,
)  # fmt: skip


class Running(Acting):
    """A studio with the tabs Shape and Payload."""

    def __init__(self, studio: Any) -> None:
        super().__init__(studio)
        self.tab = studio.tabs["payload"]

    def choose(self, robot: vb.Robot, name: str) -> None:
        assert self.do(lambda: self.studio.choose_robot(robot, RobotSource(name=name))) is None

    def set(self, settings: PayloadSettings) -> None:
        assert self.do(lambda: self.tab.restore(settings)) is None
        assert self.do(lambda: self.studio.choose_mode("payload")) is None

    @property
    def text(self) -> str:
        return str(self.tab._text.content)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    from vertebra.studio import studio as module
    from vertebra.studio.payload.tab import PayloadTab
    from vertebra.studio.serving.server import Access
    from vertebra.studio.shape.tab import ShapeTab
    from vertebra.studio.studio import open_studio

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "make_tabs", lambda studio: (ShapeTab(studio), PayloadTab(studio)))
        studio = open_studio("cai2023", Access(port=0), EXAMPLES)
    try:
        yield Running(studio)
    finally:
        studio.close()


def test_what_is_set_is_answered(running: Running) -> None:
    running.set(FULL)
    assert running.do(running.tab.settings) == FULL
    expected = vb.payload(
        running.studio.robot, *vb.BallShape.spiral(running.studio.robot, *np.radians([6.0, -30.0, 120.0])),
        FULL.tensions, _towards(40.0, -10.0), 9, gravity="wall",
    )  # fmt: skip
    assert running.tab.answer.found.force == expected.force
    assert f'data-value="payload-limit">{expected.force:.4g} N<' in running.text


def test_joints_and_steps_have_whole_ticks(running: Running) -> None:
    for plot in (running.tab._plot, running.tab._journey._plot):
        assert all(isinstance(step, int) for step in plot._handle.axes[0]["incrs"])


def _towards(azimuth: float, elevation: float) -> tuple[float, float, float]:
    a, e = math.radians(azimuth), math.radians(elevation)
    return math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)


def test_every_preset_is_drawn(running: Running) -> None:
    running.set(PayloadSettings())
    for name in vb.presets():
        robot = vb.load(name)
        running.choose(robot, name)
        assert "vb-error" not in running.status
        if name == "cai2023":
            assert "payload-limit" in running.text
        else:
            assert "Payload limits are for ball-joint robots" in running.text
            assert running.do(running.tab.settings) == PayloadSettings()
            assert isinstance(running.do(lambda: running.tab.restore(FULL)), StudioError)
    running.choose(vb.load("cai2023"), "cai2023")


def test_gravity_is_that_of_shape_unless_chosen(running: Running) -> None:
    robot = running.studio.robot
    shape = running.studio.tabs["shape"]
    running.set(PayloadSettings(form="straight", tensions=(30.0,) * 3, toward="-x"))
    running.do(lambda: shape.form.set("mount", "wall"))
    running.do(running.tab.shown)
    expected = vb.payload(robot, 0.0, 0.0, 30.0, (-1, 0, 0), gravity="wall")
    assert running.tab.answer.found.force == expected.force
    running.set(PayloadSettings(form="straight", tensions=(30.0,) * 3, toward="-x", mount="no gravity"))
    expected = vb.payload(robot, 0.0, 0.0, 30.0, (-1, 0, 0), gravity=(0, 0, 0))
    assert running.tab.answer.found.force == expected.force
    running.do(lambda: shape.form.set("mount", "as in the file"))


def test_best_tensions_set_the_sliders(running: Running) -> None:
    asked = PayloadSettings(form="arc", bend_deg=4.0, tensions=(35.0,) * 3, least=2.0, most=35.0)
    running.set(asked)
    running.do(running.tab._best_asked)
    running.until(lambda: "payload-best" in running.text)
    robot = running.studio.robot
    shape = vb.BallShape.arc(robot, math.radians(4.0))
    best = vb.best_tensions(robot, shape, (0, -1, 0), (2.0, 35.0))
    assert running.do(running.tab.settings).tensions == tuple(best.tensions)
    assert running.tab.answer.found.force == best.payload.force
    assert f"{100 * best.gain:.1f} % more" in running.status
    running.do(running.tab._changed)
    assert "payload-best" not in running.text  # it was about other settings


def test_impossible_best_tensions_are_reported(running: Running) -> None:
    running.set(PayloadSettings(form="arc", bend_deg=most_bend(running.studio.robot), least=1.0, most=0.5))
    running.do(running.tab._best_asked)
    running.until(lambda: "vb-error" in running.status)
    assert "below its lower bound" in running.status


def test_a_journey_is_played_and_left(running: Running) -> None:
    running.set(FULL)
    tab, journey = running.tab, running.tab._journey
    running.do(tab._journey_asked)
    running.until(lambda: journey.played is not None)
    inner = vb.load(EXAMPLES / "harp-inner.yaml")
    assert journey.played.journey.pair.inner.name == inner.name
    running.until(lambda: journey._player.frames > 3)
    assert not running.studio.stage.view._root.visible

    def stand() -> None:
        journey._step.value = journey.played.journey.weakest + 1
        journey._step_chosen()

    running.do(stand)
    weakest = journey.played.journey.holdings[journey.played.journey.weakest]
    running.until(lambda: f'payload-carries">{weakest.force:.4g} N<' in journey._text.content)
    running.do(journey._play_pressed)
    assert journey._player.playing
    running.do(lambda: running.studio.choose_mode("shape"))
    assert journey.played is None
    assert not journey._player.playing
    assert running.studio.stage.view._root.visible
    running.do(lambda: running.studio.choose_mode("payload"))
    assert "payload-limit" in running.text


def test_a_change_ends_what_is_computed_for_something_else(running: Running) -> None:
    running.set(PayloadSettings())
    running.do(running.tab._journey_asked)
    running.do(running.tab._changed)
    assert not running.studio.jobs.busy
    assert "vb-quiet" in running.status
    assert running.tab._journey.played is None
