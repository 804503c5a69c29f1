"""The tables of a shape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import vertebra as vb
from vertebra.report.document import Facts, numeric_columns
from vertebra.report.shape import (
    alike_cables,
    along_facts,
    along_panel,
    axis_text,
    cable_facts,
    joint_facts,
    joint_list,
    law_text,
    laws_text,
    load_facts,
    shape_summary,
    signless_zero,
    slip_facts,
    slip_text,
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
    assert [row[3] for row in facts.rows] == [str(k) for k in range(1, 13)], "what pulls at the base"


@pytest.fixture(scope="module")
def rubbed() -> vb.Shape:
    return vb.shape_from_tensions(vb.load("yang2023-b"), [14, 14, 10, 10])


def test_tension_at_the_base_is_what_was_pulled() -> None:
    """Friction of the base comes behind it, on either side of slip and for any law."""
    rng = np.random.default_rng(1)
    for name in ("yang2023-b", "yang2023-c", "hu2023-prototype"):
        robot = vb.load(name)
        pulls = rng.uniform(1.0, 6.0, len(robot.cables))
        for friction in (None, 0.3, [0.1 * (k % 3) for k in range(len(pulls))], vb.FrictionLaw.of(lambda t: 0.1 + t)):
            shape = vb.shape_from_tensions(robot, pulls, friction=friction)
            np.testing.assert_allclose(shape.tensions_at_base, pulls, rtol=1e-13)


def test_cables_that_rub_have_a_tension_at_each_end(rubbed: vb.Shape) -> None:
    facts = cable_facts(rubbed)
    assert facts.headers[3:5] == ("tension [N]", "at its end [N]")
    assert facts.headers[-1] == "slip"
    base, end = ([float(row[i]) for row in facts.rows] for i in (3, 4))
    assert base == [14, 14, 10, 10]
    np.testing.assert_allclose(end, rubbed.tensions[:, -1], rtol=1e-5)
    assert end[0] < 14
    assert end[3] > 10
    assert [row[-1] for row in facts.rows] == ["to base", "to base", "to tip", "to tip"]
    assert "at its end [N]" not in cable_facts(replace(rubbed, friction=())).headers


def test_slip_in_words(rubbed: vb.Shape) -> None:
    slip = np.zeros((4, 12))
    slip[1, 3], slip[2, 3], slip[3, [3, 4]] = -1, 1, (-1, 1)
    shown = replace(rubbed, slip=slip)
    assert [slip_text(shown, k) for k in range(4)] == ["sticks", "to base", "to tip", "both ways"]
    one = replace(rubbed, friction=(vb.FrictionLaw.none(), *rubbed.friction[1:]))
    assert slip_text(one, 0) == "no friction"
    early = vb.shape_from_tensions(vb.load("yang2023-c"), np.arange(1.0, 13.0))
    beyond = early.slip.copy()
    beyond[0, 4:] = 1  # cable 1 ends at link 4: what would be beyond is none of its slip
    beyond[0, :4] = 0
    assert slip_text(replace(early, slip=beyond), 0) == "sticks"


def test_tension_along_cables_stops_where_they_end() -> None:
    shape = vb.shape_from_tensions(vb.load("yang2023-c"), np.arange(1.0, 13.0))
    facts = along_facts(shape)
    assert facts.rows[0] == ("base", *(f"{k:.4f}" for k in range(1, 13)))
    assert [row[0] for row in facts.rows[1:]] == [str(j) for j in range(1, 15)]
    assert [bool(row[1]) for row in facts.rows[1:]] == [True] * 4 + [False] * 10
    assert facts.rows[-1][12] == f"{shape.tensions[11, 13]:.4f}"
    assert [bool(row[1]) for row in slip_facts(shape).rows] == [True] * 4 + [False] * 10


def test_laws_in_words(rubbed: vb.Shape) -> None:
    law = vb.FrictionLaw
    assert law_text(law.none()) == "none"
    assert law_text(law.constant(0.3)) == "mu = 0.3, over 0.01 mm of slip"
    assert law_text(law.quadratic(2, -0.1, 0.2, presliding=1e-3)) == "mu = 2 t^2 - 0.1 t + 0.2, over 1 mm of slip"
    assert law_text(law.of(lambda t: 0.1 + t)).startswith("mu from 0.1 at 0 to 0.8854 at 45 deg")
    assert laws_text((law.constant(0.3), law.none(), law.constant(0.3))) == (
        "cable 1, 3: mu = 0.3, over 0.01 mm of slip; cable 2: none"
    )
    rows = dict(shape_summary(rubbed).rows)
    assert rows["friction"] == "mu = 14 t^2 + 0.7 t + 0.105, over 0.01 mm of slip"
    assert "closure" not in rows
    assert "closure" in dict(shape_summary(replace(rubbed, closure="paper")).rows)
    assert dict(shape_summary(replace(rubbed, friction=())).rows)["friction"].startswith("left out")


def test_cables_of_the_same_tension_share_a_line(rubbed: vb.Shape) -> None:
    series = along_panel(rubbed).series
    assert [line.name for line in series] == ["cables 1, 2", "cables 3, 4"]
    np.testing.assert_allclose(series[0].y, [14, *rubbed.tensions[0]], rtol=1e-12)
    assert alike_cables(np.array([[1.0, 2.0], [1.0, 2.1], [1.0, 2.0]])) == {0: "cables 1, 3", 1: "cable 2"}


def test_a_lock_is_another_fault_than_a_limit(straight: vb.Shape) -> None:
    (text,) = warnings(replace(straight, out_of_range=(3,), locked=(3,)))
    assert "joint 3 bent so far that the friction law" in text
    bent = np.array(straight.angles)
    bent[2] = 1.6
    assert len(list(warnings(replace(straight, angles=bent, out_of_range=(3,), locked=(3,))))) == 2


def test_pulled_in_is_the_difference_to_the_straight_robot() -> None:
    robot = vb.load("hu2023-prototype")
    shape = vb.shape_from_tensions(robot, [1, 1, 1, 3])
    expected = (vb.cable_lengths(robot, np.zeros(11)) - vb.cable_lengths(robot, shape.angles)) * 1e3
    assert cable_facts(shape).headers[5] == "pulled in [mm]"
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
