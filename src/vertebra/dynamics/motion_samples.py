"""A motion as samples, and the files that hold one: angles, speeds and accelerations of all joints at given times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import CellProblem, InputError, MeasurementError
from vertebra.robot.robot import Robot
from vertebra.robot.table_file import (
    TIME,
    Table,
    acceleration_columns,
    angle_columns,
    rate_columns,
    read_table,
    tension_columns,
)
from vertebra.robot.tables import BACKBONE, Floats

SPLINE_DEGREE = 5
"""Of the spline: accelerations are then smooth, and their error falls with the fourth power of the time step."""
LEAST_HALVED = 11
"""Samples of which every second one still makes a spline."""
DOUBTFUL = 0.1
"""Accelerations that change by more than this share of their peak without every second sample are not trusted."""


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """N samples of the motion of n joints, or of all the freedoms of joints that have several."""

    time: Floats
    """(N,) s, strictly increasing."""
    q: Floats
    """(N, n) rad."""
    qd: Floats
    """(N, n) rad/s."""
    qdd: Floats
    """(N, n) rad/s^2."""
    computed: tuple[str, ...]
    """Which of qd and qdd were computed from the spline."""
    doubt: float
    """How much computed accelerations change when every second sample is left out, as a share of their peak."""

    @property
    def duration(self) -> float:
        """s."""
        return float(self.time[-1] - self.time[0])

    @property
    def dt(self) -> float | None:
        """The time step, s; none for a single sample or where steps differ."""
        steps = np.diff(self.time)
        if not len(steps) or np.ptp(steps) > 1e-6 * float(steps.mean()):
            return None
        return float(steps.mean())

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return f"SampledMotion({len(self)} samples of {self.q.shape[1]} angles in {self.duration:.4g} s)"


def sampled_motion(
    time: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None
) -> SampledMotion:
    """Samples at `time` (N,) s with angles `q` (N, n) rad.

    Without `qd` (rad/s) speeds are the derivative of a spline through `q`; without `qdd` (rad/s^2) accelerations are
    the second derivative of that spline, or the first of one through `qd` where speeds are given. The spline is of
    degree five with no knot next to its ends (of a lower degree below six samples), steps may differ. It passes
    through every sample, so noise in them is amplified by the square of the sampling rate: smooth measured angles
    first. A single sample is a pose at rest.
    """
    times, angles = _array("time", time, 1), _array("q", q, 2)
    if not len(times) or len(angles) != len(times):
        raise InputError("q", f"must have one row per sample; {len(times)} times, {len(angles)} rows")
    if not (np.diff(times) > 0.0).all():
        raise InputError("time", "must increase from sample to sample")
    speeds, accelerations = (
        None if given is None else _same_shape(name, given, angles) for name, given in (("qd", qd), ("qdd", qdd))
    )
    computed = tuple(name for name, given in (("qd", qd), ("qdd", qdd)) if given is None)
    doubt = 0.0
    found_speeds = _derivative(times, angles, 1) if speeds is None else speeds
    if accelerations is None:
        source, order = (angles, 2) if speeds is None else (speeds, 1)
        accelerations = _derivative(times, source, order)
        doubt = _doubt(times, source, order, accelerations)
    return SampledMotion(times, angles, found_speeds, accelerations, computed, doubt)


def _derivative(time: Floats, values: Floats, order: int) -> Floats:
    """Of the spline through (N, n) values, at the samples."""
    degree = min(SPLINE_DEGREE, len(time) - 1)
    if degree < order:  # a single pose is at rest, and two samples make a straight line
        return np.zeros_like(values)
    from scipy.interpolate import make_interp_spline

    # Times from zero to one: powers of large times would cost digits.
    span = time[-1] - time[0]
    spline = make_interp_spline((time - time[0]) / span, values, k=degree)
    found: Floats = spline.derivative(order)((time - time[0]) / span) / span**order
    return found


def _doubt(time: Floats, values: Floats, order: int, accelerations: Floats) -> float:
    """See `SampledMotion.doubt`; few samples are a polynomial, of which nothing can be said."""
    if len(time) < LEAST_HALVED:
        return 0.0
    peak = float(np.abs(accelerations).max())
    change = float(np.abs(_derivative(time[::2], values[::2], order) - accelerations[::2]).max())
    # Round-off in the angles, differentiated twice, must not cast doubt on a robot at rest.
    floor = 1e-6 * float(np.abs(values).max()) / (time[-1] - time[0]) ** order
    return change / max(peak, floor) if change > floor else 0.0


def _array(name: str, given: ArrayLike, dimensions: int) -> Floats:
    try:
        array: Floats = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(name, "must be numbers") from None
    if array.ndim != dimensions or not np.isfinite(array).all():
        shape = "(N,)" if dimensions == 1 else "(N, angles)"
        raise InputError(name, f"must be finite numbers of shape {shape}, not {array.shape}")
    return array


def _same_shape(name: str, given: ArrayLike, angles: Floats) -> Floats:
    array = _array(name, given, 2)
    if array.shape != angles.shape:
        raise InputError(name, f"must have the shape of q, {angles.shape}, not {array.shape}")
    return array


# The file of a motion: time_s, q1_deg, q2_deg, ..., one row per time step; speeds and accelerations where known.


class TrajectoryFile(NamedTuple):
    """A motion from a file, with notes about it."""

    motion: SampledMotion
    notes: tuple[str, ...]
    """Columns that were not used, and whether computed accelerations can be trusted."""


def read_trajectory(path: str | Path, robot: Robot) -> TrajectoryFile:
    """The motion of all joints of `robot` from a CSV file.

    Columns: time_s; q1_deg, q2_deg, ... or q1_rad, ... of every joint; q1a_deg, q1b_deg, ... of a joint with several
    freedoms. Optional: qd1_deg_s, ... and qdd1_deg_s2, ... (or rad_s, rad_s2) of every joint; what is missing is
    computed as `sampled_motion` does. Angles beyond the limit of a joint are an error that names row and column.
    """
    names, limits = robot.freedom_names, robot.freedom_limits

    def beyond(angle: float, row: int) -> str:
        if abs(angle) <= limits[row]:
            return ""
        found, limit = math.degrees(angle), math.degrees(limits[row])
        return f"{found:.6g} deg is beyond the limit of joint {names[row]}, +-{limit:.6g} deg"

    rates = (replace(columns(names), needed=False) for columns in (rate_columns, acceleration_columns))
    table = read_table(path, [TIME, replace(angle_columns(names), check=beyond), *rates], per="time step")
    _require_bends(robot, table)
    found = sampled_motion(table.time, table.values["q"], table.values.get("qd"), table.values.get("qdd"))
    return TrajectoryFile(found, (*table.notes, *_notes(found)))


def _require_bends(robot: Robot, table: Table) -> None:
    """The limit of a backbone holds for its bend in whatever direction."""
    problems = []
    for j in np.flatnonzero(robot.joints["kind"] == BACKBONE).tolist():
        first, limit = int(robot.joints["first"][j]), float(robot.joints["limit"][j])
        bends = np.hypot(*table.values["q"][:, first : first + 2].T)
        for row in np.flatnonzero(bends > limit * (1.0 + 1e-12)).tolist():
            column = angle_columns(robot.freedom_names).names[first]
            message = (
                f"both bends together are {math.degrees(bends[row]):.6g} deg, beyond the limit of joint {j + 1}, "
                f"+-{math.degrees(limit):.6g} deg"
            )
            problems.append(CellProblem(row + 1, table.lines[row], column, message))
    if problems:
        raise table.as_written(MeasurementError(sorted(problems, key=lambda problem: problem.row), table.origin))


def read_tensions(path: str | Path, robot: Robot) -> Table:
    """Tensions over time from a CSV file with columns time_s and t1_N, t2_N, ... of every cable; they are
    `values["t"]`.

    A cable cannot push: a negative tension is an error that names row and column.
    """
    return read_table(path, [TIME, tension_columns(len(robot.cables))], per="time step")


def sampled(table: Table, name: str, times: Floats) -> Floats:
    """(len(times), count) values at other times: straight lines between rows, the first and last row beyond them."""
    values = table.values[name]
    return np.column_stack([np.interp(times, table.time, column) for column in values.T])


def _notes(found: SampledMotion) -> Iterator[str]:
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
