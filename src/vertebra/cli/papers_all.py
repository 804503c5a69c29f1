"""What `vertebra papers` prints and writes when no paper is named: all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.cli.answer import console, print_json, print_table, say, write_text
from vertebra.cli.progress import progress_bar

if TYPE_CHECKING:
    from vertebra.papers.summary import PaperSummary


def answer(out: Path | None, suffix: str, as_json: bool) -> None:
    """Work out every paper, print the summary, write the file."""
    from vertebra.papers.summary import comparisons, summary_of

    with progress_bar("five papers") as tell:
        found = comparisons(tell)
    papers = [summary_of(name, comparison) for name, comparison in found.items()]
    if as_json:
        print_json(_record(papers, found) | ({"out": str(out)} if out is not None else {}))
    else:
        _print(papers)
    if out is not None:
        _write(papers, found, out, suffix)
        say(f"wrote {out}")


def _print(papers: Sequence[PaperSummary]) -> None:
    from vertebra.papers.summary_facts import OPEN_NOTE, paper_sentences, summary_facts

    print_table(summary_facts(papers, brief=True))
    screen = console()
    screen.print(f"\n{OPEN_NOTE}")
    for paper in papers:
        screen.print(f"\n{paper.source}\n{paper.question}", style="bold")
        for sentence in paper_sentences(paper):
            screen.print(f"- {sentence}")
    screen.print("\nOne paper in full: papers NAME. All in one page with plots and 3D shapes: --out papers.html")


def _record(papers: Sequence[PaperSummary], found: Mapping[str, Any]) -> dict[str, Any]:
    from vertebra.papers.summary_facts import summary_record

    return {
        "papers": {
            paper.name: {
                "summary": summary_record(paper),
                "record": import_module(f"vertebra.papers.{paper.name}.records").record(found[paper.name]),
            }
            for paper in papers
        }
    }


def _write(papers: Sequence[PaperSummary], found: Mapping[str, Any], out: Path, suffix: str) -> None:
    if suffix == ".csv":
        from vertebra.papers.summary_facts import csv_text

        write_text(out, csv_text(papers))
    elif suffix == ".html":
        from vertebra.papers.joint_page import joint_html

        with progress_bar("page") as tell:
            write_text(out, joint_html(papers, found, tell))
    else:
        from vertebra.papers.joint_still import draw

        draw(papers, out)
