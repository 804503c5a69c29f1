"""`vertebra shape --stiffness`: the tip against the common tension."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import vertebra as vb

ROBOT = "hu2023-prototype"


def test_stiffness_curve(vertebra) -> None:
    curve = vb.stiffness_curve(vb.load(ROBOT), [0.01, 2.0, 4.0])
    ran = vertebra("shape", ROBOT, "--stiffness", "-t", "0.01,2,4")
    assert ran.code == 0
    assert f"{curve.stiffness[1, 0]:.4g}" in ran.out
    assert "rigid" in ran.out
    assert re.search(r"^ *0.01 +- +- +- +NO", ran.out, re.MULTILINE)
    record = vertebra("shape", ROBOT, "--stiffness", "-t", "0.01,2,4", "--json").json
    assert record["common"] == [0.01, 2, 4]
    assert record["stiffness"][1] == [*curve.stiffness[1, :2], None]
    assert record["solved"] == [False, True, True]
    assert len(vertebra("shape", ROBOT, "--stiffness", "--gravity", "ceiling", "--json").json["common"]) == 20


@pytest.mark.parametrize("suffix", [".html", ".png", ".svg", ".csv", ".json"])
def test_stiffness_curve_into_a_file(vertebra, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"curve{suffix}"
    ran = vertebra("shape", ROBOT, "--stiffness", "-t", "0.5:4:8", "--out", str(path))
    assert (ran.code, ran.out) == (0, "")
    text = path.read_bytes()
    critical = vb.critical_tension(vb.load(ROBOT))
    if suffix in (".html", ".svg"):
        assert f"straight above {critical:.4g} N".encode() in text
    elif suffix == ".csv":
        assert text.splitlines()[0] == b"tension_N,softest_N_per_m,middle_N_per_m,stiffest_N_per_m,solved"
        assert len(text.splitlines()) == 9


def test_no_line_for_buckling_where_a_load_bends_the_robot(vertebra, tmp_path: Path) -> None:
    path = tmp_path / "curve.svg"
    assert vertebra("shape", ROBOT, "--stiffness", "--gravity", "wall", "-t", "2:4:3", "--out", str(path)).code == 0
    assert "straight above" not in path.read_text()
