"""What `vertebra papers lapusan2022` prints and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vertebra.cli.answer import console, print_table

if TYPE_CHECKING:
    from vertebra.papers.lapusan2022.comparison import Comparison


def print_comparison(comparison: Comparison, everything: bool) -> None:
    """What came out; every table and the notes on the paper when asked for."""
    from vertebra.papers.lapusan2022 import facts, notes
    from vertebra.papers.lapusan2022.records import SOURCE

    out = console()
    out.print(f"{SOURCE}\n")
    for sentence in facts.headlines(comparison):
        out.print(f"- {sentence}")
    print_table(facts.base_facts(comparison))
    out.print(facts.BASE_NOTE)
    print_table(facts.mae_facts(comparison, "tracker"))
    print_table(facts.mae_facts(comparison, "hil"))
    for sentence in facts.method_notes():
        out.print(f"- {sentence}")
    print_table(facts.claim_facts(comparison))
    for sentence in facts.claim_notes(comparison):
        out.print(f"- {sentence}")
    out.print(f"\n{notes.UNSTATED}\n{_speed()}")
    if not everything:
        out.print("\nAll tables, what is assumed and what had to be put right: --all. Plots: --out page.html")
        return
    print_table(notes.unstated_facts())
    print_table(facts.range_facts(comparison))
    print_table(facts.variant_facts(comparison))
    out.print()
    for sentence in notes.CORRECTIONS:
        out.print(f"- {sentence}")
    print_table(facts.virtual_facts(comparison))
    print_table(facts.cause_facts(comparison))
    out.print(facts.CAUSE_NOTE)
    print_table(facts.growth_facts(comparison))
    print_table(facts.growth_angle_facts(comparison))
    out.print(facts.GROWTH_NOTE)
    print_table(facts.spread_facts(comparison))


def _speed() -> str:
    """Measured, so different each time: on the terminal only, never in a file."""
    from vertebra.papers.lapusan2022.timing import timing

    took = timing()
    return (
        f"On this machine `chain` takes {1e6 * took.chain:.0f} microseconds a shape, five samples included,"
        f" {took.chain / took.printed:.2f} times as long as (3) to (6) in NumPy."
    )
