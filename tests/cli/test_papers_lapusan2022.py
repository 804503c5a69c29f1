"""`vertebra papers lapusan2022`."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from tests.papers.lapusan2022_once import comparison_once
from tests.report.looking import Reader, has_clean_border


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All commands print the same comparison, which takes long to work out."""
    monkeypatch.setattr("vertebra.papers.lapusan2022.comparison.compare", comparison_once)


def test_default_is_what_came_out_and_why(vertebra) -> None:
    ran = vertebra("papers", "lapusan2022")
    assert (ran.code, ran.err) == (0, "")
    for part in ("does not hold", "cannot be told", "yawed 30 deg", "0.0116", "49.17", "simulated", "microseconds"):
        assert part in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    assert "Not stated in the paper" not in ran.out


def test_all_prints_every_table(vertebra) -> None:
    ran = vertebra("papers", "lapusan2022", "--all")
    for part in (
        "Not stated in the paper", "only (3) put right", "one cause at a time", "number of modules", "seed 3", "292.4",
        "theta_ji",
    ):  # fmt: skip
        assert part in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_json(vertebra) -> None:
    record = vertebra("papers", "lapusan2022", "--json").json
    assert sorted(record) == [
        "causes", "claims", "growth", "lever", "paper", "perfect_sensors", "platforms_mm", "published", "ranges",
        "rounding", "runs", "simulated", "third_angle_deg", "virtual_robot",
    ]  # fmt: skip
    assert record["simulated"] is True
    assert record["published"][1]["mae"]["x_mm"] == 2.91
    assert record["perfect_sensors"][1]["methods"]["paper"]["mean_mm"] == pytest.approx(49.17, abs=0.01)
    assert [claim["letter"] for claim in record["claims"]] == list("abcdefghijklm")
    first = record["runs"][0]
    assert (first["motion"], first["sensors"], first["method"], first["seed"]) == ("hil", "stated", "paper", 1)
    assert first["mae_y_mm"] > first["mae_x_mm"] > 0


def test_csv(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "errors.csv"
    ran = vertebra("papers", "lapusan2022", "--out", str(path))
    assert (ran.code, str(path) in ran.err) == (0, True)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == sum(len(run.times) for run in comparison_once().found.runs)
    assert {row["method"] for row in rows} == {"paper", "pairwise", "chain", "chain, soft"}
    assert float(rows[3]["error_gamma_deg"]) == comparison_once().found.runs[0].errors[3, 5]


def test_page(vertebra, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.html" for name in "ab"]
    for path in paths:
        assert vertebra("papers", "lapusan2022", "--out", str(path)).code == 0
    first, second = (path.read_bytes() for path in paths)
    assert first == second, "same input, same bytes"
    text = first.decode()
    page = Reader(text)
    assert page.fetched == []
    assert "http" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    shown = " ".join(page.shown)
    for part in ("does not hold", "Simulated, not measured", "What the paper does not state", "horizontal"):
        assert part in shown
    assert "microseconds" not in shown, "a time would differ from page to page"
    assert text.count("Plotly.newPlot(") == 7 * 2
    for drawn in (
        "tilt of the base [deg]",
        "mean absolute error [mm]",
        "error of the tip [mm]",
        "yawed 30 deg: 53.3 mm",
    ):
        assert drawn in text


def test_picture(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    ran = vertebra("papers", "lapusan2022", "--out", str(path), "--json")
    assert ran.json["out"] == str(path)
    assert has_clean_border(path)


def test_wrong_suffix_fails_before_any_work(vertebra) -> None:
    ran = vertebra("papers", "lapusan2022", "--out", "report.pdf")
    assert (ran.code, ran.out) == (2, "")
    assert ".html, .png, .csv" in ran.err
