"""What `vertebra robots check` finds in one file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vertebra.cli.output import console, new_table, plain, problem_records
from vertebra.errors import DescriptionError

if TYPE_CHECKING:
    from vertebra.robot.robot import Robot


@dataclass(frozen=True)
class Check:
    """Outcome for one file."""

    file: str
    summary: str
    """One line about the robot; empty when the file is wrong."""
    error: DescriptionError | None
    notes: tuple[str, ...]
    """What is allowed but may be a slip of the pen."""

    @property
    def ok(self) -> bool:
        return self.error is None

    def record(self) -> dict[str, Any]:
        """The outcome as JSON."""
        problems = problem_records(self.error) if self.error else []
        return {"file": self.file, "ok": self.ok, "problems": problems, "notes": list(self.notes)}


def check_file(file: str) -> Check:
    """Read and validate one robot file or preset."""
    from vertebra.robot.robot import load

    try:
        robot = load(file)
    except DescriptionError as error:
        return Check(file, "", error, ())
    return Check(file, repr(robot), None, tuple(shared_holes(robot)))


def shared_holes(robot: Robot) -> Iterator[str]:
    """A note for each pair of cables of one section at the same radius and azimuth."""
    first = 1
    for index, section in enumerate(robot.description.sections):
        if section.cables is None:
            continue
        azimuths = section.cables.azimuth
        for b in range(len(azimuths)):
            for a in range(b):
                if abs(math.remainder(azimuths[a] - azimuths[b], 2 * math.pi)) < 1e-9:
                    where = f"{math.degrees(azimuths[b]):g} deg"
                    yield f"sections[{index}].cables: cables {first + a} and {first + b} share the hole at {where}"
                    break
        first += len(azimuths)


def print_check(result: Check) -> None:
    """One line for a good file, a table of problems for a wrong one."""
    out = console()
    if result.error is None:
        out.print(plain(f"ok: {result.summary}"), soft_wrap=True)
        for note in result.notes:
            out.print(plain(f"note: {note}"), soft_wrap=True)
        return
    count = len(result.error.problems)
    out.print(plain(f"wrong: {result.file}: {count} problem{'s' if count > 1 else ''}"), soft_wrap=True)
    table = new_table(("path", "problem", "found"))
    for problem in result.error.problems:
        table.add_row(plain(problem.path), plain(problem.message), plain(problem.found))
    out.print(table)
