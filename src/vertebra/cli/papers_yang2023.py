"""What `vertebra papers yang2023` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vertebra.cli.answer import console, print_table

if TYPE_CHECKING:
    from vertebra.papers.yang2023.comparison import Comparison


def print_tips(comparison: Comparison) -> None:
    """Only tips, of what was chosen."""
    from vertebra.papers.yang2023 import tips

    console().print(tips.AXES)
    if len(comparison.cases) == 1:
        print_table(tips.case_tips(comparison, comparison.cases[0]))
        return
    for condition in comparison.conditions:
        print_table(tips.condition_tips(comparison, condition))


def print_claims(comparison: Comparison, everything: bool) -> None:
    """What came out; every table and the notes on the paper when asked for."""
    from vertebra.papers.yang2023 import facts, tips, unstated
    from vertebra.papers.yang2023.records import SOURCE

    out = console()
    out.print(f"{SOURCE}\n")
    for sentence in facts.headlines(comparison):
        out.print(f"- {sentence}")
    print_table(facts.condition_facts())
    print_table(facts.effect_facts(comparison))
    print_table(facts.claim_facts(comparison))
    for sentence in facts.claim_notes(comparison):
        out.print(f"- {sentence}")
    print_table(facts.loop_facts(comparison))
    out.print(f"\n{unstated.UNSTATED}")
    print_table(unstated.unstated_facts())
    if not everything:
        out.print("\nTips of all cases, and what had to be put right: --all. Plots and 3D shapes: --out page.html")
        return
    print_table(facts.closure_facts(comparison))
    out.print()
    for sentence in unstated.CORRECTIONS:
        out.print(f"- {sentence}")
    out.print(f"\n{tips.AXES}")
    print_table(tips.case_facts(comparison))
    for condition in comparison.conditions:
        print_table(tips.condition_tips(comparison, condition))
