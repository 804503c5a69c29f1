"""The studio as a whole, without a window: robots, tabs, states, links and files, and that it ends."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import yaml
from tests.studio.whole_studio import Running, running
from tests.waiting import wait_until

import vertebra as vb
from vertebra.errors import DescriptionError, StudioError
from vertebra.statics import Shape
from vertebra.statics.shape import Status
from vertebra.studio import state as states
from vertebra.studio import studio as module
from vertebra.studio.state import RobotSource, State, from_json, from_link, to_json, to_link

pytest.importorskip("viser")
EXAMPLES = Path(__file__).parents[2] / "examples"
PLANAR = RobotSource(name="hu2023-planar")
FOUR = {"tensions": [4.0, 3.0, 2.0, 3.0]}


@pytest.fixture(scope="module")
def page() -> Iterator[Running]:
    with running(EXAMPLES) as page:
        yield page


@pytest.fixture(autouse=True)
def fresh(page: Running) -> None:
    """Every test begins with the planar robot in the Shape tab."""
    if page.studio.source != PLANAR or page.state.tabs != page.first.tabs:
        page.good(lambda: page.studio.choose_robot(vb.load("hu2023-planar"), PLANAR))
    if page.studio.mode != "shape":
        page.good(lambda: page.studio.choose_mode("shape"))


def with_joints(name: str, joints: int) -> bytes:
    mapping = vb.load(name).to_mapping()
    mapping["sections"][0]["joints"] = joints
    return json.dumps(mapping).encode()


# Robots and tabs -----------------------------------------------------------------------------------------------------


def test_every_preset_and_every_tab(page: Running) -> None:
    for name in vb.presets():
        page.good(lambda name=name: page.studio.choose_robot(vb.load(name), RobotSource(name=name)))
        for mode in ("shape", "payload", "motion", "sense", "shape"):
            page.good(lambda mode=mode: page.studio.choose_mode(mode))
            assert "vb-error" not in page.status, (name, mode)
        assert page.state.robot.name == name
        assert page.studio._robot_choice.value == name


def test_changing_robots_leaves_nothing_behind(page: Running) -> None:
    gui, scene = page.studio.server.gui, page.studio.server.scene

    def counts() -> tuple[int, int, int]:
        return (
            len(scene._handle_from_node_name), len(gui._gui_input_handle_from_uuid),
            len(gui._container_handle_from_uuid),
        )  # fmt: skip

    def around() -> None:
        for name in ("cai2023", "yang2023-b", "hu2023-planar"):
            page.studio.choose_robot(vb.load(name), RobotSource(name=name))

    page.good(around)
    before = counts()
    for _ in range(2):
        page.good(around)
    assert counts() == before


@pytest.mark.parametrize(("name", "joints"), [("hu2023-prototype", 1), ("yang2023-b", 50)])
def test_robots_of_few_and_many_joints(page: Running, name: str, joints: int) -> None:
    file = SimpleNamespace(name="mine.json", content=with_joints(name, joints))
    page.good(lambda: page.studio._uploaded(file))
    for mode in page.studio.tabs:
        page.good(lambda mode=mode: page.studio.choose_mode(mode))
        assert "vb-error" not in page.status, mode
    state = page.state
    assert state.robot.name == "mine.json"
    page.good(lambda: page.studio.choose_robot(vb.load("hu2023-planar"), PLANAR))
    page.good(lambda: page.studio.restore(state))
    assert page.state == state


def test_a_robot_for_which_a_tab_cannot_be_built_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vertebra.studio.motion.tab import MotionTab

    build = MotionTab.controls

    def controls(self: Any) -> None:
        if self.studio.robot.name == "yang2023-b":
            self.gui.add_button("half of it")
            raise RuntimeError("no controls for this one")
        build(self)

    monkeypatch.setattr(MotionTab, "controls", controls)
    with running(tmp_path) as page:
        before = page.state
        for mode in ("shape", "motion"):
            page.good(lambda mode=mode: page.studio.choose_mode(mode))
            error = page.do(lambda: page.studio.choose_robot(vb.load("yang2023-b"), RobotSource(name="yang2023-b")))
            assert isinstance(error, RuntimeError)
            assert str(error) == "no controls for this one"
            assert page.studio.robot.name == "hu2023-planar"
        for mode in page.studio.tabs:
            page.good(lambda mode=mode: page.studio.choose_mode(mode))
        page.good(lambda: page.studio.choose_mode("shape"))
        assert page.state == before


def test_a_dropped_file_is_the_robot_and_a_wrong_one_is_refused(page: Running) -> None:
    text = yaml.safe_dump(vb.load("dantuono2023").to_mapping())
    page.good(lambda: page.studio._uploaded(SimpleNamespace(name="../arm.yaml", content=text.encode())))
    assert page.studio.source == RobotSource(name="arm.yaml", text=text)
    assert page.studio._robot_choice.value == "arm.yaml"
    before = page.state
    error = page.do(lambda: page.studio._uploaded(SimpleNamespace(name="bad.yaml", content=b"name: bad")))
    assert isinstance(error, DescriptionError)
    assert page.state == before
    page.studio._robot_choice.value = "hu2023-planar"
    page.good(page.studio._robot_chosen)
    assert "arm.yaml" not in page.studio._robot_choice.options


def test_a_dropped_state_is_restored(page: Running) -> None:
    state = State(robot=RobotSource(name="hu2023-spatial"), mode="motion", tabs={"shape": FOUR})
    page.good(lambda: page.studio._uploaded(SimpleNamespace(name="s.json", content=to_json(state).encode())))
    assert page.state.robot.name == "hu2023-spatial"
    assert page.state.mode == "motion"
    assert page.state.tabs["shape"]["tensions"] == FOUR["tensions"]


# States --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cai2023", "hu2023-prototype", "lapusan2022", "yang2023-c"])
def test_what_is_set_comes_back(page: Running, name: str) -> None:
    page.good(lambda: page.studio.choose_robot(vb.load(name), RobotSource(name=name)))
    page.good(lambda: page.studio.choose_mode("payload"))
    first = page.state
    changed = json.loads(to_json(first))
    changed["view"] |= {"dark": True, "frames": True, "ghost": False}
    changed["tabs"]["shape"] |= {"mount": "wall", "tilt_deg": 30.0, "toward_deg": 45.0}
    for field in ("tensions", "angles_deg", "shortenings_mm"):
        if field in changed["tabs"]["shape"]:
            changed["tabs"]["shape"][field] = [0.5 * value + 0.25 for value in changed["tabs"]["shape"][field]]
    state = State.model_validate(changed)
    page.good(lambda: page.studio.choose_robot(vb.load("hu2023-planar"), PLANAR))
    page.good(lambda: page.studio.restore(state))
    assert page.state == state
    page.good(lambda: page.studio.restore(first))
    assert page.state == first


def test_loads_come_back(page: Running) -> None:
    loads = [{"link": 5, "force": [0.1, 0.0, 0.0]}, {"link": 2, "force": [0.0, 0.0, -0.2], "mass_g": 3.0}]
    page.good(lambda: page.studio.restore(State(robot=PLANAR, tabs={"shape": FOUR | {"loads": loads}})))
    assert page.state.tabs["shape"]["loads"] == loads
    page.good(lambda: page.studio.restore(State(robot=PLANAR, tabs={"shape": FOUR})))
    assert "loads" not in page.state.tabs["shape"]


def test_tensions_that_are_not_given_are_the_studio_s_choice(page: Running) -> None:
    first = page.state.tabs["shape"]["tensions"]
    page.good(lambda: page.studio.restore(State(robot=PLANAR, tabs={"shape": FOUR})))
    page.good(lambda: page.studio.restore(State(robot=PLANAR, tabs={"shape": {}})))
    assert page.state.tabs["shape"]["tensions"] == first


OTHER = RobotSource(name="yang2023-b")
BAD = {
    "a tab that is not there": State(robot=OTHER, tabs={"nope": {}}),
    "a mode that is not there": State(robot=OTHER, mode="nope"),
    "a field that is not there": State(robot=OTHER, tabs={"shape": FOUR, "motion": {"nope": 1}}),
    "no number": State(robot=OTHER, tabs={"shape": FOUR | {"tilt_deg": float("nan")}}),
    "no finite number": State(robot=OTHER, tabs={"shape": {"tensions": [float("inf")] * 4}}),
    "beyond a bound": State(robot=OTHER, tabs={"shape": FOUR | {"tilt_deg": 1e9}}),
    "too few tensions, other robot": State(robot=OTHER, tabs={"shape": {"tensions": [1.0, 2.0]}}),
    "too few tensions": State(robot=PLANAR, tabs={"shape": {"tensions": [1.0, 2.0]}}),
    "no such link": State(robot=OTHER, tabs={"shape": FOUR | {"loads": [{"link": 99, "force": [1, 0, 0]}]}}),
    "too many loads": State(robot=OTHER, tabs={"shape": {"loads": [{"link": 1, "force": [1, 0, 0]}] * 5}}),
    "too many angles": State(robot=RobotSource(name="lapusan2022"), tabs={"shape": {"angles_deg": [1.0] * 99}}),
    "text that is no robot": State(robot=RobotSource(name="x.yaml", text="name: x")),
    "text that is nothing": State(robot=RobotSource(name="x.json", text="")),
}


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_state_changes_nothing(page: Running, name: str) -> None:
    page.good(lambda: page.studio.restore(State(robot=PLANAR, mode="sense", tabs={"shape": FOUR})))
    before, shown = page.state, page.studio.stage._robot
    error = page.do(lambda: page.studio.restore(BAD[name]))
    assert isinstance(error, StudioError | DescriptionError)
    assert page.state == before
    assert page.studio.stage._robot.to_mapping() == shown.to_mapping()


def test_a_tab_that_refuses_late_puts_the_others_back(page: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    before = page.state

    def refuse(self: Any, settings: Any) -> None:
        if settings.model_dump(exclude_defaults=True):
            raise StudioError("tabs.papers", "not today")

    monkeypatch.setattr(type(page.studio.tabs["papers"]), "restore", refuse)
    papers = {"paper": "yang2023"}
    error = page.do(lambda: page.studio.restore(State(robot=OTHER, tabs={"shape": FOUR, "papers": papers})))
    assert isinstance(error, StudioError)
    assert page.state == before


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "x.yaml", "file:///etc/passwd", "", "hu2023-planar.yaml"])
def test_a_name_is_never_a_path(page: Running, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(vb.load("dantuono2023").to_mapping()))
    (tmp_path / "hu2023-planar.yaml").write_text((tmp_path / "x.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    read: list[str] = []
    monkeypatch.setattr(states, "load", read.append)
    for given in (name, str(tmp_path / "x.yaml")):
        error = page.do(lambda given=given: page.studio.restore(State(robot=RobotSource(name=given))))
        assert isinstance(error, StudioError)
        assert "there is no preset" in str(error)
    assert read == []


def test_links_are_opened_and_wrong_ones_are_reported(page: Running) -> None:
    state = State(robot=RobotSource(name="hu2023-spatial"), mode="payload", tabs={"shape": FOUR})
    page.studio.open_link(to_link(state))
    page.settle()
    assert page.state.robot.name == "hu2023-spatial"
    assert page.state.mode == "payload"
    before = page.state
    for link in ("", "abc", to_link(state)[:-20], "é", "A" * 7000):
        page.studio.open_link(link)
        page.settle()
        assert "vb-error" in page.status
        assert page.state == before
    page.studio.open_link(to_link(state))
    page.settle()
    assert "vb-error" not in page.status


class Lost:
    """A shape that was not found."""

    status = Status.NO_EQUILIBRIUM

    def __init__(self, shape: Shape) -> None:
        self._shape = shape

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shape, name)


# Errors --------------------------------------------------------------------------------------------------------------


def test_errors_are_shown_as_text_and_the_page_keeps_working(page: Running, caplog: pytest.LogCaptureFixture) -> None:
    def fault() -> None:
        raise ZeroDivisionError("<b>inside</b>")

    with caplog.at_level(logging.ERROR):
        page.studio.loop.post("fault", lambda: page.studio.act(fault))
        page.settle()
    assert "ZeroDivisionError" in caplog.text
    assert "&lt;b&gt;inside" in page.status
    page.studio.loop.post("good", lambda: page.studio.act(lambda: None))
    page.settle()
    assert "Ready." in page.status


@pytest.mark.parametrize("force", [1e7, -1e300, float("inf"), float("nan")])
def test_a_force_beyond_all_bounds_is_brought_back(page: Running, force: float) -> None:
    loads = [{"link": 2, "force": [0.1, 0.0, 0.0]}]
    page.good(lambda: page.studio.restore(State(robot=PLANAR, tabs={"shape": FOUR | {"loads": loads}})))
    tab = page.studio.tabs["shape"]
    handle = tab._loads._rows[0].force

    def typed() -> None:
        handle.value = (force, 0.0, 0.0)
        page.studio.act(tab.shown, handle)

    page.good(typed)
    assert abs(page.state.tabs["shape"]["loads"][0]["force"][0]) <= 1e6


def test_back_from_another_tab_the_last_shape_is_in_the_scene(page: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when what is set has no equilibrium by then."""
    from vertebra.studio.scene import Picture
    from vertebra.studio.shape import tab as shape_tab

    tab, stage = page.studio.tabs["shape"], page.studio.stage
    good = tab.answer
    straight = vb.shape_from_tensions(page.studio.robot, [9.0] * 4, gravity=[0, 0, 0]).frames
    lost = Lost(good.shape)

    def away_and_back() -> None:
        page.studio.choose_mode("payload")
        stage.draw(Picture(straight))
        page.studio.choose_mode("shape")

    monkeypatch.setattr(shape_tab, "solve", lambda *_: replace(good, shape=cast(Any, lost), margin=None, ghost=None))
    page.good(away_and_back)
    assert "No equilibrium" in tab._text.content
    assert stage._last.frames is good.shape.frames


# The end -------------------------------------------------------------------------------------------------------------

LEFTOVERS = """
import sys, threading
import psutil
from pathlib import Path
from tests.waiting import wait_until
from vertebra.studio.serving.server import Access
from vertebra.studio.studio import open_studio
from vertebra.studio.state import State

studio = open_studio("dantuono2023", Access(port=0), Path(sys.argv[1]))
assert studio.loop.settle(60)
state = State(robot=studio.source, mode="motion", tabs={"motion": {"duration": 0.5, "repeat": True}})
studio.loop.post("motion", lambda: studio.restore(state))
player = studio.tabs["motion"].playback.player
wait_until(lambda: player.playing)
studio.close()
studio.close()
wait_until(lambda: len(threading.enumerate()) == 1 and not psutil.Process().children())
print("nothing is left")
"""


def test_closing_while_it_plays_leaves_no_thread_and_no_process(tmp_path: Path) -> None:
    pytest.importorskip("psutil")
    program = subprocess.run(
        [sys.executable, "-c", LEFTOVERS, str(tmp_path)], capture_output=True, text=True, cwd=EXAMPLES.parent
    )
    assert program.stdout == "nothing is left\n", program.stderr
    assert program.stderr == ""


def test_a_studio_that_cannot_be_built_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vertebra.studio.serving.server import Access
    from vertebra.studio.studio import open_studio

    def broken(studio: Any) -> None:
        raise RuntimeError("no tabs")

    before = set(threading.enumerate())
    monkeypatch.setattr(module, "make_tabs", broken)
    with pytest.raises(RuntimeError, match="no tabs"):
        open_studio("hu2023-planar", Access(port=0), tmp_path)
    wait_until(lambda: not set(threading.enumerate()) - before, "the end of its threads")


# Save and share -----------------------------------------------------------------------------------------------------


class Asker:
    """The window that pressed a button."""

    def __init__(self, view: Any = None) -> None:
        self.files: list[tuple[str, bytes]] = []
        self._view = view
        self.client = self
        self.event = SimpleNamespace(client=self)

    def send_file_download(self, name: str, content: bytes, save_immediately: bool = False) -> None:
        assert save_immediately
        self.files.append((name, content))

    def get_render(self, height: int, width: int) -> np.ndarray:
        if self._view is None:
            raise TimeoutError("the window has gone")
        return np.broadcast_to(np.array(self._view, np.uint8), (height, width, 3)).copy()


def link(page: Running) -> str:
    return str(page.studio.share._link.content)


def test_the_link_is_the_state(page: Running) -> None:
    slider = page.studio.tabs["shape"].form.handles("tensions")[0]

    def move() -> None:
        slider.value = 3.25
        page.studio.act(page.studio.tabs["shape"].shown, slider)

    page.good(move)
    found = re.search(r'href="/\?state=([\w-]+)"', link(page))
    assert found is not None
    state = from_link(found.group(1))
    assert state == page.state
    assert state.tabs["shape"]["tensions"][0] == 3.25


def test_a_robot_too_long_for_a_link_says_so(page: Running) -> None:
    import random

    robot = vb.load("hu2023-planar")
    source = RobotSource(name="long.yaml", text="# " + random.Random(0).randbytes(9000).hex())
    page.good(lambda: page.studio.choose_robot(robot, source))
    assert "href" not in link(page)
    assert "save the state as a file" in link(page)
    page.good(lambda: page.studio.choose_robot(robot, RobotSource(name="hu2023-planar")))
    assert "href" in link(page)


def test_the_file_is_the_state(page: Running) -> None:
    asker = Asker()
    page.studio.share._saved(asker.event)
    page.settle()
    ((name, content),) = asker.files
    assert name == "hu2023-planar-state.json"
    assert from_json(content) == page.state


def test_the_picture_is_a_png_of_the_view(page: Running) -> None:
    import imageio.v3

    asker = Asker((10, 200, 30))
    page.studio.share._picture(asker.event)
    ((name, content),) = asker.files
    assert name == "hu2023-planar.png"
    assert content.startswith(b"\x89PNG")
    view = imageio.v3.imread(content)
    assert view.shape == (1000, 1600, 3)
    assert (view == [10, 200, 30]).all()


def test_a_window_that_has_gone_gives_a_message(page: Running) -> None:
    asker = Asker()
    page.studio.share._picture(asker.event)
    page.settle()
    assert asker.files == []
    assert "the window has gone" in page.status


def test_a_tab_without_a_recording_says_so(page: Running) -> None:
    asker = Asker()
    page.studio.share._recording(asker.event)
    page.settle()
    assert asker.files == []
    assert "nothing to record" in page.status
