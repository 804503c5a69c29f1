"""All commands of `vertebra`, and what holds for each of them: no output is written over an input."""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from vertebra import __version__
from vertebra.cli.answer import CommandError, parameter_name
from vertebra.cli.dynamics import dynamics
from vertebra.cli.export import export
from vertebra.cli.follow import follow
from vertebra.cli.identify import app as identify
from vertebra.cli.optimise import optimise
from vertebra.cli.papers import app as papers
from vertebra.cli.payload import payload
from vertebra.cli.robots import app as robots
from vertebra.cli.sense import app as sense
from vertebra.cli.shape import shape
from vertebra.cli.simulate import simulate
from vertebra.cli.studio import studio
from vertebra.cli.sweep import sweep
from vertebra.cli.tensions import tensions
from vertebra.cli.uncertainty import uncertainty
from vertebra.cli.warmup import warmup
from vertebra.cli.workspace import workspace

OUTPUTS = ("out", "save_state", "map_", "mcap", "record")
"""Parameters that name files to write; all others that name a file are inputs."""

GO_ON = ("save_state", "from_state")
"""A path that goes on may leave its state where it found it, step by step."""

app = typer.Typer(
    name="vertebra",
    help="Models, senses and plans cable-driven snake-like robots from one robot file.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(robots, name="robots")
app.add_typer(papers, name="papers")
app.add_typer(identify, name="identify")
app.add_typer(sense, name="sense")
app.command()(shape)
app.command()(tensions)
app.command()(payload)
app.command()(dynamics)
app.command()(simulate)
app.command()(follow)
app.command()(sweep)
app.command()(workspace)
app.command()(uncertainty)
app.command()(optimise)
app.command()(export)
app.command()(studio)
app.command()(warmup)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"vertebra {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options before any command."""


class PlainFlags:
    """Flags take no value, so help names no type for them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options, with --help."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in params:
            if getattr(each, "is_flag", False) and each.metavar is None:
                each.metavar = ""
        return params


class Group(PlainFlags, TyperGroup):
    """Commands that belong together."""


class Command(PlainFlags, TyperCommand):
    """A command that refuses to write over a file that it reads, or one file twice."""

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        files = [(one, text) for one in self.params for text in _texts(ctx.params.get(one.name))]
        for number, (output, written) in enumerate(files):
            for other, text in files[:number] + files[number + 1 :] if output.name in OUTPUTS else ():
                if (output.name, other.name) != GO_ON and _same_file(written, text):
                    what = "would be written twice, for" if other.name in OUTPUTS else "would replace"
                    found = f"{parameter_name(output)} {written}: {what} {parameter_name(other)} {text}"
                    raise CommandError(f"{found}; choose another name")
        return super().invoke(ctx)


def _texts(given: Any) -> Iterator[str]:
    """Whatever could name a file."""
    if isinstance(given, list | tuple):
        for one in given:
            yield from _texts(one)
    elif isinstance(given, str | Path) and not isinstance(given, Enum):
        yield os.fspath(given)


def _same_file(a: str, b: str) -> bool:
    """Whether two names mean one file, by a link or not; pipes and devices can be read and written at once."""
    try:
        if os.path.exists(a):
            return os.path.isfile(a) and os.path.exists(b) and os.path.samefile(a, b)
        return os.path.realpath(a) == os.path.realpath(b)
    except (OSError, ValueError):
        return False


def _every_command(group: typer.Typer) -> Iterator[Any]:
    yield from group.registered_commands
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            yield from _every_command(inner.typer_instance)


def _every_group(group: typer.Typer) -> Iterator[Any]:
    yield group.info
    for inner in group.registered_groups:
        yield inner
        if inner.typer_instance is not None:
            yield from _every_group(inner.typer_instance)


for _each in _every_command(app):
    _each.cls = Command
for _each in _every_group(app):
    _each.cls = Group
