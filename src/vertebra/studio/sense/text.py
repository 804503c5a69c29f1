"""What the Sense tab shows: the estimate in numbers, the sensors in words, plots, and what it draws into the scene."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vertebra.report.document import fixed
from vertebra.report.meshes import Mesh, quaternions, revolved
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.recording.shape_log import joint_names
from vertebra.sensing.sensed_shape import SensorState
from vertebra.studio.form import change
from vertebra.studio.readout import Plot, Value, grid, light, notes, readout
from vertebra.studio.scene import Picture
from vertebra.studio.sense.run import NOT_KNOWN, Sensed, Snapshot, measured_turns

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio

MOST_ROWS = 60
"""Joint angles in the table."""


def sensed_text(robot: Robot, sensed: Sensed, means: tuple[float, float] | None) -> str:
    """HTML of estimate and sensors; `means`: errors of the tip, m, and of its link, rad, over what is plotted."""
    snapshot = sensed.snapshot
    if snapshot is None:
        return light("sense-status", None, sensed.hint)
    values = [*_tip(snapshot), *_errors(sensed, means)]
    rates = sensed.rates if sensed.rates is not None else np.zeros(len(snapshot.states))
    return _summary(robot, snapshot) + readout("Estimate", values) + _health(robot, snapshot, rates)


def more_text(robot: Robot, sensed: Sensed) -> str:
    """HTML of what is needed less often: the network and all joints."""
    return _session(sensed) + ("" if sensed.snapshot is None else _joints(robot, sensed.snapshot))


def _tip(snapshot: Snapshot) -> list[Value]:
    spread = float(np.sqrt(np.sum(snapshot.sigmas**2)))
    return [
        *(
            Value(f"sense-tip-{axis}", f"tip {axis}", f"{fixed(1e3 * float(place), 2, '')} ± {_mm(float(sigma))}")
            for axis, place, sigma in zip("xyz", snapshot.tip, snapshot.sigmas, strict=True)
        ),
        Value("sense-sigma", "tip uncertainty (sigma)", _mm(spread)),
    ]


def _errors(sensed: Sensed, means: tuple[float, float] | None) -> list[Value]:
    if sensed.truth is None:
        return []
    values = [
        Value("sense-tip-error", "tip error", _mm(sensed.tip_error)),
        Value("sense-turn-error", "orientation error of the tip", fixed(math.degrees(sensed.turn_error), 2, "deg")),
    ]
    if means is not None:
        text = f"{_mm(means[0])}, {fixed(math.degrees(means[1]), 2, 'deg')}"
        values.append(Value("sense-mean-errors", "mean of the last 20 s", text))
    return values


def _session(sensed: Sensed) -> str:
    found = sensed.statistics
    if found is None:
        return ""
    latency = f"{1e3 * found.latency_p50:.1f} ms (99 %: {1e3 * found.latency_p99:.1f} ms)"
    values = [
        Value("sense-frame-rate", "frames", f"{found.frame_rate:.0f} per second"),
        Value("sense-shape-rate", "shapes", f"{found.shape_rate:.0f} per second"),
        Value("sense-latency", "latency, last frame to shape", latency),
        Value("sense-lost", "answers lost", str(found.lost)),
    ]
    return readout("Network", values)


def _summary(robot: Robot, snapshot: Snapshot) -> str:
    poor = [
        f"sensor {link}: {_word(snapshot, row)}"
        for row, link in enumerate(robot.sensor_links.tolist())
        if snapshot.states[row] != SensorState.OK
    ]
    if not poor:
        return light("sense-status", True, f"All {len(snapshot.states)} sensors are OK.")
    rest = f", and {len(poor) - 3} more" if len(poor) > 3 else ""
    text = "; ".join(poor[:3]) + rest
    return light("sense-status", False, text[0].upper() + text[1:] + ".")


def _word(snapshot: Snapshot, row: int) -> str:
    """The state of a sensor in words."""
    tilt, heading = snapshot.weights[row]
    age = float(snapshot.ages[row])
    disturbed = f"its heading counts {_percent(float(heading))}" if heading < 1.0 else "reported by its node"
    return {
        SensorState.OK: "ok",
        SensorState.DISTURBED: f"disturbed, {disturbed}",
        SensorState.OUTLIER: f"gated, its tilt counts {_percent(float(tilt))}",
        SensorState.STALE: f"not heard for {age:.1f} s" if math.isfinite(age) else "not heard lately",
        SensorState.FAULT: "faulty, reported by its node",
        SensorState.SILENT: "not heard yet",
    }[SensorState(int(snapshot.states[row]))]


def _health(robot: Robot, snapshot: Snapshot, rates: Floats) -> str:
    rows = [
        (
            str(link),
            _word(snapshot, row),
            f"{rates[row]:.0f}",
            _milliseconds(float(snapshot.ages[row])),
            "-" if snapshot.lost[row] == NOT_KNOWN else str(snapshot.lost[row]),
            fixed(math.degrees(snapshot.headings[row]), 1),
        )
        for row, link in enumerate(robot.sensor_links.tolist())
    ]
    headers = ("link", "state", "rate (Hz)", "age (ms)", "lost", "heading (deg)")
    return grid("Sensors", headers, rows, "sense-sensor")


def _joints(robot: Robot, snapshot: Snapshot) -> str:
    names: Sequence[str] = joint_names(robot)
    rows = [
        (name.removeprefix("joint").replace("_", " "), fixed(math.degrees(angle), 2), _degrees(float(sigma)))
        for name, angle, sigma in zip(names, snapshot.angles.tolist(), snapshot.angle_sigmas.tolist(), strict=True)
    ]
    table = grid("Joint angles", ("joint", "angle (deg)", "sigma (deg)"), rows[:MOST_ROWS], "sense-joint")
    return table + (notes([f"And {len(rows) - MOST_ROWS} more."]) if len(rows) > MOST_ROWS else "")


def _mm(metres: float) -> str:
    return fixed(1e3 * metres, 2, "mm") if math.isfinite(metres) else "not known"


def _degrees(radians: float) -> str:
    return fixed(math.degrees(radians), 2) if math.isfinite(radians) else "not known"


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.0f}" if math.isfinite(seconds) else "-"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


# The right side of the Sense tab, and what it draws into the scene.

SIGMAS = 3.0
"""Half axes of the tip's ellipsoid, in standard deviations."""
_STEPS = np.linspace(0.02, math.pi - 0.02, 13)
_BALL = revolved([(math.sin(step), -math.cos(step)) for step in _STEPS], sectors=20)


class Results:
    """Made for one robot."""

    def __init__(self, studio: Studio) -> None:
        self._studio, self._robot = studio, studio.robot
        gui = studio.server.gui
        self._text = gui.add_html("")
        self._tip_error = Plot(gui, "Tip error, last 20 s", "time (s)", "error (mm)")
        self._turn_error = Plot(gui, "Orientation error of the tip, last 20 s", "time (s)", "error (deg)")
        self._place = Plot(gui, "Tip, last 20 s", "time (s)", "place (mm)")
        self._more = gui.add_html("")
        count = len(self._robot.sensor_links)
        self._axes = studio.stage.scene.add_batched_axes(
            "/sense/sensors", np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)), np.zeros((count, 3)), axes_length=0.09,
            axes_radius=0.004, visible=False,
        )  # fmt: skip

    def say(self, html: str) -> None:
        """Words instead of results."""
        self._text.content, self._more.content = html, ""
        for plot in (self._tip_error, self._turn_error, self._place):
            plot.hide()

    def show(self, sensed: Sensed, past: Floats) -> None:
        """Numbers, tables and plots; `past` (K, 6): s, tip in m, errors in m and rad."""
        known, enough = sensed.truth is not None, len(past) > 1
        means = (float(past[:, 4].mean()), float(past[:, 5].mean())) if known and enough else None
        self._text.content = sensed_text(self._robot, sensed, means)
        self._more.content = more_text(self._robot, sensed)
        if enough and known:
            self._tip_error.show(past[:, 0], [("tip error (mm)", 1e3 * past[:, 4])])
            self._turn_error.show(past[:, 0], [("orientation error (deg)", np.degrees(past[:, 5]))])
        elif enough:
            self._place.show(past[:, 0], [(f"{axis} (mm)", 1e3 * past[:, 1 + i]) for i, axis in enumerate("xyz")])

    def draw(self, sensed: Sensed, sensor_frames: bool) -> None:
        """The sensed robot, the true one as a ghost, how certain the tip is, and frames of the sensors if wanted."""
        snapshot = sensed.snapshot
        if snapshot is None:
            return
        self._studio.stage.draw(
            Picture(snapshot.frames, gravity=snapshot.gravity, ghost=sensed.truth, ellipsoid=tip_ellipsoid(snapshot))
        )
        change(self._axes, "visible", sensor_frames)
        if sensor_frames:
            frames = measured_turns(self._robot, snapshot)
            self._axes.batched_positions = (self._studio.stage.scale * frames[:, :3, 3]).astype(np.float32)
            self._axes.batched_wxyzs = quaternions(frames).astype(np.float32)

    def hide(self) -> None:
        """Take own things out of the scene."""
        change(self._axes, "visible", False)

    def remove(self) -> None:
        """For another robot."""
        self._axes.remove()


def tip_ellipsoid(snapshot: Snapshot) -> Mesh | None:
    """Where the tip is, to three standard deviations, m; None when no sensor determines it."""
    if not np.isfinite(snapshot.covariance).all():
        return None
    variances, axes = np.linalg.eigh(snapshot.covariance)
    half = SIGMAS * np.sqrt(np.maximum(variances, 0.0))
    return Mesh(_BALL.vertices * half @ axes.T + snapshot.tip, _BALL.triangles)
