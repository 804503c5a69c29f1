"""The site of the docs: it builds without a warning, has every page, and needs no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from tests.browsers import FLAGS, browser_or_skip

ROOT = Path(__file__).parents[1]
# Links to follow, and names of pages, are not loaded.
NOT_LOADED = {"canonical", "next", "prev", "alternate"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


class Loaded(HTMLParser):
    """What a page makes a browser load."""

    def __init__(self, page):
        super().__init__()
        self.addresses, self.classes = [], set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.classes.update((given.get("class") or "").split())
        if tag == "link" and given.get("rel") not in NOT_LOADED:
            self.addresses.append(given["href"])
        elif tag != "a":
            self.addresses += [given[name] for name in ("src", "srcset", "data", "poster") if given.get(name)]


def in_nav(entry):
    """Files of a part of the navigation."""
    if isinstance(entry, str):
        return [entry]
    parts = entry if isinstance(entry, list) else list(entry.values())
    return [file for part in parts for file in in_nav(part)]


def test_every_page_is_in_the_navigation():
    nav = in_nav(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    pages = [str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(nav) == sorted(pages)


def test_site_has_every_page_and_its_search(site):
    for page in (ROOT / "docs").glob("*.md"):
        assert (site / page.with_suffix(".html").name).exists()
    assert "var __index" in (site / "search" / "search_index.js").read_text(encoding="utf-8")


def is_elsewhere(address):
    return re.match(r"(\w+:)?//", address) is not None and not address.startswith("data:")


def test_pages_load_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        loaded = Loaded(page)
        assert loaded.addresses
        assert not [address for address in loaded.addresses if is_elsewhere(address)], page.name
        # The theme's script fetches a program for diagrams and facts of a repository only where these stand.
        assert not {"mermaid", "md-source"} & loaded.classes, page.name


def test_styles_and_own_scripts_load_nothing_from_elsewhere(site):
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not [address for address in re.findall(r"url\([\"']?([^\"')]+)", text) if is_elsewhere(address)]
        assert "@import" not in text
    for script in (site / "assets").glob("*.js"):
        assert "//" not in script.read_text(encoding="utf-8")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


@pytest.fixture(scope="module")
def browser():
    path = browser_or_skip()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=60_000)
        try:
            yield opened
        finally:
            opened.close()


def found_by_search(page, word):
    page.keyboard.press("f")
    page.keyboard.type(word, delay=20)
    page.wait_for_selector(".md-search-result__link", timeout=15_000)
    return page.inner_text(".md-search-result__list")


def test_in_a_browser_all_requests_stay_here(browser, address, site):
    wanted = []
    page = browser.new_page()
    page.on("request", lambda request: wanted.append(request.url))
    page.goto(address + "index.html")
    assert "hysteresis" in found_by_search(page, "hysteresis").lower()
    page.goto(address + "theory.html")
    page.wait_for_selector("h1")
    assert len(wanted) > 5
    assert not [url for url in wanted if not url.startswith(address)]


def test_search_works_from_a_folder_on_disk(browser, site):
    wanted = []
    page = browser.new_page()
    page.on("request", lambda request: wanted.append(request.url))
    page.goto((site / "shape.html").as_uri())
    assert "hysteresis" in found_by_search(page, "hysteresis").lower()
    assert not [url for url in wanted if not url.startswith("file:")]


@pytest.mark.parametrize(("wanted", "scheme"), [("light", "default"), ("dark", "slate")])
def test_pages_fit_a_tablet_and_take_its_colours(browser, address, wanted, scheme):
    page = browser.new_page(viewport={"width": 820, "height": 1180}, color_scheme=wanted)
    for name in ("index", "theory", "speed"):
        page.goto(f"{address}{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= 820, name
        assert page.evaluate("document.body.dataset.mdColorScheme") == scheme
