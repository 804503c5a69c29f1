"""The file of a path for a journey: points of the far end of the outer snake, from the entry on.

x_mm,y_mm,z_mm
0,0,0
0.045,0.001,1.999
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vertebra.errors import CellProblem, MeasurementError
from vertebra.robot.csv import file_error, is_number, read_text, split_cells
from vertebra.robot.tables import Floats
from vertebra.robot.units import UnitError, to_si

MOST_POINTS = 100_000
HEADER = "x_mm,y_mm,z_mm"


def read_path(file: Path) -> Floats:
    """(N, 3) m; the columns may be in any order, with other ones beside them; # starts a comment."""
    origin = file.name  # the page need not tell where the folder is
    text = read_text(file, origin)
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip(" ,\t") and line[0] != "#"]
    if len(lines) < 3:
        raise file_error(origin, f"has no path; write a header {HEADER} and two rows or more")
    if len(lines) > MOST_POINTS:
        raise file_error(origin, f"has more than {MOST_POINTS} rows; leave some out")
    (number, head), *body = lines
    names = split_cells(head)
    columns = [_column(origin, names, axis, number) for axis in "xyz"]
    cells = [split_cells(line) for _, line in body]
    problems = [
        CellProblem(row, body[row - 1][0], names[place], "must be a finite plain number")
        for row, found in enumerate(cells, 1)
        for place, _ in columns
        if place >= len(found) or not is_number(found[place])
    ]
    if problems:
        raise MeasurementError(problems, origin)
    return np.array([[factor * float(found[place]) for place, factor in columns] for found in cells])


def _column(origin: str, names: list[str], axis: str, line: int) -> tuple[int, float]:
    """Place of a coordinate, and its factor to m."""
    found = [i for i, name in enumerate(names) if name == axis or name.startswith(f"{axis}_")]
    if len(found) != 1:
        what = "is missing" if not found else f"stands there {len(found)} times"
        raise file_error(origin, f"column {axis} {what}; the header needs {HEADER}", line)
    unit = names[found[0]][2:]
    try:
        return found[0], to_si(f"1 {unit}" if unit else 1.0, "m", "8.5 mm")
    except UnitError:
        raise file_error(origin, f"{unit!r} is no unit of length; the header needs {HEADER}", line, axis) from None
