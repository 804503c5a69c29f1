"""`vertebra follow`: two concentric friction-locked snakes along a path, link by link."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import options as read
from vertebra.cli.answer import AsJson, CommandError, answer, require_suffix
from vertebra.cli.options import GravityOption, read_rows

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot


def follow(
    outer: Annotated[str, typer.Argument(metavar="OUTER", help="Outer snake: preset name or path of a robot file.")],
    inner: Annotated[
        str, typer.Option("--inner", metavar="INNER", help="Inner snake: preset name or path of a robot file.")
    ],
    tensions: Annotated[
        str,
        typer.Option("--tensions", "-t", help="Tension of each cable of the rigid outer snake in N; one for all."),
    ],
    inner_tensions: Annotated[
        str, typer.Option("--inner-tensions", help="Tension of each cable of the rigid inner snake in N; one for all.")
    ],
    path: Annotated[
        Path | None,
        typer.Option(
            "--path",
            help="CSV with points x_mm,y_mm,z_mm for the far end of the outer snake; from the entry at 0,0,0, where z "
            "points out of the guide.",
        ),
    ] = None,
    commands: Annotated[
        Path | None, typer.Option("--commands", help="CSV with one row bend_deg,azimuth_deg per link.")
    ] = None,
    steps: Annotated[Path | None, typer.Option("--steps", help="Steps as .csv or .json, as written by --out.")] = None,
    tip_load: Annotated[
        str, typer.Option("--tip-load", metavar="FX,FY,FZ", help="Load to be carried at the foremost tip, N.")
    ] = "0,0,0",
    gravity: GravityOption = None,
    come_back: Annotated[bool, typer.Option("--come-back", help="Also go back into the guide.")] = False,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Go on where the rigid snake would slip, and report it.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Page to play (.html), plots (.png, .svg), steps (.csv) or everything (.json, SI)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Lead two concentric snakes along a path: steps, whether the rigid snake holds, and how far they stray.

    The outer snake goes one link ahead and is steered, the inner one follows; a snake is only loosened if the
    other one can carry both and the tip load.

    vertebra follow cai2023 --inner inner.yaml --path path.csv -t 35 --inner-tensions 60 --out journey.html

    vertebra follow cai2023 --inner inner.yaml --commands bends.csv -t 35,35,35 --inner-tensions 60 --tip-load 0,-0.3,0
    """
    from vertebra.report.document import FILES
    from vertebra.robot.robot import load

    require_suffix(out, FILES)
    read.only_one(path=path, commands=commands, steps=steps)
    outer_robot, inner_robot = load(outer), load(inner)
    question: dict[str, Any] = {
        "outer_tensions": read.tensions("--tensions", tensions, outer_robot),
        "inner_tensions": read.tensions("--inner-tensions", inner_tensions, inner_robot),
        "gravity": read.gravity(gravity),
        "tip_load": read.vector("--tip-load", tip_load, read.FORCE_COMPONENT, "0,-0.3,0"),
        "come_back": come_back,
        "check": not no_check,
        **_what_to_follow(outer_robot, path, commands, steps),
    }
    from vertebra.follow.journey import follow_the_leader
    from vertebra.report.follow import journey_report

    answer(journey_report(follow_the_leader(outer_robot, inner_robot, **question)), out, as_json)


def _what_to_follow(robot: Robot, path: Path | None, commands: Path | None, steps: Path | None) -> dict[str, Any]:
    """The one of path, commands and steps that was given, as an argument of the call."""
    from vertebra.robot.table_file import TIP, Column

    if path is not None:
        rows = read_rows("--path", path, TIP)
        if max(abs(value) for row in rows.values for value in row) > 30 * robot.length:
            raise CommandError(
                f"--path {path}: the robot is only {robot.length * 1e3:.4g} mm long; columns x,y,z are in m, write "
                "x_mm,y_mm,z_mm for mm"
            )
        return {"path": rows.values}
    if commands is not None:
        bend, azimuth = (Column(name=name, unit="rad", written="deg", bare=True) for name in ("bend", "azimuth"))
        return {"commands": read_rows("--commands", commands, bend, azimuth).values}
    from vertebra.follow.steps import read_steps

    return {} if steps is None else {"steps": read_steps(steps)}
