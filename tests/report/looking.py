"""Looking at a page as a browser and a reader would, and at the edge of a picture."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
from PIL import Image

from vertebra.report.document import Report


class Reader(HTMLParser):
    """What a browser would fetch, and what a person would read."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.shown: list[str] = []
        self.inside_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.inside_script = tag in ("script", "style")
        self.fetched += [value or "" for name, value in attributes if name in ("src", "href", "srcset", "data")]

    def handle_endtag(self, tag: str) -> None:
        self.inside_script = False

    def handle_data(self, data: str) -> None:
        if not self.inside_script and data.strip():
            self.shown.append(data.strip())


def has_clean_border(path: Path) -> bool:
    """Nothing is cut off: the outermost pixels are white."""
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("L"))
    inner = pixels.copy()
    inner[6:-6, 6:-6] = 255
    return bool(inner.min() == 255 and pixels.min() < 100)


def page_of(report: Report, title: str = "") -> str:
    """HTML text of the page, under another title if there is one."""
    from vertebra.report.html import report_page

    return report_page(replace(report, title=title or report.title))


def picture_of(report: Report, path: Path) -> Path:
    """Write the still picture."""
    from vertebra.report.still import draw

    assert report.picture is not None
    draw(report.picture(), path, report.title)
    return path
