"""Follow the leader: two concentric snakes along a path, played step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.errors import StudioError
from vertebra.robot.tables import Floats
from vertebra.studio.payload import model
from vertebra.studio.payload.jobs import PlayedJourney, follow
from vertebra.studio.payload.journey_text import carried, journey_text
from vertebra.studio.payload.settings import EXAMPLE_INNER, EXAMPLE_PATHS, SAME_INNER, PayloadSettings
from vertebra.studio.payload.snakes import Snakes
from vertebra.studio.player import Player
from vertebra.studio.plots import Plot

if TYPE_CHECKING:
    from vertebra.studio.studio import Studio

INNERS = (EXAMPLE_INNER, SAME_INNER)
PICTURE_TIME = 0.05
"""s for each picture."""
TIGHTER = 2.0
"""Usual tension of the inner snake in that of the outer one: its balls are half as large."""


class JourneyPanel:
    """Controls, scene and results of a journey: `asked` is called to start one, `begun` before it is shown, `left` when
    a person wants it no more."""

    def __init__(
        self, studio: Studio, asked: Callable[[], None], begun: Callable[[], None], left: Callable[[], None]
    ) -> None:
        self._studio, self._begun = studio, begun
        gui, robot = studio.server.gui, studio.robot
        self.played: PlayedJourney | None = None
        """The one in the scene."""
        self._snakes: Snakes | None = None
        self._row = 0
        self._player = Player(studio.loop.post, self._show, self._moved, self._ended)
        most = TIGHTER * model.most_tension(robot)
        with gui.add_folder("Follow the leader", expand_by_default=False):
            self._inner = studio.when(gui.add_dropdown("Inner snake", INNERS), left)
            self._path = studio.when(gui.add_dropdown("Path", EXAMPLE_PATHS), left)
            self._tension = studio.when(
                gui.add_slider("Inner (N)", 0.0, most, most / 200, TIGHTER * model.usual_tension(robot)), left
            )
            limit = model.most_tension(robot) / 10
            self._load = studio.when(gui.add_slider("Tip load (N)", 0.0, limit, limit / 200, 0.0), left)
            self._back = studio.when(gui.add_checkbox("Come back", False), left)
            studio.when(gui.add_button("Start the journey"), asked)
            self._play = studio.when(gui.add_button("Pause", visible=False), self._play_pressed)
            self._step = studio.when(gui.add_slider("Step", 0, 1, 1, 0, visible=False), self._step_chosen)
            self._leave = studio.when(gui.add_button("Back to the payload", visible=False), left)
        self.refresh()

    def results(self) -> None:
        """Add what shows the answers."""
        self._text = self._studio.server.gui.add_html("", visible=False)
        self._plot = Plot(self._studio.server.gui, "What the rigid snake carries", "step", "load at the tip (N)")

    def refresh(self) -> None:
        """Look for files again."""
        folder = self._studio.folder
        for handle, own, suffixes in (
            (self._inner, INNERS, (".yaml", ".yml", ".json")),
            (self._path, EXAMPLE_PATHS, (".csv",)),
        ):
            names = (*own, *folder.names(suffixes))
            if tuple(handle.options) != names:
                value = handle.value
                handle.options = names
                handle.value = value if value in names else own[0]

    # State ----------------------------------------------------------------------------------------------------------

    def fields(self) -> dict[str, Any]:
        """What is set, by names of `PayloadSettings`."""
        return {
            "inner": str(self._inner.value),
            "path": str(self._path.value),
            "inner_tension": float(self._tension.value),
            "tip_load": float(self._load.value),
            "come_back": bool(self._back.value),
        }

    def check(self, settings: PayloadSettings) -> None:
        """StudioError for files that are not there."""
        self.refresh()
        for name, handle in (("inner", self._inner), ("path", self._path)):
            if getattr(settings, name) not in handle.options:
                raise StudioError(f"tabs.payload.{name}", f"there is no file {getattr(settings, name)!r} in the folder")

    def restore(self, settings: PayloadSettings) -> None:
        """Set everything; settings were checked."""
        self._inner.value, self._path.value = settings.inner, settings.path
        self._back.value = settings.come_back
        for slider, value in ((self._tension, settings.inner_tension), (self._load, settings.tip_load)):
            if value is not None:
                slider.max = max(slider.max, value)
                slider.value = value

    # A journey ------------------------------------------------------------------------------------------------------

    def start(self, settings: PayloadSettings, gravity: Floats) -> None:
        """Compute a journey, and play it."""
        studio, folder = self._studio, self._studio.folder
        inner = None if settings.inner in INNERS else folder.read_path(settings.inner)
        path = None if settings.path in EXAMPLE_PATHS else folder.read_path(settings.path)
        studio.status.working(0.0, "The snakes set out ...")
        studio.jobs.start(
            follow, studio.robot, settings, gravity, inner, path, done=self._ready, failed=studio.fail,
            progress=lambda share: studio.status.working(share, "The snakes set out ..."),
        )  # fmt: skip

    def _ready(self, played: PlayedJourney) -> None:
        studio = self._studio
        studio.status.clear()
        self.leave()
        self.played = played
        with studio.server.atomic():
            self._begun()
            assert studio.stage.view is not None
            studio.stage.view.show(False)
            self._snakes = Snakes(studio.stage, played.journey)
            self._step.max = max(len(played.journey.steps), 1)
            self._arrange(True)
            steps, lines = carried(played.journey)
            if len(steps):
                self._plot.show(steps, lines)
        self._player.load(np.arange(float(len(played.moments))) * PICTURE_TIME)
        self._show(0)
        self._player.play()

    def leave(self) -> None:
        """Take the journey out of the scene, and the robot back."""
        self._player.pause()
        self.played = None
        if self._snakes is None:
            return
        with self._studio.server.atomic():
            self._snakes.remove()
            self._snakes = None
            assert self._studio.stage.view is not None
            self._studio.stage.view.show(True)
            self._plot.hide()
            self._arrange(False)

    def _arrange(self, playing: bool) -> None:
        for handle in (self._play, self._step, self._leave, self._text):
            handle.visible = playing
        self._play.label = "Pause"

    def _show(self, row: int) -> None:
        if self.played is None or self._snakes is None:
            return
        moment = self.played.moments[row]
        changed = moment.step != self.played.moments[self._row % len(self.played.moments)].step or row == 0
        self._row = row
        with self._studio.server.atomic():
            self._snakes.draw(moment)
            if changed or not self._player.playing:
                self._text.content = journey_text(self.played.journey, moment)

    def _moved(self, time: float) -> None:
        if self.played is not None:
            self._step.value = self.played.moments[self._row].step

    def _ended(self) -> None:
        self._play.label = "Play"

    def _play_pressed(self) -> None:
        if self._player.playing:
            self._player.pause()
            self._play.label = "Play"
        else:
            self._player.play()
            self._play.label = "Pause"

    def _step_chosen(self) -> None:
        """Stand at the end of a step."""
        if self.played is None:
            return
        self._player.pause()
        self._play.label = "Play"
        rows = [row for row, moment in enumerate(self.played.moments) if moment.step <= int(self._step.value)]
        self._player.seek(PICTURE_TIME * rows[-1])
