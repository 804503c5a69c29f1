"""The page in a real browser: it draws, breaks no rule of its policy, loads nothing from elsewhere, and takes files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from tests.studio.visitors import eventually
from tests.studio.windows import chromium

from vertebra.errors import StudioError
from vertebra.studio.serving.gate import Page
from vertebra.studio.serving.server import Access, Server, open_server
from vertebra.studio.serving.viser_hook import viser_index

SECRET = "correct-horse-battery"


@dataclass
class Visit:
    """A page in a browser, and what it asked for and complained about."""

    page: Any
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("websocket", lambda line: self.asked.append(line.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))

    def drop(self, name: str, size: int) -> None:
        """What a browser does when a file is dragged onto the picture and let go."""
        self.page.evaluate(
            """([name, size]) => {
              const carried = new DataTransfer();
              carried.items.add(new File([new Uint8Array(size)], name));
              const over = (kind) => document.querySelector("canvas").dispatchEvent(
                new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: carried}));
              over("dragover");
              window.overlayShown = getComputedStyle(document.getElementById("vertebra-drop")).display;
              over("drop");
            }""",
            [name, size],
        )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with open_server(Access(port=0, token=SECRET), label="robot") as made:
        scene, gui = made.viser.scene, made.viser.gui
        scene.add_grid("/grid")
        scene.add_icosphere("/ball", radius=0.5, color=(230, 159, 0))
        scene.add_label("/name", "joint 1")
        gui.add_slider("tension", 0.0, 10.0, 0.1, 1.0)
        gui.add_image(np.zeros((8, 8, 3), np.uint8))
        gui.add_uplot((np.arange(3.0), np.arange(3.0)), series=({"label": "x"}, {"label": "y", "stroke": "red"}))
        gui.add_markdown("**a word**")
        yield made


@pytest.fixture(scope="module")
def opened(browser: Any, server: Server) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 800, "height": 500})  # small: pictures are drawn in software
    made = Visit(context.new_page())
    made.page.goto(server.url)
    made.page.wait_for_selector("text=a word", timeout=60_000)
    assert eventually(lambda: server.viser.get_clients())
    yield made
    context.close()


@pytest.fixture
def visit(opened: Visit) -> Iterator[Visit]:
    """The same window for all tests; a browser that draws in software is slow to start."""
    yield opened
    opened.complaints.clear()


def test_it_draws_and_loads_nothing_from_elsewhere(visit: Visit, server: Server) -> None:
    (client,) = server.viser.get_clients().values()
    picture = client.get_render(height=120, width=160)
    assert np.ptp(picture[:, :, 2]) > 100, "an orange ball before a light ground"
    assert visit.page.title() == "Vertebra studio"
    assert visit.page.locator("meta[name=description]").get_attribute("content").startswith("Cable-driven")
    assert visit.page.url == f"http://127.0.0.1:{server.port}/", "the token has left the address"
    here = (f"http://127.0.0.1:{server.port}/", f"ws://127.0.0.1:{server.port}", "blob:http://127.0.0.1:", "data:")
    assert [url for url in visit.asked if not url.startswith(here)] == []
    assert any(url.startswith("ws://") for url in visit.asked)
    assert visit.page.locator("a[href^=http]:visible, .tabler-icon-share:visible").count() == 0
    assert visit.complaints == []
    assert server.dropped == {}, "the gate lets through all that the page sends"


def test_files_are_dropped_anywhere(visit: Visit, server: Server) -> None:
    files: list[tuple[str, int]] = []
    visit.drop("robot.yaml", 10)
    assert "no upload button" in visit.page.inner_text("#vertebra-note")
    upload = server.viser.gui.add_upload_button("open a file")
    upload.on_upload(lambda _: files.append((upload.value.name, len(upload.value.content))))
    visit.page.wait_for_selector("text=open a file")
    visit.drop("robot.yaml", 600_000)
    assert eventually(lambda: visit.page.wait_for_timeout(20) or files == [("robot.yaml", 600_000)])
    assert visit.page.evaluate("window.overlayShown") == "flex"
    assert not visit.page.locator("#vertebra-drop").is_visible()
    visit.drop("large.yaml", 3_000_000)
    assert visit.page.inner_text("#vertebra-note").startswith(
        "large.yaml has 3.00 MB; the studio takes files of up to 1.00"
    )
    visit.page.set_input_files("input[type=file]", {"name": "chosen.yaml", "mimeType": "", "buffer": b"x" * 2_000_000})
    assert visit.page.inner_text("#vertebra-note").startswith("chosen.yaml has 2.00 MB")
    visit.page.set_input_files("input[type=file]", {"name": "small.yaml", "mimeType": "", "buffer": b"x" * 5})
    assert eventually(lambda: visit.page.wait_for_timeout(20) or files[1:] == [("small.yaml", 5)])
    assert visit.complaints == []
    assert server.dropped == {}


def test_text_of_a_robot_file_cannot_become_a_script(visit: Visit, server: Server) -> None:
    """Names and texts from files reach the page; what looks like a script in them does not run."""
    bad = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script><b>shown</b>"
    server.viser.gui.add_markdown(bad)
    server.viser.gui.add_html(bad)
    visit.page.wait_for_selector("text=shown")
    assert eventually(
        lambda: visit.page.wait_for_timeout(20) or any("Content Security Policy" in text for text in visit.complaints)
    )
    assert visit.page.title() == "Vertebra studio"


def test_the_page_is_the_one_that_is_known() -> None:
    body, nonce = Page(viser_index(), 12345).answer()
    text = body.decode()
    assert 'name="vertebra-upload-limit" content="12345"' in text
    assert "Viser client" not in text
    assert text.count(nonce) == 3
    for lost in ("<title>", "</head>", "<script data-p=", "e.textContent=code;"):
        with pytest.raises(StudioError, match=r"^viser: its page is not the one known here"):
            Page(viser_index().replace(lost, ""), 1)


@pytest.mark.parametrize("needs_token", [True, False])
def test_another_site_cannot_open_a_state_unless_a_person_says_so(browser: Any, needs_token: bool) -> None:
    """In a browser that has the studio open, and that decides by itself what it sends with which request."""
    states: list[str] = []
    with open_server(Access(port=0, needs_token=needs_token), label="x", on_state=states.append) as server:
        context = browser.new_context()
        context.new_page().goto(server.url)  # now the browser has the cookie, if there is one
        other = context.new_page()
        script = f"<script>location.href = 'http://127.0.0.1:{server.port}/?state=theirs'</script>"
        other.route("http://other.example/", lambda route: route.fulfill(body=script, content_type="text/html"))
        other.goto("http://other.example/")
        other.wait_for_selector("text=Nothing has been changed yet")
        assert states == []
        other.click("text=Open the saved state")
        other.wait_for_function("document.title === 'Vertebra studio' && !document.querySelector('h1')")
        assert states == ["theirs"]
        context.close()
