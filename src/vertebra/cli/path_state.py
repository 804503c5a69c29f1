"""Where a path has come to, as a JSON file: --save-state and --from-state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli.output import CommandError, say
from vertebra.cli.statics_output import friction_record, write_json

if TYPE_CHECKING:
    from vertebra.statics.path import ShapePath

FromStateOption = Annotated[
    Path | None,
    typer.Option("--from-state", help="Go on from where --save-state left off; default: from the straight robot."),
]
SaveStateOption = Annotated[
    Path | None, typer.Option("--save-state", help="Write where the path ends, with the history of its cables: .json.")
]


def save_state(path: ShapePath, file: Path) -> None:
    """Angles, slip and last command; `PathState.of` reads it in Python too."""
    problem = path.problem
    head: dict[str, Any] = {"robot": path.robot.name, "friction": friction_record(problem.laws)}
    write_json(file, head | path.save().to_mapping())
    say(f"wrote {file}")


def restore_state(path: ShapePath, file: Path) -> None:
    """Put the path where the file says, or name what is wrong with the file."""
    from vertebra.errors import InputError
    from vertebra.statics.path import PathState

    try:
        mapping = json.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise CommandError(f"--from-state {file}: is not a JSON file that --save-state wrote: {error}") from None
    if not isinstance(mapping, dict) or "history" not in mapping:
        raise CommandError(f"--from-state {file}: is not a state; write one with --save-state")
    name = mapping.get("robot", path.robot.name)
    if name != path.robot.name:
        raise CommandError(f"--from-state {file}: is of {name}, not of {path.robot.name}")
    try:
        path.restore(PathState.of(mapping))
    except InputError as error:
        raise CommandError(f"--from-state {file}: {error.message}") from None
    if mapping.get("friction", friction_record(path.problem.laws)) != friction_record(path.problem.laws):
        say(f"note: {file} was made with another friction law; its slip is taken over as it is")
