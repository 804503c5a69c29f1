"""What `vertebra papers cai2023` prints and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vertebra.cli.answer import console, print_table

if TYPE_CHECKING:
    from vertebra.papers.cai2023.comparison import Comparison


def print_comparison(comparison: Comparison, everything: bool) -> None:
    """What came out; every table and the notes on the paper when asked for."""
    from vertebra.papers.cai2023 import facts, notes
    from vertebra.papers.cai2023.records import SOURCE

    out = console()
    out.print(f"{SOURCE}\n")
    for sentence in facts.headlines(comparison):
        out.print(f"- {sentence}")
    print_table(facts.largest_facts(comparison))
    print_table(facts.gain_facts(comparison))
    print_table(facts.best_facts(comparison))
    print_table(facts.claim_facts(comparison))
    for sentence in facts.claim_notes(comparison):
        out.print(f"- {sentence}")
    out.print(f"\n{notes.UNSTATED}")
    if not everything:
        out.print("\nAll payloads, what is assumed and what had to be put right: --all. Plots: --out page.html")
        return
    print_table(notes.unstated_facts())
    print_table(facts.sensitivity_facts(comparison))
    print_table(facts.curve_facts(comparison))
    print_table(facts.line_facts(comparison))
    print_table(facts.reading_facts(comparison))
    for sentence in facts.reading_notes():
        out.print(f"- {sentence}")
    out.print()
    for sentence in notes.CORRECTIONS:
        out.print(f"- {sentence}")
