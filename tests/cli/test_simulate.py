"""`vertebra simulate`: the answer of the call, files, early ends, and mistakes."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.dynamics.cases import BACKBONE, UNIVERSAL, spatial_robot

import vertebra as vb
from vertebra.dynamics import Bumper
from vertebra.dynamics.motion_samples import read_trajectory

ROBOT = "dantuono2023"
SHORT = ("--duration", "50 ms")
PULLS = [20.0, 10.0, 20.0, 40.0]
TENSIONS = ("-t", "20,10,20,40")


@pytest.fixture(scope="module")
def robot() -> vb.Robot:
    return vb.load(ROBOT)


def test_a_mass_is_moved(vertebra, robot: vb.Robot) -> None:
    ran = vertebra("simulate", ROBOT, *TENSIONS, *SHORT, "--load", "500 g", "--json")
    expected = vb.simulate(robot, PULLS, duration=0.05, loads=[vb.Load(mass=0.5)])
    np.testing.assert_array_equal(ran.json["q"], expected.q)
    assert "500 g, the tip" in vertebra("simulate", ROBOT, *TENSIONS, *SHORT, "--load", "500 g").out


def test_answer_is_that_of_the_call(vertebra, robot: vb.Robot) -> None:
    ran = vertebra("simulate", ROBOT, *TENSIONS, *SHORT, "--damping", "0.02", "--load", "0,0,0.5@3", "--json")
    assert (ran.code, ran.err) == (0, "")
    record = ran.json
    expected = vb.simulate(
        robot, PULLS, duration=0.05, damping=0.02, loads=[vb.Load(force=(0, 0, 0.5), link=3)], friction=None
    )
    for name in ("q", "qd", "tensions", "lengths", "tip", "kinetic", "cable_work", "dissipated"):
        np.testing.assert_array_equal(record[name], expected[name], err_msg=name)
    np.testing.assert_array_equal(record["time"], expected.time)
    np.testing.assert_array_equal(record["end"]["tip"], expected.tip[-1])
    assert (record["ended"], record["fault"], record["duration"]) == ("duration", None, 0.05)
    speed = np.abs(expected.qd.to_numpy())
    assert record["peak_speed"]["value"] == speed.max()
    assert record["peak_speed"]["joint"] == int(speed.max(axis=0).argmax()) + 1
    kept = expected.kinetic + expected.potential + expected.stored + expected.dissipated
    total = (kept - expected.cable_work - expected.load_work - expected.drawn).to_numpy()
    assert record["energy_imbalance"] == pytest.approx(np.abs(total - total[0]).max(), rel=1e-6)
    assert record["energy_imbalance"] < 1e-4 * record["energy_scale"]
    assert record["real_time_factor"] == pytest.approx(record["reached"] / record["wall_time"])


def test_tables_tell_where_it_ended(vertebra, robot: vb.Robot) -> None:
    ran = vertebra("simulate", ROBOT, *TENSIONS, *SHORT, "--gravity", "0,0,0")
    shown = " ".join(ran.out.split())
    expected = vb.simulate(robot, PULLS, duration=0.05, gravity=(0, 0, 0))
    x, y, z = expected.tip.to_numpy()[-1] * 1e3
    assert ran.code == 0
    assert f"({x + 0.0:.3f}, {y:.3f}, {z:.3f}) mm" in shown
    for said in ("after 0.05 s, as asked", "straight, at rest", "rk4, steps of 1 ms, 51 samples kept", "imbalance",
                 "Energy balance", "real-time factor", "10 to 40 N"):  # fmt: skip
        assert said in shown
    last = math.degrees(expected.q.to_numpy()[-1, 5])
    assert f"{last:.3f}" in shown


def test_netcdf_is_the_data_set(vertebra, robot: vb.Robot, tmp_path: Path) -> None:
    import xarray

    path = tmp_path / "motion.nc"
    vertebra("simulate", ROBOT, *TENSIONS, *SHORT, "--every", "5", "--out", str(path))
    expected = vb.simulate(robot, PULLS, duration=0.05, every=5)
    with xarray.open_dataset(path) as found:
        for name in expected.data_vars:
            np.testing.assert_array_equal(found[name], expected[name])
            assert found[name].attrs["units"] == expected[name].attrs["units"]
        assert len(found.time) == 11
        assert found.attrs["ended"] == "duration"


def test_csv_is_a_trajectory_and_tensions_again(vertebra, robot: vb.Robot, tmp_path: Path) -> None:
    from vertebra.dynamics.motion_samples import read_trajectory

    path = tmp_path / "motion.csv"
    vertebra("simulate", ROBOT, *TENSIONS, *SHORT, "--damping", "0.02", "--out", str(path))
    expected = vb.simulate(robot, PULLS, duration=0.05, damping=0.02)
    motion = read_trajectory(path, robot).motion
    np.testing.assert_allclose(motion.q, expected.q, atol=1e-15, rtol=1e-14)
    np.testing.assert_allclose(motion.qd, expected.qd, atol=1e-13, rtol=1e-14)
    np.testing.assert_allclose(motion.qdd, expected.qdd, atol=1e-11, rtol=1e-13)
    header = next(csv.reader(path.read_text().splitlines()))
    assert header[:2] == ["time_s", "q1_deg"]
    assert {"t4_N", "length1_mm", "z_mm", "kinetic_mJ", "dissipated_mJ"} <= set(header)
    again = vertebra("simulate", ROBOT, "--tensions-file", str(path), "--damping", "0.02", "--json")
    np.testing.assert_allclose(again.json["tip"], expected.tip, atol=1e-12)
    assert "note: columns not used: q1_deg" in again.err
    assert f" and {len(header) - 5 - 8} more" in " ".join(again.err.split()), (
        "all but time, t1 to t4 and the eight named"
    )


def test_tensions_over_time(vertebra, robot: vb.Robot, tmp_path: Path) -> None:
    path = tmp_path / "pulls.csv"
    path.write_text("t_s,t1_N,t2_N,t3_N,t4_N\n0,20,10,20,40\n0.03,20,30,20,40\n")
    record = vertebra("simulate", ROBOT, "--tensions-file", str(path), "--json").json
    assert record["reached"] == pytest.approx(0.03)
    ramp = np.column_stack([np.full(31, value) for value in PULLS])
    ramp[:, 1] = np.linspace(10.0, 30.0, 31)
    expected = vb.simulate(robot, ramp, duration=0.03)
    np.testing.assert_allclose(record["q"], expected.q, atol=1e-12)
    ran = vertebra("simulate", ROBOT, "--tensions-file", str(path), "--duration", "40 ms", "--json")
    assert "ends at 0.03 s; its last row is kept from there on" in ran.err
    np.testing.assert_allclose(ran.json["tensions"][-1], [20, 30, 20, 40])


def test_a_static_start_stays(vertebra, robot: vb.Robot) -> None:
    record = vertebra("simulate", ROBOT, "-t", "20,20,20,40", *SHORT, "--start", "static", "--json").json
    shape = vb.shape_from_tensions(robot, [20, 20, 20, 40])
    np.testing.assert_allclose(record["q"], np.tile(shape.angles, (51, 1)), atol=1e-10)
    out = vertebra("simulate", ROBOT, "-t", "20,20,20,40", *SHORT, "--start", "static")
    assert "0: nothing moves" in out.out
    assert out.err == "", "round-off is no imbalance"


def test_starts(vertebra, robot: vb.Robot) -> None:
    other = vertebra("simulate", ROBOT, "-t", "20,20,20,40", *SHORT, "--start", "static 20,10,20,40", "--json").json
    np.testing.assert_allclose(other["q"][0], vb.shape_from_tensions(robot, PULLS).angles, atol=1e-12)
    assert np.abs(np.subtract(other["q"][-1], other["q"][0])).max() > 1e-3
    bent = vertebra("simulate", ROBOT, *TENSIONS, *SHORT, "--start", "5 deg", "--json").json
    np.testing.assert_allclose(bent["q"][0], np.radians([5.0] * 6))
    assert not np.any(bent["qd"][0])


def test_cables_by_length(vertebra) -> None:
    """An elastic drive from the shape it holds stays there."""
    arguments = ("--shortenings", "1,1.2,1,1 mm", "--stiffness-EA", "5 kN", "--start", "static", "--fill-inertia")
    more = ("--integrator", "implicit", "--duration", "20 ms", "--damping", "1e-4", "--json")
    record = vertebra("simulate", "hu2023-prototype", *arguments, *more).json
    robot = vb.load("hu2023-prototype").fill_inertia()
    shape = vb.shape_from_lengths(robot, shortenings=[1e-3, 1.2e-3, 1e-3, 1e-3], stiffness_EA=5e3)
    np.testing.assert_allclose(record["q"], np.tile(shape.angles, (21, 1)), atol=1e-7)
    np.testing.assert_allclose(record["tensions"][-1], shape.tensions[:, 0], rtol=1e-4)
    straight = vb.Pose(robot, np.zeros(11)).cable_lengths
    lengths = ",".join(repr(value) for value in (1e3 * straight - [1.0, 1.2, 1.0, 1.0]).tolist())
    again = vertebra("simulate", "hu2023-prototype", "--lengths", f"{lengths} mm", *arguments[2:], *more).json
    np.testing.assert_allclose(again["q"], record["q"], atol=1e-9)


EARLY = ("simulate", ROBOT, "-t", "20,100,20,5", "--duration", "1 s")


def test_an_early_end_says_why_and_keeps_what_there_is(vertebra, robot: vb.Robot, tmp_path: Path) -> None:
    path = tmp_path / "early.csv"
    ran = vertebra(*EARLY, "--out", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert f"wrote {path}" in ran.err
    assert ran.err.splitlines()[-1].startswith("error: joint ")
    with pytest.raises(vb.OutOfRange) as caught:
        vb.simulate(robot, [20, 100, 20, 5], duration=1.0)
    said = str(caught.value).replace("give it rigid stops or a Bumper, or try a shorter dt", "")
    assert ran.err.splitlines()[-1] == f"error: {said}take --limits rigid or a bumper, or a shorter --dt"
    rows = list(csv.DictReader(path.read_text().splitlines()))
    reached = caught.value.result
    assert len(rows) == len(reached.time)
    assert float(rows[-1]["time_s"]) == pytest.approx(float(reached.time[-1]))
    assert float(rows[-1]["time_s"]) < 1.0


def test_an_early_end_in_tables_json_and_pages(vertebra, tmp_path: Path) -> None:
    ran = vertebra(*EARLY)
    assert ran.code == 2
    assert "EARLY, after" in ran.out
    assert ran.err.count("is outside") == 1
    error = vertebra(*EARLY, "--json").json
    assert error["error"] == "OutOfRange"
    assert error["joint"] >= 1
    page = tmp_path / "early.html"
    assert vertebra(*EARLY, "--out", str(page)).code == 2
    assert "ended early, after" in page.read_text()


def test_bumpers_keep_it_going(vertebra, robot: vb.Robot) -> None:
    arguments = ("simulate", ROBOT, "-t", "20,100,20,5", "--duration", "150 ms", "--dt", "0.2 ms")
    assert vertebra(*arguments).code == 2
    ran = vertebra(*arguments, "--limits", "bumper 200 N*m/rad, 0.5 N*m*s/rad", "--json")
    assert ran.code == 0
    bumper = Bumper(200.0, 0.5)
    expected = vb.simulate(robot, [20, 100, 20, 5], duration=0.15, dt=2e-4, limits=bumper)
    np.testing.assert_array_equal(ran.json["q"], expected.q)
    assert ran.json["notes"]["stops"] == "200 N*m/rad, 0.5 N*m*s/rad"


def test_rigid_stops_hold_the_joints(vertebra, robot: vb.Robot, tmp_path: Path) -> None:
    arguments = ("simulate", ROBOT, "-t", "1", "--duration", "2 s", "--damping", "0.1", "--integrator", "implicit")
    assert vertebra(*arguments).code == 2
    held, path = (*arguments, "--limits", "rigid"), tmp_path / "motion.csv"
    ran = vertebra(*held, "--out", str(path))
    assert ran.code == 0
    expected = vb.simulate(robot, 1, duration=2, damping=0.1, integrator="implicit", limits="rigid")
    torque = float(expected.stop_torques[-1, 1])
    assert torque < -0.01
    shown = " ".join(vertebra(*held).out.split())
    assert f"on their stops joint 2 with {-torque:.4g} N*m" in shown
    assert "stops rigid" in shown
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert float(rows[-1]["stop2_Nm"]) == pytest.approx(torque, rel=1e-9)
    assert vertebra(*arguments, "--limits", "end").code == 2


def test_friction_is_that_of_the_file_by_default(vertebra) -> None:
    more = ("--fill-inertia", "-t", "10,14,10,10", "--duration", "5 ms", "--dt", "0.1 ms", "--json")
    rough = vertebra("simulate", "yang2023-b", *more).json
    free = vertebra("simulate", "yang2023-b", *more, "--friction", "none").json
    assert rough["dissipated"][-1] > 0.0
    assert free["dissipated"][-1] == pytest.approx(0.0, abs=1e-15)


def test_joints_with_several_freedoms_have_a_column_for_each(vertebra, tmp_path: Path) -> None:
    """In the CSV, which is a trajectory again, and in the tables; damping is that of the file by default."""
    joints = (UNIVERSAL | {"damping": 0.002}, {"kind": "rolling", "radius": "15 mm"}, BACKBONE | {"torsion": 0.1})
    robot, model, path = spatial_robot(*joints), tmp_path / "spatial.yaml", tmp_path / "motion.csv"
    model.write_text(json.dumps(robot.to_mapping()))
    pulls = np.linspace(0.5, 2.0, 12)
    asked = ("simulate", str(model), "-t", ",".join(map(str, pulls)), "--duration", "20 ms", "--dt", "0.2 ms")
    ran = vertebra(*asked, "--out", str(path))
    assert ran.code == 0
    names = ["1a", "1b", "2a", "2b", "3", "4", "5a", "5b", "5c", "6a", "6b", "6c"]
    header = path.read_text().splitlines()[0].split(",")
    assert header[1:13] == [f"q{name}_deg" for name in names]
    assert header[13:25] == [f"qd{name}_deg_s" for name in names]
    assert header[25:37] == [f"qdd{name}_deg_s2" for name in names]
    table = vertebra(*asked).out
    words = [word for line in table.split("Joints")[1].splitlines() for word in line.split()]
    assert [word for word in words if word in names][:12] == names
    assert "0.002, 0.002, 0.002, 0.002, 0, 0, 0, 0, 0, 0, 0, 0 N*m*s/rad" in " ".join(table.split())
    expected = vb.simulate(robot, pulls, duration=0.02, dt=2e-4)
    motion = read_trajectory(path, robot).motion
    np.testing.assert_allclose(motion.q, expected.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(motion.qdd, expected.qdd, rtol=1e-12)
    assert vertebra(*asked, "--damping", "0", "--json").json["energy_change"]["dissipated"] == 0.0
    wrong = vertebra(*asked, "--damping", "0,0")
    assert wrong.code == 2
    assert "12 freedoms" in wrong.err


def test_missing_inertia_names_the_option(vertebra) -> None:
    ran = vertebra("simulate", "hu2023-prototype", "-t", "4", *SHORT)
    assert (ran.code, ran.out) == (2, "")
    assert "link 1 has no inertia" in ran.err
    assert "--fill-inertia" in ran.err
    assert vertebra("simulate", "hu2023-prototype", "-t", "4", *SHORT, "--fill-inertia").code == 0


def test_progress_bar_only_for_long_work(capsys, monkeypatch) -> None:
    from vertebra.cli import progress

    with progress.progress_bar("working") as report:
        report(1, 10)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.progress_bar("working") as report:
        report(5, 10)
        report(10, 10)
    captured = capsys.readouterr()
    assert captured.out == "", "stdout stays clean for pipes"
    assert "working" in captured.err


MISTAKES = {
    "nothing": (SHORT, "give one of --tensions, --lengths, --shortenings or --tensions-file"),
    "two": ((*TENSIONS, "--lengths", "1 mm", *SHORT), "--tensions and --lengths: give only one of"),
    "no duration": (TENSIONS, "--duration: give the time to simulate"),
    "no time": ((*TENSIONS, "--duration", "0"), "--duration '0': give one time above 0"),
    "unit of time": ((*TENSIONS, "--duration", "2 mm"), "--duration: '2 mm'"),
    "step": ((*TENSIONS, *SHORT, "--dt", "-1 ms"), "--dt '-1 ms': give one time above 0"),
    "push": (("-t", "1,-2,3,4", *SHORT), "cable 2 has -2 N, but a cable cannot push"),
    "count": (("-t", "1,2", *SHORT), "this robot has 4 cables"),
    "start": ((*TENSIONS, *SHORT, "--start", "elsewhere"), "--start: 'elsewhere'"),
    "static start": ((*TENSIONS, *SHORT, "--start", "static 0,0,0,0"), "--start 'static 0,0,0,0': "),
    "damping": ((*TENSIONS, *SHORT, "--damping", "-1"), "--damping '-1': would drive the robot"),
    "dampings": ((*TENSIONS, *SHORT, "--damping", "1,2"), "this robot has 6 joints"),
    "limits": ((*TENSIONS, *SHORT, "--limits", "wall"), "--limits 'wall': give file, end, rigid, or a spring such as"),
    "bumper": ((*TENSIONS, *SHORT, "--limits", "bumper"), "say how stiff the stops are"),
    "soft bumper": ((*TENSIONS, *SHORT, "--limits", "bumper 0"), "give a stiffness above 0"),
    "every": ((*TENSIONS, *SHORT, "--every", "0"), "--every 0: give a count from 1 to 100000000"),
    "elastic": ((*TENSIONS, *SHORT, "--stiffness-EA", "1 kN"), "belongs to --lengths"),
    "presliding": ((*TENSIONS, *SHORT, "--presliding", "1 um"), "--presliding: belongs to friction"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_remedy(vertebra, mistake: str) -> None:
    arguments, said = MISTAKES[mistake]
    ran = vertebra("simulate", ROBOT, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_mistakes_in_a_file_of_tensions(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "pulls.csv"
    header = "t_s,t1_N,t2_N,t3_N,t4_N\n"
    for text, said in (
        ("0,1,2,3,x\n", "row 1 (line 2), column t4_N: must be a finite plain number, not 'x'"),
        ("0.5,1,2,3,4\n1,1,2,3,4\n", "the first row is at 0.5 s; let it be at 0"),
        ("0,1,2,3,4\n", "has one row only; give the time to simulate"),
        ("0,1,2,3,-4\n", "column t4_N: must be a tension of 0 N or more, not -4"),
    ):
        path.write_text(header + text)
        ran = vertebra("simulate", ROBOT, "--tensions-file", str(path))
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err


def test_robots_of_ball_joints_are_refused(vertebra) -> None:
    ran = vertebra("simulate", "cai2023", "-t", "35", *SHORT)
    assert (ran.code, ran.out) == (2, "")
    assert "Traceback" not in ran.err


def test_a_run_that_diverges_says_what_to_type(vertebra) -> None:
    long = ("--start", "5 deg", "--duration", "5 s", "--dt", "0.4 s", "--limits", "rigid")
    ran = vertebra("simulate", "dantuono2023", "-t", "20,20,20,40", *long)
    assert ran.code == 2
    assert ran.err.count("diverged") == 1
    assert "at joint 1; take a shorter --dt or --integrator implicit; at the start rk4 needs steps of 25 ms" in ran.err
    assert "take a shorter --dt" in " ".join(ran.out.split())
