"""The tables of a shape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vertebra as vb
from vertebra.report.facts import Facts, numeric_columns
from vertebra.report.shape_facts import (
    axis_text,
    cable_facts,
    joint_facts,
    joint_list,
    load_facts,
    shape_summary,
    signless_zero,
    stiffness_text,
    warnings,
)


@pytest.fixture(scope="module")
def straight() -> vb.Shape:
    return vb.shape_from_tensions(vb.load("hu2023-prototype"), [4] * 4)


def test_cable_sum_presses_the_links_together_when_nothing_else_does() -> None:
    shape = vb.shape_from_tensions(vb.load("hu2023-prototype"), [1, 2, 3, 4], gravity=(0, 0, 0))
    for row in joint_facts(shape).rows:
        assert row[3:] == ("10.0000", "10.0000", "10.0000")


def test_joints(straight: vb.Shape) -> None:
    bent = replace(straight, angles=np.radians(np.linspace(-45, 45, 11)))
    facts = joint_facts(bent)
    assert facts.headers == ("joint", "angle [deg]", "of limit", "force [N]", "normal [N]", "cables [N]")
    assert [row[:3] for row in facts.rows[:2]] == [("1", "-45.000", "50 %"), ("2", "-36.000", "40 %")]
    assert numeric_columns(facts) == (True,) * 6


def test_cables_that_end_early_are_told() -> None:
    robot = vb.load("yang2023-c")
    facts = cable_facts(vb.shape_from_tensions(robot, np.arange(1.0, 13.0)))
    assert [row[2] for row in facts.rows] == ["4"] * 4 + ["8"] * 4 + ["14"] * 4
    assert [row[3] for row in facts.rows] == [str(k) for k in range(1, 13)]


def test_pulled_in_is_the_difference_to_the_straight_robot() -> None:
    robot = vb.load("hu2023-prototype")
    shape = vb.shape_from_tensions(robot, [1, 1, 1, 3])
    expected = (vb.cable_lengths(robot, np.zeros(11)) - vb.cable_lengths(robot, shape.angles)) * 1e3
    found = [float(row[5]) for row in cable_facts(shape).rows]
    np.testing.assert_allclose(found, expected, atol=5e-4)
    assert found[3] > 0 > found[1]


def test_stiffness_of_a_straight_robot_is_rigid_along_itself(straight: vb.Shape) -> None:
    rows = dict(shape_summary(straight).rows)
    assert rows["stiffest at the tip"] == "rigid along (0.00, 0.00, 1.00)"
    softest = vb.tip_stiffness(straight).stiffness[0]
    assert rows["softest at the tip"].startswith(f"{softest:.4g} N/m along (")
    assert axis_text(np.array([0.1, -0.9, 0.2])) == axis_text(np.array([-0.1, 0.9, -0.2])) == "(-0.10, 0.90, -0.20)"
    assert stiffness_text(float("inf")) == "rigid"


def test_summary_says_what_is_wrong(straight: vb.Shape) -> None:
    assert dict(shape_summary(straight).rows)["state"] == "stable"
    unstable = dict(shape_summary(replace(straight, stable=False)).rows)
    assert unstable["state"].startswith("UNSTABLE")
    assert unstable["tip stiffness"].startswith("-")
    lost = replace(straight, converged=False, stable=False)
    assert dict(shape_summary(lost).rows)["state"].startswith("NOT an equilibrium")
    assert list(warnings(straight)) == []
    assert len(list(warnings(replace(lost, out_of_range=(1,), separated=(2,))))) == 3


def test_loads(straight: vb.Shape) -> None:
    assert load_facts(straight).rows == ()
    loaded = replace(straight, loads=(vb.Load(force=(0, 0, -1)), vb.Load(moment=(0, 1, 0), link=-2)))
    assert load_facts(loaded).rows == (
        ("1", "the tip", "(0, 0, -1)", "(0, 0, 0)"),
        ("2", "link 10", "(0, 0, 0)", "(0, 1, 0)"),
    )


def test_lists_of_joints() -> None:
    assert joint_list((3,)) == "joint 3"
    assert joint_list((3, 4, 9)) == "joints 3, 4 and 9"
    assert joint_list(tuple(range(1, 11))) == "joints 1, 2, 3, 4, 5, 6 and 4 more"


def test_zero_has_no_sign() -> None:
    assert signless_zero(-1e-9, ".3f") == "0.000"
    assert signless_zero(-0.5, ".3f") == "-0.500"


def test_columns_of_numbers_are_told_from_texts() -> None:
    facts = Facts("", ("a", "b", "c", "d"), (("1", "x", "3 %", "rigid"), ("-1.5e-3", "2", "-", "4")))
    assert numeric_columns(facts) == (True, False, True, True)
    assert numeric_columns(Facts("", ("", ""), (("1", "2"),))) == (False, False)
