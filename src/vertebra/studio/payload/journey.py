"""Follow the leader: a journey of two concentric snakes, computed in a process of its own, drawn and played."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.errors import StudioError
from vertebra.follow.holding import Holding
from vertebra.follow.journey import Journey, Snapshot, follow_the_leader
from vertebra.follow.state import Lock
from vertebra.follow.steps import Snake, read_path
from vertebra.report.follow import COLOURS, GUIDE_COLOUR, HIDDEN, OPACITY, journey_summary, longest_body
from vertebra.report.meshes import quaternions, revolved
from vertebra.report.payload import SPHERE_SIZE, force_text, weakest_text
from vertebra.report.scene import rgb
from vertebra.robot.robot import Robot, load
from vertebra.robot.tables import Floats
from vertebra.studio import palette
from vertebra.studio.form import change
from vertebra.studio.payload.model import Report, direction_of
from vertebra.studio.payload.settings import EXAMPLE_INNER, EXAMPLE_PATHS, SAME_INNER, PayloadSettings
from vertebra.studio.player import PAUSE, PLAY, Player
from vertebra.studio.readout import Plot, Value, light, readout, swatches
from vertebra.studio.state import file_robot

if TYPE_CHECKING:
    from vertebra.studio.form import Form
    from vertebra.studio.scene import Stage
    from vertebra.studio.studio import Studio

SIZE, MASS = 0.5, 0.35
"""Of the inner snake's links, in sizes and masses of the outer one's."""
CHANNEL, CABLES = 0.19, 0.6
"""Length of its channels in link lengths, and radius of its cable circle in radii of its balls."""
AZIMUTHS = (-90.0, 30.0, 150.0)
"""deg, of its cables."""
RADIUS, ANGLE = 0.62, 1.5
"""Of the arc: robot lengths, and rad; all of it is 93 % of the robot's length."""
POINTS = 200


def example_inner(outer: Robot) -> Robot:
    """A snake with links as long as the outer one's, and thinner."""
    joint, link = outer.joints[-1], outer.links[-1]
    radius = SIZE * float(joint["radius"])
    return load(
        {
            "vertebra": 1,
            "name": "example-inner",
            "source": "assumed; no paper states these numbers",
            "sections": [
                {
                    "joints": len(outer.joints),
                    "joint": {
                        "kind": "ball",
                        "radius": radius,
                        "ring_radius": SIZE * float(joint["ring_radius"]),
                        "friction": float(joint["friction"]),
                    },
                    "link": {
                        "length": float(joint["size"]),
                        "channel": CHANNEL * float(joint["size"]),
                        "mass": MASS * float(link["mass"]),
                        "diameter": 2 * radius,
                    },
                    "cables": {"radius": CABLES * radius, "azimuth": [math.radians(angle) for angle in AZIMUTHS]},
                }
            ],
        }
    )


def example_path(robot: Robot, name: str) -> Floats:
    """(N, 3) m from the entry: an arc, or an S that leaves its plane."""
    if name not in EXAMPLE_PATHS:
        raise StudioError("path", f"there is no example {name!r}; there are {', '.join(EXAMPLE_PATHS)}")
    along = np.linspace(0.0, 1.0, POINTS)
    radius = RADIUS * robot.length
    if name == EXAMPLE_PATHS[0]:
        angle = ANGLE * along
        return radius * np.column_stack([1 - np.cos(angle), 0 * angle, np.sin(angle)])
    lean, twist = 0.9 * np.sin(2 * math.pi * along), math.pi * along
    step = np.column_stack([np.sin(lean) * np.cos(twist), np.sin(lean) * np.sin(twist), np.cos(lean)])
    middles = (step[1:] + step[:-1]) / 2 * (ANGLE * radius / (POINTS - 1))
    return np.vstack([np.zeros(3), np.cumsum(middles, axis=0)])


# The computation.

MOST_SAMPLES, MOST_FRAMES = 6, 60_000
"""Pictures of a step that moves something, and frames of links in all pictures of a journey."""


@dataclass(frozen=True, eq=False)
class PlayedJourney:
    """A journey and its pictures."""

    journey: Journey
    pictures: tuple[Snapshot, ...]


def follow(
    outer: Robot, settings: PayloadSettings, gravity: Floats, inner: Path | None, path: Path | None, *, report: Report
) -> PlayedJourney:
    """`vertebra.follow_the_leader` of the robot around an inner snake; continues where the rigid snake does not hold.

    `inner`, `path`: files; None for the example that the settings name.
    """
    report(0.0)
    journey = follow_the_leader(
        outer, _inner(outer, settings, inner), example_path(outer, settings.path) if path is None else read_path(path),
        outer_tensions=settings.tensions, inner_tensions=settings.inner_tension or 0.0, gravity=gravity,
        tip_load=settings.tip_load * direction_of(settings, gravity), come_back=settings.come_back, check=False,
    )  # fmt: skip
    report(0.7)
    return PlayedJourney(journey, chosen_pictures(journey))


def _inner(outer: Robot, settings: PayloadSettings, file: Path | None) -> Robot:
    if file is not None:
        return file_robot(file.name, file.read_bytes())[0]
    return outer if settings.inner == SAME_INNER else example_inner(outer)


def chosen_pictures(journey: Journey) -> tuple[Snapshot, ...]:
    """As many pictures as can be kept: fewer of each step, then not of every step."""
    links = len(journey.pair.outer.links) + len(journey.pair.inner.links)
    room = max(MOST_FRAMES // links, 2)
    samples = max(1, min(MOST_SAMPLES, room // max(len(journey.steps), 1)))
    snapshots = journey.frames(samples)
    kept = np.unique(np.linspace(0, len(snapshots) - 1, min(room, len(snapshots))).round().astype(int))
    return tuple(snapshots[i] for i in kept.tolist())


# In words and numbers, at one instant and as a whole.

HEADROOM = 1.2
"""Loads without limit are drawn this far above the largest one that has a limit."""


def journey_text(journey: Journey, snapshot: Snapshot) -> str:
    """HTML of the present step and of the journey as a whole."""
    found = journey.holdings[snapshot.step - 1] if snapshot.step else None
    outer, inner = snapshot.links_out
    values = [
        Value("payload-step", "step", snapshot.label),
        Value("payload-lock", "now", str(snapshot.lock)),
        Value("payload-out", "links outside", f"{outer} outer, {inner} inner"),
        *_holding(found),
    ]
    whole = [
        Value(f"payload-journey-{label.replace(' ', '-')}", label, text)
        for label, text, *_ in journey_summary(journey, "").rows
    ]
    return (
        _light(found) + readout("This step", values) + swatches((colour, name) for name, colour in COLOURS.values())
        + readout("The journey", whole)
    )  # fmt: skip


def carried(journey: Journey) -> tuple[Floats, list[tuple[str, Floats]]]:
    """Steps after which one snake is loose, and lines over them, N: what the other carries at the tip, what it must."""
    rows = [(step, found) for step, found in enumerate(journey.holdings, 1) if found is not None]
    forces = np.array([found.force for _, found in rows])
    finite = forces[np.isfinite(forces)]
    top = HEADROOM * float(finite.max()) if len(finite) and finite.max() > 0 else 1.0
    name = "carries (N)" if len(finite) == len(forces) else "carries (N), no limit at the top"
    wanted = np.array([found.wanted for _, found in rows])
    return np.array([float(step) for step, _ in rows]), [(name, np.minimum(forces, top)), ("wanted (N)", wanted)]


def _light(found: Holding | None) -> str:
    if found is None:
        return light("payload-holds", True, "Both snakes are rigid")
    verdict = f"The rigid {found.rigid} snake {'holds' if found.holds else 'does not hold'}"
    return light("payload-holds", found.holds, verdict)


def _holding(found: Holding | None) -> list[Value]:
    """The same lines whether or not a snake is loose, so that nothing jumps while the journey is played."""
    texts = ("-", "-", "-")
    if found is not None:
        texts = force_text(found.force), force_text(found.margin), weakest_text(found.joint, found.payload.mode)
    labels = (("carries", "carries at the tip"), ("margin", "margin above the tip load"), ("gives", "gives way"))
    return [Value(f"payload-{key}", label, text) for (key, label), text in zip(labels, texts, strict=True)]


# In the scene and on the page.

SECTORS = 16
PATH_COLOUR = rgb(palette.LINES[3])
"""Of the tip's path; seen on light and on dark."""
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
                color=rgb(GUIDE_COLOUR), opacity=0.3, side="double", **_PLAIN,
            ),
            self._line("way", longest_body(journey), PATH_COLOUR),
        ]  # fmt: skip
        if journey.plan is not None:
            self._nodes.append(self._line("wanted", journey.plan.path, palette.GHOST))
        self._ball = self._scene.add_icosphere(
            "/journey/weakest", radius=1.0, color=palette.WEAKEST, opacity=0.6, visible=False, **_PLAIN
        )

    def draw(self, snapshot: Snapshot) -> None:
        """Put the links where they are, and mark the joint that would give way first. Call within `atomic()`."""
        for snake, frames in ((Snake.OUTER, snapshot.outer), (Snake.INNER, snapshot.inner)):
            node = self._links[snake]
            node.batched_positions = (self._scale * frames[:, :3, 3]).astype(np.float32)
            node.batched_wxyzs = quaternions(frames).astype(np.float32)
            node.batched_scales = self._shown(frames)
            node.batched_colors = np.array(rgb(COLOURS[snake, snapshot.lock is LOOSE[snake]][1]), np.uint8)
        self._mark(snapshot)

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

    def _mark(self, snapshot: Snapshot) -> None:
        found = self._journey.holdings[snapshot.step - 1] if snapshot.step else None
        visible = found is not None and found.joint > 0
        change(self._ball, "visible", visible)
        if found is None or not visible:
            return
        frames = snapshot.outer if found.rigid is Snake.OUTER else snapshot.inner
        radius = float(self._journey.pair.robot(found.rigid).joints["radius"][found.joint - 1])
        self._ball.scale = SPHERE_SIZE * self._scale * radius
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
    a person leaves it."""

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
            self._play = studio.when(gui.add_button(PAUSE, visible=False), self._play_pressed)
            self._step = studio.when(gui.add_slider("Step", 0, 1, 1, 0, visible=False), self._step_chosen)
            self._leave = studio.when(gui.add_button("Back to the payload", visible=False), left)

    def results(self) -> None:
        """Add what shows the answers."""
        gui = self._studio.server.gui
        self._text = gui.add_html("", visible=False)
        self._plot = Plot(gui, "What the rigid snake carries", "step", "load at the tip (N)", counted=True)

    # A journey ------------------------------------------------------------------------------------------------------

    def start(self, settings: PayloadSettings, gravity: Floats) -> None:
        """Compute a journey, and play it."""
        studio, folder = self._studio, self._studio.folder
        inner = None if settings.inner in (EXAMPLE_INNER, SAME_INNER) else folder.read_path(settings.inner)
        path = None if settings.path in EXAMPLE_PATHS else folder.read_path(settings.path)
        studio.status.working(0.0, "Computing the journey ...")
        studio.jobs.start(
            follow, studio.robot, settings, gravity, inner, path, done=self._ready, failed=studio.fail,
            progress=lambda share: studio.status.working(share, "Computing the journey ..."),
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
        self._player.load(np.arange(float(len(played.pictures))) * PICTURE_TIME)
        self._show(0)
        self._player.play()

    def leave(self) -> None:
        """Remove the journey from the scene and show the robot again."""
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
        self._play.label = PAUSE

    def _show(self, row: int) -> None:
        if self.played is None or self._snakes is None:
            return
        snapshot = self.played.pictures[row]
        changed = snapshot.step != self.played.pictures[self._row % len(self.played.pictures)].step or row == 0
        self._row = row
        with self._studio.server.atomic():
            self._snakes.draw(snapshot)
            if changed or not self._player.playing:
                self._text.content = journey_text(self.played.journey, snapshot)

    def _moved(self, time: float) -> None:
        if self.played is not None:
            self._step.value = self.played.pictures[self._row].step

    def _ended(self) -> None:
        self._play.label = PLAY

    def _play_pressed(self) -> None:
        if self._player.playing:
            self._player.pause()
            self._play.label = PLAY
        else:
            self._player.play()
            self._play.label = PAUSE

    def _step_chosen(self) -> None:
        """Show the end of a step."""
        if self.played is None:
            return
        self._player.pause()
        self._play.label = PLAY
        rows = [row for row, snapshot in enumerate(self.played.pictures) if snapshot.step <= int(self._step.value)]
        self._player.seek(PICTURE_TIME * rows[-1])
