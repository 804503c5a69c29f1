"""`vertebra payload`: how much load until a link slips."""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vertebra as vb

ROBOT = "cai2023"
DEG = math.pi / 180


@pytest.fixture(scope="module")
def robot() -> vb.Robot:
    return vb.load(ROBOT)


def test_straight_robot_under_a_hung_load(vertebra, robot: vb.Robot) -> None:
    ran = vertebra("payload", ROBOT, "--shape", "straight", "-t", "35,35,35", "--direction", "0,-1,0")
    assert (ran.code, ran.err) == (0, "")
    mass = 1e3 * vb.payload(robot, 0, 0, 35, (0, -1, 0)).force / np.linalg.norm(robot.gravity)
    assert re.search(rf"^payload +1\.933 N, the weight of {mass:.4g} g", ran.out, re.MULTILINE)
    assert re.search(r"^weakest +joint 1 slides", ran.out, re.MULTILINE)
    assert re.search(r"^ +1 +0\.00 +0\.00 +1\.933 +sliding +100 % +0 %", ran.out, re.MULTILINE)


def test_json_is_the_answer_of_the_call(vertebra, robot: vb.Robot) -> None:
    shape = vb.BallShape.spiral(robot, 8 * DEG, 0.0, 90 * DEG)
    expected = vb.payload(robot, *shape, [30, 35, 20], (1, 2, -1), link=12)
    arguments = ("--shape", "spiral 8 deg 0 deg 90 deg", "-t", "30,35,20", "--direction", "1,2,-1", "--link", "12")
    record = vertebra("payload", ROBOT, *arguments, "--json").json
    for name in ("force", "joint", "mode", "link", "is_interval", "slips_unloaded", "reason"):
        assert record[name] == getattr(expected, name)
    assert record["modes"] == list(expected.modes)
    assert record["reentry"] is None
    limits = [limit if math.isfinite(limit) else None for limit in expected.limits.tolist()]
    assert record["limits"] == limits
    assert limits[-1] is None
    np.testing.assert_array_equal(record["contact"]["normal"], expected.contact.normal)
    np.testing.assert_array_equal(record["tensions_along"], expected.tensions)
    np.testing.assert_array_equal(record["bends"], shape.bends)
    np.testing.assert_array_equal(record["azimuths"], shape.azimuths)


OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "gravity": (("--gravity", "0,0,0"), {"gravity": (0, 0, 0)}),
    "mount": (("--gravity", "ceiling"), {"gravity": "ceiling"}),
    "load": (("--load", "0.2,0,0@9"), {"loads": [vb.Load(force=(0.2, 0, 0), link=9)]}),
    "mass": (("--load", "20 g@9"), {"loads": [vb.Load(mass=0.02, link=9)]}),
    "link": (("--link", "7"), {"link": 7}),
    "negative link": (("--link", "-3"), {"link": -3}),
    "point": (("--point", "3,0,12 mm"), {"point": (0.003, 0, 0.012)}),
    "moment": (("--moment-per-force", "0,0,30 mm"), {"moment_per_force": (0, 0, 0.03)}),
    "friction": (("--friction", "0.2"), {"friction": 0.2}),
    "socket": (("--socket-limit", "20 deg"), {"socket_limit": 20 * DEG}),
    "guide": (("--guided", "4"), {"guided": 4}),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_options_reach_the_solver(vertebra, robot: vb.Robot, option: str) -> None:
    texts, given = OPTIONS[option]
    shape = vb.BallShape.s_curve(robot, 5 * DEG, 30 * DEG)
    direction = (0.3, -1.0, 0.2)
    expected = vb.payload(robot, *shape, 35, direction, **given)
    assert expected.force != vb.payload(robot, *shape, 35, direction).force, "the option must matter here"
    arguments = ("--shape", "S 5 deg 30 deg", "-t", "35", "--direction", "0.3,-1,0.2", *texts, "--json")
    found = vertebra("payload", ROBOT, *arguments).json["force"]
    assert found == pytest.approx(expected.force, rel=1e-12), "but for the last bit of an angle in degrees"


def test_the_direction_of_gravity_is_taken_and_said(vertebra) -> None:
    ran = vertebra("payload", ROBOT, "-t", "35")
    assert re.search(r"^direction +\(0, -1, 0\), where gravity pulls *$", ran.out, re.MULTILINE)
    asked = vertebra("payload", ROBOT, "-t", "35", "--direction", "0,-2,0")
    assert asked.code == 0
    assert "where gravity pulls" not in asked.out
    turned = vertebra("payload", ROBOT, "-t", "35", "--gravity", "wall", "--json").json
    assert turned["direction"] == [-1, 0, 0]
    assert turned["direction_from"] == "where gravity pulls"
    ran = vertebra("payload", ROBOT, "-t", "35", "--gravity", "0,0,0")
    assert ran.code == 2
    assert "there is no gravity to take it from" in ran.err


def test_the_worst_direction(vertebra, robot: vb.Robot) -> None:
    record = vertebra("payload", ROBOT, "-t", "35", "--direction", "worst", "--directions", "300", "--json").json
    assert record["direction_from"] == "the weakest of 300 directions"
    least = vb.payload_map(robot, *vb.BallShape.straight(robot), 35, 300).payload.min()
    assert record["force"] == pytest.approx(float(least), rel=1e-12)


def test_a_robot_that_does_not_hold_itself_has_a_reason(vertebra, robot: vb.Robot) -> None:
    expected = vb.payload(robot, *vb.BallShape.straight(robot), 2, (0, -1, 0))
    assert expected.slips_unloaded
    ran = vertebra("payload", ROBOT, "-t", "2")
    assert ran.code == 0
    assert re.search(r"^payload +none: it does not even hold itself", ran.out, re.MULTILINE)
    assert re.search(r"^why +joint 1 slides without any load", ran.out, re.MULTILINE)
    assert f"warning: payload 0 N: {expected.reason}" in ran.err
    assert "Contact of joint 1 without load" in ran.out


def test_slack_cables_leave_no_contact(vertebra) -> None:
    ran = vertebra("payload", ROBOT, "-t", "0", "--gravity", "0,0,0", "--direction", "1,0,0")
    assert re.search(r"^weakest +joint 1 comes apart", ran.out, re.MULTILINE)
    assert "Contact of" not in ran.out


def test_loads_that_hold_again_are_flagged(vertebra, robot: vb.Robot) -> None:
    expected = vb.payload(robot, *vb.BallShape.arc(robot, 5 * DEG), 35, (0.2, 0, 1), link=3)
    assert not expected.is_interval
    arguments = ("payload", ROBOT, "--shape", "arc 5 deg", "-t", "35", "--direction", "0.2,0,1", "--link", "3")
    ran = vertebra(*arguments)
    assert re.search(rf"^but +holds again from {expected.reentry:.4g} N", ran.out, re.MULTILINE)
    assert f"warning: more load can help: it slips above {expected.force:.4g} N and holds again" in ran.err
    record = vertebra(*arguments, "--json").json
    assert record["reentry"] == expected.reentry
    assert record["is_interval"] is False


def test_a_load_without_limit(vertebra) -> None:
    ran = vertebra("payload", ROBOT, "-t", "35", "--link", "0")
    assert ran.code == 0
    assert re.search(r"^payload +no limit", ran.out, re.MULTILINE)
    assert "weakest of" not in ran.out
    record = vertebra("payload", ROBOT, "-t", "35", "--link", "0", "--json").json
    assert (record["force"], record["joint"], record["mode"]) == (None, 0, "unlimited")


def test_few_joints_are_listed_or_all(vertebra) -> None:
    few = vertebra("payload", ROBOT, "-t", "35").out
    assert "The 5 weakest of 19 joints (--all for all)" in few
    assert len(re.findall(r" sliding +\d+ %", few)) == 5
    every = vertebra("payload", ROBOT, "-t", "35", "--all").out
    assert "Limit of each joint" in every
    assert len(re.findall(r" sliding +\d+ %", every)) == 19


def test_weakest_joints_come_in_order(vertebra, robot: vb.Robot) -> None:
    out = vertebra("payload", ROBOT, "--shape", "arc 20 deg", "-t", "35").out
    joints = [int(j) for j in re.findall(r"^ +(\d+) +20\.00", out, re.MULTILINE)]
    limits = vb.payload(robot, *vb.BallShape.arc(robot, 20 * DEG), 35, (0, -1, 0)).limits
    assert joints == (np.argsort(limits)[:5] + 1).tolist()
    assert joints[0] != 1, "or the order would be that of the robot"


def test_cables_with_friction_are_listed(vertebra) -> None:
    arguments = ("payload", ROBOT, "--shape", "arc 5 deg", "-t", "35")
    assert "Cables with friction" not in vertebra(*arguments).out
    out = vertebra(*arguments, "--friction", "0.1").out
    last = 35 * math.exp(-0.1 * 5 * DEG * 18.5)
    assert re.search(rf"^ +1 +35 +{last:.6g}$", out, re.MULTILINE)


def test_what_was_asked_for_is_said(vertebra) -> None:
    arguments = ("--guided", "3", "--socket-limit", "40 deg", "--friction", "0.1", "--moment-per-force", "0,5,0 mm")
    out = vertebra("payload", ROBOT, "-t", "35", *arguments).out
    assert re.search(r"^in a guide +joints 1 to 3, which cannot slip", out, re.MULTILINE)
    assert re.search(r"^rim of sockets +40 deg from the axis", out, re.MULTILINE)
    assert re.search(r"^cable friction +0\.1", out, re.MULTILINE)
    assert re.search(r"^with a moment +of \(0, 5, 0\) N\*mm per N", out, re.MULTILINE)


def test_best_tensions(vertebra, robot: vb.Robot) -> None:
    straight = vb.BallShape.straight(robot)
    expected = vb.best_tensions(robot, straight, (0, -1, 0), (1, [35, 35, 30]))
    arguments = ("payload", ROBOT, "--best", "--lower", "1", "--upper", "35,35,30")
    record = vertebra(*arguments, "--json").json
    np.testing.assert_array_equal(record["tensions"], expected.tensions)
    assert record["force"] == expected.payload.force
    assert record["best"]["gain"] == expected.gain
    assert record["best"]["equal_force"] == expected.equal.force
    assert vertebra("payload", ROBOT, "--best", "--lower", "1", "-t", "35,35,30", "--json").json == record
    ran = vertebra(*arguments)
    assert f"Best tensions, {100 * expected.gain:+.1f} % over equal ones" in ran.out
    assert re.search(rf"^cable 3, 150 deg +{expected.tensions[2]:.5g} +30$", ran.out, re.MULTILINE)
    assert re.search(
        rf"^payload +{expected.payload.force:.4g} +{expected.equal.force:.4g}$", ran.out, re.MULTILINE
    )  # fmt: skip


def test_best_tensions_against_the_worst_direction(vertebra, robot: vb.Robot) -> None:
    arguments = ("--shape", "arc 4 deg", "--best", "--upper", "35", "--direction", "worst")
    record = vertebra("payload", ROBOT, *arguments, "--json").json
    held = vb.payload(robot, *vb.BallShape.arc(robot, 4 * DEG), record["tensions"], record["direction"])
    assert record["force"] == pytest.approx(held.force, rel=1e-12)
    assert record["best"]["gain"] > 0
    assert record["direction_from"] == "in which these tensions hold least"


def test_nothing_holds_within_the_bounds(vertebra) -> None:
    ran = vertebra("payload", ROBOT, "--best", "--upper", "0.5", "--json")
    assert ran.code == 2
    assert ran.json["error"] == "Infeasible"
    assert ran.json["joint"] == 1


def test_files(vertebra, tmp_path: Path) -> None:
    page, table = tmp_path / "answer.html", tmp_path / "answer.csv"
    for path in (page, table):
        assert vertebra("payload", ROBOT, "--shape", "S 2.85 deg", "-t", "35", "--out", str(path)).code == 0
    text = page.read_bytes()
    assert b"payload at the tip: " in text
    assert len(text) < 8e6
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [int(row["joint"]) for row in rows] == list(range(1, 20))
    assert float(rows[-1]["bend_deg"]) == pytest.approx(-2.85)
    assert float(rows[0]["sliding_use"]) == pytest.approx(1.0)


MISTAKES = {
    "no tensions": ((), "--tensions: give the tension of each cable in N, or --best"),
    "count of tensions": (("-t", "1,2"), "this robot has 3 cables"),
    "directions of a torque": (
        ("-t", "35", "--moment", "0,0,1", "--directions", "100"),
        "--directions: belongs to a force",
    ),
    "pushing cable": (("-t", "-1"), "a cable cannot push"),
    "tensions and upper": (("-t", "35", "--best", "--upper", "30"), "give one of the two"),
    "bounds without best": (("-t", "35", "--upper", "35"), "--upper: belongs to --best"),
    "best without end": (("--best",), "--upper: give the largest tension"),
    "crossed bounds": (("--best", "--lower", "4", "--upper", "3"), "--upper: cable 1: 3 N is below"),
    "unknown shape": (("-t", "35", "--shape", "bow 3 deg"), "spiral BEND [FROM TO]"),
    "no bend": (("-t", "35", "--shape", "S"), "write S BEND [AZIMUTH] (found 0 angles)"),
    "too many angles": (("-t", "35", "--shape", "arc 1 2 3 deg"), "write arc BEND [AZIMUTH] (found 3 angles)"),
    "two spiral angles": (("-t", "35", "--shape", "spiral 1 2 deg"), "write spiral BEND [FROM TO] (found 2 angles)"),
    "straight with an angle": (("-t", "35", "--shape", "straight 3 deg"), "write straight (found 1 angles)"),
    "length for an angle": (("-t", "35", "--shape", "arc 3 mm"), "'3 mm'"),
    "degrees without a word": (("-t", "35", "--shape", "arc 3"), "degrees? write deg behind it"),
    "past the limit": (("-t", "35", "--shape", "arc 95 deg"), "joint 1: angle 95 deg is outside +-90 deg"),
    "no such file": (("-t", "35", "--shape", "nothing.csv"), "nothing.csv"),
    "no direction": (("-t", "35", "--direction", "0,0,0"), "has no length"),
    "direction in words": (("-t", "35", "--direction", "down"), 'give "x,y,z" in the world'),
    "two components": (("-t", "35", "--direction", "0,1"), "give three components"),
    "no such link": (("-t", "35", "--link", "20"), "give 0 (base) to 19"),
    "several links": (("-t", "35", "--link", "3,4"), "several links belong to --map"),
    "point without a unit": (("-t", "35", "--point", "0,0,5"), 'write "mm" behind them'),
    "socket of nothing": (("-t", "35", "--socket-limit", "0 deg"), "above 0 up to half a turn"),
    "too long a guide": (("-t", "35", "--guided", "20"), "guided: must be a number of joints from 0 to 19"),
    "few directions": (("-t", "35", "--map", "a.nc", "--directions", "3"), "give a count from 20"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_remedy(vertebra, mistake: str) -> None:
    arguments, said = MISTAKES[mistake]
    ran = vertebra("payload", ROBOT, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_robots_of_other_joints_are_refused(vertebra) -> None:
    ran = vertebra("payload", "hu2023-prototype", "-t", "3")
    assert ran.code == 2
    said = "only ball joints are locked by friction: ask for `vertebra shape`, `vertebra tensions` or"
    assert ran.err.startswith("error: hu2023-prototype: joint 1")
    assert said in ran.err


@pytest.mark.parametrize("more", [(), ("--all",), ("--friction", "0.1"), ("--socket-limit", "20 deg")])
def test_fits_80_columns(vertebra, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = vertebra("payload", ROBOT, "--shape", "spiral 8 deg", "-t", "35.125", "--direction", "1,2,3", *more).out
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    assert "[deg]  limit" in out, "no header is broken"


# --map: what the robot holds in every direction.


def test_map_as_netcdf_is_the_map_of_the_call(vertebra, robot: vb.Robot, tmp_path: Path) -> None:
    import xarray

    path = tmp_path / "map.nc"
    arguments = (
        "--shape",
        "spiral 8 deg",
        "-t",
        "35,30,35",
        "--link",
        "10,-1",
        "--directions",
        "64",
        "--friction",
        "0.1",
    )
    ran = vertebra("payload", ROBOT, *arguments, "--map", str(path))
    assert (ran.code, ran.out, ran.err) == (0, "", f"wrote {path}\n")
    shape = vb.BallShape.spiral(robot, 8 * DEG)
    expected = vb.payload_map(robot, *shape, [35, 30, 35], 64, (10, -1), friction=0.1)
    with xarray.open_dataset(path) as found:
        for name in ("payload", "joint", "mode", "direction_x", "direction_z"):
            np.testing.assert_array_equal(found[name], expected[name])
        assert found["link"].to_numpy().tolist() == [10, 19]
        assert found["tensions"].to_numpy().tolist() == [[35, 30, 35]]
        np.testing.assert_array_equal(found["bend"], shape.bends)
        assert found.attrs["robot"] == ROBOT
        assert found.attrs["modes"].split()[1] == "sliding"


def test_map_as_table_and_json(vertebra, robot: vb.Robot, tmp_path: Path) -> None:
    arguments = ("payload", ROBOT, "-t", "35", "--directions", "40")
    vertebra(*arguments, "--map", str(tmp_path / "map.csv"))
    expected = vb.payload_map(robot, *vb.BallShape.straight(robot), 35, 40)
    rows = list(csv.DictReader((tmp_path / "map.csv").read_text().splitlines()))
    np.testing.assert_array_equal([float(row["payload_N"]) for row in rows], expected.payload.to_numpy().ravel())
    np.testing.assert_array_equal([float(row["y"]) for row in rows], expected.direction_y)
    vertebra(*arguments, "--map", str(tmp_path / "map.json"))
    record = json.loads((tmp_path / "map.json").read_text())
    np.testing.assert_array_equal(record["maps"]["given"]["joint"], expected.joint[0])
    assert record["tensions"] == {"given": [35, 35, 35]}


def test_map_page_with_best_and_equal_tensions(vertebra, tmp_path: Path) -> None:
    page, other = tmp_path / "map.html", tmp_path / "one.html"
    arguments = ("--best", "--upper", "35", "--directions", "100", "--map", str(page), "--out", str(other))
    ran = vertebra("payload", ROBOT, *arguments)
    assert (ran.code, ran.out, ran.err) == (0, "", f"wrote {other}\nwrote {page}\n")
    text = page.read_text()
    assert len(text) < 8e6
    for said in ("the tip, best tensions", "the tip, equal tensions", "over equal ones"):
        assert said in text
    assert "over equal ones" in other.read_text()


def test_map_of_best_and_equal_tensions(vertebra, robot: vb.Robot, tmp_path: Path) -> None:
    import xarray

    path = tmp_path / "map.nc"
    record = vertebra(
        "payload", ROBOT, "--best", "--upper", "35", "--directions", "50", "--map", str(path), "--json"
    ).json
    with xarray.open_dataset(path) as found:
        assert found["shape"].to_numpy().tolist() == ["best", "equal"]
        for name, tensions in (("best", record["tensions"]), ("equal", record["best"]["equal_tensions"])):
            part = found.sel(shape=name)
            np.testing.assert_array_equal(part["tensions"], tensions)
            expected = vb.payload_map(robot, 0, 0, tensions, 50)
            np.testing.assert_array_equal(part["payload"], expected["payload"][0])


def test_map_marks_a_direction_that_was_asked_for(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "map.html"
    arguments = ("payload", ROBOT, "-t", "35", "--directions", "50", "--map", str(path))
    vertebra(*arguments, "--direction", "0,-1,0")
    assert "as asked: 1.933 N" in path.read_text()
    vertebra(*arguments)
    assert "as asked" not in path.read_text()


def test_a_map_needs_no_gravity(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "map.nc"
    arguments = ("payload", ROBOT, "-t", "35", "--gravity", "0,0,0", "--map", str(path), "--json")
    record = vertebra(*arguments).json
    assert record["map"] == str(path)
    assert record["direction_from"] == "the weakest of 1000 directions"


def test_a_pure_torque_is_answered_in_newton_metres(vertebra, robot: vb.Robot) -> None:
    given = ("payload", "cai2023", "--shape", "S 2.85 deg", "-t", "35", "--moment", "0,0,2")
    ran = vertebra(*given)
    assert ran.code == 0
    found = vb.payload(robot, *vb.BallShape.s_curve(robot, np.radians(2.85)), 35.0, moment=(0, 0, 1))
    assert f"{found.force:.4g} N*m" in ran.out
    assert "limit [N*m]" in ran.out
    record = vertebra(*given, "--json").json
    assert (record["unit"], record["force"]) == ("N*m", pytest.approx(found.force))
    for other in (("--direction", "0,0,1"), ("--best",), ("--point", "0,0,5 mm")):
        refused = vertebra(*given, *other)
        assert refused.code == 2
        assert f"{other[0]}: belongs to a force" in refused.err
