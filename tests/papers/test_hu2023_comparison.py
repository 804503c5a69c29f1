"""Published numbers of Hu et al. 2023 against ours: cells, the claims of the text, and what cannot be checked."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest

from vertebra.papers.hu2023 import facts
from vertebra.papers.hu2023.cells import Cell
from vertebra.papers.hu2023.claims import FAILS, HOLDS, LAST_DIGIT, UNROUNDED, VERDICTS, Claim
from vertebra.papers.hu2023.comparison import compare, compare_experiments
from vertebra.papers.hu2023.mean_errors import Evidence, position_errors
from vertebra.papers.hu2023.published import estimates, references, tip_errors


@pytest.fixture(scope="module")
def comparison():
    return compare()


def test_every_estimated_cell_equals_ours_to_the_printed_digit(comparison):
    assert [cell for cell in comparison.cells if not cell.equal] == []
    assert Counter(cell.key[0] for cell in comparison.cells) == {1: 72, 2: 72, 3: 72}
    assert comparison.equal == 216
    assert "216 of 216 cells" in repr(comparison)


def test_rounded_texts_are_the_printed_texts(comparison):
    # The same judgement by text; only a cell within 1e-9 of a half could differ, and there is none.
    for cell in comparison.cells:
        assert facts.fixed(cell.ours) == facts.fixed(cell.published)


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
    assert facts.fixed(-0.004) == "0.00"
    assert facts.fixed(-0.005001) == "-0.01"


QUOTED = {
    ("Table 1 ground: tip", True): (2.08, 2.08, 2.08, HOLDS),
    ("Table 1 ground: tip", False): (17.16, 17.16, 17.16, HOLDS),
    ("Table 1 ceiling: tip", True): (3.52, 3.52, 3.52, HOLDS),
    ("Table 1 ceiling: tip", False): (12.36, 12.37, 12.37, LAST_DIGIT),
    ("Table 2 ground: tip", True): (3.10, 3.10, 3.10, HOLDS),
    ("Table 2 ground: tip", False): (6.28, 6.28, 6.28, HOLDS),
    ("Table 2 ceiling: tip", True): (1.57, 1.56, 1.56, LAST_DIGIT),
    ("Table 2 ceiling: tip", False): (2.15, 2.15, 2.15, HOLDS),
    ("Table 3 ground: tip", True): (1.67, 1.67, 1.67, HOLDS),
    ("Table 3 ground: tip", False): (67.04, 67.03, 67.04, UNROUNDED),
    ("Table 3 ceiling: tip", True): (2.69, 2.69, 2.69, HOLDS),
    ("Table 3 ceiling: tip", False): (29.12, 29.12, 29.12, HOLDS),
    ("Table 2 ground: tip, steel", True): (3.98, 3.98, 3.98, HOLDS),
    ("Table 2 ground: tip, steel", False): (10.89, 10.89, 10.89, HOLDS),
    ("Table 2 ceiling: tip, steel", True): (1.28, 1.28, 1.28, HOLDS),
    ("Table 2 ceiling: tip, steel", False): (3.69, 3.69, 3.69, HOLDS),
    ("Table 1: angle", True): (0.48, 1.15, 1.15, FAILS),
    ("Table 1: angle", False): (4.39, 4.39, 4.39, HOLDS),
    ("Table 2: angle", True): (0.56, 0.81, 0.82, FAILS),
    ("Table 2: angle", False): (1.52, 1.52, 1.52, HOLDS),
    ("Table 3 ground: total bend", True): (0.72, 0.73, 0.72, UNROUNDED),
    ("Table 3 ground: total bend", False): (40.71, 40.71, 40.71, HOLDS),
    ("Table 3 ceiling: total bend", True): (1.28, 1.28, 1.28, HOLDS),
    ("Table 3 ceiling: total bend", False): (19.23, 19.24, 19.23, UNROUNDED),
    ("Table 4 ground: tip", True): (2.29, 2.29, None, HOLDS),
    ("Table 4 ground: tip", False): (28.35, 28.35, None, HOLDS),
    ("Table 4 ceiling: tip", True): (3.14, 3.14, None, HOLDS),
    ("Table 4 ceiling: tip", False): (20.78, 20.78, None, HOLDS),
    ("Tables 3, 4: error removed", None): (91.5, 91.5, 91.5, HOLDS),
}
"""Text, printed cells, ours, verdict."""


def test_every_quoted_mean_error(comparison):
    found = {}
    for claim in comparison.claims:
        ours = None if claim.from_ours is None else round(claim.from_ours, claim.decimals)
        found[claim.what, claim.gravity] = (
            claim.quoted, round(claim.from_published, claim.decimals), ours, claim.verdict
        )  # fmt: skip
    assert found == QUOTED


def test_verdicts():
    claim = Claim("1", "what", True, "mm", 1.0, 2, 1.004, None, 0.01)
    assert claim.verdict == HOLDS
    assert replace(claim, from_published=1.006).verdict == LAST_DIGIT
    assert replace(claim, from_published=1.006, from_ours=1.001).verdict == UNROUNDED
    assert replace(claim, from_published=1.016).verdict == FAILS
    assert set(VERDICTS) == {HOLDS, UNROUNDED, LAST_DIGIT, FAILS}


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


def test_races(comparison):
    races = facts.weighty(comparison.races)
    assert len(races) == 40
    assert max(race.difference for race in races) < 1e-12
    assert max(race.newton for race in races) <= 8
    assert [race.case for race in races if race.kept_at_one is None] == ["Table 3, experiment 1, ceiling"]
    assert all(race.halving is not None and race.kept_at_half is not None for race in races)
    assert min(race.halving / race.newton for race in races) > 2


def test_only_the_experiments():
    comparison = compare_experiments()
    assert len(comparison.cells) == comparison.equal == 48
    assert comparison.claims == comparison.tips == comparison.races == ()
    assert list(facts.headlines(comparison)) == ["48 of 48 estimated cells of Table 3 equal ours to the printed digit."]
    rows = facts.experiment_facts(comparison).rows
    assert rows[0] == ("exp. 1", "0.98 0.98 0.98 1.96", "78.44", "78.44", "1.66", "1.66")


def test_unequal_cells_are_marked(comparison):
    wrong = replace(comparison.cells[0], ours=30.0)
    table = facts.table_facts(replace(comparison, cells=(wrong, *comparison.cells[1:])), 1)
    assert table.rows[1][2] == "30.00 *"
    assert not any("*" in text for row in table.rows[2:] for text in row)


def test_facts_show_every_cell(comparison):
    for table, columns in ((1, 9), (2, 9), (3, 9)):
        rows = facts.table_facts(comparison, table).rows
        assert len(rows) == 2 * columns + (8 if table < 3 else 6)
        assert all(len(row) == 10 for row in rows)
    assert all(math.isfinite(float(row[-1])) for row in facts.race_facts(comparison).rows)
