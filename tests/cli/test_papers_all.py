"""`vertebra papers` without a name: all of them in one answer."""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.papers.lapusan2022_once import comparison_once
from tests.report.browser import visit
from tests.report.looking import Reader, has_clean_border

from vertebra.papers.joint_page import joint_html
from vertebra.papers.summary import QUESTIONS, comparisons, summary_of

MOST_SCENES = 3
"""Fewer than a page really has, so that few need to be drawn in software to see the limit at work."""
IDS = r'<div id="([^"]+)" class="plotly-graph-div"'


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vertebra.papers.lapusan2022.comparison.compare", comparison_once)
        return comparisons()


@pytest.fixture(autouse=True)
def once(found: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """All commands answer from the same comparisons, which take long to work out."""
    monkeypatch.setattr("vertebra.papers.summary.comparisons", lambda progress: found)


@pytest.fixture(scope="module")
def page(found: dict[str, Any]) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vertebra.report.html.MOST_SCENES", MOST_SCENES)
        return joint_html([summary_of(name, comparison) for name, comparison in found.items()], found)


@pytest.fixture(scope="module")
def file(page: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("joint") / "all.html"
    path.write_text(page, encoding="utf-8")
    return path


def test_table_and_reasons(vertebra) -> None:
    ran = vertebra("papers")
    assert (ran.code, ran.err) == (0, "")
    for line in (
        r"hu2023 +216 of 216 +29 +25 +2 +2", r"yang2023 +3 of 4 +31 +16 +3 +12", r"cai2023 +3 of 6 +13 +7 +0 +6",
        r"dantuono2023 +1 of 2 +10 +4 +5 +1", r"lapusan2022 +0 of 12 +13 +3 +4 +6",
    ):  # fmt: skip
        assert re.search(line, ran.out)
    assert ran.out.count("Does not hold: ") == 2 + 3 + 0 + 5 + 4
    assert "outside for 3, by at most 0.031 N" in " ".join(ran.out.split())
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_json_csv_and_picture(vertebra, tmp_path: Path) -> None:
    table, picture = tmp_path / "all.csv", tmp_path / "all.png"
    record = vertebra("papers", "--json", "--out", str(table)).json
    assert record["out"] == str(table)
    assert list(record["papers"]) == list(QUESTIONS)
    for name, paper in record["papers"].items():
        assert paper["summary"]["name"] == name
        assert len(paper["record"]["claims"]) == paper["summary"]["claims"]
        assert len(paper["summary"]["reasons"]) == paper["summary"]["fails"]
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["name"] for row in rows] == list(QUESTIONS)
    assert (rows[-1]["reproduced"], rows[-1]["of"]) == ("0", "12")
    assert vertebra("papers", "--out", str(picture)).code == 0
    assert has_clean_border(picture)


def test_page_has_every_paper_once_and_loads_nothing(page: str) -> None:
    reader = Reader(page)
    assert reader.fetched == [f"#{name}" for name in QUESTIONS], "links within the page only"
    assert page.count("plotly.js v") == 1
    names = re.findall(IDS, page)
    assert len(names) == len(set(names)) == page.count("Plotly.newPlot(") == 58
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    every = re.findall(r' id="([^"]+)"', outside)
    assert len(every) == len(set(every))
    assert "http" not in outside
    for name in QUESTIONS:
        assert f'<section id="{name}">' in page
    levels = [int(level) for level in re.findall(r"<h([1-6])>", outside)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_a_section_is_the_page_of_the_paper(page: str, found: dict[str, Any]) -> None:
    from vertebra.papers.cai2023.page import comparison_html

    alone, joint = Reader(comparison_html(found["cai2023"])).shown, Reader(page).shown
    start = joint.index("Cai et al. 2023: payload of friction-locked links", 60)
    inside = set(joint[start : start + len(alone) + 5])
    assert not [text for text in alone if text not in inside and not text.startswith("Vertebra ")]


def test_in_a_browser_light_and_dark(file: Path) -> None:
    with visit(file, "light") as seen:
        scenes = ["hu2023-shapes-1", "yang2023-shapes-1", "lapusan2022-shapes-1", "hu2023-shapes-3"]
        ink = "getComputedStyle(document.querySelector('#hu2023-plane .xtick text')).fill"
        paper = "getComputedStyle(document.body).backgroundColor"
        assert (seen.page.evaluate(ink), seen.page.evaluate(paper)) == ("rgb(29, 35, 42)", "rgb(255, 255, 255)")
        for name in scenes:
            seen.show(name)
            lost = "name => document.querySelector(`#${name} canvas`).getContext('webgl').isContextLost()"
            assert seen.page.evaluate(lost, name) is False
        alive = "[...document.querySelectorAll('.plotly-graph-div')].filter(plot => plot._fullLayout?.scene).length"
        assert seen.page.evaluate(alive) <= MOST_SCENES
        seen.page.emulate_media(color_scheme="dark")
        seen.page.wait_for_function(f"{ink} === 'rgb(230, 233, 236)'")
        assert seen.page.evaluate(paper) == "rgb(20, 24, 29)"
        seen.show("yang2023-loop-1")
        black = "document.getElementById('yang2023-loop-1')._fullData.map(line => line.marker?.color)"
        assert "#000000" not in seen.page.evaluate(black)
        seen.page.set_viewport_size({"width": 820, "height": 1180})
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 820
        assert (seen.errors, seen.outside) == ([], [])


def test_options_go_after_the_name_of_a_paper(vertebra, tmp_path: Path) -> None:
    for options in (["--json"], ["--out", str(tmp_path / "a.html")]):
        ran = vertebra("papers", *options, "hu2023")
        assert ran.code == 2
        assert "after the name of the paper" in ran.err


def test_wrong_suffix_fails_before_any_work(vertebra, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vertebra.papers.summary.comparisons", lambda progress: pytest.fail("worked"))
    ran = vertebra("papers", "--out", "all.pdf")
    assert ran.code == 2
    assert ".html, .png, .csv" in ran.err
