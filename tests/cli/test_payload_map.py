"""`vertebra payload --map`: what the robot holds in every direction."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

import vertebra as vb

ROBOT = "cai2023"
DEG = math.pi / 180


@pytest.fixture(scope="module")
def robot() -> vb.Robot:
    return vb.load(ROBOT)


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
