"""`vertebra papers`: one walk over all papers (print, JSON, CSV, page, picture), then options and the joint page."""

from __future__ import annotations

import csv
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.papers.once import compared, once
from tests.report.browser import visit
from tests.report.looking import Reader, has_clean_border

from vertebra.papers import NAMES
from vertebra.papers.paper import Paper, Verdict

IDS = r'<div id="([^"]+)" class="plotly-graph-div"'
REPRODUCED, CONTRADICTS, DEPENDS, NOT_PRINTED = (str(verdict) for verdict in list(Verdict)[:4])


class Shown(NamedTuple):
    """What must be seen of a paper."""

    brief: tuple[str, ...]
    """Printed without being asked for everything."""
    more: tuple[str, ...]
    """Printed only with --all."""
    drawn: tuple[str, ...]
    """Somewhere in the page's figures."""
    plots: int
    rows: int
    """Of the CSV file."""
    keys: str
    """Of the JSON document, besides paper and claims."""


WALK = {
    "hu2023": Shown(
        ("216 of 216", "Table 3", "-106.23", "91.5", CONTRADICTS, "18 of 18"),
        ("Table 1: planar", "Table 2: spatial", "Table 4: printed errors", "50.44", "Eq 18"),
        ("measured tip", "without gravity", "circle-open", "diamond-open", "bending angle [deg]"),
        7, 216, "algorithms cells cells_equal table_4",
    ),
    "yang2023": Shown(
        ("420 shapes", DEPENDS, NOT_PRINTED, "25.43", "(9.51)", "6.27-8.23", "assumed", "mJ"),
        ("130.70", "136.01", "Condition V, variable friction and payload", "Eq 5:", "Eq 13", "Eq 33", "Eq 41",
         "21.54", "Not stated in the paper", "14 t^2 + 0.7 t + 0.105", "0.8475 g"),
        ("Condition III", "without friction", "allowed by printed errors", "tip y [mm]", "circle-open"),
        9, 420, "axes hysteresis tips",
    ),
    "cai2023": Shown(
        ("1.933", "1.856-2.007", "0.031 below", "34.91", "35.50", "24.51", DEPENDS, "assumed"),
        ("0.1568", "3.1828", "Other readings", "-13.04", "Eq 6", "Eqs 9 and 10", "Section II-D", "Eq 15",
         "Not stated", "6.35 mm", "1.42 g", "may be measured"),
        ("Table II implies", "ours, T1 5 N less", "tension of tendons 2 and 3 [N]", "contact normal of joint 1"),
        10, 42, "best_tensions largest other_readings payloads sensitivity_N",
    ),
    "dantuono2023": Shown(
        (CONTRADICTS, NOT_PRINTED, "weight reversed", "46, 79, 18, 32", "67.64", "assumed", "+0.00 %"),
        ("Joint torques", "-1432.63", "35 mm", "46.07", "joint 6", "Migration", "0.260", "Tensions at the base, 3D"),
        ("tension at the base [N]", "out of balance [N m]", "joint rate [rad\\u002fs]", "cable 4, link by link"),
        20, 12 * 2514,
        "duration_s equations migration migration_random_poses other_robots peaks sensitivity straight_robot"
        " time_step_s",
    ),
    "lapusan2022": Shown(
        (CONTRADICTS, DEPENDS, "yawed 30 deg", "0.0116", "49.17", "simulated", "microseconds"),
        ("Not stated in the paper", "only (3) corrected", "one cause at a time", "orientation by number of modules",
         "seed 3", "hil, ours", "theta_ji"),
        ("tilt of the base [deg]", "mean absolute error [mm]", "error of the tip [mm]", "yawed 30 deg: 53.3 mm"),
        14, 0,
        "causes growth lever perfect_sensors platforms_mm published ranges rounding runs simulated third_angle_deg"
        " virtual_robot",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All commands answer from the same comparisons, which take long to work out."""
    monkeypatch.setattr(Paper, "compare", once)


def joined(text: str) -> str:
    """Without the line breaks of a narrow terminal."""
    return " ".join(text.split())


def outside_scripts(text: str) -> str:
    return re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


# Every paper ----------------------------------------------------------------------------------------------------------


def test_the_walk_has_every_paper(vertebra) -> None:
    assert tuple(WALK) == NAMES
    ran = vertebra("papers", "--help")
    assert all(name in ran.out for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_it_prints(vertebra, name: str) -> None:
    ran, everything = vertebra("papers", name), vertebra("papers", name, "--all")
    assert (ran.code, ran.err) == (0, "")
    for part in WALK[name].brief:
        assert part.lower() in joined(ran.out).lower()
    for part in WALK[name].more:
        assert part in joined(everything.out)
    assert [part for part in WALK[name].more if part in joined(ran.out)] == []
    assert max(len(line) for text in (ran.out, everything.out) for line in text.splitlines()) <= 80
    assert "\u2717" not in everything.out


@pytest.mark.parametrize("name", NAMES)
def test_json(vertebra, name: str) -> None:
    record = vertebra("papers", name, "--json").json
    assert sorted(record) == sorted([*WALK[name].keys.split(), "claims", "paper"])
    claims = compared(name).claims
    assert [claim["verdict"] for claim in record["claims"]] == [str(claim.verdict) for claim in claims]
    assert all({"key", "section", "what", "says", "found", "why"} <= set(claim) for claim in record["claims"])


@pytest.mark.parametrize("name", NAMES)
def test_csv(vertebra, tmp_path: Path, name: str) -> None:
    path = tmp_path / "rows.csv"
    ran = vertebra("papers", name, "--out", str(path), "--json")
    assert (ran.code, ran.json["out"]) == (0, str(path))
    rows = list(csv.DictReader(path.read_text().splitlines()))
    wanted = [{key: str(value) for key, value in row.items() if value is not None} for row in compared(name).rows()]
    assert len(rows) == len(wanted)
    assert WALK[name].rows in (0, len(rows))
    for at in (0, len(rows) // 2, -1):
        assert {key: text for key, text in rows[at].items() if text} == wanted[at]


@pytest.mark.parametrize("name", NAMES)
def test_page(vertebra, tmp_path: Path, name: str) -> None:
    path = tmp_path / "page.html"
    assert vertebra("papers", name, "--out", str(path), "--json").json["out"] == str(path)
    text = path.read_text(encoding="utf-8")
    page = Reader(text)
    assert page.fetched == []
    assert "http" not in outside_scripts(text).replace(compared(name).paper.source, "")
    shown = joined(" ".join(page.shown))
    for part in (*WALK[name].brief, *WALK[name].more, "What the paper does not state", "What was corrected"):
        assert part.lower() in shown.lower() or part == "microseconds"
    assert "microseconds" not in shown, "a time would differ from page to page"
    assert "\u2717" not in shown
    assert text.count("Plotly.newPlot(") == WALK[name].plots
    assert [part for part in WALK[name].drawn if part not in text] == []


@pytest.mark.parametrize("name", NAMES)
def test_picture(vertebra, tmp_path: Path, name: str) -> None:
    path = tmp_path / "picture.png"
    ran = vertebra("papers", name, "--out", str(path))
    assert (ran.code, str(path) in ran.err) == (0, True)
    assert has_clean_border(path)


@pytest.mark.parametrize("name", ["", *NAMES])
def test_wrong_suffix_fails_before_any_work(vertebra, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(Paper, "compare", lambda self, **options: pytest.fail("worked"))
    ran = vertebra("papers", *([name] if name else []), "--out", "report.pdf")
    assert (ran.code, ran.out) == (2, "")
    assert ".html, .png, .svg, .csv, .json" in ran.err


# Numbers in files -----------------------------------------------------------------------------------------------------


def test_numbers_of_json(vertebra) -> None:
    found = {name: vertebra("papers", name, "--json").json for name in NAMES}
    cell = found["hu2023"]["cells"][8]
    assert (cell["table"], cell["item"], cell["mount"], cell["quantity"]) == (1, "ABS", "ground", "theta1_deg")
    assert (cell["published"], cell["simulated_or_measured"]) == (31.91, 31.06)
    assert cell["ours"] == pytest.approx(31.91, abs=0.005)
    assert {race["sweeps_omega_1"] for race in found["hu2023"]["algorithms"]} >= {None, 118}
    claim = found["yang2023"]["claims"][3]
    assert (claim["says"], claim["verdict"], claim["section"]) == ("7.25", DEPENDS, "6.2.2")
    assert claim["low"] == pytest.approx(6.27)
    assert found["yang2023"]["claims"][0]["high"] is None
    loop = found["yang2023"]["hysteresis"]["virtual-work"]
    assert loop["width_mm"] == pytest.approx(10.2, abs=0.1)
    assert loop["friction_work_mJ"][2] == pytest.approx(loop["work_of_hung_masses_mJ"][2], rel=1e-3)
    first = found["yang2023"]["tips"][0]
    assert first["T1_N"] == pytest.approx(1.03 * 9.8)
    assert 70 < math.hypot(first["x_mm"], first["y_mm"], first["z_mm"]) < 73.0
    last = found["cai2023"]["payloads"][6]
    assert [last[f"T{k}_N"] for k in (1, 2, 3)] == [35.0, 35.0, 35.0]
    assert last["payload_without_weight_N"] > last["payload_N"] == pytest.approx(1.9326, abs=1e-4)
    off = [round(row["outside_by_N"], 3) for row in found["cai2023"]["largest"]]
    assert off == [0.0, 0.015, 0.0, 0.0, -0.031, -0.007]
    pan = found["dantuono2023"]["peaks"][0]
    assert (pan["motion"], pan["method"], pan["reading"]) == ("pan", "per_link", "stated")
    assert pan["peak_T4_N"] == pytest.approx(67.64, abs=0.01)
    along = found["dantuono2023"]["straight_robot"]["per_link_tensions_N"][3]
    assert [round(value) for value in along] == [46, 79, 18, 32, 5, 8]
    assert found["lapusan2022"]["published"][1]["mae"]["x_mm"] == 2.91
    yawed = found["lapusan2022"]["perfect_sensors"][1]["methods"]["paper"]
    assert yawed["mean_mm"] == pytest.approx(49.17, abs=0.01)


# Options that papers declare ------------------------------------------------------------------------------------------


def test_experiments_of_hu(vertebra, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.html", "b.html", "a.svg", "b.svg")]
    for path in paths:
        ran = vertebra("papers", "hu2023", "--experiments", "--out", str(path))
    assert "48 of 48" in ran.out
    assert "ceiling" not in ran.out
    assert re.search(r"exp\. 3 +0\.98 0\.98 0\.98 3\.92 +55\.66 +55\.67 +1\.53 +1\.53", ran.out)
    first, again, picture, once_more = (path.read_bytes() for path in paths)
    assert (first, picture) == (again, once_more), "worked out twice, same bytes"
    text = paths[0].read_text(encoding="utf-8")
    assert text.count("Plotly.newPlot(") == 3
    assert "ceiling" not in " ".join(Reader(text).shown)
    record = vertebra("papers", "hu2023", "--experiments", "--json").json
    assert sorted(record) == ["cells", "cells_equal", "paper"]
    assert len(record["cells"]) == 48


def test_cases_of_yang(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "case.html"
    ran = vertebra("papers", "yang2023", "--case", "42", "--out", str(path))
    assert "under V 20 g payload: tip, mm" in ran.out
    line = r"^V +variable friction and payload +143\.22 +21\.79 +0\.00 +144\.43 +15\.85"
    assert re.search(line, ran.out, re.MULTILINE)
    assert "claims" not in ran.out
    text = path.read_text(encoding="utf-8")
    assert text.count("Plotly.newPlot(") == 1
    assert "Condition IV" in text
    assert "load 1 at the tip: 0.196 N" in text
    assert "Yang et al. 2023: case 42, Conditions I, II, III, IV, V" in Reader(text).shown
    arguments = ("--case", "3", "--case", "20", "--case", "3", "--condition", "IV", "--json")
    record = vertebra("papers", "yang2023", *arguments).json
    assert [(tip["case"], tip["closure"]) for tip in record["tips"]] == [
        (3, "virtual-work"), (3, "paper"), (20, "virtual-work"), (20, "paper")
    ]  # fmt: skip
    assert "claims" not in record


def test_condition_and_closure_of_yang(vertebra) -> None:
    ran = vertebra("papers", "yang2023", "--condition", "ii", "--closure", "paper")
    assert "Condition II, variable friction" in ran.out
    assert "virtual" not in ran.out
    assert len(re.findall(r"^ +\d+ +[AB] ", ran.out, re.MULTILINE)) == 42


def test_one_motion_of_dantuono(vertebra, tmp_path: Path) -> None:
    path, table = tmp_path / "tilt.html", tmp_path / "pan.csv"
    ran = vertebra("papers", "dantuono2023", "--case", "Tilt", "--out", str(path))
    assert "46.29" in ran.out
    assert "Reproduced" not in ran.out
    assert " pan" not in ran.out
    text = path.read_text(encoding="utf-8")
    assert text.count("Plotly.newPlot(") == 4 + 2 + 2
    assert "dynamics of a rolling-joint robot, tilt" in " ".join(Reader(text).shown)
    record = vertebra("papers", "dantuono2023", "--case", "pan", "--json", "--out", str(table)).json
    assert {row["motion"] for row in record["peaks"]} == {"pan"}
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == 3 * 2514
    assert rows[1]["time_s"] == "0.005"
    assert float(rows[0]["T4_N"]) == pytest.approx(46.29, abs=0.01)


@pytest.mark.parametrize(
    "arguments",
    [
        ("hu2023", "--experiments"),
        ("yang2023", "--case", "30"),
        ("yang2023", "--case", "30", "--condition", "I"),
        ("yang2023", "--condition", "II", "--closure", "paper"),
        ("dantuono2023", "--case", "3d"),
    ],
)
def test_picture_of_a_part(vertebra, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    path = tmp_path / "picture.png"
    assert vertebra("papers", *arguments, "--out", str(path), "--json").json["out"] == str(path)
    assert has_clean_border(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("yang2023", "--case", "43"), "from 1 to 42, not 43"),
        (("yang2023", "--condition", "VI"), "I, II, III, IV, V, not 'VI'"),
        (("yang2023", "--closure", "energy"), "--closure: must be virtual-work or paper, not 'energy'"),
        (("dantuono2023", "--case", "roll"), "--case: must be pan, tilt, 3d, not 'roll'"),
    ],
)
def test_wrong_choice(vertebra, arguments: tuple[str, ...], message: str) -> None:
    ran = vertebra("papers", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


# All in one answer ----------------------------------------------------------------------------------------------------


def test_table_and_reasons_of_all(vertebra) -> None:
    ran = vertebra("papers")
    assert (ran.code, ran.err) == (0, "")
    assert re.search(r"yang2023 +3 of 4 +31 +16 +1 +5 +9", ran.out)
    text = joined(ran.out)
    assert text.count(f"- {CONTRADICTS.capitalize()}: ") == 2 + 1 + 0 + 5 + 4
    assert text.count(f"- {DEPENDS.capitalize()}: ") == 2 + 5 + 5 + 0 + 4
    assert "outside for 3, by at most 0.031 N" in text
    assert "does not hold" not in text
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_json_csv_and_picture_of_all(vertebra, tmp_path: Path) -> None:
    table, picture = tmp_path / "all.csv", tmp_path / "all.png"
    record = vertebra("papers", "--json", "--out", str(table)).json
    assert record["out"] == str(table)
    assert tuple(record["papers"]) == NAMES
    for name, paper in record["papers"].items():
        assert paper["summary"]["name"] == name
        assert len(paper["record"]["claims"]) == paper["summary"]["claims"]
        assert sum(paper["summary"]["verdicts"].values()) == paper["summary"]["claims"]
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert tuple(row["name"] for row in rows) == NAMES
    assert (rows[-1]["reproduced"], rows[-1]["of"], rows[0]["claims_reproduced"]) == ("0", "12", "25")
    assert vertebra("papers", "--out", str(picture)).code == 0
    assert has_clean_border(picture)


def test_joint_page(vertebra, tmp_path: Path) -> None:
    file = tmp_path / "all.html"
    assert vertebra("papers", "--out", str(file)).code == 0
    page = file.read_text(encoding="utf-8")
    assert Reader(page).fetched == [f"#{name}" for name in NAMES], "links within the page only"
    assert page.count("plotly.js v") == 1
    names = re.findall(IDS, page)
    assert len(names) == len(set(names)) == page.count("Plotly.newPlot(") == sum(one.plots for one in WALK.values())
    outside = outside_scripts(page)
    every = re.findall(r' id="([^"]+)"', outside)
    assert len(every) == len(set(every))
    assert all(f'<section id="{name}">' in page for name in NAMES)
    levels = [int(level) for level in re.findall(r"<h([1-6])>", outside)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    with visit(file, "light", 820, 1180) as seen:
        seen.show("lapusan2022-growth-2")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 820
        assert (seen.errors, seen.outside) == ([], [])


def test_options_go_after_the_name_of_a_paper(vertebra, tmp_path: Path) -> None:
    for options in (["--json"], ["--out", str(tmp_path / "a.html")]):
        ran = vertebra("papers", *options, "hu2023")
        assert ran.code == 2
        assert "after the name of the paper" in ran.err
