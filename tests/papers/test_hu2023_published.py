"""The printed numbers of Hu et al. 2023 as package data."""

from __future__ import annotations

from collections import Counter

import pytest

from vertebra.papers.hu2023.cases import Case, cases, tip_cases
from vertebra.papers.hu2023.published import FOLDER, columns, estimates, references, tip_errors


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
