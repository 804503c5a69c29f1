"""All papers in one HTML file: a summary, then the page of each as a section."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from vertebra.papers.summary import PaperSummary
from vertebra.papers.summary_facts import OPEN_NOTE, TITLE, paper_sentences, summary_facts
from vertebra.report.html import Part, contents, facts_table, html_page, paragraph, section, sentences

NOTE = "Figures further down are drawn when they come into sight; to print 3D views, print the page of their paper."


def joint_html(
    papers: Sequence[PaperSummary],
    comparisons: Mapping[str, Any],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> str:
    """The whole page; `comparisons` by the name of the paper."""
    return html_page(TITLE, _parts(papers, comparisons, progress), NOTE)


def _parts(
    papers: Sequence[PaperSummary], comparisons: Mapping[str, Any], progress: Callable[[int, int], None]
) -> Iterator[Part]:
    pages = {paper.name: import_module(f"vertebra.papers.{paper.name}.page") for paper in papers}
    titles = {name: page.title(comparisons[name]) for name, page in pages.items()}
    yield facts_table(summary_facts(papers))
    yield paragraph("", OPEN_NOTE)
    yield contents(titles.items())
    for paper in papers:
        yield sentences(paper_sentences(paper), paper.name)
    for done, paper in enumerate(papers, 1):
        page = pages[paper.name]
        about = paragraph("", f"{paper.source}. {page.NOTE}")
        yield section(paper.name, titles[paper.name], [about, *page.parts(comparisons[paper.name])])
        progress(done, len(papers))
