"""`vertebra papers hu2023`."""

from __future__ import annotations

import csv
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from tests.report.looking import has_clean_border

from vertebra.papers.hu2023.comparison import compare_experiments
from vertebra.papers.hu2023.still import still_panels
from vertebra.papers.summary import QUESTIONS


class Page(HTMLParser):
    """What a browser would fetch, and what a person reads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.texts: list[str] = []
        self.silent = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.silent = tag in ("script", "style")
        self.fetched += [value or "" for name, value in attributes if name in ("src", "href", "srcset", "data")]

    def handle_endtag(self, tag: str) -> None:
        self.silent = False

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def test_default_is_a_summary(vertebra) -> None:
    ran = vertebra("papers", "hu2023")
    assert (ran.code, ran.err) == (0, "")
    for part in ("216 of 216", "Table 3", "-106.23", "91.5", "does not hold", "18 of 18"):
        assert part in ran.out
    assert "Table 1: planar" not in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_all_prints_every_table(vertebra) -> None:
    ran = vertebra("papers", "hu2023", "--all")
    for part in ("Table 1: planar", "Table 2: spatial", "Table 4: printed errors", "50.44", "impossible", "fails"):
        assert (part in ran.out) == (part != "impossible")


def test_experiments_prints_only_those(vertebra) -> None:
    ran = vertebra("papers", "hu2023", "--experiments")
    assert "48 of 48" in ran.out
    assert "ceiling" not in ran.out
    assert re.search(r"exp\. 3 +0\.98 0\.98 0\.98 3\.92 +55\.66 +55\.67 +1\.53 +1\.53", ran.out)


def test_json(vertebra) -> None:
    record = vertebra("papers", "hu2023", "--json").json
    assert record["cells_equal"] == len(record["cells"]) == 216
    assert [len(record[name]) for name in ("claims", "table_4", "algorithms")] == [29, 18, 54]
    cell = record["cells"][8]
    assert (cell["table"], cell["item"], cell["mount"], cell["quantity"]) == (1, "ABS", "ground", "theta1_deg")
    assert (cell["published"], cell["simulated_or_measured"]) == (31.91, 31.06)
    assert cell["ours"] == pytest.approx(31.91, abs=0.005)
    failed = {claim["what"] for claim in record["claims"] if claim["verdict"] == "does not hold"}
    assert failed == {"Table 1: angle", "Table 2: angle"}
    assert {race["sweeps_omega_1"] for race in record["algorithms"]} >= {None, 118}


def test_json_of_the_experiments(vertebra) -> None:
    record = vertebra("papers", "hu2023", "--experiments", "--json").json
    assert sorted(record) == ["cells", "cells_equal", "paper"]
    assert len(record["cells"]) == 48


def test_csv(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    ran = vertebra("papers", "hu2023", "--out", str(path))
    assert (ran.code, str(path) in ran.err) == (0, True)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 216
    assert {row["equal"] for row in rows} == {"True"}
    assert rows[0]["simulated_or_measured"] == ""
    assert max(abs(float(row["ours"]) - float(row["published"])) for row in rows) <= 0.005


def test_page(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    record = vertebra("papers", "hu2023", "--out", str(path), "--json").json
    assert record["out"] == str(path)
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert page.fetched == []
    outside = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "http" not in outside
    for part in ("216 of 216", "Table 2: spatial", "does not hold", "possible", "-106.23", "experiment 1, ceiling"):
        assert part in page.text
    assert text.count("Plotly.newPlot(") == 7
    for drawn in ("measured tip", "without gravity", "circle-open", "diamond-open", "bending angle [deg]"):
        assert drawn in text


def test_page_of_the_experiments(vertebra, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.html" for name in "ab"]
    for path in paths:
        ran = vertebra("papers", "hu2023", "--experiments", "--out", str(path))
        assert "48 of 48" in ran.out
        assert str(path) in ran.err
    first, second = (path.read_bytes() for path in paths)
    assert first == second, "same input, same bytes"
    text = first.decode()
    assert text.count("Plotly.newPlot(") == 3
    assert Page(text).fetched == []
    assert "ceiling" not in Page(text).text


def test_wrong_suffix_fails_before_any_work(vertebra, tmp_path: Path) -> None:
    ran = vertebra("papers", "hu2023", "--out", str(tmp_path / "report.pdf"))
    assert (ran.code, ran.out) == (2, "")
    assert ".html, .png, .csv" in ran.err


@pytest.mark.parametrize("more", [(), ("--experiments",)])
def test_picture(vertebra, tmp_path: Path, more: tuple[str, ...]) -> None:
    paths = [tmp_path / f"{name}.png" for name in "ab"]
    for path in paths:
        assert vertebra("papers", "hu2023", *more, "--out", str(path)).code == 0
        assert has_clean_border(path)
    assert paths[0].read_bytes() == paths[1].read_bytes(), "same input, same bytes"


def test_picture_shows_what_the_table_says() -> None:
    drawn = {panel.title: panel for panel in still_panels(compare_experiments())}
    assert list(drawn) == ["Shape, ground", "Bending angles, ground"]
    bends = drawn["Bending angles, ground"].series
    assert [line.name for line in bends if line.name] == [
        "experiment 1", "experiment 2", "experiment 3", "ours", "paper's estimate", "measured"
    ]  # fmt: skip
    ours, published, measured = (line for line in bends[1:4])
    assert list(ours.x) == [2, 4, 6, 8, 10]
    np.testing.assert_allclose(ours.y, published.y, atol=0.005)
    assert np.abs(np.subtract(ours.y, measured.y)).max() > 0.1


def test_help_lists_every_paper(vertebra) -> None:
    ran = vertebra("papers", "--help")
    for name in QUESTIONS:
        assert name in ran.out
