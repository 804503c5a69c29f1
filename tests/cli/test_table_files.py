"""What one command writes as CSV, the next one reads."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import vertebra as vb
from vertebra.dynamics.motion_samples import read_trajectory
from vertebra.robot.table_file import OURS
from vertebra.sensing.recording.shape_log import ShapesCsv

ROBOT = "dantuono2023"
MOVED = ("simulate", ROBOT, "-t", "20,19,20,21", "--duration", "20 ms", "--damping", "0.02")
OLD_AND_NEW = {"as written": {}, "old names": {"time_s": "t_s", r"t(\d+)_N": r"t\1"}, "common names": {"t_s": "time_s"}}


def read_columns(path: Path) -> dict[str, np.ndarray]:
    names, *rows = csv.reader(path.read_text().splitlines())
    assert [name for name in names if not OURS.fullmatch(name)] == [], "one set of column names for all commands"
    words = ("True", "False", "solved")
    return dict(zip(names, np.array([[float(cell) if cell not in words else 0.0 for cell in row]
                                     for row in rows]).T, strict=True))  # fmt: skip


def renamed(path: Path, names: dict[str, str]) -> str:
    """The same file with other names of columns."""
    header, rest = path.read_text().split("\n", 1)
    cells = header.split(",")
    for old, new in names.items():
        cells = [re.sub(f"^{old}$", new, cell) for cell in cells]
    path.write_text("\n".join([",".join(cells), rest]))
    return str(path)


def tensions_of(columns: dict[str, np.ndarray]) -> np.ndarray:
    return np.column_stack([column for name, column in columns.items() if re.fullmatch(r"t\d+(_N)?", name)])


@pytest.mark.parametrize("names", OLD_AND_NEW)
def test_a_simulation_is_a_path_a_trajectory_and_tensions_over_time(vertebra, tmp_path: Path, names: str) -> None:
    run = tmp_path / "run.csv"
    assert vertebra(*MOVED, "--out", str(run)).code == 0
    columns, file = read_columns(run), renamed(run, OLD_AND_NEW[names])
    walked = vertebra("shape", ROBOT, "--path", file, "--json").json
    np.testing.assert_array_equal(walked["tensions"], tensions_of(columns))
    needed = vertebra("dynamics", ROBOT, "--trajectory", file, "--method", "per_link", "--json").json
    np.testing.assert_allclose(np.degrees(needed["q"])[:, 1], columns["q2_deg"], rtol=1e-14)
    np.testing.assert_allclose(np.degrees(needed["qdd"])[:, 3], columns["qdd4_deg_s2"], rtol=1e-14)
    assert needed["computed"] == []
    again = vertebra("simulate", ROBOT, "--tensions-file", file, "--damping", "0.02", "--json").json
    np.testing.assert_allclose(1e3 * np.array(again["tip"])[:, 1], columns["y_mm"], atol=1e-9)


@pytest.mark.parametrize("names", OLD_AND_NEW)
def test_needed_tensions_are_a_trajectory_a_path_and_tensions_over_time(vertebra, tmp_path: Path, names: str) -> None:
    run, need = tmp_path / "run.csv", tmp_path / "need.csv"
    vertebra(*MOVED, "--out", str(run))
    asked = ("dynamics", ROBOT, "--method", "per_link", "--trajectory")
    assert vertebra(*asked, str(run), "--out", str(need)).code == 0
    columns, file = read_columns(need), renamed(need, OLD_AND_NEW[names])
    again = vertebra(*asked, file, "--json").json
    np.testing.assert_allclose(again["base_tensions"], tensions_of(columns), rtol=1e-9)
    moved = vertebra("simulate", ROBOT, "--tensions-file", file, "--json").json
    np.testing.assert_allclose(moved["tensions"], tensions_of(columns), rtol=1e-12)
    walked = vertebra("shape", ROBOT, "--path", file, "--json").json
    np.testing.assert_array_equal(walked["tensions"], tensions_of(columns))


@pytest.mark.parametrize("names", OLD_AND_NEW)
def test_a_walk_is_a_path_of_the_tip_and_of_tensions_and_moves_once_it_has_times(
    vertebra, tmp_path: Path, names: str
) -> None:
    rows, walk, way = tmp_path / "rows.csv", tmp_path / "walk.csv", tmp_path / "way.csv"
    rows.write_text("t1_N,t2_N,t3_N,t4_N\n20,19,20,21\n20,19.2,20,20.8\n")
    assert vertebra("shape", ROBOT, "--path", str(rows), "--out", str(walk)).code == 0
    tips = np.column_stack([read_columns(walk)[f"{axis}_mm"] for axis in "xyz"])
    reached = vertebra("tensions", ROBOT, "--tip-path", renamed(walk, OLD_AND_NEW[names]), "--out", str(way), "--json")
    np.testing.assert_allclose(reached.json["wanted"], 1e-3 * tips, rtol=1e-14)
    pulls, file = tensions_of(read_columns(way)), renamed(way, OLD_AND_NEW[names])
    walked = vertebra("shape", ROBOT, "--path", file, "--json").json
    np.testing.assert_array_equal(walked["tensions"], pulls)
    refused = vertebra("simulate", ROBOT, "--tensions-file", file)
    assert refused.code == 2
    assert "column time_s: is missing; give the time of each row in s" in refused.err
    header, *lines = way.read_text().splitlines()
    timed = [f"time_s,{header}", *(f"{0.01 * i},{line}" for i, line in enumerate(lines))]
    way.write_text("\n".join(timed))
    moved = json.loads(vertebra("simulate", ROBOT, "--tensions-file", file, "--json").out)
    np.testing.assert_allclose([moved["tensions"][0], moved["tensions"][-1]], pulls, rtol=1e-12)


SEVERAL_FREEDOMS = {
    "universal": {"kind": "universal", "lower": "10 mm", "stiffness": 0.3, "limit": "40 deg"},
    "backbone": {"kind": "backbone", "length": "20 mm", "stiffness": 0.1, "limit": "40 deg"},
    "twisting backbone": {"kind": "backbone", "length": "20 mm", "stiffness": 0.1, "torsion": 0.2, "limit": "40 deg"},
}


@pytest.fixture(params=SEVERAL_FREEDOMS)
def robot_file(request, tmp_path: Path) -> str:
    """Three joints of that kind and a rolling one, with four cables."""
    cables = {"radius": "5 mm", "azimuth": ["0 deg", "90 deg", "180 deg", "270 deg"]}
    link = {"length": "12 mm", "mass": "2 g", "inertia": ["1 g*cm^2", "1 g*cm^2", "1 g*cm^2"]}
    joints = (3, SEVERAL_FREEDOMS[request.param]), (1, {"kind": "rolling", "radius": "9 mm", "limit": "40 deg"})
    sections = [{"joints": count, "joint": joint, "link": link, "azimuth": ["30 deg"]} for count, joint in joints]
    del sections[0]["azimuth"]
    sections[-1]["cables"] = cables
    file = tmp_path / "robot.json"
    file.write_text(json.dumps({"vertebra": 1, "name": "several", "base": {"length": "8 mm"}, "sections": sections}))
    return str(file)


def test_angles_of_joints_with_several_freedoms_are_named_by_freedom_and_read_back(vertebra, tmp_path, robot_file):
    robot, pulls = vb.load(robot_file), "3,2,2,2.5"
    one, walk, rows = tmp_path / "one.csv", tmp_path / "walk.csv", tmp_path / "rows.csv"
    found = vertebra("shape", robot_file, "-t", pulls, "--json").json
    assert found["freedoms"] == robot.freedom_names
    assert vertebra("shape", robot_file, "-t", pulls, "--out", str(one)).code == 0
    table = [line.split(",") for line in one.read_text().splitlines()]
    assert [row[0] for row in table] == ["joint", *robot.freedom_names]
    np.testing.assert_allclose([float(row[1]) for row in table[1:]], np.degrees(found["angles"]), rtol=1e-14)
    rows.write_text(f"t1_N,t2_N,t3_N,t4_N\n{pulls}\n")
    assert vertebra("shape", robot_file, "--path", str(rows), "--out", str(walk)).code == 0
    names = [name for name in read_columns(walk) if name.startswith("q")]
    assert names == [f"q{name}_deg" for name in robot.freedom_names]
    for file in (one, walk):
        held = vertebra("tensions", robot_file, "--angles", str(file), "--json").json
        np.testing.assert_allclose(held["angles"], found["angles"], rtol=1e-9)
        assert held["feasible"]
        again = vertebra("shape", robot_file, "-t", pulls, "--start", str(file), "--json").json
        assert again["iterations"] <= 1
        np.testing.assert_allclose(again["angles"], found["angles"], atol=1e-9)


def test_motion_of_joints_with_several_freedoms_is_read_back(vertebra, tmp_path, robot_file):
    robot, run = vb.load(robot_file), tmp_path / "run.csv"
    moved = ("simulate", robot_file, "-t", "3,2,2,2.5", "--duration", "5 ms")
    assert vertebra(*moved, "--out", str(run)).code == 0
    columns = read_columns(run)
    motion = read_trajectory(run, robot).motion
    last = robot.freedom_names[-2]
    np.testing.assert_allclose(np.degrees(motion.q[:, -2]), columns[f"q{last}_deg"], rtol=1e-14)
    np.testing.assert_allclose(np.degrees(motion.qdd[:, 1]), columns["qdd1b_deg_s2"], rtol=1e-14)
    told = vertebra(*moved)
    assert told.code == 0
    assert [line.split()[0] for line in told.out.splitlines() if re.match(r"\d[abc] ", line)] == [
        name for name in robot.freedom_names if name[-1] in "abc"
    ]
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(run.read_text().replace("q1a_deg", "q1_deg", 1))
    with pytest.raises(
        vb.MeasurementError, match=r"column q1_deg: the robot has 4 joints with \d+ angles; give q1a_deg"
    ):
        read_trajectory(wrong, robot)


def test_a_table_of_angles_must_fit_the_robot(vertebra, tmp_path, robot_file):
    file = tmp_path / "angles.csv"
    for text, message in (
        ("joint,angle_deg\n1a,1\n1b,2\n", "the rows must be those of joint 1a, 1b, "),
        ("angle_deg\n1\n", "(found 1a)"),
        ("q1_deg\n1\n", "the robot has 4 joints with"),
        ("x_mm\n1\n", "column angle_deg: is missing; or give q1a_deg to q4_deg in one row"),
    ):
        file.write_text(text)
        refused = vertebra("tensions", robot_file, "--angles", str(file))
        assert refused.code == 2
        assert message in " ".join(refused.err.split())
    header = ",".join(f"q{name}_deg" for name in vb.load(robot_file).freedom_names)
    file.write_text("\n".join([header, *[",".join("0" * len(header.split(",")))] * 2]))
    refused = vertebra("tensions", robot_file, "--angles", str(file))
    assert "has 2 rows of q1a_deg to q4_deg; leave the one of the shape" in " ".join(refused.err.split())


def test_sensed_shapes_are_a_trajectory_and_a_path_of_the_tip(vertebra, tmp_path: Path) -> None:
    robot, file = vb.load(ROBOT), tmp_path / "sensed.csv"
    angles = np.random.default_rng(0).uniform(-0.1, 0.1, (3, robot.freedoms))
    tips = np.array([[0.0, 0.0, 0.48], [0.001, 0.0, 0.48], [0.002, 0.0, 0.48]])
    with ShapesCsv(file, robot) as table:
        for i, (q, tip) in enumerate(zip(angles, tips, strict=True)):
            table.add(0.1 * i, q, np.full(robot.freedoms, 0.01), tip, np.full((6, 6), np.nan))
    assert [name for name in file.read_text().splitlines()[0].split(",") if not OURS.fullmatch(name)] == []
    motion = read_trajectory(file, robot).motion
    np.testing.assert_allclose(motion.q, angles, atol=1e-9)
    np.testing.assert_allclose(motion.time, [0.0, 0.1, 0.2])
    led = vertebra("tensions", ROBOT, "--tip-path", str(file), "--tolerance", "5 mm", "--json").json
    np.testing.assert_allclose(led["wanted"], tips, atol=1e-11)
