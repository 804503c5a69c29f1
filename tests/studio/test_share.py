"""What is taken home: the state as a link and as a file, a picture, a recording; only by the window that asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.studio.whole_studio import Running, running

import vertebra as vb
from vertebra.studio.state import RobotSource, from_json, from_link

pytest.importorskip("viser")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("share")
    with running(folder) as page:
        yield page


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
