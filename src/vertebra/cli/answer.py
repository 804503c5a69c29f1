"""How every command answers: tables for people, JSON for machines, a page, a picture, CSV, netCDF or another file."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.errors import DescriptionError, VertebraError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from vertebra.report.document import Facts, Report

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON in SI units instead of text.")]


class CommandError(VertebraError):
    """A command that cannot be carried out as asked; the message says what is possible."""


def answer(
    report: Report,
    out: Path | None = None,
    as_json: bool = False,
    *,
    also: Mapping[str, Path] | None = None,
    show: bool = False,
) -> None:
    """Write `out` if it is given, else print; `as_json` prints the record in any case.

    `also` are files that the command has written already, by their name in the record. `show` prints tables although
    files were written. Exits with 2 where the report says that the answer is not what was wanted.
    """
    for note in report.notes:
        say(f"note: {note}")
    for warning in report.warnings:
        if report.fault is None or str(report.fault) not in warning:  # the error says so at the end
            say(f"warning: {warning}")
    files = ({} if out is None else {"out": out}) | dict(also or {})
    if out is not None:
        write(report, out)
    if as_json and report.fault is None:
        record = report.record()
        print_json(record | {name: str(file) for name, file in files.items()} if files else record)
    else:
        if not as_json and (show or not files):
            print_report(report)
        for line in report.closing:
            say(line)
        for file in files.values():
            say(f"wrote {file}" + (f": {report.file_words}" if report.file_words else ""))
    for failure in report.failures:
        say(failure)
    if report.fault is not None:
        raise report.fault
    if report.failures:
        raise typer.Exit(2)


def write(report: Report, out: Path) -> None:
    """The file that the suffix of `out` asks for."""
    from vertebra.report.document import json_text

    suffix = out.suffix.lower()
    if suffix in report.files:
        report.files[suffix](out)
    elif suffix in report.texts:
        write_text(out, report.texts[suffix]())
    elif report.text is not None:
        write_text(out, report.text())
    elif suffix == ".json":
        write_text(out, json_text(report.record()))
    elif suffix == ".csv" and report.rows is not None:
        from vertebra.robot.table_file import table_text

        write_text(out, table_text(*report.rows()))
    elif suffix == ".nc" and report.dataset is not None:
        report.dataset().to_netcdf(out, engine="netcdf4")
    elif suffix == ".html" and report.page is not None:
        from vertebra.report.html import report_page

        write_text(out, report_page(report))
    elif suffix in (".png", ".svg") and report.picture is not None:
        from vertebra.report.still import draw

        title = report.picture_title if isinstance(report.picture_title, str) else report.picture_title()
        draw(report.picture(), out, title or report.title)
    else:
        raise CommandError(f"{out}: this answer has no {suffix} file")


def write_text(path: Path, text: str) -> None:
    """Write a file in UTF-8."""
    path.write_text(text, encoding="utf-8", newline="\n")


def require_suffix(path: Path | None, allowed: Sequence[str], option: str = "--out") -> str:
    """The suffix of `path` in lower case, or an error that names the allowed ones; nothing for no path."""
    if path is None:
        return ""
    suffix = path.suffix.lower()
    if suffix not in allowed:
        found = f"not {path.suffix!r}" if path.suffix else "and this name has no suffix"
        raise CommandError(f"{option} {path}: the name must end in {', '.join(allowed)}, {found}")
    return suffix


# Printing: stdout is for the answer, stderr for everything said about it.


def print_report(report: Report) -> None:
    """Tables for people, or the text that the answer is."""
    from vertebra.report.document import Facts, Sentences

    if report.text is not None:
        text = report.text()
        print(text, end="" if text.endswith("\n") else "\n")
    for part in report.tables():
        if isinstance(part, Facts):
            print_table(part)
        elif isinstance(part, Sentences):
            lead = ": ".join(text for text in (part.title, part.lead) if text)
            console().print("\n".join([*([f"\n{lead}"] if lead else []), *(f"- {said}" for said in part.sentences)]))
        else:
            console().print(f"\n{part.title}:\n\n{part.text}", end="", soft_wrap=True)


def print_json(value: object) -> None:
    """One JSON document."""
    from vertebra.report.document import json_text

    print(json_text(value), end="")


def print_table(facts: Facts) -> None:
    """A titled table with numbers flush right; a table of facts about one thing has no header row."""
    from rich.text import Text

    from vertebra.report.document import numeric_columns

    numeric = numeric_columns(facts)
    table = new_table(facts.headers, [name for name, right in zip(facts.headers, numeric, strict=True) if right])
    table.show_header = any(facts.headers)
    for row in facts.rows:
        table.add_row(*(plain(text) for text in row))
    out = console()
    out.print()
    out.print(Text(plain(facts.title), style="bold"))
    out.print(table)


def new_table(headers: Sequence[str], right: Sequence[str] = ()) -> Table:
    """An empty table in the house style; columns named in `right` hold numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for header in headers:
        table.add_column(header, justify="right" if header in right else "left", overflow="fold")
    return table


def console(stderr: bool = False) -> Console:
    """A console that prints texts of robot files as they are, without reading markup into them."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def say(text: str) -> None:
    """A line about what was done, on stderr, so that stdout stays clean for pipes."""
    print(plain(text), file=sys.stderr)


def plain(text: str) -> str:
    """Text without control characters, which could repaint a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


# Errors as records.


def error_record(error: BaseException) -> dict[str, Any]:
    """An error as JSON."""
    record: dict[str, Any] = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, DescriptionError):
        record["problems"] = problem_records(error)
    elif isinstance(error, VertebraError):
        # Payload such as `joint`, `angle` and `limit` of OutOfRange, as far as JSON can carry it.
        record |= {k: v for k, v in vars(error).items() if isinstance(v, str | int | float) and k not in record}
    return {"error": record}


def problem_records(error: DescriptionError) -> list[dict[str, str]]:
    """Every wrong field as JSON."""
    return [{"path": p.path, "message": p.message, "found": p.found} for p in error.problems]
