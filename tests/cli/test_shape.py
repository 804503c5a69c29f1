"""`vertebra shape`: answers, files, and what it says to a newcomer's mistakes."""

from __future__ import annotations

import csv
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import vertebra as vb
from vertebra.statics import Shape

ROBOT = "hu2023-prototype"
PULL = "0.98,0.98,0.98,3.92"


@pytest.fixture(scope="module")
def expected() -> Shape:
    return vb.shape_from_tensions(vb.load(ROBOT), [0.98, 0.98, 0.98, 3.92])


def test_prints_a_summary_and_tables(vertebra, expected: Shape) -> None:
    ran = vertebra("shape", ROBOT, "-t", PULL)
    assert (ran.code, ran.err) == (0, "")
    x, y, z = expected.tip * 1e3
    assert f"({abs(x):.3f}, {y:.3f}, {z:.3f}) mm" in ran.out
    assert "hu2023-prototype under 0.98, 0.98, 0.98, 3.92 N" in ran.out
    for word in ("stable", "softest at the tip", "stiffest at the tip", "energy", "residual", "iterations"):
        assert word in ran.out
    for header in ("angle [deg]", "of limit", "force [N]", "normal [N]", "cables [N]", "tension [N]", "length [mm]"):
        assert header in ran.out
    for j, angle in enumerate(np.degrees(expected.angles), 1):
        assert re.search(rf"^ *{j} +{abs(angle):.3f} ", ran.out, re.MULTILINE)
    for length in expected.lengths * 1e3:
        assert f"{length:.3f}" in ran.out
    assert "Loads" not in ran.out


def test_json_holds_every_field_in_si(vertebra, expected: Shape) -> None:
    record = vertebra("shape", ROBOT, "-t", PULL, "--json").json
    assert record["robot"] == ROBOT
    for name in ("angles", "tip", "frames", "tensions", "lengths", "forces", "normal_forces", "compliance", "gravity",
                 "slip"):  # fmt: skip
        np.testing.assert_array_equal(record[name], getattr(expected, name))
    for name in ("energy", "residual", "moment_scale", "iterations", "converged", "stable", "weakest"):
        assert record[name] == getattr(expected, name)
    for name in ("out_of_range", "separated", "locked", "loads", "friction"):
        assert record[name] == []
    assert record["closure"] == "virtual-work"
    assert record["tensions_at_base"] == [0.98, 0.98, 0.98, 3.92]
    assert {field.name for field in fields(expected)} - {"_cables"} <= set(record), "every field of the result"
    assert record["status"] == "solved"
    stiffness = record["tip_stiffness"]["stiffness"]
    assert stiffness == sorted(stiffness)
    eigenvalues = np.linalg.eigvalsh(expected.compliance[:3, :3])
    np.testing.assert_allclose(stiffness, 1 / eigenvalues[::-1], rtol=1e-9)


def test_gravity_and_loads_reach_the_solver(vertebra) -> None:
    loads = [
        vb.Load(force=(0, 0, -0.1)),
        vb.Load(force=(0.05, 0, 0), moment=(0, 0, 0.002), link=4, point=(0, 0, 0.005)),
    ]
    wanted = vb.shape_from_tensions(vb.load(ROBOT), [3] * 4, gravity="wall", loads=loads)
    texts = ("--load", "0,0,-0.1", "--load", "0.05,0,0;0,0,2 N*mm@4:0,0,5 mm")
    record = vertebra("shape", ROBOT, "-t", "3", "--gravity", "wall", *texts, "--json").json
    np.testing.assert_array_equal(record["angles"], wanted.angles)
    assert record["gravity"] == [-9.8, 0, 0]
    one = {"force": [0.05, 0, 0], "moment": [0, 0, 0.002], "link": 4, "point": [0, 0, 0.005], "mass": 0}
    assert record["loads"][1] == one
    assert record["loads"][0]["point"] is None
    shown = vertebra("shape", ROBOT, "-t", "3", "--gravity", "wall", *texts).out
    assert "link 4, (0, 0, 5) mm" in shown
    moon = vertebra("shape", ROBOT, "-t", "3", "--gravity", "-1.62, 0, 0", "--json").json
    assert moon["gravity"] == [-1.62, 0, 0]


def test_a_mass_reaches_the_solver_and_is_told(vertebra, tmp_path: Path) -> None:
    wanted = vb.shape_from_tensions(vb.load(ROBOT), 3, gravity="wall", loads=[vb.Load(mass=0.01)])
    asked = ("shape", ROBOT, "-t", "3", "--gravity", "wall", "--load", "10 g")
    record = vertebra(*asked, "--json").json
    np.testing.assert_array_equal(record["angles"], wanted.angles)
    assert record["loads"] == [{"force": [0, 0, 0], "moment": [0, 0, 0], "link": -1, "point": None, "mass": 0.01}]
    ceiling = vertebra("shape", ROBOT, "-t", "3", "--gravity", "ceiling", "--load", "10 g", "--json").json
    assert np.abs(np.subtract(ceiling["tip"], record["tip"])).max() > 1e-3
    assert "mass [g]" in vertebra(*asked).out
    vertebra(*asked, "--out", str(tmp_path / "page.html"))
    assert "load 1 at the tip: 0.098 N" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_start_decides_the_branch(vertebra) -> None:
    tips = [
        vertebra("shape", ROBOT, "-t", "1", "--start", f"{angle} deg", "--json").json["tip"] for angle in ("2", "-2")
    ]
    assert np.linalg.norm(np.subtract(*tips)) > 0.01


def test_page_shows_the_load_free_shape(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "shape.html"
    vertebra("shape", ROBOT, "-t", PULL, "--load", "0,0,-0.05", "--out", str(path))
    text = path.read_text(encoding="utf-8")
    for name in ("without weight and loads", "load 1 at the tip: 0.05 N", "cable 4, 270 deg: 3.92 N"):
        assert name in text


def test_csv_has_a_row_per_joint_with_units_in_its_header(vertebra, tmp_path: Path, expected: Shape) -> None:
    path = tmp_path / "shape.csv"
    vertebra("shape", ROBOT, "-t", PULL, "--out", str(path))
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert list(rows[0]) == [
        "joint", "angle_deg", "x_mm", "y_mm", "z_mm", "force_x_N", "force_y_N", "force_z_N",
    ]  # fmt: skip
    assert [row["joint"] for row in rows] == [str(j) for j in range(1, 12)]
    np.testing.assert_allclose([float(row["angle_deg"]) for row in rows], np.degrees(expected.angles), rtol=1e-14)
    places = [[float(row[f"{axis}_mm"]) for axis in "xyz"] for row in rows]
    np.testing.assert_allclose(places, expected.frames[1:, :3, 3] * 1e3, rtol=1e-14)
    forces = [[float(row[f"force_{axis}_N"]) for axis in "xyz"] for row in rows]
    np.testing.assert_array_equal(forces, expected.forces)


def test_lost_contact_is_a_visible_warning(vertebra) -> None:
    robot = vb.load(ROBOT)
    pull = "0.3,0.3,0.3,0.3"
    found = vb.shape_from_tensions(robot, [0.3] * 4, gravity="ceiling", loads=[vb.Load(force=(0, 0, 2))])
    assert found.separated
    ran = vertebra("shape", ROBOT, "-t", pull, "--gravity", "ceiling", "--load", "0,0,2")
    assert ran.code == 0
    assert ran.err.startswith("warning: joints 1, 2, 3,")
    assert "cannot: the links come apart" in ran.err
    assert vertebra("shape", ROBOT, "-t", PULL).err == ""


MISTAKES = {
    "three tensions": ((ROBOT, "-t", "1,2,3"), "has 4 cables; give 4 tensions"),
    "pushing cable": ((ROBOT, "-t", "1,-2,3,4"), "cable 2 has -2 N, but a cable cannot push"),
    "text": ((ROBOT, "-t", "much"), "--tensions: 'much' is not a quantity"),
    "mass for tension": ((ROBOT, "-t", "100 g"), "'g' cannot be converted to N"),
    "missing file": (("no-such-robot.yaml", "-t", "1"), "no-such-robot.yaml"),
    "misspelt preset": (("hu2023-protype", "-t", "1"), "did you mean 'hu2023-prototype'"),
    "unknown gravity": ((ROBOT, "-t", "1", "--gravity", "up"), "--gravity 'up': give ground, ceiling, wall"),
    "link out of range": ((ROBOT, "-t", "1", "--load", "0,0,1@12"), "a link, 0 (base) to 11"),
    "load without three": ((ROBOT, "-t", "1", "--load", "1"), "--load '1': give three force components"),
    "both": ((ROBOT, "-t", "1", "--lengths", "160 mm"), "--tensions and --lengths: give only one of"),
    "neither": ((ROBOT,), "give one of --tensions, --lengths, --shortenings or --path"),
    "no cables": (("lapusan2022", "-t", "1"), "lapusan2022 has no cables"),
    "ball joints": (("cai2023", "-t", "1"), "ask for `vertebra payload`, `vertebra follow`, `vertebra robots draw`,"),
    "start too far": ((ROBOT, "-t", "1", "--start", "10"), "half a turn or more"),
    "missing folder": ((ROBOT, "-t", "4", "--out", "no/such/folder/a.csv"), "No such file or directory"),
    "elastic tensions": ((ROBOT, "-t", "4", "--stiffness-EA", "1 kN"), "belongs to --lengths"),
    "lengths of branches": ((ROBOT, "--lengths", "160 mm", "--branches"), "cannot be combined with --branches"),
    "curve of lengths": ((ROBOT, "--lengths", "160 mm", "--stiffness"), "cannot be combined with --stiffness"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_remedy(vertebra, mistake: str) -> None:
    arguments, said = MISTAKES[mistake]
    ran = vertebra("shape", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_mistake_is_json_as_well(vertebra) -> None:
    ran = vertebra("shape", ROBOT, "-t", "1,2,3", "--json")
    assert ran.code == 2
    assert ran.json["error"] == "CommandError"
    assert ran.json["message"] in ran.err


TOO_MUCH = (ROBOT, "-t", "0,0,0,0.9")
"""Bends joint 2 past its limit."""


def test_a_failing_solve_is_an_error_with_its_joint(vertebra) -> None:
    ran = vertebra("shape", *TOO_MUCH, "--json")
    assert ran.code == 2
    error = ran.json
    assert error["error"] == "OutOfRange"
    assert error["joint"] == 2
    assert "joint 2: angle" in ran.err


def test_no_check_shows_what_failed(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    ran = vertebra("shape", *TOO_MUCH, "--no-check", "--json")
    assert ran.code == 0
    assert ran.json["out_of_range"][0] == 2
    assert "warning: joint 2 past the limit" in ran.err
    assert vertebra("shape", *TOO_MUCH, "--no-check", "--out", str(path)).code == 0
    assert "past the limit" in path.read_text(encoding="utf-8")


def test_fits_80_columns(vertebra, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = vertebra("shape", "yang2023-c", "-t", "2.125", "--load", "0.001,-0.002,0.003@3:0.001,0.002,0.003").out
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert "…" not in out


def test_help_tells_the_syntax_of_loads(vertebra) -> None:
    ran = vertebra("shape", "--help")
    assert ran.code == 0
    for text in ("fx,fy,fz[;mx,my,mz][@LINK[:px,py,pz]]", "world axes", "ceiling", "--shortenings", "-t 0.98,0.98"):
        assert text in " ".join(ran.out.replace("│", " ").split())


def test_lengths_and_shortenings(vertebra) -> None:
    robot = vb.load(ROBOT)
    pulled = vb.shape_from_lengths(robot, shortenings=[0.006, 0.0, -0.008, 0.0], stiffness_EA=2e4)
    options = ("--shortenings", "6 mm, 0, -8 mm, 0", "--stiffness-EA", "20 kN")
    record = vertebra("shape", ROBOT, *options, "--json").json
    np.testing.assert_array_equal(record["tensions"], pulled.tensions)
    lengths = vb.Pose(robot, np.zeros(11)).cable_lengths - [0.006, 0.0, -0.008, 0.0]
    texts = ",".join(repr(float(length)) for length in lengths)
    same = vertebra("shape", ROBOT, "--lengths", texts, "--stiffness-EA", "2e4", "--json").json
    np.testing.assert_allclose(same["angles"], record["angles"], rtol=1e-9, atol=1e-12)
    assert "tension [N]" in vertebra("shape", ROBOT, *options).out


# --branches: all stable shapes of the same tensions.


def test_branches(vertebra, tmp_path: Path) -> None:
    found = vb.equilibria(vb.load(ROBOT), [1] * 4)
    assert len(found.shapes) > 1
    record = vertebra("shape", ROBOT, "-t", "1", "--branches", "--json").json
    assert [shape["energy"] for shape in record["shapes"]] == [shape.energy for shape in found.shapes]
    assert (record["reached"], record["counts"]) == (found.reached, list(found.counts))
    shown = vertebra("shape", ROBOT, "-t", "1", "--branches")
    assert shown.code == 0
    assert f"{len(found.shapes)} stable shapes of {ROBOT}" in shown.out
    assert shown.out.count("yes") == 1
    assert max(map(len, shown.out.splitlines())) <= 80
    for i, shape in enumerate(found.shapes, 1):
        assert re.search(rf"^ *{i} +\({shape.tip[0] * 1e3:.2f}".replace("-0.00", "0.00"), shown.out, re.MULTILINE)


def test_branches_into_a_file(vertebra, tmp_path: Path) -> None:
    page, table = tmp_path / "branches.html", tmp_path / "branches.csv"
    for path in (page, table):
        assert vertebra("shape", ROBOT, "-t", "1", "--branches", "--out", str(path)).code == 0
    text = page.read_text(encoding="utf-8")
    assert "branch 2, " in text
    assert "branch 1 of " in text
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert {row["branch"] for row in rows} >= {"1", "2"}
    assert len(rows) % 11 == 0


def test_branches_without_a_stable_shape(vertebra) -> None:
    ran = vertebra("shape", ROBOT, "-t", "0", "--branches")
    assert (ran.code, ran.out) == (2, "")
    assert "no stable shape within the range of every joint" in ran.err


# --stiffness: the tip against the common tension.


def test_stiffness_curve(vertebra) -> None:
    curve = vb.stiffness_curve(vb.load(ROBOT), [0.01, 2.0, 4.0])
    ran = vertebra("shape", ROBOT, "--stiffness", "-t", "0.01,2,4")
    assert ran.code == 0
    assert f"{curve.stiffness[1, 0]:.4g}" in ran.out
    assert "rigid" in ran.out
    assert re.search(r"^ *0.01 +- +- +- +NO", ran.out, re.MULTILINE)
    record = vertebra("shape", ROBOT, "--stiffness", "-t", "0.01,2,4", "--json").json
    assert record["common"] == [0.01, 2, 4]
    assert record["stiffness"][1] == [*curve.stiffness[1, :2], None]
    assert record["solved"] == [False, True, True]
    assert len(vertebra("shape", ROBOT, "--stiffness", "--gravity", "ceiling", "--json").json["common"]) == 20


def test_stiffness_curve_into_a_file(vertebra, tmp_path: Path) -> None:
    critical = vb.critical_tension(vb.load(ROBOT))
    for suffix in (".html", ".svg", ".csv"):
        path = tmp_path / f"curve{suffix}"
        vertebra("shape", ROBOT, "--stiffness", "-t", "0.5:4:8", "--out", str(path))
        text = path.read_bytes()
        if suffix != ".csv":
            assert f"straight above {critical:.4g} N".encode() in text
            continue
        assert text.splitlines()[0] == b"tension_N,softest_N_per_m,middle_N_per_m,stiffest_N_per_m,solved"
        assert len(text.splitlines()) == 9


def test_no_line_for_buckling_where_a_load_bends_the_robot(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "curve.svg"
    assert vertebra("shape", ROBOT, "--stiffness", "--gravity", "wall", "-t", "2:4:3", "--out", str(path)).code == 0
    assert "straight above" not in path.read_text()


# What the shape depends on.

TOLERANCES = "radius 0.05 mm, mass 2 %, tensions 10 mN"


def test_tolerances_below_the_usual_answer(vertebra, expected: Shape) -> None:
    usual = vertebra("shape", ROBOT, "-t", PULL).out
    ran = vertebra("shape", ROBOT, "-t", PULL, "--tolerances", TOLERANCES)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(usual)
    below = " ".join(ran.out[len(usual) :].split())
    found = vb.tolerances(expected, TOLERANCES)
    for sentence in found.sentences():
        assert sentence in below
    assert "mass 2 %: tip.mass left out, being 0" in below
    for cause in found.causes:
        line = next(line for line in ran.out.split("Causes")[1].splitlines() if line.startswith(f"{cause.name} "))
        assert f"{100 * cause.share:.1f} %" in line
    assert "moves tip [mm]" in below


def test_tolerances_of_independent_parts_as_json(vertebra, expected: Shape) -> None:
    record = vertebra("shape", ROBOT, "-t", PULL, "--tolerances", TOLERANCES, "--independent", "--json").json
    found = vb.tolerances(expected, TOLERANCES, parts="independent")
    np.testing.assert_array_equal(record["angles"], expected.angles)
    answer = record["tolerances"]
    np.testing.assert_array_equal(answer["covariance"], found.covariance)
    np.testing.assert_array_equal(answer["principal"]["deviations"], found.principal()[0])
    assert (answer["parts"], answer["total"], answer["unit"]) == ("independent", found.total, "m")
    assert [cause["name"] for cause in answer["causes"]] == [cause.name for cause in found.causes]
    assert sum(cause["share"] for cause in answer["causes"]) == pytest.approx(1.0)


def test_causes_and_derivatives_as_csv(vertebra, expected: Shape, tmp_path: Path) -> None:
    file = tmp_path / "causes.csv"
    assert vertebra("shape", ROBOT, "-t", PULL, "--tolerances", TOLERANCES, "--out", str(file)).code == 0
    rows = list(csv.DictReader(file.read_text().splitlines()))
    found = vb.tolerances(expected, TOLERANCES)
    assert [row["cause"] for row in rows] == [cause.name for cause in found.causes]
    np.testing.assert_array_equal([float(row["tip_z_m"]) for row in rows], [cause.effect[2] for cause in found.causes])
    assert vertebra("shape", ROBOT, "-t", PULL, "--sensitivity", "tip, critical tension", "--out", str(file)).code == 0
    rows = list(csv.DictReader(file.read_text().splitlines()))
    slopes = vb.sensitivity(expected, ["tip", "critical tension"])
    assert [row["parameter"] for row in rows] == slopes.coords["by"].values.tolist()
    np.testing.assert_array_equal([float(row["tip_y_m_per_unit"]) for row in rows], slopes.values[1])
    np.testing.assert_array_equal([float(row["critical_tension_N_per_unit"]) for row in rows], slopes.values[3])


def test_sensitivity_below_the_usual_answer(vertebra, expected: Shape) -> None:
    ran = vertebra("shape", ROBOT, "-t", PULL, "--sensitivity", "tip, angles")
    assert ran.code == 0
    assert "What moves tip x, tip y, tip z, in mm per unit of the value" in ran.out
    assert "What moves angle 1 to angle 11, in deg per unit of the value" in ran.out
    slope = vb.sensitivity(expected).sel(by="sections[0].joint.radius", of="tip z").item()
    assert re.search(rf"^sections\[0\]\.joint\.radius +20 mm .*\{slope:+.4g} ", ran.out, re.MULTILINE)
    record = vertebra("shape", ROBOT, "-t", PULL, "--sensitivity", "tip", "--json").json["sensitivity"]
    slopes = vb.sensitivity(expected)
    np.testing.assert_array_equal(record["derivatives"], slopes.values)
    assert record["by"] == slopes.coords["by"].values.tolist()
    assert record["of_unit"] == ["m"] * 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tolerances", "radus 1 mm"), "--tolerances: radus 1 mm: hu2023-prototype has no field 'radus'"),
        (("--tolerances", "loads 1 N"), 'give --load, of zero force ("0,0,0") if need be'),
        (("--tolerances", "mass 2 %", "--sensitivity", "tip"), "--sensitivity: cannot be combined with --tolerances;"),
        (("--sensitivity", "tipp"), "--sensitivity: a shape has tip, tip pose, angles"),
        (("--independent",), "--independent: belongs to --tolerances"),
        (("--branches", "--tolerances", "mass 2 %"), "--branches: cannot be combined with --tolerances"),
        (
            ("--stiffness", "--sensitivity", "tip"),
            "--stiffness: cannot be combined with --tolerances and --sensitivity",
        ),
        (("--closure", "paper", "--tolerances", "mass 2 %"), "--closure: cannot be combined with --tolerances"),
    ],
)
def test_mistakes_about_what_the_shape_depends_on(vertebra, options: tuple[str, ...], said: str) -> None:
    ran = vertebra("shape", ROBOT, "-t", PULL, *options)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
