"""Cai et al. 2023: what is printed, what follows from it, and our payloads beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.oracles.cai2023 import literal_payload
from tests.papers.once import compared

import vertebra as vb
from vertebra.papers.cai2023 import report as facts
from vertebra.papers.cai2023.cases import (
    CASES,
    DOWN,
    LEVELS,
    SHAPES,
    Case,
    gains,
    payload_of,
    shape_of,
    snake,
    tensions_at,
)
from vertebra.papers.cai2023.model import HIGHER, PRINTED_SIGN, RAISED, UP_FIRST, pushed
from vertebra.papers.cai2023.published import FOLDER, GAINS, Range, error_rows, whole
from vertebra.papers.paper import Verdict, claim_notes


@pytest.fixture(scope="module")
def comparison():
    return compared("cai2023").results


@pytest.fixture(scope="module")
def claims():
    return compared("cai2023").claims


# What is printed ----------------------------------------------------------------------------------------------------


def test_digits_of_both_tables_add_up():
    # Sums taken once from the paper: a slip of the pen in a file shows here.
    assert sorted(path.name for path in FOLDER.iterdir()) == ["table_1.csv", "table_2.csv"]
    rows = error_rows()
    assert list(rows) == [(1, shape) for shape in SHAPES] + [(2, "straight"), (2, "vertical S")]
    sums = [sum(getattr(row, name) for row in rows.values()) for name in ("mean", "largest")]
    percents = [sum(getattr(row, name) for row in rows.values()) for name in ("mean_percent", "largest_percent")]
    assert [round(value, 2) for value in sums] == [0.56, 1.29]
    assert [round(value, 2) for value in percents] == [24.40, 56.46]


@pytest.mark.parametrize(
    ("table", "shape", "low", "high"),
    [
        (1, "straight", 1.856, 2.007),
        (1, "vertical S", 2.054, 2.190),
        (1, "horizontal S", 1.933, 1.998),
        (1, "non-planar", 3.160, 3.199),
        (2, "straight", 2.018, 2.116),
        (2, "vertical S", 2.259, 2.311),
    ],
)
def test_implied_ranges(table, shape, low, high):
    implied = error_rows()[table, shape].implied
    assert implied.text == f"{low:.3f}-{high:.3f}"
    assert implied.low < implied.high


@pytest.mark.parametrize("row", error_rows().values(), ids=lambda row: f"{row.table}-{row.shape}")
def test_implied_range_is_all_that_the_printed_digits_allow(row):
    """Brute force: which payloads have errors that print as the table does, in N and in %?"""

    def prints(payload: float, error: float, percent: float) -> bool:
        tried = np.linspace(error - 0.00499, error + 0.00499, 4001)
        return bool((np.abs(100 * tried / payload - percent) < 0.00499).any())

    for payload in np.linspace(1.7, 3.4, 341):
        fits = prints(payload, row.mean, row.mean_percent) and prints(payload, row.largest, row.largest_percent)
        edge = min(abs(payload - row.implied.low), abs(payload - row.implied.high)) < 3e-3
        assert edge or fits == (row.implied.miss(payload) == 0.0)


def test_ranges():
    assert whole(0.07, 3.73) == pytest.approx((100 * 0.065 / 3.735, 100 * 0.075 / 3.725))
    assert Range(1.0, 3.0).both(Range(2.0, 4.0)) == (2.0, 3.0)
    assert [Range(1.0, 2.0).miss(value) for value in (0.5, 1.0, 1.7, 2.0, 2.25)] == [-0.5, 0.0, 0.0, 0.0, 0.25]


# Shapes and tensions ------------------------------------------------------------------------------------------------


def test_tensions_of_both_tables():
    assert LEVELS == (5, 10, 15, 20, 25, 30, 35)
    np.testing.assert_array_equal(Case(1, "straight").tensions[[0, -1]], [[5, 5, 5], [35, 35, 35]])
    np.testing.assert_array_equal(Case(2, "straight").tensions[[0, -1]], [[0, 5, 5], [30, 35, 35]])
    assert [case.name for case in CASES[3:5]] == ["non-planar, equal", "straight, T1 5 N less"]


def test_shapes():
    """First ten joints one way, the other nine back; the spiral from theta = 0 to pi."""
    for name, azimuth in (("vertical S", -90.0), ("horizontal S", 0.0)):
        shape = shape_of(name)
        np.testing.assert_allclose(np.degrees(shape.bends), [2.85] * 10 + [-2.85] * 9)
        np.testing.assert_allclose(np.degrees(shape.azimuths), azimuth)
    spiral = shape_of("non-planar")
    np.testing.assert_allclose(np.degrees(spiral.bends), 8.0)
    np.testing.assert_allclose(np.degrees(spiral.azimuths) + 90.0, np.linspace(0.0, 180.0, 19))
    assert not shape_of("straight").bends.any()
    backbone = {name: vb.Pose(snake(), shape_of(name).coordinates).frames[:, :3, 3] for name in SHAPES}
    assert backbone["vertical S"][:, 1].min() < -0.03
    assert abs(backbone["vertical S"][:, 0]).max() < 1e-12
    assert abs(backbone["horizontal S"][:, 1]).max() < 1e-12
    assert np.linalg.matrix_rank(backbone["non-planar"] - backbone["non-planar"].mean(axis=0), tol=1e-4) == 3
    assert vb.Pose(snake(), shape_of("vertical S", up_first=True).coordinates).frames[-1, 1, 3] > 0.03


def test_load_of_the_straight_snake_by_hand():
    """One joint slides when its moment is r_o sin(atan mu) times the force through it."""
    L, weight, r_o, mu = 8.5e-3, 1.42e-3 * 9.80665, 6.35e-3, 0.58
    for tension in LEVELS:
        load = payload_of(shape_of("straight"), tensions_at(tension)).force
        moment = 19 * L * load + weight * L * sum(range(1, 20))
        force = math.hypot(3 * tension, load + 19 * weight)
        assert moment == pytest.approx(r_o * math.sin(math.atan(mu)) * force, rel=1e-12)


# Ours ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "shape", "force", "miss", "mode"),
    [
        (1, "straight", 1.933, 0.0, "sliding"),
        (1, "vertical S", 2.204, 0.015, "sliding"),
        (1, "horizontal S", 1.992, 0.0, "sliding"),
        (1, "non-planar", 3.183, 0.0, "torsion"),
        (2, "straight", 1.987, -0.031, "sliding"),
        (2, "vertical S", 2.252, -0.007, "sliding"),
    ],
)
def test_largest_payloads(comparison, table, shape, force, miss, mode):
    """Three in the implied range, three just outside: nothing was moved to get them in."""
    curve = comparison.curve(table, shape)
    assert round(curve.largest.force, 3) == force
    assert round(curve.miss, 3) == miss
    assert curve.inside == (miss == 0.0)
    assert (curve.largest.joint, curve.largest.mode) == (1, mode)
    assert {(payload.joint, payload.mode) for payload in curve.payloads} == {(1, mode)}
    assert abs(curve.miss) < 0.02 * force
    assert f"{force:.3f} N" in repr(curve)


def test_payloads_grow_with_tension_and_no_shape_slips_unloaded(comparison):
    assert len(comparison.curves) == 6
    for curve in comparison.curves:
        assert (np.diff(curve.forces) > 0).all()
        assert all(payload.is_interval and not payload.slips_unloaded for payload in curve.payloads)
    assert comparison.inside == 3


def test_gains(comparison):
    """0, 5, 5 N against 5, 5, 5 N is the largest, and the only one near the text's."""
    found = {
        shape: gains(comparison.curve(1, shape), comparison.curve(2, shape)) for shape in ("straight", "vertical S")
    }
    assert [round(values[0], 2) for values in found.values()] == [34.91, 24.36]
    for values in found.values():
        assert values == sorted(values, reverse=True)
        assert values[-1] > 2.0
        assert values[1] < 15.0


def test_payload_is_linear_in_tension(comparison):
    for curve in comparison.curves:
        assert curve.off_line < 3e-4
        slope, intercept = curve.line
        assert slope > 0.05
        assert -0.15 < intercept < -0.08
        if curve.case.table == 1:
            assert curve.off_proportion < 1e-12
            assert (np.array([payload.force for payload in curve.weightless]) > curve.forces).all()
    # With unequal tensions the tensions are not in proportion, nor is the payload.
    assert comparison.curve(2, "straight").off_proportion > 0.1


def test_other_readings_fit_worse(comparison):
    """The vertical S goes down first, T1 of Table II ends at 30 N, and tendons pull."""
    found = {(one.reading, one.shape, one.what): one for one in comparison.readings}
    assert len(found) == 8
    up = found[UP_FIRST, "vertical S", "largest, equal"]
    assert round(up.otherwise, 3) == 1.847
    assert round(found[UP_FIRST, "vertical S", "gain"].otherwise, 2) == 45.07
    for shape, table_2 in (("straight", 2.283), ("vertical S", 2.587)):
        one = found[HIGHER, shape, "largest, T1 less"]
        implied = error_rows()[2, shape].implied
        assert round(one.otherwise, 3) == table_2
        assert abs(implied.miss(one.otherwise)) > 5 * abs(implied.miss(one.ours))
        assert found[RAISED, shape, "gain"].otherwise > 190
        assert found[PRINTED_SIGN, shape, "gain at 35 N"].otherwise < -10
        assert one.ours == comparison.curve(2, shape).largest.force


def test_pushing_tendons_is_eq_6_as_printed():
    for shape, tensions in (("straight", [10.0, 15.0, 15.0]), ("non-planar", [15.0, 15.0, 15.0])):
        bent = shape_of(shape)
        literal = literal_payload(
            snake(), *bent, tensions, DOWN, as_printed=True, tolerance=1e-7, step=0.25, only_weakest=True
        )
        assert pushed(bent, np.array(tensions)) == pytest.approx(literal.force, abs=1e-6)
    for shape in SHAPES:
        assert pushed(shape_of(shape), tensions_at(5.0, 5.0)) == 0.0


def test_best_tensions_are_not_beaten_by_a_grid(comparison):
    grid = [0.0, 5.0, 15.0, 25.0, 30.0, 35.0]
    for shape, best in comparison.best.items():
        bent = shape_of(shape)
        most = max(
            payload_of(bent, np.array([a, b, c])).force for a in grid for b in grid for c in grid if a + b + c > 0.0
        )
        assert best.payload.force >= most - 1e-9
        assert best.payload.force >= comparison.curve(1, shape).largest.force - 1e-12
        assert ((best.tensions >= 0.0) & (best.tensions <= 35.0)).all()
        again = payload_of(bent, best.tensions)
        assert again.force == best.payload.force


def test_sensitivity_is_a_second_calculation(comparison):
    found = {one.what: one for one in comparison.sensitivities}
    assert list(found) == ["ball radius", "ring radius", "channel", "mass of a link", "bends"]
    mapping = snake().to_mapping()
    mapping["sections"][0]["joint"]["radius"] = 1.05 * 6.35e-3
    bigger = vb.load(mapping)
    change = (
        payload_of(shape_of("straight"), tensions_at(35.0), robot=bigger).force
        - payload_of(shape_of("straight"), tensions_at(35.0)).force
    )
    assert found["ball radius"].change[0] == pytest.approx(change)
    assert all(value > 0 for value in found["ball radius"].change)
    assert all(value < 0 for value in found["mass of a link"].change)
    assert [abs(value) > 1e-12 for value in found["ring radius"].change] == [False, False, False, True, False, False]
    assert [abs(value) > 1e-12 for value in found["bends"].change] == [False, True, True, True, False, True]


# Claims, tables and sentences ---------------------------------------------------------------------------------------


def test_every_claim_is_judged(claims):
    SAME, DEPENDS, UNPRINTED = Verdict.REPRODUCED, Verdict.DEPENDS, Verdict.NOT_PRINTED
    judged = [(claim.section, claim.details["says"], claim.verdict) for claim in claims]
    assert judged == [
        ("III-C", "35.50", DEPENDS), ("III-C", "> 0", SAME), ("III-C", "24.51", DEPENDS), ("III-C", "> 0", SAME),
        ("III-B", "linear", SAME), ("abstract", "< 0.19", DEPENDS), ("III-B", "< 0.2", SAME),
        ("abstract", "< 0.36", DEPENDS), ("III-B", "< 0.36", DEPENDS), ("III-B", "< 6.5", SAME),
        ("III-B", "< 16", SAME), ("III-B", "largest", SAME), ("III-B", "0.50", UNPRINTED),
    ]  # fmt: skip
    assert all(claim.why for claim in claims)


def test_a_gain_is_within_what_assumed_numbers_do(comparison, claims):
    """The reason for calling the gains a matter of missing numbers, worked out another way for one of them."""
    for shape, quoted in GAINS.items():
        low, high = comparison.gain_ranges[shape]
        assert low < quoted < high
    mapping = snake().to_mapping()
    mapping["sections"][0]["link"]["mass"] *= 1.05
    heavy, bent = vb.load(mapping), shape_of("straight")
    held, less = (payload_of(bent, np.array(pull), robot=heavy).force for pull in ((5.0, 5.0, 5.0), (0.0, 5.0, 5.0)))
    low, high = comparison.gain_ranges["straight"]
    assert low <= 100 * (less / held - 1) <= high
    assert f"{high:.2f} %" in claims[0].why


def test_tables(comparison):
    rows = facts.largest_facts(comparison).rows
    assert rows[0] == ("straight", "I", "35 35 35", "1.856-2.007", "1.933", "inside", "1", "sliding")
    assert rows[4] == ("straight", "II", "30 35 35", "2.018-2.116", "1.987", "0.031 below", "1", "sliding")
    assert facts.gain_facts(comparison).rows[0] == ("5", "0.157", "0.211", "34.91", "0.195", "0.243", "24.36")
    assert len(facts.curve_facts(comparison).rows) == 7
    assert [row[-1] for row in facts.line_facts(comparison).rows[3:5]] == ["< 1e-12", "-"]
    assert [row[0] for row in facts.best_facts(comparison).rows] == ["straight", "vert. S", "hor. S", "non-planar"]


def test_sentences(comparison, claims):
    text = " ".join(facts.headlines(comparison, claims))
    for part in ("for 3 and outside for 3", "0.031 N", "assumed", "34.91 %", "24.36 %", "joint 1", "non-planar"):
        assert part in text
    assert any(note.startswith("2, 4: ") for note in claim_notes(claims))
