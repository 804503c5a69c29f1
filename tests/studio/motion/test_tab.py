"""The Motion tab in a running studio, without a window: what its controls do, and what becomes of long work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studio.whole_studio import Acting

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.studio.motion.model import simulate_motion, start_from
from vertebra.studio.motion.settings import MotionSettings

pytest.importorskip("viser")
EXAMPLES = Path(__file__).parents[3] / "examples"
PATIENCE = 60.0


class Running(Acting):
    """A studio with the tabs Shape and Motion, and its Motion tab."""

    def __init__(self, studio: Any) -> None:
        super().__init__(studio)
        self.tab = studio.tabs["motion"]

    def computed(self, settings: MotionSettings) -> Any:
        """Restore, show and wait for the motion."""
        assert self.do(lambda: self.tab.restore(settings)) is None
        assert self.do(lambda: self.studio.choose_mode("motion")) is None
        self.until(lambda: self.tab.motion is not None)
        return self.tab.motion


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    from vertebra.studio import studio as module
    from vertebra.studio.motion.tab import MotionTab
    from vertebra.studio.serving.server import Access
    from vertebra.studio.shape.tab import ShapeTab
    from vertebra.studio.studio import open_studio

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "make_tabs", lambda studio: (ShapeTab(studio), MotionTab(studio)))
        studio = open_studio("dantuono2023", Access(port=0), EXAMPLES)
    try:
        yield Running(studio)
    finally:
        studio.close()


def test_it_simulates_from_the_shape_that_is_set_and_plays(running: Running) -> None:
    asked = MotionSettings(duration=0.3, cable=2, amplitude=-20.0, damping=0.05, step_ms=1.0)
    motion = running.computed(asked)
    tab = running.studio.tabs["shape"]
    shape = vb.shape_from_tensions(running.studio.robot, tab.settings().tensions)
    same = simulate_motion(running.studio.robot, start_from(shape, running.studio.robot), asked, report=lambda _: None)
    np.testing.assert_allclose(motion.tips, same.tips, atol=1e-12)
    np.testing.assert_array_equal(motion.tensions, same.tensions)
    running.until(lambda: running.tab.playback.player.playing)
    before = running.tab.playback.player.frames
    running.until(lambda: running.tab.playback.player.frames > before + 3)


def test_another_tab_pauses_it_and_it_is_still_there_afterwards(running: Running) -> None:
    motion = running.computed(MotionSettings(duration=0.3))
    running.do(lambda: running.studio.choose_mode("shape"))
    assert not running.tab.playback.player.playing
    running.do(lambda: running.studio.choose_mode("motion"))
    assert running.tab.motion is motion


def test_another_shape_restarts_it(running: Running) -> None:
    motion = running.computed(MotionSettings(duration=0.3))
    slider = running.studio.tabs["shape"].form.handles("tensions")[0]

    def pull() -> None:
        running.studio.choose_mode("shape")
        slider.value = 0.9 * slider.value
        running.studio.tab.shown()
        running.studio.choose_mode("motion")

    running.do(pull)
    running.until(lambda: running.tab.motion is not motion)
    assert running.tab.motion.tensions[0, 1] == pytest.approx(running.studio.tabs["shape"].settings().tensions[1])


def test_a_long_run_can_be_stopped_and_the_page_keeps_working(running: Running) -> None:
    long = MotionSettings(duration=60.0, step_ms=0.05)
    running.do(lambda: running.tab.restore(long))
    running.do(lambda: running.studio.choose_mode("motion"))
    assert running.studio.jobs.busy
    assert not running.tab._stop_button.disabled
    running.do(running.tab._stop)
    assert not running.studio.jobs.busy
    assert running.tab._stop_button.disabled
    assert "Stopped" in running.status
    assert running.computed(MotionSettings(duration=0.1)) is not None


def test_a_file_that_does_not_fit_says_so(running: Running) -> None:
    running.do(lambda: running.tab.restore(MotionSettings(source="file", file="follow-path.csv")))
    running.do(lambda: running.studio.choose_mode("motion"))
    running.until(lambda: "follow-path.csv" in running.status)
    assert "vb-error" in running.status
    assert "could not be computed" in running.tab._about.content
    assert running.tab.motion is None
    assert isinstance(running.do(running.tab.recording), StudioError)


def test_without_a_file_it_asks_for_one(running: Running) -> None:
    motion = running.computed(MotionSettings(duration=0.1))

    def choose() -> None:
        running.tab.form.set("source", "file")
        running.tab._changed("source")

    assert running.do(choose) is None
    assert "Choose a trajectory file" in running.tab._about.content
    assert running.tab.motion is motion
    assert running.do(running.tab.settings).file == ""


def test_a_changed_number_asks_for_a_run(running: Running) -> None:
    running.computed(MotionSettings(duration=0.2))
    running.do(lambda: running.tab._changed("duration"))
    assert "press Run" in running.tab._about.content
    running.do(lambda: running.tab.load(running.tab.motion))
    assert "press Run" not in running.tab._about.content


def test_seeking_shows_that_instant(running: Running) -> None:
    motion = running.computed(MotionSettings(source="sway", period=2.0))

    def seek() -> None:
        running.tab.playback._time.value = 0.5
        running.tab.playback._time_chosen()

    running.until(lambda: running.tab.playback.player.playing)
    running.do(seek)
    assert not running.tab.playback.player.playing
    assert 'data-value="motion-time">0.500 s' in running.tab._now.content
    wanted = vb.Pose(motion.robot, motion.angles[motion.row_at(0.5)]).frames
    running.do(lambda: None)
    np.testing.assert_allclose(running.studio.stage._last.frames, wanted)


@pytest.mark.parametrize("name", ["cai2023", "lapusan2022", "yang2023-a"])
def test_robots_that_lack_dynamics_say_what(running: Running, name: str) -> None:
    from vertebra.studio.state import RobotSource

    def choose(wanted: str) -> None:
        running.studio.choose_robot(vb.load(wanted), RobotSource(name=wanted))

    running.do(lambda: running.studio.choose_mode("motion"))
    assert running.do(lambda: choose(name)) is None
    assert running.tab.motion is None
    assert "motion-status" in running.tab._about.content
    words = {"cai2023": "ball joint", "lapusan2022": "no mass", "yang2023-a": "no inertia"}
    assert words[name] in running.tab._about.content
    assert running.tab._run_button.disabled
    assert running.tab.form.handles("fill_inertia")[0].visible == (name == "yang2023-a")  # where it would help
    assert running.tab.playback._button.disabled
    assert isinstance(running.do(running.tab.settings), MotionSettings)
    if name == "yang2023-a":
        form = running.tab.form

        def tick() -> None:
            form.set("fill_inertia", True)
            form._moved("fill_inertia")
            assert running.studio.jobs.busy
            assert "No motion" not in running.tab._about.content, "gone as soon as the box is ticked"

        assert running.do(tick) is None
        running.until(lambda: running.tab.motion is not None)
        running.computed(MotionSettings(fill_inertia=True, duration=0.1))
        assert "solid cylinders" in running.tab._about.content
    assert running.do(lambda: choose("dantuono2023")) is None


def test_damping_is_that_of_the_file_until_a_number_is_set(running: Running) -> None:
    form = running.tab.form
    running.do(lambda: running.tab.restore(MotionSettings()))
    assert running.tab.settings().damping is None
    running.do(lambda: form._moved("damping"))
    assert running.tab.settings().damping == form.handles("damping")[0].value
    running.do(lambda: running.tab.restore(MotionSettings()))
    assert running.tab.settings().damping is None
