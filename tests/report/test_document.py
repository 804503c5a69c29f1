"""Numbers as text, columns of numbers, and rows for a CSV file."""

from __future__ import annotations

import numpy as np

from vertebra.report.document import (
    Facts,
    Rows,
    degrees,
    number,
    numeric_columns,
    signless_zero,
    vector,
)


def test_text() -> None:
    assert number(0.1 + 0.2) == "0.3"
    assert degrees([0.0] * 15, most=2) == "0, 0, ... (15)"
    assert vector(np.array([-1e-9, 1.5, 20.0]), ".2f") == "(0.00, 1.50, 20.00)"


def test_zero_has_no_sign() -> None:
    assert signless_zero(-1e-9, ".3f") == "0.000"
    assert signless_zero(-0.5, ".3f") == "-0.500"


def test_columns_of_numbers_are_told_from_texts() -> None:
    facts = Facts("", ("a", "b", "c", "d"), (("1", "x", "3 %", "rigid"), ("-1.5e-3", "2", "-", "4")))
    assert numeric_columns(facts) == (True, False, True, True)
    assert numeric_columns(Facts("", ("", ""), (("1", "2"),))) == (False, False)


def test_records_become_rows() -> None:
    columns, rows = Rows.of(iter([{"a": 1, "b": None}, {"b": 2.5, "a": "x"}]))
    assert (columns, rows) == (["a", "b"], [[1, None], ["x", 2.5]])
