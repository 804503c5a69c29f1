"""`vertebra papers dantuono2023`."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from tests.report.looking import Reader, has_clean_border


def test_default_is_what_came_out_and_why(vertebra) -> None:
    ran = vertebra("papers", "dantuono2023")
    assert (ran.code, ran.err) == (0, "")
    for part in ("does not hold", "cannot be told", "weight reversed", "46, 79, 18, 32", "67.64", "assumed", "+0.00 %"):
        assert part in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    assert "Joint moments" not in ran.out


def test_all_prints_every_table(vertebra) -> None:
    ran = vertebra("papers", "dantuono2023", "--all")
    for part in (
        "Joint moments",
        "-1432.63",
        "35 mm",
        "46.07",
        "joint 6",
        "Migration",
        "0.260",
        "Tensions at the base, 3D",
    ):
        assert part in ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_one_case(vertebra) -> None:
    ran = vertebra("papers", "dantuono2023", "--case", "Tilt")
    assert "46.29" in ran.out
    assert "Statements" not in ran.out
    assert " pan" not in ran.out
    record = vertebra("papers", "dantuono2023", "--case", "tilt", "--json").json
    assert {row["motion"] for row in record["peaks"]} == {"tilt"}
    assert "claims" not in record


def test_unknown_case(vertebra) -> None:
    ran = vertebra("papers", "dantuono2023", "--case", "roll")
    assert (ran.code, ran.out) == (2, "")
    assert "--case: must be pan, tilt, 3d, not 'roll'" in ran.err


def test_json(vertebra) -> None:
    record = vertebra("papers", "dantuono2023", "--json").json
    assert sorted(record) == [
        "claims", "duration_s", "equations", "migration", "migration_random_poses", "other_robots", "paper", "peaks",
        "sensitivity", "straight_robot", "time_step_s",
    ]  # fmt: skip
    assert len(record["peaks"]) == 12
    pan = record["peaks"][0]
    assert (pan["motion"], pan["method"], pan["reading"]) == ("pan", "per_link", "stated")
    assert pan["peak_T4_N"] == pytest.approx(67.64, abs=0.01)
    assert pan["feasible_share"] == 1.0
    assert [claim["letter"] for claim in record["claims"]] == list("abcdefghij")
    assert record["claims"][0]["others"]["weight reversed"] == "holds"
    assert [round(value) for value in record["straight_robot"]["per_link_tensions_N"][3]] == [46, 79, 18, 32, 5, 8]


def test_csv(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "tensions.csv"
    ran = vertebra("papers", "dantuono2023", "--case", "pan", "--out", str(path))
    assert (ran.code, str(path) in ran.err) == (0, True)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 3 * 2514
    assert rows[1]["t_s"] == "0.005"
    assert float(rows[0]["T4_N"]) == pytest.approx(46.29, abs=0.01)
    assert {(row["method"], row["reading"]) for row in rows} == {
        ("per_link", "stated"), ("shared", "stated"), ("per_link", "weight reversed"),
    }  # fmt: skip


def test_page(vertebra, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.html" for name in "ab"]
    for path in paths:
        assert vertebra("papers", "dantuono2023", "--out", str(path)).code == 0
    first, second = (path.read_bytes() for path in paths)
    assert first == second, "same input, same bytes"
    text = first.decode()
    page = Reader(text)
    assert page.fetched == []
    assert "http" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    shown = " ".join(page.shown)
    for part in ("does not hold", "One cable, six tensions", "What the paper does not state", "paper's (y, z, x)"):
        assert part in shown
    assert text.count("Plotly.newPlot(") == 3 * 4 + 4 + 2 + 2
    for drawn in (
        "tension at the base [N]",
        "out of balance [N m]",
        "joint rate [rad\\u002fs]",
        "cable 4, link by link",
    ):
        assert drawn in text


def test_page_of_one_case(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "tilt.html"
    vertebra("papers", "dantuono2023", "--case", "tilt", "--out", str(path))
    text = path.read_text(encoding="utf-8")
    assert text.count("Plotly.newPlot(") == 4 + 2 + 2
    assert "dynamics of a rolling-joint robot, tilt" in " ".join(Reader(text).shown)


@pytest.mark.parametrize("case", [(), ("--case", "3d")])
def test_picture(vertebra, tmp_path: Path, case) -> None:
    path = tmp_path / "picture.png"
    ran = vertebra("papers", "dantuono2023", *case, "--out", str(path), "--json")
    assert ran.json["out"] == str(path)
    assert has_clean_border(path)


def test_wrong_suffix_fails_before_any_work(vertebra) -> None:
    ran = vertebra("papers", "dantuono2023", "--out", "report.pdf")
    assert (ran.code, ran.out) == (2, "")
    assert ".html, .png, .csv" in ran.err
