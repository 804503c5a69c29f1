"""A motion as samples, and the files that hold one: angles, speeds and accelerations of all joints at given times."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vertebra.errors import CellProblem, InputError, MeasurementError
from vertebra.robot.csv import file_error, is_number, read_text, split_cells
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats

SPLINE_DEGREE = 5
"""Of the spline: accelerations are then smooth, and their error falls with the fourth power of the time step."""
LEAST_HALVED = 11
"""Samples of which every second one still makes a spline."""
DOUBTFUL = 0.1
"""Accelerations that change by more than this share of their peak without every second sample are not trusted."""


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """N samples of the motion of n joints."""

    time: Floats
    """(N,) s, strictly increasing."""
    q: Floats
    """(N, n) rad."""
    qd: Floats
    """(N, n) rad/s."""
    qdd: Floats
    """(N, n) rad/s^2."""
    computed: tuple[str, ...]
    """Which of qd and qdd are of the spline."""
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
        return f"SampledMotion({len(self)} samples of {self.q.shape[1]} joints in {self.duration:.4g} s)"


def sampled_motion(
    time: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None
) -> SampledMotion:
    """Samples at `time` (N,) s with angles `q` (N, n) rad.

    Without `qd` (rad/s) speeds are the derivative of a spline through `q`; without `qdd` (rad/s^2) accelerations are
    the second derivative of that spline, or the first of one through `qd` where speeds are given. The spline is of
    degree five with no knot next to its ends (of a lower degree below six samples), steps may differ. It passes
    through every sample, so noise in them is amplified by the square of the sampling rate: smooth measured angles
    before. A single sample is a pose at rest.
    """
    moments, angles = _array("time", time, 1), _array("q", q, 2)
    if not len(moments) or len(angles) != len(moments):
        raise InputError("q", f"must have one row a moment; {len(moments)} times, {len(angles)} rows")
    if not (np.diff(moments) > 0.0).all():
        raise InputError("time", "must increase from sample to sample")
    speeds, accelerations = (
        None if given is None else _same_shape(name, given, angles) for name, given in (("qd", qd), ("qdd", qdd))
    )
    computed = tuple(name for name, given in (("qd", qd), ("qdd", qdd)) if given is None)
    doubt = 0.0
    found_speeds = _derivative(moments, angles, 1) if speeds is None else speeds
    if accelerations is None:
        source, order = (angles, 2) if speeds is None else (speeds, 1)
        accelerations = _derivative(moments, source, order)
        doubt = _doubt(moments, source, order, accelerations)
    return SampledMotion(moments, angles, found_speeds, accelerations, computed, doubt)


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
    # Round-off in the angles, differentiated twice, is no doubt about a robot at rest.
    floor = 1e-6 * float(np.abs(values).max()) / (time[-1] - time[0]) ** order
    return change / max(peak, floor) if change > floor else 0.0


def _array(name: str, given: ArrayLike, dimensions: int) -> Floats:
    try:
        array: Floats = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(name, "must be numbers") from None
    if array.ndim != dimensions or not np.isfinite(array).all():
        shape = "(N,)" if dimensions == 1 else "(N, joints)"
        raise InputError(name, f"must be finite numbers of shape {shape}, not {array.shape}")
    return array


def _same_shape(name: str, given: ArrayLike, angles: Floats) -> Floats:
    array = _array(name, given, 2)
    if array.shape != angles.shape:
        raise InputError(name, f"must have the shape of q, {angles.shape}, not {array.shape}")
    return array


# CSV files with a column of times and groups of numbered columns, such as t_s,q1_deg,q2_deg: one row a moment.

TIME = "t_s"
DEGREE = math.pi / 180.0
_MEANS_TIME = re.compile(r"(t|time)(_.*)?", re.IGNORECASE)


class Group(NamedTuple):
    """Columns ``prefix1_unit``, ``prefix2_unit``, ... that belong together; all of them, or none."""

    prefix: str
    size: int
    units: Mapping[str, float]
    """Units that a name may end in, with their factors to SI; the first one is the one to recommend."""
    owner: str
    """What has one of them each: joint, cable."""
    needed: bool = True

    def name(self, number: int) -> str:
        """The recommended name of a column, counted from 1."""
        return f"{self.prefix}{number}_{next(iter(self.units))}"


@dataclass(frozen=True, eq=False)
class TimedTable:
    """The numbers of a file, SI."""

    time: Floats
    """(N,) s, each later than the one before."""
    values: Mapping[str, Floats]
    """(N, count) by the prefix of the group; a group that the file does not have is absent."""
    columns: Mapping[str, tuple[str, ...]]
    """Names in the file, by the prefix of the group."""
    lines: tuple[int, ...]
    """Line of the file that each row stands in, counted from 1."""
    origin: str
    unused: tuple[str, ...]
    """Columns that nothing was read from."""


def read_timed_table(path: str | Path, groups: Sequence[Group]) -> TimedTable:
    """Rows of `path`; columns may stand in any order, lines that begin with # are comments."""
    origin = str(path)
    text = read_text(Path(path), origin)
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip(" ,;\t") and line[0] != "#"]
    header = ",".join([TIME, *(f"{group.name(1)},..." for group in groups if group.needed)])
    if len(lines) < 2:
        raise file_error(origin, f"has no rows; write a header {header} and one row a moment")
    (number, head), *body = lines
    names = split_cells(head)
    if "," not in head and (";" in head or "\t" in head):
        raise file_error(origin, "separate columns by commas, and write numbers with a decimal point", number)
    if all(is_number(name) for name in names):
        raise file_error(origin, f"has numbers where the names of columns should be; write {header}", number)
    places = _places(names, groups, number, origin)
    cells = _numbers(body, names, [names.index(TIME), *_used(places)], origin)
    time = cells[names.index(TIME)]
    _check_order(time, [line for line, _ in body], origin)
    values = {
        group.prefix: np.column_stack([factor * cells[place] for place, factor in places[group.prefix]])
        for group in groups
        if group.prefix in places
    }
    columns = {prefix: tuple(names[place] for place, _ in found) for prefix, found in places.items()}
    known = {TIME, *(name for group in columns.values() for name in group)}
    unused = tuple(name or "(no name)" for name in names if name not in known)
    return TimedTable(time, values, columns, tuple(line for line, _ in body), origin, unused)


Places = dict[str, list[tuple[int, float]]]
"""Place in the row and factor to SI of every column, by the prefix of its group."""


def _used(places: Places) -> Iterator[int]:
    yield from (place for group in places.values() for place, _ in group)


def _places(names: list[str], groups: Sequence[Group], line: int, origin: str) -> Places:
    """Where every column stands, or an error that names all that are missing, doubled or unknown."""
    problems = [*_time_problems(names)]
    places: Places = {}
    for group in groups:
        pattern = re.compile(rf"{group.prefix}(\d+)(?:_(.*))?")
        found = {i: match for i, name in enumerate(names) if (match := pattern.fullmatch(name))}
        if not found and not group.needed:
            continue
        wrong = [*_group_problems(group, names, found)]
        problems += wrong
        if not wrong:
            by_number = {int(match[1]): (i, group.units[match[2]]) for i, match in found.items()}
            places[group.prefix] = [by_number[number] for number in range(1, group.size + 1)]
    if problems:
        raise MeasurementError([CellProblem(0, line, name, message) for name, message in problems], origin)
    return places


def _time_problems(names: list[str]) -> Iterator[tuple[str, str]]:
    if names.count(TIME) > 1:
        yield TIME, "stands there twice; keep one"
    elif TIME not in names:
        close = [name for name in names if _MEANS_TIME.fullmatch(name)]
        hint = f"found {close[0]!r}: give it in s and name it {TIME}" if close else "give the time of each row in s"
        yield TIME, f"is missing; {hint}"


def _group_problems(group: Group, names: list[str], found: dict[int, re.Match[str]]) -> Iterator[tuple[str, str]]:
    units = " or ".join(f"_{unit}" for unit in group.units)
    seen: dict[int, int] = {}
    for i, match in found.items():
        number = int(match[1])
        seen[number] = seen.get(number, 0) + 1
        if not 1 <= number <= group.size:
            yield names[i], f"this robot has {group.name(1)} to {group.name(group.size)}"
        elif match[2] not in group.units:
            what = f"the unit {match[2]!r} is not known" if match[2] else "has no unit"
            yield names[i], f"{what}; let the name end in {units}"
    for number in range(1, group.size + 1):
        if number not in seen:
            each = "" if group.needed else f", or leave out all columns of {group.prefix}"
            yield group.name(number), f"is missing; the robot has {group.size} {group.owner}s{each}"
        elif seen[number] > 1:
            yield group.name(number), "stands there twice; keep one"


def _numbers(body: list[tuple[int, str]], names: list[str], used: list[int], origin: str) -> dict[int, Floats]:
    """The numbers of the used columns, by place; or an error that names every wrong cell."""
    problems: list[CellProblem] = []
    rows: list[list[float]] = []
    for row, (line, text) in enumerate(body, 1):
        cells = split_cells(text)
        if len(cells) != len(names):
            more = "; write numbers with a decimal point" if len(cells) > len(names) else ""
            what = f"has {len(cells)} cells where the header has {len(names)}{more}"
            problems.append(CellProblem(row, line, "", what))
            continue
        for place in used:
            if not is_number(cells[place]):
                found = f"not {cells[place]!r}" if cells[place] else "but the cell is empty"
                problems.append(CellProblem(row, line, names[place], f"must be a finite plain number, {found}"))
        if not problems:
            rows.append([float(cells[place]) for place in used])
    if problems:
        raise MeasurementError(problems, origin)
    return dict(zip(used, np.array(rows).T, strict=True))


def _check_order(time: Floats, lines: list[int], origin: str) -> None:
    later = np.diff(time) > 0.0
    if not later.all():
        i = int(np.argmin(later)) + 1
        message = f"{time[i]:g} s does not come after {time[i - 1]:g} s of the row before; sort rows, keep one a moment"
        raise MeasurementError([CellProblem(i + 1, lines[i], TIME, message)], origin)


# The file of a motion: t_s, q1_deg, q2_deg, ... one row a moment; speeds and accelerations where they are known.
#
# t_s,q1_deg,q2_deg 0.00,0.0,0.0 0.01,0.1,-0.2


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
