"""Motion: simulate the robot under its cables, or see which tensions a motion needs; play it, and save it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from vertebra.errors import StudioError
from vertebra.mechanics.kinematics import Pose
from vertebra.robot.robot import Robot
from vertebra.statics.shape import Status
from vertebra.studio.form import Form
from vertebra.studio.limits import check_samples, checked_steps
from vertebra.studio.motion.model import Start, lacks, plan_motion, simulate_motion, start_from, sway_samples
from vertebra.studio.motion.motion import Motion, MotionPlots, motion_recording, motion_text, now_text
from vertebra.studio.motion.settings import MotionSettings
from vertebra.studio.player import Playback
from vertebra.studio.readout import light, notes
from vertebra.studio.scene import Picture
from vertebra.studio.shape.model import solve
from vertebra.studio.shape.settings import has_statics
from vertebra.studio.shape.tab import ShapeTab
from vertebra.studio.tab import Tab

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio

STARTS_RUN = ("source", "fill_inertia", "pattern", "file", "method")
"""Settings whose change starts the computation; the others wait for Run."""
MARK_EVERY = 2
"""While a motion plays, the line in the plots moves with every second update of the numbers."""


class MotionTab(Tab[MotionSettings]):
    """Source, drive and playback on the left; verdict, the present instant and plots over time on the right."""

    name, title, settings_type = "motion", "Motion", MotionSettings

    motion: Motion | None = None
    """What is played."""
    _started: Start | None = None
    """Where it began, to tell whether the Shape tab has changed since."""
    _running = False
    _ticks = 0

    def __init__(self, studio: Studio) -> None:
        super().__init__(studio)
        self.playback = Playback(self, self._show, self._tell)

    def controls(self) -> None:
        robot, gui, playback = self.studio.robot, self.gui, self.playback
        self.motion, self._started, self._running = None, None, False
        form = self.form = Form(self.studio, MotionSettings, "tabs.motion", self._changed)
        form.add("source", "fill_inertia")
        helps = bool(lacks(robot, False)) and not lacks(robot, True)
        form.show_when(form.handles("fill_inertia")[0], lambda s: helps)
        self._run_button = self.when(gui.add_button("Run"), self.run)
        self._stop_button = self.when(gui.add_button("Stop", disabled=True), self._stop)
        playback.controls()
        form.bind("speed", lambda: playback.speed, lambda speed: setattr(playback, "speed", speed))
        form.bind("repeat", lambda: playback.repeat, lambda repeat: setattr(playback, "repeat", repeat))
        with form.folder("Tensions after the start", shown=lambda s: s.source == "simulate" and len(robot.cables) > 0):
            form.add("pull", "cable", "amplitude", "frequency", "tensions")
        with form.folder("Simulation", shown=lambda s: s.source == "simulate"):
            form.add("duration", "damping", "step_ms")
        with form.folder("Sway", shown=lambda s: s.source == "sway"):
            form.add("pattern", "amplitude_deg", "period")
        with form.folder("Trajectory file", shown=lambda s: s.source == "file"):
            form.add("file")
        with form.folder("Tensions", shown=lambda s: s.source != "simulate"):
            form.add("method", "most_tension")
            limits = robot.cables["max_tension"]
            unlimited = len(limits) > 0 and not np.isfinite(limits).all()
            form.show_when(form.handles("most_tension")[0], lambda s: unlimited)
        form.arrange()

    def results(self) -> None:
        self._about = self.gui.add_html("")
        self._now = self.gui.add_html("")
        self._plots = MotionPlots(self.gui)

    # Events ---------------------------------------------------------------------------------------------------------

    def shown(self) -> None:
        self._shape_tab.when_solved(self._show_from_shape)

    def _show_from_shape(self) -> None:
        assert self.form is not None
        self.form.list_files()
        start = self._start()
        self.form.adopt("tensions", start.tensions.tolist())
        if self.motion is None or not start.same(self._started):
            self._show_start(start)
            self._run_from(start)
        else:
            self._show(self.motion.row_at(self.playback.player.time))

    def hidden(self) -> None:
        self.playback.pause()
        self._shape_tab.stop()
        self._cancel()

    def removed(self) -> None:
        self.playback.empty()
        self.motion, self._running = None, False

    def run(self) -> None:
        """Compute what is set, and play it."""
        self._shape_tab.when_solved(lambda: self._run_from(self._start()))

    def _run_from(self, start: Start) -> None:
        robot, settings = self.studio.robot, self.settings()
        problem = lacks(robot, settings.fill_inertia)
        self._run_button.disabled = bool(problem)
        if problem:
            self._refuse(problem)
            return
        if settings.source == "simulate":
            work = partial(self.studio.jobs.start, simulate_motion, robot, start, settings)
        elif settings.source == "file" and not settings.file:
            self._outdated("Choose a trajectory file: CSV with time_s, q1_deg, q2_deg, ..., in the studio's folder")
            return
        else:
            path = self.studio.folder.read_path(settings.file) if settings.source == "file" else None
            work = partial(self.studio.jobs.start, plan_motion, robot, start, settings, path)
        self._started = start
        if self.motion is None:
            self._about.content = ""  # a refusal that no longer holds
        self._busy(True)
        self._working(0.0)
        work(done=self._done, failed=self._failed, progress=self._working)

    def _changed(self, name: str) -> None:
        """A choice starts the computation; another number makes what is played outdated until Run is pressed."""
        if name in STARTS_RUN:
            assert self.form is not None
            self.form.list_files()
            self.run()
        elif not self._running:
            self._outdated("Settings have changed: press Run")

    def _stop(self) -> None:
        self._cancel()
        self.studio.status.say("Stopped.")

    def _cancel(self) -> None:
        if self._running:
            self.studio.jobs.cancel()
            self._busy(False)
            self.studio.status.clear()

    def _busy(self, busy: bool) -> None:
        self._running = busy
        self._stop_button.disabled = not busy

    def _working(self, share: float) -> None:
        words = "Simulating" if self.settings().source == "simulate" else "Finding tensions"
        self.studio.status.working(share, f"{words}: {100 * share:.0f} %")

    def _failed(self, error: Exception) -> None:
        self._busy(False)
        self._outdated("That could not be computed")
        self.studio.fail(error)

    def _done(self, motion: Motion) -> None:
        self._busy(False)
        self.studio.status.clear()
        self.load(motion)
        if self.studio.tab is self:
            self.playback.play()

    # Showing --------------------------------------------------------------------------------------------------------

    def load(self, motion: Motion) -> None:
        """Take a motion and show its start."""
        self.motion = motion
        with self.studio.server.atomic():
            self.playback.load(motion.time)
            self._about.content = motion_text(motion)
            self._plots.load(motion)
            self._plots.mark(float(motion.time[0]))
            self._now.content = now_text(motion, 0)
            self._show(0)

    def _show(self, row: int) -> None:
        """One frame of the scene."""
        motion = self.motion
        if motion is None or self.studio.tab is not self:
            return
        poses = Pose(motion.robot, motion.angles[row]).frames
        self.studio.stage.draw(Picture(poses, motion.tensions_at(row), motion.highest, motion.gravity))

    def _tell(self, time: float) -> None:
        """Numbers and plots of one instant."""
        if self.motion is None or self.studio.tab is not self:
            return
        self._ticks += 1
        with self.studio.server.atomic():
            self._now.content = now_text(self.motion, self.motion.row_at(time))
            if self._ticks % MARK_EVERY == 0 or not self.playback.player.playing:
                self._plots.mark(time)

    def _show_start(self, start: Start) -> None:
        self.studio.stage.draw(Picture(Pose(self.studio.robot, start.angles).frames, gravity=start.gravity))

    def _outdated(self, words: str) -> None:
        """The motion that is there, if any, is not what is set."""
        earlier = "" if self.motion is None else notes(["Below: the previous motion."]) + motion_text(self.motion)
        self._about.content = light("motion-outdated", None, words) + earlier

    def _refuse(self, problem: str) -> None:
        """This robot has no dynamics."""
        self._cancel()
        self.motion = None
        self.playback.empty()
        self._plots.load(None)
        self._now.content = ""
        self._about.content = light("motion-status", None, "No motion without dynamics") + notes([problem])

    @property
    def _shape_tab(self) -> ShapeTab:
        tab = self.studio.tabs["shape"]
        assert isinstance(tab, ShapeTab)
        return tab

    def _start(self) -> Start:
        """Where the robot is in the Shape tab, also when that has not been looked at yet."""
        tab, robot = self._shape_tab, self.studio.robot
        shape = tab.shape
        if tab.answer is None and has_statics(robot):
            found = solve(robot, tab.settings()).shape
            shape = found if found.status == Status.SOLVED else None
        return start_from(shape, robot)

    # State ----------------------------------------------------------------------------------------------------------

    def check_work(self, settings: MotionSettings, robot: Robot) -> None:
        if settings.source == "simulate" and settings.step_ms:
            checked_steps(robot, settings.duration, 1e-3 * settings.step_ms, "tabs.motion.duration")
        elif settings.source == "sway":
            check_samples(robot, sway_samples(settings.period), "tabs.motion.period")

    def restore(self, settings: MotionSettings) -> None:
        assert self.form is not None
        self.form.check(settings)
        self._cancel()
        self.form.write(settings)
        self.playback.empty()
        self.motion = None

    def recording(self) -> tuple[str, bytes]:
        motion = self.motion
        if motion is None:
            raise StudioError("recording", "there is no motion yet; press Run in the tab Motion")
        return motion_recording(motion)
