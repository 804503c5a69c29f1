"""`vertebra shape --path` and `vertebra tensions --tip-path`: a robot stepped row by row, with slip history."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vertebra.cli import options as read
from vertebra.cli.answer import CommandError, answer, say
from vertebra.errors import DescriptionError, InputError, VertebraError
from vertebra.files import read_start, write_file

if TYPE_CHECKING:
    from vertebra.report.path import Walked
    from vertebra.robot.robot import Robot
    from vertebra.statics.path import ShapePath, Walk
    from vertebra.statics.shape import Shape

FromStateOption = Annotated[
    Path | None,
    typer.Option("--from-state", help="Continue from where --save-state left off; default: from the straight robot."),
]
SaveStateOption = Annotated[
    Path | None, typer.Option("--save-state", help="Write where the path ends, with the history of its cables: .json.")
]


class RowError(CommandError):
    """A row that has no answer; `row` counts from 1, `cause` is the name of the solver's error."""

    def __init__(self, name: str, row: int, error: VertebraError) -> None:
        self.row, self.cause = row, type(error).__name__
        joint = getattr(error, "joint", None)
        if joint is not None:
            self.joint = joint
        super().__init__(f"{name}: {error}")


def open_path(robot: Robot, rules: dict[str, Any], from_state: Path | None) -> ShapePath:
    """At the straight robot, or where the state file says."""
    import vertebra

    path = vertebra.ShapePath(robot, **rules)
    if from_state is not None:
        restore_state(path, from_state)
    return path


def answer_path(path: ShapePath, walked: Walked, state: Path | None, out: Path | None, as_json: bool) -> None:
    """Save the state, then answer."""
    from vertebra.report.path import path_report

    report = path_report(walked)
    if state is not None:
        save_state(path, state)
    answer(report, out, as_json)


def walk_rows(path: ShapePath, rows: Sequence[dict[str, Any]], names: Sequence[str], substeps: int) -> Walked:
    """Step through arguments of `ShapePath.step`.

    A row without a shape is named, and the next one goes on from the last shape; but where slip has a history the path
    ends there. Raises `RowError` where that leaves no shape at all.
    """
    from vertebra.report.path import FailedRow, Walked
    from vertebra.statics.shape import Shape

    before, tensions, works, numbers = path.friction_work, [], [], []
    shapes: list[Shape] = []
    failed: list[FailedRow] = []
    first: RowError | None = None
    for number, (row, name) in enumerate(zip(rows, names, strict=True), 1):
        try:
            shape = path.step(**row, substeps=substeps)
        except VertebraError as error:
            first = first or RowError(name, number, error)
            result = getattr(error, "result", None)
            if not isinstance(result, Shape) or (path.problem.has_friction and not shapes):
                raise RowError(name, number, error) from error
            failed.append(FailedRow(number, name, result.tensions_at_base, result.status, str(error)))
            if path.problem.has_friction:
                break
            continue
        shapes.append(shape)
        works.append(path.friction_work)
        tensions.append(row.get("tensions", shape.tensions_at_base))
        numbers.append(number)
    if first is not None and not shapes:
        raise first
    walk = collect(path.robot, tensions, shapes, works, numbers if failed else None)
    untried = len(rows) - len(shapes) - len(failed)
    return Walked(walk, shapes[-1], before, substeps, failed=tuple(failed), untried=untried)


def collect(
    robot: Robot,
    tensions: Sequence[Any],
    shapes: Sequence[Shape],
    works: Sequence[float],
    numbers: Sequence[int] | None = None,
) -> Walk:
    """Shapes as one walk; `tensions` at the base, N."""
    import numpy as np

    from vertebra.statics.path import Walk

    return Walk(
        robot,
        np.array(tensions, dtype=np.float64),
        np.array([shape.angles for shape in shapes]),
        np.array([shape.tip for shape in shapes]),
        np.array([shape.lengths for shape in shapes]),
        np.array(works),
        np.array([shape.iterations for shape in shapes], dtype=np.float64),
        None if numbers is None else np.array(numbers),
    )


def lead(
    path: ShapePath,
    tips: Sequence[Sequence[float]],
    names: Sequence[str],
    goal: dict[str, Any],
    times: Sequence[float] = (),
) -> Walked:
    """Bring the tip to each place in turn, from the shape before; out of reach, it goes as near as it can."""
    import numpy as np

    import vertebra
    from vertebra.report.path import Walked, Wanted

    before = path.friction_work
    found = vertebra.tensions_for_tips(path.robot, tips, times or None, path=path, **goal, check=False)
    shapes: list[Shape] = []
    works: list[float] = []
    for tensions, name in zip(found.tensions, names, strict=True):
        try:
            shapes.append(path.step(tensions))
        except VertebraError:
            raise CommandError(
                f"{name}: no tensions within the bounds give a stable shape; change --lower and --upper"
            ) from None
        works.append(path.friction_work)
    wanted = Wanted(np.array(tips, dtype=np.float64), found.reached)
    walk = collect(path.robot, list(found.tensions), shapes, works)
    rest = found.lengths if times else None
    return Walked(
        walk, shapes[-1], before, wanted=wanted, names=names, times=tuple(times), rest=rest, jumps=found.jumps
    )


def places(robot: Robot, tip: str | None, file: Path | None) -> tuple[list[tuple[str, list[float]]], list[float]]:
    """Name and place of every wanted tip, m: one, unless a file is given; and the times, s, if the file has them."""
    if file is None:
        return [("--tip", read.position("--tip", tip or "", robot))], []
    from dataclasses import replace

    from vertebra.robot.table_file import TIME, TIP

    table = read.read_columns("--tip-path", file, (replace(TIME, needed=False), TIP))
    found = []
    for i, values in enumerate(table.values["tip"].tolist()):
        name = f"{file}, row {i + 1} (line {table.lines[i]})"
        if max(map(abs, values)) > 3 * robot.length:
            raise CommandError(
                f"{name}: the robot is only {robot.length * 1e3:.4g} mm long; columns x,y,z are in m, write "
                "x_mm,y_mm,z_mm for mm"
            )
        found.append((name, values))
    return found, table.values["time"].reshape(-1).tolist() if "time" in table.values else []


# Where a path has ended, as a JSON file.


def save_state(path: ShapePath, file: Path) -> None:
    """Angles, slip and last command; `PathState.of` reads it in Python too."""
    from vertebra.report.document import json_text
    from vertebra.report.shape import friction_record

    problem = path.problem
    head: dict[str, Any] = {"robot": path.robot.name, "friction": friction_record(problem.laws)}
    write_file(file, json_text(head | path.save().to_mapping()))
    say(f"wrote {file}")


def restore_state(path: ShapePath, file: Path) -> None:
    """Put the path where the file says, or name what is wrong with the file."""
    from vertebra.report.shape import friction_record
    from vertebra.robot.reading import parse_json
    from vertebra.robot.table_file import MAX_BYTES
    from vertebra.statics.path import PathState

    try:
        mapping = parse_json(read_start(file, MAX_BYTES).decode("utf-8-sig"), str(file))
    except (UnicodeDecodeError, DescriptionError) as error:
        problem = error.problems[0].message if isinstance(error, DescriptionError) else "is not UTF-8 text"
        raise CommandError(f"--from-state {file}: is not a file that --save-state wrote: {problem}") from None
    if not isinstance(mapping, dict) or "history" not in mapping:
        raise CommandError(f"--from-state {file}: is not a state; write one with --save-state")
    name = mapping.get("robot", path.robot.name)
    if name != path.robot.name:
        raise CommandError(f"--from-state {file}: is of {name}, not of {path.robot.name}")
    try:
        path.restore(PathState.of(mapping))
    except InputError as error:
        raise CommandError(f"--from-state {file}: {error.message}") from None
    if mapping.get("friction", friction_record(path.problem.laws)) != friction_record(path.problem.laws):
        say(f"note: {file} was made with another friction law; its slip is taken over as it is")
