"""The answer about a robot: tables, page and picture at any pose."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.report.looking import Reader, has_clean_border, page_of, picture_of
from tests.robots import bending_mix, continuum

import vertebra as vb
from vertebra.report.robot import cables, joints_text, links, overview, robot_report, sections, short_source
from vertebra.report.scene import robot_scene


@pytest.mark.parametrize("name", vb.presets())
def test_rows_fit_the_headers(name: str) -> None:
    robot = vb.load(name)
    for facts in (overview(robot), sections(robot), links(robot), cables(robot)):
        assert all(len(row) == len(facts.headers) for row in facts.rows)
    assert len(sections(robot).rows) == len(links(robot).rows) == len(robot.section_ends)
    assert bool(cables(robot).rows) == bool(len(robot.cables))


def test_values() -> None:
    robot = vb.load("yang2023-c")
    assert joints_text(robot) == "14 flexure"
    assert sections(robot).rows[2][:3] == ("3", "9-14", "flexure")
    assert cables(robot).rows[1][:5] == ("5-8", "5", "-45, 45, 135, 225", "8", "face")
    assert "169.106 mm" in dict(overview(robot).rows)["length"]


def test_what_a_joint_is_made_of_is_told() -> None:
    texts = [row[3] for row in sections(bending_mix()).rows]
    assert texts[0] == "length 12 mm, rod of 0.9 mm, bending 0.161 N*m/rad, no torsion, 0.1 g, limit 90 deg"
    assert "torsion 0.15 N*m/rad" in texts[3]
    for row in (1, 2):
        assert "spring 0.2 N*m/rad, damping 0.0001 N*m*s/rad" in texts[row]
    assert sections(bending_mix()).rows[0][4] == "any direction"
    stated = {"kind": "backbone", "length": "12 mm", "stiffness": 0.2, "damping": 0.01, "limit": "30 deg"}
    robot = vb.load(
        {"vertebra": 1, "name": "one", "sections": [{"joints": 1, "joint": stated, "link": {"length": 0.01}}]}
    )
    told = "length 12 mm, bending 0.2 N*m/rad, no torsion, damping 0.01 N*m*s/rad, limit 30 deg"
    assert sections(robot).rows[0][3] == told
    mapping = robot.to_mapping()
    mapping["sections"][0]["joint"]["stops"] = "rigid"
    assert sections(vb.load(mapping)).rows[0][3] == f"{told}, rigid stops"


def test_the_limit_of_a_backbone_holds_in_every_direction_and_not_for_its_twist() -> None:
    robot = continuum(2, torsion=0.1)
    assert not robot_report(robot, [1.1, 1.1, 3.0, 0.0, 0.0, 3.0]).notes
    assert "joint 1 is bent beyond" in robot_report(robot, [1.2, 1.2, 0.0, 0.0, 0.0, 0.0]).notes[0]


def test_sources_are_cut_short() -> None:
    assert short_source("Cai, Orehov and Choset 2023, Statics") == "Cai, Orehov and Choset 2023"
    assert short_source("our own bench") == "our own bench"
    assert len(short_source("x" * 100)) == 40


def test_page_tells_the_robot() -> None:
    text = page_of(robot_report(vb.load("yang2023-c"), [0.1] * 14), "A <title> & more")
    shown = " ".join(Reader(text).shown)
    assert "A <title> & more" in shown
    assert "<title> & more" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    for fact in (
        f"Vertebra {vb.__version__}",
        "169.106 mm",
        "36.573 g",
        "bend azimuth [deg]",
        "14 t^2 + 0.7 t + 0.105",
    ):
        assert fact in shown
    for drawn in ("x [mm]", "y [mm]", "z [mm]", "cable 12", "gravity", "link 14", '"aspectmode":"data"'):
        assert drawn in text


@pytest.mark.parametrize("name", vb.presets())
def test_png(name: str, tmp_path: Path) -> None:
    robot = vb.load(name)
    path = picture_of(robot_report(robot, [0.2] * robot.freedoms), tmp_path / "robot.png")
    assert path.stat().st_size > 50_000
    assert has_clean_border(path)


@pytest.mark.parametrize("gravity", ["ground", "ceiling", "wall"])
def test_straight_robot_on_any_mount(gravity: str, tmp_path: Path) -> None:
    robot = vb.load(vb.load("hu2023-spatial").to_mapping() | {"gravity": gravity})
    path = picture_of(robot_report(robot), tmp_path / "robot.png")
    assert has_clean_border(path)


@pytest.mark.parametrize("name", ["hu2023-planar", "lapusan2022"])
def test_svg(name: str, tmp_path: Path) -> None:
    robot = vb.load(name)
    svg = picture_of(robot_report(robot, [0.15] * robot.freedoms), tmp_path / "robot.svg").read_text()
    for label in ("x [mm]", "y [mm]", "z [mm]", "tip (", "gravity", name):
        assert label in svg


def test_without_gravity_there_is_no_arrow(tmp_path: Path) -> None:
    robot = vb.load(vb.load("hu2023-planar").to_mapping() | {"gravity": [0, 0, 0]})
    frames = vb.Pose(robot, np.zeros(robot.freedoms)).frames
    assert robot_scene(robot, frames).gravity is None
    assert "gravity" not in picture_of(robot_report(robot), tmp_path / "robot.svg").read_text()
    assert "Robot" in Reader(page_of(robot_report(robot))).shown
