"""`vertebra papers`: published numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vertebra.cli.output import print_json, require_suffix, say, write_text

if TYPE_CHECKING:
    from vertebra.papers.hu2023.comparison import Comparison
    from vertebra.report.facts import Facts

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
        _print_numbers(facts.table_facts(comparison, 3), 2)
        _print_numbers(facts.experiment_facts(comparison), 2)
        return
    _print_numbers(facts.cell_counts(comparison), 0)
    for table in (1, 2, 3) if everything else (3,):
        _print_numbers(facts.table_facts(comparison, table), 2)
    _print_numbers(facts.claim_facts(comparison), 2, last_is_text=True)
    if everything:
        _print_numbers(facts.tip_facts(comparison), 2)
        _print_numbers(facts.triangle_facts(comparison), 2, last_is_text=True)
        _print_numbers(facts.race_facts(comparison), 1)


def _print_numbers(facts: Facts, first: int, last_is_text: bool = False) -> None:
    """A table whose columns from `first` on hold numbers."""
    from rich.text import Text

    from vertebra.cli.output import console, new_table

    out = console()
    out.print()
    out.print(Text(facts.title, style="bold"))
    table = new_table(facts.headers)
    for column in table.columns[first : -1 if last_is_text else None]:
        column.justify = "right"
    for row in facts.rows:
        table.add_row(*row)
    out.print(table)
