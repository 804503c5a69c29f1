"""A journey on the page: its controls, two concentric snakes in the scene, played step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.follow.journey import Journey, Snapshot
from vertebra.follow.state import Lock
from vertebra.follow.steps import Snake
from vertebra.report.follow import COLOURS, GUIDE_COLOUR, HIDDEN, OPACITY, longest_body
from vertebra.report.meshes import revolved
from vertebra.report.payload import RING_SIZE
from vertebra.robot.tables import Floats
from vertebra.studio.form import change
from vertebra.studio.payload.journey import PlayedJourney, carried, follow, journey_text
from vertebra.studio.payload.settings import EXAMPLE_INNER, EXAMPLE_PATHS, SAME_INNER, PayloadSettings
from vertebra.studio.player import Player
from vertebra.studio.readout import Plot
from vertebra.studio.scene import palette
from vertebra.studio.scene.robot_view import quaternions

if TYPE_CHECKING:
    from vertebra.studio.form import Form
    from vertebra.studio.scene.stage import Stage
    from vertebra.studio.studio import Studio

SECTORS = 16
WAY = palette.rgb("#CC79A7")
"""Of the line that the tip has gone; seen on light and on dark."""
LOOSE = {Snake.OUTER: Lock.OUTER_LOOSE, Snake.INNER: Lock.INNER_LOOSE}
_PLAIN: dict[str, Any] = {"cast_shadow": False, "receive_shadow": False}


class Snakes:
    """Nodes of one journey; `remove` takes them out."""

    def __init__(self, stage: Stage, journey: Journey) -> None:
        self._journey, self._scale, self._scene = journey, stage.scale, stage.scene
        self._links = {snake: self._body(snake) for snake in Snake}
        pair = journey.pair
        radius, depth = 0.62 * float(pair.outer.links["diameter"][-1]), HIDDEN * pair.link_length
        guide = revolved([(radius, -depth), (radius, 0.0)], 24)
        self._nodes: list[Any] = [
            self._scene.add_mesh_simple(
                "/journey/guide", (self._scale * guide.vertices).astype(np.float32), guide.triangles.astype(np.uint32),
                color=palette.rgb(GUIDE_COLOUR), opacity=0.3, side="double", **_PLAIN,
            ),
            self._line("way", longest_body(journey), WAY),
        ]  # fmt: skip
        if journey.plan is not None:
            self._nodes.append(self._line("wanted", journey.plan.path, palette.GHOST))
        self._ball = self._scene.add_icosphere(
            "/journey/weakest", radius=1.0, color=palette.WEAKEST, opacity=0.6, visible=False, **_PLAIN
        )

    def draw(self, moment: Snapshot) -> None:
        """Put the links where they are, and mark the joint that would give way first. Call within `atomic()`."""
        for snake, frames in ((Snake.OUTER, moment.outer), (Snake.INNER, moment.inner)):
            node = self._links[snake]
            node.batched_positions = (self._scale * frames[:, :3, 3]).astype(np.float32)
            node.batched_wxyzs = quaternions(frames).astype(np.float32)
            node.batched_scales = self._shown(frames)
            node.batched_colors = np.array(palette.rgb(COLOURS[snake, moment.lock is LOOSE[snake]][1]), np.uint8)
        self._mark(moment)

    def remove(self) -> None:
        """Take all out of the scene."""
        for node in (*self._links.values(), *self._nodes, self._ball):
            node.remove()

    def _body(self, snake: Snake) -> Any:
        """A link as a tapered ring in its own frame: it reaches back to the ball before it."""
        robot, length = self._journey.pair.robot(snake), self._journey.pair.link_length
        radius, count = float(robot.links["diameter"][-1]) / 2, len(robot.links)
        ring = revolved([(0.8 * radius, -0.93 * length), (radius, -0.05 * length)], SECTORS)
        return self._scene.add_batched_meshes_simple(
            f"/journey/{snake}", (self._scale * ring.vertices).astype(np.float32), ring.triangles.astype(np.uint32),
            batched_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)), batched_positions=np.zeros((count, 3)),
            batched_scales=np.zeros(count, np.float32), opacity=None if OPACITY[snake] == 1 else OPACITY[snake],
            side="double", lod="off", **_PLAIN,
        )  # fmt: skip

    def _shown(self, frames: Floats) -> np.ndarray:
        """(links,) 1, or 0 for those too deep in the guide."""
        deepest = (HIDDEN - 1) * self._journey.pair.link_length
        return (frames[:, 2, 3] >= -deepest * (1 + 1e-9)).astype(np.float32)

    def _mark(self, moment: Snapshot) -> None:
        found = self._journey.holdings[moment.step - 1] if moment.step else None
        visible = found is not None and found.joint > 0
        change(self._ball, "visible", visible)
        if found is None or not visible:
            return
        frames = moment.outer if found.rigid is Snake.OUTER else moment.inner
        radius = float(self._journey.pair.robot(found.rigid).joints["radius"][found.joint - 1])
        self._ball.scale = RING_SIZE * self._scale * radius
        self._ball.position = self._scale * frames[found.joint - 1, :3, 3]

    def _line(self, name: str, points: Floats, colour: tuple[int, int, int]) -> Any:
        line = (self._scale * points).astype(np.float32)
        return self._scene.add_line_segments(
            f"/journey/{name}", np.stack([line[:-1], line[1:]], axis=1), colour, thickness=0.004
        )


PICTURE_TIME = 0.05
"""s for each picture."""


class JourneyPanel:
    """Controls, scene and results of a journey: `asked` is called to start one, `begun` before it is shown, `left` when
    a person wants it no more."""

    def __init__(
        self, studio: Studio, form: Form[PayloadSettings], asked: Callable[[], None], begun: Callable[[], None],
        left: Callable[[], None],
    ) -> None:  # fmt: skip
        self._studio, self._begun = studio, begun
        gui = studio.server.gui
        self.played: PlayedJourney | None = None
        """The one in the scene."""
        self._snakes: Snakes | None = None
        self._row = 0
        self._player = Player(studio.loop.post, self._show, self._moved, self._ended)
        with form.folder("Follow the leader", expanded=False):
            form.add("inner", "path", "inner_tension", "tip_load", "come_back")
            studio.when(gui.add_button("Start the journey"), asked)
            self._play = studio.when(gui.add_button("Pause", visible=False), self._play_pressed)
            self._step = studio.when(gui.add_slider("Step", 0, 1, 1, 0, visible=False), self._step_chosen)
            self._leave = studio.when(gui.add_button("Back to the payload", visible=False), left)

    def results(self) -> None:
        """Add what shows the answers."""
        self._text = self._studio.server.gui.add_html("", visible=False)
        self._plot = Plot(self._studio.server.gui, "What the rigid snake carries", "step", "load at the tip (N)")

    # A journey ------------------------------------------------------------------------------------------------------

    def start(self, settings: PayloadSettings, gravity: Floats) -> None:
        """Compute a journey, and play it."""
        studio, folder = self._studio, self._studio.folder
        inner = None if settings.inner in (EXAMPLE_INNER, SAME_INNER) else folder.read_path(settings.inner)
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
