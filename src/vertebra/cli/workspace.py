"""`vertebra workspace`: every place that the tip reaches, and how stiff and how strong the robot is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import options as read
from vertebra.cli.answer import AsJson, CommandError, answer, require_suffix
from vertebra.cli.options import (
    ClosureName,
    FrictionOption,
    GravityOption,
    LoadOption,
    RobotArgument,
    StiffnessEAOption,
    friction_rules,
)
from vertebra.cli.progress import progress_bar

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot


def workspace(
    robot: RobotArgument,
    tensions: Annotated[
        str | None,
        typer.Option(
            "--tensions",
            "-t",
            metavar="LEAST,LARGEST",
            help='Tensions of the cables in N, "0.5,5" for all, or a pair per cable: "0,5; 0,5; 1,8". Default: '
            "pretension and max_tension of the robot file.",
        ),
    ] = None,
    shortenings: Annotated[
        str | None,
        typer.Option(
            "--shortenings",
            metavar="LEAST,LARGEST",
            help='Instead of tensions: how far cables are pulled in from straight, "-5,20 mm" for all, or a pair per '
            "cable, separated by semicolons.",
        ),
    ] = None,
    stiffness_EA: StiffnessEAOption = None,
    gravity: GravityOption = None,
    load: LoadOption = None,
    friction: FrictionOption = "file",
    hold: Annotated[
        str | None,
        typer.Option(
            "--hold",
            metavar="TENSIONS",
            help="Of ball-joint robots: tensions in N, one for all or one per cable, that lock them; the payload at "
            "the tip becomes a field of the map.",
        ),
    ] = None,
    direction: Annotated[
        str | None,
        typer.Option("--direction", metavar="X,Y,Z", help="Of that payload, in the world. Default: as gravity."),
    ] = None,
    resolution: Annotated[
        int, typer.Option("--resolution", metavar="N", help="Voxels along the largest extent, 6 to 300.")
    ] = 40,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="N",
            help="About how many shapes are computed. Default: 400,000, or 60,000 by shortenings. More of them make "
            "the error smaller.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the random numbers.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Interactive page (.html), picture (.png, .svg), every voxel as netCDF (.nc), which the studio shows, "
            "or as table (.csv), the boundary (.stl, mm), or .json in SI.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Where can the tip go? Every place that it reaches, the volume with its error, stiffness and margins there.

    Robots whose cables decide the shape are driven by tensions or shortenings within bounds; robots of ball joints,
    which friction locks, are bent in all ways within the limits of their joints.

    vertebra workspace hu2023-prototype --tensions 0.5,5 --out workspace.html

    vertebra workspace hu2023-planar --shortenings "-5,10 mm" --out map.png

    vertebra workspace cai2023 --hold 35 --direction 0,-1,0 --out workspace.nc
    """
    import vertebra
    from vertebra.report.workspace import WORKSPACE_FILES, workspace_report
    from vertebra.robot.robot import load as load_robot

    suffix = require_suffix(out, WORKSPACE_FILES)
    model = load_robot(robot)
    asked: dict[str, Any] = {"gravity": read.gravity(gravity), "loads": read.loads(load, model)}
    asked["friction"] = friction_rules(friction, None, ClosureName.VIRTUAL_WORK, model)["friction"]
    if tensions is not None and shortenings is not None:
        raise CommandError("--tensions and --shortenings: give only one of them")
    if tensions is not None:
        asked["tensions"] = _bounds("--tensions", tensions, model)
    if shortenings is not None:
        asked["shortenings"] = _bounds("--shortenings", shortenings, model)
    asked |= read.stiffness_EA(stiffness_EA, model, shortenings)
    if hold is not None:
        asked["hold"] = read.tensions("--hold", hold, model)
    if direction is not None:
        asked["direction"] = read.vector("--direction", direction, read.Quantity("", "-1", "component"), "0,0,-1")
    with progress_bar("Where the tip goes", "shapes") as progress:
        found = vertebra.workspace(model, **asked, resolution=resolution, budget=budget, seed=seed, progress=progress)
    if suffix == ".stl" and found.is_planar:
        raise CommandError(f"--out {out}: this robot moves in a plane, and an outline is no STL; choose .csv or .nc")
    answer(workspace_report(found), out, as_json)


def _bounds(option: str, text: str, robot: Robot) -> tuple[list[float], list[float]]:
    """Least and largest value of each cable, SI: a pair for all, or one per cable. A unit behind the last pair is for
    all of them."""
    read.need_cables(option, robot)
    quantity, count = (read.TENSION if option == "--tensions" else read.LENGTH), len(robot.cables)
    pairs = [part for part in text.split(";") if part.strip()]
    if len(pairs) not in (1, count) or any(len(pair.split(",")) != 2 for pair in pairs):
        many = f", or {count} such pairs with semicolons between them" if count > 1 else ""
        example = "0.5,5" if option == "--tensions" else "-5,20 mm"
        raise CommandError(f'{option} {text!r}: give the least and the largest {quantity.what}, "{example}"{many}')
    values = read.quantities(option, ",".join(pairs), quantity)
    if option == "--shortenings":
        read.notice_missing_unit(option, text, values, robot)
    least, largest = values[0::2], values[1::2]
    for place, (low, high) in enumerate(zip(least, largest, strict=True), 1):
        if high < low:
            which = f"cable {place}: " if len(pairs) > 1 else ""
            raise CommandError(f"{option} {text!r}: {which}the least comes first, and {high:g} is below {low:g}")
        if option == "--tensions" and low < 0:
            raise CommandError(f"{option} {text!r}: a cable cannot push; give 0 or more")
    return (least * count, largest * count) if len(pairs) == 1 else (least, largest)
