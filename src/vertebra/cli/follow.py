"""`vertebra follow`: two concentric friction-locked snakes along a path, link by link."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import statics_options as read
from vertebra.cli import statics_output as write
from vertebra.cli.output import (
    AsJson,
    CommandError,
    print_facts,
    print_json,
    print_table,
    require_suffix,
    say,
    write_text,
)
from vertebra.cli.rows_file import read_rows
from vertebra.cli.statics_options import GravityOption

if TYPE_CHECKING:
    from vertebra.follow.journey import Journey
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
        Path | None, typer.Option("--commands", help="CSV with a row bend_deg,azimuth_deg a link.")
    ] = None,
    steps: Annotated[
        Path | None, typer.Option("--steps", help="Steps as .csv or .json, such as --out wrote them.")
    ] = None,
    tip_load: Annotated[
        str, typer.Option("--tip-load", metavar="FX,FY,FZ", help="Load to be carried at the foremost tip, N.")
    ] = "0,0,0",
    gravity: GravityOption = None,
    come_back: Annotated[bool, typer.Option("--come-back", help="Also go back into the guide.")] = False,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Go on where the rigid snake would not hold, and tell.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Page to play (.html), plots (.png, .svg), steps (.csv) or everything (.json, SI)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Lead two concentric snakes along a path: steps, what holds, and how far they stray.

    The outer snake goes one link ahead and is steered, the inner one follows; before one is loosened the other must
    carry both and the tip load.

    vertebra follow cai2023 --inner inner.yaml --path path.csv -t 35 --inner-tensions 60 --out journey.html

    vertebra follow cai2023 --inner inner.yaml --commands bends.csv -t 35,35,35 --inner-tensions 60 --tip-load 0,-0.3,0
    """
    from vertebra.robot.robot import load

    if out is not None:
        require_suffix(out, write.FILES)
    read.only_one(path=path, commands=commands, steps=steps)
    outer_robot, inner_robot = load(outer), load(inner)
    question: dict[str, Any] = {
        "outer_tensions": read.tensions("--tensions", tensions, outer_robot),
        "inner_tensions": read.tensions("--inner-tensions", inner_tensions, inner_robot),
        "gravity": read.gravity(gravity),
        "tip_load": read.vector("--tip-load", tip_load, read.Quantity("N", "0.5 N", "force component"), "0,-0.3,0"),
        "come_back": come_back,
        "check": not no_check,
        **_way(outer_robot, path, commands, steps),
    }
    from vertebra.follow.journey import follow_the_leader

    _answer(follow_the_leader(outer_robot, inner_robot, **question), out, as_json)


def _way(robot: Robot, path: Path | None, commands: Path | None, steps: Path | None) -> dict[str, Any]:
    """Where to go, as the one argument that was given."""
    if path is not None:
        rows = read_rows("--path", path, "xyz", read.LENGTH)
        if max(abs(value) for row in rows.values for value in row) > 30 * robot.length:
            raise CommandError(
                f"--path {path}: the robot is only {robot.length * 1e3:.4g} mm long; columns x,y,z are in m, write "
                "x_mm,y_mm,z_mm for mm"
            )
        return {"path": rows.values}
    if commands is not None:
        return {"commands": read_rows("--commands", commands, ("bend", "azimuth"), read.ANGLE).values}
    from vertebra.follow.steps import read_steps

    return {} if steps is None else {"steps": read_steps(steps)}


def _answer(journey: Journey, out: Path | None, as_json: bool) -> None:
    from vertebra.report.follow import journey_summary, journey_title, journey_warnings, link_facts

    for text in journey_warnings(journey):
        say(f"warning: {text}")
    if out is not None:
        _write(journey, out)
    if as_json:
        print_json(journey_record(journey) | ({"out": str(out)} if out is not None else {}))
    elif out is not None:
        say(f"wrote {out}")
    else:
        print_facts(journey_summary(journey, journey_title(journey)))
        print_table(link_facts(journey))


def _write(journey: Journey, out: Path) -> None:
    from vertebra.report.follow import journey_title

    suffix, title = out.suffix.lower(), journey_title(journey)
    if suffix == ".json":
        write.write_json(out, journey_record(journey))
    elif suffix == ".csv":
        from vertebra.follow.steps import steps_to_csv

        write_text(out, steps_to_csv(journey.steps))
    elif suffix == ".html":
        from vertebra.report.follow import follow_page

        write_text(out, follow_page(journey, title))
    else:
        from vertebra.report.follow import journey_figure_static

        journey_figure_static(journey, out, title)


def journey_record(journey: Journey) -> dict[str, Any]:
    """A journey as JSON, SI; the list `steps` can be read back by --steps."""
    from vertebra.follow.steps import step_record

    pair, plan = journey.pair, journey.plan
    return {
        "outer": pair.outer.name,
        "inner": pair.inner.name,
        "link_length": pair.link_length,
        "outer_tensions": pair.outer_tensions.tolist(),
        "inner_tensions": pair.inner_tensions.tolist(),
        "gravity": pair.gravity.tolist(),
        "tip_load": pair.tip_load.tolist(),
        "holds": journey.holds,
        "commands": [list(bend) for bend in journey.commands],
        "steps": [step_record(step) for step in journey.steps],
        "states": [
            {"lock": str(state.lock), "outer": len(state.outer), "inner": len(state.inner)} for state in journey.states
        ],
        "holdings": [None if found is None else _holding_record(found) for found in journey.holdings],
        "heads": journey.heads.tolist(),
        "path": None
        if plan is None
        else {"vertices": plan.vertices.tolist(), "along": plan.along.tolist(), "leftover": plan.leftover},
        "deviation": {
            "tip_path": vars(journey.tip_path_deviation),
            "sliding": vars(journey.corner_cut),
            "wanted": None if journey.wanted_deviation is None else vars(journey.wanted_deviation),
            "tip_path_by_state": journey.tip_path_deviations.tolist(),
            "sliding_by_step": journey.corner_cuts.tolist(),
        },
    }


def _holding_record(found: Any) -> dict[str, Any]:
    names = ("force", "margin", "wanted", "weight", "joint", "holds")
    return {"rigid": str(found.rigid), "mode": found.payload.mode} | {name: getattr(found, name) for name in names}
