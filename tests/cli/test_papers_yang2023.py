"""`vertebra papers yang2023`."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import pytest
from tests.report.looking import Reader, has_clean_border


def test_default_is_what_came_out_and_why(vertebra) -> None:
    ran = vertebra("papers", "yang2023")
    assert (ran.code, ran.err) == (0, "")
    for part in ("420 shapes", "fits", "does not hold", "not checkable", "25.43", "(9.51)", "7.25", "assumed", "mJ"):
        assert part in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    assert "130.70" not in ran.out


def test_all_prints_every_tip(vertebra) -> None:
    ran = vertebra("papers", "yang2023", "--all")
    for part in ("130.70", "136.01", "Condition V, variable friction and payload", "Eq 13", "21.54"):
        assert part in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    assert len(re.findall(r"^ +42 +B +1\.38 1\.38 0\.65 0\.65", ran.out, re.MULTILINE)) == 5


def test_one_case(vertebra) -> None:
    ran = vertebra("papers", "yang2023", "--case", "42")
    assert "under V 20 g payload: tip, mm" in ran.out
    assert re.search(
        r"^V +variable friction and payload +143\.22 +21\.79 +0\.00 +144\.43 +15\.85", ran.out, re.MULTILINE
    )
    assert "claims" not in ran.out


def test_condition_and_closure(vertebra) -> None:
    ran = vertebra("papers", "yang2023", "--condition", "ii", "--closure", "paper")
    assert "Condition II, variable friction" in ran.out
    assert "virtual" not in ran.out
    assert len(re.findall(r"^ +\d+ +[AB] ", ran.out, re.MULTILINE)) == 42


def test_json(vertebra) -> None:
    record = vertebra("papers", "yang2023", "--json").json
    assert len(record["tips"]) == 420
    assert sorted(record) == ["axes", "claims", "hysteresis", "paper", "tips"]
    claim = record["claims"][3]
    assert (claim["says"], claim["verdict"], claim["section"]) == ("7.25", "does not hold", "6.2.2")
    assert claim["low"] == pytest.approx(6.27)
    assert record["claims"][0]["high"] is None
    loop = record["hysteresis"]["virtual-work"]
    assert loop["width_mm"] == pytest.approx(10.2, abs=0.1)
    assert loop["friction_work_mJ"][2] == pytest.approx(loop["work_of_hung_masses_mJ"][2], rel=1e-3)
    first = record["tips"][0]
    assert first["T1_N"] == pytest.approx(1.03 * 9.8)
    length = math.hypot(first["x_mm"], first["y_mm"], first["z_mm"])
    assert 70 < length < 73.0


def test_json_of_a_choice(vertebra) -> None:
    record = vertebra(
        "papers", "yang2023", "--case", "3", "--case", "20", "--case", "3", "--condition", "IV", "--json"
    ).json
    assert [(tip["case"], tip["closure"]) for tip in record["tips"]] == [
        (3, "virtual-work"), (3, "paper"), (20, "virtual-work"), (20, "paper")
    ]  # fmt: skip
    assert "claims" not in record


def test_csv(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "tips.csv"
    ran = vertebra("papers", "yang2023", "--out", str(path))
    assert (ran.code, str(path) in ran.err) == (0, True)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 420
    found = [row for row in rows if (row["case"], row["condition"], row["closure"]) == ("16", "II", "virtual-work")]
    assert [round(float(found[0][name]), 2) for name in ("x_mm", "y_mm")] == [130.70, 57.16]


def test_page(vertebra, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.html" for name in "ab"]
    for path in paths:
        assert vertebra("papers", "yang2023", "--out", str(path)).code == 0
    first, second = (path.read_bytes() for path in paths)
    assert first == second, "same input, same bytes"
    text = first.decode()
    page = Reader(text)
    assert page.fetched == []
    assert "http" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    shown = " ".join(page.shown)
    for part in ("What the text does not state", "does not hold", "Eq 41", "6.27-8.23", "paper's (y, z, x)", "130.70"):
        assert part in shown
    assert text.count("Plotly.newPlot(") == 7
    for drawn in ("Condition III", "without friction", "allowed by printed errors", "tip y [mm]", "circle-open"):
        assert drawn in text


def test_page_of_one_case(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "case.html"
    vertebra("papers", "yang2023", "--case", "40", "--out", str(path))
    text = path.read_text(encoding="utf-8")
    assert text.count("Plotly.newPlot(") == 1
    for drawn in ("Condition IV", "load 1 at the tip: 0.196 N"):
        assert drawn in text
    assert "Yang et al. 2023: case 40, Conditions I, II, III, IV, V" in Reader(text).shown


@pytest.mark.parametrize(
    "choice", [(), ("--case", "30"), ("--case", "30", "--condition", "I"), ("--condition", "II", "--closure", "paper")]
)
def test_picture(vertebra, tmp_path: Path, choice: tuple[str, ...]) -> None:
    path = tmp_path / "picture.png"
    ran = vertebra("papers", "yang2023", *choice, "--out", str(path), "--json")
    assert ran.json["out"] == str(path)
    assert has_clean_border(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--case", "43"), "from 1 to 42, not 43"),
        (("--condition", "VI"), "I, II, III, IV, V, not 'VI'"),
        (("--closure", "energy"), "virtual-work or paper"),
        (("--out", "report.pdf"), ".html, .png, .csv"),
    ],
)
def test_wrong_choice_fails_before_any_work(vertebra, arguments: tuple[str, ...], message: str) -> None:
    ran = vertebra("papers", "yang2023", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
