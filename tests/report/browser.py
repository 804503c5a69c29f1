"""A page in a real browser: what it fetched, what went wrong, what it shows in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.browsers import FLAGS, browser_or_skip


class Visit:
    """An open page, and what was noticed while it was read."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.errors: list[str] = []
        self.outside: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: self._note(request.url))

    def _note(self, address: str) -> None:
        if not address.startswith(("file:", "data:", "blob:")):
            self.outside.append(address)

    def show(self, name: str) -> None:
        """Scroll to a figure and wait until it is drawn."""
        self.page.evaluate("name => document.getElementById(name).scrollIntoView({block: 'center'})", name)
        self.page.wait_for_function("name => document.getElementById(name)._fullLayout !== undefined", arg=name)


@contextmanager
def visit(file: Path, scheme: str, width: int = 1280, height: int = 800) -> Iterator[Visit]:
    """Open a file in a browser that prefers `scheme`, light or dark."""
    from playwright.sync_api import sync_playwright

    program = browser_or_skip()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=FLAGS, timeout=60_000)
        try:
            context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})
            seen = Visit(context.new_page())
            seen.page.set_default_timeout(60_000)
            seen.page.goto(file.as_uri(), wait_until="load")
            yield seen
        finally:
            browser.close()
