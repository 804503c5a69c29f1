"""`vertebra robots`: list, show, check, schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import vertebra as vb
from vertebra.robot import json_schema
from vertebra.robot.reading import preset_text


def test_list_names_every_preset(vertebra) -> None:
    ran = vertebra("robots")
    assert ran.code == 0
    for name in vb.presets():
        assert name in ran.out
    assert "11 rolling" in ran.out
    assert "length [mm]" in ran.out


def test_list_as_json(vertebra) -> None:
    records = vertebra("robots", "--json").json
    assert [record["name"] for record in records] == list(vb.presets())
    for record in records:
        robot = vb.load(record["name"])
        assert set(record) == {"name", "kinds", "joints", "freedoms", "links", "cables", "length", "mass", "source"}
        assert (record["joints"], record["cables"]) == (len(robot.joints), len(robot.cables))
        assert (record["length"], record["mass"]) == (robot.length, robot.mass)


def test_json_before_the_command_is_refused(vertebra) -> None:
    assert vertebra("robots", "--json", "show", "cai2023").code == 2


@pytest.mark.parametrize("name", vb.presets())
def test_show(vertebra, name: str) -> None:
    ran = vertebra("robots", "show", name)
    assert ran.code == 0
    assert ran.out.split()[0] == name
    assert "bend azimuth [deg]" in ran.out
    assert ("\nCables\n" in ran.out) == bool(len(vb.load(name).cables))


@pytest.mark.parametrize("name", vb.presets())
def test_show_as_json_holds_the_robot(vertebra, name: str) -> None:
    record = vertebra("robots", "show", name, "--json").json
    robot = vb.load(name)
    assert vb.load(record["robot"]) == robot
    assert record["totals"]["length"] == robot.length
    assert set(record) == {"robot", "totals"}


def test_show_file_prints_comments(vertebra) -> None:
    assert vertebra("robots", "show", "cai2023", "--file").out == preset_text("cai2023")
    assert vertebra("robots", "show", "cai2023", "--file", "--json").json["text"] == preset_text("cai2023")


def test_a_robot_of_ones_own_starts_from_a_preset(vertebra, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    assert vertebra("robots", "show", "yang2023-c", "--file", "--out", str(mine)).code == 0
    assert mine.read_text() == preset_text("yang2023-c")
    assert vertebra("robots", "show", str(mine), "--file").out == preset_text("yang2023-c")
    refused = vertebra("robots", "show", str(mine), "--file", "--out", str(tmp_path / "mine.json"))
    assert refused.code == 2
    assert ".yaml, .yml" in refused.err


@pytest.mark.parametrize("suffix", [".json", ".yaml", ".YML"])
def test_out_writes_the_description_in_si(vertebra, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"robot{suffix}"
    ran = vertebra("robots", "show", "dantuono2023", "--out", str(path))
    assert (ran.code, ran.out) == (0, "")
    assert str(path) in ran.err
    assert vb.load(path) == vb.load("dantuono2023")
    assert isinstance(yaml.safe_load(path.read_text())["sections"][0]["link"]["length"], float)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html"])
def test_out_writes_a_picture(vertebra, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"figure{suffix}"
    record = vertebra("robots", "show", "hu2023-planar", "--bend", "15 deg", "--out", str(path), "--json").json
    assert record["out"] == str(path)
    assert path.stat().st_size > 10_000


def test_a_pose_beyond_the_limit_is_noted(vertebra, tmp_path: Path) -> None:
    path = str(tmp_path / "figure.html")
    assert "note" not in vertebra("robots", "show", "hu2023-planar", "--bend", "90 deg", "--out", path).err
    ran = vertebra("robots", "show", "hu2023-planar", "--bend", "10 deg,95 deg,0,0,-2 rad", "--out", path)
    assert ran.code == 0
    assert "joint 2 is bent beyond the limit" in ran.err
    assert "1 more" in ran.err


def test_bend_without_a_picture_is_refused(vertebra, tmp_path: Path) -> None:
    assert vertebra("robots", "show", "cai2023", "--bend", "1 deg").code == 2
    assert vertebra("robots", "show", "cai2023", "--bend", "1 deg", "--out", str(tmp_path / "a.yaml")).code == 2


def test_one_unit_behind_the_last_bend_is_for_all(vertebra, tmp_path: Path) -> None:
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    for path, bend in ((first, "5, 10, 15, -5, -10 deg"), (second, "5 deg, 10 deg, 15 deg, -5 deg, -10 deg")):
        assert vertebra("robots", "show", "hu2023-planar", "--bend", bend, "--out", str(path)).code == 0
    robot_lines = [path.read_text().split("bent", 1)[1].splitlines()[1:] for path in (first, second)]
    assert robot_lines[0] == robot_lines[1]


@pytest.mark.parametrize("bend", ["15 mm", "", "1,,2", "nan", "fifteen", "0.1, 0.2", "10 deg, -0.5, 0, 0, 0"])
def test_bends_that_are_refused(vertebra, tmp_path: Path, bend: str) -> None:
    ran = vertebra("robots", "show", "hu2023-planar", "--bend", bend, "--out", str(tmp_path / "a.svg"))
    assert ran.code == 2
    assert "--bend" in ran.err


def test_check_good_files(vertebra) -> None:
    ran = vertebra("robots", "check", *vb.presets())
    assert ran.code == 0
    assert sum(line.startswith("ok: Robot ") for line in ran.out.splitlines()) == len(vb.presets())


def test_check_lists_all_problems(vertebra, wrong_file: str) -> None:
    ran = vertebra("robots", "check", wrong_file, "cai2023")
    assert ran.code == 2
    for path in ("gravty", "sections[0].joint.radius", "sections[0].link.length"):
        assert path in ran.out
    assert "'20 kg'" in ran.out
    assert "ok: Robot 'cai2023'" in ran.out
    assert ran.err == f"wrong: {wrong_file}\n"


def test_check_as_json(vertebra, wrong_file: str) -> None:
    ran = vertebra("robots", "check", wrong_file, "cai2023", "--json")
    assert ran.code == 2
    assert (ran.json["error"], ran.json["message"]) == ("Unmet", f"wrong: {wrong_file}")
    wrong, good = ran.json["answer"]
    assert (wrong["file"], wrong["ok"], good["ok"]) == (wrong_file, False, True)
    assert {"path", "message", "found"} == set(wrong["problems"][0])
    assert good["problems"] == []


def test_check_prints_markup_and_control_characters_as_text(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"vertebra": 1, "name": "[bold]x[/bold]", "\x1b[31mred": 1, "sections": []}))
    ran = vertebra("robots", "check", str(path))
    assert ran.code == 2
    assert "\x1b" not in ran.out


def test_what_is_hardly_meant_is_noted(vertebra, tmp_path: Path) -> None:
    """Notes on stderr and in the record; the exit code stays that of a good file."""
    robot = vb.load("hu2023-spatial").to_mapping()
    robot["sections"][0]["link"]["length"] = 12
    robot["sections"][0]["cables"]["azimuth"] = ["0 deg", "20 deg"]
    path = tmp_path / "robot.json"
    path.write_text(json.dumps(robot))
    ran = vertebra("robots", "check", str(path), "--json")
    assert ran.code == 0
    notes = ran.json[0]["notes"]
    assert notes == list(vb.load(path).notes())
    assert all(f"note: {path}: {note}" in " ".join(ran.err.split()) for note in notes)
    for words in ("m long", "2 cables for a robot that bends in two planes", "all cables are on one side"):
        assert any(words in note for note in notes)


def test_show_tells_what_is_attached(vertebra, tmp_path: Path) -> None:
    robot = vb.load("hu2023-spatial").to_mapping() | {"tip": {"length": "5 mm", "mass": "50 g"}}
    path = tmp_path / "robot.json"
    path.write_text(json.dumps(robot))
    ran = vertebra("robots", "show", str(path))
    assert "5 mm beyond the end of the last link, 50 g attached" in " ".join(ran.out.split())
    assert vertebra("robots", "show", str(path), "--json").json["totals"]["mass"] == vb.load(path).mass


def test_cables_in_one_hole_are_noted(vertebra, tmp_path: Path) -> None:
    robot = vb.load("hu2023-spatial").to_mapping()
    robot["sections"][0]["cables"]["azimuth"] = ["0 deg", "120 deg", "360 deg", "-240 deg", "240 deg"]
    path = tmp_path / "robot.json"
    path.write_text(json.dumps(robot))
    ran = vertebra("robots", "check", str(path), "--json")
    assert ran.code == 0
    notes = ran.json[0]["notes"]
    assert len(notes) == ran.err.count(f"note: {path}: ") == 2
    assert "cables 1 and 3" in notes[0]
    assert "cables 2 and 4" in notes[1]
    assert vertebra("robots", "check", "hu2023-spatial", "--json").json[0]["notes"] == []


def test_schema(vertebra, tmp_path: Path) -> None:
    printed = vertebra("robots", "schema").json
    path = tmp_path / "schema.json"
    assert vertebra("robots", "schema", "--out", str(path), "--json").json == {"out": str(path)}
    assert json.loads(path.read_text()) == printed == json_schema()
