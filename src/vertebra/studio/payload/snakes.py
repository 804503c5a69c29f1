"""Two concentric snakes in the scene: the inner one seen through the outer one, loose ones in other colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vertebra.follow.journey import Journey, Moment
from vertebra.follow.state import Lock
from vertebra.follow.steps import Snake
from vertebra.report.follow import COLOURS, GUIDE_COLOUR, HIDDEN, OPACITY, longest_body
from vertebra.report.meshes import revolved
from vertebra.report.payload import RING_SIZE
from vertebra.robot.tables import Floats
from vertebra.studio.scene import palette
from vertebra.studio.scene.poses import quaternions

if TYPE_CHECKING:
    from vertebra.studio.scene.stage import Stage

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

    def draw(self, moment: Moment) -> None:
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

    def _mark(self, moment: Moment) -> None:
        found = self._journey.holdings[moment.step - 1] if moment.step else None
        visible = found is not None and found.joint > 0
        if self._ball.visible != visible:
            self._ball.visible = visible
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
