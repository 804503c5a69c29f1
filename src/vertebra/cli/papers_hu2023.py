"""What `vertebra papers hu2023` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vertebra.cli.answer import console, print_table

if TYPE_CHECKING:
    from vertebra.papers.hu2023.comparison import Comparison


def print_comparison(comparison: Comparison, everything: bool, experiments: bool) -> None:
    """What came out; every table when asked for, or only the experiments."""
    from vertebra.papers.hu2023 import facts
    from vertebra.papers.hu2023.records import SOURCE

    out = console()
    out.print(f"{SOURCE}\n")
    for sentence in facts.headlines(comparison):
        out.print(f"- {sentence}")
    if experiments:
        print_table(facts.table_facts(comparison, 3))
        print_table(facts.experiment_facts(comparison))
        return
    print_table(facts.cell_counts(comparison))
    for table in (1, 2, 3) if everything else (3,):
        print_table(facts.table_facts(comparison, table))
    print_table(facts.claim_facts(comparison))
    if everything:
        print_table(facts.tip_facts(comparison))
        print_table(facts.triangle_facts(comparison))
        print_table(facts.race_facts(comparison))
