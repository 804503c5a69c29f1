"""Payload: how much load until a link of a friction-locked robot slips, and which joint gives way."""

from __future__ import annotations

from typing import Any

import numpy as np

from vertebra.locked.best import BestTensions
from vertebra.mechanics.kinematics import Pose
from vertebra.report.payload import axis_top
from vertebra.robot.tables import Floats
from vertebra.studio.form import Form, put
from vertebra.studio.payload.journey import JourneyPanel
from vertebra.studio.payload.model import (
    PayloadAnswer,
    answer_text,
    best_sentence,
    best_text,
    body_text,
    check,
    find_best,
    has_balls,
    other_joints_text,
    solve,
)
from vertebra.studio.payload.settings import (
    AS_IN_SHAPE,
    TIP,
    PayloadSettings,
    most_tension,
    tension_step,
    usual_tension,
)
from vertebra.studio.payload.view import PayloadView
from vertebra.studio.readout import Plot
from vertebra.studio.scene import Picture
from vertebra.studio.shape.model import gravity_of
from vertebra.studio.shape.settings import ShapeSettings
from vertebra.studio.tab import Tab

MANY = 6
"""Cables beyond this number are folded away: one slider for all is left."""


class PayloadTab(Tab[PayloadSettings]):
    """Shape, cables and load on the left; payload, weakest joint and contacts on the right; a journey beside."""

    name, title, settings_type = "payload", "Payload", PayloadSettings

    answer: PayloadAnswer | None = None
    """The last one."""

    def controls(self) -> None:
        robot, gui = self.studio.robot, self.gui
        self.answer, self.form, self._best = None, None, ""
        if not has_balls(robot):
            gui.add_html(other_joints_text(robot))
            return
        count, self._most = len(robot.cables), most_tension(robot)
        form = self.form = Form(self.studio, PayloadSettings, "tabs.payload", lambda name: self._changed())
        form.add("form", "bend_deg", "azimuth_deg", "from_deg", "to_deg")
        common = gui.add_slider("All cables (N)", 0.0, self._most, tension_step(robot), usual_tension(robot))
        self._common = self.when(common, self._all_pulled)
        self._common.disabled = count == 0
        with form.folder("Each cable", expanded=0 < count <= MANY, visible=count > 0):
            form.add("tensions")
        with form.folder("Load"):
            form.add("link", "toward", "load_azimuth_deg", "load_elevation_deg", "mount", "body")
        with form.folder("Best tensions", expanded=False):
            form.add("goal", "least", "most")
            self.when(gui.add_button("Find the best tensions", disabled=count == 0), self._best_asked)
        self._journey = JourneyPanel(self.studio, form, self._journey_asked, self._clear, self._changed)
        self._view = PayloadView(self.studio.stage)
        form.arrange()

    def results(self) -> None:
        self._text = self.gui.add_html("")
        if self.form is None:
            self._text.content = other_joints_text(self.studio.robot)
            return
        self._plot = Plot(self.gui, "Limit of each joint", "joint", "limit (N)")
        self._legend = self.gui.add_html("")
        self._journey.results()

    def shown(self) -> None:
        if self.form is None:
            robot = self.studio.robot
            straight = Pose(robot, np.zeros(robot.freedoms)).frames
            self.studio.stage.draw(Picture(straight, gravity=self._gravity(PayloadSettings())))
            return
        self.form.list_files()
        first = self.answer is None
        self._show()
        if first:
            self.studio.stage.look()  # across the bend, which the robot of another tab may not have

    def hidden(self) -> None:
        if self.form is None:
            return
        self._stop()
        self._journey.leave()
        self._view.hide()

    def removed(self) -> None:
        if self.form is not None:
            self._journey.leave()
            self._view.remove()

    def _changed(self) -> None:
        """A person has changed something: earlier results no longer apply."""
        self._stop()
        self._best = ""
        self._journey.leave()
        self._show()

    def _stop(self) -> None:
        """End what is computed for other settings."""
        if self.studio.jobs.busy:
            self.studio.jobs.cancel()
            self.studio.status.clear()

    def _show(self) -> None:
        settings = self.settings()
        gravity = self._gravity(settings)
        self.answer = answer = solve(self.studio.robot, settings, gravity)
        with self.studio.server.atomic():
            picture = Picture(answer.case.frames, answer.found.tensions, self._most, gravity)
            self.studio.stage.draw(picture)
            self._view.draw(answer)
            self._text.content = self._best + answer_text(answer, self._most)
            self._text.visible = True
            self._show_limits(answer)
            self._legend.content = body_text(answer.body, self._view.colours) if answer.body is not None else ""
            self._legend.visible = answer.body is not None

    def _show_limits(self, answer: PayloadAnswer) -> None:
        """Limits over the joints, cut where a few large ones would hide the others."""
        found, top = answer.found, axis_top(answer.found)
        limits = np.minimum(found.limits, top)
        cut = f"limit (N), cut at {top:.3g}" if (found.limits > top).any() else "limit (N)"
        lines = [(cut, limits), ("payload (N)", np.full_like(limits, min(found.force, top)))]
        self._plot.show(np.arange(1.0, len(limits) + 1), lines)

    def _gravity(self, settings: PayloadSettings) -> Floats:
        shape: Any = self.studio.tabs["shape"].settings()
        mount = shape if settings.mount == AS_IN_SHAPE else ShapeSettings(mount=settings.mount)
        return gravity_of(self.studio.robot, mount)

    def _all_pulled(self) -> None:
        assert self.form is not None
        self.form.set("tensions", [float(self._common.value)] * len(self.form.handles("tensions")))
        self._changed()

    def _pull(self, tensions: tuple[float, ...]) -> None:
        """Set the cables, N, and the slider of all where they are equal."""
        assert self.form is not None
        self.form.set("tensions", tensions)
        if len(set(tensions)) == 1:
            put([self._common], tensions)

    # Best tensions --------------------------------------------------------------------------------------------------

    def _best_asked(self) -> None:
        settings, studio = self.settings(), self.studio
        self._journey.leave()
        studio.status.working(0.0, "Finding the best tensions ...")
        studio.jobs.start(
            find_best, studio.robot, settings, self._gravity(settings),
            done=lambda found: self._best_found(found, settings.goal), failed=studio.fail,
        )  # fmt: skip

    def _best_found(self, found: BestTensions, goal: str) -> None:
        self._pull(tuple(found.tensions.tolist()))
        self._best = best_text(found, goal)
        self._show()
        self.studio.status.working(None)
        self.studio.status.say(best_sentence(found))
        self.studio.share.changed()

    # Follow the leader ----------------------------------------------------------------------------------------------

    def _journey_asked(self) -> None:
        settings = self.settings()
        self._journey.start(settings, self._gravity(settings))

    def _clear(self) -> None:
        """Room for a journey."""
        self._view.hide()
        self._text.visible = self._legend.visible = False
        self._plot.hide()

    # State ----------------------------------------------------------------------------------------------------------

    def restore(self, settings: PayloadSettings) -> None:
        robot = self.studio.robot
        check(robot, settings)
        if self.form is None:
            return
        if settings.link == len(robot.links) - 1:
            settings = settings.model_copy(update={"link": TIP})
        self.form.check(settings)
        self._journey.leave()
        self.form.write(settings)
        self._pull(self.settings().tensions)
        self._best = ""
