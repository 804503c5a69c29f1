"""`vertebra follow`: paths, commands and steps from files; tables, JSON, pages; and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.follow.snakes import LENGTH, inner, outer

import vertebra as vb
from vertebra.follow.journey import follow_the_leader
from vertebra.follow.steps import read_steps

ROOT = Path(__file__).parents[2]
COMMANDS = [(10.0, 0.0), (8.0, 90.0), (0.0, 0.0), (12.0, -135.0)]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    for name, robot in (("outer", outer(6)), ("inner", inner(6))):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(robot.to_mapping()))
    rows = "".join(f"{bend},{azimuth}\n" for bend, azimuth in COMMANDS)
    (tmp_path / "commands.csv").write_text(f"bend_deg,azimuth_deg\n{rows}")
    (tmp_path / "path.csv").write_text("# made up\nx_mm,y_mm,z_mm\n0,0,0\n0,0,17\n5,0,30\n12,3,40\n")
    names = ("outer.yaml", "inner.yaml", "commands.csv", "path.csv")
    return {name.split(".")[0]: str(tmp_path / name) for name in names}


@pytest.fixture
def call(vertebra, files: dict[str, str]):
    """`vertebra follow` with both robots and their tensions."""

    def run(*more: str, tensions: str = "35", inner_tensions: str = "60"):
        given = ("follow", files["outer"], "--inner", files["inner"], "-t", tensions)
        return vertebra(*given, "--inner-tensions", inner_tensions, *more)

    return run


def test_commands(call, files) -> None:
    ran = call("--commands", files["commands"], "--json")
    record = ran.json
    assert (ran.code, ran.err) == (0, "")
    expected = follow_the_leader(
        outer(6), inner(6), commands=np.radians(COMMANDS), outer_tensions=35, inner_tensions=60
    )
    np.testing.assert_allclose(record["commands"], np.radians(COMMANDS), rtol=1e-15)
    assert len(record["steps"]) == len(record["holdings"]) == 28
    assert len(record["states"]) == 29
    assert record["states"][-1] == {"lock": "both rigid", "outer": 4, "inner": 4}
    for found, held in zip(record["holdings"], expected.holdings, strict=True):
        assert (found is None) == (held is None)
        if held is not None:
            assert found["force"] == (None if math.isinf(held.force) else pytest.approx(held.force, rel=1e-12))
            assert (found["rigid"], found["joint"], found["holds"]) == (held.rigid, held.joint, True)
    assert record["path"] is None
    assert record["deviation"]["wanted"] is None
    assert record["deviation"]["tip_path"]["largest"] < 1e-12
    assert record["deviation"]["sliding"]["largest"] == pytest.approx(expected.corner_cut.largest)
    np.testing.assert_allclose(record["heads"], expected.heads, atol=1e-15)


def test_a_path(call, files) -> None:
    record = call("--path", files["path"], "--tip-load", "0,-200 mN,0", "--json").json
    wanted = np.array([[0, 0, 0], [0, 0, 17], [5, 0, 30], [12, 3, 40]]) * 1e-3
    total = np.linalg.norm(np.diff(wanted, axis=0), axis=1).sum()
    assert record["tip_load"] == [0, -0.2, 0]
    assert record["path"]["along"][-1] + record["path"]["leftover"] == pytest.approx(total)
    np.testing.assert_allclose(record["heads"][-1], record["path"]["vertices"][-1], atol=1e-14)
    assert record["deviation"]["wanted"]["largest"] < 1e-3
    assert record["link_length"] == LENGTH


def test_facts_are_printed(call, files) -> None:
    ran = call("--path", files["path"])
    assert (ran.code, ran.err) == (0, "")
    shown = " ".join(ran.out.split())
    assert "outer around inner: 5 links out" in shown
    for words in ("yes, in every step", "5 of 6 outside, 8.5 mm each", "left over", "off while sliding", "round-off"):
        assert words in shown
    assert max(len(line) for line in ran.out.splitlines()) <= 80


def test_there_and_back(call, files) -> None:
    record = call("--commands", files["commands"], "--come-back", "--json").json
    assert record["states"][0] == record["states"][-1]
    assert len(record["steps"]) == 56
    assert "and back" in call("--commands", files["commands"], "--come-back").out


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_steps_can_be_played_again(call, files, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"steps{suffix}"
    first = call("--path", files["path"], "--out", str(path), "--json").json
    assert first["out"] == str(path)
    assert len(read_steps(path)) == len(first["steps"])
    second = call("--steps", str(path), "--json").json
    for name in ("steps", "states", "holdings", "heads", "commands"):
        assert second[name] == first[name]


def test_what_does_not_hold_is_refused_by_joint(call, files) -> None:
    ran = call("--commands", files["commands"], "--json", tensions="0.1")
    assert ran.code == 2
    error = ran.json
    assert error["error"] == "Infeasible"
    assert error["joint"] in range(3, 7)
    assert error["constraint"] in ("sliding", "torsion", "separation")
    assert error["amount"] > 0
    assert "the rigid outer snake would give way" in ran.err
    unchecked = call("--commands", files["commands"], "--no-check", tensions="0.1")
    assert unchecked.code == 0
    assert "warning: step " in unchecked.err
    assert "NO, see the table" in unchecked.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--path", "{path}", "--commands", "{commands}"), "give only one of --path, --commands or --steps"),
        ((), "give one of --path, --commands or --steps"),
        (("--path", "{commands}"), "column x_mm: is missing"),
        (("--commands", "{path}"), "column bend_deg: is missing"),
        (("--path", "{path}", "--tip-load", "1,2"), "give three force components"),
        (("--path", "{path}", "--gravity", "moon"), "ground"),
        (("--path", "nowhere.csv"), "No such file"),
        (("--steps", "{path}"), "column step: is missing"),
    ],
)
def test_wrong_questions(call, files, arguments: tuple, words: str) -> None:
    ran = call(*(text.format(**files) for text in arguments))
    assert ran.code == 2
    assert words in ran.err
    assert ran.out == ""


def test_metres_instead_of_millimetres_are_noticed(call, files, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("x,y,z\n0,0,0\n0,0,17\n")
    ran = call("--path", str(path))
    assert ran.code == 2
    assert "write x_mm,y_mm,z_mm for mm" in ran.err


def test_a_path_out_of_reach(call, tmp_path: Path) -> None:
    long, sharp = tmp_path / "long.csv", tmp_path / "sharp.csv"
    long.write_text("x_mm,y_mm,z_mm\n0,0,0\n0,0,70\n")
    sharp.write_text("x_mm,y_mm,z_mm\n0,0,0\n0,0,17\n0,0,0\n")
    ran = call("--path", str(long))
    assert (ran.code, ran.out) == (2, "")
    assert "2 links are missing" in ran.err
    assert "place 3, 17.00 mm along the path" in call("--path", str(sharp)).err


def test_two_wrong_tensions(call, files) -> None:
    assert "--inner-tensions" in call("--path", files["path"], inner_tensions="1,2").err
    assert "cannot push" in call("--path", files["path"], tensions="-3").err


def test_the_example_files_work(vertebra) -> None:
    """And every number of the inner snake says where it comes from."""
    robot, path = ROOT / "examples" / "harp-inner.yaml", ROOT / "examples" / "follow-path.csv"
    for line in robot.read_text().splitlines():
        if any(letter.isdigit() for letter in line.split("#")[0]) and not line.startswith(("#", "vertebra:")):
            assert "# assumed" in line or "# inferred" in line, line
    given = ("--inner", str(robot), "--path", str(path), "-t", "35", "--inner-tensions", "60")
    ran = vertebra("follow", "cai2023", *given, "--tip-load", "0,-0.3,0", "--json")
    assert ran.code == 0
    record = json.loads(ran.out)
    assert record["holds"]
    assert len(record["commands"]) == 18
    assert vb.load("cai2023").joints["size"][0] == record["link_length"]
