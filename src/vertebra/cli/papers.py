"""`vertebra papers`: published numbers beside ours; one command per paper, made from its declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from vertebra.cli.answer import CommandError, answer, require_suffix
from vertebra.cli.progress import progress_bar
from vertebra.papers.paper import Option, Paper, papers
from vertebra.report.document import FILES

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text; units are in the names.")]

app = typer.Typer(invoke_without_command=True)


@app.callback()
def every_paper(
    context: typer.Context,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Of all papers: also write one page (.html), a picture (.png, .svg), a table (.csv) or .json."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Set the numbers that papers publish beside ours: one paper, or all of them when none is named.

    vertebra papers --out papers.html
    """
    if context.invoked_subcommand is not None:
        if out is not None or as_json:
            raise CommandError(f"--out and --json go after the name of the paper: papers {context.invoked_subcommand}")
        return
    require_suffix(out, FILES)
    from vertebra.papers import summary

    with progress_bar("papers") as tell:
        found = summary.comparisons(tell)
    answer(summary.report(found, lambda: progress_bar("page")), out, as_json, show=True)


def _check(option: Option, chosen: dict[str, Any]) -> None:
    """Texts in lower case, and only those that the paper declares."""
    value = chosen[option.name]
    if value is None or not option.choices:
        return
    chosen[option.name] = value.lower()
    if value.lower() not in option.choices:
        listed = (" or " if len(option.choices) == 2 else ", ").join(option.choices)
        raise CommandError(f"--{option.name}: must be {listed}, not {value!r}")


def _command(paper: Paper) -> Callable[..., None]:
    """The command of a paper, with the options that it declares."""

    def run(everything: bool, out: Path | None, as_json: bool, **chosen: Any) -> None:
        require_suffix(out, FILES)
        for option in paper.options:
            _check(option, chosen)
        comparison = paper.compare(**{name: value for name, value in chosen.items() if value})
        answer(comparison.report(everything), out, as_json, show=True)

    page = f"Also write a page with plots and 3D shapes (.html), a picture (.png, .svg), {paper.rows} (.csv) or .json."
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
