"""What the Papers tab has worked out in another process."""

from __future__ import annotations

from importlib import import_module

from vertebra.papers.summary import PaperSummary, comparisons, summary_of
from vertebra.studio.papers.cases import Choice, ClaimLine, Outcome, Report, paper

QUICK = ("hu2023", "yang2023")
"""Papers whose cases are worked out at once: a few ms each."""
SLOW = ("lapusan2022",)
"""Papers whose claims take so long that they are only judged when asked for."""
AFTER = 0.97
"""Share of the check that is done when all papers are worked out."""


def solve_case(name: str, choice: Choice, report: Report) -> Outcome:
    """One case."""
    return paper(name).outcome(choice, report)


def judge_claims(name: str, report: Report) -> tuple[ClaimLine, ...]:
    """All claims of one paper: each rests on many cases."""
    report(0.0)
    return paper(name).claims(import_module(f"vertebra.papers.{name}.comparison").compare())


def check_all(report: Report) -> tuple[tuple[PaperSummary, ...], dict[str, tuple[ClaimLine, ...]]]:
    """Every paper worked out: its summary, and its claims by name."""
    found = comparisons(lambda done, total: report(AFTER * done / total))
    summaries = tuple(summary_of(name, comparison) for name, comparison in found.items())
    return summaries, {name: paper(name).claims(comparison) for name, comparison in found.items()}
