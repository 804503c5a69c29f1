"""D'Antuono et al. 2023: the three motions, our tensions, and the statements of the paper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.papers.once import compared

import vertebra as vb
from vertebra.errors import InputError
from vertebra.papers.dantuono2023 import PAPER
from vertebra.papers.dantuono2023 import report as facts
from vertebra.papers.dantuono2023.cases import (
    BOTTOM,
    CASES,
    DURATION,
    METHODS,
    READINGS,
    REVERSED,
    STATED,
    SWAPPED,
    TIME_STEP,
    TOP,
    bottom_highest,
    case_named,
    motion,
    rise_of_bottom,
    run,
    snake,
    times,
)
from vertebra.papers.dantuono2023.claims import higher, last_seconds, sides_equal
from vertebra.papers.dantuono2023.literal import literal_step
from vertebra.papers.dantuono2023.model import ROBOTS, Dimensions, case_results, robot_peaks
from vertebra.papers.paper import Verdict

SAME, PHYSICS, DEPENDS = Verdict.REPRODUCED, Verdict.CONTRADICTS, Verdict.DEPENDS


@pytest.fixture(scope="module")
def comparison():
    return compared("dantuono2023").results


@pytest.fixture(scope="module")
def claims():
    return {claim.key.strip("()"): claim for claim in compared("dantuono2023").claims}


# Motions ------------------------------------------------------------------------------------------------------------


def test_which_joints_move():
    assert {name: case.joints for name, case in CASES.items()} == {
        "pan": (1, 3, 5), "tilt": (2, 4, 6), "3d": (1, 2, 3, 4, 5, 6),
    }  # fmt: skip
    assert case_named("3D") is CASES["3d"]
    with pytest.raises(InputError, match="pan, tilt, 3d"):
        case_named("roll")


def test_times_are_one_period_in_steps_of_5_ms():
    found_times = times()
    assert len(found_times) == 2514
    np.testing.assert_allclose(np.diff(found_times), TIME_STEP, rtol=1e-9)
    assert 0.0 <= DURATION - found_times[-1] <= TIME_STEP


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_motion_is_the_printed_sinusoid_and_its_derivatives(case):
    h, at = 1e-4, np.array([0.0, 1.3, 4.0, 9.0])
    now, before, after = (motion(case, at + step) for step in (0.0, -h, h))
    wanted = np.outer(np.pi / 18 * np.sin(at / 2), case.moving)
    np.testing.assert_allclose(now.q, wanted, atol=1e-15)
    np.testing.assert_allclose(now.qd, (after.q - before.q) / (2 * h), atol=1e-9)
    np.testing.assert_allclose(now.qdd, (after.qd - before.qd) / (2 * h), atol=1e-9)


def test_pan_is_level_and_negative_tilt_is_up():
    robot, at = snake(), np.array([math.pi, 3 * math.pi])
    for name, axis, flat in (("pan", 0, 1), ("tilt", 1, 0)):
        tips = np.array([vb.Pose(robot, q).tip_frame[:3, 3] for q in motion(CASES[name], at).q])
        assert abs(tips[:, flat]).max() < 1e-12
        assert abs(tips[:, axis]).min() > 0.05
    assert tips[0, 1] < 0 < tips[1, 1], "up is y; the second half of the period bends towards the ceiling"


def test_cables_are_where_the_text_has_them():
    cables = snake().cables
    assert cables["y"][BOTTOM] == pytest.approx(-0.02)
    assert cables["y"][TOP] == pytest.approx(0.02)
    assert snake().gravity[1] < 0


def test_readings():
    assert list(READINGS) == [STATED.name, REVERSED.name, SWAPPED.name]
    np.testing.assert_array_equal(REVERSED.gravity(snake()), [0.0, 9.8, 0.0])
    np.testing.assert_array_equal(SWAPPED.named(np.array([[1.0, 2.0, 3.0, 4.0]])), [[1.0, 4.0, 3.0, 2.0]])


# Tensions -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "peaks"),
    [("pan", (14.75, 5.0, 14.75, 67.64)), ("tilt", (5.0, 5.0, 5.0, 46.29)), ("3d", (14.59, 5.0, 14.57, 66.22))],
)
def test_peaks_link_by_link(comparison, name, peaks):
    one = comparison.run(name)
    np.testing.assert_allclose(one.peaks, peaks, atol=6e-3)
    assert one.feasible == 1.0
    assert one.worst[0] < 1e-9
    turned = comparison.run(name, reading=REVERSED.name).peaks
    assert turned[BOTTOM] == pytest.approx(one.peaks[TOP], abs=5e-3)


@pytest.mark.parametrize("name", CASES)
def test_the_papers_algorithm_gives_these_tensions(comparison, name):
    one = comparison.run(name)
    for row in (0, 400, 1111, 2000):
        literal = literal_step(snake(), one.motion.q[row], one.motion.qd[row], one.motion.qdd[row], migration=True)
        np.testing.assert_allclose(one.base[row], literal[:, 0], atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_one_tension_per_cable_cannot_do_it(comparison, name):
    one = comparison.run(name, "shared")
    assert one.feasible == 0.0
    torque, joint, time = one.worst
    assert torque > 0.5
    assert joint in (2, 4, 6), "tilt joints: weight"
    assert 0.0 <= time < DURATION
    assert one.allocation.residual.shape == (2514, 6)


@pytest.mark.parametrize("name", CASES)
def test_true_cone_changes_no_peak(comparison, name):
    """As the notes on (35) and (36) say: contact points can share the axial friction otherwise."""
    moves = comparison.run(name).motion
    true = vb.allocate_tensions(snake(), moves.q, moves.qd, moves.qdd, method="per_link", cone="true")
    np.testing.assert_allclose(true.base_tensions.max(axis=0), comparison.run(name).peaks, atol=1e-6)


def test_one_tension_per_cable_would_pull_contacts_apart(comparison):
    assert [round(comparison.run(name, "shared").least_contact, 1) for name in CASES] == [-5.5, -10.6, -7.2]
    assert min(comparison.run(name).least_contact for name in CASES) == pytest.approx(1.0, abs=1e-6)


def test_one_cable_has_six_tensions(comparison):
    straight = comparison.continuity
    np.testing.assert_allclose(straight.along, [46.29, 78.96, 18.11, 31.63, 5.0, 7.96], atol=6e-3)
    assert straight.inputs == 2
    np.testing.assert_allclose(straight.needed[::2], 0.0, atol=1e-12)
    # One torque for all three tilt joints: the mean of what they need leaves the least.
    gets = (straight.needed - straight.residual)[1::2]
    np.testing.assert_allclose(gets, straight.needed[1::2].mean(), rtol=1e-6)


# Statements ---------------------------------------------------------------------------------------------------------


def test_verdicts(claims):
    assert {letter: claim.verdict for letter, claim in claims.items()} == {
        "a": PHYSICS, "b": PHYSICS, "c": PHYSICS, "d": SAME, "e": PHYSICS, "f": PHYSICS, "g": SAME,
        "h": Verdict.NOT_PRINTED, "i": SAME, "j": SAME,
    }  # fmt: skip


def test_gravity_reversed_gives_the_order_of_cables_in_the_text(claims):
    for letter in "abc":
        others = claims[letter].details["others"]
        assert others[REVERSED.name] == others[SWAPPED.name] == SAME
        assert others["shared"] == PHYSICS
    assert claims["f"].details["others"] == {"shared": SAME, REVERSED.name: PHYSICS, SWAPPED.name: PHYSICS}
    rise = claims["e"].details
    assert rise["others"][REVERSED.name] == DEPENDS, "near the printed number, but it depends on assumed ones"
    assert "+43.05 %" in rise["others_found"][REVERSED.name]
    assert rise["numbers"]["rise_percent"] == pytest.approx(0.0, abs=1e-6)


def test_judges_can_say_both():
    """Made-up tensions, two instants: one in each half of the period."""
    time, low, high = np.array([1.0, 8.0]), np.array([5.0, 6.0, 5.0, 5.0]), np.array([5.0, 6.0, 5.0, 9.0])
    assert last_seconds(time)({"tilt": np.array([high, low])})[0] is True, "only the second half counts"
    assert last_seconds(time)({"tilt": np.array([low, high])})[0] is False
    assert bottom_highest("pan")({"pan": np.array([low, low])})[0] is True
    assert bottom_highest("pan")({"pan": np.array([low, high])})[0] is False
    once = np.array([[5.0, 20.0, 5.0, 5.0], high])
    holds, text, _ = bottom_highest("pan")({"pan": once})
    assert (holds, "at times 3.0 N below" in text) == (False, True), "highest peak, but not at all times"
    assert sides_equal({"tilt": np.array([low, high])})[0] is True
    assert sides_equal({"tilt": np.array([[5.0, 5.0, 5.1, 5.0]])})[0] is False
    assert rise_of_bottom({"tilt": np.array([low]), "3d": np.array([1.43 * low])})[2]["rise_percent"] == pytest.approx(
        43
    )
    both = {"pan": np.array([low]), "tilt": np.array([low]), "3d": np.array([high])}
    assert higher(both)[0] is True
    assert higher(both | {"pan": np.array([2 * high])})[0] is False


def test_numbers_of_statements(claims):
    numbers = {letter: claim.details["numbers"] for letter, claim in claims.items()}
    assert numbers["a"]["peak_T4_N"] == pytest.approx(67.64, abs=0.01)
    assert numbers["a"]["T2_less_highest_N"] < -60.0
    assert numbers["d"]["largest_difference_N"] < 1e-9
    assert numbers["f"]["pan_N"] > numbers["f"]["3d_N"] > numbers["f"]["tilt_N"]
    assert numbers["g"]["without_gravity_Nm"] < 0.01 * numbers["g"]["largest_moment_Nm"]
    counted = numbers["i"]
    assert [counted[name] for name in ("unknowns", "equations", "zeroed", "free", "free_tensions")] == [16, 6, 6, 4, 3]


def test_other_dimensions_do_not_change_the_verdicts(comparison):
    assert len(comparison.robots) == ROBOTS
    assert max(robot.bottom_pull for robot in comparison.robots) < 1e-6, "(a), (b)"
    assert max(robot.over_pan for robot in comparison.robots) < 1.0, "(f)"
    rises = [robot.rise for robot in comparison.robots]
    assert min(rises) < 20.0, "(e) can be anything"
    assert max(rises) > 70.0


def test_dimensions_of_the_preset_are_those_that_are_varied():
    robot, peaks = Dimensions().robot(), robot_peaks(Dimensions()).peaks
    for table in ("joints", "links"):
        for name in getattr(robot, table).dtype.names:
            np.testing.assert_allclose(
                getattr(robot, table)[name], getattr(snake(), table)[name], rtol=1e-6, atol=1e-12
            )
    np.testing.assert_allclose(peaks["3d"], run(CASES["3d"], "per_link").peaks, atol=0.02)


def test_friction_moves_the_rise_most(comparison):
    spans = {one.what: abs(one.rise[1] - one.rise[0]) for one in comparison.sensitivities}
    assert max(spans, key=spans.get) == "friction coefficient"
    friction = next(one for one in comparison.sensitivities if one.what == "friction coefficient")
    assert friction.rise == pytest.approx((46.07, 40.34), abs=0.05)


# Equations ----------------------------------------------------------------------------------------------------------


def test_migration_is_nothing_here_and_half_a_percent_at_2_rad_per_s(comparison):
    for one in comparison.migrations:
        assert one.share < 1e-5
        assert one.at(2.0) / one.at(1.0) == pytest.approx(4.0, rel=0.05)
    assert [round(100 * one.at(2.0), 3) for one in comparison.migrations] == [0.168, 0.077, 0.260]
    assert 0.002 < comparison.poses.mean < comparison.poses.largest < 0.006


def test_equations_as_printed(comparison):
    right, printed, signs, base_axis, loaded = comparison.variants
    state = motion(CASES["3d"], np.array([2.0]))
    ours = vb.inverse_dynamics(snake(), state.q[0], state.qd[0], state.qdd[0])
    np.testing.assert_allclose(right.torques, ours, atol=1e-12)
    assert 1e-7 < np.abs(printed.torques - ours).max() < 1e-5
    assert np.abs(signs.torques[:5]).max() < 0.1 * np.abs(ours).max()
    assert np.abs(base_axis.torques - ours).max() > 1e-3
    assert loaded.torques[1] < 1.4 * ours[1]


# What is shown ------------------------------------------------------------------------------------------------------


def test_sentences_and_tables(comparison, claims):
    listed = list(claims.values())
    text = " ".join(facts.headlines(comparison, listed))
    for part in (
        "4 are reproduced, in 5 the paper contradicts itself or physics, for 1 nothing is printed",
        "46, 79, 18, 32, 5, 8 N",
        "67.6 N",
        "43.05 %",
        "at no instant",
    ):
        assert part in text
    assert len(facts.peak_facts(comparison).rows) == 3 * len(METHODS)
    assert len(facts.reading_peak_facts(comparison).rows) == 9
    assert facts.reading_facts(listed).headers[1] == "stated"
    assert [row[0] for row in facts.reading_facts(listed).rows] == [f"({letter})" for letter in "abcdef"]
    assert len(facts.instant_facts(comparison, CASES["tilt"]).rows) == 8
    assert "0.00 N above its pretension" in facts.robot_note(comparison)
    assert [row[1] for row in PAPER.unstated_facts().rows][:4] == ["35 mm", "45 deg", "60 mm", "20 mm"]
    assert "67.64" in repr(comparison.run("pan"))


def test_one_case_alone():
    alone = case_results(CASES["tilt"])
    assert [case.name for case in alone.cases] == ["tilt"]
    assert len(facts.migration_facts(alone).rows) == 2
    assert [option.choices for option in PAPER.options] == [tuple(CASES)]
