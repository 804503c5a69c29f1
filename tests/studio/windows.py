"""Drives the studio as a person does: the real command in a process of its own, in windows of a real browser."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.browsers import FLAGS, browser_or_skip

PATIENCE = 60_000
"""ms; the machine may be busy."""
GONE = "Tried to update non-existent component"
"""What viser's page says of a control that was made, set and removed again before a slow window read of it."""
DRAW_WHEN_ASKED = """
for (const kind of [WebGLRenderingContext, WebGL2RenderingContext]) {
  for (const name of ["drawArrays", "drawElements", "drawArraysInstanced", "drawElementsInstanced"]) {
    const draw = kind.prototype[name];
    if (draw) kind.prototype[name] = function (...what) { if (window.drawing) draw.apply(this, what); };
  }
}
"""
"""Software draws the scene, which takes longer than all else: a window draws only while a picture is taken."""
THROTTLE = 60
"""ms; within 50 ms viser's page sends only the last change, whichever control it is of. No person is that fast."""
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"


class StudioProcess:
    """`vertebra studio` on a free port."""

    def __init__(self, folder: Path, robot: str, *options: str) -> None:
        command = [sys.executable, "-m", "vertebra.cli.main", "studio", robot, "--port", "0", "--no-browser"]
        self.folder, self.log = folder, folder.parent / f"{folder.name}-studio.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, "--folder", str(folder), *options], stdout=subprocess.PIPE, stderr=log, text=True
            )
        line = self._first_line()
        found = re.search(r"http://\S+", line)
        if found is None:
            self.process.kill()
            raise AssertionError(f"the studio did not start: {line!r} {self.log.read_text()}")
        self.url = found.group()
        """With the token."""

    def at(self, link: str) -> str:
        """The address of a link of the page, with the token."""
        return f"{self.url}&{link.partition('?')[2]}"

    def answers(self, timeout: float = PATIENCE / 1000) -> bool:
        """Ask for the page; whether it is served within `timeout` s."""
        place, _, token = self.url.partition("?token=")
        request = urllib.request.Request(place, headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def _first_line(self) -> str:
        """What it says when it serves; empty when it says nothing for a minute."""
        lines: list[str] = []
        assert self.process.stdout is not None
        reader = threading.Thread(target=lambda: lines.append(self.process.stdout.readline()), daemon=True)  # type: ignore[union-attr]
        reader.start()
        reader.join(timeout=PATIENCE / 1000)
        return lines[0] if lines else ""

    def errors(self) -> str:
        """What it wrote to its log: nothing, when nothing went wrong inside."""
        return self.log.read_text()

    def memory(self) -> int:
        """Bytes that it holds at rest: the least of what is read until it falls no more."""
        import psutil

        least, same = sys.maxsize, 0
        while same < 20:
            time.sleep(0.05)
            now = psutil.Process(self.process.pid).memory_info().rss
            least, same = min(least, now), same + 1 if now >= least else 0
        return least

    def close(self) -> None:
        """Ctrl-C, as a person ends it."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=20)
        finally:
            self.process.kill()
            self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()


@contextlib.contextmanager
def studio(folder: Path, robot: str = "hu2023-prototype", *options: str) -> Iterator[StudioProcess]:
    """A running studio; ends with the block."""
    folder.mkdir(exist_ok=True)
    process = StudioProcess(folder, robot, *options)
    try:
        yield process
    finally:
        process.close()


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    path = browser_or_skip()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Window:
    """One window; remembers every request and everything that went wrong in it."""

    def __init__(self, browser: Any, url: str, size: tuple[int, int] = (1280, 800), draws: bool = False) -> None:
        """`draws`: always, and in full resolution; otherwise only for pictures, and in few pixels."""
        self.browser, self.url, self.size, self._draws = browser, url, size, draws
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]}, accept_downloads=True)
        if not draws:
            self.context.add_init_script(DRAW_WHEN_ASKED)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.requests: list[str] = []
        self.faults: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", self._watch)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._console)
        self.page.goto(url if draws else f"{url}{'&' if '?' in url else '?'}fixedDpr=0.2")
        self.page.wait_for_selector(".vb-mode", state="attached")

    def _watch(self, socket: Any) -> None:
        self.requests.append(socket.url)

    def _console(self, message: Any) -> None:
        if message.type == "error" and not message.text.startswith(GONE):
            self.faults.append(message.text)

    def close(self) -> None:
        self.context.close()

    # Reading --------------------------------------------------------------------------------------------------------

    def text(self, key: str) -> str:
        """What stands at a named place of the results; empty when it is not there."""
        found = self.page.query_selector(f'[data-value="{key}"]')
        return " ".join(found.inner_text().split()) if found else ""

    def wait(self, key: str, wanted: str, timeout: float = PATIENCE / 1000) -> None:
        """Until a named place says `wanted`."""
        self.until(
            lambda: self.text(key) == wanted, lambda: f"{key}: wanted {wanted!r}, found {self.text(key)!r}", timeout
        )

    def until(self, holds: Any, told: Any = lambda: "it never came", timeout: float = PATIENCE / 1000) -> None:
        """Until something holds."""
        end = time.monotonic() + timeout
        while not holds():
            assert time.monotonic() < end, f"{told()}; status: {self.text('status')!r}"
            self.page.wait_for_timeout(20)

    def drawn(self) -> None:
        """Until the window has drawn what it knows: two frames of its own."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    # Acting ---------------------------------------------------------------------------------------------------------

    def tab(self, title: str) -> None:
        """Open a tab."""
        self.page.get_by_role("tab", name=title, exact=True).click()
        self.page.wait_for_selector(f'.vb-mode[data-mode="{title}"]', state="attached")

    def open_folder(self, name: str) -> None:
        """Open a folder of controls, if it is closed."""
        label = self.page.get_by_role("button", name=name, exact=True).first
        if label.get_attribute("aria-expanded") == "false":
            label.click()
            self.until(lambda: label.get_attribute("aria-expanded") == "true")

    def _control(self, label: str) -> Any:
        """The control that a label belongs to."""
        return self.page.locator(f'[id="{self._id(label)}"]')

    def _id(self, label: str) -> str:
        found = self.page.locator("label").filter(has_text=re.compile(f"^{re.escape(label)}$")).first
        name: str = found.get_attribute("for")
        return name

    def _sent(self) -> None:
        """Until what was set is sent: a timer of the page that ends after viser's."""
        self.page.evaluate("time => new Promise(done => setTimeout(done, time))", THROTTLE)

    def slide(self, label: str, value: float) -> None:
        """Type a number into the box beside a slider, as one does for an exact value."""
        box = self._control(label).locator("xpath=..").locator("input:not([type=hidden])").last
        box.fill(f"{value:g}")
        box.press("Enter")
        self._sent()

    def key(self, label: str, key: str, times: int = 1) -> None:
        """Move a slider by keyboard."""
        thumb = self._control(label).get_by_role("slider")
        thumb.focus()
        for _ in range(times):
            self.page.keyboard.press(key)
        self._sent()

    def slider_value(self, label: str) -> float:
        """Where a slider stands."""
        return float(self._control(label).get_by_role("slider").get_attribute("aria-valuenow"))

    def choose(self, label: str, option: str) -> None:
        """Choose from a dropdown."""
        self._control(label).click()
        self.page.get_by_role("option", name=option, exact=True).click()
        self._sent()

    def chosen(self, label: str) -> str:
        """What a dropdown shows."""
        value: str = self._control(label).input_value()
        return value

    def tick(self, label: str, wanted: bool = True) -> None:
        """Tick a box, or clear it: by its key, since a pointer misses a box that controls above push away."""
        box = self._control(label)
        if box.is_checked() != wanted:
            box.press("Space")
            self.until(lambda: box.is_checked() == wanted, lambda: f"{label} did not become {wanted}")
            self._sent()

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).click()
        self._sent()

    def type_vector(self, label: str, values: tuple[float, ...]) -> None:
        """Type numbers into the boxes of a vector."""
        row = self.page.locator("label").filter(has_text=re.compile(f"^{re.escape(label)}$")).locator("xpath=../../..")
        boxes = row.locator("input:not([type=hidden])")
        for place, value in enumerate(values):
            boxes.nth(place).fill(f"{value:g}")
            boxes.nth(place).press("Enter")
        self._sent()

    def type_text(self, label: str, text: str) -> None:
        """Type into a text box."""
        self._control(label).fill(text)
        self._control(label).press("Enter")
        self._sent()

    def save(self, name: str) -> tuple[str, bytes]:
        """Press a button that saves a file: its name and content."""
        with self.page.expect_download() as waiting:
            self.press(name)
        download = waiting.value
        return download.suggested_filename, Path(download.path()).read_bytes()

    def upload(self, file: Path) -> None:
        """Choose a file for the upload button."""
        self.page.locator('input[type="file"]').first.set_input_files(str(file))

    @contextlib.contextmanager
    def drawing(self) -> Iterator[None]:
        """Draw the scene while the block lasts."""
        self.page.evaluate("() => { window.drawing = true; }")
        yield
        self.page.evaluate("() => { window.drawing = false; }")

    def screenshot(self, name: str) -> Path:
        """Keep a picture of the window with the artefacts of the tests."""
        for close in self.page.locator(".mantine-Notification-closeButton").all():
            with contextlib.suppress(Exception):  # it may go away by itself
                close.click(timeout=1000)
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        with self.drawing():
            self.drawn()
            self.page.screenshot(path=str(path))
        return path

    def picture(self, name: str, dark: bool = False) -> None:
        """Keep a picture in which the scene is drawn; in a soak that of another window, in full resolution."""
        if soak() and not self._draws:
            other = Window(self.browser, self.url, self.size, draws=True)
            other.picture(name, dark)
            assert other.faults == []
            other.close()
            return
        notes = self.page.locator(".mantine-Notification-closeButton")
        self.until(
            lambda: _is_drawn(self.screenshot(name), self.size, dark) and notes.count() == 0,
            lambda: f"{name}: the scene is empty",
        )


def _is_drawn(file: Path, size: tuple[int, int], dark: bool) -> bool:
    """Whether something stands in the middle of a picture, on a page that is light or dark."""
    import numpy as np
    from PIL import Image

    width, height = size
    grey = np.asarray(Image.open(file).convert("L"), dtype=float)
    middle = grey[height // 6 : height * 3 // 4, 2 * width // 5 : 3 * width // 5]
    return bool(middle.std() > 3 and (middle.mean() < 128) == dark)


def soak() -> bool:
    """Whether the long runs are wanted."""
    return os.environ.get("VERTEBRA_SOAK") == "1"
