"""A studio for each window: what one does, no other sees; what is left is closed, and what was set is kept."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from tests.studio.visitors import CAMERA, code_at_end, get, heard, packed, window
from tests.studio.whole_studio import Acting
from tests.studio.windows import Window, chromium, soak, studio
from tests.waiting import wait_until

from vertebra.studio import studio as module
from vertebra.studio import windows as places
from vertebra.studio.serving.messages import MOST_BAD
from vertebra.studio.serving.server import Access
from vertebra.studio.state import RobotSource, State, to_link
from vertebra.studio.studio import Studio, open_windows
from vertebra.studio.windows import MOST_STUDIOS, Windows

pytest.importorskip("viser")
PLANAR, SPATIAL, PAIR = (State(robot=RobotSource(name=name)) for name in ("hu2023-planar", "hu2023-spatial", "cai2023"))
TYPED = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document", "Sec_Fetch_Site": "none"}
"""What a browser sends when a person types an address."""


@pytest.fixture
def windows(tmp_path: Path) -> Iterator[Windows]:
    opened = open_windows("hu2023-planar", Access(port=0, needs_token=False), tmp_path)
    yield opened
    assert opened.close()


def name() -> str:
    return secrets.token_hex(16)


class Line:
    """The socket of a window, and the studio it was brought to."""

    def __init__(self, windows: Windows, window_name: str = "", page: str = "") -> None:
        before = {studio: studio.address.windows for studio in windows.studios}
        waiting = windows.address.windows
        self.line = window(windows.address, path=f"?window={window_name}&page={page}")
        self.line.send(packed(CAMERA))

        def grown() -> list[Studio]:
            return [studio for studio in windows.studios if studio.address.windows > before.get(studio, 0)]

        wait_until(lambda: grown() or windows.address.windows > waiting, "its studio")
        self.studio = next(iter(grown()), None)
        """None for one that is told that all places are taken."""
        self._place: Any = windows._places.get(window_name)

    def open(self, state: State) -> None:
        """Set something in the studio."""
        assert self.studio is not None
        answer = Acting(self.studio).do(lambda: self.studio.restore(state))  # type: ignore[union-attr]
        assert answer is None, answer

    @property
    def robot(self) -> str:
        assert self.studio is not None
        assert self.studio.loop.settle(60)
        return self.studio.source.name

    def close(self) -> None:
        """It leaves, and its place knows."""
        self.line.close()
        if self._place is not None:
            wait_until(lambda: self._place.guests == 0, "its end")


def opened(windows: Windows, link: str) -> str:
    """Ask for the page with a state in its address; the nonce of the page."""
    status, headers, _ = get(windows.address, f"/?state={link}", **TYPED)
    assert status == 200
    (nonce,) = re.findall(r"'nonce-([^']+)'", headers["Content-Security-Policy"])
    return str(nonce)


# Each has its own -----------------------------------------------------------------------------------------------------


def test_a_link_is_opened_in_the_window_that_opened_it_and_once(windows: Windows) -> None:
    mine, theirs = name(), name()
    first, other = Line(windows, mine), Line(windows, theirs)
    assert first.studio is not other.studio
    other.open(PAIR)
    nonce = opened(windows, to_link(SPATIAL))
    assert [first.robot, other.robot] == ["hu2023-planar", "cai2023"], "nothing changes before its window is there"
    first.close()
    again = Line(windows, mine, nonce)
    assert again.studio is first.studio, "a window finds its studio again"
    wait_until(lambda: again.robot == "hu2023-spatial", "the state")
    assert other.robot == "cai2023"
    again.open(PLANAR)
    again.close()
    assert Line(windows, mine, nonce).robot == "hu2023-planar", "a line that was cut does not open the link again"
    assert Line(windows, theirs, nonce).robot == "cai2023"


def test_a_bad_link_is_an_error_in_its_window_alone(windows: Windows) -> None:
    other = Line(windows, name())
    line = Line(windows, name(), opened(windows, "nonsense"))
    wait_until(lambda: "vb-error" in Acting(line.studio).status, "the message")
    assert other.robot == "hu2023-planar"
    assert "Ready." in Acting(other.studio).status


def test_only_so_many_links_wait_for_their_window(windows: Windows) -> None:
    for number in range(70):
        opened(windows, f"state{number}")
    assert len(windows.address.serve.gate._states) == 64


@pytest.mark.parametrize("given", ["", "short", "x" * 65, "../../etc/passwd", "a" * 15 + "%00", "é" * 16])
def test_a_window_without_a_name_has_a_studio_for_as_long_as_it_is_open(windows: Windows, given: str) -> None:
    line = Line(windows, given)
    assert line.robot == "hu2023-planar"
    line.close()
    wait_until(lambda: not windows.studios, "the end of its studio")


def test_a_window_that_sends_junk_is_cut_off_and_the_others_go_on(windows: Windows) -> None:
    good, bad = Line(windows, name()), Line(windows, name())
    assert code_at_end(bad.line, [b"junk"] * (MOST_BAD + 1)) == 1008
    assert bad.studio is not None
    assert bad.studio.address.dropped == {"not readable": MOST_BAD + 1}
    assert good.studio is not None
    assert good.studio.address.dropped == {}
    assert good.robot == "hu2023-planar"


def test_a_window_cannot_reach_the_controls_of_another(windows: Windows) -> None:
    mine, other = Line(windows, name()), Line(windows, name())
    assert mine.studio is not None
    assert other.studio is not None
    assert mine.robot == other.robot == "hu2023-planar"
    for choice, robot in ((other.studio._robot_choice, "hu2023-spatial"), (mine.studio._robot_choice, "cai2023")):
        mine.line.send(packed({"type": "GuiUpdateMessage", "uuid": choice._impl.uuid, "updates": {"value": robot}}))
    wait_until(lambda: mine.robot == "cai2023", "what the window may change")
    assert other.robot == "hu2023-planar"


def test_every_window_starts_with_the_state_that_was_asked_for(tmp_path: Path) -> None:
    windows = open_windows("hu2023-planar", Access(port=0, needs_token=False), tmp_path, SPATIAL)
    try:
        for _ in range(2):
            line = Line(windows, name())
            wait_until(lambda line=line: line.robot == "hu2023-spatial", "the state")  # type: ignore[misc]
    finally:
        assert windows.close()


# Places ---------------------------------------------------------------------------------------------------------------


def test_the_window_that_nobody_looks_at_makes_room_and_comes_back_with_what_was_set(
    windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "MOST_STUDIOS", 3)
    names = [name() for _ in range(5)]
    lines = [Line(windows, each) for each in names[:3]]
    lines[1].open(PAIR)
    lines[1].close()
    lines[2].open(SPATIAL)
    lines[2].close()
    fourth = Line(windows, names[3])
    wait_until(lambda: len(windows.studios) == 3, "the end of the one that was left first")
    assert lines[1].studio not in windows.studios
    assert lines[2].studio in windows.studios
    back = Line(windows, names[1])
    assert back.studio is not lines[1].studio
    wait_until(lambda: back.robot == "cai2023", "what was set")
    assert lines[0].robot == fourth.robot == "hu2023-planar", "windows that are open are never closed for others"
    full = Line(windows, names[2])
    assert full.studio is None
    assert f"{MOST_STUDIOS} windows of this studio are open" in str(heard(full.line, "GuiHtmlMessage"))
    fourth.close()
    back = Line(windows, names[2])
    wait_until(lambda: back.robot == "hu2023-spatial", "what was set")


def record(line: Line) -> Any:
    """As if something had been recorded and not saved; the controls of the recording."""
    assert line.robot
    assert line.studio is not None
    recorder = line.studio.tabs["sense"]._recorder
    Acting(line.studio).do(lambda: setattr(recorder, "_recording", SimpleNamespace(discard=lambda: None)))
    return recorder


def test_a_recording_that_was_not_saved_is_closed_last(
    windows: Windows, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(places, "MOST_STUDIOS", 2)
    recorded, other = Line(windows, name()), Line(windows, name())
    record(recorded)
    recorded.close()
    other.close()
    third = Line(windows, name())
    wait_until(lambda: set(windows.studios) == {recorded.studio, third.studio}, "the end of the other")
    assert caplog.text == ""
    fourth = Line(windows, name())
    wait_until(lambda: set(windows.studios) == {third.studio, fourth.studio}, "the end of the one that recorded")
    assert "a recording that was not saved is lost" in caplog.text


def test_a_window_that_does_not_come_back_is_closed_unless_it_holds_a_recording(
    windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = name()
    line = Line(windows, mine)
    line.open(PAIR)
    place, first = windows._places[mine], line.studio
    assert first is not None

    def grace_is_over() -> None:
        """The clock is set, not waited for."""

        async def expire() -> None:
            windows._expire(mine, place)

        asyncio.run_coroutine_threadsafe(expire(), windows.address.viser.get_event_loop()).result(60)

    grace_is_over()
    assert first in windows.studios, "someone is there"
    line.close()
    wait_until(lambda: place.timer is not None, "the clock")
    recorder = record(line)
    grace_is_over()
    assert first in windows.studios, "its recording would be lost"
    Acting(first).do(recorder.forget)
    grace_is_over()
    wait_until(lambda: not windows.studios, "the end of the studio")
    again = Line(windows, mine)
    assert again.studio is not first
    wait_until(lambda: again.robot == "cai2023", "what was set")


def test_a_studio_that_cannot_be_made_leaves_nothing(
    windows: Windows, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    Line(windows, name())  # has the one that was made before
    before = set(threading.enumerate())

    def broken(studio: Any) -> None:
        raise RuntimeError("no tabs")

    with monkeypatch.context() as patch:
        patch.setattr(module, "make_tabs", broken)
        with window(windows.address, path=f"?window={name()}") as line:
            assert code_at_end(line) == 1011
    assert "could not be opened: RuntimeError: no tabs" in caplog.text
    wait_until(lambda: not [each for each in set(threading.enumerate()) - before if "asyncio" not in each.name])
    assert len(windows._places) == len(windows.studios) == 1
    assert Line(windows, name()).robot == "hu2023-planar"


MANY = 300
"""Windows of the soak."""


def test_many_windows_opened_and_closed_leave_memory_threads_and_processes_as_they_were(tmp_path: Path) -> None:
    """Some are left while their studio is still being made."""
    with studio(tmp_path / "files", "hu2023-planar", "--no-token") as process:
        port, runs, held = int(process.url.rstrip("/").rpartition(":")[2]), psutil.Process(process.process.pid), []
        for number in range(-30, MANY if soak() else 20):  # those below 0 take what is taken once
            with window(SimpleNamespace(port=port)) as line:  # type: ignore[arg-type]
                if number % 4:
                    line.send(packed(CAMERA))
                    heard(line, "SceneNodeUpdateMessage")
            if number in (-1, 19, MANY // 2, MANY - 1):
                wait_until(lambda: not runs.children(), "the end of their processes")
                wait_until(lambda: runs.num_threads() <= MOST_THREADS, "the end of their threads")
                held.append(process.memory())
        print(f"memory {', '.join(f'{size / 1e6:.1f}' for size in held)} MB, {runs.num_threads()} threads")
        assert held[-1] < 1.05 * held[0]
        assert process.errors() == ""


MOST_THREADS = 2 + min(32, (os.cpu_count() or 1) + 4)
"""The main one, that of the server, and the few in which studios are opened and closed."""


LEFTOVERS = """
import sys, threading
import psutil
from pathlib import Path
from tests.studio.test_windows import Line, name
from tests.waiting import wait_until
from vertebra.studio.serving.server import Access
from vertebra.studio.studio import open_windows

windows = open_windows("dantuono2023", Access(port=0, needs_token=False), Path(sys.argv[1]))
lines = [Line(windows, name()) for _ in range(3)]
assert windows.close()
assert windows.close()
wait_until(lambda: len(threading.enumerate()) == 1 and not psutil.Process().children())
print("nothing is left")
"""


def test_closing_leaves_no_thread_and_no_process(tmp_path: Path) -> None:
    program = subprocess.run(
        [sys.executable, "-c", LEFTOVERS, str(tmp_path)], capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert program.stdout == "nothing is left\n", program.stderr
    assert program.stderr == ""


# In a browser ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


def reloaded(window: Window) -> None:
    window.page.reload()
    window.page.wait_for_selector(".vb-mode", state="attached")


def test_two_windows_of_a_browser_are_apart_and_a_reload_keeps_what_is_set(browser: Any, tmp_path: Path) -> None:
    with studio(tmp_path / "files", "hu2023-planar") as process:
        one, two = Window(browser, process.url), Window(browser, process.url)
        one.choose("Robot", "hu2023-spatial")
        one.until(lambda: one.chosen("Robot") == "hu2023-spatial")
        one.wait("status", "Ready.")
        two.slide("Cable 1 (N)", 3.3)
        two.tab("Motion")
        assert (one.chosen("Robot"), two.chosen("Robot")) == ("hu2023-spatial", "hu2023-planar")
        one.page.wait_for_selector('.vb-mode[data-mode="Shape"]', state="attached")
        reloaded(one)
        reloaded(two)
        two.page.wait_for_selector('.vb-mode[data-mode="Motion"]', state="attached")
        two.tab("Shape")
        assert two.slider_value("Cable 1 (N)") == 3.3
        assert one.chosen("Robot") == "hu2023-spatial"

        one.open_folder("Save and share")
        link = one.page.locator('a[data-value="link"]').get_attribute("href")
        one.choose("Robot", "cai2023")
        one.until(lambda: one.chosen("Robot") == "cai2023")
        two.page.goto(process.at(link))
        two.page.wait_for_selector(".vb-mode", state="attached")
        two.until(lambda: two.chosen("Robot") == "hu2023-spatial")
        assert "state=" not in two.page.url, "a reload would open it again"
        assert one.chosen("Robot") == "cai2023"

        copy = one.context.new_page()  # as browsers copy a window: with what it has stored
        stored = one.page.evaluate("() => JSON.stringify(sessionStorage)")
        copy.add_init_script(f"for (const [k, v] of Object.entries({stored})) sessionStorage.setItem(k, v);")
        copy.goto(process.url)
        copy.wait_for_selector(".vb-mode", state="attached")
        assert copy.evaluate("() => sessionStorage.getItem('vertebra-window')") not in stored
        assert one.faults == two.faults == []
        assert process.errors() == ""
        for each in (one, two):
            each.close()


def test_a_shared_studio_is_the_same_in_all_windows(browser: Any, tmp_path: Path) -> None:
    with studio(tmp_path / "files", "hu2023-planar", "--shared") as process:
        one, two = Window(browser, process.url), Window(browser, process.url)
        one.choose("Robot", "hu2023-spatial")
        two.until(lambda: two.chosen("Robot") == "hu2023-spatial")
        two.until(lambda: two.slider_value("Cable 2 (N)") == 2.0, lambda: "the sliders of the other robot never came")
        two.slide("Cable 1 (N)", 3.3)
        one.until(lambda: one.slider_value("Cable 1 (N)") == 3.3)
        assert process.errors() == ""
        for each in (one, two):
            each.close()
