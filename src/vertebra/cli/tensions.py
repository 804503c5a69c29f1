"""`vertebra tensions`: which tensions hold a shape, or bring the tip to a place."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import statics_options as read
from vertebra.cli import statics_output as write
from vertebra.cli.friction_options import ClosureName, ClosureOption, FrictionOption, PreslidingOption, friction_rules
from vertebra.cli.holding import hold
from vertebra.cli.output import AsJson, CommandError, require_suffix, say
from vertebra.cli.path import PathFiles
from vertebra.cli.path_state import FromStateOption, SaveStateOption
from vertebra.cli.statics_options import GravityOption, LoadOption, OutOption, RobotArgument, StartOption
from vertebra.cli.tip_path import follow_tips, places

if TYPE_CHECKING:
    from vertebra.report.document import Facts
    from vertebra.robot.robot import Robot
    from vertebra.statics.tip import TipTensions


class Least(StrEnum):
    """What is made small among the tensions that hold a shape."""

    NORM = "norm"
    SUM = "sum"


def tensions(
    robot: RobotArgument,
    angles: Annotated[
        str | None, typer.Option("--angles", help='The shape to hold: "10 deg" for all joints, or one a joint.')
    ] = None,
    tip: Annotated[
        str | None, typer.Option("--tip", help='Where the tip shall be, in the world: "30, 0, 140 mm".')
    ] = None,
    tip_path: Annotated[
        Path | None,
        typer.Option(
            "--tip-path", help="CSV with a place x_mm,y_mm,z_mm a row: lead the tip along them; slip has a history."
        ),
    ] = None,
    from_state: FromStateOption = None,
    save_state: SaveStateOption = None,
    stiffness: Annotated[
        str | None,
        typer.Option("--stiffness", help='With --tip: stiffness wanted there, "dx,dy,dz:N/m", such as "1,0,0:20".'),
    ] = None,
    lower: Annotated[
        str | None, typer.Option("--lower", help="Least tension in N: one for all, or one a cable.")
    ] = None,
    upper: Annotated[
        str | None, typer.Option("--upper", help="Largest tension in N: one for all, or one a cable.")
    ] = None,
    tolerance: Annotated[
        str | None, typer.Option("--tolerance", help='With --tip: distance that counts as reached; default "1 um".')
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

    Few cables cannot hold every shape of many joints: what misses is named, and the exit code is 2.

    vertebra tensions hu2023-prototype --angles "5 deg" --lower 0.5

    vertebra tensions hu2023-prototype --tip "80, 0, 130 mm" --lower 0.5 --out tip.html

    vertebra tensions yang2023-b --tip-path tips.csv --lower 5 --upper 40 --out way.html
    """
    from vertebra.robot.robot import load as load_robot

    if out is not None:
        require_suffix(out, write.FILES)
    model = load_robot(robot)
    wanted = read.only_one(angles=angles, tip=tip, tip_path=tip_path)
    rules: dict[str, Any] = {"gravity": read.gravity(gravity), "loads": read.loads(load, model)}
    rules |= friction_rules(friction, presliding, closure, model)
    given: dict[str, Any] = {}
    for name, text in (("lower", lower), ("upper", upper)):
        if text is not None:
            given[name] = read.tensions(f"--{name}", text, model)
    if wanted == "--angles":
        _refuse("--angles", "--tip", stiffness=stiffness, start=start, from_state=from_state, save_state=save_state,
                tolerance=tolerance)  # fmt: skip
        given["minimise"] = (minimise or Least.NORM).value
        good = hold(model, read.angles("--angles", angles or "", model), rules | given, out, as_json)
    else:
        _refuse(wanted, "--angles", minimise=minimise)
        if stiffness is not None:
            given["stiffness"] = wanted_stiffness(stiffness)
        if tolerance is not None:
            given["tolerance"] = wanted_tolerance(tolerance)
        if tip_path is not None or from_state is not None or save_state is not None:
            _refuse("a path, which goes on from its last shape", "a single --tip", start=start)
            files = PathFiles(out, as_json, from_state, save_state)
            good = follow_tips(model, list(places(model, tip, tip_path)), rules, given, files)
        else:
            if start is not None:
                given["start"] = read.angles("--start", start, model)
            good = reach(model, read.position("--tip", tip or "", model), rules | given, out, as_json)
    if not good:
        raise typer.Exit(2)


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


def reach(robot: Robot, tip: list[float], given: dict[str, Any], out: Path | None, as_json: bool) -> bool:
    """Answer for a place of the tip; whether it was reached."""
    import numpy as np

    import vertebra
    from vertebra.report.scene import TARGET_COLOUR, Mark

    found = vertebra.tensions_for_tip(robot, tip, **given, check=False)
    names = ("tensions", "error", "stiffness", "reached", "at_bounds")
    record = {"robot": robot.name, "position": tip} | {name: write.as_plain(getattr(found, name)) for name in names}
    record["shape"] = write.shape_record(found.shape)
    title = f"{robot.name}: tensions for a tip"
    if out is not None and out.suffix.lower() in write.PICTURES:
        write.write_shape(found.shape, out, title, [], [Mark(np.array(tip) * 1e3, TARGET_COLOUR, "wanted tip")])
    write.answer_tensions(robot, record, reaching_facts(tip, found, title), out, as_json)
    write.warn(found.shape)
    if not found.reached:
        say(f"not reached: {_shortfall(found, given.get('stiffness'))}; ask for less, or widen --lower and --upper")
    return found.reached


def _shortfall(found: TipTensions, wanted: tuple[Any, float] | None) -> str:
    parts = [f"the tip stays {found.error * 1e3:.3g} mm away"]
    if wanted is not None and found.stiffness is not None:
        parts.append(f"with {found.stiffness:.4g} N/m of {wanted[1]:.4g} N/m wanted")
    if found.at_bounds:
        parts.append(f"with cable {', '.join(map(str, found.at_bounds))} at a bound")
    return " ".join(parts)


def reaching_facts(tip: list[float], found: TipTensions, title: str) -> Facts:
    """How close the tip came, and the shape."""
    from vertebra.report.document import Facts
    from vertebra.report.shape import shape_summary, stiffness_text, vector

    rows = [
        ("wanted tip", f"{vector([1e3 * value for value in tip], '.3f')} mm"),
        ("reached", f"{'yes' if found.reached else 'NO'}, off by {found.error * 1e3:.3g} mm"),
        *shape_summary(found.shape).rows,
    ]
    if found.stiffness is not None:
        rows.insert(2, ("stiffness", f"{stiffness_text(found.stiffness)} in the wanted direction"))
    return Facts(title, ("", ""), tuple(rows))
