"""Sense: the shape that a network of orientation sensors sees, live from a robot or a virtual one, or recorded."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from vertebra.errors import StudioError
from vertebra.mechanics.kinematics import Pose
from vertebra.studio.form import Form, change
from vertebra.studio.readout import light, notes
from vertebra.studio.scene import Picture
from vertebra.studio.sense.recorder import LIMITS, NOTHING, RecorderSwitch, RecordingControls
from vertebra.studio.sense.replay import RecordingPlayer
from vertebra.studio.sense.run import Sensed, SenseRun
from vertebra.studio.sense.settings import (
    BUS,
    NO_FILE,
    RECORDING,
    VIRTUAL,
    SenseSettings,
    is_recording,
    is_virtual,
)
from vertebra.studio.sense.sources import (
    BusSource,
    Source,
    VirtualSource,
    checked_url,
    fault_of,
    make_estimator,
    why_not,
)
from vertebra.studio.sense.text import Results
from vertebra.studio.tab import Tab

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio

SLOW = 0.25
"""s between two changes of tables and plots; the robot itself moves with every snapshot."""
HISTORY = 20.0
"""s shown in the plots."""


FAULT = ("sensor", "silent", "magnet", "magnet_deg")
"""Settings that take effect while the virtual robot runs."""
SIMULATED = (
    "Simulated sensors on a moving robot, in this process and in real time; no hardware, no bus. "
    "Solid: as sensed. Pale: as it really is."
)
LABELS = {VIRTUAL: ("Start", "Stop"), BUS: ("Connect", "Disconnect"), RECORDING: ("Play", "Pause")}
WAITING = {
    VIRTUAL: "The virtual robot is starting.",
    BUS: "Not connected: name the bus and press Connect.",
    RECORDING: "No recording is open: choose a file of frames (.blf, .log, .csv) or of shapes (.mcap) in the folder.",
}


class SenseTab(Tab[SenseSettings]):
    """Source, method and trouble on the left; estimate, errors and sensors on the right; true robot as a ghost."""

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
