"""What was reproduced and what was not, and why, paper by paper, from the comparisons themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from vertebra.papers.summary import EXPLAINED, Summary, shown_verdicts, summaries


@cache
def _summaries() -> tuple[Summary, ...]:
    return summaries()


def in_readme() -> str:
    return _table("docs/")


def in_docs() -> str:
    return _table("")


def reasons() -> str:
    """Every claim that is not reproduced although something is printed, by verdict and paper."""
    return "\n".join(line for verdict in EXPLAINED for line in _reasons(verdict)).strip()


def _table(folder: str) -> str:
    shown = shown_verdicts(_summaries())
    names = ["paper", "question", "printed numbers reproduced", *(f"claims: {verdict}" for verdict in shown)]
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    for found in _summaries():
        numbers = f"{found.reproduced.text} {found.reproduced.what}"
        cells = [_link(found, folder), found.paper.question, numbers, *(str(found.verdicts[v]) for v in shown)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _reasons(verdict: object) -> Iterator[str]:
    reasons = [(one, text) for one in _summaries() for found, text in one.reasons if found is verdict]
    if reasons:
        yield from (f"### {str(verdict).capitalize()}", "")
        yield from (f"- **{_link(one, '')}** {text}" for one, text in reasons)
        yield ""


def _link(found: Summary, folder: str) -> str:
    return f"[{found.paper.title}]({folder}{found.paper.name}.md)"
