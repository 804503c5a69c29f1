"""What was reproduced and what does not hold, paper by paper, from the comparisons themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from vertebra.papers.summary import PaperSummary, summaries

HEAD = ("| paper | question | reproduced | claims of the paper |", "|---|---|---|---|")


@cache
def _summaries() -> tuple[PaperSummary, ...]:
    return summaries()


def in_readme() -> str:
    return _table("docs/")


def in_docs() -> str:
    return _table("")


def reasons() -> str:
    """Every claim that does not hold, under the name of its paper."""
    return "\n".join(line for found in _summaries() if found.reasons for line in _reasons(found)).strip()


def _table(folder: str) -> str:
    return "\n".join([*HEAD, *(_line(found, folder) for found in _summaries())])


def _line(found: PaperSummary, folder: str) -> str:
    link = f"[{_short(found)}]({folder}{found.name}.md)"
    claims = f"{found.holds} hold, {found.fails} do not, {found.open} open"
    return f"| {link} | {found.question} | {found.reproduced_text} {found.counted} | {claims} |"


def _reasons(found: PaperSummary) -> Iterator[str]:
    yield from (f"**[{_short(found)}]({found.name}.md)**", "")
    yield from (f"- {reason}" for reason in found.reasons)
    yield ""


def _short(found: PaperSummary) -> str:
    """Authors and year."""
    match = re.match(r".*?\b\d{4}\b", found.source)
    return match.group() if match else found.source
