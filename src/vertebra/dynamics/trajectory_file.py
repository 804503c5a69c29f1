"""The file of a motion: t_s, q1_deg, q2_deg, ... one row a moment; speeds and accelerations where they are known.

t_s,q1_deg,q2_deg
0.00,0.0,0.0
0.01,0.1,-0.2
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vertebra.dynamics.sampled_motion import DOUBTFUL, LEAST_HALVED, SampledMotion, sampled_motion
from vertebra.dynamics.timed_table import DEGREE, Group, TimedTable, read_timed_table
from vertebra.errors import CellProblem, MeasurementError
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats


class TrajectoryFile(NamedTuple):
    """A motion that was read, and what to know about it."""

    motion: SampledMotion
    notes: tuple[str, ...]
    """Columns that were not used, and whether computed accelerations can be trusted."""


def read_trajectory(path: str | Path, robot: Robot) -> TrajectoryFile:
    """The motion of all joints of `robot` from a CSV file.

    Columns: t_s; q1_deg, q2_deg, ... or q1_rad, ... of every joint. Optional: qd1_deg_s, ... and qdd1_deg_s2, ... (or
    rad_s, rad_s2) of every joint; what is missing is computed as `sampled_motion` does. Angles beyond the limit of a
    joint are an error that names row and column.
    """
    n = robot.freedoms
    groups = (
        Group("q", n, {"deg": DEGREE, "rad": 1.0}, "joint"),
        Group("qd", n, {"deg_s": DEGREE, "rad_s": 1.0}, "joint", needed=False),
        Group("qdd", n, {"deg_s2": DEGREE, "rad_s2": 1.0}, "joint", needed=False),
    )
    table = read_timed_table(path, groups)
    problems = list(_beyond(table, robot))
    if problems:
        raise MeasurementError(problems, table.origin)
    found = sampled_motion(table.time, table.values["q"], table.values.get("qd"), table.values.get("qdd"))
    return TrajectoryFile(found, tuple(_notes(table, found)))


def read_tensions(path: str | Path, robot: Robot) -> TimedTable:
    """Tensions over time from a CSV file with columns t_s and t1_N, t2_N, ... of every cable; they are `values["t"]`.

    A cable cannot push: a negative tension is an error that names row and column.
    """
    table = read_timed_table(path, [Group("t", len(robot.cables), {"N": 1.0}, "cable")])
    pull = table.values["t"]
    problems = [
        CellProblem(row + 1, table.lines[row], table.columns["t"][k], f"{pull[row, k]:g} N would be a cable that "
                    "pushes; give 0 or more")
        for row, k in np.argwhere(pull < 0.0).tolist()
    ]  # fmt: skip
    if problems:
        raise MeasurementError(problems, table.origin)
    return table


def sampled(table: TimedTable, prefix: str, times: Floats) -> Floats:
    """(len(times), count) values at other times: straight lines between rows, the first and last row beyond them."""
    values = table.values[prefix]
    return np.column_stack([np.interp(times, table.time, column) for column in values.T])


def _beyond(table: TimedTable, robot: Robot) -> Iterator[CellProblem]:
    """Every angle that a joint cannot take."""
    q, limits = table.values["q"], np.repeat(robot.joints["limit"], robot.joints["freedoms"])
    for row, joint in np.argwhere(np.abs(q) > limits).tolist():
        found, limit = math.degrees(q[row, joint]), math.degrees(limits[joint])
        message = f"{found:.6g} deg is beyond the limit of joint {joint + 1}, +-{limit:.6g} deg"
        yield CellProblem(row + 1, table.lines[row], table.columns["q"][joint], message)


def _notes(table: TimedTable, found: SampledMotion) -> Iterator[str]:
    if table.unused:
        shown = ", ".join(table.unused[:8]) + (f" and {len(table.unused) - 8} more" if len(table.unused) > 8 else "")
        yield f"columns not used: {shown}"
    if "qdd" not in found.computed:
        return
    if len(found) == 1:
        yield "one row without rates: a pose at rest"
    elif len(found) < LEAST_HALVED:
        yield f"accelerations are those of a polynomial through only {len(found)} rows; give more rows, or qdd columns"
    elif found.doubt > DOUBTFUL:
        yield (
            f"accelerations computed from these rows are doubtful: without every second row they change by "
            f"{100 * found.doubt:.0f} % of their peak; sample more often, smooth the angles, or give qdd columns"
        )
