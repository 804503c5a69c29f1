"""Numbers on the page: digits, units, and nothing of a robot file that becomes part of the page's code."""

from __future__ import annotations

import math
from html.parser import HTMLParser

import pytest

from vertebra.report.document import fixed, significant
from vertebra.studio.readout import Value, grid, light, notes, readout, tension_scale

NASTY = '<script>alert("1")</script>&\''


class Page(HTMLParser):
    """Named places of a piece of the page, and all its tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self.tags: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == [], "a tag is not closed"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        key = dict(attributes).get("data-value")
        if key is not None:
            assert key not in self.values
            self.values[key] = ""

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.values:
            self.values[list(self.values)[-1]] += data


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1.2345, 2, "1.23 N"),
        (-0.0004, 3, "0.000 N"),
        (-0.0, 1, "0.0 N"),
        (1e6, 0, "1000000 N"),
        (math.inf, 2, "no limit"),
        (-math.inf, 2, "none"),
        (math.nan, 2, "none"),
    ],
)
def test_numbers_have_fixed_digits(value: float, digits: int, text: str) -> None:
    assert fixed(value, digits, "N") == text


def test_numbers_without_a_unit_end_with_their_digits() -> None:
    assert fixed(2.0, 1) == "2.0"
    assert significant(123456.0) == "1.235e+05"
    assert significant(0.25, "N/m") == "0.25 N/m"
    assert significant(math.inf, "N") == "no limit"


def test_a_readout_names_its_values() -> None:
    page = Page(readout("Tip", [Value("tip-x", "tip x", "1 mm"), Value("tip-y", "tip y", "2 mm")]))
    assert page.values["tip-x"].startswith("1 mm")
    assert page.values["tip-y"] == "2 mm"


def test_a_grid_numbers_its_cells() -> None:
    page = Page(grid("Cables", ("cable", "tension"), [("1", "2 N"), ("2", "3 N")], "cable"))
    assert page.values == {"cable-0-0": "1", "cable-0-1": "2 N", "cable-1-0": "2", "cable-1-1": "3 N"}
    assert Page(grid("Cables", ("cable",), [], "cable")).values == {}


@pytest.mark.parametrize(
    "html",
    [
        readout(NASTY, [Value(NASTY, NASTY, NASTY)]),
        grid(NASTY, (NASTY,), [(NASTY,)], "key"),
        light(NASTY, True, NASTY),
        notes([NASTY]),
    ],
)
def test_texts_stay_texts(html: str) -> None:
    assert "script" not in Page(html).tags


@pytest.mark.parametrize(("good", "sign", "state"), [(True, "✓", "good"), (False, "✗", "bad"), (None, "?", "open")])
def test_lights_have_a_sign_beside_their_colour(good: bool | None, sign: str, state: str) -> None:
    html = light("status", good, "Stable")
    assert f'data-state="{state}"' in html
    assert " ".join(Page(html).values["status"].split()) == f"{sign} Stable"


def test_the_scale_of_tensions_says_its_ends() -> None:
    html = tension_scale(20.0)
    assert "0 to 20 N" in html
    assert "linear-gradient" in html
