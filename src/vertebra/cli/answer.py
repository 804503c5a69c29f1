"""How every command answers: tables for people, JSON for machines, a page, a picture, CSV, netCDF or another file."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.errors import DescriptionError, InputError, MissingPackage, VertebraError
from vertebra.files import write_file

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from vertebra.report.document import Facts, Report

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON in SI units instead of text.")]


class CommandError(VertebraError):
    """A command that cannot be carried out as asked; the message says what is possible."""

    @property
    def field(self) -> str:
        """The option (--out) or argument (OUT) that the message begins with; empty if it begins with another word."""
        found = re.match(r"--[A-Za-z-]+|[A-Z]{2,}(?= )", str(self))
        return found[0] if found else ""


class Unmet(CommandError):  # noqa: N818 - the name is part of what programs read
    """The answer is not what was asked for: shown and written all the same, `answer` is its record."""

    def __init__(self, message: str, answer: Any = None) -> None:
        self.answer = answer
        super().__init__(message)


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
    files were written. Raises where the report says that the answer is not what was wanted.
    """
    for note in report.notes:
        say(f"note: {note}")
    for warning in report.warnings:
        if report.fault is None or typed(report.fault) not in warning:  # the error says so at the end
            say(f"warning: {warning}")
    files = ({} if out is None else {"out": out}) | dict(also or {})
    if out is not None:
        write(report, out)
    record: Any = None
    if as_json and report.fault is None:
        record = report.record() | {name: str(file) for name, file in files.items()} if files else report.record()
    if record is not None and not report.failures:
        print_json(record)
    else:
        if not as_json and (show or not files):
            print_report(report)
        for line in report.closing:
            say(line)
        for file in files.values():
            say(f"wrote {file}" + (f": {report.file_words}" if report.file_words else ""))
    if report.fault is not None:
        raise report.fault
    if report.failures:
        raise Unmet("\n".join(report.failures), record)


def write(report: Report, out: Path) -> None:
    """The file that the suffix of `out` asks for."""
    from vertebra.report.document import json_text

    suffix = out.suffix.lower()
    if suffix in report.files:
        report.files[suffix](out)
    elif suffix in report.texts:
        write_file(out, report.texts[suffix]())
    elif report.text is not None:
        write_file(out, report.text())
    elif suffix == ".json":
        write_file(out, json_text(report.record()))
    elif suffix == ".csv" and report.rows is not None:
        from vertebra.robot.table_file import table_pieces

        write_file(out, table_pieces(*report.rows()))
    elif suffix == ".nc" and report.dataset is not None:
        write_file(out, report.dataset().to_netcdf(engine="netcdf4"))
    elif suffix == ".html" and report.page is not None:
        from vertebra.report.html import report_page

        write_file(out, report_page(report))
    elif suffix in (".png", ".svg") and report.picture is not None:
        from vertebra.report.still import draw

        title = report.picture_title if isinstance(report.picture_title, str) else report.picture_title()
        draw(report.picture(), out, title or report.title)
    else:
        raise CommandError(f"{out}: this answer has no {suffix} file")


PACKAGES = {".html": "plotly", ".png": "matplotlib", ".svg": "matplotlib", ".nc": "netCDF4"}
"""What a kind of file needs beside a plain installation: said before the work, not after it."""


def require_suffix(path: Path | None, allowed: Sequence[str], option: str = "--out") -> str:
    """The suffix of `path` in lower case, or an error that names the allowed ones; nothing for no path."""
    if path is None:
        return ""
    suffix = path.suffix.lower()
    if suffix not in allowed:
        found = f"not {path.suffix!r}" if path.suffix else "and this name has no suffix"
        raise CommandError(f"{option} {path}: the name must end in {', '.join(allowed)}, {found}")
    if suffix in PACKAGES:
        require_package(PACKAGES[suffix])
    return suffix


def require_package(name: str) -> None:
    """MissingPackage, which names the extra, if it is not installed."""
    if importlib.util.find_spec(name) is None:
        raise MissingPackage(name)


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
    rows = [[plain(text) for text in row] for row in facts.rows]
    for row in rows:
        table.add_row(*row)
    out = console()
    out.width = _keep_words_whole(table, rows, out.width)
    out.print()
    out.print(Text(plain(facts.title), style="bold"))
    out.print(table)


LONGEST_WORD, LEAST_TEXT = 16, 10
"""Letters of a cell that is not broken, longer ones are sentences and paths; and of a column of those."""


def _keep_words_whole(table: Table, rows: Sequence[Sequence[str]], width: int) -> int:
    """Where a table is so much wider than the terminal that numbers would be broken, break headers and sentences more,
    and move columns closer together; at worst lines are longer than the terminal is wide. How wide it may be."""
    columns = [(str(column.header), *texts) for column, *texts in zip(table.columns, *rows, strict=True)]
    least, words = [_least_width(*texts) for texts in columns], [_least_width("", *texts[1:]) for texts in columns]
    natural, gap, gaps = [max(map(len, texts)) for texts in columns], 2, len(columns) - 1
    usual = _narrowed(natural, [1] * len(columns), width - gap * gaps)
    if all(got >= need for got, need in zip(usual, words, strict=True)):
        return width
    if sum(least) + gap * gaps > width:
        table.padding, gap = 0, 1
    room = max(width, sum(least) + gap * gaps)
    for column, letters in zip(table.columns, _narrowed(natural, least, room - gap * gaps), strict=True):
        column.width = letters
    return room


def _narrowed(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths of columns, the widest made narrower until all have room."""
    found = list(widths)
    while sum(found) > room and (wide := [i for i in range(len(found)) if found[i] > least[i]]):
        found[max(wide, key=found.__getitem__)] -= 1
    return found


def _least_width(header: str, *cells: str) -> int:
    """Letters of a column. Where its cells are short: enough to break none of them, nor a word of its header."""
    longest = max(map(len, cells), default=0)
    if longest > LONGEST_WORD:
        return LEAST_TEXT
    return max(longest, *(len(word) for word in header.split()), 0)


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
    """A line about what was done, on stderr, so that stdout stays clean for pipes; lost where stderr takes none."""
    with contextlib.suppress(OSError):
        print(plain(text), file=sys.stderr)


def plain(text: str) -> str:
    """Text without control characters, which could repaint a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


# Errors as one types them, and as records.

TYPED = {
    "`payload`, `payload_map`, `best_tensions`, `follow_the_leader`, kinematics, sensing or exports": "`vertebra "
    "payload`, `vertebra follow`, `vertebra robots draw`, `vertebra sense` or `vertebra export`",
    "`shape_from_tensions`, `tensions_for_shape`, `tensions_for_tip` or `simulate`": "`vertebra shape`, `vertebra "
    "tensions` or `vertebra simulate`",
    "lengths of enough cables instead (shape_from_lengths with lengths or shortenings)": "--lengths or --shortenings "
    "of enough cables instead",
    "solid cylinders with fill_inertia": "solid cylinders with --fill-inertia",
    'take a shorter dt or integrator="implicit"': "take a shorter --dt or --integrator implicit",
    "give the solve `loads`, of zero force if need be": 'give --load, of zero force ("0,0,0") if need be',
    "give the solve a `friction`, of 1e-12 if need be": "give --friction, of 1e-12 if need be",
    "give it rigid stops or a Bumper, or try a shorter dt": "take --limits rigid or a bumper, or a shorter --dt",
}
"""What messages say to those who call Python, and what to those who type commands."""


def typed(error: VertebraError) -> str:
    """The message of an error for those who type commands: with the options that they gave, and commands, not calls."""
    text = str(error)
    if isinstance(error, InputError):
        option = f"--{error.argument.replace('_', '-')}"
        if error.argument == "robot":
            text = error.message
        elif any(word == option or word.startswith(f"{option}=") for word in sys.argv[1:]):
            text = f"{option}: {error.message}"
    for called, words in TYPED.items():
        text = text.replace(called, words)
    return text


def error_record(error: BaseException, message: str, code: int) -> dict[str, Any]:
    """An error as JSON: its type, the option, field, column, file or joint that it is about, and what it carries."""
    from vertebra.report.document import finite

    record: dict[str, Any] = {"error": type(error).__name__, "field": _field(error), "message": message, "exit": code}
    if isinstance(error, DescriptionError):
        record["problems"] = problem_records(error)
    elif isinstance(error, Unmet):
        fields = error.answer if isinstance(error.answer, dict) else {"answer": error.answer}
        record |= {f"answer_{name}" if name in record else name: finite(value) for name, value in fields.items()}
    elif isinstance(error, VertebraError):
        # Payload such as `joint`, `angle` and `limit` of OutOfRange, as far as JSON can carry it.
        payload = {name: value for name, value in vars(error).items() if isinstance(value, str | int | float)}
        record |= {name: value for name, value in finite(payload).items() if name not in record}
    return record


def _field(error: BaseException) -> str:
    """What an error is about; empty if about nothing in particular."""
    if isinstance(error, DescriptionError):
        return error.problems[0].path
    if getattr(error, "param", None) is not None:  # a wrong command line
        return parameter_name(error.param)  # type: ignore[attr-defined]
    for name in ("field", "argument", "column", "path", "bus", "pose", "option_name", "filename"):
        if isinstance(found := getattr(error, name, None), str) and found:
            return found
    joint = getattr(error, "joint", None)
    return f"joint {joint}" if joint else ""


def parameter_name(parameter: Any) -> str:
    """What messages call an option (--out) or an argument (ROBOT) of a command."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return str(max(parameter.opts, key=len))


def problem_records(error: DescriptionError) -> list[dict[str, str]]:
    """Every wrong field as JSON."""
    return [{"path": p.path, "message": p.message, "found": p.found} for p in error.problems]
