"""`vertebra robots`: the presets, one robot in detail, checks of robot files, and their JSON Schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli.output import AsJson, CommandError, print_facts, print_json, say, write_text

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot

app = typer.Typer(help="List the presets; show, check and draw robots.", invoke_without_command=True)

NameOrFile = Annotated[str, typer.Argument(metavar="NAME_OR_FILE", help="Preset name or path of a robot file.")]


@app.callback()
def list_presets(context: typer.Context, as_json: AsJson = False) -> None:
    """List the robots that come with Vertebra; show, check and draw any robot."""
    if context.invoked_subcommand is not None:
        if as_json:
            raise CommandError(
                f"write --json after the command: vertebra robots {context.invoked_subcommand} ... --json"
            )
        return
    from vertebra.robot.robot import load, presets

    robots = [load(name) for name in presets()]
    if as_json:
        print_json([_preset_record(robot) for robot in robots])
    else:
        _print_presets(robots)


def _preset_record(robot: Robot) -> dict[str, Any]:
    kinds = list(dict.fromkeys(section.joint.kind for section in robot.description.sections))
    return {"name": robot.name, "kinds": kinds, **totals(robot), "source": robot.source}


def totals(robot: Robot) -> dict[str, Any]:
    """Derived numbers of a robot, SI."""
    return {
        "joints": len(robot.joints),
        "freedoms": robot.freedoms,
        "links": len(robot.links),
        "cables": len(robot.cables),
        "length": robot.length,
        "mass": robot.mass,
    }


def _print_presets(robots: list[Robot]) -> None:
    from vertebra.cli.output import console, new_table
    from vertebra.report.document import number
    from vertebra.report.robot import joints_text, mass_text, short_source

    right = ("cables", "length [mm]", "mass [g]")
    table = new_table(("name", "joints", *right, "source"), right)
    table.columns[0].no_wrap = True  # a name is there to be copied
    for robot in robots:
        length = number(round(robot.length * 1e3, 2))
        row = (robot.name, joints_text(robot), str(len(robot.cables)), length, mass_text(robot))
        table.add_row(*row, short_source(robot.source))
    console().print(table)


@app.command()
def show(
    robot: NameOrFile,
    bend: Annotated[
        str | None, typer.Option("--bend", help='Pose of the picture: "15 deg" for all, or a comma-separated list.')
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Picture (.html, .png, .svg) or robot file in SI (.yaml, .json).")
    ] = None,
    file: Annotated[bool, typer.Option("--file", help="The robot file itself, with its comments.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one robot: its joints, links and cables; write a picture of it, or its file.

    Start a robot of your own from a preset: vertebra robots show hu2023-prototype --file --out mine.yaml
    """
    from vertebra.cli import robot_files
    from vertebra.robot.robot import load

    model = load(robot)
    if bend is not None and (out is None or file or out.suffix.lower() not in robot_files.PICTURES):
        raise CommandError(
            f"--bend is the pose of a picture: add --out with a name in {', '.join(robot_files.PICTURES)}"
        )
    text = robot_files.text_of(robot) if file else None
    if out is not None:
        robot_files.write(model, out, bend, text, robot)
    if as_json:
        record: dict[str, Any] = {"robot": model.to_mapping(), "totals": totals(model)}
        record |= {"text": text} if text is not None else {}
        print_json(record | ({"out": str(out)} if out is not None else {}))
    elif out is not None:
        say(f"wrote {out}")
    elif text is not None:
        print(text, end="" if text.endswith("\n") else "\n")
    else:
        _print_robot(model)


def _print_robot(robot: Robot) -> None:
    from vertebra.report.robot import cables, links, overview, sections

    for facts in (overview(robot), sections(robot), links(robot), cables(robot)):
        if facts.rows:
            print_facts(facts)


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Robot files (YAML or JSON) or preset names.")],
    as_json: AsJson = False,
) -> None:
    """Check robot files: every wrong field with its path, what is allowed and what was found."""
    from vertebra.cli.checking import check_file, print_check

    results = [check_file(file) for file in files]
    if as_json:
        print_json([result.record() for result in results])
    else:
        for result in results:
            print_check(result)
    if not all(result.ok for result in results):
        raise typer.Exit(2)


@app.command()
def schema(
    out: Annotated[Path | None, typer.Option("--out", help="Write this file instead of printing it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the JSON Schema of the robot file, for editors that complete and check while you type."""
    import json

    from vertebra.robot.description import json_schema

    value = json_schema()
    if out is None:
        print_json(value)
        return
    write_text(out, json.dumps(value, indent=2) + "\n")
    if as_json:
        print_json({"out": str(out)})
    else:
        say(f"wrote {out}")
