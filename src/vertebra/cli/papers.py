"""`vertebra papers`: published numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vertebra.cli.output import print_json, print_table, require_suffix, say, write_text

if TYPE_CHECKING:
    from vertebra.papers.hu2023.comparison import Comparison

app = typer.Typer(help="Set the numbers that papers publish beside ours.", no_args_is_help=True)


@app.callback()
def _options() -> None:
    """Set the numbers that papers publish beside ours."""


@app.command()
def hu2023(
    everything: Annotated[bool, typer.Option("--all", help="Print every table, cell by cell.")] = False,
    experiments: Annotated[
        bool, typer.Option("--experiments", help="Only the three ground-mounted experiments of the prototype.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Also write a page with plots and 3D shapes (.html), or cells (.csv).")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of text; units are in the names.")
    ] = False,
) -> None:
    """Hu et al. 2023: shape of rolling-joint robots under cable tension and gravity."""
    from vertebra.papers.hu2023.comparison import compare, compare_experiments
    from vertebra.papers.hu2023.records import record

    suffix = require_suffix(out, (".html", ".csv")) if out is not None else ""
    comparison = compare_experiments() if experiments else compare()
    if as_json:
        print_json(record(comparison) | ({"out": str(out)} if out is not None else {}))
    else:
        _print(comparison, everything, experiments)
    if out is not None:
        write_text(out, _text(comparison, suffix))
        say(f"wrote {out}")


def _text(comparison: Comparison, suffix: str) -> str:
    if suffix == ".csv":
        from vertebra.papers.hu2023.records import csv_text

        return csv_text(comparison)
    from vertebra.papers.hu2023.page import comparison_html

    return comparison_html(comparison)


def _print(comparison: Comparison, everything: bool, experiments: bool) -> None:
    from vertebra.cli.output import console
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
