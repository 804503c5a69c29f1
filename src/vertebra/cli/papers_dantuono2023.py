"""What `vertebra papers dantuono2023` prints and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vertebra.cli.answer import console, print_table

if TYPE_CHECKING:
    from vertebra.papers.dantuono2023.comparison import Comparison


def print_comparison(comparison: Comparison, everything: bool) -> None:
    """What came out; every table and the notes on the paper when asked for."""
    from vertebra.papers.dantuono2023 import facts, more_facts, notes
    from vertebra.papers.dantuono2023.records import SOURCE

    out = console()
    out.print(f"{SOURCE}\n")
    for sentence in facts.headlines(comparison):
        out.print(f"- {sentence}")
    print_table(facts.peak_facts(comparison))
    out.print(facts.COLUMNS)
    print_table(facts.claim_facts(comparison))
    print_table(facts.reading_facts(comparison))
    for sentence in facts.reading_notes(comparison):
        out.print(f"- {sentence}")
    out.print()
    for sentence in facts.claim_notes(comparison):
        out.print(f"- {sentence}")
    out.print(f"\n{notes.UNSTATED}")
    if not everything:
        out.print("\nAll tables, what is assumed and the equations as printed: --all. Plots: --out page.html")
        return
    print_table(notes.unstated_facts())
    print_table(more_facts.sensitivity_facts(comparison))
    out.print(f"\n{more_facts.robot_note(comparison)}")
    print_table(facts.reading_peak_facts(comparison))
    for name, title in (("weight reversed", "With the weight reversed:"), ("shared", "With one tension a cable:")):
        out.print(f"\n{title}")
        for sentence in facts.other_notes(comparison, name):
            out.print(f"- {sentence}")
    print_table(more_facts.along_facts(comparison))
    print_table(more_facts.migration_facts(comparison))
    print_table(more_facts.equation_facts(comparison))
    for sentence in more_facts.equation_notes():
        out.print(f"- {sentence}")
    for case in comparison.cases:
        print_table(facts.instant_facts(comparison, case))


def print_case(comparison: Comparison) -> None:
    """Tensions of one motion."""
    from vertebra.papers.dantuono2023 import facts, more_facts
    from vertebra.papers.dantuono2023.records import SOURCE

    console().print(SOURCE)
    print_table(facts.peak_facts(comparison))
    print_table(facts.instant_facts(comparison, comparison.cases[0]))
    print_table(facts.reading_peak_facts(comparison))
    print_table(more_facts.migration_facts(comparison))
