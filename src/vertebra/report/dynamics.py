"""The answer about a motion and its tensions: what joints need, what cables carry, what fails where; tables, plots,
page, record, CSV and netCDF.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra import __version__
from vertebra.report.document import (
    Facts,
    Figures,
    Report,
    Rows,
    Section,
    number,
    plain_fields,
    signless_zero,
    vector,
)
from vertebra.report.panels import Panel, Series
from vertebra.report.robot import robot_tables
from vertebra.report.scene import cable_style
from vertebra.report.simulation import MOVES, joint_panel, pace_text, tension_panel, time_figure
from vertebra.robot.robot import Robot
from vertebra.robot.table_file import (
    TIME,
    Column,
    acceleration_columns,
    angle_columns,
    rate_columns,
    tension_columns,
    torque_columns,
)
from vertebra.robot.tables import Floats

if TYPE_CHECKING:
    import xarray

    from vertebra.dynamics.allocation import Allocation, Violation
    from vertebra.dynamics.motion_samples import SampledMotion


class Worst(NamedTuple):
    """The extreme of a quantity over samples and joints."""

    value: float
    time: float
    """s."""
    joint: int
    """Counted from 1."""
    axis: str = ""
    """a, b or c, of a joint with several freedoms."""


class Broken(NamedTuple):
    """All violations of one constraint at one joint, or at one of its freedoms."""

    joint: str
    """Counted from 1, with a, b or c behind it for one of several freedoms."""
    constraint: str
    samples: int
    """How many of them break it."""
    worst: Violation
    time: float
    """s, of the worst."""


@dataclass(frozen=True, eq=False)
class DynamicsCase:
    """What was asked, and the answer."""

    robot: Robot
    trajectory: SampledMotion
    """As it was asked for."""
    allocation: Allocation
    """Its q, qd and qdd are those of the trajectory, but for the method `project`."""
    gravity: Floats
    """(3,) m/s^2."""
    notes: tuple[tuple[str, str], ...] = ()
    """Further facts: bounds, loads, what was assumed."""
    warnings: tuple[str, ...] = ()
    """About the trajectory file."""
    frictionless: bool = False
    """Whether the cables slide freely, for the method capstan."""

    @property
    def time(self) -> Floats:
        """(N,) s."""
        return self.trajectory.time

    @property
    def title(self) -> str:
        """For a heading."""
        return f"{self.robot.name}: tensions for a motion of {self.trajectory.duration:.4g} s, {self.method}"

    @property
    def method(self) -> str:
        """How tensions were allocated, by its name on the command line."""
        return self.allocation.method

    @property
    def passive(self) -> Floats:
        """(N, n) torque of elastic and damped joints that the cables must overcome, k q + d qd, N*m."""
        found, robot = self.allocation, self.robot
        torques: Floats = robot.springs * found.q
        if robot.dampers.any():
            torques += robot.dampers * found.qd
        return torques

    @property
    def needed(self) -> Floats:
        """(N, n) torque that is left to the cables: tau + k q + d qd, N*m."""
        return self.allocation.tau + self.passive

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """(N,) true where every constraint is met."""
        return np.atleast_1d(np.asarray(self.allocation.feasible))

    @property
    def along(self) -> Floats | None:
        """(N, cables, n) tensions across each joint; none where a cable has one tension."""
        tensions = self.allocation.tensions
        return tensions if tensions.ndim == 3 else None

    @property
    def tip(self) -> Floats:
        """(N, 3) m."""
        from vertebra.mechanics.kinematics import Pose

        return np.array([Pose(self.robot, q).tip_frame[:3, 3] for q in self.allocation.q])

    @property
    def moved(self) -> Worst | None:
        """How far the nearest feasible trajectory is from the one asked for, rad; none where it is the same."""
        off = np.abs(self.allocation.q - self.trajectory.q)
        return self.worst(off, self.robot.freedom_names) if off.any() else None

    def worst(self, values: Floats, names: Sequence[str]) -> Worst:
        """The largest of values (N, m), whose columns have these names: of freedoms, of joints or of cables."""
        row, column = (int(i) for i in np.unravel_index(values.argmax(), (len(self.time), len(names))))
        axis = names[column].lstrip("0123456789")
        return Worst(float(values[row, column]), float(self.time[row]), int(names[column].removesuffix(axis)), axis)

    @property
    def joint_names(self) -> list[str]:
        """Of each joint, its number."""
        return [str(j + 1) for j in range(len(self.robot.joints))]

    def with_contacts(self) -> NDArray[np.bool_]:
        """(n,) which joints have two contact points with friction."""
        joints = self.robot.joints
        return np.asarray((joints["contact_offset"] > 0.0) & (joints["friction"] > 0.0))

    def least_contact(self) -> Worst | None:
        """The smallest contact force, N; none without contact points."""
        found = self.allocation.contacts
        there = self.with_contacts()
        if found is None or not there.any():
            return None
        least = np.where(there, found.normal.min(axis=-1), np.inf)
        worst = self.worst(-least, self.joint_names)
        return worst._replace(value=-worst.value)

    def most_friction(self) -> Worst | None:
        """The largest share of what friction can hold, infinite where links part; none without contact points."""
        found = self.allocation.contacts
        if found is None or not self.with_contacts().any():
            return None
        return self.worst(found.use.max(axis=-1), self.joint_names)

    def broken(self) -> Iterator[Broken]:
        """Violations by joint and constraint, those that are broken most often first."""
        groups: dict[tuple[int, str, str], list[Violation]] = {}
        for violation in self.allocation.violations:
            groups.setdefault((violation.joint, violation.axis, violation.constraint), []).append(violation)
        for (joint, axis, constraint), found in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
            worst = max(found, key=lambda violation: abs(violation.amount))
            steps = len({violation.step for violation in found})
            yield Broken(f"{joint}{axis}", constraint, steps, worst, float(self.time[worst.step]))


# The facts of a motion and its tensions as text: what joints need, what cables carry, what fails where.

METHODS = {
    "shared": "one tension per cable, the least that come closest within the bounds",
    "per_link": "every joint on its own, as in D'Antuono 2023: not those of continuous cables",
    "capstan": "may change along a cable by what its friction can hold",
    "project": "one tension per cable, the least and smoothest that give a motion near this one",
}
"""What each method does, in a line."""
ROUND_OFF = 1e-9
"""Torques below this, N*m, are zero in tables."""
MOST_BROKEN = 40
"""Rows of the table of violations."""


def dynamics_summary(case: DynamicsCase, title: str = "") -> Facts:
    """The motion as a whole, one fact per row."""
    motion, found = case.trajectory, case.allocation
    torque = case.worst(np.abs(found.tau), case.robot.freedom_names)
    samples = f"{len(motion)} sample{'' if len(motion) == 1 else 's'}"
    steps = f", steps of {1e3 * motion.dt:.4g} ms" if motion.dt is not None else ""
    rows = [
        ("method", f"{found.method}: {METHODS[found.method]}"),
        ("feasible", feasible_text(case)),
        ("motion", f"{samples} in {motion.duration:.6g} s{steps}; {rates_text(case)}"),
        *_moved_rows(case),
        ("largest torque", f"{where(torque, '.4g', 'N*m')}, to move links, weights and loads"),
        ("left over", _residual_text(case)),
        ("tensions", _tension_range(case)),
        *_contact_rows(case),
        ("gravity", f"{vector(case.gravity)} m/s^2"),
        *case.notes,
    ]
    return Facts(title or case.title, ("", ""), tuple(rows))


def _residual_text(case: DynamicsCase) -> str:
    worst = case.worst(np.abs(case.allocation.residual), case.robot.freedom_names)
    return f"{where(worst, '.3g', 'N*m')} at most" if worst.value > ROUND_OFF else "nothing but round-off"


def feasible_text(case: DynamicsCase) -> str:
    """At how many samples every constraint is met."""
    good, count = int(case.feasible.sum()), len(case.feasible)
    if good == count:
        return "yes, at every sample"
    return f"NO, only at {good} of {count} samples ({100 * good / count:.0f} %)"


def rates_text(case: DynamicsCase) -> str:
    """Where speeds and accelerations come from."""
    computed = case.trajectory.computed
    if not computed:
        return "speeds and accelerations as given"
    what = "speeds and accelerations" if len(computed) == 2 else "speeds" if "qd" in computed else "accelerations"
    return f"{what} of a spline through the rows"


def where(worst: Worst, form: str, unit: str) -> str:
    """Such as ``0.31 N*m, joint 2 at 0.4 s``."""
    return f"{worst.value:{form}} {unit}, joint {worst.joint}{worst.axis} at {worst.time:.4g} s"


def _moved_rows(case: DynamicsCase) -> Iterator[tuple[str, str]]:
    moved = case.moved
    if moved is not None:
        degrees = moved._replace(value=math.degrees(moved.value))
        yield "moved from what was asked", f"{where(degrees, '.4g', 'deg')} at most"
    elif case.method == "project":
        yield "moved from what was asked", "nothing: it was feasible already"


def _tension_range(case: DynamicsCase) -> str:
    """Over samples and cables, without the zeros beyond the end of a cable."""
    low, high = zip(*(_cable_range(case, k) for k in range(len(case.robot.cables))), strict=True)
    return f"{number(round(min(low), 6))} to {number(round(max(high), 6))} N"


def _cable_range(case: DynamicsCase, k: int) -> tuple[float, float]:
    """Least and most of cable row `k` over time and, where it differs, along the cable, N."""
    along, end = case.along, int(case.robot.cables["last_link"][k])
    values = case.allocation.tensions[:, k] if along is None else along[:, k, :end]
    return float(values.min()), float(values.max())


def _contact_rows(case: DynamicsCase) -> Iterator[tuple[str, str]]:
    least, most = case.least_contact(), case.most_friction()
    if least is None or most is None:
        yield "contacts", "- (the robot file gives no contact_offset and friction of its joints)"
        return
    yield "smallest contact force", where(least, ".4g", "N") + (": the links part" if least.value < 0.0 else "")
    if math.isinf(most.value):
        yield "largest use of friction", f"beyond all bounds where links part, joint {most.joint} at {most.time:.4g} s"
    else:
        yield "largest use of friction", where(most._replace(value=100.0 * most.value), ".4g", "%")


def dynamics_warnings(case: DynamicsCase) -> Iterator[str]:
    """What must not be overlooked."""
    yield from case.warnings
    if case.method == "capstan" and case.frictionless:
        yield "the cables have no friction: capstan is then the same as shared"
    if not case.allocation.converged:
        yield "the search did not converge: a nearer motion may be feasible"
    if case.allocation.stable is not None and not case.allocation.stable.all():
        first = int(np.argmin(case.allocation.stable))
        yield (
            f"the robot is unstable along this motion, first at {case.time[first]:.4g} s: without a controller it "
            "would leave it; stiffer joints, or cables of given length, could hold it"
        )
    yield from _contact_warnings(case)


def dynamics_failures(case: DynamicsCase) -> Iterator[str]:
    """Where the motion is not feasible."""
    if not case.feasible.all():
        bad, count = int((~case.feasible).sum()), len(case.feasible)
        first = next(case.broken(), None)
        why = f"; most often: {first.worst.message}" if first is not None else ""
        yield f"not feasible at {bad} of {count} samples{why}"


def _contact_warnings(case: DynamicsCase) -> Iterator[str]:
    """Methods that ignore contacts may open them or make them slip."""
    least, most = case.least_contact(), case.most_friction()
    if case.method == "per_link" or least is None or most is None:
        return
    if least.value < 0.0:
        yield (
            f"joint {least.joint} would have to pull by {-least.value:.3g} N at {least.time:.4g} s: its links part; "
            f"{case.method} ignores contacts, raise --lower"
        )
    elif most.value > 1.0:
        yield (
            f"joint {most.joint} needs {100.0 * most.value:.3g} % of its friction at {most.time:.4g} s: its links "
            f"slip; {case.method} ignores contacts, raise --lower"
        )


def joint_table(case: DynamicsCase) -> Facts:
    """One row per joint: how it moves, what it needs, what is left over."""
    found, passive = case.allocation, case.passive
    elastic = bool(passive.any())
    headers = ["joint", "angle [deg]", "speed [deg/s]", "accel. [deg/s^2]", "least tau [N*m]", "most tau [N*m]"]
    headers += ["spring, damping [N*m]", "cables need [N*m]"] if elastic else []
    headers += ["left over [N*m]"]
    rows = []
    for j, name in enumerate(case.robot.freedom_names):
        row = [name, signless_zero(math.degrees(_peak(found.q[:, j])), ".2f")]
        row += [f"{math.degrees(abs(_peak(values[:, j]))):.4g}" for values in (found.qd, found.qdd)]
        row += [_torque(found.tau[:, j].min()), _torque(found.tau[:, j].max())]
        row += [_torque(_peak(passive[:, j])), _torque(_peak(case.needed[:, j]))] if elastic else []
        rows.append((*row, _torque(abs(_peak(found.residual[:, j])))))
    return Facts("Joints, at their largest", tuple(headers), tuple(rows))


def _peak(values: Floats) -> float:
    """The value farthest from zero."""
    return float(values[np.abs(values).argmax()])


def _torque(value: float) -> str:
    """N*m; round-off is zero."""
    return signless_zero(value, ".3g") if abs(value) > ROUND_OFF else "0"


def cable_table(case: DynamicsCase) -> Facts:
    """One row per cable: its tension at the base and, where it changes along the cable, across the joints."""
    base, along = case.allocation.base_tensions, case.along
    headers = ["cable", "azimuth [deg]", "least [N]", "most [N]", "mean [N]"]
    headers += ["across joints [N]", "largest step [N]"] if along is not None else []
    rows = []
    for k, tension in enumerate(base.T):
        row = [str(k + 1), number(math.degrees(case.robot.cables["azimuth"][k]))]
        row += [number(round(float(value), 6)) for value in (tension.min(), tension.max(), tension.mean())]
        if along is not None:
            low, high = _cable_range(case, k)
            steps = np.diff(along[:, k, : int(case.robot.cables["last_link"][k])], axis=1)
            largest = round(float(np.abs(steps).max()), 6) if steps.size else 0.0
            row += [f"{number(round(low, 6))} to {number(round(high, 6))}", f"{largest:.4g}"]
        rows.append(tuple(row))
    return Facts("Cables, at the base", tuple(headers), tuple(rows))


def violation_table(case: DynamicsCase) -> Facts:
    """What cannot be had, by joint and constraint."""
    broken = list(case.broken())
    rows = [
        (
            found.joint,
            found.constraint,
            str(found.samples),
            f"{found.worst.amount:.3g} {found.worst.unit}",
            f"{found.time:.4g}",
        )
        for found in broken[:MOST_BROKEN]
    ]
    some = f", {MOST_BROKEN} of {len(broken)}" if len(broken) > MOST_BROKEN else ""
    headers = ("joint", "constraint", "samples", "by at most", "at [s]")
    return Facts(f"What is not feasible{some}", headers, tuple(rows))


# Plots of a motion and its tensions against time: angles, joint torques, tensions, what is left over, contacts.

LIMIT_COLOUR = "#333333"
MOST_USE = 2.0
"""Where links part the use of friction has no bound; the plot ends here."""


def dynamics_panels(case: DynamicsCase) -> Iterator[Panel]:
    """Four plots, two more for joints with contact points, and one more where tension changes along the cables."""
    found, time = case.allocation, case.time
    yield _angle_panel(case)
    names = case.robot.freedom_names
    yield joint_panel("Torques for the cables", "torque [N*m]", time, case.needed, names)
    yield tension_panel(time, found.base_tensions)
    left = np.where(np.abs(found.residual) > ROUND_OFF, found.residual, 0.0)
    yield joint_panel("Torque left over", "torque [N*m]", time, left, names)
    there = case.with_contacts()
    if found.contacts is not None and there.any():
        yield _contact_panel(case, "Contact force, the smaller of both points", "force [N]",
                             found.contacts.normal.min(axis=-1), None)  # fmt: skip
        yield _contact_panel(case, "Use of friction, the larger of both points", "use [%]",
                             100.0 * np.minimum(found.contacts.use.max(axis=-1), MOST_USE), 100.0)  # fmt: skip
    if case.along is not None:
        yield _along_panel(case)


def _angle_panel(case: DynamicsCase) -> Panel:
    """What is done and, where `project` has changed it, what was asked for."""
    names = case.robot.freedom_names
    panel = joint_panel("Angles", "angle [deg]", case.time, np.degrees(case.allocation.q), names)
    if case.moved is None:
        return panel
    wanted = joint_panel("", "", case.time, np.degrees(case.trajectory.q), names).series
    dotted = tuple(replace(line, name="as asked", dash="dot") for line in wanted)
    return replace(panel, series=(*panel.series, *dotted))


def _contact_panel(case: DynamicsCase, title: str, axis: str, values: Floats, limit: float | None) -> Panel:
    """Joints with contact points only."""
    panel = joint_panel(title, axis, case.time, values, case.joint_names)
    numbers = {f"joint {j + 1}" for j in np.flatnonzero(case.with_contacts())}
    series = tuple(line for line in panel.series if line.name in numbers)
    if limit is not None:
        ends = [float(case.time[0]), float(case.time[-1])]
        series += (Series("limit", ends, [limit, limit], LIMIT_COLOUR, "dash"),)
    return Panel(panel.title, panel.x, panel.y, series)


def _along_panel(case: DynamicsCase) -> Panel:
    """Tension along each cable at the time when it differs most."""
    along = case.along
    assert along is not None
    ends = case.robot.cables["last_link"].tolist()
    spreads = np.array([np.ptp(along[:, k, : ends[k]], axis=1) for k in range(len(ends))])
    row = int(spreads.max(axis=0).argmax())
    series = tuple(
        Series(f"cable {k + 1}", np.arange(1.0, end + 1.0), along[row, k, :end], *cable_style(k), "circle", size=5)
        for k, end in enumerate(ends)
    )
    return Panel(f"Along the cables at {case.time[row]:.4g} s", "joint", "tension [N]", series)


# A motion and its tensions as a report: the robot to play and to turn, plots against time, and every number.

CAPTIONS = (
    ("Motion", "Left: angle of each joint. Right: the torque that cables must exert at each joint, about its axis, to "
     "move links and loads, hold weights, and overcome the springs and the damping of joints."),
    ("Tensions", "Left: tension of each cable where it enters the base. Right: the part of the needed torque that "
     "these tensions do not give; zero where the motion is feasible."),
    ("Contacts", "A rolling joint touches at two points of its axis. Left: what presses its links together at the "
     "weaker point. Right: how much of what friction can hold is used; above 100 % the links would slip, and the plot "
     "ends at 200 %."),
)  # fmt: skip
ALONG = ("Along the cables", "Tension across each joint, from the base to the tip. A cable that slides freely has one.")


def dynamics_report(case: DynamicsCase) -> Report:
    """A motion and its tensions."""

    def tables() -> Iterator[Facts]:
        yield dynamics_summary(case)
        yield from _tables(case)

    def rows() -> Rows:
        columns = dict(_columns(case))
        return Rows(list(columns), np.column_stack(list(columns.values())).tolist())

    return Report(
        case.title,
        record=lambda: dynamics_record(case),
        tables=tables,
        warnings=tuple(dynamics_warnings(case)),
        failures=tuple(dynamics_failures(case)),
        page=lambda: dynamics_sections(case),
        picture=lambda: tuple(dynamics_panels(case)),
        picture_title=case.title + ("" if case.feasible.all() else " (not feasible)"),
        rows=rows,
        dataset=lambda: dynamics_dataset(case),
    )


def _tables(case: DynamicsCase) -> Iterator[Facts]:
    """Joints, cables, and what is not feasible."""
    tables = (joint_table(case), cable_table(case), violation_table(case))
    yield from (table for table in tables if table.rows)


def dynamics_sections(case: DynamicsCase) -> Iterator[Section]:
    """The page."""
    from vertebra.report.plotly import animation, motion_picture

    picture, slowness = motion_picture(case.robot, case.time, case.allocation.q, case.tip, case.gravity)
    yield animation(picture, "motion", MOVES.format(pace=pace_text(slowness)))
    yield dynamics_summary(case, "Answer")
    panels = list(dynamics_panels(case))
    alone = [panels.pop()] if case.along is not None else []
    for k, (title, caption) in enumerate(CAPTIONS[: len(panels) // 2]):
        pair = panels[2 * k : 2 * k + 2]
        yield Figures(title.lower(), [time_figure(panel) for panel in pair], "25rem", title, caption)
    for panel in alone:
        yield Figures("along", [time_figure(panel)], "22rem", *ALONG)
    yield from _tables(case)
    yield from robot_tables(case.robot)


def dynamics_dataset(case: DynamicsCase) -> xarray.Dataset:
    """Everything over time, SI."""
    import xarray

    found, robot = case.allocation, case.robot
    # Where joints have several freedoms, what belongs to a joint as a whole has an axis of its own.
    several = robot.freedoms > len(robot.joints)
    joints, gap = ("time", "joint"), "gap" if several else "joint"
    axes = ("time", "cable") if case.along is None else ("time", "cable", gap)
    variables: dict[str, Any] = {
        "q": (joints, found.q, {"units": "rad", "long_name": "joint angle"}),
        "qd": (joints, found.qd, {"units": "rad/s", "long_name": "joint rate"}),
        "qdd": (joints, found.qdd, {"units": "rad/s^2", "long_name": "joint acceleration"}),
        "tau": (joints, found.tau, {"units": "N*m", "long_name": "torque needed from cables and springs together"}),
        "needed": (joints, case.needed, {"units": "N*m", "long_name": "torque needed from the cables"}),
        "residual": (joints, found.residual, {"units": "N*m", "long_name": "torque out of balance"}),
        "base_tensions": (("time", "cable"), found.base_tensions, {"units": "N", "long_name": "tension at the base"}),
        "tensions": (axes, found.tensions, {"units": "N", "long_name": "cable tension"}),
        "feasible": ("time", case.feasible.astype(np.int8), {"long_name": "1 where every constraint is met"}),
    }
    if found.stable is not None:
        stable = {"long_name": "1 where the robot, at rest, would stay"}
        variables["stable"] = ("time", found.stable.astype(np.int8), stable)
    if found.contacts is not None:
        for name, unit in (("normal", "N"), ("tangential", "N"), ("axial", "N"), ("use", "1")):
            values = getattr(found.contacts, name)
            variables[f"contact_{name}"] = (("time", gap, "point"), values, {"units": unit})
    return xarray.Dataset(
        variables,
        coords={
            "time": ("time", case.time, {"units": "s"}),
            "joint": robot.freedom_names if several else np.arange(1, robot.freedoms + 1),
            "cable": np.arange(1, len(robot.cables) + 1),
            **({"gap": np.arange(1, len(robot.joints) + 1)} if several else {}),
        },
        attrs={"robot": case.robot.name, "method": found.method, "vertebra": __version__},
    )


def dynamics_record(case: DynamicsCase) -> dict[str, Any]:
    """Everything as JSON, SI."""
    found, least, most = case.allocation, case.least_contact(), case.most_friction()
    arrays = dynamics_dataset(case)
    return {
        "robot": case.robot.name,
        "method": found.method,
        "gravity": case.gravity.tolist(),
        "feasible": bool(case.feasible.all()),
        "feasible_share": float(case.feasible.mean()),
        "converged": found.converged,
        "stable": None if found.stable is None else bool(found.stable.all()),
        "largest_residual": _place_record(case.worst(abs(found.residual), case.robot.freedom_names)),
        "smallest_contact_force": None if least is None else _place_record(least),
        "largest_friction_use": None if most is None else _place_record(most),
        "violations": [
            plain_fields(violation, ("step", "joint", *(("axis",) if violation.axis else ()), "constraint", "amount",
                                     "unit"))
            for violation in found.violations
        ],
        "computed": list(case.trajectory.computed),
        "warnings": list(case.warnings),
        "notes": dict(case.notes),
        "time": case.time.tolist(),
    } | {
        (f"{name}_by_step" if name in ("feasible", "stable") else str(name)): arrays[name].to_numpy().tolist()
        for name in arrays.data_vars
    }  # fmt: skip


def _place_record(worst: Worst) -> dict[str, Any]:
    """With its axis where the joint has several."""
    return {name: value for name, value in worst._asdict().items() if name != "axis" or value}


def _columns(case: DynamicsCase) -> Iterator[tuple[str, Floats]]:
    """Names with units and (N,) values; the file can be read again as a trajectory or as tensions."""
    found = case.allocation
    n, cables = case.robot.freedom_names, len(case.robot.cables)
    turning = (angle_columns(n), found.q), (rate_columns(n), found.qd), (acceleration_columns(n), found.qdd)
    torques = ("tau", found.tau), ("needed", case.needed), ("residual", found.residual)
    groups: list[tuple[Column, Floats]] = [
        (TIME, case.time[:, None]),
        *((columns, np.degrees(values)) for columns, values in turning),
        *((torque_columns(name, n), values) for name, values in torques),
        (tension_columns(cables), found.base_tensions),
    ]
    for columns, values in groups:
        yield from zip(columns.names, values.T, strict=True)
    along = case.along
    if along is not None:
        for k, end in enumerate(case.robot.cables["last_link"].tolist()):
            yield from ((f"cable{k + 1}_joint{j + 1}_N", along[:, k, j]) for j in range(end))
    if found.contacts is not None:
        for j in np.flatnonzero(case.with_contacts()).tolist():
            yield f"contact{j + 1}_N", found.contacts.normal[:, j].min(axis=-1)
            yield f"friction_use{j + 1}", found.contacts.use[:, j].max(axis=-1)
    yield "feasible", case.feasible.astype(np.float64)
