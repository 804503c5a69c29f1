"""Entry point of the `vertebra` command."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Annotated

import typer

from vertebra import __version__
from vertebra.cli.answer import error_record, print_json
from vertebra.cli.dynamics import dynamics
from vertebra.cli.export import export
from vertebra.cli.follow import follow
from vertebra.cli.identify import app as identify
from vertebra.cli.papers import app as papers
from vertebra.cli.payload import payload
from vertebra.cli.robots import app as robots
from vertebra.cli.sense import app as sense
from vertebra.cli.shape import shape
from vertebra.cli.simulate import simulate
from vertebra.cli.studio import studio
from vertebra.cli.tensions import tensions
from vertebra.cli.warmup import warmup
from vertebra.errors import VertebraError

WRONG = 2
"""Exit code for anything the user can correct."""

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


def run() -> None:
    """Run the command line; errors become one message and exit code 2, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot show is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _close_quietly()
    except VertebraError as error:
        _fail(error, str(error))
    except OSError as error:
        _fail(error, f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _fail(error: Exception, message: str) -> None:
    print(f"error: {message}", file=sys.stderr)
    if "--json" in sys.argv[1:]:
        print_json(error_record(error))
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    sys.exit(WRONG)


def _close_quietly() -> None:
    """The reader of our output has gone (`| head`): nothing to say, and nothing left to flush at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


if __name__ == "__main__":
    run()
