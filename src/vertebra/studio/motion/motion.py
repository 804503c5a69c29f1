"""A motion as the Motion tab plays it, simulated or planned: its numbers, its words, its plots, and its MCAP file."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import InputError, StudioError
from vertebra.mechanics.kinematics import Pose
from vertebra.report.document import fixed, significant
from vertebra.report.dynamics import Worst
from vertebra.report.panels import spread
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.recording.files import to_ns
from vertebra.sensing.recording.shape_log import MessageMaker, ShapeRecord, missing, robot_contents
from vertebra.studio.palette import LINES
from vertebra.studio.player import row_at
from vertebra.studio.readout import Plot, Value, light, notes, readout, tension_scale

if TYPE_CHECKING:
    import viser


@dataclass(frozen=True, eq=False)
class RunFacts:
    """Of a simulated motion."""

    energies: dict[str, Floats]
    """(N,) J: kinetic; potential, dissipated, cables (their work) since the start; total, kinetic and potential."""
    imbalance: float
    """J, the most that the account of energy is off: what the integrator made up."""
    share: float
    """The same as a part of the largest energy in the account."""
    fault: str
    """Why it ended early; empty when it did not."""
    dt: float
    """s, step of the integrator."""
    chosen: bool
    """Whether the studio chose the step."""
    frequencies: tuple[float, float]
    """Hz, lowest and highest of the natural frequencies at the start; 0 where stops hold all joints."""


@dataclass(frozen=True, eq=False)
class PlanFacts:
    """Of a planned motion."""

    method: str
    feasible: NDArray[np.bool_]
    """(N,) whether all constraints hold."""
    broken: int
    """Instants at which some constraint does not hold, of `instants`."""
    instants: int
    worst: str
    """Which joint, by how much, when; empty when feasible."""
    most_tension: Worst
    """N; its `joint` is the number of the cable."""
    most_torque: Worst
    """N*m, of the torques that the motion needs."""
    contact: Worst | None
    """N, the least force between two links; None for robots without contact points."""


@dataclass(frozen=True, eq=False)
class Motion:
    """One row per instant, SI, world axes."""

    kind: Literal["simulated", "planned"]
    robot: Robot
    time: Floats
    """(N,) s"""
    angles: Floats
    """(N, n) rad"""
    tips: Floats
    """(N, 3) m"""
    tensions: Floats
    """(N, cables) N at the base."""
    along: Floats | None
    """(N, cables, n) N across each joint; None where a cable has one tension."""
    gravity: Floats
    """(3,) m/s^2"""
    words: str
    """What it is, in a sentence."""
    notes: tuple[str, ...]
    """Remarks, in sentences."""
    run: RunFacts | None = None
    plan: PlanFacts | None = None

    @property
    def highest(self) -> float:
        """N, the largest tension anywhere."""
        values = self.tensions if self.along is None else self.along
        return float(values.max(initial=0.0))

    @cached_property
    def _crossed(self) -> Floats:
        """(cables, n) 1 where a cable crosses a joint."""
        joints = np.arange(len(self.robot.joints))
        crossed: Floats = (joints[None] < self.robot.cables["last_link"][:, None]).astype(np.float64)
        return crossed

    def tensions_at(self, row: int) -> Floats:
        """(cables, n) N across each joint; where friction makes them differ in a simulation, that at the base."""
        if self.along is not None:
            return np.asarray(self.along[row])
        return np.asarray(self.tensions[row][:, None] * self._crossed)

    def row_at(self, time: float) -> int:
        """The row that is due at a time, s."""
        return row_at(self.time, time)


# A motion as an MCAP file with Foxglove's messages: /tf, /joints, /tip as in recordings of shapes, and /tensions.
#
# Times are those of the motion. Every channel says that nothing in it was measured.

RECORDED_ROWS_PER_SECOND, MOST_RECORDED_ROWS, MOST_RECORDED_FRAMES = 60, 1200, 12_000
"""Instants of a recording, and frames of links in all of them together: more takes longer than a click should."""
_NUMBERS = {"type": "array", "items": {"type": "number"}}
_TENSIONS = {
    "title": "vertebra.Tensions",
    "type": "object",
    "properties": {
        "time_s": {"type": "number", "description": "Time of the motion"},
        "base_N": _NUMBERS | {"description": "Tension of each cable where it enters the base"},
        "across_joints_N": {
            "type": "array", "items": _NUMBERS, "description": "Of each cable across each joint; 0 beyond its end"
        },
    },
}  # fmt: skip


def motion_recording(motion: Motion) -> tuple[str, bytes]:
    """Name and content of the file; the same motion gives the same bytes."""
    try:
        content = _content(motion)
    except InputError as error:
        raise StudioError("recording", error.message) from None
    return f"{motion.robot.name}-{motion.kind}.mcap", content


def _content(motion: Motion) -> bytes:
    robot_facts = robot_contents(motion.robot)
    make = MessageMaker(list(robot_facts["joints"]))
    stream = io.BytesIO()
    writer = _new_writer(stream)
    writer.start(profile="", library="vertebra")
    writer.add_metadata("vertebra", dict(robot_facts["about"]) | {"source": motion.kind, "motion": motion.words})
    for name, text in robot_facts["files"].items():
        writer.add_attachment(0, 0, name, "application/json" if name.endswith("json") else "text/xml", text.encode())
    channels = _channels(writer, make, {"source": motion.kind})
    for number, row in enumerate(_rows(motion).tolist()):
        ns = to_ns(float(motion.time[row] - motion.time[0]))
        for topic, data in _messages(motion, row, make, ns).items():
            writer.add_message(channels[topic], ns, data, ns, number)
    writer.finish()
    return stream.getvalue()


def _rows(motion: Motion) -> NDArray[np.int64]:
    enough = math.ceil(RECORDED_ROWS_PER_SECOND * float(motion.time[-1] - motion.time[0])) + 1
    return spread(len(motion.time), min(enough, MOST_RECORDED_ROWS, MOST_RECORDED_FRAMES // len(motion.robot.links)))


def _messages(motion: Motion, row: int, make: MessageMaker, ns: int) -> dict[str, bytes]:
    angles, time = motion.angles[row], float(motion.time[row])
    empty = np.zeros(0)
    pose = Pose(motion.robot, angles)
    shape = ShapeRecord(time, time, angles, empty, pose.frames, pose.tip_frame, empty, empty, empty, ())
    tensions = {
        "time_s": time,
        "base_N": motion.tensions[row].tolist(),
        "across_joints_N": motion.tensions_at(row).tolist(),
    }
    return {
        "/tf": make.transforms(shape, ns),
        "/joints": make.joints(shape, ns),
        "/tip": make.tip(shape, ns),
        "/tensions": json.dumps(tensions, allow_nan=False, separators=(",", ":")).encode(),
    }


def _channels(writer: Any, make: MessageMaker, metadata: dict[str, str]) -> dict[str, int]:
    channels = {}
    for topic, schema in make.schemas().items():
        if topic == "/log":
            continue
        number = writer.register_schema(schema.name, schema.encoding, schema.data)
        channels[topic] = writer.register_channel(topic, "protobuf", number, metadata)
    number = writer.register_schema(_TENSIONS["title"], "jsonschema", json.dumps(_TENSIONS).encode())
    channels["/tensions"] = writer.register_channel("/tensions", "json", number, metadata)
    return channels


def _new_writer(stream: io.BytesIO) -> Any:
    try:
        from mcap.writer import Writer
    except ImportError:
        raise missing("mcap") from None
    return Writer(stream)


# In words and numbers, as a whole and at one instant.

MUCH = 0.01
"""An account of energy that is off by more than this share is warned of."""
MOST_LISTED = 12
"""Cables beyond this number are not listed one by one."""


def motion_text(motion: Motion) -> str:
    """HTML of the motion as a whole."""
    if motion.run is not None:
        head, values = _run_light(motion, motion.run), _run_values(motion.run)
    else:
        assert motion.plan is not None
        head, values = _plan_light(motion.plan), _plan_values(motion.plan)
    kind = "Simulated" if motion.kind == "simulated" else "Planned"
    scale = tension_scale(float(f"{motion.highest:.3g}")) if len(motion.robot.cables) else ""
    return head + notes([f"{kind}. {motion.words}", *motion.notes]) + readout("The motion", values) + scale


def now_text(motion: Motion, row: int) -> str:
    """HTML of one instant."""
    x, y, z = (1e3 * motion.tips[row]).tolist()
    angles = motion.angles[row]
    most = int(np.abs(angles).argmax())
    where = f"largest angle, joint {motion.robot.joint_of(most)}"
    values = [
        Value("motion-time", "time", fixed(float(motion.time[row]), 3, "s")),
        Value("motion-tip-x", "tip x", fixed(x, 2, "mm")),
        Value("motion-tip-y", "tip y", fixed(y, 2, "mm")),
        Value("motion-tip-z", "tip z", fixed(z, 2, "mm")),
        Value("motion-angle", where, fixed(math.degrees(angles[most]), 2, "deg")),
        *(
            Value(f"motion-tension-{k}", f"cable {k}", fixed(tension, 3, "N"))
            for k, tension in enumerate(motion.tensions[row, :MOST_LISTED].tolist(), 1)
        ),
    ]
    if motion.run is not None:
        values += [
            Value(f"motion-{name}", f"{name} energy" if name != "dissipated" else name, significant(float(e[row]), "J"))
            for name, e in motion.run.energies.items()
            if name != "cables"
        ]
    return readout("Now", values)


def _run_light(motion: Motion, run: RunFacts) -> str:
    reached = float(motion.time[-1])
    if run.fault:
        return light("motion-status", False, f"Ended early, after {reached:.4g} s") + notes([run.fault])
    if run.share > MUCH:
        words = f"Energy is off by {100 * run.share:.2g} %: take a shorter step"
        return light("motion-status", False, words)
    return light("motion-status", True, f"{reached:.4g} s simulated, energy accounted for")


def _run_values(run: RunFacts) -> list[Value]:
    low, high = run.frequencies
    return [
        Value("motion-balance", "balance error", f"{run.imbalance:.2g} J ({run.share:.1g} of the largest)"),
        Value("motion-step", "time step" + (", automatic" if run.chosen else ""), significant(1e3 * run.dt, "ms", 3)),
        Value("motion-frequencies", "natural frequencies", f"{low:.3g} to {high:.3g} Hz"),
    ]


def _plan_light(plan: PlanFacts) -> str:
    if not plan.broken:
        return light("motion-status", True, "Feasible at every instant")
    share = "at any instant" if plan.broken == plan.instants else f"at {plan.broken} of {plan.instants} instants"
    return light("motion-status", False, f"Not feasible {share}") + notes([f"Worst: {plan.worst}."])


def _plan_values(plan: PlanFacts) -> list[Value]:
    values = [
        Value("motion-most-tension", "largest tension", _peak(plan.most_tension, "N", "cable")),
        Value("motion-most-torque", "largest torque needed", _peak(plan.most_torque, "N m", "joint")),
    ]
    if plan.contact is not None:
        parts = ": the links part" if plan.contact.value < 0 else ""
        values.append(Value("motion-contact", "least contact force", _peak(plan.contact, "N", "joint") + parts))
    return values


def _peak(worst: Worst, unit: str, owner: str) -> str:
    return f"{significant(worst.value, unit)}, {owner} {worst.joint} at {worst.time:.3g} s"


# Plots of a motion over time, with a line at the instant that is shown.

MOST_POINTS = 500
"""Of one curve: all of it is sent to every window a few times a second."""
MOST_CABLES = 12
TIME, NOW = "time (s)", "now"


class Curves(NamedTuple):
    """What one plot shows."""

    time: Floats
    lines: list[tuple[str, Floats]]

    def marked(self, at: float) -> tuple[Floats, list[tuple[str, Floats]]]:
        """The same with an upright line at a time, s: a curve along the lower edge with one peak."""
        place = int(np.searchsorted(self.time, at))
        low = min(float(values.min()) for _, values in self.lines)
        high = max(float(values.max()) for _, values in self.lines)
        time = np.insert(self.time, [place] * 3, at)
        lines = [
            (name, np.insert(values, [place] * 3, np.interp(at, self.time, values))) for name, values in self.lines
        ]
        now = np.full(len(time), low)
        now[place + 1] = high
        return time, [*lines, (NOW, now)]


class TimePlot(Plot):
    """A plot whose last line is the present instant, thin and grey."""

    def _series(self, names: Sequence[str], joined: bool = True) -> tuple[Any, ...]:
        return tuple(
            line | {"stroke": LINES[-1], "width": 1, "dash": []} if line["label"] == NOW else line
            for line in super()._series(names, joined)
        )


class MotionPlots:
    """Tip, tensions and energies."""

    def __init__(self, gui: viser.GuiApi) -> None:
        self._plots = {
            "tip": TimePlot(gui, "Tip", TIME, "position (mm)"),
            "tensions": TimePlot(gui, "Cable tensions at the base", TIME, "tension (N)"),
            "energy": TimePlot(gui, "Energy since the start", TIME, "energy (J)"),
        }
        self._curves: dict[str, Curves] = {}

    def load(self, motion: Motion | None) -> None:
        """Take another motion; None hides the plots."""
        self._curves = {} if motion is None else motion_curves(motion)
        for name, plot in self._plots.items():
            if name not in self._curves:
                plot.hide()

    def mark(self, at: float) -> None:
        """Draw, with the line at a time, s."""
        for name, curves in self._curves.items():
            self._plots[name].show(*curves.marked(at))


def motion_curves(motion: Motion) -> dict[str, Curves]:
    """By the plot's name."""
    rows = spread(len(motion.time), MOST_POINTS)
    time = motion.time[rows]
    found = {"tip": [(axis, 1e3 * motion.tips[rows, i]) for i, axis in enumerate("xyz")]}
    cables = min(motion.tensions.shape[1], MOST_CABLES)
    if cables:
        found["tensions"] = [(f"cable {k + 1}", motion.tensions[rows, k]) for k in range(cables)]
    if motion.run is not None:
        names = {"cables": "work of cables"}
        found["energy"] = [(names.get(name, name), values[rows]) for name, values in motion.run.energies.items()]
    return {name: Curves(time, lines) for name, lines in found.items()}
