"""A motion as the Motion tab plays it, simulated or planned, with all numbers that are shown beside it; and as an
MCAP file.
"""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vertebra.errors import InputError, StudioError
from vertebra.mechanics.kinematics import Pose
from vertebra.report.panels import spread
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.recording.files import to_ns
from vertebra.sensing.recording.shape_log import MessageMaker, ShapeRecord, missing, robot_contents


class Peak(NamedTuple):
    """The extreme of a quantity over a motion."""

    value: float
    number: int
    """Of the cable or joint where it is, counted from 1."""
    time: float
    """s"""


@dataclass(frozen=True, eq=False, repr=False)
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
    """Hz, lowest and highest of the natural frequencies at the start."""

    def __repr__(self) -> str:
        end = f"ended early: {self.fault}" if self.fault else "to the end"
        return f"RunFacts({end}, steps of {1e3 * self.dt:.3g} ms, energy off by {self.imbalance:.2g} J)"


@dataclass(frozen=True, eq=False, repr=False)
class PlanFacts:
    """Of a planned motion."""

    method: str
    feasible: NDArray[np.bool_]
    """(N,) whether all constraints hold."""
    broken: int
    """Moments at which some constraint does not hold, of `moments`."""
    moments: int
    worst: str
    """Which joint, by how much, when; empty when feasible."""
    most_tension: Peak
    """N"""
    most_moment: Peak
    """N*m, of the moments that the motion needs."""
    contact: Peak | None
    """N, the least force between two links; None for robots without contact points."""

    def __repr__(self) -> str:
        held = f"not feasible at {self.broken} of {self.moments} moments" if self.broken else "feasible"
        return f"PlanFacts({self.method}, {held}, up to {self.most_tension.value:.4g} N)"


@dataclass(frozen=True, eq=False, repr=False)
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
    """What else is to be known."""
    run: RunFacts | None = None
    plan: PlanFacts | None = None

    def __repr__(self) -> str:
        facts = self.run if self.run is not None else self.plan
        return f"Motion({self.kind}, {self.robot.name}, {len(self.time)} rows to {self.time[-1]:.4g} s, {facts})"

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
        return max(int(np.searchsorted(self.time, time + 1e-12, side="right")) - 1, 0)


# A motion as an MCAP file with Foxglove's messages: /tf, /joints, /tip as in recordings of shapes, and /tensions.
#
# Times are those of the motion. Every channel says that nothing in it was measured.

RECORDED_ROWS_A_SECOND, MOST_RECORDED_ROWS, MOST_RECORDED_FRAMES = 60, 1200, 12_000
"""Moments of a recording, and frames of links in all of them together: more takes longer than a click should."""
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
    enough = math.ceil(RECORDED_ROWS_A_SECOND * float(motion.time[-1] - motion.time[0])) + 1
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
