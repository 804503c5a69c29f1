"""The summary of all papers as tables of text, plain sentences and records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from vertebra.papers import csv_rows
from vertebra.papers.summary import PaperSummary
from vertebra.report.document import Facts

TITLE = "Five papers: published and ours"
OPEN_NOTE = "Open: claims that cannot be told from what is printed, or only nearly."


def summary_facts(papers: Sequence[PaperSummary], brief: bool = False) -> Facts:
    """One row a paper; `brief` where there is little room."""
    rows = []
    for paper in papers:
        counts = (str(paper.claims), str(paper.holds), str(paper.fails), str(paper.open))
        about, counted = ((), ()) if brief else ((paper.question,), (paper.counted,))
        rows.append((paper.name, *about, paper.reproduced_text, *counted, *counts))
    about, counted = ((), ()) if brief else (("question",), ("of what",))
    headers = ("paper", *about, "reproduced", *counted, "claims", "hold", "do not", "open")
    return Facts("Summary", headers, tuple(rows))


def paper_sentences(paper: PaperSummary) -> Iterator[str]:
    """What is counted and what it misses, what is open and why what does not hold does not."""
    yield f"{paper.reproduced_text} {paper.counted}."
    if paper.reproduced[0] < paper.reproduced[1]:
        yield paper.headline
    if paper.open:
        yield f"Open: {paper.open_text}."
    yield from (f"Does not hold: {reason}" for reason in paper.reasons)


def summary_record(paper: PaperSummary) -> dict[str, Any]:
    """For JSON."""
    fields = asdict(paper)
    count, total = fields.pop("reproduced")
    return fields | {"reproduced": count, "of": total, "claims": paper.claims, "verdicts": dict(paper.verdicts)}


def csv_text(papers: Sequence[PaperSummary]) -> str:
    """One row a paper."""
    kept = ("name", "source", "question", "reproduced", "of", "counted", "claims", "holds", "fails", "open", "headline")
    records = [summary_record(paper) for paper in papers]
    return csv_rows.csv_text([{name: record[name] for name in kept} for record in records])
