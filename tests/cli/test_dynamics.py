"""`vertebra dynamics`: the answer of the call, files, what is not feasible, and mistakes."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from tests.report.looking import Reader

import vertebra as vb
from vertebra.cli.dynamics import EIGHTHS, strips
from vertebra.dynamics.motion_samples import read_trajectory

ROOT = Path(__file__).parents[2]
ROBOT = "dantuono2023"
SWAY = ROOT / "examples" / "sway.csv"


@pytest.fixture(scope="module")
def robot() -> vb.Robot:
    return vb.load(ROBOT)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every tenth row of the example, with its rates, so that nothing depends on the sampling."""
    motion = read_trajectory(SWAY, vb.load(ROBOT)).motion
    names = [
        f"{name}{j}_{unit}" for name, unit in (("q", "rad"), ("qd", "rad_s"), ("qdd", "rad_s2")) for j in range(1, 7)
    ]
    rows = np.column_stack([motion.time, motion.q, motion.qd, motion.qdd])[::10]
    path = tmp_path_factory.mktemp("motion") / "few.csv"
    text = [",".join(["t_s", *names]), *(",".join(repr(value) for value in row) for row in rows.tolist())]
    path.write_text("\n".join(text) + "\n")
    return path


def asked(path: Path, *more: str) -> tuple[str, ...]:
    return ("dynamics", ROBOT, "--trajectory", str(path), *more)


@pytest.mark.parametrize("method", ["shared", "per_link", "capstan", "project"])
def test_answer_is_that_of_the_call(vertebra, robot: vb.Robot, few: Path, method: str) -> None:
    more = ("--friction", "0.4") if method == "capstan" else ()
    ran = vertebra(*asked(few, "--method", method, "--load", "0,0,1@4", "--upper", "80", "--json", *more))
    motion = read_trajectory(few, robot).motion
    expected = vb.allocate_tensions(
        robot, motion.q, motion.qd, motion.qdd, loads=[vb.Load(force=(0, 0, 1), link=4)], method=method, upper=80.0,
        dt=motion.dt, friction=0.4 if more else None,
    )  # fmt: skip
    record = ran.json
    for name in ("q", "qd", "qdd", "tau", "tensions", "base_tensions", "residual"):
        np.testing.assert_array_equal(record[name], getattr(expected, name), err_msg=name)
    assert expected.contacts is not None
    np.testing.assert_array_equal(record["contact_normal"], expected.contacts.normal)
    np.testing.assert_array_equal(record["needed"], expected.tau, "rolling joints have no springs")
    np.testing.assert_array_equal(record["feasible_by_step"], expected.feasible)
    assert record["feasible"] is bool(np.all(expected.feasible))
    assert record["stable"] is (True if method == "project" else None)
    assert ("stable_by_step" in record) == (method == "project")
    assert ran.code == (0 if record["feasible"] else 2)
    assert len(record["violations"]) == len(expected.violations)
    worst = np.abs(expected.residual)
    assert record["largest_residual"]["value"] == worst.max()
    assert record["largest_residual"]["joint"] == int(worst.max(axis=0).argmax()) + 1
    assert record["smallest_contact_force"]["value"] == expected.contacts.normal.min()
    assert (record["method"], record["computed"]) == (method, [])


def test_infeasible_shared_tensions_are_reported(vertebra, few: Path) -> None:
    ran = vertebra(*asked(few))
    shown = " ".join(ran.out.split())
    assert ran.code == 2
    assert "feasible NO, only at 0 of 21 samples (0 %)" in shown
    assert "What is not feasible" in ran.out
    assert "not feasible at 21 of 21 samples; most often: step " in ran.err
    assert "its links part; shared ignores contacts" in ran.err
    for said in ("Joints, at their largest", "Cables, at the base", "5 to 100 N per cable"):
        assert said in shown


def test_per_link_tensions_are_feasible(vertebra, robot: vb.Robot, few: Path) -> None:
    ran = vertebra(*asked(few, "--method", "per_link"))
    assert (ran.code, ran.err) == (0, "")
    shown = " ".join(ran.out.split())
    assert "yes, at every sample" in shown
    assert "nothing but round-off" in shown
    motion = read_trajectory(few, robot).motion
    tau = vb.inverse_dynamics(robot, motion.q, motion.qd, motion.qdd)
    for j in range(6):
        assert f"{tau[:, j].min():.3g}" in shown
        assert f"{tau[:, j].max():.3g}" in shown
    assert "smallest contact force 1 N, joint" in shown


def test_project_finds_a_motion_that_is_feasible(vertebra, few: Path) -> None:
    ran = vertebra(*asked(few, "--method", "project"))
    assert "moved from what was asked" in ran.out
    record = vertebra(*asked(few, "--method", "project", "--json")).json
    moved = np.abs(np.subtract(record["q"], read_trajectory(few, vb.load(ROBOT)).motion.q))
    assert moved.max() > 1e-3


def test_bounds_cone_and_contact_force_are_passed_on(vertebra, robot: vb.Robot, few: Path) -> None:
    more = ("--method", "per_link", "--lower", "8,9,8,9", "--upper", "90 N", "--cone", "true")
    record = vertebra(*asked(few, *more, "--min-contact-force", "3", "--json")).json
    motion = read_trajectory(few, robot).motion
    expected = vb.allocate_tensions(
        robot, motion.q, motion.qd, motion.qdd, method="per_link", lower=[8, 9, 8, 9], upper=90, cone="true",
        min_contact_force=3.0,
    )  # fmt: skip
    np.testing.assert_array_equal(record["tensions"], expected.tensions)
    assert record["notes"]["bounds"] == "(8, 9, 8, 9) to 90 N per cable"


def test_writes_files_even_if_not_feasible(vertebra, few: Path, tmp_path: Path) -> None:
    path = tmp_path / "answer.html"
    ran = vertebra(*asked(few, "--method", "shared", "--out", str(path)))
    assert (ran.code, ran.out) == (2, "")
    said = ran.err.splitlines()
    assert f"wrote {path}" in said
    assert said[-1].startswith("not feasible at")
    assert said[-1] in Reader(path.read_text(encoding="utf-8")).shown


def test_netcdf(vertebra, robot: vb.Robot, few: Path, tmp_path: Path) -> None:
    import xarray

    path = tmp_path / "answer.nc"
    vertebra(*asked(few, "--method", "per_link", "--out", str(path)))
    motion = read_trajectory(few, robot).motion
    expected = vb.allocate_tensions(robot, motion.q, motion.qd, motion.qdd, method="per_link")
    with xarray.open_dataset(path) as found:
        np.testing.assert_array_equal(found["tensions"], expected.tensions)
        assert found["tensions"].dims == ("time", "cable", "joint")
        np.testing.assert_array_equal(found["contact_use"], expected.contacts.use)
        assert found["tau"].attrs["units"] == "N*m"
        assert found.attrs["method"] == "per_link"


def test_csv_can_be_read_again(vertebra, robot: vb.Robot, few: Path, tmp_path: Path) -> None:
    path = tmp_path / "answer.csv"
    vertebra(*asked(few, "--method", "per_link", "--out", str(path)))
    motion = read_trajectory(few, robot).motion
    expected = vb.allocate_tensions(robot, motion.q, motion.qd, motion.qdd, method="per_link")
    again = read_trajectory(path, robot).motion
    np.testing.assert_allclose(again.qdd, motion.qdd, rtol=1e-14, atol=1e-14)
    column = {name: [] for name in next(csv.reader(path.read_text().splitlines()))}
    for row in csv.DictReader(path.read_text().splitlines()):
        for name, value in row.items():
            column[name].append(float(value))
    np.testing.assert_array_equal(column["cable4_joint2_N"], expected.tensions[:, 3, 1])
    np.testing.assert_array_equal(column["t4_N"], expected.base_tensions[:, 3])
    np.testing.assert_array_equal(column["tau2_Nm"], expected.tau[:, 1])
    np.testing.assert_array_equal(column["contact1_N"], expected.contacts.normal[:, 0].min(axis=-1))
    assert set(column["feasible"]) == {1.0}


def test_plot_in_the_terminal(vertebra, few: Path) -> None:
    ran = vertebra(*asked(few, "--method", "per_link", "--plot"))
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert any(line.startswith("Tensions at the base over 0 to 2 s, 0 to ") for line in lines)
    drawn = [line for line in lines if line.startswith("cable ") and "|" in line]
    assert [line.split()[1] for line in drawn] == ["1", "2", "3", "4"]
    assert drawn[1].endswith("| 5 to 5 N")


def test_strips_of_blocks() -> None:
    ramp = np.linspace(0.0, 24.0, 60)
    *upper, last = strips({"a": ramp}, "N", 0.0, 24.0, "utf-8")
    assert len(upper) == 2
    row = last.split("|")[1]
    assert row[0] == EIGHTHS[1], "the least is still seen"
    assert row.rstrip(EIGHTHS[8])[-1:] == EIGHTHS[7]
    assert upper[0].split("|")[1][-1] == EIGHTHS[8]
    assert last.endswith("| 0 to 24 N")
    (plain,) = strips({"a": ramp}, "N", 0.0, 24.0, "ascii")
    assert plain.isascii()
    assert strips({"one": np.array([3.0])}, "N", 0.0, 3.0, "utf-8")[-1] == "one |█| 3 to 3 N"
    assert strips({"none": np.zeros(4)}, "N", 0.0, 0.0, "utf-8")[-1] == "none |▁▁▁▁| 0 to 0 N"


def test_rates_of_the_example_come_from_a_spline(vertebra) -> None:
    record = vertebra(*asked(SWAY, "--method", "per_link", "--json")).json
    assert record["computed"] == ["qd", "qdd"]
    assert record["warnings"] == []
    t = np.array(record["time"])
    s, sd = np.sin(np.pi * t / 2) ** 2, np.pi / 2 * np.sin(np.pi * t)
    rate = np.radians(12.0) * (sd * np.sin(2 * np.pi * t) + s * 2 * np.pi * np.cos(2 * np.pi * t))
    np.testing.assert_allclose(np.array(record["qd"])[:, 0], rate, atol=1e-5)


def test_doubtful_rates_are_warned_of(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "rough.csv"
    rows = "".join(f"{0.01 * i:.2f},{(i * 7919) % 5},0,0,0,0,0\n" for i in range(30))
    path.write_text("t_s,q1_deg,q2_deg,q3_deg,q4_deg,q5_deg,q6_deg\n" + rows)
    ran = vertebra(*asked(path, "--method", "per_link", "--json"))
    assert "warning: accelerations computed from these rows are doubtful" in ran.err
    assert "doubtful" in ran.json["warnings"][0]


def test_a_motion_along_which_the_robot_is_unstable_is_warned_of(vertebra, tmp_path: Path) -> None:
    """Flexures bend to opposite sides only beyond the tension at which they buckle; they start straight."""
    link = "{length: 20 mm, mass: 10 g, inertia: [1e-6, 1e-6, 1e-6]}"
    (tmp_path / "robot.yaml").write_text(
        "vertebra: 1\nname: flexures\nsections:\n- joints: 3\n  joint: {kind: flexure, length: 10 mm, stiffness: 0.1}\n"
        f"  azimuth: [0 deg, 90 deg]\n  link: {link}\n"
        "  cables: {radius: 8 mm, azimuth: [0 deg, 90 deg, 180 deg, 270 deg]}\n"
    )
    rows = [f"{0.04 * i:.2f},{angle},{0.25 * angle},{-0.5 * angle}" for i in range(9) for angle in [i * (16 - i) / 12]]
    (tmp_path / "motion.csv").write_text("\n".join(["time_s,q1_deg,q2_deg,q3_deg", *rows]) + "\n")
    files = str(tmp_path / "robot.yaml"), "--trajectory", str(tmp_path / "motion.csv")
    given = ("dynamics", *files, "--method", "project", "--lower", "0", "--upper", "60")
    ran = vertebra(*given)
    assert "the robot is unstable along this motion, first at 0.04 s" in ran.err
    record = vertebra(*given, "--json").json
    assert (record["feasible"], record["converged"], record["stable"]) == (True, True, False)
    assert record["stable_by_step"] == [1, *[0] * 8]


def test_uneven_steps_of_project_are_noted(vertebra, few: Path, tmp_path: Path) -> None:
    lines = few.read_text().splitlines()
    path = tmp_path / "uneven.csv"
    path.write_text("\n".join(lines[:4] + lines[5:8]) + "\n")
    assert "time steps differ" in vertebra(*asked(path, "--method", "project", "--json")).err


def test_flexures_need_a_largest_tension_and_inertia(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "rest.csv"
    names = [f"q{j}_deg" for j in range(1, 13)]
    path.write_text(",".join(["t_s", *names]) + "\n0," + ",".join(["2"] * 12) + "\n")
    rough = ("dynamics", "yang2023-b", "--trajectory", str(path), "--fill-inertia", "--upper", "50")
    said = vertebra(*rough).err
    assert "--friction: shared takes cables that slide freely" in said
    assert "--method capstan, or --friction none" in said
    assert vertebra(*rough, "--method", "capstan", "--json").json["method"] == "capstan"
    bare = ("dynamics", "yang2023-b", "--trajectory", str(path), "--friction", "none")
    assert "--fill-inertia" in vertebra(*bare, "--upper", "50").err
    ran = vertebra(*bare, "--fill-inertia")
    assert (ran.code, ran.out) == (2, "")
    assert "--upper: cable 1 has no largest tension" in ran.err
    record = vertebra(*bare, "--fill-inertia", "--upper", "50", "--json").json
    stiffness = vb.load("yang2023-b").joints["stiffness"]
    np.testing.assert_allclose(np.subtract(record["needed"], record["tau"])[0], stiffness * np.radians(2.0))
    assert "spring" in vertebra(*bare, "--fill-inertia", "--upper", "50").out


MISTAKES = {
    "no file": (("--trajectory", "nowhere.csv"), "nowhere.csv: cannot be read: No such file"),
    "two outputs": (("--trajectory", str(SWAY), "--plot", "--json"), "--plot: cannot be combined with --json"),
    "bounds": (("--trajectory", str(SWAY), "--lower", "50", "--upper", "20"), "--upper: cable 1: 20 N is below"),
    "push": (("--trajectory", str(SWAY), "--lower", "-5"), "--lower: cable 1 has -5 N, but a cable cannot push"),
    "contact": (("--trajectory", str(SWAY), "--min-contact-force", "-1"), "give one force of 0 or more"),
    "friction": (("--trajectory", str(SWAY), "--friction", "0.3"), "--friction: shared takes cables that slide freely"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_remedy(vertebra, mistake: str) -> None:
    arguments, said = MISTAKES[mistake]
    ran = vertebra("dynamics", ROBOT, *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_bad_cell_is_named(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("t_s,q1_deg,q2_deg,q3_deg,q4_deg,q5_deg,q6_deg\n0,0,0,0,0,0,0\n0.1,0,0,oops,0,95,0\n")
    ran = vertebra(*asked(path, "--json"))
    assert ran.code == 2
    assert f"{path}:" in ran.err
    assert "row 2 (line 3), column q3_deg: must be a finite plain number, not 'oops'" in ran.err
    assert "row 2 (line 3), column q5_deg: 95 deg is beyond the limit of joint 5, +-90 deg" in ran.err
    assert ran.json["error"] == "MeasurementError"
    assert ran.json["column"] == "q3_deg"


def test_methods_that_do_not_exist(vertebra, few: Path) -> None:
    ran = vertebra(*asked(few, "--method", "magic"))
    assert ran.code == 2
    assert "magic" in ran.err


def test_the_robot_is_looked_at_before_the_file(vertebra) -> None:
    assert "joint 1 is a ball joint" in vertebra("dynamics", "cai2023", "--trajectory", str(SWAY)).err


@pytest.mark.parametrize("command", ["dynamics", "simulate"])
def test_missing_inertia_and_a_wrong_file_are_reported_together(vertebra, tmp_path: Path, command: str) -> None:
    """Both at once, and the file alone once inertia is there."""
    path = tmp_path / "motion.csv"
    path.write_text("time_s,q1_dge,q3_deg,t1_kg\n0,0,0,1\n")
    option, column = {"dynamics": ("--trajectory", "q1_dge"), "simulate": ("--tensions-file", "t1_kg")}[command]
    ran = vertebra(command, "hu2023-planar", option, str(path))
    said = " ".join(ran.err.split())
    assert ran.code == 2
    assert "link 1 has no inertia" in said
    assert "--fill-inertia" in said
    assert column in said
    ran = vertebra(command, "hu2023-planar", option, str(path), "--fill-inertia")
    assert ran.code == 2
    assert "no inertia" not in ran.err
    assert column in ran.err
