"""The summary of each paper: it counts what the paper's own tables say, and hides no miss."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

import vertebra as vb
from vertebra.papers import summary
from vertebra.papers.hu2023.comparison import compare_experiments
from vertebra.papers.summary import QUESTIONS, PaperSummary, summary_of
from vertebra.papers.summary_facts import csv_text, paper_sentences, summary_facts, summary_record

QUICK = [name for name in QUESTIONS if name != "lapusan2022"]
"""The other one is in the tests of the command."""


@pytest.fixture(scope="module")
def comparisons() -> dict[str, Any]:
    return {name: import_module(f"vertebra.papers.{name}.comparison").compare() for name in QUICK}


@pytest.fixture(scope="module")
def papers(comparisons: dict[str, Any]) -> dict[str, PaperSummary]:
    return {name: summary_of(name, comparison) for name, comparison in comparisons.items()}


@pytest.mark.parametrize("name", QUICK)
def test_counts_are_those_of_the_claims(
    name: str, papers: dict[str, PaperSummary], comparisons: dict[str, Any]
) -> None:
    found, claims = papers[name], comparisons[name].claims
    assert dict(found.verdicts) == Counter(claim.verdict for claim in claims)
    assert found.claims == found.holds + found.fails + found.open == len(claims)
    assert found.holds == sum(claim.verdict.startswith("holds") for claim in claims)
    assert found.fails == len(found.reasons) == sum(claim.verdict == "does not hold" for claim in claims)
    assert found.headline == next(iter(import_module(f"vertebra.papers.{name}.facts").headlines(comparisons[name])))
    assert found.source == import_module(f"vertebra.papers.{name}.records").SOURCE


def test_what_is_reproduced(papers: dict[str, PaperSummary]) -> None:
    assert {name: found.reproduced_text for name, found in papers.items()} == {
        "hu2023": "216 of 216",
        "yang2023": "3 of 4",
        "cai2023": "3 of 6",
        "dantuono2023": "1 of 2",
    }


def test_a_cell_that_differs_is_counted_and_a_claim_that_fails_is_told(comparisons: dict[str, Any]) -> None:
    whole = comparisons["hu2023"]
    wrong = replace(whole.cells[0], ours=whole.cells[0].ours + 1.0)
    quoted = replace(whole.claims[0], quoted=whole.claims[0].quoted + 5.0)
    found = summary_of("hu2023", replace(whole, cells=(wrong, *whole.cells[1:]), claims=(quoted, *whole.claims[1:])))
    assert found.reproduced == (215, 216)
    assert found.fails == 3
    assert found.reasons[0].startswith("Table 1 ground: tip, with gravity (section 4.1.1): the text says 7.08 mm")
    assert list(paper_sentences(found))[1].startswith("215 of 216 estimated cells"), "a miss is told in a sentence"


def test_an_unknown_verdict_is_open_and_never_holds(comparisons: dict[str, Any]) -> None:
    whole = comparisons["cai2023"]
    claims = tuple(replace(claim, verdict="who knows") for claim in whole.claims)
    found = summary_of("cai2023", replace(whole, claims=claims))
    assert (found.holds, found.fails, found.open_text) == (0, 0, "13 who knows")


def test_reasons_say_what_the_text_says_and_what_is_found(papers: dict[str, PaperSummary]) -> None:
    angle = next(text for text in papers["hu2023"].reasons if text.startswith("Table 1: angle"))
    assert "0.48 deg" in angle
    assert "1.15 deg" in angle
    allowed, trend, percent = papers["yang2023"].reasons
    assert "the printed errors allow 6.27-8.23 mm, ours is 4.85 mm" in allowed
    assert "Likewise" not in trend
    assert "Correlation" in trend
    assert "the text says > 90 %, its own numbers give 89.69 %" in percent
    assert [text[:3] for text in papers["dantuono2023"].reasons] == ["(a)", "(b)", "(c)", "(e)", "(f)"]
    assert sum("held up by its top" in text for text in papers["dantuono2023"].reasons) == 1, "the same reason once"


def test_tables_and_records(papers: dict[str, PaperSummary]) -> None:
    listed = list(papers.values())
    wide, brief = summary_facts(listed), summary_facts(listed, brief=True)
    assert all(len(row) == len(wide.headers) for row in wide.rows)
    assert brief.rows[0] == ("hu2023", "216 of 216", "29", "25", "2", "2")
    record = summary_record(papers["cai2023"])
    assert (record["reproduced"], record["of"], record["open"]) == (3, 6, 6)
    assert record["verdicts"] == {"near": 2, "holds": 7, "last digit": 3, "not checkable": 1}
    assert len(csv_text(listed).splitlines()) == 5


def test_progress_runs_from_nothing_to_all(monkeypatch: pytest.MonkeyPatch, comparisons: dict[str, Any]) -> None:
    monkeypatch.setattr(summary, "QUESTIONS", {name: QUESTIONS[name] for name in QUICK})
    monkeypatch.setattr(summary, "SHARES", {name: summary.SHARES[name] for name in QUICK})
    for name in QUICK:
        monkeypatch.setattr(f"vertebra.papers.{name}.comparison.compare", lambda name=name: comparisons[name])
    told: list[tuple[int, int]] = []
    found = summary.summaries(lambda done, total: told.append((done, total)))
    assert [paper.name for paper in found] == QUICK
    assert told == sorted(told)
    assert told[0] == (0, 5)
    assert told[-1] == (5, 5)


def test_wrong_input_is_refused(comparisons: dict[str, Any]) -> None:
    with pytest.raises(vb.InputError, match="must be one of hu2023, yang2023"):
        summary_of("hu2024", comparisons["hu2023"])
    with pytest.raises(vb.InputError, match="must be a whole one"):
        summary_of("hu2023", compare_experiments())


def test_summary_needs_no_plotting_library() -> None:
    code = "import sys, vertebra.papers.summary_facts; assert not {'plotly', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_repr(papers: dict[str, PaperSummary]) -> None:
    assert repr(papers["hu2023"]) == (
        "PaperSummary(hu2023: 216 of 216 cells of Tables 1 to 3 equal to the printed digit;"
        " of 29 claims 25 hold, 2 do not, 2 open)"
    )
