"""The answer about a simulated motion: what it shows, that it is right, that its page moves and stays small."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.report.looking import Reader, page_of
from tests.report.runs import made_up_case
from tests.report.test_follow import played
from tests.robots import bending_mix, continuum, universals

import vertebra as vb
from vertebra.report.meshes import Rods
from vertebra.report.panels import MOST_POINTS, spread, thin_curve
from vertebra.report.plotly import MOST_FRAMES, Motion, light_link, motion_picture
from vertebra.report.simulation import (
    SimulationCase,
    cable_table,
    energy_table,
    joint_table,
    pace_text,
    simulation_panels,
    simulation_report,
    simulation_summary,
    simulation_warnings,
)

LARGEST_PAGE = 9_000_000


@pytest.fixture(scope="module")
def case() -> SimulationCase:
    return made_up_case(vb.load("dantuono2023"), notes=(("damping", "0.01 N*m*s/rad"),), wall=0.25)


@pytest.fixture(scope="module")
def page(case: SimulationCase) -> str:
    return page_of(simulation_report(case), "a <motion>")


def test_page_is_small(page: str) -> None:
    assert len(page.encode()) < LARGEST_PAGE


def test_page_shows_the_numbers(page: str, case: SimulationCase) -> None:
    shown = Reader(page).shown
    text = " ".join(shown)
    assert "a <motion>" in shown
    tip = case.array("tip") * 1e3
    assert f"({tip[-1, 0]:.3f}, {tip[-1, 1]:.3f}, {tip[-1, 2]:.3f}) mm" in text
    fastest = math.degrees(0.2 * np.pi / 0.5 * 1.5)
    assert f"{fastest:.4g} deg/s, joint 6 at 0 s" in text
    assert "after 0.5 s, as asked" in text
    assert "2 (0.25 s for 0.5 s)" in text
    assert "10 to 13.5 N" in text
    assert "0.01 N*m*s/rad" in text
    for name in ("Play", "path of the tip", "at the start", "joint 6", "cable 4", "dissipated"):
        assert name in page


def test_account_of_energy(case: SimulationCase) -> None:
    energy = case.energy()
    np.testing.assert_allclose(energy.imbalance, 1e-6 * case.time / 0.5, atol=1e-15)
    assert energy.scale == pytest.approx(0.02, rel=1e-3)
    assert energy.share == pytest.approx(5e-5, rel=1e-3)
    rows = {row[0]: row[1:] for row in energy_table(case).rows}
    assert rows["potential energy"][1] == "5"
    assert rows["dissipated"][1] == "1.5"
    assert rows["kinetic energy"][0] == "20"
    assert rows["imbalance"][1] == "0.001"
    assert "stored in cables" not in rows, "what stays zero is not listed"
    assert list(simulation_warnings(case)) == []


def test_an_account_that_is_off_is_warned_of(case: SimulationCase) -> None:
    run = case.run.copy(deep=True)
    run["kinetic"][-1] += 0.001
    off = SimulationCase(case.robot, run, case.gravity, case.driven, case.asked)
    (text,) = simulation_warnings(off)
    assert text == "the energy balance is off by 5 % of its largest part: make dt smaller"


def test_nothing_moves() -> None:
    robot = vb.load("dantuono2023")
    moving = made_up_case(robot)
    run = moving.run.copy(deep=True) * 0.0
    run["tip"], run["lengths"], run["tensions"] = (moving.run[name] for name in ("tip", "lengths", "tensions"))
    run["cable_work"][1:] += 1e-14
    still = SimulationCase(robot, run.assign_attrs(moving.run.attrs), robot.gravity, "nothing", 0.5)
    assert list(simulation_warnings(still)) == []
    assert dict(simulation_summary(still).rows)["peak speed"] == "0: nothing moves"


def test_an_early_end_stands_on_top(case: SimulationCase) -> None:
    early = made_up_case(case.robot, 20, 0.2, fault="joint 2 reached its limit")
    early = SimulationCase(early.robot, early.run, early.gravity, "x", 0.5, fault=early.fault)
    text = "ended early, after 0.2 of 0.5 s: joint 2 reached its limit"
    assert next(iter(simulation_warnings(early))) == text
    assert text in Reader(page_of(simulation_report(early), "early")).shown


def test_slack_cables_are_noted(case: SimulationCase) -> None:
    run = case.run.copy(deep=True)
    run["tensions"][5:9, 1] = 0.0
    slack = SimulationCase(case.robot, run, case.gravity, case.driven, case.asked)
    assert list(simulation_warnings(slack)) == ["slack at times: cable 2"]


def test_tables_have_a_row_a_joint_and_a_cable(case: SimulationCase) -> None:
    joints, cables = joint_table(case), cable_table(case)
    assert len(joints.rows) == 6
    q = np.degrees(case.array("q"))
    assert joints.rows[2][1:5] == tuple(f"{value:.3f}" for value in (0.0, q[-1, 2], q[:, 2].min(), q[:, 2].max()))
    assert [row[2:6] for row in cables.rows][1] == ("11", "11.5", "11", "11.5")
    lengths = case.array("lengths") * 1e3
    assert cables.rows[0][7] == f"{lengths[0, 0] - lengths[-1, 0]:.3f}"


def test_every_freedom_has_a_row_a_line_and_its_joint() -> None:
    robot = bending_mix()
    case = made_up_case(robot)
    q, names = np.degrees(case.array("q")), robot.freedom_names
    rows = joint_table(case).rows
    assert [row[0] for row in rows] == names
    assert rows[0][5] == rows[1][5] == f"{100 * np.hypot(q[:, 0], q[:, 1]).max() / 90:.0f} %"
    assert [row[0] for row in rows if row[5] == "-"] == ["7c", "8c"], "a twist has no limit"
    angles = simulation_panels(case)[0]
    assert [line.name for line in angles.series] == [f"joint {name}" for name in names]
    assert "joint 9 at" in " ".join(Reader(page_of(simulation_report(case))).shown), "the last freedom is the fastest"


def test_a_joint_on_its_stop_is_told_once_with_its_whole_torque() -> None:
    case = made_up_case(continuum(3, torsion=0.1))
    torques = np.zeros_like(case.array("q"))
    torques[-1, 3:5], torques[-1, 6] = (0.3, -0.4), 0.2
    case.run["stop_torques"] = ("time", "joint"), torques
    assert dict(simulation_summary(case).rows)["on their stops"] == "joints 2 with 0.5 N*m, 3 with 0.2 N*m"
    case.run["stop_torques"] = ("time", "joint"), 0.0 * torques
    assert dict(simulation_summary(case).rows)["on their stops"] == "none at the end"


def test_plots_show_the_run(case: SimulationCase) -> None:
    angles, tensions, tip, energy = simulation_panels(case)
    np.testing.assert_allclose(angles.series[3].y, np.degrees(case.array("q")[:, 3]))
    np.testing.assert_allclose(tensions.series[2].y, case.array("tensions")[:, 2])
    np.testing.assert_allclose(tip.series[2].y, case.array("tip")[:, 2] * 1e3)
    names = [series.name for series in energy.series]
    assert names == [
        "kinetic energy", "potential energy", "work of the cables", "dissipated", "drawn in with the cables",
    ]  # fmt: skip
    np.testing.assert_allclose(energy.series[0].y, (case.array("kinetic") - case.array("kinetic")[0]) * 1e3)
    for panel in (angles, tensions, tip, energy):
        assert panel.x == "time [s]"
        assert "[" in panel.y


def test_thin_curves_keep_their_peaks() -> None:
    x = np.linspace(0.0, 1.0, 100_000)
    y = np.sin(3.0 * x)
    y[54_321], y[12_345] = 7.0, -7.0
    thin_x, thin_y = thin_curve(x, y)
    assert len(thin_x) <= MOST_POINTS
    assert (thin_y.max(), thin_y.min()) == (7.0, -7.0)
    assert (thin_x[0], thin_x[-1]) == (0.0, 1.0)
    assert (np.diff(thin_x) > 0.0).all()
    few = np.arange(5.0)
    assert thin_curve(few, few)[0] is few
    assert spread(3, 10).tolist() == [0, 1, 2]
    rows = spread(1000, 7)
    assert (len(rows), rows[0], rows[-1]) == (7, 0, 999)


def test_a_long_run_is_thinned() -> None:
    """Twenty thousand samples: the page has at most 300 frames and 2000 points per curve."""
    robot = vb.load("dantuono2023")
    short = made_up_case(robot, 400)
    rows = np.linspace(0, 399, 20_000).round().astype(int)
    run = short.run.isel(time=rows).assign_coords(time=np.linspace(0.0, 20.0, 20_000))
    long = SimulationCase(robot, run, robot.gravity, "x", 20.0)
    assert len(page_of(simulation_report(long), "long").encode()) < LARGEST_PAGE
    assert len(Motion(robot, long.time, long.array("q")).time) == MOST_FRAMES
    assert all(len(series.x) <= MOST_POINTS for panel in simulation_panels(long) for series in panel.series)


def test_a_long_robot_still_fits() -> None:
    mapping = vb.load("dantuono2023").to_mapping()
    mapping["sections"][0]["joints"] = 40
    long = made_up_case(vb.load(mapping), 500)
    text = page_of(simulation_report(long), "long robot")
    assert len(text.encode()) < LARGEST_PAGE
    assert "24 of 40 joints" in text


def test_rods_move_with_the_animation() -> None:
    robot = continuum(3)
    q = np.linspace(0.0, 0.3, 4)[:, None] * np.ones(6)
    figure, _ = motion_picture(robot, np.arange(4.0), q, np.zeros((4, 3)), robot.gravity)
    for row in (0, 3):
        rods = figure.frames[row].data[2]
        points = np.column_stack([rods.x, rods.y, rods.z]).reshape(3, -1, 3)
        wanted = Rods(robot, count=points.shape[1] - 1).centre_lines(vb.Pose(robot, q[row]).frames) * 1e3
        np.testing.assert_allclose(points[:, :-1], wanted, atol=1e-4)
        assert np.isnan(points[:, -1]).all(), "no line from one rod to the next"


@pytest.mark.parametrize("name", ["hu2023-prototype", "yang2023-c", "dantuono2023"])
def test_frames_of_the_animation_are_the_poses(name: str) -> None:
    robot = vb.load(name)
    case = made_up_case(robot, 30)
    q = case.array("q")
    figure, slowness = motion_picture(robot, case.time, q, case.array("tip"), case.gravity)
    assert len(figure.frames) == 30 == len(figure.layout.sliders[0].steps)
    assert slowness == pytest.approx(0.04 * 29 / 0.5)
    for row in (0, 17, 29):
        frames, drawn = vb.Pose(robot, q[row]).frames, figure.frames[row].data
        for parity in (0, 1):
            wanted = [light_link(robot, i).moved(frames[i]).vertices for i in range(parity, len(frames), 2)]
            found = np.column_stack([drawn[parity].x, drawn[parity].y, drawn[parity].z])
            np.testing.assert_allclose(found, np.vstack(wanted) * 1e3, atol=1e-3)
        tip = drawn[-1]
        np.testing.assert_allclose([tip.x[0], tip.y[0], tip.z[0]], case.array("tip")[row] * 1e3, atol=1e-9)
        first = 2 + Rods.serves(robot)
        ends = np.array([[line.x[-1], line.y[-1], line.z[-1]] for line in drawn[first:-1]])
        assert len(ends) == len(robot.cables)
        for k, end in enumerate(ends):
            last = frames[robot.cables["last_link"][k]]
            place = last[:3, :3] @ [robot.cables["x"][k], robot.cables["y"][k], robot.cables["end"][k]] + last[:3, 3]
            np.testing.assert_allclose(end, place * 1e3, atol=1e-3)
    assert figure.layout.sliders[0].steps[-1].label.startswith("0.5")


def test_light_links_are_as_long_and_wide_as_their_links() -> None:
    robot = vb.load("dantuono2023")
    body = light_link(robot, 3).vertices
    assert body[:, 2].min() == pytest.approx(0.0, abs=1e-12)
    assert body[:, 2].max() == pytest.approx(robot.links["length"][3])
    assert np.hypot(body[:, 0], body[:, 1]).max() == pytest.approx(robot.links["diameter"][3] / 2)


def test_universal_robots_move_as_platforms_on_crosses() -> None:
    robot = universals("xy", 3)
    q = 0.2 * np.cos(np.arange(12.0)).reshape(2, 6)
    figure, _ = motion_picture(robot, np.arange(2.0), q, np.zeros((2, 3)), robot.gravity)
    thick = np.ptp(light_link(robot, 2).vertices[:, 2])
    assert thick < 0.2 * robot.links["length"][2], "a platform, not a drum from joint to joint"
    for row in (0, 1):
        frames, parts = vb.Pose(robot, q[row]).frames, figure.frames[row].data[2]
        lines = np.column_stack([parts.x, parts.y, parts.z]).reshape(-1, 4, 3)
        assert len(lines) == 4 * 3, "two pins and two struts in each joint"
        assert np.isnan(lines[:, -1]).all(), "no line from one part to the next"
        centres = np.repeat(frames[1:, :3, 3] * 1e3, 4, axis=0).reshape(3, 4, 3)
        np.testing.assert_allclose(lines[:, 1].reshape(3, 4, 3)[:, :2], centres[:, :2], atol=1e-4)
        np.testing.assert_allclose(lines[:, 0].reshape(3, 4, 3)[:, 3], centres[:, 3], atol=1e-4)


def test_pace_in_words() -> None:
    assert pace_text(1.0) == "it plays about as fast as it happens"
    assert pace_text(6.0) == "it plays about 6 times slower than it happens"
    assert pace_text(0.1) == "it plays about 10 times faster than it happens"


def test_the_animation_moves_in_a_browser(case: SimulationCase, page: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page, encoding="utf-8")
    frames, label, figures, _ = played(file, "motion", 1)
    assert (frames, figures) == (len(case.time), 5)
    assert float(label.removesuffix(" s")) == pytest.approx(case.time[9], abs=1e-4)
