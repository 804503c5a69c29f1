"""`vertebra tensions`: which tensions hold a shape, or bring the tip to a place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import statics_options as read
from vertebra.cli import statics_output as write
from vertebra.cli.output import AsJson, CommandError, print_facts, print_json, print_table, require_suffix, say
from vertebra.cli.statics_options import GravityOption, LoadOption, OutOption, RobotArgument, StartOption

if TYPE_CHECKING:
    from vertebra.report.facts import Facts
    from vertebra.robot.robot import Robot
    from vertebra.statics.for_shape import HoldingTensions
    from vertebra.statics.for_tip import TipTensions


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
    minimise: Annotated[
        Least | None, typer.Option("--minimise", help="With --angles: the tensions' norm (default) or their sum.")
    ] = None,
    gravity: GravityOption = None,
    load: LoadOption = None,
    start: StartOption = None,
    out: OutOption = None,
    as_json: AsJson = False,
) -> None:
    """Which tensions hold this shape, or bring the tip there?

    Few cables cannot hold every shape of many joints: what misses is named, and the exit code is 2.

    vertebra tensions hu2023-prototype --angles "5 deg" --lower 0.5

    vertebra tensions hu2023-prototype --tip "80, 0, 130 mm" --lower 0.5 --out tip.html
    """
    from vertebra.robot.robot import load as load_robot

    if out is not None:
        require_suffix(out, write.FILES)
    model = load_robot(robot)
    wanted = read.only_one(angles=angles, tip=tip)
    given: dict[str, Any] = {"gravity": read.gravity(gravity), "loads": read.loads(load, model)}
    for name, text in (("lower", lower), ("upper", upper)):
        if text is not None:
            given[name] = read.tensions(f"--{name}", text, model)
    if wanted == "--angles":
        _refuse("--angles", "--tip", stiffness=stiffness, start=start)
        given["minimise"] = (minimise or Least.NORM).value
        good = hold(model, read.angles("--angles", angles or "", model), given, out, as_json)
    else:
        _refuse("--tip", "--angles", minimise=minimise)
        if start is not None:
            given["start"] = read.angles("--start", start, model)
        if stiffness is not None:
            given["stiffness"] = wanted_stiffness(stiffness)
        good = reach(model, read.position("--tip", tip or "", model), given, out, as_json)
    if not good:
        raise typer.Exit(2)


def _refuse(asked: str, instead: str, **others: object) -> None:
    for name, value in others.items():
        if value is not None:
            raise CommandError(f"--{name}: belongs to {instead}, not to {asked}")


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


def hold(robot: Robot, angles: list[float], given: dict[str, Any], out: Path | None, as_json: bool) -> bool:
    """Answer for a shape; whether the tensions hold it."""
    import vertebra

    found = vertebra.tensions_for_shape(robot, angles, **given, check=False)
    names = ("tensions", "residual", "feasible", "infeasible", "stable")
    record = {"robot": robot.name, "angles": angles} | {name: write.as_plain(getattr(found, name)) for name in names}
    title = f"{robot.name}: tensions for a shape"
    if out is not None and out.suffix.lower() in write.PICTURES:
        _draw_held(found, out, title)
    _answer(robot, record, holding_facts(found, title), out, as_json)
    if found.shape.out_of_range:
        say(f"warning: joint {found.shape.out_of_range[0]} of the wanted shape is past its limit")
    if not found.feasible:
        say(f"not held: {', '.join(_misses(found))}; no tensions within the bounds come closer")
    elif not found.stable:
        say("warning: balanced, but unstable: the robot would buckle away from this shape; raise --lower")
    return found.feasible


def _draw_held(found: HoldingTensions, out: Path, title: str) -> None:
    """What the tensions give, and what was wanted as a thin line."""
    import vertebra
    from vertebra.report.overlays import ghost

    wanted = found.shape
    given = wanted
    if not found.feasible:
        given = vertebra.shape_from_tensions(
            wanted.robot, found.tensions, gravity=wanted.gravity, loads=wanted.loads, start=wanted.angles, check=False
        )
    write.write_shape(given, out, title, [ghost(wanted.robot, wanted.frames, "wanted shape")])


def holding_facts(found: HoldingTensions, title: str) -> Facts:
    """How well the tensions hold the shape."""
    from vertebra.report.facts import Facts
    from vertebra.report.shape_facts import vector

    shape = found.shape
    rows = (
        ("held", "yes" if found.feasible else f"NO, {len(found.infeasible)} of {len(shape.angles)} joints are not"),
        ("stable", "yes" if found.stable else "NO" if found.feasible else "-"),
        (
            "left over",
            f"{abs(found.residual).max():.3g} N*m at most, where moments are about {shape.moment_scale:.2g} N*m",
        ),
        ("tip", f"{vector(shape.tip * 1e3, '.3f')} mm in the wanted shape"),
        ("sum", f"{found.tensions.sum():.6g} N"),
    )
    return Facts(title, ("", ""), rows)


def _misses(found: HoldingTensions, most: int = 6) -> Iterator[str]:
    """Such as ``joint 3 by 0.0012 N*m``."""
    for joint in found.infeasible[:most]:
        yield f"joint {joint} by {abs(found.residual[joint - 1]):.3g} N*m"
    if len(found.infeasible) > most:
        yield f"and {len(found.infeasible) - most} more"


def reach(robot: Robot, tip: list[float], given: dict[str, Any], out: Path | None, as_json: bool) -> bool:
    """Answer for a place of the tip; whether it was reached."""
    import numpy as np

    import vertebra
    from vertebra.report.overlays import TARGET_COLOUR, Mark

    found = vertebra.tensions_for_tip(robot, tip, **given, check=False)
    names = ("tensions", "error", "stiffness", "reached", "at_bounds")
    record = {"robot": robot.name, "position": tip} | {name: write.as_plain(getattr(found, name)) for name in names}
    record["shape"] = write.shape_record(found.shape)
    title = f"{robot.name}: tensions for a tip"
    if out is not None and out.suffix.lower() in write.PICTURES:
        write.write_shape(found.shape, out, title, [], [Mark(np.array(tip) * 1e3, TARGET_COLOUR, "wanted tip")])
    _answer(robot, record, reaching_facts(tip, found, title), out, as_json)
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
    from vertebra.report.facts import Facts
    from vertebra.report.shape_facts import shape_summary, stiffness_text, vector

    rows = [
        ("wanted tip", f"{vector([1e3 * value for value in tip], '.3f')} mm"),
        ("reached", f"{'yes' if found.reached else 'NO'}, off by {found.error * 1e3:.3g} mm"),
        *shape_summary(found.shape).rows,
    ]
    if found.stiffness is not None:
        rows.insert(2, ("stiffness", f"{stiffness_text(found.stiffness)} in the wanted direction"))
    return Facts(title, ("", ""), tuple(rows))


def _answer(robot: Robot, record: dict[str, Any], facts: Facts, out: Path | None, as_json: bool) -> None:
    """Everything but pictures."""
    from vertebra.report.facts import Facts, number

    if out is not None and out.suffix.lower() == ".json":
        write.write_json(out, record)
    elif out is not None and out.suffix.lower() == ".csv":
        write.write_csv(out, ("cable", "tension_N"), enumerate(record["tensions"], 1))
    if as_json:
        print_json(record | ({"out": str(out)} if out is not None else {}))
    elif out is not None:
        say(f"wrote {out}")
    else:
        print_facts(facts)
        degrees = [number(math.degrees(azimuth)) for azimuth in robot.cables["azimuth"]]
        rows = [
            (str(k), at, number(round(t, 9)))
            for k, (at, t) in enumerate(zip(degrees, record["tensions"], strict=True), 1)
        ]
        print_table(Facts("Tensions", ("cable", "azimuth [deg]", "tension [N]"), tuple(rows)))
