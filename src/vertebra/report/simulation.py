"""The answer about a simulated motion: where it ended, how fast it was, its energy balance; tables, plots, page,
record, CSV and netCDF.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vertebra import __version__
from vertebra.dynamics.simulate import energy_imbalance
from vertebra.report.document import (
    Facts,
    Figures,
    Report,
    Rows,
    Section,
    number,
    plain_value,
    signless_zero,
    vector,
)
from vertebra.report.panels import Panel, Series, panel_figure, spread, thin_curve
from vertebra.report.path import TIP_STYLES
from vertebra.report.robot import robot_tables
from vertebra.report.scene import cable_style
from vertebra.report.shape import alike_cables
from vertebra.robot.robot import Robot
from vertebra.robot.table_file import (
    TIME,
    TIP,
    acceleration_columns,
    angle_columns,
    column_names,
    length_columns,
    rate_columns,
    tension_columns,
    torque_columns,
)
from vertebra.robot.tables import BACKBONE, Floats

if TYPE_CHECKING:
    import xarray

    from vertebra.errors import VertebraError

ENERGIES = {
    "kinetic": "kinetic energy",
    "potential": "potential energy",
    "stored": "stored in cables",
    "cable_work": "work of the cables",
    "load_work": "work of the loads",
    "dissipated": "dissipated",
    "drawn": "drawn in with the cables",
}
"""Energies of a run by the name of their variable, J."""


ROUND_OFF = 1e-12
"""Of tension times length, the energy in hand."""


class Energy(NamedTuple):
    """The energy balance of a run at every sample, since its start, J."""

    changes: dict[str, Floats]
    """(N,) by the name of the variable: how much more than at the start."""
    imbalance: Floats
    """(N,) kinetic + potential + stored - works - drawn + dissipated: the error of the integrator."""
    scale: float
    """The largest change of any of them."""
    least: float
    """Changes below this are round-off: nothing moves."""

    @property
    def share(self) -> float:
        """Largest imbalance as a share of the scale; 0 where nothing moves."""
        return float(np.abs(self.imbalance).max()) / self.scale if self.scale > self.least else 0.0


@dataclass(frozen=True, eq=False)
class SimulationCase:
    """What was simulated."""

    robot: Robot
    run: xarray.Dataset
    """As `vertebra.simulate` returns it; the part that was reached when it ended early."""
    gravity: Floats
    """(3,) m/s^2."""
    driven: str
    """What drove the cables, in words."""
    asked: float
    """Duration that was asked for, s."""
    notes: tuple[tuple[str, str], ...] = ()
    """Further facts: what was assumed, damping, friction, loads."""
    fault: str = ""
    """Why it ended early; empty when it did not."""
    wall: float = 0.0
    """How long the computer took, s; 0 when not known."""

    def array(self, name: str) -> Floats:
        """A variable of the run."""
        values: Floats = self.run[name].to_numpy()
        return values

    @property
    def time(self) -> Floats:
        """(N,) s."""
        return self.array("time")

    @property
    def reached(self) -> float:
        """Simulated time, s."""
        return float(self.time[-1] - self.time[0])

    @property
    def real_time(self) -> float:
        """Simulated seconds per second of computing; 0 when not known."""
        return self.reached / self.wall if self.wall > 0.0 else 0.0

    @property
    def title(self) -> str:
        """For a heading."""
        return f"{self.robot.name}: {self.reached:.4g} s under {self.driven}"

    def energy(self) -> Energy:
        """See `Energy`."""
        changes = {name: self.array(name) - self.array(name)[0] for name in ENERGIES}
        scale = max(float(np.abs(change).max()) for change in changes.values())
        least = ROUND_OFF * float((self.array("tensions") * self.array("lengths")).sum(axis=1).max())
        return Energy(changes, energy_imbalance(self.run), scale, least)


# The facts of a simulated motion as text: where it ended, how fast it was, and its energy balance.

MM, MJ = 1e3, 1e3
STILL = 1e-9
"""Joints slower than this, rad/s, do not move: it is round-off."""
MUCH = 0.01
"""An imbalance of energy above this share of the largest change gives a warning."""


def simulation_summary(case: SimulationCase, title: str = "") -> Facts:
    """The motion as a whole, one fact per row."""
    run, time, names = case.run, case.time, case.robot.freedom_names
    speed, tip = np.abs(case.array("qd")), case.array("tip") * MM
    row, joint = (int(i) for i in np.unravel_index(speed.argmax(), speed.shape))
    rows = [
        ("ended", ended_text(case)),
        ("driven by", case.driven),
        ("tip at the end", f"{vector(tip[-1], '.3f')} mm"),
        ("tip travelled", f"{np.linalg.norm(np.diff(tip, axis=0), axis=1).sum():.3f} mm, from "
         f"{vector(tip[0], '.3f')} mm"),
        ("peak speed", f"{math.degrees(speed.max()):.4g} deg/s, joint {names[joint]} at {time[row]:.4g} s"
         if speed.max() > STILL else "0: nothing moves"),
        ("speed at the end", f"{_speed(speed[-1].max())} deg/s at most"),
        ("tensions", _range(case.array("tensions"), "N")),
        *_resting(case),
        ("integrator", f"{run.attrs['integrator']}, steps of {1e3 * float(run.attrs['dt']):.4g} ms, "
         f"{len(time)} sample{'' if len(time) == 1 else 's'} kept"),
        ("gravity", f"{vector(case.gravity)} m/s^2"),
        *case.notes,
    ]  # fmt: skip
    if case.real_time:
        rows.append(("real-time factor", f"{case.real_time:.3g} ({case.wall:.2f} s for {case.reached:.4g} s)"))
    return Facts(title or case.title, ("", ""), tuple(rows))


def _resting(case: SimulationCase) -> Iterator[tuple[str, str]]:
    """Joints on their stops at the end; of a joint with several freedoms the torque of all together."""
    if "stop_torques" in case.run:
        own = np.split(case.array("stop_torques")[-1], case.robot.joints["first"][1:])
        held = [f"{joint} with {np.linalg.norm(each):.4g} N*m" for joint, each in enumerate(own, 1) if each.any()]
        yield "on their stops", f"joint{'s' if len(held) > 1 else ''} {', '.join(held)}" if held else "none at the end"


def ended_text(case: SimulationCase) -> str:
    """When, and why if it was too early."""
    if not case.fault:
        return f"after {case.reached:.6g} s, as asked"
    return f"EARLY, after {case.reached:.6g} of {case.asked:.6g} s: {case.fault}"


def simulation_warnings(case: SimulationCase) -> Iterator[str]:
    """What must not be overlooked."""
    if case.fault:
        yield f"ended early, after {case.reached:.6g} of {case.asked:.6g} s: {case.fault}"
    share = case.energy().share
    if share > MUCH:
        yield f"the energy balance is off by {100 * share:.2g} % of its largest part: make dt smaller"
    slack = case.array("tensions").min(axis=0) <= 0.0
    if slack.any() and case.array("tensions").max() > 0.0:
        cables = ", ".join(str(k + 1) for k in np.flatnonzero(slack))
        yield f"slack at times: cable{'s' if slack.sum() > 1 else ''} {cables}"


def _range(values: Floats, unit: str) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{number(round(low, 6))} to {number(round(high, 6))} {unit}" if high - low > 1e-6 else f"{low:.6g} {unit}"


def energy_table(case: SimulationCase) -> Facts:
    """Kinetic, potential, works, and what does not add up."""
    found = case.energy()
    at_start = {name: float(case.array(name)[0]) for name in ENERGIES}
    rows = [
        (words, _mj(at_start[name]) if name in ("kinetic", "stored") else "-", _mj(found.changes[name][-1]),
         _mj(found.changes[name][np.abs(found.changes[name]).argmax()]))
        for name, words in ENERGIES.items()
        if found.changes[name].any() or name in ("kinetic", "potential", "cable_work")
    ]  # fmt: skip
    worst = float(found.imbalance[np.abs(found.imbalance).argmax()])
    rows.append(("imbalance", "-", _mj(found.imbalance[-1]), _mj(worst)))
    share = f", to {found.share:.2g} of the largest" if found.share else ""
    headers = ("energy [mJ]", "at the start", "change at the end", "largest change")
    return Facts(f"Energy balance{share}", headers, tuple(rows))


def _mj(value: float) -> str:
    return signless_zero(value * MJ, ".4g")


def _speed(value: float) -> str:
    """In deg/s, from rad/s."""
    return signless_zero(math.degrees(value), ".4g") if abs(value) > STILL else "0"


def joint_table(case: SimulationCase) -> Facts:
    """One row per joint, or per freedom where joints have several."""
    angles, speeds, names = np.degrees(case.array("q")), case.array("qd"), case.robot.freedom_names
    shares, limits = _of_limit(case.robot, case.array("q")), case.robot.freedom_limits
    rows = [
        (
            names[j],
            *(signless_zero(value, ".3f") for value in (q[0], q[-1], q.min(), q.max())),
            f"{100 * shares[j]:.0f} %" if np.isfinite(limits[j]) else "-",
            _speed(np.abs(speed).max()),
            _speed(speed[-1]),
        )
        for j, (q, speed) in enumerate(zip(angles.T, speeds.T, strict=True))
    ]
    headers = (
        "joint", "start [deg]", "end [deg]", "least [deg]", "most [deg]", "of limit", "peak [deg/s]", "end [deg/s]",
    )  # fmt: skip
    return Facts("Joints", headers, tuple(rows))


def _of_limit(robot: Robot, q: Floats) -> Floats:
    """(freedoms,) largest share of its limit that each used; both components of a backbone's bend that of the bend, and
    its twist none."""
    used = np.abs(q)
    for joint in robot.joints[robot.joints["kind"] == BACKBONE]:
        bend = slice(joint["first"], joint["first"] + 2)
        used[:, bend] = np.linalg.norm(q[:, bend], axis=1, keepdims=True)
    shares: Floats = used.max(axis=0) / robot.freedom_limits
    return shares


def cable_table(case: SimulationCase) -> Facts:
    """One row per cable; the length is that at the end."""
    tensions, lengths = case.array("tensions"), case.array("lengths") * MM
    azimuths = np.degrees(case.robot.cables["azimuth"])
    rows = [
        (
            str(k + 1),
            number(azimuths[k]),
            *(number(round(value, 6)) for value in (tension[0], tension[-1], tension.min(), tension.max())),
            f"{length[-1]:.3f}",
            signless_zero(length[0] - length[-1], ".3f"),
        )
        for k, (tension, length) in enumerate(zip(tensions.T, lengths.T, strict=True))
    ]
    headers = (
        "cable", "azimuth [deg]", "start [N]", "end [N]", "least [N]", "most [N]", "length [mm]", "pulled in [mm]",
    )  # fmt: skip
    return Facts("Cables", headers, tuple(rows))


# Plots of a simulated motion against time: angles, tensions, tip, energy.

TIME_AXIS = "time [s]"
MOST_LINES = 24
"""Colours and dashes repeat beyond this number."""
ENERGY_STYLES = {
    "kinetic": ("#D55E00", "solid"),
    "potential": ("#0072B2", "solid"),
    "stored": ("#009E73", "solid"),
    "cable_work": ("#000000", "dash"),
    "load_work": ("#CC79A7", "dash"),
    "dissipated": ("#8C6D1F", "dot"),
    "drawn": ("#56B4E9", "dot"),
}


def simulation_panels(case: SimulationCase) -> tuple[Panel, Panel, Panel, Panel]:
    """Four plots."""
    time = case.time
    angles = joint_panel("Angles", "angle [deg]", time, np.degrees(case.array("q")), case.robot.freedom_names)
    return angles, tension_panel(time, case.array("tensions")), tip_panel(case), energy_panel(case)


def joint_panel(title: str, axis: str, time: Floats, values: Floats, names: Sequence[str]) -> Panel:
    """One line per joint or freedom, by its name; (N, n) values. Of very many, some."""
    count, shown = len(names), spread(len(names), MOST_LINES)
    what = "joints" if all(name.isdecimal() for name in names) else "angles"
    some = "" if len(shown) == count else f", {len(shown)} of {count} {what}"
    series = tuple(curve(f"joint {names[j]}", time, values[:, j], *cable_style(i)) for i, j in enumerate(shown))
    return Panel(title + some, TIME_AXIS, axis, series)


def tension_panel(time: Floats, tensions: Floats, title: str = "Tensions at the base") -> Panel:
    """One line per cable, or one for those with equal tensions; (N, cables) N."""
    series = (curve(name, time, tensions[:, k], *cable_style(k)) for k, name in alike_cables(tensions.T).items())
    return Panel(title, TIME_AXIS, "tension [N]", tuple(series))


def tip_panel(case: SimulationCase) -> Panel:
    """Position of the tip."""
    tip = case.array("tip") * MM
    series = (curve(f"tip {axis}", case.time, tip[:, i], colour, dash)
              for i, (axis, colour, dash) in enumerate(TIP_STYLES))  # fmt: skip
    return Panel("Tip", TIME_AXIS, "position [mm]", tuple(series))


def energy_panel(case: SimulationCase) -> Panel:
    """Changes since the start; what stays zero is left out."""
    changes = case.energy().changes
    series = (
        curve(words, case.time, changes[name] * MJ, *ENERGY_STYLES[name])
        for name, words in ENERGIES.items()
        if changes[name].any()
    )
    return Panel("Energy since the start", TIME_AXIS, "energy [mJ]", tuple(series))


def curve(name: str, time: Floats, values: Floats, colour: str, dash: str) -> Series:
    """A line with as many points as fit on a page; a single sample is a dot."""
    x, y = thin_curve(time, values)
    return Series(name, x, y, colour, dash, "circle" if len(x) == 1 else "")


def time_figure(panel: Panel) -> Any:
    """The plotly figure of a plot against time; pointing at a line shows its value and the time."""
    figure = panel_figure([panel])
    figure.update_yaxes(automargin=True)
    if panel.x == TIME_AXIS:
        figure.update_traces(hovertemplate="%{fullData.name}: %{y:.4g} at %{x:.4g} s<extra></extra>")
    return figure


# A simulated motion as a report: the robot to play and to turn, plots against time, and every number.

MOVES = "Press Play, or drag the slider; {pace}. The dotted line is the robot at the start. Drag to turn."
LEFT_RIGHT = "Left: angle of each joint. Right: tension of each cable where it enters the base."
ENERGY = (
    "Left: position of the tip in the world. Right: kinetic and potential energy, the work done by cables and loads, "
    "and what damping and friction dissipated. The works equal the other changes, up to the imbalance below."
)


def simulation_report(case: SimulationCase, fault: VertebraError | None = None) -> Report:
    """A simulated motion; `fault` is the error that ended it early."""

    def tables() -> Iterator[Facts]:
        yield simulation_summary(case)
        yield from _tables(case)

    return Report(
        case.title,
        record=lambda: simulation_record(case),
        tables=tables,
        warnings=tuple(simulation_warnings(case)),
        fault=fault,
        page=lambda: simulation_sections(case),
        picture=lambda: simulation_panels(case),
        picture_title=case.title + (" (ended early)" if case.fault else ""),
        rows=lambda: Rows(list(_columns(case)), _rows(case)),
        dataset=lambda: case.run.assign_attrs(vertebra=__version__),
    )


def _tables(case: SimulationCase) -> Iterator[Facts]:
    """Energies, joints, cables."""
    yield from (table for table in (energy_table(case), joint_table(case), cable_table(case)) if table.rows)


def simulation_sections(case: SimulationCase) -> Iterator[Section]:
    """The page."""
    from vertebra.report.plotly import animation, motion_picture

    picture, slowness = motion_picture(case.robot, case.time, case.array("q"), case.array("tip"), case.gravity)
    yield animation(picture, "motion", MOVES.format(pace=pace_text(slowness)))
    angles, tensions, tip, energy = (time_figure(panel) for panel in simulation_panels(case))
    yield Figures("joints", [angles, tensions], "25rem", "Against time", LEFT_RIGHT)
    yield Figures("energy", [tip, energy], "25rem", "Tip and energy", ENERGY)
    yield simulation_summary(case, "Motion")
    yield from _tables(case)
    yield from robot_tables(case.robot)


def pace_text(slowness: float) -> str:
    """Such as ``it plays about 3 times slower than it happens``."""
    if 0.8 <= slowness <= 1.25:
        return "it plays about as fast as it happens"
    if slowness > 1.0:
        return f"it plays about {slowness:.2g} times slower than it happens"
    return f"it plays about {1.0 / slowness:.2g} times faster than it happens"


def simulation_record(case: SimulationCase) -> dict[str, Any]:
    """Everything as JSON, SI."""
    run, energy = case.run, case.energy()
    speed = np.abs(case.array("qd"))
    row, joint = (int(i) for i in np.unravel_index(speed.argmax(), speed.shape))
    found: dict[str, Any] = {"robot": case.robot.name, "driven_by": case.driven, "gravity": case.gravity.tolist()}
    found |= {name: plain_value(value) for name, value in run.attrs.items() if name != "robot"}
    found |= {
        "fault": case.fault or None,
        "duration": case.asked,
        "reached": case.reached,
        "end": {name: case.array(name)[-1].tolist() for name in ("q", "qd", "tensions", "lengths", "tip")},
        "peak_speed": {"value": float(speed.max()), "joint": case.robot.joint_of(joint), "time": float(case.time[row])},
        "energy_change": {name: float(change[-1]) for name, change in energy.changes.items()},
        "energy_imbalance": float(np.abs(energy.imbalance).max()),
        "energy_scale": energy.scale,
        "wall_time": case.wall,
        "real_time_factor": case.real_time,
        "notes": dict(case.notes),
        "time": case.time.tolist(),
    }
    return found | {str(name): run[name].to_numpy().tolist() for name in run.data_vars}


def _columns(case: SimulationCase) -> list[str]:
    n, cables = case.robot.freedom_names, len(case.robot.cables)
    moving = [angle_columns(n), rate_columns(n), *([acceleration_columns(n)] if "qdd" in case.run else [])]
    names = column_names(TIME, *moving, tension_columns(cables), length_columns(cables), TIP)
    stops = torque_columns("stop", n).names if "stop_torques" in case.run else ()
    return [*names, *(f"{name}_mJ" for name in ENERGIES), *stops]


def _rows(case: SimulationCase) -> Any:
    """So that `vertebra dynamics --trajectory` and `simulate --tensions-file` read the file back."""
    angles = [np.degrees(case.array(name)) for name in ("q", "qd", "qdd") if name in case.run]
    lengths, tip = 1e3 * case.array("lengths"), 1e3 * case.array("tip")
    energies = np.column_stack([1e3 * case.array(name) for name in ENERGIES])
    stops = [case.array("stop_torques")] if "stop_torques" in case.run else []
    columns = (case.time[:, None], *angles, case.array("tensions"), lengths, tip, energies, *stops)
    return np.column_stack(columns).tolist()
