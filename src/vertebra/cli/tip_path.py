"""`vertebra tensions --tip-path`: tensions that lead the tip along a way, friction and its history included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vertebra.cli import statics_options as read
from vertebra.cli.output import CommandError, say
from vertebra.cli.path import PathFiles, Walked, answer, collect, open_path
from vertebra.cli.rows_file import read_rows

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot
    from vertebra.statics.path import ShapePath
    from vertebra.statics.shape import Shape

MOST_NAMED = 8
"""Rows out of reach beyond this number are only counted."""


def follow_tips(
    robot: Robot, wanted: Sequence[tuple[str, list[float]]], rules: dict[str, Any], goal: dict[str, Any],
    files: PathFiles,
) -> bool:  # fmt: skip
    """Step from tip to tip, each with its name; whether all of them were reached.

    `rules` are those of the path, `goal` those of every search.
    """
    path = open_path(robot, rules, files)
    names, tips = [name for name, _ in wanted], [tip for _, tip in wanted]
    walked = lead(path, tips, names, goal)
    answer(path, walked, files)
    assert walked.wanted is not None
    missed = [i for i, reached in enumerate(walked.wanted.reached) if not reached]
    errors = walked.wanted.errors(walked.walk)
    for i in missed[:MOST_NAMED]:
        say(f"not reached: {names[i]}: the tip stays {errors[i] * 1e3:.3g} mm away")
    if len(missed) > MOST_NAMED:
        say(f"not reached: {len(missed) - MOST_NAMED} more rows")
    return not missed


def lead(path: ShapePath, tips: Sequence[Sequence[float]], names: Sequence[str], goal: dict[str, Any]) -> Walked:
    """Each tip from where the one before has left the robot; a row out of reach goes as near as it can."""
    import numpy as np

    import vertebra
    from vertebra.report.path import Wanted
    from vertebra.statics.shape import Status

    before = path.friction_work
    pulls: list[Any] = []
    shapes: list[Shape] = []
    works: list[float] = []
    reached: list[bool] = []
    for tip, name in zip(tips, names, strict=True):
        found = vertebra.tensions_for_tip(path.robot, tip, path=path, **goal, check=False)
        if found.shape.status != Status.SOLVED:
            raise CommandError(f"{name}: no tensions within the bounds give a stable shape; change --lower and --upper")
        shapes.append(path.step(found.tensions))
        pulls.append(found.tensions)
        works.append(path.friction_work)
        reached.append(found.reached)
    wanted = Wanted(np.array(tips, dtype=np.float64), tuple(reached))
    return Walked(collect(path.robot, pulls, shapes, works), shapes[-1], before, wanted=wanted)


def places(robot: Robot, tip: str | None, file: Path | None) -> Iterator[tuple[str, list[float]]]:
    """Name and place of every wanted tip, m; one, unless a file is given."""
    if file is None:
        yield "--tip", read.position("--tip", tip or "", robot)
        return
    rows = read_rows("--tip-path", file, "xyz", read.LENGTH)
    for i, values in enumerate(rows.values):
        if max(map(abs, values)) > 3 * robot.length:
            raise CommandError(
                f"{rows.name(i)}: the robot is only {robot.length * 1e3:.4g} mm long; columns x,y,z are in m, write "
                "x_mm,y_mm,z_mm for mm"
            )
        yield rows.name(i), values
