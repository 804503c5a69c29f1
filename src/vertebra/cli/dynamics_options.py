"""What the commands on motion share: robots with inertia, times, loads in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import statics_options as read
from vertebra.cli.output import CommandError

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot

FILES = (".html", ".png", ".svg", ".csv", ".json", ".nc")
SECONDS = read.Quantity("s", "2 s", "time")
FillInertiaOption = Annotated[
    bool,
    typer.Option("--fill-inertia", help="Take links whose inertia the robot file does not give for solid cylinders."),
]
MotionOutOption = Annotated[
    Path | None,
    typer.Option("--out", help="Page to play (.html), plots (.png, .svg), table (.csv), netCDF (.nc) or .json in SI."),
]


def motion_robot(name: str, fill: bool) -> Robot:
    """A robot that can move, with inertia filled in if asked for; an error says that it can be."""
    import vertebra
    from vertebra.dynamics.problem import Moving
    from vertebra.errors import InputError

    robot = vertebra.load(name)
    try:
        robot = vertebra.fill_inertia(robot) if fill else robot
        Moving.of(robot, None, ())
    except InputError as error:
        raise CommandError(error.message.replace("with fill_inertia", "with --fill-inertia")) from None
    return robot


def one_time(option: str, text: str) -> float:
    """A time above zero, s."""
    values = read.quantities(option, text, SECONDS)
    if len(values) != 1 or not values[0] > 0.0:
        raise CommandError(f'{option} {text!r}: give one time above 0, such as "2 s" or "1 ms"')
    return values[0]


def motion_notes(robot: Robot, filled: bool, loads: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """What was asked for beside the usual, as rows of a table of facts."""
    if filled:
        yield "inertia", "of solid cylinders where the robot file gives none"
    from vertebra.report.scene import place_text
    from vertebra.report.shape import vector

    for load in loads:
        moment = f" and {vector(load.moment)} N*m" if any(load.moment) else ""
        yield "load", f"{vector(load.force)} N{moment}, {place_text(robot, load)}"
