"""What code and measurements write into the README and the docs is up to date."""

from __future__ import annotations

import math

import pytest
from benchmarks import report
from benchmarks.report import Row
from benchmarks.rooms import fingerprint, fingerprints
from tests.papers.once import once
from tools import ratio_tables
from tools.generate import PAGES, ROOT, TABLES, split, with_table

from vertebra.papers.paper import Paper

WRITE = "run python -m tools.generate"


@pytest.mark.parametrize("path", PAGES)
def test_page_is_up_to_date(path):
    assert (ROOT / path).read_text(encoding="utf-8") == PAGES[path](), WRITE


# One test for all of them: the papers are computed once, and not again where their own tests ran before.
def test_tables_are_up_to_date(monkeypatch):
    monkeypatch.setattr(Paper, "compare", once)
    for path, tables in TABLES.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        for name, table in tables.items():
            assert split(text, name)[1].strip() == table(), f"{path}, {name}: {WRITE}"


def test_every_benchmark_was_run_since_its_rows_changed():
    kept, now = report.read().rooms, fingerprints()
    old = [room for room in now if kept.get(room) != now[room]]
    assert not old, f"rows of {', '.join(old)} changed: run python -m benchmarks --write on a quiet machine"


def test_fingerprint_depends_on_rows_not_layout():
    source = 'def rows():\n    """Note."""\n    return [Row("shape, 12 links", f"{name} / ours", 3.0)]\n'
    assert fingerprint("# why\n" + source.replace("Note", "Another note")) == fingerprint(source)
    one_more = ("[Row", '[Row("a", "b", 1.0), Row')
    for old, new in (("12 links", "13 links"), ("/ ours", "/ theirs"), ("3.0", "4.0"), one_more):
        assert fingerprint(source.replace(old, new)) != fingerprint(source)


def test_a_run_is_read_back_from_its_file(tmp_path):
    rows = [Row("a", "theirs / ours", 12.345678, 10.0, "1.5 us"), Row("b", "NOT MEASURED", math.nan, None, "")]
    report.write(rows, "desk", {"statics": "1"}, tmp_path / "ratios.json")
    found = report.read(tmp_path / "ratios.json")
    assert (found.machine, found.rooms) == ("desk", {"statics": "1"})
    assert found.rows[0] == Row("a", "theirs / ours", 12.35, 10.0, "1.5 us")
    assert math.isnan(found.rows[1].value)
    assert found.rows[1].met is None


def test_a_table_shows_what_was_measured():
    rows = (Row("a", "x / y", 4.0, 5.0, ""), Row("b", "z", math.nan, None, "", at_most=True))
    lines = ratio_tables.whole_table(report.Measured("desk", {}, rows)).splitlines()
    assert lines[0] == "On a desk:"
    assert lines[-2:] == ["| a | x / y | 4 | ≥ 5 **missed** |  |", "| b | z | not measured |  |  |"]


def test_a_line_without_its_rows_is_named():
    with pytest.raises(LookupError, match="shape, 6 links, standing"):
        ratio_tables.short_table(report.Measured("desk", {}, ()))


def test_only_the_text_between_the_marks_is_replaced():
    text = "a\n<!-- begin: t -->\nold\n<!-- end: t -->\nb\n"
    assert with_table(text, "t", "new") == "a\n<!-- begin: t -->\n\nnew\n\n<!-- end: t -->\nb\n"
    with pytest.raises(LookupError, match="begin: other"):
        with_table(text, "other", "new")
