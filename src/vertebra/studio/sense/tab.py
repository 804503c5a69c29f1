"""Sense: the shape that a network of orientation sensors sees, live from a robot or a virtual one, or recorded."""

from __future__ import annotations

import math
import time
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from vertebra.errors import StudioError
from vertebra.mechanics.kinematics import Pose
from vertebra.report.document import fixed
from vertebra.report.meshes import Mesh, quaternions, revolved
from vertebra.robot.robot import Robot
from vertebra.robot.tables import Floats
from vertebra.sensing.sensed_shape import SensorState
from vertebra.studio.form import Form, change
from vertebra.studio.readout import Plot, Value, grid, light, notes, readout
from vertebra.studio.scene import Picture
from vertebra.studio.sense.recorder import LIMITS, NOTHING, RecorderSwitch, RecordingControls
from vertebra.studio.sense.replay import RecordingPlayer
from vertebra.studio.sense.run import NOT_KNOWN, Sensed, SenseRun, Snapshot, measured_turns
from vertebra.studio.sense.settings import BUS, NO_FILE, RECORDING, VIRTUAL, SenseSettings, is_recording, is_virtual
from vertebra.studio.sense.sources import (
    BusSource,
    Source,
    VirtualSource,
    checked_url,
    fault_of,
    make_estimator,
    why_not,
)
from vertebra.studio.tab import Tab

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio

# What is shown: the estimate in numbers, the sensors in words, plots, and the scene.

MOST_ROWS = 60
"""Joint angles in the table."""
HISTORY = 20.0
"""s shown in the plots."""


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
        values.append(Value("sense-mean-errors", f"mean of the last {HISTORY:g} s", text))
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
    rows = [
        (name, fixed(math.degrees(angle), 2), _degrees(float(sigma)))
        for name, angle, sigma in zip(
            robot.freedom_names, snapshot.angles.tolist(), snapshot.angle_sigmas.tolist(), strict=True
        )
    ]
    table = grid("Joint angles", ("joint", "angle (deg)", "sigma (deg)"), rows[:MOST_ROWS], "sense-joint")
    return table + (notes([f"And {len(rows) - MOST_ROWS} more angles."]) if len(rows) > MOST_ROWS else "")


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
        self._tip_error = Plot(gui, f"Tip error, last {HISTORY:g} s", "time (s)", "error (mm)")
        self._turn_error = Plot(gui, f"Orientation error of the tip, last {HISTORY:g} s", "time (s)", "error (deg)")
        self._place = Plot(gui, f"Tip, last {HISTORY:g} s", "time (s)", "place (mm)")
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


# The tab.

SLOW = 0.25
"""s between two changes of tables and plots; the robot itself moves with every snapshot."""

FAULT = ("sensor", "silent", "magnet", "magnet_deg")
"""Settings that take effect while the virtual robot runs."""
SIMULATED = (
    "Simulated sensors on a moving robot, in this process and in real time; no hardware, no bus. "
    "Solid: as sensed. Pale: as it really is."
)
LABELS = {VIRTUAL: ("Start", "Stop"), BUS: ("Connect", "Disconnect"), RECORDING: ("Play", "Pause")}
WAITING = {
    VIRTUAL: "The virtual robot is starting.",
    BUS: "Not connected: enter the bus and press Connect.",
    RECORDING: "No recording is open: choose a file of frames (.blf, .log, .csv) or of shapes (.mcap) in the folder.",
}


class SenseTab(Tab[SenseSettings]):
    """Source, method and faults on the left; estimate, errors and sensors on the right; true robot as a ghost."""

    name, title, settings_type = "sense", "Sense", SenseSettings

    def __init__(self, studio: Studio) -> None:
        super().__init__(studio)
        self.sensed: Sensed | None = None
        """What was shown last."""
        self.run: SenseRun | None = None
        """What runs, or ran last."""
        self._playback = RecordingPlayer(studio, self._show, self._played_to, self._label)
        self._mark = object()
        self._past: deque[tuple[float, ...]] = deque()
        self._slow_at = 0.0

    # The page -------------------------------------------------------------------------------------------------------

    def controls(self) -> None:
        reason = why_not(self.studio.robot)
        if reason:
            self.form = None
            self.gui.add_html(notes([reason]))
            return
        form = self.form = Form(self.studio, SenseSettings, "tabs.sense", self._changed)
        gui = self.gui
        form.add("source", "method")
        form.show_when(gui.add_html(notes([SIMULATED])), is_virtual)
        form.add("model", "base", "bend_deg", "speed_deg_s", *FAULT, "bus", "sync_hz", "file", "calibration")
        again = self.when(gui.add_button("Refresh the file list"), form.list_files)
        form.show_when(again, lambda s: not is_virtual(s))
        self._time = self.when(gui.add_slider("Time (s)", 0.0, 1.0, 0.01, 0.0), self._seek)
        form.show_when(self._time, is_recording)
        self._told_time = self._time.value
        form.add("play_speed", "sensor_frames")
        self._go_button = self.when(gui.add_button("Stop"), self._go)
        record = self.when(gui.add_checkbox("Record", False, hint=LIMITS), self._record)
        form.show_when(record, lambda s: not is_recording(s))
        keep = self.when(gui.add_button("Save the recording to the folder", visible=False), self._keep)
        self._recorder = RecordingControls(self.studio, record, keep, gui.add_html(""))
        form.arrange()

    def results(self) -> None:
        self._results = Results(self.studio)

    def shown(self) -> None:
        robot = self.studio.robot
        self.studio.stage.draw(Picture(Pose(robot, np.zeros(robot.freedoms)).frames, gravity=robot.gravity))
        if self.form is not None:
            self.form.list_files()
            self._restart()

    def hidden(self) -> None:
        self._halt()
        self._results.hide()

    def removed(self) -> None:
        self._halt()
        self._playback.forget()
        if self.form is not None:
            self._recorder.forget()
        self._results.remove()

    @property
    def holds_recording(self) -> bool:
        return self.form is not None and self._recorder.holds_recording

    def recording(self) -> tuple[str, bytes]:
        if self.form is None:
            raise StudioError("recording", NOTHING)
        return self._recorder.mcap()

    # Sources --------------------------------------------------------------------------------------------------------

    def _restart(self) -> None:
        """Another source, or another way to use it. A bus is opened by its button alone: a link must not open one."""
        self._halt()
        self._playback.forget()
        settings = self.settings()
        self._results.say(light("sense-status", None, WAITING[settings.source]))
        self._label()
        if settings.source == VIRTUAL:
            self._start(settings)
        elif settings.source == BUS:
            checked_url(settings.bus)
        elif settings.file != NO_FILE:
            path = str(self.studio.folder.read_path(settings.file))
            calibration = self._calibration(settings)
            self._playback.load(
                path, settings.file, settings.method, calibration, settings.play_speed, self.studio.fail
            )

    def _start(self, settings: SenseSettings) -> None:
        robot, calibration = self.studio.robot, self._calibration(settings)
        source: Source
        if settings.source == VIRTUAL:
            source = VirtualSource(robot, settings)
        else:
            source = BusSource(settings.bus, settings.sync_hz)
        mark, post = object(), self.studio.loop.post
        self._mark = mark
        self._past.clear()
        self.run = SenseRun(
            source,
            lambda: make_estimator(robot, settings.method, calibration),
            RecorderSwitch(),
            lambda sensed: post("sense", lambda: self._take(mark, sensed)),
            lambda error: post(("sense", mark), lambda: self._failed(mark, error)),
            after=self.run,
        )
        self._label()

    def _calibration(self, settings: SenseSettings) -> str | None:
        used = settings.source != VIRTUAL and settings.calibration != NO_FILE
        return str(self.studio.folder.read_path(settings.calibration)) if used else None

    def _halt(self) -> None:
        """Stop what runs, without waiting. A recording ends with what was recorded."""
        self._mark = object()
        self._playback.halt()
        if self.run is not None:
            self.run.stop()
        if self.form is not None:
            self._recorder.stop()

    def _failed(self, mark: object, error: Exception) -> None:
        if mark is self._mark:
            self._halt()
            self._label()
            self.studio.fail(error)

    @property
    def _running(self) -> bool:
        return self.run is not None and self.run.running

    # What a person does ---------------------------------------------------------------------------------------------

    def _go(self) -> None:
        settings = self.settings()
        if settings.source == RECORDING:
            self._playback.pause() if self._playback.playing else self._playback.play(settings.play_speed)
        elif self._running:
            self._halt()
        else:
            self._start(settings)
        self._label()

    def _changed(self, name: str) -> None:
        if name in FAULT:
            self._set_fault()
        elif name == "sensor_frames":
            self._redraw()
        elif name == "play_speed":
            self._speed()
        else:
            self._restart()

    def _set_fault(self) -> None:
        if self.run is not None and isinstance(self.run.source, VirtualSource):
            self.run.source.fault = fault_of(self.settings())

    def _seek(self) -> None:
        self._told_time = self._time.value
        self._playback.seek(float(self._told_time))
        self._label()

    def _speed(self) -> None:
        if self._playback.playing:
            self._playback.play(self.settings().play_speed)

    def _record(self) -> None:
        self._recorder.switch(self.run.switch if self.run is not None and self.run.running else None)

    def _keep(self) -> None:
        self._recorder.keep()
        if self.form is not None:
            self.form.list_files()

    # What is seen ---------------------------------------------------------------------------------------------------

    def _take(self, mark: object, sensed: Sensed) -> None:
        """What a run senses; ignored once it has been stopped."""
        if mark is not self._mark:
            return
        snapshot, past = sensed.snapshot, self._past
        if snapshot is not None:
            past.append((snapshot.time, *snapshot.tip, sensed.tip_error, sensed.turn_error))
            while not snapshot.time - HISTORY <= past[0][0] <= snapshot.time:
                past.popleft()
        self._show(sensed)

    def _show(self, sensed: Sensed) -> None:
        self.sensed = sensed
        now, playback = time.monotonic(), self._playback
        slow = now - self._slow_at > SLOW or (playback.loaded and not playback.playing)
        with self.studio.server.atomic():
            self._redraw()
            if slow:
                self._slow_at = now
                self._results.show(sensed, playback.past(HISTORY) if playback.loaded else np.array(self._past))
                self._label()

    def _redraw(self) -> None:
        if self.sensed is not None and self.form is not None:
            self._results.draw(self.sensed, self.form.value("sensor_frames"))

    def _played_to(self, at: float) -> None:
        """Move the time slider, unless a person has just moved it."""
        if self.form is not None and self._time.value == self._told_time:
            self._time.value = min(at, float(self._time.max))
            self._told_time = self._time.value

    def _label(self) -> None:
        """What the button would do, and the state of the recording."""
        if self.form is None:
            return
        source, playback = self.form.value("source"), self._playback
        recorded = source == RECORDING
        if playback.loaded:
            change(self._time, "max", max(round(playback.duration, 2), 0.01))
        change(self._go_button, "label", LABELS[source][playback.playing if recorded else self._running])
        change(self._go_button, "disabled", recorded and not playback.loaded)
        self._recorder.update(live=not recorded)
