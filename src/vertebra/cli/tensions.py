"""`vertebra tensions`: which tensions hold a shape, or bring the tip to a place or along a path."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from vertebra.cli import options as read
from vertebra.cli.answer import AsJson, CommandError, answer, require_suffix
from vertebra.cli.options import (
    ClosureName,
    ClosureOption,
    FrictionOption,
    GravityOption,
    LoadOption,
    OutOption,
    PreslidingOption,
    RobotArgument,
    StartOption,
    friction_rules,
)
from vertebra.cli.path import FromStateOption, SaveStateOption, answer_path, lead, open_path, places


class Least(StrEnum):
    """What is minimised among the tensions that hold a shape."""

    NORM = "norm"
    SUM = "sum"


def tensions(
    robot: RobotArgument,
    angles: Annotated[str | None, typer.Option("--angles", help=f"The shape to hold: {read.ANGLES_HELP}.")] = None,
    tip: Annotated[
        str | None, typer.Option("--tip", help='Where the tip should be, in the world: "30, 0, 140 mm".')
    ] = None,
    tip_path: Annotated[
        Path | None,
        typer.Option(
            "--tip-path",
            help="CSV with a place x_mm,y_mm,z_mm per row: the tip goes along them; slip has a history. With time_s, "
            "rates are reported and --out CSV files are what simulate --tensions-file reads.",
        ),
    ] = None,
    axis: Annotated[
        str | None,
        typer.Option(
            "--axis",
            metavar="X,Y,Z",
            help="With --tip or --tip-path: direction of the last link; needs five cables or more.",
        ),
    ] = None,
    from_state: FromStateOption = None,
    save_state: SaveStateOption = None,
    stiffness: Annotated[
        str | None,
        typer.Option(
            "--stiffness",
            help='With --tip or --tip-path: stiffness wanted there, "dx,dy,dz:N/m", such as "1,0,0:20".',
        ),
    ] = None,
    lower: Annotated[
        str | None, typer.Option("--lower", help="Least tension in N: one for all, or one per cable.")
    ] = None,
    upper: Annotated[
        str | None, typer.Option("--upper", help="Largest tension in N: one for all, or one per cable.")
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--tolerance",
            help="With --tip or --tip-path: distance that counts as reached; default: 5 millionths of the robot's "
            "length.",
        ),
    ] = None,
    minimise: Annotated[
        Least | None, typer.Option("--minimise", help="With --angles: the tensions' norm (default) or their sum.")
    ] = None,
    gravity: GravityOption = None,
    load: LoadOption = None,
    friction: FrictionOption = "file",
    presliding: PreslidingOption = None,
    closure: ClosureOption = ClosureName.VIRTUAL_WORK,
    start: StartOption = None,
    out: OutOption = None,
    as_json: AsJson = False,
) -> None:
    """Which tensions hold this shape, or bring the tip there?

    Few cables cannot hold every shape of many joints: the difference is listed, and the exit code is 2.

    vertebra tensions hu2023-prototype --angles "5 deg" --lower 0.5

    vertebra tensions hu2023-prototype --tip "80, 0, 130 mm" --lower 0.5 --out tip.html

    vertebra tensions yang2023-b --tip-path tips.csv --lower 5 --upper 40 --out way.html
    """
    from vertebra.report.document import FILES
    from vertebra.robot.robot import load as load_robot

    require_suffix(out, FILES)
    model = load_robot(robot)
    wanted = read.only_one(angles=angles, tip=tip, tip_path=tip_path)
    rules: dict[str, Any] = {"gravity": read.gravity(gravity), "loads": read.loads(load, model)}
    rules |= friction_rules(friction, presliding, closure, model)
    given: dict[str, Any] = {}
    for name, text in (("lower", lower), ("upper", upper)):
        if text is not None:
            given[name] = read.tensions(f"--{name}", text, model)
    import vertebra

    if wanted == "--angles":
        _refuse("--angles", "--tip", stiffness=stiffness, start=start, from_state=from_state, save_state=save_state,
                tolerance=tolerance, axis=axis)  # fmt: skip
        from vertebra.report.tensions import holding_report

        given["minimise"] = (minimise or Least.NORM).value
        asked = read.angles("--angles", angles or "", model)
        held = vertebra.tensions_for_shape(model, asked, **rules, **given, check=False)
        answer(holding_report(held, asked), out, as_json)
        return
    _refuse(wanted, "--angles", minimise=minimise)
    if axis is not None:
        given["axis"] = read.vector("--axis", axis, read.Quantity("", "1", "component"), "0,0,1")
    if stiffness is not None:
        given["stiffness"] = wanted_stiffness(stiffness)
    if tolerance is not None:
        given["tolerance"] = wanted_tolerance(tolerance)
    if tip_path is not None or from_state is not None or save_state is not None:
        _refuse("a path, which goes on from its last shape", "a single --tip", start=start)
        rows, times = places(model, tip, tip_path)
        path = open_path(model, rules, from_state)
        walked = lead(path, [place for _, place in rows], [name for name, _ in rows], given, times)
        answer_path(path, walked, save_state, out, as_json)
        return
    from vertebra.report.tensions import tip_report

    if start is not None:
        given["start"] = read.angles("--start", start, model)
    place = read.position("--tip", tip or "", model)
    found = vertebra.tensions_for_tip(model, place, **rules, **given, check=False)
    answer(tip_report(found, place, given["stiffness"][1] if stiffness is not None else None), out, as_json)


def _refuse(asked: str, instead: str, **others: object) -> None:
    for name, value in others.items():
        if value is not None:
            raise CommandError(f"--{name.replace('_', '-')}: belongs to {instead}, not to {asked}")


def wanted_tolerance(text: str) -> float:
    """One length above 0, m."""
    values = read.quantities("--tolerance", text, read.LENGTH)
    if len(values) != 1 or not values[0] > 0:
        raise CommandError(f'--tolerance {text!r}: give one length above 0, such as "0.1 mm"')
    return values[0]


def wanted_stiffness(text: str) -> tuple[tuple[float, float, float], float]:
    """Direction and N/m from "dx,dy,dz:N/m"."""
    toward, colon, value = text.partition(":")
    direction = read.vector("--stiffness", toward, read.Quantity("", "1", "component"), "1,0,0")
    if not colon or not any(direction):
        raise CommandError(f'--stiffness {text!r}: give a direction and a stiffness in N/m, such as "1,0,0:20"')
    (size, *more) = read.quantities("--stiffness", value, read.Quantity("N/m", "20 N/m", "stiffness"))
    if more or size <= 0:
        raise CommandError(f"--stiffness {text!r}: behind the colon comes one stiffness above 0 N/m")
    return direction, size
