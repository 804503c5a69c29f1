"""The true robot as it moved, with the sensed shapes as lines over it, to be played."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from vertebra.report import traces
from vertebra.report.hil_figure import METHOD_STYLES
from vertebra.report.motion_picture import FRAME_MILLISECONDS, motion_picture
from vertebra.report.thinning import spread
from vertebra.robot.tables import Floats
from vertebra.sensing.hil.run import HilRun
from vertebra.sensing.hil.score import Score, platforms

MOST_MOMENTS, LEAST_MOMENTS = 400, 40
WIDTH = 7


def hil_picture(run: HilRun) -> tuple[Any, float]:
    """The plotly figure with its frames, axes of the base, and how many times slower than real it plays."""
    robot, truth = run.setup.robot, run.truth
    in_real_time = round(run.setup.duration / (FRAME_MILLISECONDS * 1e-3))
    kept = spread(len(truth.times), min(max(in_real_time, LEAST_MOMENTS), MOST_MOMENTS))
    times, frames = truth.times[kept], truth.frames_in_base[kept]
    gravity = np.asarray(run.setup.base).T @ (0.0, 0.0, -1.0)
    tips = frames[:, -1, :3, 3] + frames[:, -1, :3, :3] @ robot.tip_point
    figure, slowness = motion_picture(robot, times, truth.angles[kept], tips, gravity)
    shown = times[spread(len(times), len(figure.frames))]
    lines = {method: _backbones(score, shown) for method, score in run.scores.items()}
    _add_lines(figure, lines)
    _make_room(figure, np.vstack([line.reshape(-1, 3) for line in lines.values()]))
    return figure, slowness


def _backbones(score: Score, times: Floats) -> Floats:
    """(moments, links + 1, 3) base, platforms and tip as sensed at the shapes nearest to `times`, mm."""
    rows = np.clip(np.searchsorted(score.times, times), 0, len(score.times) - 1)
    line = np.concatenate([platforms(score.robot, score.frames[rows]), score.tips[rows][:, None]], axis=1)
    return line * MM


def _add_lines(figure: Any, lines: dict[Any, Floats]) -> None:
    """One trace a method, moved by every frame of the figure."""
    first = len(figure.data)
    for method, line in lines.items():
        colour, dash = METHOD_STYLES[method]
        figure.add_trace(traces.line(line[-1], colour, WIDTH, f"sensed, {method}", True, dash))
    for moment, frame in enumerate(figure.frames):
        moved = [line[moment].T.astype(np.float32) for line in lines.values()]
        frame.data = [*frame.data, *(go.Scatter3d(x=x, y=y, z=z) for x, y, z in moved)]
        frame.traces = [*frame.traces, *range(first, first + len(lines))]


def _make_room(figure: Any, points: Floats) -> None:
    """Widen the box to what was sensed; one scale for all axes."""
    scene = figure.layout.scene
    spans = []
    for i, axis in enumerate((scene.xaxis, scene.yaxis, scene.zaxis)):
        low, high = min(axis.range[0], points[:, i].min()), max(axis.range[1], points[:, i].max())
        axis.range = [float(low), float(high)]
        spans.append(high - low)
    sides = np.array(spans) / float(np.prod(spans)) ** (1 / 3)
    scene.aspectratio = dict(zip("xyz", sides.tolist(), strict=True))
