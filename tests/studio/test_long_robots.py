"""Robots of many joints, by link and by upload: another process computes, and meanwhile the page answers."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import secrets
import signal
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec.msgpack
import numpy as np
import psutil
import pytest
import zstandard
from tests.studio.visitors import CAMERA, get, packed, window
from tests.studio.whole_studio import Running, running
from tests.studio.windows import StudioProcess, soak, studio
from tests.waiting import DEADLINE, runs, wait_until
from websockets.exceptions import ConnectionClosed

import vertebra as vb
from vertebra.errors import StudioError
from vertebra.studio.limits import is_small
from vertebra.studio.shape import settings as beginnings
from vertebra.studio.state import RobotSource, State, to_link

pytest.importorskip("viser")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
PLANAR = RobotSource(name="hu2023-planar")


def long_text(name: str = "hu2023-prototype", joints: int = 120) -> str:
    mapping: dict[str, Any] = vb.load(name).to_mapping()
    mapping["sections"][0]["joints"] = joints
    return json.dumps(mapping)


LONG = RobotSource(name="long.json", text=long_text())


@pytest.fixture(scope="module")
def studio_of_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("files")) as page:
        yield page


@pytest.fixture
def page(studio_of_all: Running) -> Running:
    """Every test begins with the planar robot in the Shape tab, and knows of no other."""
    page = studio_of_all
    page.good(lambda: page.studio.act(lambda: page.studio.restore(page.first)))
    beginnings._KNOWN.clear()
    return page


@contextlib.contextmanager
def held(page: Running) -> Iterator[None]:
    """The process that computes stands still for as long as the block lasts."""
    process = page.studio.jobs._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)


def answers(page: Running) -> bool:
    """Whether the page is served, and its studio free to act."""
    page.settle()
    address = page.studio.address
    return get(address, Authorization=f"Bearer {address.token}")[0] == 200


def opened(page: Running, source: RobotSource = LONG) -> None:
    """Until a robot has been opened and solved."""

    def solved() -> bool:
        page.settle()
        answer = page.studio.tabs["shape"].answer
        return page.studio.source == source and answer is not None and answer.shape.robot == page.studio.robot

    page.until(solved)


@pytest.mark.parametrize("way", ["link", "upload"])
def test_the_page_answers_before_a_long_robot_is_opened_and_before_it_is_solved(page: Running, way: str) -> None:
    with held(page):
        if way == "link":
            page.studio.open_link(to_link(State(robot=LONG)))
        else:
            upload = SimpleNamespace(name=LONG.name, content=(LONG.text or "").encode())
            page.good(lambda: page.studio.act(lambda: page.studio._uploaded(upload)))
        assert answers(page)
        assert "Opening long.json, 120 joints" in page.status
        assert page.studio.source == PLANAR, "the previous robot stays until then"
        page.good(lambda: page.studio.act(lambda: None))
        assert "Opening" in page.status, "what else is done does not hide it"
    opened(page)
    tab, robot = page.studio.tabs["shape"], page.studio.robot
    assert not is_small(robot)
    with held(page):
        slider = tab.form.handles("tensions")[0]
        for tension in (1.0, 2.0, 3.0):
            slider.value = tension
            page.good(lambda: page.studio.act(tab.shown, slider))
        assert answers(page)
        assert "Solving the shape of 120 joints" in page.status
    page.until(lambda: tab.answer.shape.tensions_at_base[0] == 3.0)
    page.until(lambda: "Ready." in page.status)
    page.settle()
    expected = vb.shape_from_tensions(robot, tab.settings().tensions, gravity=robot.gravity, check=False)
    assert np.array_equal(tab.answer.shape.frames, expected.frames), "the same numbers as in this process"
    assert page.studio.stage._last.frames is tab.answer.shape.frames


def test_a_robot_that_is_known_is_opened_at_once(page: Running) -> None:
    page.good(lambda: page.studio.restore(State(robot=LONG)))
    opened(page)
    page.good(lambda: page.studio.restore(State(robot=PLANAR)))
    with held(page):
        page.good(lambda: page.studio.restore(State(robot=LONG)))
        assert page.studio.source == LONG
        assert page.studio.stage._last.frames[-1, 2, 3] > 0.5 * page.studio.robot.length, "straight until it is solved"


def test_a_state_that_does_not_fit_a_long_robot_changes_nothing(page: Running) -> None:
    before = page.state
    page.good(lambda: page.studio.restore(State(robot=LONG, tabs={"shape": {"tensions": [1.0, 2.0]}})))
    page.until(lambda: "must have 4 numbers" in page.status)
    assert page.state == before


def test_cables_remember_how_they_slipped_across_processes(page: Running) -> None:
    mapping = json.loads(long_text("yang2023-b", 70))
    mapping["sections"][0]["cables"]["friction"] = 0.1
    source = RobotSource(name="slips.json", text=json.dumps(mapping))
    page.good(lambda: page.studio.restore(State(robot=source, tabs={"shape": {"history": True}})))
    opened(page, source)
    tab = page.studio.tabs["shape"]
    first = np.array(tab.settings().tensions)
    path = vb.ShapePath(page.studio.robot)
    path.step(first, check=False)
    page.until(lambda: tab._path.steps == 1)
    for scale in (1.2, 0.9):
        wanted = np.round(scale * first, 6)
        page.good(lambda wanted=wanted: tab.form.set("tensions", wanted))
        page.good(lambda: page.studio.act(tab.shown))
        path.step(wanted, check=False)
        page.until(lambda: tab._path.steps == path.steps)
    page.until(lambda: np.array_equal(tab.answer.shape.angles, path.angles))
    assert tab._path.friction_work == path.friction_work
    page.good(tab._forget_history)
    page.until(lambda: tab._path is not None and tab._path.steps == 1)


def test_a_motion_of_a_long_robot_begins_in_its_shape(page: Running) -> None:
    text = long_text("dantuono2023", 70)
    source = RobotSource(name="long.json", text=text)
    tabs = {"motion": {"duration": 0.05, "step_ms": 1.0, "pull": "hold", "fill_inertia": True}}
    page.good(lambda: page.studio.restore(State(robot=source, mode="motion", tabs=tabs)))
    motion, shape = page.studio.tabs["motion"], page.studio.tabs["shape"]
    page.until(lambda: motion.motion is not None or "vb-error" in page.status)
    assert shape.shape is not None
    assert np.array_equal(motion.motion.angles[0], shape.shape.angles)
    page.good(lambda: page.studio.choose_mode("shape"))
    page.until(lambda: "Ready." in page.status)


def test_a_process_that_dies_while_a_robot_is_opened_is_reported(page: Running) -> None:
    with held(page):
        page.good(lambda: page.studio.restore(State(robot=LONG)))
        page.studio.jobs._process.kill()
    page.until(lambda: "vb-error" in page.status)
    assert page.studio.source == PLANAR
    page.good(lambda: page.studio.act(lambda: page.studio.restore(State(robot=LONG))))
    opened(page)


def test_the_page_is_not_ready_between_the_opening_and_the_solving(
    page: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio, said = page.studio, list[tuple[str, str]]()
    mark = studio._mark

    def slow_mark() -> None:
        """Whatever may be sent to windows is sent, before it goes on."""
        mark()
        studio.server.flush()
        time.sleep(0.2)

    monkeypatch.setattr(studio, "_mark", slow_mark)
    visitor = Visitor(SimpleNamespace(url=studio.address.url), PLANAR)
    visitor.on_change = lambda: said.append((visitor.robot, visitor.status))
    with held(page):
        page.good(lambda: studio.restore(State(robot=LONG)))
        wait_until(lambda: "Opening" in visitor.status, "the opening")
    wait_until(lambda: visitor.rests(LONG), "the robot")
    visitor.close()
    at = next(place for place, (_, status) in enumerate(said) if "Opening" in status)
    words = [re.sub(r"<[^>]*>", "", status).split()[0] for _, status in said[at:]]
    assert list(dict.fromkeys(words)) == ["Opening", "Solving", "Ready."], words


def test_nothing_of_a_robot_that_was_left_arrives_later(page: Running) -> None:
    page.good(lambda: page.studio.restore(State(robot=LONG)))
    opened(page)
    with held(page):
        page.good(lambda: page.studio.act(page.studio.tabs["shape"].shown))
        page.good(lambda: page.studio.restore(State(robot=PLANAR)))
    page.until(lambda: not page.studio.jobs.busy)
    page.settle()
    assert page.studio.tabs["shape"].answer.shape.robot == vb.load("hu2023-planar")


# The command itself, and robots at random: few here, fifty in a soak.

COUNT = 50
"""Robots of the soak."""
RESTING = State(robot=RobotSource(name="hu2023-prototype"))
SLOWEST, LONGEST_ENDING = 30.0, 9.0
"""s on a busy machine; figures of a run are printed, and are below 1 s and 2 s on a quiet one."""


def random_robot(chance: random.Random) -> RobotSource:
    """Beyond what is solved at once, within what is taken."""
    mapping: dict[str, Any] = vb.load(chance.choice(("hu2023-prototype", "yang2023-b", "cai2023"))).to_mapping()
    joints = chance.randrange(61, 501)
    cables = chance.randrange(3, min(20_000 // joints, 64) + 1)
    section = mapping["sections"][0]
    section["joints"] = joints
    section["cables"]["azimuth"] = [2 * np.pi * (k + chance.random() / 9) / cables for k in range(cables)]
    return RobotSource(name=f"random-{chance.getrandbits(32):08x}.json", text=json.dumps(mapping))


class Visitor:
    """A window without a screen: knows what the page says, and which robot is chosen."""

    def __init__(self, process: Any, shown: RobotSource = RESTING.robot) -> None:
        self.process, self.status, self.robot, self.upload = process, "", "", ""
        self.on_change = lambda: None
        """Called after each batch of messages."""
        self._place, _, self._token = process.url.partition("?token=")
        self.slowest, self.asked = 0.0, 0
        self._name = secrets.token_hex(16)
        self._connect()
        wait_until(lambda: self.upload and self.rests(shown), "the page")

    def _connect(self, page: str = "") -> None:
        port = int(self._place.rstrip("/").rpartition(":")[2])
        self._line = window(
            SimpleNamespace(port=port),  # type: ignore[arg-type]
            path=f"?window={self._name}&page={page}",
            Authorization=f"Bearer {self._token}",
        )
        self._line.send(packed(CAMERA))
        self._reader = threading.Thread(target=self._read, args=(self._line,), daemon=True)
        self._reader.start()

    def _read(self, line: Any) -> None:
        names: dict[str, str] = {}
        with contextlib.suppress(ConnectionClosed):
            while True:
                data = line.recv()
                assert isinstance(data, bytes)
                size = int.from_bytes(data[8:16], "little")
                batch = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data[16 : 16 + size]))
                for message in batch["messages"]:
                    self._take(message, names)
                self.on_change()

    def _take(self, message: dict[str, Any], names: dict[str, str]) -> None:
        kind, told = message["type"], message.get("updates") or message.get("props") or {}
        if kind == "GuiUploadButtonMessage":
            self.upload = message["uuid"]
        if kind == "GuiDropdownMessage" and told["label"] == "Robot":
            names["robot"], self.robot = message["uuid"], message["value"]
        if message.get("uuid") == names.get("robot") and "value" in told:
            self.robot = told["value"]
        if 'data-value="status"' in str(told.get("content", "")):
            self.status = told["content"]

    def rests(self, source: RobotSource) -> bool:
        """Whether this robot is there, and nothing is computed."""
        return self.robot == source.name and "Ready." in self.status

    def get(self, query: str = "") -> str:
        """Ask for the page; its nonce."""
        began = time.monotonic()
        request = urllib.request.Request(self._place + query, headers={"Authorization": f"Bearer {self._token}"})
        with urllib.request.urlopen(request, timeout=SLOWEST) as answer:
            assert answer.status == 200
            (nonce,) = re.findall(r"'nonce-([^']+)'", answer.headers["Content-Security-Policy"])
        self.slowest, self.asked = max(self.slowest, time.monotonic() - began), self.asked + 1
        return str(nonce)

    def open(self, source: RobotSource, by_link: bool) -> None:
        """Open a robot, by a link if it fits into one."""
        if by_link:
            with contextlib.suppress(StudioError):
                nonce = self.get(f"?state={to_link(State(robot=source))}")
                self.close()  # as a browser does when it loads a page
                self._connect(nonce)
                return
        content = (source.text or "").encode()
        about = {"source_component_uuid": self.upload, "transfer_uuid": source.name}
        start = {"type": "FileTransferStartUpload", "filename": source.name, "mime_type": "", "part_count": 1}
        self._line.send(packed(start | about | {"size_bytes": len(content)}))
        self._line.send(packed({"type": "FileTransferPart", "part_index": 0, "content": content} | about))

    def opened(self, source: RobotSource) -> None:
        """Until the robot is there and solved; in a soak the page is asked for all the while."""

        def rests() -> bool:
            assert "vb-error" not in self.status, self.status
            if soak():
                self.get()
            return self.rests(source)

        wait_until(rests, source.name)

    def close(self) -> None:
        self._line.close()
        self._reader.join()


def children(process: StudioProcess) -> list[psutil.Process]:
    return psutil.Process(process.process.pid).children(recursive=True)


def test_random_long_robots_one_after_the_other(tmp_path: Path) -> None:
    seed = time.time_ns() if soak() else 5
    print("seed", seed)
    chance, numbers = random.Random(seed), range(-10, COUNT) if soak() else range(2)
    with studio(tmp_path / "files") as process:
        visitor = Visitor(process)
        memory: list[int] = []
        for number in numbers:  # those below 0 fill what is remembered of the last few robots
            source = random_robot(chance)
            (computing,) = children(process)
            computing.suspend()
            visitor.open(source, by_link=number % 2 == 0)
            wait_until(lambda: "Opening" in visitor.status or "Solving" in visitor.status, "the computation")
            visitor.get()  # it answers while nothing is computed yet
            assert not visitor.rests(source)
            computing.resume()
            visitor.opened(source)
            if soak() and number in (-1, numbers[-1]):
                visitor.open(RESTING.robot, by_link=True)
                visitor.opened(RESTING.robot)
                memory.append(process.memory())
        print(f"{visitor.asked} answers, the slowest after {visitor.slowest:.2f} s")
        if soak():
            print(f"memory {', '.join(f'{size / 1e6:.1f}' for size in memory)} MB")
            first, last = memory
            assert last < 1.05 * first
        assert process.errors() == ""
        visitor.close()


def test_ctrl_c_while_a_random_long_robot_is_computed(tmp_path: Path) -> None:
    seed = time.time_ns() if soak() else 6
    print("seed", seed)
    chance, slowest = random.Random(seed), 0.0
    for number in range(COUNT if soak() else 1):
        process = StudioProcess(_made(tmp_path / str(number)), "hu2023-prototype")
        try:
            visitor = Visitor(process)
            visitor.open(random_robot(chance), by_link=number % 2 == 0)
            if number % 3:
                time.sleep(chance.random())
            started, began = children(process), time.monotonic()
            process.process.send_signal(signal.SIGINT)
            assert process.process.wait(DEADLINE) == 0
            slowest = max(slowest, time.monotonic() - began)
            wait_until(lambda: not any(runs(one.pid) for one in started), "the end of its processes")  # noqa: B023 - waits here
            assert process.errors() == ""
            visitor.close()
        finally:
            process.close()
    print(f"ended after {slowest:.2f} s at most")
    assert slowest < LONGEST_ENDING or not soak(), "whether it ends at all is tested on any machine, how fast in a soak"


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
