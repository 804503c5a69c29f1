"""Hu et al. 2023: the printed numbers as package data, ours against them, and the claims of the text."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.papers.once import compared

from vertebra.papers.hu2023 import report as facts
from vertebra.papers.hu2023.cases import Case, Cell, cases, tip_cases
from vertebra.papers.hu2023.claims import Mean, means
from vertebra.papers.hu2023.model import Evidence, position_errors
from vertebra.papers.hu2023.published import FOLDER, columns, estimates, references, tip_errors
from vertebra.papers.hu2023.report import compare
from vertebra.papers.paper import Verdict
from vertebra.report.document import fixed

SAME, DEPENDS, CONTRADICTS = Verdict.REPRODUCED, Verdict.DEPENDS, Verdict.CONTRADICTS


def test_every_printed_number_is_there():
    assert sorted(path.name for path in FOLDER.iterdir()) == [f"table_{table}.csv" for table in (1, 2, 3, 4)]
    numbers = Counter()
    for column in columns():
        numbers[column.key[0]] += len(column.values)
    assert numbers == {1: 17 * 8, 2: 17 * 8, 3: 15 * 8}
    assert 2 * len(tip_errors()) == 36


def test_columns_pair_up():
    assert len(estimates()) == 27
    assert len(references()) == 22
    weighty = {key for key in estimates() if key[2] != "none"}
    assert weighty == set(references())
    for key in weighty:
        assert list(estimates()[key]) == list(references()[key])


SUMS = {1: 3480.44, 2: 2184.09, 3: 1537.56, 4: 491.08}


def test_digits_of_every_table_add_up():
    # Sums of all cells, taken once from the paper: a slip of the pen in a file shows here.
    sums = Counter()
    for column in columns():
        sums[column.key[0]] += sum(value for _, value in column.values)
    sums[4] = sum(row.no_gravity + row.with_gravity for row in tip_errors())
    assert {table: round(total, 2) for table, total in sums.items()} == SUMS


@pytest.mark.parametrize(
    ("key", "quantity", "value"),
    [
        ((1, "any", "none"), "theta5_deg", 28.99),
        ((1, "steel", "ground"), "z_mm", -11.45),
        ((2, "aluminium", "ceiling"), "y_mm", -17.64),
        ((3, "2", "ground"), "theta10_deg", 15.86),
    ],
)
def test_estimate(key, quantity, value):
    assert estimates()[key][quantity] == value


def test_references():
    assert references()[1, "titanium", "ground"]["theta1_deg"] == 46.01
    assert references()[3, "3", "ceiling"]["x_mm"] == -2.32


def test_cases():
    assert len(cases()) == 27
    assert len({case.key for case in cases()}) == 27
    assert len(tip_cases()) == 27
    assert Counter(case.key[2] for case in tip_cases()) == {"none": 9, "ground": 9, "ceiling": 9}
    tensions = {case.key: case.tensions for case in (*cases(), *tip_cases())}
    assert tensions[1, "ABS", "ground"] == (0.0, 2.4, 0.0, 5.1)
    assert tensions[3, "2", "none"] == tensions[3, "2", "ceiling"] == (0.98, 0.98, 0.98, 2.94)
    assert tensions[4, "7", "none"] == (8.82, 6.86, 1.96, 1.96)


def test_robots_of_the_cases():
    grams = {item: Case((1, item, "ground"), ()).robot().links["mass"][-1] * 1e3 for item in ("ABS", "steel")}
    assert grams == pytest.approx({"ABS": 0.89355, "steel": 6.68886})
    assert tuple(Case((2, "titanium", "ceiling"), ()).robot().gravity) == (0.0, 0.0, 9.8)
    assert tuple(Case((3, "1", "none"), ()).robot().gravity) == (0.0, 0.0, 0.0)
    assert Case((3, "1", "ground"), ()).robot().length == pytest.approx(0.162)


def test_names():
    assert Case((1, "any", "none"), ()).name == "Table 1, no gravity"
    assert Case((2, "steel", "ground"), ()).name == "Table 2, steel, ground"
    assert Case((3, "2", "none"), ()).name == "Table 3, experiment 2, no gravity"
    assert Case((4, "9", "ceiling"), ()).name == "Table 4, tip 9, ceiling"


# Ours ----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def comparison():
    return compared("hu2023").results


def test_every_estimated_cell_equals_ours_to_the_printed_digit(comparison):
    assert [cell for cell in comparison.cells if not cell.equal] == []
    assert Counter(cell.key[0] for cell in comparison.cells) == {1: 72, 2: 72, 3: 72}
    assert comparison.equal == 216


def test_rounded_texts_are_the_printed_texts(comparison):
    # The same judgement by text; only a cell within 1e-9 of a half could differ, and there is none.
    for cell in comparison.cells:
        assert fixed(cell.ours) == fixed(cell.published)


def test_shapes_are_stable_and_in_range(comparison):
    for solved in comparison.solved.values():
        assert solved.shape.converged
        assert solved.shape.stable
        assert solved.shape.out_of_range == ()


def test_equal_means_the_printed_digit():
    cell = Cell((1, "steel", "ground"), "x_mm", 34.98, 34.9849, None)
    assert cell.equal
    assert replace(cell, ours=34.985).equal
    assert not replace(cell, ours=34.9851).equal
    assert not replace(cell, ours=34.9749).equal
    assert replace(cell, published=0.0, ours=-0.004).equal
    assert fixed(-0.004) == "0.00"
    assert fixed(-0.005001) == "-0.01"


QUOTED = {
    ("Table 1 ground: tip", True): (2.08, 2.08, 2.08, SAME),
    ("Table 1 ground: tip", False): (17.16, 17.16, 17.16, SAME),
    ("Table 1 ceiling: tip", True): (3.52, 3.52, 3.52, SAME),
    ("Table 1 ceiling: tip", False): (12.36, 12.37, 12.37, DEPENDS),
    ("Table 2 ground: tip", True): (3.10, 3.10, 3.10, SAME),
    ("Table 2 ground: tip", False): (6.28, 6.28, 6.28, SAME),
    ("Table 2 ceiling: tip", True): (1.57, 1.56, 1.56, DEPENDS),
    ("Table 2 ceiling: tip", False): (2.15, 2.15, 2.15, SAME),
    ("Table 3 ground: tip", True): (1.67, 1.67, 1.67, SAME),
    ("Table 3 ground: tip", False): (67.04, 67.03, 67.04, SAME),
    ("Table 3 ceiling: tip", True): (2.69, 2.69, 2.69, SAME),
    ("Table 3 ceiling: tip", False): (29.12, 29.12, 29.12, SAME),
    ("Table 2 ground: tip, steel", True): (3.98, 3.98, 3.98, SAME),
    ("Table 2 ground: tip, steel", False): (10.89, 10.89, 10.89, SAME),
    ("Table 2 ceiling: tip, steel", True): (1.28, 1.28, 1.28, SAME),
    ("Table 2 ceiling: tip, steel", False): (3.69, 3.69, 3.69, SAME),
    ("Table 1: angle", True): (0.48, 1.15, 1.15, CONTRADICTS),
    ("Table 1: angle", False): (4.39, 4.39, 4.39, SAME),
    ("Table 2: angle", True): (0.56, 0.81, 0.82, CONTRADICTS),
    ("Table 2: angle", False): (1.52, 1.52, 1.52, SAME),
    ("Table 3 ground: total bend", True): (0.72, 0.73, 0.72, SAME),
    ("Table 3 ground: total bend", False): (40.71, 40.71, 40.71, SAME),
    ("Table 3 ceiling: total bend", True): (1.28, 1.28, 1.28, SAME),
    ("Table 3 ceiling: total bend", False): (19.23, 19.24, 19.23, SAME),
    ("Table 4 ground: tip", True): (2.29, 2.29, None, SAME),
    ("Table 4 ground: tip", False): (28.35, 28.35, None, SAME),
    ("Table 4 ceiling: tip", True): (3.14, 3.14, None, SAME),
    ("Table 4 ceiling: tip", False): (20.78, 20.78, None, SAME),
    ("Tables 3, 4: error removed", None): (91.5, 91.5, 91.5, SAME),
}
"""Text, printed cells, ours, verdict."""


def test_every_quoted_mean_error(comparison):
    found = {}
    for mean in means(comparison.solved):
        ours = None if mean.from_ours is None else round(mean.from_ours, mean.decimals)
        found[mean.what, mean.gravity] = (
            mean.quoted, round(mean.from_published, mean.decimals), ours, mean.judged[0]
        )  # fmt: skip
    assert found == QUOTED


def test_verdicts_and_their_reasons():
    mean = Mean("1", "what", True, "mm", 1.0, 2, 1.004, None, 0.01)
    assert mean.judged == (SAME, "")
    assert replace(mean, from_published=1.006).judged[0] is DEPENDS
    assert "0.010 mm" in replace(mean, from_published=1.006).judged[1], "how far rounding can move it"
    assert replace(mean, from_published=1.006, from_ours=1.001).judged[0] is SAME
    assert replace(mean, from_published=1.016).judged[0] is CONTRADICTS
    claim = replace(mean, from_published=1.016).claim("7")
    assert (claim.key, claim.says, claim.found) == ("7", "1.00 mm", "cells 1.02")
    assert claim.about == {"with", "what"}


def test_how_the_errors_are_pooled_decides_the_reduction():
    """The sum over all 24 gives the paper's 91.5 %; the mean of reductions and the mean of groups do not."""
    tips = tip_errors()
    evidence = Evidence(estimates(), references(), tips)
    groups = []
    for mount in ("ground", "ceiling"):
        planar = (position_errors(evidence, 3, mount, weight).values() for weight in (True, False))
        groups.append(list(zip(*planar, strict=True)))
        groups.append([(row.with_gravity, row.no_gravity) for row in tips if row.mount == mount])
    pairs = [pair for group in groups for pair in group]
    assert len(pairs) == 24
    pooled = 1 - sum(a for a, _ in pairs) / sum(b for _, b in pairs)
    each = 1 - sum(a / b for a, b in pairs) / len(pairs)
    by_group = 1 - sum(sum(a for a, _ in group) / sum(b for _, b in group) for group in groups) / 4
    assert [round(100 * value, 1) for value in (pooled, each, by_group)] == [91.5, 89.3, 91.3]


def test_table_4_triangles(comparison):
    assert len(comparison.tips) == 18
    assert all(tip.possible for tip in comparison.tips)
    # The check can fail: tips of the other mount do not fit, nor do errors a tenth as large.
    ground, ceiling = ([tip for tip in comparison.tips if tip.mount == mount] for mount in ("ground", "ceiling"))
    swapped = [replace(a, with_gravity_tip=b.with_gravity_tip) for a, b in zip(ground, ceiling, strict=True)]
    assert sum(not tip.possible for tip in swapped) >= 7
    off = [replace(tip, with_gravity_error=tip.with_gravity_error / 10) for tip in comparison.tips]
    assert sum(not tip.possible for tip in off) >= 9


def test_tips_of_mirrored_payloads_mirror(comparison):
    tips = {(tip.tip, tip.mount): tip.with_gravity_tip for tip in comparison.tips}
    for mount in ("ground", "ceiling"):
        for one, other in ((1, 9), (2, 8), (3, 7), (4, 6)):
            x, y, z = tips[one, mount]
            assert tips[other, mount] == pytest.approx((x, -y, z), abs=1e-9)


def test_iterations_of_both_methods(comparison):
    counts = facts.with_weight(comparison.iteration_counts)
    assert len(counts) == 40
    assert max(one.difference for one in counts) < 1e-12
    assert max(one.newton for one in counts) <= 8
    assert [one.case for one in counts if one.kept_at_one is None] == ["Table 3, experiment 1, ceiling"]
    assert all(one.halving is not None and one.kept_at_half is not None for one in counts)
    assert min(one.halving / one.newton for one in counts) > 2


def test_only_the_experiments():
    part = compare(experiments=True)
    assert len(part.results.cells) == part.results.equal == 48
    assert part.claims == part.results.tips == part.results.iteration_counts == ()
    assert part.headlines == ("48 of 48 estimated cells of Table 3 equal ours to the printed digit.",)
    rows = facts.experiment_facts(part.results).rows
    assert rows[0] == ("exp. 1", "0.98 0.98 0.98 1.96", "78.44", "78.44", "1.66", "1.66")


def test_picture_shows_what_the_table_says():
    drawn = {panel.title: panel for panel in facts.still_panels(compare(experiments=True).results)}
    assert list(drawn) == ["Shape, ground", "Bending angles, ground"]
    bends = drawn["Bending angles, ground"].series
    assert [line.name for line in bends if line.name] == [
        "experiment 1", "experiment 2", "experiment 3", "ours", "paper's estimate", "measured"
    ]  # fmt: skip
    assert all(len(line.x) for line in bends), "a page leaves an empty line out of its legend"
    ours, published, measured = (line for line in bends[1:4])
    assert list(ours.x) == [2, 4, 6, 8, 10]
    np.testing.assert_allclose(ours.y, published.y, atol=0.005)
    assert np.abs(np.subtract(ours.y, measured.y)).max() > 0.1


def test_unequal_cells_are_marked(comparison):
    wrong = replace(comparison.cells[0], ours=30.0)
    table = facts.table_facts(replace(comparison, cells=(wrong, *comparison.cells[1:])), 1)
    assert table.rows[1][2] == "30.00 *"
    assert not any("*" in text for row in table.rows[2:] for text in row)


def test_facts_show_every_cell(comparison):
    for table, count in ((1, 9), (2, 9), (3, 9)):
        rows = facts.table_facts(comparison, table).rows
        assert len(rows) == 2 * count + (8 if table < 3 else 6)
        assert all(len(row) == 10 for row in rows)
    assert all(math.isfinite(float(row[-1])) for row in facts.iteration_facts(comparison).rows)
