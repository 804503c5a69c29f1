"""`vertebra shape`: which shape do these cables give, and how stiff is it; all stable shapes, and shapes row by row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import options as read
from vertebra.cli.answer import AsJson, CommandError, answer, require_suffix
from vertebra.cli.options import (
    ClosureName,
    ClosureOption,
    FrictionOption,
    GravityOption,
    LengthsOption,
    LoadOption,
    OutOption,
    PreslidingOption,
    RobotArgument,
    ShorteningsOption,
    StartOption,
    StiffnessEAOption,
    TensionsOption,
    friction_rules,
)
from vertebra.cli.path import FromStateOption, SaveStateOption, answer_path, open_path, walk_rows
from vertebra.errors import InputError

if TYPE_CHECKING:
    from vertebra.report.document import Report
    from vertebra.robot.robot import Robot
    from vertebra.statics.shape import Shape

DEFAULT_TENSIONS = "1:20"
"""Common tensions of a stiffness curve, N, when none are given."""


def shape(
    robot: RobotArgument,
    tensions: TensionsOption = None,
    lengths: LengthsOption = None,
    shortenings: ShorteningsOption = None,
    stiffness_EA: StiffnessEAOption = None,
    path: Annotated[
        Path | None,
        typer.Option("--path", help="CSV with a row of tensions t1_N,t2_N,... per step; slip has a history."),
    ] = None,
    substeps: Annotated[
        int | None, typer.Option("--substeps", metavar="N", help="Even steps within each row, 1 to 10000.")
    ] = None,
    from_state: FromStateOption = None,
    save_state: SaveStateOption = None,
    gravity: GravityOption = None,
    load: LoadOption = None,
    friction: FrictionOption = "file",
    presliding: PreslidingOption = None,
    closure: ClosureOption = ClosureName.VIRTUAL_WORK,
    start: StartOption = None,
    branches: Annotated[bool, typer.Option("--branches", help="List all stable shapes of these tensions.")] = False,
    stiffness: Annotated[
        bool,
        typer.Option(
            "--stiffness",
            help='Stiffness at the tip against the tension of all cables: -t "1:20", "1:20:39" or "1,2,5".',
        ),
    ] = False,
    tolerances: Annotated[
        str | None,
        typer.Option(
            "--tolerances",
            help="How uncertain the tip is, and why: standard deviations of fields of the robot file, and of tensions, "
            'lengths, gravity, loads and friction: "radius 0.05 mm, link.mass 2 %, tensions 0.1 N".',
        ),
    ] = None,
    independent: Annotated[
        bool,
        typer.Option(
            "--independent",
            help="With --tolerances: each joint and link of a section is off by itself; else all of them alike.",
        ),
    ] = False,
    sensitivity: Annotated[
        str | None,
        typer.Option(
            "--sensitivity",
            metavar="OUTPUTS",
            help="Derivatives by all that the shape depends on, largest effects first; .csv and .json have all. "
            'Of "tip", "tip pose", "angles", "lengths", "tensions", "stiffness", "compliance", "critical tension" or '
            '"tension margin", several separated by commas.',
        ),
    ] = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Show also a result that is unstable, out of range or not converged.")
    ] = False,
    out: OutOption = None,
    as_json: AsJson = False,
) -> None:
    """Which shape do these cables give? The tip, every joint and cable, stability and stiffness.

    Numbers without a unit are SI. One unit behind a list is for all of it.

    vertebra shape hu2023-prototype -t 0.98,0.98,0.98,3.92 --out shape.html

    vertebra shape hu2023-prototype -t 3 --gravity wall --load "0,0,-0.1" --load "0.05,0,0@4"

    vertebra shape hu2023-prototype --stiffness -t 1:20 --out stiffness.png

    vertebra shape yang2023-b --path rows.csv --out walk.html

    vertebra shape hu2023-prototype -t 3 --tolerances "radius 0.05 mm, mass 2 %, tensions 0.1 N"
    """
    from vertebra.report.document import FILES
    from vertebra.robot.robot import load as load_robot

    require_suffix(out, FILES)
    model = load_robot(robot)
    forces = {"gravity": read.gravity(gravity), "loads": read.loads(load, model)}
    forces |= friction_rules(friction, presliding, closure, model)
    if substeps is not None and not 1 <= substeps <= 10_000:
        raise CommandError(f"--substeps {substeps}: give a count from 1 to 10000")
    if independent and tolerances is None:
        raise CommandError("--independent: belongs to --tolerances")
    if tolerances is not None or sensitivity is not None:
        _refuse("--tolerances; ask for one at a time", sensitivity=sensitivity if tolerances is not None else None)
        asked = "--tolerances and --sensitivity, which ask about one shape in balance by virtual work"
        _refuse(asked, path=path, from_state=from_state, save_state=save_state, branches=branches or None,
                stiffness=stiffness or None, closure=closure if closure == ClosureName.PAPER else None)  # fmt: skip
    import vertebra

    if stiffness:
        _refuse("--stiffness, which asks about tensions", lengths=lengths, shortenings=shortenings, start=start,
                branches=branches or None)  # fmt: skip
        _refuse("--stiffness, which takes each tension by itself", path=path, from_state=from_state,
                save_state=save_state)  # fmt: skip
        from vertebra.report.stiffness import stiffness_report

        values = read.common_tensions("--tensions", tensions or DEFAULT_TENSIONS)
        answer(stiffness_report(vertebra.stiffness_curve(model, values, **forces)), out, as_json)
        return
    read.only_one(tensions=tensions, lengths=lengths, shortenings=shortenings, path=path)
    elastic = read.stiffness_EA(stiffness_EA, model, lengths or shortenings)
    rows = _rows(model, tensions, lengths, shortenings, path, elastic)
    if path is not None or from_state is not None or save_state is not None:
        _refuse("a path, which goes on from its last shape and only from solved ones", start=start,
                branches=branches or None, no_check=no_check or None)  # fmt: skip
        named = list(rows)
        walk = open_path(model, forces, from_state)
        walked = walk_rows(walk, [row for _, row in named], [name for name, _ in named], substeps or 1)
        answer_path(walk, walked, save_state, out, as_json)
        return
    _refuse("a single shape; it belongs to --path", substeps=substeps)
    more: dict[str, Any] = {"start": read.angles("--start", start, model)} if start is not None else {}
    from vertebra.report.shape import branches_report, shape_report

    if branches:
        _refuse("--branches, which asks about tensions", lengths=lengths, shortenings=shortenings)
        found = vertebra.equilibria(model, read.tensions("--tensions", tensions or "", model), **forces, **more)
        if not found.shapes:
            raise CommandError("--branches: no stable shape within the range of every joint; pull the cables harder")
        answer(branches_report(found), out, as_json)
        return
    ((_, command),) = rows
    solve = vertebra.shape_from_tensions if "tensions" in command else vertebra.shape_from_lengths
    solved = solve(model, **forces, **command, **more, check=not no_check)
    answer(_derivatives(solved, tolerances, independent, sensitivity) or shape_report(solved), out, as_json)


def _derivatives(shape: Shape, tolerances: str | None, independent: bool, sensitivity: str | None) -> Report | None:
    """The shape with its tolerances or derivatives, where these are asked for."""
    import vertebra
    from vertebra.report.derivatives import sensitivity_report, tolerances_report

    try:
        if tolerances is not None:
            parts: Any = "independent" if independent else "alike"
            return tolerances_report(shape, vertebra.tolerances(shape, tolerances, parts=parts))
        if sensitivity is not None:
            outputs = [word.strip() for word in sensitivity.split(",")]
            return sensitivity_report(shape, vertebra.sensitivity(shape, outputs))
    except InputError as error:
        option = {"given": "--tolerances", "of": "--sensitivity"}.get(error.argument, "")
        raise CommandError(f"{option}: {error.message}") if option else error from None
    return None


def _refuse(other: str, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise CommandError(f"--{name.replace('_', '-')}: cannot be combined with {other}")


def _rows(
    robot: Robot, tensions: str | None, lengths: str | None, shortenings: str | None, path: Path | None,
    elastic: dict[str, Any],
) -> Iterator[tuple[str, dict[str, Any]]]:  # fmt: skip
    """Name and arguments of every step; one, unless a file is given."""
    if tensions is not None:
        yield "--tensions", {"tensions": read.tensions("--tensions", tensions, robot)}
    elif lengths is not None:
        yield "--lengths", {"lengths": read.lengths("--lengths", lengths, robot), **elastic}
    elif shortenings is not None:
        yield "--shortenings", {"shortenings": read.lengths("--shortenings", shortenings, robot), **elastic}
    elif path is not None:
        from vertebra.robot.table_file import tension_columns

        read.need_cables("--path", robot)
        rows = read.read_rows("--path", path, tension_columns(len(robot.cables)))
        for i, values in enumerate(rows.values):
            yield rows.name(i), {"tensions": values}
