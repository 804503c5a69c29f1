"""All commands of the command line, by their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from vertebra.cli.commands import app


def leaves(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, inner in getattr(command, "commands", {}).items():
        yield from leaves(inner, *names, name)
    if not hasattr(command, "commands"):
        yield names, command


COMMANDS = dict(leaves(typer.main.get_command(app)))
