"""`vertebra papers cai2023`."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from tests.report.looking import Reader, has_clean_border


def test_default_is_what_came_out_and_why(vertebra) -> None:
    ran = vertebra("papers", "cai2023")
    assert (ran.code, ran.err) == (0, "")
    for part in ("1.933", "1.856-2.007", "0.031 below", "34.91", "35.50", "24.51", "near", "last digit", "assumed"):
        assert part in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    assert "0.1568" not in ran.out


def test_all_prints_every_payload_and_note(vertebra) -> None:
    ran = vertebra("papers", "cai2023", "--all")
    for part in ("0.1568", "3.1828", "Other readings", "-13.04", "Eq 6", "Not stated", "5 % larger", "1.42 g"):
        assert part in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    assert len(re.findall(r"^ +(?:5|10|15|20|25|30|35) +\d\.\d{4} ", ran.out, re.MULTILINE)) == 7


def test_json(vertebra) -> None:
    record = vertebra("papers", "cai2023", "--json").json
    assert sorted(record) == [
        "best_tensions", "claims", "largest", "other_readings", "paper", "payloads", "sensitivity_N",
    ]  # fmt: skip
    assert len(record["payloads"]) == 42
    last = record["payloads"][6]
    assert [last[f"T{k}_N"] for k in (1, 2, 3)] == [35.0, 35.0, 35.0]
    assert last["payload_N"] == pytest.approx(1.9326, abs=1e-4)
    assert last["payload_without_weight_N"] > last["payload_N"]
    first = record["largest"][0]
    assert first["implied_low_N"] < first["largest_payload_N"] < first["implied_high_N"]
    assert [round(row["outside_by_N"], 3) for row in record["largest"]] == [0.0, 0.015, 0.0, 0.0, -0.031, -0.007]
    assert [claim["verdict"] for claim in record["claims"]].count("near") == 2
    assert record["claims"][-1]["ours"] is None
    assert len(record["best_tensions"]) == 4


def test_csv(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "payloads.csv"
    ran = vertebra("papers", "cai2023", "--out", str(path))
    assert (ran.code, str(path) in ran.err) == (0, True)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 42
    assert {row["mode"] for row in rows} == {"sliding", "torsion"}
    found = [row for row in rows if (row["table"], row["shape"], row["T1_N"]) == ("2", "straight", "0.0")]
    assert [round(float(row["payload_N"]), 4) for row in found] == [0.2115]


def test_page(vertebra, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.html" for name in "ab"]
    for path in paths:
        assert vertebra("papers", "cai2023", "--out", str(path)).code == 0
    first, second = (path.read_bytes() for path in paths)
    assert first == second, "same input, same bytes"
    text = first.decode()
    page = Reader(text)
    assert page.fetched == []
    assert "http" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    shown = " ".join(page.shown)
    for part in (
        "0.031 below",
        "What the text does not state",
        "Eq 6",
        "Other readings",
        "paper's (y, z, x)",
        "0.1568",
    ):
        assert part in shown
    assert text.count("Plotly.newPlot(") == 10
    for drawn in (
        "Table II implies",
        "ours, T1 5 N less",
        "tension of tendons 2 and 3 [N]",
        "contact normal of joint 1",
    ):
        assert drawn in text


def test_page_and_picture_hold_no_timings(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    vertebra("papers", "cai2023", "--out", str(path))
    shown = " ".join(Reader(path.read_text(encoding="utf-8")).shown)
    assert not re.search(r"\d (s|ms|us|seconds)\b", shown)


def test_picture(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    ran = vertebra("papers", "cai2023", "--out", str(path), "--json")
    assert ran.json["out"] == str(path)
    assert has_clean_border(path)


def test_wrong_suffix_fails_before_any_work(vertebra) -> None:
    ran = vertebra("papers", "cai2023", "--out", "report.pdf")
    assert (ran.code, ran.out) == (2, "")
    assert ".html, .png, .csv" in ran.err
