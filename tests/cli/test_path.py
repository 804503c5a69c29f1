"""`vertebra shape --path` and `vertebra tensions --tip-path`: history, files, states, and rows that fail."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.robots import smooth

import vertebra as vb
from vertebra.statics import PathState, Walk

ROBOT = "yang2023-b"
UP = np.linspace(10.0, 20.0, 6)
LOOP = np.concatenate([UP, UP[-2::-1], UP[1:]])
TENSIONS = np.column_stack([LOOP, LOOP, np.full_like(LOOP, 10.0), np.full_like(LOOP, 10.0)])


def write_rows(path: Path, header: str, rows: np.ndarray) -> Path:
    lines = [header, *(",".join(repr(float(value)) for value in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.csv", "t1,t2,t3,t4", TENSIONS)


@pytest.fixture(scope="module")
def expected() -> Walk:
    return vb.ShapePath(vb.load(ROBOT)).follow(TENSIONS)


def test_rows_are_steps_with_history(vertebra, rows: Path, expected: Walk) -> None:
    ran = vertebra("shape", ROBOT, "--path", str(rows), "--json")
    record = ran.json
    assert (ran.code, ran.err) == (0, "")
    assert record["rows"] == len(TENSIONS)
    np.testing.assert_array_equal(record["tensions"], TENSIONS)
    for name in ("angles", "tip", "lengths", "friction_work"):
        np.testing.assert_allclose(record[name], getattr(expected, name), rtol=1e-9, atol=1e-12)
    single = vb.shape_from_tensions(vb.load(ROBOT), TENSIONS[8])
    assert np.linalg.norm(single.tip - record["tip"][8]) > 1e-3, "the way back is not the way there"
    np.testing.assert_array_equal(record["last"]["angles"], record["angles"][-1])


def test_summary_and_last_shape_are_printed(vertebra, rows: Path, expected: Walk) -> None:
    out = vertebra("shape", ROBOT, "--path", str(rows)).out
    assert f"{ROBOT} along {len(LOOP)} rows" in out
    x, z = expected.tip[:, 0] * 1e3, expected.tip[:, 2] * 1e3
    shown = " ".join(out.split())
    assert f"x {x.min():.3f} to {x.max():.3f}, y 0.000 to 0.000, z {z.min():.3f} to {z.max():.3f} mm" in shown
    assert f"{expected.friction_work[-1] * 1e3:.6g} mJ" in shown
    gaps = {
        (i + 1, j + 1): np.linalg.norm(expected.tip[i] - expected.tip[j]) * 1e3
        for i in range(len(LOOP))
        for j in range(i + 1, len(LOOP))
        if LOOP[i] == LOOP[j]
    }
    told = re.search(r"(\S+) mm between the tips of rows (\d+) and (\d+), same tensions", shown)
    assert told is not None
    gap = gaps[int(told[2]), int(told[3])]
    assert gap == pytest.approx(max(gaps.values()), rel=1e-6)
    assert float(told[1]) == pytest.approx(gap, abs=1e-3)
    assert gap > 5
    assert "After the last row" in out
    assert "Cables in this shape" in out


def test_without_friction_there_is_no_loop(vertebra, rows: Path) -> None:
    record = vertebra("shape", ROBOT, "--path", str(rows), "--friction", "none", "--json").json
    assert record["hysteresis"]["distance"] < 1e-9
    assert not any(record["friction_work"])


def test_substeps(vertebra, tmp_path: Path) -> None:
    few = write_rows(tmp_path / "few.csv", "t1,t2,t3,t4", TENSIONS[[0, 5, 10]])
    record = vertebra("shape", ROBOT, "--path", str(few), "--substeps", "5", "--json").json
    path = vb.ShapePath(vb.load(ROBOT))
    for row, found in zip(TENSIONS[[0, 5, 10]], record["angles"], strict=True):
        np.testing.assert_array_equal(found, path.step(row, substeps=5).angles)
    assert record["substeps"] == 5
    assert "3, each in 5 substeps" in vertebra("shape", ROBOT, "--path", str(few), "--substeps", "5").out


def test_csv_can_be_walked_again(vertebra, rows: Path, tmp_path: Path, expected: Walk) -> None:
    path = tmp_path / "walk.csv"
    vertebra("shape", ROBOT, "--path", str(rows), "--out", str(path))
    table = list(csv.DictReader(path.read_text().splitlines()))
    names = ["row", *(f"t{k}_N" for k in range(1, 5)), "x_mm", "y_mm", "z_mm", *(f"q{j}_deg" for j in range(1, 13))]
    assert list(table[0]) == [*names, *(f"length{k}_mm" for k in range(1, 5)), "friction_work_mJ", "status"]
    assert {row.pop("status") for row in table} == {"solved"}
    column = {name: np.array([float(row[name]) for row in table]) for name in table[0]}
    np.testing.assert_array_equal(column["t1_N"], LOOP)
    np.testing.assert_allclose(column["x_mm"], expected.tip[:, 0] * 1e3, rtol=1e-9)
    np.testing.assert_allclose(column["q3_deg"], np.degrees(expected.angles[:, 2]), rtol=1e-9)
    np.testing.assert_allclose(column["length4_mm"], expected.lengths[:, 3] * 1e3, rtol=1e-9)
    np.testing.assert_allclose(column["friction_work_mJ"], expected.friction_work * 1e3, rtol=1e-9)
    again = vertebra("shape", ROBOT, "--path", str(path), "--json")
    np.testing.assert_allclose(again.json["tip"], expected.tip, rtol=1e-9, atol=1e-12)
    assert "note: columns not used: row, x_mm" in again.err


def test_a_path_goes_on_from_its_state(vertebra, rows: Path, tmp_path: Path) -> None:
    whole = vertebra("shape", ROBOT, "--path", str(rows), "--json").json
    first = write_rows(tmp_path / "first.csv", "t1,t2,t3,t4", TENSIONS[:8])
    rest = write_rows(tmp_path / "rest.csv", "t1,t2,t3,t4", TENSIONS[8:])
    state = str(tmp_path / "state.json")
    ran = vertebra("shape", ROBOT, "--path", str(first), "--save-state", state)
    assert ran.code == 0
    assert f"wrote {state}" in ran.err
    later = vertebra("shape", ROBOT, "--path", str(rest), "--from-state", state, "--json").json
    np.testing.assert_array_equal(later["angles"], whole["angles"][8:])
    np.testing.assert_allclose(later["friction_work"], whole["friction_work"][8:], rtol=1e-12)
    assert later["friction_work_before"] == pytest.approx(whole["friction_work"][7])
    shown = vertebra("shape", ROBOT, "--path", str(rest), "--from-state", state).out
    assert "mJ since the path began" in shown
    # Python reads the same file.
    path = vb.ShapePath(vb.load(ROBOT))
    path.restore(PathState.of(json.loads(Path(state).read_text())))
    np.testing.assert_array_equal(path.step(TENSIONS[8]).angles, whole["angles"][8])


def test_one_step_at_a_time(vertebra, tmp_path: Path) -> None:
    """Tensions of a single command with a state are a step as well; so are shortenings."""
    state = str(tmp_path / "state.json")
    path = vb.ShapePath(vb.load(ROBOT))
    options = ("--save-state", state, "--json")
    for i, row in enumerate(TENSIONS[4:7]):
        more = ("--from-state", state) if i else ()
        text = ",".join(repr(float(value)) for value in row)
        record = vertebra("shape", ROBOT, "-t", text, *more, *options).json
        np.testing.assert_array_equal(record["angles"][0], path.step(row).angles, err_msg=str(i))
    record = vertebra("shape", ROBOT, "--shortenings", "1,1,-1,-1 mm", "--from-state", state, "--json").json
    shape = path.step(shortenings=[0.001, 0.001, -0.001, -0.001])
    np.testing.assert_array_equal(record["angles"][0], shape.angles)
    assert "tip range" not in vertebra("shape", ROBOT, "-t", "10", "--from-state", state).out


def test_another_law_than_that_of_the_state_is_noted(vertebra, tmp_path: Path) -> None:
    state = str(tmp_path / "state.json")
    vertebra("shape", ROBOT, "-t", "12,12,10,10", "--save-state", state)
    go_on = ("shape", ROBOT, "-t", "13,13,10,10", "--from-state", state)
    assert "another friction law" not in vertebra(*go_on).err
    assert "another friction law" in vertebra(*go_on, "--friction", "0.1").err


def test_a_row_without_a_shape_is_named_and_the_next_one_goes_on(vertebra, tmp_path: Path) -> None:
    rows = np.array([[4.0, 4, 4, 4], [1, 1, 1, 3], [0, 0, 0, 0.9], [4, 4, 4, 4]])
    path = write_rows(tmp_path / "rows.csv", "# a comment\nt1,t2,t3,t4", rows)
    out, state = tmp_path / "a.csv", tmp_path / "s.json"
    files = ("--path", str(path), "--out", str(out), "--save-state", str(state))
    ran = vertebra("shape", "hu2023-prototype", *files, "--json")
    assert ran.code == 2
    assert f"no shape: {path}, row 3 (line 5): joint " in ran.err
    record = ran.json
    assert (record["error"], record["row"], record["untried"]) == ("Unmet", [1, 2, 4], 0)
    (failed,) = record["failed"]
    assert (failed["row"], failed["status"]) == (3, "out_of_range")
    np.testing.assert_allclose(record["angles"][2], 0.0, atol=1e-12)
    lines = list(csv.DictReader(out.read_text().splitlines()))
    assert [line["status"] for line in lines] == ["solved", "solved", "out_of_range", "solved"]
    assert [line["row"] for line in lines] == ["1", "2", "3", "4"]
    assert lines[2]["t4_N"] == "0.9"
    assert {lines[2][name] for name in lines[2] if name.endswith(("_mm", "_deg", "_mJ"))} == {""}
    assert state.exists()


def test_a_path_with_slip_ends_at_a_row_without_a_shape_and_keeps_the_rest(vertebra, tmp_path: Path) -> None:
    rows = np.array([[4.0, 4, 4, 4], [1, 1, 1, 3], [0, 0, 0, 0.9], [4, 4, 4, 4], [4, 4, 4, 4]])
    path = write_rows(tmp_path / "rows.csv", "t1,t2,t3,t4", rows)
    out, page = tmp_path / "a.csv", tmp_path / "a.html"
    options = ("shape", "hu2023-prototype", "--path", str(path), "--friction", "0.1")
    ran = vertebra(*options, "--out", str(out), "--json")
    assert ran.code == 2
    assert "not tried: the 2 rows after it" in ran.err
    assert (ran.json["row"], ran.json["untried"]) == ([1, 2], 2)
    assert [line["status"] for line in csv.DictReader(out.read_text().splitlines())] == [
        "solved",
        "solved",
        "out_of_range",
    ]
    assert vertebra(*options, "--out", str(page)).code == 2
    assert "Rows without a shape" in page.read_text()


def test_a_path_without_any_shape_names_its_first_row(vertebra, tmp_path: Path) -> None:
    """Nothing is written."""
    path = write_rows(tmp_path / "rows.csv", "t1,t2,t3,t4", np.array([[0, 0, 0, 0.9], [0, 0, 0, 0.8]]))
    out = tmp_path / "a.csv"
    ran = vertebra("shape", "hu2023-prototype", "--path", str(path), "--out", str(out), "--json")
    error = ran.json
    assert (ran.code, error["error"], error["row"], error["cause"]) == (2, "RowError", 1, "OutOfRange")
    assert error["joint"] >= 1
    assert not out.exists()


WRONG_FILES = {
    "missing column": ("t1,t2,t3\n1,2,3\n", "column t4_N: is missing; the robot has 4 cables"),
    "word": ("t1,t2,t3,t4\n1,2,3,4\n1,x,3,4\n", "row 2 (line 3), column t2: must be a finite plain number, not 'x'"),
    "infinite": ("t1,t2,t3,t4\n1,inf,3,4\n", "column t2: must be a finite plain number"),
    "short row": ("t1,t2,t3,t4\n1,2,3\n", "row 1 (line 2): has 3 cells where the header has 4"),
    "decimal commas": ("t1,t2,t3,t4\n1,5,2,3,4\n", "write numbers with a decimal point"),
    "semicolons": ("t1;t2;t3;t4\n1,5;2;3;4\n", "not '1,5'; write it with a decimal point"),
    "no header": (
        "1,2,3,4\n1,2,3,5\n",
        "line 1: has numbers where the column names should be; write t1_N",
    ),
    "no rows": ("t1,t2,t3,t4\n", "has a header but no rows"),
    "empty": ("", "has no rows"),
    "twice": ("t1,t1_N,t2,t3,t4\n1,1,2,3,4\n", "column t1_N: appears twice; keep one"),
    "mass": ("t1_kg,t2,t3,t4\n1,2,3,4\n", "column t1_kg: 'kg' is not a unit of force; let the name end in _N"),
    "push": (
        "t1,t2,t3,t4\n1,2,3,4\n1,2,-3,4\n",
        "row 2 (line 3), column t3: must be a tension of 0 N or more, not -3",
    ),
}


@pytest.mark.parametrize("wrong", WRONG_FILES)
def test_what_is_wrong_with_a_file_is_named(vertebra, tmp_path: Path, wrong: str) -> None:
    text, said = WRONG_FILES[wrong]
    path = tmp_path / "rows.csv"
    path.write_text(text)
    ran = vertebra("shape", ROBOT, "--path", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert str(path) in ran.err
    assert "Traceback" not in ran.err


def test_units_stand_in_the_header(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("\ufeffnote,t4_N,t3,t2_mN,t1_kN\nfirst,10,10,14000,0.014\n", encoding="utf-8")
    ran = vertebra("shape", ROBOT, "--path", str(path), "--json")
    np.testing.assert_allclose(ran.json["tensions"], [[14, 14, 10, 10]], rtol=1e-14)
    assert "columns not used: note" in ran.err


def test_binary_and_missing_files(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    assert "No such file" in vertebra("shape", ROBOT, "--path", str(path)).err
    path.write_bytes(b"\xff\xfe\x00t")
    assert "is not UTF-8 text" in vertebra("shape", ROBOT, "--path", str(path)).err


MISTAKES = {
    "two commands": (("-t", "1", "--path", "rows.csv"), "--tensions and --path: give only one of"),
    "start": (("--path", "rows.csv", "--start", "0"), "--start: cannot be combined with a path"),
    "branches": (("--path", "rows.csv", "--branches"), "--branches: cannot be combined with a path"),
    "no check": (("--path", "rows.csv", "--no-check"), "--no-check: cannot be combined with a path"),
    "curve": (("--path", "rows.csv", "--stiffness"), "--path: cannot be combined with --stiffness"),
    "substeps of one shape": (("-t", "10", "--substeps", "3"), "--substeps: cannot be combined with a single shape"),
    "no substeps": (("--path", "rows.csv", "--substeps", "0"), "--substeps 0: give a count from 1"),
    "elastic": (("--path", "rows.csv", "--stiffness-EA", "1 kN"), "belongs to --lengths"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_remedy(vertebra, mistake: str) -> None:
    arguments, said = MISTAKES[mistake]
    ran = vertebra("shape", ROBOT, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("t1,t2", "is not a file that --save-state wrote: is not JSON"),
        ("[1]", "is not a state; write one with --save-state"),
        ('{"history": 1}', "is not what PathState.to_mapping wrote"),
        ('{"robot": "yang2023-a", "history": []}', "is of yang2023-a, not of yang2023-b"),
    ],
)
def test_a_wrong_state_is_named(vertebra, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "state.json"
    path.write_text(text)
    ran = vertebra("shape", ROBOT, "-t", "10", "--from-state", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


TIPS = vb.ShapePath(vb.load(ROBOT)).follow(TENSIONS[:8]).tip
BOUNDS = ("--lower", "5", "--upper", "30")


def test_tips_are_reached_with_history(vertebra, tmp_path: Path) -> None:
    tips = write_rows(tmp_path / "tips.csv", "x_mm,y_mm,z_mm", TIPS * 1e3)
    ran = vertebra("tensions", ROBOT, "--tip-path", str(tips), *BOUNDS, "--tolerance", "0.1 mm", "--json")
    assert ran.code == 0
    assert all(ran.json["reached"])
    np.testing.assert_allclose(ran.json["wanted"], TIPS, rtol=1e-14)
    assert max(ran.json["error"]) < 1e-4
    # The tensions, stepped one after another, lead the tip along.
    path = vb.ShapePath(vb.load(ROBOT))
    for wanted, tensions, error in zip(TIPS, ran.json["tensions"], ran.json["error"], strict=True):
        assert np.linalg.norm(path.step(tensions).tip - wanted) == pytest.approx(error, abs=1e-9)


def test_tips_out_of_reach_are_named(vertebra, tmp_path: Path) -> None:
    tips = write_rows(tmp_path / "tips.csv", "x,y,z", np.array([TIPS[0], [0, 0, 0.3]]))
    out = tmp_path / "way.csv"
    ran = vertebra("tensions", ROBOT, "--tip-path", str(tips), *BOUNDS, "--tolerance", "1 mm", "--out", str(out))
    assert ran.code == 2
    assert re.search(r"not reached: .*tips.csv, row 2 \(line 3\): the tip stays 15\d mm away", ran.err)
    assert "row 1 " not in ran.err
    table = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["reached"] for row in table] == ["True", "False"]
    assert float(table[1]["error_mm"]) > 150
    assert float(table[1]["wanted_z_mm"]) == 300


def test_tips_without_friction_have_the_least_tensions_and_jumps_are_named(vertebra, tmp_path: Path) -> None:
    robot = smooth("hu2023-prototype")
    ends = [vb.shape_from_tensions(robot, pull).tip for pull in ([9.0, 1, 1, 1], [8.9, 1.1, 1, 1], [1, 1, 9.0, 1])]
    tips = write_rows(tmp_path / "tips.csv", "x,y,z", np.array(ends))
    asked = ("tensions", "hu2023-prototype", "--friction", "0", "--tip-path", str(tips), "--lower", "1")
    ran = vertebra(*asked, "--upper", "12", "--json")
    assert ran.code == 0
    known = vb.tensions_for_tips(robot, ends, lower=1.0, upper=12.0)
    np.testing.assert_array_equal(ran.json["tensions"], known.tensions)
    assert [jump["row"] for jump in ran.json["jumps"]] == [3]
    assert "row 3: a tension jumps by" in vertebra(*asked, "--upper", "12").err


def test_a_single_tip_can_go_on_from_a_state(vertebra, tmp_path: Path) -> None:
    state = str(tmp_path / "s.json")
    vertebra("shape", ROBOT, "-t", "20,20,10,10", "--save-state", state)
    at = ",".join(repr(float(value)) for value in TIPS[7])
    goal = ("tensions", ROBOT, "--tip", at, *BOUNDS, "--tolerance", "0.1 mm", "--json")
    after = vertebra(*goal, "--from-state", state, "--save-state", state).json
    path = vb.ShapePath(vb.load(ROBOT))
    path.step([20, 20, 10, 10])
    found = vb.tensions_for_tip(path.robot, TIPS[7], path=path, lower=5, upper=30, tolerance=1e-4)
    np.testing.assert_array_equal(after["last"]["angles"], found.shape.angles)
    assert json.loads(Path(state).read_text())["steps"] == 2


def test_mistakes_of_tip_paths(vertebra, tmp_path: Path) -> None:
    tips = write_rows(tmp_path / "tips.csv", "x,y,z", TIPS * 1e3)
    ran = vertebra("tensions", ROBOT, "--tip-path", str(tips))
    assert ran.code == 2
    assert "row 1 (line 2): the robot is only 146 mm long; columns x,y,z are in m" in ran.err
    asked = ("tensions", ROBOT, "--tip-path", str(tips))
    assert "--start: belongs to a single --tip" in vertebra(*asked, "--start", "0").err
    assert "--minimise: belongs to --angles" in vertebra(*asked, "--minimise", "sum").err
    assert "--from-state: belongs to --tip" in vertebra("tensions", ROBOT, "--angles", "0", "--from-state", "s").err
    assert "--tolerance '0': give one length above 0" in vertebra(*asked, "--tolerance", "0").err


def test_fits_80_columns(vertebra, rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = vertebra("shape", ROBOT, "--path", str(rows)).out
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
