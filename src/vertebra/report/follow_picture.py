"""The journey of two snakes as an animation: plotly frames with a slider, small enough for a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from vertebra.follow.journey import Journey, Moment
from vertebra.follow.state import Lock
from vertebra.follow.steps import Snake
from vertebra.report import traces
from vertebra.report.follow_facts import longest_body
from vertebra.report.player import BYTES_PER_NUMBER, lay_out, play_buttons, slider
from vertebra.report.solids import Mesh, joined, revolved
from vertebra.report.view import View, best_view
from vertebra.robot.tables import Floats

MM = 1e3
COLOURS = {
    (Snake.OUTER, False): ("outer rigid", "#56B4E9"),
    (Snake.OUTER, True): ("outer loose", "#F0B429"),
    (Snake.INNER, False): ("inner rigid", "#0072B2"),
    (Snake.INNER, True): ("inner loose", "#D55E00"),
}
"""Name and colour by snake and by whether it is loose."""
WANTED_COLOUR, HEAD_COLOUR, GUIDE_COLOUR = "#000000", "#882255", "#6E6259"
OPACITY = {Snake.OUTER: 0.35, Snake.INNER: 1.0}
SECTORS = 8
HIDDEN = 2
"""Links inside the guide that are drawn."""
MOST_BYTES = 2_200_000
"""For all moments; plotly itself takes 4.9 MB of a page."""
FRAME_MILLISECONDS = 70
MOST_SAMPLES = 4


class Animation:
    """Moments of a journey, as many as fit, ready to be drawn."""

    def __init__(self, journey: Journey) -> None:
        self.journey = journey
        pair = journey.pair
        self.shown = {
            snake: min(len(pair.robot(snake).joints), len(journey.commands) + HIDDEN) for snake in Snake
        }  # links drawn, from the far end
        self.bodies = {snake: _link_body(journey, snake) for snake in Snake}
        self.moments = _fitting(journey, sum(self.shown.values()) * len(self.bodies[Snake.OUTER].vertices))

    def mesh(self, moment: Moment, snake: Snake) -> Mesh:
        """All drawn links of one snake, mm; links deeper in the guide are drawn at its start, all in one point."""
        frames = (moment.outer if snake is Snake.OUTER else moment.inner)[-self.shown[snake] :]
        deepest = -HIDDEN * self.journey.pair.link_length
        return joined(_placed(self.bodies[snake], frame, deepest) for frame in frames)


def _link_body(journey: Journey, snake: Snake) -> Mesh:
    """A link as a tapered ring, m, in its own frame: it reaches back to the ball before it."""
    robot, length = journey.pair.robot(snake), journey.pair.link_length
    radius = float(robot.links["diameter"][-1]) / 2
    return revolved([(0.8 * radius, -0.93 * length), (radius, -0.05 * length)], SECTORS)


def _placed(body: Mesh, frame: Floats, deepest: float) -> Mesh:
    if frame[2, 3] <= deepest:
        return Mesh(np.tile([0.0, 0.0, deepest * MM], (len(body.vertices), 1)), body.triangles)
    moved = body.moved(frame)
    vertices = moved.vertices.copy()
    vertices[:, 2] = np.maximum(vertices[:, 2], deepest)
    return Mesh(vertices * MM, body.triangles)


def _fitting(journey: Journey, vertices: int) -> tuple[Moment, ...]:
    """As many moments as the page has room for: fewer in each step, then not every one."""
    room = max(int(MOST_BYTES / (3.0 * vertices * BYTES_PER_NUMBER)), 2)
    for samples in range(MOST_SAMPLES, 0, -1):
        moments = journey.frames(samples)
        if len(moments) <= room:
            return moments
    kept = np.unique(np.linspace(0, len(moments) - 1, room).round().astype(int))
    return tuple(moments[i] for i in kept.tolist())


def journey_picture(journey: Journey) -> Any:
    """The plotly figure with its frames; it begins with the last moment, so that it says something before it moves."""
    animation = Animation(journey)
    last = animation.moments[-1]
    figure = go.Figure([*_moving(animation, last, True), *_standing(journey, animation)])
    figure.frames = [
        go.Frame(name=str(number), data=list(_moving(animation, moment, False)), traces=[0, 1])
        for number, moment in enumerate(animation.moments)
    ]
    view = _view(journey, animation)
    _lay_out(figure, journey, animation, view)
    return figure


def _moving(animation: Animation, moment: Moment, whole: bool) -> Iterator[Any]:
    """Both snakes; only what changes unless `whole`."""
    for snake, loose in ((Snake.OUTER, Lock.OUTER_LOOSE), (Snake.INNER, Lock.INNER_LOOSE)):
        mesh = animation.mesh(moment, snake)
        _, colour = COLOURS[snake, moment.lock is loose]
        x, y, z = mesh.vertices.T.astype(np.float32)
        if whole:
            yield traces.body(mesh, colour, OPACITY[snake], hoverinfo="skip", name=f"{snake} snake")
        else:
            yield go.Mesh3d(x=x, y=y, z=z, color=colour)


def _standing(journey: Journey, animation: Animation) -> Iterator[Any]:
    """The guide, the lines, and the names of the colours."""
    pair = journey.pair
    radius, depth = 0.62 * float(pair.outer.links["diameter"][-1]), HIDDEN * pair.link_length
    guide = revolved([(radius, -depth), (radius, 0.0)], 24)
    yield traces.body(Mesh(guide.vertices * MM, guide.triangles), GUIDE_COLOUR, 0.18, hoverinfo="skip")
    if journey.plan is not None:
        yield traces.line(journey.plan.path * MM, WANTED_COLOUR, 3, "wanted path", True, "dash")
    yield traces.line(_heads(journey), HEAD_COLOUR, 4, "path of the tip", True)
    for name, colour in COLOURS.values():
        marker = {"size": 9, "color": colour, "symbol": "square"}
        yield go.Scatter3d(x=[None], y=[None], z=[None], mode="markers", marker=marker, name=name)


def _heads(journey: Journey) -> Floats:
    """(k, 3) vertices of the longest body, mm."""
    return longest_body(journey) * MM


def _view(journey: Journey, animation: Animation) -> View:
    depth = HIDDEN * journey.pair.link_length * MM
    return best_view(np.vstack([[0.0, 0.0, -depth], _heads(journey)]), journey.pair.gravity)


def _corners(journey: Journey, animation: Animation) -> tuple[Floats, Floats]:
    """Box around everything that is ever drawn, mm."""
    pair = journey.pair
    points = [animation.mesh(moment, Snake.OUTER).vertices for moment in _some(animation.moments)]
    if journey.plan is not None:
        points.append(journey.plan.path * MM)
    radius = 0.62 * float(pair.outer.links["diameter"][-1]) * MM
    points.append(np.array([[-radius, -radius, 0.0], [radius, radius, 0.0]]))
    stacked = np.vstack(points)
    margin = 0.04 * float(np.ptp(stacked, axis=0).max())
    return stacked.min(axis=0) - margin, stacked.max(axis=0) + margin


def _some(moments: Sequence[Moment]) -> list[Moment]:
    longest = max(moments, key=lambda moment: moment.links_out)
    return [*moments[:: max(len(moments) // 40, 1)], longest, moments[-1]]


def _lay_out(figure: Any, journey: Journey, animation: Animation, view: View) -> None:
    low, high = _corners(journey, animation)
    controls = {
        "updatemenus": [play_buttons(FRAME_MILLISECONDS)],
        "sliders": [slider([f"{moment.label} ({moment.lock})" for moment in animation.moments], "step ")],
    }
    lay_out(figure, low, high, _heads(journey), journey.pair.gravity, view, controls)
