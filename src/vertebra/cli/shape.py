"""`vertebra shape`: which shape do these cables give, and how stiff is it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import statics_options as read
from vertebra.cli import statics_output as write
from vertebra.cli.output import AsJson, CommandError, print_json, require_suffix, say
from vertebra.cli.statics_options import GravityOption, LoadOption, OutOption, RobotArgument, StartOption

if TYPE_CHECKING:
    from vertebra.report.overlays import Ghost
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
    gravity: GravityOption = None,
    load: LoadOption = None,
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
    """
    from vertebra.robot.robot import load as load_robot

    if out is not None:
        require_suffix(out, write.FILES)
    model = load_robot(robot)
    forces = {"gravity": read.gravity(gravity), "loads": read.loads(load, model)}
    question = Question(model, forces, out, as_json)
    if stiffness:
        _refuse("--stiffness", lengths=lengths, shortenings=shortenings, start=start, branches=branches or None)
        question.stiffness(tensions or DEFAULT_TENSIONS)
        return
    read.only_one(tensions=tensions, lengths=lengths, shortenings=shortenings)
    more: dict[str, Any] = {"start": read.angles("--start", start, model)} if start is not None else {}
    if branches:
        _refuse("--branches", lengths=lengths, shortenings=shortenings)
        question.branches(read.tensions("--tensions", tensions or "", model), more)
        return
    more["check"] = not no_check
    if tensions is not None:
        if stiffness_EA is not None:
            raise CommandError("--stiffness-EA: belongs to --lengths and --shortenings; a given tension needs none")
        question.from_tensions(read.tensions("--tensions", tensions, model), more)
        return
    if stiffness_EA is not None:
        more["stiffness_EA"] = read.one_or_each(
            "--stiffness-EA", stiffness_EA, read.TENSION, len(model.cables), "cable"
        )
    if lengths is not None:
        more["lengths"] = read.lengths("--lengths", lengths, model)
    else:
        more["shortenings"] = read.lengths("--shortenings", shortenings or "", model)
    question.from_lengths(more)


def _refuse(option: str, **others: object) -> None:
    for name, value in others.items():
        if value is not None:
            raise CommandError(f"--{name}: cannot be combined with {option}, which asks about tensions")


@dataclass(frozen=True)
class Question:
    """What was asked: a robot, the forces on it, and where the answer goes."""

    robot: Robot
    forces: dict[str, Any]
    out: Path | None
    as_json: bool

    def from_tensions(self, tensions: list[float], more: dict[str, Any]) -> None:
        import vertebra

        self._answer(vertebra.shape_from_tensions(self.robot, tensions, **self.forces, **more))

    def from_lengths(self, more: dict[str, Any]) -> None:
        import vertebra

        self._answer(vertebra.shape_from_lengths(self.robot, **self.forces, **more))

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
        title = shape_title(found)
        write.warn(found)
        if self.out is not None:
            write.write_shape(found, self.out, title, tuple(load_free(found)))
        if self.as_json:
            print_json(write.shape_record(found) | ({"out": str(self.out)} if self.out is not None else {}))
        elif self.out is not None:
            say(f"wrote {self.out}")
        else:
            write.print_shape(found, title)


def shape_title(found: Shape, most: int = 12) -> str:
    """Robot and tensions, for a heading."""
    tensions = [f"{round(row[0], 9):.4g}" for row in found.tensions]
    shown = ", ".join(tensions[:most]) + (", ..." if len(tensions) > most else "")
    return f"{found.robot.name} under {shown} N"


def load_free(found: Shape) -> Iterator[Ghost]:
    """The shape of the same tensions without weight and loads, for comparison; none where nothing would differ."""
    if not found.loads and not found.gravity.any():
        return
    import vertebra
    from vertebra.report.overlays import ghost

    free = vertebra.shape_from_tensions(
        found.robot, [float(row[0]) for row in found.tensions], gravity=(0.0, 0.0, 0.0), check=False
    )
    if free.stable:
        yield ghost(found.robot, free.frames, "without weight and loads")
