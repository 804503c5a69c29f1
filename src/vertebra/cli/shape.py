"""`vertebra shape`: which shape do these cables give, and how stiff is it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import statics_options as read
from vertebra.cli import statics_output as write
from vertebra.cli.friction_options import ClosureName, ClosureOption, FrictionOption, PreslidingOption, friction_rules
from vertebra.cli.output import AsJson, CommandError, print_json, require_suffix, say
from vertebra.cli.path_state import FromStateOption, SaveStateOption
from vertebra.cli.statics_options import GravityOption, LoadOption, OutOption, RobotArgument, StartOption

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot
    from vertebra.statics.shape import Shape

DEFAULT_TENSIONS = "1:20"
"""Common tensions of a stiffness curve, N, when none are given."""


def shape(
    robot: RobotArgument,
    tensions: Annotated[
        str | None,
        typer.Option("--tensions", "-t", help="Tension of each cable in N, separated by commas; one number for all."),
    ] = None,
    lengths: Annotated[
        str | None, typer.Option("--lengths", help='Rest length of each cable: "120, 118, 120, 122 mm".')
    ] = None,
    shortenings: Annotated[
        str | None,
        typer.Option(
            "--shortenings", help='What each cable is pulled in from straight; negative is let out: "6, -1, -9, -1 mm".'
        ),
    ] = None,
    stiffness_EA: Annotated[
        str | None,
        typer.Option("--stiffness-EA", help='Elasticity of the cables for --lengths and --shortenings: "20 kN".'),
    ] = None,
    path: Annotated[
        Path | None,
        typer.Option("--path", help="CSV with a row of tensions t1,t2,... in N a step; slip has a history."),
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
    """
    from vertebra.robot.robot import load as load_robot

    if out is not None:
        require_suffix(out, write.FILES)
    model = load_robot(robot)
    forces = {"gravity": read.gravity(gravity), "loads": read.loads(load, model)}
    forces |= friction_rules(friction, presliding, closure, model)
    question = Question(model, forces, out, as_json)
    if substeps is not None and not 1 <= substeps <= 10_000:
        raise CommandError(f"--substeps {substeps}: give a count from 1 to 10000")
    on_path = path is not None or from_state is not None or save_state is not None
    commands = {"tensions": tensions, "lengths": lengths, "shortenings": shortenings, "path": path}
    if stiffness:
        _refuse("--stiffness, which asks about tensions", lengths=lengths, shortenings=shortenings, start=start,
                branches=branches or None)  # fmt: skip
        _refuse("--stiffness, which takes each tension by itself", path=path, from_state=from_state,
                save_state=save_state)  # fmt: skip
        question.stiffness(tensions or DEFAULT_TENSIONS)
        return
    read.only_one(**commands)
    elastic = _stiffness_EA(stiffness_EA, model, lengths or shortenings)
    if on_path:
        _refuse("a path, which goes on from its last shape and only from solved ones", start=start,
                branches=branches or None, no_check=no_check or None)  # fmt: skip
        question.path(list(_rows(model, tensions, lengths, shortenings, path, elastic)), substeps or 1, from_state,
                      save_state)  # fmt: skip
        return
    _refuse("a single shape; it belongs to --path", substeps=substeps)
    more: dict[str, Any] = {"start": read.angles("--start", start, model)} if start is not None else {}
    if branches:
        _refuse("--branches, which asks about tensions", lengths=lengths, shortenings=shortenings)
        question.branches(read.tensions("--tensions", tensions or "", model), more)
        return
    ((_, command),) = _rows(model, tensions, lengths, shortenings, None, elastic)
    question.one(command | more | {"check": not no_check})


def _refuse(other: str, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise CommandError(f"--{name.replace('_', '-')}: cannot be combined with {other}")


def _stiffness_EA(text: str | None, robot: Robot, by_length: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    if by_length is None:
        raise CommandError("--stiffness-EA: belongs to --lengths and --shortenings; a given tension needs none")
    return {"stiffness_EA": read.one_or_each("--stiffness-EA", text, read.TENSION, len(robot.cables), "cable")}


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
        from vertebra.cli.rows_file import read_rows

        read.need_cables("--path", robot)
        rows = read_rows("--path", path, [f"t{k}" for k in range(1, len(robot.cables) + 1)], read.TENSION)
        for i, values in enumerate(rows.values):
            if min(values) < 0:
                k = values.index(min(values)) + 1
                raise CommandError(
                    f"{rows.name(i)}: t{k} is {min(values):g} N, but a cable cannot push; give 0 or more"
                )
            yield rows.name(i), {"tensions": values}


@dataclass(frozen=True)
class Question:
    """What was asked: a robot, the forces on it, and where the answer goes."""

    robot: Robot
    forces: dict[str, Any]
    out: Path | None
    as_json: bool

    def one(self, command: dict[str, Any]) -> None:
        """A single shape, from the straight robot."""
        import vertebra

        solve = vertebra.shape_from_tensions if "tensions" in command else vertebra.shape_from_lengths
        self._answer(solve(self.robot, **self.forces, **command))

    def path(
        self, rows: list[tuple[str, dict[str, Any]]], substeps: int, from_state: Path | None, save_state: Path | None
    ) -> None:
        """Row after row, with history."""
        from vertebra.cli.path import PathFiles, answer, open_path, walk_rows

        files = PathFiles(self.out, self.as_json, from_state, save_state)
        path = open_path(self.robot, self.forces, files)
        walked = walk_rows(path, [command for _, command in rows], [name for name, _ in rows], substeps)
        answer(path, walked, files)

    def branches(self, tensions: list[float], more: dict[str, Any]) -> None:
        """All stable shapes, from the lowest energy up."""
        import vertebra
        from vertebra.cli.branches import answer

        found = vertebra.equilibria(self.robot, tensions, **self.forces, **more)
        answer(found, self.out, self.as_json)

    def stiffness(self, tensions: str) -> None:
        """The curve of stiffness against common tension."""
        import vertebra
        from vertebra.cli.stiffness import answer

        values = read.common_tensions("--tensions", tensions)
        answer(vertebra.stiffness_curve(self.robot, values, **self.forces), self.out, self.as_json)

    def _answer(self, found: Shape) -> None:
        from vertebra.cli.shape_lines import friction_free, load_free, shape_title

        title = shape_title(found)
        write.warn(found)
        if self.out is not None:
            write.write_shape(found, self.out, title, (*load_free(found), *friction_free(found)))
        if self.as_json:
            print_json(write.shape_record(found) | ({"out": str(self.out)} if self.out is not None else {}))
        elif self.out is not None:
            say(f"wrote {self.out}")
        else:
            write.print_shape(found, title)
