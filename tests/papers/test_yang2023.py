"""Yang et al. 2023: the 42 cases under five conditions and two closures, the claims of the text, a loop with memory."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.papers.once import compared

import vertebra as vb
from vertebra.errors import InputError
from vertebra.papers.paper import Verdict, claim_notes, rounds_to
from vertebra.papers.yang2023 import report as facts
from vertebra.papers.yang2023.cases import (
    CASES,
    CLOSURES,
    CONDITIONS,
    Case,
    between_closures,
    case_numbered,
    condition_named,
    effect,
    in_paper_axes,
    others_mass,
    prototype,
    robot_of,
    solve,
    tensions_of,
)
from vertebra.papers.yang2023.claims import CLEAR, MODEL, PRINT, Quoted, quoted
from vertebra.papers.yang2023.model import (
    Evidence,
    cases_of,
    select,
    spread,
    tension_loop,
    total_bend,
)
from vertebra.papers.yang2023.published import FOLDER, rows_of, tip_errors
from vertebra.statics import Status

SAME, DEPENDS, WRONG = Verdict.REPRODUCED, Verdict.DEPENDS, Verdict.CONTRADICTS
UNPRINTED = Verdict.NOT_PRINTED


@pytest.fixture(scope="module")
def comparison():
    return compared("yang2023").results


@pytest.fixture(scope="module")
def stated(comparison):
    return quoted(comparison.solved)


# What is printed ----------------------------------------------------------------------------------------------------


def test_digits_of_every_table_add_up():
    # Sums taken once from the paper: a slip of the pen in a file shows here.
    assert sorted(path.name for path in FOLDER.iterdir()) == ["table_4.csv", "table_5.csv", "table_6.csv"]
    sums = [sum(case.masses_kg[cable] for case in CASES) for cable in range(4)]
    assert [round(total, 2) for total in sums] == [36.39, 36.99, 30.51, 30.9]
    assert round(sum(value for row in tip_errors().values() for value in row.mm), 2) == 33.42
    assert round(sum(value for row in tip_errors().values() for value in row.percent), 2) == 28.96


def test_cases_fall_into_six_tests():
    assert [case.number for case in CASES] == list(range(1, 43))
    numbers = {group: [case.number for case in cases_of(group)] for group in dict.fromkeys(c.group for c in CASES)}
    assert numbers == {
        "A in-plane": list(range(1, 12)),
        "A out-of-plane": [12, 13, 14, 15],
        "B in-plane": list(range(16, 27)),
        "B out-of-plane": [27, 28, 29, 30],
        "A payload": list(range(31, 37)),
        "B payload": list(range(37, 43)),
    }
    assert {case.payload_kg for case in CASES} == {0.0, 0.02}
    assert not Case(0, "A", (1.0, 1.0, 0.5, 0.6), 0.0).in_plane
    assert not Case(0, "A", (1.0, 1.1, 0.5, 0.5), 0.0).in_plane
    assert [case.number for case in CASES if not case.in_plane] == [*range(12, 16), *range(27, 31)]


def test_conditions_are_those_of_table_5():
    assert [(c.coefficient, c.others_weigh, c.payload) for c in CONDITIONS.values()] == [
        (0.0, True, False), (None, True, False), (0.3, True, False), (None, False, False), (None, True, True)
    ]  # fmt: skip
    assert all(row["disc_gravity"] == "yes" for row in rows_of(5))
    assert condition_named(" iv ").name == "IV"
    with pytest.raises(InputError, match="I, II, III, IV, V"):
        condition_named("VI")
    for number in (0, 43):
        with pytest.raises(InputError, match="from 1 to 42"):
            case_numbered(number)


# Robots and shapes --------------------------------------------------------------------------------------------------


def test_only_the_discs_weigh_under_condition_iv():
    for case, joints in ((CASES[0], 6), (CASES[15], 12)):
        bare = robot_of(case, "IV")
        assert bare.mass == pytest.approx(1.4e-3 * joints)
        assert others_mass(bare) == pytest.approx(0.0, abs=1e-12)
        for name in ("I", "II", "III", "V"):
            assert robot_of(case, name) == vb.load(f"yang2023-{case.prototype.lower()}")
    whole, moved = prototype("B"), prototype("B", at_the_tip=True)
    assert moved.mass == pytest.approx(whole.mass)
    assert moved.cables["lock_mass"].sum() == pytest.approx(others_mass(whole))
    assert others_mass(prototype("A", others=0.5)) == pytest.approx(0.5 * others_mass(prototype("A")))


def test_hung_masses_pull_with_their_weight():
    np.testing.assert_allclose(tensions_of(CASES[29]), [7.252, 10.192, 7.546, 16.856], rtol=1e-12)


def test_axes_are_the_papers(comparison):
    """Cyclic: ours (x, y, z) are the paper's (y, z, x); cables 1 and 2 pull up."""
    np.testing.assert_allclose(in_paper_axes(np.array([1.0, 2.0, 3.0])), [3000.0, 1000.0, 2000.0])
    up, down = (in_paper_axes(comparison.solved[number, "II", "virtual-work"].tip) for number in (16, 26))
    assert up[1] > 50
    assert down[1] < -60
    for case in CASES:
        sideways = in_paper_axes(comparison.solved[case.number, "V", "virtual-work"].tip)[2]
        assert (abs(sideways) < 1e-6) == case.in_plane


def test_every_shape_is_solved(comparison):
    assert len(comparison.solved) == 42 * 5 * 2
    assert {shape.status for shape in comparison.solved.values()} == {Status.SOLVED}


@pytest.mark.parametrize("closure", CLOSURES)
def test_condition_v_adds_the_payload_and_nothing_else(comparison, closure):
    for case in CASES:
        without, loaded = (comparison.solved[case.number, name, closure] for name in ("II", "V"))
        if case.payload_kg:
            assert without.loads == ()
            np.testing.assert_allclose(loaded.loads[0].force, [-0.02 * 9.8, 0.0, 0.0])
            assert loaded.tip[0] < without.tip[0] - 2e-3
        else:
            assert loaded.tip.tobytes() == without.tip.tobytes()


@pytest.mark.parametrize("closure", CLOSURES)
def test_conditions_differ_as_table_5_says(comparison, closure):
    case = CASES[28]
    pull = tensions_of(case)
    given = {
        "I": {"friction": vb.FrictionLaw.none()},
        "II": {"friction": vb.FrictionLaw.quadratic(14, 0.70, 0.105)},
        "III": {"friction": vb.FrictionLaw.constant(0.3)},
    }
    for name, keywords in given.items():
        ours = vb.shape_from_tensions(vb.load("yang2023-b"), pull, closure=closure, **keywords)
        np.testing.assert_allclose(ours.tip, comparison.solved[29, name, closure].tip, rtol=0, atol=1e-12)
    along = {name: comparison.solved[29, name, closure].tensions for name in CONDITIONS}
    np.testing.assert_allclose(along["I"], np.repeat(pull[:, None], 12, axis=1), rtol=1e-12)
    assert (np.diff(along["II"][2]) < 0).all()  # the tension of a pulled cable falls toward the tip


@pytest.mark.parametrize("closure", CLOSURES)
@pytest.mark.parametrize("number", [13, 28])
def test_left_and_right_mirror(closure, number):
    case = case_numbered(number)
    m1, m2, m3, m4 = case.masses_kg
    mirrored = Case(0, case.prototype, (m2, m1, m4, m3), 0.0)
    x, y, z = solve(case, "II", closure).tip
    np.testing.assert_allclose(solve(mirrored, "II", closure).tip, [x, -y, z], rtol=0, atol=1e-9)


# Differences and claims ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "mean", "largest", "where"), [("I", 9.01, 25.43, 26), ("III", 3.14, 5.25, 16), ("IV", 4.85, 6.68, 20)]
)
def test_effects_in_plane_on_b(comparison, condition, mean, largest, where):
    found = spread(effect(comparison.solved, cases_of("B in-plane"), (condition, "II"), "virtual-work"))
    assert (round(found.mean, 2), round(found.largest, 2), found.case) == (mean, largest, where)


def test_closures_differ(comparison):
    found = {name: spread(between_closures(comparison.solved, cases_of(name), "I")) for name in "AB"}
    assert {name: (round(s.mean, 2), round(s.largest, 2)) for name, s in found.items()} == {
        "A": (1.16, 2.77), "B": (8.50, 21.54)
    }  # fmt: skip


JUDGED = {
    "B, no friction: largest": (25.43, DEPENDS),
    "B, no friction: mean": (9.01, DEPENDS),
    "B, constant: mean": (3.14, DEPENDS),
    "B, only discs weigh: mean": (4.85, DEPENDS),
    "friction grows with bend": (0.93, SAME),
    "constant grows with bend": (0.40, DEPENDS),
    "friction: B over A": (20.8, SAME),
    "constant: B over A": (15.5, SAME),
    "others' weight: B over A": (6.8, SAME),
    "half of others' weight": (0.498, SAME),
    "largest strain of rods": (0.0140, SAME),
    "others' weight of all": (33.9, SAME),
    "mass of A": (14.40, SAME),
    "mass of B": (25.41, SAME),
    "better than III": (69.38, SAME),
    "better than I": (None, UNPRINTED),
    "better than I and III": (89.69, WRONG),
    "percentages of Table 6": (12, SAME),
    "7.25 mm of length B": (4.97, SAME),
    "in-plane error": (0.67, SAME),
    "out-of-plane error": (4.61, SAME),
    "A in-plane": (None, UNPRINTED),
    "A out-of-plane": (None, UNPRINTED),
    "B in-plane": (None, UNPRINTED),
    "B out-of-plane": (None, UNPRINTED),
    "A payload": (None, UNPRINTED),
    "B payload": (None, UNPRINTED),
    "C trajectory": (None, UNPRINTED),
}


def test_every_claim_is_judged(stated):
    found = {
        one.what: (None if one.ours is None else round(one.ours + 1e-9, one.decimals), one.verdict)
        for one in stated
        if one.what not in ("iterations, six discs", "better than IV")
    }
    assert found == JUDGED
    iterations = next(one for one in stated if one.what.startswith("iterations"))
    assert iterations.verdict is UNPRINTED
    assert iterations.ours is not None
    assert 2 < iterations.ours < 10
    assert [one.says for one in stated if one.what == "better than IV"] == ["86.48", "> 80"]
    assert len(stated) == len(compared("yang2023").claims) == 31


def test_a_smaller_friction_coefficient(comparison, stated):
    """How far the assumed friction moves the claims about it, which is why they are a matter of missing numbers."""
    ours = Evidence(comparison.solved, "virtual-work")
    same, less = ours.with_friction(1.0), ours.with_friction(0.8)
    assert same.trend("III") == pytest.approx(ours.trend("III"), abs=1e-6)
    assert ours.trend("III") < CLEAR < less.trend("III")
    law = vb.FrictionLaw.quadratic(0.8 * 14, 0.8 * 0.70, 0.8 * 0.105)
    apart = [
        np.linalg.norm(
            vb.shape_from_tensions(vb.load("yang2023-b"), tensions_of(case), friction=law).tip
            - comparison.solved[case.number, "I", "virtual-work"].tip
        )
        for case in cases_of("B in-plane")
    ]
    assert less.mean_on_b("I") == pytest.approx(1e3 * np.mean(apart), abs=1e-6)
    assert f"20 % smaller it is {1e3 * max(apart):.2f} mm" in stated[0].why
    assert f"20 % smaller it is {1e3 * np.mean(apart):.2f} mm" in stated[1].why


def test_the_papers_closure_does_not_reach_the_effect_of_friction(stated):
    for what in ("B, no friction: largest", "B, no friction: mean"):
        one = next(one for one in stated if one.what == what)
        assert one.by_paper_closure is not None
        assert not one.allows(one.by_paper_closure)


def test_verdicts():
    one = Quoted("1", "what", "mm", "3.20", MODEL, 2.0, 4.0, 3.0, why="because")
    assert one.verdict is SAME
    assert replace(one, triangle=True).verdict is DEPENDS, "calibrated"
    assert replace(one, ours=4.1).verdict is Verdict.NOT_REPRODUCED, "unless a reason is declared"
    assert replace(one, ours=4.1, explained=DEPENDS).verdict is DEPENDS
    assert replace(one, ours=1.9, basis=PRINT).verdict is WRONG, "the paper's own numbers"
    assert replace(one, ours=None).verdict is UNPRINTED
    assert replace(one, low=-math.inf, high=math.inf).verdict is UNPRINTED
    assert replace(one, low=-math.inf).verdict is SAME
    assert replace(one, triangle=True).range_text == "2.00-4.00"
    assert replace(one, triangle=True, high=math.inf).range_text == "> 2.00"
    assert one.range_text == ""


def test_triangle_bounds_hold_for_any_measured_tips():
    """The range of the mean distance of two estimates from their mean errors, whatever was measured."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        a, b, measured = rng.normal(size=(3, 11, 3)) * rng.uniform(0.1, 3.0, size=(3, 1, 1))
        e1, e2, apart = (np.linalg.norm(d, axis=1).mean() for d in (a - measured, b - measured, a - b))
        assert abs(e1 - e2) <= apart <= e1 + e2


def test_printed_percentages_are_of_mean_errors():
    assert rounds_to(100 * (1 - 0.98 / 3.20), 69.38)
    assert rounds_to(100 * (1 - 0.98 / 7.25), 86.48)
    assert not rounds_to(100 * (1 - 1.89 / 25.0), 89.69)


def test_where_the_weight_sits_could_explain_the_miss(comparison):
    """All of the weight beside the discs at the tip would be more than enough; as inferred it is not."""
    ours = Evidence(comparison.solved, "virtual-work")
    at_the_tip = ours.effect_of_others(prototype("B", at_the_tip=True))
    assert 6.27 < at_the_tip < 8.23
    assert ours.effect_of_others(prototype("B")) == pytest.approx(ours.mean_on_b("IV"))


def test_bend_is_the_angle_between_first_and_last_disc(comparison):
    for case in cases_of("B in-plane"):
        shape = comparison.solved[case.number, "II", "virtual-work"]
        assert total_bend(shape) == pytest.approx(abs(shape.angles.sum()), abs=1e-9)


# The loop -----------------------------------------------------------------------------------------------------------


def test_loop_is_closed_and_wide(comparison):
    loop = comparison.loops["virtual-work"]
    assert loop.difference[[0, loop.steps, -1]] == pytest.approx([0.0, 9.8, 0.0])
    assert loop.drift < 1e-9
    np.testing.assert_allclose(loop.tips[2], loop.tips[1], rtol=0, atol=1e-6)
    assert np.abs(loop.tips[1] - loop.tips[0]).max() > 0.005  # the first cycle starts with nothing having slipped
    assert 9.5 < loop.width < 11.0
    assert loop.gaps[-1] == 0.0
    start = comparison.solved[16, "II", "virtual-work"].tip
    np.testing.assert_allclose(loop.tips[0, loop.steps], in_paper_axes(start), rtol=0, atol=0.02)


def test_masses_put_in_what_friction_takes(comparison):
    """Elastic energy and height are the same after a closed cycle; only virtual work keeps the account."""
    loop, theirs = comparison.loops["virtual-work"], comparison.loops["paper"]
    np.testing.assert_allclose(loop.cable_work, loop.friction_work, rtol=1e-3)
    assert abs(loop.missing) < 1e-3 * loop.friction_work[-1]
    assert theirs.missing > 0.02 * theirs.friction_work[-1]
    finer = tension_loop(steps=400, closure="paper")
    assert finer.missing == pytest.approx(theirs.missing, rel=0.02)  # not an error of step size


def test_without_friction_there_is_no_loop(comparison):
    loop = comparison.loops["virtual-work"]
    up, down = loop.frictionless[: loop.steps + 1], loop.frictionless[loop.steps :][::-1]
    np.testing.assert_allclose(up, down, rtol=0, atol=1e-6)


def test_loop_does_not_depend_on_the_number_of_steps(comparison):
    loop, coarse = comparison.loops["virtual-work"], tension_loop(steps=100)
    assert coarse.friction_work[-1] == pytest.approx(loop.friction_work[-1], rel=2e-3)
    assert coarse.width == pytest.approx(loop.width, rel=0.01)


# Tables and sentences -----------------------------------------------------------------------------------------------


def test_headlines_count(comparison):
    claims = compared("yang2023").claims
    sentences = list(facts.headlines(comparison, claims))
    count = Counter(claim.verdict for claim in claims)
    assert f"{count[SAME]} are reproduced, in 1 the paper contradicts itself or physics, 5 depend" in sentences[1]
    assert "420 shapes" in sentences[0]
    assert "elastica" in sentences[2]


def test_tables_have_every_case(comparison):
    rows = facts.case_facts(comparison).rows
    assert len(rows) == 42
    assert rows[41] == ("42", "B", "143.22", "21.79", "0.00", "5.65", "3.83", "5.17", "21.15", "6.06")
    for condition in CONDITIONS:
        assert len(facts.condition_tips(comparison, condition).rows) == 42
    assert facts.effect_facts(comparison).rows[2][1] == "9.01 25.43"
    claims = compared("yang2023").claims
    assert (claims[3].says, claims[3].found) == ("7.25 mm, errors allow 6.27-8.23", "4.85 mm (by its closure 4.67)")
    assert claims[1].says.startswith("(9.51)")  # follows from a printed percentage, is not printed itself
    notes = list(claim_notes(claims))
    assert any(note.startswith("3: ") and "calibrated" in note for note in notes)
    assert any("7.81 mm" in note for note in notes)


def test_select_solves_only_what_was_asked_for():
    chosen = select([CASES[30]], ["V"], ["paper"])
    assert list(chosen.solved) == [(31, "V", "paper")]
    assert chosen.loops == {}
    facts_of_case = facts.case_tips(chosen, CASES[30])
    assert facts_of_case.title == "Case 31 of A, 0.28 0.28 0.50 0.50 kg on cables, under V 20 g payload: tip, mm"
    assert len(facts_of_case.rows) == 1
