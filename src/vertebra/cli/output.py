"""How commands print: JSON for machines, tables for people, one line for an error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.errors import DescriptionError, VertebraError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from vertebra.report.document import Facts

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON in SI units instead of text.")]


class CommandError(VertebraError):
    """A command that cannot be carried out as it was asked for; the message says what is possible."""


def print_json(value: object) -> None:
    """One JSON document; what JSON has no number for (NaN, infinity) becomes null."""
    print(json.dumps(finite(value), indent=2, allow_nan=False))


def finite(value: Any) -> Any:
    """The same value with null in place of NaN and infinity, and plain lists in place of tuples."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def console(stderr: bool = False) -> Console:
    """A console that prints texts of robot files as they are, without reading markup into them."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def plain(text: str) -> str:
    """Text without control characters, which could repaint a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def print_facts(facts: Facts) -> None:
    """A titled table; a table of facts about one thing has no header row."""
    from rich.text import Text

    out = console()
    out.print()
    out.print(Text(plain(facts.title), style="bold"))
    table = new_table(facts.headers)
    table.show_header = any(facts.headers)
    for row in facts.rows:
        table.add_row(*(plain(text) for text in row))
    out.print(table)


def print_table(facts: Facts) -> None:
    """A titled table with numbers flush right."""
    from rich.text import Text

    from vertebra.report.document import numeric_columns

    numeric = numeric_columns(facts)
    table = new_table(facts.headers, [name for name, right in zip(facts.headers, numeric, strict=True) if right])
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


def say(text: str) -> None:
    """A line about what was done, on stderr, so that stdout stays clean for pipes."""
    print(plain(text), file=sys.stderr)


def write_text(path: Path, text: str) -> None:
    """Write a file in UTF-8."""
    path.write_text(text, encoding="utf-8", newline="\n")


def require_suffix(path: Path, allowed: Sequence[str], option: str = "--out") -> str:
    """The suffix of `path` in lower case, or an error that names the allowed ones."""
    suffix = path.suffix.lower()
    if suffix not in allowed:
        found = f"not {path.suffix!r}" if path.suffix else "and this name has no suffix"
        raise CommandError(f"{option} {path}: the name must end in {', '.join(allowed)}, {found}")
    return suffix


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
