"""The shape of a robot of ball joints in words, or from a file."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import vertebra as vb
from vertebra.cli.answer import CommandError
from vertebra.cli.options import ball_shape

ROBOT = "cai2023"
DEG = math.pi / 180


@pytest.fixture(scope="module")
def robot() -> vb.Robot:
    return vb.load(ROBOT)


WORDS = {
    "straight": lambda robot: vb.BallShape.straight(robot),
    "STRAIGHT": lambda robot: vb.BallShape.straight(robot),
    "S 2.85 deg": lambda robot: vb.BallShape.s_curve(robot, 2.85 * DEG),
    "s 0.05 rad 90 deg": lambda robot: vb.BallShape.s_curve(robot, 0.05, 90 * DEG),
    "s -2, 90 deg": lambda robot: vb.BallShape.s_curve(robot, -2 * DEG, 90 * DEG),
    "Arc 0.05": lambda robot: vb.BallShape.arc(robot, 0.05),
    "arc 3deg -45deg": lambda robot: vb.BallShape.arc(robot, 3 * DEG, -45 * DEG),
    "spiral 8 deg": lambda robot: vb.BallShape.spiral(robot, 8 * DEG),
    "Spiral 8 0 360 deg": lambda robot: vb.BallShape.spiral(robot, 8 * DEG, 0.0, 360 * DEG),
}


@pytest.mark.parametrize("words", WORDS)
def test_shapes_in_words(robot: vb.Robot, words: str) -> None:
    found, expected = ball_shape("--shape", words, robot).shape, WORDS[words](robot)
    np.testing.assert_allclose(found.bends, expected.bends, rtol=1e-15)
    np.testing.assert_allclose(found.azimuths, expected.azimuths, rtol=1e-15)


def test_shapes_are_called_by_what_was_understood(robot: vb.Robot) -> None:
    assert ball_shape("--shape", "s 0.1 rad 1.5 rad", robot).words == "S 5.72958 deg toward azimuth 85.9437 deg"
    assert ball_shape("--shape", "spiral 8 0 90 deg", robot).words == "spiral 8 deg, azimuths from 0 deg to 90 deg"


@pytest.mark.parametrize("column", ["bend_deg", "bend_rad", "bend"])
def test_shape_from_a_file(robot: vb.Robot, tmp_path: Path, column: str) -> None:
    bends, azimuths = np.linspace(-0.1, 0.2, 19), np.linspace(0, 3, 19)
    shown = np.degrees(bends) if column == "bend_deg" else bends
    file = tmp_path / "my shape.csv"
    rows = "\n".join(
        f"{j},{math.degrees(a)!r},{b!r}" for j, (a, b) in enumerate(zip(azimuths, shown.tolist(), strict=True), 1)
    )
    file.write_text(f"# bends\njoint,azimuth_deg,{column}\n{rows}\n")
    found = ball_shape("--shape", str(file), robot)
    assert found.words == "my shape.csv"
    np.testing.assert_allclose(found.shape.bends, bends, rtol=1e-14)
    np.testing.assert_allclose(found.shape.azimuths, azimuths, rtol=1e-14)


def test_azimuths_of_a_file_are_zero_unless_given(vertebra, robot: vb.Robot, tmp_path: Path) -> None:
    file = tmp_path / "shape.csv"
    file.write_text("bend_deg\n" + "4\n" * 19)
    record = vertebra("payload", ROBOT, "--shape", str(file), "-t", "35", "--json").json
    assert record["force"] == vb.payload(robot, *vb.BallShape.arc(robot, 4 * DEG), 35, (0, -1, 0)).force
    assert set(record["azimuths"]) == {0.0}


FILES = {
    "rows": ("bend_deg\n" + "4\n" * 18, "has 18 rows, but cai2023 has 19 joints; write one row per joint"),
    "column": ("azimuth_deg\n" + "4\n" * 19, "column bend_deg: is missing"),
    "number": ("bend_deg\n" + "4\n" * 18 + "x\n", "row 19 (line 20), column bend_deg: must be a finite plain number"),
    "unit": ("bend_mm\n" + "4\n" * 19, "'mm' is not a unit of angle"),
    "empty": ("", "write a header bend_deg and one row per joint"),
    "no header": ("1,2\n" * 20, "has numbers where the column names should be"),
    "limit": ("bend_deg\n" + "4\n" * 7 + "99\n" + "4\n" * 11, "joint 8: angle 99 deg is outside +-90 deg"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_shape_file_is_named(vertebra, tmp_path: Path, name: str) -> None:
    text, said = FILES[name]
    file = tmp_path / "shape.csv"
    file.write_text(text)
    ran = vertebra("payload", ROBOT, "--shape", str(file), "-t", "35")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_word_is_no_file_and_a_file_is_no_word(robot: vb.Robot, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("straight").write_text("bend_deg\n" + "4\n" * 19)
    assert ball_shape("--shape", "straight", robot).shape.bends[0] == pytest.approx(4 * DEG)
    with pytest.raises(CommandError, match="is not a shape"):
        ball_shape("--shape", "straighten", robot)
