"""`vertebra papers`: published numbers beside ours; a command per declared paper."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli.answer import CommandError, console, print_json, print_table, require_suffix, say, write_text
from vertebra.cli.progress import progress_bar
from vertebra.papers.paper import Comparison, Option, Paper, Table, Text, papers

if TYPE_CHECKING:
    from vertebra.papers.summary import Summary

FILES = (".html", ".png", ".csv")
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text; units are in the names.")]

app = typer.Typer(invoke_without_command=True)


@app.callback()
def every_paper(
    context: typer.Context,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Of all papers: also write one page (.html), a picture (.png) or a table (.csv)."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Set the numbers that papers publish beside ours: of one paper, or of all when none is named.

    vertebra papers --out papers.html
    """
    if context.invoked_subcommand is not None:
        if out is not None or as_json:
            raise CommandError(f"--out and --json go after the name of the paper: papers {context.invoked_subcommand}")
        return
    suffix = require_suffix(out, FILES) if out is not None else ""
    from vertebra.papers import summary

    with progress_bar("papers") as tell:
        found = summary.comparisons(tell)
    if as_json:
        print_json(summary.record(found) | ({"out": str(out)} if out is not None else {}))
    else:
        _print_all([summary.Summary.of(comparison) for comparison in found])
    if out is not None:
        if suffix == ".csv":
            write_text(out, summary.csv(found))
        elif suffix == ".html":
            with progress_bar("page") as tell:
                write_text(out, summary.joint_html(found, tell))
        else:
            summary.draw(found, out)
        say(f"wrote {out}")


def _print_all(found: list[Summary]) -> None:
    from vertebra.papers import summary

    print_table(summary.summary_facts(found, brief=True))
    screen = console()
    screen.print(f"\n{summary.VERDICT_NOTE}")
    for one in found:
        screen.print(f"\n{one.paper.source}\n{one.paper.question}", style="bold")
        for sentence in one.sentences():
            screen.print(f"- {sentence}")
    screen.print("\nOne paper in full: papers NAME. All in one page with plots and 3D shapes: --out papers.html")


# One paper -----------------------------------------------------------------------------------------------------------


def _answer(paper: Paper, everything: bool, out: Path | None, as_json: bool, chosen: dict[str, Any]) -> None:
    suffix = require_suffix(out, FILES) if out is not None else ""
    for option in paper.options:
        _check(option, chosen)
    comparison = paper.compare(**{name: value for name, value in chosen.items() if value})
    if as_json:
        print_json(comparison.json() | ({"out": str(out)} if out is not None else {}))
    else:
        _print(comparison, everything)
    if out is not None:
        if suffix == ".csv":
            write_text(out, comparison.csv())
        elif suffix == ".html":
            write_text(out, comparison.html())
        else:
            comparison.draw(out)
        say(f"wrote {out}")


def _check(option: Option, chosen: dict[str, Any]) -> None:
    """Texts in lower case, and only those that the paper declares."""
    value = chosen[option.name]
    if value is None or not option.choices:
        return
    chosen[option.name] = value.lower()
    if value.lower() not in option.choices:
        listed = (" or " if len(option.choices) == 2 else ", ").join(option.choices)
        raise CommandError(f"--{option.name}: must be {listed}, not {value!r}")


def _print(comparison: Comparison, everything: bool) -> None:
    """What came out; every table and the notes on the paper when asked for."""
    out = console()
    out.print(f"{comparison.paper.source}\n")
    for sentence in comparison.headlines:
        out.print(f"- {sentence}")
    left_out = False
    for section in comparison.whole:
        if not isinstance(section, Table | Text):
            continue
        if not (section.brief or everything):
            left_out = True
        elif isinstance(section, Table):
            print_table(section.facts)
        else:
            lead = ": ".join(text for text in (section.title, section.lead) if text)
            if lead:
                out.print(f"\n{lead}")
            for sentence in section.sentences:
                out.print(f"- {sentence}")
    if comparison.measured is not None:
        out.print(comparison.measured())
    if left_out:
        out.print("\nAll tables, what is assumed and what had to be put right: --all. Plots: --out page.html")


def _command(paper: Paper) -> Callable[..., None]:
    """The command of a paper, with the options that it declares."""

    def run(everything: bool, out: Path | None, as_json: bool, **chosen: Any) -> None:
        _answer(paper, everything, out, as_json, chosen)

    page = f"Also write a page with plots and 3D shapes (.html), a picture (.png) or {paper.rows} (.csv)."
    parameters = [
        *(_parameter(option.name, _type(option), f"--{option.name}", option.help) for option in paper.options),
        _parameter("everything", bool, "--all", "Print every table."),
        _parameter("out", Path | None, "--out", page),
        inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=JsonOption),
    ]
    run.__doc__ = f"{paper.title}: {paper.about}"
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _type(option: Option) -> Any:
    if option.kind is bool:
        return bool
    kind: Any = option.kind
    return list[kind] | None if option.many else kind | None


def _parameter(name: str, kind: Any, flag: str, text: str) -> inspect.Parameter:
    annotation = Annotated[kind, typer.Option(flag, help=text)]
    default = False if kind is bool else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


for _paper in papers():
    app.command(_paper.name)(_command(_paper))
